r"""One round of CFL-R on all outcomes of drift and noise (Algorithm 1, section B.4).

In dimension one, with a base :math:`\varphi` whose derivative has one kink (slopes between :math:`\mu_0` and
:math:`L_0`), the local objectives have the gradients

.. math:: \nabla f_{\tau,i}(\omega) = \nabla\varphi(\omega) - \delta_i(\omega) - \xi_{\tau,i}, \qquad
   \delta_i(\omega) = s\,y_i + s'\beta\,\nabla\varphi(\omega), \qquad
   \xi_{\tau,i}(\omega) = s_\tau(x_{\tau,i} + \alpha\,\nabla\varphi(\omega)),

with fair coins :math:`s, s', s_1, \dots, s_t`, so that :math:`f = \mathbb E f_{\tau,i} = \varphi`, :math:`B^2 =
\beta^2`, :math:`G^2 = \max_i y_i^2`, :math:`A^2 = 2\alpha^2`, :math:`D^2 = 2\max x_{\tau,i}^2` (not doubled if
:math:`\alpha = 0`), :math:`L = (1 + \alpha + \beta)L_0` and :math:`\mu = (1 - \alpha - \beta)\mu_0`. Some instances
have no drift at all. The noise of step :math:`k` of client :math:`i` is :math:`\pm\sigma` by a coin of its own.
Client :math:`i` remembers the objectives of earlier rounds by their Taylor models at given points
:math:`\hat\omega_\tau`; Hessians are the slopes there. The global model :math:`\omega_t` is fixed, so drifts do not
depend on it. Without a kink, or in the first round, nothing is lost by the memory.

All arrays have a leading axis over outcomes; code works on floats and on rationals.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sympy import Eq, Le, Lt, Sum

from fltheory.bounds._algebra import EE, NormSq, family, scalar
from fltheory.bounds._claim import Assumption, Rejected
from fltheory.bounds._space import Choice, Integer, Params, Real, Space, ratio
from fltheory.bounds._symbols import L, N
from fltheory.bounds.cfl._symbols import A_sq, B_sq, D_sq, G_sq, K, c_B, eta_l, now, p, s, sigma_sq
from fltheory.problem import Origin

COINS = 5
"""Most coins of an instance, so at most 32 outcomes."""

step = scalar("cfl_step", "k", "a local step, from 1")
client = scalar("cfl_client", "i", "a client, from 1")

w = family("cfl_w", r"\omega_{t,<0>,<1>}", "local model after so many steps", first=(1, 0), random=True)
nu = family("cfl_nu", r"\nu_{t,<0>,<1>}", "noise of a local step", first=(1, 1), random=True)
update = scalar("cfl_update", r"\Delta\omega_t", "displacement of the global model", random=True)
direction = family(
    "cfl_direction", r"\tilde g_{t,<0>}(\omega_{t,<0>,<1>})", "direction of a local step", first=(1, 0), random=True
)
grad_tilde = family(
    "cfl_grad_tilde",
    r"\nabla\tilde f_{t,<0>}(\omega_{t,<0>,<1>})",
    "gradient of the approximate objective at a local model",
    first=(1, 0),
    random=True,
)
lost = family(
    "cfl_lost", r"\Delta_{t,<0>}(\omega_{t,<0>,<1>})", "information loss at a local model", first=(1, 0), random=True
)
grad_at = family(
    "cfl_grad_at",
    r"\nabla f_{<0>,<1>}(\omega_{t,<1>,<2>})",
    "gradient of a round's local objective at a local model",
    first=(1, 1, 0),
    random=True,
)
past = family("cfl_past", r"\omega_{<0>,<1>,K}", "local model at the end of an earlier round", first=(1, 1))
local_gap = family(
    "cfl_local_gap",
    r"\left(\bar f_{t,<0>}(\omega_t) - \bar f_{t,<0>}(\omega^*)\right)",
    "remembered objective at the model less that at the minimiser",
    random=True,
)
grad_t = scalar("cfl_grad_t", r"\nabla f(\omega_t)", "gradient of the global objective at the model")
gap = scalar("cfl_gap", r"\left(f(\omega_t) - f^*\right)", "gap of the model")

squares = Sum(p[s] ** 2, (s, 1, now))
"""Sum of the squared weights."""
grown = 1 + B_sq + A_sq * squares
"""Factor of the squared gradient in Lemma 3.5 (2)."""
floor = G_sq + D_sq * squares
"""Constant in Lemma 3.5 (2)."""

NOISE = Assumption(
    "bounded noise (2)", Le(EE(NormSq(nu[client, step])), sigma_sq), Origin.DECLARED, ((client, 1, N), (step, 1, K))
)
WEIGHTS = Assumption("weights sum to one", Eq(Sum(p[s], (s, 1, now)), 1, evaluate=False), Origin.DECLARED)
SMALL = Assumption("positive denominator", Lt(2 * K**2 * eta_l**2 * L**2 * c_B, 1), Origin.DECLARED)


def space(
    *,
    rate: float,
    clients: tuple[int, int] = (1, 2),
    steps: tuple[int, int] = (1, 3),
    rounds: tuple[int, int] = (1, 2),
    drifts: tuple[str, ...] = ("none", "all"),
) -> Space:
    """Return the space of rounds whose local rate is at most ``rate`` over the smoothness times the number of steps."""
    return Space(
        {
            "N": Integer(*clients),
            "K": Integer(*steps),
            "t": Integer(*rounds),
            "drifts": Choice(drifts),
            "L": Real(0.2, 5, log=True),
            "right": Real(0, 1),
            "alpha": Real(0, 0.45),
            "beta": Real(0, 0.45),
            "knot": Real(-2, 2),
            "start": Real(-3, 3),
            "past": Real(-3, 3, shape=("t", "N")),
            "p": Real(0.05, 1, shape=("t",)),
            "client": Real(-2, 2, shape=("N",)),
            "round": Real(-2, 2, shape=("t", "N")),
            "sigma": Real(0, 2),
            "rate": Real(0.001, rate, log=True),
            "eta_g": Real(1, 3),
        }
    )


def realise(point: Params, *, loss: bool = True, quiet: bool = False) -> dict[str, Any]:
    """Run one round on all outcomes.

    Parameters
    ----------
    point
        A point of :func:`space`.
    loss
        Let the base have a kink in later rounds too, so that the memory loses information.
    quiet
        Leave out the noise.
    """
    clients, steps, number = point["N"], point["K"], point["t"]
    drift = point["drifts"] == "all"
    sigma = 0 * point["sigma"] if quiet else point["sigma"]
    coins = clients * steps + (2 + number if drift else 0)
    if coins > COINS:
        raise Rejected(f"more than {COINS} coins")
    faces = np.array(list(itertools.product((-1, 1), repeat=coins)))
    noise = faces[:, : clients * steps].reshape(-1, clients, steps) * sigma
    zero = 0 * point["knot"]
    alpha, beta = (point["alpha"], point["beta"]) if drift else (zero, zero)
    if drift:
        s_client, s_growth, s_rounds = faces[:, -2 - number], faces[:, -1 - number], faces[:, -number:]
        shift = (s_client[:, None] * point["client"])[:, None] + s_rounds[:, :, None] * point["round"][None]
    else:
        s_growth, s_rounds = np.zeros(len(faces), dtype=int), np.zeros((len(faces), number), dtype=int)
        shift = np.zeros((len(faces), number, clients), dtype=int) * zero
    # What multiplies the gradient of the base in each round.
    factor = 1 - s_growth[:, None] * beta - s_rounds * alpha
    # The slope below the knot is the smoothness of the base, so that L is not an overestimate; its minimiser is 0.
    high = point["L"] / (1 + alpha + beta)
    left, right = high, high * point["right"]
    if number > 1 and not loss:
        right = left
    knot = point["knot"]

    def slope(x: Any) -> Any:
        return left * np.minimum(x - knot, 0) + right * np.maximum(x - knot, 0) - bottom

    def height(x: Any) -> Any:
        below, above = np.minimum(x - knot, 0), np.maximum(x - knot, 0)
        return (left * below * below + right * above * above) / 2 - bottom * x

    bottom = left * min(zero - knot, zero) + right * max(zero - knot, zero)
    start, points = point["start"], point["past"]
    hessian = np.array([[left if x <= knot else right for x in row] for row in points])
    weights = point["p"] / point["p"].sum()
    rate = point["rate"] / (point["L"] * steps)

    def gradients(x: Any) -> Any:
        """Return the gradients of all rounds at one model per client, ``(outcomes, rounds, clients)``."""
        return factor[:, :, None] * slope(x)[:, None] - shift

    def tilde(x: Any) -> Any:
        fresh = gradients(x)[:, -1] * weights[-1]
        for earlier in range(number - 1):
            at = points[earlier]
            model = (
                factor[:, earlier, None] * (slope(at)[None] + hessian[earlier][None] * (x - at[None]))
                - shift[:, earlier]
            )
            fresh = fresh + weights[earlier] * model
        return fresh

    x = np.array([[start] * clients] * len(faces))
    models, tildes, alls, directions = [x], [tilde(x)], [gradients(x)], []
    for n in range(steps):
        directions.append(tildes[-1] + weights[-1] * noise[:, :, n])
        x = x - rate * directions[-1]
        models.append(x)
        tildes.append(tilde(x))
        alls.append(gradients(x))
    directions.append(tildes[-1])
    every = np.stack(alls, axis=-1)
    bars = (weights[None, :, None, None] * every).sum(axis=1)
    ends = np.array([start, zero])
    values = factor[:, :, None] * (height(ends)[0] - height(ends)[1]) - shift * start
    local = (weights[None, :, None] * values).sum(axis=1)
    round_part = [x * x for x in np.ravel(point["round"])] if drift else [zero]
    client_part = [x * x for x in np.ravel(point["client"])] if drift else [zero]
    tilde_all = np.stack(tildes, axis=-1)
    return {
        "N": clients,
        "cfl_K": steps,
        "t": number,
        "L": point["L"],
        "mu": (1 - alpha - beta) * min(left, right),
        "cfl_eta_l": rate,
        "cfl_eta_g": point["eta_g"],
        "cfl_eta": steps * rate * point["eta_g"],
        "cfl_p": weights,
        "cfl_A_sq": 2 * alpha * alpha,
        "cfl_B_sq": beta * beta,
        "cfl_D_sq": max(round_part) * (2 if alpha > 0 else 1),
        "cfl_G_sq": max(client_part),
        "cfl_sigma_sq": sigma**2,
        "cfl_epsilon": (1 + alpha + beta) * max(left, right) - (1 - alpha - beta) * min(left, right),
        "cfl_w_t": np.array([start]),
        "w_star": np.array([zero]),
        "cfl_past": points[:, :, None],
        "cfl_grad_t": np.array([slope(np.array([start]))[0]]),
        "cfl_gap": height(np.array([start]))[0] - height(np.array([zero]))[0],
        "cfl_local_gap": local,
        "cfl_w": np.stack(models, axis=-1)[..., None],
        "cfl_nu": noise[..., None],
        "cfl_direction": np.stack(directions, axis=-1)[..., None],
        "cfl_grad_tilde": tilde_all[..., None],
        "cfl_lost": (bars - tilde_all)[..., None],
        "cfl_grad_at": every[..., None],
        "cfl_update": point["eta_g"] * (models[-1] - models[0]).sum(axis=1, keepdims=True) / clients,
        "chance": [ratio(point, 1, len(faces))] * len(faces),
    }


def over_steps(body: Any) -> Any:
    """Return the sum over clients and steps of an expression in ``client`` and ``step``."""
    return Sum(body, (step, 1, K), (client, 1, N))
