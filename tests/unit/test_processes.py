"""Tasks in other processes: shared where asked for, begun anew after a failure, stopped without complaints."""

import gc
import os
import subprocess
import sys

import pytest

from fltheory import processes


def process(_):
    return os.getpid()


def collector(_):
    return gc.get_freeze_count() > 0


def fail(_):
    raise RuntimeError("a task that fails")


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
from fltheory.processes import in_processes

connect = forkserver.connect_to_new_process

def pressed(fds):
    made = connect(fds)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)
    return made

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background
    forkserver.connect_to_new_process = pressed
    forkserver._forkserver.connect_to_new_process = pressed
    try:
        list(in_processes([(5,), (5,)], time.sleep, 2))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_ctrl_c_while_processes_start_leaves_no_complaint(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (130, "")
