"""Engines turn an experiment into trajectories: ``reference``, ``monte_carlo`` and ``exact``."""

from fltheory.engines.simulate import ENGINES, simulate
from fltheory.recording import Record

__all__ = ["ENGINES", "Record", "simulate"]
