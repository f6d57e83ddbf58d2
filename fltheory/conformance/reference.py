"""Run an algorithm of the package on a federation, one obvious line per formula."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm
from fltheory.conformance.federation import Federation
from fltheory.conformance.variants import Variant, altered
from fltheory.problems.problem import EngineOracle


class ModelPath(NamedTuple):
    """What an algorithm does on a federation."""

    models: Floats
    """Server models before round 0 and after every round, shape ``(rounds + 1, dim)``."""
    local: Floats
    """Clients' models at the end of every round, shape ``(rounds, clients, dim)``."""
    states: dict[str, Floats]
    """Other state fields after every round, shape ``(rounds, dim)`` or ``(rounds, clients, dim)``."""


def oracle_of(federation: Federation) -> EngineOracle:
    """Return the reference oracle of a federation without noise."""
    return federation.problem().reference_oracle(seed=0, replicates=range(1))


def rounds(
    algorithm: Algorithm, federation: Federation, variants: tuple[Variant, ...], oracle: EngineOracle
) -> Iterator[tuple[Floats, Floats, Any]]:
    """Yield server model, clients' models and state after every round, with full gradients."""
    runner = altered(algorithm, variants, federation)
    with np.errstate(all="ignore"):
        oracle.begin_round(0)
        state: Any = runner.init(federation.start[None], oracle, federation.weights)
        for index in range(federation.rounds):
            oracle.begin_round(index)
            result = runner.round(state, oracle, federation.work(index))
            state = result.state
            yield runner.model(state)[0], result.local[0], state


def trace(
    algorithm: Algorithm,
    federation: Federation,
    variants: tuple[Variant, ...] = (),
    *,
    oracle: EngineOracle | None = None,
) -> ModelPath:
    """Return the run of an algorithm with variants applied, with full gradients.

    ``oracle`` is that of the federation's problem, for callers that run many variants on one federation.
    """
    found = list(rounds(algorithm, federation, variants, oracle_of(federation) if oracle is None else oracle))
    states = [state._asdict() for _, _, state in found]
    fields = [name for name in states[-1] if name != "w" and np.ndim(states[-1][name]) in (2, 3)]
    return ModelPath(
        models=np.stack([federation.start, *(model for model, _, _ in found)]),
        local=np.stack([local for _, local, _ in found]),
        states={name: np.stack([np.asarray(each[name])[0] for each in states]) for name in fields},
    )
