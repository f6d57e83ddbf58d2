r"""MNIST rows of Tables 2 and 3 of the FedElasticNet paper, and its Figure 1 for MNIST.

As published: a fully connected network 784-200-200-10 (199,210 parameters), 100 clients, each of which is asked with
probability 0.1 in a round, minibatches of 10, 100 rounds, equal clients and Dirichlet splits with 0.6 and 0.3, entropy
bins of 0.01, and the weights :math:`\lambda_1, \lambda_2, \epsilon` of its Table 5. Not published and chosen here: rate
0.1, 60 local steps (one pass over 600 samples), equally many samples per client, no weight decay.

A client sends its displacement, and SCAFFOLD the change of its control variate as well. Non-zero entries and the
entropy of the entries of a round are summed over all rounds. The published entropies of FedProx and SCAFFOLD may be
those of models instead of displacements, as the paper says of the larger of its two numbers for FedDyn; its smaller one
is shown here.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.algorithms.fen_scaffold import FedElasticNet2
from fltheory.algorithms.scaffold import Scaffold
from fltheory.datasets.splits import Dirichlet, Iid, Split
from fltheory.deep.networks import MLP
from fltheory.figures import mnist_runs
from fltheory.figures.study import Data, Study, TextTable
from fltheory.figures.style import dress, legend, line, panels
from fltheory.participation import Participation
from fltheory.participation.selection import Bernoulli
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment, describe
from fltheory.simulation.recording import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fltheory.algorithms.base import Algorithm

SHARE, STEPS, RATE, BIN = 0.1, 60, 0.1, 0.01
"""Probability of being asked, local steps, learning rate, bin size of the entropy."""

SPLITS: dict[str, Split] = {
    "IID": Iid(),
    "Dirichlet(0.6)": Dirichlet(concentration=0.6),
    "Dirichlet(0.3)": Dirichlet(concentration=0.3),
}

ALGORITHMS: tuple[Algorithm, ...] = (
    FedProx(prox=1e-4),
    FedElasticNet1(l1=1e-6, l2=1e-6, epsilon=1e-3),
    Scaffold(),
    FedElasticNet2(l1=1e-4, l2=0.0, epsilon=1e-4),
    FedDyn(alpha=5e-2),
    FedElasticNet3(l1=1e-4, l2=5e-2, epsilon=5e-3),
)
"""Each base followed by the elastic net on it, with the weights of Table 5."""

PUBLISHED = {
    "IID": ((20.3, 266.26), (7.51, 47.29), (40.58, 286.88), (36.98, 83.51), (20.3, 27.76), (2.55, 24.76)),
    "Dirichlet(0.6)": ((20.3, 249.63), (6.66, 45.51), (40.58, 293.22), (35.20, 75.57), (20.3, 26.75), (2.55, 21.24)),
    "Dirichlet(0.3)": ((20.3, 244.49), (6.49, 45.24), (40.58, 291.88), (34.95, 73.12), (20.3, 26.71), (2.53, 19.03)),
}
"""Non-zero entries in units of 10^7, and cumulated entropy, of the same algorithms."""


@functools.cache
def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the six algorithms on every split."""
    rounds, replicates, steps = (3, 2, 5) if quick else (100, 2, STEPS)
    rows = []
    for split, chosen in SPLITS.items():
        task = mnist_runs.problem(MLP(), chosen, seed=seed, evaluated=5000)
        for place, algorithm in enumerate(ALGORITHMS):
            experiment = Experiment(
                problem=task,
                algorithm=algorithm,
                participation=Participation(
                    num_clients=task.num_clients, local_steps=steps, selection=Bernoulli(probability=SHARE)
                ),
                rounds=rounds,
                rate=RATE,
            )
            record = Record(consensus=False, nonzeros=True, entropy_bin=BIN)
            run = simulate(experiment, seed=seed, replicates=replicates, record=record)
            nonzeros, entropy = PUBLISHED[split][place]
            rows.append(
                {
                    "split": split,
                    "algorithm": run.algorithm,
                    "nonzeros": (run.curve("nonzeros")[:, -1] / 1e7).tolist(),
                    "entropy": run.curve("entropy").sum(axis=1).tolist(),
                    "accuracy": (100 * run.curve("accuracy")).tolist(),
                    "loss": run.curve("loss")[:, -1].tolist(),
                    "published": {"nonzeros": nonzeros, "entropy": entropy},
                }
            )
    settings = {
        "clients": mnist_runs.CLIENTS,
        "batch_size": mnist_runs.BATCH,
        "probability": SHARE,
        "local_steps": steps,
        "rate": RATE,
        "rounds": rounds,
        "replicates": replicates,
        "bin": BIN,
        "parameters": task.dim,
        "evaluated": task.evaluated,
        "algorithms": [describe(algorithm) for algorithm in ALGORITHMS],
    }
    return {"settings": settings, "rows": rows}


def table(data: Data) -> TextTable:
    """Return one row per split and algorithm."""
    rows = tuple(
        (
            row["split"],
            row["algorithm"],
            f"{np.mean(row['nonzeros']):.2f}",
            f"{row['published']['nonzeros']:.2f}",
            f"{np.mean(row['entropy']):.1f}",
            f"{row['published']['entropy']:.1f}",
            " and ".join(f"{run[-1]:.1f}" for run in row["accuracy"]),
        )
        for row in data["rows"]
    )
    return TextTable(
        columns=(
            "split",
            "algorithm",
            "non-zero entries / 10⁷",
            "published",
            "cumulated entropy (bits)",
            "published",
            "test accuracy (%)",
        ),
        rows=rows,
    )


def caption(data: Data) -> str:
    """Say which share of entries and entropy is left, and what it costs."""
    rows, settings = data["rows"], data["settings"]
    parts = []
    for place in range(0, len(ALGORITHMS), 2):
        pairs = [(rows[first + place], rows[first + place + 1]) for first in range(0, len(rows), len(ALGORITHMS))]
        left = {
            name: [np.mean(net[name]) / np.mean(base[name]) for base, net in pairs] for name in ("nonzeros", "entropy")
        }
        cost = [np.mean(net["accuracy"], axis=0)[-1] - np.mean(base["accuracy"], axis=0)[-1] for base, net in pairs]
        parts.append(
            f"{pairs[0][1]['algorithm']} sends {_range(left['nonzeros'], 100)} % of the non-zero entries of "
            f"{pairs[0][0]['algorithm']} with {_range(left['entropy'], 100)} % of the entropy, and its accuracy is "
            f"{min(cost):+.1f} to {max(cost):+.1f} points away"
        )
    return (
        f"After {settings['rounds']} rounds on MNIST ({settings['replicates']} runs; rate and local steps are "
        "chosen here), " + "; ".join(parts) + "."
    )


def draw(data: Data) -> Figure:
    """Draw the test accuracy against the rounds for the most unequal split, the mean over the runs."""
    figure, ((axes,),) = panels(1, 1, width=3.4, height=2.6)
    for index, row in enumerate(_last(data)):
        accuracy = np.mean(row["accuracy"], axis=0)
        axes.plot(np.arange(len(accuracy)), accuracy, label=row["algorithm"], **line(index))
    dress(axes, xlabel="communication round", ylabel="test accuracy (%)")
    final = [np.mean(row["accuracy"], axis=0)[-1] for row in _last(data)]
    axes.set_ylim(max(0.0, min(final) - 12), 100)
    axes.margins(x=0)
    legend(axes, loc="lower right")
    return figure


def draw_caption(data: Data) -> str:
    """Say where the curves end."""
    settings = data["settings"]
    ends = ", ".join(f"{row['algorithm']} {np.mean(row['accuracy'], axis=0)[-1]:.1f} %" for row in _last(data))
    return (
        f"On MNIST with the split {list(SPLITS)[-1]} and a tenth of the clients in each round, the test accuracies "
        f"after {settings['rounds']} rounds are {ends} (mean of {settings['replicates']} runs on "
        f"{settings['evaluated']} "
        "test images; weights as published, rate and local steps chosen here)."
    )


def _last(data: Data) -> list[dict[str, Any]]:
    return [row for row in data["rows"] if row["split"] == list(SPLITS)[-1]]


def _range(values: list[Any], scale: float = 1.0) -> str:
    low, high = (
        f"{value:.0f}" if value >= 10 else f"{value:.2g}" for value in (scale * min(values), scale * max(values))
    )
    return low if low == high else f"{low} to {high}"


_TOGETHER = "networks of FedElasticNet"

studies = (
    Study(
        name="fen-figure-1",
        title="FedElasticNet, Figure 1: test accuracy on MNIST",
        paper="fen",
        compute=compute,
        caption=draw_caption,
        draw=draw,
        together=_TOGETHER,
        weight=100,
        needs=mnist_runs.NEEDS,
        packages=mnist_runs.PACKAGES,
    ),
    Study(
        name="fen-tables-2-3-mnist",
        title="FedElasticNet, Tables 2 and 3: non-zero entries and entropy of messages on MNIST",
        paper="fen",
        compute=compute,
        caption=caption,
        table=table,
        together=_TOGETHER,
        weight=100,
        needs=mnist_runs.NEEDS,
        packages=mnist_runs.PACKAGES,
    ),
)
