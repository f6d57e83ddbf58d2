"""The books of a search: what is kept as closest to failing, what is counted, and what is only made once."""

import dataclasses

import numpy as np
import pytest
import sympy as sp
from sympy import Le, Rational

from fltheory.bounds.claim import Assumption, Instances, Kind, Method, Rejected
from fltheory.bounds.space import Real, Space
from fltheory.errors import NotApplicable
from fltheory.simulation.engines import simulate
from fltheory.simulation.trajectories import Band
from fltheory.validation import trials as module
from fltheory.validation.decide import conclude
from fltheory.validation.trials import Trials, as_floats, environment
from fltheory.validation.verdict import Decision
from tests.planted import a, b, claim, contraction

SPACE = Space({"x": Real(-2, 2), "y": Real(0, 2)})


def planted(realise=None, *, statement=Le(a, b), rational=False, assumptions=(), **more):  # noqa: B008
    """Trials of a statement about the two numbers of a point, or what is made of them."""
    source = Instances(
        space=SPACE,
        realise=realise or (lambda point: {"planted_a": point["x"], "planted_b": point["y"]}),
        rational=rational,
        **more,
    )
    made = dataclasses.replace(claim("booked", Kind.LEMMA, statement, source), assumptions=assumptions)
    return Trials(made, made.forms[0], source, 0)


def at(x, y):
    return {"x": x, "y": y}


def test_the_closest_to_failing_is_kept_and_a_failure_before_all_that_holds():
    found = planted()
    for point in (at(0.5, 2.0), at(0.5, 1.0), at(0.5, 1.5)):
        found.attempt(point)
    assert (found.best[1], found.margin, found.violated) == (at(0.5, 1.0), 2.0, False)
    found.attempt(at(1.0, 0.5))
    found.attempt(at(1.0, 0.8))
    assert (found.best[1], found.margin, found.violated) == (at(1.0, 0.5), 0.5, True)
    assert (found.calls, found.instances, len(found.seen)) == (5, 5, 5)
    assert found.seen[0] == (pytest.approx(np.log(0.25)), at(0.5, 2.0))


def test_of_two_that_are_as_close_the_first_is_kept():
    found = planted()
    for point in (at(0.5, 1.0), at(1.0, 2.0)):
        found.attempt(point)
    assert found.best[1] == at(0.5, 1.0)


def test_a_side_that_vanishes_has_no_margin_and_is_an_instance():
    found = planted()
    found.attempt(at(0.0, 1.0))
    assert (found.margin, found.instances) == (None, 1)
    assert conclude(found)[2] == "no counterexample on 1 instances of 1 points tried"
    found.attempt(at(0.5, 1.0))
    found.attempt(at(-1.0, 1.0))
    assert (found.margin, found.instances) == (2.0, 3)


def test_a_curve_that_may_be_on_either_side_once_leaves_the_answer_open_for_good():
    def realise(point):
        curve = [np.array([point["x"] + off]) for off in (0.0, -0.1, 0.1)]
        return {"planted_a": Band(*curve, 0.99), "planted_b": 1.0}

    for order in ((0.95, 0.5), (0.5, 0.95)):
        found = planted(realise, method=Method.MONTE_CARLO)
        for x in order:
            found.attempt(at(x, 0.0))
        assert found.uncertain
        assert conclude(found)[0] is Decision.INCONCLUSIVE
    found.attempt(at(1.5, 0.0))
    assert found.violated  # whatever else is open
    sure = planted(realise, method=Method.MONTE_CARLO)
    sure.attempt(at(0.5, 0.0))
    assert not sure.uncertain
    refuted = planted(realise, method=Method.MONTE_CARLO)
    refuted.attempt(at(1.5, 0.0))
    assert (refuted.violated, refuted.uncertain) == (True, False)


def test_the_assumption_that_fails_most_is_named_with_the_first_of_its_failures():
    positive, small = Assumption("x is positive", Le(0, a)), Assumption("y is small", Le(b, 1))
    found = planted(assumptions=(positive, small))
    for point in (at(-1.0, 0.0), at(1.0, 1.5), at(1.0, 2.0)):
        assert found.attempt(point) is None
    assert found.obstacle() == "y is small failed on 2 of 3 instances, first with 1.5 against 1"
    assert (found.met["x is positive"], found.failed["x is positive"]) == (2, 1)
    assert (found.met["y is small"], found.failed["y is small"]) == (0, 2)
    assert conclude(found)[0] is Decision.NOT_APPLICABLE
    assert [one.measured for one in found.conditions()] == ["", ""]
    found.attempt(at(0.25, 0.5))
    assert [one.measured for one in found.conditions()] == ["0 against 0.25", "0.5 against 1"]
    assert [one.example for one in found.conditions()] == ["0 against -1", "1.5 against 1"]


@pytest.mark.parametrize("error", [Rejected("none"), NotApplicable("none")])
def test_points_without_an_instance_are_counted_by_why(error):
    def realise(point):
        if point["x"] > 0:
            raise error
        raise Rejected("to the left")

    found = planted(realise)
    for x in (-1.0, 1.0, 0.5):
        assert found.attempt(at(x, 0.0)) is None
    assert found.obstacle() == "2 of 3 points made no instance: none"
    assert found.as_evidence() == {"points tried": 3, "no instance": 3}
    assert (found.instances, found.seen, found.best) == (0, [], None)


def test_an_instance_is_made_once_for_a_source_seed_and_point():
    made = []

    def realise(point):
        made.append(point)
        return {"planted_a": float(np.sum(point["x"])), "planted_b": 9.0}

    first = planted(realise)
    same = dataclasses.replace(first)
    for x in (np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([[1.0, 2.0]]), np.array([2.0, 1.0])):
        first.attempt(at(x, 0.0))
        same.attempt(at(x, 0.0))
    assert len(made) == 3  # those of another shape or with other entries are others
    for other in (dataclasses.replace(first, seed=1), planted(realise)):
        other.memory = first.memory
        other.attempt(at(np.array([1.0, 2.0]), 0.0))
    assert len(made) == 5


def test_a_point_in_floats_keeps_what_counts():
    found = as_floats({"q": Rational(1, 3), "one": sp.Integer(1), "n": 2, "word": "x", "s": np.array([1, 2])})
    assert {name: type(value) for name, value in found.items() if name != "s"} == {
        "q": float, "one": float, "n": int, "word": str
    }  # fmt: skip
    assert found["s"].dtype == int
    mixed = as_floats({"x": np.array([Rational(1, 2), Rational(3)], dtype=object)})["x"]
    assert (mixed.dtype, mixed.tolist()) == (float, [0.5, 3.0])


def test_a_counterexample_gives_the_margin_and_the_smallest_that_was_met_is_kept():
    found = planted()
    found.attempt(at(2.0, 0.5))
    simple = found.attempt(at(1.0, 0.5))
    found.settle(simple)
    assert (found.margin, found.smallest) == (0.5, 0.25)
    assert found.as_evidence() == {"points tried": 2, "smallest margin met": 0.25}


def test_runs_record_what_the_claim_asks_for_and_no_more(monkeypatch):
    """Neither the consensus, which costs time and rules engines out, nor moments, unless they are asked for."""
    asked = []

    def watched(experiment, **more):
        asked.append(more)
        return simulate(experiment, **more)

    monkeypatch.setattr(module, "simulate", watched)
    source = contraction().check
    point = {"mu": 1.0, "condition": 2.0, "off": 0.5, "step": 0.5}
    for own in ({}, {"moments": True}, {"record": {"consensus": True}}, {"record": {"moments": True}}):
        environment(dataclasses.replace(source, **own), point, seed=5)
    records = [(more["record"].consensus, more["record"].moments) for more in asked]
    assert records == [(False, False), (False, True), (True, False), (False, True)]
    assert {(more["seed"], more["engine"], more["replicates"]) for more in asked} == {(5, "exact", 200)}


def test_quantities_come_from_runs_of_all_experiments_that_are_compared():
    """Two runs of which the second has half of the rounds; longer ones are cut to them."""
    source = contraction().check
    point = {"mu": 1.0, "condition": 2.0, "off": 0.5, "step": 0.5}

    def both(point):
        one = source.experiment(point)
        return one, dataclasses.replace(one, rounds=2)

    def quantities(point, made, runs):
        assert len(made) == len(runs) == 2
        return {"planted_a": [run.distance_sq.shape[-1] for run in runs]}

    several = dataclasses.replace(source, experiment=both, quantities=quantities)
    assert environment(several, point, seed=0)["planted_a"] == [6, 3]
    longer = module.run_at(dataclasses.replace(source, experiment=lambda p: (both(p)[0],) * 2), point, seed=0)
    assert len(longer) == 2
    assert environment(several, point, seed=0, longer=longer)["planted_a"] == [6, 3]


def test_what_divides_by_zero_or_has_no_root_is_no_instance_without_rounding_either():
    def realise(point):
        made = {"planted_a": point["x"], "planted_b": point["y"]}
        return {name: np.float64(value) if isinstance(value, float) else value for name, value in made.items()}

    for statement, x in ((Le(a / b, 1), 1), (Le(a / b, 1), 0), (sp.Eq(a / b, 1), 1), (Le(a * sp.sqrt(b - 1), 1), 1)):
        found = planted(realise, statement=statement, rational=True)
        assert found.exactly(at(float(x), 0.0)) is None
        assert found.attempt_given(at(Rational(x), Rational(0))) is None
        assert (found.calls, found.instances) == (1, 0)
    counts = planted(lambda p: {"planted_a": 1, "planted_b": 0}, statement=Le(a / b, 1), rational=True)
    assert counts.exactly(at(1.0, 0.0)) is None
    assert planted(statement=Le(a / b, 1), rational=True).exactly(at(1.0, 0.5)).violated


def test_float_instances_fail_by_more_than_rounding_or_not_at_all():
    found = planted()
    assert not found.attempt(at(1.0 + 1e-7, 1.0)).violated
    assert found.attempt(at(1.0 + 1e-5, 1.0)).violated
    assert found.attempt(at(1e-13, 0.0)) is None
    assert found.rejected == {"both sides vanish to rounding": 1}
