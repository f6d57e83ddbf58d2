"""Letters of the rates of the CFL paper: rounds, accuracy, drifts, as in Theorems 4.1 to 4.6."""

from __future__ import annotations

from sympy import Expr, Le, log, sqrt

from fltheory.bounds._algebra import BigO, scalar
from fltheory.bounds._claim import Assumption
from fltheory.bounds._symbols import L, N

T = scalar("rate_T", "T", "number of rounds")
eps = scalar("rate_eps", r"\varepsilon", "expected gap of the weighted mean of the models after that many rounds")
K = scalar("rate_K", "K", "local steps per round")
F = scalar("rate_F", "F", "distance of the start from the minimiser")
G = scalar("rate_G", "G", "root of the bound on the mean square of the client drift")
D = scalar("rate_D", "D", "root of the bound on the mean square of the round drift")
sigma = scalar("rate_sigma", r"\sigma", "root of the bound on the variance of a stochastic gradient")
A = scalar("rate_A", "A", "growth of the round drift with the gradient")
B = scalar("rate_B", "B", "growth of the client drift with the gradient")
M = scalar("rate_M", "M", "part of a rate that noise and round drift contribute")
M_tilde = scalar("rate_M_tilde", r"\tilde M", "the same for FedAvg, squared")
c_pB = scalar("rate_c_pB", "c_{p_B}", "one plus the growth constants")
eta_max = scalar("rate_eta_max", r"\eta_{\max}", "largest step allowed per round")
rival = scalar("rate_rival", r"\varepsilon_{\mathrm{FedAvg}}", "the same gap for FedAvg with its own best step")


def soft(rate: Expr, firm: Expr | int = 0) -> Expr:
    r"""Return the right-hand side of :math:`\tilde O(\text{rate} + \text{firm})` of a strongly convex rate.

    Parameters
    ----------
    rate
        Terms that the step has to balance against the start, which takes a logarithm of what the start shrinks by.
    firm
        Terms that no step changes, with a logarithm of T only.
    """
    return BigO(log(1 + L * F**2 / eps) * rate + log(T) * firm)


def soft_general(rate: Expr) -> Expr:
    r"""Return the right-hand side of :math:`\tilde O(\text{rate})` of a general convex rate, with a logarithm of T."""
    return BigO(log(T) * rate)


constants = ((c_pB, 1 + B**2 + A**2), (M, sigma / sqrt(N * K) + D))
"""Definitions printed with Theorems 4.1 and 4.2."""

constants_fedavg = ((c_pB, 1 + B**2 + A**2), (M_tilde, sigma**2 / (N * K) + D**2))
"""Definitions printed with Theorem 4.3."""


def far(drift: Expr, curvature: Expr = L, rounds: Expr | int = T) -> tuple[Assumption, ...]:
    r"""Return the assumption of lower bounds: the start is further away than the drift alone would bring the model.

    Without it the start is the better estimate, and a vanishing step keeps it.
    """
    return (Assumption("the start is far away", Le(drift, curvature * F * sqrt(N * rounds))),)
