"""Theorems as objects: what they state, their bounds as functions, and both sides along a user's own experiment."""
