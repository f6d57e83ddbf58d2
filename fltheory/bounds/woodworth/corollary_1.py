r"""Corollary 1: rates of local SGD and of accelerated local SGD on quadratics.

For convex quadratics (:math:`\lambda = 0`) there are constants such that, as published, for local SGD (form
``published``) and local AC-SA (form ``published@accelerated``)

.. math:: \mathbb EF(\hat x) - F^* \le c_1\Bigl(\frac{HB^2}{KR} + \frac{\sigma B}{\sqrt{MKR}}\Bigr) , \qquad
   \mathbb EF(\tilde x) - F^* \le c_2\Bigl(\frac{HB^2}{K^2R^2} + \frac{\sigma B}{\sqrt{MKR}}\Bigr) .

**Reading.** The constants are universal, as after Theorem 2. By Theorem 1 the points are the averaged last iterates.
AC-SA for convex functions (Ghadimi and Lan) makes :math:`x_t^{md} = (1-\alpha_t)x_{t-1}^{ag} + \alpha_tx_{t-1}`, then
:math:`x_t = x_{t-1} - t\,s\,\nabla f(x_t^{md}; z_t)` and
:math:`x_t^{ag} = (1-\alpha_t)x_{t-1}^{ag} + \alpha_tx_t` with :math:`\alpha_t = \frac2{t+1}`, and returns
:math:`x_T^{ag}`; here :math:`s = \min\{\frac1{4H}, \frac{B\sqrt M}{\sigma T^{3/2}}\}` with :math:`T = KR`.

**Derivation of the sharp form.** With step size :math:`\eta \le \frac1H` and :math:`T = KR`, Theorem 1 gives on an axis
of curvature :math:`h` the gap :math:`\frac h2(1-\eta h)^{2T}b^2` of the start and
:math:`\frac{h\eta^2}2\cdot\frac{1-(1-\eta h)^{2T}}{1-(1-\eta h)^2}` times the variance along it, over :math:`M`. The
first factor is largest at :math:`\eta h = \frac1{2T+1}`, where it is at most :math:`\frac1{2\eta(2T+1)}`, and the
second one is at most :math:`\frac\eta{2(2-\eta h)} \le \frac\eta2`. So

.. math:: \mathbb EF(\bar x_{KR}) - F^* \le \frac{B^2}{4\eta KR} + \frac{\eta\sigma^2}{2M} ,
   \qquad \eta = \min\Bigl\{\frac1H, \frac{B\sqrt M}{\sigma\sqrt{2KR}}\Bigr\} , \qquad
   \mathbb EF(\bar x_{KR}) - F^* \le \frac{HB^2}{4KR} + \frac{\sigma B}{\sqrt{2MKR}} .

The last is the form ``sharp``.

Instances: the rates along sweeps of all parameters, with the start along the axis that is worst for the number of steps
and the noise along the one that is worst for it, mean and variance in closed form or by their recursion. For ``sharp``
runs of FedAvg on quadratics of one Hessian by the exact engine.

Source: Woodworth et al., 2020, Corollary 1, page 5. That local AC-SA is optimal is a statement about all algorithms,
and is not checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, sqrt

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.observation import Observation
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.woodworth import _runs
from fltheory.bounds.woodworth._symbols import B, H, K, M, R, sigma

error = scalar("error", r"\mathbb EF(\hat x) - F^*", "expected gap of the output", domain="nonnegative")

GRID = np.geomspace(1e-7, 1.0, 141)
"""Curvatures over H among which the worst ones are taken."""


def plain(point: Params) -> dict[Any, Any]:
    """Return the error of local SGD in closed form."""
    high, length, rate, env = _sizes(point)
    step = min(1 / high, rate(2.0, 0.5))
    h = GRID * high
    left = (1 - step * h) ** (2 * length)
    bias = float((h / 2 * left).max()) * env[B] ** 2
    noise = float((h / 2 * step**2 * (1 - left) / (1 - (1 - step * h) ** 2)).max()) * env[sigma] ** 2 / env[M]
    return {**env, error: bias + noise}


def accelerated(point: Params) -> dict[Any, Any]:
    """Return the error of local AC-SA by the recursion of its first two moments."""
    high, length, rate, env = _sizes(point)
    scale = min(1 / (4 * high), rate(1.0, 1.5))
    h = GRID * high
    x, average = np.ones_like(h), np.ones_like(h)
    xx = xa = aa = np.zeros_like(h)
    for time in range(1, length + 1):
        alpha, step = 2 / (time + 1), time * scale
        # x and the average after the step, as combinations of both before it.
        own, other = 1 - step * h * alpha, -step * h * (1 - alpha)
        into, kept = alpha * own, (1 - alpha) + alpha * other
        x, average = own * x + other * average, into * x + kept * average
        xx, xa, aa = (
            own**2 * xx + 2 * own * other * xa + other**2 * aa + step**2,
            own * into * xx + (own * kept + other * into) * xa + other * kept * aa + alpha * step**2,
            into**2 * xx + 2 * into * kept * xa + kept**2 * aa + (alpha * step) ** 2,
        )
    bias = float((h / 2 * average**2).max()) * env[B] ** 2
    return {**env, error: bias + float((h / 2 * aa).max()) * env[sigma] ** 2 / env[M]}


def _sizes(point: Params) -> tuple[float, int, Any, dict[Any, Any]]:
    """Return smoothness, number of steps, the step size that balances the noise, and the quantities of the rates."""
    length = int(point["K"]) * int(point["R"])
    env = {K: float(point["K"]), R: float(point["R"]), M: float(point["M"])}
    env |= {H: float(point["H"]), B: float(point["B"]), sigma: float(point["sigma"])}

    def balanced(factor: float, power: float) -> float:
        noise = env[sigma] * np.sqrt(factor) * length**power
        return float(env[B] * np.sqrt(env[M]) / noise) if noise > 0 else np.inf

    return env[H], length, balanced, env


SPACE = Space(
    {
        "M": Integer(1, 10**6),
        "K": Integer(1, 4096),
        "R": Integer(1, 4096),
        "H": Real(0.01, 100, log=True),
        "B": Real(0.01, 100, log=True),
        "sigma": Real(0, 1000),
    }
)
MANY = {"M": 4, "K": 64, "R": 1024, "H": 1.0, "B": 1.0, "sigma": 1.0}
FEW = {**MANY, "K": 4, "R": 64, "sigma": 0.5}
"""Settings in which noise decides the step size, but is not so large that the start is not left."""


def sweeps(realise: Any, noisy: dict[str, Any]) -> Sweeps:
    """Return how a rate is checked, where its second and where its first term is the largest."""
    bases = noisy, {**noisy, "sigma": 0.0}

    def around(name: str, factors: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(float(noisy[name]) * factor for factor in factors)

    return Sweeps(
        instances=Instances(space=SPACE, realise=realise, method=Method.EXACT, rational=False),
        sweeps=(
            *(Sweep("R", around("R", (0.125, 0.25, 0.5, 1.0, 2.0)), base) for base in bases),
            *(Sweep("K", around("K", (0.5, 1.0, 2.0, 4.0)), base) for base in bases),
            *(Sweep("B", around("B", (0.25, 0.5, 1.0, 2.0)), base) for base in bases),
            *(Sweep("H", around("H", (0.5, 1.0, 2.0, 4.0)), base) for base in bases),
            Sweep("M", (1.0, 2.0, 4.0, 8.0), noisy),
            Sweep("sigma", around("sigma", (0.25, 0.5, 1.0, 2.0)), noisy),
        ),
    )


noise = sigma * B / sqrt(M * K * R)

claim = Claim(
    id="woodworth.corollary-1",
    kind=Kind.RATE,
    title="rates of local SGD and accelerated local SGD on quadratics",
    citation=Citation("woodworth", "Corollary 1"),
    forms=(
        Form(statement=Le(error, BigO(H * B**2 / (K * R) + noise)), note="local SGD"),
        Form(
            variant="published@accelerated",
            statement=Le(error, BigO(H * B**2 / (K**2 * R**2) + noise)),
            check=sweeps(accelerated, FEW),
            note="local AC-SA",
        ),
        Form(
            variant="sharp",
            statement=Le(_runs.last_gap, H * B**2 / (4 * K * R) + sigma * B / sqrt(2 * M * K * R)),
            check=Experiments(
                space=Space({**_runs.CLIENTS, "R": Integer(1, 30)}),
                experiment=_runs.tuned_experiment(_runs.on_quadratics),
                quantities=_runs.last_model,
            ),
            observation=Observation(
                quantities=_runs.at_the_end,
                about=_runs.about_quadratics,
                rate=_runs.on_quadratics,
                axis=R,
                algorithm=FedAvg,
                conditions=_runs.conditions,
                exceeds="gap",
            ),
            note="local SGD with its constants",
        ),
    ),
    uses=("woodworth.theorem-1",),
    check=sweeps(plain, MANY),
)
