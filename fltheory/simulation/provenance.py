"""Where a trajectory comes from: experiment, engine, seed, versions, commit, time."""

from __future__ import annotations

import datetime
from typing import Any

from fltheory._internal.provenance import commit, versions
from fltheory.simulation.experiment import Experiment, describe
from fltheory.simulation.recording import Record


def provenance(
    experiment: Experiment, *, engine: str, seed: int, replicates: int, record: Record, **more: Any
) -> dict[str, Any]:
    """Return the record that accompanies a result; values are plain JSON types."""
    return {
        "engine": engine,
        "seed": seed,
        "replicates": replicates,
        "experiment": describe(experiment),
        "record": describe(record),
        "versions": dict(versions(*experiment.problem.packages)),
        "commit": commit(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **more,
    }
