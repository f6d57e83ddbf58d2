"""``fltheory bounds`` as a user calls it."""

import json

import pytest
from typer.testing import CliRunner

from fltheory.cli import app

TEXT = """
rounds = 20
seed = 3

[problem]
name = "client-quadratics"
dim = 2
num_clients = 2
mu = 1.0
L = 4.0
dissimilarity = 0.0
noise_sq = 0.1

[participation]
local_steps = 2

[[algorithm]]
name = "fedavg"
rate = 0.05

[[algorithm]]
name = "scaffnew"
label = "mine"
rate = 0.1
"""

SOME = ("--theorems", "li.theorem-1", "--theorems", "fieldguide.*", "--theorems", "efl.theorem-1")


@pytest.fixture
def bounds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, text=TEXT):
        (tmp_path / "file.toml").write_text(text, encoding="utf-8")
        return CliRunner().invoke(app, ["bounds", "file.toml", *arguments])

    return call


def test_a_table_per_algorithm_and_nothing_is_written(bounds, tmp_path):
    done = bounds(*SOME)
    assert done.exit_code == 0, done.stderr
    first, second = done.stdout.split("mine: 20 rounds")
    assert "FedAvg: 20 rounds" in first
    assert first.index("valid bounds") < first.index("fieldguide.theorem-1 (sharp)") < first.index("not guarantees")
    assert "li.theorem-1 (published)" in second  # with its own algorithm
    assert "[2/2]" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file.toml"]


def test_the_same_algorithm_only(bounds):
    done = bounds(*SOME, "--same-algorithm", "--quiet", "--json")
    assert done.exit_code == 0
    first, second = json.loads(done.stdout)["results"]
    assert first["tightest"] == "fieldguide.theorem-1 (sharp)"
    assert second["tightest"] is None
    assert any("got Scaffnew" in one["reasons"][0]["name"] for one in second["inapplicable"])


def test_json_is_one_document_and_files_are_written_where_they_are_asked_for(bounds, tmp_path):
    done = bounds(*SOME, "--json", "--quiet", "--output", "out", "--accuracy", "1.0")
    assert done.exit_code == 0
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert document == json.loads((tmp_path / "out/bounds.json").read_text(encoding="utf-8"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "bounds.json",
        *(f"{stem}{suffix}" for stem in ("fedavg", "mine") for suffix in (".svg", ".png", ".csv")),
    }
    rows = (tmp_path / "out/fedavg.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("id,forms,setting,standing,first_rate")
    assert len(rows) == 1 + len(document["results"][0]["guarantees"])
    assert all(len(row.split(",")) == len(rows[0].split(",")) for row in rows)
    assert document["results"][0]["accuracy"] == 1.0


def test_a_declared_constant_is_used(bounds):
    uneven = TEXT.replace("dissimilarity = 0.0", "dissimilarity = 1.0")
    words = ("--theorems", "fieldguide.*", "--json", "--quiet")
    without, declared = bounds(*words, text=uneven), bounds(*words, "--declare", "zeta=9", text=uneven)
    assert json.loads(without.stdout)["results"][0]["tightest"] is None
    assert json.loads(declared.stdout)["results"][0]["tightest"] == "fieldguide.theorem-1 (sharp)"


def test_a_statement_that_cannot_be_evaluated_is_told_and_the_exit_code_says_so(bounds, tmp_path):
    folder = tmp_path / "claims"
    folder.mkdir()
    (folder / "broken.py").write_text(
        '"""No page."""\nobservation=None\nimport nothing_of_this_name\n'
        'claim = Claim(id="own.broken", kind=Kind.BOUND, title="t", citation=Citation("own", "n"))\n',
        encoding="utf-8",
    )
    done = bounds(*SOME, "--theorems", "own.*", "--claims", "claims", "--json")
    assert done.exit_code == 1
    assert "own.broken" in done.stderr
    document = json.loads(done.stdout)
    assert document["results"][0]["errors"].keys() == {"own.broken"}
    assert document["results"][0]["tightest"] == "fieldguide.theorem-1 (sharp)"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--theorems", "nothing.*"), "no claim matches 'nothing.*'"),
        (("--declare", "zeta"), "--declare must be NAME=VALUE with a number as value, got 'zeta'"),
        (("--declare", "zeta=nan"), "--declare must be NAME=VALUE"),
        ((*SOME, "--declare", "nobody=1"), "has a constant nobody"),
        (("--accuracy", "-1"), "compare_theorems.accuracy must be"),
        (("--ledger", "nowhere.json"), "nowhere.json"),
        ((*SOME, "--engine", "fast"), "simulate.engine must be one of"),
    ],
)
def test_bad_input_is_one_line(bounds, arguments, words):
    done = bounds(*arguments)
    assert done.exit_code in (1, 2) if "nowhere.json" in words else done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") <= 2
