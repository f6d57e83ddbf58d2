"""Algorithms and problems of the user's own, in configuration files and on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fltheory.configuration import experiments
from fltheory.errors import InvalidParameter
from fltheory.sweep import Grid, plan

ALGORITHM = '''
"""Signs of means: an algorithm of a user's own.

More words.
"""
from dataclasses import dataclass
from typing import ClassVar

from helper import HALF

import fltheory as fl
from fltheory.algorithms import Algorithm, Message, RoundResult, aggregate
from fltheory.algorithms.fedavg import State


@dataclass(frozen=True, kw_only=True, slots=True)
class Halved(Algorithm):
    """Half of the step of FedAvg."""

    name: ClassVar[str] = "halved"
    title: ClassVar[str] = "Halved"
    factor: float = HALF

    def init(self, start, oracle, p):
        return State(w=start)

    def round(self, state, oracle, work):
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work)
        w = state.w + self.factor * aggregate(work.weights, local - sent)
        return RoundResult(State(w=w), local, uplink=(Message(local - sent),), downlink=(Message(sent),))


def flat(dim: int = 2, clients: int = 3):
    """Return a problem."""
    return fl.noisy_quadratic(dim=dim, num_clients=clients)
'''

STUDY = """
rounds = 3
engine = "exact"
[problem]
name = "mine:flat"
dim = 4
[participation]
local_steps = 2
[[algorithm]]
name = "{name}"
rate = 0.1
[[algorithm]]
name = "fedavg"
server_rate = 0.5
rate = 0.1
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(ALGORITHM)
    (tmp_path / "helper.py").write_text("HALF = 0.5\n")
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(name="mine:Halved"))
    return file


def test_names_with_a_colon_lead_to_files_beside_the_configuration(study: Path) -> None:
    (own, first), (_, second) = experiments.load(study).experiments
    assert own == "Halved"
    assert first.problem.dim == 4
    import fltheory as fl

    assert (fl.simulate(first, engine="exact").gap == fl.simulate(second, engine="exact").gap).all()


def test_a_folder_of_algorithms_is_searched(study: Path, tmp_path: Path) -> None:
    study.write_text(STUDY.format(name="halved"))
    with pytest.raises(InvalidParameter, match=r"study.toml:10: algorithm\[1\].name must be one of"):
        experiments.load(study)
    assert experiments.load(study, folders=[tmp_path]).experiments[0][0] == "Halved"
    with pytest.raises(InvalidParameter, match="must name a folder"):
        experiments.load(study, folders=[tmp_path / "missing"])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidParameter, match="got none in"):
        experiments.load(study, folders=[empty])


def test_a_module_is_also_looked_for_in_the_folders_of_algorithms(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "algorithms"
    folder.mkdir()
    (tmp_path / "mine.py").rename(folder / "elsewhere.py")
    (tmp_path / "helper.py").rename(folder / "helper.py")
    study.write_text(
        STUDY.format(name="elsewhere:Halved").replace("mine:", "elsewhere:") + "[sweep]\nrounds = [2, 3]\n"
    )
    with pytest.raises(InvalidParameter, match=r"elsewhere is neither .*elsewhere\.py nor a module"):
        Grid.load(study)
    assert len({run.key for run in plan(Grid.load(study, folders=[folder]))}) == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine:Halfed", "study.toml:10: algorithm[1].name: mine has no 'Halfed'; did you mean 'Halved'"),
        ("yours:Halved", "neither"),
        ("mine:flat", "must be a concrete subclass of fltheory.Algorithm"),
        ("mine:", "must be named as module:Name"),
    ],
)
def test_what_cannot_be_found_is_told_with_its_line(study: Path, name: str, message: str) -> None:
    study.write_text(STUDY.format(name=name))
    with pytest.raises(InvalidParameter) as caught:
        experiments.load(study)
    assert message in str(caught.value)


def test_mistakes_in_own_code_are_told_with_file_and_line(study: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ny = x / 0\n")
    study.write_text(STUDY.format(name="broken:Halved"))
    with pytest.raises(InvalidParameter, match=r"broken\.py:2: ZeroDivisionError"):
        experiments.load(study)
    (tmp_path / "wrong.py").write_text("x = 1\ny = (\n")
    study.write_text(STUDY.format(name="wrong:Halved"))
    with pytest.raises(InvalidParameter, match=r"wrong\.py:2: SyntaxError"):
        experiments.load(study)


def test_something_that_is_no_problem_is_told_what_it_lacks(study: Path, tmp_path: Path) -> None:
    (tmp_path / "things.py").write_text("def nothing():\n    return 3\n")
    study.write_text(STUDY.format(name="fedavg").replace('"mine:flat"\ndim = 4', '"things:nothing"'))
    with pytest.raises(InvalidParameter, match="which lacks num_clients, dim"):
        experiments.load(study)


def test_sweeps_notice_that_own_code_has_changed(study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "[sweep]\nrounds = [2, 3]\n")
    before = [run.key for run in plan(Grid.load(study))]
    # A new process, since modules are loaded once.
    (tmp_path / "mine.py").write_text(ALGORITHM.replace("HALF\n\n    def", "HALF / 2\n\n    def"))
    code = (
        "import json, pathlib, sys; from fltheory.sweep import Grid, plan;"
        "print(json.dumps([r.key for r in plan(Grid.load(pathlib.Path(sys.argv[1])))]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(study)], capture_output=True, text=True, check=True)
    assert not set(before) & set(json.loads(done.stdout))


def test_the_command_line_runs_own_code(study: Path, tmp_path: Path) -> None:
    study.write_text(STUDY.format(name="halved") + "[sweep]\nrounds = [2, 3]\n")
    command = [sys.executable, "-m", "fltheory", "sweep", str(study), "--algorithms", str(tmp_path), "--json"]
    done = subprocess.run([*command, "--output", str(tmp_path / "out"), "--jobs", "2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {run["label"] for run in json.loads(done.stdout)["results"]} == {"Halved", "FedAvg"}
