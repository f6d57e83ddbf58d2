"""Figures about the catalogue as a whole: bounds against trajectories, proof graphs, tightness."""
