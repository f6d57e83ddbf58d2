"""Rounds drawn at once: when they may be, and that they keep the promises about random numbers.

Their law is compared with that of every step in ``tests/statistical``.
"""

import sys
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory._internal import seeding
from fltheory._internal.arguments import Floats
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.signsgd import SignSGD
from fltheory.errors import Diverged
from fltheory.participation import Arrival, BernoulliSteps, Timeline, WithoutReplacement
from fltheory.quadratic import compiled as compiled_module
from fltheory.quadratic.oracle import numpy_unit_vectors
from fltheory.simulation.engines import collapsed

OUTSIDE = Record(consensus=False)
AT_ONCE = "rounds drawn at once"


def experiment_of(algorithm=None, **more):
    options = {
        "problem": noisy_quadratic(dim=3, num_clients=3, noise_sq=0.1),
        "participation": Participation(num_clients=3, local_steps=2),
        "rounds": 4,
        "rate": 0.1,
    }
    return Experiment(algorithm=algorithm or FedAvg(), **(options | more))


def run(experiment, **more):
    return simulate(experiment, collapse=True, **({"record": OUTSIDE, "replicates": 5} | more))


@pytest.mark.parametrize("algorithm", [FedAvg(), Scaffold(), CFLR()])
def test_without_noise_nothing_changes(algorithm):
    problem = noisy_quadratic(dim=3, num_clients=3, noise_sq=0.0, round_drift_sq=0.0)
    experiment = experiment_of(algorithm, problem=problem, averaging=np.ones(5))
    at_once, every = run(experiment, replicates=2), simulate(experiment, replicates=2, record=OUTSIDE)
    assert at_once.provenance["steps"].startswith(AT_ONCE)
    assert at_once.curves() == every.curves()
    for name in every.curves():
        np.testing.assert_allclose(at_once.curve(name), every.curve(name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("algorithm", [FedAvg(), Scaffold()])
def test_same_bits_for_any_number_of_threads(algorithm):
    experiment = experiment_of(algorithm)
    one, two = (run(experiment, threads=threads, replicates=1500) for threads in (1, 2))
    assert one.provenance["steps"].startswith(AT_ONCE)
    assert all(np.array_equal(one.curve(name), two.curve(name)) for name in one.curves())
    assert len(np.unique(one.gap[:, -1])) == 1500


def test_rounds_at_once_have_random_numbers_of_their_own(monkeypatch):
    """They share none with the noise of single steps, nor with runs of another seed."""
    asked = []
    keys = seeding.replicate_keys

    def noted(seed, purpose, replicates):
        asked.append((seed, purpose.name))
        return keys(seed, purpose, replicates)

    monkeypatch.setattr(seeding, "replicate_keys", noted)
    run(experiment_of(), seed=5)
    assert set(asked) == {(5, "COLLAPSED")}


def test_more_replicates_extend_a_run():
    few, many = (run(experiment_of(), replicates=n) for n in (5, 70))
    np.testing.assert_allclose(many.gap[:5], few.gap, rtol=1e-12)


@pytest.mark.parametrize(
    ("experiment", "record", "reason"),
    [
        (experiment_of(), Record(consensus=True), "looks inside rounds"),
        (experiment_of(), Record(consensus=False, entropy_bin=0.1), "looks inside rounds"),
        (experiment_of(), Record(consensus=False, gradient_sq=True), "looks inside rounds"),
        (experiment_of(Scaffnew()), OUTSIDE, "Scaffnew draws random numbers of its own"),
        (experiment_of(), Record(consensus=False, nonzeros=True), "looks inside rounds"),
        (experiment_of(SignSGD()), OUTSIDE, "singles out coordinates"),
        (experiment_of(APFL()), OUTSIDE, "personal models"),
        (experiment_of(problem=client_quadratics(num_clients=3)), OUTSIDE, "common eigenbasis"),
        (experiment_of(problem=noisy_quadratic(num_clients=3, noise_law="bounded")), OUTSIDE, "not Gaussian"),
        (experiment_of(problem=noisy_quadratic(num_clients=3, hessian_noise=0.1)), OUTSIDE, "multiplies the state"),
        (
            experiment_of(
                participation=Participation(num_clients=3, local_steps=2, steps=BernoulliSteps(probability=0.5))
            ),
            OUTSIDE,
            "participation is random",
        ),
        (
            experiment_of(
                participation=Participation(
                    num_clients=3,
                    local_steps=2,
                    selection=WithoutReplacement(size=2, renormalise=True),
                    timeline=Timeline(arrivals=[Arrival(client=2, round=3)]),
                )
            ),
            OUTSIDE,
            "participation is random",  # in the last round only
        ),
    ],
)
def test_where_the_law_would_change_every_step_is_run(experiment, record, reason):
    asked, plain = run(experiment, record=record), simulate(experiment, replicates=5, record=record)
    assert reason in asked.provenance["steps"]
    assert all(np.array_equal(asked.curve(name), plain.curve(name)) for name in plain.curves())


class TwoRows(NamedTuple):
    w: Floats
    m: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixture(Algorithm):
    """FedAvg with a running mean of its models; the recorded model is made of both."""

    name: ClassVar[str] = "mixture"
    title: ClassVar[str] = "Mixture"

    parts: tuple[float, float]

    def init(self, start, oracle, p):
        return TwoRows(w=start, m=start)

    def round(self, state, oracle, work):
        local = oracle.local_steps(state.w[:, None], work)
        w = local.mean(axis=1)
        return RoundResult(TwoRows(w=w, m=0.5 * (state.m + w)), local, (), ())

    def model(self, state):
        return self.parts[0] * state.w + self.parts[1] * state.m


@pytest.mark.parametrize("parts", [(1.0, 0.0), (1.0, 0.5), (0.5, 0.0), (0.0, 1.0), (0.25, 0.75)])
def test_the_model_may_be_made_of_several_rows(parts):
    problem = noisy_quadratic(dim=3, num_clients=3, noise_sq=0.0, round_drift_sq=0.0)
    experiment = experiment_of(Mixture(parts=parts), problem=problem)
    at_once, every = run(experiment, replicates=2), simulate(experiment, replicates=2, collapse=False)
    assert at_once.provenance["steps"].startswith(AT_ONCE)
    np.testing.assert_allclose(at_once.gap[:, 1:], every.gap[:, 1:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("noise_sq", "drift_sq"), [(0.3, 0.0), (0.3, 0.6), (0.0, 0.6), (0.0, 0.0)])
def test_the_law_of_a_round_by_hand(noise_sq, drift_sq):
    r"""Four steps of three alike clients with the decay ``m = 1 - eta h`` in one direction.

    Noises add up to ``eta^2 sum m^{2k}`` times their variance, drifts to ``eta^2 (sum m^k)^2``, both over the clients.
    """
    h, eta, steps, clients, dim = 1.5, 0.2, 4, 3, 2
    problem = noisy_quadratic(
        dim=dim, num_clients=clients, mu=h, L=h, radius=1.0, client_drift_sq=0, rotated=False,
        round_drift_sq=drift_sq, noise_sq=noise_sq,
    )  # fmt: skip
    participation = Participation(num_clients=clients, local_steps=steps)
    plan = collapsed.plan(experiment_of(problem=problem, participation=participation, rate=eta))
    powers = (1 - eta * h) ** np.arange(steps)
    variance = eta**2 / clients / dim * (noise_sq * np.sum(powers**2) + drift_sq * powers.sum() ** 2)
    assert len(plan.draws) == len(plan.works) == 4
    np.testing.assert_array_equal(plan.weights, [1.0])
    first, *later = plan.draws
    assert not first.couplings
    w_star = problem.objective().w_star
    mean = w_star + (1 - eta * h) ** steps * (problem.start - w_star)
    np.testing.assert_allclose(first.shift[0], plan.oracle.enter(mean), rtol=1e-10)
    for law in later:
        assert law.couplings == [(0, 0)]
        np.testing.assert_allclose(law.matrix[0, 0], (1 - eta * h) ** steps, rtol=1e-10)
    for law in plan.draws:
        assert len(law.root) == (variance > 0)
        np.testing.assert_allclose(np.sum(law.root**2, axis=0)[0], variance, rtol=1e-10)
        assert (law.uplink_bits, law.downlink_bits) == (clients * dim * 32, clients * dim * 32)
    with np.errstate(over="ignore", invalid="ignore"):
        assert collapsed.plan(experiment_of(problem=problem, rate=1e200)) is None


@pytest.mark.parametrize(("most", "compiled"), [(10**9, 0), (4 * 5 * 3, 1), (4 * 5 * 3 + 1, 0)])
def test_the_compiled_generator_is_loaded_only_where_it_pays(monkeypatch, most, compiled):
    """Four rounds of five replicates take one vector of three numbers each."""
    expected = run(experiment_of()).gap
    used = []
    monkeypatch.setattr(
        compiled_module, "compiled_unit_vectors", lambda *given: used.append(1) or numpy_unit_vectors(*given)
    )
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(collapsed, "_WORTH_LOADING", most)
    np.testing.assert_allclose(run(experiment_of()).gap, expected, rtol=1e-12)
    assert len(used) == 4 * compiled
    monkeypatch.setitem(sys.modules, "numba", object())
    run(experiment_of())
    assert len(used) == 4 * compiled + 4, "what is loaded already is used"


def test_divergence():
    with pytest.raises(Diverged, match=r"FedAvg diverged in round \d+, replicate 0 \(seed 3, learning rate 5\)"):
        run(experiment_of(rounds=400, rate=5.0), seed=3)
