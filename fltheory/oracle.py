r"""What an algorithm may ask of a problem: the oracle, and one round's terms of work.

Every algorithm here is local stochastic gradient descent on a corrected objective,

.. math:: w \leftarrow w - \eta\,\bigl(g_i(w) + c_i + Q_i (w - a_i) + \lambda_1\,\mathrm{sign}(w - b)\bigr),
   \tag{G}

so an oracle's main call runs ``s_i`` such steps for all replicates and clients at once. Arrays have the shape
``(replicates, clients, dim)``; an axis of length 1 broadcasts, so that what is common to all replicates or
clients need not be copied.

A *curvature* (a Hessian, a Fisher diagonal, a pull ``Q_i``) is an array that is either diagonal in the basis
the oracle works in, shape ``(replicates | 1, clients | 1, dim)``, or dense, shape
``(replicates | 1, clients | 1, dim, dim)``. Sums and multiples of curvatures are curvatures; :meth:`Oracle.apply`
multiplies one with vectors. An algorithm never looks inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fltheory.checks import Floats

Active = NDArray[np.bool_]
"""Who takes part, shape ``(replicates | 1, clients)``."""


@dataclass(frozen=True, slots=True)
class Minibatch:
    """The ``index``-th minibatch of every client in the current round; using it twice means the same data."""

    index: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """The terms of one round: who works, how long, and how much each result counts.

    The exact engine may read several rounds at once, with arrays along the coordinates in place of ``index`` and
    ``rate``; formulas that do not branch on them need not know.

    Parameters
    ----------
    index
        Number of the round, from 0.
    rate
        Local learning rate in force.
    local_steps
        Steps assigned to a client (``E`` or ``K`` in the papers).
    p
        Objective weights in force, shape ``(clients,)``; they sum to one.
    steps
        Steps that each client completes, shape ``(replicates | 1, clients)``; 0 means absent.
    weights
        Aggregation weights of the sampling design, shape ``(replicates | 1, clients)``; zero where absent.
    boost
        Extra factor on the weights (fast reboot), shape ``(clients,)``.
    """

    index: int
    rate: float
    local_steps: int
    p: Floats
    steps: NDArray[np.int64]
    weights: Floats
    boost: Floats

    @property
    def active(self) -> Active:
        """Who takes part, shape ``(replicates | 1, clients)``."""
        return self.steps > 0

    @property
    def uniform(self) -> Floats:
        """Weights of the plain mean over the participants, shape ``(replicates | 1, clients)``."""
        active = self.active
        return np.asarray(active / np.maximum(active.sum(axis=1, keepdims=True), 1), dtype=np.float64)


class Oracle(Protocol):
    """Access to the clients' objectives of the current round, for all replicates at once."""

    @property
    def num_clients(self) -> int: ...

    @property
    def dim(self) -> int: ...

    def local_steps(
        self,
        start: Floats,
        work: Round,
        *,
        rate: float | None = None,
        steps: int | None = None,
        correction: Floats | None = None,
        pull: Floats | float = 0.0,
        anchor: Floats | None = None,
        l1: float = 0.0,
        l1_anchor: Floats | None = None,
        minibatch: Minibatch | None = None,
        recentre: bool = False,
    ) -> Floats:
        r"""Run steps of (G) from ``start`` and return the local models, shape ``(replicates, clients, dim)``.

        Parameters
        ----------
        start
            ``(replicates, clients | 1, dim)``.
        work
            Gives step counts and rate; a client with 0 steps returns its start.
        rate
            Replaces ``work.rate``.
        steps
            Replaces ``work.steps`` by the same number for every client that is present.
        correction
            ``c_i``.
        pull
            ``Q_i``: a number (times the identity) or a curvature.
        anchor
            ``a_i``; ``None`` means the origin.
        l1, l1_anchor
            Weight and anchor ``b`` of the sign term.
        minibatch
            Use this one minibatch in every step, instead of a fresh one per step.
        recentre
            Use ``g_i(w; zeta) - g_i(start; zeta)`` with the same minibatch in place of ``g_i(w; zeta)``.
        """
        ...

    def minibatch(self, index: int) -> Minibatch:
        """Return the handle of the minibatch that local step ``index`` of this round would use."""
        ...

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        """Return every client's gradient at ``w``; full without a minibatch, stochastic with one.

        ``active`` says whose results will be used; those of the others may be anything finite.
        """
        ...

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        """Return a curvature at ``w``: ``exact`` or ``diagonal`` Hessian, ``fisher`` or ``empirical-fisher``.

        The last three are diagonal in the coordinates of the model. ``active`` is that of :meth:`gradient`.
        """
        ...

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        """Multiply a curvature with vectors ``(replicates | 1, clients | 1, dim)``."""
        ...

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        r"""Return :math:`\arg\min_w f_i(w) + \langle \ell_i, w\rangle + \frac{q}{2}\|w-a\|^2 + \lambda_1\|w-a\|_1`."""
        ...
