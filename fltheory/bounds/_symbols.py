"""The glossary: letters that mean the same in every claim.

Letters of one paper only are declared in ``bounds/<paper>/_symbols.py``. A name has one meaning in the whole package
(:mod:`fltheory.bounds._algebra` refuses a second one); a paper's own clash is resolved there, in the LaTeX.
"""

from __future__ import annotations

from fltheory.bounds._algebra import family, function, index, scalar

k, l, i, j, t = index("k"), index("l"), index("i"), index("j"), index("t")  # noqa: E741
"""Indices: ``k`` and ``l`` clients, ``i`` and ``j`` local steps, ``t`` rounds."""

mu = scalar("mu", r"\mu", "strong convexity of every client's objective")
L = scalar("L", "L", "smoothness of every client's objective")
N = scalar("N", "N", "number of clients")
E = scalar("E", "E", "local steps assigned per round")
tau = scalar("tau", r"\tau", "number of the round, from 0")
eta = scalar("eta", r"\eta_\tau", "local learning rate in the round")
G_sq = scalar("G_sq", "G^2", "bound on the expected squared norm of a stochastic gradient")

F = function("F", "F_{<0>}(<1>)", "objective of a client at a model")
grad_F = function("grad_F", r"\nabla F_{<0>}(<1>)", "gradient of a client's objective at a model")
F_star = family("F_star", "F_{<0>}^*", "minimum of a client's objective")
w_star = scalar("w_star", "w^*", "minimiser of the global objective")
p = family("p", "p^{<0>}", "objective weight of a client")
sigma_sq = family("sigma_sq", r"\sigma_{<0>}^2", "variance of a client's stochastic gradient")
Gamma = family("Gamma", r"\Gamma_{<0>}", "non-IID metric of a client, its gap at the global minimiser")
n = family("n", "n_{<0>}", "number of samples of a client")
