"""Sums of two roots: Minkowski's inequality is certified for vectors of any dimension, and nothing that says more."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.algebra import EE, Norm, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.validation.proof import provers
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.root_sums import Multiples, root_sum
from fltheory.validation.proof.sequent import ring_of
from fltheory.validation.proof.worst_case import WorstCase

u, v = (scalar(name, name, "a vector", shape=("dim",)) for name in "uv")
r, s = (scalar(name, name, "a random vector", random=True, shape=("dim",)) for name in "rs")


def realise(point: Params) -> dict[str, Any]:
    one, other = point["x"], point["y"]
    coin = {"r": [one, one + other], "s": [other, 2 * one - other]}
    return {"u": one, "v": other, **coin, "chance": [ratio(point, 1, 3), ratio(point, 2, 3)]}


CHECK = Instances(
    space=Space({"d": Integer(1, 2), "x": Real(-3, 3, shape=("d",)), "y": Real(-3, 3, shape=("d",))}), realise=realise
)


def _certified(low: Any, high: Any) -> Certificate | None:
    form = Form(statement=sp.Le(low, high, evaluate=False))
    claim = Claim(
        id="planted.form",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        check=CHECK,
    )
    hypotheses = Hypotheses.of(claim, form)
    prover = WorstCase()
    for scope in prover.scopes(form, hypotheses):
        for problem in prover.problems(form, hypotheses, scope):
            if provers.settle(problem, prover.means, seconds=60.0) is None:
                return None
    found = provers.attempt("planted.form", form, hypotheses, seconds=60.0, provers=(prover,))
    assert found is not None
    assert provers.replay(found, form, hypotheses) == ""
    return found


STATEMENTS = {
    "squares": (NormSq(u + v), (Norm(u) + Norm(v)) ** 2),
    "norms": (Norm(u + v), Norm(u) + Norm(v)),
    "expectations": (EE(NormSq(r + s)), (sp.sqrt(EE(NormSq(r))) + sp.sqrt(EE(NormSq(s)))) ** 2),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_minkowski_is_certified_and_more_is_not(name: str) -> None:
    low, high = STATEMENTS[name]
    found = _certified(low, high)
    assert found is not None
    assert "any dimension" in found.words
    for excess in (sp.Rational(1, 10**6), sp.Rational(1, 100)):
        assert _certified((1 + excess) * low, high) is None


def test_other_sums_are_left_alone() -> None:
    x, y, z = sp.symbols("x y z")
    for high in (
        (sp.sqrt(y) - sp.sqrt(z)) ** 2,
        -((sp.sqrt(y) + sp.sqrt(z)) ** 2),
        (sp.sqrt(y) + z) ** 2,
        (sp.sqrt(y) + sp.sqrt(z)) ** 3,
        (sp.sqrt(y) + sp.sqrt(z)) ** 2 + (sp.sqrt(y) + 1) ** 2,
        (sp.sqrt(y) + sp.sqrt(z)) ** 2 + sp.sqrt(y),
        sp.sqrt(y) - sp.sqrt(z),
        (y + z) ** 2,
        (sp.sqrt(2) + sp.sqrt(3)) ** 2 + y,
        (1 + sp.sqrt(3)) ** 2 * y,
    ):
        assert root_sum(sp.Le(x, high, evaluate=False)) is None
    assert root_sum(sp.Le(-sp.sqrt(x), sp.sqrt(y) + 1, evaluate=False)) is None
    assert root_sum(sp.Lt(sp.sqrt(x), sp.sqrt(y) + 1, evaluate=False)) is None


def test_multiples_are_what_they_stand_for() -> None:
    """With V = theta v, and theta n for a number n, each multiple has the value of the polynomial times the power."""
    ring = ring_of(["u", "v", "n"])
    one, other, number = ring.gens
    polynomial = 3 * one**2 - one * other / 2 + 5 * number - 7
    made = Multiples(ring, 2)
    theta, values = sp.Rational(3, 5), [sp.Rational(2), sp.Rational(-3), sp.Rational(4)]
    lifted = [*values[:2], *(theta * value for value in values[:2]), values[2]]
    lifted += [theta**power * value for power in (1, 2) for value in (values[2], 1)]
    for power in range(3):
        expected = theta**power * polynomial.as_expr().subs(dict(zip(sp.symbols("u v n"), values, strict=True)))
        assert made.times(polynomial, power).evaluate(list(zip(made.ring.gens, lifted, strict=True))) == expected
