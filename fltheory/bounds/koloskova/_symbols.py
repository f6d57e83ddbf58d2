r"""Symbols of the paper on decentralised SGD.

Clients are :math:`i = 1, \dots, n`, iterations :math:`t = 0, 1, \dots`; :math:`\tau` consecutive mixing matrices
contract by :math:`p` (Assumption 4). Squares have symbols of their own, so that instances stay rational.
"""

from __future__ import annotations

from sympy import Eq

from fltheory.bounds.claim import Assumption
from fltheory.bounds.quantities import index, scalar
from fltheory.problems.problem import Origin

n = scalar("n_clients", "n", "number of clients", domain="integer>=1")
i = index("i", "i", "a client")
t = index("t", "t", "number of an iteration, from 0")
tau = scalar("block", r"\tau", "number of mixing matrices that contract together", domain="integer>=1")
p = scalar("p_mix", "p", "expected consensus rate (Assumption 4), which is at most 1", domain="positive")
eta = scalar("eta_t", r"\eta_t", "step size of the iteration", domain="nonnegative")
sigma_bar_sq = scalar(
    "sigma_bar_sq", r"\bar\sigma^2", "mean variance of the clients' gradients at the minimiser", domain="nonnegative"
)
zeta_bar_sq = scalar(
    "zeta_bar_sq", r"\bar\zeta^2", "mean squared gradient of the clients at the minimiser", domain="nonnegative"
)
f_bar = scalar("f_bar", r"f(\bar x)", "objective at the mean model")
f_star = scalar("f_star", "f^*", "minimum of the objective")

dependence = scalar("dependence", r"\rho_\xi", "correlation of the noises of two clients", domain="nonnegative")
INDEPENDENT = Assumption(
    "noise independent over the clients (used by the proof, listed nowhere)",
    Eq(dependence, 0, evaluate=False),
    Origin.DECLARED,
)

step = scalar("step", r"\eta", "constant step size", domain="positive")
T = scalar("T", "T", "number of the last iteration", domain="integer>=0")
far_sq = scalar("far_sq", "R_0^2", "squared distance of the start", domain="nonnegative")
error = scalar(
    "error", r"\sum_t\tfrac{w_t}{W_T}(\mathbb E f(\bar x^{(t)}) - f^\star)", "weighted mean of the expected gaps"
)
