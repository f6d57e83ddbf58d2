"""Figures and tables of the papers, one file each."""
