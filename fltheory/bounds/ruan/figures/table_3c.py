r"""Table 3c of Ruan et al.: SYNTHETIC data, schemes A, B and C, with more and more kinds of clients.

Clients get the first :math:`|\mathcal T|` traces of completed work. The table has the test accuracy after the
last round, the improvement of B over A and of C over B in percentage points (mean over instances of data and assigned
traces, with its standard error; the three schemes share data, traces and minibatches), and the published numbers.

As published: 50 clients, Pareto sizes with index 0.5, minibatches of 20, learning rate :math:`1/\tau`, SYNTHETIC(0, 0)
for what the paper calls IID (clients still have models of their own) and SYNTHETIC(1, 1), traces with the published
means and deviations (:mod:`fltheory.bounds.ruan.settings`). Chosen here: 5 assigned steps, sizes from 20 to 400, a
third of the samples to test on, 30 rounds instead of 200.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.ruan.figures._schemes import COMPARED, SCHEMES, compared, gains
from fltheory.bounds.ruan.settings import (
    BATCH,
    DEVIATIONS,
    L2,
    LOCAL_STEPS,
    MEANS,
    RATE,
    TEST_SHARE,
    held_out,
    run_models,
    traced_steps,
)
from fltheory.figures.study import Data, Study, TextTable
from fltheory.logistic.problem import LogisticProblem
from fltheory.logistic.synthetic import synthetic
from fltheory.participation import Participation
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Inverse

CLIENTS, SMALLEST, LARGEST = 50, 20, 400
SPREADS = (0.0, 1.0)
PUBLISHED: dict[float, tuple[tuple[float, float], ...]] = {
    0.0: ((-0.6, 0.5), (2.1, 0.1), (6.6, 0.0), (9.0, 0.7), (11.6, 3.0), (16.4, 2.5), (6.3, 1.9), (14.4, 2.8)),
    1.0: ((0.1, -0.4), (9.6, 1.5), (22.2, 1.8), (38.2, 3.2), (33.3, 3.9), (30.5, 7.9), (37.9, 4.5), (41.6, 8.0)),
}


def problem(spread: float, seed: int) -> LogisticProblem:
    """Return SYNTHETIC(spread, spread) with Pareto sizes."""
    return synthetic(
        alpha=spread,
        beta=spread,
        num_clients=CLIENTS,
        sizes="pareto",
        min_size=SMALLEST,
        max_size=LARGEST,
        test_share=TEST_SHARE,
        l2=L2,
        batch_size=BATCH,
        seed=seed,
    )


def accuracy(data: LogisticProblem, scheme: str, traces: int, rounds: int, seed: int) -> float:
    """Return the test accuracy after the last round of one run."""
    steps = traced_steps(traces, num_clients=CLIENTS, local_steps=LOCAL_STEPS, seed=seed)
    run = Experiment(
        problem=data,
        algorithm=Ruan(scheme=scheme),
        participation=Participation(num_clients=CLIENTS, local_steps=LOCAL_STEPS, steps=steps),
        rounds=rounds,
        rate=Inverse(scale=RATE),
    )
    models = run_models(run, seed=seed, replicates=1)
    return float(held_out(data, models[:, -1], np.ones(CLIENTS, dtype=np.bool_))[0][0])


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run all schemes on all sets of traces."""
    rounds, instances = (10, 2) if quick else (30, 5)
    sets = (1, 4, 8) if quick else tuple(range(1, len(MEANS) + 1))
    cells = []
    for spread in SPREADS:
        problems = [problem(spread, seed + i) for i in range(instances)]
        for traces in sets:
            found = [
                [accuracy(data, scheme, traces, rounds, seed + i) for i, data in enumerate(problems)]
                for scheme in (SCHEMES if traces > 1 else SCHEMES[:1])
            ]
            # With the first trace alone everybody completes all steps and the schemes are the same algorithm.
            cells.append({"spread": spread, "traces": traces, "accuracy": found * (1 if traces > 1 else len(SCHEMES))})
    return {
        "settings": {
            "clients": CLIENTS,
            "sizes": [SMALLEST, LARGEST],
            "test_share": TEST_SHARE,
            "local_steps": LOCAL_STEPS,
            "batch_size": BATCH,
            "first_rate": RATE,
            "l2": L2,
            "rounds": rounds,
            "instances": instances,
            "trace_means_published": MEANS,
            "trace_deviations_published": DEVIATIONS,
        },
        "cells": cells,
        "published": {str(spread): [list(pair) for pair in pairs] for spread, pairs in PUBLISHED.items()},
    }


def table(data: Data) -> TextTable:
    """Return one row per data set and number of traces."""
    rows = []
    for cell in data["cells"]:
        known = data["published"][str(cell["spread"])]
        rows.append((f"({cell['spread']:g}, {cell['spread']:g})", *compared(cell, known[cell["traces"] - 1])))
    return TextTable(columns=("SYNTHETIC", *COMPARED), rows=tuple(rows))


def caption(data: Data) -> str:
    """Say how the gains grow with the number of traces."""
    parts = []
    for spread in SPREADS:
        cells = {cell["traces"]: gains(cell) for cell in data["cells"] if cell["spread"] == spread}
        last = max(cells)
        (over_a, a_error), (over_b, b_error) = cells[last]
        clear = sum(pair[1][0] > 2 * pair[1][1] for count, pair in cells.items() if count > 1)
        parts.append(
            f"on SYNTHETIC({spread:g}, {spread:g}) B is {over_a:.1f} ± {a_error:.1f} points above A and C "
            f"{over_b:.1f} ± {b_error:.1f} above B with all {last} traces, C more than two standard errors above B for "
            f"{clear} of {len(cells) - 1} sets"
        )
    settings = data["settings"]
    return (
        f"After {settings['rounds']} rounds with traces that have the published means and deviations (mean ± standard "
        f"error of {settings['instances']} instances), {'; '.join(parts)}."
    )


study = Study(
    name="ruan-table-3c",
    title="Ruan et al., Table 3c: test accuracy of schemes A, B and C on SYNTHETIC data",
    paper="ruan",
    compute=compute,
    caption=caption,
    table=table,
    weight=3,
)
