"""A process that answers polynomial problems, one line each: solvers do not always stop when their time is up.

Run as a script it reads JSON objects with ``solver``, ``seconds`` and ``text``, and writes one word for each. It
imports nothing but the solvers.
"""

from __future__ import annotations

import json
import sys


def answer(solver: str, problem: str, seconds: float) -> str:
    """Return ``unsat``, ``sat`` or ``unknown``."""
    return _z3(problem, seconds) if solver == "z3" else _cvc5(problem, seconds)


def _z3(problem: str, seconds: float) -> str:
    import z3

    context = z3.Context()
    for tactic in ("qfnra-nlsat", ""):
        made = z3.Tactic(tactic, ctx=context).solver() if tactic else z3.Solver(ctx=context)
        made.set("timeout", max(int(500 * seconds), 1))
        made.from_string(problem)
        try:
            found = str(made.check())
        except z3.Z3Exception:
            found = "unknown"
        if found != "unknown":
            return found
    return "unknown"


def _cvc5(problem: str, seconds: float) -> str:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("nl-cov", "true")
    solver.setOption("tlimit-per", str(max(int(1000 * seconds), 1)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, problem, "problem")
    symbols = parser.getSymbolManager()
    words: list[str] = []
    while not (command := parser.nextCommand()).isNull():
        words += str(command.invoke(solver, symbols)).split()
    return next((word for word in ("unsat", "sat") if word in words), "unknown")


def main() -> None:
    """Answer until there are no more problems."""
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = answer(asked["solver"], asked["text"], asked["seconds"])
        except Exception:  # a solver that gives up has not decided anything
            found = "unknown"
        print(found, flush=True)


if __name__ == "__main__":
    main()
