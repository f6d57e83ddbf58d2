"""False statements of many kinds get no certificate, whatever one coordinate, a symbol or an empty set hides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Rejected
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import family, function, index, scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.validation.proof import products, provers, vacuous
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

x, y = scalar("x", "x", "a number"), scalar("y", "y", "a number")
q = scalar("q", "q", "a number", domain="nonnegative")
N, k = scalar("N", "N", "how many", domain="integer>=1"), index("k")
p = family("p", "p_{<0>}", "numbers", domain="positive")
a_pair, a_one = family("a", "a_{<0><1>}", "numbers", first=(1, 1)), family("a_1", "b_{<0>}", "numbers")
r, f = scalar("r", "r", "random", random=True), function("f", "f(<0>)", "a function")
u, v = (scalar(name, name, "a vector", shape=("dim",)) for name in "uv")
vectors = family("w", "w_{<0>}", "vectors", shape=("index", "dim"))
out, other = scalar("out", "o", "a number"), scalar("other", "o'", "a number")
value, value_2 = scalar("value", "f", "a value"), scalar("value_2", "f'", "a value")


@pytest.fixture(autouse=True)
def _problems_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no random instance save the day: what is false is refused by the problems that are made of it."""
    if request.node.function is not test_a_counterexample_of_another_size_is_noticed:
        monkeypatch.setattr(provers, "refuted", lambda *_: False)


def _le(one: Any, two: Any) -> Any:
    return sp.Le(one, two, evaluate=False)


def _eq(one: Any, two: Any) -> Any:
    return sp.Eq(one, two, evaluate=False)


def _named(name: str, domain: str = "real") -> Any:
    return scalar(name, name, "a number with an unfortunate name", domain=domain)


def _nowhere(point: Params) -> dict[str, Any]:
    raise Rejected("there are none")


NOWHERE = Instances(space=Space({"n": Integer(1, 2), "x": Real(-1, 1)}), realise=_nowhere)


def _attempted(statement: Any, check: Instances = NOWHERE, *assumptions: Any) -> Certificate | None:
    form = Form(statement=statement, assumptions=tuple(Assumption("given", one) for one in assumptions))
    claim = Claim(
        id="planted.form",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        check=check,
    )
    return provers.attempt("planted.form", form, Hypotheses.of(claim, form), seconds=4.0)


# Names


@pytest.mark.parametrize(
    "statement",
    [
        _eq(p[1], _named("p_1")),
        _eq(a_pair[1, 1], a_one[1]),
        _eq(r, _named("r_0")),
        _eq(f(x), _named("f_at_0")),
        _eq(sp.sqrt(q), _named("q_root")),
        _le(sp.sqrt(q + 1), _named("root_1")),
        _le(sp.exp(x), _named("exponential_1") + q),
    ],
    ids=str,
)
def test_two_quantities_never_share_a_symbol(statement: Any) -> None:
    assert _attempted(statement) is None


def test_quantities_with_other_names_are_certified() -> None:
    assert _attempted(_eq(p[1], p[1] + 0 * _named("p_2") + x - x)) is not None
    assert _attempted(_eq(sp.sqrt(q) ** 2 + _named("r_root"), q + _named("r_root"))) is not None


SCALARS = {"n": Integer(1, 2), "x": Real(-1, 1), "y": Real(-1, 1)}
PLANE = {"d": Integer(1, 3), "x": Real(-3, 3, shape=("d",)), "y": Real(-3, 3, shape=("d",))}


@pytest.mark.parametrize(
    ("space", "statement"),
    [
        ({"n": Integer(2, 2), "a": Real(-1, 1, shape=("n",)), "a_0": Real(-1, 1)}, _eq(out, other)),
        (
            {**PLANE, "x_0": Real(-3, 3, shape=("d",)), "x": Real(-3, 3, shape=("n", "d")), "n": Integer(2, 2)},
            _eq(u, v),
        ),
        ({"d": Integer(1, 2), "n": Integer(2, 2), "vector": Real(-3, 3, shape=("d",))}, _eq(u, v)),
    ],
)
def test_two_parameters_never_share_a_symbol(space: dict[str, Any], statement: Any) -> None:
    def realise(point: Params) -> dict[str, Any]:
        if "a" in point:
            return {"out": point["a"][0], "other": point["a_0"]}
        if "x_0" in point:
            return {"u": point["x"][0], "v": point["x_0"]}
        line = Kinked(**{side: point["vector"][None] * 0 + n for n, side in enumerate(("left", "right"), 1)},
                      centre=point["vector"][None] * 0, knot=point["vector"][None] * 0)  # fmt: skip
        return {"u": point["vector"], "v": line.gradient(0, point["vector"] + 1)}

    assert _attempted(statement, Instances(space=Space(space), realise=realise)) is None


# Comparisons


@pytest.mark.parametrize(
    "realise",
    [
        lambda at: {"out": 1 if at["x"] == 0 else 0 * at["x"], "other": 0 * at["x"]},
        lambda at: {"out": 0 * at["x"] if at["x"] != at["y"] else 1, "other": 0 * at["x"]},
        lambda at: {"out": 1 + at["x"] if at["x"] else 5 + at["x"], "other": 1 + at["x"]},
        lambda at: {"out": 1 + 0 * at["x"] if np.any(np.array([at["x"]], dtype=object)) else 2, "other": 1},
    ],
)
def test_symbols_may_be_zero_or_equal(realise: Callable[[Params], dict[str, Any]]) -> None:
    assert _attempted(_eq(out, other), Instances(space=Space(SCALARS), realise=realise)) is None


def test_both_answers_are_followed() -> None:
    def realise(point: Params) -> dict[str, Any]:
        one, two = point["x"], point["y"]
        return {"out": two if one == 0 else one * two / one, "other": two}

    found = _attempted(_eq(out, other), Instances(space=Space(SCALARS), realise=realise))
    assert found is not None
    assert [len(parts) for parts in found.parts] == [2, 2]


# Coordinates


def _vectors(**computed: Callable[[Any, Any], Any]) -> Instances:
    def realise(point: Params) -> dict[str, Any]:
        one, two = point["x"], point["y"]
        return {"u": one, "v": two} | {name: compute(one, two) for name, compute in computed.items()}

    return Instances(space=Space(PLANE), realise=realise)


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        (_eq(NormSq(u) * NormSq(v), Inner(u, v) ** 2), _vectors()),
        (_eq(out, other), _vectors(out=lambda s, t: s.dot(s) * t.dot(t), other=lambda s, t: s.dot(t) ** 2)),
        (_eq(out, NormSq(u)), _vectors(out=lambda s, t: max(s * s))),
        (_eq(out, NormSq(u)), _vectors(out=lambda s, t: np.max(s * s))),
        (_eq(out, NormSq(u)), _vectors(out=lambda s, t: (s * s).mean())),
        (_eq(out, NormSq(u)), _vectors(out=lambda s, t: len(s) * s.dot(s))),
        (_eq(out, Inner(u, v)), _vectors(out=lambda s, t: s[0] * t[0])),
        (_eq(out, Inner(u, v)), _vectors(out=lambda s, t: np.outer(s, t)[0, -1])),
        (_eq(u, v), _vectors(v=lambda s, t: s[::-1])),
        (_eq(u, v), _vectors(v=lambda s, t: 0 * s + s.mean())),
        (_eq(out, NormSq(u)), _vectors(out=lambda s, t: s.dot(s) if s.any() else 1)),
        (_eq(out, 0), _vectors(out=lambda s, t: 1 if (s == 0).all() else 0 * s.dot(t))),
    ],
)
def test_what_is_true_of_one_coordinate_only_gets_none(
    statement: Any, check: Instances, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is proved about more dimensions; and that it is true in one is not said where instances have more."""
    found = _attempted(statement, check)
    assert found is None or "one dimension" in found.words
    monkeypatch.undo()
    assert _attempted(statement, check) is None


def test_what_is_true_of_all_coordinates_is_certified() -> None:
    check = _vectors(out=lambda s, t: (s * t).sum(), other=lambda s, t: (s + t).dot(s + t))
    for statement in (_eq(other, NormSq(u + v)), _le(other, 2 * NormSq(u) + 2 * NormSq(v)), _le(4 * out, other)):
        found = _attempted(statement, check)
        assert found is not None
        assert "any dimension" in found.words or isinstance(statement, sp.Eq)


# Strictness


@pytest.mark.parametrize(
    "statement",
    [sp.Lt(0, NormSq(u), evaluate=False), sp.Lt(2 * Inner(u, v), NormSq(u) + NormSq(v), evaluate=False)],
)
def test_a_strict_inequality_is_not_one_that_may_be_attained(statement: Any) -> None:
    assert _attempted(statement, _vectors()) is None


# Functions


def _functions(compute: Callable[[Kinked, Params], dict[str, Any]], *, apart: bool = True) -> Instances:
    """Return instances with two functions, which have nothing of their own but slopes if they are not ``apart``."""
    names = ("centre", "knot", "left", "right")
    space = {"d": Integer(1, 2), "start": Real(-3, 3, shape=("d",))}
    space |= {name: Real(-3 if n < 2 else 0, 3 if n < 2 else 1, shape=(2, "d")) for n, name in enumerate(names)}

    def realise(point: Params) -> dict[str, Any]:
        slopes = {side: sp.Rational(1, 2) + point[side] for side in ("left", "right")}
        places = {name: point[name] if apart else 0 * point["left"] for name in ("centre", "knot")}
        return compute(Kinked(**places, **slopes), point)

    return Instances(space=Space(space), realise=realise)


def test_two_functions_are_not_taken_for_one() -> None:
    check = _functions(
        lambda f, at: {"value": f.value(0, at["start"]), "value_2": f.value(1, at["start"])}, apart=False
    )
    assert _attempted(_eq(value, value_2), check) is None


def test_either_slope_may_be_the_steep_one() -> None:
    def above(f: Kinked, at: Params) -> dict[str, Any]:
        away = at["start"] - f.centre[0]
        return {"value": f.value(0, at["start"]), "value_2": (f.right[0] * away * away).sum() / 2}

    assert _attempted(_le(value, value_2), _functions(above)) is None

    def steepest(f: Kinked, at: Params) -> dict[str, Any]:
        return {"value": f.value(-2, at["start"]), "u": at["start"], "v": f.centre[0]}

    assert _attempted(_le(value, sp.Rational(3, 4) * NormSq(u - v)), _functions(steepest)) is not None


# Hypotheses that nothing fulfils


def test_nothing_follows_from_a_contradiction() -> None:
    assert _attempted(_le(x, 0), NOWHERE, sp.Ge(x, 2, evaluate=False), _le(x, 1)) is None
    assert _attempted(_le(x, 1), NOWHERE, _le(x, 1)) is not None
    assert _attempted(_le(NormSq(u), 0), _vectors(), _le(NormSq(u) + 1, 0)) is None
    square = Instances(space=Space(SCALARS), realise=lambda at: {"out": at["x"], "other": at["x"] * at["y"]})
    assert _attempted(_le(out, -5), square, sp.Ge(other, 2, evaluate=False)) is None


def test_sizes_that_assumptions_exclude_are_not_among_what_is_certified() -> None:
    total = sp.Sum(p[k], (k, 1, N))
    assert _attempted(_le(total, 0), NOWHERE, sp.Ge(N, 4, evaluate=False)) is None
    found = _attempted(_le(p[1], total + q), NOWHERE, sp.Ge(N, 2, evaluate=False))
    assert found is not None
    assert found.words == "N = 2, 3"
    assert [scope["N"] for scope in found.scope] == [1, 2, 3]


def test_simple_numbers_that_fulfil_all_facts_are_found_without_rounding() -> None:
    ring = ring_of(["x", "y"])
    one, two = ring.gens
    facts = (Fact(one * two - 1, Sign.ZERO), Fact(one - 2, Sign.NONNEGATIVE), Fact(two, Sign.POSITIVE))
    assert vacuous._met(ring, facts)
    assert not vacuous._exactly(facts, [2, 1])
    assert not vacuous._exactly((Fact(one - two, Sign.POSITIVE),), [1, 1])
    assert vacuous._exactly((Fact(one - two, Sign.NONNEGATIVE),), [1, 1])
    assert vacuous.contradictory(ring, (*facts, Fact(-two, Sign.NONNEGATIVE)))


# Sizes and outcomes beyond those of a certificate


def test_a_counterexample_of_another_size_is_noticed() -> None:
    def realise(point: Params) -> dict[str, Any]:
        return {"out": point["n"] * point["x"] / 10}

    for largest, certified in ((20, True), (40, False)):
        check = Instances(space=Space({"n": Integer(1, largest), "x": Real(0, 1)}), realise=realise)
        assert (_attempted(_le(out, 2), check) is not None) is certified


def test_rounding_is_no_counterexample() -> None:
    def realise(point: Params) -> dict[str, Any]:
        third = point["x"] / 3
        return {"out": point["x"] - third - third - third, "other": 0 * third}

    assert _attempted(_eq(out, other), Instances(space=Space(SCALARS), realise=realise)) is not None


def test_a_mean_of_squares_is_not_the_square_of_a_mean() -> None:
    assert _attempted(sp.Ge(EE(r) ** 2, EE(r**2), evaluate=False)) is None


# Edited certificates


@pytest.mark.parametrize(
    "term", [{"e": 0, "q": [["-1", [-1, 1]]]}, {"c": "1", "m": [0, 0], "f": [], "s": [["1", [-1, 0]]]}]
)
def test_nothing_is_divided_by_what_may_be_zero(term: dict[str, Any]) -> None:
    """From xy = 0 it does not follow that -y^2 >= 0, though x^-1 times the equation says so."""
    ring = ring_of(["x", "y"])
    one, two = ring.gens
    sequent = Sequent(ring, (Fact(one * two, Sign.ZERO),), Fact(-(two**2), Sign.NONNEGATIVE))
    with pytest.raises(ValueError, match="negative power"):
        products.verified(sequent, {"terms": [term], "contradiction": False})


def test_hypotheses_that_few_numbers_fulfil_are_met() -> None:
    ring = ring_of(["x", "y"])
    one, two = ring.gens
    facts = (Fact(100 * one - 1, Sign.ZERO), Fact(two - 10, Sign.NONNEGATIVE), Fact(two * one, Sign.POSITIVE))
    assert vacuous._met(ring, facts)
    assert not vacuous._met(ring, (*facts, Fact(2 - two, Sign.POSITIVE)))
