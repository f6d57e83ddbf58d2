r"""Section 4.1: the rate when clients are inactive, and when the extra term vanishes.

With :math:`y_t \in \{0, 1\}` telling whether there are inactive clients in round :math:`t`, the convergence rate is
said to become

.. math:: O\Bigl(\frac{\sum_{t=0}^{\tau-1}y_tJ}{\tau E + E^2}\Bigr) ,

and the term to vanish if :math:`y_t \in O(\tau)` (the long version's sum has lost its upper limit). The first
(``published``) is Theorem 1 without :math:`C_\tau/(\tau E+\gamma)^2`, which is of order :math:`1/\tau` itself; along
:math:`\tau` it is right as long as some round has inactive clients. It is checked with a client that is inactive half
of the time in every round, and with one that is so in the first round only; but it drops the noise, so that it does
not hold uniformly in the variance (``published@noise``), nor in the distance at the start (``published@start``), and
with nobody inactive it claims that the distance is zero.

The condition (``published@vanishing``) is empty, since :math:`y_t \le 1`; with :math:`y_t = 1` throughout the term
tends to :math:`J/E`. Convergence to zero is read as: at least like some power, here :math:`\tau^{-1/20}`.

**Derivation of the corrected form.** The term vanishes if and only if :math:`\sum_{t<\tau}y_t = o(\tau)`; for
:math:`\sum_{t<\tau}y_t \le \tau^{1/2}` it is :math:`O(\tau^{-1/2})` (``corrected@vanishing``). The rate is the
bound of the corrected Theorem 1 in full, with :math:`D = \sum_kp^kD_k` and constants that depend on :math:`E` and
:math:`\theta` left out,

.. math:: \mathbb E\|\omega_{\tau E}^G - \omega^*\|^2 = O\Bigl(\frac{\sum_{t<\tau}y_tJ}{\tau E + \gamma} +
   \frac{\gamma^2\,\mathbb E\|\omega_0^G - \omega^*\|^2 + \tau(\sigma^2 + LD + G^2)/\mu^2}{(\tau E+\gamma)^2}\Bigr) ,

(``corrected``): :math:`r_t \le y_t`, since :math:`p_t^ks_t^k = Ep^k` for all clients that are active.

**Derivation of the sharp form.** Along the rounds and the variance, with inactive clients in at least one round, it
cannot be better than :math:`\frac{\sum_ty_tJ + \sigma^2/\mu^2}{\tau E+E^2}`: a client that is inactive half of the time
in all rounds moves the limit by a constant, and noise of variance :math:`\sigma^2` with steps of
:math:`\frac{16}{\mu\tau}` leaves a squared distance of the order :math:`\frac{\sigma^2}{\mu^2\tau}`. The instances show
both: this over the distance stays bounded, too.

Instances: two clients with minimisers at -1 and 1 and curvature 1 in one dimension, one local step, learning rate of
Theorem 1, started at the optimum or away from it; first and second moments by recursion. The variance is swept to far
beyond :math:`\mu^2\tau J = 8000`, where its term takes over.

Source: EFL, section 4.1, both versions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import Le, Rational, Sum, sqrt

from fltheory.algorithms.efl import EFL
from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.efl import theorem_1
from fltheory.bounds.efl._symbols import J, distance, gamma, start
from fltheory.bounds.flexible_participation.observed import changing_bound, inverse_weights, laws
from fltheory.bounds.observation import Facts, Observation
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import E, G_sq, Gamma, L, N, k, mu, p, tau
from fltheory.problems.problem import Origin

y_sum = scalar("y_sum", r"\sum_{t=0}^{\tau-1} y_t", "rounds so far with inactive clients", domain="nonnegative")
metric = scalar("D", "D", "weighted mean of the clients' gaps at the optimum", domain="nonnegative")
variance = scalar("variance", r"\sigma^2", "variance of a stochastic gradient", domain="nonnegative")


def run(point: Params) -> dict[str, Any]:
    """Return the distance at the end; the second client is inactive half of the time, in as many rounds as said."""
    rounds, when = int(point["tau"]), point["when"]
    inactive = {"always": rounds, "once": 1, "never": 0}[when]
    offset = 64 / (0.75 if inactive else 1.0)
    first, second, largest = point["start"], point["start"] ** 2, 0.0
    for index in range(rounds):
        largest = max(largest, second + 2 * abs(first) + 1)
        active = 0.5 if index < inactive else 1.0
        r = 16 / ((0.5 + 0.5 * active) * (index + 1 + offset))
        both, alone, pulled = 1 - r, 1 - r / 2, -r / 2
        lone = alone * alone * second + 2 * alone * pulled * first + pulled * pulled + r * r * point["noise"] / 4
        second = active * (both * both * second + r * r * point["noise"] / 2) + (1 - active) * lone
        first = active * both * first + (1 - active) * (alone * first + pulled)
    return {
        "E": 1,
        "mu": 1.0,
        "L": 1.0,
        "tau": rounds,
        "N": 2,
        "p": np.full(2, 0.5),
        "Gamma": np.full(2, 0.5),
        "D": 0.5,
        "J": 16.0,
        "theta": 1.0,
        "mean_ps_min": 0.75 if inactive else 1.0,
        "gamma": offset,
        "start_sq": point["start"] ** 2,
        "G_sq": largest + point["noise"],
        "y_sum": inactive,
        "variance": point["noise"],
        "distance_sq": second,
    }


def terms(point: Params) -> dict[str, Any]:
    """Return the extra term alone, with inactive clients in every round."""
    return {"E": point["E"], "tau": point["tau"], "J": point["J"], "y_sum": point["tau"] ** point["power"]}


runs = Instances(
    space=Space(
        {
            "tau": Integer(1, 100000),
            "when": Choice(("always", "once", "never")),
            "noise": Real(0, 1e10),
            "start": Real(0, 1e6),
        },
    ),
    realise=run,
    method=Method.EXACT,
    rational=False,
)


def _sweeps(*sweeps: Sweep) -> Sweeps:
    return Sweeps(instances=runs, sweeps=sweeps)


times = (2000, 4000, 8000, 16000, 32000, 64000)
always, once, never = (
    Sweep("tau", times, {"when": when, "noise": 1.0, "start": 0.0}) for when in ("always", "once", "never")
)
loud_always, loud_once = (
    Sweep("noise", (1e2, 1e4, 1e6, 1e8, 1e10), {"when": when, "tau": 500, "start": 0.0}) for when in ("always", "once")
)
away_once, away_never = (
    Sweep("start", (1e0, 1e1, 1e2, 1e3, 1e4), {"when": when, "tau": 50, "noise": 0.0}) for when in ("once", "never")
)


def _term(power: float) -> Sweeps:
    space = Space({"E": Integer(1, 5), "tau": Real(1, 1e8), "J": Real(0, 10), "power": Real(0, 1)})
    return Sweeps(
        instances=Instances(space=space, realise=terms, rational=False),
        sweeps=(Sweep("tau", (1e3, 1e4, 1e5, 1e6, 1e7), {"E": 2, "J": 1.0, "power": power}),),
    )


def observed() -> Observation:
    """Return how the section is read on an experiment; a round counts where some client may be inactive."""
    whole = changing_bound(theorem_1.GAMMA)

    def quantities(facts: Facts) -> Mapping[Any, Any]:
        env = dict(whole.quantities(facts))
        found, which = laws(facts)
        idle = np.array([float(bool((one.steps.min(axis=1) == 0) @ one.chance > 0)) for one in found])
        y = facts.keep("y_t", idle[which], Origin.COMPUTED, "1 in rounds in which some client may be inactive")
        noise = facts.keep("variance", float(np.max(env["sigma_sq"])), Origin.COMPUTED, "largest of all clients")
        spread = float(env["p"] @ env["Gamma"])
        return env | {"y_sum": np.cumsum(y), "variance": noise, "J": 32 * env["E"] * spread / env["mu"]}

    return dataclasses.replace(
        whole,
        quantities=quantities,
        conditions=lambda facts: (*whole.conditions(facts), inverse_weights(facts)),
        algorithm=functools.partial(EFL, elasticity=0.0),
    )


rate = y_sum * J / (tau * E + E**2)
with_noise = (y_sum * J + variance / mu**2) / (tau * E + E**2)
second_order = (variance + L * metric + G_sq) / mu**2
definitions = (
    (metric, Sum(p[k] * Gamma[k], (k, 1, N))),
    (J, 32 * E * metric / mu),
    (gamma, theorem_1.GAMMA),
)
in_full = y_sum * J / (tau * E + gamma) + (gamma**2 * start + tau * second_order) / (tau * E + gamma) ** 2

claim = Claim(
    id="efl.section-4.1",
    kind=Kind.RATE,
    title="inactive clients",
    citation=Citation("efl", "section 4.1 (both versions)"),
    forms=(
        Form(
            statement=Le(distance, BigO(rate)),
            where=definitions,
            check=_sweeps(always),
            note="along the rounds, a client inactive half of the time",
        ),
        Form(
            variant="published@once",
            statement=Le(distance, BigO(rate)),
            where=definitions,
            check=_sweeps(once),
            note="along the rounds, a client inactive in the first round only",
        ),
        Form(
            variant="published@noise",
            statement=Le(distance, BigO(rate)),
            where=definitions,
            check=_sweeps(loud_once),
            note="along the variance, a client inactive in the first round only",
        ),
        Form(
            variant="published@start",
            statement=Le(distance, BigO(rate)),
            where=definitions,
            check=_sweeps(away_once),
            note="along the distance at the start, a client inactive in the first round only",
        ),
        Form(
            variant="published@vanishing",
            statement=Le(rate, BigO(tau ** Rational(-1, 20))),
            check=_term(1.0),
            note="the term vanishes although there are inactive clients in every round",
        ),
        Form(
            variant="corrected",
            statement=Le(distance, BigO(in_full)),
            where=definitions,
            note="the bound of Theorem 1 with noise, metric, gradients and start",
        ),
        Form(
            variant="sharp",
            statement=Le(with_noise, BigO(distance)),
            where=definitions,
            check=_sweeps(always, once, loud_always, loud_once),
            note="no better along the rounds and the variance, if clients are inactive in at least one round",
        ),
        Form(
            variant="corrected@vanishing",
            statement=Le(rate, BigO(1 / sqrt(tau))),
            check=_term(0.5),
            note="if the rounds with inactive clients are at most sqrt(tau) many",
        ),
    ),
    uses=("efl.theorem-1",),
    check=_sweeps(always, once, never, loud_always, loud_once, away_once, away_never),
    observation=observed(),
)
