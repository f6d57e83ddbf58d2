r"""Softmax regression on SYNTHETIC data, for the figures of the FedElasticNet and EFL papers.

The papers train neural networks on images and text. Here the clients hold SYNTHETIC data and a softmax model with
105 weights: small enough that the minimiser is known to a gradient norm of 1e-12, so that a gap is a gap.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.algorithms.fen_scaffold import FedElasticNet2
from fltheory.algorithms.scaffold import Scaffold
from fltheory.figures.style import POINTS, dress, line, panels
from fltheory.logistic.synthetic import synthetic
from fltheory.participation import Participation, StepCounts
from fltheory.participation.selection import Bernoulli, WithoutReplacement
from fltheory.simulation.engines import simulate
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.experiment import Experiment, describe
from fltheory.simulation.recording import Record
from fltheory.simulation.trajectories import simultaneous_half_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from fltheory._internal.arguments import Floats
    from fltheory.algorithms.base import Algorithm, RoundResult
    from fltheory.figures.study import Data
    from fltheory.logistic.problem import LogisticProblem
    from fltheory.problems.oracle import Round
    from fltheory.simulation.trajectories import Trajectories

SIZES: dict[str, Any] = {
    "num_features": 20,
    "num_classes": 5,
    "sizes": "equal",
    "min_size": 50,
    "test_share": 0.2,
    "l2": 0.02,
    "batch_size": 10,
}
"""What all these problems share; 40 samples to train on and 10 to test on per client."""

SPLITS: dict[str, dict[str, Any]] = {
    "IID": {"alpha": 0.0, "beta": 0.0, "iid": True},
    "SYNTHETIC(0.5, 0.5)": {"alpha": 0.5, "beta": 0.5},
    "SYNTHETIC(1, 1)": {"alpha": 1.0, "beta": 1.0},
}
"""From equal clients to very different ones."""

FEN_CLIENTS, FEN_SHARE, FEN_STEPS, FEN_RATE = 40, 0.1, 10, 0.05
"""Clients, probability of being asked, local steps and learning rate in the FedElasticNet studies."""

FEN_MESSAGES = "messages of FedElasticNet"
"""Studies of the same runs."""

BIN = 0.01
"""Bin size of the entropy, as in the FedElasticNet paper."""

EFL_CLIENTS = 20
"""Clients in the EFL studies."""

LEVEL = 0.95
"""Coverage of the bands."""

BASES: tuple[Algorithm, ...] = (FedProx(prox=0.01), Scaffold(), FedDyn(alpha=1.0))
ELASTIC: tuple[Algorithm, ...] = (
    FedElasticNet1(l1=1e-2, l2=1e-2, epsilon=3e-3),
    FedElasticNet2(l1=1e-2, l2=0.0, epsilon=3e-3),
    FedElasticNet3(l1=3e-3, l2=1.0, epsilon=5e-3),
)
"""What FedElasticNet is built on, and the three algorithms in the same order."""


def problem(split: str, *, num_clients: int, seed: int) -> LogisticProblem:
    """Return the problem of one split."""
    return synthetic(**SPLITS[split], **SIZES, num_clients=num_clients, seed=seed)


def fen_experiment(task: LogisticProblem, algorithm: Algorithm, rounds: int) -> Experiment:
    """Return a FedElasticNet experiment: each client is asked with probability 0.1, as in the paper's code."""
    return Experiment(
        problem=task,
        algorithm=algorithm,
        participation=Participation(
            num_clients=task.num_clients, local_steps=FEN_STEPS, selection=Bernoulli(probability=FEN_SHARE)
        ),
        rounds=rounds,
        rate=FEN_RATE,
    )


def fen_sizes(rounds: int, replicates: int) -> dict[str, Any]:
    """Return the settings of the FedElasticNet studies as plain values."""
    return {
        **SIZES,
        "num_clients": FEN_CLIENTS,
        "participation": FEN_SHARE,
        "local_steps": FEN_STEPS,
        "rate": FEN_RATE,
        "rounds": rounds,
        "replicates": replicates,
        "algorithms": [describe(algorithm) for algorithm in (*BASES, *ELASTIC)],
    }


@functools.cache
def fen_messages(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the six algorithms on every split; return what they sent to the server and where they ended."""
    rounds, replicates = (10, 3) if quick else (60, 8)
    rows: list[dict[str, Any]] = []
    for split in list(SPLITS)[2 * quick :]:
        task = problem(split, num_clients=FEN_CLIENTS, seed=seed)
        rows += [
            {"split": split, **measured(fen_experiment(task, algorithm, rounds), replicates, seed)}
            for algorithm in (*BASES, *ELASTIC)
        ]
    return {"sizes": {**fen_sizes(rounds, replicates), "bin": BIN}, "rows": rows}


def efl_experiment(
    task: LogisticProblem, algorithm: Algorithm, *, size: int, local_steps: int, rounds: int, rate: float
) -> Experiment:
    """Return an EFL experiment: ``size`` clients are asked, each completes all steps with probability 1/2 or fewer."""
    pmf = np.full(local_steps + 1, 0.5 / (local_steps - 1))
    pmf[[0, -1]] = 0.0, 0.5
    return Experiment(
        problem=task,
        algorithm=algorithm,
        participation=Participation(
            num_clients=task.num_clients,
            local_steps=local_steps,
            selection=WithoutReplacement(size=size, renormalise=True),
            steps=StepCounts(pmf=pmf),
        ),
        rounds=rounds,
        rate=rate,
    )


def run_efl(experiment: Experiment, replicates: int, seed: int) -> Trajectories:
    """Run it, and keep the models for the test accuracy."""
    record = Record(consensus=False, models=True)
    return simulate(experiment, seed=seed, replicates=replicates, record=record, threads=1)


def accuracy(task: Any, run: Trajectories) -> Floats:
    """Return the test accuracy in per cent, shape ``(replicates, rounds + 1)``."""
    return np.asarray(100 * task.accuracy(run.curve("models")))


def limits(values: Floats, every: int) -> dict[str, list[float]]:
    """Return the mean over replicates at every so many rounds, with a band that holds for all of them at once."""
    shown = values[:, ::every]
    mean, half = shown.mean(axis=0), simultaneous_half_width(shown, LEVEL)
    return {"mean": mean.tolist(), "low": (mean - half).tolist(), "high": (mean + half).tolist()}


ROWS = {
    "accuracy": "test accuracy (%)",
    "gap": "gap  $f(w) - f^*$",
    "difference": "gap minus\ngap at $\\lambda = 0$",
}
"""Rows of the figures with a column per setting."""


def draw_columns(data: Data, titles: list[str], labels: list[str]) -> Figure:
    """Draw the test accuracy above the gap, and differences of gaps where there are any, one column per setting."""
    from matplotlib.ticker import LogLocator, NullFormatter

    shown = [row for row in ROWS if row in data["columns"][0]["curves"][-1]]
    figure, axes = panels(len(shown), len(titles), height=1.9 if len(shown) == 2 else 1.6, sharex=True, sharey="row")
    for column, title, places in zip(data["columns"], titles, axes.T, strict=True):
        for name, place in zip(shown, places, strict=True):
            for index, (label, curve) in enumerate(zip(labels, column["curves"], strict=True)):
                if name not in curve:  # that to which the others are compared
                    place.axhline(0, **line(index))
                    continue
                band = curve[name]
                rounds = data["sizes"]["every"] * np.arange(len(band["mean"]))
                low = np.maximum(band["low"], 1e-3) if name != "difference" else band["low"]
                place.fill_between(rounds, low, band["high"], color=line(index)["color"], alpha=0.15, linewidth=0)
                place.plot(rounds, band["mean"], label=label, **line(index))
            place.margins(x=0)
            dress(place)
        places[0].set_title(title, fontsize=POINTS)
        places[-1].set_xlabel("communication round", fontsize=POINTS)
        places[1].set_yscale("log")
        places[1].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        places[1].yaxis.set_major_formatter("{x:g}")
        places[1].yaxis.set_minor_formatter(NullFormatter())
    for place, name in zip(axes[:, 0], shown, strict=True):
        means = [
            m for column in data["columns"] for curve in column["curves"] for m in curve.get(name, {}).get("mean", ())
        ]
        room = 0.1 * (max(means) - min(means))
        if name == "difference":
            place.set_ylim(min(means) - room, max(means) + room)
        else:
            place.set_ylim(0.75 * min(means), 1.15 * max(means))
        place.set_ylabel(ROWS[name], fontsize=POINTS)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=len(labels),
        fontsize=POINTS,
        frameon=False,
    )
    return figure


def measured(experiment: Experiment, replicates: int, seed: int) -> dict[str, Any]:
    """Return means and standard errors of non-zeros, cumulated entropy, final gap and test accuracy of a run."""
    record = Record(consensus=False, nonzeros=True, entropy_bin=BIN, models=True)
    run = simulate(experiment, seed=seed, replicates=replicates, record=record, threads=1)
    return {
        "algorithm": run.algorithm,
        "nonzeros": mean_error(run.curve("nonzeros")[:, -1]),
        "entropy": mean_error(run.curve("entropy").sum(axis=1)),
        "gap": mean_error(run.curve("gap")[:, -1]),
        "accuracy": mean_error(accuracy(experiment.problem, run)[:, -1]),
    }


def results(experiment: Experiment, *, seed: int, replicates: int) -> Iterator[tuple[RoundResult, Round]]:
    """Yield what happens in every round, for studies that look into the messages."""
    block = range(replicates)
    task = experiment.problem
    oracle = task.compiled_oracle(seed=seed, replicates=block, rotation_equivariant=False)
    terms = Terms(experiment)
    oracle.begin_round(0)
    p = experiment.participation.objective_weights(0, task.weights, task.sample_counts)
    state = experiment.algorithm.init(np.tile(oracle.enter(task.start), (replicates, 1)), oracle, p)
    for index in range(experiment.rounds):
        if index > 0:
            oracle.begin_round(index)
        work = terms.sample(index, seed=seed, replicates=block)
        result = experiment.algorithm.round(state, oracle, work)
        yield result, work
        state = result.state


def shares(rows: list[dict[str, Any]], name: str) -> list[tuple[str, str, list[float]]]:
    """Return, for each elastic net, its base, itself, and the ratios of their means of ``name`` over the splits."""
    half = len(BASES)
    found = []
    for place in range(half):
        pairs = zip(rows[place :: 2 * half], rows[place + half :: 2 * half], strict=True)
        ratios = [net[name]["mean"] / base[name]["mean"] for base, net in pairs]
        found.append((rows[place]["algorithm"], rows[place + half]["algorithm"], ratios))
    return found


def spread(values: list[float], scale: float = 1.0) -> str:
    """Write the smallest and the largest value."""
    low, high = f"{scale * min(values):.2g}", f"{scale * max(values):.2g}"
    return low if low == high else f"{low} to {high}"


def mean_error(values: Floats) -> dict[str, float]:
    """Return the mean over replicates and its standard error."""
    return {"mean": float(values.mean()), "error": float(values.std(ddof=1) / math.sqrt(len(values)))}


def plus_minus(value: dict[str, float], scale: float = 1.0, digits: int = 2) -> str:
    """Write a mean and its standard error."""
    return f"{value['mean'] / scale:.{digits}f} ± {value['error'] / scale:.{digits}f}"


def with_l1(algorithm: Algorithm, l1: float) -> Algorithm:
    """Return a FedElasticNet algorithm with another weight of the l1 term."""
    return dataclasses.replace(algorithm, l1=l1)  # type: ignore[call-arg]
