r"""Expressions that the proof of Theorem 3.1 shares: deviations, and the constants of the potential.

The proof follows FedDyn's: a potential :math:`\|\gamma^t - \theta_*\|^2 + \kappa C_t` decreases by :math:`\kappa_0`
times the excess risk, up to what the l1 term adds.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy import Expr, Ge, Sum, sqrt

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.claim import Assumption
from fltheory.bounds.definitions import Definition
from fltheory.bounds.fen._symbols import (
    C_new,
    C_old,
    P,
    beta,
    drift,
    gamma_old,
    grad,
    kappa,
    kappa_0,
    kappa_prime,
    kick,
    l1,
    l2,
    local_new,
    local_old,
    m,
    risk,
    server,
    sign,
    stored_new,
    stored_old,
    theta_star,
    tilde,
)
from fltheory.bounds.symbols import k


def mean(term: Any) -> Expr:
    """Return the mean over the clients of a term with the index ``k``."""
    return Sum(term, (k, 1, m)) / m


excess = EE(risk(gamma_old) - risk(theta_star))
"""Excess risk at the beginning of the round."""

DRIFT = (drift, mean(EE(NormSq(tilde[k] - gamma_old))))
"""Definition (21)."""

DEVIATIONS = (
    (C_old, mean(EE(NormSq(grad(k, local_old[k]) - grad(k, theta_star))))),
    (C_new, mean(EE(NormSq(grad(k, local_new[k]) - grad(k, theta_star))))),
)
"""Definition (20), with gradients."""

STORED_DEVIATIONS = (
    (C_old, mean(EE(NormSq(stored_old[k] - grad(k, theta_star))))),
    (C_new, mean(EE(NormSq(stored_new[k] - grad(k, theta_star))))),
)
"""Definition (20), with what the clients store."""

KAPPA = (kappa, 10 * m / P * (1 / l2) * (l2 + beta) / (l2**2 - 25 * beta**2))
KAPPA_0 = (kappa_0, 2 / l2 * (l2**2 - 25 * l2 * beta - 50 * beta**2) / (l2**2 - 25 * beta**2))
KAPPA_PRIME = (kappa_prime, 5 / l2 * (l2 + beta) / (l2**2 - 25 * beta**2))
"""The printed constants."""

KAPPA_STORED = (kappa, 2 * m / P * (l2 + beta) / l2**3)
KAPPA_0_STORED = (kappa_0, 2 / l2)
LARGE = Assumption("large quadratic penalty", Ge(l2, 2 * (1 + sqrt(2)) * beta))
"""For stored subgradients, if the way down is paid with what gradients shrink."""


def pull(force: Any) -> Expr:
    r"""Return :math:`\langle\gamma^{t-1} - \theta_*, \frac1m\sum_k \mathbb E[s_k]\rangle` for signs or subgradients."""
    return Inner(gamma_old - theta_star, mean(EE(force)))


FORCES: tuple[Definition, ...] = (
    (sign[k], sp.sign(tilde[k] - server)),
    (kick[k], (stored_old[k] - grad(k, tilde[k]) - l2 * (tilde[k] - server)) / l1),
)
"""Signs of the updates, and subgradients with which the optimality condition holds."""
