"""The parts together: rounds, their joint law, determinism, and refused arguments."""

import numpy as np
import pytest

from fltheory.algorithms.ruan import Ruan
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.participation import (
    Arrival,
    Bernoulli,
    BernoulliSteps,
    BySize,
    Departure,
    Everyone,
    FullSteps,
    Participation,
    StepCounts,
    Timeline,
    TimeVarying,
    Trace,
    UniformSteps,
    WithoutReplacement,
    WithReplacement,
)
from fltheory.quadratic.generators import noisy_quadratic
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.experiment import Experiment

P = np.array([0.5, 0.3, 0.2])


def test_full_participation_is_one_row():
    participation = Participation(num_clients=3, local_steps=4)
    work = participation.round(7, 0.25, P, 10 * P, seed=0, replicates=range(100))
    assert (work.index, work.rate, work.local_steps) == (7, 0.25, 4)
    assert work.steps.tolist() == [[4, 4, 4]]
    assert work.weights.tolist() == [P.tolist()]
    assert work.p.tolist() == P.tolist()
    assert work.boost.tolist() == [1, 1, 1]
    assert work.steps.dtype == np.int64


@pytest.mark.parametrize(
    ("more", "deterministic"),
    [
        ({}, True),
        ({"steps": Trace(steps=[[1, 0, 4]])}, True),
        ({"steps": BernoulliSteps(probability=[0.0, 1.0, 1.0])}, True),
        ({"steps": UniformSteps(low=4)}, True),
        ({"steps": UniformSteps(low=3)}, False),
        ({"selection": WithoutReplacement(size=3, renormalise=False)}, True),
        ({"selection": BySize(size=3)}, True),
        ({"selection": Bernoulli(probability=1)}, True),
        ({"selection": Bernoulli(probability=0.5)}, False),
        ({"selection": WithReplacement(size=2)}, False),
        ({"selection": WithoutReplacement(size=2, renormalise=False)}, False),
        ({"selection": BySize(size=2)}, False),
    ],
)
def test_is_deterministic(more, deterministic):
    """A deterministic round has one outcome, and its single row is what every replicate would draw."""
    participation = Participation(num_clients=3, local_steps=4, **more)
    assert participation.is_deterministic(0) is deterministic
    law = participation.outcomes(0, P)
    assert (len(law.probability) == 1) is deterministic
    work = participation.round(0, 0.1, P, P, seed=0, replicates=range(6))
    assert work.steps.shape == work.weights.shape == ((1, 3) if deterministic else (6, 3))
    if deterministic:
        drawn = participation.sample(0, P, seed=0, replicates=range(6))
        assert np.array_equal(drawn.steps, np.repeat(work.steps, 6, axis=0))
        assert drawn.weights == pytest.approx(np.repeat(work.weights, 6, axis=0))
        assert law.weights == pytest.approx(work.weights)


def test_arrival_can_end_determinism():
    participation = Participation(
        num_clients=3,
        local_steps=1,
        selection=WithoutReplacement(size=2, renormalise=True),
        timeline=Timeline(arrivals=[Arrival(client=0, round=5)]),
    )
    assert [participation.is_deterministic(t) for t in (4, 5)] == [True, False]


def test_joint_law_by_hand():
    """Two clients, p = (.25, .75), one of them drawn uniformly (p N/S doubles p), one step with probability 1/2.

    Nobody works with probability 1/2, whichever was asked: one merged outcome. Else (1, 0) with weight 2 * .25 or
    (0, 1) with weight 2 * .75, each with probability 1/4.
    """
    participation = Participation(
        num_clients=2,
        local_steps=1,
        selection=WithoutReplacement(size=1, renormalise=False),
        steps=StepCounts(pmf=[0.5, 0.5]),
    )
    law = participation.outcomes(0, [0.25, 0.75])
    found = {tuple(s): (q, w) for q, s, w in zip(*(part.tolist() for part in law), strict=True)}
    assert found == {(0, 0): (0.5, [0, 0]), (1, 0): (0.25, [0.5, 0]), (0, 1): (0.25, [0, 1.5])}


def test_lost_weight_is_not_passed_on():
    """A selected client without a completed step loses its weight; the others keep theirs."""
    participation = Participation(
        num_clients=3,
        local_steps=2,
        selection=WithoutReplacement(size=3, renormalise=True),
        steps=Trace(steps=[[2, 0, 1]]),
    )
    assert participation.sample(0, P, seed=0, replicates=range(1)).weights.tolist() == [[0.5, 0.0, 0.2]]


def test_round_outcomes_are_rounds():
    participation = Participation(num_clients=3, local_steps=2, steps=BernoulliSteps(probability=0.5))
    rounds = participation.round_outcomes(4, 0.1, P, 7 * P)
    law = participation.outcomes(4, P)
    assert [chance for chance, _ in rounds] == law.probability.tolist()
    for (_, work), steps, weights in zip(rounds, law.steps, law.weights, strict=True):
        assert work.steps.tolist() == [steps.tolist()]
        assert work.weights.tolist() == [weights.tolist()]
        assert (work.index, work.rate, work.local_steps) == (4, 0.1, 2)
        assert work.p == pytest.approx(P)


def test_rounds_and_purposes_have_their_own_numbers():
    participation = Participation(
        num_clients=3, local_steps=50, selection=Bernoulli(probability=0.5), steps=UniformSteps(low=1)
    )
    block = {"seed": 3, "replicates": range(200)}
    first, again, later, other = (
        participation.sample(0, P, **block).steps,
        participation.sample(0, P, **block).steps,
        participation.sample(1, P, **block).steps,
        participation.sample(0, P, seed=4, replicates=range(200)).steps,
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, later)
    assert not np.array_equal(first, other)
    everyone = Participation(num_clients=3, local_steps=50, steps=UniformSteps(low=1)).sample(0, P, **block).steps
    assert np.array_equal(first, np.where(first > 0, everyone, 0)), "selection must not touch the step counts"


@pytest.mark.parametrize(
    "selection",
    [
        WithReplacement(size=2),
        WithoutReplacement(size=2, renormalise=True),
        Bernoulli(probability=0.5),
        BySize(size=2),
    ],
)
def test_selections_of_different_rounds_are_independent(selection):
    """How often two rounds give the same selection is the sum of squared probabilities.

    5,000 replicates, 5 standard deviations: a false alarm once in 1.7e6 seeds and cases.
    """
    participation = Participation(num_clients=3, local_steps=1, selection=selection)
    first, second = (participation.sample(t, P, seed=8, replicates=range(5000)).weights for t in (0, 1))
    agree = (participation.outcomes(0, P).probability ** 2).sum()
    found = np.all(first == second, axis=1).mean()
    assert abs(found - agree) < 5 * np.sqrt(agree * (1 - agree) / 5000)


@pytest.mark.parametrize(
    ("more", "stationary"),
    [
        ({"selection": BySize(size=2), "steps": UniformSteps(low=0)}, True),
        ({"steps": StepCounts(pmf=[0.5, 0.5])}, True),
        ({"steps": BernoulliSteps(probability=0.5)}, True),
        ({"steps": Trace(steps=[[1, 0, 1]])}, False),
        ({"steps": TimeVarying(laws=[FullSteps()], starts=[0])}, False),
        ({"timeline": Timeline(arrivals=[Arrival(client=0, round=1)])}, False),
    ],
)
def test_is_stationary(more, stationary):
    assert Participation(num_clients=3, local_steps=1, **more).is_stationary is stationary


@pytest.mark.parametrize(
    ("more", "limit", "cases"),
    [
        ({"steps": UniformSteps(low=0)}, 26, 27),
        ({"selection": Bernoulli(probability=0.5)}, 6, 7),
        ({"selection": WithReplacement(size=2), "steps": BernoulliSteps(probability=0.5)}, 17, 18),
    ],
)
def test_too_many_cases_are_refused_by_number(more, limit, cases):
    participation = Participation(num_clients=3, local_steps=2, **more)
    with pytest.raises(NotApplicable, match=rf"enumerate {cases} cases .*limit={limit};"):
        participation.outcomes(0, P, limit=limit)
    with pytest.raises(NotApplicable, match=f"limit={limit}"):
        participation.round_outcomes(0, 0.1, P, P, limit=limit)
    assert participation.outcomes(0, P, limit=cases).probability.sum() == pytest.approx(1)


def test_astronomical_counts_are_refused_at_once():
    crowd = np.full(500, 1 / 500)
    for more in (
        {"selection": Bernoulli(probability=0.5)},
        {"steps": UniformSteps(low=0)},
        {"selection": BySize(size=250)},
    ):
        with pytest.raises(NotApplicable, match="limit=4096"):
            Participation(num_clients=500, local_steps=3, **more).outcomes(0, crowd)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Participation(num_clients=0, local_steps=1), r"Participation\.num_clients must be an integer >= 1"),
        (lambda: Participation(num_clients=1, local_steps=0), r"Participation\.local_steps"),
        (
            lambda: Participation(num_clients=1, local_steps=1, selection="everyone"),
            r"Participation\.selection must be a Selection, got selection='everyone'",
        ),
        (lambda: Participation(num_clients=1, local_steps=1, steps=3), r"Participation\.steps must be a StepLaw"),
        (
            lambda: Participation(num_clients=1, local_steps=1, timeline=()),
            r"Participation\.timeline must be a Timeline",
        ),
        (
            lambda: Participation(num_clients=1, local_steps=1, selection=Everyone),
            r"Participation\.selection must be a Selection",
        ),
        (
            lambda: Participation(num_clients=3, local_steps=1).sample(0, [0.5, 0.5], seed=0, replicates=range(1)),
            r"Participation\.p must have shape \(3\)",
        ),
        (
            lambda: Participation(num_clients=2, local_steps=1).outcomes(0, [0.5, 0.6]),
            r"Participation\.p must sum to 1",
        ),
        (
            lambda: Participation(
                num_clients=2, local_steps=1, timeline=Timeline(arrivals=[Arrival(client=0, round=1)])
            ).outcomes(0, [0.5, 0.5]),
            r"Participation\.p must be zero for clients outside .*round 0, got 0\.5 at index \(0,\); pass what",
        ),
        (
            lambda: Participation(
                num_clients=2, local_steps=1, timeline=Timeline(arrivals=[Arrival(client=0, round=1)])
            ).objective_weights(0, [0.5, 0.5], [3.0, 0.0]),
            r"Participation\.sample_counts must be positive",
        ),
        (
            lambda: Participation(num_clients=3, local_steps=1).sample(0, P, seed=-1, replicates=range(1)),
            r"seeding\.seed must be an integer >= 0",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()


def test_rounds_with_the_same_law_share_their_outcomes_and_others_do_not():
    timeline = Timeline(
        arrivals=(Arrival(client=1, round=2, fast_reboot=True),),
        departures=(Departure(client=2, round=5, exclude=True),),
    )
    participation = Participation(
        num_clients=3, local_steps=2, steps=BernoulliSteps(probability=[0.5, 1.0, 0.9]), timeline=timeline
    )
    problem = noisy_quadratic(dim=2, num_clients=3, seed=0)
    experiment = Experiment(
        problem=problem, algorithm=Ruan(scheme="C"), participation=participation, rounds=8, rate=0.1
    )
    terms = Terms(experiment)
    for index in range(8):
        own = participation.round_outcomes(index, 0.1, problem.weights, problem.sample_counts)
        kept = terms.outcomes(index, limit=100)
        assert [chance for chance, _ in kept] == [chance for chance, _ in own]
        for (_, one), (_, other) in zip(kept, own, strict=True):
            assert one.index == other.index == index
            for name in ("p", "steps", "weights", "boost"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert participation.law_key(0) == participation.law_key(1) != participation.law_key(2)
    assert participation.law_key(2) != participation.law_key(3)  # the reboot fades
