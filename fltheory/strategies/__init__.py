"""Hypothesis strategies for property-testing lemmas of federated optimisation."""

from fltheory.strategies._points import points

__all__ = ["points"]
