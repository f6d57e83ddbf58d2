r"""Gossip SGD: clients have models of their own, and average them with those of their neighbours.

With a sequence of mixing matrices :math:`W^{(0)}, W^{(1)}, \dots`, one per round :math:`t`, after ``local_steps`` steps
of SGD on the client's own model,

.. math:: \hat x_i = x_i - \eta\sum_k g_i(x_{i,k}), \qquad x_i \leftarrow \sum_j w^{(t)}_{ij}\,\hat x_j .

There is no server. The model that is recorded is the mean :math:`\bar x = \sum_i p_ix_i`, which mixing does not change.

The matrices of the sequence are used in turn, over and over. Each is a name or a matrix, given by its rows:

============  =========================================================================================
``mean``      every model becomes the mean: FedAvg, or local SGD
``ring``      client :math:`i` averages with :math:`i - 1` and :math:`i + 1`, with Metropolis weights
``identity``  nobody communicates
============  =========================================================================================

One local step per round is the form of the paper, with any sequence: local SGD with :math:`\tau` local steps is
``identity`` :math:`\tau - 1` times and then ``mean``, or ``mean`` with :math:`\tau` local steps.

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, aggregate
from fltheory.communication.messages import Message
from fltheory.errors import InvalidParameter
from fltheory.problems.oracle import Oracle, Round

NAMES = ("mean", "ring", "identity")
_TOLERANCE = 1e-9

Mixing = str | tuple[tuple[float, ...], ...]
"""A mixing matrix: its name, or its rows."""


class State(NamedTuple):
    """Mean model ``(replicates, dim)`` and the models of the clients ``(replicates, clients, dim)``."""

    w: Floats
    x: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class GossipSGD(Algorithm):
    """Gossip SGD.

    Parameters
    ----------
    mixing
        One mixing matrix or a sequence of them, used in turn from round to round: ``"mean"``, ``"ring"``,
        ``"identity"``, or rows of non-negative numbers that add up to one.

    Examples
    --------
    >>> GossipSGD(mixing="ring").matrix(0, np.full(4, 0.25)).round(2).tolist()[0]
    [0.33, 0.33, 0.0, 0.33]
    >>> GossipSGD(mixing=["identity", "mean"]).matrix(3, np.full(2, 0.5)).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    name: ClassVar[str] = "gossip-sgd"
    title: ClassVar[str] = "Gossip SGD"

    mixing: str | Sequence[str | Sequence[Sequence[float]]] = ("mean",)

    def __post_init__(self) -> None:
        given: Any = (self.mixing,) if isinstance(self.mixing, str) else self.mixing
        if not isinstance(given, (list, tuple)) or not given:
            raise arguments.fail("GossipSGD", "mixing", "a mixing matrix or a sequence of them", self.mixing)
        object.__setattr__(self, "mixing", tuple(_checked(one) for one in given))

    @property
    def autonomous(self) -> bool:  # type: ignore[override]  # elsewhere it is the same for all parameters
        return len(self.mixing) == 1

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start, x=np.repeat(start[:, None], oracle.num_clients, axis=1))

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        moved = oracle.local_steps(state.x, work)
        mixing = self.matrix(0 if self.autonomous else int(work.index), work.p, work.active)
        x = np.where(work.active[:, :, None], np.matmul(mixing, moved), state.x)
        links = ((mixing > 0) & ~np.eye(mixing.shape[-1], dtype=np.bool_)).sum(axis=2).astype(np.float64)
        return RoundResult(State(w=aggregate(work.p, x), x=x), x, uplink=(Message(moved, times=links),), downlink=())

    def personal(self, state: State) -> Floats:
        return state.x

    def matrix(self, index: int, p: Floats, active: Any = None) -> Floats:
        """Return the mixing matrix of a round.

        Parameters
        ----------
        index
            Number of the round, from 0.
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
