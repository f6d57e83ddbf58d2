r"""Round maps where noise multiplies the state: random Hessians, and round drifts that grow with the gradient.

What multiplies the state are factors :math:`\kappa_f`, uncorrelated, of mean 0 and variance 1
(:mod:`fltheory.quadratic.multiplied`). If a round is affine in the factors as well,

.. math:: z' = \Bigl(M + \sum_f \kappa_f D_f\Bigr) z + b + \sum_f \kappa_f d_f
          + \Bigl(B + \sum_f \kappa_f N_f\Bigr)\epsilon ,

then second moments close,

.. math:: C' = M C M^\top + B B^\top
          + \sum_f \bigl(D_f C D_f^\top + (D_f m + d_f)(D_f m + d_f)^\top + N_f N_f^\top\bigr).

The round is run once more for every factor of every client, with that factor set to 1, and once with all of them at
random: algorithms that multiply factors with each other (a stochastic gradient at a point that itself came out of
stochastic gradients of the same round, a correction by other clients' gradients) are found out by the last run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm
from fltheory.errors import NotAffine
from fltheory.problems.oracle import Round
from fltheory.quadratic.multiplied import Factor, MultipliedOracle
from fltheory.simulation.engines.affine import Prober, RoundMap, Tilts

_TOLERANCE = 1e-7
_REMEDY = "use the monte_carlo engine"


class MultipliedProber(Prober):
    """Reads round maps with their factors off an algorithm."""

    def __init__(self, algorithm: Algorithm, oracle: MultipliedOracle, *, spread: bool) -> None:
        super().__init__(algorithm, oracle, spread=spread)
        self._oracle = oracle
        self._values: dict[Factor, Floats] = {}
        self._memory: dict[str, Floats] = {}

    @property
    def foresees(self) -> bool:
        return False

    @property
    def matrices_per_map(self) -> int:
        return 1 + self.oracle.num_clients * max(3, len(self._oracle.factors))

    def _before_round(self) -> None:
        self._oracle.set_factors(self._values)

    def _in_portions(self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool) -> list[RoundMap]:
        return [self._probe(begin, [work], states=states)[0] for work in works]

    def _probe(self, begin: Callable[[Floats], Any], works: Sequence[Round], *, states: bool) -> list[RoundMap]:
        self._values = {}
        (step,) = super()._probe(begin, works, states=states)
        self._memory = step.memory
        base = self._respond(begin, works, states=states)[1]
        units = np.eye(self.oracle.num_clients)
        places = [(factor, client) for factor in self._oracle.factors for client in range(len(units))]
        changes = [self._change(begin, works, base, {factor: units[client]}, states) for factor, client in places]
        self._verify_factors(begin, works, base, dict(zip(places, changes, strict=True)), states)
        return [self._tilted(step, changes, states) if changes else step]

    def _change(
        self,
        begin: Callable[[Floats], Any],
        works: Sequence[Round],
        base: Floats,
        values: dict[Factor, Floats],
        states: bool,
    ) -> Floats:
        """Return by how much the rows of all probes change if factors take the given values."""
        self._values = values
        result, response, _ = self._respond(begin, works, states=states)
        for name, value in self._memory.items():
            if not np.allclose(getattr(result.state, name), value, rtol=1e-9, atol=1e-12):
                raise NotAffine(f"noise that multiplies the state enters what is remembered in {name!r}; {_REMEDY}")
        return response - base

    def _verify_factors(
        self,
        begin: Callable[[Floats], Any],
        works: Sequence[Round],
        base: Floats,
        changes: dict[tuple[Factor, int], Floats],
        states: bool,
    ) -> None:
        clients = self.oracle.num_clients
        values = {factor: self._rng.standard_normal(clients) for factor in self._oracle.factors}
        seen = self._change(begin, works, base, values, states)
        predicted = sum((values[factor][client] * change for (factor, client), change in changes.items()), np.zeros(1))
        size = 1.0 + np.abs(seen).max(initial=0.0) + np.abs(base).max(initial=0.0)
        if np.all(np.isfinite(seen)) and np.abs(seen - predicted).max(initial=0.0) > _TOLERANCE * size:
            raise NotAffine(
                f"noise that multiplies the state is multiplied with noise of the same round again; {_REMEDY}"
            )

    def _tilted(self, step: RoundMap, changes: list[Floats], states: bool) -> RoundMap:
        """Return the map with its factors."""
        size = step.shift.shape[1]
        unit_states = self._batch(states, self._sources).unit_states
        parts = [self._read(change, unit_states) for change in changes]
        columns = step.matrix.shape[2]
        tilts = Tilts(
            matrix=np.stack([part[0][:, :size] if states else np.zeros_like(step.matrix) for part in parts]),
            shift=np.stack([part[1][:, :size] for part in parts]),
            spread_matrix=np.stack(
                [part[0][:, size:] if states else np.zeros((*part[1][:, size:].shape, columns)) for part in parts]
            ),
            spread_shift=np.stack([part[1][:, size:] for part in parts]),
        )
        return step._replace(
            noise=np.concatenate([step.noise, *(part[2][:, :size] for part in parts)], axis=2),
            spread_noise=np.concatenate([step.spread_noise, *(part[2][:, size:] for part in parts)], axis=2),
            tilts=tilts,
        )
