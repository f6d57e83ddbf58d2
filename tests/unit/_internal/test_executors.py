"""Tasks on executors of others: all results, losses told apart from errors, nothing left in the queue."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from fltheory._internal import executors, remote_logs
from fltheory._internal.processes import in_processes
from fltheory.errors import ExecutorBroken, InvalidParameter, WorkerLost


def double(number):
    return 2 * number


def slowly(number):
    time.sleep(0.002)
    return number


def fail(number):
    raise RuntimeError("a task that fails")


def die(number):
    if number == 3:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Counting(ThreadPoolExecutor):
    """Knows how many tasks it holds."""

    def __init__(self):
        super().__init__(1)
        self.held = self.most = 0

    def submit(self, fn, /, *args, **kwargs):
        self.held += 1
        self.most = max(self.most, self.held)
        future = super().submit(fn, *args, **kwargs)
        future.result = self._taken(future.result)
        return future

    def _taken(self, result):
        def take(timeout=None):
            self.held -= 1
            return result(timeout)

        return take


def test_tasks_run_on_the_executor_that_the_caller_names():
    with ThreadPoolExecutor(2) as pool, executors.running_on(pool):
        assert sorted(in_processes([(n,) for n in range(50)], double, 1)) == list(range(0, 100, 2))
        assert executors.current() is pool
    assert executors.current() is None


def test_an_executor_holds_so_many_tasks_at_a_time(monkeypatch):
    monkeypatch.setattr(executors, "AT_ONCE", 8)
    with Counting() as pool:
        found = list(executors.submitted(pool, [(n,) for n in range(100)], slowly, None))
    assert sorted(found) == list(range(100))
    assert pool.most == 8
    assert pool.held == 0


def test_the_error_of_a_task_is_passed_on_and_the_rest_is_not_run():
    ran = []
    tasks = [(n,) for n in range(500)]
    with ThreadPoolExecutor(1) as pool, executors.running_on(pool), pytest.raises(RuntimeError, match="a task that"):
        list(in_processes(tasks, lambda n: (ran.append(n), time.sleep(0.01), fail(n)), 1))
    assert len(ran) < 500


def test_a_broken_executor_gives_what_it_has_done_and_says_so():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, executors.running_on(pool):
        found = []
        with pytest.raises(ExecutorBroken, match=r"BrokenProcessPool.*what was finished is kept"):
            found.extend(in_processes([(n,) for n in range(9)], die, 1))
    assert sorted(found) == [0, 1, 2]
    with executors.running_on(pool), pytest.raises(ExecutorBroken):
        list(in_processes([(1,)], double, 1))


def test_what_is_no_executor_is_refused():
    with pytest.raises(InvalidParameter, match=r"client\.get_executor"), executors.running_on("tcp://here"):
        pass


def test_an_address_needs_a_backend_and_a_backend_a_name():
    with pytest.raises(InvalidParameter, match="add --backend dask"), executors.chosen("processes", address="tcp://a"):
        pass
    with pytest.raises(InvalidParameter, match="did you mean 'dask'"), executors.chosen("dsk"):
        pass
    with executors.chosen("processes") as executor:
        assert executor is None


class Blaming(ThreadPoolExecutor):
    """Gives up every task that is held together with a deadly one, as Dask does, and the deadly one always."""

    def __init__(self, killed):
        super().__init__(1)
        self.killed = killed
        self.held = 0

    def submit(self, fn, /, *task):
        number = task[-1]
        future = Future()
        self.held += 1
        if number == "deadly" or self.held > 1:
            future.set_exception(self.killed("task", None, 3))
        else:
            future.set_result(fn(*task))
        return future


def test_a_task_that_waited_behind_a_deadly_one_is_tried_again_alone(monkeypatch):
    killed = pytest.importorskip("distributed").KilledWorker
    pool = Blaming(killed)
    original = executors.wait

    def waiting(running, **options):
        pool.held = 0
        return original(running, **options)

    monkeypatch.setattr(executors, "wait", waiting)
    with pool:
        found = list(executors.submitted(pool, [("deadly",), (1,), (2,)], double, lambda task: ("lost", task)))
        assert sorted(map(str, found)) == sorted(map(str, [("lost", "deadly"), 2, 4]))
        with pytest.raises(WorkerLost):
            list(executors.submitted(pool, [("deadly",)], double, None))


def speak(number):
    log = logging.getLogger("a.users.algorithm")
    log.warning("step %d is long", number)
    log.info("not worth a word")
    if number == 2:
        warnings.warn("a warning of NumPy, say", RuntimeWarning, stacklevel=1)
        for _ in range(1000):
            log.error("again")
    try:
        1 / (number - 1)
    except ZeroDivisionError:
        log.exception("what is %d", number)
    return number


def test_what_tasks_say_elsewhere_is_heard_by_the_loggers_of_the_driver(caplog):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool, executors.running_on(pool):
        assert sorted(in_processes([(number,) for number in range(3)], speak, 1)) == [0, 1, 2]
    said = [record.getMessage() for record in caplog.records]
    assert {f"step {number} is long" for number in range(3)} <= set(said)
    assert "not worth a word" not in said
    (failed,) = (text for text in said if text.startswith("what is 1"))
    assert "ZeroDivisionError" in failed
    (warned,) = (record for record in caplog.records if "of NumPy" in record.getMessage())
    assert warned.name == "py.warnings"
    assert f"{Path(__file__).name}:" in warned.getMessage()
    assert said.count("again") == remote_logs.MOST - 2
    assert caplog.records[0].name in ("a.users.algorithm", "py.warnings")


def test_what_tasks_say_in_this_process_is_heard_once(caplog):
    with ThreadPoolExecutor(2) as pool, executors.running_on(pool):
        list(in_processes([(0,), (0,)], speak, 1))
    assert [record.getMessage() for record in caplog.records] == ["step 0 is long"] * 2


def test_listening_ends_with_the_task():
    handlers, shown = list(logging.getLogger().handlers), warnings.showwarning
    assert remote_logs.heard("another computer 1", double, 4).result == 8
    with pytest.raises(RuntimeError):
        remote_logs.heard("another computer 1", fail, 4)
    assert logging.getLogger().handlers == handlers
    assert warnings.showwarning is shown


TWO_CLUSTERS = """
import warnings
from fltheory._internal import executors

if __name__ == "__main__":
    warnings.simplefilter("error")
    with executors.chosen("dask", jobs=1) as first, executors.chosen("dask", jobs=1) as second:
        print(first.submit(max, 1, 2).result(), second.submit(max, 3, 4).result())
        own = {os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists()}
        for table in ("tcp", "tcp6"):
            for line in Path("/proc/net", table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                    print("listens on", fields[1].partition(":")[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_clusters_of_two_commands_do_not_meet_and_listen_to_this_computer_only(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "two.py").write_text("import os\nfrom pathlib import Path\n" + TWO_CLUSTERS)
    done = subprocess.run(
        [sys.executable, "two.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    answer, *listening = done.stdout.splitlines()
    assert answer == "2 4"
    local = int.from_bytes(socket.inet_aton("127.0.0.1"), sys.byteorder)
    assert set(listening) == {f"listens on {local:08X}"}
