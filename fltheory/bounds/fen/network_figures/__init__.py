"""Figures and tables of the paper with networks on real data; they need PyTorch and minutes each."""
