r"""Lemma 22: variance of the mean of the clients after one round on quadratics.

For the update (28) with :math:`\eta \le \max\bigl(\frac1{2\delta K}, \frac1\beta\bigr)`, as published

.. math:: \mathbb E_{r-1}f(x^r) \le f(\mathbb E_{r-1}[x^r]) + 3K\beta\frac{\sigma^2}N , \qquad
   \mathbb E_{r-1}f(x^r) \le f(\mathbb E_{r-1}[x^r]) + \beta\frac{\sigma^2}N\sum_{k=1}^K(1 - \mu\eta)^{k-1} ,

the latter (form ``published@strongly-convex``) for strongly convex functions. The factor :math:`\eta^2` of the proof is
lost, so that for small smoothness and large steps both fail; and the larger of the two steps lets the noise grow with
every step, where the proof uses both limits.

**Derivation of the corrected form.** The noise of step :math:`k` reaches :math:`x^r` as :math:`\frac\eta N(I -
\eta A_i)^{K-k}\zeta_{i,k}`, and all of them are uncorrelated, so that

.. math:: \mathbb E_{r-1}f(x^r) - f(\mathbb E_{r-1}[x^r]) = \frac{\eta^2}{2N^2}\sum_{i,k}\mathbb E\|(I -
   \eta A_i)^{K-k}\zeta_{i,k}\|_A^2 .

For :math:`\eta \le \min(\frac1{2\delta K}, \frac1\beta)` the norm of :math:`I - \eta A_i` is at most :math:`1 +
\frac1{2K}`, and :math:`(1 + \frac1{2K})^{2(k-1)} \le e`: at most :math:`\frac e2K\beta\eta^2\frac{\sigma^2}N`.

**Derivation of the sharp form.** For strongly convex clients and :math:`\eta \le \frac1\beta` the norm is at most
:math:`1 - \mu\eta`: at most :math:`\beta\eta^2\frac{\sigma^2}{2N}\sum_{k=1}^K(1 - \mu\eta)^{2(k-1)}`, attained for
:math:`\mu = \beta`.

Instances: see :mod:`fltheory.bounds.scaffold._quadratics`; noise along one direction, its moments propagated.

Source: Karimireddy et al., 2020, Lemma 22, page 38 of the supplement.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import E as e
from sympy import Le, Max, Min, Sum

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method, Rejected
from fltheory.bounds.quantities import scalar
from fltheory.bounds.scaffold._quadratics import SPACE, delta, hessians
from fltheory.bounds.scaffold._symbols import K, beta, eta, sigma_sq
from fltheory.bounds.space import Params, Real, Space, ratio
from fltheory.bounds.symbols import N, k, mu
from fltheory.problems.problem import Origin

expected = scalar("expected", r"\mathbb E_{r-1}f(x^r)", "expected objective after the round", domain="nonnegative")
at_mean = scalar("at_mean", r"f(\mathbb E_{r-1}[x^r])", "objective at the expected model", domain="nonnegative")


def realise(point: Params, *, strongly: bool) -> dict[str, Any]:
    """Return the expectations of one round of both clients."""
    mean, clients = hessians(point)
    low, high = point["low"] - point["delta"], point["low"] + point["above"] + point["delta"]
    if strongly and low <= 0:
        raise Rejected("a client is not strongly convex")
    one = np.array([[1, 0], [0, 1]])
    largest = 1 / high if strongly else max(1 / high, 1 / (2 * point["delta"] * point["K"]))
    size = point["step"] * largest
    model, variance, half = 0 * point["start"], 0 * low, ratio(point, 1, 2)
    for own in clients:
        y, carried = point["start"], point["sigma"] * np.array([1, 0])
        for _ in range(point["K"]):
            y = y - size * (own.dot(y) + (mean - own).dot(point["start"]))
            variance = variance + carried.dot(mean.dot(carried))
            carried = (one - size * own).dot(carried)
        model = model + y * half
    centre = model.dot(mean.dot(model)) * half
    return {
        "N": 2,
        "K": point["K"],
        "mu": low,
        "beta": high,
        "delta": point["delta"],
        "eta": size,
        "sigma_sq": point["sigma"] ** 2,
        "at_mean": centre,
        "expected": centre + size * size * variance * half / 4,
    }


SHAPE = {"step": Real(0.01, 1), "start": Real(-3, 3, shape=(2,))}


def instances(*, strongly: bool) -> Instances:
    """Return rounds, with strongly convex clients or not."""
    low = {"low": Real(0.01, 4)} if strongly else {}
    return Instances(
        space=Space({**SPACE, **low, **SHAPE}), realise=partial(realise, strongly=strongly), method=Method.EXACT
    )


general, strong = instances(strongly=False), instances(strongly=True)
shrunk = Sum((1 - mu * eta) ** (k - 1), (k, 1, K))
both = Assumption("both steps", Le(eta, Min(1 / (2 * delta * K), 1 / beta)), Origin.DECLARED)

claim = Claim(
    id="scaffold.lemma-22",
    kind=Kind.LEMMA,
    title="variance of the clients' mean after one round on quadratics",
    citation=Citation("scaffold", "Lemma 22"),
    forms=(
        Form(statement=Le(expected, at_mean + 3 * K * beta * sigma_sq / N)),
        Form(
            variant="published@strongly-convex",
            statement=Le(expected, at_mean + beta * sigma_sq / N * shrunk),
            check=strong,
        ),
        Form(
            variant="corrected",
            statement=Le(expected, at_mean + e / 2 * K * beta * eta**2 * sigma_sq / N),
            assumptions=(both,),
            note="with the squared step, and the smaller of both limits",
        ),
        Form(
            variant="sharp@strongly-convex",
            statement=Le(
                expected, at_mean + beta * eta**2 * sigma_sq / (2 * N) * Sum((1 - mu * eta) ** (2 * k - 2), (k, 1, K))
            ),
            assumptions=(Assumption("step", Le(eta, 1 / beta), Origin.DECLARED),),
            check=strong,
            note="with half of the squared step and squared factors; attained",
        ),
    ),
    assumptions=(Assumption("step", Le(eta, Max(1 / (2 * delta * K), 1 / beta)), Origin.DECLARED),),
    check=general,
)
