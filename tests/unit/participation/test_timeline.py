"""Arrivals, departures, fast reboot: who is there, what the objective is, when the rate restarts."""

import numpy as np
import pytest

from fltheory.errors import InvalidParameter
from fltheory.participation import (
    Arrival,
    Departure,
    FullSteps,
    Participation,
    Timeline,
    UniformSteps,
    WithoutReplacement,
    WithReplacement,
)

COUNTS = np.array([10.0, 30.0, 60.0])
P = COUNTS / 100


def build(*, arrivals=(), departures=(), **more):
    timeline = Timeline(arrivals=arrivals, departures=departures)
    return Participation(num_clients=3, local_steps=2, timeline=timeline, **more)


def terms(participation, index):
    return participation.round(index, 0.1, P, COUNTS, seed=5, replicates=range(4))


def test_no_events_leave_everything_alone():
    participation = build()
    assert participation.objective_weights(9, P, COUNTS) == pytest.approx(P)
    assert participation.restart_before(9) == 0
    assert participation.boost(9).tolist() == [1, 1, 1]


def test_arrival():
    """Client 2 with 60 of 100 samples arrives in round 4: before it the others share 10 : 30."""
    participation = build(arrivals=[Arrival(client=2, round=4)])
    before, after = terms(participation, 3), terms(participation, 4)
    assert before.p == pytest.approx([0.25, 0.75, 0.0])
    assert before.steps.tolist() == [[2, 2, 0]]
    assert before.weights[0] == pytest.approx([0.25, 0.75, 0.0])
    assert after.p == pytest.approx([0.1, 0.3, 0.6])
    assert after.steps.tolist() == [[2, 2, 2]]
    assert [participation.restart_before(t) for t in (0, 3, 4, 9)] == [0, 0, 4, 4]
    assert np.all(after.boost == 1)


def test_fast_reboot_starts_at_three_and_decays_quadratically():
    """1 + 2 / tau^2 with tau = 1 in the round of arrival: 3, 3/2, 11/9, 9/8, ..."""
    participation = build(arrivals=[Arrival(client=1, round=2, fast_reboot=True)])
    factors = [participation.boost(t)[1] for t in range(1, 6)]
    assert factors == pytest.approx([1.0, 3.0, 1.5, 11 / 9, 1.125])
    assert participation.boost(3)[[0, 2]].tolist() == [1, 1]
    assert terms(participation, 2).boost.tolist() == [1, 3, 1]


def test_departure_include_keeps_the_objective():
    participation = build(departures=[Departure(client=0, round=3, exclude=False)])
    left = terms(participation, 3)
    assert left.p == pytest.approx(P)
    assert left.steps.tolist() == [[0, 2, 2]]
    assert left.weights[0] == pytest.approx([0.0, 0.3, 0.6])
    assert participation.restart_before(10) == 0
    assert terms(participation, 2).steps.tolist() == [[2, 2, 2]]


def test_departure_exclude_shifts_the_objective():
    participation = build(departures=[Departure(client=0, round=3, exclude=True)])
    left = terms(participation, 3)
    assert left.p == pytest.approx([0, 1 / 3, 2 / 3])
    assert left.steps.tolist() == [[0, 2, 2]]
    assert left.weights[0] == pytest.approx([0, 1 / 3, 2 / 3])
    assert [participation.restart_before(t) for t in (2, 3, 8)] == [0, 3, 3]


def test_events_combine():
    """Client 2 comes in round 2 and is excluded from round 6 on; client 0 goes in round 4 but is kept."""
    participation = build(
        arrivals=[Arrival(client=2, round=2)],
        departures=[Departure(client=2, round=6, exclude=True), Departure(client=0, round=4, exclude=False)],
    )
    weights = [participation.objective_weights(t, P, COUNTS) for t in (0, 2, 4, 6)]
    assert weights[0] == pytest.approx([0.25, 0.75, 0])
    assert weights[1] == pytest.approx(P)
    assert weights[2] == pytest.approx(P)
    assert weights[3] == pytest.approx([0.25, 0.75, 0])
    assert terms(participation, 5).steps.tolist() == [[0, 2, 2]]
    assert terms(participation, 6).steps.tolist() == [[0, 2, 0]]
    assert [participation.restart_before(t) for t in (1, 3, 5, 7)] == [0, 2, 2, 6]


def test_an_included_departed_client_is_still_asked():
    """Uniform pairs of three members of which one never answers: that pair loses the absent client's weight."""
    participation = build(
        departures=[Departure(client=0, round=1, exclude=False)],
        selection=WithoutReplacement(size=2, renormalise=False),
    )
    law = participation.outcomes(1, P)
    found = {tuple(s): (q, tuple(w)) for q, s, w in zip(*(part.tolist() for part in law), strict=True)}
    assert set(found) == {(0, 2, 0), (0, 0, 2), (0, 2, 2)}
    assert all(q == pytest.approx(1 / 3) for q, _ in found.values())
    assert found[(0, 2, 0)][1] == pytest.approx((0, 0.45, 0))


def test_a_client_that_has_not_arrived_is_never_asked():
    participation = build(
        arrivals=[Arrival(client=1, round=3)], selection=WithReplacement(size=4), steps=UniformSteps(low=1)
    )
    early = participation.round(2, 0.1, P, COUNTS, seed=1, replicates=range(300))
    late = participation.round(3, 0.1, P, COUNTS, seed=1, replicates=range(300))
    assert not early.steps[:, 1].any()
    assert late.steps[:, 1].any()
    assert early.weights.sum(axis=1) == pytest.approx(1)


def test_selection_is_checked_against_the_fewest_members():
    with pytest.raises(InvalidParameter, match=r"WithoutReplacement\.size must be at most .* 2 at the fewest"):
        build(
            arrivals=[Arrival(client=1, round=3)],
            selection=WithoutReplacement(size=3, renormalise=True),
            steps=FullSteps(),
        )


def test_a_block_of_departures_can_stop_all_work():
    participation = build(departures=[Departure(client=i, round=1, exclude=False) for i in range(3)])
    stopped = terms(participation, 1)
    assert not stopped.steps.any()
    assert not stopped.weights.any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Arrival(client=0, round=0),
            r"Arrival\.round must be an integer >= 1, got round=0; a client of round 0",
        ),
        (lambda: Arrival(client=-1, round=1), r"Arrival\.client"),
        (lambda: Arrival(client=0, round=1, fast_reboot="yes"), r"Arrival\.fast_reboot must be true or false"),
        (lambda: Departure(client=0, round=0, exclude=True), r"Departure\.round"),
        (lambda: Departure(client=0.5, round=1, exclude=True), r"Departure\.client"),
        (lambda: Departure(client=0, round=1, exclude=None), r"Departure\.exclude must be true or false"),
        (
            lambda: Timeline(arrivals=[Arrival(client=1, round=2), Arrival(client=1, round=4)]),
            r"Timeline\.arrivals must name a client at most once, got client 1 2 times",
        ),
        (
            lambda: Timeline(departures=[Departure(client=1, round=r, exclude=True) for r in (2, 4)]),
            r"Timeline\.departures must name a client at most once",
        ),
        (
            lambda: Timeline(
                arrivals=[Arrival(client=1, round=4)], departures=[Departure(client=1, round=4, exclude=False)]
            ),
            r"Timeline\.departures must come after the arrival .*client 1 departing in round 4 and arriving in round 4",
        ),
        (
            lambda: Timeline(arrivals=[Departure(client=0, round=1, exclude=True)]),
            r"Timeline\.arrivals must be a list of",
        ),
        (lambda: build(arrivals=[Arrival(client=3, round=1)]), r"Arrival\.client must be an integer in \[0, 2\]"),
        (lambda: build(departures=[Departure(client=7, round=1, exclude=True)]), r"Departure\.client must be"),
        (lambda: build(arrivals=[Arrival(client=i, round=1) for i in range(3)]), r"Timeline must leave at least one"),
        (
            lambda: build(departures=[Departure(client=i, round=i + 1, exclude=True) for i in range(3)]),
            r"Timeline must leave at least one",
        ),
    ],
)
def test_refused(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()
