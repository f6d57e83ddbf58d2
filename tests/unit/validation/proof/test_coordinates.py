"""What the code says in the plane has to be what one coordinate says, once per coordinate."""

from __future__ import annotations

import pytest
import sympy as sp

from fltheory.validation.proof.coordinates import Twins

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
        (sp.Le(u**2, 1), [], False),
    ],
)
def test_relations_in_the_plane(along, plane, alike):
    assert TWINS.alike([along], plane) is alike
