"""Sweeps elsewhere: threads, loky, a Dask cluster that loses a worker, shares of a job array; always equal bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fltheory as fl
from fltheory._internal import executors
from fltheory.cli import app
from fltheory.errors import InvalidParameter

ROOT = Path(__file__).parents[2]

GRID = """\
rounds = 30
replicates = 40
seed = 1

[problem]
name = "client-quadratics"
dim = 6
num_clients = 4
noise_sq = 0.01

[participation]
local_steps = 3

[sweep]
problem.dissimilarity = [0.0, 0.5, 1.0, 2.0]
seed = [1, 2, 3, 4, 5]

[[algorithm]]
name = "fedavg"
rate = 0.05

[[algorithm]]
name = "scaffold"
rate = 0.05
"""

SLOW = """
import time
from dataclasses import dataclass

from fltheory import FedAvg


@dataclass(frozen=True, kw_only=True, slots=True)
class Slow(FedAvg):
    title = "Slow"

    def round(self, state, work, oracle):
        time.sleep(0.005)
        return FedAvg.round(self, state, work, oracle)
"""


def bits(result: Any) -> list[Any]:
    return [(run.key, run.point, run.label, run.status, run.final) for run in result]


@pytest.fixture(scope="module")
def alone() -> list[Any]:
    """What one process finds."""
    return bits(fl.run_sweep(GRID))


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_one_process_finds_something(alone: list[Any]) -> None:
    assert len(alone) == 40
    assert {entry[3] for entry in alone} == {"done"}
    assert len({str(entry[4]) for entry in alone}) == 40


def test_threads_and_processes_of_others_find_the_same(alone: list[Any]) -> None:
    with ThreadPoolExecutor(3) as pool:
        assert bits(fl.run_sweep(GRID, executor=pool)) == alone
    loky = pytest.importorskip("loky")
    with loky.ProcessPoolExecutor(2) as pool:
        assert bits(fl.run_sweep(GRID, executor=pool)) == alone


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Yield the address of a Dask scheduler, and two worker processes, started as on a cluster."""
    pytest.importorskip("distributed")
    place = tmp_path / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    dask = [sys.executable, "-m", "dask"]
    commands = [[*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]]
    commands[0] += ["--scheduler-file", str(place)]
    worker = [*dask, "worker", "--scheduler-file", str(place), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    commands += [[*worker, "--local-directory", str(tmp_path / name)] for name in ("first", "second")]
    started: list[subprocess.Popen[bytes]] = []
    quiet = subprocess.DEVNULL
    try:
        for command in commands:
            started += [subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=quiet, stderr=quiet)]
        until = time.monotonic() + 60
        while not place.exists() and time.monotonic() < until:
            time.sleep(0.05)
        yield json.loads(place.read_text())["address"], started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_dask_cluster_that_loses_a_worker_finds_the_same(
    scheduler: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    from distributed import Client

    address, workers = scheduler
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    file = tmp_path / "grid.toml"
    file.write_text(GRID.replace('"fedavg"', '"slow:Slow"'), encoding="utf-8")
    finished = []

    class Killer:
        """Ends one of the workers in the middle of the sweep."""

        def expect(self, parts: int) -> None:
            assert parts == 40

        def begin(self, label: str) -> None:
            pass

        def end(self, outcome: str) -> None:
            finished.append(outcome)
            if len(finished) == 10:
                workers[0].send_signal(signal.SIGKILL)
                workers[0].wait()

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        before = set(client.scheduler_info()["workers"])
        found = fl.run_sweep(file, executor=client.get_executor(pure=False), progress=Killer())
        after = set(client.scheduler_info()["workers"])
    assert len(before) == 2
    assert after < before
    assert len(after) == 1
    assert bits(found) == bits(fl.run_sweep(file))


def test_the_command_line_runs_on_an_address(
    scheduler: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path, alone: list[Any]
) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(GRID, encoding="utf-8")
    out = tmp_path / "out"
    done = invoke("sweep", str(file), "--backend", "dask", "--address", scheduler[0], "--output", str(out), "--quiet")
    assert done.exit_code == 0, done.output
    again = fl.run_sweep(file, output=out)
    assert again.reused == 40
    assert bits(again) == alone
    checked = invoke(
        "check", "ruan.eq-68", "--quick", "--fresh", "--backend", "dask", "--address", scheduler[0],
        "--output", str(tmp_path / "ledger"), "--quiet",
    )  # fmt: skip
    assert checked.exit_code == 0, checked.output


def test_workers_with_another_package_are_named_and_none_at_all_are_waited_for(
    scheduler: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from distributed import Client

    address, workers = scheduler
    monkeypatch.setattr(executors, "PATIENCE", 0.1)
    (tmp_path / "older" / "fltheory").mkdir(parents=True)
    (tmp_path / "older" / "fltheory" / "__init__.py").write_text("", encoding="utf-8")
    worker = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]

    def join(folder: Path) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        return subprocess.Popen(worker, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        with join(tmp_path / "older") as older:
            client.wait_for_workers(3, timeout=60)
            with pytest.raises(InvalidParameter, match=r"tcp.*cannot import it: No module named 'fltheory\._internal'"):
                fl.run_sweep(GRID, executor=client.get_executor(pure=False))
            assert older.poll() is None
            older.kill()
        for one in workers:
            one.kill()
        while client.scheduler_info()["workers"]:
            time.sleep(0.05)
        with ThreadPoolExecutor(1) as aside:
            waiting = aside.submit(fl.run_sweep, GRID, executor=client.get_executor(pure=False))
            until = time.monotonic() + 60
            while "has no workers" not in caplog.text and time.monotonic() < until:
                time.sleep(0.05)
            with join(ROOT) as late:
                assert waiting.result(timeout=120).ok
                late.kill()
    assert caplog.text.count("has no workers") == 1


def test_an_address_where_nobody_listens_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    command = [sys.executable, "-m", "fltheory", "sweep", "grid.toml", "--backend", "dask"]
    done = subprocess.run(
        [*command, "--address", "tcp://127.0.0.1:9"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "address must be that of a Dask scheduler" in done.stderr


def test_shares_merged_are_the_same_as_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: list[Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(GRID, encoding="utf-8")
    for number in (1, 2, 3):
        done = invoke("sweep", "grid.toml", "--shard", f"{number}/3", "--quiet", "--jobs", "1")
        assert done.exit_code == 0, done.output
    folders = [f"results/grid/shard-{number}-of-3" for number in (1, 2, 3)]
    sizes = [len(fl.merge_sweeps([folder])) - len(fl.merge_sweeps([folder]).missing) for folder in folders]
    assert sizes == [14, 14, 12], "whole points, dealt out one by one"
    partly = invoke("sweep", "--merge", *folders[:2], "--output", "partly")
    assert partly.exit_code == 1
    assert "12 of 40 runs are in none of the shares" in partly.stderr
    merged = invoke("sweep", "--merge", *folders, "--quiet")
    assert merged.exit_code == 0, merged.output
    assert {path.name for path in Path("results/grid").iterdir() if path.is_file()} == {
        "sweep.sqlite", "sweep.csv", "summary.json", "figure.svg", "figure.png",
    }  # fmt: skip
    whole = fl.run_sweep(Path("grid.toml"), output="results/grid")
    assert whole.reused == 40
    assert bits(whole) == alone
    again = fl.run_sweep(Path("grid.toml"), output="partly")
    assert again.reused == 28
    assert bits(again) == alone


def test_what_is_no_share_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(GRID, encoding="utf-8")
    for shard in ("0/3", "4/3", "1", "a/b", "1/0", "-1/3"):
        done = invoke("sweep", "grid.toml", f"--shard={shard}")
        assert done.exit_code != 0
        assert "a number and a total such as 3/16" in str(done.exception) + done.stderr
    Path("empty").mkdir()
    with pytest.raises(fl.InvalidParameter, match=r"without sweep\.sqlite"):
        fl.merge_sweeps(["empty"])
    fl.run_sweep(Path("grid.toml"), output="one", shard="20/20")
    Path("other.toml").write_text(GRID, encoding="utf-8")
    fl.run_sweep(Path("other.toml"), output="two", shard="20/20")
    with pytest.raises(fl.InvalidParameter, match="shares of one file"):
        fl.merge_sweeps(["one", "two"])


def test_the_job_script_runs_every_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: list[Any]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a grid.toml").write_text(GRID, encoding="utf-8")
    script = invoke("sweep", "a grid.toml", "--slurm", "2", "--time-limit", "100").stdout
    assert "#SBATCH --array=1-2" in script
    Path("job.sh").write_text(script, encoding="utf-8")
    Path("bin").mkdir()
    Path("bin/fltheory").write_text(f'#!/bin/sh\nexec {sys.executable} -m fltheory "$@"\n', encoding="utf-8")
    Path("bin/fltheory").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    for task in ("1", "2"):
        subprocess.run(["bash", "job.sh"], env={**environment, "SLURM_ARRAY_TASK_ID": task}, check=True, timeout=300)
    (advice,) = [line.removeprefix("#").strip() for line in script.splitlines() if "--merge" in line]
    subprocess.run(["bash", "-c", f"{advice} --quiet"], env=environment, check=True, timeout=300)
    found = fl.run_sweep(Path("a grid.toml"), output="results/a grid")
    assert found.reused == 40
    assert bits(found) == alone


FAULTY = """
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fltheory import FedAvg


@dataclass(frozen=True, kw_only=True, slots=True)
class Faulty(FedAvg):
    title = "Faulty"
    fault: str = ""

    def round(self, state, work, oracle):
        if self.fault == "deadly":
            os.kill(os.getpid(), 9)
        if self.fault == "slow":
            time.sleep(0.2)
        if self.fault == "large":
            np.ones(200_000_000)
        if self.fault == "error" and not (Path(__file__).parent / "mended").exists():
            raise KeyError("a mistake")
        return FedAvg.round(self, state, work, oracle)
"""


def faulty(folder: Path, faults: str) -> Path:
    """Write a grid over faults of an algorithm, and return the file."""
    (folder / "faulty.py").write_text(FAULTY, encoding="utf-8")
    text = GRID.replace('"fedavg"', '"faulty:Faulty"').replace("seed = [1, 2, 3, 4, 5]\n", "")
    text = text.replace("[0.0, 0.5, 1.0, 2.0]", f"[0.5]\nalgorithm.fault = [{faults}]")
    file = folder / "grid.toml"
    file.write_text(text[: text.rindex("[[algorithm]]")], encoding="utf-8")
    return file


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_limits_and_errors_cost_one_run_each_and_can_be_tried_again(tmp_path: Path) -> None:
    file = faulty(tmp_path, '"", "slow", "error", "large"')
    out = tmp_path / "out"
    first = fl.run_sweep(file, output=out, time_limit=2.0, memory_limit=1000.0)
    assert [run.status for run in first] == ["done", "too slow", "failed", "too large"]
    assert first[1].error.startswith("it took longer than its time limit of 2 s")
    line = 1 + FAULTY.splitlines().index('            raise KeyError("a mistake")')
    where, *traceback = first[2].error.splitlines()
    assert where == f"{tmp_path / 'faulty.py'}:{line}: KeyError: 'a mistake'"
    assert traceback[0].startswith("Traceback")
    (tmp_path / "mended").touch()
    kept = fl.run_sweep(file, output=out, memory_limit=1000.0)
    assert [run.status for run in kept] == [run.status for run in first], "only lack of memory is tried again unasked"
    again = fl.run_sweep(file, output=out, retry_failed=True, memory_limit=1000.0)
    assert [run.status for run in again] == ["done", "done", "done", "too large"]
    assert again.reused == 1
    assert bits(again)[0] == bits(first)[0]


def test_a_run_that_ends_every_worker_costs_only_itself(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    file = faulty(tmp_path, '"", "deadly", "error"')
    script = tmp_path / "drive.py"
    script.write_text(
        "import sys\n"
        "import fltheory as fl\n"
        "from fltheory._internal.executors import chosen\n"
        "if __name__ == '__main__':\n"
        "    with chosen('dask', jobs=1) as executor:\n"
        "        found = fl.run_sweep(sys.argv[1], executor=executor)\n"
        "    print([run.status for run in found], found[1].error)\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script, file], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.startswith("['done', 'too large', 'failed'] a process was ended from outside each time")


def test_threads_of_an_executor_have_limits_too(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = fl.run_sweep(faulty(tmp_path, '"", "slow", "error"'), executor=pool, time_limit=2.0)
    assert [run.status for run in found] == ["done", "too slow", "failed"]


def test_a_worker_with_other_code_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    from fltheory._internal import provenance

    original = provenance.code
    main = threading.main_thread()

    def elsewhere() -> str:
        return original() if threading.current_thread() is main else "another"

    monkeypatch.setattr(provenance, "code", elsewhere)
    with ThreadPoolExecutor(1) as pool:
        found = fl.run_sweep(GRID, executor=pool, shard="1/20")
    assert {run.status for run in found} == {"failed"}
    assert "another version of fltheory" in found[0].error
