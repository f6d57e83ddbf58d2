"""Symbols of section 6.1 of the field guide."""

from __future__ import annotations

from fltheory.bounds.quantities import family, function, index, scalar

i, k, s = index("i"), index("k"), index("s")

M = scalar("M", "M", "number of clients", domain="integer>=1")
steps = scalar("steps", r"\tau", "local steps", domain="integer>=1")
T = scalar("T", "T", "number of rounds", shape=("rounds",), domain="integer>=1")
last_T = scalar("T", "T", "number of rounds of a run", domain="integer>=1")
eta = scalar("eta", r"\eta", "step size", domain="positive")
sigma = scalar("sigma", r"\sigma", "root of the bound on the variance of stochastic gradients", domain="nonnegative")
sigma_sq = scalar("sigma_sq", r"\sigma^2", "bound on the variance of stochastic gradients", domain="nonnegative")
zeta = scalar("zeta", r"\zeta", "bound on the difference of local and global gradients", domain="nonnegative")
zeta_sq = scalar(
    "zeta_sq", r"\zeta^2", "square of the bound on the difference of local and global gradients", domain="nonnegative"
)
D = scalar("D", "D", "distance of the start from the minimiser", domain="nonnegative")
D_sq = scalar("D_sq", "D^2", "squared distance of the start from the minimiser", domain="nonnegative")
excess = scalar("excess", r"\mathbb{E}[A]", "expected mean gap of all mean iterates", shape=("rounds",))
last_excess = scalar("excess", r"\mathbb{E}[A]", "expected mean gap of all mean iterates of a run")

risk = function("risk", "F(<0>)", "global objective")
x_star = scalar("x_star", "x^*", "minimiser of the global objective", shape=("dim",))
local = family(
    "local",
    "x_{<0>}^{t,<1>}",
    "model of a client after local steps",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
mean = family("mean", r"\bar x^{t,<0>}", "mean of the clients' models", first=0, random=True, shape=("steps", "dim"))
noise = family(
    "noise", r"\xi_{<0>}^{t,<1>}", "noise of a step", first=(1, 0), random=True, shape=("clients", "steps", "dim")
)
past_dependence = scalar(
    "past_dependence", r"\rho_\xi", "largest mean of the noise of a step, given the steps before", domain="nonnegative"
)
round_gap = scalar("round_gap", "A_t", "mean gap of the mean iterates of a round", random=True)
spread = scalar("spread", "V_t", "sum of squared distances of local models from their mean", random=True)
apart_sq = family(
    "apart_sq", r"\sup_x\|\nabla F_{<0>}(x) - \nabla F(x)\|^2", "largest squared difference", shape=("clients",)
)
