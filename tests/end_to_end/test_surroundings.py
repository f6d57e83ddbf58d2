"""Commands where little is given: a home that cannot be written, a terminal of a few columns, a disk that is full."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHONPATH = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])

GRID = """
rounds = 3
replicates = 2
seed = 1
[problem]
name = "noisy-quadratic"
dim = 2
num_clients = 2
[participation]
local_steps = 1
[[algorithm]]
name = "fedavg"
rate = 0.1
"""
SWEEP = "[sweep]\nproblem.L = [2.0, 3.0]\n"

COMMANDS = {
    "check": ("check", "ruan.eq-71", "--quick", "--fresh", "--jobs", "1"),
    "run": ("run", "x.toml"),
    "sweep": ("sweep", "grid.toml", "--jobs", "1"),
    "list": ("list", "ruan.*"),
    "show": ("show", "ruan.theorem-3.1"),
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "x.toml").write_text(GRID)
    (tmp_path / "grid.toml").write_text(GRID + SWEEP)
    return tmp_path


@pytest.mark.parametrize("name", ["check", "run", "sweep"])
def test_a_home_that_cannot_be_written(here: Path, name: str) -> None:
    dropped = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "FLTHEORY_CACHE_DIR", "NUMBA_CACHE_DIR")
    environment = {key: value for key, value in os.environ.items() if key not in (*dropped, "MPLCONFIGDIR")}
    environment |= {"HOME": "/dev/null", "PYTHONPATH": PYTHONPATH}  # no folder, for root neither
    command = [sys.executable, "-m", "fltheory", *COMMANDS[name], "-q"]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert list((here / "results").rglob("*.json"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_of_ten_columns(here: Path, name: str) -> None:
    leader, follower = os.openpty()
    try:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 10, 0, 0))
        environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        environment |= {"TERM": "xterm", "PYTHONPATH": PYTHONPATH}
        command = [sys.executable, "-m", "fltheory", *COMMANDS[name]]
        with subprocess.Popen(command, cwd=here, env=environment, stdout=follower, stderr=follower) as process:
            os.close(follower)
            shown = b""
            while True:
                try:
                    part = os.read(leader, 2**16)
                except OSError:  # all who could write have ended
                    break
                if not part:
                    break
                shown += part
            assert process.wait(timeout=300) == 0, shown.decode()
    finally:
        os.close(leader)
    assert b"Traceback" not in shown
    assert shown


FULL = """
mount -t tmpfs -o size={size}k tmpfs {place} || exit 77
cp -r {kept}/. {place}
head -c 100M /dev/zero > {place}/filler 2> /dev/null
{command} --output {place}
echo "code $?"
rm {place}/filler; rm -rf {after}; cp -r {place} {after}
"""


def rows(database: Path) -> set[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(database)) as file:
        return set(file.execute("SELECT key, final FROM runs"))


@pytest.mark.skipif(shutil.which("unshare") is None, reason="a small disk needs unshare")
@pytest.mark.parametrize("name", ["run", "sweep"])
def test_a_full_disk_keeps_what_was_there(here: Path, name: str) -> None:
    """Results of one seed are there, those of another do not fit."""
    fltheory = [sys.executable, "-m", "fltheory"]
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
    subprocess.run([*fltheory, *COMMANDS[name], "-q", "--output", "kept"], cwd=here, env=environment, check=True)
    before = {path.name: path.read_bytes() for path in (here / "kept").iterdir() if path.is_file()}
    for file in ("x.toml", "grid.toml"):
        (here / file).write_text((here / file).read_text().replace("seed = 1", "seed = 2"))
    place, after = here / "small", here / "after"
    place.mkdir()
    size = sum(-(-len(data) // 4096) * 4 for data in before.values()) + 200
    script = FULL.format(
        size=size, place=place, kept=here / "kept", after=after, command=" ".join([*fltheory, *COMMANDS[name]])
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"no small disk here: {done.stderr.strip()}")
    assert "Traceback" not in done.stderr, done.stderr
    assert "no space" in done.stderr.lower() or "disk is full" in done.stderr, done.stderr
    assert "code 1" in done.stdout or "code 2" in done.stdout
    for name_, data in before.items():
        if name_.endswith(".sqlite"):
            assert rows(here / "kept" / name_) <= rows(after / name_)
        else:
            assert (after / name_).read_bytes() == data, name_
    json.loads((after / "summary.json").read_text())
    assert not [path.name for path in after.iterdir() if path.name.endswith("part")]
