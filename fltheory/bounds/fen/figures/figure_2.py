r"""Figure 2 of the FedElasticNet paper: what clients send, entry by entry, with and without the elastic net.

Histograms of the entries of the displacements :math:`\Delta_i` that the participants send in the second half of the
rounds, pooled over independent runs, for each base (FedProx, SCAFFOLD, FedDyn) and the FedElasticNet algorithm on it.
Exact zeros are made by the cut :math:`\epsilon`; the l1 term moves entries below it. The grey curve is the normal
density with the variance of the base. The paper says that displacements of FedDyn look Gaussian and those with the l1
term Laplacian: the excess kurtosis (0 for a normal law, 3 for a Laplace law) says how far that holds here. Softmax
regression with 105 weights on SYNTHETIC(1, 1) stands in for CIFAR-10; settings are those of ``fen-table-2`` and stored
with the numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.figures.softmax_runs import (
    BASES,
    ELASTIC,
    FEN_CLIENTS,
    fen_experiment,
    fen_sizes,
    problem,
    results,
)
from fltheory.figures.study import Data, Study
from fltheory.figures.style import POINTS, dress, legend, line, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fltheory._internal.arguments import Floats

SPLIT = "SYNTHETIC(1, 1)"
BINS, REACH = 61, 6.0
"""Number of bins, and how many standard deviations of the base they reach."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Collect the entries sent by every algorithm."""
    rounds, replicates = (20, 3) if quick else (60, 8)
    task = problem(SPLIT, num_clients=FEN_CLIENTS, seed=seed)
    pairs = []
    for base, net in zip(BASES, ELASTIC, strict=True):
        sent: list[Floats] = []
        for algorithm in (base, net):
            experiment = fen_experiment(task, algorithm, rounds)
            parts = []
            for result, work in results(experiment, seed=seed, replicates=replicates):
                if work.index >= rounds // 2:
                    parts.append(result.uplink[0].values[work.active].ravel())
            sent.append(np.concatenate(parts))
        deviation = float(sent[0].std())
        edges = np.linspace(-REACH * deviation, REACH * deviation, BINS + 1)
        pairs.append(
            {
                "edges": edges.tolist(),
                "deviation": deviation,
                "curves": [
                    {"algorithm": algorithm.title, **_shape(values, edges)}
                    for algorithm, values in zip((base, net), sent, strict=True)
                ],
            }
        )
    return {"sizes": {**fen_sizes(rounds, replicates), "split": SPLIT, "from_round": rounds // 2}, "pairs": pairs}


def _shape(values: Floats, edges: Floats) -> dict[str, Any]:
    """Return the histogram as a density, the share of zeros and moments."""
    counts, _ = np.histogram(values, edges)
    away = values - values.mean()
    return {
        "entries": len(values),
        "density": (counts / (len(values) * np.diff(edges))).tolist(),
        "zeros": float(np.mean(values == 0.0)),
        "deviation": float(values.std()),
        "excess_kurtosis": float((away**4).mean() / (away**2).mean() ** 2 - 3.0),
    }


def draw(data: Data) -> Figure:
    """Draw one panel per base."""
    figure, axes = panels(1, len(data["pairs"]), height=2.5)
    for pair, place in zip(data["pairs"], axes.flat, strict=True):
        edges, deviation = np.array(pair["edges"]), pair["deviation"]
        normal = np.exp(-(edges**2) / (2 * deviation**2)) / (deviation * math.sqrt(2 * math.pi))
        densities = [d for curve in pair["curves"] for d in curve["density"] if d > 0]
        place.plot(edges, normal, color="0.6", linewidth=1.0, label="normal")
        for index, curve in enumerate(pair["curves"]):
            label = f"{curve['algorithm']}, {100 * curve['zeros']:.0f} % zero"
            filled: dict[str, Any] = {"fill": True, "alpha": 0.3, "linewidth": 0} if index == 0 else {"linewidth": 1.0}
            place.stairs(curve["density"], edges, label=label, color=line(index)["color"], **filled)
        place.set_yscale("log")
        place.set_ylim(0.5 * min(densities), 60 * max(densities))
        place.margins(x=0)
        dress(place, xlabel=r"entry of the update  $\Delta_i$")
        legend(place, loc="upper center", handlelength=1.6)
    axes[0, 0].set_ylabel("density", fontsize=POINTS)
    return figure


def caption(data: Data) -> str:
    """Say how many zeros there are, and how heavy the tails."""
    parts = []
    for pair in data["pairs"]:
        base, net = pair["curves"]
        parts.append(
            f"{net['algorithm']} sends {100 * net['zeros']:.3g} % zeros ({base['algorithm']} "
            f"{100 * base['zeros']:.3g} %), with excess kurtosis {net['excess_kurtosis']:.2g} "
            f"against {base['excess_kurtosis']:.2g}"
        )
    return f"Among the entries sent in the second half of the rounds, {'; '.join(parts)} (normal 0, Laplace 3)."


study = Study(
    name="fen-figure-2",
    title="FedElasticNet, Figure 2: distribution of what clients send",
    paper="fen",
    compute=compute,
    caption=caption,
    draw=draw,
)
