"""Deciding claims: evaluate, search, shrink, confirm, and keep the ledger."""
