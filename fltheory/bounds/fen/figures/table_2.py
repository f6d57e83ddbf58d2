r"""Table 2 of the FedElasticNet paper: non-zero entries sent to the server, with and without the elastic net.

Cumulated over all rounds and clients, in thousands. Softmax regression with 105 weights on SYNTHETIC data stands in for
the paper's networks, and three splits (equal clients, SYNTHETIC(0.5, 0.5), SYNTHETIC(1, 1)) for its Dirichlet
splits; as in the paper a client is asked with probability 0.1. Algorithm 1 stands on FedProx, 2 on SCAFFOLD,
3 on FedDyn. Weights :math:`\lambda_1, \lambda_2`, cut :math:`\epsilon`, rate, steps and rounds are chosen here and
stored with the numbers. The final gap and the test accuracy are added, since sparse messages are worth nothing
otherwise. Means over independent runs with standard errors.

SCAFFOLD's second message, the change of the control variate, is never cut; so Algorithm 2 cannot save more than half.
"""

from __future__ import annotations

from typing import Any

from fltheory.figures.softmax_runs import FEN_MESSAGES, fen_messages, plus_minus, shares, spread
from fltheory.figures.study import Data, Study, TextTable


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run the six algorithms on every split."""
    return fen_messages(quick=quick, seed=seed)


def table(data: Data) -> TextTable:
    """Return one row per split and algorithm."""
    rows = tuple(
        (
            row["split"],
            row["algorithm"],
            plus_minus(row["nonzeros"], 1e3),
            plus_minus(row["gap"], digits=4),
            plus_minus(row["accuracy"], digits=1),
        )
        for row in data["rows"]
    )
    return TextTable(
        columns=("data", "algorithm", "non-zero entries sent / 1000", "final gap", "test accuracy (%)"), rows=rows
    )


def caption(data: Data) -> str:
    """Say which share of the entries each algorithm sends, and what it costs."""
    parts = [
        f"{net} sends {spread(sent, 100)} % of the non-zero entries of {base} and ends at {spread(gaps)} times its gap"
        for (base, net, sent), (_, _, gaps) in zip(
            shares(data["rows"], "nonzeros"), shares(data["rows"], "gap"), strict=True
        )
    ]
    sizes = data["sizes"]
    return f"After {sizes['rounds']} rounds ({sizes['replicates']} runs), " + "; ".join(parts) + "."


study = Study(
    name="fen-table-2",
    title="FedElasticNet, Table 2: non-zero entries sent",
    paper="fen",
    compute=compute,
    caption=caption,
    table=table,
    together=FEN_MESSAGES,
)
