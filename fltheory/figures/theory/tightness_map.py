r"""How loose Theorem 3.1 of Ruan et al. is, over condition number, heterogeneity and local steps.

Each cell is the published bound over the exact :math:`\mathbb E\|w_{\tau E} - w^*\|^2` after the same number of rounds
everywhere, on a logarithmic scale of colours. Two clients with noisy quadratics in two dimensions whose minimisers are
a given distance apart along the diagonal. Above, both have the curvatures :math:`\mu` and :math:`L` along the same
axes; below, the second has them exchanged, so that the clients pull in different directions also where their minimisers
agree. The start is one unit from :math:`w^*`, along the diagonal. Scheme B; every client completes all :math:`E` local
steps in a round with probability 3/4 and none otherwise, so participation is homogeneous and the part of the bound that
does not vanish is zero. :math:`\mu, L, \theta, \Gamma_k` and the largest gradient are those of the instance. All of
this is chosen here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.algebra import compiled
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.symbols import B_tau, D, V, gamma
from fltheory.bounds.ruan import theorem_3_1
from fltheory.figures.study import Data, Study
from fltheory.figures.style import POINTS, dress, panels
from fltheory.simulation.engines import simulate
from fltheory.simulation.recording import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = (1, 4)
CURVATURES = {"equal": ((0.0, 1.0), (0.0, 1.0)), "exchanged": ((0.0, 1.0), (1.0, 0.0))}
"""Where the curvatures of the two clients lie between the smallest (0) and the largest (1), along both axes."""

NOISE_SQ = 1.0
FULL = 0.75
"""Probability that a client completes all steps."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Evaluate bound and error on the grid; nothing is random, the seed is unused."""
    del seed
    conditions = [1.0, 100.0] if quick else [1.0, 10.0, 100.0, 1000.0]
    distances = [0.1, 10.0] if quick else [0.1, 1.0, 10.0, 100.0]
    rounds = 10 if quick else 30
    maps = []
    for name, curvatures in CURVATURES.items():
        for steps in STEPS:
            cells = [
                [_cell(steps, condition, apart, rounds, curvatures) for condition in conditions] for apart in distances
            ]
            maps.append({"curvatures": name, "local_steps": steps, "cells": cells})
    return {
        "conditions": conditions,
        "distances": distances,
        "rounds": rounds,
        "noise_sq": NOISE_SQ,
        "probability": FULL,
        "maps": maps,
    }


def _cell(steps: int, condition: float, apart: float, rounds: int, curvatures: Any) -> dict[str, float]:
    """Return bound and error of one instance in the last round, and how much of V the start makes up."""
    point: dict[str, Any] = {
        "N": 2,
        "d": 2,
        "E": steps,
        "scheme": "B",
        "participation": "homogeneous",
        "low": np.zeros(2, dtype=int),
        "high": np.full(2, steps),
        "q": np.full(2, FULL),
        "rounds": rounds,
        "n": np.ones(2),
        "mu": 1.0,
        "condition": condition,
        "curvature": np.array(curvatures),
        "centre": np.outer([-0.5, 0.5], np.sqrt([0.5, 0.5])) * apart,
        "noise": np.ones(2),
        "loud": NOISE_SQ,
        "start": np.zeros(2),
    }
    minimiser = experiments.constants(experiments.quadratics(point))["w_star"]
    point["start"] = minimiser + np.sqrt([0.5, 0.5])
    run = theorem_3_1.experiment(point)
    found = simulate(run, engine="exact", record=Record(consensus=False, moments=True))
    env = dict(theorem_3_1.quantities(point, run, found))
    env[gamma.name] = compiled(theorem_3_1.GAMMA)(env)
    env[D.name] = compiled(theorem_3_1.D_PRINTED)(env)
    printed = compiled(theorem_3_1.B_PRINTED)
    env[B_tau.name] = [printed(env, outcome=o) for o in range(len(env["chance"]))]
    env[V.name] = compiled(theorem_3_1.V_PRINTED)(env)
    last = float(env["M_tau"][-1] * env[D.name] + env[V.name]) / (rounds * steps + float(env[gamma.name]))
    start = float(env[gamma.name] ** 2 * env["start_sq"])
    return {
        "bound": last,
        "error": float(env["distance_sq"][-1]),
        "start_share": start / float(env[V.name]),
    }


def draw(data: Data) -> Figure:
    """Draw one map per number of local steps and kind of curvatures."""
    from matplotlib.colors import LogNorm

    columns = len({one["local_steps"] for one in data["maps"]})
    figure, axes = panels(len(data["maps"]) // columns, columns, height=2.0, sharex=True, sharey=True)
    ratios = [_ratios(one) for one in data["maps"]]
    scale = LogNorm(min(values.min() for values in ratios), max(values.max() for values in ratios))
    for one, values, place in zip(data["maps"], ratios, axes.flat, strict=True):
        image = place.imshow(values, origin="lower", aspect="auto", cmap="cividis", norm=scale)
        for row, column in np.ndindex(values.shape):
            colour = "white" if scale(values[row, column]) < 0.5 else "black"
            text = _factor(values[row, column])
            place.text(column, row, text, ha="center", va="center", fontsize=POINTS - 1, color=colour)
        place.set_xticks(range(len(data["conditions"])), [f"{value:g}" for value in data["conditions"]])
        place.set_yticks(range(len(data["distances"])), [f"{value:g}" for value in data["distances"]])
        dress(place, title=f"$E = {one['local_steps']}$, {one['curvatures']} curvatures")
        place.grid(visible=False)
        place.tick_params(length=0)
    for place in axes[-1]:
        place.set_xlabel(r"condition number  $L/\mu$", fontsize=POINTS)
    for place in axes[:, 0]:
        place.set_ylabel("distance between the\nclients' minimisers", fontsize=POINTS)
    bar = figure.colorbar(image, ax=axes.ravel().tolist(), pad=0.01)
    bar.set_label("bound / exact error", fontsize=POINTS)
    bar.ax.tick_params(labelsize=POINTS - 1)
    return figure


def _ratios(one: Data) -> Any:
    return np.array([[cell["bound"] / cell["error"] for cell in row] for row in one["cells"]])


def _factor(value: float) -> str:
    """Write a factor as 1.2e3."""
    power = int(np.floor(np.log10(value)))
    return f"{value / 10**power:.1f}e{power}"


def caption(data: Data) -> str:
    """Say how loose the bound is, at its best and at its worst, for every kind of instance."""
    parts = [
        f"{_ratios(one).min():.2g} to {_ratios(one).max():.2g} for E = {one['local_steps']} and {one['curvatures']} "
        "curvatures"
        for one in data["maps"]
    ]
    tight = min(data["maps"], key=lambda one: _ratios(one).min())
    row, column = np.unravel_index(int(_ratios(tight).argmin()), _ratios(tight).shape)
    return (
        f"After {data['rounds']} rounds the published bound exceeds the exact error by a factor of {', '.join(parts)}; "
        f"it is tightest at L/μ = {data['conditions'][column]:g} with minimisers {data['distances'][row]:g} apart, "
        f"E = {tight['local_steps']} and {tight['curvatures']} curvatures."
    )


study = Study(
    name="tightness-map",
    title="Ruan et al., Theorem 3.1, (3): how loose the bound is",
    paper="ruan",
    compute=compute,
    caption=caption,
    draw=draw,
)
