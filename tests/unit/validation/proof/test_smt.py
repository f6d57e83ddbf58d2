"""Problems as SMT-LIB text, and the process that answers them."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
import sympy as sp

from fltheory.validation.proof import smt
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

RING = ring_of(["x", "y"])
x, y = RING.gens


def test_the_negated_goal_is_asserted_with_whole_numbers() -> None:
    facts = (Fact(x / 2 - y**2 / 3, Sign.NONNEGATIVE), Fact(RING.zero, Sign.ZERO), Fact(x * y, Sign.POSITIVE))
    assert smt.text(Sequent(RING, facts, Fact(-x - sp.QQ(1, 2), Sign.ZERO))).splitlines() == [
        "(set-logic QF_NRA)",
        "(declare-const x0_x Real)",
        "(declare-const x1_y Real)",
        "(assert (>= (+ (* 3.0 x0_x) (* (- 2.0) x1_y x1_y)) 0.0))",
        "(assert (= 0.0 0.0))",
        "(assert (> (* 1.0 x0_x x1_y) 0.0))",
        "(assert (not (= (+ (* (- 2.0) x0_x) (- 1.0)) 0.0)))",
        "(check-sat)",
    ]


def test_solvers_that_are_not_installed_know_nothing() -> None:
    assert not smt.available("no_such_solver")
    assert smt.solve("no_such_solver", "(check-sat)", seconds=1.0) == "unknown"


ECHO = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["text"] == "end":
        break
    print(asked["solver"], asked["text"], asked["seconds"], flush=True)
"""
"""Stands in for the script of the solvers: repeats what it is asked, or ends."""


@pytest.fixture
def worker(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    monkeypatch.setattr(smt, "_SCRIPT", script)
    made = smt._Worker()
    yield made
    made.stop()


def test_questions_are_answered_by_one_process_until_it_ends(worker: Any) -> None:
    assert worker.ask("z3", "one", 5.0) == "z3 one 5.0"
    process = worker._process
    assert worker.ask("cvc5", "two", 1.0) == "cvc5 two 1.0"
    assert worker._process is process
    assert worker.ask("z3", "end", 5.0) == "unknown"
    assert process.poll() is not None
    assert worker.ask("z3", "three", 5.0) == "z3 three 5.0"
    assert worker._process is not process


def test_a_process_that_is_gone_is_started_again(worker: Any) -> None:
    worker.ask("z3", "one", 5.0)
    worker._process.kill()
    worker._process.communicate()
    assert worker.ask("z3", "two", 5.0) == "z3 two 5.0"


def test_a_process_that_takes_too_long_is_stopped(worker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    smt._SCRIPT.write_text("import time; time.sleep(5)")
    monkeypatch.setattr(smt, "_GRACE", 0.05)
    process = worker._running()
    assert worker.ask("z3", "one", 0.05) == "unknown"
    assert process.returncode == -signal.SIGKILL


def test_stopping_ends_the_process(worker: Any) -> None:
    worker.ask("z3", "one", 5.0)
    process = worker._process
    worker.stop()
    assert process.returncode == -signal.SIGKILL
    worker.stop()  # again, without one


def test_a_process_of_the_parent_is_neither_used_nor_stopped(worker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that was forked: it has another number."""
    worker.ask("z3", "one", 5.0)
    of_parent = worker._process
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: 1)
        worker.stop()
        assert of_parent.poll() is None
        worker._process = of_parent
        assert worker._running() is not of_parent
        assert worker.ask("z3", "two", 5.0) == "z3 two 5.0"
        worker.stop()
    assert of_parent.poll() is None
    of_parent.kill()
    of_parent.communicate()
