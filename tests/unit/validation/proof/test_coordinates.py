"""What the code says in the plane has to be what one coordinate says, once per coordinate."""

from __future__ import annotations

import pytest
import sympy as sp

from fltheory.validation.proof.coordinates import NumbersAt, Twins, _Irrational, same_answers
from fltheory.validation.proof.function_classes import Answers, Pulled
from fltheory.validation.proof.translate import Untranslatable

u, v, u_2, v_2, f = sp.symbols("u v u_2 v_2 f")
TWINS = Twins({u: u_2, v: v_2}, [f])
LONG = u**2 + u_2**2


@pytest.mark.parametrize(
    ("along", "plane", "alike"),
    [
        (sp.Le(u * v, u**2), [sp.Le(u * v + u_2 * v_2, LONG)], True),
        (sp.Le(u**2 + f, 1), [sp.Le(LONG + f, 1)], True),
        (sp.Le(u**2, 1), [sp.Le(LONG, 2)], False),  # the number of dimensions
        (sp.Le(u**2, 1), [sp.Le(u**2, 1)], False),  # one coordinate of two
        (sp.Le(u**2, 1), [sp.Ge(LONG, 1)], False),  # another direction
        (sp.Le(u**2 * v**2, (u * v) ** 2), [sp.Le(LONG * (v**2 + v_2**2), (u * v + u_2 * v_2) ** 2)], False),
        (sp.Eq(u, 2 * v), [sp.Eq(u, 2 * v), sp.Eq(u_2, 2 * v_2)], True),
        (sp.Eq(u, 2 * v), [sp.Eq(u, 2 * v_2), sp.Eq(u_2, 2 * v)], False),  # coordinates change places
        (sp.Eq(u, 2 * v), [sp.Eq(u, 2 * v), sp.Eq(u_2, 3 * v_2)], False),  # the second coordinate alone
        (sp.Le(u**2, 1), [], False),
    ],
)
def test_relations_in_the_plane(along, plane, alike):
    assert TWINS.alike([along], plane) is alike


@pytest.mark.parametrize(
    ("along", "plane", "alike"),
    [
        (sp.Le(3, 4 + f), [sp.Le(3, 4 + f)], True),  # what is constant counts once
        (sp.Le(u**2, 1 / f), [sp.Le(LONG, 1 / f)], True),
        (sp.Le(u**2, 1 / f), [sp.Le(LONG, 2 / f)], False),
        (sp.Le(sp.sqrt(u**2), 2), [sp.Le(sp.sqrt(LONG), 2)], True),  # squares of both sides
        (sp.Le(sp.sqrt(u**2), 2), [sp.Le(sp.sqrt(LONG), 3)], False),
    ],
)
def test_numbers_and_roots_in_the_plane(along, plane, alike):
    assert TWINS.alike([along], plane) is alike


def test_values_are_those_of_sympy():
    place = NumbersAt({u: sp.Rational(2, 7), v: sp.Integer(0), f: sp.Rational(-3, 7)})
    relation = sp.Le((u + f) ** -3 - v * f, u * (v - f / 5) ** 2, evaluate=False)
    number = place.gap(relation)
    assert sp.Rational(int(number.numerator), int(number.denominator)) == place.value(relation.rhs - relation.lhs)
    for other in (sp.sqrt(u), 1 / v, sp.Max(u, f), v_2):
        with pytest.raises(_Irrational):
            place.gap(sp.Le(other, u, evaluate=False))


@pytest.mark.parametrize(
    ("along", "plane", "alike"),
    [
        (sp.Eq(sp.sqrt(u**2) + sp.sqrt(v**2), 0), [sp.Eq(sp.sqrt(LONG) + sp.sqrt(v**2 + v_2**2), 0)], True),
        (sp.Eq(sp.sqrt(u**2) + sp.sqrt(v**2), 0), [sp.Eq(sp.sqrt(LONG), 0)], False),  # one norm is missing
        (sp.Le(sp.Max(u**2, v**2), 1), [sp.Le(sp.Max(LONG, v**2 + v_2**2), 1)], True),
        (sp.Le(sp.Max(u**2, v**2), 1), [sp.Le(LONG, 1)], False),
        (sp.Le(sp.Max(u**2, v**2), 1), [sp.Le(sp.Max(LONG, v**2), 1)], False),
        (sp.Lt(u**2, 1), [sp.Lt(LONG, 1)], True),
        (sp.Lt(u**2, 1), [sp.Le(LONG, 1)], False),
        (sp.Lt(u**2, 1), [sp.Gt(1, LONG)], True),
        (sp.Eq(u**2, f), [sp.Le(LONG, f)], False),
        (sp.Le(sp.sqrt(u**2), sp.sqrt(v**2)), [sp.Le(sp.sqrt(LONG), sp.sqrt(v**2 + v_2**2))], True),
        (sp.Le(sp.sqrt(u**2), 3), [sp.Le(sp.sqrt(LONG), 3)], True),
        (sp.Le(sp.sqrt(u**2), 3), [sp.Le(sp.sqrt(u**2) + sp.sqrt(u_2**2), 3)], False),  # a sum of absolute values
        (sp.Le(u**2 * f, 1), [sp.Le(LONG * f, 1)], True),  # numbers are the same in both
        (sp.Eq(u, 2 * v), [sp.Le(u, 2 * v), sp.Eq(u_2, 2 * v_2)], False),
        (sp.Eq(u, 2 * v), [sp.Eq(u, 2 * v), sp.Le(u_2, 2 * v_2)], False),
        (sp.Eq(u, 2 * v), [sp.Eq(u, 2 * v), sp.Eq(u_2, 3 * v_2)], False),
        (sp.Eq(u, 2 * v), [sp.Eq(u, 3 * v), sp.Eq(u_2, 2 * v_2)], False),
        (sp.Le(u, 2 * v), [sp.Ge(u, 2 * v), sp.Ge(u_2, 2 * v_2)], False),
        (sp.Le(u**2, 1), [sp.Le(LONG, 1)] * 3, False),
    ],
    ids=str,
)
def test_kinds_and_parts_of_relations_in_the_plane(along, plane, alike):
    assert TWINS.alike([along], plane) is alike


def test_a_number_that_shapes_functions_is_in_no_relation():
    shape = sp.Symbol("shape")
    for along, plane in ((sp.Le(shape, 1), [sp.Le(shape, 1)]), (sp.Eq(u, shape), [sp.Eq(u, shape)] * 2)):
        with pytest.raises(Untranslatable, match="shapes functions"):
            TWINS.alike([along], plane)


def _answered(**changes):
    key = tuple(map(sp.Integer, (0, 1, 2, 3)))
    usual = {
        "seen": {key: (2, 3, {u: (v, f)})},
        "optima": {"asked": u},
        "pulled": {"asked": (v, Pulled(u, v, u_2))},
        "proximal": {"psi": {u: (v, u - v, f)}},
    }
    return Answers(**{**usual, **changes})


def test_functions_have_to_be_asked_the_same():
    one, _, left, right = tuple(map(sp.Integer, (0, 1, 2, 3)))
    known = {u: (v, f)}
    assert same_answers(_answered(), _answered())
    assert same_answers(_answered(), _answered(seen={(one, one + 1, right, left): (2, 3, known)}))  # sides change
    assert same_answers(_answered(), _answered(optima={"in other words": u}))
    for changes in (
        {"seen": {}},
        {"seen": {(one, one + 1, left, right): (2, 3, {v: (v, f)})}},  # at another point
        {"seen": {(one, one + 1, left, right): (1, 3, known)}},
        {"seen": {(one, one + 1, left, left): (2, 3, known)}},
        {"seen": {(one + 1, one + 1, left, right): (2, 3, known)}},
        {"seen": {(one, one, left, right): (2, 3, known)}},
        {"optima": {"asked": v}}, {"optima": {}},
        {"pulled": {"asked": (u, Pulled(u, v, u_2))}}, {"pulled": {}},
        {"proximal": {}}, {"proximal": {"phi": {u: (v, u - v, f)}}}, {"proximal": {"psi": {v: (v, u - v, f)}}},
    ):  # fmt: skip
        assert not same_answers(_answered(), _answered(**changes))
