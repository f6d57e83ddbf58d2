r"""Lemma 22: variance of the mean of the clients after one round on quadratics.

For the update (28) with :math:`\eta \le \max\bigl(\frac1{2\delta K}, \frac1\beta\bigr)`, as published

.. math:: \mathbb E_{r-1}f(x^r) \le f(\mathbb E_{r-1}[x^r]) + 3K\beta\frac{\sigma^2}N , \qquad
   \mathbb E_{r-1}f(x^r) \le f(\mathbb E_{r-1}[x^r]) + \beta\frac{\sigma^2}N\sum_{k=1}^K(1 - \mu\eta)^{k-1} ,

the latter (form ``published@strongly-convex``) for strongly convex functions. The factor :math:`\eta^2` of the proof is
lost, so that for small smoothness and large steps both fail; and the larger of the two steps lets the noise grow with
every step, where the proof uses both limits. With the factor, and min in place of max, as the lines of the proof show
(the statement of Lemma 23 and its proof differ in the same way), both are true: forms ``published@squared-step`` and
``published@squared-step-strongly-convex``.

**What the proof uses.** The noises of two clients are independent; all products of two noises vanish.

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
Certificates are about all Hessians: what they make of the noise is known by the listed assumptions only.

Source: Karimireddy et al., 2020, Lemma 22, page 38 of the supplement.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import E as e
from sympy import Le, Max, Min, Sum

from fltheory.bounds.algebra import Inner, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method, Rejected
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.scaffold._quadratics import SPACE, delta, hessians
from fltheory.bounds.scaffold._symbols import K, beta, eta, sigma_sq
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space, ratio
from fltheory.bounds.symbols import N, i, j, k, mu
from fltheory.problems.problem import Origin

expected = scalar("expected", r"\mathbb E_{r-1}f(x^r)", "expected objective after the round", domain="nonnegative")
at_mean = scalar("at_mean", r"f(\mathbb E_{r-1}[x^r])", "objective at the expected model", domain="nonnegative")

carried = family(
    "carried",
    r"\bigl((I - \eta A_{<0>})^{<1>}\zeta_{<0>}\bigr)",
    "noise of a client after steps",
    first=(1, 0),
    shape=("clients", "steps", "dim"),
)
pushed = family(
    "pushed",
    r"\bigl(A_{<0>}(I - \eta A_{<0>})^{<1>}\zeta_{<0>}\bigr)",
    "its product with the Hessian of the client",
    first=(1, 0),
    shape=("clients", "steps", "dim"),
)
energy = family(
    "energy",
    r"\bigl\|(I - \eta A_{<0>})^{<1>}\zeta_{<0>}\bigr\|_A^2",
    "its square in the norm of the objective's Hessian",
    first=(1, 0),
    shape=("clients", "steps"),
)


def realise(point: Params, *, strongly: bool) -> dict[str, Any]:
    """Return the expectations of one round of both clients."""
    mean, clients = hessians(point)
    low, high = point["low"] - point["delta"], point["low"] + point["above"] + point["delta"]
    if strongly and low <= 0:
        raise Rejected("a client is not strongly convex")
    one = np.array([[1, 0], [0, 1]])
    largest = 1 / high if strongly else max(1 / high, 1 / (2 * point["delta"] * point["K"]))
    size = point["step"] * largest
    model, half = 0 * point["start"], ratio(point, 1, 2)
    kept: dict[str, list[Any]] = {"carried": [], "pushed": [], "energy": []}
    for own in clients:
        y, moved = point["start"], [point["sigma"] * np.array([1, 0])]
        for _ in range(point["K"]):
            y = y - size * (own.dot(y) + (mean - own).dot(point["start"]))
            moved.append((one - size * own).dot(moved[-1]))
        kept["carried"].append(moved[:-1])
        kept["pushed"].append([own.dot(noise) for noise in moved[:-1]])
        kept["energy"].append([noise.dot(mean.dot(noise)) for noise in moved[:-1]])
        model = model + y * half
    variance = np.array(kept["energy"]).sum()
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
        **kept,
    }


def any_round(point: Params, *, strongly: bool) -> dict[str, Any]:
    """Return one round of which only the assumptions say what Hessians make of noise; no dissimilarity if strongly."""
    steps, clients, high, far = point["K"], 2, point["beta"], point["delta"]
    low = high / point["condition"]
    limit = 1 / high if strongly else 1 / max(high, 2 * far * steps)
    size, half = point["step"] * limit, ratio(point, 1, 2)
    moved = [point["noise"]]
    for step in range(steps):
        moved.append(moved[-1] - size * point["turned"][:, step])
    mixed = np.array([[(moved[n][own] * point["mean"][own, n]).sum() for n in range(steps)] for own in range(clients)])
    return {
        "N": clients,
        "K": steps,
        "mu": low,
        "beta": high,
        "delta": far,
        "eta": size,
        "sigma_sq": point["sigma"] ** 2,
        "at_mean": point["level"],
        "expected": point["level"] + size * size * mixed.sum() * half / 4,
        "carried": np.stack(moved[:-1], axis=1),
        "pushed": point["turned"],
        "energy": mixed,
    }


ANY: dict[str, Parameter] = {
    "d": Integer(1, 2),
    "K": Integer(1, 4),
    "beta": Real(0.1, 10, log=True),
    "condition": Real(1.5, 20, log=True),
    "delta": Real(0.1, 2, log=True),
    "sigma": Real(0.1, 3),
    "level": Real(0, 3),
    "step": Real(0.1, 1),
    "noise": Real(-3, 3, shape=(2, "d")),
    "turned": Real(-3, 3, shape=(2, "K", "d")),
    "mean": Real(-3, 3, shape=(2, "K", "d")),
}


SHAPE = {"step": Real(0.01, 1), "start": Real(-3, 3, shape=(2,))}


def instances(*, strongly: bool, certified: bool) -> Instances:
    """Return rounds, with strongly convex clients or not; certificates are about steps of at most both limits."""
    low = {"low": Real(0.01, 4)} if strongly else {}
    within = Instances(space=Space(ANY), realise=partial(any_round, strongly=strongly)) if certified else None
    return Instances(
        space=Space({**SPACE, **low, **SHAPE}),
        realise=partial(realise, strongly=strongly),
        method=Method.EXACT,
        within=within,
    )


general, strong = (instances(strongly=strongly, certified=False) for strongly in (False, True))
shrunk = Sum((1 - mu * eta) ** (k - 1), (k, 1, K))
steps = ((i, 1, N), (j, 0, K - 1))
noisy = (
    Assumption("bounded variance", Le(NormSq(carried[i, 0]), sigma_sq), over=((i, 1, N),)),
    Assumption("smooth objective", Le(energy[i, j], beta * NormSq(carried[i, j])), over=steps),
)


def within(low: Any) -> Any:
    """Return what eigenvalues between ``low`` and the smoothness say of a vector and its product."""
    product = Inner(pushed[i, j], carried[i, j])
    return Le(NormSq(pushed[i, j]), (beta + low) * product - beta * low * NormSq(carried[i, j]))


near = Assumption(
    "smooth clients, close to a convex objective (A2)",
    within(-delta),
    over=steps,
)
convex = Assumption(
    "smooth and strongly convex clients",
    within(mu),
    over=steps,
)
largest = Assumption("step", Le(eta, Max(1 / (2 * delta * K), 1 / beta)), Origin.DECLARED)
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
            assumptions=(largest, *noisy, convex),
            check=strong,
        ),
        Form(
            variant="published@squared-step",
            statement=Le(expected, at_mean + 3 * K * beta * eta**2 * sigma_sq / N),
            assumptions=(both, *noisy, near),
            check=instances(strongly=False, certified=True),
            intended=("published",),
            note="with the squared step of the proof, and the smaller of both limits",
        ),
        Form(
            variant="published@squared-step-strongly-convex",
            statement=Le(expected, at_mean + beta * eta**2 * sigma_sq / N * shrunk),
            assumptions=(Assumption("step", Le(eta, 1 / beta), Origin.DECLARED), *noisy, convex),
            check=instances(strongly=True, certified=True),
            intended=("published@strongly-convex",),
            note="with the squared step of the proof, and the smaller of both limits",
        ),
        Form(
            variant="corrected",
            statement=Le(expected, at_mean + e / 2 * K * beta * eta**2 * sigma_sq / N),
            assumptions=(both, *noisy, near),
            check=instances(strongly=False, certified=True),
            note="the same with the constant that the proof gives",
        ),
        Form(
            variant="sharp@strongly-convex",
            statement=Le(
                expected, at_mean + beta * eta**2 * sigma_sq / (2 * N) * Sum((1 - mu * eta) ** (2 * k - 2), (k, 1, K))
            ),
            assumptions=(Assumption("step", Le(eta, 1 / beta), Origin.DECLARED), *noisy, convex),
            check=instances(strongly=True, certified=True),
            note="with half of the squared step and squared factors; attained",
        ),
    ),
    assumptions=(largest, *noisy, near),
    check=general,
)
