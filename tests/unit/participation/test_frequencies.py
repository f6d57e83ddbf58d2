"""Sampled rounds follow the enumerated law.

Each case draws 40,000 replicates and compares the count of every outcome with its binomial law. The two-sided level
is 1e-6 over all outcomes of all cases together (Bonferroni), so a correct sampler fails for one seed in a million.
"""

import numpy as np
import pytest
from scipy import stats

from fltheory.participation import (
    Arrival,
    Bernoulli,
    BernoulliSteps,
    BySize,
    Departure,
    Everyone,
    Participation,
    StepCounts,
    Timeline,
    UniformSteps,
    WithoutReplacement,
    WithReplacement,
)

REPLICATES = 40_000
FALSE_ALARM = 1e-6

COUNTS = np.array([5.0, 1.0, 3.0, 2.0])
TIMELINE = Timeline(arrivals=[Arrival(client=1, round=9)], departures=[Departure(client=3, round=2, exclude=False)])
SELECTIONS = [
    Everyone(),
    WithReplacement(size=3),
    WithoutReplacement(size=2, renormalise=False),
    WithoutReplacement(size=2, renormalise=True),
    Bernoulli(probability=0.35),
    BySize(size=2),
    BySize(size=3),
]
STEPS = [
    BernoulliSteps(probability=[0.9, 0.5, 0.2, 1.0]),
    StepCounts(pmf=[0.1, 0.0, 0.6, 0.3]),
    UniformSteps(low=1),
]
CASES = [
    Participation(num_clients=4, local_steps=3, selection=selection, steps=steps, timeline=timeline)
    for selection in SELECTIONS
    for steps in STEPS
    for timeline in (Timeline(), TIMELINE)
    if not (timeline is TIMELINE and steps is STEPS[1])
]
INDEX = 4


def law_of(participation):
    p = participation.objective_weights(INDEX, COUNTS / COUNTS.sum(), COUNTS)
    return p, participation.outcomes(INDEX, p)


TOTAL_OUTCOMES = sum(len(law_of(case)[1].probability) for case in CASES)


@pytest.mark.parametrize(
    "participation", CASES, ids=lambda c: f"{c.selection.name}-{c.steps.name}-{len(c.timeline.events)}"
)
def test_frequencies(participation):
    p, law = law_of(participation)
    drawn = participation.sample(INDEX, p, seed=20, replicates=range(REPLICATES))
    rows = np.round(np.vstack([np.hstack([law.steps, law.weights]), np.hstack([drawn.steps, drawn.weights])]), 9)
    _, number = np.unique(rows, axis=0, return_inverse=True)
    listed, seen = number.ravel()[: len(law.probability)], number.ravel()[len(law.probability) :]
    assert set(seen) <= set(listed), "a round was drawn that the law does not list"
    count = np.bincount(seen, minlength=rows.shape[0])[listed]
    tail = np.minimum(
        stats.binom.cdf(count, REPLICATES, law.probability), stats.binom.sf(count - 1, REPLICATES, law.probability)
    )
    assert tail.min() > FALSE_ALARM / (2 * TOTAL_OUTCOMES)


def test_the_test_can_fail():
    """The same counts against a law whose masses are off by 3 % are rejected."""
    participation = CASES[0]
    p, law = law_of(participation)
    drawn = participation.sample(INDEX, p, seed=20, replicates=range(REPLICATES))
    complete = int((drawn.steps[:, 1] == 3).sum())
    assert stats.binom.sf(complete - 1, REPLICATES, 0.47) < FALSE_ALARM / (2 * TOTAL_OUTCOMES)
    assert stats.binom.sf(complete - 1, REPLICATES, 0.5) > FALSE_ALARM / (2 * TOTAL_OUTCOMES)
    assert law.probability.sum() == pytest.approx(1)
