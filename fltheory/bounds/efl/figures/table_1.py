r"""Table 1 of the EFL papers: rounds to accuracy, the published expressions beside rounds that are measured.

The strongly convex rows are the expressions of the claim ``efl.table-1``; those of VRL-SGD and FedAMP, for functions
that are not convex, are printed differently in the two versions (the short one has lost letters), and the long one is
taken. Constants are left out in all of them, so only how they grow can be compared with what is measured, and the
dissimilarity :math:`\delta` and the bound :math:`G` are those of the instance.

*Measured* is the first round from which the expected gap of the objective stays below :math:`\epsilon`, at the best
of a grid of constant learning rates, a rate for each accuracy. Four clients with noisy quadratics that differ in
Hessian and minimiser, all of them in every round with the same number of local steps; expectations by the exact
engine where the algorithm is affine, otherwise means over replicates. EFL runs without compression and with a small
elastic term; the gap of FedAMP is that of the mean of its personal models. :math:`G^2` is the largest squared
gradient of a client at the start plus the variance of the noise, which is large, since the first term of the convex
rows counts it. All of this is chosen here: the papers measure no rounds.

The *box* is the space of the claim: random constants over orders of magnitude. The share of it on which EFL's
expression is below another is what is left of the sentence that EFL has the tightest bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational, sqrt

from fltheory._internal.seeding import Purpose, generator
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedamp import FedAMP
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.vrl_sgd import VRLSGD
from fltheory.bounds.algebra import compiled
from fltheory.bounds.efl import table_1
from fltheory.bounds.symbols import L
from fltheory.errors import Diverged, NotApplicable
from fltheory.figures.study import Data, Study, TextTable
from fltheory.participation import Participation
from fltheory.quadratic.generators import client_quadratics
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment, describe
from fltheory.simulation.recording import Record
from fltheory.validation.search import random_points

if TYPE_CHECKING:
    from fltheory.algorithms.base import Algorithm
    from fltheory.quadratic.problem import Quadratic

CLIENTS, STEPS, REPLICATES = 4, 5, 32
SIZES = {"dim": 4, "num_clients": CLIENTS, "mu": 0.5, "L": 2.0, "dissimilarity": 0.5, "spread": 1.0, "radius": 3.0}
NOISE_SQ = 8.0
ACCURACIES = (0.3, 0.1, 0.03, 0.01)
RATES = (0.004, 0.008, 0.016, 0.03, 0.06, 0.12, 0.25)
METHODS: dict[str, Algorithm] = {
    "SCAFFOLD": Scaffold(),
    "MIME": Mime(),
    "VRL-SGD": VRLSGD(),
    "FedAMP": FedAMP(),
    "EFL": EFL(elasticity=0.01),
}


def rows() -> dict[str, Any]:
    """Return the published expressions."""
    e, S, G = table_1.accuracy, table_1.sampled, table_1.G
    return {
        "SCAFFOLD": table_1.scaffold,
        "MIME": table_1.mime,
        "VRL-SGD": CLIENTS * Rational(NOISE_SQ) / (S * e**2) + CLIENTS / e,
        "FedAMP": G**2 / (L * S * e) + G / (e * sqrt(e)) + L**2 / sqrt(e),
        "EFL": table_1.efl,
    }


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Evaluate the rows on the instance and in the box, and measure rounds on the instance."""
    rounds = 100 if quick else 200
    rates = RATES[::2] if quick else RATES
    task = client_quadratics(**SIZES, commuting=True, noise_sq=NOISE_SQ, seed=seed)  # type: ignore[arg-type]
    env = _constants(task)
    expressions = rows()
    found = []
    for name, algorithm in METHODS.items():
        gaps = [_gap(task, algorithm, rate, rounds, seed) for rate in rates]
        row: dict[str, Any] = {"algorithm": name, "engine": gaps[0][0], "published": [], "measured": [], "rate": []}
        for accuracy in ACCURACIES:
            row["published"].append(float(compiled(expressions[name])({**env, "epsilon": accuracy})))
            best = min((_rounds(curve, accuracy), rate) for (_, curve), rate in zip(gaps, rates, strict=True))
            row["measured"].append(None if best[0] == np.inf else best[0])
            row["rate"].append(None if best[0] == np.inf else best[1])
        found.append(row)
    points = list(random_points(table_1.box.space, generator(seed, Purpose.SEARCH), 100 if quick else 1000))
    values = [
        {name: float(compiled(getattr(table_1, name))(table_1.compared(point))) for name in ("efl", *RIVALS)}
        for point in points
    ]
    below = {name: float(np.mean([value["efl"] <= value[name] for value in values])) for name in RIVALS}
    settings = {**SIZES, "noise_sq": NOISE_SQ, "local_steps": STEPS, "rounds": rounds, "rates": list(rates)}
    return {
        "sizes": {**settings, "replicates": REPLICATES},
        "methods": {name: describe(algorithm) for name, algorithm in METHODS.items()},
        "constants": env,
        "accuracies": list(ACCURACIES),
        "rows": found,
        "box": {"points": len(points), "efl_below": below},
    }


RIVALS = ("scaffold", "mime")


def _constants(task: Quadratic) -> dict[str, float]:
    gradients = task.hessian * task.start + task.linear
    largest = float((gradients**2).sum(axis=1).max())
    return {
        "mu": SIZES["mu"],
        "L": SIZES["L"],
        "S": float(CLIENTS),
        "G": (largest + NOISE_SQ) ** 0.5,
        "delta": SIZES["dissimilarity"],
    }


def _gap(task: Quadratic, algorithm: Algorithm, rate: float, rounds: int, seed: int) -> tuple[str, Any]:
    """Return the engine and the expected gap after every round; infinite where the run diverges."""
    run = Experiment(
        problem=task,
        algorithm=algorithm,
        participation=Participation(num_clients=CLIENTS, local_steps=STEPS),
        rounds=rounds,
        rate=rate,
    )
    record = Record(consensus=False)
    try:
        return "exact", simulate(run, engine="exact", record=record, sampled="error").curve("gap")[0]
    except NotApplicable:
        pass
    except Diverged:
        return "exact", np.full(rounds + 1, np.inf)
    try:
        found = simulate(run, seed=seed, replicates=REPLICATES, record=record, threads=1)
    except Diverged:
        return "monte-carlo", np.full(rounds + 1, np.inf)
    return "monte-carlo", found.curve("gap").mean(axis=0)


def _rounds(curve: Any, accuracy: float) -> float:
    """Return the first round from which a curve stays below; infinite if it ends above."""
    above = np.flatnonzero(curve > accuracy)
    last = int(above[-1]) + 1 if above.size else 0
    return float(last) if last < len(curve) else float("inf")


def table(data: Data) -> TextTable:
    """Return one row per algorithm, published and measured side by side."""
    columns = ["algorithm"]
    for accuracy in data["accuracies"]:
        columns += [f"ε = {accuracy:g}: published expression", "measured rounds"]
    found = []
    for row in data["rows"]:
        cells = [row["algorithm"]]
        for expression, rounds, rate in zip(row["published"], row["measured"], row["rate"], strict=True):
            never = f"more than {data['sizes']['rounds']}"
            cells += [f"{expression:.3g}", never if rounds is None else f"{rounds:.0f} (η = {rate:g})"]
        found.append(tuple(cells))
    return TextTable(columns=tuple(columns), rows=tuple(found))


def caption(data: Data) -> str:
    """Say who needs the fewest rounds, how both grow, and how often EFL's expression is the smaller one."""
    last = len(data["accuracies"]) - 1
    ranked = [row for row in data["rows"] if row["measured"][last] is not None]
    text = f"At ε = {data['accuracies'][last]:g} "
    if ranked:
        fewest = min(row["measured"][last] for row in ranked)
        first = ", ".join(row["algorithm"] for row in ranked if row["measured"][last] == fewest)
        text += f"the fewest rounds are {fewest:.0f} ({first})"
    else:
        text += "no method is there"
    smallest = min(data["rows"], key=lambda row: row["published"][last])
    text += f" and {smallest['algorithm']} has the smallest published expression ({smallest['published'][last]:.3g})"
    own = next(row for row in data["rows"] if row["algorithm"] == "EFL")
    reached = [(p, m) for p, m in zip(own["published"], own["measured"], strict=True) if m]
    if len(reached) > 1:
        text += (
            f"; from the first to the last accuracy that EFL reaches its expression grows by "
            f"{reached[-1][0] / reached[0][0]:.2g}, its rounds by {reached[-1][1] / reached[0][1]:.2g}"
        )
    below = data["box"]["efl_below"]
    return (
        f"{text}; over the box EFL's expression is at most SCAFFOLD's on {100 * below['scaffold']:.0f} % and at most "
        f"MIME's on {100 * below['mime']:.1f} % of {data['box']['points']} points."
    )


study = Study(
    name="efl-table-1",
    title="EFL, Table 1: rounds to accuracy, published expressions and measured",
    paper="efl",
    compute=compute,
    caption=caption,
    table=table,
)
