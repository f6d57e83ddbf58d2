"""Every formula that the report shows says in MathML what it says in LaTeX."""

from __future__ import annotations

import inspect
import re

import pytest
from docutils import nodes
from docutils.core import publish_doctree

from fltheory.bounds import catalogue
from fltheory.bounds.printing import latex
from fltheory.report.formulas import lines, mathml, normalised
from tests.mathematics import from_latex, from_mathml

ENTRIES = catalogue.index()


def formulas(id_):
    """Return every formula on the page of a claim: its text, its forms, its assumptions."""
    text = re.sub(r":(?:class|func|mod|data|meth|attr):`([^`]+)`", r"\1", inspect.getdoc(ENTRIES[id_].module()) or "")
    tree = publish_doctree(text, settings_overrides={"report_level": 5})
    yield from (node.astext() for node in tree.findall(lambda n: isinstance(n, nodes.math | nodes.math_block)))
    claim = ENTRIES[id_].load()
    yield from (form.latex() for form in claim.forms)
    yield from (latex(assumption.relation) for assumption in claim.assumptions)


def rows(latex):
    """Return the lines of a display without numbers and marks of alignment, found by other means than the report's."""
    if r"\begin" in latex:
        return [latex]
    plain = re.sub(r"\\tag\{[^}]*\}", "", latex)
    return [row.replace("&", "") for row in plain.split("\\\\")]


@pytest.mark.parametrize("id_", sorted(ENTRIES))
def test_formulas_of_a_page_agree_with_an_independent_reading(id_):
    found = list(formulas(id_))
    assert found
    for formula in found:
        shown = lines(formula)
        assert len(shown) == len(rows(formula)), formula
        for row, line in zip(rows(formula), shown, strict=True):
            assert "\\" not in line.mathml, formula
            assert from_mathml(line.mathml) == from_latex(row), formula
        if len(shown) == 1:
            assert from_mathml(mathml(rows(formula)[0], block=False)) == from_latex(rows(formula)[0]), formula


@pytest.mark.parametrize(
    ("latex", "structure"),
    [
        (r"\frac12\mu", (("frac", ("1",), ("2",)), "μ")),
        (r"\tfrac\mu2 x", (("frac", ("μ",), ("2",)), "x")),
        (r"\frac32B", (("frac", ("3",), ("2",)), "B")),
        (r"\frac{3H}4x", (("frac", ("3", "H"), ("4",)), "x")),
        (r"\log\cosh x", ("log", "cosh", "x")),
        (r"\sqrt2x", (("root", ("2",), ()), "x")),
        (r"x^12", (("scripts", "x", (), ("1",)), "2")),
        (r"\bar w_t^2", (("scripts", ("accent", "¯", ("w",)), ("t",), ("2",)),)),
        (r"\widetilde F_k", (("scripts", ("accent", "~", ("F",)), ("k",), ()),)),
        (r"\overline H", (("accent", "¯", ("H",)),)),
        (r"\sum_{k=1}^N x", (("scripts", "∑", ("k", "=", "1"), ("N",)), "x")),
        (r"(a)^2", ("(", "a", ("scripts", ")", (), ("2",)))),
        (r"\Bigl(\frac ab\Bigr)^2", (("scripts", ("(*", ("frac", ("a",), ("b",)), ")*"), (), ("2",)),)),
        (r"\mathbb E[X \mid Y]", ("𝔼", "[", "X", "∣", "Y", "]")),
        (r"\binom N0", ("(*", ("binom", ("N",), ("0",)), ")*")),
        (r"1, \dots, E", ("1", ",", "…", ",", "E")),
        (r"\underbrace{a}_{\le 0}", (("under", ("accent", "⏟", ("a",)), ("≤", "0")),)),
        ("a,\\\nb", ("a", ",", "b")),
    ],
)
def test_both_readings_are_what_the_formula_says(latex, structure):
    assert from_latex(latex) == structure
    assert from_mathml(mathml(latex)) == structure
    assert from_mathml(mathml(latex, block=False)) == structure


@pytest.mark.parametrize(
    ("one", "other"),
    [(r"\frac12\mu", r"\frac{12}{\mu}"), ("x^{12}", "x^12"), (r"\left(a\right)", "(a)"), (r"\bar{ab}", r"\bar ab")],
)
def test_the_readings_tell_formulas_apart(one, other):
    assert from_latex(one) != from_latex(other)
    assert from_mathml(mathml(one)) != from_mathml(mathml(other))


def test_lines_of_a_display_keep_their_numbers_and_the_rows_of_a_matrix_stay_together():
    first, second = lines(r"a &= b \tag{11} \\ &\le c")
    assert (first.tag, second.tag) == ("11", "")
    assert from_mathml(second.mathml) == ("≤", "c")
    (matrix,) = lines(r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}")
    assert from_mathml(matrix.mathml) == ("(*", ("table", ((("1",), ("2",)), (("3",), ("4",)))), ")*")


def test_brackets_of_a_pair_grow_with_what_is_in_them_also_where_a_line_ends_between_them():
    assert normalised(r"\Bigl( a \Big| \{b\} \Bigr)") == r"\left( a \middle| \{b\} \right)"
    assert normalised(r"{\bigl( a} \bigr)") == r"{\bigl( a} \bigr)"  # no pair: the group ends before
    assert normalised(r"\bigr) \bigl(") == r"\bigr) \bigl("
    long = " + ".join(rf"\frac{{x_{{{n}}}}}{{2}}" for n in range(12))
    text = mathml(rf"\left({long}\right)")
    assert text.count("<wbr>") == 11
    sizes = re.findall(r'<mo[^>]*minsize="([\d.]+)em"[^>]*>[()]</mo>', text)
    assert len(sizes) == 2
    assert sizes[0] == sizes[1]
    assert float(sizes[0]) > 2
