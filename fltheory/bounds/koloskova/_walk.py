r"""A few iterations of decentralised SGD on all outcomes of the noise: the instances of Lemma 9.

Time starts with a block, :math:`m\tau = 0`, from any models: both sides of the lemma are expectations over what came
before. Mixing matrices are :math:`W^{(t)} = (1 - \omega_t)I + \frac{\omega_t}n\mathbf 1\mathbf 1^\top`, which multiply
what is off the mean by :math:`1 - \omega_t`; with :math:`\omega_t = 0` clients only take local steps. Those of the
block contract by :math:`\prod(1-\omega_t)^2`, so that Assumption 4 holds with :math:`1 - p` as large as that or larger;
the block after it need not be over, and its last matrix may be the mean. Two matrices in each of one to two blocks, two
or three clients.

Where matrices are drawn, each of them is :math:`W^{(t)}` with a chance :math:`c`, and otherwise nobody communicates;
both are followed, and the block contracts by :math:`\prod(1 - c + c(1-\omega_t)^2)` in expectation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.bounds.claim import Rejected
from fltheory.bounds.koloskova._noisy import Draws, draws, models
from fltheory.bounds.space import Params

MOST = 16
"""Most outcomes of all steps; beyond that only the first client has noise."""


def mixed(values: Any, weight: Any) -> Any:
    """Return models after mixing, shape ``(outcomes, clients, dim)``."""
    mean = values.sum(axis=1, keepdims=True) / values.shape[1]
    return values + weight * (mean - values)


def walk(point: Params) -> dict[str, Any]:
    """Return consensus distances and gaps before every iteration, and the constants."""
    made = draws(point)
    number, length, share = made.number, int(point["tau"]), point["q"]
    steps = length + int(point["beyond"] % length)
    weights = point["omega"]
    met = point.get("chance", 1)
    kept = np.prod([1 - met + met * (1 - weights[k]) ** 2 for k in range(length)])
    if not kept < 1:
        raise Rejected("the block does not contract")
    rate = (1 - kept) * point["part"]
    sizes = [point["steps"][k] * rate / (167 * length * point["L"]) for k in range(steps)]
    noisy = number if 2 ** (number * steps) <= MOST else 1
    state, chances = models(point, made, equal=point["equal"] == "yes")[None], np.array([0 * share + 1])
    distances, gaps = [], []
    for k in range(steps + 1):
        apart = state - state.sum(axis=1, keepdims=True) / number
        distances.append((chances * (apart * apart).sum(axis=2).sum(axis=1)).sum() / number)
        if k == steps:
            break
        centre = state.sum(axis=1) / number
        gaps.append((chances * made.objective(centre)).sum())
        state, chances = _next(made, state, chances, sizes[k], noisy)
        if met == 1:
            state = mixed(state, weights[k])
        else:
            state = np.concatenate([mixed(state, weights[k]), state])
            chances = np.concatenate([met * chances, (1 - met) * chances])
    minimum = made.objective(made.x_star)
    best = [made.x_star] * number
    _, gradients = made.gradients(best)
    return {
        "n_clients": number,
        "L": point["L"],
        "block": length,
        "m": 0,
        "now": steps,
        "p_mix": rate,
        "steps": sizes,
        "Xi": distances,
        "gap": [value - minimum for value in gaps],
        "sigma_bar_sq": _variance(made, noisy),
        "zeta_bar_sq": (gradients * gradients).sum() / number,
    }


def _variance(made: Draws, noisy: int) -> Any:
    """Return the mean over all clients of the variance at the minimiser; only ``noisy`` of them have noise."""
    drawn, mean = made.gradients([made.x_star] * made.number)
    away = (drawn - mean[:, None])[:noisy]
    squares = (away * away).sum(axis=2).sum(axis=0) / made.number
    return squares[0] * made.chances[0] + squares[1] * made.chances[1]


def _next(made: Draws, state: Any, chances: Any, size: Any, noisy: int) -> tuple[Any, Any]:
    """Return models after a step, before mixing, in twice as many outcomes for every client that has noise."""
    drawn = [[made.functions.gradient(2 * k + face, state[:, k]) for face in (0, 1)] for k in range(made.number)]
    means = [made.chances[0] * low + made.chances[1] * high for low, high in drawn]
    faces = np.array(list(np.ndindex(*[2] * noisy)))
    after, probability = [], []
    for row in faces:
        own = [drawn[k][row[k]] if k < noisy else means[k] for k in range(made.number)]
        after.append(state - size * np.stack(own, axis=1))
        probability.append(chances * np.prod([made.chances[face] for face in row]))
    return np.concatenate(after), np.concatenate(probability)
