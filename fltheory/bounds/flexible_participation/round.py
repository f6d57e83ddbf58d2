r"""One round with given participation, with every outcome of the noise.

Clients have piecewise quadratic functions (:class:`~fltheory.bounds.functions.Kinked`) or, in the plane, quadratics
with turned axes (:class:`~fltheory.bounds.functions.Turned`). Client :math:`k` works in the first :math:`s_\tau^k` of
:math:`E` steps, that is :math:`\alpha_{\tau E+i}^k = 1` for :math:`i < s_\tau^k`. Its stochastic gradient is the full
one plus or minus a vector :math:`v_k`, with a fair coin of its own in every step, so that :math:`\sigma_k^2 =
\|v_k\|^2` is attained; in extreme instances, with five clients, only the first steps are noisy. A client that does not
work keeps its local model; the virtual model is moved by the weighted sum of the steps of those who work.

Constants are the smallest valid ones: :math:`\theta = \max_k p_\tau^k/p^k`, and :math:`G^2` is the largest
:math:`\mathbb E_\xi\|g_t^k\|^2` of the round. The learning rate is a fraction of the largest that the proof allows,
:math:`\min\{\frac{1}{2(1+\theta)L}, \frac{4}{\mu E\theta}\}`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr, Le, Sum

from fltheory.bounds.algebra import EE, Norm, NormSq
from fltheory.bounds.claim import Assumption, Instances
from fltheory.bounds.flexible_participation.symbols import (
    active,
    g_bar_loc,
    g_loc,
    gamma_tau,
    p_tau,
    s_tau,
    theta,
    w_bar,
    w_loc,
)
from fltheory.bounds.functions import Functions, Kinked, Turned, one_based
from fltheory.bounds.space import Choice, ExactPoint, Integer, Integers, Parameter, Params, Real, Space, ratio
from fltheory.bounds.symbols import E, F, G_sq, Gamma, L, N, eta, i, k, mu, p, w_star
from fltheory.problems.problem import Origin

COINS = 6
"""Noisy steps of a round: all that two clients take in three steps."""

CLIENTS: Mapping[str, Parameter] = {
    "N": Integer(1, 2, far=5),
    "d": Integer(1, 2, far=5),
    "E": Integer(1, 3),
    "shape": Choice(("kinked", "turned")),
    "mu": Real(0.1, 10, log=True),
    "condition": Real(1, 20, log=True, far=1e6),
    "samples": Real(0.1, 10, log=True, shape=("N",), far=0.001, whole=True),
    "offset": Real(-2, 2, shape=("d",)),
    "centre": Real(-3, 3, shape=("N", "d")),
    "knot": Real(-3, 3, shape=("N", "d")),
    "left": Real(0, 1, shape=("N", "d")),
    "right": Real(0, 1, shape=("N", "d")),
    "turn": Real(0, 1, shape=("N",)),
    "rate": Real(0.1, 1, log=True),
}
"""The clients' functions, where the round starts relative to the optimum, and the learning rate."""

NOISE: Mapping[str, Parameter] = {"noise": Real(-2, 2, shape=("N", "d"))}

COMPLETED: Mapping[str, Parameter] = {
    "s": Integers(0, "E", shape=("N",)),
    "multiple": Real(0.2, 20, log=True, shape=("N",)),
}
"""Steps completed, and the aggregation coefficients as multiples of the objective weights."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Clients:
    """Functions and constants of the clients, before anybody works."""

    functions: Functions
    mu: Any
    smoothness: Any
    weights: Any
    optimum: Any
    gaps: Any

    def gradient(self, client: int, models: Any) -> Any:
        """Return the gradients of a client at models of shape ``(outcomes, dim)``."""
        if isinstance(self.functions, Turned):
            return (models - self.functions.centre[client]).dot(self.functions.hessian(client))
        return self.functions.gradient(client, models)

    def largest_rate(self, steps: int, theta: Any) -> Any:
        """Return the largest learning rate that meets both conditions of the proof."""
        first, second = 1 / (2 * (1 + theta) * self.smoothness), 4 / (self.mu * steps * theta)
        return first if first < second else second


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RoundInstance:
    """One round for given participation.

    Parameters
    ----------
    works
        Whether a client works in a step, shape ``(N, E)``.
    averaged, local
        Virtual and local models, shapes ``(outcomes, E + 1, dim)`` and ``(outcomes, N, E + 1, dim)``.
    full, stochastic
        Gradients, shape ``(outcomes, N, E, dim)``.
    second_moment
        The largest expected squared norm of a stochastic gradient.
    """

    works: Any
    averaged: Any
    local: Any
    full: Any
    stochastic: Any
    second_moment: Any


def clients_of(point: Params) -> Clients:
    """Return the clients at a point."""
    low, high = point["mu"], point["mu"] * point["condition"]
    left, right = (low + (high - low) * point[side] for side in ("left", "right"))
    functions: Functions
    if point["shape"] == "turned" and point["d"] == 2:
        functions = Turned(centre=point["centre"], eigenvalues=left, turn=point["turn"])
    else:
        functions = Kinked(centre=point["centre"], knot=point["knot"], left=left, right=right)
    weights = point["samples"] / point["samples"].sum()
    optimum = functions.minimiser(weights)
    gaps = [functions.value(k, optimum) for k in range(point["N"])]
    return Clients(functions=functions, mu=low, smoothness=high, weights=weights, optimum=optimum, gaps=gaps)


def play(
    clients: Clients, point: Params, eta: Any, completed: Any, coefficients: Any, *, most: int = COINS
) -> RoundInstance:
    """Run one round on all outcomes of the coins, of which there are at most as many as given."""
    steps, dim = point["E"], point["d"]
    noise = point.get("noise")
    signs = coins(tuple(int(s) for s in completed), steps, most=0 if noise is None else most)
    count, num_clients = signs.shape[:2]
    works = (np.arange(steps)[None, :] < np.asarray(completed)[:, None]).astype(int)
    start = clients.optimum + point["offset"]
    kind = start.dtype
    averaged = np.empty((count, steps + 1, dim), dtype=kind)
    local = np.empty((count, num_clients, steps + 1, dim), dtype=kind)
    full = np.empty((count, num_clients, steps, dim), dtype=kind)
    averaged[:, 0] = start
    local[:, :, 0] = start
    stochastic = np.empty_like(full)
    largest = None
    for step in range(steps):
        averaged[:, step + 1] = averaged[:, step]
        for client in range(num_clients):
            gradient = clients.gradient(client, local[:, client, step])
            moment = (gradient * gradient).sum() / count
            full[:, client, step] = stochastic[:, client, step] = gradient
            if noise is not None:
                stochastic[:, client, step] = gradient + signs[:, client, step, None] * noise[client]
                moment = moment + (noise[client] * noise[client]).sum()
            largest = moment if largest is None or moment > largest else largest
            move = eta * int(works[client, step]) * stochastic[:, client, step]
            local[:, client, step + 1] = local[:, client, step] - move
            averaged[:, step + 1] = averaged[:, step + 1] - coefficients[client] * move
    return RoundInstance(
        works=works, averaged=averaged, local=local, full=full, stochastic=stochastic, second_moment=largest
    )


@functools.lru_cache(maxsize=256)
def coins(completed: tuple[int, ...], steps: int, *, most: int) -> Any:
    """Return all outcomes of one coin per step that is worked, shape ``(outcomes, N, E)``; other steps have none.

    The earliest steps come first, and only so many of them have a coin.
    """
    earliest = [(i, k) for i in range(steps) for k, done in enumerate(completed) if i < done][:most]
    places = sorted((k, i) for i, k in earliest)
    signs = np.zeros((2 ** len(places), len(completed), steps), dtype=int)
    for outcome, values in enumerate(itertools.product((-1, 1), repeat=len(places))):
        for place, value in zip(places, values, strict=True):
            signs[outcome, *place] = value
    return signs


def constants(clients: Clients, point: Params, eta: Any, theta: Any) -> dict[str, Any]:
    """Return the quantities that do not depend on participation."""
    noise = point.get("noise")
    return {
        "N": point["N"],
        "E": point["E"],
        "mu": clients.mu,
        "L": clients.smoothness,
        "eta": eta,
        "theta": theta,
        "p": clients.weights,
        "w_star": clients.optimum,
        "w_start": clients.optimum + point["offset"],
        "F_star": [0] * point["N"],
        "Gamma": clients.gaps,
        "sigma_sq": [0 if noise is None else (noise[k] * noise[k]).sum() for k in range(point["N"])],
        **one_based(clients.functions),
    }


def realise(point: Params) -> dict[str, Any]:
    """Return one round with fixed participation; outcomes are those of the noise."""
    clients = clients_of(point)
    theta = max(point["multiple"])
    coefficients = clients.weights * point["multiple"]
    eta = point["rate"] * clients.largest_rate(point["E"], theta)
    played = play(clients, point, eta, point["s"], coefficients)
    count = len(played.averaged)
    return {
        **constants(clients, point, eta, theta),
        **paths(played),
        "p_tau": coefficients,
        "s_tau": point["s"],
        "active": played.works,
        "G_sq": played.second_moment,
        "w_best": [best(clients, played, coefficients, o) for o in range(count)],
        "chance": [ratio(point, 1, count)] * count,
    }


def realise_busy(point: Params) -> dict[str, Any]:
    """Return a round in which the first client completes all steps, so that no step is idle."""
    completed = np.array(point["s"])
    completed[0] = point["E"]
    kind = ExactPoint if isinstance(point, ExactPoint) else dict
    return realise(kind({**point, "s": completed}))


def paths(played: RoundInstance) -> dict[str, Any]:
    """Return models and gradients of a round, outcomes first."""
    return {
        "w_bar": played.averaged,
        "w_end": played.averaged[:, -1],
        "w_loc": played.local,
        "g_loc": played.stochastic,
        "g_bar_loc": played.full,
    }


def best(clients: Clients, played: RoundInstance, coefficients: Any, outcome: int) -> Any:
    """Return the virtual model of index l of (48): where the weighted values of those who work are smallest."""
    models = played.averaged[outcome]
    sums = [
        sum(
            c * int(at) * clients.functions.value(client, model)
            for client, (c, at) in enumerate(zip(coefficients, works, strict=True))
        )
        for model, works in zip(models[:-1], played.works.T, strict=True)
    ]
    return models[min(range(len(sums)), key=sums.__getitem__)]


_STEP: Mapping[str, Parameter] = {**CLIENTS, **COMPLETED, "E": Integer(1, 2)}

ROUNDS = Instances(space=Space({**CLIENTS, **COMPLETED, **NOISE, "mu": Real(0.0078125, 10, log=True)}), realise=realise)
"""Rounds with noise and fixed participation, for statements about a whole round; flat functions allow rates above 1."""

STEPS = Instances(space=Space({**_STEP, **NOISE}), realise=realise_busy)
"""Rounds without idle steps, for statements about one step, which are trivial there."""

QUIET_STEPS = Instances(space=Space(_STEP), realise=realise_busy)
"""The same without noise: one outcome."""

LONGEST_STEPS = Instances(
    effort=2,
    space=Space(
        {
            **CLIENTS,
            "N": Integer(2, 2),
            "d": Integer(1, 1),
            "E": Integer(1, 1),
            "condition": Real(1, 2),
            "offset": Real(-1, 1, shape=("d",)),
            "rate": Real(1, 1),
            "s": Integers(0, "E", shape=("N",)),
            "multiple": Real(1, 20, log=True, shape=("N",)),
        }
    ),
    realise=realise_busy,
)
"""First steps at the largest learning rate, along a line, with functions close to quadratic."""


# Terms of the proof


def distance(step: Any) -> Expr:
    r"""Return :math:`\Delta_{\tau E+i}`."""
    return NormSq(w_bar[step] - w_star)


def working(step: Any) -> Expr:
    """Return the sum of the coefficients of those who work in a step."""
    return Sum(p_tau[k] * active[k, step], (k, 1, N))


def drift(step: Any) -> Expr:
    """Return the weighted distance of the local models to the virtual one."""
    return Sum(p_tau[k] * active[k, step] * NormSq(w_bar[step] - w_loc[k, step]), (k, 1, N))


def noise_sq(step: Any) -> Expr:
    """Return the squared norm of the aggregated noise."""
    return NormSq(Sum(p_tau[k] * active[k, step] * (g_bar_loc[k, step] - g_loc[k, step]), (k, 1, N)))


def pull(step: Any) -> Expr:
    """Return the aggregated stochastic gradient of a step."""
    return Sum(p_tau[k] * active[k, step] * g_loc[k, step], (k, 1, N))


def speed(step: Any) -> Expr:
    r"""Return :math:`h_{\tau E+i}`."""
    return Norm(pull(step))


def speed_sq(step: Any) -> Expr:
    """Return its square."""
    return NormSq(pull(step))


def gaps(step: Any) -> Expr:
    """Return the weighted non-IID metric of those who work in a step."""
    return Sum(p_tau[k] * active[k, step] * Gamma[k], (k, 1, N))


def ascent(step: Any) -> Expr:
    """Return by how much those who work prefer the virtual model to the optimum."""
    return Sum(p_tau[k] * active[k, step] * (F(k, w_star) - F(k, w_bar[step])), (k, 1, N))


def excess(step: Any, scale: Any = 1) -> Expr:
    r"""Return :math:`C_{\tau E+i}` of (45); as printed, ``scale`` is 1, and the proof needs :math:`1/\eta_\tau^2`."""
    return (2 + mu / (2 * (1 + theta) * L)) * scale * drift(step) + noise_sq(step) + 2 * (2 + theta) * L * gaps(step)


steps_weighted = Sum(p_tau[k] * s_tau[k], (k, 1, N))
"""Sum of coefficients times completed steps."""

factor = (gamma_tau, 2 * eta * (1 - (1 + theta) * L * eta))
"""Definition of the factor above (40)."""

shrinking = 1 - mu * eta * working(i) / 2
"""Factor of the distance in one step."""

small_rate = Assumption("learning rate below 1/(2(1 + theta)L)", Le(eta, 1 / (2 * (1 + theta) * L)), Origin.DECLARED)
small_rate_of_round = Assumption("learning rate below 4/(mu E theta)", Le(eta, 4 / (mu * E * theta)), Origin.DECLARED)
bounded_coefficients = Assumption(
    "bounded aggregation coefficients (3.5)", Le(p_tau[k], theta * p[k]), over=((k, 1, N),)
)
bounded_gradients = Assumption(
    "bounded gradients (3.4)", Le(EE(NormSq(g_loc[k, i])), G_sq), Origin.MEASURED, over=((k, 1, N), (i, 0, E - 1))
)
