"""Certificates about wider instances: those of a check are among them, and what is false there gets none."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import sympy as sp

from fltheory.bounds import catalogue
from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.validation.proof import provers
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.constants import STEP, below
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.proof.worst_case import WorstCase

x = scalar("x", "x", "a vector", shape=("dim",))
y = scalar("y", "y", "another vector", shape=("dim",))
bound = scalar("bound", "b", "bound on the squares of both", domain="nonnegative")
largest = scalar("largest", "m", "the larger square", domain="nonnegative")

SMALL = (Assumption("both squares", sp.Le(largest, bound)),)


def narrow(point: Params) -> dict[str, Any]:
    """Return two vectors, and the larger one of their squares as the bound."""
    squares = [(point[name] * point[name]).sum() for name in ("x", "y")]
    return {"x": point["x"], "y": point["y"], "bound": max(squares), "largest": max(squares)}


def wide(point: Params) -> dict[str, Any]:
    """Return any two vectors with a bound of their own."""
    squares = [(point[name] * point[name]).sum() for name in ("x", "y")]
    return {"x": point["x"], "y": point["y"], "bound": point["bound"], "largest": sp.Max(*squares)}


SHAPE = {"d": Integer(1, 2), "x": Real(-3, 3, shape=("d",)), "y": Real(-3, 3, shape=("d",))}
WIDE = Instances(space=Space({**SHAPE, "bound": Real(1, 4)}), realise=wide)
CHECK = Instances(space=Space(SHAPE), realise=narrow, rational=False, within=WIDE)


def hypotheses(form: Form, check: Instances = CHECK) -> Hypotheses:
    claim = Claim(
        id="planted.form",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        assumptions=SMALL,
        check=check,
    )
    return Hypotheses.of(claim, form)


def attempted(form: Form, check: Instances = CHECK) -> Certificate | None:
    return provers.attempt("planted.form", form, hypotheses(form, check), seconds=100.0, provers=(WorstCase(),))


def parallelogram(factor: Any = 1) -> Form:
    """Return a bound that opposite vectors of the largest length attain."""
    return Form(statement=sp.Le(factor * NormSq(x - y), 4 * bound, evaluate=False))


def test_a_certificate_is_about_the_wider_instances() -> None:
    form = parallelogram()
    found = attempted(form)
    assert found is not None
    assert "bound = " in found.words
    assert "any dimension" in found.words
    assert provers.replay(found, form, hypotheses(form)) == ""
    elsewhere = dataclasses.replace(
        CHECK, within=Instances(space=WIDE.space, realise=lambda p: {**wide(p), "x": p["y"]})
    )
    assert provers.replay(found, form, hypotheses(form, elsewhere)) != ""


@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
def test_what_is_false_in_the_wider_instances_gets_none(excess: Any) -> None:
    assert attempted(parallelogram(1 + excess)) is None


def test_every_member_of_a_maximum_is_bounded() -> None:
    for vector in (x, y):
        assert attempted(Form(statement=sp.Le(NormSq(vector), bound, evaluate=False))) is not None
    smallest = dataclasses.replace(WIDE, realise=lambda p: {**wide(p), "largest": sp.Min((p["x"] ** 2).sum(), 1)})
    check = dataclasses.replace(CHECK, within=smallest)
    assert attempted(Form(statement=sp.Le(NormSq(x), bound, evaluate=False)), check) is None


@pytest.mark.parametrize(
    ("constant", "true"),
    [
        (sp.E, True),
        (sp.sqrt(8), True),
        (sp.sqrt(2) + sp.sqrt(3), False),
        (sp.E / 3, False),
        (1 + sp.sqrt(2) - sp.Rational(1, 10**6), False),
    ],
)
def test_irrational_constants_are_rounded_against_the_goal(constant: Any, true: bool) -> None:
    """With b = 1 or more: 4 b <= 4 b + c - d where c - d is positive, and never where it is negative."""
    offset = {sp.sqrt(2) + sp.sqrt(3): sp.Rational(315, 100)}.get(constant, sp.Rational(24142135, 10**7))
    form = Form(statement=sp.Le(NormSq(x - y) + offset, 4 * bound + constant, evaluate=False))
    assert (attempted(form) is not None) is true


@pytest.mark.parametrize("number", [sp.E, sp.sqrt(2) * 10**6, -sp.pi, sp.sqrt(2) - sp.Rational(14142135623731, 10**13)])
def test_constants_become_a_little_smaller(number: Any) -> None:
    symbol = sp.Symbol("s")
    made = below(3 * symbol + number) - 3 * symbol
    assert made.is_Rational
    assert 0 < sp.N(number - made, 60) <= 2 * STEP


def test_constants_that_are_not_real_are_refused() -> None:
    with pytest.raises(Untranslatable, match="no real number"):
        below(sp.sqrt(-2) + 1)


def form_of(id_: str, variant: str) -> tuple[Form, Hypotheses]:
    claim = catalogue.select_one(id_).load()
    form = claim.form(variant)
    return form, Hypotheses.of(claim, form)


def case(form: Form, known: Hypotheses, place: int) -> dict[str, Any] | None:
    """Return what settles the first open problem of one case; an empty part if there is none."""
    prover = WorstCase()
    scope = prover.scopes(form, known)[place]
    for problem in prover.problems(form, known, scope):
        part = provers.settle(problem, prover.means, seconds=100.0)
        if part is None:
            return None
    return {}


CERTIFIED = [
    ("li.lemma-3", "sharp", 2),
    ("li.lemma-5", "sharp@without-replacement", 0),
    ("fieldguide.lemma-2", "sharp", 2),
    ("scaffold.lemma-21", "sharp", 1),
    ("scaffold.lemma-22", "sharp@strongly-convex", 0),
    ("koloskova.lemma-9", "corrected", 0),
]
"""Forms of the catalogue that certificates about wider instances are of, and the number of a case."""


@pytest.mark.parametrize(("id_", "variant", "place"), CERTIFIED)
def test_lemmas_of_the_catalogue_are_certified(id_: str, variant: str, place: int) -> None:
    assert case(*form_of(id_, variant), place) is not None


@pytest.mark.parametrize(("id_", "variant", "place"), CERTIFIED)
def test_lemmas_that_claim_far_too_much_get_none(id_: str, variant: str, place: int) -> None:
    form, known = form_of(id_, variant)
    (relation,) = form.relations
    more = dataclasses.replace(form, statement=sp.Le(100 * relation.lhs, relation.rhs, evaluate=False))
    assert case(more, known, place) is None


@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
def test_a_lemma_that_is_attained_gets_none_for_a_little_more(excess: Any) -> None:
    """One step of strongly convex quadratics with noise along the steepest axis attains the sharp form of Lemma 22."""
    form, known = form_of("scaffold.lemma-22", "sharp@strongly-convex")
    (relation,) = form.relations
    more = dataclasses.replace(form, statement=sp.Le((1 + excess) * relation.lhs, relation.rhs, evaluate=False))
    assert case(more, known, 0) is None


def test_a_refuted_form_about_many_rounds_gets_no_certificate() -> None:
    """One of two clients is sampled, and control variates are wrong in both outcomes and right on average."""
    form, known = form_of("scaffold.lemma-11", "published@many-rounds")
    sampled = [n for n, scope in enumerate(WorstCase().scopes(form, known)) if scope["N"] == 2 and scope["K"] == 1]
    assert sampled
    assert case(form, known, sampled[0]) is None
    mended, known = form_of("scaffold.lemma-11", "corrected@many-rounds")
    assert case(mended, known, sampled[0]) is not None


def test_noise_that_clients_share_gets_no_certificate() -> None:
    form, known = form_of("li.lemma-2", "published@any-dependence")
    shared = [n for n, scope in enumerate(WorstCase().scopes(form, known)) if scope["N"] == 2]
    assert case(form, known, shared[0]) is None
