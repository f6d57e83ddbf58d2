r"""Rounds of SCAFFOLD with control variates that are random: the instances of Lemmas 11 to 13.

:func:`rounds`: the round that a lemma is about is the first one, with any control variates :math:`c_i^0`, or the second
one, before which model and control variates depend on who was sampled first.

:func:`lasting`: many rounds. Clients have the same curvature :math:`\beta` and different minimisers in one dimension,
one of :math:`N` is sampled, one local step, no noise. With :math:`x` for :math:`x^r - x^*` and :math:`c_i` for
:math:`c_i^r - \nabla f_i(x^*)`, in units in which :math:`\beta = 1`, client :math:`i` makes
:math:`x \leftarrow (1 - \tilde\eta)x - \tilde\eta c + \tilde\eta c_i` and then :math:`c_i \leftarrow x`. All
:math:`c_i^0` are equal, so that clients are exchangeable and all second moments follow from four:
:math:`\mathbb Ex^2`, :math:`\mathbb Exc_i`, :math:`\mathbb Ec_i^2`, :math:`\mathbb Ec_ic_j`. :math:`c_i^0` may be
such that :math:`\mathbb E[c_i^{r-1}]` vanishes: control variates that are wrong in every outcome, and right on
average.

:func:`second`: any number of clients of that kind, all of them with control variates that are off by the same, and the
second round. In the first one whoever is sampled gets the same model and the right control variate, so that
afterwards a share :math:`S/N` of them is right about the start and the others are what they were. All is known in
closed form.

:func:`curved`: one round of many local steps, all clients, no noise. One client has the objective
:math:`\frac\beta2(x - x^*)^2`, all others have none. Control variates push that client away from :math:`x` so that its
gradients grow over the round, and the others the other way by little each.

Certificates of statements about them are about one round from any model and control variates that have two
outcomes: both sides of a lemma that takes expectations outside are linear in the law of the state, so that it holds for
all laws if it holds for those.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory.bounds.claim import Instances, Method
from fltheory.bounds.scaffold._round import NOISY, ROUND, State, advance, begin, federation, sampled, variance
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, Space, ratio

LATER: dict[str, Parameter] = {"earlier": Integer(0, 1), "control": Real(-3, 3, shape=("N", "d"))}
TWO: dict[str, Parameter] = {
    "outcomes": Integer(2, 2),
    "starts": Real(-3, 3, shape=("outcomes", "d")),
    "controls": Real(-3, 3, shape=("outcomes", "N", "d")),
    "unrest": Real(-3, 3, shape=("outcomes", "N", "d")),
}
SPACE = Space({**ROUND, **LATER})


def rounds(largest: int, *, any_state: bool = False, longer: int = 1) -> Instances:
    """Return the instances with effective steps of at most ``longer`` over ``largest`` times the smoothness.

    If ``any_state``, certificates are about a round from any model and control variates with two outcomes, which many
    rounds may lead to or not.
    """
    realise = _realise(largest, longer)
    within = Instances(space=Space({**NOISY, **TWO}), realise=realise) if any_state else None
    return Instances(space=SPACE, realise=realise, within=within)


def _realise(largest: int, longer: int) -> Callable[[Params], dict[str, Any]]:
    def realise(point: Params) -> dict[str, Any]:
        made = federation(point)
        size = longer * point["step"] / (largest * made.beta)
        eta_l = size / (point["K"] * point["eta_g"])
        goal = made.gradients(made.x_star[None])[0]
        state = _any_state(point, goal) if "outcomes" in point else begin(point, goal + point["control"])
        for _ in range(point.get("earlier", 0)):
            state, _ = advance(point, made, state, eta_l, controlled=True)
        after, moved = advance(point, made, state, eta_l, controlled=True)
        moves = after.x - np.concatenate([state.x] * (len(after.x) // len(state.x)))
        return {
            "N": point["N"],
            "S": sampled(point),
            "K": point["K"],
            "mu": made.mu,
            "beta": made.beta,
            "sigma_sq": variance(point),
            "eta_g": point["eta_g"],
            "eta_tilde": size,
            "gap": state.mean(made.gap(state.x)),
            "drift": state.mean(moved),
            "lag": _lag(state, goal) * made.share,
            "lag_next": _lag(after, goal) * made.share,
            "calm_lag": state.mean(made.squares(state.calm - goal[None])),
            "calm_lag_next": after.mean(made.squares(after.calm - goal[None])),
            "restless_sq": state.mean(made.squares(state.c - state.calm)),
            "dependence": 0,
            "moved_sq": after.mean((moves * moves).sum(axis=1)),
        }

    return realise


def _any_state(point: Params, goal: Any) -> State:
    """Return any model and control variates, in outcomes of the same probability."""
    count = int(point["outcomes"])
    calm = goal[None] + point["controls"]
    return State(np.array([ratio(point, 1, count)] * count), point["starts"], calm + point["unrest"], calm)


def lasting(largest: int) -> Instances:
    """Return many rounds, with effective steps of at most one over ``largest`` times the smoothness."""
    return Instances(
        space=Space(
            {
                "N": Integer(2, 600),
                "laps": Real(0, 4),
                "beta": Real(0.1, 10, log=True),
                "step": Real(0.1, 1),
                "eta_g": Real(1, 10, log=True),
                "cancelled": Choice(("yes", "no")),
                "control": Real(-3, 3),
            }
        ),
        realise=functools.partial(_lasting, largest=largest),
        method=Method.EXACT,
        rational=False,
        within=rounds(largest, any_state=True).within,
    )


def _lasting(point: Params, *, largest: int) -> dict[str, Any]:
    number, beta = int(point["N"]), float(point["beta"])
    past = int(point["laps"] * number)
    eta, share = float(point["step"]) / largest, 1 / number
    # The expected control variate is keep * first + reached after the rounds so far, the start at distance one.
    keep, reached, at = 1.0, 0.0, 1.0
    for _ in range(past):
        keep, reached, at = (1 - share) * keep, (1 - share) * reached + share * at, (1 - eta) * at
    first = -reached / keep if point["cancelled"] == "yes" else float(point["control"])
    xx, xc, cc, other = 1.0, first, first**2, first**2
    for _ in range(past):
        mixed = share * cc + (1 - share) * other
        xx, xc, cc, other = (
            (1 - eta) ** 2 * xx + eta**2 * (cc - mixed),
            share * (1 - eta) * xx + (1 - share) * ((1 - eta) * xc - eta * (mixed - other)),
            share * xx + (1 - share) * cc,
            2 * share * xc + (1 - 2 * share) * other,
        )
    mean = keep * first + reached
    direction = xx + (1 - share) * (cc - other)
    return {
        "N": number,
        "S": 1,
        "K": 1,
        "mu": beta,
        "beta": beta,
        "sigma_sq": 0.0,
        "eta_g": float(point["eta_g"]),
        "eta_tilde": eta / beta,
        "gap": beta * xx / 2,
        "drift": (eta / float(point["eta_g"])) ** 2 * direction,
        "lag": (beta * mean) ** 2,
        "lag_next": (beta * ((1 - share) * mean + share * at)) ** 2,
        "calm_lag": beta**2 * cc,
        "calm_lag_next": beta**2 * (share * xx + (1 - share) * cc),
        "restless_sq": 0.0,
        "dependence": 0,
        "moved_sq": eta**2 * direction,
    }


def second(largest: int) -> Instances:
    """Return second rounds, with effective steps of at most one over ``largest`` times the smoothness."""
    return Instances(
        space=Space(
            {
                "N": Integer(2, 100),
                "S": Integer(1, 99),
                "beta": Real(0.1, 10, log=True),
                "step": Real(0.1, 1),
                "eta_g": Real(1, 10, log=True),
                "start": Real(-3, 3),
                "cancelled": Choice(("yes", "no")),
                "control": Real(-3, 3),
            }
        ),
        realise=functools.partial(_second, largest=largest),
        method=Method.EXACT,
    )


def _second(point: Params, *, largest: int) -> dict[str, Any]:
    number, size, beta = point["N"], int(min(point["S"], point["N"] - 1)), point["beta"]
    right, eta = ratio(point, size, number), point["step"] / largest
    found = beta * point["start"]
    first = -right * found / (1 - right) if point["cancelled"] == "yes" else point["control"]
    x = (1 - eta) * point["start"]
    apart_sq = right * (1 - right) * (found - first) ** 2
    direction = beta**2 * x**2 + apart_sq
    spread = ratio(point, number - size, size * (number - 1)) * apart_sq
    mean, square = right * found + (1 - right) * first, right * found**2 + (1 - right) * first**2
    return {
        "N": number,
        "S": size,
        "K": 1,
        "mu": beta,
        "beta": beta,
        "sigma_sq": 0 * beta,
        "eta_g": point["eta_g"],
        "eta_tilde": eta / beta,
        "gap": beta * x**2 / 2,
        "drift": (eta / beta / point["eta_g"]) ** 2 * direction,
        "lag": mean**2,
        "lag_next": ((1 - right) * mean + right * beta * x) ** 2,
        "calm_lag": square,
        "calm_lag_next": (1 - right) * square + right * beta**2 * x**2,
        "restless_sq": 0 * beta,
        "dependence": 0,
        "moved_sq": (eta / beta) ** 2 * (beta**2 * x**2 + spread),
    }


def curved(largest: int) -> Instances:
    """Return rounds of many steps, with effective steps of at most one over ``largest`` times the smoothness."""
    return Instances(
        space=Space(
            {
                "N": Integer(2, 20),
                "K": Integer(1, 40),
                "beta": Real(0.1, 10, log=True),
                "step": Real(0.01, 1, log=True),
                "eta_g": Real(1, 10, log=True),
                "start": Real(-3, 3),
                "push": Real(0, 40),
            }
        ),
        realise=functools.partial(_curved, largest=largest),
        method=Method.EXACT,
    )


def _curved(point: Params, *, largest: int) -> dict[str, Any]:
    number, steps, beta, x = point["N"], point["K"], point["beta"], point["start"]
    size = point["step"] / (largest * beta)
    eta_l = size / (steps * point["eta_g"])
    # What control variates make of the first step: of the client with an objective, and of each of the others.
    away, back = -point["push"] * beta * x, (1 + point["push"]) * beta * x / (number - 1)
    moved, slopes, drift = 0 * x, 0 * x, 0 * x
    for k in range(1, steps + 1):
        slopes = slopes + beta * (x + moved)
        moved = moved - eta_l * (away + beta * moved)
        drift = drift + moved**2 + (number - 1) * (k * eta_l * back) ** 2
    lag = ((beta * x - away) ** 2 + (number - 1) * back**2) / number
    lag_next = (slopes / steps) ** 2 / number
    return {
        "N": number,
        "S": number,
        "K": steps,
        "mu": 0 * beta,
        "beta": beta,
        "sigma_sq": 0 * beta,
        "eta_g": point["eta_g"],
        "eta_tilde": size,
        "gap": beta * x**2 / (2 * number),
        "drift": drift / (steps * number),
        "lag": lag,
        "lag_next": lag_next,
        "calm_lag": lag,
        "calm_lag_next": lag_next,
        "restless_sq": 0 * beta,
        "dependence": 0,
    }


def _lag(state: State, goal: Any) -> Any:
    """Return the squared distances of the expected control variates from the goal, all clients together."""
    off = state.mean(state.c) - goal
    return (off * off).sum()
