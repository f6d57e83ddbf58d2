"""Every line that decides about a rate has a planted sweep that turns when the line is broken."""

import json
import math
from dataclasses import replace

import pytest
from sympy import Le

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Instances, Kind, Rejected, Sweep, Sweeps
from fltheory.bounds.space import Real, Space
from fltheory.validation import rates
from fltheory.validation.decide import check
from fltheory.validation.rates import CLEAR, REACH, TOLERANCE, Trend, trend
from fltheory.validation.replay import replay
from fltheory.validation.trials import LOOSE, Trials
from fltheory.validation.verdict import Decision, Strength
from tests.planted import a, b, claim, contraction

POINTS = (1.0, 2.0, 4.0, 8.0, 16.0)
ONES = (1.0,) * 5
LAW = Le(a, BigO(b))
SMALL = Assumption("x is small", Le(b, 10))


def swept(measured, *names, claimed=1.0, statement=LAW, assumptions=()):
    """A rate whose left-hand side is a function of the point, along sweeps of some of x, y and z."""
    source = Instances(
        space=Space({name: Real(0, 100) for name in "xyz"}),
        realise=lambda p: {"planted_a": measured(p), "planted_b": claimed(p) if callable(claimed) else claimed},
        rational=False,
    )
    sweeps = tuple(Sweep(name, POINTS, {other: 1.0 for other in "xyz" if other != name}) for name in names)
    made = claim("swept", Kind.RATE, statement, Sweeps(instances=source, sweeps=sweeps))
    return replace(made, assumptions=assumptions)


def flat_but(bad):
    """Flat along x and y; what ``bad`` says along z."""
    return lambda point: bad(point["z"]) if point["z"] > 1 else 0.5


def refused(_):
    raise Rejected("no instance far out")


def test_a_sweep_that_cannot_be_measured_leaves_the_answer_open():
    verdict = check(swept(flat_but(refused), "x", "z"))[0]
    assert (verdict.decision, verdict.strength) == (Decision.INCONCLUSIVE, Strength.EXTRAPOLATED)
    assert verdict.reason == "z: no instance far out"
    assert verdict.instances == 6  # five points along x, and the first along z
    assert verdict.budget == 10


def test_where_no_sweep_can_be_measured_nothing_is_said():
    verdict = check(swept(refused, "x", "z"))[0]
    assert (verdict.decision, verdict.strength) == (Decision.NOT_APPLICABLE, Strength.SEARCHED)
    assert (verdict.margin, verdict.worst, verdict.counterexample) == (None, {}, None)
    assert verdict.reason == "x: no instance far out; z: no instance far out"


def test_one_sweep_that_tells_nothing_leaves_the_answer_open():
    scattered = swept(flat_but(lambda z: 2.0 if math.log2(z) % 2 else 1.0), "x", "z")
    verdict = check(scattered)[0]
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.reason.startswith("slope uncertain in z (between ")


def test_one_sweep_that_grows_is_enough_and_obstacles_are_not_told_beside_it():
    def measured(point):
        if point["y"] > 1:
            raise Rejected("no instance far out")
        return point["z"]

    verdict = check(swept(measured, "x", "y", "z"))[0]
    assert verdict.decision is Decision.VIOLATED
    assert verdict.reason == "measured over claimed grows like z^1"
    assert verdict.worst == {"sweep": "z", "slope": pytest.approx(1.0)}
    found = verdict.counterexample
    assert found.parameters == {"x": 1.0, "y": 1.0, "z": list(POINTS)}
    assert (found.lhs, found.rhs, found.ratio) == ("z^1", "z^0", None)


def test_points_that_fail_an_assumption_are_not_measured():
    growing = swept(lambda p: p["z"], "z", claimed=lambda p: p["z"] + 10.0)
    assert check(growing)[0].decision is not Decision.NOT_APPLICABLE
    verdict = check(replace(growing, assumptions=(SMALL,)))[0]
    assert verdict.decision is Decision.NOT_APPLICABLE
    assert verdict.reason == "z: x is small failed on 1 of 1 instances, first with 11 against 10"


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_a_side_that_is_not_positive_has_no_exponent(bad):
    verdict = check(swept(flat_but(lambda z: bad), "z"))[0]
    assert verdict.decision is Decision.NOT_APPLICABLE
    assert "a rate needs positive sides, got" in verdict.reason
    claimed = check(swept(lambda p: 1.0, "z", claimed=lambda p: bad if p["z"] > 2 else 1.0))[0]
    assert claimed.decision is Decision.NOT_APPLICABLE


def test_a_constant_is_exceeded_by_more_than_rounding_and_no_more():
    def highest(value):
        return trend("T", POINTS, (0.5, 0.5, value, 0.5, 0.5), ONES, firm=True).decision

    assert highest(1.0) is Decision.HOLDS
    assert highest(1.0 + LOOSE / 2) is Decision.HOLDS
    assert highest(1.0 + 2 * LOOSE) is Decision.VIOLATED
    assert highest(1.0005) is Decision.VIOLATED


def power(exponent, scale=1.0, *, firm=False):
    return trend("T", POINTS, [scale * value**exponent for value in POINTS], ONES, firm=firm)


def test_an_exponent_counts_from_the_tolerance_on():
    assert power(0.8 * TOLERANCE).decision is Decision.HOLDS
    assert power(1.2 * TOLERANCE).decision is Decision.VIOLATED
    assert power(-1.0).decision is Decision.HOLDS


def test_growth_below_a_constant_is_open_only_if_it_is_clear_and_could_reach_it():
    assert power(0.8 * CLEAR, 0.1, firm=True).decision is Decision.HOLDS
    assert power(1.2 * CLEAR, 0.5, firm=True).decision is Decision.INCONCLUSIVE
    far = REACH**-0.5
    assert power(0.4, 0.1 * far, firm=True).decision is Decision.HOLDS
    assert power(0.6, far, firm=True).decision is Decision.INCONCLUSIVE


def test_exponents_are_extrapolated_to_their_limit():
    """Exponents 1 + q^k are heading for 1 if q < 1; what grows by equal steps is left as it is, with its last step."""
    limit, doubt = rates._limit(1 + 0.5, 1 + 0.25, 1 + 0.125)
    assert limit == pytest.approx(1.0)
    assert doubt == pytest.approx(0.125)
    slowly, doubt = rates._limit(1.0, 0.9, 0.81)  # ten times its last change would be left
    assert slowly == pytest.approx(0.81 - 3 * 0.09)
    assert doubt == pytest.approx(3 * 0.09)
    assert rates._limit(1.0, 2.0, 3.0) == (3.0, 1.0)
    assert rates._limit(1.0, 2.0, 0.0) == (0.0, 2.0)
    rising, _ = rates._limit(0.0, 0.1, 0.19)
    assert rising == pytest.approx(0.19 + 3 * 0.09)


def test_exponents_are_those_of_the_last_points():
    bent = trend("T", POINTS, (1.0, 1.0, 1.0, 2.0, 8.0), (1.0, 1.0, 1.0, 1.0, 4.0))
    assert (bent.measured_slope, bent.claimed_slope) == (pytest.approx(2.0), pytest.approx(2.0))
    assert bent.ratio == 2.0
    assert not bent.falling
    assert trend("T", POINTS, (9.0, 5.0, 4.0, 3.0, 3.0), ONES).falling
    assert trend("T", POINTS, (1.0, 5.0, 4.0, 3.0, 3.0), ONES).falling  # of the last four points only


def test_what_a_trend_says_of_itself():
    told = power(1.0, 0.25).as_json()
    assert told["parameter"] == "T"
    assert told["sides"] == ("T^1", "T^0")
    assert told["decision"] == "VIOLATED"
    assert trend("T", POINTS, (0.1, 0.2, 3.0, 0.1, 0.1), (1, 1, 2, 1, 1), firm=True).sides == ("3", "2")


def test_a_rate_with_a_constant_carries_the_ratio_of_its_counterexample():
    verdict = check(swept(lambda p: p["z"], "x", "z", statement=Le(a, 3 * b)))[0]
    assert (verdict.decision, verdict.strength) == (Decision.VIOLATED, Strength.REFUTED_FLOAT)
    assert verdict.counterexample.ratio == pytest.approx(16 / 3)
    assert (verdict.counterexample.lhs, verdict.counterexample.rhs) == ("16", "3")
    assert verdict.margin == pytest.approx(3 / 16)
    assert verdict.worst["sweep"] == "z"
    holding = check(swept(lambda p: 1.0, "x", statement=Le(a, 3 * b)))[0]
    assert (holding.decision, holding.strength) == (Decision.HOLDS, Strength.SEARCHED)


class Known:
    """A catalogue of one claim."""

    def __init__(self, made):
        self.made = made

    def load(self):
        return self.made


def replayed(made, values=POINTS):
    stored = {"id": made.id, "variant": "published", "seed": 0}
    parameters = json.loads(json.dumps({"x": 1.0, "y": 1.0, "z": list(values)}))
    return replay({**stored, "parameters": parameters}, {made.id: Known(made)})


def test_a_sweep_that_is_replayed_is_decided_again():
    growing = replayed(swept(lambda p: p["z"], "z"))
    assert (growing.violated, growing.lhs, growing.rhs, growing.arithmetic) == (True, "z^1", "z^0", "float64")
    assert not replayed(swept(lambda p: 1.0, "z")).violated
    fails = Assumption("never", Le(b, -1))
    refused_now = replayed(swept(lambda p: p["z"], "z", assumptions=(fails,)))
    assert (refused_now.violated, refused_now.rhs) == (False, "")
    assert "never failed" in refused_now.lhs


def at_boundary(**more):
    """A trend with these numbers, whatever sweep would give them."""
    usual = {"slope": 0.0, "low": 0.0, "high": 0.0, "firm": False, "measured": (1.0, 2.0, 3.0, 4.0)}
    given = {**usual, **more}
    return Trend("T", (1.0, 2.0, 4.0, 8.0), claimed=(10.0,) * 4, measured_slope=0.0, claimed_slope=0.0, **given)


def test_what_is_exactly_at_a_limit_is_still_allowed():
    """Next to each of them, in floating point, the decision is another one."""
    up = math.inf
    over = math.nextafter(TOLERANCE, up)
    assert at_boundary(low=TOLERANCE).decision is Decision.HOLDS
    assert at_boundary(low=over, high=over).decision is Decision.VIOLATED
    assert at_boundary(high=CLEAR).decision is Decision.HOLDS
    assert at_boundary(high=math.nextafter(CLEAR, up)).decision is Decision.INCONCLUSIVE
    assert at_boundary(high=1.0, measured=(4.0, 3.0, 3.0, 2.0)).decision is Decision.HOLDS  # falling
    clear = math.nextafter(CLEAR, up)
    assert at_boundary(firm=True, slope=1.0, low=CLEAR).decision is Decision.HOLDS
    assert at_boundary(firm=True, slope=1.0, low=clear).decision is Decision.INCONCLUSIVE
    most = 10 * (1.0 + LOOSE)
    assert at_boundary(firm=True, measured=(1.0, most, 1.0, 1.0)).decision is Decision.HOLDS
    assert at_boundary(firm=True, measured=(1.0, 1.000001 * most, 1.0, 1.0)).decision is Decision.VIOLATED


def test_growth_that_just_reaches_a_bound_where_reach_ends_does_not_exceed_it():
    """Of slope 1 from 1 / REACH of the bound on; a measured side of zero never gets there."""
    assert -math.log(1 / REACH) == math.log(REACH)
    growing = {"firm": True, "slope": 1.0, "low": 1.0, "high": 1.0}
    assert at_boundary(**growing, measured=(10 / REACH,) * 4).decision is Decision.HOLDS
    assert at_boundary(**growing, measured=(10.0001 / REACH,) * 4).decision is Decision.INCONCLUSIVE
    assert at_boundary(**growing, measured=(0.0,) * 4).decision is Decision.HOLDS


def test_exponents_are_extrapolated_and_constants_are_searched_or_refuted():
    law, growing = check(swept(lambda p: 1.0, "x"))[0], check(swept(lambda p: p["x"], "x"))[0]
    assert [law.strength, growing.strength] == [Strength.EXTRAPOLATED] * 2
    nearly = check(swept(lambda p: p["x"], "x", statement=Le(a, 100 * b)))[0]
    assert (nearly.decision, nearly.strength) == (Decision.INCONCLUSIVE, Strength.EXTRAPOLATED)


def test_the_worst_sweep_of_a_law_is_the_steepest_and_of_a_bound_the_highest():
    """The law falls like 1/x along x, and like 1/z^2 along z after a jump to 5/4.

    The bound is flat along x, and falls like 1/z along z after a jump to 9/10.
    """
    (law,) = check(swept(lambda p: (5.0 if p["z"] > 1 else 1.0) / (p["x"] * p["z"] ** 2), "x", "z"))
    assert law.worst == {"sweep": "x", "slope": pytest.approx(-1.0)}
    (bound,) = check(swept(lambda p: 1.8 / p["z"] if p["z"] > 1 else 0.1, "x", "z", statement=Le(a, b)))
    assert bound.worst == {"sweep": "z", "slope": pytest.approx(-1.0)}
    assert bound.margin == pytest.approx(1 / 0.9)


def test_the_longest_run_serves_along_its_own_parameter_only_and_with_the_seed_of_the_check(monkeypatch):
    asked = []
    monkeypatch.setattr(rates, "run_at", lambda source, point, *, seed: asked.append((dict(point), seed)))
    base = {"mu": 1.0, "condition": 2.0, "off": 0.5, "step": 0.5}
    values = (0.25, 0.5, 0.75, 1.0)
    for horizon in ("mu", "step"):
        source = replace(contraction().check, horizon=horizon)
        made = contraction()
        trials = Trials(made, made.forms[0], source, 7)
        sweep = Sweep("step", values, {name: value for name, value in base.items() if name != "step"})
        rates._measure(trials, sweep)
        asked_for = [(point["step"], seed) for point, seed in asked]
        assert asked_for == ([] if horizon == "mu" else [(1.0, 7)])
