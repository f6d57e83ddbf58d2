r"""One round of local SGD under uniform heterogeneity, with all outcomes of the noise, in exact arithmetic.

Clients have :math:`F_i(x) = \phi_i(x) + \langle b_i, x\rangle`, where the derivative of :math:`\phi_i` has the same two
slopes for all clients along an axis, and a kink at a place of the client's own. Then
:math:`\nabla F_i - \nabla F` is bounded although Hessians differ, and constant beyond all kinks: its largest norm, the
smallest :math:`\zeta`, is found at the kinks. Noise of a step is a vector of the client with a fair sign.

Certificates are about :func:`any_round`: all convex :math:`L`-smooth :math:`F_i` and all such noises, with constants
that only the assumptions bound, heterogeneity at the models that a round visits. Less their gradients at the minimiser
:math:`0`, the :math:`F_i` are any functions that are smallest there.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
from sympy import Eq, Le, Max

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.claim import Assumption, Instances
from fltheory.bounds.fieldguide._symbols import (
    M,
    apart_sq,
    eta,
    i,
    k,
    local,
    mean,
    noise,
    past_dependence,
    risk,
    round_gap,
    s,
    sigma_sq,
    spread,
    steps,
    x_star,
    zeta_sq,
)
from fltheory.bounds.functions import Kinked
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space, ratio
from fltheory.bounds.symbols import L
from fltheory.problems.problem import Origin

COINS = 4
"""Coins that are enumerated; later steps of a round have no noise."""


def realise(point: Params, *, longest: int) -> dict[Any, Any]:
    """Return a round; the step size is a share of ``longest / (4 L)``."""
    clients, number, high = point["M"], point["tau"], point["L"]
    one = ratio(point, 1)
    slopes = [high * np.array([point[side]] * clients) for side in ("left", "right")]
    functions = Kinked(centre=0 * point["knot"], knot=point["knot"], left=slopes[0], right=slopes[1])
    tilts = point["tilt"] - point["tilt"].sum(axis=0) * (one / clients)

    def gradients(at: Any) -> Any:
        return np.stack([functions.gradient(c, at[..., c, :]) + tilts[c] for c in range(clients)], axis=-2)

    def value(at: Any) -> Any:
        return sum(functions.value(c, at) + (tilts[c] * at).sum(axis=-1) for c in range(clients)) * (one / clients)

    kinks = [gradients(np.array([row] * clients)) for row in point["knot"]]
    apart = np.array([g - g.sum(axis=0) * (one / clients) for g in kinks])
    largest = np.array([[max(apart[:, c, a] ** 2) for a in range(point["d"])] for c in range(clients)]).sum(axis=1)
    step = point["step"] * longest / (4 * high)
    size = point["noise"]
    noisy = min(number, COINS // clients) if np.any(size != 0) else 0
    signs, drawn, models = walked(point, gradients, step, noisy)
    means = models.sum(axis=1) * (one / clients)
    best = _minimiser(functions, one / clients, clients)
    apart_from = models[:, :, :-1] - means[:, None, :-1]
    return {
        M: clients,
        steps: number,
        L: high,
        eta: step,
        sigma_sq: max((size * size).sum(axis=1)),
        zeta_sq: max(largest),
        apart_sq: largest,
        past_dependence: 0,
        risk: value,
        x_star: best,
        local: list(models),
        noise: list(drawn),
        mean: list(means),
        round_gap: list(value(means[:, 1:]).sum(axis=1) * (one / number) - value(best)),
        spread: list((apart_from * apart_from).sum(axis=(1, 2, 3))),
        "chance": [ratio(point, 1, len(signs))] * len(signs),
    }


def walked(point: Params, gradients: Any, step: Any, noisy: int) -> tuple[list[tuple[int, ...]], Any, Any]:
    """Return the coins of a round with noise in its first steps, the noises, and the models before and after steps."""
    clients, number = point["M"], point["tau"]
    # A sign pattern is followed by its opposite, so that means vanish without rounding.
    half = list(itertools.product((1, -1), repeat=clients * noisy))
    signs = [face for one_half in half[: len(half) // 2] for face in (one_half, tuple(-c for c in one_half))] or half
    coins = np.zeros((len(signs), clients, number), dtype=int)
    coins[:, :, :noisy] = np.array(signs, dtype=int).reshape(len(signs), clients, noisy)
    drawn = coins[:, :, :, None] * point["noise"][:, None, :]
    path = [np.array([[point["x"]] * clients] * len(signs))]
    for j in range(number):
        path.append(path[-1] - step * (gradients(path[-1]) + drawn[:, :, j]))
    return signs, drawn, np.stack(path, axis=2)


def any_round(point: Params, *, longest: int, compared: bool) -> dict[Any, Any]:
    """Return a round of any functions, with noise in its first step, or its first two for one client."""
    clients, number, high = point["M"], point["tau"], point["L"]
    one = ratio(point, 1)
    slopes = [high * np.array([point[side]] * clients) for side in ("left", "right")]
    functions = Kinked(centre=0 * point["knot"], knot=point["knot"], left=slopes[0], right=slopes[1])
    tilts = point["tilt"] - point["tilt"].sum(axis=0) * (one / clients)

    def gradients(at: Any) -> Any:
        return np.stack([functions.gradient(c, at[..., c, :]) + tilts[c] for c in range(clients)], axis=-2)

    def value(at: Any) -> Any:
        return sum(functions.value(c, at) + (tilts[c] * at).sum(axis=-1) for c in range(clients)) * (one / clients)

    step = point["step"] * longest / (4 * high)
    signs, drawn, models = walked(point, gradients, step, min(number, 2 // clients))
    means = models.sum(axis=1) * (one / clients)
    visited = [row for outcome in models[:, :, :-1] for path in outcome for row in path]
    apart = [gradients(np.array([row] * clients)) for row in visited] if compared else []
    squares = [((g - g.sum(axis=0) * (one / clients)) ** 2).sum(axis=1) for g in apart]
    apart_from = models[:, :, :-1] - means[:, None, :-1]
    best = 0 * point["x"]
    return {
        M: clients,
        steps: number,
        L: high,
        eta: step,
        sigma_sq: 2 * point["sigma"] ** 2,
        zeta_sq: point["zeta"] ** 2 if compared else 0,
        apart_sq: [Max(0, *(row[c] for row in squares)) for c in range(clients)],
        past_dependence: 0,
        risk: value,
        x_star: best,
        local: list(models),
        noise: list(drawn),
        mean: list(means),
        round_gap: list(value(means[:, 1:]).sum(axis=1) * (one / number) - value(best)),
        spread: list((apart_from * apart_from).sum(axis=(1, 2, 3))),
        "chance": [ratio(point, 1, len(signs))] * len(signs),
    }


def _minimiser(functions: Kinked, share: Any, clients: int) -> Any:
    """Return the minimiser: the tilts sum to zero."""
    return functions.minimiser(np.array([share] * clients))


SHAPE: dict[str, Parameter] = {
    "M": Integer(1, 2),
    "tau": Integer(1, 3),
    "d": Integer(1, 2),
    "L": Real(0.1, 10, log=True),
    "left": Real(0.001, 1, log=True, shape=("d",)),
    "right": Real(0.001, 1, log=True, shape=("d",)),
    "knot": Real(-3, 3, shape=("M", "d")),
    "tilt": Real(-3, 3, shape=("M", "d")),
    "noise": Real(-2, 2, shape=("M", "d")),
    "step": Real(0.01, 1, log=True),
    "x": Real(-3, 3, shape=("d",)),
}


def rounds(*, longest: int = 1, compared: bool = False) -> Instances:
    """Return rounds with step sizes up to ``longest / (4 L)``; ``compared``: for statements about heterogeneity."""
    constants = {"sigma": Real(0, 2), **({"zeta": Real(0, 3)} if compared else {})}
    return Instances(
        space=Space(SHAPE),
        realise=partial(realise, longest=longest),
        within=Instances(
            space=Space({**SHAPE, **constants}), realise=partial(any_round, longest=longest, compared=compared)
        ),
    )


each = ((i, 1, M),)
INDEPENDENT = Assumption(
    "noise independent over the clients",
    Eq((i - s) * EE(Inner(noise[i, k], noise[s, k])), 0, evaluate=False),
    Origin.DECLARED,
    (*each, (s, 1, M), (k, 0, steps - 1)),
)
FRESH = Assumption(
    "noise of a step unbiased given the steps before",
    Eq(past_dependence, 0, evaluate=False),
    Origin.DECLARED,
)
NOISE = (
    Assumption(
        "unbiased gradients",
        Le(NormSq(EE(noise[i, k])), 0, evaluate=False),
        Origin.DECLARED,
        (*each, (k, 0, steps - 1)),
    ),
    Assumption("bounded variance", Le(EE(NormSq(noise[i, k])), sigma_sq), Origin.DECLARED, (*each, (k, 0, steps - 1))),
    INDEPENDENT,
    FRESH,
)
UNIFORM = Assumption("uniform heterogeneity", Le(apart_sq[i], zeta_sq), Origin.COMPUTED, each)
STEP = Assumption("step size", Le(eta, 1 / (4 * L)))
