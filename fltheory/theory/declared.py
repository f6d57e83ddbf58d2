"""What a user hands in beside an experiment: a run of it, and constants that are declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory.bounds.quantities import Quantity, Role
from fltheory.errors import InvalidParameter
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment, describe
from fltheory.simulation.recording import Record
from fltheory.simulation.trajectories import Trajectories

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Where an object without a description of its own is in memory."""


def check_run(owner: str, experiment: Experiment, run: object) -> None:
    """Refuse what is no run of an experiment, as far as its provenance tells."""
    allowed = "what fl.simulate returns for this experiment"
    run = arguments.of_type(owner, "run", run, Trajectories, allowed, "leave it out and it is run")
    if run.rounds != experiment.rounds:
        raise InvalidParameter(
            f"{owner}.run must be {allowed}, got one with {run.rounds} rounds in place of {experiment.rounds}; "
            "run.until(rounds) is the beginning of a longer one"
        )
    kept = run.provenance.get("experiment")
    if not isinstance(kept, Mapping):
        return
    own = describe(experiment)
    for name in ("problem", "algorithm", "participation", "rate", "start"):
        if name in kept and _plain(kept[name]) != _plain(own[name]):
            raise InvalidParameter(
                f"{owner}.run must be {allowed}, got one whose {name} is another; simulate this experiment, or leave "
                "the run out"
            )


def _plain(described: Any) -> str:
    return _ADDRESS.sub("", repr(described))


def completed(experiment: Experiment, run: Trajectories, wanted: Mapping[str, Any]) -> Trajectories | None:
    """Return the same run with more recorded, where that is possible: expectations come out as they were.

    ``None`` for runs that were simulated: what looks inside rounds would draw other numbers.
    """
    about = run.provenance
    kept = about.get("record", {})
    options = {name: value for name, value in kept.items() if name != "type"} | dict(wanted)
    if about.get("engine") != "exact" or options == {name: kept.get(name) for name in options}:
        return None
    made = Record(**options)
    return simulate(experiment, engine="exact", record=made, seed=about["seed"], replicates=max(about["replicates"], 1))


def check_constants(
    owner: str, quantities: Iterable[Quantity], constants: Mapping[str, Any], experiment: Experiment
) -> None:
    """Refuse declared constants that are no numbers, or of which there are too few or too many."""
    known = {quantity.name: quantity for quantity in quantities}
    clients, dim, rounds = experiment.problem.num_clients, experiment.problem.dim, experiment.rounds
    for name, value in constants.items():
        quantity = known.get(name)
        if quantity is not None and quantity.role is Role.FUNCTION:
            continue
        meaning = "a number, or an array of them" if quantity is None else quantity.described()
        if not _is_numbers(value):
            raise InvalidParameter(f"{owner}.{name} must be numbers without NaN, got {name}={value!r}: {meaning}")
        if name == "w_star":
            arguments.array(owner, name, value, shape=(dim,))
        if quantity is None or np.ndim(value) != 1:
            continue
        lengths = {"clients": (clients,), "rounds": (rounds, rounds + 1)}
        allowed = (rounds, rounds + 1) if not quantity.axes else lengths.get(quantity.axes[0], ())
        if name != "w_star" and allowed and len(quantity.axes) < 2 and len(value) not in allowed:
            asked = f"{allowed[0]} {'numbers, one per client' if quantity.axes == ('clients',) else 'numbers'}"
            raise InvalidParameter(f"{owner}.{name} must have {asked}, got {len(value)}: {meaning}")


def _is_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_numbers(part) for part in value)
    try:
        array = np.asarray(value)
        return array.dtype.kind not in "cUS" and not np.any(np.isnan(array.astype(float)))
    except (TypeError, ValueError):
        return False
