"""Step laws: their tables, inversion, and every parameter that is refused."""

import numpy as np
import pytest

from fltheory.errors import InvalidParameter
from fltheory.participation import (
    BernoulliSteps,
    FullSteps,
    Participation,
    StepCounts,
    TimeVarying,
    Trace,
    UniformSteps,
)
from fltheory.participation.steps import step_counts


def table(law, index=0, *, num_clients=2, local_steps=2):
    """Return the law's probabilities as nested lists, after the check a participation makes."""
    return Participation(num_clients=num_clients, local_steps=local_steps, steps=law).step_pmf(index).tolist()


def test_full_steps():
    assert table(FullSteps()) == [[0, 0, 1], [0, 0, 1]]


def test_uniform_steps():
    assert table(UniformSteps(low=1)) == [[0, 0.5, 0.5]] * 2
    assert table(UniformSteps(low=2)) == table(FullSteps())


def test_bernoulli_steps():
    assert table(BernoulliSteps(probability=0.25)) == [[0.75, 0, 0.25]] * 2
    assert table(BernoulliSteps(probability=[0.25, 1.0])) == [[0.75, 0, 0.25], [0, 0, 1]]


def test_step_counts_one_row_stands_for_all():
    row = [0.5, 0.25, 0.25]
    assert table(StepCounts(pmf=row)) == table(StepCounts(pmf=[row])) == [row, row]
    assert table(StepCounts(pmf=[row, [0, 0, 1]])) == [row, [0, 0, 1]]


def test_trace_repeats():
    law = Trace(steps=[[2, 0], [1, 2], [0, 1]])
    participation = Participation(num_clients=2, local_steps=2, steps=law)
    drawn = [participation.sample(t, [0.5, 0.5], seed=3, replicates=range(2)).steps.tolist() for t in range(7)]
    expected = [[2, 0], [1, 2], [0, 1]] * 2 + [[2, 0]]
    assert drawn == [[row, row] for row in expected]


def test_time_varying_laws_count_from_their_own_start():
    law = TimeVarying(laws=[FullSteps(), Trace(steps=[[0, 1], [2, 2]])], starts=[0, 3])
    assert [table(law, t) == table(FullSteps()) for t in range(3)] == [True] * 3
    assert table(law, 3) == [[1, 0, 0], [0, 1, 0]]
    assert table(law, 4) == table(FullSteps())
    assert table(law, 5) == table(law, 3)


def test_inversion_by_hand():
    """With masses .25, .5, .25 the thresholds are .25 and .75; a uniform on a threshold belongs above it."""
    uniforms = np.array([[0.0], [0.2499], [0.25], [0.7499], [0.75], [0.9999]])
    assert step_counts(np.array([[0.25, 0.5, 0.25]]), uniforms)[:, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_inversion_stays_inside_the_support():
    """Ten masses of 0.1 sum to 1 - 1.1e-16 in floating point, where the largest uniform 1 - 2^-53 already lies."""
    pmf = np.array([[0.1] * 10 + [0.0]])
    assert np.cumsum(pmf)[-1] < 1
    assert step_counts(pmf, np.array([[1.0 - 2.0**-53]])).tolist() == [[9]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: StepCounts(pmf=[0.5, 0.4]), r"StepCounts\.pmf must sum to 1, got a sum of 0\.9"),
        (lambda: StepCounts(pmf=[1.5, -0.5]), r"StepCounts\.pmf must be >= 0, got -0\.5 at index \(0, 1\)"),
        (lambda: StepCounts(pmf=0.5), r"StepCounts\.pmf must have shape"),
        (lambda: table(StepCounts(pmf=[0.25] * 4)), r"StepCounts\.pmf must have shape \(2, 3\).*0 to 2 steps"),
        (lambda: table(StepCounts(pmf=[[0, 0, 1]] * 3)), r"StepCounts\.pmf must have shape \(2, 3\)"),
        (lambda: UniformSteps(low=-1), r"UniformSteps\.low must be an integer >= 0"),
        (lambda: table(UniformSteps(low=3)), r"UniformSteps\.low must be an integer in \[0, 2\], got low=3"),
        (lambda: BernoulliSteps(probability=-0.1), r"BernoulliSteps\.probability must be a number in \[0, 1\]"),
        (lambda: BernoulliSteps(probability=[0.5, 1.25]), r"BernoulliSteps\.probability .*1\.25 at index \(1,\)"),
        (lambda: BernoulliSteps(probability=[-0.5, 1]), r"BernoulliSteps\.probability must be >= 0"),
        (lambda: table(BernoulliSteps(probability=[0.5] * 3)), r"BernoulliSteps\.probability must have shape \(2\)"),
        (lambda: Trace(steps=[[0.5, 1]]), r"Trace\.steps must be integers, got 0\.5 at index \(0, 0\)"),
        (lambda: Trace(steps=[[-1, 1]]), r"Trace\.steps must be >= 0"),
        (lambda: Trace(steps=np.zeros((0, 2))), r"Trace\.steps must hold at least one round"),
        (lambda: Trace(steps=[1, 2]), r"Trace\.steps must have shape"),
        (lambda: table(Trace(steps=[[0, 0], [3, 1]])), r"Trace\.steps must be in \[0, 2\], got 3 at index \(1, 0\)"),
        (lambda: table(Trace(steps=[[0, 0, 0]])), r"Trace\.steps must have shape \(any, 2\)"),
        (lambda: TimeVarying(laws=[], starts=[]), r"TimeVarying\.starts"),
        (
            lambda: TimeVarying(laws=[FullSteps()], starts=[1]),
            r"TimeVarying\.starts must be 1 rounds, increasing from 0",
        ),
        (lambda: TimeVarying(laws=[FullSteps()] * 2, starts=[0, 0]), r"TimeVarying\.starts"),
        (lambda: TimeVarying(laws=[FullSteps()], starts=[0, 2]), r"TimeVarying\.starts"),
        (lambda: TimeVarying(laws=[FullSteps()], starts=[0.0]), r"TimeVarying\.starts must be an integer"),
        (lambda: TimeVarying(laws=["full"], starts=[0]), r"TimeVarying\.laws must be step laws, got laws='full'"),
        (lambda: TimeVarying(laws=[FullSteps], starts=[0]), r"TimeVarying\.laws must be step laws"),
        (lambda: table(TimeVarying(laws=[FullSteps(), UniformSteps(low=5)], starts=[0, 2])), r"UniformSteps\.low"),
    ],
)
def test_refused(build, message):
    with pytest.raises(InvalidParameter, match=message):
        build()
