r"""Table 4 of Ruan et al.: rounds after an arrival until the test accuracy is back at its old level.

The old level is the accuracy before the last round without the newcomer, on the test samples of the clients of that
time; from the arrival on the newcomer's test samples count too. SYNTHETIC(1, 1), 30 clients, scheme C, see
:mod:`fltheory.bounds.ruan.settings` for what is published and what is chosen here. The paper does not print the
sizes of its data; the outcome depends on them, so the table has two, the larger one with fewer instances and times.
Every instance has its own data, traces and minibatches, and three replicates; fast and vanilla reboot share them.
Means over instances with standard errors; runs that do not recover within the horizon count with the horizon. Since
accuracies of a finite test set come in steps, the table has the recovery of the test loss too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.bounds.ruan.settings import (
    CLASSES,
    CLIENTS,
    FEATURES,
    after_arrival,
    before_arrival,
    everyone_but,
    federation,
    federation_settings,
    held_out,
    rounds_until,
)
from fltheory.figures.study import Data, Study, TextTable
from fltheory.logistic.problem import LogisticProblem
from fltheory.simulation.trajectories import simultaneous_half_width

SPREAD, REPLICATES, LEVEL = 1.0, 3, 0.95
SIZES = ((FEATURES, CLASSES), (60, 10))
"""Features and classes: those of the other studies, and the usual ones of SYNTHETIC data."""

TIMES = (10, 30, 50, 70)
PUBLISHED = {10: (1, 1), 30: (4, 6), 50: (7, 12), 70: (3, 8)}
REBOOTS = (("fast", True), ("vanilla", False))
MEASURES = ("accuracy", "loss")


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the past of every instance once, then both ways to reboot at every time, for both sizes."""
    horizon = 20 if quick else 150
    sizes = []
    for features, classes, instances in ((*SIZES[0], 3),) if quick else ((*SIZES[0], 6), (*SIZES[1], 3)):
        times = TIMES[:2] if quick else (TIMES if features == FEATURES else TIMES[1::2])
        found: dict[tuple[int, str], list[Floats]] = {}
        for own in range(seed, seed + instances):
            problem = federation(spread=SPREAD, seed=own, num_features=features, num_classes=classes)
            past = before_arrival(problem, rounds=max(times), replicates=REPLICATES, seed=own)
            for at in times:
                for name, fast in REBOOTS:
                    rounds = _recovery(problem, past, at=at, horizon=horizon, fast=fast, seed=own)
                    found.setdefault((at, name), []).append(rounds)
        cells = []
        for at in times:
            # (instances, measures, replicates)
            rounds_of = {name: np.stack(found[at, name]) for name, _ in REBOOTS}
            counted = {name: np.minimum(rounds, horizon).mean(axis=-1) for name, rounds in rounds_of.items()}
            never = {name: np.isinf(rounds).sum(axis=(0, 2)) for name, rounds in rounds_of.items()}
            cells.append(
                {
                    "at": at,
                    "rounds": {
                        m: {name: counted[name][:, n].tolist() for name in counted} for n, m in enumerate(MEASURES)
                    },
                    "not_recovered": {m: {name: int(never[name][n]) for name in never} for n, m in enumerate(MEASURES)},
                    "published": PUBLISHED[at],
                }
            )
        sizes.append({"features": features, "classes": classes, "instances": instances, "cells": cells})
    settings = {name: value for name, value in federation_settings().items() if name not in ("features", "classes")}
    return {
        "settings": {**settings, "spread": SPREAD, "horizon": horizon, "replicates": REPLICATES},
        "sizes": sizes,
    }


def _recovery(problem: LogisticProblem, past: Floats, *, at: int, horizon: int, fast: bool, seed: int) -> Floats:
    """Return the rounds until accuracy and loss are back, shape ``(measures, replicates)``."""
    accuracy, loss = held_out(problem, past[:, at - 1], everyone_but(CLIENTS - 1))
    blocks = after_arrival(problem, past, at=at, horizon=horizon, fast=fast, seed=seed)
    return rounds_until(np.stack([new >= accuracy[:, None], lost <= loss[:, None]]) for new, lost in blocks)


def mean_error(values: Floats) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def saved(cell: dict[str, Any], measure: str) -> tuple[float, float]:
    """Return how many rounds fast reboot saves, with the standard error over instances."""
    rounds = cell["rounds"][measure]
    return mean_error(np.array(rounds["vanilla"]) - np.array(rounds["fast"]))


def table(data: Data) -> TextTable:
    """Return one row per size and time of arrival."""
    rows = []
    for size in data["sizes"]:
        for cell in size["cells"]:
            shown = [f"{size['features']}, {size['classes']} ({size['instances']})", str(cell["at"])]
            for measure in MEASURES:
                for name, _ in REBOOTS:
                    mean, error = mean_error(np.array(cell["rounds"][measure][name]))
                    never = cell["not_recovered"][measure][name]
                    shown.append(f"{mean:.1f} ± {error:.1f}" + (f" ({never} never)" if never else ""))
                mean, error = saved(cell, measure)
                shown.append(f"{mean:.1f} ± {error:.1f}")
            rows.append((*shown, *(str(value) for value in cell["published"])))
    columns = ["features, classes (instances)", "τ₀"]
    columns += [f"{measure}: {what}" for measure in MEASURES for what in ("fast", "vanilla", "saved by fast")]
    return TextTable(columns=(*columns, "accuracy: fast, published", "accuracy: vanilla, published"), rows=tuple(rows))


def caption(data: Data) -> str:
    """Say how many rounds fast reboot saves (negative: loses), whether that is more than chance, at both sizes."""
    never = sum(sum(by.values()) for s in data["sizes"] for c in s["cells"] for by in c["not_recovered"].values())
    return (
        f"Rounds that fast reboot saves, {data['settings']['replicates']} replicates per instance: "
        + "; ".join(_said(size) for size in data["sizes"])
        + f"; {never} recoveries are not seen within {data['settings']['horizon']} rounds."
    )


def _said(size: Data) -> str:
    gains = {(m, cell["at"]): saved(cell, m)[0] for m in MEASURES for cell in size["cells"]}
    each = [
        np.array(cell["rounds"][m]["vanilla"]) - np.array(cell["rounds"][m]["fast"])
        for m in MEASURES
        for cell in size["cells"]
    ]
    half = simultaneous_half_width(np.stack(each, axis=1), LEVEL)
    clear = [f"{m} at τ₀ = {at}" for (m, at), h in zip(gains, half, strict=True) if abs(gains[m, at]) > h]
    ranges = [[gain for (m, _), gain in gains.items() if m == measure] for measure in MEASURES]
    parts = [f"{min(r):.1f} to {max(r):.1f} of the test {m}" for m, r in zip(MEASURES, ranges, strict=True)]
    verdict = f"clearly for {', '.join(clear)}" if clear else f"none of {len(half)} differences clear"
    return (
        f"{' and '.join(parts)} with {size['features']} features and {size['classes']} classes ({size['instances']} "
        f"instances, {verdict} at a joint level of {100 * LEVEL:.0f} %)"
    )


study = Study(
    name="ruan-table-4",
    title="Ruan et al., Table 4: rounds to recover from an arrival",
    paper="ruan",
    compute=compute,
    caption=caption,
    table=table,
    weight=2,
)
