"""The compiled local steps and measures against their references in array code."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from fltheory._internal import vectors
from fltheory.logistic import compiled, measures, model, tiles
from fltheory.logistic.compiled import CompiledSteps
from fltheory.logistic.exponentials import exponentials, log_one_plus, remainders
from fltheory.logistic.measures import CompiledMeasures
from fltheory.logistic.steps import reference_steps
from fltheory.problems.oracle import LocalSteps

MODELS = [(2, True), (2, False), (3, False), (6, False)]


def compiled_measures(objective: Any, w: np.ndarray) -> Any:
    """Measure models by the compiled loop."""
    loss = objective.loss
    return CompiledMeasures(loss, objective.w_star, CompiledSteps(loss.features).features)(w)


def spread(rng: np.random.Generator, replicates: int, clients: int, dim: int) -> np.ndarray:
    """Return an array that broadcasts over replicates, clients, both or neither."""
    return rng.standard_normal((rng.choice([1, replicates]), rng.choice([1, clients]), dim))


@settings(deadline=None, max_examples=120)
@given(
    seed=st.integers(0, 10**6),
    model=st.sampled_from(MODELS),
    width=st.sampled_from([1, 2, 5, 16, 17]),
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
        results.append(oracle.local_steps(start, work, LocalSteps(**options)))
    # The sign term jumps at its anchor, where a rounding error decides; such ties have probability zero here.
    np.testing.assert_allclose(results[1], results[0], rtol=1e-11, atol=1e-12)


def test_steppers_leave_their_input_alone(make_problem: Any, make_round: Any) -> None:
    problem = make_problem(0, batch_size=2)
    start = np.random.default_rng(0).standard_normal((2, 3, problem.dim))
    kept = start.copy()
    for stepper in (reference_steps, CompiledSteps(problem.train.features)):
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
            oracle.local_steps(sealed, make_round(problem, [[1, 1, 1]]), LocalSteps(rate=np.float64(0.1), **options))
    assert len(compiled._local_steps._loaded) == 1


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    classes_binary=st.sampled_from(MODELS),
    width=st.sampled_from([1, 5, 16, 17]),
    counts=st.sampled_from([(1,), (32,), (5, 1, 9), (40, 27)]),
    scale=st.sampled_from([1e-12, 1e-9, 1e-4, 0.1, 1.0, 30.0, 1e3, 1e5]),
    label_drift=st.sampled_from([0.0, 0.5]),
)
def test_compiled_measures_equal_the_reference(
    make_problem: Any,
    seed: int,
    classes_binary: tuple[int, bool],
    width: int,
    counts: tuple[int, ...],
    scale: float,
    label_drift: float,
) -> None:
    classes, binary = classes_binary
    problem = make_problem(
        seed, counts=counts, num_classes=classes, binary=binary, num_features=width, label_drift=label_drift
    )
    objective = problem.objective()
    w = objective.w_star + scale * np.random.default_rng(seed).standard_normal((2, 3, problem.dim))
    computed = compiled_measures(objective, w)
    expected = model.reference_measures(objective.loss, objective.w_star, w)
    np.testing.assert_allclose(computed.distance_sq, expected.distance_sq, rtol=1e-12)
    np.testing.assert_allclose(computed.gap, expected.gap, rtol=1e-9)
    # The compiled code leaves out the gradient at the minimiser, of norm at most 1e-12.
    norm, expected_norm = np.sqrt(computed.gradient_norm_sq), np.sqrt(expected.gradient_norm_sq)
    np.testing.assert_allclose(norm, expected_norm, rtol=1e-9, atol=2e-12)


@pytest.mark.parametrize(("classes", "binary"), MODELS)
def test_compiled_measures_are_accurate_next_to_the_minimiser(make_problem: Any, classes: int, binary: bool) -> None:
    """To first order the gradient is the Hessian times the move, and the gap half the inner product of the two."""
    problem = make_problem(3, num_classes=classes, binary=binary, counts=(20, 30))
    objective = problem.objective()
    w = objective.w_star + 1e-9 * np.random.default_rng(0).standard_normal((4, problem.dim))
    move = w - objective.w_star
    gradient = move @ objective.loss.hessian(objective.w_star)
    computed = compiled_measures(objective, w)
    np.testing.assert_allclose(computed.gradient_norm_sq, (gradient**2).sum(axis=1), rtol=1e-7)
    np.testing.assert_allclose(computed.gap, 0.5 * (gradient * move).sum(axis=1), rtol=1e-7)
    assert all(value == 0.0 for value in compiled_measures(objective, objective.w_star))


def test_a_model_is_measured_the_same_in_any_company(make_problem: Any) -> None:
    objective = make_problem(1, counts=(40, 27)).objective()
    w = np.random.default_rng(0).standard_normal((2, 5, len(objective.w_star)))
    together = compiled_measures(objective, w)
    for r, t in np.ndindex(2, 5):
        alone = compiled_measures(objective, w[r, t])
        assert all(a == b[r, t] for a, b in zip(alone, together, strict=True))
    turned = np.asfortranarray(w)
    turned.setflags(write=False)
    for a, b in zip(compiled_measures(objective, turned), together, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(measures._measure._loaded) == 1


def test_each_oracle_measures_in_its_own_way(make_problem: Any) -> None:
    problem = make_problem(0)
    reference = problem.reference_oracle(seed=0, replicates=range(1))
    compiled = problem.compiled_oracle(seed=0, replicates=range(1), rotation_equivariant=False)
    assert reference.objective(problem.weights).measurer is None
    assert isinstance(compiled.objective(problem.weights).measurer, CompiledMeasures)
    assert problem.objective().measurer is None


def in_vectors(function: Any) -> Any:
    """Compile a function of vectors to run over an array whose length is a multiple of their length."""

    def build(builder: Any, x: vectors.Array) -> None:
        with vectors.loop(builder, x.shape[0], vectors.LANES) as j:
            x.store(function([x.load(j)])[0], j)

    loop = vectors.tile(build)

    @njit
    def run(x: Any) -> None:
        loop(x)

    def values(x: np.ndarray) -> np.ndarray:
        result = x.copy()
        run(result)
        return result

    return values


@pytest.fixture(scope="module")
def vector_functions() -> dict[str, Any]:
    functions = {"exp": exponentials, "remainder": remainders, "log": lambda xs: [log_one_plus(x) for x in xs]}
    return {name: in_vectors(function) for name, function in functions.items()}


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.3, 1.0, 30.0, 500.0])
def test_remainder_of_the_exponential(vector_functions: Any, scale: float) -> None:
    x = scale * np.linspace(-1.0, 1.0, 2000)
    np.testing.assert_allclose(vector_functions["remainder"](x), model._exp_remainder(x), rtol=2e-13)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 30.0, 700.0])
def test_polynomial_exponential(vector_functions: Any, scale: float) -> None:
    x = -scale * np.linspace(0.0, 1.0, 2000)
    np.testing.assert_allclose(vector_functions["exp"](x), np.exp(x), rtol=1e-15 * max(1.0, scale / 100))


def test_exponential_of_what_is_not_a_moderate_number(vector_functions: Any) -> None:
    computed = vector_functions["exp"](np.array([-np.inf, -1e300, np.nan, 0.0]))
    np.testing.assert_allclose(computed, [0.0, 0.0, np.nan, 1.0], atol=1e-300)


@pytest.mark.parametrize("scale", [1e-300, 1e-17, 1e-9, 1e-3, 0.1, 0.5, 1.0, 3.0, 1e9, 1e217])
def test_logarithm_of_one_plus_a_number(vector_functions: Any, scale: float) -> None:
    x = scale * np.linspace(0.0, 1.0, 2000)
    np.testing.assert_allclose(vector_functions["log"](x), np.log1p(x), rtol=5e-16)


def test_sizes_of_tiles_are_known_where_arrays_are_filled_up() -> None:
    assert (compiled.LANES, compiled._ROWS, compiled._WIDTH) == (vectors.LANES, tiles.ROWS, tiles.WIDTH)
    assert compiled.SAMPLES % tiles.WIDTH == 0


def test_extreme_scores_do_not_make_nan(make_problem: Any, make_round: Any) -> None:
    for classes, binary in MODELS:
        problem = make_problem(2, num_classes=classes, binary=binary)
        start = 1e5 * np.random.default_rng(0).standard_normal((1, 1, problem.dim))
        work = make_round(problem, [[3, 3, 3]])
        reference = problem.reference_oracle(seed=0, replicates=range(1)).local_steps(start, work)
        compiled = problem.compiled_oracle(seed=0, replicates=range(1), rotation_equivariant=False)
        np.testing.assert_allclose(compiled.local_steps(start, work), reference, rtol=1e-12)
