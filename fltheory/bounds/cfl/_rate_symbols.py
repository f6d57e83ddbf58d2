"""Symbols of the rates of the CFL paper: rounds, accuracy, drifts, as in Theorems 4.1 to 4.6."""

from __future__ import annotations

from sympy import Expr, Le, log, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption
from fltheory.bounds.quantities import scalar
from fltheory.bounds.symbols import L, N

T = scalar("T", "T", "number of rounds", domain="integer>=0")
eps = scalar(
    "eps", r"\varepsilon", "expected gap of the weighted mean of the models after that many rounds", domain="positive"
)
K = scalar("K", "K", "local steps per round", domain="integer>=1")
F = scalar("F", "F", "distance of the start from the minimiser", domain="nonnegative")
G = scalar("G", "G", "root of the bound on the mean square of the client drift", domain="nonnegative")
D = scalar("D", "D", "root of the bound on the mean square of the round drift", domain="nonnegative")
sigma = scalar("sigma", r"\sigma", "root of the bound on the variance of a stochastic gradient", domain="nonnegative")
A = scalar("A", "A", "growth of the round drift with the gradient", domain="nonnegative")
B = scalar("B", "B", "growth of the client drift with the gradient", domain="nonnegative")
M = scalar("M", "M", "part of a rate that noise and round drift contribute", domain="nonnegative")
M_tilde = scalar(
    "M_tilde",
    r"\tilde M",
    "part of the rate of FedAvg that noise and round drift contribute, squared",
    domain="nonnegative",
)
c_pB = scalar("c_pB", "c_{p_B}", "one plus the growth constants", domain="nonnegative")
eta_max = scalar("eta_max", r"\eta_{\max}", "largest step allowed per round", domain="positive")
rival = scalar(
    "eps_fedavg",
    r"\varepsilon_{\mathrm{FedAvg}}",
    "expected gap of FedAvg with its own best step",
    domain="nonnegative",
)


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
