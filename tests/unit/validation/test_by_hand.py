"""What is told about a counterexample can be added up by hand."""

import pytest
import sympy as sp
from sympy import Ge, Gt, Le, Rational, Sum

from fltheory.bounds import catalogue
from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Form
from fltheory.bounds.quantities import declaration, family, index, scalar
from fltheory.problems.problem import Origin
from fltheory.report.sections import _symbols as section_symbols
from fltheory.validation.by_hand import given, hypotheses, terms
from fltheory.validation.decide import QUICK, check
from fltheory.validation.evaluate import defined, read
from fltheory.validation.in_symbols import instance

k = index("k")
N = scalar("N", "N", "number of things")
a, b, c = (scalar(name, name, "a number") for name in "abc")
x = family("x", "x^{<0>}", "things")
VALUES = {"N": 2, "a": Rational(3), "b": Rational(1, 2), "c": Rational(-1), "x": [Rational(1), Rational(4)]}


def told(statement, **more):
    form = Form(statement=statement, **more)
    values = defined(form, VALUES, exact=True)
    return terms(form, values, read(form, VALUES, exact=True), exact=True)


def test_terms_stand_in_the_order_of_the_formula_with_their_signs():
    assert told(Le(a, 2 * b - a + Sum(x[k], (k, 1, N)))) == {"right": "1 + 5 - 3"}
    assert told(Le(a + c, 1 - b)) == {"left": "3 - 1", "right": "1 - 1/2"}
    assert told(Le(a, b)) == {}


def test_the_factor_before_a_sum_and_the_terms_of_a_definition_are_told():
    assert told(Le(a, b * (1 + Sum(x[k], (k, 1, N)) - a))) == {"right": r"1/2 \cdot (1 + 5 - 3)"}
    without = {name: value for name, value in VALUES.items() if name != "c"}
    form = Form(statement=Le(a, c), where=((c, b - a),))
    values = defined(form, without, exact=True)
    assert terms(form, values, read(form, without, exact=True), exact=True) == {"right": "1/2 - 3"}


def test_members_are_taken_where_the_statement_fails():
    form = Form(statement=Le(x[k] + a, b), over=((k, 1, N),))
    assert terms(form, VALUES, read(form, VALUES, exact=True), exact=True) == {"left": "3 + 4"}


def test_assumptions_have_their_sides_in_the_order_of_the_formula_at_the_closest_place():
    found = hypotheses(
        (
            Assumption("large", Ge(x[k], b), Origin.DECLARED, ((k, 1, N),)),
            Assumption("positive", Gt(a, 0), Origin.DECLARED),
            Assumption("about something else", Le(scalar("other", "o", "a number"), 0), Origin.DECLARED),
        ),
        VALUES,
        exact=True,
    )
    assert [(one["lhs"], one["sign"], one["rhs"]) for one in found] == [("1", "≥", "1/2"), ("3", ">", "0")]


def test_a_side_that_is_a_quantity_by_itself_is_given():
    def count(statement, **more):
        form = Form(statement=statement, **more)
        return given(form, read(form, {**VALUES, "chance": [1]}, exact=True))

    assert count(Le(a, b)) == 2
    assert count(Le(EE(NormSq(a)), b)) == 2
    assert count(Le(a, b + c)) == 1
    assert count(Le(a, c), where=((c, b - a),)) == 1
    assert count(Le(a, 1)) == 1


@pytest.mark.parametrize("id_", ["scaffold.lemma-9", "cfl.lemma-a.4", "ruan.eq-46", "koloskova.lemma-15"])
def test_what_is_told_adds_up_to_the_sides_and_every_assumption_holds(id_):
    claim = catalogue.select_one(id_).load()
    (first, *_) = (verdict for verdict in check(claim, effort=QUICK) if verdict.counterexample)
    found = first.counterexample
    backward = isinstance(claim.form(first.variant).relations[found.relation], sp.Ge | sp.Gt)
    sides = {"left": found.rhs if backward else found.lhs, "right": found.lhs if backward else found.rhs}
    for side, text in found.terms.items():
        assert sp.Rational(sp.sympify(text.replace(r"\cdot", "*"), rational=True)) == sp.Rational(sides[side])
    compare = {"≤": sp.Le, "≥": sp.Ge, "=": sp.Eq, "<": sp.Lt, ">": sp.Gt}
    assert all(compare[one["sign"]](sp.Rational(one["lhs"]), sp.Rational(one["rhs"])) for one in found.hypotheses)


def test_an_instance_gives_what_its_assumptions_speak_about():
    (first,) = (verdict for verdict in check(catalogue.select_one("scaffold.lemma-9").load(), effort=QUICK)
                if verdict.counterexample)  # fmt: skip
    rows = first.counterexample.quantities
    assumed = {row["symbol"]: row["values"] for row in rows if row.get("assumed")}
    assert assumed == {"K": ["3"], r"\eta_{1}": ["1"]}
    assert "η₁" in instance(rows, {})


def test_symbols_of_assumptions_are_in_the_table_of_symbols():
    claim = catalogue.select_one("scaffold.lemma-9").load()
    used = {
        declaration(symbol).name for part in claim.expressions() for symbol in part.free_symbols if declaration(symbol)
    }
    assert used >= {"K", "rates", "models", "G", "R"}
    page = section_symbols(catalogue.select_one("scaffold.lemma-9"))
    assert {"local steps per round", "step-sizes of the rounds"} <= {row["meaning"] for row in page}


def test_of_a_product_the_terms_of_its_longest_sum_are_told():
    """A sum over an index is one term, so a product of it has the terms of its other factor; a power has none."""
    family_sum = Sum(x[k], (k, 1, N))
    assert told(Le(a, (a + b) * family_sum)) == {"right": r"5 \cdot (3 + 1/2)"}
    assert told(Le(a, (a + b) * (1 + family_sum))) == {"right": r"7/2 \cdot (1 + 5)"}
    assert told(Le(a, (a + b) * (1 + a + c))) == {"right": r"7/2 \cdot (1 + 3 - 1)"}
    assert told(Le(a, (a + b + c) * (1 + family_sum))) == {"right": r"5/2 \cdot (1 + 5)"}  # an index makes it long
    assert told(Le(a, (a + b) ** 2 * family_sum)) == {}
    assert told(Le(a, a * b * c)) == {}


def test_assumptions_that_say_nothing_here_are_passed_over_and_those_after_them_told():
    """About what the instance does not give, or about no index in range."""
    silent = (
        Assumption("about something else", Le(scalar("other", "o", "a number"), 0), Origin.DECLARED),
        Assumption("about nothing", Le(x[k], b), Origin.DECLARED, ((k, 2, 1),)),
    )
    small = Assumption("small", Le(b, a), Origin.DECLARED)
    found = hypotheses((*silent, small, *silent[::-1], small), VALUES, exact=True)
    assert [(one["lhs"], one["sign"], one["rhs"]) for one in found] == [("1/2", "≤", "3")] * 2
