"""``fltheory tune`` as a user calls it."""

import json

import pytest
from typer.testing import CliRunner

from fltheory.cli import app

TEXT = """
rounds = 10
seed = 3

[problem]
name = "noisy-quadratic"
dim = 3
num_clients = 2
mu = 1.0
L = 4.0

[participation]
local_steps = 2

[[algorithm]]
name = "fedavg"

[[algorithm]]
name = "scaffold"
label = "mine"
rate = 0.1
"""

PICKY = """
from dataclasses import dataclass
from typing import ClassVar

import fltheory as fl
from fltheory.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, slots=True)
class Picky(fl.FedAvg):
    name: ClassVar[str] = "picky"
    title: ClassVar[str] = "Picky"
    alpha: float = 3.0

    def round(self, state, oracle, work):
        raise InvalidParameter("Picky.alpha must be small, got alpha=3; lower it")
"""


@pytest.fixture
def tune(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, text=TEXT):
        (tmp_path / "file.toml").write_text(text, encoding="utf-8")
        return CliRunner().invoke(app, ["tune", "file.toml", *arguments])

    return call


def test_a_table_per_algorithm_and_nothing_is_written(tune, tmp_path):
    done = tune("--no-server", "--accuracy", "0.02")
    assert done.exit_code == 0, done.stderr
    assert "FedAvg: 10 rounds, accuracy 0.02, exact" in done.stdout
    assert "mine: 10 rounds, accuracy 0.02, exact" in done.stdout
    first, second = done.stdout.split("mine: 10 rounds")
    assert "ruan.theorem-3.1" in first
    assert "given rate" not in first
    assert "given rate" in second
    assert "no rate from ruan.eq-66, " in second
    assert "best with server rate" not in done.stdout
    assert "[8/8]" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file.toml"]


def test_json_is_one_document_and_files_are_written_where_they_are_asked_for(tune, tmp_path):
    done = tune("--json", "--quiet", "--output", "out", "--longest", "30")
    assert done.exit_code == 0
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert [one["label"] for one in document["results"]] == ["FedAvg", "mine"]
    assert document["results"][0]["longest"] == 30
    assert document["results"][0]["limit"]["rate"] == pytest.approx(0.5, rel=1e-6)
    assert "best with server rate" in {row["name"] for row in document["results"][0]["candidates"]}
    assert json.loads((tmp_path / "out" / "step-sizes.json").read_text(encoding="utf-8")) == document
    written = {path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")}
    assert {"step-sizes.json", "fedavg.svg", "fedavg.png", "mine.svg", "mine.png"} <= written


def test_quiet_says_nothing(tune):
    done = tune("--quiet", "--no-server")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


def test_an_algorithm_for_which_nothing_is_found_exits_with_1_and_keeps_the_others(tune):
    text = TEXT.replace("mu = 1.0", "mu = 1.0\nradius = 0.0")
    done = tune("--json", "--quiet", "--no-server", text=text)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0].startswith("error: FedAvg: the start is a minimiser")
    assert set(json.loads(done.stdout)["errors"]) == {"FedAvg", "mine"}


def test_an_algorithm_that_refuses_its_parameters_costs_the_others_nothing(tune, tmp_path):
    """SCAFFOLD's runs are refused from within; FedAvg's table is there, the refusal stands beside it, the code is 1."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "picky.py").write_text(PICKY, encoding="utf-8")
    text = TEXT.replace('name = "scaffold"', 'name = "picky"') + '\n[[algorithm]]\nname = "fedprox"\n'
    done = tune("--no-server", "--algorithms", "own", "--output", "out", text=text)
    assert done.exit_code == 1
    assert "Traceback" not in done.stderr
    assert "error: mine: Picky.alpha must be small, got alpha=3; lower it" in done.stderr
    lines = done.stdout.splitlines()
    headings = [line.split(":")[0] for line in lines if line.startswith(("FedAvg:", "mine:", "FedProx:"))]
    assert headings == ["FedAvg", "mine", "FedProx"]
    assert "mine: nothing found: Picky.alpha must be small, got alpha=3; lower it" in lines
    assert "[12/12]" in done.stderr
    document = json.loads((tmp_path / "out" / "step-sizes.json").read_text(encoding="utf-8"))
    assert [one["label"] for one in document["results"]] == ["FedAvg", "FedProx"]
    assert list(document["errors"]) == ["mine"]


def test_unmet_assumptions_of_theorems_are_named_in_the_table(tune):
    drifting = TEXT.replace("L = 4.0", "L = 4.0\nround_drift_sq = 0.1")
    done = tune("--no-server", "--quiet", "--json", text=drifting)
    rows = {row["name"]: row for row in json.loads(done.stdout)["results"][0]["candidates"]}
    unmet = {"no drift that is shared by all steps of a round": "round_drift_sq = 0.1"}
    assert rows["ruan.theorem-3.1"]["unmet_assumptions"] == unmet
    assert rows["best constant rate"]["unmet_assumptions"] == {}
    said = " ".join(tune("--no-server", text=drifting).stdout.split())
    assert "unmet assumptions" in said
    assert "no drift that is shared by all steps of a round (round_drift_sq = 0.1)" in said


@pytest.mark.parametrize(
    ("arguments", "old", "new", "message"),
    [
        (("--accuracy", "-1"), "", "", "step_sizes.accuracy must be a number in (0, inf)"),
        (("--accuracy", "nan"), "", "", "step_sizes.accuracy"),
        (("--longest", "9"), "", "", "step_sizes.longest must be an integer >= 10, got longest=9"),
        (("--replicates", "0"), "", "", "replicates must be an integer >= 1"),
        (("--seed", "-1"), "", "", "seed must be an integer >= 0"),
        (("--claims", "nowhere"), "", "", "--claims must name a folder"),
        (("--fast",), "", "", "No such option"),
        ((), "rate = 0.1", "rate = -0.1", "file.toml:21: "),
        ((), "rate = 0.1", "rates = 0.1", "algorithm[2].rates is not a parameter"),
        ((), '"scaffold"', '"scafold"', "did you mean 'scaffold'"),
        ((), "rounds = 10", "", "rounds is missing"),
    ],
)
def test_bad_input_is_one_line_and_exits_with_2(tune, arguments, old, new, message):
    done = tune("--no-server", "--quiet", *arguments, text=TEXT.replace(old, new) if old else TEXT)
    assert done.exit_code == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line


def test_a_file_that_is_not_there(tune):
    done = CliRunner().invoke(app, ["tune", "missing.toml"])
    assert done.exit_code in (1, 2)
    assert done.stderr.startswith("error: ")


def test_run_still_wants_a_rate(tune, tmp_path):
    tune("--quiet", "--no-server")
    done = CliRunner().invoke(app, ["run", "file.toml", "--quiet"])
    assert done.exit_code == 2
    assert "algorithm[1].rate is missing" in done.stderr
