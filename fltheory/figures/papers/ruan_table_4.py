r"""Table 4 of Ruan et al.: rounds after an arrival until the test accuracy is back at its old level.

The old level is the accuracy before the last round without the newcomer, on the test samples of the clients of that
time; from the arrival on the newcomer's test samples count too. SYNTHETIC(1, 1), 30 clients, scheme C, see
:mod:`fltheory.studies.flexible_participation` for what is published and what is ours. Every instance has its own data,
dealt traces and minibatches, and two replicates; fast and vanilla reboot share them. Means over instances with
standard errors; runs that do not recover within the horizon count with the horizon. Since accuracies of a finite test
set come in steps, the table has the recovery of the test loss too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.checks import Floats
from fltheory.figures.study import Data, Study, Table
from fltheory.studies.flexible_participation import (
    CLIENTS,
    after_arrival,
    before_arrival,
    everyone_but,
    federation,
    federation_settings,
    first_round,
    held_out,
)
from fltheory.trajectories import simultaneous_half_width

SPREAD, REPLICATES, LEVEL = 1.0, 2, 0.95
TIMES = (10, 30, 50, 70)
PUBLISHED = {10: (1, 1), 30: (4, 6), 50: (7, 12), 70: (3, 8)}
REBOOTS = (("fast", True), ("vanilla", False))
MEASURES = ("accuracy", "loss")


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the past of every instance once, then both ways to reboot at every time."""
    times = TIMES[:2] if quick else TIMES
    instances, horizon = (3, 20) if quick else (14, 60)
    found: dict[tuple[int, str, str], list[float]] = {}
    censored: dict[tuple[int, str, str], int] = {}
    for own in range(seed, seed + instances):
        problem = federation(spread=SPREAD, seed=own)
        past = before_arrival(problem, rounds=max(times), replicates=REPLICATES, seed=own)
        for at in times:
            level = held_out(problem, past[:, at - 1], everyone_but(CLIENTS - 1))
            for name, fast in REBOOTS:
                curves = after_arrival(problem, past, at=at, horizon=horizon, fast=fast, seed=own)
                back = (curves[0] >= level[0][:, None], curves[1] <= level[1][:, None])
                for measure, reached in zip(MEASURES, back, strict=True):
                    key = (at, name, measure)
                    found.setdefault(key, []).append(float(first_round(reached, horizon).mean()))
                    censored[key] = censored.get(key, 0) + int(np.count_nonzero(~reached.any(axis=1)))
    return {
        "settings": {
            **federation_settings(),
            "spread": SPREAD,
            "horizon": horizon,
            "instances": instances,
            "replicates": REPLICATES,
        },
        "cells": [
            {
                "at": at,
                "rounds": {m: {name: found[at, name, m] for name, _ in REBOOTS} for m in MEASURES},
                "not_recovered": {m: {name: censored[at, name, m] for name, _ in REBOOTS} for m in MEASURES},
                "published": PUBLISHED[at],
            }
            for at in times
        ],
    }


def mean_error(values: Floats) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def saved(cell: dict[str, Any], measure: str) -> tuple[float, float]:
    """Return how many rounds fast reboot saves, with the standard error over instances."""
    rounds = cell["rounds"][measure]
    return mean_error(np.array(rounds["vanilla"]) - np.array(rounds["fast"]))


def table(data: Data) -> Table:
    """Return one row per time of arrival."""
    rows = []
    for cell in data["cells"]:
        shown = [str(cell["at"])]
        for measure in MEASURES:
            for name, _ in REBOOTS:
                mean, error = mean_error(np.array(cell["rounds"][measure][name]))
                never = cell["not_recovered"][measure][name]
                shown.append(f"{mean:.1f} ± {error:.1f}" + (f" ({never} never)" if never else ""))
            mean, error = saved(cell, measure)
            shown.append(f"{mean:.1f} ± {error:.1f}")
        rows.append((*shown, *(str(value) for value in cell["published"])))
    columns = [r"$\tau_0$"]
    columns += [f"{measure}: {what}" for measure in MEASURES for what in ("fast", "vanilla", "saved by fast")]
    return Table(columns=(*columns, "accuracy: fast, published", "accuracy: vanilla, published"), rows=tuple(rows))


def caption(data: Data) -> str:
    """Say how many rounds fast reboot saves (negative: loses), and whether that is more than chance."""
    gains = {(m, cell["at"]): saved(cell, m)[0] for m in MEASURES for cell in data["cells"]}
    each = [
        np.array(cell["rounds"][m]["vanilla"]) - np.array(cell["rounds"][m]["fast"])
        for m in MEASURES
        for cell in data["cells"]
    ]
    half = simultaneous_half_width(np.stack(each, axis=1), LEVEL)
    clear = [f"{m} at tau_0 = {at}" for (m, at), h in zip(gains, half, strict=True) if abs(gains[m, at]) > h]
    ranges = [[gain for (m, _), gain in gains.items() if m == measure] for measure in MEASURES]
    parts = [f"{min(r):.1f} to {max(r):.1f} rounds of the test {m}" for m, r in zip(MEASURES, ranges, strict=True)]
    verdict = f"clearly for {', '.join(clear)}" if clear else f"none of {len(half)} differences being clear"
    return (
        f"Over {data['settings']['instances']} instances with {data['settings']['replicates']} replicates each, fast "
        f"reboot saves {' and '.join(parts)}, {verdict} at a joint level of {100 * LEVEL:.0f} %."
    )


study = Study(
    name="ruan-table-4",
    title="Rounds to recover from an arrival",
    paper="ruan",
    compute=compute,
    caption=caption,
    table=table,
)
