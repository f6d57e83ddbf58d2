"""Proofs: statements as polynomial problems, certificates that are found once and replayed in exact arithmetic."""
