"""Figures at the width of a column of print, for several algorithms side by side."""

from fltheory.figures.comparison import comparison, save

__all__ = ["comparison", "save"]
