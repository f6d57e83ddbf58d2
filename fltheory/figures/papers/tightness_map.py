r"""How loose Theorem 3.1 of Ruan et al. is, over condition number and heterogeneity.

Each cell is :math:`\log_{10}` of the published bound over the exact :math:`\mathbb E\|w_{\tau E} - w^*\|^2` after the
same number of rounds everywhere. Two clients with noisy quadratics in two dimensions, with the same curvatures
:math:`\mu` and :math:`L`, whose minimisers are a given distance apart along the diagonal; the start is one unit from
:math:`w^*`, along the diagonal as well. Scheme B; every client completes all :math:`E` local steps in a round with
probability 3/4 and none otherwise, so participation is homogeneous and the part of the bound that does not vanish is
zero. :math:`\mu, L, \theta, \Gamma_k` and the largest gradient are those of the instance. All of this is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds._algebra import compiled
from fltheory.bounds.ruan import _theorem
from fltheory.bounds.ruan._symbols import B_tau, D, V, gamma
from fltheory.engines import simulate
from fltheory.figures.study import Data, Study
from fltheory.figures.style import POINTS, dress, panels
from fltheory.recording import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = (1, 4)
NOISE_SQ = 1.0
FULL = 0.75
"""Probability that a client completes all steps."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Evaluate bound and error on the grid; nothing is random, the seed is unused."""
    del seed
    conditions = [1.0, 10.0, 100.0] if quick else [1.0, 3.0, 10.0, 30.0, 100.0]
    distances = [0.1, 1.0, 10.0] if quick else [0.1, 0.3, 1.0, 3.0, 10.0]
    rounds = 20 if quick else 80
    maps = []
    for steps in STEPS:
        cells = [[_cell(steps, condition, apart, rounds) for condition in conditions] for apart in distances]
        maps.append({"local_steps": steps, "cells": cells})
    return {
        "conditions": conditions,
        "distances": distances,
        "rounds": rounds,
        "noise_sq": NOISE_SQ,
        "probability": FULL,
        "maps": maps,
    }


def _cell(steps: int, condition: float, apart: float, rounds: int) -> dict[str, float]:
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
        "n": np.ones(2),
        "mu": 1.0,
        "condition": condition,
        "curvature": np.array([[0.0, 1.0], [0.0, 1.0]]),
        "centre": np.outer([-0.5, 0.5], np.sqrt([0.5, 0.5])) * apart,
        "noise": np.ones(2),
        "loud": NOISE_SQ,
        "start": np.zeros(2),
    }
    minimiser = _theorem.constants(_theorem.quadratics(point))["w_star"]
    point["start"] = minimiser + np.sqrt([0.5, 0.5])
    run = _theorem.experiment(point, rounds=rounds)
    found = simulate(run, engine="exact", record=Record(consensus=False, moments=True))
    env = dict(_theorem.quantities(point, run, found))
    env[gamma.name] = compiled(_theorem.GAMMA)(env)
    env[D.name] = compiled(_theorem.D_PRINTED)(env)
    printed = compiled(_theorem.B_PRINTED)
    env[B_tau.name] = [printed(env, outcome=o) for o in range(len(env["chance"]))]
    env[V.name] = compiled(_theorem.V_PRINTED)(env)
    last = float(env["M_tau"][-1] * env[D.name] + env[V.name]) / (rounds * steps + float(env[gamma.name]))
    start = float(env[gamma.name] ** 2 * env["ruan_distance_start"])
    return {
        "bound": last,
        "error": float(env["ruan_distance"][-1]),
        "start_share": start / float(env[V.name]),
    }


def draw(data: Data) -> Figure:
    """Draw one map per number of local steps."""
    figure, axes = panels(1, len(data["maps"]), height=2.5, sharey=True)
    logs = [_logs(one) for one in data["maps"]]
    low, high = min(values.min() for values in logs), max(values.max() for values in logs)
    for one, values, place in zip(data["maps"], logs, axes[0], strict=True):
        image = place.imshow(values, origin="lower", aspect="auto", cmap="cividis", vmin=low, vmax=high)
        for row, column in np.ndindex(values.shape):
            dark = values[row, column] < (low + high) / 2
            colour = "white" if dark else "black"
            text = f"{values[row, column]:.1f}"
            place.text(column, row, text, ha="center", va="center", fontsize=POINTS - 1, color=colour)
        place.set_xticks(range(len(data["conditions"])), [f"{value:g}" for value in data["conditions"]])
        place.set_yticks(range(len(data["distances"])), [f"{value:g}" for value in data["distances"]])
        dress(place, xlabel=r"condition number  $L/\mu$", title=f"$E = {one['local_steps']}$")
        place.grid(visible=False)
        place.tick_params(length=0)
    axes[0, 0].set_ylabel("distance between the\nclients' minimisers", fontsize=POINTS)
    bar = figure.colorbar(image, ax=axes[0].tolist(), pad=0.01)
    bar.set_label(r"$\log_{10}$ (bound / exact error)", fontsize=POINTS)
    bar.ax.tick_params(labelsize=POINTS - 1)
    return figure


def _logs(one: Data) -> Any:
    return np.array([[np.log10(cell["bound"] / cell["error"]) for cell in row] for row in one["cells"]])


def caption(data: Data) -> str:
    """Say how loose the bound is at the corners of the maps."""
    parts = []
    for one in data["maps"]:
        values = _logs(one)
        parts.append(
            f"a factor of {10 ** values.min():.2g} to {10 ** values.max():.2g} for E = {one['local_steps']} "
            f"({10 ** values[0, 0]:.2g} at L/μ = {data['conditions'][0]:g} and {10 ** values[0, -1]:.2g} at "
            f"{data['conditions'][-1]:g} with nearly equal clients, {10 ** values[-1, -1]:.2g} at "
            f"{data['conditions'][-1]:g} with minimisers {data['distances'][-1]:g} apart)"
        )
    return (
        f"After {data['rounds']} rounds the published bound exceeds the exact error by " + " and by ".join(parts) + "."
    )


study = Study(
    name="tightness-map",
    title="Looseness of Theorem 3.1",
    paper="ruan",
    compute=compute,
    caption=caption,
    draw=draw,
)
