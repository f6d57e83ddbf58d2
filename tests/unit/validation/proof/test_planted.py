"""Everything that may prove a polynomial problem, by itself: tight truths are proved, and falsehoods are not."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.quantities import Domain
from fltheory.validation.proof import products, provers, quadratic, smt
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.sequent import Sequent
from fltheory.validation.proof.translate import sequents

_spec = importlib.util.spec_from_file_location("planted", Path(__file__).with_name("planted.py"))
assert _spec is not None
assert _spec.loader is not None
planted = importlib.util.module_from_spec(_spec)
sys.modules["planted"] = planted
_spec.loader.exec_module(planted)

x, y = sp.symbols("x y")
EXCESS = (sp.Rational(1, 10**6), sp.Rational(1, 100))


def contraction(factor: Any) -> list[Sequent]:
    r"""Return :math:`(1 - \eta h)^2 \le 1 - c\mu\eta` for rates of at most 1/L."""
    form = planted.contraction(factor)
    return provers.Scalar().problems(form, Hypotheses.of(planted.claimed(form), form), {})


def triangle(factor: Any) -> list[Sequent]:
    r"""Return :math:`c\|v_1 + v_2\|^2 \le 2\|v_1\|^2 + 2\|v_2\|^2`."""
    form = planted.triangle(factor)
    return provers.Sizes().problems(form, Hypotheses.of(planted.claimed(form), form), {"N": 2})


def means(factor: Any) -> list[Sequent]:
    r"""Return :math:`4cxy \le (x + y)^2`, an equality for :math:`x = y`."""
    return sequents([], sp.Le(4 * factor * x * y, (x + y) ** 2, evaluate=False), {})


def ratio(factor: Any) -> list[Sequent]:
    r"""Return :math:`\frac x{1 + x} \le \frac xc` for :math:`x \ge 0`, whose sides meet at 0."""
    goal = sp.Le(x / (1 + x), x / factor, evaluate=False)
    return sequents([], goal, {x: Domain.NONNEGATIVE})


def contradiction(factor: Any) -> list[Sequent]:
    r"""Return that :math:`y \ge 1` if :math:`x^2 \le -1`, which cannot be; for larger c if :math:`x^2 \le c - 1`."""
    known = [sp.Le(x**2, -1 if factor == 1 else factor - 1, evaluate=False)]
    return sequents(known, sp.Ge(y, 1, evaluate=False), {})


PROBLEMS: dict[str, Callable[[Any], list[Sequent]]] = {
    one.__name__: one for one in (contraction, triangle, means, ratio, contradiction)
}
WITH_SQUARES = ("triangle", "means")


def by_products(problem: Sequent) -> bool:
    part = products.attempt(problem, seconds=5.0)
    return part is not None and products.verified(problem, part)


def by_squares(problem: Sequent) -> bool:
    part = quadratic.attempt(problem)
    return part is not None and quadratic.verified(problem, part)


def by_solver(name: str) -> Callable[[Sequent], bool]:
    return lambda problem: smt.solve(name, smt.text(problem), seconds=10.0) == "unsat"


MEANS: dict[str, Callable[[Sequent], bool]] = {
    "products": by_products,
    "squares": by_squares,
    "z3": by_solver("z3"),
    "cvc5": by_solver("cvc5"),
}
CASES = [(means, name) for means in MEANS for name in PROBLEMS if means != "squares" or name in WITH_SQUARES]


def proved(means: str, problems: list[Sequent]) -> bool:
    return all(problem.trivial or MEANS[means](problem) for problem in problems)


@pytest.mark.parametrize(("means", "name"), CASES)
def test_a_tight_truth_is_proved(means: str, name: str) -> None:
    if means in ("z3", "cvc5"):
        pytest.importorskip(means)
    assert proved(means, PROBLEMS[name](1))


@pytest.mark.parametrize("excess", EXCESS, ids=str)
@pytest.mark.parametrize(("means", "name"), CASES)
def test_a_falsehood_is_not(means: str, name: str, excess: Any) -> None:
    assert not proved(means, PROBLEMS[name](1 + excess))
