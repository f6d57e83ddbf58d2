"""Linear algebra with one thread, and results that do not depend on how many there would be."""

import os
import subprocess
import sys
import threading

import pytest

from fltheory._internal import linear_algebra
from fltheory._internal.linear_algebra import num_threads, one_thread

known = pytest.mark.skipif(num_threads() is None, reason="the library behind NumPy has no such control")

PROGRAM = """
import hashlib
import fltheory as fl
from fltheory.algorithms.scaffold import Scaffold
from fltheory._internal.linear_algebra import num_threads
from fltheory.logistic import synthetic

print(num_threads())
problems = [fl.client_quadratics(dim=dim, num_clients=2, noise_sq=0.1) for dim in (60, 300)]
problems.append(synthetic(alpha=1, beta=1, num_clients=5, batch_size=10, seed=0))
for problem, engine in zip(problems, ("exact", "monte_carlo", "reference")):
    participation = fl.Participation(num_clients=problem.num_clients, local_steps=3)
    experiment = fl.Experiment(problem=problem, algorithm=Scaffold(), participation=participation, rounds=3, rate=0.02)
    run = fl.simulate(experiment, engine=engine, replicates=3)
    print(hashlib.sha256(run.distance_sq.tobytes() + run.gap.tobytes()).hexdigest())
"""


@pytest.fixture
def threads(monkeypatch):
    """Stand in for the library: note the numbers of threads that are set, 3 at first."""
    noted = [3]
    monkeypatch.setattr(linear_algebra, "_controls", lambda: (lambda: noted[-1], noted.append))
    return noted


def test_the_number_before_comes_back_after_the_last_block(threads):
    with one_thread():
        with one_thread():
            assert threads == [3, 1]
        assert threads == [3, 1]
    assert threads == [3, 1, 3]


def test_it_comes_back_after_an_error(threads):
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert threads == [3, 1, 3]


def test_blocks_in_threads_share_the_setting(threads):
    first, second = threading.Event(), threading.Event()

    def other():
        with one_thread():
            first.set()
            second.wait(10)

    worker = threading.Thread(target=other)
    worker.start()
    assert first.wait(10)
    with one_thread():
        second.set()
        worker.join(10)
        assert threads == [3, 1]
    assert threads == [3, 1, 3]


def test_a_library_without_control_is_left_alone(monkeypatch):
    monkeypatch.setattr(linear_algebra, "_controls", lambda: None)
    with one_thread():
        assert num_threads() is None


@known
def test_the_real_library_follows():
    before = num_threads()
    with one_thread():
        assert num_threads() == 1
    assert num_threads() == before


@known
def test_results_do_not_depend_on_the_number_of_threads():
    def lines(count):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": str(count), "OMP_NUM_THREADS": str(count)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    one, two = lines(1), lines(2)
    assert len(one) == 4
    assert (one[0], one[1:]) == ("1", two[1:])
    if (os.cpu_count() or 1) > 1:
        assert two[0] == "2"
