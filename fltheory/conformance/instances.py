"""The instances that tell implementations apart, from the smallest to the one where everything comes together.

Each instance beyond the first few adds one *feature* to a common base, so the features without which an
implementation agrees with the reference can be read off the instances on which it differs.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Ints
from fltheory.conformance.federation import Federation

DIM = 2
LOCAL_STEPS = 3
SERVER_RATE = 0.7
RATE = 0.11
NOISE = 0.4


class Feature(enum.Enum):
    """What an instance has that the smallest one has not."""

    LOCAL_STEPS = "local-steps"
    CLIENTS = "several-clients"
    ROUNDS = "several-rounds"
    WEIGHTS = "unequal-weights"
    ABSENCE = "absent-clients"
    STRAGGLERS = "unequal-steps"
    SERVER_RATE = "server-rate"
    SCHEDULE = "rate-schedule"

    @property
    def without(self) -> str:
        """Say when the feature is missing."""
        return _WORDS[self][0]

    @property
    def within(self) -> str:
        """Say when the feature is there."""
        return _WORDS[self][1]


_WORDS = {
    Feature.LOCAL_STEPS: ("with one local step per round", "clients take several local steps"),
    Feature.CLIENTS: ("with a single client", "there are several clients"),
    Feature.ROUNDS: ("in the first round", "a second round follows"),
    Feature.WEIGHTS: ("when all clients have equally many samples", "sample counts differ"),
    Feature.ABSENCE: ("under full participation", "a client is absent"),
    Feature.STRAGGLERS: ("when all clients take equally many steps", "step counts differ"),
    Feature.SERVER_RATE: ("when the server rate is 1", "the server rate is not 1"),
    Feature.SCHEDULE: ("when the local rate is constant", "the local rate changes from round to round"),
}


class Instance(NamedTuple):
    """A federation with a name and what is special about it."""

    name: str
    features: frozenset[Feature]
    federation: Federation


_SAMPLES = (
    ((0.9, 0.2), (-0.4, 1.0), (0.3, -0.8), (1.1, 0.5), (-0.2, 0.7), (0.6, -0.3)),
    ((0.5, -0.9), (1.2, 0.1), (-0.7, 0.6), (0.2, 1.0), (0.8, 0.8), (-0.5, 0.4)),
    ((-0.3, 0.4), (0.7, 0.9), (1.0, -0.6), (0.4, 0.2), (-0.9, 0.5), (0.1, 1.1)),
    ((1.1, 0.3), (0.2, -0.5), (-0.6, 0.9), (0.9, 0.7), (0.3, 0.6), (-0.8, 0.2)),
)
_TARGETS = (
    (1.4, -0.6, 0.9, 2.1, -1.0, 0.5),
    (-1.2, 0.4, 1.6, -0.3, 0.8, 2.2),
    (0.7, -1.9, 1.1, 0.2, 1.5, -0.8),
    (-0.5, 1.8, 0.6, -1.4, 2.0, 0.3),
)
_START = (0.8, -1.3)
_EQUAL = (4, 4, 4, 4)
_UNEQUAL = (2, 6, 3, 4)
_MIXED = ((3, 1, 2, 3), (2, 3, 0, 1), (0, 3, 3, 2), (1, 0, 0, 3), (3, 2, 3, 0), (2, 2, 1, 3))
_RATES = tuple(RATE * factor for factor in (1.0, 0.5, 0.8, 0.3, 0.6, 0.4))


def federation(
    steps: Sequence[Sequence[int]] | Ints,
    *,
    local_steps: int = LOCAL_STEPS,
    counts: Sequence[int] = _EQUAL,
    rates: Sequence[float] | None = None,
    parameters: Mapping[str, Any],
    noise: float = 0.0,
) -> Federation:
    """Return a federation with the given schedule on the common data."""
    table = np.asarray(steps, dtype=np.int64)
    clients = range(table.shape[1])
    return Federation(
        features=tuple(np.array(_SAMPLES[i][: counts[i]]) for i in clients),
        targets=tuple(np.array(_TARGETS[i][: counts[i]]) for i in clients),
        steps=table,
        local_steps=local_steps,
        rates=tuple(rates) if rates is not None else (RATE,) * len(table),
        initial=np.array(_START),
        parameters=parameters,
        noise=noise,
    )


OPTIONAL = (Feature.WEIGHTS, Feature.ABSENCE, Feature.STRAGGLERS, Feature.SERVER_RATE, Feature.SCHEDULE)
"""Features that code may lack; the others are what federated learning is."""


def instances(parameters: Mapping[str, Any], *, skip: frozenset[Feature]) -> list[Instance]:
    """Return the instances without the features to skip, smallest first."""
    f = Feature
    base = frozenset({f.LOCAL_STEPS, f.CLIENTS, f.ROUNDS})
    full = np.full((4, 3), LOCAL_STEPS)
    absent = [[3, 3, 3], [3, 3, 0], [0, 3, 3], [3, 0, 0], [3, 3, 3]]
    stragglers = [[3, 1, 2], [2, 3, 1], [1, 2, 3], [3, 3, 2]]
    scaled = dict(parameters) | {"server_rate": SERVER_RATE}

    def instance(name: str, features: frozenset[Feature], steps: Any, **options: Any) -> Instance:
        return Instance(name, features, federation(steps, **({"parameters": parameters} | options)))

    found = [
        instance("one client, one step, one round", frozenset(), [[1]], local_steps=1),
        instance("one client, three steps, one round", frozenset({f.LOCAL_STEPS}), [[3]]),
        instance("three clients, one round", frozenset({f.LOCAL_STEPS, f.CLIENTS}), full[:1]),
        instance("three clients, four rounds", base, full),
        instance("unequal sample counts", base | {f.WEIGHTS}, full, counts=_UNEQUAL),
        instance("a client absent and back", base | {f.ABSENCE}, absent),
        instance("unequal step counts", base | {f.STRAGGLERS}, stragglers),
        instance("local rate that changes", base | {f.SCHEDULE}, full, rates=_RATES[:4]),
    ]
    if f.SERVER_RATE not in skip:
        found.append(instance("server rate 0.7", base | {f.SERVER_RATE}, full, parameters=scaled))
    everything = (base | set(OPTIONAL)) - skip
    steps = np.array(_MIXED)
    steps = steps if f.ABSENCE in everything else np.maximum(steps, 1)
    found.append(
        instance(
            "all together",
            everything,
            steps if f.STRAGGLERS in everything else np.where(steps > 0, LOCAL_STEPS, 0),
            counts=_UNEQUAL if f.WEIGHTS in everything else _EQUAL,
            rates=_RATES if f.SCHEDULE in everything else None,
            parameters=scaled if f.SERVER_RATE in everything else parameters,
        )
    )
    return [each for each in found if not each.features & skip]
