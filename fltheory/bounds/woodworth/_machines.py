r"""Machines with one objective and noise of their own, on all outcomes of their coins.

All machines begin a round at the same model. The objective is separable with one kink of the derivative per coordinate
and slopes in :math:`[\lambda, H]`; the noise of every step is :math:`\pm\sigma` along an axis, by a coin for every
machine and step. Everything works on floats and on rationals.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fltheory.bounds.functions import Kinked
from fltheory.bounds.space import Integer, Parameter, Params, Real

COINS = 6
"""Most coins of a run; where there would be more, there is no noise."""

OBJECTIVE: dict[str, Parameter] = {
    "d": Integer(1, 2),
    "H": Real(0.1, 10, log=True),
    "condition": Real(1, 1e4, log=True, far=1e6),
    "centre": Real(-3, 3, shape=("d",)),
    "knot": Real(-3, 3, shape=("d",)),
    "left": Real(0, 1, shape=("d",)),
    "right": Real(0, 1, shape=("d",)),
    "start": Real(-3, 3, shape=("d",)),
    "sigma": Real(0, 3),
}


def objective(point: Params) -> tuple[Kinked, Any]:
    """Return the objective of all machines, and its strong convexity."""
    high = point["H"]
    low = high / point["condition"]
    slopes = {side: (low + (high - low) * point[side])[None] for side in ("left", "right")}
    return Kinked(centre=point["centre"][None], knot=point["knot"][None], **slopes), low


def noise(point: Params, machines: int, steps: int) -> Any:
    """Return the size of the noise: none if there would be too many coins."""
    return point["sigma"] if machines * steps <= COINS else 0 * point["sigma"]


def walk(
    made: Kinked, start: Any, machines: int, rates: Sequence[Any], sigma: Any, *, every: int | None = None
) -> list[Any]:
    """Return the models before and after every step, each of shape ``(outcomes, machines, dim)``.

    They are averaged after ``every`` so many steps, or never.
    """
    steps = len(rates)
    coins = machines * steps if sigma > 0 else 0
    signs = np.array(list(itertools.product((-1, 1), repeat=coins)) if coins else [(0,) * (machines * steps)])
    signs = signs.reshape(len(signs), steps, machines)
    models = np.repeat(np.repeat(start[None, None], len(signs), axis=0), machines, axis=1)
    found = [models]
    for step, rate in enumerate(rates):
        along = (np.arange(models.shape[-1]) == step % models.shape[-1]).astype(int)
        slope = made.gradient(0, models) + sigma * signs[:, step, :, None] * along
        models = models - rate * slope
        if every is not None and (step + 1) % every == 0:
            models = np.repeat((models.sum(axis=1) / machines)[:, None], machines, axis=1)
        found.append(models)
    return found


def mean(values: Any) -> Any:
    """Return the expectation over outcomes on the first axis, which are equally likely."""
    return values.sum(axis=0) / len(values)


def squares(vectors: Any) -> Any:
    """Return squared norms over the last axis."""
    return (vectors * vectors).sum(axis=-1)
