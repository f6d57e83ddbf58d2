"""Certificates are about every quantity of a statement, and terms are not called unnecessary where they vanish."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Rejected
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.validation.proof import certificate, left_out, provers, store
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.worst_case import WorstCase
from fltheory.validation.sensitivity import UNNECESSARY, UNTESTED, Attempt
from fltheory.validation.terms import terms

first = scalar("first", "a", "a number", domain="nonnegative")
second = scalar("second", "b", "a number that only large sizes have", domain="nonnegative")
total = scalar("total", "c", "their sum", domain="nonnegative")


def made(point: Params, *, begin: int = 4) -> dict[Any, Any]:
    """Return a number, and another one from some size on."""
    later = point["y"] if point["n"] >= begin else 0 * point["y"]
    return {first: point["x"], second: later, total: point["x"] + later}


NUMBERS = {"x": Real(0.5, 2), "y": Real(0.5, 2)}


def sizes(highest: int, *, begin: int = 4) -> Instances:
    return Instances(space=Space({"n": Integer(1, highest), **NUMBERS}), realise=lambda point: made(point, begin=begin))


def planted(statement: Any, check: Instances, *assumptions: Assumption) -> tuple[Claim, Form, Hypotheses]:
    claim = Claim(
        id="planted.left-out",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(Form(statement=statement, assumptions=assumptions),),
        check=check,
    )
    (form,) = claim.forms
    return claim, form, Hypotheses.of(claim, form)


STATEMENT = sp.Le(total, first + second, evaluate=False)
PROVER = provers.OnInstances()


def test_what_vanishes_in_all_cases_is_left_out():
    _, form, hypotheses = planted(STATEMENT, sizes(5))
    cases = [{"n": n} for n in (1, 2, 3)]
    assert left_out.left_out(PROVER, form, hypotheses, cases) == {"second"}
    assert left_out.left_out(PROVER, form, hypotheses, [*cases, {"n": 4}]) == frozenset()


def test_what_vanishes_everywhere_is_not_left_out():
    _, form, hypotheses = planted(STATEMENT, sizes(3))
    assert left_out.left_out(PROVER, form, hypotheses, [{"n": 1}]) == frozenset()


def test_instances_that_break_an_assumption_do_not_count():
    """With at most 3 in total there are sizes 4 and 5 still; with at most 1/4 there is nothing, and nothing missing."""
    for limit, missing in ((3, {"second"}), (sp.Rational(1, 4), set())):
        small = Assumption("small", sp.Le(total, limit, evaluate=False))
        _, form, hypotheses = planted(STATEMENT, sizes(5), small)
        assert left_out.left_out(PROVER, form, hypotheses, [{"n": 1}]) == missing
    rare = Assumption("no second number", sp.Le(second, 0, evaluate=False))
    _, form, hypotheses = planted(STATEMENT, sizes(5), rare)
    assert left_out.left_out(PROVER, form, hypotheses, [{"n": 1}]) == frozenset()


def test_premises_count_like_assumptions():
    _, form, hypotheses = planted(STATEMENT, sizes(5))
    premise = dataclasses.replace(form, premises=(sp.Le(second, 0, evaluate=False),))
    assert left_out.left_out(PROVER, form, hypotheses, [{"n": 1}]) == {"second"}
    assert left_out.left_out(PROVER, premise, hypotheses, [{"n": 1}]) == frozenset()


def test_points_without_an_instance_are_passed_over():
    def rejecting(point: Params) -> dict[Any, Any]:
        if point["x"] > 1:
            raise Rejected("too large")
        return {**made(point), total: point["x"] / (0 if point["y"] > 1 else 1)}

    check = dataclasses.replace(sizes(5), realise=rejecting)
    _, form, hypotheses = planted(STATEMENT, check)
    assert left_out.left_out(PROVER, form, hypotheses, [{"n": 1}]) == {"second"}


def test_cases_are_added_until_nothing_is_left_out():
    _, form, hypotheses = planted(STATEMENT, sizes(5))
    few, more = [{"n": 1}, {"n": 2}, {"n": 3}], [{"n": 3}, {"n": 4}, {"n": 5}]
    found = left_out.completed(PROVER, form, hypotheses, few, more, fewest=2)
    assert found == [{"n": 1}, {"n": 2}, {"n": 4}, {"n": 3}]
    whole = [*few, {"n": 5}]
    assert left_out.completed(PROVER, form, hypotheses, whole, more, fewest=2) == whole


class Stubborn(provers.OnInstances):
    """Translates no case of a size below one, and counts how often it is asked."""

    def __init__(self, least: int) -> None:
        self.least, self.asked = least, 0

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Any) -> Any:
        self.asked += 1
        if scope["n"] < self.least:
            raise provers.Untranslatable("too small")
        return super().problems(form, hypotheses, scope)


@pytest.mark.parametrize(("least", "added", "asked"), [(4, [{"n": 4}], 1), (6, [{"n": 6}], 3), (99, [], 6)])
def test_cases_that_cannot_be_translated_are_not_added(least, added, asked):
    _, form, hypotheses = planted(STATEMENT, sizes(30))
    prover = Stubborn(least)
    further = [{"n": n} for n in range(2, 30)]
    assert left_out.completed(prover, form, hypotheses, [{"n": 1}], further, fewest=1) == [{"n": 1}, *added]
    assert prover.asked == asked


def test_a_certificate_covers_the_size_from_which_a_term_is_there():
    """The first cases are those of small sizes, where the second number vanishes: they would prove c <= a."""
    claim, form, hypotheses = planted(STATEMENT, sizes(20, begin=15))
    found = provers.attempt(claim.id, form, hypotheses, seconds=20, provers=[PROVER])
    assert found is not None
    assert 15 in [scope["n"] for scope in found.scope[: provers.FEWEST + 1]]
    assert provers.replay(found, form, hypotheses) == ""
    thin = [place for place, scope in enumerate(found.scope) if scope["n"] < 15][: provers.FEWEST]
    shorter = dataclasses.replace(found, scope=found.scope[:3], parts=found.parts[:3])
    assert thin == [0, 1, 2]
    assert provers.replay(shorter, form, hypotheses) == "in all cases of the certificate this is zero: second"


def test_there_is_no_certificate_if_the_sizes_with_the_term_are_out_of_reach():
    """Beyond the sizes that are ranked there might be anything."""
    claim, form, hypotheses = planted(STATEMENT, sizes(2000, begin=1000))
    assert provers.attempt(claim.id, form, hypotheses, seconds=20, provers=[PROVER]) is None


def test_a_term_is_not_unnecessary_because_it_vanishes_in_small_cases():
    """Deleting ``second`` leaves c <= a, which small sizes prove and large ones, here rare, refute."""
    claim, form, _ = planted(STATEMENT, sizes(2000, begin=1999))
    check = claim.check_of(form)
    assert isinstance(check, Instances)
    points = [check.space.at({"n": n}, np.full(2, 0.5)) for n in (1, 2, 3)]
    (term,) = (one for one in terms(form) if one.shown == "b")
    attempted = Attempt(claim, term, check, points, memory={}, seed=0)
    assert attempted.outcome(budget=0).status == UNTESTED
    assert attempted.proved() is None


def test_a_term_that_is_never_needed_is_unnecessary():
    """In c <= a + 2b the second number is needed once only."""
    claim, form, _ = planted(sp.Le(total, first + second + first * second, evaluate=False), sizes(5))
    check = claim.check_of(form)
    assert isinstance(check, Instances)
    points = [check.space.at({"n": n}, np.full(2, 0.5)) for n in (1, 2, 5)]
    (term,) = (one for one in terms(form) if one.shown == "a b")
    attempted = Attempt(claim, term, check, points, memory={}, seed=0)
    assert attempted.outcome(budget=0).status == UNTESTED
    found = attempted.proved()
    assert found is not None
    assert found.status == UNNECESSARY


def test_machines_have_parted_in_what_is_certified_about_their_drift():
    """Lemma 1 of Woodworth et al.: one machine has no drift, two at any models have."""
    claim = catalogue.index()["woodworth.lemma-1"].load()
    for form in claim.forms:
        stored = certificate.load(store.SHIPPED / certificate.file_of(claim.id, form.variant))
        hypotheses = Hypotheses.of(claim, form)
        alone = [scope for scope in stored.scope if scope["M"] == 1]
        assert alone
        assert left_out.left_out(WorstCase(), form, hypotheses, alone) == {"drift"}
        assert left_out.left_out(WorstCase(), form, hypotheses, stored.scope) == frozenset()
