"""Constants of heterogeneity on quadratics, against direct searches for the worst model."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import minimize

import fltheory as fl
from fltheory.bounds.heterogeneity import Growth, dissimilarity, least_growth, uniform
from fltheory.quadratic.problem import Quadratic, client_gradients

GROWTHS = list(Growth)


def clients(**changes):
    options = {"dim": 3, "num_clients": 3, "mu": 0.5, "L": 4.0, "dissimilarity": 2.0, "spread": 2.0, "seed": 3}
    return fl.client_quadratics(sample_counts=[1, 2, 3], **{**options, **changes})


def sides(problem, growth, x):
    """Return the weighted mean of squared gradients, and what the dissimilarity may grow by for B = 1."""
    squares = (client_gradients(problem, x) ** 2).sum(axis=-1)
    measures = problem.objective().measure(x[None])
    allowed = {
        Growth.GRADIENT: measures.gradient_norm_sq[0],
        Growth.GAP: 2 * problem.constants()["L"].value * measures.gap[0],
    }[growth]
    return float(problem.weights @ squares), float(allowed)


@pytest.mark.parametrize("growth", GROWTHS)
def test_the_smallest_dissimilarity_is_attained_and_not_exceeded(growth):
    problem = clients()
    factor = 1.5 * least_growth(problem, growth)
    least = dissimilarity(problem, factor, growth)

    def excess(x):
        left, allowed = sides(problem, growth, x)
        return left - factor * allowed

    rng = np.random.default_rng(0)
    best = max(-minimize(lambda x: -excess(x), start, tol=1e-12).fun for start in 5 * rng.standard_normal((5, 3)))
    assert best == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("growth", GROWTHS)
def test_a_growth_that_is_too_small_is_refused_with_the_one_that_is_needed(growth):
    problem = clients()
    needed = least_growth(problem, growth)
    with pytest.raises(fl.NotApplicable, match=rf"B_sq = .*: on these clients B_sq must be at least {needed:.6g}"):
        dissimilarity(problem, needed * 0.99, growth)
    # Just above, the constant is large, but there is one.
    assert dissimilarity(problem, needed * 1.001, growth) > dissimilarity(problem, needed * 2, growth)
    # Just below, the excess really has no bound: it grows with the square of the distance.
    rays = np.random.default_rng(1).standard_normal((500, 3))
    pairs = [[sides(problem, growth, scale * ray) for ray in rays] for scale in (1e3, 1e4)]
    near, far = (max(left - 0.9 * needed * allowed for left, allowed in own) for own in pairs)
    assert near > 0
    assert far == pytest.approx(100 * near, rel=0.05)


def test_uniform_heterogeneity_is_that_of_every_model_and_needs_equal_hessians():
    problem = clients(dissimilarity=0.0)
    zeta = uniform(problem)
    for x in np.random.default_rng(2).standard_normal((5, 3)) * 100:
        gradients = client_gradients(problem, x)
        apart = np.linalg.norm(gradients - problem.weights @ gradients, axis=1)
        assert apart.max() == pytest.approx(zeta)
    with pytest.raises(fl.NotApplicable, match=r"Hessians of clients differ from their mean by up to \d"):
        uniform(clients(dissimilarity=1e-3))


def test_alike_clients_need_no_constant():
    problem = clients(dissimilarity=0.0, spread=0.0)
    assert uniform(problem) == pytest.approx(0, abs=1e-12)
    assert dissimilarity(problem, 1.0) == pytest.approx(0, abs=1e-12)
    assert least_growth(problem) == pytest.approx(1.0)


def test_without_growth_to_spare_a_slope_along_the_same_curvature_has_no_bound():
    """With one Hessian and B = 1 the quadratic parts cancel; for equal weights the linear parts do as well."""
    problem = clients(dissimilarity=0.0)
    parts = problem.weights @ (client_gradients(problem, np.asarray(problem.objective().w_star)) ** 2).sum(axis=-1)
    assert dissimilarity(problem, 1.0) == pytest.approx(float(parts))


def test_equally_curved_sides_need_a_slope_of_zero():
    """One axis, curvatures 1 and 3, pulls 1 and -1: for B^2 = 5/4 what is left is linear."""
    problem = Quadratic(
        hessian=np.array([[1.0], [3.0]]),
        linear=np.array([[1.0], [-1.0]]),
        constant=np.zeros(2),
        noise_sq=np.zeros(2),
        start=np.ones(1),
        sample_counts=np.ones(2),
    )
    assert least_growth(problem) == pytest.approx(1.25)
    with pytest.raises(fl.NotApplicable, match="equally curved; B_sq must be larger"):
        dissimilarity(problem, 1.25)
    assert dissimilarity(problem, 2.0) == pytest.approx(1 + 1 / 3)


OWN = {"w_star", "mu", "L", "sigma_sq"}
"""What a problem of one's own may know."""


class Bare:
    """Clients whose gradients are not compared."""

    def __init__(self, problem):
        self._problem = problem

    def constants(self):
        return {name: value for name, value in self._problem.constants().items() if name in OWN}


def test_other_problems_have_to_declare_them():
    problem = Bare(fl.logistic_clients(num_clients=2, num_features=2, samples=10, l2=0.5, seed=1))
    with pytest.raises(fl.MissingConstants, match="zeta"):
        uniform(problem)
    with pytest.raises(fl.MissingConstants, match="G_sq"):
        dissimilarity(problem, 2.0)


def logistic(classes, **options):
    """Return three clients with 2, 3 and 5 samples."""
    rng = np.random.default_rng(classes)
    sizes = (2, 3, 5)
    features = [rng.normal(size=(size, 2)) for size in sizes]
    labels = [rng.integers(0, classes, size) for size in sizes]
    labels[0][:], labels[2][:] = 0, classes - 1
    made = fl.logistic_from_arrays if classes == 2 else fl.softmax_from_arrays
    return made(features, labels, l2=0.1, **options)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("drift", [0.0, 0.6])
def test_what_logistic_clients_differ_by_holds_for_all_models(classes, drift):
    problem = logistic(classes, label_drift=drift)
    spread = problem.constants()["gradient_spread"].value
    rng = np.random.default_rng(0)
    models = np.concatenate([rng.normal(size=(300, problem.dim)) * size for size in (0.1, 3.0, 100.0)])
    gradients = np.stack([problem.client_loss(i).gradient(models) for i in range(3)])
    apart = np.linalg.norm(gradients - np.einsum("i,imd->md", problem.weights, gradients), axis=-1)
    assert np.all(apart <= spread[:, None] * (1 + 1e-12))
    assert np.all(apart.max(axis=1) > 0.2 * spread)
    gap = problem.objective().gap(models)
    mean_sq = np.einsum("i,im->m", problem.weights, (gradients**2).sum(axis=-1))
    limit = 2 * max(problem.client_smoothness) * gap
    assert uniform(problem) == spread.max()
    assert np.all(mean_sq <= dissimilarity(problem, 1.0, Growth.GAP) + limit)
    with pytest.raises(fl.NotApplicable, match="at least 1"):
        dissimilarity(problem, 0.9)


@pytest.mark.parametrize("drift", [0.0, 0.6])
def test_what_logistic_clients_differ_by_is_sample_by_sample(drift):
    """By hand, for two clients with one sample each, and 3 classes: every corner is tried."""
    problem = fl.softmax_from_arrays([[[3.0, 4.0]], [[1.0, 0.0]]], [[0], [2]], l2=0.1, num_classes=3, label_drift=drift)
    law = (1 - drift) * np.array([1.0, 0.0, 0.0]) + drift / 3
    longest = max(np.linalg.norm(corner - law) for corner in np.eye(3))
    expected = 0.5 * 5 * longest + 0.5 * 1 * longest
    np.testing.assert_allclose(problem.constants()["gradient_spread"].value, [expected, expected])


def test_fixed_drifts_count_among_what_clients_differ_by():
    plain = logistic(2)
    drift = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    centred = drift - plain.weights @ drift
    pulled = dataclasses.replace(plain, client_drift=centred)
    more = pulled.constants()["gradient_spread"].value - plain.constants()["gradient_spread"].value
    np.testing.assert_allclose(more, np.linalg.norm(centred, axis=1))
    with pytest.raises(fl.MissingConstants, match="zeta"):  # the objective does not have the mean of the drifts
        uniform(dataclasses.replace(plain, client_drift=drift))


def test_theorems_about_heterogeneity_are_read_on_logistic_clients():
    rng = np.random.default_rng(3)
    features = [rng.normal(size=(8, 2)) for _ in range(3)]
    problem = fl.logistic_from_arrays(features, [np.arange(8) % 2 for _ in range(3)], l2=0.2)
    spread = problem.constants()["gradient_spread"].value
    guided = fl.theorem("fieldguide.theorem-1").compare(experiment(problem, rounds=3), replicates=2)
    assert guided.constants["zeta"].value == spread.max()
    scaffold = fl.theorem("scaffold.theorem-v-sc").compare(experiment(problem, rounds=3), replicates=2)
    assert scaffold.constants["G_sq"].value == pytest.approx(problem.weights @ spread**2)


def experiment(problem, **changes):
    participation = fl.Participation(num_clients=problem.num_clients, local_steps=2)
    options = {"problem": problem, "algorithm": fl.FedAvg(), "participation": participation, "rounds": 250, "rate": 0.1}
    return fl.Experiment(**{**options, **changes})


def test_theorem_v_of_scaffold_is_read_with_the_dissimilarity_of_the_clients():
    problem = fl.client_quadratics(dim=3, num_clients=3, mu=1.0, L=4.0, dissimilarity=2.0, noise_sq=0.1)
    found = fl.compare_theorems(experiment(problem), pattern="scaffold.theorem-v-*")
    assert {one.id for one in found.rates} == {"scaffold.theorem-v-gc", "scaffold.theorem-v-sc"}
    known = found.rates[0].compared.constants
    assert known["G_sq"].value == pytest.approx(dissimilarity(problem, 2.0, Growth.GAP))
    curve = found["scaffold.theorem-v-gc"].compared.run.gap.mean(axis=0)
    assert found["scaffold.theorem-v-gc"].exact == pytest.approx(curve.mean())
    weighted = found["scaffold.theorem-v-sc"].exact
    assert curve[-1] < weighted < curve.mean()


def test_theorem_v_refuses_constants_that_the_clients_do_not_have_and_too_few_rounds():
    problem = fl.client_quadratics(dim=3, num_clients=3, mu=1.0, L=4.0, dissimilarity=2.0, noise_sq=0.1)
    theorem = fl.theorem("scaffold.theorem-v-sc")
    participation = experiment(problem).participation
    for constants, words in (({"B_sq": 0.5}, "B_sq must be at least"), ({"G_sq": 1e-3}, "G_sq must be at least")):
        with pytest.raises(fl.NotApplicable, match=words):
            theorem.rate_for(problem, participation, rounds=250, **constants)
    short = fl.compare_theorems(experiment(problem, rounds=20), pattern="scaffold.theorem-v-sc")
    assert not short.guarantees
    assert short.refusals()[0][0].startswith("enough rounds (")
    sampled = fl.Participation(num_clients=3, local_steps=2, selection=fl.participation.WithReplacement(size=2))
    refused = fl.compare_theorems(experiment(problem, participation=sampled), pattern="scaffold.theorem-v-sc")
    assert "drawn without replacement" in refused.refusals()[0][0]
