r"""Letters of the paper on time-evolving heterogeneous data.

The paper writes :math:`A, B` for the growth of the round and the client drift with the gradient (Assumptions 4 and
3), and for other constants in Lemma 3.4; :math:`D, G` for the bounds at a stationary point. Squares have letters of
their own, so that instances stay rational. The current round is :math:`t`, earlier ones :math:`\tau`; quantities of
one round carry no letter :math:`t` in code.
"""

from __future__ import annotations

from fltheory.bounds._algebra import family, scalar
from fltheory.bounds._symbols import t

s = scalar("cfl_s", r"\tau", "a round up to the current one, from 1")
r = scalar("cfl_r", r"\tau'", "another round up to the current one, from 1")
K = scalar("cfl_K", "K", "local steps per round")
T = scalar("cfl_T", "T", "number of rounds")
now = t
"""The current round, from 1; the same letter as the index of rounds."""

A_sq = scalar("cfl_A_sq", "A^2", "growth of the squared round drift with the squared gradient")
B_sq = scalar("cfl_B_sq", "B^2", "growth of the squared client drift with the squared gradient")
D_sq = scalar("cfl_D_sq", "D^2", "bound on the squared round drift where the gradient vanishes")
G_sq = scalar("cfl_G_sq", "G^2", "bound on the squared client drift where the gradient vanishes")
sigma_sq = scalar("cfl_sigma_sq", r"\sigma^2", "bound on the variance of a stochastic gradient")
epsilon = scalar("cfl_epsilon", r"\epsilon", "bound on the difference of two Hessians")

eta = scalar("cfl_eta", r"\eta", "step of a whole round, K times both rates")
eta_l = scalar("cfl_eta_l", r"\eta_l", "local learning rate")
eta_g = scalar("cfl_eta_g", r"\eta_g", "global learning rate")
eta_max = scalar("cfl_eta_max", r"\eta_{\max}", "largest step that is allowed")

p = family("cfl_p", "p_{<0>,i}", "weight of the objective of a round")
c_B = scalar("cfl_c_B", "c_{p_B}", "factor of the squared gradient in the bound on a local gradient")
c_G = scalar("cfl_c_G", "c_{p_G}", "constant in the bound on a local gradient")

grad = scalar("cfl_grad", r"\nabla f(\omega)", "gradient of the global objective", random=True)
local_grad = family("cfl_local_grad", r"\nabla f_{<0>,i}(\omega)", "gradient of a round's local objective", random=True)
delta = family("cfl_delta", r"\delta_{<0>,i}", "drift over clients", random=True)
xi = family("cfl_xi", r"\xi_{<0>,i}", "drift over rounds", random=True)

w_t = scalar("cfl_w_t", r"\omega_t", "global model at the start of the round")
