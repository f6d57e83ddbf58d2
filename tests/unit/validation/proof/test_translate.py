"""Relations become polynomial problems that say the same."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.algebra import BigO, Pos
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


@pytest.mark.parametrize(
    ("node", "word"),
    [
        (sp.log(x), "log in"), (sp.pi, "Pi in"), (sp.IndexedBase("v")[1], "Indexed in"), (sp.IndexedBase("v"), "Base"),
        (sp.Float(0.1), "Float in"), (sp.Sum(x, (z, 1, 2)), "Sum in"), (sp.Symbol("n") ** y, "the exponent of"),
        (sp.I * x, "ImaginaryUnit in"), (sp.sin(x), "sin in"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_even_where_it_cancels(node: Any, word: str) -> None:
    """The difference of both sides is one, which proves nothing about something that may not be a number."""
    relation = sp.LessThan(node, node + 1, evaluate=False)
    for hypotheses, goal in (([], relation), ([relation], sp.Ge(x**2, 0, evaluate=False))):
        with pytest.raises(Untranslatable, match=word):
            sequents(hypotheses, goal, {})


def test_rates_and_other_things_than_relations_are_refused() -> None:
    with pytest.raises(Untranslatable, match="a rate is not"):
        sequents([], sp.Le(x, BigO(x), evaluate=False), {})
    for other in (sp.true, x, sp.And(x > 0, y > 0)):
        with pytest.raises(Untranslatable, match="is no relation"):
            sequents([other], sp.Ge(x, 0, evaluate=False), {})
    with pytest.raises(Untranslatable, match="is no inequality"):
        sequents([], sp.Ne(x, 0, evaluate=False), {})


def _texts(hypotheses: list[Any], goal: Any, domains: dict[Any, Domain] | None = None) -> list[list[str]]:
    """Return facts and goal of every case."""
    found = sequents(hypotheses, goal, domains or {})
    return [[f"{fact.polynomial.as_expr()} {fact.sign.value} 0" for fact in (*s.hypotheses, s.goal)] for s in found]


@pytest.mark.parametrize(
    ("goal", "domains", "cases"),
    [
        (sp.Ge(1 / x, 1), {}, [[(x, ">"), (1 - x, ">=")], [(-x, ">"), (x - 1, ">=")]]),
        (sp.Le(1 / x, 1), {}, [[(x, ">"), (x - 1, ">=")], [(-x, ">"), (1 - x, ">=")]]),
        (sp.Ge(1 / x, 1), {x: Domain.NONNEGATIVE}, [[(x, ">"), (1 - x, ">=")]]),
        (sp.Gt(1 / x**2, 1), {}, [[(x, ">"), (1 - x**2, ">")], [(-x, ">"), (1 - x**2, ">")]]),
        (sp.Ge(1 / x**3, y), {x: Domain.POSITIVE}, [[(x, ">"), (1 - x**3 * y, ">=")]]),
        (sp.Eq(y / x, 1, evaluate=False), {}, [[(x, ">"), (x - y, "=")], [(-x, ">"), (x - y, "=")]]),
        (sp.Ge(y / (-1 - x**2), 1), {}, [[(-(x**2) - y - 1, ">=")]]),
        (sp.Ge(y / (x**2 + z), 1), {z: Domain.NONNEGATIVE}, [[(x**2 + z, ">"), (z, ">="), (y - z - x**2, ">=")]]),
        (sp.Ge(1 / (x - y), 1), {}, [[(x - y, ">"), (1 - x + y, ">=")], [(y - x, ">"), (x - y - 1, ">=")]]),
    ],
)  # fmt: skip
def test_denominators_have_a_case_for_either_sign(goal: Any, domains: Any, cases: list[list[Any]]) -> None:
    """Facts and goal of each case; that a sum of squares and a positive number is positive may be a fact as well."""
    found = [[(fact.polynomial.as_expr(), fact.sign.value) for fact in (*s.hypotheses, s.goal)]
             for s in sequents([], goal, domains)]  # fmt: skip
    plain = [{(sp.expand(p), s) for p, s in case} - {(x**2 + 1, ">")} for case in found]
    wanted = [{(sp.expand(p), s) for p, s in case} for case in cases]
    assert plain in (wanted, wanted[::-1])


def test_denominators_of_unknown_sign_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "MOST_CASES", 4)
    assert len(sequents([], sp.Ge(1 / x + 1 / y, 0), {})) == 4
    assert len(sequents([], sp.Ge(1 / x + 1 / y + 1 / z, 0), {z: Domain.POSITIVE})) == 4
    with pytest.raises(Untranslatable, match="too many denominators of unknown sign"):
        sequents([], sp.Ge(1 / x + 1 / y + 1 / z, 0), {})
    absolute = sp.Ge(sp.Abs(x) + sp.Abs(y), 0, evaluate=False)
    assert len(sequents([], absolute, {})) == 4
    with pytest.raises(Untranslatable, match="more than 4 cases"):
        sequents([], sp.Ge(sp.Abs(x) + sp.Abs(y) + sp.Abs(z), 0, evaluate=False), {})


@pytest.mark.parametrize("relation", [sp.Ge((x + y + 1) ** 2, 0, evaluate=False), sp.Le((x + y + 1) ** 2, y / z)])
def test_polynomials_have_a_number_of_terms(relation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A square of three terms has six; with one term more on the other side there are seven."""
    terms = 6 if relation.rhs == 0 else 7
    monkeypatch.setattr(translate, "LARGEST", terms)
    assert sequents([], relation, {})
    monkeypatch.setattr(translate, "LARGEST", terms - 1)
    for hypotheses, goal in (([], relation), ([relation], sp.Ge(x**2, 0, evaluate=False))):
        translate._converter.cache_clear()  # what has been read is remembered
        with pytest.raises(Untranslatable, match=f"a polynomial with {terms} terms"):
            sequents(hypotheses, goal, {})


def test_facts_are_kept_once_and_strict_ones_for_both() -> None:
    def kept(*hypotheses: Any) -> list[str]:
        (case,) = _texts(list(hypotheses), sp.Ge(z, 0, evaluate=False))
        return case[:-1]

    weak, strict, double = sp.Ge(x, y), sp.Gt(x, y), sp.Ge(2 * x, 2 * y)
    assert kept(weak, double) == ["x - y >= 0"]
    assert kept(weak, strict) == kept(strict, weak, double) == ["x - y > 0"]
    assert kept(weak, sp.Ge(y, x)) == ["x - y >= 0", "-x + y >= 0"]
    assert kept(sp.Ge(sp.Integer(1), 0, evaluate=False), sp.Eq(x, x, evaluate=False)) == []
    for never in (sp.Ge(0, 1, evaluate=False), sp.Gt(0, 0, evaluate=False), sp.Eq(1, 0, evaluate=False)):
        assert len(kept(never)) == 1  # a contradiction that is not forgotten
    assert kept(sp.Gt(1, 0, evaluate=False), sp.Eq(x**2 * 2, 4, evaluate=False)) == ["x**2 - 2 = 0"]


@z3
@pytest.mark.parametrize(
    ("hypotheses", "goal", "domains", "answer"),
    [
        ([], sp.Gt(sp.sqrt(x), 0), {x: Domain.POSITIVE}, "true"),
        ([], sp.Gt(sp.sqrt(x), 0), {x: Domain.NONNEGATIVE}, "false"),
        ([], sp.Gt(sp.sqrt(x + y), 0), POSITIVE, "true"),
        ([], sp.Gt(sp.sqrt(x + y), 0), dict.fromkeys((x, y), Domain.NONNEGATIVE), "false"),
        ([sp.Le(sp.sqrt(x), 5)], sp.Ge(x, 0, evaluate=False), {}, "true"),
        ([sp.Le(sp.sqrt(x + 1), 5)], sp.Ge(x, -1), {}, "true"),
        ([], sp.Le(2 * (x + 1) ** sp.Rational(1, 4), 1 + sp.sqrt(x + 1)), {}, "true"),
        ([], sp.Le(2 * (x + 1) ** sp.Rational(1, 4), sp.Rational(999, 1000) + sp.sqrt(x + 1)), {}, "false"),
        ([], sp.Le(x ** sp.Rational(1, 3), sp.sqrt(x)), {x: Domain.NONNEGATIVE}, "false"),
        ([sp.Ge(x, 1)], sp.Le(x ** sp.Rational(1, 3), sp.sqrt(x)), {}, "true"),
        ([], sp.Le(1 / sp.sqrt(x + 1), 1), {x: Domain.NONNEGATIVE}, "true"),
        ([], sp.Lt(1 / sp.sqrt(x + 1), 1), {x: Domain.NONNEGATIVE}, "false"),
        ([], sp.Ge(x ** sp.Rational(3, 2), x), {x: Domain.SIZE}, "true"),
        ([], sp.Ge(x ** sp.Rational(3, 2), x), {x: Domain.NONNEGATIVE}, "false"),
    ],
)  # fmt: skip
def test_roots(hypotheses: list[Any], goal: Any, domains: dict[Any, Domain], answer: str) -> None:
    assert _decided(hypotheses, goal, domains) == answer
