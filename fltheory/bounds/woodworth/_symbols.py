r"""Symbols of the paper on local and minibatch SGD.

:math:`M` machines take :math:`K` steps in each of :math:`R` rounds; :math:`F` is :math:`H`-smooth and
:math:`\lambda`-strongly convex, the same for all machines, and :math:`\|x^*\| \le B` for the start :math:`x_0 = 0`.
Squares have symbols of their own where instances stay rational.
"""

from __future__ import annotations

from fltheory.bounds.quantities import scalar

M = scalar("M", "M", "number of machines", domain="integer>=1")
K = scalar("K", "K", "local steps per round", domain="integer>=1")
R = scalar("R", "R", "number of rounds", domain="integer>=1")
H = scalar("H", "H", "smoothness of the objective", domain="positive")
lam = scalar("lam", r"\lambda", "strong convexity of the objective", domain="nonnegative")
B = scalar("B", "B", "bound on the norm of the minimiser, the start being 0", domain="nonnegative")
sigma = scalar("sigma", r"\sigma", "root of the bound on the variance of stochastic gradients", domain="nonnegative")
sigma_sq = scalar("sigma_sq", r"\sigma^2", "bound on the variance of stochastic gradients", domain="nonnegative")
eta = scalar("eta", r"\eta", "step size", domain="positive")
