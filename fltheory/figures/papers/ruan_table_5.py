r"""Table 5 of Ruan et al.: rounds after a departure until excluding the client has the lower test loss.

*Include* keeps the departed client in the objective and in the test set, without any further work of it; *exclude*
drops it from both and restarts the learning rate, which raises the loss at first. SYNTHETIC(alpha, beta), 30 clients,
scheme C, see :mod:`fltheory.studies.flexible_participation` for what is published and what is ours; ``alpha`` and
``beta`` are standard deviations as in the public generator. Every instance has its own data, dealt traces and
minibatches; both options share them. Means over instances with standard errors; where the losses do not cross within
the horizon the horizon counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.figures.study import Data, Study, Table
from fltheory.studies.flexible_participation import (
    after_departure,
    before_departure,
    federation,
    federation_settings,
    first_round,
)

SPREADS = (0.1, 0.5, 1.0)
TIMES = (10, 15, 20, 25, 30, 35, 40, 45, 50)
PUBLISHED = {
    0.1: (2, 5, 3, 3, 9, 3, 10, 26, 40),
    0.5: (1, 3, 9, 14, 13, 7, 12, 36, 34),
    1.0: (10, 9, 27, 18, 34, 17, 28, 62, 77),
}


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the past of every instance once, then both options at every time."""
    times = TIMES[::4] if quick else TIMES
    instances, horizon = (2, 20) if quick else (4, 40)
    rows = []
    for spread in SPREADS:
        crossings = np.zeros((instances, len(times)))
        never = np.zeros(len(times), dtype=np.int64)
        for i in range(instances):
            problem = federation(spread=spread, seed=seed + i)
            past = before_departure(problem, rounds=max(times), replicates=1, seed=seed + i)
            for column, at in enumerate(times):
                include, exclude = (
                    after_departure(problem, past, at=at, horizon=horizon, exclude=drop, seed=seed + i)[1]
                    for drop in (False, True)
                )
                lower = exclude <= include
                crossings[i, column] = first_round(lower, horizon)[0]
                never[column] += not lower.any()
        rows.append(
            {
                "spread": spread,
                "crossings": crossings.tolist(),
                "never": never.tolist(),
                "published": [PUBLISHED[spread][TIMES.index(at)] for at in times],
            }
        )
    settings = {**federation_settings(), "horizon": horizon, "instances": instances}
    return {"settings": settings, "times": times, "rows": rows}


def table(data: Data) -> Table:
    """Return one row per spread and origin of the numbers."""
    rows: list[tuple[str, ...]] = []
    for row in data["rows"]:
        name = f"({row['spread']:g}, {row['spread']:g})"
        crossings = np.array(row["crossings"])
        errors = crossings.std(axis=0, ddof=1) / np.sqrt(len(crossings))
        shown = [
            f"{mean:.0f} ± {error:.0f}" + (f" ({never} never)" if never else "")
            for mean, error, never in zip(crossings.mean(axis=0), errors, row["never"], strict=True)
        ]
        rows.append((name, "measured", *shown))
        rows.append((name, "published", *(str(value) for value in row["published"])))
    return Table(columns=("SYNTHETIC", "", *(rf"$\tau_0 = {at}$" for at in data["times"])), rows=tuple(rows))


def caption(data: Data) -> str:
    """Say how the crossing moves with the time of departure and with the spread."""
    first, last = data["times"][0], data["times"][-1]
    parts, means = [], []
    for row in data["rows"]:
        crossings = np.array(row["crossings"])
        begin, end = crossings.mean(axis=0)[[0, -1]]
        means.append(f"{crossings.mean():.0f}")
        parts.append(f"from {begin:.0f} to {end:.0f} for ({row['spread']:g}, {row['spread']:g})")
    never = sum(sum(row["never"]) for row in data["rows"])
    return (
        f"The rounds until excluding wins go, as tau_0 goes from {first} to {last}, {', '.join(parts)} (means of "
        f"{data['settings']['instances']} instances); averaged over tau_0 they are {', '.join(means)} in that order, "
        f"{never} runs having no crossing within {data['settings']['horizon']} rounds."
    )


study = Study(
    name="ruan-table-5",
    title="Rounds until excluding a departed client pays",
    paper="ruan",
    compute=compute,
    caption=caption,
    table=table,
)
