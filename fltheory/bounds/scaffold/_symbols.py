r"""Symbols of the paper on SCAFFOLD.

Rounds are :math:`r = 1, \dots, R`, clients :math:`i`, local steps :math:`k = 1, \dots, K`; the smoothness is
:math:`\beta`. Squares have symbols of their own, so that instances stay rational.
"""

from __future__ import annotations

from sympy import Eq

from fltheory.bounds.claim import Assumption
from fltheory.bounds.quantities import scalar
from fltheory.problems.problem import Origin

beta = scalar("beta", r"\beta", "smoothness of every client's objective", domain="positive")
R = scalar("R", "R", "number of rounds", domain="integer>=0")
K = scalar("K", "K", "local steps per round", domain="integer>=1")
S = scalar("S", "S", "number of clients that are sampled in a round", domain="integer>=1")
G = scalar("G", "G", "gradient dissimilarity, its constant part", domain="nonnegative")
G_sq = scalar("G_sq", "G^2", "gradient dissimilarity, its constant part", domain="nonnegative")
B_sq = scalar("B_sq", "B^2", "gradient dissimilarity, its part that grows with the gradient", domain="nonnegative")
sigma_sq = scalar("sigma_sq", r"\sigma^2", "bound on the variance of a stochastic gradient", domain="nonnegative")
eta = scalar("eta", r"\eta", "step", domain="nonnegative")
eta_max = scalar("eta_max", r"\eta_{\max}", "largest step that is allowed", domain="nonnegative")
eta_g = scalar("eta_g", r"\eta_g", "global step-size", domain="positive")
eta_l = scalar("eta_l", r"\eta_l", "local step-size", domain="nonnegative")
step = scalar("eta_tilde", r"\tilde\eta", "effective step-size of a round", domain="nonnegative")
dependence = scalar("dependence", r"\rho_\zeta", "correlation of the noises of two clients", domain="nonnegative")

INDEPENDENT = Assumption(
    "noise independent over the clients (used by the proof, listed nowhere)",
    Eq(dependence, 0, evaluate=False),
    Origin.DECLARED,
)
