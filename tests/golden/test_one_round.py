r"""Single rounds worked out by hand.

Two clients on a line, :math:`f_1(w) = \frac12 (w-4)^2` and :math:`f_2(w) = (w+1)^2`, so gradients :math:`w - 4` and
:math:`2(w+1)`; weights 3/4 and 1/4, start 0, rate 1/2, two local steps. A plain step of client 1 goes half of the way
to 4; a plain step of client 2 lands on -1 from anywhere. Every number below is a dyadic or short decimal fraction.
"""

import dataclasses

import numpy as np
import pytest

from fltheory import Experiment, Participation, simulate
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.diana import DIANA
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedpaq import FedPAQ
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.mimelite import MimeLite
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.ruan import Ruan
from fltheory.algorithms.scaffold import Scaffold
from fltheory.problems.oracle import Round
from fltheory.quadratic.problem import Quadratic

P = np.array([0.75, 0.25])


def line(*, curvature=(1.0, 2.0), minimisers=(4.0, -1.0)):
    """Return the oracle of two quadratics on a line."""
    problem = Quadratic(
        hessian=np.array(curvature)[:, None],
        linear=-np.array(curvature)[:, None] * np.array(minimisers)[:, None],
        constant=np.zeros(2),
        sample_counts=np.array([3.0, 1.0]),
        noise_sq=np.zeros(2),
        start=np.zeros(1),
    )
    return problem.reference_oracle(seed=0, replicates=range(1))


def work(index=0, *, steps=(2, 2), weights=P):
    return Round(
        index=index,
        rates=(0.5,),
        local_steps=2,
        p=P,
        steps=np.array([steps]),
        weights=np.array([weights]),
        boost=np.ones(2),
    )


def started(algorithm, oracle):
    return algorithm.init(np.zeros((1, 1)), oracle, P)


def first(algorithm, **terms):
    """Return the outcome of round 0."""
    oracle = line()
    return algorithm.round(started(algorithm, oracle), oracle, work(**terms))


def numbers(array):
    return np.asarray(array).ravel().tolist()


def test_fedavg():
    """Client 1: 0 -> 2 -> 3. Client 2: 0 -> -1 -> -1. Server: 3/4 * 3 - 1/4 = 2; with rate 1/2 half of it."""
    outcome = first(FedAvg())
    assert numbers(outcome.local) == [3.0, -1.0]
    assert numbers(outcome.state.w) == [2.0]
    assert numbers(first(FedAvg(server_rate=0.5)).state.w) == [1.0]


def test_minibatch_sgd():
    """Gradients at 0 are -4 and 2; the step is 1/2 * (3/4 * 4 - 1/4 * 2) = 5/4, however many copies are averaged."""
    assert numbers(first(MinibatchSGD()).state.w) == [1.25]


def rounded(algorithm, curvature, minimisers, uniforms, **terms):
    """Return the outcome of round 0 of two quadratics in the plane, with given numbers for the rounding."""
    problem = Quadratic(
        hessian=np.array(curvature),
        linear=-np.array(curvature) * np.array(minimisers),
        constant=np.zeros(2),
        sample_counts=np.array([3.0, 1.0]),
        noise_sq=np.zeros(2),
        start=np.zeros(2),
    )
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    state = algorithm.init(np.zeros((1, 2)), oracle, P)
    draws = {"round": np.array(uniforms)[None]}
    return algorithm.round(state, oracle, dataclasses.replace(work(**terms), draws=draws))


def test_fedpaq():
    """One step of rate 1/2 with curvature 2 leads to the minimisers, (3, 4) and (0, -8), of norms 5 and 8.

    Two levels: 2 * 3/5 = 1.2 and 2 * 4/5 = 1.6; with 0.1 the first goes up to level 2, with 0.7 the second stays at 1:
    Q = 5 * (2, 1)/2 = (5, 5/2). The other is on level 2 exactly: (0, -8). Server: 3/4 * (5, 5/2) + 1/4 * (0, -8).
    """
    outcome = rounded(FedPAQ(levels=2), 2 * np.ones((2, 2)), [[3, 4], [0, -8]], [[0.1, 0.7], [0.5, 0.9]], steps=(1, 1))
    assert numbers(outcome.local) == [3.0, 4.0, 0.0, -8.0]
    assert numbers(outcome.state.w) == [3.75, -0.125]


def test_diana():
    """Gradients at 0 are (-3, -4) and (0, 8); one level: 3/5 and 4/5 with 0.5 and 0.9 become 1 and 0, so (-5, 0).

    The other stays (0, 8). Estimate: 3/4 * (-5, 0) + 1/4 * (0, 8) = (-15/4, 2), step 1/2: w = (15/8, -1). Memories with
    rate 1/4: (-5/4, 0) and (0, 2). Local models: -1/2 of the own estimates.
    """
    algorithm = DIANA(levels=1, memory_rate=0.25, momentum=0.5)
    outcome = rounded(algorithm, np.ones((2, 2)), [[3, 4], [0, -8]], [[0.5, 0.9], [0.5, 0.9]])
    assert numbers(outcome.state.w) == [1.875, -1.0]
    assert numbers(outcome.state.v) == [-3.75, 2.0]
    assert numbers(outcome.state.h_i) == [-1.25, 0.0, 0.0, 2.0]
    assert numbers(outcome.local) == [2.5, 0.0, 0.0, -4.0]


def test_diana_two_rounds_with_an_absent_client():
    """From the state above with w = 0 again: client 1 is away. Its memory counts, what the other sends has weight 1.

    Client 2 has gradient (0, 8), memory (0, 2), message (0, 6). Estimate: 3/4 * (-5/4, 0) + 1/4 * (0, 2) + (0, 6)
    = (-15/16, 13/2); velocity 1/2 * (-15/4, 2) + that = (-45/16, 15/2); w = (45/32, -15/4); h_2 = (0, 2 + 6/4).
    """
    algorithm = DIANA(levels=1, memory_rate=0.25, momentum=0.5)
    first_round = rounded(algorithm, np.ones((2, 2)), [[3, 4], [0, -8]], [[0.5, 0.9], [0.5, 0.9]]).state
    started_again = first_round._replace(w=np.zeros((1, 2)))
    problem = Quadratic(
        hessian=np.ones((2, 2)),
        linear=-np.array([[3.0, 4.0], [0.0, -8.0]]),
        constant=np.zeros(2),
        sample_counts=np.array([3.0, 1.0]),
        noise_sq=np.zeros(2),
        start=np.zeros(2),
    )
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    terms = work(1, steps=(0, 2), weights=(0.0, 1.0))
    outcome = algorithm.round(
        started_again, oracle, dataclasses.replace(terms, draws={"round": np.full((1, 2, 2), 0.5)})
    )
    assert numbers(outcome.state.v) == [-45 / 16, 7.5]
    assert numbers(outcome.state.w) == [45 / 32, -3.75]
    assert numbers(outcome.state.h_i) == [-1.25, 0.0, 0.0, 3.5]


def test_fedprox():
    """With pull 1, client 1 steps by -(2w - 4)/2, so 0 -> 2 -> 2; client 2 by -(3w + 2)/2, so 0 -> -1 -> -1/2.

    Server: 3/4 * 2 - 1/4 * 1/2 = 11/8.
    """
    outcome = first(FedProx(prox=1.0))
    assert numbers(outcome.local) == [2.0, -0.5]
    assert numbers(outcome.state.w) == [1.375]


def test_fednova():
    """Steps 1 and 2: displacements 2 and -1 become 2 and -1/2 per step; tau_eff = 3/4 + 2/4 = 5/4.

    Server: 5/4 * (3/4 * 2 - 1/4 * 1/2) = 55/32.
    """
    assert numbers(first(FedNova(), steps=(1, 2)).state.w) == [55 / 32]


def test_scaffold_two_rounds():
    """Round 1 is FedAvg: w = 2. Path means: c_1 = (0 - 3)/1 = -3, c_2 = (0 + 1)/1 = 1, c = -9/4 + 1/4 = -2.

    Round 2, client 1 with correction -2 + 3 = 1: gradient w - 3, so 2 -> 5/2 -> 11/4. Client 2 with correction
    -2 - 1 = -3: gradient 2w - 1, so 2 -> 1/2 -> 1/2. Server: 2 + 3/4 * 3/4 - 1/4 * 3/2 = 35/16. Then
    c_1 = -3 + 2 - 3/4 = -7/4, c_2 = 1 + 2 + 3/2 = 9/2, c = -21/16 + 18/16 = -3/16.
    """
    algorithm, oracle = Scaffold(option="II"), line()
    state = algorithm.round(started(algorithm, oracle), oracle, work()).state
    assert (numbers(state.w), numbers(state.c), numbers(state.c_i)) == ([2.0], [-2.0], [-3.0, 1.0])
    outcome = algorithm.round(state, oracle, work(1))
    assert numbers(outcome.local) == [2.75, 0.5]
    state = outcome.state
    assert (numbers(state.w), numbers(state.c), numbers(state.c_i)) == ([35 / 16], [-3 / 16], [-1.75, 4.5])


def test_scaffold_from_gradients():
    """Gradients at 0 are -4 and 2, their mean -3 + 1/2 = -5/2; so the first step of both clients is 1/2 * 5/2 = 5/4."""
    algorithm, oracle = Scaffold(option="II", initial="gradient"), line()
    state = started(algorithm, oracle)
    assert (numbers(state.c), numbers(state.c_i)) == ([-2.5], [-4.0, 2.0])
    assert numbers(algorithm.round(state, oracle, work(steps=(1, 1))).local) == [1.25, 1.25]


def test_scaffold_with_an_absent_client():
    """Client 2 alone: w = -1, c_2 = 1; client 1 keeps 0, so c = 1/4 * 1, not 1."""
    state = first(Scaffold(option="II"), steps=(0, 2), weights=(0.0, 1.0)).state
    assert (numbers(state.w), numbers(state.c), numbers(state.c_i)) == ([-1.0], [0.25], [0.0, 1.0])


def test_scaffold_option_one():
    """The stored gradients are those at the start: -4 and 2, mean -5/2."""
    state = first(Scaffold(option="I")).state
    assert (numbers(state.w), numbers(state.c), numbers(state.c_i)) == ([2.0], [-2.5], [-4.0, 2.0])


def test_feddyn_with_steps():
    """With alpha = 1 the first round has FedProx's local models 2 and -1/2; h_1 = -2, h_2 = 1/2, h = -11/8.

    Server: mean displacement 11/8 minus h is 11/4.
    """
    state = first(FedDyn(alpha=1.0)).state
    assert (numbers(state.w), numbers(state.h), numbers(state.h_i)) == ([2.75], [-1.375], [-2.0, 0.5])


def test_feddyn_exact():
    """With alpha = 3: (w - 4) + 3w = 0 gives 1, 2(w + 1) + 3w = 0 gives -2/5.

    Memories are the gradients there, -3 and 6/5, with mean -39/20; server: 3/4 - 1/10 + 13/20 = 13/10.
    """
    outcome = first(FedDyn(alpha=3.0, exact=True))
    state = outcome.state
    assert numbers(outcome.local) == pytest.approx([1.0, -0.4], abs=1e-15)
    assert numbers(state.h_i) == pytest.approx([-3.0, 1.2], abs=1e-15)
    assert numbers(state.h) == pytest.approx([-1.95], abs=1e-15)
    assert numbers(state.w) == pytest.approx([1.3], abs=1e-15)


def test_feddyn_with_an_absent_client():
    """Client 2 alone with alpha = 1: w_2 = -1/2, h_2 = 1/2, h = 1/8; server: -1/2 - 1/8 = -5/8."""
    state = first(FedDyn(alpha=1.0), steps=(0, 2), weights=(0.0, 1.0)).state
    assert (numbers(state.w), numbers(state.h), numbers(state.h_i)) == ([-0.625], [0.125], [0.0, 0.5])


def test_mime():
    """The mean gradient at 0 is c = -3 + 1/2 = -5/2; momentum 1/2 halves the rate and stores -5/4.

    Client 1 follows w + c at rate 1/4: 0 -> 5/8 -> 5/8 + (5/2 - 5/8)/4 = 35/32. Client 2 follows 2w + c:
    0 -> 5/8 -> 5/8 + (5/2 - 5/4)/4 = 15/16. Server: 3/4 * 35/32 + 1/4 * 15/16 = 135/128.
    """
    outcome = first(Mime(momentum=0.5))
    assert numbers(outcome.local) == [35 / 32, 15 / 16]
    assert (numbers(outcome.state.w), numbers(outcome.state.m)) == ([135 / 128], [-1.25])


def test_mime_normalises_statistics_by_the_weights_of_the_round():
    """Weights 3/2 and 1/2 double the server's step and nothing else: gradients are averaged, not added."""
    outcome = first(Mime(momentum=0.5), weights=np.array([1.5, 0.5]))
    assert numbers(outcome.local) == [35 / 32, 15 / 16]
    assert (numbers(outcome.state.w), numbers(outcome.state.m)) == ([135 / 64], [-1.25])


def test_mimelite_normalises_statistics_by_the_weights_of_the_round():
    """Rate 1/4: client 1 goes 0 -> 1 -> 7/4, client 2 goes 0 -> -1/2 -> -3/4; the mean gradient at 0 is -5/2.

    Server: 3/2 * 7/4 - 1/2 * 3/4 = 9/4.
    """
    outcome = first(MimeLite(momentum=0.5), weights=np.array([1.5, 0.5]))
    assert numbers(outcome.local) == [1.75, -0.75]
    assert (numbers(outcome.state.w), numbers(outcome.state.m)) == ([2.25], [-1.25])


def test_apfl_mixes_a_quarter_of_the_personal_part():
    """Mixing 1/4. Step 1: shared 2 and -1, personal parts move an eighth of the gradients -4 and 2: 1/2 and -1/4.

    Step 2: mixtures 13/8 and -13/16 have the gradients -19/8 and 3/8, so the parts are 51/64 and -19/64; shared 3 and
    -1. Server: 9/4 - 1/4 = 2. The personal models are a quarter of the part and three quarters of 2.
    """
    algorithm = APFL(mixing=0.25)
    outcome = first(algorithm)
    assert (numbers(outcome.state.w), numbers(outcome.state.v)) == ([2.0], [51 / 64, -19 / 64])
    assert numbers(algorithm.personal(outcome.state)) == [51 / 256 + 1.5, -19 / 256 + 1.5]


@pytest.mark.parametrize(
    ("curvature", "expected"), [([1.0], [1, 3 / 4, 1 / 2]), ([1.0, 0.5], [1, 13 / 16, 77 / 128])], ids=["one", "two"]
)
@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_the_first_average_contains_the_start(engine, curvature, expected):
    """Minimiser 0, start 1, rate 1/2, weights 1, 1, 2 of the models.

    One client: models 1, 1/2, 1/4. Two with curvatures 1 and 1/2: a round multiplies by (1/2 + 3/4)/2 = 5/8, so the
    models are 1, 5/8, 25/64. The second problem goes through another part of the exact engine than the first.
    """
    clients = len(curvature)
    problem = Quadratic(
        hessian=np.array(curvature)[:, None],
        linear=np.zeros((clients, 1)),
        constant=np.zeros(clients),
        sample_counts=np.ones(clients),
        noise_sq=np.zeros(clients),
        start=np.ones(1),
    )
    experiment = Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(num_clients=clients, local_steps=1),
        rate=0.5,
        rounds=2,
        averaging=np.array([1.0, 1.0, 2.0]),
    )
    found = np.sqrt(simulate(experiment, engine=engine).average_distance_sq[0])
    assert numbers(found) == pytest.approx(expected)


@pytest.mark.parametrize("form", ["weighted", "sum"])
def test_cflr_second_round(form):
    """Round 1 is FedAvg: w = 2; memories of gradients g - Hw are -4 and 2, of curvature 1 and 2.

    In round 2 the objectives are 3/2 w^2 and (w - 1)^2, and the present has weight 1/2. Client 1 steps by
    -(3w - 4 + w)/4, so 2 -> 1 -> 1; client 2 by -(2w - 2 + 2 + 2w)/4, so 2 -> 0 -> 0. Server: 2 - 3/4 - 2/4 = 3/4.
    The memories become means of (-4, 0), (2, -2), (1, 3) and (2, 2), or their sums in Algorithm 2.
    """
    algorithm, oracle = CFLR(form=form), line()
    state = algorithm.round(started(algorithm, oracle), oracle, work()).state
    assert (numbers(state.w), numbers(state.gradient), numbers(state.curvature)) == ([2.0], [-4.0, 2.0], [1.0, 2.0])
    outcome = algorithm.round(state, line(curvature=(3.0, 2.0), minimisers=(0.0, 1.0)), work(1))
    assert numbers(outcome.local) == [1.0, 0.0]
    count = 1 if form == "weighted" else 2
    assert numbers(outcome.state.w) == [0.75]
    assert numbers(outcome.state.gradient) == [-2.0 * count, 0.0]
    assert numbers(outcome.state.curvature) == [2.0 * count, 2.0 * count]


@pytest.mark.parametrize(("scheme", "steps", "expected"), [
    ("A", (2, 1), 4.5),
    ("B", (2, 1), 2.0),
    ("C", (2, 1), 1.75),
    ("A", (1, 2), -0.5),
    ("B", (1, 2), 1.25),
    ("C", (1, 2), 2.75),
    ("A", (1, 1), 0.0),
    ("B", (0, 2), -0.25),
    ("C", (0, 1), -0.5),
])  # fmt: skip
def test_schemes(scheme, steps, expected):
    """Displacements are 2 or 3 for one or two steps of client 1, and -1 for client 2; E = 2.

    A doubles the weight of the only complete client: 2 * 3/4 * 3 = 9/2, 2 * 1/4 * -1 = -1/2; with none, nothing.
    B: 9/4 - 1/4 = 2, 6/4 - 1/4 = 5/4, -1/4 alone. C doubles the weight of half the work: 9/4 - 2/4 = 7/4,
    2 * 6/4 - 1/4 = 11/4, -2/4 alone.
    """
    assert numbers(first(Ruan(scheme=scheme), steps=steps).state.w) == [expected]


def test_efl_second_round():
    """Round 1 has no elastic term: FedAvg's w = 2 with u = (1, 2), v = (1 * 3, 2 * -1) = (3, -2).

    With elasticity 1/2 both clients then feel 1/2 * (3w - 1). Client 1: gradient 5/2 w - 9/2, so
    2 -> 7/4 -> 29/16. Client 2: 7/2 w + 3/2, so 2 -> -9/4 -> 15/16. Server: 2 - 3/4 * 3/16 - 1/4 * 17/16 = 51/32.
    """
    algorithm, oracle = EFL(elasticity=0.5), line()
    state = algorithm.round(started(algorithm, oracle), oracle, work()).state
    assert (numbers(state.w), numbers(state.u), numbers(state.v)) == ([2.0], [1.0, 2.0], [3.0, -2.0])
    outcome = algorithm.round(state, oracle, work(1))
    assert numbers(outcome.local) == [29 / 16, 15 / 16]
    assert numbers(outcome.state.w) == [51 / 32]
