r"""Figure 2 of the EFL paper: EFL with elastic terms of several weights, accuracy and loss against rounds.

Softmax regression with 105 weights on SYNTHETIC(1, 1) stands in for the paper's networks; the loss is shown as the gap
to its minimum. Ten of 20 clients are asked in each round; each completes all ``E`` local steps with probability
1/2 and otherwise fewer, all counts equally likely. No compression, so that only :math:`\lambda` differs. The
columns have few and many local steps, and small to large learning rates :math:`\eta`. The paper prints none of
these, nor its :math:`\lambda`. The elastic sum runs over all clients and is not divided by their number. Lines are
means over independent runs, bands hold for all points of a curve at once with 95 %.

The gaps of two weights are closer than their bands are wide, but runs with the same number share clients, steps and
minibatches: the lowest row has the mean of the differences to :math:`\lambda = 0`, run by run, which decides which
weight is better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fltheory.algorithms.efl import EFL
from fltheory.figures.softmax_runs import (
    EFL_CLIENTS,
    LEVEL,
    SIZES,
    accuracy,
    draw_columns,
    efl_experiment,
    limits,
    problem,
    run_efl,
)
from fltheory.figures.study import Data, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPLIT, SIZE = "SYNTHETIC(1, 1)", 10
WEIGHTS = (0.0, 0.1, 1.0, 3.0)
CASES = ((5, 0.02), (20, 0.02), (20, 0.05), (20, 0.1))
"""Local steps and learning rate of the columns."""

BAND = ("mean", "low", "high")
EVERY = 5
"""Rounds between two points that are drawn."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run every weight in every column, on the same random numbers."""
    rounds, replicates = (10, 3) if quick else (120, 16)
    task = problem(SPLIT, num_clients=EFL_CLIENTS, seed=seed)
    columns = []
    for local_steps, rate in CASES[:: 3 if quick else 1]:
        runs = {
            weight: run_efl(
                efl_experiment(
                    task, EFL(elasticity=weight), size=SIZE, local_steps=local_steps, rounds=rounds, rate=rate
                ),
                replicates,
                seed,
            )
            for weight in WEIGHTS
        }
        curves: list[dict[str, Any]] = [
            {
                "elasticity": weight,
                "gap": limits(run.curve("gap"), EVERY),
                "accuracy": limits(accuracy(task, run), EVERY),
            }
            for weight, run in runs.items()
        ]
        for curve in curves[1:]:
            curve["difference"] = limits(runs[curve["elasticity"]].curve("gap") - runs[0.0].curve("gap"), EVERY)
        columns.append({"local_steps": local_steps, "rate": rate, "curves": curves})
    sizes = {**SIZES, "split": SPLIT, "num_clients": EFL_CLIENTS, "asked": SIZE, "rounds": rounds}
    return {"sizes": {**sizes, "replicates": replicates, "level": LEVEL, "every": EVERY}, "columns": columns}


def draw(data: Data) -> Figure:
    """Draw accuracy above and the gap below, one column per setting."""
    titles = [f"$E = {column['local_steps']}$, $\\eta = {column['rate']:g}$" for column in data["columns"]]
    labels = [f"$\\lambda = {curve['elasticity']:g}$" for curve in data["columns"][0]["curves"]]
    return draw_columns(data, titles, labels)


def caption(data: Data) -> str:
    """Say which weight is best early and at the end, against none at all, and what becomes of the largest."""
    sizes = data["sizes"]
    early = min(2, sizes["rounds"] // sizes["every"] - 1)
    parts = []
    for column in data["columns"]:
        best = [_best(column["curves"], when) for when in (early, -1)]
        parts.append(f"E = {column['local_steps']}, η = {column['rate']:g}: {best[0]}, then {best[1]}")
    last = [column["curves"][-1] for column in data["columns"]]
    above = sum(curve["difference"]["low"][-1] > 0 for curve in last)
    return (
        f"Weight of the elastic term with the smallest mean gap after {early * sizes['every']} and after "
        f"{sizes['rounds']} rounds, with its difference to λ = 0 on the same random numbers ({sizes['replicates']} "
        f"runs; in brackets if the band holds zero): {'; '.join(parts)}; λ = {last[0]['elasticity']:g} ends clearly "
        f"above λ = 0 in {above} of {len(last)} columns."
    )


def _best(curves: list[dict[str, Any]], when: int) -> str:
    """Return the weight with the smallest mean gap at some point, and its difference to none."""
    best = min(curves, key=lambda curve: curve["gap"]["mean"][when])
    if "difference" not in best:
        return "λ = 0"
    mean, low, high = (best["difference"][name][when] for name in BAND)
    shown = f"λ = {best['elasticity']:g} by {mean:.2g}"
    return f"({shown})" if low <= 0 <= high else shown


study = Study(
    name="efl-figure-2",
    title="EFL, Figure 2: several weights of the elastic term",
    paper="efl",
    compute=compute,
    caption=caption,
    draw=draw,
    weight=6,
)
