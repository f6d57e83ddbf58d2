"""Figures at the widths of print: pure functions from trajectories or numbers to ``matplotlib`` figures."""

from fltheory.figures.comparison import comparison
from fltheory.figures.study import produce, save, studies

__all__ = ["comparison", "produce", "save", "studies"]
