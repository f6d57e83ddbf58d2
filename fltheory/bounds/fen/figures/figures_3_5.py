r"""Figures 3 to 5 of the FedElasticNet paper: what the weight of the l1 term does to accuracy and to sparsity.

One column per algorithm (Figure 3: on FedProx, 4: on SCAFFOLD, 5: on FedDyn). Above, the test accuracy against rounds
for several :math:`\lambda_1`; below, the share of non-zero entries among the displacements and other vectors that the
clients send, cumulated. The cut :math:`\epsilon` stays as in ``fen-table-2``, so :math:`\lambda_1 = 0` is not dense.
Softmax regression with 105 weights on SYNTHETIC(1, 1) stands in for the paper's CIFAR-10 with Dirichlet(0.3)
splits; a client is asked with probability 0.1. Weights, rate, steps and rounds are chosen here and stored with the
numbers. The l1 term is run as in the paper, by subgradient steps: they make no exact zeros but swing by up to
:math:`\eta\lambda_1` about them, and the cut removes only what is at most :math:`\epsilon`. Lines are means over
independent runs, bands hold for all points at once with 95 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.figures.softmax_runs import (
    ELASTIC,
    FEN_CLIENTS,
    LEVEL,
    accuracy,
    fen_experiment,
    fen_sizes,
    limits,
    mean_error,
    problem,
    with_l1,
)
from fltheory.figures.study import Data, Study
from fltheory.figures.style import POINTS, dress, line, panels
from fltheory.simulation.engines import simulate
from fltheory.simulation.recording import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPLIT = "SYNTHETIC(1, 1)"
WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.3)
EVERY = 5
"""Rounds between two points that are drawn."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run every algorithm with every weight."""
    rounds, replicates = (15, 3) if quick else (60, 8)
    task = problem(SPLIT, num_clients=FEN_CLIENTS, seed=seed)
    columns = []
    for algorithm in ELASTIC:
        curves = []
        for weight in WEIGHTS[:: 2 if quick else 1]:
            setting = fen_experiment(task, with_l1(algorithm, weight), rounds)
            record = Record(consensus=False, nonzeros=True, models=True)
            run = simulate(setting, seed=seed, replicates=replicates, record=record, threads=1)
            # A client gets one dense vector for each that it sends, so the downlink counts the entries.
            entries = run.downlink_bits / 32
            share = 100 * run.curve("nonzeros")[:, 1:] / entries[:, 1:]
            curves.append(
                {
                    "l1": weight,
                    "accuracy": limits(accuracy(task, run)[:, 1:], EVERY),
                    "share": limits(share, EVERY),
                    "gap": mean_error(run.curve("gap")[:, -1]),
                }
            )
        columns.append({"algorithm": algorithm.title, "curves": curves})
    sizes = {**fen_sizes(rounds, replicates), "split": SPLIT, "level": LEVEL, "every": EVERY}
    return {"sizes": sizes, "columns": columns}


def draw(data: Data) -> Figure:
    """Draw accuracy above and sparsity below, one column per algorithm."""
    figure, axes = panels(2, len(data["columns"]), height=1.9, sharex=True, sharey="row")
    for column, places in zip(data["columns"], axes.T, strict=True):
        for name, place in zip(("accuracy", "share"), places, strict=True):
            for index, curve in enumerate(column["curves"]):
                band = curve[name]
                rounds = 1 + data["sizes"]["every"] * np.arange(len(band["mean"]))
                place.fill_between(
                    rounds, band["low"], band["high"], color=line(index)["color"], alpha=0.15, linewidth=0
                )
                place.plot(rounds, band["mean"], label=f"$\\lambda_1 = {curve['l1']:g}$", **line(index))
            place.margins(x=0)
            dress(place)
        places[0].set_title(column["algorithm"], fontsize=POINTS)
        places[1].set_xlabel("communication round", fontsize=POINTS)
    axes[1, 0].set_ylim(0, 100)
    axes[0, 0].set_ylabel("test accuracy (%)", fontsize=POINTS)
    axes[1, 0].set_ylabel("entries sent (%)", fontsize=POINTS)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=len(data["columns"][0]["curves"]),
        fontsize=POINTS,
        frameon=False,
    )
    return figure


def caption(data: Data) -> str:
    """Say what the largest weight saves and costs, and how far the accuracy holds."""
    parts = []
    for column in data["columns"]:
        first, *others = column["curves"]
        safe = [first]
        safe += [curve for curve in others if curve["accuracy"]["mean"][-1] >= first["accuracy"]["mean"][-1] - 1]
        best, last = safe[-1], others[-1]
        parts.append(
            f"{column['algorithm']}: λ1 = {best['l1']:g} with {best['share']['mean'][-1]:.3g} % of the entries "
            f"({first['share']['mean'][-1]:.3g} % at λ1 = 0), while λ1 = {last['l1']:g} sends "
            f"{last['share']['mean'][-1]:.3g} % and ends at {last['accuracy']['mean'][-1]:.3g} % accuracy "
            f"({first['accuracy']['mean'][-1]:.3g} % at λ1 = 0)"
        )
    return f"Largest weight that costs at most one point of accuracy: {'; '.join(parts)}."


study = Study(
    name="fen-figures-3-5",
    title="FedElasticNet, Figures 3 to 5: several weights of the l1 term",
    paper="fen",
    compute=compute,
    caption=caption,
    draw=draw,
)
