"""The loss, its derivatives and the accurate gap."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.logistic.model import LogisticLoss, in_blocks, one_hot, probabilities

KINDS = st.sampled_from([(2, 1), (2, 2), (3, 3), (5, 5)])


def random_loss(seed: int, classes: int, rows: int, *, n: int = 6, width: int = 3) -> tuple[LogisticLoss, np.ndarray]:
    rng = np.random.default_rng(seed)
    loss = LogisticLoss(
        features=rng.standard_normal((n, width)),
        targets=one_hot(rng.integers(0, classes, n), rows),
        weights=rng.dirichlet(np.ones(n)),
        l2=0.3,
    )
    return loss, rng.standard_normal(rows * width)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), kind=KINDS)
def test_gradient_is_the_derivative_of_the_value(seed: int, kind: tuple[int, int]) -> None:
    loss, w = random_loss(seed, *kind)
    h = 1e-5
    units = h * np.eye(loss.dim)
    slope = (loss.value(w + units) - loss.value(w - units)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(w), slope, atol=1e-8)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), kind=KINDS)
def test_hessian_is_the_derivative_of_the_gradient(seed: int, kind: tuple[int, int]) -> None:
    loss, w = random_loss(seed, *kind)
    h = 1e-5
    units = h * np.eye(loss.dim)
    slope = (loss.gradient(w + units) - loss.gradient(w - units)) / (2 * h)
    np.testing.assert_allclose(loss.hessian(w), slope, atol=1e-8)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), kind=KINDS)
def test_fisher_is_the_squared_slope_averaged_over_the_models_own_labels(seed: int, kind: tuple[int, int]) -> None:
    classes, rows = kind
    loss, w = random_loss(seed, classes, rows)
    p = probabilities(loss.scores(w))
    law = np.hstack([1 - p, p]) if rows == 1 else p
    outer = np.zeros((loss.dim, loss.dim))
    for j, x in enumerate(loss.features):
        for c in range(classes):
            g = np.kron(p[j] - one_hot(np.array(c), rows), x)
            outer += loss.weights[j] * law[j, c] * np.outer(g, g)
    np.testing.assert_allclose(outer + loss.l2 * np.eye(loss.dim), loss.hessian(w), atol=1e-12)
    np.testing.assert_allclose(np.diag(outer), loss.fisher_diagonal(w), atol=1e-12)


def test_empirical_fisher_squares_each_samples_slope() -> None:
    loss, w = random_loss(1, 3, 3)
    p = probabilities(loss.scores(w))
    squares = [np.kron(p[j] - loss.targets[j], x) ** 2 for j, x in enumerate(loss.features)]
    np.testing.assert_allclose(loss.empirical_fisher_diagonal(w), loss.weights @ np.array(squares), rtol=1e-12)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), kind=KINDS, exponent=st.integers(-14, 1))
def test_divergence_is_accurate_relative_to_its_size(seed: int, kind: tuple[int, int], exponent: int) -> None:
    """Against the same quantity in 60 digits; ordinary subtraction has no correct digit below 1e-16."""
    loss, v = random_loss(seed, *kind)
    w = v + 10.0**exponent * np.random.default_rng(seed + 1).standard_normal(loss.dim)
    computed = loss.divergence(w, v)
    with localcontext() as context:
        context.prec = 60
        exact = exact_value(loss, w) - exact_value(loss, v) - exact_slope(loss, v, w)
        assert abs(Decimal(float(computed)) - exact) <= Decimal("1e-9") * exact
    assert computed >= 0


def exact_value(loss: LogisticLoss, w: np.ndarray) -> Decimal:
    total = Decimal(loss.l2) / 2 * sum(Decimal(c) ** 2 for c in w)
    for x, target, weight in zip(loss.features, loss.targets, loss.weights, strict=True):
        z = exact_scores(loss, w, x)
        padded = [Decimal(0), *z] if loss.rows == 1 else z
        partition = sum(c.exp() for c in padded).ln()
        total += Decimal(weight) * (partition - sum(Decimal(t) * c for t, c in zip(target, z, strict=True)))
    return total


def exact_slope(loss: LogisticLoss, v: np.ndarray, w: np.ndarray) -> Decimal:
    moved = [Decimal(a) - Decimal(b) for a, b in zip(w, v, strict=True)]
    total = Decimal(loss.l2) * sum(Decimal(c) * d for c, d in zip(v, moved, strict=True))
    width = len(loss.features[0])
    for x, target, weight in zip(loss.features, loss.targets, loss.weights, strict=True):
        z = exact_scores(loss, v, x)
        powers = [c.exp() for c in z]
        partition = sum(powers) + (1 if loss.rows == 1 else 0)
        for c in range(loss.rows):
            change = sum(Decimal(a) * d for a, d in zip(x, moved[c * width : (c + 1) * width], strict=True))
            total += Decimal(weight) * (powers[c] / partition - Decimal(target[c])) * change
    return total


def exact_scores(loss: LogisticLoss, w: np.ndarray, x: np.ndarray) -> list[Decimal]:
    matrix = w.reshape(loss.rows, -1)
    return [sum(Decimal(a) * Decimal(b) for a, b in zip(row, x, strict=True)) for row in matrix]


@pytest.mark.parametrize(("classes", "rows"), [(2, 1), (4, 4)])
def test_divergence_of_huge_moves_is_finite_and_matches_subtraction(classes: int, rows: int) -> None:
    loss, v = random_loss(3, classes, rows)
    w = 1e4 * v[::-1]
    expected = loss.value(w) - loss.value(v) - loss.gradient(v) @ (w - v)
    assert loss.divergence(w, v) == pytest.approx(expected, rel=1e-10)


def test_binary_is_the_softmax_of_two_rows_that_are_opposite() -> None:
    loss, w = random_loss(5, 2, 1)
    twin = LogisticLoss(
        features=loss.features, targets=np.hstack([1 - loss.targets, loss.targets]), weights=loss.weights, l2=0.0
    )
    both = np.concatenate([-w / 2, w / 2])
    assert loss.value(w) - 0.5 * loss.l2 * w @ w == pytest.approx(float(twin.value(both)), rel=1e-12)


def test_probabilities_do_not_overflow() -> None:
    assert probabilities(np.array([[-1e4], [1e4]])).tolist() == [[0.0], [1.0]]
    assert probabilities(np.array([[1e4, 0.0, -1e4]])).tolist() == [[1.0, 0.0, 0.0]]


def test_blocks_do_not_change_the_result() -> None:
    loss, _ = random_loss(2, 3, 3)
    models = np.random.default_rng(0).standard_normal((4, 5, loss.dim))
    np.testing.assert_allclose(in_blocks(loss.gradient, models, 10**6), loss.gradient(models), rtol=1e-14, atol=1e-15)
    assert in_blocks(loss.value, models, 10**7).shape == (4, 5)
