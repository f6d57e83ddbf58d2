r"""Figure 3 of the EFL paper: EFL, FedAvg and FedProx when few clients take part.

Softmax regression with 105 weights on SYNTHETIC(1, 1) stands in for the paper's networks. Ten or two of 20 clients are
asked in each round; each completes all local steps with probability 1/2 and otherwise fewer, all counts equally likely.
FedAvg drops the incomplete updates, as the paper says of it (scheme A of Ruan et al.; without a complete client the
round is skipped); FedProx takes them as they are; EFL weighs them by ``E / s``. EFL runs with and without
compression. Each method has the best learning rate of a grid, by the mean gap over the last tenth of the rounds in a
few runs of their own. EFL's weights are as printed, :math:`p_i E / s_i` for those who work, so its steps shrink
with the number of clients asked, which the tuned rate partly makes up for. Rates, steps, rounds and :math:`\lambda` are
chosen here. Lines are means over independent runs, bands hold for all points at once with 95 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.ruan import Ruan
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
from fltheory.simulation.experiment import describe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fltheory.algorithms.base import Algorithm
    from fltheory.simulation.trajectories import Trajectories

SPLIT, STEPS = "SYNTHETIC(1, 1)", 10
ASKED = (10, 2)
RATES = (0.01, 0.03, 0.1, 0.3)
METHODS: dict[str, Algorithm] = {
    "EFL": EFL(elasticity=0.1),
    "EFL, q = 0.3": EFL(elasticity=0.1, compression=0.3),
    "FedAvg, complete only": Ruan(scheme="A"),
    "FedProx": FedProx(prox=0.1),
}

EVERY = 5
"""Rounds between two points that are drawn."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run every method at every rate, and keep its best."""
    rounds, tried, replicates = (10, 2, 3) if quick else (40, 2, 16)
    rates = RATES[1:3] if quick else RATES
    task = problem(SPLIT, num_clients=EFL_CLIENTS, seed=seed)
    columns = []
    for size in ASKED:
        curves = []
        for name, algorithm in METHODS.items():
            trials = [
                efl_experiment(task, algorithm, size=size, local_steps=STEPS, rounds=rounds, rate=rate)
                for rate in rates
            ]
            ends = [_end(run_efl(trial, tried, seed)) for trial in trials]
            best = int(np.argmin(ends))
            run = run_efl(trials[best], replicates, seed + 1)
            curves.append(
                {
                    "method": name,
                    "rate": rates[best],
                    "tried": ends,
                    "end": _end(run),
                    "gap": limits(run.curve("gap"), EVERY),
                    "accuracy": limits(accuracy(task, run), EVERY),
                }
            )
        columns.append({"asked": size, "curves": curves})
    sizes = {**SIZES, "split": SPLIT, "num_clients": EFL_CLIENTS, "local_steps": STEPS, "rounds": rounds}
    more = {"tried": tried, "replicates": replicates, "rates": list(rates), "level": LEVEL, "every": EVERY}
    methods = {name: describe(algorithm) for name, algorithm in METHODS.items()}
    return {"sizes": {**sizes, **more}, "methods": methods, "columns": columns}


def _end(run: Trajectories) -> float:
    """Return the mean gap over the last tenth of the rounds."""
    return float(run.curve("gap")[:, -(run.rounds // 10) :].mean())


def draw(data: Data) -> Figure:
    """Draw accuracy above and the gap below, one column per number of clients."""
    clients = data["sizes"]["num_clients"]
    titles = [f"{column['asked']} of {clients} clients asked" for column in data["columns"]]
    labels = [curve["method"] for curve in data["columns"][0]["curves"]]
    return draw_columns(data, titles, labels)


def caption(data: Data) -> str:
    """Say where each method ends with many and with few clients."""
    many, few = data["columns"]
    parts = [
        f"{here['method']} from {here['end']:.2g} to {there['end']:.2g} (factor {there['end'] / here['end']:.2g})"
        for here, there in zip(many["curves"], few["curves"], strict=True)
    ]
    best = min(few["curves"], key=lambda curve: curve["end"])
    return (
        f"Asking {few['asked']} instead of {many['asked']} clients takes the mean gap of the last rounds, each method "
        f"at its best rate: {'; '.join(parts)}; {best['method']} ends lowest with {few['asked']} clients."
    )


study = Study(
    name="efl-figure-3",
    title="EFL, Figure 3: EFL, FedAvg and FedProx with few clients per round",
    paper="efl",
    compute=compute,
    caption=caption,
    draw=draw,
    weight=3,
)
