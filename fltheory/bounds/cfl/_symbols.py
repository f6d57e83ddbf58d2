r"""Symbols of the paper on time-evolving heterogeneous data.

The paper writes :math:`A, B` for the growth of the round and the client drift with the gradient (Assumptions 4 and
3), and for other constants in Lemma 3.4; :math:`D, G` for the bounds at a stationary point. Squares have symbols of
their own, so that instances stay rational. The current round is :math:`t`, earlier ones :math:`\tau`; quantities of
one round carry no symbol :math:`t` in code.
"""

from __future__ import annotations

from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.symbols import t

s = index("s", r"\tau", "a round up to the current one, from 1")
r = index("r", r"\tau'", "another round up to the current one, from 1")
K = scalar("K", "K", "local steps per round", domain="integer>=1")
T = scalar("T", "T", "number of rounds", domain="integer>=0")
now = t
"""The current round, from 1; the same symbol as the index of rounds."""

A_sq = scalar("A_sq", "A^2", "growth of the squared round drift with the squared gradient", domain="nonnegative")
B_sq = scalar("B_sq", "B^2", "growth of the squared client drift with the squared gradient", domain="nonnegative")
D_sq = scalar("D_sq", "D^2", "bound on the squared round drift where the gradient vanishes", domain="nonnegative")
G_sq = scalar("G_sq", "G^2", "bound on the squared client drift where the gradient vanishes", domain="nonnegative")
sigma_sq = scalar("sigma_sq", r"\sigma^2", "bound on the variance of a stochastic gradient", domain="nonnegative")
epsilon = scalar("epsilon", r"\epsilon", "bound on the difference of two Hessians", domain="nonnegative")

eta = scalar("eta", r"\eta", "step of a whole round, K times both rates", domain="nonnegative")
eta_l = scalar("eta_l", r"\eta_l", "local learning rate", domain="nonnegative")
eta_g = scalar("eta_g", r"\eta_g", "global learning rate", domain="positive")
eta_max = scalar("eta_max", r"\eta_{\max}", "largest step that is allowed", domain="positive")

p = family("p", "p_{<0>,i}", "weight of the objective of a round", shape=("rounds",), domain="nonnegative")
c_B = scalar("c_pB", "c_{p_B}", "factor of the squared gradient in the bound on a local gradient", domain="nonnegative")
c_G = scalar("c_pG", "c_{p_G}", "constant in the bound on a local gradient", domain="nonnegative")

grad = scalar("grad", r"\nabla f(\omega)", "gradient of the global objective", random=True, shape=("dim",))
local_grad = family(
    "local_grad",
    r"\nabla f_{<0>,i}(\omega)",
    "gradient of a round's local objective",
    random=True,
    shape=("rounds", "dim"),
)
delta = family("delta", r"\delta_{<0>,i}", "drift over clients", random=True, shape=("rounds", "dim"))
xi = family("xi", r"\xi_{<0>,i}", "drift over rounds", random=True, shape=("rounds", "dim"))

w_t = scalar("w_t", r"\omega_t", "global model at the start of the round", shape=("dim",))
