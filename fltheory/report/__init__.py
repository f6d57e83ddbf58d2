"""The report: one self-contained page with every verdict, its evidence and the figures."""

from fltheory.report.build import build

__all__ = ["build"]
