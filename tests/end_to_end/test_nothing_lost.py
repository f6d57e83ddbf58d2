"""Faults done for real: interrupts, a full disk, two commands in one folder; results of earlier checks survive."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fltheory._internal.files import LOCK
from fltheory.cli import app
from fltheory.simulation.checkpoints import SUFFIX

OWN = Path(__file__).parents[2] / "examples" / "own-claims"
FLTHEORY = [sys.executable, "-m", "fltheory"]


def invoke(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def listening(command, **more):
    """Start a command whose SIGINT is not ignored, as it is for jobs in the background of a shell."""
    return subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **more,
    )


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A ledger of a few claims with counterexamples, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    assert invoke("check", "ruan.lemma-a.*", "ruan.eq-7*", "--quick", "-q", "--output", "kept").exit_code == 0
    return tmp_path / "kept"


def test_a_check_of_a_few_claims_keeps_all_others(kept):
    before = content(kept)
    done = invoke("check", "ruan.eq-71", "--quick", "--output", kept)
    assert done.exit_code == 0
    assert "other claims of the ledger stay as they were" in done.stdout
    after = content(kept)
    assert after.keys() == before.keys()
    ids = [entry["id"] for entry in json.loads(after["ledger.json"])["claims"]]
    assert ids == [entry["id"] for entry in json.loads(before["ledger.json"])["claims"]]
    for name in sorted(before):
        if name.startswith("counterexamples"):
            assert invoke("replay", kept / name).exit_code == 0, name


def test_ctrl_c_early_in_a_full_check_loses_nothing(kept):
    before = content(kept)
    command = [*FLTHEORY, "check", "ruan.eq-*", "--fresh", "--jobs", "1", "--output", str(kept)]
    with listening(command) as process:
        assert process.stderr is not None
        process.stderr.readline()  # one claim is finished
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait(timeout=60) == 130
    after = content(kept)
    assert after.keys() >= before.keys()
    was, now = (
        {entry["id"]: entry for entry in json.loads(found["ledger.json"])["claims"]} for found in (before, after)
    )
    assert now.keys() > was.keys() or now != was
    assert all(now[id_]["forms"] for id_ in was)


FULL_DISK = """
mount -t tmpfs -o size={size}k tmpfs {place} || exit 77
cp -r {kept}/. {place}
{python} -m fltheory check 'ruan.lemma-a.*' 'ruan.eq-7*' --seed 1 --quick --jobs 1 --output {place}
echo "code $?"
rm -rf {after}; cp -r {place} {after}
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="a small disk needs unshare")
@pytest.mark.parametrize("spare", [8, 16, 40])
def test_a_full_disk_loses_nothing(kept, tmp_path, spare):
    place = tmp_path / "small"
    place.mkdir()
    before = content(kept)
    size = sum(-(-len(data) // 4096) * 4 for data in before.values()) + spare
    script = FULL_DISK.format(size=size, place=place, kept=kept, python=sys.executable, after=tmp_path / "after")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"no small disk here: {done.stderr.strip()}")
    assert "Traceback" not in done.stderr
    assert "no space left on device" in done.stderr
    assert "code 1" in done.stdout or "code 2" in done.stdout
    after = content(tmp_path / "after")
    assert after.keys() == before.keys()
    assert after["ledger.json"] == before["ledger.json"]
    for name, data in after.items():
        if name.endswith(".json"):
            json.loads(data)


def test_two_checks_into_one_folder(tmp_path):
    """The later one says so at once, and the earlier one goes on."""
    command = [*FLTHEORY, "check", "ruan.eq-*", "--fresh", "--jobs", "1", "--output", str(tmp_path / "shared")]
    with listening(command) as first:
        assert first.stderr is not None
        first.stderr.readline()
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == 2
        assert second.stderr.count("\n") == 1
        assert f"in use: process {first.pid} is writing results there" in second.stderr
        first.send_signal(signal.SIGINT)
        first.stderr.read()
        assert first.wait(timeout=60) == 130
    assert json.loads((tmp_path / "shared" / "ledger.json").read_text())["claims"]


GRID = """
rounds = 100
replicates = 100
engine = "reference"
[problem]
name = "noisy-quadratic"
[participation]
local_steps = 5
[sweep]
seed = [{seeds}]
[[algorithm]]
name = "fedavg"
rate = 0.05
"""


def test_two_sweeps_into_one_database(tmp_path, monkeypatch):
    """The later one says so at once, the earlier one goes on, and what it has finished is there afterwards."""
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(GRID.format(seeds=", ".join(map(str, range(200)))))
    with listening([*FLTHEORY, "sweep", "grid.toml", "--jobs", "1"]) as first:
        assert first.stderr is not None
        first.stderr.readline()  # one run is finished
        second = invoke("sweep", "grid.toml")
        first.stderr.readline()
        first.send_signal(signal.SIGINT)
        first.stderr.read()
        assert first.wait(timeout=60) == 130
    assert second.exit_code == 2
    assert f"in use: process {first.pid} is writing results there" in second.stderr
    Path("grid.toml").write_text(GRID.format(seeds="0, 1"))
    assert "2 of 2 runs were there before" in invoke("sweep", "grid.toml").stdout
    assert not [path for path in Path("results/grid").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "command",
    [
        ("check", "ruan.lemma-a.2", "--output", "file"),
        ("validate", "--output", "file"),
        ("figure", "ruan-table-1", "--output", "file"),
        ("falsify", "ruan.lemma-a.2", "--output", "file/x.json"),
        ("run", "x.toml", "--output", "file"),
    ],
    ids=lambda command: command[0],
)
def test_the_output_folder_is_tried_before_anything_is_computed(tmp_path, monkeypatch, command):
    from fltheory._internal import processes
    from fltheory.figures import parallel
    from fltheory.jobs import checking, validating

    def computed(*_, **__):
        pytest.fail("computed something first")

    monkeypatch.chdir(tmp_path)
    Path("file").write_text("no folder")
    shutil.copy(OWN.parents[0] / "quadratic-comparison.toml", "x.toml")
    monkeypatch.setattr(checking, "check_all", computed)
    monkeypatch.setattr(validating, "check_all", computed)
    monkeypatch.setattr(parallel, "produce_all", computed)
    monkeypatch.setattr(checking, "check_claim", computed)
    monkeypatch.setattr(processes, "in_processes", computed)
    done = invoke(*command)
    assert done.exit_code == 2, done.output
    assert "--output must be a directory that can be written to, got 'file'" in done.stderr


def test_the_printed_replay_command_works_for_claims_of_a_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(OWN, "my claims")
    for command in (
        ("falsify", "own.local-drift", "--budget", "5"),
        ("check", "own.local-drift", "--quick"),
    ):
        done = invoke(*command, "--claims", "my claims")
        line = next(line for line in done.stdout.splitlines() if "again with: " in line)
        typed = line.partition("again with: fltheory ")[2]
        again = subprocess.run(
            f"{sys.executable} -m fltheory {typed}", shell=True, capture_output=True, text=True, check=False
        )
        assert again.returncode == 0, typed + again.stderr
        assert "own.local-drift (published) is violated here" in again.stdout


def test_a_run_keeps_earlier_results_until_its_own_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(OWN.parents[0] / "quadratic-comparison.toml", "x.toml")
    assert invoke("run", "x.toml", "--replicates", "2", "-q", "--output", "out").exit_code == 0
    before = content(tmp_path / "out")
    command = [*FLTHEORY, "run", "x.toml", "--replicates", "5000", "--engine", "reference", "--output", "out"]
    with listening(command) as process:
        until = time.monotonic() + 30
        while not (tmp_path / "out" / LOCK).exists() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        process.stderr.read()
        assert process.wait(timeout=60) == 130
    after = {name: data for name, data in content(tmp_path / "out").items() if not name.endswith(SUFFIX)}
    assert after == before
