r"""What an algorithm may ask of a problem: the oracle, and one round's terms of work.

Every algorithm here is local stochastic gradient descent on a corrected objective,

.. math:: w \leftarrow w - \eta\,\bigl(g_i(w) + c_i + Q_i (w - a_i) + \lambda_1\,\mathrm{sign}(w - b)\bigr),
   \tag{G}

so an oracle's main call runs ``s_i`` such steps for all replicates and clients at once; :class:`LocalSteps` names
what an algorithm adds to the gradient. Arrays have the shape
``(replicates, clients, dim)``; an axis of length 1 broadcasts, so that what is common to all replicates or
clients need not be copied.

A *curvature* (a Hessian, a Fisher diagonal, a pull ``Q_i``) is an array that is either diagonal in the basis
the oracle works in, shape ``(replicates | 1, clients | 1, dim)``, or dense, shape
``(replicates | 1, clients | 1, dim, dim)``. Sums and multiples of curvatures are curvatures; :meth:`Oracle.apply`
multiplies one with vectors. An algorithm never looks inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fltheory._internal.arguments import Floats
from fltheory.errors import RateChanges

Active = NDArray[np.bool_]
"""Who takes part, shape ``(replicates | 1, clients)``."""


@dataclass(frozen=True, slots=True)
class Minibatch:
    """The ``index``-th minibatch of every client in the current round; using it twice means the same data."""

    index: int


Rates = tuple[float, ...]
"""Learning rates of the steps of a round: a single one is that of every step."""


def rate_of(rates: Rates, step: int) -> float:
    """Return the rate of step ``step``, from 0."""
    return rates[step if len(rates) > 1 else 0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """The terms of one round: who works, how long, and how much each result counts.

    The exact engine may read several rounds at once, with arrays along the coordinates in place of ``index`` and
    the rates; formulas that do not branch on them need not know.

    Parameters
    ----------
    index
        Number of the round, from 0.
    rates
        Local learning rates: one for all steps of the round, or one per assigned step.
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
    draws
        What the algorithm's own chances came out as, by name, each of shape ``(replicates | 1, count)``; see
        :meth:`fltheory.algorithms.base.Algorithm.chances`.
    """

    index: int
    rates: Rates
    local_steps: int
    p: Floats
    steps: NDArray[np.int64]
    weights: Floats
    boost: Floats
    draws: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """The rate of the whole round; :class:`~fltheory.errors.RateChanges` where steps have rates of their own."""
        if len(self.rates) > 1:
            raise RateChanges
        return self.rates[0]

    @property
    def mean_rate(self) -> float:
        """The mean of the rates of the assigned steps."""
        return self.rates[0] if len(self.rates) == 1 else sum(self.rates) / len(self.rates)

    @property
    def rate_sum(self) -> Floats:
        r"""Sum of the rates of the steps that a client completes, :math:`\sum_{k<s_i}\eta_k`.

        Shape ``(replicates | 1, clients, 1)``. A displacement divided by it is the mean direction of the client's
        steps, each weighted with its rate. For an absent client, which has not moved, it is the rate of one step.
        """
        done = np.maximum(self.steps, 1)[:, :, None]
        if len(self.rates) == 1:
            return np.asarray(done * self.rates[0])
        total = np.zeros(done.shape)
        for k, rate in enumerate(self.rates):
            total = total + np.where(k < done, rate, 0.0)
        return total

    def rate_of(self, step: int) -> float:
        """Return the rate of local step ``step``, from 0."""
        return rate_of(self.rates, step)

    @property
    def active(self) -> Active:
        """Who takes part, shape ``(replicates | 1, clients)``."""
        return self.steps > 0

    @property
    def uniform(self) -> Floats:
        """Weights of the plain mean over the participants, shape ``(replicates | 1, clients)``."""
        active = self.active
        return np.asarray(active / np.maximum(active.sum(axis=1, keepdims=True), 1), dtype=np.float64)


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalSteps:
    r"""What one call of local steps adds to the clients' gradients in (G), and what it changes in the round's terms.

    Parameters
    ----------
    correction
        :math:`c_i`, shape ``(replicates | 1, clients | 1, dim)``; ``None`` means none.
    pull
        :math:`Q_i`: a number (times the identity) or a curvature.
    anchor
        :math:`a_i`, shaped like a correction; ``None`` means the origin.
    l1, l1_anchor
        Weight :math:`\lambda_1` and anchor :math:`b` of the sign term.
    rate_factor
        Multiplies the rates of the round.
    rate
        Replaces the rates of the round.
    steps
        Replaces the completed steps by the same number for every client that is present.
    minibatch
        Use this one minibatch in every step, instead of a fresh one per step.
    recentre
        Use ``g_i(w; zeta) - g_i(start; zeta)`` with the same minibatch in place of ``g_i(w; zeta)``.
    """

    correction: Floats | None = None
    pull: Floats | float = 0.0
    anchor: Floats | None = None
    l1: float = 0.0
    l1_anchor: Floats | None = None
    rate_factor: float = 1.0
    rate: float | None = None
    steps: int | None = None
    minibatch: Minibatch | None = None
    recentre: bool = False

    def rates_in(self, work: Round) -> Rates:
        """Return the rates of the steps: a single one for all of them, or one per step."""
        if self.rate is not None:
            return (self.rate,)
        return tuple(rate * self.rate_factor for rate in work.rates)

    def steps_in(self, work: Round) -> NDArray[np.int64]:
        """Return how many steps every client takes, shape ``(replicates | 1, clients)``."""
        return work.steps if self.steps is None else np.where(work.active, self.steps, 0)

    def written_out(self, dim: int) -> WrittenOut:
        """Return all terms as arrays, zeros where there is no term."""
        zero = np.zeros((1, 1, dim))
        return WrittenOut(
            correction=zero if self.correction is None else self.correction,
            pull=zero + self.pull if isinstance(self.pull, int | float) else self.pull,
            anchor=zero if self.anchor is None else self.anchor,
            l1_anchor=zero if self.l1_anchor is None else self.l1_anchor,
        )

    def at(self, replicate: int, client: int) -> LocalSteps:
        """Return the terms of one client in one replicate, as vectors and matrices without the first two axes."""
        names = ("correction", "pull", "anchor", "l1_anchor")
        return replace(self, **{name: _entry(getattr(self, name), replicate, client) for name in names})


def _entry(array: Any, replicate: int, client: int) -> Any:
    """Return an entry of an array whose axes of length 1 broadcast; ``None`` and numbers stay what they are."""
    if array is None or np.ndim(array) == 0:
        return array
    return array[replicate if array.shape[0] > 1 else 0, client if array.shape[1] > 1 else 0]


class WrittenOut(NamedTuple):
    """The vectors and the curvature of :class:`LocalSteps`, each with replicate and client axes."""

    correction: Floats
    pull: Floats
    anchor: Floats
    l1_anchor: Floats


PLAIN = LocalSteps()
"""Nothing but gradients."""


class Oracle(Protocol):
    """Access to the clients' objectives of the current round, for all replicates at once."""

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        ...

    @property
    def dim(self) -> int:
        """Length of a model."""
        ...

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        """Run steps of (G) from ``start`` and return the local models, shape ``(replicates, clients, dim)``.

        Parameters
        ----------
        start
            ``(replicates, clients | 1, dim)``.
        work
            Gives step counts and rates; a client with 0 steps returns its start.
        how
            What is added to the gradients.
        """
        ...

    def minibatch(self, index: int) -> Minibatch:
        """Return the handle of the minibatch that local step ``index`` of this round would use."""
        ...

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        """Return every client's gradient, shape ``(replicates, clients, dim)``.

        Parameters
        ----------
        w
            Models, shape ``(replicates, clients | 1, dim)``.
        minibatch
            The minibatch for a stochastic gradient; the full gradient without one.
        active
            Whose results will be used, shape ``(replicates | 1, clients)``; those of the others may be anything finite.
        """
        ...

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        """Return every client's curvature, to be multiplied by :meth:`apply`.

        Parameters
        ----------
        w
            Models, shape ``(replicates, clients | 1, dim)``.
        kind
            ``exact`` or ``diagonal`` Hessian, ``fisher`` or ``empirical-fisher``; the last three are diagonal in the
            coordinates of the model.
        active
            Whose results will be used, as for :meth:`gradient`.
        """
        ...

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        """Return a curvature times vectors, shape ``(replicates, clients, dim)``.

        Parameters
        ----------
        curvature
            What :meth:`curvature` returned, or a sum or multiple of such.
        vectors
            Shape ``(replicates | 1, clients | 1, dim)``.
        """
        ...

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        r"""Return :math:`\arg\min_w f_i(w) + \langle \ell_i, w\rangle + \frac{q}{2}\|w-a\|^2 + \lambda_1\|w-a\|_1`.

        Parameters
        ----------
        anchor
            The models :math:`a`, shape ``(replicates, clients | 1, dim)``.
        pull
            The number :math:`q`.
        l1
            The number :math:`\lambda_1`.
        linear
            The vectors :math:`\ell_i`, shape ``(replicates, clients, dim)``; 0 without them.
        """
        ...
