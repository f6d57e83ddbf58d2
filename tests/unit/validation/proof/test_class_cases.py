"""Which sizes and parameters count: those with an instance that fulfils assumptions and premises."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Assumption, Form, Instances, Rejected
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Integers, Params, Real, Space
from fltheory.validation.proof import class_cases
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.proof.worst_case import WorstCase

x = scalar("x", "x", "a vector", shape=("dim",))
weight = scalar("weight", "c", "what shapes a function")

SHAPE = {
    "d": Integer(1, 2),
    "x": Real(-3, 3, shape=("d",)),
    "rate": Real(0, 4),
    "bend": Real(1, 2, shape=("d",)),
}


def realise(point: Params) -> dict[str, Any]:
    """Return a vector, where what shapes the functions is within its range."""
    if not 1 <= point["bend"][0] <= 2:
        raise Rejected("out of range")
    return {"x": point["x"], "weight": 1}


CHECK = Instances(space=Space(SHAPE), realise=realise)
CASE = {"d": 1, "rate": "1"}


def _inhabited(premises: tuple[Any, ...] = (), assumptions: tuple[Any, ...] = (), check: Instances = CHECK) -> bool:
    form = Form(
        statement=sp.Le(NormSq(x), 9 * weight, evaluate=False),
        premises=premises,
        assumptions=tuple(Assumption("given", one) for one in assumptions),
    )
    hypotheses = Hypotheses(assumptions=form.assumptions or (), check=check)
    found = class_cases.inhabited(form, hypotheses, check, CASE)
    assert bool(WorstCase().scopes(form, hypotheses)) is found
    return found


SHORT, LONG, NEVER = sp.Le(NormSq(x), 0), sp.Ge(NormSq(x), 4), sp.Le(NormSq(x), -1)


@pytest.mark.parametrize(
    ("premises", "assumptions", "answer"),
    [
        ((), (), True), ((SHORT,), (), True), ((), (LONG,), True), ((SHORT,), (LONG,), False),
        ((NEVER,), (), False), ((), (NEVER,), False), ((LONG, NEVER), (), False), ((), (LONG, NEVER), False),
        ((SHORT, LONG), (), False), ((), (SHORT, LONG), False), ((SHORT,), (SHORT,), True),
    ],
)  # fmt: skip
def test_an_instance_fulfils_all_assumptions_and_premises(premises: Any, assumptions: Any, answer: bool) -> None:
    assert _inhabited(premises, assumptions) is answer


def test_instances_that_cannot_be_made_are_none() -> None:
    """Some points are rejected, or divide by zero; one that does neither is enough."""

    def sometimes(point: Params) -> dict[str, Any]:
        if point["x"][0] > 0:
            raise Rejected("positive")
        if point["x"][0] == 0:
            raise ZeroDivisionError
        return realise(point)

    def never(point: Params) -> dict[str, Any]:
        raise ZeroDivisionError if point["x"][0] else Rejected("zero")

    assert class_cases.makes_instance(CHECK, CASE)
    for code, answer in ((sometimes, True), (never, False)):
        check = Instances(space=CHECK.space, realise=code)
        form = Form(statement=sp.Le(NormSq(x), 9))
        hypotheses = Hypotheses(assumptions=(), check=check)
        assert class_cases.inhabited(form, hypotheses, check, CASE) is answer
    rejected = Instances(space=Space({**SHAPE, "bend": Real(3, 4, shape=("d",))}), realise=realise)
    assert not class_cases.makes_instance(rejected, CASE)


def test_slopes_change_sides_in_the_plane_and_all_vectors_have_a_second_coordinate() -> None:
    slopes = {"left": Real(0, 1, shape=(1, "d")), "right": Real(0, 1, shape=(1, "d"))}
    space = Space({**SHAPE, **slopes})
    along, vectors, shapes = class_cases.point_of(space, CASE)
    assert (along["left"].tolist(), along["right"].tolist(), along["rate"]) == ([[0]], [[1]], 1)
    assert [one.name for one in vectors] == ["x_0"]
    assert {one.name: real for one, real in shapes.items()} == {"shape_bend_0": SHAPE["bend"]}
    plane, twins = class_cases.plane_of(space, CASE)
    assert (plane["left"].tolist(), plane["right"].tolist(), plane["d"]) == ([[1, 1]], [[0, 0]], 2)
    assert plane["x"].tolist() == [vectors[0], twins[vectors[0]]]
    assert {str(twin) for twin in twins.values()} == {"x_0'", "shape_bend_0'"}
    stated = {**CASE, "left": "1/2", "right": "4"}
    assert class_cases.point_of(space, stated)[0]["right"].tolist() == [[4]]
    bent = class_cases.plane_of(space, stated)[0]
    assert (bent["left"].tolist(), bent["right"].tolist()) == ([[4, 4]], [[sp.Rational(1, 2)] * 2])
    # With one slope alone there is nothing to be exchanged.
    (only, _) = class_cases.plane_of(Space({**SHAPE, "left": slopes["left"]}), CASE)
    assert only["left"].tolist() == [[0, 0]]


def test_cases_have_full_arrays_and_mixed_ones() -> None:
    space = Space(
        {
            "d": Integer(1, 3),
            "N": Integer(1, 4),
            "kind": Choice(("turned", "kinked")),
            "law": Choice(("a", "b")),
            "steps": Integers(0, "N", shape=(3,)),
        }
    )
    found = [(case["N"], case["law"], case["steps"]) for case in class_cases.discrete_cases(space)]
    assert {case["d"] for case in class_cases.discrete_cases(space)} == {1}
    assert {case["kind"] for case in class_cases.discrete_cases(space)} == {"kinked"}
    assert found == [
        (1, "a", [1, 1, 1]), (1, "b", [1, 1, 1]), (2, "a", [2, 2, 2]), (2, "a", [1, 2, 1]),
        (2, "b", [2, 2, 2]), (2, "b", [1, 2, 1]),
    ]  # fmt: skip


def test_every_case_has_other_numbers() -> None:
    """Three places within each range, one further for each parameter and entry; shares of slopes are left whole."""
    slopes = {"left": Real(0, 1, shape=(1, "d")), "right": Real(0, 1, shape=(1, "d"))}
    space = Space({"rate": Real(0, 4), "two": Real(0, 8, shape=(2,)), **SHAPE, **slopes})
    numbers = [class_cases.numbers_of(space, {"d": 1}, turn) for turn in range(4)]
    assert [set(one) for one in numbers] == [{"rate", "two"}] * 4
    assert numbers[3] == numbers[0]
    assert [one["rate"] for one in numbers[:3]] == ["4", "2", "1"]
    assert [one["two"] for one in numbers[:3]] == [["4", "2"], ["2", "8"], ["8", "4"]]
    steep = Space({**SHAPE, "left": Real(0, 4, shape=(1, "d")), "right": Real(0, 4, shape=(1, "d"))})
    bounds = [class_cases.numbers_of(steep, {"d": 1}, turn) for turn in range(3)]
    assert [(one["left"], one["right"]) for one in bounds] == [("0", "4"), ("2", "4"), ("1", "4")]


@pytest.mark.parametrize(
    "also",
    [
        {"vector": Real(-3, 3, shape=("d",))},
        {"value": Real(-3, 3, shape=("d",))},
        {"y": Real(-3, 3, shape=(1, "d")), "y_0": Real(-3, 3, shape=("d",))},
    ],
)
def test_two_vectors_never_share_a_symbol(also: dict[str, Any]) -> None:
    """Names of answers of functions are reserved, and no two entries have the same one."""
    check = Instances(space=Space({**SHAPE, **also}), realise=realise)
    form = Form(statement=sp.Le(NormSq(x), 9))
    with pytest.raises(Untranslatable, match="two vectors"):
        WorstCase().problems(form, Hypotheses(assumptions=(), check=check), CASE)
    plain = Hypotheses(assumptions=(), check=Instances(space=Space(SHAPE), realise=lambda p: {"x": p["x"]}))
    assert len(WorstCase().problems(form, plain, CASE)) == 1
