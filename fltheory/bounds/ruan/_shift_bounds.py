r"""The two bounds that Corollary 4.0.3 compares when a client departs in round :math:`\tau_0`.

Keeping the client in the objective leaves :math:`f_0`, excluding it leaves :math:`f_1`, under the simplifications of
the corollary:

.. math:: f_0(\tau) = \frac{(\tau - \tau_0) D + V}{\tau E + \gamma}, \qquad
   f_1(\tau) = \frac{\frac{V}{\tau_0 E + \gamma} + \Gamma_l}{(\tau - \tau_0) E + \gamma} .
"""

from __future__ import annotations

from typing import Any

from fltheory.bounds.flexible_participation.symbols import D, V, gamma
from fltheory.bounds.quantities import scalar

E = scalar("E", "E", "local steps assigned per round, here any number from 1 on", domain="positive")
tau = scalar("tau", r"\tau", "when the bounds cross, any number")
tau_0 = scalar("tau_0", r"\tau_0", "round in which a client departs", domain="nonnegative")
Gamma_gone = scalar("Gamma_gone", r"\Gamma_l", "gap of the departing client", domain="nonnegative")

reached = tau_0 * E + gamma
"""Denominator of the bound when the client departs."""


def f_0(tau: Any) -> Any:
    """Return the bound in a round if the objective is kept."""
    return ((tau - tau_0) * D + V) / (tau * E + gamma)


def f_1(tau: Any) -> Any:
    """Return the bound in a round if the client is excluded."""
    return (V / reached + Gamma_gone) / ((tau - tau_0) * E + gamma)
