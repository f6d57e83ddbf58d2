"""``fltheory sweep`` from the outside: what is run, printed and written, and with which exit code."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fltheory.simulation.engines
from fltheory.cli import app, sweeping
from fltheory.configuration.toml_text import TomlText
from fltheory.errors import InvalidParameter
from fltheory.figures import grid as grid_figure
from fltheory.simulation.trajectories import Trajectories
from fltheory.sweep import Grid, Run, plan
from fltheory.sweep.report import best

EXAMPLES = Path(__file__).parents[2] / "examples"

GRID = """\
title = "A [bold]grid[/bold]"
rounds = 4
replicates = 3
seed = 1
engine = "{engine}"

[problem]
name = "client-quadratics"
dim = 4
num_clients = 3
noise_sq = 0.01

[participation]
local_steps = 2

[sweep]
problem.dissimilarity = [0.0, 1.0]
participation.local_steps = [1, 4, 16]

[[algorithm]]
name = "fedavg"
rate = 0.05

[[algorithm]]
name = "scaffold"
label = "SCAFFOLD, corrected"
rate = 0.05
"""
REFERENCE = GRID.format(engine="reference")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(REFERENCE, encoding="utf-8")
    return tmp_path / "results" / "grid"


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def summary(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return document


def numbers(document: dict[str, Any]) -> list[Any]:
    return [(entry["point"], entry["label"], entry["status"], entry["final"]) for entry in document["results"]]


def count_runs(outcome: Any) -> int:
    return len(re.findall(r"^\[\d+/\d+\]", outcome.stderr, re.MULTILINE))


def test_a_sweep_writes_database_tables_and_figure(here: Path) -> None:
    outcome = invoke("sweep", "grid.toml", "--jobs", "1")
    assert outcome.exit_code == 0, outcome.output
    assert {path.name for path in here.iterdir()} == {
        "sweep.sqlite", "sweep.csv", "summary.json", "figure.svg", "figure.png",
    }  # fmt: skip
    assert count_runs(outcome) == 12
    for shown in ("A [bold]grid[/bold]: 6 points, 12 runs", "problem.dissimilarity", "SCAFFOLD, corrected", "±", "*"):
        assert shown in outcome.stdout
    document = summary(here)
    assert document["sweep"] == {"problem.dissimilarity": [0.0, 1.0], "participation.local_steps": [1, 4, 16]}
    assert document["figures"] == ["figure.svg", "figure.png"]
    connection = sqlite3.connect(here / "sweep.sqlite")
    rows = connection.execute(
        "SELECT key, point, label, algorithm, engine, seed, replicates, status, final, versions, time FROM runs"
    ).fetchall()
    connection.close()
    assert len({row[0] for row in rows}) == 12
    assert {row[3:8] for row in rows} == {
        ("FedAvg", "reference", 1, 3, "done"),
        ("SCAFFOLD", "reference", 1, 3, "done"),
    }
    stored = {row[0]: (json.loads(row[1]), row[2], json.loads(row[8])) for row in rows}
    for entry in document["results"]:
        assert stored[entry["key"]] == (entry["point"], entry["label"], entry["final"])


def test_the_csv_has_one_line_per_run_with_the_numbers_of_the_summary(here: Path) -> None:
    invoke("sweep", "grid.toml", "--jobs", "1", "--quiet")
    with (here / "sweep.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0])[:5] == ["problem.dissimilarity", "participation.local_steps", "label", "distance_sq",
                                  "distance_sq_half_width"]  # fmt: skip
    for line, entry in zip(lines, summary(here)["results"], strict=True):
        assert line["participation.local_steps"] == str(entry["point"]["participation.local_steps"])
        assert (line["label"], line["status"]) == (entry["label"], "done")
        for name, last in entry["final"].items():
            assert (float(line[name]), float(line[f"{name}_half_width"])) == (last["mean"], last["half_width"])


def test_a_point_has_the_numbers_of_a_run_with_its_values(here: Path) -> None:
    document = json.loads(invoke("sweep", "grid.toml", "--json").stdout)
    assert document == summary(here)
    text = REFERENCE.replace("local_steps = 2", "local_steps = 4").replace("dim = 4", "dim = 4\ndissimilarity = 1.0")
    text = text[: text.index("[sweep]")] + text[text.index("[[algorithm]]") :]
    Path("one.toml").write_text(text, encoding="utf-8")
    alone = json.loads(invoke("run", "one.toml", "--json").stdout)["results"]
    point = {"problem.dissimilarity": 1.0, "participation.local_steps": 4}
    found = [entry for entry in document["results"] if entry["point"] == point]
    assert [entry["final"] for entry in found] == [entry["final"] for entry in alone]


def test_only_what_is_missing_is_run(here: Path) -> None:
    invoke("sweep", "grid.toml", "--jobs", "1", "--quiet")
    before = numbers(summary(here))
    connection = sqlite3.connect(here / "sweep.sqlite")
    with connection:
        connection.execute("DELETE FROM runs WHERE label = 'FedAvg' AND point LIKE '%: 16}'")
    connection.close()
    outcome = invoke("sweep", "grid.toml", "--jobs", "1")
    assert count_runs(outcome) == 2
    assert "10 of 12 runs were there before; --fresh runs them again" in outcome.stdout
    assert numbers(summary(here)) == before
    assert count_runs(invoke("sweep", "grid.toml", "--jobs", "1")) == 0
    assert count_runs(invoke("sweep", "grid.toml", "--jobs", "1", "--fresh")) == 12
    assert numbers(summary(here)) == before


@pytest.mark.parametrize("engine", ["monte_carlo", "exact"])
def test_numbers_do_not_depend_on_the_number_of_processes(here: Path, engine: str) -> None:
    Path("grid.toml").write_text(GRID.format(engine=engine).replace(", 16]", "]"), encoding="utf-8")
    for jobs in ("1", "2"):
        assert invoke("sweep", "grid.toml", "--jobs", jobs, "--output", jobs, "--quiet").exit_code == 0
    assert numbers(summary(Path("1"))) == numbers(summary(Path("2")))
    assert Path("1/figure.svg").read_bytes() == Path("2/figure.svg").read_bytes()


def test_no_digit_depends_on_the_number_of_processes_in_large_dimensions(here: Path) -> None:
    text = GRID.format(engine="exact").replace("dim = 4", "dim = 150").replace("[1, 4, 16]", "[4]")
    Path("grid.toml").write_text(text[: text.index('[[algorithm]]\nname = "scaffold"')], encoding="utf-8")
    # In processes of their own: the threads of linear algebra are settled when it is loaded, here by conftest.
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    for jobs in ("1", "2"):
        command = [sys.executable, "-c", "from fltheory.cli import main; main()", "sweep", "grid.toml", "--quiet"]
        subprocess.run([*command, "--jobs", jobs, "--output", jobs], check=True, env=environment)
    assert numbers(summary(Path("1"))) == numbers(summary(Path("2")))


def test_the_best_of_a_point_is_marked(here: Path) -> None:
    Path("grid.toml").write_text(GRID.format(engine="exact"), encoding="utf-8")
    document = json.loads(invoke("sweep", "grid.toml", "--json", "--jobs", "1").stdout)
    entries = document["results"]
    for first, second in zip(entries[::2], entries[1::2], strict=True):
        gaps = [entry["final"]["gap"]["mean"] for entry in (first, second)]
        assert [first["best"], second["best"]] == [gap == min(gaps) for gap in gaps]


def test_bands_that_overlap_share_the_mark() -> None:
    def run(seed: int, mean: float | None, half: float | None) -> Run:
        final = {} if mean is None else {"gap": {"mean": mean, "half_width": half}}
        return Run(
            key="", point={"seed": seed}, label="", algorithm="", engine="", seed=seed, replicates=1, final=final
        )

    first = [run(1, 1.0, 0.2), run(1, 1.3, 0.2), run(1, 1.5, 0.2), run(1, None, None)]
    assert best([*first, run(2, 1.0, None)]) == [True, True, False, False, False]


def test_a_point_that_diverges_is_a_row_and_stops_nobody(here: Path) -> None:
    Path("grid.toml").write_text(
        REFERENCE.replace("problem.dissimilarity = [0.0, 1.0]", "algorithm.rate = [0.05, 1e150]"), encoding="utf-8"
    )
    outcome = invoke("sweep", "grid.toml", "--jobs", "1")
    assert outcome.exit_code == 1
    assert outcome.stdout.count("diverged") == 6
    (error,) = (line for line in outcome.stderr.splitlines() if line.startswith("error: "))
    assert error.startswith("error: 6 of 12 runs failed, the first at algorithm.rate = 1e+150, participation.local_st")
    assert "FedAvg diverged in round 1" in error
    assert [entry["status"] for entry in summary(here)["results"]] == ["done"] * 6 + ["diverged"] * 6
    assert (here / "figure.png").exists()
    again = invoke("sweep", "grid.toml", "--jobs", "1", "--quiet")
    assert (again.exit_code, count_runs(again)) == (1, 0)
    Path("grid.toml").write_text(
        REFERENCE.replace("problem.dissimilarity = [0.0, 1.0]", "algorithm.rate = [1e150]"), encoding="utf-8"
    )
    assert invoke("sweep", "grid.toml", "--jobs", "1", "--quiet").exit_code == 1
    assert not (here / "figure.png").exists()
    assert "gap" not in (here / "sweep.csv").read_text(encoding="utf-8")


def test_engines_that_cannot_are_rows_too(here: Path) -> None:
    text = REFERENCE.replace('name = "fedavg"', 'name = "signsgd"').replace("[sweep]", '[sweep]\nengine = ["exact"]')
    Path("grid.toml").write_text(text, encoding="utf-8")
    assert invoke("sweep", "grid.toml", "--jobs", "1", "--quiet").exit_code == 1
    assert [entry["status"] for entry in summary(here)["results"]] == ["not affine", "done"] * 6


def test_interruption_keeps_what_was_computed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished: list[str] = []

    def impatient(experiment: Any, **options: Any) -> Trajectories:
        if len(finished) == 5:
            raise KeyboardInterrupt
        finished.append(experiment.algorithm.name)
        return original(experiment, **options)

    original = fltheory.simulation.engines.simulate
    with monkeypatch.context() as patched:
        patched.setattr(fltheory.simulation.engines, "simulate", impatient)
        outcome = invoke("sweep", "grid.toml", "--jobs", "1")
    assert outcome.exit_code == 130
    assert "error: interrupted; what was finished is kept, 7 of 12 runs are left for the next call" in outcome.stderr
    assert [entry["status"] for entry in summary(here)["results"]] == ["done"] * 5 + ["not run"] * 7
    assert count_runs(invoke("sweep", "grid.toml", "--jobs", "1")) == 7


def test_a_real_interrupt_of_several_processes(here: Path) -> None:
    text = REFERENCE.replace("rounds = 4", "rounds = 3000").replace("[0.0, 1.0]", "[0.0, 0.5, 1.0, 2.0, 3.0, 4.0]")
    Path("grid.toml").write_text(text.replace("[1, 4, 16]", "[1]"), encoding="utf-8")
    command = [sys.executable, "-c", "from fltheory.cli import main; main()", "sweep", "grid.toml", "--jobs", "2"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that were started in the background of a shell have been told to ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    begin = time.perf_counter()
    _, stderr = process.communicate(timeout=120)
    assert re.match(r"\[1/12\] .*: done, ", first)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert time.perf_counter() - begin < 60
    done = [entry["status"] for entry in summary(here)["results"]].count("done")
    connection = sqlite3.connect(here / "sweep.sqlite")
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (done,)
    connection.close()
    assert 1 <= done < 12


def test_long_tables_are_cut_with_a_note(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "ROWS", 3)
    text = invoke("sweep", "grid.toml", "--jobs", "1").stdout
    assert text.count(" done") == 3
    assert "9 more rows are in results/grid/sweep.csv" in text


def test_no_figure_without_a_numeric_parameter(here: Path) -> None:
    lists = "problem.spectrum = ['linear', 'log']\nseed = [1]"
    start, end = REFERENCE.index("problem.diss"), REFERENCE.index("\n\n[[algorithm]]")
    Path("grid.toml").write_text(REFERENCE[:start] + lists + REFERENCE[end:], encoding="utf-8")
    assert invoke("sweep", "grid.toml", "--jobs", "1", "--quiet").exit_code == 0
    assert summary(here)["figures"] == []
    assert not (here / "figure.png").exists()


def test_seeds_are_drawn_against_only_if_there_is_nothing_else(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    original = grid_figure.grid

    def noted(spots: Any, **more: Any) -> Any:
        asked.append(more["against"])
        return original(spots, **more)

    monkeypatch.setattr(grid_figure, "grid", noted)
    for lists in ("seed = [1, 2]\nproblem.mu = [0.5, 1.0]", "seed = [1, 2]"):
        start, end = REFERENCE.index("problem.diss"), REFERENCE.index("\n\n[[algorithm]]")
        Path("grid.toml").write_text(REFERENCE[:start] + lists + REFERENCE[end:], encoding="utf-8")
        invoke("sweep", "grid.toml", "--jobs", "1", "--quiet")
    assert asked == ["problem.mu", "seed"]


def test_quiet_writes_nothing(here: Path) -> None:
    assert invoke("sweep", "grid.toml", "--jobs", "1", "--quiet").output == ""
    assert (here / "sweep.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sweep", "nowhere.toml"], ("nowhere.toml: cannot be read: no such file",)),
        (["sweep", "plain.toml"], ("plain.toml: sweep is missing", "use: fltheory run plain.toml")),
        (["run", "grid.toml"], ("grid.toml:16: sweep makes a grid", "fltheory sweep grid.toml")),
        (["sweep", "bad.toml"], ("bad.toml:18: participation.local_steps", "an integer >= 1", "at point 2 of 6: ")),
        (["sweep", "grid.toml", "--jobs", "0"], ("jobs must be an integer >= 1", "jobs=0")),
        (["sweep", "grid.toml", "--output", "grid.toml"], ("--output must be a directory", "grid.toml")),
        (["sweep", "grid.toml", "--output", "damaged"], ("damaged/sweep.sqlite: must be a database", "--output")),
        (["sweep"], ("argument", "FILE")),
    ],
    ids=" ".join,
)
def test_mistakes_are_one_line(arguments: list[str], says: tuple[str, ...], here: Path) -> None:
    plain = REFERENCE[: REFERENCE.index("[sweep]")] + REFERENCE[REFERENCE.index("[[algorithm]]") :]
    Path("plain.toml").write_text(plain, encoding="utf-8")
    Path("bad.toml").write_text(REFERENCE.replace("[1, 4, 16]", "[1, 0, 16]"), encoding="utf-8")
    Path("damaged").mkdir()
    Path("damaged/sweep.sqlite").write_text("no database " * 100)
    outcome = invoke(*arguments)
    assert outcome.exit_code == 2, outcome.output
    (line,) = outcome.stderr.splitlines()
    assert line.startswith("error: ")
    for fragment in says:
        assert fragment in line
    assert not here.exists()


def test_nothing_runs_if_any_point_is_wrong(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("grid.toml").write_text(REFERENCE.replace("[1, 4, 16]", "[1, 4, 0]"), encoding="utf-8")
    monkeypatch.setattr(fltheory.simulation.engines, "simulate", lambda *_, **__: pytest.fail("something was run"))
    assert invoke("sweep", "grid.toml", "--jobs", "1").exit_code == 2


def test_the_documented_grid_is_accepted_and_its_mistake_answered_as_shown(here: Path) -> None:
    page = (EXAMPLES.parent / "docs" / "how-to" / "sweep-a-grid.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    grid = Grid.read(TomlText(path="study.toml", text=text))
    assert len(plan(grid)) == 2 * len(grid) == 2 * 3 * 2 * 2 * 3 * 3
    (message,) = re.findall(r"```text\nerror: (.*?)```", page, re.DOTALL)
    wrong = text.replace("0.0, 1.0, 4.0", "0.0, 1.0, 8.0")
    with pytest.raises(InvalidParameter) as caught:
        plan(Grid.read(TomlText(path="study.toml", text=wrong)))
    assert str(caught.value) == " ".join(message.split())


def test_the_example_runs_and_shows_who_wins_where(tmp_path: Path) -> None:
    outcome = invoke("sweep", str(EXAMPLES / "local-steps-sweep.toml"), "--json", "--output", str(tmp_path))
    assert outcome.exit_code == 0, outcome.output
    winners = {
        (entry["point"]["problem.dissimilarity"], entry["point"]["participation.local_steps"]): entry["label"]
        for entry in json.loads(outcome.stdout)["results"]
        if entry["best"]
    }
    assert winners[0.0, 32] == "CFL-R"
    assert winners[4.0, 32] == "SCAFFOLD"
