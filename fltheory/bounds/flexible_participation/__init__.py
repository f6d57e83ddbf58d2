"""Flexible participation, where clients complete random numbers of local steps: symbols, one round, laws, whole runs.

Papers that analyse it share what is here.
"""
