"""Round maps that are read off an algorithm's code, against formulas."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from fltheory import Experiment, Participation, client_quadratics, noisy_quadratic, simulate
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.scaffold import Scaffold
from fltheory.communication.messages import Message
from fltheory.errors import NotAffine
from fltheory.participation import BernoulliSteps
from fltheory.problems.oracle import Round
from fltheory.quadratic import Quadratic
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.engines.affine import Layout, Prober

ETA, NOISE_SQ, DRIFT_SQ = 0.1, np.array([0.3, 0.5]), 0.4
HESSIANS = {
    "diagonal": np.array([[1.0, 3.0], [2.0, 0.5]]),
    "dense": np.array([[[2.0, 0.7], [0.7, 1.0]], [[1.0, -0.4], [-0.4, 3.0]]]),
}
LINEAR = np.array([[0.2, -1.0], [0.6, 0.3]])
WEIGHTS = np.array([0.25, 0.75])


def prober_of(layout, algorithm, *, spread=True, **more):
    options = {"noise_sq": NOISE_SQ, "round_drift_sq": DRIFT_SQ} | more
    problem = Quadratic(
        hessian=HESSIANS[layout],
        linear=LINEAR,
        constant=np.zeros(2),
        sample_counts=np.array([1.0, 3.0]),
        start=np.array([1.0, -0.5]),
        **options,
    )
    return Prober(algorithm, ClosedFormOracle(problem.closed_form(), inside=True), spread=spread)


def work_of(steps=(2, 1), index=1, rate=ETA):
    return Round(
        index=index, rates=(rate,), local_steps=2, p=WEIGHTS, steps=np.array([steps]), weights=WEIGHTS[None],
        boost=np.ones(2),
    )  # fmt: skip


def whole(step):
    """Return matrix, shift and covariance of a map as those of one vector, and the same for local models."""
    groups = len(step.matrix)

    def joined(matrices):
        if groups == 1:
            return matrices[0]
        rows, columns = matrices.shape[1:]
        full = np.zeros((rows, groups, columns, groups))
        for g in range(groups):
            full[:, g, :, g] = matrices[g]
        return full.reshape(rows * groups, columns * groups)

    def vector(shifts):
        return shifts[0] if groups == 1 else shifts.T.ravel()

    def square(noise):
        return noise @ noise.swapaxes(1, 2)

    return (
        joined(step.matrix), vector(step.shift), joined(square(step.noise)),
        joined(step.spread_matrix), vector(step.spread_shift), joined(square(step.spread_noise)),
    )  # fmt: skip


@pytest.mark.parametrize("layout", HESSIANS)
def test_the_map_of_fedavg_by_hand(layout):
    r"""``w_i = M^{s_i} w - eta sum_k M^k b_i``; noise ``eta^2 sum_k M_i^{2k}``, drift the square of ``sum_k M_i^k``."""
    prober = prober_of(layout, FedAvg())
    steps = (2, 1)
    first, later = prober.first(np.array([1.0, -0.5]), work_of(steps, 0)), prober.later({}, work_of(steps))
    local, covariances, shifts = [], [], []
    for i, count in enumerate(steps):
        h = HESSIANS[layout][i] if layout == "dense" else np.diag(HESSIANS[layout][i])
        powers = [np.linalg.matrix_power(np.eye(2) - ETA * h, k) for k in range(3)]
        gain = sum(powers[:count])
        local.append(powers[count])
        shifts.append(-ETA * gain @ LINEAR[i])
        fresh = sum(power @ power for power in powers[:count])
        covariances.append(ETA**2 / 2 * (NOISE_SQ[i] * fresh + DRIFT_SQ * gain @ gain))
    matrix, shift = (sum(p * part for p, part in zip(WEIGHTS, parts, strict=True)) for parts in (local, shifts))
    covariance = sum(p**2 * part for p, part in zip(WEIGHTS, covariances, strict=True))
    found = whole(later)
    for seen, expected in zip(found[:3], (matrix, shift, covariance), strict=True):
        np.testing.assert_allclose(seen, expected, rtol=1e-10, atol=1e-14)
    # Deviations from the plain mean of both, each times the root of one half.
    half = np.sqrt(0.5) / 2
    away = half * np.concatenate([local[0] - local[1], local[1] - local[0]])
    np.testing.assert_allclose(found[3], away, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found[4], half * np.concatenate([shifts[0] - shifts[1], shifts[1] - shifts[0]]))
    block = half**2 * (covariances[0] + covariances[1])
    np.testing.assert_allclose(found[5], np.block([[block, -block], [-block, block]]), rtol=1e-10, atol=1e-14)
    begun = whole(first)
    np.testing.assert_array_equal(begun[0], np.zeros((2, 2)))
    np.testing.assert_allclose(begun[1], matrix @ [1.0, -0.5] + shift, rtol=1e-10)
    np.testing.assert_allclose(begun[2], covariance, rtol=1e-10, atol=1e-14)
    assert (later.uplink_bits, later.downlink_bits) == (2 * 2 * 32, 2 * 2 * 32)
    assert prober.later({}, work_of((2, 0))).uplink_bits == 2 * 32
    assert later.tilts is None
    assert prober.foresees
    assert prober.matrices_per_map == 1


@pytest.mark.parametrize("layout", HESSIANS)
def test_without_noise_there_are_no_columns_and_without_spread_no_rows(layout):
    prober = prober_of(layout, FedAvg(), spread=False, noise_sq=np.zeros(2), round_drift_sq=0.0)
    step = prober.later({}, work_of())
    assert step.noise.shape[2] == 0
    assert step.spread_matrix.shape[1] == step.spread_shift.shape[1] == step.spread_noise.shape[1] == 0


def test_which_rounds_have_the_same_map():
    """Those that differ in their number only, unless the algorithm reads it."""
    prober = prober_of("diagonal", FedAvg())
    key = prober.key(work_of(), {})
    assert prober.key(work_of(index=5), {}) == key
    assert prober.key(work_of(steps=(1, 1)), {}) != key
    assert prober.key(work_of(rate=0.2), {}) != key
    assert prober.key(work_of(), {"u": np.ones(1)}) != key
    numbered = prober_of("diagonal", CFLR())
    assert numbered.key(work_of(index=5), {}) != numbered.key(work_of(), {})
    assert not numbered.foresees
    assert not prober_of("diagonal", EFL()).foresees
    assert prober_of("diagonal", Scaffold()).foresees


class Mixed(NamedTuple):
    w: Floats
    count: Floats
    wide: Floats
    x: Floats
    u: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Counting(Algorithm):
    """FedAvg whose server takes smaller steps from round to round, by a count, a short list and a memory."""

    name: ClassVar[str] = "counting"
    title: ClassVar[str] = "Counting"
    memory: ClassVar[tuple[str, ...]] = ("u",)

    follows: str = ""

    def init(self, start, oracle, p):
        replicates = len(start)
        return Mixed(
            w=start,
            count=np.ones(replicates),
            wide=np.ones((replicates, 5)),
            x=np.zeros((replicates, oracle.num_clients, oracle.dim)),
            u=np.ones((replicates, oracle.dim)),
        )

    def round(self, state, oracle, work):
        local = oracle.local_steps(state.w[:, None] + 0.1 * state.x, work)
        share = (1.0 / (state.count + state.wide[:, 0]))[:, None] * state.u
        w = state.w + share * (local.mean(axis=1) - state.w)
        grown = {"count": state.count + 1.0, "wide": 1.1 * state.wide, "u": 0.9 * state.u}
        if self.follows:
            grown[self.follows] = grown[self.follows] + 1e-3 * (w[:, 0] if self.follows == "count" else w[:, :1])
        after = Mixed(w=w, x=local - local.mean(axis=1, keepdims=True), **grown)
        return RoundResult(after, local, uplink=(Message(local),), downlink=(Message(local),))


@pytest.mark.parametrize("more", [{}, {"steps": BernoulliSteps(probability=1.0)}], ids=["all", "law"])
@pytest.mark.parametrize("commuting", [True, False])
def test_fields_of_any_shape_may_follow_a_schedule(commuting, more):
    problem = client_quadratics(dim=3, num_clients=2, commuting=commuting, noise_sq=0.0)
    experiment = Experiment(
        problem=problem,
        algorithm=Counting(),
        participation=Participation(num_clients=2, local_steps=2, **more),
        rounds=5,
        rate=0.1,
    )
    exact, run = (simulate(experiment, engine=engine, replicates=1) for engine in ("exact", "reference"))
    for name in exact.curves():
        np.testing.assert_allclose(exact.curve(name), run.curve(name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("field", ["count", "wide", "u"])
def test_a_field_that_does_not_follow_a_schedule_is_named(field):
    problem = noisy_quadratic(dim=3, num_clients=2)
    experiment = Experiment(
        problem=problem,
        algorithm=Counting(follows=field),
        participation=Participation(num_clients=2, local_steps=2),
        rounds=5,
        rate=0.1,
    )
    with pytest.raises(NotAffine, match=rf"Counting has no exact moments.*state field '{field}'"):
        simulate(experiment, engine="exact")


def test_rows_and_states_are_turned_into_each_other():
    rng = np.random.default_rng(8)
    state = Mixed(*(rng.standard_normal((4, *shape)) for shape in ((3,), (), (5,), (2, 3), (3,))))
    layout = Layout(Counting(), state, 3)
    assert layout.memory == ["count", "wide", "u"]
    assert layout.moving == ["w", "x"]
    assert layout.rows == {"w": 1, "x": 2}
    assert layout.total == 3
    assert layout.row_names() == ["w", "x", "x"]
    rows = layout.pack(state)
    np.testing.assert_array_equal(rows, np.concatenate([state.w[:, None], state.x], axis=1))
    back = layout.unpack(rows, {name: getattr(state, name) for name in layout.memory})
    assert type(back) is Mixed
    for one, other in zip(back, state, strict=True):
        np.testing.assert_array_equal(one, other)


def test_how_the_model_is_made_of_the_rows():
    class Half(Scaffold):
        def model(self, state):
            return 0.5 * state.w - 0.25 * state.c_i[:, 1]

    np.testing.assert_array_equal(prober_of("dense", FedAvg()).model_weights(), [1.0])
    assert sorted(prober_of("dense", Half()).model_weights()) == [-0.25, 0.0, 0.0, 0.5]
