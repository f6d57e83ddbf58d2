r"""Section 4.1: the rate when clients are inactive, and when the extra term vanishes.

With :math:`y_t \in \{0, 1\}` telling whether there are inactive clients in round :math:`t`, the convergence rate is
said to become

.. math:: O\Bigl(\frac{\sum_{t=0}^{\tau-1}y_tJ}{\tau E + E^2}\Bigr) ,

and the term to vanish if :math:`y_t \in O(\tau)` (the long version's sum has lost its upper limit). The first
(``published``) is Theorem 1 without :math:`C_\tau/(\tau E+\gamma)^2`, which is of order :math:`1/\tau` itself; along
:math:`\tau` it is right as long as some round has inactive clients. It is checked with a client that is inactive half
of the time in every round, and with one that is so in the first round only; but it drops the noise, so that it does
not hold uniformly in the variance (``published@noise``).

The condition (``published@vanishing``) is empty, since :math:`y_t \le 1`; with :math:`y_t = 1` throughout the term
tends to :math:`J/E`. Convergence to zero is read as: at least like some power, here :math:`\tau^{-1/20}`.

**Derivation of the corrected form.** The term vanishes if and only if :math:`\sum_{t<\tau}y_t = o(\tau)`; for
:math:`\sum_{t<\tau}y_t \le \tau^{1/2}` it is :math:`O(\tau^{-1/2})` (``corrected@vanishing``). With the noise of
Theorem 1 the rate is :math:`O\bigl(\frac{\sum_ty_tJ + \sigma^2/\mu^2}{\tau E+E^2}\bigr)`.

Instances: two clients with minimisers at -1 and 1 and curvature 1 in one dimension, one local step, learning rate of
Theorem 1; first and second moments by recursion.

Source: EFL, section 4.1, both versions.
"""

from __future__ import annotations

import functools
from typing import Any

from sympy import Le, Rational, sqrt

from fltheory.bounds._algebra import BigO, scalar
from fltheory.bounds._claim import Claim, Form, Instances, Kind, Method, Source, Sweep, Sweeps
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import E, mu, tau
from fltheory.bounds.efl._symbols import J, distance

y_sum = scalar("efl_y_sum", r"\sum_{t=0}^{\tau-1} y_t", "rounds so far with inactive clients")
variance = scalar("efl_variance", r"\sigma^2", "variance of a stochastic gradient")


def run(point: Params, *, always: bool) -> dict[str, Any]:
    """Return the distance at the end; the second client is inactive half of the time, always or in the first round."""
    rounds, least = int(point["tau"]), 0.75
    offset = 64 / least
    first = second = 0.0
    for index in range(rounds):
        active = 0.5 if always or index == 0 else 1.0
        r = 16 / ((0.5 + 0.5 * active) * (index + 1 + offset))
        both, alone, pulled = 1 - r, 1 - r / 2, -r / 2
        lone = alone * alone * second + 2 * alone * pulled * first + pulled * pulled + r * r * point["noise"] / 4
        second = active * (both * both * second + r * r * point["noise"] / 2) + (1 - active) * lone
        first = active * both * first + (1 - active) * (alone * first + pulled)
    return {
        "E": 1,
        "mu": 1.0,
        "tau": rounds,
        # Both gaps at the optimum are 1/2.
        "efl_J": 16.0,
        "efl_y_sum": rounds if always else 1,
        "efl_variance": point["noise"],
        "efl_distance": second,
    }


def terms(point: Params) -> dict[str, Any]:
    """Return the extra term alone, with inactive clients in every round."""
    return {"E": point["E"], "tau": point["tau"], "efl_J": point["J"], "efl_y_sum": point["tau"] ** point["power"]}


def _sweeps(*sweeps: Sweep, always: bool) -> Sweeps:
    return Sweeps(
        source=Instances(
            space=Space({"tau": Integer(1, 100000), "noise": Real(0, 1e9)}),
            realise=functools.partial(run, always=always),
            method=Method.EXACT,
            rational=False,
        ),
        sweeps=sweeps,
    )


times = (2000, 4000, 8000, 16000, 32000, 64000)
by_time = (Sweep("tau", times, {"noise": 1.0}),)
by_noise = Sweep("noise", (1e0, 1e2, 1e4, 1e6, 1e8), {"tau": 500})


def _term(power: float) -> Sweeps:
    space = Space({"E": Integer(1, 5), "tau": Real(1, 1e8), "J": Real(0, 10), "power": Real(0, 1)})
    return Sweeps(
        source=Instances(space=space, realise=terms, rational=False),
        sweeps=(Sweep("tau", (1e3, 1e4, 1e5, 1e6, 1e7), {"E": 2, "J": 1.0, "power": power}),),
    )


rate = y_sum * J / (tau * E + E**2)
with_noise = Le(distance, BigO((y_sum * J + variance / mu**2) / (tau * E + E**2)))

claim = Claim(
    id="efl.section-4.1",
    kind=Kind.RATE,
    title="inactive clients",
    source=Source("efl", "section 4.1 (both versions)"),
    forms=(
        Form(
            statement=Le(distance, BigO(rate)),
            check=_sweeps(*by_time, always=True),
            note="along the rounds, a client inactive half of the time",
        ),
        Form(
            variant="published@once",
            statement=Le(distance, BigO(rate)),
            check=_sweeps(*by_time, always=False),
            note="along the rounds, a client inactive in the first round only",
        ),
        Form(
            variant="published@noise",
            statement=Le(distance, BigO(rate)),
            check=_sweeps(by_noise, always=False),
            note="along the variance, a client inactive in the first round only",
        ),
        Form(
            variant="published@vanishing",
            statement=Le(rate, BigO(tau ** Rational(-1, 20))),
            check=_term(1.0),
            note="the term vanishes although there are inactive clients in every round",
        ),
        Form(
            variant="corrected",
            statement=with_noise,
            check=_sweeps(*by_time, by_noise, always=False),
            note="with the noise of Theorem 1",
        ),
        Form(
            variant="corrected@vanishing",
            statement=Le(rate, BigO(1 / sqrt(tau))),
            check=_term(0.5),
            note="if the rounds with inactive clients are at most sqrt(tau) many",
        ),
    ),
    uses=("efl.theorem-1",),
    check=_sweeps(*by_time, always=True),
)
