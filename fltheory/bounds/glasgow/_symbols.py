r"""Symbols of the paper on sharp bounds for federated averaging.

:math:`M` clients take :math:`K` steps in each of :math:`R` rounds from a start whose distance from the minimiser is
less than :math:`D`; :math:`k` counts the steps of one run of SGD.
"""

from __future__ import annotations

from fltheory.bounds.quantities import scalar

M = scalar("M", "M", "number of clients", domain="integer>=1")
K = scalar("K", "K", "local steps per round", domain="integer>=1")
R = scalar("R", "R", "number of rounds", domain="integer>=1")
k = scalar("k", "k", "number of steps", domain="integer>=1")
H = scalar("H", "H", "smoothness of the objective", domain="positive")
Q = scalar("Q", "Q", "third-order smoothness of the objective", domain="positive")
D = scalar("D", "D", "bound on the distance of the start", domain="positive")
sigma = scalar("sigma", r"\sigma", "root of the bound on the variance of stochastic gradients", domain="nonnegative")
zeta = scalar("zeta", r"\zeta_*", "heterogeneity of the gradients at the minimiser", domain="nonnegative")
eta = scalar("eta", r"\eta", "step size", domain="positive")
bias = scalar(
    "bias",
    r"\bigl\|\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)}\bigr\|",
    "iterate bias, from one point",
    domain="nonnegative",
)
error = scalar(
    "error", r"\mathbb E[F(x^{(R,0)})] - F(x^\star)", "expected gap of the final iterate", domain="nonnegative"
)
