"""Engines turn an experiment into trajectories: ``reference``, ``monte_carlo`` and ``exact``."""

from fltheory.simulation.engines.simulate import ENGINES, simulate
from fltheory.simulation.recording import Record

__all__ = ["ENGINES", "Record", "simulate"]
