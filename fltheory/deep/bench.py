"""Threads with a network each, and the data they share.

A client's work is done by one thread from beginning to end, with one thread of linear algebra, so no digit depends on
how many threads there are. Their number is PyTorch's own: ``torch.set_num_threads`` or ``OMP_NUM_THREADS``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from fltheory.deep.flat import DTYPES, FlatNetwork
from fltheory.deep.walks import Data, Walker

if TYPE_CHECKING:
    from fltheory.deep.examples import Examples
    from fltheory.deep.problem import DeepProblem

Task = TypeVar("Task")
Found = TypeVar("Found")


class Bench:
    """Where the networks of a problem are run.

    Parameters
    ----------
    problem
        Network, data and regulariser.
    precision
        ``single`` or ``double``.
    walker
        Runs the local steps of a client.
    """

    def __init__(self, problem: DeepProblem, precision: str, walker: Walker) -> None:
        self._problem = problem
        self._precision = precision
        self._own = threading.local()
        self.walker = walker
        self.train = self._tensors(problem.train)
        self.test = self._tensors(problem.test)
        self._pool = _started(torch.get_num_threads())

    def each(self, work: Callable[[FlatNetwork, Task], Found], tasks: Iterable[Task]) -> list[Found]:
        """Return ``work(network, task)`` for every task, in their order."""
        return list(self._pool.map(lambda task: work(self._network(), task), tasks))

    def tensor(self, vector: Any) -> Any:
        """Return numbers in the precision of the networks."""
        return torch.tensor(vector, dtype=DTYPES[self._precision])

    def _network(self) -> FlatNetwork:
        """Return the network of this thread."""
        if not hasattr(self._own, "network"):
            self._own.network = FlatNetwork(self._problem.module(), self._precision)
        network: FlatNetwork = self._own.network
        return network

    def _tensors(self, examples: Examples) -> Data:
        symbols = examples.inputs.dtype.kind in "iu"
        kind = torch.int64 if symbols else DTYPES[self._precision]
        # A copy: PyTorch warns of arrays that may not be written to.
        return Data(torch.tensor(examples.inputs, dtype=kind), torch.tensor(examples.labels), self._problem.l2)


def _started(threads: int) -> ThreadPoolExecutor:
    """Return threads that do linear algebra with one thread each, without changing this for anybody else."""
    begun = threading.Barrier(threads + 1)

    def begin() -> None:
        torch.set_num_threads(1)
        torch.get_num_threads()  # a thread takes the number in force when it first asks, and keeps it
        begun.wait()

    pool = ThreadPoolExecutor(threads)
    for _ in range(threads):
        pool.submit(begin)
    begun.wait()
    torch.set_num_threads(threads)  # what later threads of the program begin with
    return pool
