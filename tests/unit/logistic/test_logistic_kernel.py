"""The compiled local steps against the reference loop, on the same random numbers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.logistic.kernel import _exp, _run, compiled_steps
from fltheory.logistic.steps import reference_steps

MODELS = [(2, True), (2, False), (3, False), (6, False)]


def spread(rng: np.random.Generator, replicates: int, clients: int, dim: int) -> np.ndarray:
    """Return an array that broadcasts over replicates, clients, both or neither."""
    return rng.standard_normal((rng.choice([1, replicates]), rng.choice([1, clients]), dim))


@settings(deadline=None, max_examples=120)
@given(
    seed=st.integers(0, 10**6),
    model=st.sampled_from(MODELS),
    width=st.integers(1, 7),
    batch_size=st.sampled_from([None, 1, 3, 4, 6]),
    pull=st.sampled_from(["none", "number", "diagonal", "dense"]),
    correction=st.booleans(),
    anchor=st.booleans(),
    l1=st.sampled_from([0.0, 0.2]),
    l1_anchor=st.booleans(),
    fixed=st.sampled_from([None, 0, 5]),
    recentre=st.booleans(),
    rate=st.sampled_from([None, 0.05]),
    steps=st.sampled_from([None, 2]),
    label_drift=st.sampled_from([0.0, 0.5]),
)
def test_compiled_steps_equal_the_reference(
    make_problem: Any,
    make_round: Any,
    seed: int,
    model: tuple[int, bool],
    width: int,
    batch_size: int | None,
    pull: str,
    correction: bool,
    anchor: bool,
    l1: float,
    l1_anchor: bool,
    fixed: int | None,
    recentre: bool,
    rate: float | None,
    steps: int | None,
    label_drift: float,
) -> None:
    problem = make_problem(
        seed,
        counts=(5, 1, 9),
        num_classes=model[0],
        binary=model[1],
        num_features=width,
        batch_size=batch_size,
        label_drift=label_drift,
    )
    rng = np.random.default_rng(seed)
    shape = (2, 3, problem.dim)
    options: dict[str, Any] = {"l1": l1, "recentre": recentre, "rate": rate, "steps": steps}
    if correction:
        options["correction"] = spread(rng, *shape)
    if anchor:
        options["anchor"] = spread(rng, *shape)
    if l1_anchor:
        options["l1_anchor"] = spread(rng, *shape)
    if pull == "number":
        options["pull"] = 0.7
    elif pull == "diagonal":
        options["pull"] = np.abs(spread(rng, *shape))
    elif pull == "dense":
        root = rng.standard_normal((rng.choice([1, 2]), rng.choice([1, 3]), problem.dim, problem.dim))
        options["pull"] = root / problem.dim
    start = rng.standard_normal((2, rng.choice([1, 3]), problem.dim))
    work = make_round(problem, rng.integers(0, 5, (2, 3)))
    results = []
    for oracle in (
        problem.reference_oracle(seed=7, replicates=range(4, 6)),
        problem.compiled_oracle(seed=7, replicates=range(4, 6), rotation_equivariant=False),
    ):
        oracle.begin_round(2)
        if fixed is not None:
            options["minibatch"] = oracle.minibatch(fixed)
        results.append(oracle.local_steps(start, work, **options))
    # The sign term jumps at its anchor, where a rounding error decides; such ties have probability zero here.
    np.testing.assert_allclose(results[1], results[0], rtol=1e-11, atol=1e-12)


def test_steppers_leave_their_input_alone(make_problem: Any, make_round: Any) -> None:
    problem = make_problem(0, batch_size=2)
    start = np.random.default_rng(0).standard_normal((2, 3, problem.dim))
    kept = start.copy()
    for stepper in (reference_steps, compiled_steps):
        oracle = problem.reference_oracle(seed=0, replicates=range(2))
        oracle._stepper = stepper
        assert not np.array_equal(oracle.local_steps(start, make_round(problem, [[1, 1, 1]])), kept)
        np.testing.assert_array_equal(start, kept)


def test_blocks_of_replicates_give_the_same_bits(make_problem: Any, make_round: Any) -> None:
    problem = make_problem(1, batch_size=3, label_drift=0.3)
    work = make_round(problem, [[4, 4, 4]])

    def run(replicates: range) -> np.ndarray:
        oracle = problem.compiled_oracle(seed=3, replicates=replicates, rotation_equivariant=True)
        oracle.begin_round(1)
        return oracle.local_steps(np.zeros((len(replicates), 1, problem.dim)), work)

    np.testing.assert_array_equal(np.concatenate([run(range(2)), run(range(2, 5))]), run(range(5)))


def test_the_kernel_is_compiled_once_for_all_options(make_problem: Any, make_round: Any) -> None:
    """Whatever is drifting, broadcast, transposed or read-only, the argument types are the same."""
    sealed = np.zeros((1, 1, 9))
    sealed.setflags(write=False)
    for options in (
        {},
        {"pull": 1, "correction": np.broadcast_to(np.ones(9), (1, 3, 9)), "l1": np.float64(0.5)},
        {"pull": np.zeros((9, 9, 3, 1)).T, "anchor": sealed, "recentre": np.True_},
    ):
        for drift in (0.0, 0.5):
            problem = make_problem(0, batch_size=None if drift else np.int64(3), label_drift=drift)
            oracle = problem.compiled_oracle(seed=0, replicates=range(1), rotation_equivariant=False)
            oracle.local_steps(sealed, make_round(problem, [[1, 1, 1]]), rate=np.float64(0.1), **options)
    assert len(_run.signatures) == 1


@pytest.mark.parametrize("scale", [1e-12, 1.0, 30.0, 700.0])
def test_polynomial_exponential(scale: float) -> None:
    x = -scale * np.linspace(0.0, 1.0, 2001)
    computed = np.array([_exp(value) for value in x])
    np.testing.assert_allclose(computed, np.exp(x), rtol=1e-15 * max(1.0, scale / 100))


def test_extreme_scores_do_not_make_nan(make_problem: Any, make_round: Any) -> None:
    for classes, binary in MODELS:
        problem = make_problem(2, num_classes=classes, binary=binary)
        start = 1e5 * np.random.default_rng(0).standard_normal((1, 1, problem.dim))
        work = make_round(problem, [[3, 3, 3]])
        reference = problem.reference_oracle(seed=0, replicates=range(1)).local_steps(start, work)
        compiled = problem.compiled_oracle(seed=0, replicates=range(1), rotation_equivariant=False)
        np.testing.assert_allclose(compiled.local_steps(start, work), reference, rtol=1e-12)
