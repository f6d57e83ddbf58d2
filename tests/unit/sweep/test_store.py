"""Results that are kept: found again only where the same would come out, and never lost."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fltheory._internal import provenance
from fltheory.configuration.toml_text import TomlText
from fltheory.errors import InvalidParameter
from fltheory.simulation.run_result import TOO_LARGE
from fltheory.sweep import Grid, Run, Store, Swept, plan, sweep

TEXT = """\
rounds = 3
replicates = 2
engine = "reference"

[problem]
name = "noisy-quadratic"
dim = 3
num_clients = 2

[participation]
local_steps = 2

[[algorithm]]
name = "fedavg"
rate = 0.1

[sweep]
seed = [1, 2, 3]
problem.mu = [0.5, 1.0]
"""
RUN = Run(key="k", point={"seed": 1}, label="A", algorithm="A", engine="exact", seed=1, replicates=2)


def swept(path: Path, text: str = TEXT, **options: Any) -> tuple[Swept, int]:
    """Sweep, and count what was run."""
    grid = Grid.read(TomlText(path="f.toml", text=text))
    told: list[Run] = []
    with Store(path) as store:
        found = sweep(grid, plan(grid), store, report=told.append, **options)
    return found, len(told)


def rows(path: Path) -> int:
    connection = sqlite3.connect(path)
    (count,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    connection.close()
    return int(count)


def delete(path: Path, where: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"DELETE FROM runs WHERE {where}")
    connection.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sweep.sqlite"


def test_a_row_comes_back_as_it_was(file: Path) -> None:
    run = Run(
        key="a", point={"x": [1, {"name": "y"}], "z": True}, label="_é", algorithm="A", engine="exact", seed=2**70,
        replicates=3, status="done", error="", final={"gap": {"mean": 1e-300, "half_width": None}}, seconds=0.1,
        versions={"numpy": "2"}, commit="c", time="t",
    )  # fmt: skip
    with Store(file) as store:
        store.keep([run, RUN])
    with Store(file) as store:
        assert store.recall(["a", "k", "missing"]) == {"a": run, "k": RUN}
        assert store.recall([str(number) for number in range(2000)]) == {}


def test_only_what_is_missing_is_run(file: Path) -> None:
    first, ran = swept(file)
    assert (ran, first.reused, len(first.runs)) == (6, 0, 6)
    delete(file, "seed = 2")
    second, ran = swept(file)
    assert (ran, second.reused) == (2, 4)
    assert [run.final for run in second.runs] == [run.final for run in first.runs]
    assert swept(file)[1] == 0
    assert swept(file, fresh=True)[1] == 6


def test_an_edited_file_keeps_the_rows_but_does_not_report_them(file: Path) -> None:
    swept(file)
    found, ran = swept(file, TEXT.replace("seed = [1, 2, 3]", "seed = [3, 4]"))
    assert (ran, found.reused, len(found.runs), rows(file)) == (2, 2, 4, 8)
    assert {run.seed for run in found.runs} == {3, 4}
    _, ran = swept(file, TEXT.replace("rounds = 3", "rounds = 4"))
    assert (ran, rows(file)) == (6, 14)
    assert swept(file)[1] == 0


def test_other_code_runs_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept(file)
    monkeypatch.setattr(provenance, "code", lambda: "other")
    assert swept(file)[1] == 6
    assert rows(file) == 12


def test_labels_and_points_of_taken_over_rows_are_those_of_the_file(file: Path) -> None:
    swept(file)
    text = TEXT.replace("rate = 0.1", 'rate = 0.1\nlabel = "other"')
    text = text.replace("seed = [1, 2, 3]\n", "").replace("rounds = 3", "rounds = 3\nseed = 2")
    found, ran = swept(file, text)
    assert ran == 0
    expected = [("other", {"problem.mu": 0.5}), ("other", {"problem.mu": 1.0})]
    assert [(run.label, run.point) for run in found.runs] == expected
    with Store(file) as store:
        kept = store.recall(run.key for run in found.runs)
    assert [(kept[run.key].label, kept[run.key].point) for run in found.runs] == expected


def test_lack_of_memory_is_tried_again_and_divergence_is_not(file: Path) -> None:
    first, _ = swept(file)
    with Store(file) as store:
        for run, status in zip(first.runs, (TOO_LARGE, "diverged"), strict=False):
            values = {name: getattr(run, name) for name in Run.__dataclass_fields__}
            store.keep([Run(**values | {"status": status, "final": {}})])
    second, ran = swept(file)
    assert ran == 1
    assert [run.status for run in second.runs] == ["done", "diverged", "done", "done", "done", "done"]


def test_an_interruption_keeps_what_was_finished(file: Path) -> None:
    grid = Grid.read(TomlText(path="f.toml", text=TEXT))

    def impatient(run: Run) -> None:
        if run.seed == 2:
            raise KeyboardInterrupt

    with Store(file) as store:
        found = sweep(grid, plan(grid), store, report=impatient)
    assert found.interrupted
    assert [run.status for run in found.runs] == ["done"] * 3 + ["not run"] * 3
    assert rows(file) == 3
    assert swept(file)[1] == 3


def test_a_process_that_is_killed_loses_nothing_that_was_finished(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short_of_memory(tasks: Any, work: Any, jobs: int, lost: Any, apart: bool) -> Iterator[Any]:
        for task in tasks[:4]:
            yield work(*task)
        for task in tasks[4:]:
            yield lost(*task)

    with monkeypatch.context() as patched:
        patched.setattr("fltheory.sweep.run.in_processes", short_of_memory)
        found, _ = swept(file)
    assert [run.status for run in found.runs] == ["done"] * 4 + ["too large"] * 2
    assert "ended from outside" in found.runs[5].error
    assert swept(file)[1] == 2  # lack of memory is worth another try


@pytest.mark.parametrize("kind", [IndexError, SystemExit])
def test_an_unexpected_error_costs_one_run_and_is_kept_with_its_traceback(
    kind: type[BaseException], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(experiment: Any, *, seed: int, **options: Any) -> Any:
        if seed == 2:
            raise kind("list index\nout of range")
        return simulate(experiment, seed=seed, **options)

    from fltheory.simulation import engines

    simulate = engines.simulate
    monkeypatch.setattr(engines, "simulate", broken)
    found, _ = swept(file)
    assert {run.status for run in found.runs if run.seed != 2} == {"done"}
    failed = [run for run in found.runs if run.seed == 2]
    assert failed
    for run in failed:
        assert run.status == "failed"
        first, *rest = run.error.splitlines()
        assert re.search(rf"test_store.py:\d+: {kind.__name__}: list index out of range$", first)
        assert rest[0] == "Traceback (most recent call last):"
        assert "in broken" in run.error


@pytest.mark.parametrize("damage", ["text", "cut", "columns", "json", "folder"])
def test_a_damaged_database_is_named(file: Path, damage: str) -> None:
    if damage == "folder":
        file.mkdir()
    elif damage == "text":
        file.write_text("no database at all, but long enough to be taken for one " * 20)
    else:
        swept(file)
        if damage == "cut":
            file.write_bytes(file.read_bytes()[:5000])
        else:
            connection = sqlite3.connect(file)
            with connection:
                command = "ALTER TABLE runs ADD COLUMN more" if damage == "columns" else "UPDATE runs SET final = '{'"
                connection.execute(command)
            connection.close()
    with pytest.raises(InvalidParameter, match=r"sweep.sqlite: must be a database .* move it away, or choose another"):
        swept(file)


def test_a_result_that_cannot_be_written_is_an_error_of_the_system(file: Path) -> None:
    with Store(file) as store:
        connection = sqlite3.connect(file)
        connection.execute("DROP TABLE runs")
        connection.close()
        with pytest.raises(OSError, match="results cannot be kept, no such table"):
            store.keep([RUN])


def test_a_closed_database_is_one_file_that_can_be_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    with Store(tmp_path / "sweep.sqlite"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.sqlite"]
    connection = sqlite3.connect(f"file:{tmp_path / 'sweep.sqlite'}?immutable=1", uri=True)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


def test_on_a_network_file_system_there_is_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mode = "PRAGMA journal_mode"
    for local in (True, False):
        monkeypatch.setattr("fltheory.sweep.store._LOCAL", ("ext4", "xfs", "tmpfs", "overlay") if local else ())
        with Store(tmp_path / "sweep.sqlite") as store:
            assert store._connection.execute(mode).fetchone() == ("wal" if local else "delete",)


def test_a_network_file_system_in_a_folder_with_a_blank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "my share"
    place.mkdir()
    mounts = tmp_path / "mounts"
    kinds = {str(tmp_path): "ext4", str(place): "nfs4"}
    lines = ["server:/a {} {} rw 0 0".format(at.replace(" ", r"\040"), kind) for at, kind in kinds.items()]
    mounts.write_text("\n".join(lines))
    monkeypatch.setattr("fltheory.sweep.store._MOUNTS", mounts)
    for folder, mode in ((tmp_path, "wal"), (place, "delete")):
        with Store(folder / "sweep.sqlite") as store:
            assert store._connection.execute("PRAGMA journal_mode").fetchone() == (mode,)


def test_a_disk_without_room_for_a_database_is_not_called_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error

    monkeypatch.setattr(sqlite3, "connect", full)
    with pytest.raises(OSError, match="disk is full"):
        Store(tmp_path / "sweep.sqlite")
