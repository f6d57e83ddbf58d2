"""What goes wrong in an algorithm of the user's own is told with file and line; ``--traceback`` shows all."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fltheory.cli import app

ALGORITHM = """
from dataclasses import dataclass
from typing import ClassVar

from fltheory.algorithms import FedAvg


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken(FedAvg):
    name: ClassVar[str] = "broken"
    title: ClassVar[str] = "Broken"

    def round(self, state, oracle, work):
        return state.nothing
"""
EXPERIMENT = """
rounds = 2
replicates = 2

[problem]
name = "client-quadratics"
num_clients = 2

[participation]
local_steps = 2

[[algorithm]]
name = "mine:Broken"
rate = 0.01
"""


@pytest.mark.parametrize("command", ["run", "sweep", "tune"])
def test_one_line_with_its_place_or_everything(tmp_path: Path, command: str) -> None:
    (tmp_path / "mine.py").write_text(ALGORITHM, encoding="utf-8")
    grid = "\n[sweep]\nseed = [1]\n" if command == "sweep" else ""
    (tmp_path / "study.toml").write_text(EXPERIMENT + grid, encoding="utf-8")
    words = [command, str(tmp_path / "study.toml"), "--output", str(tmp_path / "out"), "--quiet"]
    more = ["--jobs", "1"] if command == "sweep" else []
    short = CliRunner().invoke(app, [*words, *more])
    assert short.exit_code in (1, 2), short.output
    assert "mine.py:14: AttributeError: 'State' object has no attribute 'nothing'" in short.stderr
    assert "Traceback" not in short.stderr
    whole = CliRunner().invoke(app, ["--traceback", *words, *more])
    assert whole.exit_code == short.exit_code
    assert "Traceback (most recent call last)" in whole.stderr
    assert "mine.py:14" in whole.stderr
