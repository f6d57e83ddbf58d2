r"""One round of the algorithm without compression and elastic term, as the proof of Theorem 1 sees it.

The proof is that of flexible participation with other symbols, so the instances are those of
:mod:`fltheory.bounds.flexible_participation.round`: one or two clients with kinked or turned functions, up to three
local steps, a
coin per client and step for the noise, any coefficients. Here are the terms in which this paper's statements are
written, and rounds whose participation is drawn as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import Expr, Le, Sum

from fltheory.bounds.algebra import EE, Norm, NormSq, Pos
from fltheory.bounds.claim import Assumption, Instances
from fltheory.bounds.definitions import Definition
from fltheory.bounds.flexible_participation.round import CLIENTS, NOISE, clients_of, constants, play
from fltheory.bounds.flexible_participation.symbols import (
    active_drawn_at,
    g_bar_loc,
    g_loc,
    p_drawn,
    p_tau,
    s_drawn,
    s_tau,
    theta,
    w_bar,
    w_loc,
)
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Choice, Integer, Integers, Parameter, Params, Real, Space
from fltheory.bounds.symbols import E, G_sq, Gamma, L, N, i, j, k, mu, p, sigma_sq
from fltheory.problems.problem import Origin

DRAWN: Mapping[str, Parameter] = {
    **CLIENTS,
    **NOISE,
    "E": Integer(1, 2),
    "participation": Choice(("independent", "homogeneous")),
    "s": Integers(0, "E", shape=(2, "N")),
    "multiple": Real(0.2, 5, log=True, shape=("N",)),
    "q": Real(0.02, 0.98, shape=("N",)),
    "near": Real(0.001, 1, log=True),
    "loud": Real(0.001, 1, log=True),
}
"""Rounds in which every client has two possible step counts, the same law for all or not; coefficients are multiples of
:math:`p^k E/s^k`.
``near`` and ``loud`` scale the distance at the start and the noise."""


def realise_drawn(point: Params) -> dict[str, Any]:
    """Return a round with drawn participation: every client completes one of two step counts, independently."""
    scaled = {"offset": point["near"] * point["offset"]}
    if "noise" in point:
        scaled["noise"] = point["loud"] * point["noise"]
    point = type(point)({**point, **scaled})  # type: ignore[call-arg]
    clients, count, steps = clients_of(point), point["N"], point["E"]
    even = point["participation"] == "homogeneous"
    cases = []
    for choice in np.ndindex(*(2,) * count):
        chance: Any = 1
        done: list[int] = []
        ratios: list[Any] = []
        for client, which in enumerate(choice):
            row = 0 if even else client
            chance = chance * (point["q"][row] if which else 1 - point["q"][row])
            done.append(int(point["s"][which][row]))
            # Coefficients inverse to the steps, as in section 4.2, up to a multiple of the client's own.
            ratios.append(point["multiple"][row] * steps / done[-1] if done[-1] else 0 * point["multiple"][row])
        cases.append((chance, np.array(done), np.array(ratios, dtype=point["multiple"].dtype)))
    theta_value = max(max(ratios) for _, _, ratios in cases)
    if theta_value == 0:
        theta_value = point["multiple"][0]
    rate = point["rate"] * clients.largest_rate(steps, theta_value)
    ends, chances, coefficients, completed, averaged = [], [], [], [], []
    drifts, noises, pulls, moments = [], [], [], []
    locals_, stochastic, full, works = [], [], [], []
    second: Any = 0
    for chance, steps_done, multiples in cases:
        played = play(clients, point, rate, steps_done, clients.weights * multiples)
        outcomes = len(played.averaged)
        second = played.second_moment if played.second_moment > second else second
        used = (clients.weights * multiples)[:, None] * played.works
        apart = played.averaged[:, None, :-1] - played.local[:, :, :-1]
        drifts.extend((used * (apart * apart).sum(axis=-1)).sum(axis=(1, 2)))
        pulls.extend((used[..., None] * played.stochastic).sum(axis=1))
        noise = (used[..., None] * (played.full - played.stochastic)).sum(axis=1)
        noises.extend((noise * noise).sum(axis=(1, 2)))
        moments.extend([(played.stochastic * played.stochastic).sum(axis=(0, 3)) / outcomes] * outcomes)
        locals_.extend(played.local)
        stochastic.extend(played.stochastic)
        full.extend(played.full)
        works.extend([played.works] * outcomes)
        ends.extend(played.averaged[:, -1])
        averaged.extend(played.averaged)
        chances.extend([chance / outcomes] * outcomes)
        coefficients.extend([clients.weights * multiples] * outcomes)
        completed.extend([steps_done] * outcomes)
    means = [
        sum(c * row[client] * done[client] for c, row, done in zip(chances, coefficients, completed, strict=True))
        for client in range(count)
    ]
    shares = [mean / weight for mean, weight in zip(means, clients.weights, strict=True)]
    spread = max(shares) - min(shares)
    return {
        **constants(clients, point, rate, theta_value),
        "p_drawn": coefficients,
        "s_drawn": completed,
        "w_end": ends,
        "w_bar": averaged,
        "chance": chances,
        "G_sq": second,
        "w_loc": locals_,
        "g_loc": stochastic,
        "g_bar_loc": full,
        "active_drawn_at": works,
        "drift": drifts,
        "noise_sq": noises,
        "pull": pulls,
        "moment": moments,
        # Equal in exact arithmetic; floats may differ by rounding.
        "r_tau": 1 if spread * 10**9 > max(shares) else 0,
    }


DRAWN_ROUNDS = Instances(space=Space(DRAWN), realise=realise_drawn)
"""Rounds with noise and drawn participation."""

QUIET_DRAWN_ROUNDS = Instances(
    effort=2,
    space=Space({name: DRAWN[name] for name in DRAWN if name not in ("noise", "loud")} | {"E": Integer(1, 3)}),
    realise=realise_drawn,
)
"""The same without noise, for statements that it does not enter."""

drift_sum = scalar(
    "drift",
    r"\Delta_\tau",
    "weighted distances of local models to the virtual one, summed over the round",
    random=True,
    domain="nonnegative",
)
noise_sum = scalar(
    "noise_sq",
    r"N_\tau",
    "squared aggregated noise, summed over the round",
    random=True,
    domain="nonnegative",
)
pull = family(
    "pull",
    r"\hat g_{\tau E+<0>}",
    "aggregated stochastic gradient of a step, as drawn",
    first=0,
    random=True,
    shape=("steps", "dim"),
)
moment = family(
    "moment",
    r"\mathbb{E}_\xi\|g_{\tau E+<1>}^{<0>}\|^2",
    "mean squared gradient of a client in a step, given participation",
    first=(1, 0),
    random=True,
    shape=("clients", "steps"),
    domain="nonnegative",
)

_used = p_drawn[k] * active_drawn_at[k, j]
SUMS: tuple[Definition, ...] = (
    (drift_sum, Sum(Sum(_used * NormSq(w_bar[j] - w_loc[k, j]), (k, 1, N)), (j, 0, E - 1))),
    (noise_sum, Sum(NormSq(Sum(_used * (g_bar_loc[k, j] - g_loc[k, j]), (k, 1, N))), (j, 0, E - 1))),
    (pull[j], Sum(_used * g_loc[k, j], (k, 1, N))),
)
"""What the round adds up to."""

FACTOR: Expr = 2 + mu / (2 * (1 + theta) * L)


def second_order(coefficient: Any, steps: Any, inner: Any) -> Expr:
    r"""Return :math:`\mathbb E_\xi[B_\tau]` of (59) with another sum in place of the one next to :math:`E(E-1)G^2`."""
    return (
        Sum(coefficient[k] ** 2 * steps[k] * sigma_sq[k], (k, 1, N))
        + 2 * (2 + theta) * L * Sum(coefficient[k] * steps[k] * Gamma[k], (k, 1, N))
        + FACTOR * E * (E - 1) * G_sq * inner
    )


def inner_printed(coefficient: Any, steps: Any) -> Expr:
    """Return the sum as printed in (59)."""
    work = Sum(coefficient[k] * steps[k], (k, 1, N))
    return work + theta * (Sum(coefficient[k], (k, 1, N)) - 2) + work


def inner_proved(coefficient: Any, steps: Any) -> Expr:
    """Return the sum with a product and a positive part in their places."""
    work = Sum(coefficient[k] * steps[k], (k, 1, N))
    return work + theta * Pos(Sum(coefficient[k], (k, 1, N)) - 2) * work


def squares(coefficient: Any, steps: Any) -> Expr:
    """Return the sum of squared coefficients over weights times steps."""
    return Sum(coefficient[k] ** 2 / p[k] * steps[k], (k, 1, N))


METRIC = Sum(p_drawn[k] * s_drawn[k] * Gamma[k], (k, 1, N))
"""Weighted metric of those who work."""

LENGTH = Sum(Norm(pull[j]), (j, 0, E - 1)) ** 2
r""":math:`(\sum_jh_{\tau E+j})^2`, of which :math:`\overline H_\tau` is the mean over the noise."""


def second_order_sum(scale: Any) -> Expr:
    r"""Return :math:`B_\tau`, the sum of (47) over the round; ``scale`` multiplies the drift."""
    return FACTOR * scale * drift_sum + noise_sum + 2 * (2 + theta) * L * METRIC


bounded_gradients = Assumption(
    "bounded gradients (Assumption 4)",
    Le(EE(NormSq(g_loc[k, i])), G_sq),
    Origin.MEASURED,
    over=((k, 1, N), (i, 0, E - 1)),
)
bounded_coefficients = Assumption(
    "bounded coefficients (Assumption 5)", Le(p_tau[k], theta * p[k]), Origin.DECLARED, over=((k, 1, N),)
)
bounded_gradients_drawn = Assumption(
    "bounded gradients (Assumption 4)", Le(moment[k, i], G_sq), Origin.MEASURED, over=((k, 1, N), (i, 0, E - 1))
)
bounded_coefficients_drawn = Assumption(
    "bounded coefficients (Assumption 5)", Le(p_drawn[k], theta * p[k]), Origin.DECLARED, over=((k, 1, N),)
)

work_fixed = Sum(p_tau[k] * s_tau[k], (k, 1, N))
work_drawn = EE(Sum(p_drawn[k] * s_drawn[k], (k, 1, N)))
gaps_drawn = Sum(EE(p_drawn[k] * s_drawn[k]) * Gamma[k], (k, 1, N))
