"""Tasks in other processes: shared where asked for, begun anew after a failure, stopped without complaints."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fltheory._internal import processes
from fltheory.errors import WorkerLost


def process(_):
    return os.getpid()


def collector(_):
    return gc.get_freeze_count() > 0


def fail(_):
    raise RuntimeError("a task that fails")


def die(number, place):
    """End this process the first time, or every time, as the system does where memory is short."""
    if number == 3 and not (place / "done").exists():
        (place / "done").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 5:
        with (place / "tries").open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def gone(number, place):
    return -number


def pids(jobs=2):
    return set(processes.in_processes([(n,) for n in range(8)], process, jobs))


def test_tasks_share_their_processes_where_asked_for():
    with processes.same_processes():
        first = pids()
        assert os.getpid() not in first
        assert pids() & first
    assert not pids() & first


def test_one_job_needs_no_process():
    assert pids(jobs=1) == {os.getpid()}


def test_a_task_that_fails_ends_its_processes_and_not_the_next_ones():
    with processes.same_processes():
        first = pids()
        with pytest.raises(RuntimeError, match="a task that fails"):
            list(processes.in_processes([(n,) for n in range(4)], fail, 2))
        assert not pids() & first


def test_what_is_imported_is_left_alone_by_the_collector():
    assert all(processes.in_processes([(n,) for n in range(2)], collector, 2))


INTERRUPTED = """
import os, signal, sys, time
from multiprocessing import forkserver
from fltheory._internal.processes import in_processes
from fltheory.cli.streams import ended_as_interrupted

number = getattr(signal, sys.argv[1])
connect = forkserver.connect_to_new_process

def pressed(fds):
    made = connect(fds)
    os.kill(os.getpid(), number)
    time.sleep(0.1)
    return made

if __name__ == "__main__":
    # Shells ignore some of them for what runs in the background.
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    forkserver.connect_to_new_process = pressed
    forkserver._forkserver.connect_to_new_process = pressed
    with ended_as_interrupted() as endings:
        try:
            list(in_processes([(5,), (5,)], time.sleep, 2))
        except KeyboardInterrupt:
            sys.exit(endings.code(130))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_to_be_ended_while_processes_start_leaves_no_complaint(tmp_path, name):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, script, name], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (128 + getattr(signal, name), "")


def test_a_killed_process_costs_nothing_and_a_task_that_kills_twice_only_itself(tmp_path):
    tasks = [(number, tmp_path) for number in range(9)]
    found = list(processes.in_processes(tasks, die, 2, lost=gone))
    assert sorted(found) == [-5, 0, 1, 2, 3, 4, 6, 7, 8]
    with processes.same_processes():
        assert sorted(processes.in_processes(tasks, die, 2, lost=gone)) == sorted(found)
        assert os.getpid() not in pids(), "the pool that broke is replaced"


def test_a_task_that_kills_is_tried_once_in_the_pool_and_twice_alone(tmp_path):
    (tmp_path / "done").touch()  # so that nobody else kills
    found = list(processes.in_processes([(number, tmp_path) for number in range(9)], die, 2, lost=gone))
    assert sorted(found) == [-5, 0, 1, 2, 3, 4, 6, 7, 8]
    assert (tmp_path / "tries").read_text() == "xxx"


def busy_or_die(number, place):
    """Keep one process busy, end the other, and let the third task wait meanwhile."""
    if number == 4 and not (place / "done").exists():
        time.sleep(60)
    if number == 3 and not (place / "done").exists():
        time.sleep(0.5)
    return die(number, place)


def test_a_task_that_waits_when_another_breaks_the_pool_is_tried_alone_only(tmp_path):
    """What waits in a pool that breaks cannot be told from what was begun, so it is run alone, twice at most."""
    found = list(processes.in_processes([(number, tmp_path) for number in (3, 4, 5)], busy_or_die, 2, lost=gone))
    assert sorted(found) == [-5, 3, 4]
    assert (tmp_path / "tries").read_text() == "xx"


def wait_then_kill_once(number, place):
    """End a process while the last task waits, which then ends the first process that it is run in."""
    if number == 5 and (place / "done").exists() and not (place / "killed").exists():
        (place / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 3:
        time.sleep(0.5)
    elif number == 4 and not (place / "done").exists():
        (place / "done").touch()
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_task_that_waits_when_another_breaks_the_pool_may_end_one_process(tmp_path):
    found = list(processes.in_processes([(n, tmp_path) for n in (3, 4, 5)], wait_then_kill_once, 2, lost=gone))
    assert sorted(found) == [3, 4, 5]
    assert (tmp_path / "killed").exists()


UNGUARDED = """
from pathlib import Path
import fltheory as fl
with Path("read").open("a") as file:
    file.write("x")
grid = Path("grid.toml")
try:
    fl.run_sweep(grid, jobs=2)
except fl.FltheoryError as error:
    print(type(error).__name__, error)
"""
GRID = """
rounds = 1
[problem]
name = "noisy-quadratic"
[participation]
local_steps = 1
[[algorithm]]
name = "fedavg"
rate = 0.1
[sweep]
seed = [1, 2, 3, 4, 5, 6, 7, 8, 9]
"""


def test_a_script_that_every_process_would_run_again_is_told_so_once(tmp_path):
    (tmp_path / "unguarded.py").write_text(UNGUARDED)
    (tmp_path / "grid.toml").write_text(GRID)
    done = subprocess.run(
        [sys.executable, "unguarded.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith(
        "NoProcesses no process could be started; a script has to call this under if __name__"
    )
    assert len((tmp_path / "read").read_text()) <= 6, "not once per point"


def test_without_another_answer_a_lost_task_is_one_line(tmp_path):
    with pytest.raises(WorkerLost, match="ended from outside"):
        list(processes.in_processes([(number, tmp_path) for number in range(9)], die, 2))


PARENT = """
import os, signal, sys, time
from pathlib import Path
from fltheory._internal.processes import in_processes

def busy(number, place):
    (Path(place) / f"worker-{os.getpid()}").touch()
    while True:
        sum(range(10_000))

if __name__ == "__main__":
    from parent import busy
    for ignored in (signal.SIGHUP, signal.SIGQUIT):  # by what was started with nohup or &, and that is inherited
        signal.signal(ignored, signal.SIG_DFL)
    list(in_processes([(number, sys.argv[1]) for number in range(4)], busy, 2))
"""


def children_of(number):
    """Return all processes below one, by the system's list."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(place.parent.name)] = (int(fields[1]), fields[0])
    found = {number}
    while more := {n for n, (parent, _) in parents.items() if parent in found} - found:
        found |= more
    return {n for n in found - {number} if parents[n][1] != "Z"}


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_no_process_survives_its_parent(tmp_path, name):
    (tmp_path / "parent.py").write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, tmp_path / "parent.py", tmp_path]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert eventually(lambda: len(list(tmp_path.glob("worker-*"))) == 2)
        workers = {int(path.name.partition("-")[2]) for path in tmp_path.glob("worker-*")}
        others = children_of(parent.pid)
        assert workers <= others
        parent.send_signal(getattr(signal, name))
        try:
            parent.wait(timeout=20)
        finally:
            parent.kill()
        gone_by_themselves = eventually(lambda: not any(map(alive, others)))
        for number in filter(alive, others):
            os.kill(number, signal.SIGKILL)
        assert gone_by_themselves
        assert parent.stdout is not None
        assert parent.stdout.read() == b"", "nobody holds the pipe any more"


DEAF_PARENT = """
import ctypes, sys
from pathlib import Path
from fltheory._internal import executors, processes

def deaf(place):
    (Path(place) / "begun").touch()
    ctypes.PyDLL(None).sleep(600)  # as a long compiled loop, which lets no other thread have a turn

if __name__ == "__main__":
    from deaf_parent import deaf
    processes.expect(sys.argv[3:])
    with executors.chosen(sys.argv[2], jobs=2) as executor, executors.running_on(executor):
        list(processes.in_processes([(sys.argv[1],)] * 2, deaf, 2))
"""

SLOW_IMPORT = """
import ctypes
from pathlib import Path
(Path(__file__).parent / "begun").touch()
ctypes.PyDLL(None).sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and only Linux has the means")
@pytest.mark.parametrize("given", [("processes",), ("processes", "slow_import"), ("dask",)], ids=" ".join)
def test_processes_that_never_listen_end_with_their_parent(tmp_path, given):
    if "dask" in given:
        pytest.importorskip("distributed")
    (tmp_path / "deaf_parent.py").write_text(DEAF_PARENT)
    (tmp_path / "slow_import.py").write_text(SLOW_IMPORT)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, tmp_path / "deaf_parent.py", tmp_path, *given]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as parent:
        assert eventually((tmp_path / "begun").exists, 60)
        others = children_of(parent.pid)
        assert len(others) >= 2
        parent.kill()
    gone_by_themselves = eventually(lambda: not any(map(alive, others)))
    for number in filter(alive, others):
        os.kill(number, signal.SIGKILL)
    assert gone_by_themselves
