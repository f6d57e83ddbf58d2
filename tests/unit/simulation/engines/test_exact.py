"""Exact moments: without noise they are the run itself, with noise they follow from formulas and enumeration."""

import itertools
from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory._internal import memory
from fltheory._internal.arguments import Floats
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.continual import Continual
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.algorithms.fen_scaffold import FedElasticNet2
from fltheory.algorithms.gossip_sgd import GossipSGD
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.signsgd import SignSGD
from fltheory.communication.messages import Message
from fltheory.configuration import registry
from fltheory.errors import InvalidParameter, NotAffine, NotApplicable
from fltheory.participation import (
    Arrival,
    BernoulliSteps,
    StepCounts,
    Timeline,
    Trace,
    UniformSteps,
    WithoutReplacement,
    WithReplacement,
)
from fltheory.problems.oracle import Round
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.cost import estimate
from fltheory.simulation.engines import exact, many, propagation
from fltheory.simulation.engines.affine import Prober, RoundMap, _agree
from fltheory.simulation.engines.stacked import memory_key
from fltheory.simulation.schedules import Inverse, Table

P = np.array([0.5, 0.5])
DEFAULTS = {name: kind() for name, kind in registry.algorithms().items()}
AFFINE = {name: algorithm for name, algorithm in DEFAULTS.items() if not algorithm.not_affine} | {
    "cfl-r sum": CFLR(form="sum"),
    "cfl-r geometric": CFLR(weighting="geometric", forgetting=0.7),
    "cfl-r current": CFLR(weighting="current", server_rate=0.8),
    "cfl-r diagonal": CFLR(curvature="diagonal", gradient="stochastic"),
    "continual ewc": Continual(variant="ewc", strength=2.0),
    "efl": EFL(elasticity=0.2),
    "feddyn exact": FedDyn(exact=True, alpha=0.7),
    "fednova": FedNova(prox=0.3, server_momentum=0.5),
    "fedelasticnet-1 smooth": FedElasticNet1(l1=0.0, l2=0.4, epsilon=0.0, exact=True),
    "mime": Mime(momentum=0.6),
    "pfedme": PFedMe(inner_steps=2, server_mix=1.2),
    "scaffnew always": Scaffnew(probability=1.0),
    "scaffold I": Scaffold(option="I", initial="gradient"),
}
NOT_AFFINE = {name: algorithm for name, algorithm in DEFAULTS.items() if algorithm.not_affine} | {
    "apfl adaptive": APFL(adaptive=True),
    "cfl-r empirical": CFLR(curvature="empirical-fisher"),
    "continual empirical": Continual(variant="ewc", fisher="empirical-fisher"),
    "efl compressed": EFL(compression=0.5),
    "efl empirical": EFL(elasticity=0.2, fisher="empirical-fisher"),
    "fedelasticnet-1 cut": FedElasticNet1(l1=0.0, epsilon=0.01),
    "fedelasticnet-2 signs": FedElasticNet2(epsilon=0.0),
    "fedelasticnet-3 exact": FedElasticNet3(epsilon=0.0, exact=True),
}


def clients_of(name):
    return 1 if name.startswith("continual") else 3


def problem_of(layout, clients, **more):
    several = clients > 1
    if layout == "rotated":
        return noisy_quadratic(dim=3, num_clients=clients, client_drift_sq=0.3 * several, **more)
    return client_quadratics(
        dim=3,
        num_clients=clients,
        dissimilarity=2.0 * several,
        spread=1.0 * several,
        commuting=layout == "diagonal",
        sample_counts=np.arange(1, clients + 1),
        **more,
    )


def experiment_of(problem, algorithm, participation=None, **more):
    participation = participation or Participation(num_clients=problem.num_clients, local_steps=3)
    options = {"rounds": 4, "rate": 0.05} | more
    return Experiment(problem=problem, algorithm=algorithm, participation=participation, **options)


def assert_same_expectation(moments, run, tolerance=1e-9):
    for name in moments.curves():
        expected = run.curve(name).mean(axis=0)
        atol = tolerance * max(float(np.abs(expected).max()), 1e-9)
        np.testing.assert_allclose(moments.curve(name)[0], expected, rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("layout", ["rotated", "diagonal", "dense"])
@pytest.mark.parametrize("steps", ["all", "some"])
@pytest.mark.parametrize("name", sorted(set(AFFINE) - {"scaffnew"}))  # whose coins are noise of their own
def test_without_noise_moments_are_the_run(name, steps, layout):
    """Every curve, with a decaying rate, the averaged iterate, and (``some``) absent clients on a fixed trace."""
    clients = clients_of(name)
    noiseless = {"noise_sq": 0.0, "round_drift_sq": 0.0}
    table = [[3, 0, 1][:clients], [3, 2, 0][:clients], [1, 3, 3][:clients]]
    law = {"steps": Trace(steps=table)} if steps == "some" else {}
    experiment = experiment_of(
        problem_of(layout, clients, **noiseless),
        AFFINE[name],
        Participation(num_clients=clients, local_steps=3, **law),
        rate=Inverse(scale=0.3, shift=4.0),
        averaging=[1.0, 2.0, 0.5, 1.0, 3.0],
    )
    moments = simulate(experiment, engine="exact")
    assert moments.exact
    assert moments.replicates == 1
    assert_same_expectation(moments, simulate(experiment, engine="reference", replicates=1))


@pytest.mark.parametrize("layout", ["rotated", "dense"])
@pytest.mark.parametrize("name", NOT_AFFINE)
def test_what_is_not_affine_is_refused_with_its_part(name, layout):
    algorithm = NOT_AFFINE[name]
    problem = problem_of(layout, clients_of(name), noise_sq=0.1)
    with pytest.raises(NotAffine) as caught:
        simulate(experiment_of(problem, algorithm), engine="exact")
    part = algorithm.not_affine
    assert str(caught.value) == f"{algorithm.title} has no exact moments: {part}; use the monte_carlo engine"


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("name", sorted(set(AFFINE) - {"scaffnew"}))
def test_one_dimension(name, rotated):
    clients = clients_of(name)
    problem = noisy_quadratic(
        dim=1, num_clients=clients, mu=2, L=2, rotated=rotated, client_drift_sq=0.3 * (clients > 1), noise_sq=0.0,
        round_drift_sq=0.0,
    )  # fmt: skip
    law = Trace(steps=[[3, 0, 1][:clients], [3, 2, 0][:clients]])
    experiment = experiment_of(problem, AFFINE[name], Participation(num_clients=clients, local_steps=3, steps=law))
    assert_same_expectation(
        simulate(experiment, engine="exact"), simulate(experiment, engine="reference", replicates=1)
    )


class LiarState(NamedTuple):
    w: Floats
    extra: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Liar(Algorithm):
    """FedAvg that claims to be affine, with a kink in one of its state fields."""

    name: ClassVar[str] = "liar"
    title: ClassVar[str] = "Liar"

    size: float = 1e-3

    def init(self, start, oracle, p):
        return LiarState(w=start, extra=np.zeros_like(start))

    def round(self, state, oracle, work):
        local = oracle.local_steps(state.w[:, None], work)
        w = local.mean(axis=1)
        after = LiarState(w=w, extra=state.extra + self.size * np.abs(w))
        return RoundResult(after, local, uplink=(Message(local),), downlink=(Message(local),))


def test_a_wrong_claim_to_be_affine_is_caught_and_the_field_named():
    experiment = experiment_of(problem_of("rotated", 3), Liar())
    with pytest.raises(NotAffine, match=r"Liar has no exact moments: state field 'extra' does not respond affinely"):
        simulate(experiment, engine="exact")
    assert simulate(experiment_of(problem_of("rotated", 3), Liar(size=0.0)), engine="exact").exact


class Forgetful(Liar):
    """The field is said to follow a schedule, and follows the model a little."""

    memory: ClassVar[tuple[str, ...]] = ("extra",)


@pytest.mark.parametrize("size", [1e-3, 1e-10])
def test_memory_that_follows_the_model_is_caught_however_small_it_is(size):
    with pytest.raises(NotAffine, match=r"state field 'extra' does not respond affinely"):
        simulate(experiment_of(problem_of("rotated", 3), Forgetful(size=size)), engine="exact")
    assert simulate(experiment_of(problem_of("rotated", 3), Forgetful(size=0.0)), engine="exact").exact


def test_variance_of_one_client_by_formula():
    r"""SGD on ``h w^2/2``: ``var_t = v (1 - m^{2Kt}) / (1 - m^2)`` with ``m = 1 - eta h`` and ``v = eta^2 s``."""
    h, eta, steps, rounds, sigma_sq = 2.0, 0.1, 3, 5, 0.4
    problem = noisy_quadratic(
        dim=4,
        num_clients=1,
        mu=h,
        L=h,
        radius=0,
        client_drift_sq=0,
        round_drift_sq=0,
        noise_sq=sigma_sq,
    )
    participation = Participation(num_clients=1, local_steps=steps)
    run = simulate(
        Experiment(problem=problem, algorithm=FedAvg(), participation=participation, rounds=rounds, rate=eta),
        engine="exact",
    )
    m = 1 - eta * h
    t = np.arange(rounds + 1)
    variance = eta**2 * sigma_sq * (1 - m ** (2 * steps * t)) / (1 - m**2)
    np.testing.assert_allclose(run.distance_sq[0], variance, rtol=1e-12)
    np.testing.assert_allclose(run.gap[0], h / 2 * variance, rtol=1e-12)
    np.testing.assert_allclose(run.gradient_norm_sq[0], h**2 * variance, rtol=1e-12)


def test_round_drift_and_noise_of_one_round_by_formula():
    r"""One round of K steps from the minimiser: drifts add up to ``(sum m^k)^2``, noises to ``sum m^{2k}``, over N."""
    h, eta, steps, clients = 1.5, 0.2, 4, 3
    problem = noisy_quadratic(
        dim=2, num_clients=clients, mu=h, L=h, radius=0, client_drift_sq=0, round_drift_sq=0.5, noise_sq=0.3
    )
    participation = Participation(num_clients=clients, local_steps=steps)
    run = simulate(experiment_of(problem, FedAvg(), participation, rounds=1, rate=eta), engine="exact")
    powers = (1 - eta * h) ** np.arange(steps)
    each = eta**2 * (0.5 * powers.sum() ** 2 + 0.3 * np.sum(powers**2))
    assert run.distance_sq[0, 1] == pytest.approx(each / clients, rel=1e-12)
    assert run.consensus_sq[0, 1] == pytest.approx(each * (clients - 1) / clients, rel=1e-12)


@pytest.mark.parametrize("layout", ["rotated", "dense"])
@pytest.mark.parametrize(
    "name",
    ["fedavg", "scaffold", "fednova", "feddyn exact", "apfl", "fedgate", "mime", "efl", "cfl-r", "cfl-r sum"],
)
def test_random_participation_is_averaged_over_all_its_paths(name, layout):
    """Three rounds in which each of two clients comes with its own probability: 4^3 paths, run one by one.

    Without noise a path is deterministic, so the exact curve is the mean of 64 runs, weighted by probability.
    """
    chances, rounds = np.array([0.7, 0.4]), 3
    problem = problem_of(layout, 2, noise_sq=0.0, round_drift_sq=0.0)
    options = {"rounds": rounds, "averaging": [1.0, 1.0, 2.0, 1.0]}

    def experiment(law):
        participation = Participation(num_clients=2, local_steps=2, steps=law)
        return experiment_of(problem, AFFINE[name], participation, **options)

    moments = simulate(experiment(BernoulliSteps(probability=chances)), engine="exact")
    assert moments.provenance["participation"] == "enumerated"
    total = {curve: np.zeros(rounds + 1) for curve in moments.curves()}
    for table in itertools.product([0, 2], repeat=2 * rounds):
        path = np.reshape(table, (rounds, 2))
        chance = np.prod(np.where(path > 0, chances, 1 - chances))
        run = simulate(experiment(Trace(steps=path)), engine="reference", replicates=1)
        for curve in total:
            total[curve] += chance * run.curve(curve)[0]
    for curve, expected in total.items():
        np.testing.assert_allclose(moments.curve(curve)[0], expected, rtol=1e-9, atol=1e-12, err_msg=curve)


@pytest.mark.parametrize("selection", [WithoutReplacement(size=2, renormalise=False), WithReplacement(size=2)])
@pytest.mark.parametrize("name", ["fedavg", "scaffold"])
def test_sampled_participation_covers_the_enumerated_one(monkeypatch, selection, name):
    """Given the draw, moments are exact; the mean over 100 draws lies in its own 99 % band (seed fixed)."""
    participation = Participation(num_clients=3, local_steps=2, selection=selection, steps=UniformSteps(low=1))
    experiment = experiment_of(problem_of("diagonal", 3, noise_sq=0.05), AFFINE[name], participation, rounds=3)
    listed = simulate(experiment, engine="exact")
    assert listed.method == "exact"
    monkeypatch.setattr(propagation, "OUTCOMES", 2)
    sampled = simulate(experiment, engine="exact", seed=4, replicates=100)
    assert sampled.provenance["participation"] == "sampled: round 0 has more than 2 outcomes of participation"
    assert (sampled.exact, sampled.method, sampled.replicates) == (False, "Rao-Blackwell", 100)
    for curve in ("gap", "distance_sq", "gradient_norm_sq", "consensus_sq", "uplink_bits"):
        truth, band = listed.curve(curve)[0], sampled.band(curve, level=0.99)
        slack = 1e-12 * np.abs(truth).max()
        assert np.all((band.low - slack <= truth) & (truth <= band.high + slack)), curve
    gap = sampled.band("gap")
    half = gap.high - gap.mean
    assert np.all(half[1:] > 0)
    assert np.all(half[1:] < 0.3 * listed.gap[0, 1:])


COINS = Participation(num_clients=3, local_steps=2, steps=BernoulliSteps(probability=0.5))


@pytest.mark.parametrize("layout", ["rotated", "dense"])
def test_absent_clients_of_efl_need_no_seed(layout):
    """The memory of EFL is who has come so far: 8 values, whatever the number of rounds."""
    experiment = experiment_of(problem_of(layout, 3), EFL(elasticity=0.2), COINS, rounds=12)
    runs = [simulate(experiment, engine="exact", seed=seed, replicates=2) for seed in (0, 1)]
    assert all(run.method == "exact" for run in runs)
    assert np.array_equal(runs[0].gap, runs[1].gap)


def test_memories_are_the_same_if_they_agree_to_twelve_digits():
    def key(*values):
        return memory_key({"u": np.array(values)})

    assert key(1.25, 0.0) == key(1.25 * (1 + 1e-15), -0.0)
    assert len({key(1.25, 0.0), key(1.25 * (1 + 1e-11), 0.0), key(1.0, 0.25), key(0.0, 1.25), key(-1.25, 0.0)}) == 5


def test_a_memory_with_too_many_values_is_sampled_and_says_so():
    experiment = experiment_of(problem_of("rotated", 3), CFLR(), COINS, rounds=8)
    run = simulate(experiment, engine="exact", replicates=20)
    assert (run.exact, run.method, run.replicates) == (False, "Rao-Blackwell", 20)
    assert run.provenance["participation"].startswith("sampled: what CFL-R remembers of the clients has")
    assert run.provenance["replicates"] == 20
    with pytest.raises(NotApplicable, match=r"have to sample participation: what CFL-R remembers .* sampled='allow'"):
        simulate(experiment, engine="exact", replicates=20, sampled="error")
    with pytest.raises(InvalidParameter, match=r"simulate\.sampled must be"):
        simulate(experiment, engine="exact", sampled="never")


def test_maps_that_do_not_fit_are_sampled(monkeypatch):
    monkeypatch.setattr(propagation, "_HELD", 20)
    run = simulate(experiment_of(problem_of("rotated", 3), FedAvg(), COINS), engine="exact", replicates=2)
    assert "have more than 20 entries" in run.provenance["participation"]


def test_maps_are_forgotten_where_they_fill_the_memory(monkeypatch):
    """Two rates in turn: two maps are read for all later rounds, or one for each of them."""
    rates = Table(values=[0.1, 0.05] * 4)
    experiment = experiment_of(problem_of("dense", 3), Scaffold(), rate=rates, rounds=8)
    monkeypatch.setattr(propagation, "_AHEAD", 1)
    read, whole = [], Prober.later_outcomes
    monkeypatch.setattr(
        Prober, "later_outcomes", lambda self, memory, works: read.append(len(works)) or whole(self, memory, works)
    )
    kept = simulate(experiment, engine="exact")
    assert read == [1] * 2
    read.clear()
    monkeypatch.setattr(propagation, "_HELD", 20)
    assert np.array_equal(simulate(experiment, engine="exact").gap, kept.gap)
    assert read == [1] * 7


def test_covariance_of_the_model_knows_of_what_is_random_in_a_later_round():
    """Two of three clients once the third has arrived: three models, equally likely, without noise."""
    participation = Participation(
        num_clients=3,
        local_steps=2,
        selection=WithoutReplacement(size=2, renormalise=True),
        timeline=Timeline(arrivals=[Arrival(client=2, round=1)]),
    )
    problem = problem_of("diagonal", 3, noise_sq=0.0, round_drift_sq=0.0)
    experiment = experiment_of(problem, FedAvg(), participation, rounds=2, rate=0.1)
    run = simulate(experiment, engine="exact", record=Record(moments=True))
    models = simulate(experiment, engine="reference", replicates=60, record=Record(models=True)).models[:, 2]
    models = np.unique(models.round(12), axis=0)
    assert len(models) == 3
    np.testing.assert_allclose(run.curve("model_mean")[0, 2], models.mean(axis=0), rtol=1e-9)
    covariance = np.cov(models.T, bias=True)
    assert np.abs(covariance[~np.eye(3, dtype=bool)]).min() > 1e-6
    np.testing.assert_allclose(run.curve("model_covariance")[0, 2], covariance, rtol=1e-8)


def test_covariance_of_the_model_knows_that_coordinates_share_their_participation():
    """Two rounds in which two clients come or stay away: 16 paths without noise, each with its model."""
    problem = problem_of("rotated", 2, noise_sq=0.0, round_drift_sq=0.0)

    def experiment(law):
        return experiment_of(
            problem, FedAvg(), Participation(num_clients=2, local_steps=2, steps=law), rounds=2, rate=0.3
        )

    run = simulate(experiment(BernoulliSteps(probability=0.5)), engine="exact", record=Record(moments=True))
    paths = itertools.product([0, 2], repeat=4)
    models = np.concatenate(
        [
            simulate(
                experiment(Trace(steps=np.reshape(path, (2, 2)))),
                engine="reference",
                replicates=1,
                record=Record(models=True),
            ).curve("models")
            for path in paths
        ]
    )
    away = models - models.mean(axis=0)
    np.testing.assert_allclose(run.curve("model_mean")[0], models.mean(axis=0), rtol=1e-10, atol=1e-14)
    expected = np.einsum("pti,ptj->tij", away, away) / len(models)
    np.testing.assert_allclose(run.curve("model_covariance")[0], expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("shared", [True, False], ids=["diagonal", "own Hessians"])
@pytest.mark.parametrize("name", [name for name in AFFINE if not name.startswith("continual")])
def test_outcomes_probed_together_are_those_probed_alone(monkeypatch, name, shared):
    algorithm = AFFINE[name]
    problem = (
        noisy_quadratic(dim=2, num_clients=3, seed=1)
        if shared
        else client_quadratics(dim=2, num_clients=3, noise_sq=0.1, seed=1)
    )
    oracle = ClosedFormOracle(problem.closed_form(), inside=algorithm.rotation_equivariant)
    prober = Prober(algorithm, oracle, spread=True)
    steps = np.array([[2, 1, 0], [1, 1, 1], [0, 2, 2], [0, 0, 0]])
    works = [
        Round(
            index=3,
            rates=(0.1,),
            local_steps=2,
            p=np.full(3, 1 / 3),
            steps=row[None],
            weights=np.where(row > 0, 1 / 3, 0.0)[None],
            boost=np.ones(3),
            draws={"communicate": np.array([coins])},
        )
        for row, coins in zip(steps, [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], strict=True)
    ]
    memory = prober.first(np.ones(2), works[1]).memory
    alone = [prober.later(memory, work) for work in works]
    probe = prober._probe

    def never_alone(begin, works, *, states):
        assert len(works) > 1, "what is read alone after all would hide a mistake"
        return probe(begin, works, states=states)

    monkeypatch.setattr(prober, "_probe", never_alone)
    together = prober.later_outcomes(memory, works)
    assert len(together) == len(alone)
    for one, other in zip(together, alone, strict=True):
        assert one.tilts is other.tilts is None
        for field in one._fields[:-1]:
            joint, own = getattr(one, field), getattr(other, field)
            if field == "memory":
                assert joint.keys() == own.keys()
                joint, own = list(joint.values()), list(own.values())
                for a, b in zip(joint, own, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
            elif joint is None:
                assert own is None
            else:
                if field.endswith("noise"):  # a source that stays silent in some outcome may have no column when alone
                    joint, own = (np.matmul(factor, factor.swapaxes(1, 2)) for factor in (joint, own))
                np.testing.assert_allclose(joint, own, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in AFFINE if not name.startswith("continual")])
def test_rounds_of_different_rates_read_together_are_those_read_alone(monkeypatch, name):
    experiment = Experiment(
        problem=client_quadratics(dim=2, num_clients=2, noise_sq=0.1, seed=1),
        algorithm=AFFINE[name],
        participation=Participation(num_clients=2, local_steps=2, steps=UniformSteps(low=1)),
        rounds=12,
        rate=Inverse(scale=2.0, shift=40.0),
    )
    together = simulate(experiment, engine="exact", replicates=3)
    monkeypatch.setattr(Prober, "foresees", False)
    alone = simulate(experiment, engine="exact", replicates=3)
    for curve in together.curves():
        np.testing.assert_allclose(together.curve(curve), alone.curve(curve), rtol=1e-11)


def test_all_rounds_without_memory_are_read_at_once(monkeypatch):
    experiment = Experiment(
        problem=client_quadratics(dim=2, num_clients=2, noise_sq=0.1, seed=1),
        algorithm=FedAvg(),
        participation=Participation(num_clients=2, local_steps=2, steps=UniformSteps(low=1)),
        rounds=30,
        rate=Inverse(scale=2.0, shift=40.0),
    )
    read = []
    whole = Prober.later_outcomes
    monkeypatch.setattr(
        Prober, "later_outcomes", lambda self, memory, works: read.append(len(works)) or whole(self, memory, works)
    )
    simulate(experiment, engine="exact")
    assert read == [29 * 4]
    read.clear()
    simulate(replace(experiment, rate=0.05), engine="exact")
    assert read == [4], "equal rounds are read once"
    read.clear()
    monkeypatch.setattr(propagation, "_AHEAD", 8)
    simulate(experiment, engine="exact")
    assert read == [8] * 14 + [4]
    read.clear()
    simulate(replace(experiment, rate=Table(values=[0.1] * 10 + [0.05] * 10 + [0.02])), engine="exact")
    assert read == [8, 4], "what is equal to a round that is read already takes no room"


def test_code_that_takes_one_rate_only_is_read_one_rate_at_a_time():
    class Fussy(FedAvg):
        def round(self, state, oracle, work):
            rate = float(np.ravel(work.rate)[0])
            return super().round(state, oracle, replace(work, rates=(rate,)))

    problem = noisy_quadratic(dim=2, num_clients=2, seed=1)
    works = [
        Round(index=1, rates=(rate,), local_steps=2, p=P, steps=np.array([[2, 1]]), weights=P[None], boost=np.ones(2))
        for rate in (0.1, 0.05)
    ]
    oracles = [ClosedFormOracle(problem.closed_form(), inside=True) for _ in range(2)]
    probers = [Prober(kind(), oracle, spread=True) for kind, oracle in zip((FedAvg, Fussy), oracles, strict=True)]
    maps = [prober.later_outcomes(prober.first(np.ones(2), works[0]).memory, works) for prober in probers]
    for one, other in zip(*maps, strict=True):
        np.testing.assert_allclose(one.matrix, other.matrix, rtol=1e-12)
    assert [prober._mixes_rates for prober in probers] == [True, False]


def test_outcomes_that_cannot_be_probed_together_are_probed_alone(monkeypatch):
    prober = Prober(
        FedAvg(),
        ClosedFormOracle(noisy_quadratic(dim=2, num_clients=2, seed=1).closed_form(), inside=True),
        spread=True,
    )
    probe = prober._probe

    def single(begin, works, *, states):
        if len(works) > 1:
            raise NotAffine("the pull depends on who takes part")
        return probe(begin, works, states=states)

    works = [
        Round(index=1, rates=(0.1,), local_steps=2, p=P, steps=np.array([row]), weights=P[None], boost=np.ones(2))
        for row in ([2, 1], [1, 2])
    ]
    memory = prober.first(np.ones(2), works[0]).memory
    together = prober.later_outcomes(memory, works)
    monkeypatch.setattr(prober, "_probe", single)
    for one, other in zip(together, prober.later_outcomes(memory, works), strict=True):
        np.testing.assert_allclose(one.matrix, other.matrix, rtol=1e-12)
        np.testing.assert_allclose(one.shift, other.shift, rtol=1e-12)


def test_bands_shrink_with_replicates():
    law = StepCounts(pmf=[0.2, 0.3, 0.5])
    participation = Participation(num_clients=3, local_steps=2, steps=law)
    experiment = experiment_of(problem_of("rotated", 3), CFLR(), participation, rounds=8)
    bands = [simulate(experiment, engine="exact", replicates=n).band("gap") for n in (20, 180)]
    few, many = (band.high[-1] - band.mean[-1] for band in bands)
    assert 0.2 < many / few < 0.5


def test_the_memory_of_sampled_expectations_is_estimated_before_they_are_worked_out(monkeypatch):
    """Every replicate has moments of its own, which fill the memory where the curves alone would not."""
    monkeypatch.setattr(propagation, "OUTCOMES", 1)
    problem = noisy_quadratic(dim=40, num_clients=3)
    experiment, record = experiment_of(problem, FedAvg(), COINS), Record()
    curves, moments = (
        estimate(experiment, replicates=50, record=record, every_step=False, exact=exact).memory
        for exact in (False, True)
    )
    assert simulate(experiment, engine="exact", replicates=2).method == "Rao-Blackwell"
    monkeypatch.setattr(memory, "allowed", lambda: (curves + moments) / 2)
    with pytest.raises(InvalidParameter, match=r"simulate\.replicates must be at most about"):
        simulate(experiment, engine="exact", replicates=50)


def test_what_sampling_cannot_do_is_refused(monkeypatch):
    """More than one outcome is too many here."""
    monkeypatch.setattr(propagation, "OUTCOMES", 1)
    experiment = experiment_of(problem_of("rotated", 3), FedAvg(), COINS)
    with pytest.raises(NotApplicable, match="at least 2 replicates for a confidence band, got replicates=1"):
        simulate(experiment, engine="exact", replicates=1)
    with pytest.raises(NotApplicable, match="moments of the model are recorded only where"):
        simulate(experiment, engine="exact", replicates=2, record=Record(moments=True))
    with pytest.raises(NotApplicable, match="would have to sample participation: round 0 has more than 1 outcomes"):
        simulate(experiment, engine="exact", replicates=2, sampled="error")
    run = simulate(experiment, engine="exact", replicates=2, seed=3)
    assert (run.exact, run.replicates, run.provenance["replicates"]) == (False, 2, 2)
    assert not np.array_equal(run.gap[0], run.gap[1])
    whole = simulate(experiment_of(problem_of("rotated", 3), FedAvg()), engine="exact", replicates=5)
    assert (whole.exact, whole.replicates, whole.provenance["replicates"]) == (True, 1, 0)


def test_sampling_needs_two_replicates():
    with pytest.raises(NotApplicable, match="at least 2 replicates"):
        simulate(experiment_of(problem_of("rotated", 3), CFLR(), COINS, rounds=8), engine="exact", replicates=1)


def test_moments_are_not_sampled():
    experiment = experiment_of(problem_of("rotated", 3), CFLR(), COINS, rounds=8)
    with pytest.raises(NotApplicable, match=r"only where participation can be enumerated \(what CFL-R remembers"):
        simulate(experiment, engine="exact", record=Record(moments=True))


class TestRefusals:
    def test_problem(self):
        from fltheory.logistic.synthetic import logistic_clients

        problem = logistic_clients(num_clients=2, num_features=2, samples=6, seed=0)
        with pytest.raises(NotApplicable, match=r"needs affine gradients, and LogisticProblem has no closed_form\(\)"):
            simulate(experiment_of(problem, FedAvg()), engine="exact")

    @pytest.mark.parametrize("record", [Record(nonzeros=True), Record(entropy_bin=0.1), Record(models=True)])
    def test_record(self, record):
        with pytest.raises(NotApplicable, match="no samples to count"):
            simulate(experiment_of(problem_of("rotated", 3), FedAvg()), engine="exact", record=record)


def test_consensus_can_be_left_out():
    experiment = experiment_of(problem_of("rotated", 3), FedAvg())
    run = simulate(experiment, engine="exact", record=Record(consensus=False))
    assert run.consensus_sq is None
    np.testing.assert_allclose(run.gap, simulate(experiment, engine="exact").gap, rtol=1e-12)


def test_client_growth_is_exact():
    """The drift that grows with the gradient of a fixed client is part of its Hessian."""
    problem = noisy_quadratic(
        dim=3, num_clients=3, client_drift_sq=0.2, client_growth=0.3, noise_sq=0, round_drift_sq=0
    )
    experiment = experiment_of(problem, Scaffold())
    run = simulate(experiment, engine="reference", replicates=1)
    assert_same_expectation(simulate(experiment, engine="exact"), run)


def test_one_rotated_coordinate_has_a_variance():
    """A rotation of one coordinate is at most a sign, so the curves are those without it."""
    curves = []
    for rotated in (True, False):
        problem = noisy_quadratic(dim=1, mu=1.0, L=1.0, num_clients=4, rotated=rotated, client_drift_sq=0.0)
        participation = Participation(num_clients=4, local_steps=2)
        experiment = Experiment(problem=problem, algorithm=EFL(), rounds=3, rate=0.1, participation=participation)
        curves.append(simulate(experiment, engine="exact"))
    for name in ("gap", "distance_sq", "gradient_norm_sq"):
        np.testing.assert_allclose(curves[0].curve(name), curves[1].curve(name), rtol=1e-12)


@pytest.mark.parametrize(
    ("memories", "outcomes", "pairs", "refused"),
    [(1, 3, 2, False), (2, 2, 4, False), (2, 2, 3, True), (3, 1, 2, True), (2, 1, 2, False)],
)
def test_how_many_courses_are_followed(monkeypatch, memories, outcomes, pairs, refused):
    """What is remembered times what may happen; where nothing differs in what is remembered there is no limit."""
    monkeypatch.setattr(propagation, "PAIRS", pairs)
    prober = SimpleNamespace(
        algorithm=FedAvg(), layout=SimpleNamespace(total=1), oracle=SimpleNamespace(dim=2), matrices_per_map=1
    )
    course = SimpleNamespace(prober=prober, _separable=True)
    law = propagation.PossibleRounds(np.full(outcomes, 1 / outcomes), [None] * outcomes, b"")
    with pytest.raises(propagation.NotEnumerable, match=f"{memories} possible values") if refused else nullcontext():
        propagation.Propagation._require_room(course, memories, law, 0)


def test_maps_agree_up_to_rounding_whatever_the_sign_of_their_entries():
    """A change by a millionth in any part is one, a turn of the noise or a change by far less is none."""
    negative = RoundMap(
        *(-np.ones(shape) for shape in ((1, 2, 2), (1, 2), (1, 2, 1), (1, 3, 2), (1, 3), (1, 3, 1))), {}, 64.0, 32.0
    )
    assert _agree(negative, negative)
    assert _agree(negative._replace(noise=-negative.noise), negative)
    assert _agree(negative._replace(noise=np.pad(negative.noise, ((0, 0), (0, 0), (0, 1)))), negative)
    assert _agree(negative._replace(shift=negative.shift * (1 + 1e-12)), negative)
    for name in ("matrix", "shift", "noise", "spread_matrix", "spread_shift", "spread_noise"):
        assert not _agree(negative._replace(**{name: getattr(negative, name) * (1 + 1e-6)}), negative)
    assert not _agree(negative._replace(uplink_bits=65.0), negative)
    assert not _agree(negative._replace(downlink_bits=33.0), negative)


@pytest.mark.parametrize(("separable", "entries"), [(True, 2 * 3 * 2**2), (False, 2 * (2 * 3) ** 2)])
def test_how_many_entries_the_maps_of_a_round_may_have(monkeypatch, separable, entries):
    """Two outcomes, two rows, three coordinates: a matrix for each coordinate, or one for all of them."""
    prober = SimpleNamespace(
        algorithm=FedAvg(), layout=SimpleNamespace(total=2), oracle=SimpleNamespace(dim=3), matrices_per_map=1
    )
    course = SimpleNamespace(prober=prober, _separable=separable)
    law = propagation.PossibleRounds(np.full(2, 0.5), [None] * 2, b"")
    monkeypatch.setattr(propagation, "_HELD", entries)
    propagation.Propagation._require_room(course, 1, law, 0)
    monkeypatch.setattr(propagation, "_HELD", entries - 1)
    with pytest.raises(propagation.NotEnumerable, match=f"more than {entries - 1} entries"):
        propagation.Propagation._require_room(course, 1, law, 0)


class Chatty(FedAvg):
    """FedAvg with two vectors up and one down."""

    def round(self, state, oracle, work):
        outcome = FedAvg.round(self, state, oracle, work)
        return outcome._replace(uplink=2 * outcome.uplink)


@pytest.mark.parametrize(
    ("engine", "way"),
    [
        ("exact", "alike"),
        ("exact", "each"),
        ("exact", "groups"),
        ("monte_carlo", "alike"),
        ("monte_carlo", "each"),
        ("reference", "each"),
    ],
)
def test_uplink_and_downlink_are_told_apart_on_every_way(monkeypatch, engine, way):
    """Two of three clients in the first round, all three later: vectors of four numbers with 32 bits each."""
    monkeypatch.setattr(many, "MANY", 1 if way == "groups" else 256)
    law = {} if way == "alike" else {"steps": Trace(steps=[[2, 0, 2], [2, 2, 2], [1, 2, 2]])}
    participation = Participation(num_clients=3, local_steps=2, **law)
    experiment = experiment_of(noisy_quadratic(dim=4, num_clients=3), Chatty(), participation, rounds=3)
    record = Record(consensus=engine == "exact" or way == "each")
    run = simulate(experiment, engine=engine, replicates=2, record=record)
    if engine == "monte_carlo":
        assert run.provenance["steps"].startswith("rounds drawn at once") is (way == "alike")
    vectors = np.array([0, 3, 6, 9] if way == "alike" else [0, 2, 5, 8])
    for row in range(len(run.downlink_bits)):
        np.testing.assert_array_equal(run.downlink_bits[row], 4 * 32 * vectors)
        np.testing.assert_array_equal(run.uplink_bits[row], 2 * 4 * 32 * vectors)


@pytest.mark.parametrize(
    ("way", "layout"),
    [(way, layout) for way in ("alike", "each", "groups") for layout in ("rotated", "diagonal", "dense")]
    + [("at once", "rotated"), ("at once", "diagonal")],
)
def test_every_way_begins_at_the_start(monkeypatch, way, layout):
    """Without noise every curve is that of the run, its first entry included, wherever it begins."""
    monkeypatch.setattr(many, "MANY", 1 if way == "groups" else 256)
    still = {"noise_sq": 0.0, "round_drift_sq": 0.0}
    problem = problem_of(layout, 3, **still)
    if way == "alike" and layout != "rotated":
        problem = client_quadratics(dim=3, num_clients=3, dissimilarity=0.0, commuting=layout == "diagonal", **still)
    experiment = experiment_of(
        problem,
        FedAvg(),
        Participation(num_clients=3, local_steps=2, **({"steps": Trace(steps=[[1, 2, 2]])} if way != "alike" else {})),
        start=np.array([0.5, -1.0, 2.0]),
        averaging=[1.0, 2.0, 0.5, 1.0, 3.0],
    )
    record = Record(consensus=False)
    run = simulate(experiment, engine="monte_carlo" if way == "at once" else "exact", replicates=1, record=record)
    assert run.provenance.get("steps", "rounds drawn at once").startswith("rounds drawn at once")
    assert_same_expectation(run, simulate(experiment, engine="reference", replicates=1, record=record))


def test_the_maps_of_the_last_round_have_its_rate_and_its_law():
    """Steps and rates change: one step of 0.1, and then two of 0.05, for which ``(1 - 0.05 h)^2`` is the map."""
    problem = noisy_quadratic(dim=2, num_clients=1, mu=1.0, L=1.0, client_drift_sq=0.0)
    experiment = experiment_of(
        problem,
        FedAvg(),
        Participation(num_clients=1, local_steps=2, steps=Trace(steps=[[1], [2], [1]])),
        rounds=2,
        rate=Table(values=[0.1, 0.05, 0.02]),
    )
    chances, maps = exact.last_round_maps(experiment)
    assert chances.tolist() == [1.0]
    (step,) = maps
    np.testing.assert_allclose(step.matrix, np.full((2, 1, 1), 0.95**2), rtol=1e-12)
    assert step.spread_matrix.shape[1] == 0
    law = Participation(num_clients=1, local_steps=2, steps=StepCounts(pmf=[0.2, 0.3, 0.5]))
    chances, maps = exact.last_round_maps(replace(experiment, participation=law))
    found = {round(float(step.matrix[0, 0, 0]), 9): chance for chance, step in zip(chances, maps, strict=True)}
    assert found == pytest.approx({1.0: 0.2, 0.95: 0.3, 0.9025: 0.5})
    for algorithm, message in ((EFL(), "changes from round to round"), (GossipSGD(mixing=["mean", "ring"]), "changes")):
        with pytest.raises(NotApplicable, match=message):
            exact.last_round_maps(replace(experiment, algorithm=algorithm))
    with pytest.raises(NotAffine, match="signSGD has no round map: signs"):
        exact.last_round_maps(replace(experiment, algorithm=SignSGD()))
