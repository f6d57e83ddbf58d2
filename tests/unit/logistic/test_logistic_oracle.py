"""What the oracle answers: steps, gradients, curvatures, drift; exact expectations are by enumeration."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.errors import InvalidParameter
from fltheory.logistic.constants import variances
from fltheory.logistic.model import LogisticLoss, one_hot
from fltheory.logistic.steps import drawn_samples
from fltheory.problems.oracle import LocalSteps

MODELS = st.sampled_from([(2, True), (3, False)])


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), model=MODELS, batch_size=st.sampled_from([None, 2]), drift=st.sampled_from([0, 0.5]))
def test_a_step_moves_against_the_gradient_of_its_minibatch(
    make_problem: Any, make_round: Any, seed: int, model: tuple[int, bool], batch_size: int | None, drift: float
) -> None:
    """Two steps from the start are two explicit updates with the minibatches 0 and 1; absent clients stay."""
    problem = make_problem(seed, num_classes=model[0], binary=model[1], batch_size=batch_size, label_drift=drift)
    oracle = problem.reference_oracle(seed=seed, replicates=range(2))
    oracle.begin_round(4)
    start = np.random.default_rng(seed).standard_normal((2, 3, problem.dim))
    first = start - 0.3 * oracle.gradient(start, oracle.minibatch(0))
    second = first - 0.3 * oracle.gradient(first, oracle.minibatch(1))
    moved = oracle.local_steps(start, make_round(problem, [[0, 1, 2], [2, 0, 1]]))
    expected = [[start[0, 0], first[0, 1], second[0, 2]], [second[1, 0], start[1, 1], first[1, 2]]]
    np.testing.assert_allclose(moved, expected, rtol=1e-13, atol=1e-13)


def test_steps_and_rate_may_be_replaced_but_absent_clients_stay(make_problem: Any, make_round: Any) -> None:
    problem = make_problem(0, batch_size=2)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    start = np.ones((1, 1, problem.dim))
    moved = oracle.local_steps(start, make_round(problem, [[0, 1, 4]]), LocalSteps(steps=2, rate=0.1))
    expected = oracle.local_steps(start, make_round(problem, [[0, 2, 2]], rate=0.1))
    np.testing.assert_array_equal(moved, expected)
    np.testing.assert_array_equal(moved[0, 0], start[0, 0])


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), dense=st.booleans(), recentre=st.booleans(), fixed=st.booleans())
def test_every_term_of_the_generic_step(
    make_problem: Any, make_round: Any, seed: int, dense: bool, recentre: bool, fixed: bool
) -> None:
    """Two steps of (G) written out with the oracle's own gradients and products."""
    problem = make_problem(seed, batch_size=2)
    oracle = problem.reference_oracle(seed=seed, replicates=range(2))
    rng = np.random.default_rng(seed)
    start, c, a, b = (rng.standard_normal((2, 3, problem.dim)) for _ in range(4))
    Q = rng.standard_normal((1, 3, problem.dim, problem.dim) if dense else (2, 1, problem.dim))
    w = start
    for k in range(2):
        batch = oracle.minibatch(6 if fixed else k)
        g = oracle.gradient(w, batch) - (oracle.gradient(start, batch) if recentre else 0.0)
        w = w - 0.3 * (g + c + oracle.apply(Q, w - a) + 0.2 * np.sign(w - b))
    how = LocalSteps(
        correction=c,
        pull=Q,
        anchor=a,
        l1=0.2,
        l1_anchor=b,
        minibatch=oracle.minibatch(6) if fixed else None,
        recentre=recentre,
    )
    moved = oracle.local_steps(start, make_round(problem, [[2, 2, 2]]), how)
    np.testing.assert_allclose(moved, w, rtol=1e-11, atol=1e-11)


def test_minibatch_gradients_average_to_the_full_gradient_over_all_draws(make_problem: Any) -> None:
    """All 3^2 equally likely minibatches of client 2 are enumerated."""
    problem = make_problem(1, batch_size=2)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    w = np.random.default_rng(0).standard_normal(problem.dim)
    own = problem.train.rows(2)
    features, labels = problem.train.features[own], problem.train.labels[own]
    gradients = []
    for rows in itertools.product(range(3), repeat=2):
        picked = list(rows)
        loss = LogisticLoss(
            features=features[picked], targets=one_hot(labels[picked], 3), weights=np.full(2, 0.5), l2=problem.l2
        )
        gradients.append(loss.gradient(w))
    full = oracle.gradient(w[None, None])[0, 2]
    np.testing.assert_allclose(np.mean(gradients, axis=0), full, atol=1e-14)
    drawn = oracle.gradient(w[None, None], oracle.minibatch(3))[0, 2]
    assert min(np.abs(drawn - gradient).max() for gradient in gradients) < 1e-14
    spread = np.mean([((gradient - full) ** 2).sum() for gradient in gradients])
    sigma_sq = variances(problem, w)[0]
    assert sigma_sq[2] == pytest.approx(spread, rel=1e-12)


def test_samples_are_drawn_uniformly() -> None:
    """Chi-square over 7 rows with 70,000 draws; the bound 40.5 has a false-alarm rate below 1e-6 (6 degrees)."""
    rows = drawn_samples(np.arange(10_000, dtype=np.uint64) << np.uint64(20), 2, 7, 7)
    counts = np.bincount(rows.ravel(), minlength=7)
    assert counts.sum() == 70_000
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 40.5


@pytest.mark.parametrize("model", [(2, True), (3, False)])
def test_label_drift_has_the_stated_law_and_leaves_the_round_constant(
    make_problem: Any, model: tuple[int, bool]
) -> None:
    """Frequencies of 20,000 replicates within 5.5 standard deviations: false alarms below 1e-6 for all 51 cells."""
    q, replicates = 0.6, 20_000
    problem = make_problem(3, num_classes=model[0], binary=model[1], label_drift=q)
    oracle = problem.reference_oracle(seed=5, replicates=range(replicates))
    oracle.begin_round(1)
    labels = oracle._labels
    law = (1 - q) * (problem.train.labels[:, None] == np.arange(model[0])) + q / model[0]
    seen = (labels[:, :, None] == np.arange(model[0])).mean(axis=0)
    assert np.all(np.abs(seen - law) <= 5.5 * np.sqrt(law * (1 - law) / replicates))
    oracle.begin_round(2)
    assert not np.array_equal(oracle._labels, labels)
    oracle.begin_round(1)
    np.testing.assert_array_equal(oracle._labels, labels)


@pytest.mark.parametrize("model", [(2, True), (3, False)])
def test_the_objective_is_the_expected_loss_under_drift(make_problem: Any, model: tuple[int, bool]) -> None:
    """All label vectors of a client with three samples are enumerated with their probabilities."""
    classes, binary = model
    problem = make_problem(3, counts=(3,), num_classes=classes, binary=binary, label_drift=0.4, batch_size=2)
    w = np.random.default_rng(1).standard_normal(problem.dim)
    value, gradient, scatter, noise = 0.0, np.zeros(problem.dim), 0.0, 0.0
    expected = problem.objective().gradient(w)
    for labels in itertools.product(range(classes), repeat=3):
        kept = np.array(labels) == problem.train.labels
        chance = float(np.prod(0.6 * kept + 0.4 / classes))
        loss = LogisticLoss(
            features=problem.train.features,
            targets=one_hot(np.array(labels), problem.rows),
            weights=np.full(3, 1 / 3),
            l2=problem.l2,
        )
        value += chance * float(loss.value(w))
        gradient += chance * loss.gradient(w)
        scatter += chance * float(((loss.gradient(w) - expected) ** 2).sum())
        for j in range(3):
            one = LogisticLoss(
                features=loss.features[[j]], targets=loss.targets[[j]], weights=np.ones(1), l2=problem.l2
            )
            noise += chance / 3 * float(((one.gradient(w) - loss.gradient(w)) ** 2).sum()) / 2
    assert problem.objective().value(w) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(expected, gradient, atol=1e-13)
    sigma_sq, drift_sq = variances(problem, w)
    assert drift_sq[0] == pytest.approx(scatter, rel=1e-12)
    assert sigma_sq[0] == pytest.approx(noise, rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_proximal_point_of_what_has_overflowed_is_not_a_number(make_problem: Any, bad: float) -> None:
    """A run that leaves the range of floating point is reported as divergence, not as a solver that failed."""
    oracle = make_problem(2).reference_oracle(seed=0, replicates=range(2))
    anchor = np.zeros((2, 1, oracle.dim))
    anchor[1, 0, 0] = bad
    for terms in ({"anchor": anchor}, {"anchor": np.zeros_like(anchor), "linear": anchor}):
        assert np.isnan(oracle.prox(pull=1.0, **terms)[1]).all()
        assert oracle.prox(pull=1.0, **terms).shape == (2, 3, oracle.dim)


@pytest.mark.parametrize("name", ["round_drift_sq", "fresh_drift_sq"])
def test_drifts_are_not_negative(make_problem: Any, name: str) -> None:
    assert getattr(make_problem(2, **{name: 0.0}), name) == 0.0
    for value in (-1e-9, np.nan, np.inf):
        with pytest.raises(InvalidParameter, match=rf"{name} must be a number in \[0, inf\), got {name}="):
            make_problem(2, **{name: value})


def test_curvatures_and_their_products(make_problem: Any) -> None:
    problem = make_problem(2)
    oracle = problem.reference_oracle(seed=0, replicates=range(2))
    rng = np.random.default_rng(0)
    w = rng.standard_normal((2, 1, problem.dim))
    exact = oracle.curvature(w, "exact")
    assert exact.shape == (2, 3, 9, 9)
    diagonal = np.diagonal(exact, axis1=2, axis2=3)
    np.testing.assert_allclose(oracle.curvature(w, "diagonal"), diagonal, atol=1e-14)
    np.testing.assert_allclose(oracle.curvature(w, "fisher") + problem.l2, diagonal, atol=1e-14)
    vectors = rng.standard_normal((2, 3, 9))
    np.testing.assert_allclose(oracle.apply(exact, vectors), np.einsum("rijk,rik->rij", exact, vectors), atol=1e-13)
    np.testing.assert_allclose(oracle.apply(diagonal, vectors), diagonal * vectors)
    h = 1e-6
    slope = (oracle.gradient(w + h * vectors) - oracle.gradient(w - h * vectors)) / (2 * h)
    np.testing.assert_allclose(oracle.apply(exact, vectors), slope, atol=1e-7)
    with pytest.raises(InvalidParameter, match="did you mean 'fisher'"):
        oracle.curvature(w, "fischer")


def test_empirical_fisher_follows_the_labels_of_the_round(make_problem: Any) -> None:
    problem = make_problem(2, counts=(40, 3, 3), label_drift=0.9)
    oracle = problem.reference_oracle(seed=0, replicates=range(2))
    w = np.ones((1, 1, problem.dim))
    first = oracle.curvature(w, "empirical-fisher")
    assert first.shape == (2, 3, problem.dim)
    oracle.begin_round(1)
    assert not np.allclose(oracle.curvature(w, "empirical-fisher"), first)
    assert oracle.curvature(w, "fisher").shape == (1, 3, problem.dim)


def test_gap_of_a_client_is_measured_from_its_own_minimum(make_problem: Any) -> None:
    problem = make_problem(6, label_drift=0.2)
    oracle = problem.reference_oracle(seed=0, replicates=range(2))
    best = np.stack([problem.client_objective(i).w_star for i in range(3)])
    assert oracle.client_measures(best[None])["personal_gap"].max() == 0.0
    moved = best + 0.5
    for i, gap in enumerate(oracle.client_measures(moved[None])["personal_gap"][1]):
        objective = problem.client_objective(i)
        assert gap == pytest.approx(float(objective.value(moved[i])) - objective.f_star, rel=1e-9)
    with pytest.raises(InvalidParameter, match="broadcast"):
        oracle.client_measures(np.zeros((1, 2, problem.dim)))["personal_gap"]


def test_coordinates_are_those_of_the_problem(make_problem: Any) -> None:
    problem = make_problem(0)
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    w = np.arange(9.0)
    np.testing.assert_array_equal(oracle.leave(oracle.enter(w)), w)
    np.testing.assert_array_equal(oracle.objective(problem.weights).w_star, problem.objective().w_star)


def test_clients_that_nobody_needs_cost_nothing_and_get_zero(make_problem: Any) -> None:
    problem = make_problem(3, batch_size=2)
    oracle = problem.reference_oracle(seed=0, replicates=range(2))
    w, active = np.ones((2, 1, problem.dim)), np.array([[True, False, False], [False, False, True]])
    batch = oracle.minibatch(0)
    for some, all_ in (
        (oracle.gradient(w, batch, active=active), oracle.gradient(w, batch)),
        (oracle.curvature(w, "fisher", active=active), oracle.curvature(w, "fisher")),
        (oracle.curvature(w, "exact", active=active), oracle.curvature(w, "exact")),
    ):
        np.testing.assert_array_equal(some[:, [0, 2]], all_[:, [0, 2]])
        assert some.shape == all_.shape
        assert not some[:, 1].any()
        assert all_[:, 1].any()
