"""Symbols of lemmas on vectors and random vectors."""

from __future__ import annotations

from fltheory.bounds.quantities import family, scalar

count = scalar("count", r"\tau", "number of vectors or random variables", domain="integer>=1")
v = family("v", "v_{<0>}", "any vectors", shape=("vectors", "dim"))
Xi = family("Xi", r"\Xi_{<0>}", "random vectors", random=True, shape=("vectors", "dim"))
mean = family("mean", r"\xi_{<0>}", "their means", shape=("vectors", "dim"))
