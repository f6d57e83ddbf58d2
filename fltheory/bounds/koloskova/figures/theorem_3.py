r"""Theorem 3 in one picture: gossip between clients with different minimisers, between its bounds.

The problem is :func:`fltheory.spread_minimisers` with :math:`\bar\zeta = 1`, four clients on a complete graph that
start at one model, along the number of iterations. Points are the mean squared distance of all models from the
minimiser, of runs by the exact engine, with the best step size of a grid. The lower curve is the form
``sharp@common-start``, which says how many iterations an accuracy takes, read as the accuracy that so many iterations
cannot get below. The upper one is from the same recursion: as :math:`(1-\eta)^{2T} \le e^{-2\eta T}` and :math:`z_T \le
z_\infty \le \frac{\eta\lambda}{1-\lambda}`, the error with the best step is at most
:math:`\min_{\eta\le1}\bigl(e^{-2\eta T} + \bar\zeta^2\frac{\eta^2\lambda^2}{(1-\lambda)^2}\bigr)`. Sizes are chosen
here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.gossip_sgd import GossipSGD
from fltheory.figures import between
from fltheory.figures.study import Data, Study, TextTable
from fltheory.participation import Participation
from fltheory.quadratic.hard import spread_minimisers
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ZETA, CLIENTS, RATES = 1.0, 4, (0.1, 0.02)


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run gossip SGD with every step size, and take the best one for every number of iterations."""
    numbers = np.unique(np.geomspace(16, 256 if quick else 4096, 5 if quick else 9).astype(int))
    steps = np.geomspace(5e-4, 1.0, 12 if quick else 36)
    return {"panels": [_panel(rate, numbers, steps) for rate in RATES]}


def _panel(rate: float, numbers: Any, steps: Floats) -> dict[str, Any]:
    lam = float(np.sqrt(1 - rate))
    fine = np.geomspace(1e-6, 1.0, 2000)

    def upper(count: int) -> float:
        return float((np.exp(-2 * fine * count) + (ZETA * fine * lam / (1 - lam)) ** 2).min())

    def sharp(eps: Floats) -> Floats:
        root = np.sqrt(eps)
        return np.asarray(np.log(1 / eps) / 2 / (1 - lam) * (lam * ZETA * (1 - root) / root - 1))

    errors = np.stack([_run(lam, step, int(numbers[-1])) for step in steps])
    return {
        "title": f"p = {rate:g}",
        "xlabel": r"iterations  $T$",
        "x": numbers.tolist(),
        "upper": {"upper bound": [upper(count) for count in numbers]},
        "lower": {"Theorem 3, sharp": [accuracy(sharp, count) for count in numbers]},
        "run": {"gossip SGD": errors[:, numbers].min(axis=0).tolist()},
    }


def accuracy(iterations: Callable[[Floats], Floats], count: int) -> float:
    """Return the largest accuracy of a fine grid below which more than ``count`` iterations are needed throughout."""
    grid = np.geomspace(1e-12, 1.0, 24_001)
    enough = iterations(grid) <= count
    return float(grid[max(int(np.argmax(enough)) - 1, 0)])


def _run(lam: float, step: float, rounds: int) -> Floats:
    """Return the errors of a run before every iteration, and after the last one."""
    matrix = lam * np.eye(CLIENTS) + (1 - lam) / CLIENTS
    made = Experiment(
        problem=spread_minimisers(pattern=[1.0, 1.0, -1.0, -1.0], zeta=ZETA),
        algorithm=GossipSGD(mixing=[matrix.tolist()]),
        participation=Participation(num_clients=CLIENTS, local_steps=1),
        rounds=rounds,
        rate=step,
    )
    run = simulate(made, engine="exact", record=Record(consensus=True))
    return np.asarray(run.curve("distance_sq")[0] + np.nan_to_num(run.curve("consensus_sq")[0]))


def draw(data: Data) -> Figure:
    """Draw one panel per consensus rate."""
    return between.draw(data["panels"], ylabel=r"$\frac{1}{n}\sum_i \|x_i^{(T)} - x^\star\|^2$")


def table(data: Data) -> TextTable:
    """Return all numbers."""
    return between.table(data["panels"], heading="T")


def caption(data: Data) -> str:
    """Say how far the runs stay from both bounds."""
    return (
        "With the best step size, gossip between clients with different minimisers stays below the upper and above the "
        f"lower bound, {between.between(data['panels'])}."
    )


study = Study(
    name="koloskova-theorem-3",
    title="Koloskova et al., Theorem 3: gossip between clients with different minimisers, between its bounds",
    paper="koloskova",
    compute=compute,
    caption=caption,
    draw=draw,
    table=table,
)
