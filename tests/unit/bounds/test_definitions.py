"""Definitions: carried out in order, members of families when asked for, substituted without capturing indices."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import Eq, Le, Sum

from fltheory.bounds.algebra import EE, compiled, needed_by
from fltheory.bounds.claim import Form
from fltheory.bounds.definitions import definitions, unfolded, used
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.symbols import N, i, k, l, t
from fltheory.errors import InvalidParameter
from fltheory.validation.evaluate import defined, read

x, y, z = scalar("x", "x", "any number"), scalar("y", "y", "twice x"), scalar("z", "z", "thrice y")
a = family("a", "a_{<0>}", "numbers")
b = family("b", "b_{<0>}", "sums", first=0)
c = family("c", "c_{<0>,<1>}", "products", first=(1, 0))
s = family("s", "s_{<0>}", "drawn numbers", random=True)
u = family("u", "u_{<0>}", "drawn sums", random=True)
drawn = scalar("drawn", "d", "a drawn number", random=True)

ENV = {"x": 0.5, "a": np.array([1.0, 2.0, 4.0]), "N": 3, "s": [[1.0, 2.0], [3.0, 5.0]], "chance": [0.25, 0.75]}


def check_agree(where, expression):
    """Check that evaluating with definitions and evaluating what they unfold to give the same number."""
    form = Form(statement=Eq(x, x + 1, evaluate=False), where=where)
    values = defined(form, ENV)
    whole = form.unfolded(expression)
    assert not {d.name for d in definitions(where)} & needed_by(whole).keys()
    one, other = compiled(expression)(values), compiled(whole)(ENV)
    np.testing.assert_allclose(one, other, rtol=1e-14)
    return float(one)


def test_symbols_are_defined_in_order():
    assert check_agree(((y, 2 * x), (z, 3 * y + y)), z + y) == 5.0
    with pytest.raises(InvalidParameter, match="definition of z uses y, which is not defined before it"):
        Form(statement=Le(z, 1), where=((z, 3 * y), (y, 2 * x)))
    with pytest.raises(InvalidParameter, match="definition of y uses y"):
        Form(statement=Le(y, 1), where=((y, 2 * y),))
    with pytest.raises(InvalidParameter, match="y is defined twice"):
        Form(statement=Le(y, 1), where=((y, x), (y, 2 * x)))
    with pytest.raises(InvalidParameter, match="member of a family at distinct indices"):
        Form(statement=Le(a[1], 1), where=((a[1], x),))
    with pytest.raises(InvalidParameter, match="y is defined by what depends on the outcome"):
        Form(statement=Le(y, 1), where=((y, s[1]),))


def test_families_are_defined_at_all_indices():
    assert check_agree(((b[t], t * x),), Sum(b[t + 1], (t, 0, 3))) == 5.0
    assert check_agree(((c[k, i], a[k] * i),), Sum(c[k, i], (k, 1, N), (i, 0, 2))) == 21.0
    assert check_agree(((b[t], t * x), (c[k, i], a[k] * b[i])), c[3, 2]) == 4.0


def test_indices_of_sums_are_not_captured():
    # b_t sums over k, and is used inside a sum over k, with k as its index.
    assert check_agree(((b[t], Sum(a[k] * t, (k, 1, N))),), Sum(b[k] * a[k] * k, (k, 1, N))) == 7.0 * (1 + 8 + 36)
    # A definition with a free index of its own is put into a sum over that index.
    free = Form(statement=Le(y, x), where=((y, a[k]),), over=((k, 1, N),))
    whole = free.unfolded(Sum(y * a[k], (k, 1, N)))
    assert compiled(whole)({**ENV, "k": 3}) == 4.0 * 7.0
    # Nested use of the same family.
    assert check_agree(((b[t], Sum(t + l, (l, 1, 2))),), b[b[t]].subs(t, 1)) == 13.0


def test_random_definitions_have_one_value_per_outcome():
    where = ((drawn, s[1] + x), (u[k], Sum(s[l], (l, 1, k)) * drawn))
    assert check_agree(where, EE(drawn)) == 3.0
    assert check_agree(where, EE(u[2] * drawn)) == 0.25 * 3 * 1.5**2 + 0.75 * 8 * 3.5**2


def test_an_instance_may_give_the_value_of_a_defined_symbol():
    form = Form(statement=Le(y, 1), where=((y, 2 * x),))
    assert not read(form, {"x": 0.5}).violated
    assert read(form, {"x": 0.5, "y": 7.0}).violated


def test_members_can_be_asked_for_all_at_once():
    (made,) = definitions(((b[t], t * x),))
    last = scalar("last", "T", "rounds")
    members = made.value({"x": 0.5})
    np.testing.assert_array_equal(members[np.array([0, 2, 1])], [0.0, 1.0, 0.5])
    values = compiled(Sum(b[t], (t, 0, last)) + b[last])({"b": members, "last": np.array([1, 3])})
    np.testing.assert_array_equal(values, [1.0, 4.5])


def test_a_number_that_serves_as_an_index_may_be_a_float():
    last = scalar("last", "T", "rounds")
    for position in (2.0, np.float64(2), 2, sp.Integer(2), np.array([2.0, 2.0])):
        np.testing.assert_array_equal(
            compiled(a[last])({"a": ENV["a"], "last": position}), np.full(np.shape(position), 2.0)
        )
    with pytest.raises(InvalidParameter, match=r"an index must be a whole number, got 0\.5"):
        compiled(a[last])({"a": ENV["a"], "last": 1.5})


def test_definitions_are_exact_where_their_values_are():
    (made,) = definitions(((b[t], t * x / 3),))
    assert made.value({"x": sp.Integer(1)}, exact=True)[1] == sp.Rational(1, 3)


def test_unfolding_leaves_the_rest_alone():
    assert unfolded(((y, 2 * x),), Sum(a[k], (k, 1, N))) == Sum(a[k], (k, 1, N))


A = family("a", "a_{<0>}^{<1>}", "followed from round to round", first=(0, 1), shape=("rounds", "clients"))
TOTAL = family("total", "T_{<0>}", "sum over two clients", first=0)
RECURSION = ((A[0, k], k), (A[t + 1, k], x * A[t, k] + 1), (TOTAL[t], A[t, 1] + A[t, 2]))


def test_a_recursion_starts_at_its_first_member_and_goes_on() -> None:
    env: dict[str, Any] = {"x": sp.Rational(1, 2)}
    for one in definitions(RECURSION):
        env[one.name] = one.value(env, exact=True)
    assert [env["total"][n] for n in range(4)] == [3, sp.Rational(7, 2), sp.Rational(15, 4), sp.Rational(31, 8)]
    late = {"x": 0.5}
    for one in definitions(RECURSION):
        late[one.name] = one.value(late)
    np.testing.assert_allclose(late["total"][np.array([3, 5000])], [3.875, 4.0])  # type: ignore[index]


def test_a_recursion_stays_when_definitions_are_substituted() -> None:
    assert unfolded(RECURSION, TOTAL[t]) == A[t, 1] + A[t, 2]
    assert used(RECURSION, [TOTAL[3]]) == RECURSION


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (RECURSION[:1], "must give a declared symbol"),
        ((RECURSION[0], RECURSION[2]), "must give a declared symbol"),
        ((RECURSION[0], (A[t, k], 1)), "must be followed by that of the member after"),
        ((RECURSION[0], (A[t + 2, k], 1)), "must be followed by that of the member after"),
    ],
)
def test_a_first_member_needs_the_next_one(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        definitions(wrong)
