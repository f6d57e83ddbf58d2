"""Symbols of the ProxSkip paper. Its p is a probability here called ``q`` in code; its gamma is a step size."""

from __future__ import annotations

from fltheory.bounds.quantities import scalar

gamma = scalar("gamma", r"\gamma", "step size", domain="positive")
q = scalar("q", "p", "probability of a proximal step, or of communication", domain="probability")
zeta = scalar("zeta", r"\zeta", "contraction of the Lyapunov function")
x = scalar("x", "x_t", "model", shape=("dim",))
h = scalar("h", "h_t", "control variate", shape=("dim",))
x_star = scalar("x_star", r"x_\star", "minimiser of f + psi", shape=("dim",))
h_star = scalar("h_star", r"h_\star", "gradient of f at the minimiser", shape=("dim",))
grad_x = scalar("grad_x", r"\nabla f(x_t)", "gradient at the model", shape=("dim",))
x_next = scalar("x_next", "x_{t+1}", "model after a step", random=True, shape=("dim",))
h_next = scalar("h_next", "h_{t+1}", "control variate after a step", random=True, shape=("dim",))
proximal = scalar(
    "proximal",
    r"\mathrm{prox}_{\frac{\gamma}{p}\psi}(x_\star - \tfrac{\gamma}{p}h_\star)",
    "proximal step from the minimiser",
    shape=("dim",),
)
T = scalar("T", "T", "number of steps", shape=("rounds",), domain="integer>=0")
psi_T = scalar("psi_T", r"\mathbb{E}[\Psi_T]", "expected Lyapunov function", shape=("rounds",), domain="nonnegative")
psi_0 = scalar("psi_0", r"\Psi_0", "Lyapunov function at the start", domain="nonnegative")
A = scalar("A", "A", "slope of expected smoothness", domain="nonnegative")
C = scalar("C", "C", "offset of expected smoothness", domain="nonnegative")
spread_sq = scalar(
    "spread_sq",
    r"\sup_t\mathrm{Var}[g_t(x_t) \mid x_t]",
    "largest variance of a stochastic gradient",
    domain="nonnegative",
)
