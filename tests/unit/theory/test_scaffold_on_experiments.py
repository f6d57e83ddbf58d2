"""The rate of SCAFFOLD (Theorem VII of its paper) beside experiments."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import fltheory as fl
from fltheory.bounds.scaffold import theorem_vii_sc
from fltheory.participation import BernoulliSteps, BySize, FullSteps, StepCounts, TimeVarying, WithoutReplacement
from fltheory.validation.search import random_points

SCAFFOLD = "scaffold.theorem-vii-sc"
CLIENTS, STEPS = 4, 3
TWO = WithoutReplacement(size=2, renormalise=True)


def quadratics(**more: Any) -> fl.Quadratic:
    given = {"dim": 3, "num_clients": CLIENTS, "mu": 1.0, "L": 3.0, "dissimilarity": 2.0, "noise_sq": 0.1, **more}
    return fl.client_quadratics(**given)


def logistic() -> fl.LogisticProblem:
    rng = np.random.default_rng(1)
    features = [rng.standard_normal((30, 2)) for _ in range(CLIENTS)]
    labels = [(x[:, 0] > 0).astype(int) for x in features]
    return fl.logistic_from_arrays(features, labels, l2=0.2, batch_size=5)


def experiment(algorithm: Any = None, problem: Any = None, rounds: int = 100, **participation: Any) -> fl.Experiment:
    """Return a run with the largest step of Theorem VII."""
    algorithm, problem = algorithm or fl.Scaffold(), problem or quadratics()
    taking = fl.Participation(num_clients=CLIENTS, local_steps=STEPS, **participation)
    known = problem.constants()
    sampled = getattr(taking.selection, "size", CLIENTS)
    step = min(1 / (81 * known["L"].value), sampled / (15 * known["mu"].value * CLIENTS))
    return fl.Experiment(
        problem=problem, algorithm=algorithm, participation=taking, rounds=rounds,
        rate=step / (STEPS * algorithm.server_rate) * (1 - 1e-12),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_what_is_read_off_a_run_is_what_the_check_compares(seed: int) -> None:
    """The instances of the check compute their quantities from parameters, the observation from the experiment."""
    (point,) = random_points(theorem_vii_sc.SPACE, np.random.default_rng(seed), 1)
    run_of = theorem_vii_sc.experiment(point)
    run = fl.simulate(run_of, engine="exact")
    wanted = theorem_vii_sc.quantities(point, run_of, run)
    # The constants of the class, which contain those of the instance.
    compared = fl.theorem(SCAFFOLD).compare(
        run_of, run, variant="published@constants", mu=wanted["mu"], L=wanted["beta"]
    )
    assert not compared.unmet, str(compared)
    np.testing.assert_allclose(compared.left, wanted["error"], rtol=1e-9, atol=1e-14)
    known = {name: wanted[name] for name in ("N", "S", "K", "sigma_sq", "eta_g", "eta_tilde", "start_sq", "off_sq")}
    right = fl.theorem(SCAFFOLD).bound("published@constants").function()(**known, W_R=wanted["W_R"])
    np.testing.assert_allclose(compared.right, right, rtol=1e-9)


@pytest.mark.parametrize("problem", [quadratics(), logistic()], ids=["quadratic", "logistic"])
@pytest.mark.parametrize("algorithm", [fl.Scaffold(), fl.Scaffold(initial="gradient", server_rate=2.0)])
@pytest.mark.parametrize("sampled", [{}, {"selection": TWO}], ids=["all", "two"])
def test_scaffold_with_its_constants(problem: Any, algorithm: Any, sampled: Any) -> None:
    run_of = experiment(algorithm, problem, **sampled)
    compared = fl.theorem(SCAFFOLD).compare(run_of, variant="published@constants", replicates=20)
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    assert 1 < compared.slack.min() < 20
    rate = fl.theorem(SCAFFOLD).compare(run_of, compared.run, variant="published")
    assert rate.decision is fl.Decision.NOT_APPLICABLE
    assert [one.name for one in rate.unmet] == ["enough rounds"], str(rate)


def test_the_rate_is_about_many_rounds() -> None:
    rate = fl.theorem(SCAFFOLD).compare(experiment(rounds=500), variant="published")
    assert rate.decision is fl.Decision.INCONCLUSIVE, str(rate)
    assert rate.left.shape == (1,)


def test_first_control_variates_are_those_of_the_algorithm() -> None:
    problem = quadratics()
    zero, gradient = (
        fl.theorem(SCAFFOLD).compare(experiment(fl.Scaffold(initial=name), problem, rounds=5)).constants["off_sq"].value
        for name in ("zero", "gradient")
    )
    slopes = problem.hessian @ problem.objective().w_star + problem.linear
    assert zero == pytest.approx((slopes**2).sum(axis=1).mean())
    apart = problem.hessian @ (problem.start - problem.objective().w_star)
    assert gradient == pytest.approx((apart**2).sum(axis=1).mean())


LATER = TimeVarying(laws=(FullSteps(), BernoulliSteps(probability=0.5)), starts=(0, 3))
FEWER = StepCounts(pmf=np.array([[0.0, 1.0, 0.0, 0.0]] * CLIENTS))


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"algorithm": fl.Scaffold(option="I")}, "control variates by option II"),
        ({"algorithm": fl.Scaffold(server_rate=0.5)}, "global step"),
        ({"problem": quadratics(sample_counts=[1, 2, 3, 4])}, "all clients weigh alike"),
        ({"steps": LATER}, "all steps are completed"),
        ({"steps": FEWER}, "all steps are completed"),
        ({"selection": BySize(size=2)}, "clients are sampled uniformly, without replacement"),
    ],
)  # fmt: skip
def test_what_the_theorem_assumes_is_named(changed: dict[str, Any], name: str) -> None:
    compared = fl.theorem(SCAFFOLD).compare(experiment(**changed, rounds=6), replicates=3)
    assert compared.decision is fl.Decision.NOT_APPLICABLE
    assert name in [one.name for one in compared.unmet], str(compared)


def test_a_step_that_is_too_large_is_named() -> None:
    run_of = experiment(rounds=5)
    larger = dataclasses.replace(run_of, rate=1.01 * run_of.rate_at(0))
    compared = fl.theorem(SCAFFOLD).compare(larger, variant="published@constants")
    assert [one.name for one in compared.unmet] == ["step"]
    with pytest.raises(fl.NotApplicable, match="must be below 2"):
        fl.theorem(SCAFFOLD).compare(dataclasses.replace(run_of, rate=0.7))
    with pytest.raises(fl.NotApplicable, match="about SCAFFOLD, got FedAvg"):
        fl.theorem(SCAFFOLD).compare(experiment(fl.FedAvg()))


@pytest.mark.parametrize("steps", [LATER, FEWER])
def test_other_theorems_look_at_all_rounds_too(steps: Any) -> None:
    """All local steps have to be completed, in later rounds as in the first, and not only surely the same number."""
    run_of = experiment(fl.FedAvg(), rounds=6, steps=steps)
    assert "all steps are completed" in [
        one.name for one in fl.theorem("li.theorem-1").compare(run_of, replicates=3).unmet
    ]
    averaged = dataclasses.replace(run_of, averaging=np.ones(7))
    with pytest.raises(fl.NotApplicable, match="all clients take all steps"):
        fl.theorem("cfl.eq-62-fedavg").compare(averaged, replicates=3)
