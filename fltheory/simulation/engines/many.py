r"""Round maps of many different clients, read a few clients at a time.

Where the state has no part that belongs to a client and every client adds its own share to the server's step, as in
FedAvg, the round of all clients is a sum: with :math:`T_S` the round in which only the clients in ``S`` take part and
:math:`T_\emptyset` the round of nobody,

.. math:: T(z) = T_\emptyset(z) + \sum_g \bigl(T_{S_g}(z) - T_\emptyset(z)\bigr), \qquad
          \operatorname{Cov} = \sum_g \operatorname{Cov}_g ,

over groups :math:`S_g` of clients, since their noises are independent. Reading a group of ``c`` clients takes about
:math:`c^2` numbers, so the cost is linear in the number of clients. Whether an algorithm is such a sum is checked on
some clients before it is relied on. The spread of the local models is
:math:`\sum_i u_i \|w_i\|^2 - \|\sum_i u_i w_i\|^2`, also made of sums over clients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats, Ints
from fltheory.algorithms.base import Algorithm
from fltheory.communication.messages import total_bits
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import Round
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.engines.affine import Layout, Prober, RoundMap

MANY = 256
"""Clients above which their shares are summed instead of being read all at once."""

LARGEST = 2**28
"""Most numbers in the probes of all clients at once."""

_GROUP = 2**15
"""Numbers in the probes of a group."""

_CHECKED = 3
_AGREEMENT = 1e-9


class ManyProber(Prober):
    """Reads round maps as sums over groups of clients."""

    def __init__(self, algorithm: Algorithm, oracle: ClosedFormOracle, *, spread: bool) -> None:
        super().__init__(algorithm, oracle, spread=spread)
        self._groups: dict[int, Prober] = {}
        self._roots = np.zeros(0)

    @property
    def foresees(self) -> bool:
        return False

    def _in_portions(self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool) -> list[RoundMap]:
        return [self._probe(begin, [work], states=states)[0] for work in works]

    def _probe(self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool) -> list[RoundMap]:
        (work,) = works
        self._roots = np.sqrt(work.uniform[0])
        if not self._is_sum(begin, work, states):
            require_few(self.algorithm, self.oracle, self.layout)
            return [_with_few_rows(step) for step in super()._probe(begin, works, states=states)]
        clients, lines = self.oracle.num_clients, 1 if self.oracle.separable else self.oracle.dim
        size = max(1, int(np.sqrt(_GROUP / (2 * lines * self.oracle.dim))))
        nobody = self._share(np.arange(min(size, clients)), begin, _absent(work), states)
        total = nobody
        for first in range(0, clients, size):
            total = total.plus(self._share(np.arange(first, min(first + size, clients)), begin, work, states), nobody)
        return [total.as_map()]

    def _share(self, clients: Ints, begin: Callable[[Floats], Any], work: Round, states: bool) -> _Share:
        """Return the round in which only some clients take part."""
        prober = self._groups.get(len(clients))
        among = self.oracle.among(clients)
        if prober is None:
            prober = self._groups.setdefault(len(clients), Prober(self.algorithm, among, spread=False))
        prober.oracle = among
        part = replace(
            work,
            p=work.p[clients],
            boost=work.boost[clients],
            steps=work.steps[:, clients],
            weights=work.weights[:, clients],
        )
        roots = self._roots[clients] * part.active[0] if self._spread else np.zeros(0)
        return _Share.of(prober, begin, part, roots, states)

    def _is_sum(self, begin: Callable[[Floats], Any], work: Round, states: bool) -> bool:
        """Return whether two groups of clients together are the sum of both; as different groups as there are."""
        order = np.lexsort((work.p, work.weights[0], work.steps[0]))
        one, other = order[:_CHECKED], order[-_CHECKED:]
        nobody = self._share(one, begin, _absent(work), states)
        summed = nobody
        for group in (one, other):
            summed = summed.plus(self._share(group, begin, work, states), nobody)
        together = self._share(np.concatenate([one, other]), begin, work, states)
        return all(
            np.abs(np.subtract(x, y)).max(initial=0.0) <= _AGREEMENT * (1.0 + np.abs(y).max(initial=0.0))
            for x, y in zip(summed, together, strict=True)
        )


def require_few(algorithm: Algorithm, oracle: ClosedFormOracle, layout: Layout) -> None:
    """Raise before the probes of all clients at once would fill the memory."""
    copies = 1 if oracle.separable else oracle.dim
    if (layout.total + 2 * oracle.num_clients) * copies * oracle.num_clients * oracle.dim > LARGEST:
        raise NotApplicable(too_many(algorithm, oracle.num_clients))


def too_many(algorithm: Algorithm, clients: int) -> str:
    """Return why there are too many clients, and what helps."""
    return (
        f"the exact engine cannot follow {clients} different clients of {algorithm.title}, whose round is not a sum "
        "over clients; use fewer clients, or clients with equal Hessians, noise and weights, or the monte_carlo engine"
    )


class _Share(NamedTuple):
    """The map of the round of some clients: a matrix with the shift as last column, and sums over the clients."""

    matrix: Floats
    """``(groups, size, size + 1)``"""
    covariance: Floats
    """``(groups, size, size)``"""
    squares: Floats
    """Sum of ``u_i A_i' A_i`` for the local models ``A_i (z, 1)``, ``(groups, size + 1, size + 1)``."""
    mean: Floats
    """Sum of ``u_i A_i``, ``(groups, lines, size + 1)``."""
    noise: Floats
    """Expected noise of the local models, ``sum u_i ||B_i||^2`` minus the variance of their mean, ``(1,)``."""
    bits: Floats
    """Uplink and downlink, ``(2,)``."""

    @classmethod
    def of(cls, prober: Prober, begin: Callable[[Floats], Any], work: Round, roots: Floats, states: bool) -> _Share:
        result, response, _ = prober._respond(begin, [work], states=states)
        size, clients = response.shape[1], len(roots)
        lines = 1 if prober.oracle.separable else prober.oracle.dim
        rows = size * lines
        response = np.concatenate([response, result.local[:, :clients]], axis=1)
        unit_states = prober._batch(states, prober._sources).unit_states
        matrix, shift, noise = prober._read(response, unit_states)
        if not states:
            matrix = np.zeros((*shift.shape, rows))
        maps = np.concatenate([matrix, shift[:, :, None]], axis=2)
        # Rows of the local models, each times the root of its weight in their mean.
        local, drawn = (np.repeat(roots, lines)[:, None] * part[:, rows:] for part in (maps, noise))
        mean, mean_noise = (
            np.einsum("c,gclk->glk", roots, part.reshape(len(maps), clients, lines, part.shape[2]))
            for part in (local, drawn)
        )
        return cls(
            matrix=maps[:, :rows],
            covariance=np.matmul(noise[:, :rows], noise[:, :rows].swapaxes(1, 2)),
            squares=np.matmul(local.swapaxes(1, 2), local),
            mean=mean,
            noise=np.array([np.sum(drawn**2) - np.sum(mean_noise**2)]),
            bits=np.array([float(total_bits(sent, work.active)[0]) for sent in (result.uplink, result.downlink)]),
        )

    def plus(self, share: _Share, nobody: _Share) -> _Share:
        """Return the round in which the clients of a share take part as well."""
        return _Share(
            self.matrix + (share.matrix - nobody.matrix),
            *(mine + more for mine, more in zip(self[1:], share[1:], strict=True)),
        )

    def as_map(self) -> RoundMap:
        """Return the map with factors in place of covariances."""
        return RoundMap(
            matrix=self.matrix[:, :, :-1],
            shift=self.matrix[:, :, -1],
            noise=_root(self.covariance),
            **_spread(self.squares - np.matmul(self.mean.swapaxes(1, 2), self.mean), float(self.noise[0])),
            memory={},
            uplink_bits=float(self.bits[0]),
            downlink_bits=float(self.bits[1]),
        )


def _spread(form: Floats, noise: float) -> dict[str, Any]:
    """Return rows whose squared norm is a form of the state (and 1), and whose noise is as given."""
    rows = _root(form).swapaxes(1, 2)
    groups = len(rows)
    return {
        "spread_matrix": rows[:, :, :-1],
        "spread_shift": rows[:, :, -1],
        "spread_noise": np.full((groups, 1, 1), np.sqrt(max(noise, 0.0) / groups)),
    }


def _with_few_rows(step: RoundMap) -> RoundMap:
    """Return a map with as few rows for the spread of the local models as a sum has."""
    if not step.spread_shift.size:
        return step
    rows = np.concatenate([step.spread_matrix, step.spread_shift[:, :, None]], axis=2)
    return step._replace(**_spread(np.matmul(rows.swapaxes(1, 2), rows), float(np.sum(step.spread_noise**2))))


def _absent(work: Round) -> Round:
    """Return the round in which nobody takes part."""
    return replace(work, p=0.0 * work.p, steps=0 * work.steps, weights=0.0 * work.weights)


def _root(forms: Floats) -> Floats:
    """Return ``R`` with ``R R'`` equal to positive semidefinite matrices."""
    values, vectors = np.linalg.eigh(forms)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
