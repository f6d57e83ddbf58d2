"""Parts of expressions are those that SymPy finds."""

from __future__ import annotations

import pytest
import sympy as sp

from fltheory.validation.proof.parts import has_kinds, nodes, of_kinds, rooted

x, y = sp.symbols("x y")
EXPRESSIONS = (
    x,
    sp.sqrt(x + y**2) / (x + sp.Abs(y)),
    sp.Max(x, sp.exp(x * y)) ** 2 + sp.Rational(1, 3) * sp.sqrt(2),
    sp.Le(x**2, sp.sqrt(2) * y, evaluate=False),
)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_parts_are_those_of_sympy(expression):
    assert set(nodes(expression)) == set(sp.preorder_traversal(expression))
    for kind in (sp.Pow, sp.Abs, sp.Max, sp.exp, sp.Symbol):
        assert of_kinds(expression, kind) == expression.atoms(kind)
        assert has_kinds(expression, kind) == bool(expression.atoms(kind))


def test_roots_of_numbers_are_numbers():
    assert [rooted(one) for one in EXPRESSIONS] == [False, True, False, False]
