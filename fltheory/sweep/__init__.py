"""Grids of experiments: a configuration file with lists of values, run point by point, kept in SQLite, resumable."""

from fltheory.sweep.grid import Axis, Grid
from fltheory.sweep.run import Limits, Swept, plan, sweep
from fltheory.sweep.shards import Shard
from fltheory.sweep.store import Run, Store

__all__ = ["Axis", "Grid", "Limits", "Run", "Shard", "Store", "Swept", "plan", "sweep"]
