"""The generators: conventions, moments, sizes, determinism."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from fltheory._internal import seeding
from fltheory.errors import InvalidParameter
from fltheory.logistic import logistic_clients, synthetic
from fltheory.logistic.synthetic import _client_sizes

SMALL: dict[str, Any] = {"alpha": 1.0, "beta": 1.0, "num_clients": 4, "num_features": 5, "num_classes": 3, "seed": 3}


def test_draws_happen_in_the_published_order() -> None:
    """Counts, all u, all B, all v, then W, b, x of each client, from one stream; labels are the largest score."""
    problem = synthetic(**SMALL, sizes="lognormal", test_share=0.0, intercept=False)
    rng = seeding.generator(3, seeding.Purpose.INSTANCE)
    counts = np.floor(rng.lognormal(4.0, 2.0, 4)).astype(int) + 50
    u, B = rng.normal(0, 1.0, 4), rng.normal(0, 1.0, 4)
    v = rng.normal(B[:, None], 1.0, (4, 5))
    np.testing.assert_array_equal(problem.train.counts, counts)
    for k in range(4):
        W, b = rng.normal(u[k], 1.0, (5, 3)), rng.normal(u[k], 1.0, 3)
        x = v[k] + rng.standard_normal((counts[k], 5)) * np.arange(1, 6) ** -0.6
        own = problem.train.rows(k)
        # The split shuffles, so rows are compared as a set.
        order, stored = np.argsort(x[:, 0]), np.argsort(problem.train.features[own, 0])
        np.testing.assert_allclose(problem.train.features[own][stored], x[order], rtol=1e-12)
        np.testing.assert_array_equal(problem.train.labels[own][stored], np.argmax(x @ W + b, axis=1)[order])


def test_same_seed_same_data_other_seed_other_data() -> None:
    first, again, other = synthetic(**SMALL), synthetic(**SMALL), synthetic(**{**SMALL, "seed": 4})
    np.testing.assert_array_equal(first.train.features, again.train.features)
    np.testing.assert_array_equal(first.train.labels, again.train.labels)
    assert first.train.features.shape != other.train.features.shape or not np.array_equal(
        first.train.features, other.train.features
    )


@pytest.mark.parametrize(("convention", "deviation"), [("code", 9.0), ("paper", 3.0)])
def test_beta_is_a_deviation_in_the_code_and_a_variance_in_the_papers(convention: str, deviation: float) -> None:
    """Mean of squared client feature means over 2000 clients: expectation beta'^2 + (1 + mean variance / n) / F.

    A normal second moment has relative standard deviation sqrt(2 / 2000) = 0.032; 0.17 is 5.4 of them, a false-alarm
    rate below 1e-6, and the two conventions differ by a factor of 9.
    """
    problem = synthetic(
        alpha=0.0,
        beta=9.0,
        num_clients=2000,
        num_features=4,
        num_classes=2,
        sizes="equal",
        min_size=4,
        test_share=0.0,
        intercept=False,
        convention=convention,
        seed=1,
    )
    means = problem.train.features.reshape(2000, 4, 4).mean(axis=(1, 2))
    within = (np.arange(1, 5) ** -1.2).mean() / 4
    assert (means**2).mean() == pytest.approx(deviation**2 + (1 + within) / 4, rel=0.17)


def test_feature_variances_follow_the_power_law() -> None:
    """Sample variances from 40,000 draws: relative deviation sqrt(2 / 40000) = 0.007, bound 0.04 (5.6 of them)."""
    problem = synthetic(
        **{**SMALL, "num_clients": 1}, sizes="equal", min_size=40_000, iid=True, intercept=False, test_share=0.0
    )
    variances = problem.train.features.var(axis=0)
    np.testing.assert_allclose(variances, np.arange(1, 6) ** -1.2, rtol=0.04)
    assert np.abs(problem.train.features.mean(axis=0)).max() < 0.03


def test_iid_clients_share_one_labelling_rule() -> None:
    """A single linear model fits all clients of the iid setting, but not of the heterogeneous one."""
    options = {**SMALL, "num_clients": 6, "sizes": "equal", "min_size": 100, "l2": 1e-4}
    same, different = synthetic(**options, iid=True), synthetic(**options)
    assert same.accuracy(same.objective().w_star) > 0.95
    assert different.accuracy(different.objective().w_star) < 0.9


def test_split_keeps_nine_tenths_of_every_client() -> None:
    problem = synthetic(**SMALL, sizes="equal", min_size=50)
    assert problem.test is not None
    assert problem.train.counts.tolist() == [45] * 4
    assert problem.test.counts.tolist() == [5] * 4
    assert np.all(problem.train.features[:, -1] == 1)
    rows = np.concatenate([problem.train.features, problem.test.features])
    assert len(np.unique(rows, axis=0)) == 200


def test_pareto_sizes_have_index_one_half() -> None:
    """P(size >= 4 m) = 1/2 and P(size >= 16 m) = 1/4; 20,000 draws, bound 5.2 standard deviations (1e-6)."""
    rng = seeding.generator(0, seeding.Purpose.INSTANCE)
    sizes = _client_sizes(rng, 20_000, "pareto", 10, 5000)
    assert sizes.min() >= 10
    assert sizes.max() == 5000
    for factor, chance in ((4, 0.5), (16, 0.25)):
        assert abs((sizes >= factor * 10).mean() - chance) < 5.2 * np.sqrt(chance * (1 - chance) / 20_000)
    with pytest.raises(InvalidParameter, match=r"index 0\.5 has no mean"):
        synthetic(**SMALL, sizes="pareto")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": -1.0}, "synthetic.alpha"),
        ({"convention": "papers"}, "did you mean 'paper'"),
        ({"sizes": "normal"}, "did you mean 'lognormal'"),
        ({"num_clients": 0}, "synthetic.num_clients"),
        ({"test_share": 1.0}, "synthetic.test_share"),
        ({"min_size": 0}, "synthetic.min_size"),
        ({"max_size": 10}, "synthetic.max_size"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_parameters_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        synthetic(**{**SMALL, **changes})


def test_binary_clients_differ_as_asked() -> None:
    """Client means within 6 standard errors of 0.01 (10,000 samples); the share of ones rises with the offset."""
    problem = logistic_clients(
        num_clients=3, num_features=2, samples=10_000, feature_shift=3.0, label_shift=0.0, signal=0.0, seed=0
    )
    means = problem.train.features.reshape(3, 10_000, 2).mean(axis=1)
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), 3.0, atol=0.06)
    shifted = logistic_clients(num_clients=3, num_features=2, samples=10_000, label_shift=2.0, signal=0.0, seed=0)
    ones = shifted.train.labels.reshape(3, 10_000).mean(axis=1)
    np.testing.assert_allclose(ones, 1 / (1 + np.exp([2.0, 0.0, -2.0])), atol=0.03)


def test_binary_clients_take_their_sizes() -> None:
    problem = logistic_clients(num_clients=2, num_features=1, samples=[3, 8], intercept=True, seed=0)
    assert problem.train.counts.tolist() == [3, 8]
    assert problem.dim == 2
    with pytest.raises(InvalidParameter, match="one entry per client"):
        logistic_clients(num_clients=3, num_features=1, samples=[3, 8], seed=0)
    with pytest.raises(InvalidParameter, match=r"logistic_clients\.label_shift"):
        logistic_clients(num_clients=3, num_features=1, samples=3, label_shift=-1.0, seed=0)


def test_importing_the_package_loads_no_compiler_and_no_solver() -> None:
    code = "import sys, fltheory.logistic; print({'numba', 'scipy', 'cvxpy', 'sympy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
