"""Formulas have their terms in the order in which the paper prints them."""

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.paper_order import displays, order
from fltheory.bounds.plain_text import plain


def page(formula):
    return f"Words.\n\n.. math:: {formula}\n\nMore words.\n"


def test_terms_stand_as_in_the_display_that_has_the_same():
    shown = page(r"\|w\|^2 \le (1 - \mu\eta) \|v\|^2 + \eta^2 \sigma^2 + \frac{L}{2} \sum_k p^k \|u_k\|^2 .")
    terms = (r"\frac{L}{2} \sum_{k=1}^{N} p^{k} \|u_{k}\|^{2}", r"\eta^{2} \sigma^{2}", r"(1 - \mu \eta) \|v\|^{2}")
    assert order(shown, terms) == [2, 1, 0]


def test_sums_inside_of_brackets_and_over_several_lines_count():
    shown = page("a \\le \\Bigl(\n   b^2 + c \\Bigr) &+ d \\\\\n   &\\qquad + e f")
    assert order(shown, ("c", "b^{2}")) == [1, 0]
    assert order(shown, ("d", "e f", r"\left(c + b^{2}\right)")) == [2, 0, 1]


def test_the_order_stays_where_terms_signs_or_numbers_of_terms_differ():
    shown = page(r"a \le b + c - d")
    assert order(shown, ("c", "- d", "b")) == [2, 0, 1]
    assert order(shown, ("c", "d", "b")) == [0, 1, 2]
    assert order(shown, ("c", "b")) == [0, 1]
    assert order(shown, ("x", "- d", "b")) == [0, 1, 2]
    assert order(page(r"a = b \\ c = d"), ("d", "b")) == [0, 1]
    assert displays(page("a = b")) == ()


@pytest.mark.parametrize(
    ("id_", "part"),
    [
        ("cfl.lemma-a.4", "≤ (τ + M) ∑_{i=1}^τ ‖ξ_i‖² + τ σ²"),
        ("ruan.eq-44", "≤ (1 - (μ η_τ)/2 ∑_{k=1}^N p_τ^k α_{τ E+i}^k) ‖w̄_{τ E+i} - w*‖² + η_τ² ‖∑"),
        ("koloskova.lemma-8", "+ (η_t² σ̄²)/n - η_t (f(x̄) - f*) + (3 η_t L)/n ∑_{i=1}ⁿ ‖x̄ - x_i‖²"),
        ("woodworth.lemma-1", "≤ 2 (1/η - λ) 𝔼‖x̄_t - x*‖² - 2/η 𝔼‖x̄_{t+1} - x*‖² + (2 η σ²)/M + 4 H"),
    ],
)
def test_published_forms_read_as_they_are_printed(id_, part):
    """The order of the paper, which the displays on these pages were transcribed from."""
    assert part in plain(catalogue.select_one(id_).load().form("published").latex())
