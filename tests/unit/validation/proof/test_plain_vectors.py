"""Inequalities about plain vectors are proved on all paths of their code; those about functions of a shape are not."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import sympy as sp

from fltheory.bounds import catalogue
from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.validation.proof import provers
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.provers import OnInstances

v = scalar("v", "v", "a vector", shape=("dim",))
largest = scalar("largest", r"\max_jv_j^2", "largest squared entry", domain="nonnegative")
d = scalar("d", "d", "dimension", domain="integer>=1")

SPACE = {"d": Integer(1, 2), "v": Real(-3, 3, shape=("d",))}


def realise(point: Params) -> dict[str, Any]:
    """Return a vector and its largest squared entry, found by comparing."""
    found = point["v"][0] * point["v"][0]
    for entry in point["v"][1:]:
        if entry * entry > found:
            found = entry * entry
    return {"v": point["v"], "largest": found, "d": point["d"]}


def bounded(factor: Any = 1) -> Form:
    """Return that no squared norm is above the dimension times the largest square, tight for equal entries."""
    return Form(statement=sp.Le(factor * NormSq(v), d * largest, evaluate=False))


def _hypotheses(form: Form, **also: Real) -> Hypotheses:
    claim = Claim(
        id="planted.form",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        check=Instances(space=Space({**SPACE, **also}), realise=realise),
    )
    return Hypotheses.of(claim, form)


def _attempted(form: Form, seconds: float, **also: Real) -> Certificate | None:
    return provers.attempt("planted.form", form, _hypotheses(form, **also), seconds=seconds, provers=(OnInstances(),))


def test_a_tight_truth_is_certified() -> None:
    found = _attempted(bounded(), 60.0)
    assert found is not None
    assert "all instances of the check" in found.words
    assert provers.replay(found, bounded(), _hypotheses(bounded())) == ""


@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
def test_falsehoods_are_refused(excess: Any) -> None:
    assert _attempted(bounded(1 + excess), 1.0) is None


@pytest.mark.parametrize(
    "also", [{"left": Real(0, 1, shape=("d",))}, {"step": Real(0, 1)}, {"shift": Real(-1, 2, shape=("d",))}]
)
def test_where_there_is_more_than_vectors_nothing_is_said(also: dict[str, Real]) -> None:
    assert _attempted(bounded(), 5.0, **also) is None


@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
def test_a_compressor_that_keeps_more_energy_is_refused(excess: Any) -> None:
    claim = catalogue.select_one("efl.algorithm-2").load()
    form = claim.form("corrected")
    count, error = form.relations
    room = sp.Le(error.lhs, error.rhs - excess * _energy(error), evaluate=False)
    other = dataclasses.replace(form, statement=(count, room))
    hypotheses = Hypotheses.of(claim, form)
    assert provers.attempt(claim.id, other, hypotheses, seconds=2.0, provers=(OnInstances(),)) is None


def _energy(error: Any) -> Any:
    """Return the term of a compressor's inequality that says what is kept."""
    (kept,) = [-term for term in sp.Add.make_args(error.rhs) if not term.has(NormSq)]
    return kept


@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
@pytest.mark.parametrize("place", [1, 2])
def test_a_rate_with_a_smaller_constant_is_refused(excess: Any, place: int) -> None:
    claim = catalogue.select_one("cfl.eq-73").load()
    form = claim.form("sharp@rate")
    relation = form.relations[place]
    smaller = sp.Le(relation.lhs, relation.rhs * (1 - excess), evaluate=False)
    other = dataclasses.replace(form, statement=(smaller,))
    assert provers.attempt(claim.id, other, Hypotheses.of(claim, form), seconds=3.0) is None
