r"""Lemma 1: progress of the averaged iterate in one step (Lemma 3.1 of Stich 2019).

For an :math:`H`-smooth and :math:`\lambda`-strongly convex :math:`F`, stochastic gradients of variance at most
:math:`\sigma^2` and :math:`\eta_t \le \frac1{4H}`, the iterates of local SGD satisfy, as published,

.. math:: \mathbb E[F(\bar x_t) - F^*] \le \Bigl(\frac2{\eta_t} - 2\lambda\Bigr)\mathbb E\|\bar x_t - x^*\|^2
   - \frac2{\eta_t}\,\mathbb E\|\bar x_{t+1} - x^*\|^2 + \frac{2\eta_t\sigma^2}M
   + \frac{4H}M\sum_{m=1}^M\mathbb E\|\bar x_t - x_t^m\|^2 .

In the printed proof :math:`\mathbb E\|\bar x_t - x^*\|` has lost its square throughout (26) to (33).

**Derivation of the sharp form.** Let :math:`g_m = \nabla F(x_t^m)`. A function of this class satisfies
:math:`\langle\nabla F(x), x - x^*\rangle \ge (1-\frac\lambda H)(F(x) - F^*) + \frac1{2H}\|\nabla F(x)\|^2 +
\frac\lambda2\|x - x^*\|^2` (interpolation with :math:`\nabla F(x^*) = 0`) and the same without the middle term and with
1 in front of :math:`F(x) - F^*`. Adding :math:`\eta H \le 1` times the first and :math:`1 - \eta H` times the second,

.. math:: \langle g_m, x_t^m - x^*\rangle \ge (1-\eta\lambda)(F(x_t^m) - F^*) + \tfrac\eta2\|g_m\|^2 +
   \tfrac\lambda2\|x_t^m - x^*\|^2 .

By smoothness :math:`\langle g_m, \bar x_t - x_t^m\rangle \ge F(\bar x_t) - F(x_t^m) - \frac H2\|\bar x_t - x_t^m\|^2`
and :math:`\frac1M\sum_mF(x_t^m) \le F(\bar x_t) + \frac H{2M}\sum_m\|\bar x_t - x_t^m\|^2`. With
:math:`\frac1M\sum_m\|x_t^m - x^*\|^2 = \|\bar x_t - x^*\|^2 + \frac1M\sum_m\|\bar x_t - x_t^m\|^2` the sum over
machines is, since :math:`\eta^2\|\frac1M\sum_mg_m\|^2` is at most the :math:`\|g_m\|^2` that are there,

.. math:: 2\eta(1-\eta\lambda)\,\mathbb E[F(\bar x_t) - F^*] \le (1-\eta\lambda)\,\mathbb E\|\bar x_t - x^*\|^2 -
   \mathbb E\|\bar x_{t+1} - x^*\|^2 + \frac{\eta^2\sigma^2}M +
   \eta\bigl((1+\eta\lambda)H - \lambda\bigr)\frac1M\sum_m\mathbb E\|\bar x_t - x_t^m\|^2 .

It holds for :math:`\eta \le \frac1H`, four times as far, and is an equality on :math:`F(x) = \frac\lambda2\|x\|^2`
before machines have parted. To first order in :math:`\eta` it has a quarter of the first two and of the third term,
and an eighth of the last one.

Instances: up to three machines in one or two dimensions, up to two steps after the last averaging, all coins. Step
sizes may fall: the drift matters if earlier steps were longer. Certificates are about one step from any models of the
machines, with noise of either sign: given the past, every step of the check is one, and both sides are expectations
over the past.

Source: Woodworth et al., 2020, Lemma 1, page 3 of the supplement.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sympy import Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.woodworth._machines import OBJECTIVE, mean, noise, objective, squares, walk
from fltheory.bounds.woodworth._symbols import H, M, eta, lam, sigma_sq
from fltheory.problems.problem import Origin

gap = scalar("gap", r"\mathbb E[F(\bar x_t) - F^*]", "expected gap of the averaged iterate", domain="nonnegative")
before = scalar(
    "before", r"\mathbb E\|\bar x_t - x^*\|^2", "expected squared distance of the mean iterate", domain="nonnegative"
)
after = scalar(
    "after", r"\mathbb E\|\bar x_{t+1} - x^*\|^2", "expected squared distance after the step", domain="nonnegative"
)
drift = scalar(
    "drift",
    r"\tfrac1M\sum_{m=1}^M\mathbb E\|\bar x_t - x_t^m\|^2",
    "mean squared distance of the iterates from their average",
    domain="nonnegative",
)


def realise(point: Params) -> dict[Any, Any]:
    """Run the steps of a round up to the one that the lemma is about."""
    made, low = objective(point)
    machines, past = point["M"], point["past"]
    rate = point["step"] / point["H"]
    sigma = noise(point, machines, past + 1)
    rates = [point["early"] / point["H"]] * past + [rate]
    models = walk(made, point["start"], machines, rates, sigma)
    return _quantities(point, made, low, models[past], models[past + 1], rate, sigma * sigma)


def _quantities(
    point: Params, made: Kinked, low: Any, models: Any, moved: Any, rate: Any, variance: Any
) -> dict[Any, Any]:
    """Return the quantities of one step of all machines, from and to models on all outcomes."""
    machines, best = point["M"], point["centre"]
    here, there = models.sum(axis=1) / machines, moved.sum(axis=1) / machines
    return {
        M: machines,
        H: point["H"],
        lam: low,
        eta: rate,
        sigma_sq: variance,
        gap: mean(made.value(0, here)),
        before: mean(squares(here - best)),
        after: mean(squares(there - best)),
        drift: mean(squares(models - here[:, None])).sum() / machines,
    }


def step_from_anywhere(point: Params) -> dict[Any, Any]:
    """Take one step with noise of either sign from any models of the machines."""
    made, low = objective(point)
    machines, rate = point["M"], point["step"] / point["H"]
    signs = np.array(list(itertools.product((-1, 1), repeat=machines)))
    models = np.repeat(point["models"][None], len(signs), axis=0)
    moved = models - rate * (made.gradient(0, models) + signs[:, :, None] * point["noise"])
    return _quantities(point, made, low, models, moved, rate, (point["noise"] * point["noise"]).sum())


APART: dict[str, Any] = {
    "M": 2,
    "past": 1,
    "d": 1,
    "H": 1.0,
    "condition": 1e4,
    "centre": np.array([0.0]),
    "knot": np.array([0.02]),
    "left": np.array([1.0]),
    "right": np.array([0.0]),
    "start": np.array([0.2]),
    "sigma": 1.0,
    "early": 0.25,
    "step": 0.002,
}
"""Machines on either side of a kink near the minimiser: their mean gradient is much less than that of their mean."""

claim = Claim(
    id="woodworth.lemma-1",
    kind=Kind.LEMMA,
    title="progress of the averaged iterate in one step",
    citation=Citation("woodworth", "Lemma 1"),
    forms=(
        Form(
            statement=Le(gap, (2 / eta - 2 * lam) * before - 2 / eta * after + 2 * eta * sigma_sq / M + 4 * H * drift)
        ),
        Form(
            variant="sharp",
            statement=Le(
                2 * eta * (1 - eta * lam) * gap,
                (1 - eta * lam) * before - after + eta**2 * sigma_sq / M + eta * ((1 + eta * lam) * H - lam) * drift,
            ),
            assumptions=(Assumption("step size", Le(eta, 1 / H), Origin.DECLARED),),
            note="smaller constants, and step sizes up to 1 / H; an equality for the flattest parabola",
        ),
    ),
    assumptions=(Assumption("step size", Le(eta, 1 / (4 * H)), Origin.DECLARED),),
    check=Instances(
        space=Space(
            {
                "M": Integer(1, 3),
                "past": Integer(0, 2),
                **OBJECTIVE,
                "early": Real(0.01, 0.25, log=True),
                "step": Real(0.001, 1, log=True),
            },
        ),
        realise=realise,
        begin=(APART,),
        within=Instances(
            space=Space(
                {
                    "M": Integer(1, 2),
                    **{name: kept for name, kept in OBJECTIVE.items() if name not in ("start", "sigma")},
                    "models": Real(-3, 3, shape=("M", "d")),
                    "noise": Real(-3, 3, shape=("d",)),
                    "step": Real(0.001, 1, log=True),
                }
            ),
            realise=step_from_anywhere,
        ),
    ),
)
