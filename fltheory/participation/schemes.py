r"""Aggregation weights for clients that complete :math:`s_i \le E` steps: schemes A, B and C.

.. math::

   \text{A: } p_i^\tau = \frac{N}{K_\tau}\,p_i\,\mathbf 1[s_i = E], \qquad
   \text{B: } p_i^\tau = p_i, \qquad
   \text{C: } p_i^\tau = \frac{E}{s_i}\,p_i \ \ (0 \text{ if } s_i = 0),

with :math:`K_\tau` the number of complete clients; scheme A discards the round if there are none. :math:`N` and
:math:`K_\tau` count clients of the objective, that is those with :math:`p_i > 0`. Scheme B keeps :math:`p_i` for an
absent client, whose displacement is zero anyway.

Source: Ruan et al., *Towards flexible device participation in federated learning*, AISTATS 2021, section 4.1.
"""

from __future__ import annotations

import enum

import numpy as np

from fltheory._internal.arguments import Floats, Ints


class Scheme(enum.Enum):
    """How incomplete work is weighted."""

    A = "A"
    """Complete clients only."""
    B = "B"
    """All work, fixed weights."""
    C = "C"
    """All work, weights inversely proportional to the steps."""


def scheme_weights(scheme: Scheme, p: Floats, steps: Ints, local_steps: int) -> Floats:
    """Return the aggregation weights, shape ``(..., clients)``.

    Parameters
    ----------
    scheme
        A, B or C.
    p
        Objective weights in force, shape ``(clients,)``.
    steps
        Completed steps, shape ``(..., clients)``.
    local_steps
        Assigned steps ``E``.

    Examples
    --------
    >>> p, steps = np.array([0.5, 0.25, 0.25]), np.array([4, 2, 0])
    >>> [scheme_weights(scheme, p, steps, 4).tolist() for scheme in Scheme]
    [[1.5, 0.0, 0.0], [0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]
    """
    if scheme is Scheme.A:
        complete = (steps == local_steps) & (p > 0)
        count = np.maximum(complete.sum(axis=-1, keepdims=True), 1)
        return np.asarray(complete * p * (np.count_nonzero(p) / count), dtype=np.float64)
    if scheme is Scheme.B:
        return np.array(np.broadcast_to(p, steps.shape), dtype=np.float64)
    return np.asarray(np.where(steps > 0, p * (local_steps / np.maximum(steps, 1)), 0.0), dtype=np.float64)
