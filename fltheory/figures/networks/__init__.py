"""Figures and tables of the papers with networks on real data; they need PyTorch, the data, and minutes each."""
