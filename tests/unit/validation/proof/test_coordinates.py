"""What the code says in the plane has to be what one coordinate says, once per coordinate."""

from __future__ import annotations

import pytest
import sympy as sp

from fltheory.validation.proof.coordinates import Place, Twins, _Irrational

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
    place = Place({u: sp.Rational(2, 7), v: sp.Integer(0), f: sp.Rational(-3, 7)})
    relation = sp.Le((u + f) ** -3 - v * f, u * (v - f / 5) ** 2, evaluate=False)
    number = place.gap(relation)
    assert sp.Rational(int(number.numerator), int(number.denominator)) == place.value(relation.rhs - relation.lhs)
    for other in (sp.sqrt(u), 1 / v, sp.Max(u, f), v_2):
        with pytest.raises(_Irrational):
            place.gap(sp.Le(other, u, evaluate=False))
