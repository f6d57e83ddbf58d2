r"""A few iterations of decentralised SGD with any convex smooth functions: what certificates of Lemma 9 are about.

One block of one or two iterations, two clients. :math:`F_i(x, \xi)` is one of two functions; in blocks of two
iterations that is so for the first client only, the other one has no noise. Less their gradients at the minimiser
:math:`x^\star = 0` of the objective, they are any convex :math:`L`-smooth functions that are smallest there. Time and
mixing: :mod:`fltheory.bounds.koloskova._walk`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from fltheory.bounds.claim import Rejected
from fltheory.bounds.functions import Kinked
from fltheory.bounds.koloskova._walk import mixed
from fltheory.bounds.space import Params, ratio

CLIENTS = 2


def any_walk(point: Params) -> dict[str, Any]:
    """Return consensus distances and gaps before every iteration, and the constants."""
    length, share = int(point["tau"]), point["q"]
    weights, met = point["omega"], point.get("chance", 1)
    kept = np.prod([1 - met + met * (1 - weights[k]) ** 2 for k in range(length)])
    if not kept < 1:
        raise Rejected("the block does not contract")
    rate = (1 - kept) * point["part"]
    sizes = [point["steps"][k] * rate / (17 * length * point["L"]) for k in range(length)]
    # Which functions a client draws from, and with which probabilities.
    both = [(0, 1 - share), (1, share)]
    drawn = [both, [(2, 1 - share), (3, share)] if length == 1 else [(2, 0 * share + 1)]]
    rows = [(row, chance) for own in drawn for row, chance in own]
    slopes = {side: point["L"] * np.array([point[side]] * 4) for side in ("left", "right")}
    functions = Kinked(centre=0 * point["knot"], knot=point["knot"], **slopes)
    half = ratio(point, 1, CLIENTS)
    mean = sum(chance * half * point["tilt"][row] for row, chance in rows)
    tilts = {row: point["tilt"][row] - mean for row, _ in rows}

    def gradient(row: int, at: Any) -> Any:
        return functions.gradient(row, at) + tilts[row]

    def gap(at: Any) -> Any:
        zero = 0 * at
        return sum(
            chance * half * (functions.value(row, at) - functions.value(row, zero) + (tilts[row] * at).sum())
            for row, chance in rows
        )

    state, chances = [point["x"]], [0 * share + 1]
    distances, gaps = [], []
    for k in range(length + 1):
        away = [models - models.sum(axis=0) * half for models in state]
        distances.append(sum(c * (a * a).sum() for c, a in zip(chances, away, strict=True)) * half)
        if k == length:
            break
        gaps.append(sum(c * gap(models.sum(axis=0) * half) for c, models in zip(chances, state, strict=True)))
        after, probability = [], []
        for models, before in zip(state, chances, strict=True):
            for faces in itertools.product(*drawn):
                own = np.array([gradient(row, models[i]) for i, (row, _) in enumerate(faces)])
                moved, drawn_so = models - sizes[k] * own, before * np.prod([chance for _, chance in faces])
                after.append(mixed(moved[None], weights[k])[0])
                probability.append(met * drawn_so)
                if met != 1:
                    after.append(moved)
                    probability.append((1 - met) * drawn_so)
        state, chances = after, probability
    means = [sum(chance * tilts[row] for row, chance in own) for own in drawn]
    away = [chance * ((tilts[row] - means[i]) ** 2).sum() for i, own in enumerate(drawn) for row, chance in own]
    return {
        "n_clients": CLIENTS,
        "L": point["L"],
        "block": length,
        "m": 0,
        "now": length,
        "p_mix": rate,
        "steps": sizes,
        "Xi": distances,
        "gap": gaps,
        "sigma_bar_sq": sum(away) * half,
        "zeta_bar_sq": sum((one * one).sum() for one in means) * half,
    }
