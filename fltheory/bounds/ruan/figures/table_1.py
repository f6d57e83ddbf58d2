r"""Table 1 of Ruan et al.: measured rates of schemes A, B and C with homogeneous and heterogeneous participation.

Client quadratics with gradient noise, the learning rate of Theorem 3.1, and expectations without sampling (exact
engine, all outcomes of a round enumerated). The *exponent* is the slope of
:math:`\log \mathbb E\|w_{\tau E} - w^*\|^2` against :math:`\log(\tau E + \gamma)`, the theorem's own clock, over the
last factor of two of that clock; the *constant* is :math:`(\tau + \gamma/E)\,\mathbb E\|w_{\tau E} - w^*\|^2` in the
last round, with the expression that the table has over :math:`\tau` beside it. Where the run is biased the table has
the *limit* instead: the squared distance from :math:`w^*` of the minimiser of
:math:`\sum_k \mathbb E[p_\tau^k s_\tau^k] F_k`, and the published bound :math:`D/E` on it.

Homogeneous: every client completes all steps or two, each with probability 1/2; scheme A skips rounds in which nobody
is complete. Heterogeneous: one client always completes all steps, one all or two with probability 1/2 each, one all
with probability 1/4 and otherwise one. The last row adds inactivity: the third client completes no step with
probability 1/4. Problem, laws and rounds are chosen here; the table is a statement about rates and has no instances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import compiled
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.ruan import theorem_3_1
from fltheory.figures.study import Data, Study, TextTable
from fltheory.participation import Participation, StepCounts
from fltheory.quadratic.generators import client_quadratics
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record

CLIENTS, STEPS, DIM = 3, 5, 2
LAWS: dict[str, tuple[dict[int, float], ...]] = {
    "homogeneous": ({2: 0.5, 5: 0.5},) * CLIENTS,
    "heterogeneous": ({5: 1.0}, {2: 0.5, 5: 0.5}, {1: 0.75, 5: 0.25}),
    "heterogeneous, one inactive at times": ({5: 1.0}, {2: 0.5, 5: 0.5}, {0: 0.25, 1: 0.5, 5: 0.25}),
}
CASES = (
    ("A", "homogeneous"),
    ("B", "homogeneous"),
    ("C", "homogeneous"),
    ("A", "heterogeneous"),
    ("B", "heterogeneous"),
    ("C", "heterogeneous"),
    ("C", "heterogeneous, one inactive at times"),
)
BIASED = 1e-12
"""Limits above this are biases, those below are rounding."""


def participation(law: str) -> Participation:
    """Return clients with the step law of that name."""
    pmf = np.zeros((CLIENTS, STEPS + 1))
    for row, chances in zip(pmf, LAWS[law], strict=True):
        row[list(chances)] = list(chances.values())
    return Participation(num_clients=CLIENTS, local_steps=STEPS, steps=StepCounts(pmf=pmf))


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run every case in exact expectation."""
    sizes = {"dim": DIM, "num_clients": CLIENTS, "mu": 1.0, "L": 1.5, "dissimilarity": 0.4, "spread": 1.0}
    noise_sq = 1.0
    problem = client_quadratics(**sizes, commuting=True, noise_sq=noise_sq, seed=seed)  # type: ignore[arg-type]
    rows = []
    for scheme, law in CASES:
        work = participation(law)
        env = experiments.setting(problem, work, scheme)
        rate = theorem_3_1.staircase(env)
        offset = rate.shift
        rounds = int(np.ceil((2 if quick else 6) * offset))
        run = Experiment(problem=problem, algorithm=Ruan(scheme=scheme), participation=work, rounds=rounds, rate=rate)
        curve = simulate(run, engine="exact", record=Record(consensus=False), sampled="error").curve("distance_sq")[0]
        clock = np.arange(rounds + 1) + offset
        half = int(np.searchsorted(clock, clock[-1] / 2))
        got = np.einsum("o,ok,ok->k", env["chance"], np.array(env["p_drawn"]), np.array(env["s_drawn"]))
        tends_to = problem.objective(got / got.sum()).w_star
        rows.append(
            {
                "scheme": scheme,
                "law": law,
                "rounds": rounds,
                "gamma": offset * STEPS,
                "exponent": float(np.log(curve[-1] / curve[half]) / np.log(clock[-1] / clock[half])),
                "constant": float(clock[-1] * curve[-1]),
                "expression": _expression(scheme, law, env),
                "last": float(curve[-1]),
                "limit": float(((tends_to - env["w_star"]) ** 2).sum()),
                "bound": float(compiled(theorem_3_1.D_PRINTED)(env)) / STEPS,
            }
        )
    laws = {name: [{str(s): chance for s, chance in row.items()} for row in law] for name, law in LAWS.items()}
    return {"sizes": {**sizes, "noise_sq": noise_sq, "local_steps": STEPS}, "laws": laws, "rows": rows}


def _expression(scheme: str, law: str, env: dict[str, Any]) -> float | None:
    """Return what the table has over tau; nothing where it has a limit, or counts inactive rounds."""
    noise = env["p"] ** 2 * env["sigma_sq"]
    spread = float(env["p"] @ env["Gamma"])
    steps: Floats = np.array(env["s_drawn"])
    if law == "homogeneous" and scheme == "A":
        complete = (steps == STEPS).sum(axis=1)
        some = complete > 0
        over = float(env["chance"][some] @ (1 / complete[some]) / env["chance"][some].sum())
        return CLIENTS**2 * over + float(noise.sum()) + spread
    if law == "homogeneous" and scheme == "B":
        return (float(noise.sum()) + spread) / float(env["chance"] @ steps[:, 0])
    if law == "homogeneous":
        return (float(noise.sum()) + spread) * float(env["chance"] @ (1 / steps[:, 0]))
    if law == "heterogeneous" and scheme == "C":
        return float(noise @ (env["chance"] @ (1 / steps))) + spread
    return None


def table(data: Data) -> TextTable:
    """Return one row per scheme and law."""
    rows = []
    for row in data["rows"]:
        biased = row["limit"] > BIASED
        over = row["expression"]
        rows.append(
            (
                row["scheme"],
                row["law"],
                f"{row['exponent']:.2f}",
                "" if biased else f"{row['constant']:.3g}",
                "" if over is None else f"{over:.3g}",
                f"{row['last']:.2e}",
                f"{row['limit']:.2e}" if biased else "0",
                f"{row['bound']:.3g}" if biased else "",
                str(row["rounds"]),
            )
        )
    return TextTable(
        columns=(
            "scheme",
            "participation",
            "exponent",
            "constant",
            "published expression over τ",
            "distance² in the last round",
            "limit",
            "D/E (published bound on the limit)",
            "rounds",
        ),
        rows=tuple(rows),
    )


def caption(data: Data) -> str:
    """Say who converges at which rate, and what is left of the others."""
    good = [row for row in data["rows"] if row["limit"] <= BIASED]
    bad = [row for row in data["rows"] if row["limit"] > BIASED]
    named = ", ".join(f"{row['scheme']} ({row['law']})" for row in good)
    left = "; ".join(
        f"{row['scheme']} ({row['law']}) ends at {row['last']:.3g} with limit {row['limit']:.3g}" for row in bad
    )
    low, high = min(row["exponent"] for row in good), max(row["exponent"] for row in good)
    text = f"The expected squared distance decays with exponent {low:.2f} to {high:.2f} for {named}"
    if bad:
        ratio = max(row["limit"] / row["bound"] for row in bad)
        text += f"; it does not vanish for the others: {left}, at most {ratio:.2g} of the published bound D/E"
    return text + "."


study = Study(
    name="ruan-table-1",
    title="Ruan et al., Table 1: measured rates of schemes A, B and C",
    paper="ruan",
    compute=compute,
    caption=caption,
    table=table,
)
