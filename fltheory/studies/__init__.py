"""Experiments of the papers as data: settings and results, without drawing."""
