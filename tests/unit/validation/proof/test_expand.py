"""Statements written out at fixed sizes, and instances made of symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.bounds.algebra import EE, Inner, Norm, NormSq
from fltheory.bounds.claim import Assumption, Form, Instances, Rejected
from fltheory.bounds.quantities import Domain, family, function, index, scalar
from fltheory.bounds.space import Choice, Integer, Integers, Params, Real, Space
from fltheory.validation.proof import expand, instances, intervals, provers
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.translate import Untranslatable

N = scalar("N", "N", "number", domain="integer>=1")
c = scalar("c", "c", "number", domain="nonnegative")
k, i = index("k"), index("i")
v = family("v", "v_{<0>}", "vectors")
w = family("w", "w_{<0>,<1>}", "models", first=(1, 0), random=True)
x = scalar("x", "x", "random", random=True)
F = function("F", "F_{<0>}(<1>)", "losses")
out = family("out", "y_{<0>}", "values", first=1)
S = sp.Symbol


def _written(statement: Any, sizes: dict[str, int], **other: Any) -> list[str]:
    form = Form(statement=statement, assumptions=(), **other)
    return [str(goal) for goal in expand.expanded(form, (), sizes).goals]


@pytest.mark.parametrize(
    ("statement", "sizes", "written"),
    [
        (sp.Le(sp.Sum(c * v[k], (k, 1, N)), N), {"N": 2}, "c*v_1 + c*v_2 <= 2"),
        (sp.Le(sp.Sum(k * v[k], (k, 2, N)), c), {"N": 3}, "2*v_2 + 3*v_3 <= c"),
        (sp.Le(sp.Sum(v[i], (i, 1, k), (k, 1, N)), c), {"N": 2}, "2*v_1 + v_2 <= c"),
        (sp.Le(sp.Sum(v[k] * sp.Sum(v[i], (i, 1, k)), (k, 1, N)), c), {"N": 2}, "v_1**2 + v_2*(v_1 + v_2) <= c"),
        (sp.Le(EE(x**2), c), {}, "chance_0*x_0**2 + chance_1*x_1**2 <= c"),
        (sp.Le(EE(x) ** 2, c), {}, "(chance_0*x_0 + chance_1*x_1)**2 <= c"),
        (sp.Le(EE(c), c + 1), {}, "c <= c + 1"),
        (sp.Le(NormSq(v[1] - v[2]), Inner(v[1], v[2])), {}, "(v_1 - v_2)**2 <= v_1*v_2"),
        (sp.Le(Norm(v[1]), c), {}, "Abs(v_1) <= c"),
        (sp.Le(F(1, v[1]) + F(1, v[2]) + F(1, v[1]), c), {}, "2*F_at_0 + F_at_1 <= c"),
        (sp.Le(c**N, sp.binomial(N, 2)), {"N": 3}, "c**3 <= 3"),
    ],
)
def test_what_is_written(statement: Any, sizes: dict[str, int], written: str) -> None:
    assert _written(statement, sizes) == [written]


def test_a_random_statement_is_one_about_every_outcome() -> None:
    assert _written(sp.Le(x, EE(x)), {}) == [f"x_{o} <= chance_0*x_0 + chance_1*x_1" for o in (0, 1)]


def test_a_statement_holds_for_all_its_indices() -> None:
    assert _written(sp.Le(v[k], c), {"N": 3}, over=((k, 2, N),)) == ["v_2 <= c", "v_3 <= c"]
    assert _written(sp.Le(EE(w[k, 0]), c), {"N": 1}, over=((k, 1, N),)) == ["chance_0*w_1_0_0 + chance_1*w_1_0_1 <= c"]


def test_assumptions_premises_and_probabilities_are_hypotheses() -> None:
    form = Form(statement=sp.Le(EE(x), c), premises=(sp.Le(c, 5),), assumptions=())
    assumption = Assumption("bounded", sp.Le(v[k], c), over=((k, 1, N),))
    made = expand.expanded(form, (assumption,), {"N": 2})
    assert [str(one) for one in made.hypotheses] == ["v_1 <= c", "v_2 <= c", "c <= 5", "Eq(chance_0 + chance_1, 1)"]
    assert made.domains[S("c")] is Domain.NONNEGATIVE
    assert made.domains[S("chance_0")] is Domain.PROBABILITY
    assert made.domains[S("v_1")] is Domain.REAL


def test_definitions_are_substituted() -> None:
    total = scalar("total", "s", "sum")
    assert _written(sp.Le(total, c), {"N": 2}, where=((total, sp.Sum(v[k], (k, 1, N))),)) == ["v_1 + v_2 <= c"]


def test_sizes_are_what_ranges_and_exponents_need() -> None:
    form = Form(statement=sp.Le(sp.Sum(v[k], (k, 1, N)), c), assumptions=())
    assert expand.sizes_in(form, ()) == {"N": Domain.SIZE}
    free = Form(statement=sp.Le(v[i], c), assumptions=())
    assert expand.sizes_in(free, ()) == {"i": Domain.SIZE}
    assert not expand.scalar_only(form, ())
    assert expand.scalar_only(Form(statement=sp.Le(c**2, c), assumptions=()), ())
    assert not expand.scalar_only(Form(statement=sp.Le(c, x), assumptions=()), ())  # for every outcome


@pytest.mark.parametrize("statement", [sp.Le(v[k - 1], c), sp.Le(sp.Sum(v[k], (k, 1, c)), 1), sp.Le(sp.log(c), 1)])
def test_what_cannot_be_written(statement: Any) -> None:
    with pytest.raises(Untranslatable):
        _written(statement, {"k": 1})


# Instances


def _check(realise: Any) -> Instances:
    return Instances(space=Space({"n": Integer(1, 3), "x": Real(-1, 1), "y": Real(0, 1)}), realise=realise)


def _certified(realise: Any, statement: Any = None) -> bool:
    form = Form(statement=sp.Eq(out[1], out[2], evaluate=False) if statement is None else statement, assumptions=())
    hypotheses = Hypotheses(assumptions=(), check=_check(realise))
    return provers.attempt("planted.form", form, hypotheses, seconds=5.0) is not None


def _values(first: Any, second: Any) -> dict[str, Any]:
    return {"out": np.array([first, second], dtype=object)}


def test_both_ways_of_a_comparison_count() -> None:
    assert _certified(lambda p: _values(abs(p["x"]), p["x"] if p["x"] > 0 else -p["x"]))
    assert not _certified(lambda p: _values(abs(p["x"]), p["x"]))
    assert not _certified(lambda p: _values(abs(p["x"]), p["x"] if p["x"] > sp.Rational(1, 2) else -p["x"]))


def test_every_size_counts() -> None:
    assert _certified(lambda p: _values(p["n"] * p["x"], sum([p["x"]] * p["n"])))
    assert not _certified(lambda p: _values(p["n"] * p["x"], sum([p["x"]] * min(p["n"], 2))))


def test_points_that_make_no_instance_do_not_count() -> None:
    def realise(point: Params) -> dict[str, Any]:
        if point["x"] < 0:
            raise Rejected("negative")
        return _values(abs(point["x"]), point["x"])

    assert _certified(realise)


def test_inequalities_hold_within_the_ranges() -> None:
    at_most = sp.Le(out[1], out[2])
    assert _certified(lambda p: _values(p["y"] ** 2, p["y"]), at_most)
    assert not _certified(lambda p: _values(p["x"], p["x"] ** 2), at_most)
    assert not _certified(lambda p: _values(p["y"] ** 2, p["y"] - sp.Rational(1, 10**6)), at_most)


def test_premises_and_assumptions_about_instances_are_hypotheses() -> None:
    """A number is at most its square where it is not positive."""
    check = _check(lambda p: _values(p["x"], p["x"] ** 2))

    def certified(**more: Any) -> bool:
        form = Form(statement=sp.Le(out[1], out[2]), **more)
        hypotheses = Hypotheses(assumptions=form.assumptions or (), check=check)
        return provers.attempt("planted.form", form, hypotheses, seconds=5.0) is not None

    assert not certified(assumptions=())
    assert certified(assumptions=(), premises=(sp.Le(out[1], 0),))
    assert certified(assumptions=(Assumption("x is not positive", sp.Le(out[1], 0)),))
    assert not certified(assumptions=(), premises=(sp.Le(out[1], sp.Rational(1, 2)),))


def test_an_inequality_over_functions_is_not_certified_on_those_of_the_check() -> None:
    check = _check(lambda p: {"F": lambda k, at: at**2, "out": np.array([p["x"]], dtype=object)})
    hypotheses = Hypotheses(assumptions=(), check=check)
    square = Form(statement=sp.Ge(F(1, out[1]), 0, evaluate=False), assumptions=())
    with pytest.raises(Untranslatable, match="needs all functions"):
        provers.OnInstances().problems(square, hypotheses, {"n": 1})
    equation = Form(statement=sp.Eq(F(1, out[1]), out[1] ** 2, evaluate=False), assumptions=())
    assert provers.OnInstances().problems(equation, hypotheses, {"n": 1})
    assert provers.attempt("planted.form", square, hypotheses, seconds=1.0, provers=(provers.OnInstances(),)) is None


@pytest.mark.parametrize(
    ("statement", "sizes", "message"),
    [
        (sp.Le(c / (N - 1), 1), {"N": 1}, "not defined at these sizes"),
        (sp.Le(k * c, 1), {}, "the index k has no range"),
        (sp.Le(v[N - 1], c), {"N": 1}, "before the first member"),
        (sp.Le(sp.Sum(v[k], (k, 1, N / 2)), c), {"N": 3}, "is not a whole number"),
    ],
)
def test_what_cannot_be_written_is_told(statement: Any, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(Untranslatable, match=message):
        _written(statement, sizes)


def test_sums_are_written_up_to_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "MOST_TERMS", 4)
    total = sp.Sum(v[k], (k, 1, N))
    assert _written(sp.Le(total, c), {"N": 5}) == ["v_1 + v_2 + v_3 + v_4 + v_5 <= c"]
    with pytest.raises(Untranslatable, match="a sum that is too long"):
        _written(sp.Le(total, c), {"N": 6})


def test_code_that_is_not_made_for_symbols_is_told() -> None:
    y = sp.Symbol("y", real=True)

    def broken() -> Any:
        raise KeyError("entry")

    def endless() -> Any:
        return [n for n in range(instances.DEEPEST + 1) if y > n]

    with pytest.raises(Untranslatable, match="cannot be made of symbols: 'entry'"):
        list(instances.paths(broken))
    with pytest.raises(Untranslatable, match=f"more than {instances.DEEPEST} comparisons"):
        list(instances.paths(endless, most=10**6))

    def refused() -> Any:
        raise Untranslatable("no polynomial")

    with pytest.raises(Untranslatable, match=r"^no polynomial$"):
        list(instances.paths(refused))

    def absent() -> Any:
        if y > 1:
            raise ZeroDivisionError
        return 7

    assert [result for result, _ in instances.paths(absent)] == [7]


def test_what_declarations_say_about_the_numbers_of_an_instance() -> None:
    y = sp.Symbol("y", real=True)
    names = {"positive": S("p"), "nonnegative": S("q"), "probability": S("r"), "real": S("s")}
    quantities = [scalar(f"declared_{name}", name, "number", domain=name) for name in names]
    form = Form(statement=sp.Le(sum(quantities), c), assumptions=())
    values = {f"declared_{name}": y + n for n, name in enumerate(names)}
    found = [str(one) for one in instances.declared(form, {**values, "c": sp.Integer(3)})]
    assert sorted(found) == ["y + 1 >= 0", "y + 2 <= 1", "y + 2 >= 0", "y > 0"]
    assert list(instances.declared(form, {"declared_positive": "text", "c": lambda: 0})) == []


def test_comparisons_that_sympy_decides_are_not_asked() -> None:
    y = sp.Symbol("y", real=True)
    true, false = sp.Lt(y, y + 1, evaluate=False), sp.Gt(y, y + 1, evaluate=False)
    assert list(instances.paths(lambda: 1 if true else 2)) == [(1, ())]
    assert list(instances.paths(lambda: 1 if false else 2)) == [(2, ())]


def test_a_comparison_is_asked_once_and_its_opposite_follows() -> None:
    y = sp.Symbol("y", real=True)

    def compute() -> tuple[bool, ...]:
        return bool(y > 1), bool(y > 1), bool(y <= 1), bool(sp.Lt(1, y)), bool(y > 2)

    found = {result: [str(one) for one in asked] for result, asked in instances.paths(compute)}
    assert found == {
        (True, True, False, True, True): ["y > 1", "y > 2"],
        (True, True, False, True, False): ["y > 1", "y <= 2"],
        (False, False, True, False, True): ["y <= 1", "y > 2"],
        (False, False, True, False, False): ["y <= 1", "y <= 2"],
    }
    with pytest.raises(Untranslatable, match="more than 3 paths"):
        list(instances.paths(compute, most=3))
    assert len(list(instances.paths(compute, most=4))) == 4


def test_numbers_alone_prove_nothing() -> None:
    form = Form(statement=sp.Eq(out[1], out[2], evaluate=False), assumptions=())
    check = Instances(space=Space({"n": Integer(1, 3)}), realise=lambda p: _values(p["n"], p["n"]))
    hypotheses = Hypotheses(assumptions=(), check=check)
    assert provers.attempt("planted.form", form, hypotheses, seconds=5.0) is None


def test_discrete_points_come_with_all_their_arrays() -> None:
    space = Space({"N": Integer(1, 2), "kind": Choice(("a", "b")), "s": Integers(0, 1, shape=("N",)), "y": Real(0, 1)})
    found = [(p["N"], p["kind"], p["s"].tolist()) for p in instances.discrete_points(space, 8)]
    assert found == [(1, "a", [0]), (1, "a", [1]), (1, "b", [0]), (1, "b", [1]), *[(2, "a", s) for s in _pairs()]]


def _pairs() -> list[list[int]]:
    return [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("relation", "answer"),
    [
        (S("y") <= 1, True),
        (S("y") < 1, None),
        (S("y") > 1, False),
        (S("y") >= 1, None),
        (S("y") < 0, False),
        (S("y") <= 0, None),
        (S("y") >= 0, True),
        (S("x") ** 2 >= 0, True),
        (S("x") ** 2 > 0, None),
        (S("x") ** 3 >= 0, None),
        (S("x") * S("y") <= 1, True),
        (S("x") * S("y") >= -1, True),
        (S("x") * S("y") >= -1 + sp.Rational(1, 10**6), None),
        ((1 + sp.Rational(1, 10**6)) * S("y") <= 1, None),
        (sp.Rational(101, 100) * S("y") <= 1, None),
        (1 / (S("y") + 1) <= 1, True),
        (1 / S("y") <= 5, None),
        (S("z") <= 5, None),
        (sp.Le(sp.sqrt(S("y")), 5, evaluate=False), None),
    ],
)
def test_ranges_decide(relation: Any, answer: bool | None) -> None:
    ranges = {S("x"): (sp.Integer(-1), sp.Integer(1)), S("y"): (sp.Integer(0), sp.Integer(1))}
    assert intervals.decided(relation, ranges) is answer


@pytest.mark.parametrize(
    ("low", "high", "exponent", "interval"),
    [
        ("1/2", "2", -1, ("1/2", "2")),
        ("-2", "-1", -1, ("-1", "-1/2")),
        ("-1", "1/2", -1, None),
        ("0", "1/2", -1, None),
        ("-1", "0", -2, None),
        ("-2", "-1/2", -2, ("1/4", "4")),
        ("-3", "2", 2, ("0", "9")),
        ("-3", "-2", 2, ("4", "9")),
        ("-3", "2", 3, ("-27", "8")),
        ("0", "2", 2, ("0", "4")),
    ],
)
def test_powers_of_intervals(low: str, high: str, exponent: int, interval: Any) -> None:
    found = intervals.enclosure(sp.Pow(S("q"), exponent), {S("q"): (sp.Rational(low), sp.Rational(high))})
    assert found == (None if interval is None else tuple(map(sp.Rational, interval)))


def test_sums_and_products_of_intervals() -> None:
    ranges = {S("q"): (sp.Integer(-1), sp.Integer(2)), S("r"): (sp.Integer(-3), sp.Integer(-2))}
    assert intervals.enclosure(S("q") * S("r"), ranges) == (-6, 3)
    assert intervals.enclosure(S("q") - 2 * S("r") + 1, ranges) == (4, 9)
    assert intervals.enclosure(sp.sqrt(S("q")), ranges) is None
    assert intervals.enclosure(sp.exp(S("q")), ranges) is None


def test_symbols_are_comparable_again_only_by_sympy() -> None:
    list(instances.paths(lambda: S("x") > 1 and None))
    with pytest.raises(TypeError):
        bool(S("x") > 1)


def test_an_inequality_among_equations_is_an_inequality() -> None:
    """What is certified on the functions of a check alone, or along one way through its code, are equations."""
    check = _check(lambda p: {"F": lambda k, at: at**2, "out": np.array([p["x"]], dtype=object)})
    equation = sp.Eq(F(1, out[1]), out[1] ** 2, evaluate=False)
    mixed = Form(statement=(equation, sp.Ge(F(1, out[1]), 0, evaluate=False)), assumptions=())
    with pytest.raises(Untranslatable, match="needs all functions"):
        provers.OnInstances().problems(mixed, Hypotheses(assumptions=(), check=check), {"n": 1})

    compared = _check(lambda p: _values(p["x"] if p["x"] > 0 else -p["x"], abs(p["x"])))
    same = sp.Eq(out[1], out[2], evaluate=False)
    shorter = sp.Le(NormSq(out[1]), NormSq(out[2]), evaluate=False)
    for statement, certified in (((same,), True), ((shorter,), False), ((same, shorter), False)):
        form = Form(statement=statement, assumptions=())
        found = provers.attempt(
            "planted.form", form, Hypotheses(assumptions=(), check=compared), seconds=5.0,
            provers=(provers.OnInstances(),),
        )  # fmt: skip
        assert (found is not None) is certified


@pytest.mark.parametrize("kind", [sp.Le, sp.Lt, sp.Ge, sp.Gt, sp.Eq])
def test_relations_about_instances_keep_their_direction(kind: Any) -> None:
    values = {"out": np.array([S("p"), S("q")], dtype=object)}
    (found,) = instances.relations(kind(out[1], out[2], evaluate=False), (), values)
    assert found == kind(S("p"), S("q"), evaluate=False)


def test_what_is_random_has_outcomes() -> None:
    """One random expectation among others is enough, on either side, in a premise or in an assumption."""
    number, mean = sp.Le(c, 2), sp.Le(EE(x) + EE(c), 2)
    random = Assumption("bounded", mean)
    for statement, premises, assumptions, answer in (
        (number, (), (), False), (sp.Le(EE(c), 1), (), (), False), (mean, (), (), True),
        (sp.Ge(2, EE(x) * EE(c), evaluate=False), (), (), True), (sp.Le(x, 1), (), (), True),
        (number, (mean,), (), True), (number, (), (random,), True),
    ):  # fmt: skip
        assert expand.has_outcomes(Form(statement=statement, premises=premises), assumptions) is answer


@pytest.mark.parametrize(
    ("statement", "scopes", "words"),
    [
        (sp.Le(v[1], c), [{}], "all values within the declared ranges"),
        (sp.Le(EE(x), c), [{}], "2 outcomes of any probabilities"),
        (sp.Le(NormSq(v[1]), c), [{}], "one dimension"),
        (sp.Le(sp.Sum(v[k], (k, 1, N)), c), [{"N": 1}, {"N": 2}], "N = 1, 2"),
        (sp.Le(EE(NormSq(x * v[N])), c), [{"N": 3}], "N = 3, 2 outcomes of any probabilities, one dimension"),
    ],
)
def test_what_certificates_at_small_sizes_cover(statement: Any, scopes: list[Any], words: str) -> None:
    form = Form(statement=statement, assumptions=())
    hypotheses = Hypotheses(assumptions=(), check=_check(lambda p: {}))
    assert provers.Sizes().words(form, hypotheses, scopes) == words


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        (sp.Le(sp.Sum(v[k], (k, 1, N)), c), ["N"]),
        (sp.Le(sp.Sum(v[k], (k, N, 3)), c), ["N"]),
        (sp.Le(sp.binomial(N, 2), c), ["N"]),
        (sp.Le(c, sp.binomial(3, N)), ["N"]),
        (sp.Le(sp.factorial(N + 1), c), ["N"]),
        (sp.Le(c**N, 1), ["N"]),
        (sp.Le(v[N], c), ["N"]),
        (sp.Le(c * i, 1), ["i"]),
        (sp.Le(N * c, 1), []),
        (sp.Le(sp.sqrt(N), c), []),
        (sp.Le(c**x, 1), []),
    ],
)  # fmt: skip
def test_sizes_are_ends_indices_exponents_and_what_is_counted(statement: Any, names: list[str]) -> None:
    """As part of the statement, of a premise or of an assumption; numbers that only occur as numbers are none."""
    other = sp.Le(c, 1)
    assert list(expand.sizes_in(Form(statement=statement, assumptions=()), ())) == names
    assert list(expand.sizes_in(Form(statement=other, premises=(statement,)), ())) == names
    assert list(expand.sizes_in(Form(statement=other), (Assumption("given", statement),))) == names


def test_ends_of_ranges_are_sizes_and_their_indices_are_not() -> None:
    form = Form(statement=sp.Le(v[k], c), over=((k, 1, N),), assumptions=())
    assert list(expand.sizes_in(form, ())) == ["N"]
    other = Form(statement=sp.Le(c, 1), assumptions=())
    assert list(expand.sizes_in(other, (Assumption("given", sp.Le(v[k], c), over=((k, N, 3),)),))) == ["N"]


def _asked(compute: Any, **ranges: Any) -> list[tuple[Any, list[str]]]:
    """Return results along all paths, with what was answered there."""
    ends = {S(name, real=True): tuple(map(sp.Integer, range_)) for name, range_ in ranges.items()}
    found = [(result, [str(one) for one in asked]) for result, asked in instances.paths(compute, ranges=ends)]
    return sorted(found, key=str)


def test_equality_and_truth_of_symbols_are_followed_both_ways() -> None:
    """That a number is zero is a hypothesis on its path; that it is not is none."""
    y, z = (S(name, real=True) for name in "yz")
    zero, two, same = ["Eq(y, 0)"], ["Eq(y - 2, 0)"], ["Eq(y - z, 0)"]
    assert _asked(lambda: 1 if y == 0 else 2) == [(1, zero), (2, [])]
    assert _asked(lambda: 1 if y != 2 else 2) == [(1, []), (2, two)]
    assert _asked(lambda: 1 if y == z else 2) == [(1, same), (2, [])]
    assert _asked(lambda: 1 if y != z else 2) == [(1, []), (2, same)]
    assert _asked(lambda: 1 if y else 2) == [(1, []), (2, zero)]
    assert _asked(lambda: 1 if y and y != 0 else 2) == [(1, []), (2, zero)]  # asked once
    assert _asked(lambda: bool(np.any(np.array([y], dtype=object))) + 1) == [(1, zero), (2, [])]


def test_equality_and_truth_are_not_asked_where_they_are_known() -> None:
    y = S("y", real=True)
    assert _asked(lambda: 1 if y == y + 0 else 2) == [(1, [])]
    assert _asked(lambda: 1 if y != y + 0 else 2) == [(2, [])]
    assert _asked(lambda: 1 if y == "y" else 2) == [(2, [])]
    assert _asked(lambda: 1 if y != "y" else 2) == [(1, [])]
    assert _asked(lambda: 1 if c == N else 2) == [(2, [])]  # symbols of a statement, not of an instance
    assert _asked(lambda: 1 if c != N else 2) == [(1, [])]
    assert _asked(lambda: 1 if c else 2) == [(1, [])]
    for low, high, both in ((1, 2, False), (-2, -1, False), (0, 2, True), (-1, 0, True), (-1, 1, True)):
        assert len(_asked(lambda: 1 if y == 0 else 2, y=(low, high))) == 1 + both
        assert len(_asked(lambda: 1 if y != 0 else 2, y=(low, high))) == 1 + both
        assert len(_asked(lambda: 1 if y else 2, y=(low, high))) == 1 + both


@pytest.mark.parametrize(
    ("low", "statement", "proved"),
    [
        (-1, sp.Ge(out[1], 0), False), (-1, sp.Ge(out[1], -1), True), (0, sp.Ge(out[1], 0), True),
        (0, sp.Gt(out[1], 0), False), (0.5, sp.Gt(out[1], 0), True), (0.5, sp.Ge(out[1], sp.Rational(1, 2)), True),
        (0.5, sp.Ge(out[1], sp.Rational(501, 1000)), False), (-1, sp.Le(out[1], 1), True),
        (-1, sp.Le(out[1], sp.Rational(999, 1000)), False), (-1, sp.Le(out[1] ** 2, 1), True),
    ],
)  # fmt: skip
def test_parameters_are_within_their_ranges_and_nothing_else_is_known(low: float, statement: Any, proved: bool) -> None:
    """By the problems alone, before any instance is looked at."""
    space = Space({"n": Integer(1, 1), "x": Real(low, 1)})
    check = Instances(space=space, realise=lambda p: {"out": np.array([p["x"]], dtype=object)})
    form = Form(statement=statement, assumptions=())
    (problem,) = provers.OnInstances().problems(form, Hypotheses(assumptions=(), check=check), {"n": 1})
    assert (provers.settle(problem, seconds=5.0) is not None) is proved


def test_sizes_with_too_many_arrays_are_left_out_whole() -> None:
    """Three whole numbers of 0 or 1 make eight arrays: with room for seven there is no case at all."""
    space = Space({"s": Integers(0, 1, shape=(3,))})
    assert len(instances.discrete_points(space, 8)) == 8
    assert instances.discrete_points(space, 7) == []


def test_instances_are_cases_if_they_are_made_without_rounding_from_real_numbers() -> None:
    form = Form(statement=sp.Le(0, 1, evaluate=False))
    numbers = Space({"n": Integer(1, 2), "x": Real(0, 1)})
    for check, count in (
        (Instances(space=numbers, realise=lambda point: {}), 2),
        (Instances(space=numbers, realise=lambda point: {}, rational=False), 0),
        (Instances(space=Space({"n": Integer(1, 2)}), realise=lambda point: {}), 0),
    ):
        assert len(provers.OnInstances().scopes(form, Hypotheses(assumptions=(), check=check))) == count
