"""The glossary: symbols that mean the same in every claim.

Symbols of one paper only are declared in ``bounds/<paper>/_symbols.py``, those of one claim in its file. Within one
claim a name has one meaning; a paper's own clash is resolved there, in the name.
"""

from __future__ import annotations

from fltheory.bounds.quantities import family, function, index, scalar

k, l, i, j, t = index("k"), index("l"), index("i"), index("j"), index("t")  # noqa: E741
"""Indices: ``k`` and ``l`` clients, ``i`` and ``j`` local steps, ``t`` rounds."""

mu = scalar("mu", r"\mu", "strong convexity of every client's objective", domain="nonnegative")
L = scalar("L", "L", "smoothness of every client's objective", domain="positive")
N = scalar("N", "N", "number of clients", domain="integer>=1")
E = scalar("E", "E", "local steps assigned per round", domain="integer>=1")
tau = scalar("tau", r"\tau", "number of the round, from 0", domain="integer>=0")
eta = scalar("eta", r"\eta_\tau", "local learning rate in the round", domain="nonnegative")
G_sq = scalar("G_sq", "G^2", "bound on the expected squared norm of a stochastic gradient", domain="nonnegative")

F = function("F", "F_{<0>}(<1>)", "objective of a client at a model")
grad_F = function("grad_F", r"\nabla F_{<0>}(<1>)", "gradient of a client's objective at a model")
F_star = family("F_star", "F_{<0>}^*", "minimum of a client's objective", shape=("clients",))
w_star = scalar("w_star", "w^*", "minimiser of the global objective", shape=("dim",))
p = family("p", "p^{<0>}", "objective weight of a client", shape=("clients",), domain="probability")
sigma_sq = family(
    "sigma_sq",
    r"\sigma_{<0>}^2",
    "variance of a client's stochastic gradient",
    shape=("clients",),
    domain="nonnegative",
)
Gamma = family(
    "Gamma",
    r"\Gamma_{<0>}",
    "non-IID metric of a client, its gap at the global minimiser",
    shape=("clients",),
    domain="nonnegative",
)
n = family("n", "n_{<0>}", "number of samples of a client", shape=("clients",), domain="positive")
