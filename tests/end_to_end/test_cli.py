"""The command line from the outside: what is printed, what is written, and with which exit code."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fltheory
import fltheory.simulation.engines
from fltheory import datasets
from fltheory.cli import app, terminal
from fltheory.configuration import registry
from fltheory.datasets.fashion_mnist import FashionMnist
from fltheory.simulation.trajectories import Trajectories

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNNABLE = sorted(path for path in EXAMPLES.glob("*.toml") if "\n[sweep]" not in path.read_text(encoding="utf-8"))
HEAVY = ("numba", "scipy", "sympy", "cvxpy", "matplotlib", "pydantic")

THREE = """\
title = "Three [bold]algorithms[/bold]"
rounds = 4
replicates = 3
seed = 1
engine = "reference"

[problem]
name = "noisy-quadratic"
dim = 4
num_clients = 3

[participation]
local_steps = 2

[[algorithm]]
name = "fedavg"
rate = 0.05

[[algorithm]]
name = "fedprox"
label = "FedProx, strong"
prox = 2.0
rate = 0.05

[[algorithm]]
name = "scaffold"
rate = 0.05
"""


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("three.toml").write_text(THREE, encoding="utf-8")
    return tmp_path


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def modules_after(arguments: list[str]) -> set[str]:
    """Return what a process has loaded once it has run a command."""
    code = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        "from fltheory.cli import main; main()"
    )
    outcome = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(outcome.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    assert not {"numpy", "rich.table", *HEAVY} & modules_after(["--help"])
    for command in ("run", "sweep"):
        assert not {"numpy", "sqlite3", *HEAVY} & modules_after([command, "--help"])


def test_list_loads_nothing_heavy() -> None:
    # Options that may be repeated are converted by pydantic in recent releases of typer.
    assert not ({"numpy", *HEAVY} - {"pydantic"}) & modules_after(["list"])
    assert not (set(HEAVY) - {"pydantic"}) & modules_after(["list", "--algorithms"])


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_names_the_commands(arguments: tuple[str, ...]) -> None:
    outcome = invoke(*arguments)
    assert outcome.exit_code == 0
    for command in ("list", "show", "check", "falsify", "replay", "diff", "run", "sweep"):
        assert re.search(rf"^  {command} ", outcome.stdout, re.MULTILINE)


def test_version() -> None:
    outcome = invoke("--version")
    assert (outcome.exit_code, outcome.stdout) == (0, f"fltheory {fltheory.__version__}\n")


def test_list_shows_algorithms_and_problems() -> None:
    outcome = invoke("list", "--algorithms", "--problems")
    for name in (*registry.algorithms(), *registry.PROBLEMS):
        assert re.search(rf"^{re.escape(name)} ", outcome.stdout, re.MULTILINE)


@pytest.mark.parametrize(("flag", "other"), [("algorithms", "problems"), ("problems", "algorithms")])
def test_list_of_one_kind(flag: str, other: str) -> None:
    text = invoke("list", f"--{flag}").stdout
    assert flag.capitalize() in text
    assert other.capitalize() not in text
    assert list(json.loads(invoke("list", f"--{flag}", "--json").stdout)) == [flag]


def test_list_as_json_has_all_parameters() -> None:
    document = json.loads(invoke("list", "--algorithms", "--problems", "--json").stdout)
    assert {entry["name"] for entry in document["algorithms"]} == set(registry.algorithms())
    fedprox = next(entry for entry in document["algorithms"] if entry["name"] == "fedprox")
    assert fedprox["title"] == "FedProx"
    assert {"name": "prox", "required": False, "default": 0.1} in fedprox["parameters"]
    synthetic = next(entry for entry in document["problems"] if entry["name"] == "synthetic")
    assert {"name": "alpha", "required": True} in synthetic["parameters"]


def test_run_writes_curves_figure_and_summary(three: Path) -> None:
    outcome = invoke("run", "three.toml")
    assert outcome.exit_code == 0, outcome.output
    folder = three / "results" / "three"
    curves = {f"{name}.{kind}" for name in ("fedavg", "fedprox-strong", "scaffold") for kind in ("npz", "json")}
    assert {path.name for path in folder.iterdir()} == curves | {"figure.svg", "figure.png", "summary.json"}
    with np.load(folder / "fedavg.npz", allow_pickle=False) as stored:
        assert stored["gap"].shape == (3, 5)
    record = json.loads((folder / "fedavg.json").read_text(encoding="utf-8"))
    assert record["provenance"]["seed"] == 1
    for shown in ("FedAvg", "FedProx, strong", "SCAFFOLD", "Three [bold]algorithms[/bold]", "reference", "4 rounds"):
        assert shown in outcome.stdout
    assert outcome.stderr.count("done, ") == 3


def test_table_shows_the_final_values_with_their_bands(three: Path) -> None:
    outcome = invoke("run", "three.toml")
    runs = Trajectories.load(three / "results" / "three" / "scaffold")
    row = next(line for line in outcome.stdout.splitlines() if "SCAFFOLD" in line)
    for name in ("distance_sq", "gap", "gradient_norm_sq"):
        band = runs.band(name)
        assert f"{band.mean[-1]:.3e} ± {band.high[-1] - band.mean[-1]:.0e}" in row
    assert f"{runs.uplink_bits[:, -1].mean() + runs.downlink_bits[:, -1].mean():.3e}" in row


def test_json_is_one_document_and_equals_the_summary(three: Path) -> None:
    outcome = invoke("run", "three.toml", "--json", "--output", "out")
    document = json.loads(outcome.stdout)
    assert document == json.loads((three / "out" / "summary.json").read_text(encoding="utf-8"))
    assert [result["status"] for result in document["results"]] == ["done"] * 3
    runs = Trajectories.load(three / "out" / "fedavg")
    gap = document["results"][0]["final"]["gap"]
    assert gap["mean"] == pytest.approx(runs.gap[:, -1].mean())
    assert gap["half_width"] > 0
    assert document["figures"] == ["figure.svg", "figure.png"]


def test_options_override_the_file(three: Path) -> None:
    arguments = ["run", "three.toml", "--json", "--seed", "5", "--replicates", "1", "--engine", "monte_carlo"]
    document = json.loads(invoke(*arguments, "--threads", "1", "--every-step").stdout)
    assert (document["seed"], document["replicates"], document["engine"]) == (5, 1, "monte_carlo")
    assert document["results"][0]["final"]["gap"]["half_width"] is None
    other = json.loads(invoke(*arguments[:-4], "--replicates", "1", "--engine", "reference").stdout)
    for one, two in zip(document["results"], other["results"], strict=True):
        assert one["final"]["gap"]["mean"] == pytest.approx(two["final"]["gap"]["mean"], rel=1e-6)


def test_exact_engine_has_no_error(three: Path) -> None:
    outcome = invoke("run", "three.toml", "--engine", "exact")
    assert outcome.exit_code == 0, outcome.output
    assert "±" not in outcome.stdout
    document = json.loads((three / "results" / "three" / "summary.json").read_text(encoding="utf-8"))
    assert all(result["exact"] and result["final"]["gap"]["half_width"] == 0 for result in document["results"])


def test_same_seed_gives_the_same_bytes(three: Path) -> None:
    for folder in ("first", "second"):
        invoke("run", "three.toml", "--output", folder)
    for name in ("figure.svg", "figure.png"):
        assert (three / "first" / name).read_bytes() == (three / "second" / name).read_bytes()
    first, second = (Trajectories.load(three / folder / "scaffold") for folder in ("first", "second"))
    np.testing.assert_array_equal(first.gap, second.gap)


def test_quiet_writes_nothing(three: Path) -> None:
    outcome = invoke("run", "three.toml", "--quiet")
    assert outcome.output == ""
    assert (three / "results" / "three" / "summary.json").exists()


def test_one_failure_keeps_the_others(three: Path) -> None:
    Path("three.toml").write_text(
        THREE.replace("prox = 2.0\nrate = 0.05", "prox = 2.0\nrate = 1e150"), encoding="utf-8"
    )
    folder = three / "results" / "three"
    folder.mkdir(parents=True)
    (folder / "fedprox-strong.npz").write_text("of an earlier run", encoding="utf-8")
    outcome = invoke("run", "three.toml")
    assert outcome.exit_code == 1
    assert re.search(r"FedProx, strong .* diverged", outcome.stdout)
    assert outcome.stderr.count("error: FedProx, strong: FedProx diverged in round 1") == 1
    assert not (folder / "fedprox-strong.npz").exists()
    assert (folder / "scaffold.npz").exists()
    assert (folder / "figure.svg").exists()
    statuses = [entry["status"] for entry in json.loads((folder / "summary.json").read_text())["results"]]
    assert statuses == ["done", "diverged", "done"]


def test_values_near_the_edge_of_floating_point_have_a_figure(three: Path) -> None:
    first = THREE[: THREE.index('[[algorithm]]\nname = "fedprox"')]
    Path("three.toml").write_text(first.replace("rate = 0.05", "rate = 5e9"), encoding="utf-8")
    outcome = invoke("run", "three.toml")
    assert outcome.exit_code == 0, outcome.output
    gap = json.loads(Path("results/three/summary.json").read_text())["results"][0]["final"]["gap"]
    assert gap["mean"] > 1e155
    assert 0 < gap["half_width"] < float("inf")
    assert Path("results/three/figure.png").exists()


def test_no_figure_without_curves(three: Path) -> None:
    Path("three.toml").write_text(THREE.replace("rate = 0.05", "rate = 1e150"), encoding="utf-8")
    outcome = invoke("run", "three.toml", "--json")
    assert outcome.exit_code == 1
    assert json.loads(outcome.stdout)["figures"] == []
    assert not (three / "results" / "three" / "figure.svg").exists()


@pytest.mark.parametrize("shortage", [MemoryError, OverflowError])
def test_lack_of_memory_is_a_failure_like_any_other(
    three: Path, monkeypatch: pytest.MonkeyPatch, shortage: type[Exception]
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise shortage

    monkeypatch.setattr(fltheory.simulation.engines, "simulate", exhausted)
    outcome = invoke("run", "three.toml")
    assert outcome.exit_code == 1
    assert outcome.stderr.count("error: ") == 3
    assert "lower replicates" in outcome.stderr


def test_interruption_keeps_what_was_computed(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished: list[str] = []

    def impatient(experiment: Any, **options: Any) -> Trajectories:
        if finished:
            raise KeyboardInterrupt
        finished.append(experiment.algorithm.name)
        return original(experiment, **options)

    original = fltheory.simulation.engines.simulate
    monkeypatch.setattr(fltheory.simulation.engines, "simulate", impatient)
    outcome = invoke("run", "three.toml")
    assert outcome.exit_code == 130
    assert outcome.stdout.count("not run") == 2
    assert outcome.stderr.count("error: interrupted") == 1
    folder = three / "results" / "three"
    assert (folder / "fedavg.npz").exists()
    assert (folder / "figure.png").exists()
    entries = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["results"]
    assert [entry["status"] for entry in entries] == ["done", "not run", "not run"]


def test_an_interrupted_run_takes_over_what_was_finished(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = fltheory.simulation.engines.simulate
    invoke("run", "three.toml", "--quiet")
    folder = three / "results" / "three"
    first = {path.name: path.read_bytes() for path in folder.glob("*.npz")}
    assert len(first) == 3
    begun: list[str] = []

    class Killed(BaseException):
        pass

    def dies(experiment: Any, **options: Any) -> Trajectories:
        begun.append(experiment.algorithm.name)
        if len(begun) == 3:
            raise Killed  # ends at once, as by a signal: nothing is written any more
        return original(experiment, **options)

    def counts(experiment: Any, **options: Any) -> Trajectories:
        begun.append(experiment.algorithm.name)
        return original(experiment, **options)

    monkeypatch.setattr(fltheory.simulation.engines, "simulate", dies)
    with pytest.raises(Killed):
        invoke("run", "three.toml", "--quiet")
    assert len(begun) == 3, "a complete run is run again"
    assert (folder / "unfinished.json").exists()
    monkeypatch.setattr(fltheory.simulation.engines, "simulate", counts)
    (folder / "fedavg.npz").write_bytes(next(first[name] for name in first if name != "fedavg.npz"))
    begun.clear()
    assert invoke("run", "three.toml", "--quiet").exit_code == 0
    assert len(begun) == 2, "the third, and the one whose curves are not its own"
    assert not (folder / "unfinished.json").exists()
    for name, content in first.items():
        old, new = (np.load(io.BytesIO(data)) for data in (content, (folder / name).read_bytes()))
        assert old.files == new.files
        assert all(np.array_equal(old[curve], new[curve]) for curve in old.files)
    monkeypatch.setattr(fltheory.simulation.engines, "simulate", dies)
    begun.clear()
    with pytest.raises(Killed):
        invoke("run", "three.toml", "--quiet")
    begun.clear()
    monkeypatch.setattr(fltheory.simulation.engines, "simulate", counts)
    assert invoke("run", "three.toml", "--quiet", "--seed", "77").exit_code == 0
    assert len(begun) == 3, "another seed has other results"


def test_a_full_disk_is_one_line(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Trajectories, path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Trajectories, "save", full)
    outcome = invoke("run", "three.toml", "--quiet")
    assert outcome.exit_code == 1
    assert outcome.stderr.startswith("error: no space left on device: ")
    assert outcome.stderr.count("\n") == 1


def test_progress_bar_appears_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "PATIENCE", 60.0)
    before = threading.active_count()
    bar = terminal._Bar(2)
    bar.begin("one")
    bar.end("done")
    bar.close()
    assert not bar._bar.live.is_started
    assert threading.active_count() == before
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    bar = terminal._Bar(2)
    bar._timer.join()
    assert bar._bar.live.is_started
    bar.close()
    assert not bar._bar.live.is_started


def test_shares_of_a_part_move_the_bar_and_give_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "PATIENCE", 60.0)
    bar = terminal._Bar(2)
    bar.begin("one")
    bar.share(0.25)
    assert bar._bar.tasks[0].completed == 0.25
    bar.end("done")
    bar.share(0.5)
    assert bar._bar.tasks[0].completed == 1.5
    bar.close()
    lines = terminal._Lines(2)
    lines.begin("one")
    lines.share(0.25)
    assert not capsys.readouterr().err, "too early"
    lines._begun -= 120.0
    lines._last -= 60.0
    lines.share(0.25)
    lines.share(0.26)
    assert capsys.readouterr().err == "[0/2] one: 25%, about 6 min left\n"


def test_bar_is_used_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with terminal.progress(1, quiet=False) as report:
        assert isinstance(report, terminal._Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with terminal.progress(1, quiet=False) as report:
        assert isinstance(report, terminal._Lines)
    with terminal.progress(1, quiet=True) as report:
        assert isinstance(report, terminal._Silent)


def test_main_survives_a_terminal_without_unicode(three: Path) -> None:
    Path("three.toml").write_text(THREE.replace("FedProx, strong", "FedProx μ=2"), encoding="utf-8")
    outcome = subprocess.run(
        [sys.executable, "-c", "from fltheory.cli import main; main()", "run", "three.toml"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert b"FedProx ?=2" in outcome.stdout


def test_there_are_examples_for_the_main_uses() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.toml")}
    assert names >= {"quadratic-comparison", "partial-participation", "arrivals", "logistic-synthetic", "elastic-net"}
    assert names >= {"local-steps-sweep", "network-fashion-mnist"}


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rounds = 125 if path.stem == "arrivals" else 10
    text, changed = re.subn(r"^rounds = \d+", f"rounds = {rounds}", path.read_text(encoding="utf-8"), flags=re.M)
    assert changed == 1
    network = 'name = "network"' in text
    if network and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    if network and datasets.find(FashionMnist) is None:
        pytest.skip(f"Fashion-MNIST is not on this machine: {FashionMnist.remedy}")
    Path(path.name).write_text(text, encoding="utf-8")
    outcome = invoke("run", path.name, "--replicates", "1" if network else "4", "--json")
    assert outcome.exit_code == 0, outcome.output
    for result in json.loads(outcome.stdout)["results"]:
        runs = Trajectories.load(tmp_path / "results" / path.stem / result["files"][0])
        assert runs.rounds == rounds
        curve = runs.curve("loss" if network else "gap")
        assert curve[:, 5].mean() < 0.9 * curve[:, 0].mean()


def test_memory_beats_following_the_drift(tmp_path: Path) -> None:
    outcome = invoke("run", str(EXAMPLES / "quadratic-comparison.toml"), "--json", "--output", str(tmp_path))
    gaps = {result["label"]: result["final"]["gap"]["mean"] for result in json.loads(outcome.stdout)["results"]}
    assert gaps["CFL-R"] < 0.1 * min(gaps["FedAvg"], gaps["FedProx"])


def test_shells_complete_the_names_of_commands() -> None:
    asked = {**os.environ, "_FLTHEORY_COMPLETE": "complete_bash", "COMP_WORDS": "fltheory ch", "COMP_CWORD": "1"}
    program = Path(sys.executable).parent / "fltheory"
    done = subprocess.run([program], env=asked, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["check"]
