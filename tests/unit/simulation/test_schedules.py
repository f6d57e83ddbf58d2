"""Learning-rate schedules, and how an experiment reads them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fltheory import Experiment, Participation, noisy_quadratic
from fltheory.algorithms.fedavg import FedAvg
from fltheory.errors import InvalidParameter
from fltheory.participation import Arrival, Departure, Timeline
from fltheory.simulation.schedules import Constant, Inverse, PerStep, StepTable, Table, as_rate

positive = st.floats(1e-6, 1e3)


@given(value=positive, tau=st.integers(0, 10**6))
def test_constant(value, tau):
    assert Constant(value=value).at(tau) == value
    assert as_rate(value) == Constant(value=value)


@given(scale=positive, shift=positive, tau=st.integers(0, 10**6))
def test_inverse(scale, shift, tau):
    assert Inverse(scale=scale, shift=shift).at(tau) == scale / (tau + shift)
    assert Inverse(scale=scale).at(tau) == scale / (tau + 1)


@given(values=st.lists(positive, min_size=1, max_size=6), tau=st.integers(0, 12))
def test_table_keeps_its_last_value(values, tau):
    assert Table(values=values).at(tau) == (values + [values[-1]] * 12)[tau]


def test_theorem_schedule_is_an_inverse():
    """``16 E / (mu m (tau E + gamma))`` with ``E = 5, mu = 2, m = 3, gamma = 40`` at ``tau = 4``."""
    rate = Inverse(scale=16 / (2 * 3), shift=40 / 5)
    assert rate.at(4) == pytest.approx(16 * 5 / (2 * 3 * (4 * 5 + 40)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Constant(value=0),
        lambda: Constant(value=float("nan")),
        lambda: Inverse(scale=-1.0),
        lambda: Inverse(scale=0.0),
        lambda: PerStep(scale=0.0),
        lambda: PerStep(scale=1.0, shift=0.0),
        lambda: Inverse(scale=1.0, shift=0.0),
        lambda: Table(values=[]),
        lambda: Table(values=[0.1, 0.0]),
        lambda: as_rate(0.0),
        lambda: as_rate(True),
        lambda: as_rate("0.1"),
        lambda: as_rate(None),
        lambda: as_rate(Constant),
    ],
)
def test_refusals(make):
    with pytest.raises(InvalidParameter):
        make()


@pytest.mark.parametrize("kind", [Table, StepTable])
def test_lists_of_rates_that_are_refused_are_named(kind):
    for values, allowed in (([[0.1]], "have shape"), (["x"], "be an array of numbers"), ([], "be a non-empty list")):
        with pytest.raises(InvalidParameter, match=rf"{kind.__name__}\.values must {allowed}"):
            kind(values=values)


@pytest.mark.parametrize("value", [1, np.float32(0.5), np.int64(2), np.float64(0.25)])
def test_every_number_is_a_constant_rate(value):
    assert as_rate(value).at(3) == float(value)


def test_a_restart_resets_the_schedule():
    timeline = Timeline(
        arrivals=[Arrival(client=1, round=3)],
        departures=[Departure(client=2, round=5, exclude=False), Departure(client=0, round=7, exclude=True)],
    )
    experiment = Experiment(
        problem=noisy_quadratic(dim=2, num_clients=3),
        algorithm=FedAvg(),
        participation=Participation(num_clients=3, local_steps=1, timeline=timeline),
        rounds=9,
        rate=Inverse(scale=1.0),
    )
    expected = [1, 1 / 2, 1 / 3, 1, 1 / 2, 1 / 3, 1 / 4, 1, 1 / 2]
    assert [experiment.rate_at(t) for t in range(9)] == pytest.approx(expected)


class TestExperiment:
    def make(self, **changes):
        parts = {
            "problem": noisy_quadratic(dim=2, num_clients=3),
            "algorithm": FedAvg(),
            "participation": Participation(num_clients=3, local_steps=1),
            "rounds": 4,
            "rate": 0.1,
        }
        return Experiment(**(parts | changes))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"rounds": 0}, r"Experiment\.rounds must be an integer >= 1"),
            ({"rate": -0.1}, r"Experiment\.rate"),
            ({"participation": Participation(num_clients=2, local_steps=1)}, "must be for 3 clients"),
            ({"start": [1.0]}, r"Experiment\.start must have shape \(2\)"),
            ({"averaging": np.ones(4)}, r"Experiment\.averaging must have shape \(5\)"),
            ({"averaging": [1, 1, -1, 1, 1]}, r"Experiment\.averaging must be >= 0"),
            ({"averaging": [0, 1, 1, 1, 1]}, "must start with a positive weight"),
        ],
    )
    def test_refusals(self, changes, message):
        with pytest.raises(InvalidParameter, match=message):
            self.make(**changes)

    def test_start_defaults_to_the_problem(self):
        assert np.array_equal(self.make().start, np.zeros(2))
        assert self.make(start=[1, 2]).start.tolist() == [1.0, 2.0]
        assert self.make().uniform_average().tolist() == [1.0] * 5


def test_rates_of_single_steps_begin_with_their_scale_unless_shifted():
    assert [PerStep(scale=0.6).at_step(t) for t in range(3)] == pytest.approx([0.6, 0.3, 0.2])
