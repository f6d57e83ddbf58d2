"""Proximal points as any regulariser has them, and sub-problems with an l1 term: what is known of them is true."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked, Regulariser, signs
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.validation.proof import provers
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.function_classes import any_functions
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.proof.worst_case import WorstCase

one = scalar("one", "x", "a point", shape=("dim",))
other = scalar("other", "y", "another", shape=("dim",))
near_one = scalar("near_one", "P(x)", "its proximal point", shape=("dim",))
near_other = scalar("near_other", "P(y)", "that of the other", shape=("dim",))
strength = scalar("strength", r"\lambda", "weight of the l1 term", domain="positive")
pull = scalar("pull", r"\rho", "weight of the quadratic term", domain="positive")
moved = scalar("moved", r"\Delta", "distance from the anchor", shape=("dim",))
moved_other = scalar("moved_other", r"\Delta'", "distance from the other anchor", shape=("dim",))
direction = scalar("direction", r"\sigma", "its sign", shape=("dim",))
kick = scalar("kick", "s", "subgradient of the l1 term", shape=("dim",))


def _prox(point: Params) -> dict[str, Any]:
    psi = Regulariser(
        l1=point["l1"], square=point["square"], low=point["low"], high=-point["low"], rotation=np.array([[1]])
    )
    near = [psi.prox(point[name], point["scale"]) for name in ("x", "y")]
    return {"one": point["x"], "other": point["y"], "near_one": near[0], "near_other": near[1]}


PROX = Instances(
    space=Space(
        {
            "d": Integer(1, 1),
            "l1": Real(0, 3, shape=("d",)),
            "square": Real(0, 3, shape=("d",)),
            "low": Real(-3, -1, shape=("d",)),
            "scale": Real(0.1, 10, log=True),
            "x": Real(-3, 3, shape=("d",)),
            "y": Real(-3, 3, shape=("d",)),
        }
    ),
    realise=_prox,
)


def _elastic(point: Params) -> dict[str, Any]:
    losses = Kinked(centre=point["centre"], knot=point["knot"], left=2 * point["left"], right=2 * point["right"])
    weight, rho = point["strength"], point["pull"]
    found = [losses.elastic(0 * point["centre"], point[name], pull=rho, l1=weight) for name in ("x", "y")]
    slope = losses.gradients(found[0].at)[0]
    away = found[0].at[0] - point["x"]
    return {
        "strength": weight,
        "pull": rho,
        "moved": away,
        "moved_other": found[1].at[0] - point["y"],
        "direction": found[0].sign[0],
        "kick": -(slope + rho * away) / weight,
    }


ELASTIC = Instances(
    space=Space(
        {
            "d": Integer(1, 1),
            "centre": Real(-3, 3, shape=(1, "d")),
            "knot": Real(-3, 3, shape=(1, "d")),
            "left": Real(0, 1, shape=(1, "d")),
            "right": Real(0, 1, shape=(1, "d")),
            "strength": Real(0.1, 10, log=True),
            "pull": Real(0.1, 10, log=True),
            "x": Real(-3, 3, shape=("d",)),
            "y": Real(-3, 3, shape=("d",)),
        }
    ),
    realise=_elastic,
)


def _attempted(statement: Any, check: Instances, *, alone: bool = False) -> Certificate | None:
    form = Form(statement=statement)
    claim = Claim(
        id="planted.form",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        check=check,
    )
    hypotheses = Hypotheses.of(claim, form)
    found = provers.attempt("planted.form", form, hypotheses, seconds=300.0, provers=(WorstCase(alone=alone),))
    if found is not None:
        assert provers.replay(found, form, hypotheses) == ""
    return found


def firmly(factor: Any) -> Any:
    """Return that a proximal operator is firmly nonexpansive, tight for projections."""
    squares = NormSq(near_one - near_other) + NormSq(one - near_one - other + near_other)
    return sp.Le(factor * squares, NormSq(one - other), evaluate=False)


def same_length(factor: Any) -> Any:
    """Return that sign and subgradient have the same product with the move."""
    return sp.Le(factor * Inner(kick, moved), Inner(direction, moved), evaluate=False)


@pytest.mark.parametrize(("statement", "check"), [(firmly, PROX), (same_length, ELASTIC)])
def test_tight_truths_are_certified_and_falsehoods_are_not(statement: Any, check: Instances) -> None:
    assert _attempted(statement(1), check) is not None
    for excess in (sp.Rational(1, 10**6), sp.Rational(1, 100)):
        assert _attempted(statement(1 + excess), check) is None


def test_subgradients_are_monotone_and_short() -> None:
    assert _attempted(sp.Ge(Inner(kick, moved), 0, evaluate=False), ELASTIC) is not None
    assert _attempted(sp.Le(sp.Abs(kick), 1, evaluate=False), ELASTIC, alone=True) is not None


def test_what_is_known_of_a_subgradient_and_a_sign() -> None:
    f = Kinked(**{name: np.array([[sp.Integer(n)]]) for n, name in enumerate(("centre", "knot", "left", "right"))})
    with any_functions() as answers:
        for anchor in (1, 5):
            f.elastic(np.array([[sp.Integer(0)]]), np.array([sp.Integer(anchor)]), pull=sp.Integer(1), l1=sp.Integer(2))
        (one, other) = (pulled for _, pulled in answers.pulled.values())
    anywhere, alone = ([sp.expand(one) for one in answers.inequalities(alone=a)] for a in (False, True))
    short = [1 - p.kick**2 for p in (one, other)] + [1 - p.sign**2 for p in (one, other)]
    short += [sp.expand(1 - (p.kick - p.sign) ** 2) for p in (one, other)]
    assert not set(short) & set(anywhere)
    assert set(alone) - set(anywhere) == set(short)
    for p, force in itertools.product((one, other), (0, 1, -1)):
        other_one = other if p is one else one
        assert sp.expand((p.kick - force * other_one.kick) * p.away) in anywhere
        assert sp.expand((p.kick - force * other_one.sign) * p.away) in anywhere
    assert len(anywhere) == 6 + 2 + 8


def test_what_is_known_of_sub_problems_is_true() -> None:
    """Each symbol is replaced by the value that a loss has; forces of the sub-problems are worked out from it."""
    numbers = [sp.Rational(n, 2) for n in (-3, 0, 5)]
    column = [np.array([[sp.Integer(entry)]], dtype=object) for entry in (0, 1)]
    weight, rho = sp.Rational(3, 2), sp.Rational(1, 2)

    def made(left: int, right: int) -> Kinked:
        slopes = [np.array([[sp.Integer(slope)]], dtype=object) for slope in (left, right)]
        return Kinked(centre=column[0], knot=column[1], left=slopes[0], right=slopes[1])

    asked = list(itertools.product(numbers[1:], numbers))
    with any_functions() as answers:
        for linear, anchor in asked:
            made(0, 3).elastic(np.array([[linear]]), np.array([anchor]), pull=rho, l1=weight)
    for left, right in ((0, 3), (3, 0), (1, 2)):
        f = made(left, right)
        swap: dict[Any, Any] = {}
        for (linear, anchor), (point, pulled) in zip(asked, answers.pulled.values(), strict=True):
            found = f.elastic(np.array([[linear]]), np.array([anchor]), pull=rho, l1=weight)
            at = found.at[0]
            slope = f.gradient(0, at)[0]
            swap |= {point: at[0], pulled.sign: found.sign[0, 0]}
            swap[pulled.kick] = (linear - slope - rho * (at[0] - anchor)) / weight
            *_, known = next(iter(answers.seen.values()))
            swap[known[point][1]] = f.value(0, at)
        assert min(e.xreplace(swap) for e in answers.inequalities(alone=True)) >= 0
        assert {e.xreplace(swap) for e in answers.equations()} == {0}


def test_what_is_known_of_regularisers_is_true() -> None:
    numbers = [sp.Rational(n, 2) for n in (-7, -1, 0, 3, 9)]
    parts = {
        name: np.array([sp.Integer(value)]) for name, value in (("l1", 1), ("square", 2), ("low", -1), ("high", 2))
    }
    psi = Regulariser(**parts, rotation=np.array([[sp.Integer(1)]]))
    scale = sp.Rational(1, 2)
    with any_functions() as answers:
        for number in numbers:
            psi.prox(np.array([number]), scale)
    swap: dict[Any, Any] = {}
    for number, (point, _, value) in zip(numbers, *(d.values() for d in answers.proximal.values()), strict=True):
        at = psi.prox(np.array([number]), scale)[0]
        swap |= {point: at, value: abs(at) + at**2}
    found = [e.xreplace(swap) for e in answers.inequalities()]
    assert len(found) == 20
    assert min(found) >= 0


def test_a_minimiser_of_a_tilted_sum() -> None:
    def column(*entries: int) -> Any:
        return np.array([[sp.Integer(entry)] for entry in entries], dtype=object)

    f = Kinked(centre=column(0, 1), knot=column(0, 0), left=column(1, 1), right=column(2, 2))
    tilt = np.array([sp.Symbol("tilt")])
    with any_functions():
        best = f.stationary(tilt)
        assert sp.expand(sum(f.gradient(k, best)[0] for k in (0, 1)) - 2 * tilt[0]) == 0
        assert f.stationary()[0] != best[0]
        assert f.stationary(0 * tilt)[0] == f.stationary()[0]
        assert f.stationary(2 * tilt)[0] not in (best[0], f.stationary()[0])
        thirds = [sp.Rational(1, 3), sp.Rational(2, 3)]
        assert f.minimiser(thirds)[0] == f.minimiser([1, 2])[0] != f.minimiser([2, 1])[0]
    assert f.stationary(np.array([sp.Rational(1, 2)]))[0] == sp.Rational(3, 4)


def test_penalties_that_are_no_numbers_are_refused() -> None:
    f = Kinked(**{name: np.array([[sp.Integer(n)]]) for n, name in enumerate(("centre", "knot", "left", "right"))})
    x = np.array([sp.Symbol("x")])
    psi = Regulariser(l1=x, square=x, low=x, high=x, rotation=np.array([[1, 0], [0, 1]]))
    with any_functions():
        for weight in (sp.Symbol("l"), sp.Integer(-1), sp.Integer(0)):
            with pytest.raises(Untranslatable, match="penalties"):
                f.elastic(x[None], x, pull=sp.Integer(1), l1=weight)
        with pytest.raises(Untranslatable, match="penalties"):
            f.elastic(x[None], x, pull=sp.Integer(-1), l1=sp.Integer(1))
        f.elastic(x[None], x, pull=sp.Integer(0), l1=sp.Integer(1))  # no quadratic term
        with pytest.raises(Untranslatable, match="one coordinate"):
            psi.prox(x, sp.Integer(1))
        plain = Regulariser(l1=x, square=x, low=x, high=x, rotation=np.array([[sp.Integer(1)]]))
        for scale in (sp.Integer(0), sp.Integer(-1), sp.Symbol("s")):
            with pytest.raises(Untranslatable, match="scale of a regulariser"):
                plain.prox(x, scale)
        assert plain.prox(x, sp.Integer(2))[0] == plain.prox(x, sp.Integer(2))[0] != plain.prox(2 * x, sp.Integer(2))[0]
        assert plain.prox(x, sp.Integer(2))[0] != plain.prox(x, sp.Integer(1))[0]


def test_methods_are_themselves_again() -> None:
    names = [
        (Kinked, name) for name in ("value", "gradient", "minimiser", "gradients", "mean", "elastic", "stationary")
    ]
    before = [getattr(owner, name) for owner, name in (*names, (Regulariser, "prox"))]
    with any_functions():
        assert all(getattr(owner, name) is not one for (owner, name), one in zip(names, before, strict=False))
    assert [getattr(owner, name) for owner, name in (*names, (Regulariser, "prox"))] == before


def test_signs_of_entries() -> None:
    assert signs(np.array([-2.0, 0.0, 3.0])).tolist() == [-1, 0, 1]
