"""Exponentials are proved from Taylor polynomials: tight truths are, falsehoods never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Rejected
from fltheory.bounds.quantities import index, scalar
from fltheory.bounds.space import Params, Real, Space
from fltheory.validation.proof import provers, smt
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.exponentials import without_exponentials
from fltheory.validation.verdict import Strength

x = scalar("x", "x", "a number", domain="nonnegative")
y = scalar("y", "y", "another number")
k = index("k", "k", "a summand")
T = scalar("T", "T", "a whole number", domain="integer>=1")

SMALL = (Assumption("at most one half", sp.Le(2 * x, 1)),)


def below(factor: Any = 1) -> Form:
    """Return that an exponential is above its tangent, an equality at zero."""
    return Form(statement=sp.Le(1 - x / factor, sp.exp(-x), evaluate=False), assumptions=())


def power(factor: Any = 1) -> Form:
    """Return that a contraction is below an exponential, at whole numbers; an equality at zero."""
    return Form(
        statement=sp.Le((1 - x / factor) ** T, sp.exp(-sp.Sum(x, (k, 1, T))), evaluate=False), assumptions=SMALL
    )


def product(factor: Any = 1) -> Form:
    """Return that exponentials of opposite numbers cancel, in two ways of writing them."""
    return Form(statement=sp.Le(factor * sp.exp(x / 2 + y) * sp.exp(-y - x / 2), 1, evaluate=False), assumptions=())


def multiples(factor: Any = 1) -> Form:
    """Return the inequality of the two means for exponentials, an equality at zero."""
    return Form(statement=sp.Le(2 * factor * sp.exp(2 * y), sp.exp(3 * y) + sp.exp(y), evaluate=False), assumptions=())


TRUE: dict[str, tuple[Callable[..., Form], Strength]] = {
    "below": (below, Strength.PROVED),
    "power": (power, Strength.CERTIFIED),
    "product": (product, Strength.PROVED),
    "multiples": (multiples, Strength.PROVED),
}


def nowhere(point: Params) -> dict[str, Any]:
    """Return nothing: the statements are proved as they are written."""
    raise Rejected("there are none")


def _hypotheses(form: Form) -> Hypotheses:
    claim = Claim(
        id="planted.form",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        check=Instances(space=Space({"x": Real(0, 1)}), realise=nowhere),
    )
    return Hypotheses.of(claim, form)


def _attempted(form: Form, seconds: float) -> Certificate | None:
    return provers.attempt("planted.form", form, _hypotheses(form), seconds=seconds)


@pytest.mark.parametrize("name", TRUE)
def test_tight_truths_are_certified(name: str) -> None:
    make, strength = TRUE[name]
    found = _attempted(make(), 60.0)
    assert found is not None
    assert found.strength is strength
    assert provers.replay(found, make(), _hypotheses(make())) == ""


@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
@pytest.mark.parametrize("solvers", [True, False])
def test_falsehoods_are_refused(name: str, excess: Any, solvers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not solvers:
        monkeypatch.setattr(smt, "available", lambda solver: False)
    assert _attempted(TRUE[name][0](1 + excess), 1.0) is None


@pytest.mark.parametrize("value", [-7, -2, -0.3, 0, 0.4, 3, 9])
def test_everything_that_is_said_of_an_exponential_is_true(value: float) -> None:
    u = sp.Symbol("u")
    known, _ = without_exponentials([sp.Le(sp.exp(u), 1, evaluate=False)])
    *about, claimed = known
    (symbol,) = claimed.lhs.free_symbols
    assert len(about) == 6
    point = {u: sp.Rational(str(value)), symbol: sp.exp(sp.Rational(str(value)))}
    for relation in about:
        assert bool(relation.subs(point))


def test_powers_of_one_exponential_share_a_symbol() -> None:
    u = sp.Symbol("u")
    relation = sp.Le(sp.exp(-u / 2), sp.exp(u / 3) + sp.exp(5 * u**2), evaluate=False)
    *_, changed = without_exponentials([relation])[0]
    one, other = sorted(changed.free_symbols, key=str)
    sides = {changed.lhs, *changed.rhs.args}
    assert sides in ({one**-3, one**2, other}, {other**-3, other**2, one})


def test_whole_exponents_are_proved_like_others() -> None:
    """One of the Taylor polynomials is zero at 1, and says nothing; e^2 <= e^3 needs another one."""
    known, _ = without_exponentials([sp.Le(sp.exp(2), sp.exp(3), evaluate=False)])
    assert all(isinstance(relation, sp.Le | sp.Ge) for relation in known)
    for low, high, true in ((2, 3, True), (3, 2, False)):
        form = Form(statement=sp.Le(sp.exp(low) + x, sp.exp(high) + x, evaluate=False), assumptions=())
        assert (_attempted(form, 5.0 if true else 1.0) is not None) is true


@pytest.mark.parametrize(
    ("one", "other", "powers"),
    [
        (sp.Rational(2, 3), sp.Rational(1, 2), (4, 3)),  # multiples of 1/6
        (sp.Integer(2), sp.Rational(1, 2), (4, 1)),
        (sp.Rational(9, 4), sp.Rational(3, 2), (3, 2)),
        (sp.Integer(6), sp.Integer(4), (3, 2)),
    ],
)
def test_exponentials_of_multiples_are_powers_of_one(one: Any, other: Any, powers: tuple[int, int]) -> None:
    z = sp.Symbol("z")
    relation = sp.Ge(sp.exp(one * z) - sp.exp(other * z), 0, evaluate=False)
    *_, changed = without_exponentials([relation])[0]
    (symbol,) = without_exponentials([relation])[1]
    assert sp.expand(changed.lhs - symbol ** powers[0] + symbol ** powers[1]) == 0
