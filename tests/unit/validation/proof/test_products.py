"""Products of hypotheses: which are looked at, and which are chosen."""

from __future__ import annotations

from typing import Any

from fltheory.validation.proof import products
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

RING = ring_of(["x", "y", "f", "g"])
x, y, f, g = RING.gens
X, Y = [1, 0, 0, 0], [0, 1, 0, 0]


def _sequent(goal: Any, *facts: tuple[Any, Sign], sign: Sign = Sign.NONNEGATIVE) -> Sequent:
    return Sequent(RING, tuple(Fact(*fact) for fact in facts), Fact(goal, sign))


def _found(sequent: Sequent) -> dict[str, Any] | None:
    part = products.attempt(sequent, seconds=20.0)
    assert part is None or products.verified(sequent, part) is True
    return part


def test_products_are_made_of_inequalities_that_are_no_single_symbols() -> None:
    """Single symbols are factors as part of a monomial; equations have factors of either sign, by themselves."""
    sequent = _sequent(x, (x, Sign.NONNEGATIVE), (x + y, Sign.POSITIVE), (f - g, Sign.ZERO), (-x, Sign.NONNEGATIVE))
    for level, pairs in ((0, []), (1, [[1, 1], [1, 3], [3, 3]])):
        made = list(products._bases(sequent, level))
        assert [term["f"] for term, _ in made if "f" in term] == [[], [1], [3], *pairs]
        assert [term["e"] for term, _ in made if "e" in term] == [2]
        for term, expansion in made:
            if "f" in term:
                assert products._product(sequent, {**term, "m": [0] * 4})[0] == expansion


def test_a_square_is_made_of_monomials_of_different_rounds() -> None:
    r"""From :math:`f = g - 2xy` and :math:`g = x^2 + y^2` follows that f is a square, but no equation says so alone."""
    known = ((f - g + 2 * x * y, Sign.ZERO), (g - x**2 - y**2, Sign.ZERO))
    part = _found(_sequent(f, *known))
    assert part is not None
    (square,) = (term["s"] for term in part["terms"] if "s" in term)
    assert sorted(square, key=str) in ([["-1", m], ["1", n]] for m, n in ((X, Y), (Y, X)))
    assert _found(_sequent(f - x**2, *known)) is None


def test_few_products_are_chosen_and_positive_ones_where_the_goal_is_positive() -> None:
    """One hypothesis is the goal; two others that add up to it are used only if the sum has to be positive."""
    known = ((x, Sign.POSITIVE), (y, Sign.POSITIVE), (x + y, Sign.NONNEGATIVE))
    weak, strict = (_found(_sequent(x + y, *known, sign=sign)) for sign in (Sign.NONNEGATIVE, Sign.POSITIVE))
    assert weak is not None
    assert [term["f"] for term in weak["terms"]] == [[2]]
    assert strict is not None
    assert sorted(term["m"] for term in strict["terms"]) == [Y, X]
    both = _found(_sequent(x + y, *known[:2], (x + y, Sign.POSITIVE)))
    assert both is not None
    assert [term["f"] for term in both["terms"]] == [[2]]  # one product, though two would be positive as well


def test_what_no_product_has_is_not_proved() -> None:
    """No monomial of a product is that of the goal, or there is no product at all."""
    assert _found(_sequent(x, (y, Sign.NONNEGATIVE))) is None
    assert _found(_sequent(x)) is None
    assert _found(_sequent(-x, (x, Sign.NONNEGATIVE))) is None
    assert _found(_sequent(x - y, (x, Sign.NONNEGATIVE), (y, Sign.NONNEGATIVE))) is None


def test_only_a_positive_multiple_of_a_symbol_says_that_it_is_not_negative() -> None:
    facts = (3 * x, Sign.NONNEGATIVE), (-y, Sign.NONNEGATIVE), (f, Sign.ZERO), (g**2, Sign.NONNEGATIVE)
    assert set(products._single(_sequent(x, *facts))) == {0}
    assert set(products._single(_sequent(x, (x * y, Sign.NONNEGATIVE), (f + 1, Sign.NONNEGATIVE)))) == set()
    assert products._single(_sequent(x, (x, Sign.POSITIVE)))[0].sign is Sign.POSITIVE


def test_contradictions_prove_goals_of_any_sign() -> None:
    """From x >= 1 and x <= 0 follows anything; at x = 1 the first two facts allow a negative y."""
    known = ((x - 1, Sign.NONNEGATIVE), (-x, Sign.NONNEGATIVE))
    for sign in Sign:
        part = _found(_sequent(y, *known, sign=sign))
        assert part is not None
        for one in part.get("halves", [part]):
            assert one["contradiction"] is True
        assert _found(_sequent(y, known[0], (1 - x, Sign.NONNEGATIVE), sign=sign)) is None


def test_there_is_no_certificate_when_the_time_is_up() -> None:
    assert products.attempt(_sequent(x, (x, Sign.NONNEGATIVE)), seconds=-1.0) is None
