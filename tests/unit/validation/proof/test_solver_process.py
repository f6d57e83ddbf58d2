"""The process of the solvers, run in the process of the tests."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from fltheory.validation.proof import smt, solver_process
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

X = ring_of(["x"]).gens[0]
SQUARE, NEGATIVE = (
    smt.text(Sequent(X.ring, (), Fact(p, sign))) for p, sign in ((X**2, Sign.NONNEGATIVE), (X**2, Sign.POSITIVE))
)


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_answers(solver: str) -> None:
    """No square is negative; one is not positive."""
    pytest.importorskip(solver)
    assert solver_process.answer(solver, SQUARE, 5.0) == "unsat"
    assert solver_process.answer(solver, NEGATIVE, 5.0) == "sat"


def test_without_a_question_nothing_is_known() -> None:
    pytest.importorskip("cvc5")
    assert solver_process.answer("cvc5", "(set-logic QF_NRA)(declare-const x Real)", 5.0) == "unknown"


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (["unsat"], "unsat"), (["sat"], "sat"), (["unknown", "unsat"], "unsat"), (["unknown", "sat"], "sat"),
        (["unknown", "unknown"], "unknown"), ([None, "unsat"], "unsat"), ([None, None], "unknown"),
        (["unknown", None], "unknown"),
    ],
)  # fmt: skip
def test_z3_is_asked_in_two_ways(answers: list[str | None], found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second way is taken only if the first one does not decide; what fails has not decided anything."""
    z3 = pytest.importorskip("z3")
    left = iter(answers)

    def check(self: Any) -> Any:
        one = next(left)
        if one is None:
            raise z3.Z3Exception("it gives up")
        return one

    monkeypatch.setattr(z3.Solver, "check", check)
    assert solver_process.answer("z3", SQUARE, 1.0) == found
    assert list(left) == []


def test_one_line_is_answered_after_the_other(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """An exception is no answer, and no end."""

    def answer(solver: str, problem: str, seconds: float) -> str:
        if problem == "broken":
            raise ValueError
        return f"{solver} {problem} {seconds}"

    monkeypatch.setattr(solver_process, "answer", answer)
    lines = [{"solver": "z3", "text": text, "seconds": 2} for text in ("one", "broken", "two")]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(json.dumps(line) + "\n" for line in lines)))
    solver_process.main()
    assert capsys.readouterr().out.splitlines() == ["z3 one 2", "unknown", "z3 two 2"]
