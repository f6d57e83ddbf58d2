"""Limits of time and memory, in the main thread and in others."""

import contextlib
import resource
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fltheory._internal.limits import within
from fltheory.errors import TimeLimit


def spin(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(100))


def limited(limit, seconds):
    with within(limit, None):
        spin(seconds)
    return "done"


def test_the_main_thread_is_stopped_and_its_signal_given_back():
    before = signal.getsignal(signal.SIGALRM)
    begin = time.monotonic()
    with pytest.raises(TimeLimit, match=r"time limit of 0\.2 s"):
        limited(0.2, 20)
    assert time.monotonic() - begin < 10
    assert signal.getsignal(signal.SIGALRM) == before
    assert limited(20, 0.01) == "done"
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_the_main_thread_is_stopped_where_it_waits():
    with pytest.raises(TimeLimit), within(0.2, None):
        threading.Event().wait(20)


def test_another_thread_is_stopped_and_goes_on_with_the_next_task():
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(TimeLimit, match=r"time limit of 0\.2 s"):
            pool.submit(limited, 0.2, 20).result()
        assert pool.submit(limited, 20, 0.01).result() == "done"
        assert pool.submit(limited, 0.3, 0.01).result() == "done"
        pool.submit(spin, 0.6).result()  # the limit of the task before is over by now


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_limited_and_given_back():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(MemoryError), within(None, 50):
        np.ones(100_000_000)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    with within(None, 200):
        assert np.ones(10_000_000).sum() == 10_000_000


def test_a_limit_that_comes_a_moment_late_leaves_nothing_behind():
    """In a thread the limit is an exception from outside; one that is late must not keep tracers waiting for ever."""
    ended = []

    def work():
        for _ in range(50):
            begin = time.perf_counter()
            with contextlib.suppress(TimeLimit), within(0.002, None):
                while time.perf_counter() - begin < 0.00195:
                    pass
        sys.settrace(lambda *_: None)
        (lambda: None)()
        sys.settrace(None)
        ended.append(True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert ended
