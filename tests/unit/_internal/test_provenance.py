"""Where results come from: the record that accompanies them."""

import importlib.metadata
import json
import subprocess
from pathlib import Path

import fltheory
from fltheory import Experiment, Participation, noisy_quadratic, simulate
from fltheory._internal import provenance
from fltheory.algorithms.fedavg import FedAvg

ROOT = Path(__file__).parents[3]


def experiment() -> Experiment:
    return Experiment(
        problem=noisy_quadratic(dim=3, num_clients=2),
        algorithm=FedAvg(server_rate=0.5),
        participation=Participation(num_clients=2, local_steps=3),
        rounds=2,
        rate=0.1,
    )


def test_commit_is_that_of_git() -> None:
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert provenance.commit() == known.stdout.strip()


def test_commit_of_a_further_working_tree(tmp_path: Path) -> None:
    def git(*arguments: str, cwd: Path) -> str:
        named = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        done = subprocess.run(["git", *named, *arguments], cwd=cwd, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    git("init", "-q", cwd=first)
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=first)
    git("worktree", "add", "-q", "-b", "other", str(second), cwd=first)
    git("commit", "-q", "--allow-empty", "-m", "two", cwd=second)
    heads = [git("rev-parse", "HEAD", cwd=folder) for folder in (first, second)]
    assert heads[0] != heads[1]
    assert [provenance._head(folder / ".git") for folder in (first, second)] == heads
    git("checkout", "-q", "--detach", cwd=second)
    assert provenance._head(second / ".git") == heads[1]


def test_record_is_plain_json_and_names_seed_configuration_and_versions() -> None:
    run = simulate(experiment(), seed=11, replicates=3)
    record = json.loads(json.dumps(run.provenance, allow_nan=False))
    assert (record["seed"], record["replicates"], record["engine"]) == (11, 3, "monte_carlo")
    assert record["experiment"]["algorithm"] == {"type": "FedAvg", "server_rate": 0.5}
    assert record["experiment"]["rate"] == {"type": "Constant", "value": 0.1}
    assert record["experiment"]["participation"]["local_steps"] == 3
    assert record["versions"]["fltheory"] == fltheory.__version__
    assert record["commit"] == provenance.commit()
    assert record["steps"].startswith("rounds drawn at once")


def test_the_way_taken_is_recorded() -> None:
    assert simulate(experiment(), replicates=2, collapse=False).provenance["steps"] == "every step run: asked for"
    assert simulate(experiment(), engine="exact").provenance["participation"] == "enumerated"


def test_versions_are_those_that_python_knows():
    for name in ("numpy", "scipy", "numba", "fltheory"):
        assert provenance.version(name) == importlib.metadata.version(name)
    assert provenance.version("no_such_package") == "not installed"


def test_the_code_is_told_apart_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "cli").mkdir()
    for name in ("a.py", "cli/b.py"):
        (tmp_path / name).write_text("x = 1\n")
    before = provenance.digest(tmp_path, deep=True)
    (tmp_path / "cli/b.py").write_text("x = 2\n")
    assert provenance.digest(tmp_path, deep=True) == before  # only shows results
    (tmp_path / "a.py").write_text("x = 2\n")
    assert provenance.digest(tmp_path, deep=True) != before


def test_more_packages_may_be_named():
    more = provenance.versions("hypothesis", "no-such-package")
    assert more["hypothesis"] == importlib.metadata.version("hypothesis")
    assert more["no-such-package"] == "not installed"
    assert {name: more[name] for name in provenance.versions()} == provenance.versions()
