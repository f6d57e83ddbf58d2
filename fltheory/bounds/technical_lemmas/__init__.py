"""Lemmas on sequences, vectors and convex functions that several papers state: their symbols and instances."""
