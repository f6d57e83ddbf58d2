r"""Table 4 of the EFL paper: EFL with several sparsities, accuracy against communicated bits.

``q`` is the fraction of coordinates that sparse ternary compression sends in each direction. Softmax regression with
105 weights on equal clients and on SYNTHETIC(1, 1) stands in for the paper's networks; ten of 20 clients are asked in
each round and complete all local steps with probability 1/2, otherwise fewer. :math:`\lambda`, rate, steps and rounds
are chosen here and stored with the numbers. Means over independent runs with standard errors.

Bits go to the server. EFL also sends the two statistics of the elastic term, which are not compressed: *updates* counts
the ternary messages only, *all* includes the statistics. The paper counts bits until convergence; here *rounds to
level* is the first round with a gap of at most a fifth of that at the start, and the bits are those until then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.algorithms.efl import EFL
from fltheory.communication.messages import FLOAT_BITS
from fltheory.figures.softmax_runs import (
    EFL_CLIENTS,
    SIZES,
    accuracy,
    efl_experiment,
    mean_error,
    plus_minus,
    problem,
    run_efl,
)
from fltheory.figures.study import Data, Study, TextTable

SPLITS, SIZE, STEPS, RATE, WEIGHT = ("IID", "SYNTHETIC(1, 1)"), 10, 10, 0.03, 0.1
FRACTIONS = (0.1, 0.3, 0.6, None)
LEVEL = 0.2
"""Share of the first gap that counts as converged."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run every sparsity on both kinds of clients."""
    rounds, replicates = (40, 3) if quick else (120, 12)
    rows = []
    for split in SPLITS[1 if quick else 0 :]:
        task = problem(split, num_clients=EFL_CLIENTS, seed=seed)
        statistics = 2 * FLOAT_BITS * task.dim * SIZE * np.arange(rounds + 1)
        for fraction in FRACTIONS:
            algorithm = EFL(elasticity=WEIGHT, compression=fraction)
            setting = efl_experiment(task, algorithm, size=SIZE, local_steps=STEPS, rounds=rounds, rate=RATE)
            run = run_efl(setting, replicates, seed)
            hit = run.curve("gap") <= LEVEL * run.curve("gap")[:, :1]
            reached = hit.any(axis=1)
            row: dict[str, Any] = {
                "split": split,
                "q": fraction,
                "gap": mean_error(run.curve("gap")[:, -1]),
                "accuracy": mean_error(accuracy(task, run)[:, -1]),
                "reached": int(reached.sum()),
                "rounds": None,
            }
            if reached.all():
                first = hit.argmax(axis=1)
                sent = np.take_along_axis(run.uplink_bits, first[:, None], axis=1)[:, 0]
                row["rounds"] = mean_error(first.astype(np.float64))
                row["all"] = mean_error(sent)
                row["updates"] = mean_error(sent - statistics[first])
            rows.append(row)
    sizes = {**SIZES, "num_clients": EFL_CLIENTS, "asked": SIZE, "local_steps": STEPS, "rate": RATE}
    more = {"elasticity": WEIGHT, "rounds": rounds, "replicates": replicates, "level": LEVEL}
    return {"sizes": {**sizes, **more}, "rows": rows}


def table(data: Data) -> TextTable:
    """Return one row per sparsity."""
    rows = []
    for row in data["rows"]:
        start = (
            row["split"],
            "off" if row["q"] is None else f"{row['q']:g}",
            plus_minus(row["accuracy"], digits=1),
            plus_minus(row["gap"], digits=4),
        )
        if row["rounds"] is None:
            rows.append((*start, f"{row['reached']} of {data['sizes']['replicates']} runs reach it", "", ""))
        else:
            bits = (plus_minus(row[name], 1e6, digits) for name, digits in (("updates", 3), ("all", 2)))
            rows.append((*start, plus_minus(row["rounds"], digits=1), *bits))
    return TextTable(
        columns=(
            "data",
            "q",
            "test accuracy (%)",
            "final gap",
            "rounds to level",
            "Mbit of updates",
            "Mbit of all",
        ),
        rows=tuple(rows),
    )


def caption(data: Data) -> str:
    """Say which sparsity ends lowest and which needs the fewest bits."""
    parts = []
    for split in dict.fromkeys(row["split"] for row in data["rows"]):
        own = [row for row in data["rows"] if row["split"] == split]
        dense = own[-1]
        sparse = [row for row in own if row["q"] is not None]
        lowest = min(sparse, key=lambda row: row["gap"]["mean"])
        text = (
            f"on {split} q = {lowest['q']:g} ends with the smallest gap of the compressed runs, "
            f"{lowest['gap']['mean']:.2g} against {dense['gap']['mean']:.2g} without compression"
        )
        there = [row for row in sparse if row["rounds"] is not None]
        if there and dense["rounds"] is not None:
            cheap = min(there, key=lambda row: row["updates"]["mean"])
            text += (
                f", and q = {cheap['q']:g} reaches {100 * data['sizes']['level']:g} % of the first gap with "
                f"{100 * cheap['updates']['mean'] / dense['updates']['mean']:.2g} % of the update bits sent without "
                f"compression ({100 * cheap['all']['mean'] / dense['all']['mean']:.2g} % of all bits)"
            )
        parts.append(text)
    whole = "; ".join(parts)
    return f"{whole[0].upper()}{whole[1:]}; {data['sizes']['replicates']} runs each."


study = Study(
    name="efl-table-4",
    title="EFL, Table 4: several sparsities",
    paper="efl",
    compute=compute,
    caption=caption,
    table=table,
    weight=3,
)
