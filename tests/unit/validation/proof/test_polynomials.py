"""Expressions as polynomials and quotients: the same as SymPy's expansion, and as what SymPy prints over one line."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.validation.proof import translate
from fltheory.validation.proof.polynomials import Converter, NotPolynomial, divides, longer
from fltheory.validation.proof.sequent import ring_of

X, Y, Z = SYMBOLS = sp.symbols("x y z")
NAMES = [symbol.name for symbol in SYMBOLS]
numbers = st.fractions(min_value=-3, max_value=3, max_denominator=4).map(
    lambda q: sp.Rational(q.numerator, q.denominator)
)
leaves = st.one_of(st.sampled_from(SYMBOLS), numbers)


def _grown(inner):
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(0, 3)).map(lambda pair: pair[0] ** pair[1]),
    )


polynomials = st.recursive(leaves, _grown, max_leaves=8)
denominators = st.sampled_from([X, Y, X + Y, 2 * X + 2 * Y, X + 1, X * Y + Z, 3 * Z])
quotients = st.lists(st.tuples(polynomials, denominators, st.integers(0, 2)), min_size=1, max_size=4).map(
    lambda terms: sum((above / below**power for above, below, power in terms), start=sp.Integer(0))
)
few = settings(deadline=None, max_examples=60)


@few
@given(polynomials)
def test_polynomials_are_those_of_the_expansion(expression):
    ring = ring_of(NAMES)
    assert Converter(ring)(expression) == ring.from_expr(sp.expand(expression))


def test_symbols_may_stand_for_others_and_parts_are_remembered():
    a = sp.Symbol("a", positive=True)
    convert = Converter(ring_of(NAMES), {a: X})
    assert convert((a + Y) ** 2) == convert.ring.from_expr(sp.expand((X + Y) ** 2))
    assert convert(a + Y) is convert(a + Y)


@pytest.mark.parametrize(
    "expression", [sp.sqrt(X), 1 / X, X ** sp.Rational(3, 2), sp.Abs(sp.Symbol("t", real=True)), sp.pi]
)
def test_what_is_no_polynomial_is_refused(expression):
    with pytest.raises(NotPolynomial):
        Converter(ring_of(NAMES))(expression)


def canonical(numerator, factors):
    """Return a quotient with everything cancelled."""
    for factor in factors:
        while factors[factor] and not numerator.rem(factor):
            numerator, factors = numerator.quo(factor), {**factors, factor: factors[factor] - 1}
    return numerator, {factor: times for factor, times in factors.items() if times}


@few
@given(quotients)
def test_quotients_are_those_that_sympy_prints(expression):
    convert = Converter(ring_of(NAMES))
    try:
        found = translate._quotient(expression, convert)
    except NotPolynomial:
        return
    assert canonical(*found) == canonical(*translate._together(expression, convert))


def test_quotients_are_read_where_nothing_cancels_and_left_to_sympy_elsewhere():
    convert = Converter(ring_of(NAMES))
    numerator, factors = translate._quotient(X / (2 * X + 2 * Y) - Z / (X + Y) ** 2, convert)
    assert numerator == convert(X * (X + Y) / 2 - Z)
    assert factors == {convert(X + Y): 2}
    with pytest.raises(NotPolynomial):
        translate._quotient((X + Y) * (Z + 1 / (X + Y)), convert)
    with pytest.raises(NotPolynomial):  # nothing is left
        translate._quotient(X / (X + Y) + Y / (X + Y) - 1, convert)


@few
@given(st.lists(st.one_of(polynomials, quotients), max_size=3), st.integers(0, 40))
def test_lengths_are_those_of_sympy(expressions, most):
    assert longer(expressions, most) == (sum(one.count_ops() for one in expressions) > most)


@few
@given(polynomials, st.sampled_from([X, X + Y, X * Y + Z, X**2 + 1]))
def test_divisors_are_those_that_leave_nothing(expression, divisor):
    convert = Converter(ring_of(NAMES))
    piece = convert(divisor)
    assert divides(piece, convert(expression)) == (not convert(expression).rem(piece))
    assert divides(piece, convert(expression * divisor))


def test_a_place_where_everything_vanishes_tells_nothing():
    """At the place of the comparison, 13x - 11y is zero, and so is everything that it divides."""
    convert = Converter(ring_of(NAMES))
    gone = 13 * X - 11 * Y
    for piece, multiple, other in ((X + Y, (X + Y) * gone, (X + 2 * Y) * gone), (gone, gone * (X + Z), X + Z)):
        assert divides(convert(piece), convert(multiple))
        assert not divides(convert(piece), convert(other))
    assert not divides(convert(X + Y), convert(gone))
    assert divides(convert(X), convert.zero)
    assert not divides(convert(X), convert.one)


def test_divisors_may_have_fractions():
    convert = Converter(ring_of(NAMES))
    assert divides(convert(X / 2 + Y), convert(X**2 / 4 - Y**2))
    assert not divides(convert(X / 2 + Y), convert(X**2 / 4 + Y**2))
