"""MNIST split among 100 clients, for the figures with networks."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from fltheory.datasets import DataSet, load
from fltheory.deep.generators import federate

if TYPE_CHECKING:
    from fltheory.datasets.splits import Split
    from fltheory.deep.networks import Network
    from fltheory.deep.problem import DeepProblem

CLIENTS, BATCH = 100, 10
"""Clients and samples per step, as in all papers that use MNIST."""

NEEDS, PACKAGES = ("PyTorch", "mnist"), ("torch",)


@functools.cache
def data() -> DataSet:
    """Return the data set, read once."""
    return load("mnist")


def problem(network: Network, split: Split, *, seed: int, **more: Any) -> DeepProblem:
    """Return a network on MNIST split among the clients."""
    return federate(data(), network=network, split=split, num_clients=CLIENTS, batch_size=BATCH, seed=seed, **more)
