r"""Table 3 of the FedElasticNet paper: entropy of what is sent to the server, with and without the elastic net.

Shannon entropy of all entries sent in a round, rounded to multiples of 0.01 as in the paper, in bits per entry; summed
over the rounds. Problem and settings are those of ``fen-table-2``. FedDyn has two rows, as in the paper: the clients
send their local models, or their displacements. Means over independent runs with standard errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.communication.messages import entropy_bits
from fltheory.figures.softmax_runs import (
    BASES,
    FEN_MESSAGES,
    fen_experiment,
    fen_messages,
    mean_error,
    plus_minus,
    problem,
    results,
    shares,
    spread,
)
from fltheory.figures.study import Data, Study, TextTable

MODELS = "FedDyn, models sent"


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the six algorithms on every split, and FedDyn once more to look at its local models."""
    data = fen_messages(quick=quick, seed=seed)
    sizes = data["sizes"]
    models = []
    for split in dict.fromkeys(row["split"] for row in data["rows"]):
        task = problem(split, num_clients=sizes["num_clients"], seed=seed)
        run = fen_experiment(task, BASES[-1], sizes["rounds"])
        total = np.zeros(sizes["replicates"])
        for result, work in results(run, seed=seed, replicates=sizes["replicates"]):
            for place, (local, active) in enumerate(zip(result.local, work.active, strict=True)):
                total[place] += entropy_bits(local[active], sizes["bin"])
        models.append({"split": split, "entropy": mean_error(total)})
    return {**data, "models": models}


def table(data: Data) -> TextTable:
    """Return one row per split and algorithm."""
    rounds = data["sizes"]["rounds"]
    rows = []
    for models in data["models"]:
        own = [row for row in data["rows"] if row["split"] == models["split"]]
        place = next(i for i, row in enumerate(own) if row["algorithm"] == "FedDyn")
        listed = [*own[:place], {**own[place], "algorithm": MODELS, "entropy": models["entropy"]}, *own[place:]]
        rows += [
            (
                row["split"],
                row["algorithm"],
                plus_minus(row["entropy"], digits=1),
                f"{row['entropy']['mean'] / rounds:.2f}",
                plus_minus(row["gap"], digits=4),
            )
            for row in listed
        ]
    return TextTable(
        columns=("data", "algorithm", "cumulated entropy (bits per entry)", "per round", "final gap"), rows=tuple(rows)
    )


def caption(data: Data) -> str:
    """Say to which share the entropy falls, and what sending displacements alone does."""
    parts = [
        f"{net} has {spread(sent, 100)} % of the entropy of {base}"
        for base, net, sent in shares(data["rows"], "entropy")
    ]
    moved = [row["entropy"]["mean"] for row in data["rows"] if row["algorithm"] == "FedDyn"]
    alone = [m / models["entropy"]["mean"] for m, models in zip(moved, data["models"], strict=True)]
    sizes = data["sizes"]
    return (
        f"Over {sizes['rounds']} rounds ({sizes['replicates']} runs), {'; '.join(parts)}; sending displacements "
        f"instead of models brings FedDyn alone to {spread(alone, 100)} %."
    )


study = Study(
    name="fen-table-3",
    title="FedElasticNet, Table 3: entropy of messages",
    paper="fen",
    compute=compute,
    caption=caption,
    table=table,
    together=FEN_MESSAGES,
)
