r"""Table 5 of Ruan et al.: rounds after a departure until excluding the client has the lower test loss.

*Include* keeps the departed client in the objective and in the test set, without any further work of it; *exclude*
drops it from both and restarts the learning rate, which raises the loss at first. SYNTHETIC(alpha, beta), 30 clients,
scheme C, see :mod:`fltheory.bounds.ruan.settings` for what is published and what is chosen here; ``alpha`` and
``beta`` are standard deviations as in the public generator. Every instance has its own data, assigned traces and
minibatches, and two replicates; both options share them. The paper does not print the sizes of its data, and the
crossings depend on them: the last rows have the usual sizes of SYNTHETIC data, at three times of departure. Means
over instances with standard errors; where the losses do not cross within the horizon the horizon counts. Runs end
when both replicates have crossed, so that the horizon can be long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.bounds.ruan.settings import (
    CLASSES,
    FEATURES,
    after_departure,
    before_departure,
    federation,
    federation_settings,
    rounds_until,
)
from fltheory.figures.study import Data, Study, TextTable

SPREADS = (0.1, 0.5, 1.0)
TIMES = (10, 15, 20, 25, 30, 35, 40, 45, 50)
SMALL, USUAL, REPLICATES = (FEATURES, CLASSES), (60, 10), 2
"""Features and classes of the two sizes; runs per instance."""

PUBLISHED = {
    0.1: (2, 5, 3, 3, 9, 3, 10, 26, 40),
    0.5: (1, 3, 9, 14, 13, 7, 12, 36, 34),
    1.0: (10, 9, 27, 18, 34, 17, 28, 62, 77),
}


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the past of every instance once, then both options at every time, for both sizes."""
    horizon = 20 if quick else 200
    rows = [
        _row(spread, *SMALL, TIMES[::4] if quick else TIMES, 2 if quick else 3, horizon, seed)
        for spread in (SPREADS[::2] if quick else SPREADS)
    ]
    if not quick:
        rows.append(_row(SPREADS[-1], *USUAL, TIMES[::4], 5, horizon, seed))
    settings = {name: value for name, value in federation_settings().items() if name not in ("features", "classes")}
    return {"settings": {**settings, "horizon": horizon, "replicates": REPLICATES}, "rows": rows}


def _row(
    spread: float, features: int, classes: int, times: tuple[int, ...], instances: int, horizon: int, seed: int
) -> dict[str, Any]:
    """Return the crossings of some instances."""
    found = np.zeros((instances, len(times), REPLICATES))
    for i in range(instances):
        problem = federation(spread=spread, seed=seed + i, num_features=features, num_classes=classes)
        past = before_departure(problem, rounds=max(times), replicates=REPLICATES, seed=seed + i)
        for column, at in enumerate(times):
            include, exclude = (
                after_departure(problem, past, at=at, horizon=horizon, exclude=drop, seed=seed + i)
                for drop in (False, True)
            )
            found[i, column] = rounds_until(
                without <= with_it for (_, with_it), (_, without) in zip(include, exclude, strict=True)
            )
    crossings = np.minimum(found, horizon).mean(axis=-1)
    return {
        "spread": spread,
        "features": features,
        "classes": classes,
        "instances": instances,
        "times": times,
        "crossings": crossings.tolist(),
        "never": np.isinf(found).sum(axis=(0, 2)).tolist(),
        "published": [PUBLISHED[spread][TIMES.index(at)] for at in times],
    }


def table(data: Data) -> TextTable:
    """Return one row per spread, size and origin of the numbers."""
    times = sorted({at for row in data["rows"] for at in row["times"]})
    rows: list[tuple[str, ...]] = []
    for row in data["rows"]:
        name = f"({row['spread']:g}, {row['spread']:g})"
        size = f"measured, {row['features']} features, {row['classes']} classes ({row['instances']} instances)"
        crossings = np.array(row["crossings"])
        errors = crossings.std(axis=0, ddof=1) / np.sqrt(len(crossings))
        shown = {
            at: f"{mean:.0f} ± {error:.0f}" + (f" ({never} never)" if never else "")
            for at, mean, error, never in zip(row["times"], crossings.mean(axis=0), errors, row["never"], strict=True)
        }
        published = dict(zip(row["times"], row["published"], strict=True))
        rows.append((name, size, *(shown.get(at, "") for at in times)))
        rows.append((name, "published", *(str(published.get(at, "")) for at in times)))
    return TextTable(columns=("SYNTHETIC", "numbers", *(f"τ₀ = {at}" for at in times)), rows=tuple(rows))


def caption(data: Data) -> str:
    """Say how the crossing moves with the time of departure, with the spread and with the size, beside the paper."""
    parts = []
    for row in data["rows"]:
        change = np.array(row["crossings"])[:, [0, -1]]
        begin, end = change.mean(axis=0)
        error = np.diff(change, axis=1).std(ddof=1) / np.sqrt(len(change))
        parts.append(
            f"from {begin:.0f} to {end:.0f} (by {end - begin:.0f} ± {error:.0f}; published: from {row['published'][0]} "
            f"to {row['published'][-1]}) for ({row['spread']:g}, {row['spread']:g}) with {row['features']} features "
            f"and {row['classes']} classes"
        )
    times = data["rows"][0]["times"]
    never = sum(sum(row["never"]) for row in data["rows"])
    runs = sum(np.size(row["crossings"]) for row in data["rows"]) * data["settings"]["replicates"]
    return (
        f"As the departure moves from round {times[0]} to {times[-1]}, the mean rounds until excluding wins go "
        f"{'; '.join(parts)}; {never} of {runs} runs have no crossing within {data['settings']['horizon']} rounds."
    )


study = Study(
    name="ruan-table-5",
    title="Ruan et al., Table 5: rounds until excluding a departed client pays",
    paper="ruan",
    compute=compute,
    caption=caption,
    table=table,
    weight=3,
)
