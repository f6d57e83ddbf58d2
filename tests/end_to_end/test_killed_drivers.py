"""The driver of a sweep, a validation or a run of networks is killed at twenty random moments; nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fltheory as fl
from fltheory.bounds import catalogue
from fltheory.cli import app

ROOT = Path(__file__).parents[2]

CLAIMS = ["ruan.eq-71", "ruan.lemma-a.1", "ruan.lemma-a.2"]

FEW_CLAIMS = f"""
from fltheory.bounds import catalogue

chosen = catalogue.select({CLAIMS})
catalogue.select = lambda *_: chosen
"""

GRID = """
rounds = 40
replicates = 20
[problem]
name = "client-quadratics"
dim = 4
noise_sq = 0.01
[participation]
local_steps = 3
[sweep]
problem.dissimilarity = [0.0, 0.5, 1.0, 2.0]
seed = [1, 2, 3]
[[algorithm]]
name = "signsgd"
rate = 0.05
[[algorithm]]
name = "scaffold"
rate = 0.05
"""

NETWORK = """
rounds = 15
replicates = 1
[problem]
name = "own_data:sample"
[participation]
local_steps = 5
[[algorithm]]
name = "scaffold"
rate = 0.1
[[algorithm]]
name = "apfl"
rate = 0.1
"""

OWN_DATA = """
from fltheory.datasets.splits import Dirichlet
from fltheory.deep.generators import federate
from fltheory.deep.networks import MLP
from tests.samples import fashion_sample


def sample():
    network, split = MLP(hidden=(20,)), Dirichlet(concentration=0.3)
    return federate(fashion_sample(), network=network, split=split, num_clients=5, evaluated=100, seed=1)
"""


def killed(folder: Path, modules: list[str], *command: str) -> int:
    """Kill a command twenty times, let it through once, and return how often it was killed under way."""
    driver = [sys.executable, str(ROOT / "tests" / "killing.py"), "20", "1", *modules, "--", *command]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{folder}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(driver, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return int(done.stdout.splitlines()[0])


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.startswith(".")]


def test_a_sweep(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(GRID)
    assert killed(tmp_path, ["fltheory.jobs.sweeping"], "sweep", "grid.toml", "--jobs", "1", "-q") > 5
    folder = tmp_path / "results" / "grid"
    again = fl.run_sweep(tmp_path / "grid.toml", output=folder)
    assert again.reused == len(again) == 24
    assert again.ok
    alone = fl.run_sweep(GRID)
    assert [(run.point, run.label, run.final) for run in again] == [(run.point, run.label, run.final) for run in alone]
    assert not left_behind(folder)


def test_a_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "few_claims.py").write_text(FEW_CLAIMS)
    arguments = ["validate", "--quick", "--no-figures", "--jobs", "1", "-q", "--output"]
    modules = ["few_claims", "fltheory.claims", "fltheory.jobs.validating", "fltheory.bounds.ruan.eq_71"]
    modules += ["docutils.writers.html5_polyglot", "fltheory.strategies"]
    assert killed(tmp_path, modules, *arguments, str(tmp_path / "out")) > 5
    chosen = catalogue.select(CLAIMS)
    monkeypatch.setattr(catalogue, "select", lambda *_: chosen)
    assert CliRunner().invoke(app, [*arguments, str(tmp_path / "whole")]).exit_code == 0
    places = [tmp_path / "out", tmp_path / "whole"]
    found, wanted = (json.loads((place / "ledger" / "ledger.json").read_text()) for place in places)
    assert verdicts(found) == verdicts(wanted)
    assert [entry["id"] for entry in found["claims"]] == CLAIMS
    names = [sorted(str(path.relative_to(place)) for path in place.rglob("*")) for place in places]
    assert names[0] == names[1]
    pages = [(place / "report.html").read_text() for place in places]
    assert all(f'id="{id_}"' in page for id_ in CLAIMS for page in pages)


def verdicts(document: dict[str, Any]) -> list[Any]:
    return [
        (entry["id"], [(form["variant"], form["verdict"], form["margin"]) for form in entry["forms"]])
        for entry in document["claims"]
    ]


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_a_run_of_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.toml").write_text(NETWORK)
    (tmp_path / "own_data.py").write_text(OWN_DATA)
    modules = [
        "torch",
        "tests.samples",
        "fltheory.deep.generators",
        "fltheory.deep.bench",
        "fltheory.figures.comparison",
    ]
    modules += ["fltheory.configuration.experiments", "fltheory.simulation.engines.simulate"]
    assert killed(tmp_path, modules, "run", "net.toml", "-q", "--output", "killed") > 5
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["run", "net.toml", "-q", "--output", "whole"]).exit_code == 0
    for name in ("scaffold", "apfl"):
        with np.load(tmp_path / "killed" / f"{name}.npz") as one, np.load(tmp_path / "whole" / f"{name}.npz") as other:
            assert one.files == other.files
            for curve in one.files:
                np.testing.assert_array_equal(one[curve], other[curve], err_msg=f"{name} {curve}")
    assert not left_behind(tmp_path / "killed")
