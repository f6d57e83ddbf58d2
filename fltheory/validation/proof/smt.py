"""Polynomial problems for decision procedures: SMT-LIB text, z3, and cvc5 as a second opinion.

Both are extras (``pip install --editable '.[proof]'``); without them nothing here finds or replays anything.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from fltheory.validation.proof.sequent import Fact, Sequent, Sign, terms_of


def available(solver: str) -> bool:
    """Return whether a solver, ``z3`` or ``cvc5``, is installed."""
    return importlib.util.find_spec(solver) is not None


def text(sequent: Sequent) -> str:
    """Return the problem as SMT-LIB: unsatisfiable if the goal follows."""
    names = [f"x{place}_{name}" for place, name in enumerate(sequent.names)]
    lines = ["(set-logic QF_NRA)", *(f"(declare-const {name} Real)" for name in names)]
    lines += [f"(assert {_fact(fact, names)})" for fact in sequent.hypotheses]
    lines += [f"(assert (not {_fact(sequent.goal, names)}))", "(check-sat)"]
    return "\n".join(lines)


def _fact(fact: Fact, names: list[str]) -> str:
    # Whole coefficients, which is a positive multiple: decimal fractions would be another number.
    values = [value for _, value in fact.polynomial.terms()] or [fact.polynomial.ring.domain.one]
    scale = math.lcm(*(int(value.denominator) for value in values))
    terms = [_term(monomial, value * scale, names) for monomial, value in terms_of(fact.polynomial)]
    total = f"(+ {' '.join(terms)})" if len(terms) > 1 else (terms or ["0.0"])[0]
    sign = {Sign.NONNEGATIVE: ">=", Sign.POSITIVE: ">", Sign.ZERO: "="}[fact.sign]
    return f"({sign} {total} 0.0)"


def _term(monomial: tuple[int, ...], value: Any, names: list[str]) -> str:
    number = int(value.numerator)
    shown = f"{number}.0" if number >= 0 else f"(- {-number}.0)"
    factors = [name for name, power in zip(names, monomial, strict=True) for _ in range(power)]
    return f"(* {shown} {' '.join(factors)})" if factors else shown


def version(solver: str) -> str:
    """Return the version of an installed solver."""
    from importlib.metadata import version as installed

    return f"{solver} {installed({'z3': 'z3-solver'}.get(solver, solver))}"


def solve(solver: str, problem: str, *, seconds: float) -> str:
    """Return ``unsat``, ``sat`` or ``unknown``; the solver is stopped when its time is up."""
    if not available(solver):
        return "unknown"
    return _WORKER.ask(solver, problem, seconds)


class _Worker:
    """The process that runs solvers; it is started when it is first needed, and again after it had to be stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0

    def ask(self, solver: str, problem: str, seconds: float) -> str:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(seconds + _GRACE, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps({"solver": solver, "text": problem, "seconds": seconds}) + "\n")
            process.stdin.flush()
            found = process.stdout.readline().strip()
        except OSError:
            found = ""
        finally:
            timer.cancel()
        if not found:
            self.stop()
        return found or "unknown"

    def _running(self) -> subprocess.Popen[str]:
        # A process that was forked must not share the pipes of its parent.
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, str(_SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self._owner = os.getpid()
            atexit.register(self.stop)
        return self._process

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.communicate()


_WORKER = _Worker()
_SCRIPT = Path(__file__).with_name("solver_process.py")
_GRACE = 5.0
"""Seconds that a solver may take longer than it was told, to start and to stop."""
