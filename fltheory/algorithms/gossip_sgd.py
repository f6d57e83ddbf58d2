r"""Gossip SGD: clients have models of their own, and average them with those of their neighbours.

With a sequence of mixing matrices :math:`W^{(0)}, W^{(1)}, \dots`, one per round :math:`t`, after ``local_steps`` steps
of SGD on the client's own model,

.. math:: \hat x_i = x_i - \eta\sum_k g_i(x_{i,k}), \qquad x_i \leftarrow \sum_j w^{(t)}_{ij}\,\hat x_j .

There is no server. The model that is recorded is the mean :math:`\bar x = \sum_i p_ix_i`, which mixing does not change.

The matrices of the sequence are used in turn, over and over, or one of them is drawn in every round, independently of
the others, with the ``probabilities`` given. Each is a name or a matrix, given by its rows:

============  =========================================================================================
``mean``      every model becomes the mean: FedAvg, or local SGD
``ring``      client :math:`i` averages with :math:`i - 1` and :math:`i + 1`, with Metropolis weights
``identity``  nobody communicates
============  =========================================================================================

One local step per round is the form of the paper, with any sequence: local SGD with :math:`\tau` local steps is
``identity`` :math:`\tau - 1` times and then ``mean``, or ``mean`` with :math:`\tau` local steps.

What the paper assumes of matrices is about expectations, so that they may be drawn: one pair of clients that average
(:meth:`GossipSGD.random_pairs`), or all clients in pairs (:meth:`GossipSGD.random_matchings`). A round is affine given
the matrix; the exact engine goes through all of them. With one local step that changes nothing, a matrix that is drawn
multiplies the expected squared distance to the mean by at most the largest eigenvalue of :math:`\mathbb E W^\top W` off
the mean.

Reading taken.

* In the paper clients weigh alike, and mixing matrices are symmetric. With weights :math:`p_i` of the objective they
  have to be reversible, :math:`p_iw_{ij} = p_jw_{ji}`, so that the mean is kept; the Metropolis weights of the ring are
  :math:`\min(\frac1{d_i+1}, \frac1{d_j+1})\min(1, p_j/p_i)` with :math:`d_i` neighbours.
* A client that is absent from a round keeps its model, and what others would have taken of it they keep of their own;
  ``mean`` is then that of the participants.
* A model that is sent over a link counts as one upload; nothing is downloaded.

Source: Koloskova, Loizou, Boreiri, Jaggi and Stich, *A unified theory of decentralized SGD with changing topology and
local updates*, ICML 2020, Algorithm 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, Chance, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.errors import InvalidParameter
from fltheory.problems.oracle import Oracle, Round

NAMES = ("mean", "ring", "identity")
_TOLERANCE = 1e-9
_MOST_MATCHED = 9
"""Clients whose matchings are listed: 945 for nine of them."""

Mixing = str | tuple[tuple[float, ...], ...]
"""A mixing matrix: its name, or its rows."""


class State(NamedTuple):
    """Mean model ``(replicates, dim)`` and the models of the clients ``(replicates, clients, dim)``."""

    w: Floats
    x: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class GossipSGD(Algorithm):
    """Gossip SGD: decentralised SGD with a sequence of mixing matrices.

    Parameters
    ----------
    mixing
        One mixing matrix or a sequence of them, used in turn from round to round: ``"mean"``, ``"ring"``,
        ``"identity"``, or rows of non-negative numbers that add up to one.
    probabilities
        One per matrix, if one of them is drawn in every round; by default they are used in turn.

    Examples
    --------
    >>> GossipSGD(mixing="ring").matrix(0, np.full(4, 0.25)).round(2).tolist()[0]
    [0.33, 0.33, 0.0, 0.33]
    >>> GossipSGD(mixing=["identity", "mean"]).matrix(3, np.full(2, 0.5)).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    >>> GossipSGD(mixing=["identity", "mean"], probabilities=[0.9, 0.1]).chances(1)["matrix"].num_outcomes
    2
    """

    name: ClassVar[str] = "gossip-sgd"
    title: ClassVar[str] = "Gossip SGD"

    mixing: str | Sequence[str | Sequence[Sequence[float]]] = ("mean",)
    probabilities: Sequence[float] = ()

    def __post_init__(self) -> None:
        given: Any = (self.mixing,) if isinstance(self.mixing, str) else self.mixing
        if not isinstance(given, (list, tuple)) or not given:
            raise arguments.fail("GossipSGD", "mixing", "a mixing matrix or a sequence of them", self.mixing)
        object.__setattr__(self, "mixing", tuple(_checked(one) for one in given))
        if not isinstance(self.probabilities, (list, tuple)):
            raise arguments.fail("GossipSGD", "probabilities", "a sequence, one per matrix", self.probabilities)
        if self.probabilities:
            chances = np.asarray(self.probabilities, dtype=float)
            law = arguments.probabilities("GossipSGD", "probabilities", chances, shape=(len(given),))
            object.__setattr__(self, "probabilities", tuple(law.tolist()))
        else:
            object.__setattr__(self, "probabilities", ())

    @classmethod
    def random_pairs(cls, num_clients: int) -> GossipSGD:
        """Return gossip between two clients of equal weight that are drawn in every round, and average.

        >>> len(GossipSGD.random_pairs(4).mixing)
        6
        """
        number = arguments.integer("GossipSGD.random_pairs", "num_clients", num_clients, low=2)
        pairs = itertools.combinations(range(number), 2)
        return cls._drawn(_averaging([pair], number) for pair in pairs)

    @classmethod
    def random_matchings(cls, num_clients: int) -> GossipSGD:
        """Return gossip in pairs: in every round all clients, of equal weight, are drawn into pairs, and these average.

        If their number is odd, one of them stays alone.

        >>> len(GossipSGD.random_matchings(4).mixing), len(GossipSGD.random_matchings(5).mixing)
        (3, 15)
        """
        number = arguments.integer("GossipSGD.random_matchings", "num_clients", num_clients, low=2, high=_MOST_MATCHED)
        return cls._drawn(_averaging(pairs, number) for pairs in _matchings(tuple(range(number))))

    @classmethod
    def _drawn(cls, matrices: Iterator[Floats]) -> GossipSGD:
        rows = tuple(tuple(tuple(row) for row in matrix.tolist()) for matrix in matrices)
        return cls(mixing=rows, probabilities=(1.0 / len(rows),) * len(rows))

    @property
    def autonomous(self) -> bool:  # type: ignore[override]  # elsewhere it is the same for all parameters
        return len(self.mixing) == 1 or bool(self.probabilities)

    def chances(self, local_steps: int) -> Mapping[str, Chance]:
        if not self.probabilities:
            return {}
        values = tuple(float(place) for place in range(len(self.mixing)))
        return {"matrix": Chance(values=values, probabilities=tuple(self.probabilities))}

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, x=np.repeat(start[:, None], oracle.num_clients, axis=1))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        moved = oracle.local_steps(state.x, work)
        mixing = self._mixing_of(work)
        x = np.where(work.active[:, :, None], np.matmul(mixing, moved), state.x)
        links = ((mixing > 0) & ~np.eye(mixing.shape[-1], dtype=np.bool_)).sum(axis=2).astype(np.float64)
        return RoundResult(State(w=aggregate(work.p, x), x=x), x, uplink=(Message(moved, times=links),), downlink=())

    def personal(self, state: State) -> Floats:
        return state.x

    def _mixing_of(self, work: Round) -> Floats:
        """Return the mixing matrices of a round, one per replicate or one for all of them."""
        if not self.probabilities:
            return self.matrix(0 if self.autonomous else int(work.index), work.p, work.active)
        every = np.stack([self.matrix(place, work.p, work.active) for place in range(len(self.mixing))])
        drawn = work.draws["matrix"][:, 0].astype(np.int64)
        return np.asarray(every[drawn, np.arange(every.shape[1])])

    def matrix(self, index: int, p: Floats, active: Any = None) -> Floats:
        """Return the mixing matrix of a round.

        Parameters
        ----------
        index
            Number of the round, from 0; if matrices are drawn, which of them it is.
        p
            Objective weights, shape ``(clients,)``.
        active
            Who takes part, shape ``(..., clients)``; everybody, unless given.

        Returns
        -------
        ndarray
            Shape ``(..., clients, clients)``.
        """
        chosen = self.mixing[index % len(self.mixing)]
        present = np.ones(len(p), dtype=np.bool_) if active is None else np.asarray(active)
        if chosen == "mean":
            share = p * present
            total = share.sum(axis=-1, keepdims=True)
            links = np.repeat((share / np.where(total > 0, total, 1.0))[..., None, :], len(p), axis=-2)
        elif chosen == "ring":
            links = _ring(p)
        elif chosen == "identity":
            links = np.eye(len(p))
        else:
            links = _fitting(np.array(chosen, dtype=np.float64), p)
        links = links * (present[..., :, None] & present[..., None, :])
        # What is not taken of others stays: rows add up to one.
        rest = 1.0 - links.sum(axis=-1)
        return np.asarray(links + rest[..., None] * np.eye(len(p)))


def _averaging(pairs: Sequence[tuple[int, int]], number: int) -> Floats:
    """Return the matrix with which both clients of every pair get their mean."""
    matrix = np.eye(number)
    for i, j in pairs:
        matrix[[i, i, j, j], [i, j, i, j]] = 0.5
    return matrix


def _matchings(clients: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Yield all ways to make pairs of clients, of whom one is left over if their number is odd."""
    if len(clients) < 2:
        yield []
        return
    if len(clients) % 2:
        for alone in clients:
            yield from _matchings(tuple(one for one in clients if one != alone))
        return
    first, *others = clients
    for other in others:
        for rest in _matchings(tuple(one for one in others if one != other)):
            yield [(first, other), *rest]


def _ring(p: Floats) -> Floats:
    """Return the links of a ring, with Metropolis weights; the diagonal is zero."""
    size = len(p)
    near = np.zeros((size, size))
    for i in range(size):
        near[i, [(i - 1) % size, (i + 1) % size]] = 1.0
    np.fill_diagonal(near, 0.0)
    degree = near.sum(axis=1)
    lighter = np.minimum(p[:, None], p[None, :]) / np.where(p > 0, p, 1.0)[:, None]
    return np.asarray(near * lighter / (np.maximum(degree[:, None], degree[None, :]) + 1.0))


def _checked(one: Any) -> Mixing:
    """Return a mixing matrix as it is kept."""
    if isinstance(one, str):
        return arguments.choice("GossipSGD", "mixing", one, NAMES)
    rows = arguments.array("GossipSGD", "mixing", one, shape=(None, None), low=0.0)
    if rows.shape[0] != rows.shape[1] or np.abs(rows.sum(axis=1) - 1.0).max() > _TOLERANCE:
        raise arguments.fail("GossipSGD", "mixing", "square, with rows that add up to one", one)
    return tuple(tuple(row) for row in rows.tolist())


def _fitting(matrix: Floats, p: Floats) -> Floats:
    """Return a matrix that fits the clients and keeps their mean, or raise."""
    if len(matrix) != len(p):
        raise InvalidParameter(
            f"GossipSGD.mixing must have one row per client, got {len(matrix)} rows for {len(p)} clients"
        )
    flow = p[:, None] * matrix
    if np.abs(flow - flow.T).max() > _TOLERANCE:
        raise InvalidParameter(
            "GossipSGD.mixing must satisfy p_i w_ij = p_j w_ji, so that mixing keeps the mean, got a matrix that does "
            f"not for p = {np.array2string(p, precision=4)}; for clients of equal weight it has to be symmetric"
        )
    return matrix
