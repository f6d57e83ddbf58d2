r"""Figure 2 of the EFL paper: EFL with elastic terms of several weights, accuracy and loss against rounds.

Softmax regression with 105 weights on SYNTHETIC(1, 1) stands in for the paper's networks; the loss is shown as the gap
to its minimum. Ten of 20 clients are asked in each round; each completes all ``E`` local steps with probability
1/2 and otherwise fewer, all counts equally likely. No compression, so that only :math:`\lambda` differs. The
columns have few and many local steps, and small to large learning rates :math:`\eta`. The paper prints none of
these, nor its :math:`\lambda`. The elastic sum runs over all clients and is not divided by their number. Lines are
means over independent runs, bands hold for all points at once with 95 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fltheory.algorithms.efl import EFL
from fltheory.figures.papers._logistic import (
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
    """Run every weight in every column."""
    rounds, replicates = (10, 3) if quick else (80, 16)
    task = problem(SPLIT, num_clients=EFL_CLIENTS, seed=seed)
    columns = []
    for local_steps, rate in CASES[:: 3 if quick else 1]:
        curves = []
        for weight in WEIGHTS:
            setting = efl_experiment(
                task, EFL(elasticity=weight), size=SIZE, local_steps=local_steps, rounds=rounds, rate=rate
            )
            run = run_efl(setting, replicates, seed)
            curves.append(
                {
                    "elasticity": weight,
                    "gap": limits(run.curve("gap"), EVERY),
                    "accuracy": limits(accuracy(task, run), EVERY),
                }
            )
        columns.append({"local_steps": local_steps, "rate": rate, "curves": curves})
    sizes = {**SIZES, "split": SPLIT, "num_clients": EFL_CLIENTS, "asked": SIZE, "rounds": rounds}
    return {"sizes": {**sizes, "replicates": replicates, "level": LEVEL, "every": EVERY}, "columns": columns}


def draw(data: Data) -> Figure:
    """Draw accuracy above and the gap below, one column per setting."""
    titles = [f"$E = {column['local_steps']}$, $\\eta = {column['rate']:g}$" for column in data["columns"]]
    labels = [f"$\\lambda = {curve['elasticity']:g}$" for curve in data["columns"][0]["curves"]]
    return draw_columns(data, titles, labels)


def caption(data: Data) -> str:
    """Say which weight is best early and at the end, against none at all."""
    early = 2 * data["sizes"]["every"]
    parts = []
    for column in data["columns"]:
        found = []
        for when in (early // data["sizes"]["every"], -1):
            gaps = {
                curve["elasticity"]: {name: curve["gap"][name][when] for name in BAND} for curve in column["curves"]
            }
            best = min(gaps, key=lambda weight: gaps[weight]["mean"])
            apart = gaps[best]["high"] < gaps[0.0]["low"]
            found.append(
                f"λ = {best:g} ({gaps[best]['mean']:.2g}; {gaps[0.0]['mean']:.2g} for λ = 0"
                + ("" if apart or not best else ", bands overlap")
                + ")"
            )
        parts.append(f"E = {column['local_steps']}, η = {column['rate']:g}: {found[0]}, then {found[1]}")
    return (
        f"Weight of the elastic term with the smallest mean gap after {early} rounds, and after "
        f"{data['sizes']['rounds']}: " + "; ".join(parts) + "."
    )


study = Study(
    name="efl-figure-2",
    title="EFL with several weights of the elastic term",
    paper="efl",
    compute=compute,
    caption=caption,
    draw=draw,
    weight=5,
)
