r"""Table 3a of Ruan et al.: MNIST, schemes A, B and C, with more and more kinds of clients.

Clients get the first :math:`|\mathcal T|` traces of completed work. The table has the test accuracy after the
last round, the improvement of B over A and of C over B in percentage points (mean over instances with its standard
error; the schemes share data, traces and minibatches), and the published numbers.

As published: a fully connected network 784-200-200-10, 100 clients, Pareto sizes with index 0.5, minibatches of 10, a
rate that falls like :math:`1/\tau`, one label per client for what is not IID, traces with the published means and
deviations (:mod:`fltheory.bounds.ruan.settings`). Chosen here: 5 assigned steps, sizes from 20 to 400, the rate
:math:`2/(\tau + 9)` (the published first rate, 0.002, would need far more steps than a round has here), 100 rounds
instead of 200, three of the eight sets of traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.ruan.figures._schemes import COMPARED, SCHEMES, compared, gains
from fltheory.bounds.ruan.settings import DEVIATIONS, LOCAL_STEPS, MEANS, traced_steps
from fltheory.datasets.sizes import Pareto
from fltheory.datasets.splits import ClassesPerClient, Iid, Split
from fltheory.deep.networks import MLP
from fltheory.figures import mnist_runs
from fltheory.figures.study import Data, Study, TextTable
from fltheory.participation import Participation
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Inverse

if TYPE_CHECKING:
    from fltheory.deep.problem import DeepProblem

SIZES = Pareto(min_size=20, max_size=400)
SPLITS: dict[str, Split] = {"IID": Iid(sizes=SIZES), "one label": ClassesPerClient(classes=1, sizes=SIZES)}
SETS = (1, 4, 8)
SCALE, SHIFT = 2.0, 10.0
PUBLISHED = {
    "IID": {1: (-0.6, 0.3), 4: (8.3, 0.7), 8: (11.8, 2.4)},
    "one label": {1: (0.2, -0.3), 4: (33.8, 3.3), 8: (43.4, 6.9)},
}


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run all schemes on all sets of traces."""
    rounds, instances = (3, 2) if quick else (100, 3)
    cells = []
    for name, split in SPLITS.items():
        tasks = [mnist_runs.problem(MLP(), split, seed=seed + i, evaluated=5000) for i in range(instances)]
        for traces in SETS:
            found = [
                [accuracy(task, scheme, traces, rounds, seed + i) for i, task in enumerate(tasks)]
                for scheme in (SCHEMES if traces > 1 else SCHEMES[:1])
            ]
            # With the first trace alone everybody completes all steps and the schemes are the same algorithm.
            cells.append({"split": name, "traces": traces, "accuracy": found * (1 if traces > 1 else len(SCHEMES))})
    settings = {
        "clients": mnist_runs.CLIENTS,
        "batch_size": mnist_runs.BATCH,
        "sizes": [SIZES.min_size, SIZES.max_size],
        "local_steps": LOCAL_STEPS,
        "rate": {"scale": SCALE, "shift": SHIFT},
        "rounds": rounds,
        "instances": instances,
        "trace_means_published": MEANS,
        "trace_deviations_published": DEVIATIONS,
    }
    published = {name: {str(traces): list(pair) for traces, pair in row.items()} for name, row in PUBLISHED.items()}
    return {"settings": settings, "cells": cells, "published": published}


def accuracy(task: DeepProblem, scheme: str, traces: int, rounds: int, seed: int) -> float:
    """Return the test accuracy after the last round of one run."""
    steps = traced_steps(traces, num_clients=task.num_clients, local_steps=LOCAL_STEPS, seed=seed)
    run = Experiment(
        problem=task,
        algorithm=Ruan(scheme=scheme),
        participation=Participation(num_clients=task.num_clients, local_steps=LOCAL_STEPS, steps=steps),
        rounds=rounds,
        rate=Inverse(scale=SCALE, shift=SHIFT),
    )
    return float(simulate(run, seed=seed, replicates=1, record=Record(consensus=False)).curve("accuracy")[0, -1])


def table(data: Data) -> TextTable:
    """Return one row per split and number of traces."""
    rows = tuple(
        (cell["split"], *compared(cell, data["published"][cell["split"]][str(cell["traces"])]))
        for cell in data["cells"]
    )
    return TextTable(columns=("data", *COMPARED), rows=rows)


def caption(data: Data) -> str:
    """Say how far the schemes are apart with all traces."""
    parts = []
    for name in SPLITS:
        cell = next(c for c in data["cells"] if c["split"] == name and c["traces"] == SETS[-1])
        (over_a, a_error), (over_b, b_error) = gains(cell)
        parts.append(
            f"{name}: B is {over_a:.1f} ± {a_error:.1f} points above A and C {over_b:.1f} ± {b_error:.1f} above B"
        )
    settings = data["settings"]
    return (
        f"After {settings['rounds']} rounds on MNIST with all {SETS[-1]} traces (published means and deviations; mean "
        f"± standard error of {settings['instances']} instances), {'; '.join(parts)}."
    )


study = Study(
    name="ruan-table-3a",
    title="Ruan et al., Table 3a: test accuracy of schemes A, B and C on MNIST",
    paper="ruan",
    compute=compute,
    caption=caption,
    table=table,
    weight=100,
    needs=mnist_runs.NEEDS,
    packages=mnist_runs.PACKAGES,
)
