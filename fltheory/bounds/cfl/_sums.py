r"""Weighted means of :math:`c_1(t), c_2(t)` over the rounds, for (67) to (78).

With :math:`q_t = (1 - \frac{\mu\eta}2)^{1-t}` the weights increase, so by Lemma A.6 the mean of :math:`1/t` is at
most :math:`H_T/T`, with :math:`H_T = \sum_{t \le T} 1/t`. The constants of (62) with uniform weights :math:`p_\tau =
1/t` are

.. math:: c_1(t) = c_{p_G}(t) + \frac{v(t)\sigma^2}{NK}, \qquad c_2(t) = \frac{12L}{\eta_g^2}\Bigl(c_{p_G}(t) +
   \frac{\sigma^2}K\Bigr),

with :math:`c_{p_G}(t) = G^2 + D^2/t` and :math:`v = 1/t` in scenario S2, :math:`(G^2 + D^2)/t` and :math:`1/t` in S1,
:math:`G^2 + D^2` and :math:`1` for FedAvg.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Expr, Le, Min, Rational, Sum, exp, log

from fltheory.bounds.algebra import BigO, NormSq
from fltheory.bounds.cfl import eq_63
from fltheory.bounds.cfl._symbols import D_sq, G_sq, K, T, eta, eta_g, eta_max, sigma_sq
from fltheory.bounds.claim import Assumption, Form, Instances, Sweep, Sweeps
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import L, N, mu, t, w_star
from fltheory.problems.problem import Origin

harmonic = Sum(1 / t, (t, 1, T)) / T
q = (1 - mu * eta / 2) ** (1 - t)
start_sq = scalar(
    "start_sq", r"\mathbb{E}\|\omega_0 - \omega^*\|^2", "squared distance of the start", domain="nonnegative"
)

Scenario = dict[str, Any]


def scenario(name: str) -> Scenario:
    """Return the two constants at round t and bounds on their weighted means, for ``s1``, ``s2`` or ``fedavg``."""
    noise: Any
    mean_noise: Any
    if name == "fedavg":
        constant, mean, noise, mean_noise = G_sq + D_sq, G_sq + D_sq, 1, 1
    elif name == "s2":
        constant, mean, noise, mean_noise = G_sq + D_sq / t, G_sq + D_sq * harmonic, 1 / t, harmonic
    else:
        constant, mean, noise, mean_noise = (G_sq + D_sq) / t, (G_sq + D_sq) * harmonic, 1 / t, harmonic
    scale = 12 * L / eta_g**2
    return {
        "c_1": constant + noise * sigma_sq / (N * K),
        "c_2": scale * (constant + sigma_sq / K),
        "mean_1": mean + mean_noise * sigma_sq / (N * K),
        "mean_2": scale * (mean + sigma_sq / K),
    }


base: Params = {
    "T": 64.0,
    "N": 2.0,
    "K": 2.0,
    "L": 4.0,
    "mu": 1.0,
    "eta": 0.1,
    "eta_g": 2.0,
    "G_sq": 1.0,
    "D_sq": 1.0,
    "sigma_sq": 1.0,
    "start_sq": 1.0,
}

SPACE = Space(
    {
        "T": Integer(1, 6),
        "N": Integer(1, 3),
        "K": Integer(1, 3),
        "L": Real(0.1, 10, log=True),
        "mu": Real(0.1, 10, log=True),
        "contraction": Real(0.001, 1, log=True),
        "eta_g": Real(1, 5),
        "G_sq": Real(0, 4),
        "D_sq": Real(0, 4),
        "sigma_sq": Real(0, 4),
    }
)


def realise(point: Params) -> dict[str, Any]:
    """Return the constants; the step is given, or as a fraction of the largest one that contracts."""
    step = point["eta"] if "eta" in point else point["contraction"] / point["mu"]
    return {
        "T": int(point["T"]),
        "N": point["N"],
        "K": point["K"],
        "L": point["L"],
        "mu": point["mu"],
        "eta": step,
        "eta_g": point["eta_g"],
        "G_sq": point["G_sq"],
        "D_sq": point["D_sq"],
        "sigma_sq": point["sigma_sq"],
        "start_sq": point.get("start_sq", 1),
    }


CHECK = Instances(space=SPACE, realise=realise)


def _sweeps() -> tuple[Sweep, ...]:
    powers = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
    rounds = (2.0, 8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0)
    # Long enough to see one term take over from the others.
    sizes = tuple(16.0**n for n in range(7))
    calm = {**base, "eta": 1e-6}
    brisk = {**base, "eta": 0.1}
    none = dict.fromkeys(("G_sq", "D_sq", "sigma_sq"), 0.0)
    alone = [{**calm, **none, name: 1.0} for name in none]
    return (
        *(Sweep("T", rounds, point) for point in (calm, brisk, *alone)),
        *(Sweep(name, tuple(p / 128 for p in powers), brisk) for name in ("mu", "eta")),
        *(Sweep(name, powers, point) for name in ("N", "K", "L", "eta_g") for point in alone),
        *(Sweep(name, sizes, calm) for name in none),
    )


def forms(constant: Any, mean: Any, claimed: Any) -> tuple[Form, Form]:
    """Return the published rate of a weighted mean, over the step, and the bound with constants.

    Parameters
    ----------
    constant
        The constant at round t.
    mean
        The bound on its weighted mean.
    claimed
        What stands under the soft O.
    """
    left = Sum(q * constant, (t, 1, T)) / (eta * Sum(q, (t, 1, T)))
    return (
        Form(
            statement=Le(left, BigO(claimed) / eta),
            check=Sweeps(instances=Instances(space=SPACE, realise=realise, rational=False), sweeps=_sweeps()),
        ),
        Form(
            variant="sharp",
            statement=Le(left, mean / eta),
            note="with constants; attained for steps that do not contract",
        ),
    )


log_over_T = log(T) / T

best = scalar(
    "best", r"\min_{\eta\le\eta_{\max}}\left(f(\omega_F) - f^*\right)", "bound of the recursion, at the best step"
)

STEPS = np.geomspace(1e-7, 1.0, 2000)
"""Steps that are tried, as fractions of the largest one."""


def best_step(point: Params, *, name: str) -> dict[str, Any]:
    """Return the constants and the smallest value over all steps of what the recursion gives, with c_pB = 1."""
    made = realise({**base, **point})
    rate, last, number = made["eta_g"], made["T"], made["N"] * made["K"]
    most = (np.sqrt(6 * rate**2 + rate**4) - rate**2) / (12 * made["L"])
    fading = np.sum(1 / np.arange(1, last + 1)) / last
    g, d, noise = made["G_sq"], made["D_sq"], made["sigma_sq"]
    drift = {"s2": g + d * fading, "s1": (g + d) * fading, "fedavg": g + d}[name]
    first = drift + noise * (1 if name == "fedavg" else fading) / number
    second = 12 * made["L"] / rate**2 * (drift + noise / made["K"])
    steps = most * STEPS
    power = np.exp(last * np.log1p(-made["mu"] * steps / 2))
    values = made["mu"] / 2 * made["start_sq"] * power / (1 - power) + first * steps + second * steps**2
    return {**made, "eta_max": most, "best": float(values.min())}


ell = scalar("ell", r"\ell", "logarithm that the step is made for", domain="positive")


def _with_constants(name: str) -> Form:
    """Return the rate of the last step with constants, term by term, for any logarithm."""
    sides, rounds = scenario(name), mu * T
    shrunk = (1 - mu * eta / 2) ** T
    forgotten = exp(-ell) + exp(-mu * eta_max * T / 2)
    return Form(
        variant="sharp@rate",
        statement=(
            Le(mu * start_sq / 2 * shrunk / (1 - shrunk), Rational(5, 2) * mu * start_sq * forgotten),
            Le(sides["mean_1"] * eta, 2 * ell * sides["mean_1"] / rounds),
            Le(sides["mean_2"] * eta**2, 4 * ell**2 * sides["mean_2"] / rounds**2),
        ),
        where=((eta, Min(eta_max, 2 * ell / rounds)),),
        assumptions=(
            Assumption("enough rounds (Lemma A.1)", Le(1 / (2 * eta_max * mu), T), Origin.DECLARED),
            Assumption("no step is longer than one over mu", Le(mu * eta_max, 1), Origin.DECLARED),
            Assumption("a logarithm of at least one", Le(1, ell), Origin.DECLARED),
        ),
        check=Instances(space=LONG, realise=_longest),
        note="the rate with constants, term by term: start, squared and cubed step",
    )


LONG = Space(
    {
        **{key: parameter for key, parameter in SPACE.items() if key != "contraction"},
        "contraction": Real(0.05, 1, log=True),
        "ell": Real(1, 20, log=True),
        "start_sq": Real(0, 4),
    }
)


def _longest(point: Params) -> dict[str, Any]:
    """Return the constants; the largest step is given as the part of the distance that it covers."""
    made = realise(point)
    del made["eta"]
    return {**made, "eta_max": point["contraction"] / point["mu"], "ell": point["ell"]}


def last_step(name: str, slow: Expr, fast: Expr) -> tuple[tuple[Form, ...], tuple[Assumption, ...]]:
    """Return the forms and the assumptions of the last step to a strongly convex rate.

    Parameters
    ----------
    name
        ``s1``, ``s2`` or ``fedavg``.
    slow, fast
        The terms of the rate that come from the squared and from the cubed step, as published.
    """
    total = Sum(q, (t, 1, T))
    noise = Sum(q * eq_63.c_1[t], (t, 1, T)) / total * eta + Sum(q * eq_63.c_2[t], (t, 1, T)) / total * eta**2
    start = mu * NormSq(eq_63.models[1] - w_star) / 2
    shrunk = (1 - mu * eta / 2) ** T
    enough = Assumption("enough rounds (Lemma A.1)", Le(1 / (2 * eta_max * mu), T), Origin.DECLARED)
    silent = {"G_sq": 0.0, "D_sq": 0.0, "sigma_sq": 0.0}
    rounds = (1024.0, 4096.0, 16384.0, 65536.0, 262144.0)
    many = {**base, **silent, "sigma_sq": 1.0, "N": 1e12, "T": 1e6}
    shrinks = 2 + log(1 + mu * start_sq / best)
    powers = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    alone = [{**base, **silent, drift: 1.0, "T": 1e6} for drift in silent]
    sizes = tuple(16.0**n for n in range(12))

    runs = Instances(space=SPACE, realise=lambda point: best_step(point, name=name), rational=False)
    sweeps = (
        *(Sweep("T", rounds, {**base, **silent, drift: 1.0}) for drift in silent),
        Sweep("T", (64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0), {**base, **silent}),
        *(Sweep("L", powers, point) for point in (many, *alone)),
        *(Sweep(swept, powers, point) for swept in ("K", "eta_g") for point in alone),
        # So many clients that the cubed step leads.
        *(Sweep("N", sizes, point) for point in alone),
        *(Sweep("mu", tuple(p / 16 for p in powers), point) for point in alone),
        *(Sweep("start_sq", sizes, point) for point in alone),
        *(Sweep(drift, sizes, {**base, **silent, "T": 1e6}) for drift in silent),
    )

    def rate(first: Expr, second: Expr, forgotten: Expr) -> Any:
        return Le(best, BigO(log(T) * (shrinks * first + shrinks**2 * second) + forgotten))

    return (
        Form(statement=Le(eq_63.mean_gap, start * exp(-mu * eta_max * T) + noise), note="at the largest step"),
        Form(
            variant="published@rate",
            statement=rate(slow, fast, mu * start_sq / 2 * exp(-mu * T / L)),
            assumptions=(enough,),
            check=Sweeps(instances=runs, sweeps=sweeps),
            note="the rate, with logarithms",
        ),
        Form(
            variant="corrected",
            statement=Le(eq_63.mean_gap, start * shrunk / (1 - shrunk) + noise),
            assumptions=(eq_63.RECURSION,),
            note="half the exponent, and its denominator",
        ),
        Form(
            variant="corrected@rate",
            statement=rate(slow, L * fast, mu * start_sq / 2 * exp(-mu * eta_max * T / 2)),
            assumptions=(enough,),
            check=Sweeps(instances=runs, sweeps=sweeps),
            note="smoothness restored, exponent of the recursion",
        ),
        _with_constants(name),
    ), (eq_63.RECURSION, enough)


LAST_STEP = Instances(space=eq_63.SPACE, realise=eq_63.realise)
