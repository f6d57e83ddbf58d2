r"""Best learning rates on the noisy quadratics of the CFL paper: those measured here beside the published ones.

The first part crosses FedAvg, FedProx and CFL-R with the eight settings: the constant rate that minimises the exact
root mean square of :math:`\|Aw + B\|` after the last round, the rate printed in the paper, and what the printed rate
costs here (loss at the published rate over loss at the best one; ``diverges`` where the loss exceeds that of the
start). The second part tunes again with half or double the clients, local steps, rounds and dimension: FedAvg in two
settings, CFL-R in one and with fewer changes, since it is slow to tune; FedProx is left out.

Dimension, number of clients, local steps, rounds, start and FedProx's coefficient are not printed in the paper; those
used are stored with the numbers. The printed rates have one or two digits and no range.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fltheory.algorithms.base import Algorithm
from fltheory.bounds.cfl.figures._noisy_quadratics import TOGETHER, best, experiment
from fltheory.bounds.cfl.settings import Setting, algorithms, settings
from fltheory.errors import Diverged
from fltheory.figures.study import Data, Study, TextTable
from fltheory.simulation.engines import simulate
from fltheory.simulation.recording import Record

PUBLISHED: dict[str, tuple[float, ...]] = {
    "FedAvg": (0.03, 0.08, 0.33, 0.09, 0.02, 0.01, 0.09, 0.02),
    "FedProx": (0.04, 0.07, 0.35, 0.09, 0.02, 0.01, 0.26, 0.02),
    "CFL-R": (0.2, 0.09, 0.35, 0.09, 0.25, 0.08, 0.3, 0.08),
}
"""Published, in the order of :func:`~fltheory.bounds.cfl.settings.settings`."""

SIZES = {"num_clients": "clients", "local_steps": "local steps", "rounds": "rounds", "dim": "dimension"}
BOTH = tuple((size, factor) for size in SIZES for factor in (0.5, 2.0))
AGAIN = {
    ("SRD-SL-SC", "FedAvg"): BOTH,
    ("BRD-LL-GC", "FedAvg"): BOTH,
    ("SRD-SL-SC", "CFL-R"): (
        ("num_clients", 0.5),
        ("local_steps", 0.5),
        ("local_steps", 2.0),
        ("rounds", 0.5),
        ("dim", 0.5),
    ),
}
"""Which sizes are changed, by which factor, for whom."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Tune everywhere, evaluate the published rates, and tune again with other sizes."""
    rows, changes = [], []
    for place, setting in enumerate(settings()):
        if quick and place % 7:
            continue
        for algorithm in algorithms():
            if quick and algorithm.title == "CFL-R" and place:
                continue
            found = best(setting, algorithm, seed)
            published = PUBLISHED[found.algorithm][place]
            row = {"setting": setting.name, "algorithm": found.algorithm, "rate": found.rate, "loss": found.loss}
            rows.append({**row, "published": published, "at_published": _loss(setting, algorithm, published, seed)})
            for size, factor in () if quick else AGAIN.get((setting.name, found.algorithm), ()):
                sizes: dict[str, Any] = {size: int(getattr(setting, size) * factor)}
                other = best(replace(setting, **sizes), algorithm, seed)
                change = {"size": size, "factor": factor, "changed_rate": other.rate, "changed_loss": other.loss}
                changes.append({**row, **change})
    first = settings()[0]
    used = {name: getattr(first, name) for name in (*SIZES, "radius", "centred")}
    prox = next(getattr(algorithm, "prox", None) for algorithm in algorithms() if algorithm.title == "FedProx")
    return {"sizes": {**used, "prox": prox}, "rows": rows, "changes": changes}


def _loss(setting: Setting, algorithm: Algorithm, rate: float, seed: int) -> float | None:
    """Return the loss after the last round at a rate, or nothing if it ends above the start."""
    run = experiment(setting, algorithm, rate, seed)
    try:
        curve = simulate(run, engine="exact", record=Record(consensus=False), sampled="error").curve(
            "gradient_norm_sq"
        )[0]
    except Diverged:
        return None
    return math.sqrt(curve[-1]) if curve[-1] <= curve[0] else None


def table(data: Data) -> TextTable:
    """Return the rates, then those with other sizes."""
    rows = []
    for row in data["rows"]:
        cost = "diverges" if row["at_published"] is None else f"{row['at_published'] / row['loss']:.4g}"
        rows.append(
            (
                row["setting"],
                row["algorithm"],
                "as in the caption",
                f"{row['rate']:.3g}",
                f"{row['published']:.2g}",
                f"{row['loss']:.3g}",
                cost,
            )
        )
    for row in data["changes"]:
        sizes = f"{'half' if row['factor'] < 1 else 'double'} the {SIZES[row['size']]}"
        rows.append(
            (
                row["setting"],
                row["algorithm"],
                sizes,
                f"{row['changed_rate']:.3g}",
                "",
                f"{row['changed_loss']:.3g}",
                "",
            )
        )
    return TextTable(
        columns=(
            "setting",
            "algorithm",
            "sizes",
            "best rate",
            "published rate",
            "loss at the best rate",
            "loss at the published rate over that",
        ),
        rows=tuple(rows),
    )


def caption(data: Data) -> str:
    """Say how close the published rates are, what they cost, and what the open sizes do to them."""
    parts = []
    for name in PUBLISHED:
        rows = [row for row in data["rows"] if row["algorithm"] == name]
        ratios = [row["rate"] / row["published"] for row in rows]
        costs = [row["at_published"] / row["loss"] for row in rows if row["at_published"] is not None]
        lost = f"and divergence in {len(rows) - len(costs)} of {len(rows)} settings, " if len(costs) < len(rows) else ""
        paid = f"up to {max(costs):.2f} times the loss, " if costs else ""
        parts.append(f"{min(ratios):.2g} to {max(ratios):.2g} for {name} ({paid}{lost}at the published rate)")
    used = ", ".join(f"{data['sizes'][name]} {shown}" for name, shown in SIZES.items())
    text = f"Best rate over published rate, with {used}s, which the paper leaves open: " + ", ".join(parts).replace(
        ", at the", " at the"
    )
    moves = []
    for name in PUBLISHED:
        by_size = []
        for size, shown in SIZES.items():
            mine = [row for row in data["changes"] if row["size"] == size and row["algorithm"] == name]
            moved = [row["changed_rate"] / row["rate"] for row in mine]
            if moved:
                low, high = f"{min(moved):.2g}", f"{max(moved):.2g}"
                by_size.append(f"{low if low == high else f'{low} to {high}'} ({shown})")
        if by_size:
            moves.append(f"of {name} by {', '.join(by_size)}")
    if moves:
        text += "; halving or doubling a size multiplies the best rate " + " and ".join(moves)
    return text + "."


study = Study(
    name="cfl-table-2",
    title="CFL, Table 2: best learning rates on noisy quadratics",
    paper="cfl",
    compute=compute,
    caption=caption,
    table=table,
    together=TOGETHER,
    weight=3,
)
