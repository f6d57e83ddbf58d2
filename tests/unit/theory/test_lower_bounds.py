"""Lower bounds beside runs on the problems that their papers construct."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import fltheory as fl


def fedavg(problem: Any, *, steps: int = 4, rounds: int = 30, rate: float = 0.05) -> fl.Experiment:
    participation = fl.Participation(num_clients=problem.num_clients, local_steps=steps)
    return fl.Experiment(problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=rounds, rate=rate)


SETTLED = fedavg(fl.two_curvatures(mu=1.0, L=4.0, distance=2.0), rounds=800, rate=0.02)
PULLED = fedavg(fl.opposed_pulls(mu=1.0, pull=2.0, start=3.0))


def test_where_fedavg_settles() -> None:
    theorem = fl.theorem("li.theorem-4")
    sharp = theorem.compare(SETTLED, variant="sharp")
    assert (sharp.decision, sharp.direction) == (fl.Decision.HOLDS, "lower")
    # By hand: a round is w -> m w + b, and its fixed point is b / (1 - m).
    keep = np.array([1 - 0.02 * 4, 1 - 0.02 * 1]) ** 4
    settled = (1 - keep[0]) * 2.5 / 2 / (1 - keep.mean())
    assert sharp.right.tolist() == pytest.approx([2.0 - settled], rel=1e-9)
    assert sharp.left[0] == pytest.approx(1.0 * 3 / (2 * 5) * (1 - 0.08) ** 3 * 3 * 0.02 * 2, rel=1e-12)
    assert 1 < sharp.slack[0] < 1.5
    assert sharp.rounds.tolist() == [800.0]
    rate = theorem.compare(SETTLED, variant="published")
    assert (rate.decision, rate.is_rate) == (fl.Decision.INCONCLUSIVE, True)
    early = theorem.compare(dataclasses.replace(SETTLED, rounds=3), variant="sharp")
    assert [one.name for one in early.unmet] == ["the settled model is a fixed point"]


def test_pulls_in_every_round() -> None:
    compared = fl.theorem("scaffold.theorem-vi").compare(PULLED)
    run = fl.simulate(PULLED, engine="exact")
    assert compared.decision is fl.Decision.HOLDS
    np.testing.assert_array_equal(compared.right, run.gap[0, 1:])
    assert compared.rounds.tolist() == list(range(1, 31))
    lines = compared.plot().axes[0].lines
    assert [line.get_label() for line in lines] == ["run (exact)", "corrected lower bound"]
    np.testing.assert_array_equal(lines[0].get_ydata(), compared.right)
    table = fl.compare_theorems(PULLED, pattern="scaffold.theorem-vi")
    assert table.tightest is None
    assert "bounds from below" in str(table)


def test_a_lower_bound_that_is_too_large_is_violated() -> None:
    """Declared to pull more than it does, the problem would keep runs further away."""
    compared = fl.theorem("scaffold.theorem-vi").compare(PULLED, G=200.0, first=1e6)
    assert compared.decision is fl.Decision.VIOLATED


def gossip(mixing: Any, rounds: int = 40) -> fl.Experiment:
    number = 6
    pattern = np.cos(2 * np.pi * np.arange(number) / number)
    return fl.Experiment(
        problem=fl.spread_minimisers(pattern=pattern, zeta=2.0),
        algorithm=fl.GossipSGD(mixing=mixing),
        participation=fl.Participation(num_clients=number, local_steps=1),
        rounds=rounds,
        rate=0.05,
    )


LAZY = (0.5 * np.eye(6) + 0.5 / 6).tolist()


def test_gossip() -> None:
    theorem = fl.theorem("koloskova.theorem-3")
    compared = theorem.compare(gossip([LAZY]), variant="sharp@common-start")
    assert compared.decision is fl.Decision.HOLDS
    assert np.all(np.isinf(compared.slack) == (compared.left <= 0))
    negative = ((np.ones((6, 6)) - np.eye(6)) / 5).tolist()
    unmet = theorem.compare(gossip([negative]), variant="sharp@common-start").unmet
    assert "second largest eigenvalue is the largest modulus" in [one.name for one in unmet]
    with pytest.raises(fl.NotApplicable, match="one mixing matrix"):
        theorem.compare(gossip(["mean", "identity"]), variant="sharp@common-start")


def test_a_valley_with_the_curvatures_of_the_proof() -> None:
    clients, steps, rounds, distance = 2, 4, 30, 2.0
    flat = (1.0 / (4608 * (distance * steps * rounds) ** 2)) ** (1 / 3)
    across = 1.0 / (distance * np.sqrt(clients * steps * rounds))
    given: dict[str, Any] = {"H": 1.0, "distance": distance, "sigma": 1.0, "num_clients": clients}
    theorem = fl.theorem("woodworth.theorem-3")
    compared = theorem.compare(fedavg(fl.bent_valley(mu=flat, nu=across, **given)), replicates=200)
    assert compared.decision is fl.Decision.HOLDS
    assert compared.right_low[0] < compared.right[0] < compared.right_high[0]
    assert list(compared.columns())[-4:] == ["right", "right_low", "right_high", "slack"]
    other = theorem.compare(fedavg(fl.bent_valley(mu=flat / 2, nu=across, **given)), replicates=2)
    assert [one.name for one in other.unmet] == ["flat curvature mu of the problem"]
    three = theorem.compare(fedavg(fl.bent_valley(mu=flat, **given)), replicates=2)
    assert [one.name for one in three.unmet] == ["fourth curvature nu of the problem"]


@pytest.mark.parametrize("zeta", [0.0, 1.0])
def test_a_valley_with_pulls(zeta: float) -> None:
    clients, steps, rounds, distance, total = 2, 4, 30, 2.0, 120
    drift = min(distance / np.sqrt(total), distance ** (4 / 3) / (steps ** (1 / 3) * rounds ** (2 / 3)))
    pulls = zeta ** (2 / 3) * distance ** (4 / 3) / rounds ** (2 / 3)
    problem = fl.bent_valley_with_pulls(
        H=1.0,
        mu=max(distance**2 / total, drift, pulls) / distance**2,
        distance=distance,
        sigma=1.0,
        zeta=zeta,
        num_clients=clients,
        nu=1.0 / (distance * np.sqrt(clients * total)),
    )
    compared = fl.theorem("glasgow.theorem-3.3").compare(fedavg(problem), replicates=100)
    assert compared.unmet == ()
    assert (compared.is_rate, compared.direction) == (True, "lower")
    terms = [distance**2 / total, 1.0 * distance / np.sqrt(clients * total), drift, min(zeta**2, pulls)]
    assert compared.left[0] == pytest.approx(sum(min(term, distance**2) for term in terms), rel=1e-9)
    equal = fl.theorem("glasgow.theorem-3.1")
    if zeta:
        with pytest.raises(fl.NotApplicable, match="without pulls, got zeta=1; see glasgow"):
            equal.compare(fedavg(problem))
    else:
        assert equal.compare(fedavg(problem), replicates=5).unmet == ()


HARD = {
    "li.theorem-4": SETTLED,
    "scaffold.theorem-vi": PULLED,
    "koloskova.theorem-3": gossip([LAZY]),
    "woodworth.theorem-3": fedavg(fl.bent_valley(H=1.0, mu=0.1, distance=1.0, sigma=1.0, num_clients=2)),
    "glasgow.theorem-3.3": fedavg(
        fl.bent_valley_with_pulls(H=1.0, mu=0.1, distance=1.0, sigma=1.0, zeta=1.0, num_clients=2)
    ),
}


@pytest.mark.parametrize("id_", HARD)
def test_problems_other_than_the_own_one_are_refused(id_: str) -> None:
    theorem = fl.theorem(id_)
    variant = "sharp@common-start" if id_.startswith("koloskova") else None
    assert theorem.compare(HARD[id_], variant=variant, replicates=2).id == id_
    problem: Any = HARD[id_].problem
    noisier = dataclasses.replace(problem, noise_sq=np.asarray(problem.noise_sq) + 0.5)
    half = dataclasses.replace(problem, start=problem.start + 0.5)
    changed = [noisier] if id_.startswith("scaffold") else [half, noisier]  # its start is free
    for other in changed:
        with pytest.raises(fl.NotApplicable, match="the lower bound is about the problem fl"):
            theorem.compare(dataclasses.replace(HARD[id_], problem=other, start=None), variant=variant)
    elsewhere = dataclasses.replace(HARD[id_], start=np.asarray(problem.start) + 0.5)
    with pytest.raises(fl.NotApplicable, match="from the start of fl"):
        theorem.compare(elsewhere, variant=variant)
    with pytest.raises(fl.NotApplicable, match="the lower bound is about"):
        theorem.compare(dataclasses.replace(HARD[id_], algorithm=fl.Scaffold()), variant=variant)
