"""Planted truths get certificates, planted falsehoods never do, and certificates are replayed without a search."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.claim import Form
from fltheory.errors import InvalidParameter
from fltheory.validation.proof import certificate as certificates
from fltheory.validation.proof import instances, products, provers, smt
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.verdict import Strength

_spec = importlib.util.spec_from_file_location("planted", Path(__file__).with_name("planted.py"))
assert _spec is not None
assert _spec.loader is not None
planted = importlib.util.module_from_spec(_spec)
sys.modules["planted"] = planted
_spec.loader.exec_module(planted)

TRUE: dict[str, tuple[Callable[..., Form], Strength]] = {
    "contraction": (planted.contraction, Strength.PROVED),
    "triangle": (planted.triangle, Strength.CERTIFIED),
    "variance": (planted.variance, Strength.CERTIFIED),
    "squares": (planted.squares, Strength.CERTIFIED),
}


def _attempted(form: Form, seconds: float = 5.0) -> Certificate | None:
    return provers.attempt("planted.form", form, _hypotheses(form), seconds=seconds)


def _hypotheses(form: Form) -> Hypotheses:
    return Hypotheses.of(planted.claimed(form), form)


@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("solvers", [True, False])
def test_tight_truths_are_certified(name: str, solvers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not solvers:
        monkeypatch.setattr(smt, "available", lambda solver: False)
    make, strength = TRUE[name]
    form = make()
    found = _attempted(form)
    assert found is not None
    assert found.strength is strength
    assert provers.replay(found, form, _hypotheses(form)) == ""


@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
@pytest.mark.parametrize("solvers", [True, False])
def test_falsehoods_are_refused(name: str, excess: Any, solvers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not solvers:
        monkeypatch.setattr(smt, "available", lambda solver: False)
    assert _attempted(TRUE[name][0](1 + excess), seconds=2.0) is None


@pytest.mark.parametrize("name", TRUE)
def test_a_certificate_is_worth_nothing_for_another_statement(name: str) -> None:
    make = TRUE[name][0]
    found = _attempted(make())
    assert found is not None
    other = make(1 + sp.Rational(1, 10**6))
    assert provers.replay(found, other, _hypotheses(other)) == "the certificate is about another statement"
    # Even if the digest is made to agree, the problems do not.
    digest = certificates.statement_digest(other, _hypotheses(other))
    forged = dataclasses.replace(found, statement=digest)
    assert provers.replay(forged, other, _hypotheses(other)) != ""


def test_an_assumption_counts() -> None:
    form = planted.contraction()
    weaker = dataclasses.replace(form, assumptions=form.assumptions[1:])
    assert _attempted(weaker, seconds=2.0) is None
    found = _attempted(form)
    assert found is not None
    assert provers.replay(found, weaker, _hypotheses(weaker)) == "the certificate is about another statement"


def test_a_declared_domain_counts() -> None:
    x = planted.scalar("x", "x", "a number", domain="nonnegative")
    free = planted.scalar("x", "x", "a number")
    assert _attempted(Form(statement=sp.Ge(x**3, 0, evaluate=False), assumptions=())) is not None
    assert _attempted(Form(statement=sp.Ge(free**3, 0, evaluate=False), assumptions=()), seconds=2.0) is None


@pytest.mark.parametrize("solvers", [True, False])
@pytest.mark.parametrize(
    ("statement", "true"),
    [
        (sp.Gt(planted.L, 0, evaluate=False), True),
        (sp.Lt(-planted.L, planted.eta, evaluate=False), True),
        (sp.Gt(planted.eta, 0, evaluate=False), False),  # declared to be at least zero
        (sp.Lt(0, planted.eta**2 + planted.h, evaluate=False), False),
        (sp.Lt(-planted.eta, planted.h, evaluate=False), False),
    ],
    ids=str,
)
def test_strict_inequalities_are_strict(
    statement: Any, true: bool, solvers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not solvers:
        monkeypatch.setattr(smt, "available", lambda solver: False)
    assert (_attempted(Form(statement=statement, assumptions=()), seconds=2.0) is not None) is true


def test_members_of_a_family_that_is_defined_are_not_counted() -> None:
    """The quantities of an instance without a defined family have its members instead, one for every index there is."""

    class Members:
        def __getitem__(self, position: int) -> Any:
            if position > 3:
                raise AssertionError("all members are asked for")
            return sp.Symbol("never")

    y = planted.scalar("planted_declared", "y", "numbers of outcomes", domain="nonnegative", random=True)
    form = Form(statement=sp.Ge(y, 0, evaluate=False))
    given = sp.Symbol("given", real=True)
    found = list(instances.declared(form, {"planted_declared": [Members(), given]}))
    assert found == [sp.Ge(given, 0, evaluate=False)]


def test_edited_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "available", lambda solver: False)
    form = planted.contraction()
    found = _attempted(form)
    assert found is not None
    (part,) = found.parts[0]
    assert part["terms"]
    for change in (
        [{**part["terms"][0], "c": "2"}, *part["terms"][1:]],
        [{**part["terms"][0], "c": "-1"}, *part["terms"][1:]],
        part["terms"][1:],
    ):
        edited = dataclasses.replace(found, parts=[[{**part, "terms": change}]])
        assert "do not add up" in provers.replay(edited, form, _hypotheses(form))
    assert "too few cases" in provers.replay(
        dataclasses.replace(_certified_triangle(), scope=[{"N": 1}], parts=[[]]),
        planted.triangle(),
        _hypotheses(planted.triangle()),
    )


@pytest.mark.parametrize(
    "part",
    [
        {"terms": [{"c": "x", "m": [0], "f": []}], "contradiction": False},
        {"terms": [{"c": "1/0", "m": [0], "f": []}], "contradiction": False},
        {"terms": [{"c": "1", "f": []}], "contradiction": False},
        {"terms": [{"c": "1", "m": [0], "f": [99]}], "contradiction": False},
        {"terms": [{"c": "1", "m": [-2], "f": []}], "contradiction": False},
        {"terms": ["c"], "contradiction": False},
        {"terms": []},
        {"halves": [{"terms": [], "contradiction": False}]},
        {"weights": [["0", "1"]]},
        {"text": 3},
    ],
)
def test_parts_that_cannot_be_read_prove_nothing_and_are_no_obstacle(part: dict[str, Any]) -> None:
    form = planted.contraction()
    found = _attempted(form)
    assert found is not None
    (stored,) = found.parts[0]
    damaged = dataclasses.replace(found, parts=[[{"digest": stored["digest"], **part}]])
    assert provers.replay(damaged, form, _hypotheses(form)).startswith(("a part", "products of hypotheses do not"))


@pytest.mark.parametrize(
    ("parts", "method"),
    [
        ([[{}], [{}]], "identity"),
        ([[{}, {"terms": []}], [{}]], "products of hypotheses"),
        ([[{}], [{"halves": []}, {}]], "products of hypotheses"),
        ([[{"weights": []}, {}]], "a semidefinite program"),
        ([[{}, {"solvers": {"z3 4": "unsat", "cvc5 1": "unknown"}}], [{"terms": []}]],
         "products of hypotheses and cvc5 1 and z3 4"),
    ],
)  # fmt: skip
def test_certificates_say_by_which_means(parts: Any, method: str) -> None:
    assert dataclasses.replace(_certified_triangle(), parts=parts).method == method


@pytest.mark.parametrize("nonnegative", [set(), {0}, {0, 1}])
def test_squares_are_multiplied_by_what_is_not_negative_only(nonnegative: set[int]) -> None:
    ring = ring_of(["x", "y"])
    support = {(a, b) for a in range(4) for b in range(4)}
    found = list(products._squares(ring, support, nonnegative))
    factors = {tuple(term["m"]) for term, _ in found}
    assert (0, 0) in factors
    assert all(place in nonnegative or not power % 2 for m in factors for place, power in enumerate(m))
    assert any(m[0] % 2 for m in factors) is (0 in nonnegative)
    assert any(m[1] % 2 for m in factors) is (1 in nonnegative)
    for term, product in found:
        assert products._product(Sequent(ring, tuple(
            Fact(ring.gens[place], Sign.NONNEGATIVE) for place in nonnegative
        ), Fact(ring.one, Sign.NONNEGATIVE)), term)[0] == product  # fmt: skip


def test_certificates_say_why_they_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    form, found = planted.triangle(), _certified_triangle()

    def refused(**changes: Any) -> str:
        return provers.replay(dataclasses.replace(found, **changes), form, _hypotheses(form))

    assert refused() == ""
    assert refused(prover="other") == "there is no prover called 'other'"
    assert refused(scope=[], parts=[]) == "the certificate has no cases"
    assert refused(parts=found.parts[:-1]) == "the certificate has no cases"
    assert refused(scope=[{"N": 5}, *found.scope[1:]]) == "the certificate is about other sizes"
    assert refused(parts=[found.parts[0] * 2, *found.parts[1:]]) == "the certificate is about other problems"
    assert refused(parts=[[], *found.parts[1:]]) == "the certificate is about other problems"

    def untranslatable(*_: Any) -> Any:
        raise Untranslatable("too large today")

    monkeypatch.setattr(provers.Sizes, "problems", untranslatable)
    assert refused() == "too large today"


def _settled(problems: Any, count: int = 4, end: float = 10.0) -> list[Any]:
    """Cases that are proved, out of some whose problems are given, two of which are required."""

    class Some:
        name, strength, means = "some", Strength.CERTIFIED, "polynomial"

        @staticmethod
        def required(scopes: Any) -> int:
            return 2

        @staticmethod
        def problems(form: Form, hypotheses: Any, scope: Any) -> Any:
            return problems(scope["n"])

    scopes = [{"n": n} for n in range(1, count + 1)]
    form = planted.contraction()
    proved, parts = provers._settled(Some(), form, _hypotheses(form), scopes, time.perf_counter() + end)
    assert len(proved) == len(parts)
    return [scope["n"] for scope in proved]


def test_cases_are_proved_in_order_and_all_or_enough_of_them() -> None:
    ring = ring_of(["x"])
    true = Sequent(ring, (), Fact(ring.gens[0] ** 2, Sign.NONNEGATIVE))
    false = Sequent(ring, (), Fact(ring.gens[0], Sign.NONNEGATIVE))

    def too_large(least: int) -> Any:
        def problems(n: int) -> list[Sequent]:
            if n >= least:
                raise Untranslatable("too large")
            return [true]

        return problems

    assert _settled(lambda n: [true, true]) == [1, 2, 3, 4]
    assert _settled(lambda n: [true] if n < 4 else [true, false]) == []  # one that fails is a reason to say nothing
    assert _settled(lambda n: []) == []  # nothing was claimed
    assert _settled(lambda n: [] if n < 3 else [true]) == [1, 2, 3, 4]
    assert _settled(too_large(3)) == [1, 2]
    with pytest.raises(Untranslatable):
        _settled(too_large(2))
    assert _settled(lambda n: [true], end=-1.0) == []  # no time


def test_the_order_of_the_provers() -> None:
    equation, inequality = planted.squares(), planted.contraction()
    usual = [prover.name for prover in provers.PROVERS]
    assert [prover.name for prover in provers._ordered(provers.PROVERS, equation)] == usual
    last = [prover.name for prover in provers._ordered(provers.PROVERS, inequality)]
    assert last == [name for name in usual if name != "instances"] + ["instances"]


def test_weights_that_are_no_round_numbers_are_solved_for() -> None:
    ring = ring_of(["x", "y"])
    x, y = ring.gens
    odd = sp.QQ(1, 1_000_003)
    columns = [({}, x + y), ({}, y), ({"e": 0}, x)]
    near = [float(odd) * (1 + 1e-7)] * 2
    assert products._exact(odd * x, [columns[0], columns[1]], [0, 1], near) is None  # a weight would be negative
    assert dict(products._exact(odd * (x + 2 * y), columns[:2], [0, 1], near) or []) == {0: odd, 1: odd}
    both = products._exact(odd * (y - x), columns, [1, 2], [float(odd) * 1.0000001] * 3)
    assert dict(both or []) == {1: odd, 2: -odd}
    assert products._exact(odd * x, columns, [1], near) is None
    assert products._exact(x / 3 + y / 3, columns, [0], [0.33333]) == [(0, sp.QQ(1, 3))]
    assert products._linear(odd * x, columns, []) is None


def test_half_of_an_equation_is_no_certificate_of_it() -> None:
    x, y = sp.symbols("x y")
    ring = ring_of(["x", "y"])
    known = Fact(ring.from_expr(x - y), Sign.ZERO)
    problem = Sequent(ring, (known,), Fact(ring.from_expr(2 * x - 2 * y), Sign.ZERO))
    part = provers.settle(problem, seconds=5.0)
    assert part is not None
    assert len(part["halves"]) == 2
    assert provers._refused(problem, part, "polynomial", 1.0) == ""
    for halves in ([], part["halves"][:1], part["halves"][1:], part["halves"][::-1]):
        assert provers._refused(problem, {**part, "halves": halves}, "polynomial", 1.0) != ""


def _certified_triangle() -> Certificate:
    found = _attempted(planted.triangle())
    assert found is not None
    return found


def test_more_than_was_certified_cannot_be_said() -> None:
    form = planted.triangle()
    found = _certified_triangle()
    said = provers.replay(dataclasses.replace(found, words="all values"), form, _hypotheses(form))
    assert said == "the certificate says that it covers something else"
    stronger = provers.replay(dataclasses.replace(found, strength=Strength.PROVED), form, _hypotheses(form))
    assert "is certified" in stronger


def test_a_solver_has_to_repeat_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3")
    monkeypatch.setattr(products, "attempt", lambda problem, seconds: None)
    form = planted.contraction()
    found = _attempted(form)
    assert found is not None
    assert found.method.startswith("cvc5") or "z3" in found.method
    assert provers.replay(found, form, _hypotheses(form)) == ""
    (part,) = found.parts[0]
    other = dataclasses.replace(found, parts=[[{**part, "text": "(assert false)(check-sat)"}]])
    assert provers.replay(other, form, _hypotheses(form)) == "a part proves nothing"
    monkeypatch.setattr(smt, "solve", lambda solver, problem, seconds: "unknown")
    assert provers.replay(found, form, _hypotheses(form)) == "z3 does not repeat its answer: unknown"
    monkeypatch.setattr(smt, "available", lambda solver: False)
    assert "z3 is not installed" in provers.replay(found, form, _hypotheses(form))


def test_the_smallest_sizes_alone_are_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    proved = provers.settle

    def slow(problem: Any, means: str, *, seconds: float, quick: float) -> Any:
        if "v_2" not in problem.names:
            return proved(problem, means, seconds=seconds, quick=quick)
        time.sleep(seconds + 0.01)
        return None

    monkeypatch.setattr(provers, "settle", slow)
    assert _attempted(planted.triangle(), seconds=1.0) is None


def test_a_second_opinion_against_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "attempt", lambda problem, seconds: None)
    monkeypatch.setattr(smt, "available", lambda solver: True)
    monkeypatch.setattr(smt, "solve", lambda solver, problem, seconds: {"z3": "unsat", "cvc5": "sat"}[solver])
    assert _attempted(planted.contraction()) is None


def test_files(tmp_path: Path) -> None:
    found = _certified_triangle()
    path = tmp_path / certificates.file_of(found.id, found.variant)
    certificates.save(found, path)
    again = certificates.load(path)
    assert again.as_json() == found.as_json()
    assert certificates.is_certificate(path)
    path.write_text(path.read_text().replace("certified", "certain"))
    with pytest.raises(InvalidParameter, match="strength must be one of"):
        certificates.load(path)
    path.write_text("{}")
    assert not certificates.is_certificate(path)
    path.write_text("[]")
    assert not certificates.is_certificate(path)
    with pytest.raises(InvalidParameter, match="is not a certificate"):
        certificates.load(path)
    path.write_text("{}")
    with pytest.raises(InvalidParameter, match="is not a certificate"):
        certificates.load(path)


def test_too_many_products_are_cut_and_none_are_returned_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = ring_of(["x", "y"])
    x, y = ring.gens
    goal = x**2 + x * y + y**2
    sequent = Sequent(ring, (Fact(x, Sign.NONNEGATIVE), Fact(y, Sign.NONNEGATIVE)), Fact(goal, Sign.NONNEGATIVE))
    later = time.perf_counter() + 60
    everything = products._columns(sequent, goal, 0, later)
    assert everything is not None
    assert len(everything) > 4
    assert products._columns(sequent, goal, 0, time.perf_counter() - 1) is None
    monkeypatch.setattr(products, "MOST", 2)
    assert products._columns(sequent, goal, 0, later) == everything[:2]
