"""Relations become polynomial problems that say the same."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.algebra import Pos
from fltheory.bounds.quantities import Domain
from fltheory.validation.proof import products, smt, translate
from fltheory.validation.proof.polynomials import NotPolynomial
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of
from fltheory.validation.proof.translate import Untranslatable, sequents

x, y, z = sp.symbols("x y z")
POSITIVE = {x: Domain.POSITIVE, y: Domain.POSITIVE}

z3 = pytest.mark.skipif(not smt.available("z3"), reason="needs the extra proof")


def _decided(hypotheses: list[Any], goal: Any, domains: dict[Any, Domain]) -> str:
    answers = {
        "unsat" if one.trivial else smt.solve("z3", smt.text(one), seconds=5.0)
        for one in sequents(hypotheses, goal, domains)
    }
    return "true" if answers == {"unsat"} else "false" if "sat" in answers else "unknown"


@z3
@pytest.mark.parametrize(
    ("hypotheses", "goal", "domains", "answer"),
    [
        ([], sp.Ge(x / y + y / x, 2), POSITIVE, "true"),
        ([], sp.Ge(x / y + y / x, 2), {}, "false"),  # opposite signs
        ([], sp.Ge(x / y + y / x, 2 + sp.Rational(1, 10**6)), POSITIVE, "false"),
        ([], sp.Ge(1 / x, 0), {}, "false"),
        ([], sp.Ge(1 / x**2, 0), {}, "true"),
        ([], sp.Gt(1 / x**2, 0), {}, "true"),
        ([], sp.Gt(x**2, 0), {}, "false"),
        ([sp.Ge(1 / x, 1)], sp.Le(x, 1), {}, "true"),
        ([sp.Le(1 / x, 1)], sp.Ge(x, 1), {}, "false"),  # negative numbers
        ([], sp.Le(sp.sqrt(x * y), (x + y) / 2), POSITIVE, "true"),
        ([], sp.Le(sp.sqrt(x * y), (x + y) / 2 - sp.Rational(1, 10**6)), POSITIVE, "false"),
        ([], sp.Le(sp.sqrt(x), x), POSITIVE, "false"),
        ([sp.Ge(x, 1)], sp.Le(sp.sqrt(x), x), {}, "true"),
        ([], sp.Eq(sp.sqrt(x**2 + 2 * x * y + y**2), x + y, evaluate=False), POSITIVE, "true"),
        ([], sp.Eq(sp.sqrt(x**2 + 2 * x * y + y**2), x + y, evaluate=False), {}, "false"),
        ([], sp.Le(sp.Max(x, y), sp.Abs(x) + sp.Abs(y)), {}, "true"),
        ([], sp.Le(sp.Max(x, y), sp.Abs(x)), {}, "false"),
        ([], sp.Ge(sp.Min(x, y), x), {}, "false"),
        ([], sp.Eq(Pos(x) - Pos(-x), x, evaluate=False), {}, "true"),
        ([], sp.Eq(sp.Abs(x), Pos(x) + Pos(-x) + Pos(y), evaluate=False), {}, "false"),
        ([sp.Eq(x + y, 1)], sp.Ge(x**2 + y**2, sp.Rational(1, 2)), {}, "true"),
        ([sp.Eq(x + y, 1)], sp.Ge(x**2 + y**2, sp.Rational(1, 2) + sp.Rational(1, 10**6)), {}, "false"),
        ([], sp.Eq(sp.sqrt(x**2 * y), x * sp.sqrt(y), evaluate=False), POSITIVE, "true"),
        ([], sp.Eq(sp.sqrt(x**2 * y), x * sp.sqrt(y), evaluate=False), {y: Domain.POSITIVE}, "false"),
        ([sp.Eq(2 * x + 3 * y, 1)], sp.Ge(4 * x + 6 * y, 2), {}, "true"),
        ([sp.Eq(2 * x + 3 * y, 1)], sp.Ge(x + 3 * y, 1), {}, "false"),
        ([sp.Eq((2 * x + 3 * y) ** 2, 0)], sp.Eq(2 * x, -3 * y, evaluate=False), {}, "true"),
        ([], sp.Ge(x, 1), {x: Domain.SIZE}, "true"),
        ([], sp.Ge(x, 1), {x: Domain.COUNT}, "false"),
        ([], sp.Le(x, 1), {x: Domain.PROBABILITY}, "true"),
        ([], sp.Eq(x**2, x, evaluate=False), {x: Domain.BINARY}, "true"),
        ([], sp.Eq(x**2, x, evaluate=False), {x: Domain.PROBABILITY}, "false"),
        ([], sp.Ge((x - y) / (x - y), 1, evaluate=False), {}, "true"),
        ([], sp.Ge(sum(sp.Abs(x + n * y) for n in range(6)), sp.Abs(6 * x + 15 * y)), {}, "true"),
        ([], sp.Ge(sum(sp.Abs(x + n * y) for n in range(6)), sp.Abs(6 * x + 16 * y)), {}, "false"),
    ],
)
def test_decisions(hypotheses: list[Any], goal: Any, domains: dict[Any, Domain], answer: str) -> None:
    assert _decided(hypotheses, goal, domains) == answer


@pytest.mark.parametrize("goal", [sp.Ge(sp.log(x), 0, evaluate=False), sp.Ge(x**y, 0, evaluate=False), sp.Ne(x, 0)])
def test_what_is_no_polynomial_problem(goal: Any) -> None:
    with pytest.raises(Untranslatable):
        sequents([], goal, {})


def test_problems_do_not_depend_on_the_order_of_the_hypotheses_names() -> None:
    facts = [sp.Ge(x * y, 1), sp.Le(z, x)]
    first, second = (sequents(facts, sp.Ge(z, 0, evaluate=False), {}) for _ in range(2))
    assert [one.digest() for one in first] == [one.digest() for one in second]


def _sequent(hypotheses: list[tuple[Any, Sign]], goal: Any, sign: Sign = Sign.NONNEGATIVE) -> Sequent:
    ring = ring_of(["x", "y"])
    facts = tuple(Fact(ring.from_expr(p), s) for p, s in hypotheses)
    return Sequent(ring, facts, Fact(ring.from_expr(goal), sign))


@pytest.mark.parametrize(
    ("terms", "proves"),
    [
        ([{"c": "1", "m": [1, 0], "f": []}], True),
        ([{"c": "1", "m": [0, 0], "f": [0]}], True),
        ([{"c": "2", "m": [1, 0], "f": []}, {"c": "-1", "m": [1, 0], "f": []}], False),
        ([{"c": "1", "m": [1, 0], "f": []}, {"c": "1", "m": [0, 1], "f": []}], False),
    ],
)
def test_products_are_expanded(terms: list[Any], proves: bool) -> None:
    sequent = _sequent([(x, Sign.NONNEGATIVE)], x)
    assert products.verified(sequent, {"terms": terms, "contradiction": False}) is proves


def test_a_symbol_of_either_sign_is_no_factor() -> None:
    sequent = _sequent([(x, Sign.NONNEGATIVE)], y)
    assert not products.verified(sequent, {"terms": [{"c": "1", "m": [0, 1], "f": []}], "contradiction": False})
    square = _sequent([], y**2)
    assert products.verified(square, {"terms": [{"c": "1", "m": [0, 2], "f": []}], "contradiction": False})


@pytest.mark.parametrize(
    ("value", "true"),
    [
        (0, {Sign.ZERO, Sign.NONNEGATIVE}),
        (1, {Sign.POSITIVE, Sign.NONNEGATIVE}),
        (-1, set()),
        (x, set()),
    ],
)
def test_numbers_are_decided_at_once(value: Any, true: set[Sign]) -> None:
    assert {sign for sign in Sign if _sequent([], sp.sympify(value), sign).trivial} == true


def test_a_symbol_that_is_not_positive_is_no_factor() -> None:
    sequent = _sequent([(-x, Sign.NONNEGATIVE)], x)
    assert not products.verified(sequent, {"terms": [{"c": "1", "m": [1, 0], "f": []}], "contradiction": False})


def test_an_equation_has_factors_of_either_sign_and_an_inequality_has_not() -> None:
    term = {"e": 0, "q": [["-1", [0, 0]]]}
    part = {"terms": [term], "contradiction": False}
    assert products.verified(_sequent([(y, Sign.ZERO)], -y), part)
    assert not products.verified(_sequent([(y, Sign.NONNEGATIVE)], -y), part)
    assert not products.verified(
        _sequent([(y, Sign.ZERO)], y), {"terms": [{"c": "1", "m": [0, 0], "f": [0]}], "contradiction": False}
    )


def test_a_strict_goal_needs_a_strict_product() -> None:
    part = {"terms": [{"c": "1", "m": [1, 0], "f": []}], "contradiction": False}
    assert products.verified(_sequent([(x, Sign.POSITIVE)], x, Sign.POSITIVE), part)
    assert not products.verified(_sequent([(x, Sign.NONNEGATIVE)], x, Sign.POSITIVE), part)
    assert not products.verified(_sequent([(x, Sign.POSITIVE)], x, Sign.ZERO), part)


def test_products_of_two_hypotheses_are_found_beside_equations() -> None:
    known = [(x - 1, Sign.NONNEGATIVE), (y - 1, Sign.NONNEGATIVE), (x * y - 2, Sign.ZERO)]
    within, beyond = (_sequent(known, bound - x - y) for bound in (3, sp.Rational(299, 100)))
    part = products.attempt(within, seconds=20.0)
    assert part is not None
    assert products.verified(within, part)
    assert any(len(term.get("f", ())) == 2 for term in part["terms"])
    assert products.attempt(beyond, seconds=20.0) is None


def test_an_equation_needs_both_of_its_inequalities() -> None:
    def half(weight: str) -> dict[str, Any]:
        return {"terms": [{"e": 0, "q": [[weight, [0, 0]]]}], "contradiction": False}

    known = _sequent([(y, Sign.ZERO), (x, Sign.NONNEGATIVE)], y, Sign.ZERO)
    assert products.verified(known, {"halves": [half("1"), half("-1")]})
    assert not products.verified(known, {"halves": [half("1"), half("1")]})
    assert not products.verified(known, {"halves": [half("-1"), half("-1")]})
    assert not products.verified(known, half("1"))
    inequality = _sequent([(y, Sign.ZERO), (x, Sign.NONNEGATIVE)], y)
    assert not products.verified(inequality, {"halves": [half("1"), half("-1")]})


def test_a_product_is_positive_only_if_all_of_its_factors_are() -> None:
    """The goal is positive; a factor that may vanish, or a square, is not enough."""
    known = [(x, Sign.POSITIVE), (y, Sign.NONNEGATIVE), (x + y, Sign.POSITIVE)]

    def proves(goal: Any, *terms: dict[str, Any]) -> bool:
        return products.verified(_sequent(known, goal, Sign.POSITIVE), {"terms": list(terms), "contradiction": False})

    assert proves(x, {"c": "1", "m": [1, 0], "f": []})
    assert proves(x**2, {"c": "1", "m": [2, 0], "f": []})
    assert proves(x * (x + y), {"c": "1", "m": [1, 0], "f": [2]})
    assert proves(x + y, {"c": "1", "m": [1, 0], "f": []}, {"c": "1", "m": [0, 1], "f": []})
    assert not proves(y, {"c": "1", "m": [0, 1], "f": []})
    assert not proves(x * y, {"c": "1", "m": [1, 1], "f": []})
    assert not proves(x * y, {"c": "1", "m": [1, 0], "f": [1]})
    assert not proves((x - y) ** 2, {"c": "1", "m": [0, 0], "f": [], "s": [["1", [1, 0]], ["-1", [0, 1]]]})
    assert not proves(sp.Integer(0), {"c": "0", "m": [1, 0], "f": []})


def test_contradictions() -> None:
    against = _sequent([(-x - 1, Sign.NONNEGATIVE), (x, Sign.NONNEGATIVE)], y)
    terms = [{"c": "1", "m": [0, 0], "f": [0]}, {"c": "1", "m": [1, 0], "f": []}]
    assert products.verified(against, {"terms": terms, "contradiction": True})
    assert not products.verified(against, {"terms": terms, "contradiction": False})
    possible = _sequent([(-x, Sign.NONNEGATIVE), (x, Sign.NONNEGATIVE)], y)
    assert not products.verified(possible, {"terms": terms, "contradiction": True})
    strict = _sequent([(-x, Sign.POSITIVE), (x, Sign.POSITIVE)], y)
    assert products.verified(strict, {"terms": terms, "contradiction": True})
    # A sum that is positive contradicts nothing unless it is zero.
    assert not products.verified(_sequent([(x, Sign.POSITIVE)], y), {"terms": terms[1:], "contradiction": True})


def test_what_is_no_quotient_of_polynomials_is_left_to_sympy() -> None:
    convert = translate._converter(("x", "y"))
    x, y = sp.symbols("x y")
    for expression in (sp.sqrt(x), 1 / sp.sqrt(x) + y, y * sp.exp(x), sp.Abs(x) / y):
        with pytest.raises(NotPolynomial):
            translate._quotient(expression, convert)


def test_one_polynomial_that_substitution_makes_too_large_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """With x + y + z = 0 the power of one symbol becomes seven terms; the goal stays one."""
    w, x, y, z = sp.symbols("w x y z")
    known = [sp.Eq(x + y + z, 0, evaluate=False), sp.Ge(x**6 + y**6 + z**6, 1, evaluate=False)]
    goal = sp.Ge(w**2, 0, evaluate=False)
    assert translate.sequents(known, goal, {})
    monkeypatch.setattr(translate, "LARGEST", 6)
    with pytest.raises(translate.Untranslatable, match="too large"):
        translate.sequents(known, goal, {})
