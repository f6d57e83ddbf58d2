"""Exact moments where noise multiplies the state: hand derivations, and enumeration of all signs."""

import itertools

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.continual import Continual
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.mimelite import MimeLite
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.scaffold import Scaffold
from fltheory.errors import NotAffine
from fltheory.participation import BernoulliSteps
from fltheory.problems.oracle import PLAIN, LocalSteps, rate_of
from fltheory.quadratic import Quadratic
from fltheory.quadratic.multiplied import MultipliedOracle
from fltheory.simulation.engines import propagation
from fltheory.simulation.engines.affine import Prober
from fltheory.simulation.engines.multiplied import MultipliedProber
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.schedules import Inverse, PerStep, Table

CLIENTS, STEPS, ROUNDS = 2, 2, 2


def quadratic(layout, **more):
    """Two clients with Hessians, minimisers and fixed drifts of their own, without additive noise."""
    rng = np.random.default_rng(5)
    hessian = {
        "diagonal": np.array([[1.0, 3.0], [2.0, 0.5]]),
        "dense": np.array([[[2.0, 0.7], [0.7, 1.0]], [[1.0, -0.4], [-0.4, 3.0]]]),
        "shared": np.array([[1.0, 3.0]]),
    }[layout]
    options = {
        "hessian": hessian,
        "linear": rng.standard_normal((2, 2)),
        "constant": np.zeros(2),
        "sample_counts": np.array([1.0, 2.0]),
        "client_drift": 0.3 * rng.standard_normal((2, 2)),
        "noise_sq": np.zeros(2),
        "start": np.array([1.0, -0.5]),
        "client_growth": np.array([0.1, -0.2]),
    }
    return Quadratic(**(options | more))


def experiment_of(problem, algorithm, **more):
    options = {
        "participation": Participation(num_clients=problem.num_clients, local_steps=STEPS),
        "rounds": ROUNDS,
        "rate": Inverse(scale=0.6, shift=3.0),
        "averaging": np.array([1.0, 2.0, 3.0]),
    }
    return Experiment(problem=problem, algorithm=algorithm, **(options | more))


class AllSigns:
    """An oracle whose replicates are the possible signs of a run, written out formula by formula."""

    def __init__(self, problem):
        self._problem = problem
        hessian = np.broadcast_to(problem.hessian, (CLIENTS, *problem.hessian.shape[1:]))
        self._hessian = hessian if problem.is_dense else hessian[..., None] * np.eye(problem.dim)
        noises = ROUNDS * CLIENTS * STEPS if problem.hessian_noise else 0
        growths = ROUNDS * CLIENTS if problem.round_growth else 0
        every = np.array(list(itertools.product([1.0, -1.0], repeat=noises + growths)))
        paths = len(every)
        none = np.zeros((paths, ROUNDS, CLIENTS, STEPS))
        self.noise = every[:, :noises].reshape(none.shape) if noises else none
        self.growth = every[:, noises:].reshape(none.shape[:3]) if growths else none[..., 0]
        self.paths, self.num_clients, self.dim, self._round = paths, CLIENTS, problem.dim, 0

    def begin_round(self, index):
        self._round = index

    @property
    def _scale(self):
        return 1.0 + self._problem.client_growth + self._problem.round_growth * self.growth[:, self._round]

    def minibatch(self, index):
        return index

    def gradient(self, w, minibatch=None, *, active=None):
        problem = self._problem
        g = self._scale[..., None] * (np.einsum("nab,rnb->rna", self._hessian, self._full(w)) + problem.linear)
        g = g + problem.client_drift
        if minibatch is None:
            return g
        return (1.0 + problem.hessian_noise * self.noise[:, self._round, :, minibatch])[..., None] * g

    def curvature(self, w, kind, *, active=None):
        return self._scale[..., None, None] * self._hessian

    def apply(self, curvature, vectors):
        return np.einsum("rnab,rnb->rna", curvature, self._full(vectors))

    def prox(self, anchor, *, pull, l1=0.0, linear=None):
        slope = self.gradient(anchor) + (0.0 if linear is None else linear)
        matrix = self.curvature(anchor, "exact") + pull * np.eye(self.dim)
        return self._full(anchor) - np.linalg.solve(matrix, slope[..., None])[..., 0]

    def local_steps(self, start, work, how=PLAIN):
        w = begin = self._full(start)
        terms, rates, counts = how.written_out(self.dim), how.rates_in(work), how.steps_in(work)
        for k in range(STEPS):
            g = self.gradient(w, k)
            if how.recentre:
                g = g - self.gradient(begin, k)
            away = self._full(w - terms.anchor)
            pulled = terms.pull * away if terms.pull.ndim == 3 else self.apply(terms.pull, away)
            moved = w - rate_of(rates, k) * (g + terms.correction + pulled)
            w = np.where((k < counts)[:, :, None], moved, w)
        return w

    def _full(self, w):
        return np.broadcast_to(w, (self.paths, CLIENTS, self.dim))


def mean_over_all_signs(experiment):
    """Return expected curves of a run, all paths of signs being equally likely."""
    problem, algorithm = experiment.problem, experiment.algorithm
    oracle, terms, objective = AllSigns(problem), Terms(experiment), problem.objective()
    w = np.repeat(experiment.start[None], oracle.paths, axis=0)
    state, average = algorithm.init(w, oracle, problem.weights), w
    curves = {"gap": [objective.gap(w)], "consensus_sq": [np.zeros(oracle.paths)], "average_gap": [objective.gap(w)]}
    mass = experiment.averaging[0]
    for index in range(experiment.rounds):
        oracle.begin_round(index)
        result = algorithm.round(state, oracle, terms.sample(index, seed=0, replicates=range(1)))
        state, w = result.state, algorithm.model(result.state)
        mass += experiment.averaging[index + 1]
        average = average + experiment.averaging[index + 1] / mass * (w - average)
        local = result.local
        curves["gap"].append(objective.gap(w))
        curves["average_gap"].append(objective.gap(average))
        curves["consensus_sq"].append(np.sum((local - local.mean(axis=1, keepdims=True)) ** 2, axis=2).mean(axis=1))
    return {name: np.mean(values, axis=1) for name, values in curves.items()}


BOTH = [FedAvg(server_rate=0.7), Scaffold(), FedProx(prox=0.4), FedNova(server_momentum=0.3), FedDyn(), MimeLite()]
BOTH += [MinibatchSGD()]
LAWS = {
    "random Hessian": {"hessian_noise": 0.6},
    "growing drift": {"round_growth": 0.7},
    "both": {"hessian_noise": 0.6, "round_growth": 0.7},
}
CASES = [(law, algorithm) for law in LAWS for algorithm in BOTH]
CASES += [("random Hessian", algorithm) for algorithm in (Mime(), CFLR(), Scaffold(option="I"), FedDyn(exact=True))]
CASES += [("growing drift", Scaffold(option="I"))]
CASES += [("growing drift", FedDyn(exact=True))]


@pytest.mark.parametrize("layout", ["diagonal", "dense"])
@pytest.mark.parametrize(
    ("law", "algorithm"), CASES, ids=lambda value: value if isinstance(value, str) else value.title
)
def test_all_signs(law, algorithm, layout):
    experiment = experiment_of(quadratic(layout, **LAWS[law]), algorithm)
    run = simulate(experiment, engine="exact")
    assert run.exact
    for name, expected in mean_over_all_signs(experiment).items():
        np.testing.assert_allclose(run.curve(name)[0], expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_rates_that_change_inside_a_round():
    experiment = experiment_of(quadratic("diagonal", hessian_noise=0.6), FedAvg(), rate=PerStep(scale=0.6, shift=3.0))
    run = simulate(experiment, engine="exact")
    np.testing.assert_allclose(run.gap[0], mean_over_all_signs(experiment)["gap"], rtol=1e-10)


@pytest.mark.parametrize("law", ["hessian_noise", "round_growth"])
def test_one_step_in_one_dimension_by_hand(law):
    r"""``w' = w - eta ((1 + rho eps) h w + nu)``: ``E w'^2 = ((1 - eta h)^2 + (eta rho h)^2) w^2 + eta^2 sigma^2``.

    With one step per round a sign per step and a sign per round are the same law.
    """
    h, eta, rho, sigma_sq, rounds = 2.0, 0.2, 0.5, 0.3, 3
    problem = noisy_quadratic(
        dim=1,
        num_clients=1,
        mu=h,
        L=h,
        radius=1.0,
        client_drift_sq=0,
        round_drift_sq=0,
        noise_sq=sigma_sq,
        **{law: rho},
    )
    participation = Participation(num_clients=1, local_steps=1)
    run = simulate(
        Experiment(problem=problem, algorithm=FedAvg(), participation=participation, rounds=rounds, rate=eta),
        engine="exact",
    )
    expected = [1.0]
    for _ in range(rounds):
        expected.append(((1 - eta * h) ** 2 + (eta * rho * h) ** 2) * expected[-1] + eta**2 * sigma_sq)
    np.testing.assert_allclose(run.distance_sq[0], expected, rtol=1e-12)


def test_two_steps_in_one_dimension_by_hand():
    r"""Two steps in a round: fresh signs give ``E m^2`` twice, one sign for the round gives ``E m^4``."""
    h, eta, size = 1.5, 0.2, 0.4
    a, g = 1 - eta * h, eta * size * h
    expected = {"hessian_noise": (a**2 + g**2) ** 2, "round_growth": ((a - g) ** 4 + (a + g) ** 4) / 2}
    for law, factor in expected.items():
        problem = noisy_quadratic(
            dim=1, num_clients=1, mu=h, L=h, client_drift_sq=0, round_drift_sq=0, noise_sq=0, **{law: size}
        )
        participation = Participation(num_clients=1, local_steps=2)
        experiment = Experiment(problem=problem, algorithm=FedAvg(), participation=participation, rounds=1, rate=eta)
        assert simulate(experiment, engine="exact").distance_sq[0, 1] == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize("law", ["hessian_noise", "round_growth"])
def test_drift_and_noise_of_one_round_by_hand(law):
    r"""From the minimiser, given the signs: drifts add up to ``G^2`` and noises to ``sum_k prod_{l>k} m_l^2``.

    ``G = sum_k (1 + rho eps_k) prod_{l>k} m_l`` for a random Hessian; a drift does not grow with itself.
    """
    h, eta, size, steps, clients = 1.5, 0.2, 0.4, 3, 2
    problem = noisy_quadratic(
        dim=2, num_clients=clients, mu=h, L=h, radius=0, client_drift_sq=0, round_drift_sq=0.5, noise_sq=0.3,
        **{law: size},
    )  # fmt: skip
    experiment = Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(num_clients=clients, local_steps=steps),
        rounds=1,
        rate=eta,
    )
    fresh = itertools.product([1, -1], repeat=steps)
    every = list(fresh) if law == "hessian_noise" else [(1,) * steps, (-1,) * steps]
    each = 0.0
    for signs in np.array(every):
        later = np.array([np.prod(1 - eta * h * (1 + size * signs[k + 1 :])) for k in range(steps)])
        driven = np.sum(later * (1 + size * signs)) if law == "hessian_noise" else np.sum(later)
        each += eta**2 * (0.5 * driven**2 + 0.3 * np.sum(later**2)) / len(every)
    run = simulate(experiment, engine="exact")
    assert run.distance_sq[0, 1] == pytest.approx(each / clients, rel=1e-12)
    assert run.consensus_sq[0, 1] == pytest.approx(each * (clients - 1) / clients, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_covariance_of_the_model_knows_that_coordinates_share_their_signs(law):
    problem = quadratic("shared", **LAWS[law])
    experiment = experiment_of(problem, FedAvg(), rounds=1, averaging=None)
    run = simulate(experiment, engine="exact", record=Record(moments=True))
    plain = simulate(experiment, engine="exact")
    covariance, mean = run.curve("model_covariance")[0, 1], run.curve("model_mean")[0, 1]
    assert abs(covariance[0, 1]) > 1e-4
    away = mean - problem.objective().w_star
    assert plain.distance_sq[0, 1] == pytest.approx(np.trace(covariance) + away @ away, rel=1e-10)
    models = simulate(
        experiment, engine="reference", replicates=20_000, record=Record(models=True, consensus=False)
    ).curve("models")[:, 1]
    # 20,000 models: the standard error of an entry is below 1.5 % of the largest variance, so 6 % are 4 of them.
    np.testing.assert_allclose(np.cov(models.T), covariance, atol=0.06 * covariance.max())


def test_without_size_nothing_changes():
    base = quadratic("dense", round_drift_sq=0.2, noise_sq=np.array([0.3, 0.1]))
    tiny = replace_problem(base, hessian_noise=1e-9, round_growth=1e-9)
    law = Participation(num_clients=2, local_steps=2, steps=BernoulliSteps(probability=0.5))
    for algorithm in (FedAvg(), Scaffold()):
        plain, small = (
            simulate(experiment_of(problem, algorithm, participation=law), engine="exact") for problem in (base, tiny)
        )
        for name in plain.curves():
            np.testing.assert_allclose(small.curve(name), plain.curve(name), rtol=1e-7, err_msg=name)


def replace_problem(problem, **more):
    names = ("hessian", "linear", "constant", "sample_counts", "client_drift", "client_growth", "noise_sq", "start")
    kept = {name: getattr(problem, name) for name in (*names, "round_drift_sq")}
    return Quadratic(**(kept | more))


@pytest.mark.parametrize(
    ("law", "steps", "factors"), [("growing drift", 2, 1), ("both", 1, 3), ("both", 2, 5), ("random Hessian", 2, 2)]
)
def test_matrices_per_map_are_its_own_and_one_for_every_factor_of_a_client(law, steps, factors):
    """A sign for the drift; for each of its values one factor after one step, and two after several.

    Two are what the decay and the gain of a client may have that is random. Three are taken before any is seen.
    """
    oracle = MultipliedOracle(quadratic("diagonal", **LAWS[law]).closed_form(), inside=True)
    prober = MultipliedProber(FedAvg(), oracle, spread=False)
    assert not prober.foresees
    assert prober.matrices_per_map == 1 + CLIENTS * 3
    participation = Participation(num_clients=CLIENTS, local_steps=steps)
    terms = Terms(experiment_of(quadratic("diagonal"), FedAvg(), participation=participation))
    step = prober.first(np.ones(2), terms.sample(0, seed=0, replicates=range(1)))
    assert len(step.tilts.matrix) == CLIENTS * factors
    assert prober.matrices_per_map == 1 + CLIENTS * max(factors, 3)


@pytest.mark.parametrize(("held", "maps"), [(14, 2), (13, 7)])
def test_maps_take_the_room_of_all_their_matrices(monkeypatch, held, maps):
    """Seven matrices of two numbers each: with 13 allowed, each of two maps in turn is forgotten before the other."""
    experiment = experiment_of(
        quadratic("diagonal", **LAWS["random Hessian"]),
        FedAvg(),
        rounds=8,
        rate=Table(values=[0.1, 0.05] * 4),
        averaging=None,
    )
    read, whole = [], Prober.later_outcomes
    monkeypatch.setattr(
        Prober, "later_outcomes", lambda self, memory, works: read.append(1) or whole(self, memory, works)
    )
    monkeypatch.setattr(propagation, "_HELD", held)
    simulate(experiment, engine="exact")
    assert len(read) == maps


class TestRefusals:
    @pytest.mark.parametrize(
        ("algorithm", "law", "message"),
        [
            (APFL(), "random Hessian", "multiplied with noise of the same round again"),
            (PFedMe(), "random Hessian", "multiplied with noise of the same round again"),
            (Mime(), "growing drift", "multiplied with noise of the same round again"),
            (CFLR(), "growing drift", "enters what is remembered in 'curvature'"),
            (EFL(), "growing drift", "enters what is remembered in 'u'"),
        ],
    )
    def test_noise_times_noise(self, algorithm, law, message):
        title = algorithm.title
        with pytest.raises(NotAffine, match=rf"^{title} has no exact moments: .*{message}.* monte_carlo engine$"):
            simulate(experiment_of(quadratic("diagonal", **LAWS[law]), algorithm), engine="exact")

    def test_a_pull_that_does_not_commute(self):
        experiment = experiment_of(quadratic("dense", hessian_noise=0.3), EFL(elasticity=0.5))
        with pytest.raises(NotAffine, match="does not commute with the random Hessian"):
            simulate(experiment, engine="exact")

    def test_signs_of_the_l1_term(self):
        oracle = MultipliedOracle(quadratic("diagonal", hessian_noise=0.3).closed_form(), inside=True)
        oracle.arm(1, None, {})
        work = Terms(experiment_of(quadratic("diagonal"), FedAvg())).sample(0, seed=0, replicates=range(1))
        with pytest.raises(NotAffine, match="sign term of the local steps"):
            oracle.local_steps(np.zeros((1, 2, 2)), work, LocalSteps(l1=0.1))


def test_continual_learning_with_a_random_hessian():
    problem = client_quadratics(dim=2, num_clients=1, dissimilarity=0, spread=0, commuting=True, hessian_noise=0.4)
    experiment = Experiment(
        problem=problem,
        algorithm=Continual(variant="ewc"),
        participation=Participation(num_clients=1, local_steps=1),
        rounds=2,
        rate=0.1,
    )
    run = simulate(experiment, engine="exact")
    h, w = problem.hessian[0], -problem.linear[0] / problem.hessian[0]
    factor = (1 - 0.1 * h) ** 2 + (0.1 * 0.4 * h) ** 2
    # In the second round the pull towards its start does nothing in a single step.
    np.testing.assert_allclose(run.distance_sq[0], [np.sum(factor**t * w**2) for t in range(3)], rtol=1e-12)
