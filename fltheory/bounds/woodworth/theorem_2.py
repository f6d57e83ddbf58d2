r"""Theorem 2: rates of local SGD on convex functions, equal machines.

As published: for :math:`\lambda = 0` an appropriate average of the iterates with an optimally tuned constant step size
satisfies (form ``published``) for a universal constant :math:`c`

.. math:: \mathbb E[F(\hat x) - F(x^*)] \le c\cdot\min\Bigl\{\frac{HB^2}{KR} + \frac{\sigma B}{\sqrt{MKR}} +
   \frac{(H\sigma^2B^4)^{1/3}}{K^{1/3}R^{2/3}},\ \frac{HB^2}{KR} + \frac{\sigma B}{\sqrt{KR}}\Bigr\} ,

and for :math:`\lambda > 0` with decaying step sizes (form ``published@strongly-convex``)

.. math:: c\cdot\min\Bigl\{HB^2e^{-\frac{\lambda KR}{4H}} + \frac{\sigma^2}{\lambda MKR} +
   \frac{H\sigma^2\log(9 + \frac{\lambda KR}H)}{\lambda^2KR^2},\ HB^2e^{-\frac{\lambda KR}{4H}} +
   \frac{\sigma^2}{\lambda KR}\Bigr\} .

The proof of the first has constants, (92), for the step size (89) and the mean of all averaged iterates (form
``published@constants``): :math:`\frac{8HB^2}{KR} + \frac{4\sigma B}{\sqrt{MKR}} +
\frac{10(H\sigma^2B^4)^{1/3}}{K^{1/3}R^{2/3}}`.

**What the proof leaves open.** (87) telescopes from :math:`\bar x_1`, and (88) has :math:`B`, the distance of
:math:`\bar x_0`. (104) halves the noise term: :math:`\eta_tw_t = \frac2\lambda`, so that it is
:math:`\frac{4\sigma^2}{\lambda M}`. The proof for :math:`\lambda > 0` and :math:`KR > \frac{2H}\lambda` ends with
:math:`e^{-\frac{\lambda KR}{8H}}`, (112), not with the printed exponent; with its step sizes a factor
:math:`(1 - \frac\lambda{4H})^2` per step would be needed. On the runs here the printed one holds.

**Derivation of the sharp form.** The sharp form of Lemma 1 with :math:`\lambda = 0`, summed over
:math:`t = 1, \dots, KR`, with :math:`\mathbb E\|\bar x_1 - x^*\|^2 \le B^2 + \frac{\eta^2\sigma^2}M` (the same lemma at
:math:`t = 0`) and the sharp form of Lemma 5, which is :math:`\frac{M-1}M\eta^2\sigma^2` times the number of steps since
the last averaging, :math:`\frac{K-1}2` in the mean, is

.. math:: \frac1{KR}\sum_{t=1}^{KR}\mathbb E[F(\bar x_t) - F^*] \le \frac{B^2}{2\eta KR} + \frac{\eta\sigma^2}{2M}
   \Bigl(1 + \frac1{KR}\Bigr) + \frac{H(M-1)(K-1)\eta^2\sigma^2}{4M} .

For the smallest one of :math:`\frac1H`, :math:`\frac{B\sqrt M}{\sigma\sqrt{KR}}` and
:math:`(\frac{B^2}{H\sigma^2K^2R})^{1/3}` (the last one for :math:`K, M > 1`) the first term is at most the sum of its
values at the three, and

.. math:: \mathbb E[F(\hat x) - F^*] \le \frac{HB^2}{2KR} + \Bigl(1 + \frac1{2KR}\Bigr)\frac{\sigma B}{\sqrt{MKR}} +
   \frac34\cdot\frac{(H\sigma^2B^4)^{1/3}}{K^{1/3}R^{2/3}} .

Instances: constants on functions with a kink and all coins of up to three machines (``sharp``) and on quadratics by the
exact engine (``published@constants``). Rates along sweeps: quadratics whose flat axis is the worst one for the number
of steps, in closed form, and :func:`fltheory.bent_valley` with infinitely many machines, where the third term is at
work.

Source: Woodworth et al., 2020, Theorem 2, page 5, and (84) to (118) of the supplement.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Gt, Le, Min, Rational, exp, log, sqrt

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import (
    Assumption,
    Citation,
    Claim,
    Experiments,
    Form,
    Instances,
    Kind,
    Method,
    Rejected,
    Sweep,
    Sweeps,
)
from fltheory.bounds.observation import Observation
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.woodworth import _runs
from fltheory.bounds.woodworth._drift import rounds as drifted
from fltheory.bounds.woodworth._drift import value
from fltheory.bounds.woodworth._machines import OBJECTIVE, mean, objective, walk
from fltheory.bounds.woodworth._symbols import B, H, K, M, R, lam, sigma
from fltheory.problems.problem import Origin

error = scalar("error", r"\mathbb E[F(\hat x) - F(x^*)]", "expected gap of the output", domain="nonnegative")

MANY_MACHINES = 1e12
"""Stands for infinitely many."""


def _env(point: Params) -> dict[str, float]:
    return {name: float(point[name]) for name in ("M", "K", "R", "H", "B", "sigma")}


def on_quadratics(point: Params) -> dict[Any, Any]:
    """Return the mean gap of all averaged iterates on a flat and a steep axis, with noise along either."""
    env = _env(point)
    total = int(env["K"] * env["R"])
    eta = min(_runs.convex_rates(env, int(env["R"]), 0.25))
    h = np.array([min(env["H"], 1 / (eta * total)), env["H"]])
    left = (1 - eta * h) ** (2 * np.arange(1, total + 1)[:, None])
    variance = eta**2 * env["sigma"] ** 2 / (2 * env["M"]) * (1 - left) / (1 - (1 - eta * h) ** 2)
    return {**env, error: float((h / 2 * (left * env["B"] ** 2 / 2 + variance)).sum(axis=1).mean())}


def on_valley(point: Params) -> dict[Any, Any]:
    """Return the gap of the mean of all averaged iterates, infinitely many machines."""
    env = {**_env(point), "M": MANY_MACHINES}
    length, number = int(env["K"]), int(env["R"])
    eta = min(_runs.convex_rates(env, number, 0.25))
    b = env["B"] / np.sqrt(3)
    flat = min(env["H"], 1 / (eta * length * number))
    axes = 0.0
    for h in (flat, env["H"]):
        away = b * ((1 - eta * h) ** np.arange(1, length * number + 1)).mean()
        axes += h / 2 * away**2
    bent = {"left": env["H"] / 4, "right": env["H"] / 2}
    _, x = drifted(-b, length=length, number=number, eta=eta, sigma=env["sigma"], **bent)
    return {**env, error: float(axes + value(x, **bent))}


def convex(point: Params) -> dict[Any, Any]:
    """Return the error of one of both problems."""
    return on_valley(point) if point["problem"] == "valley" else on_quadratics(point)


def strongly_convex(point: Params) -> dict[Any, Any]:
    """Return the weighted mean gap with the decaying step sizes of the proof, on a flat and a steep axis."""
    env = _env(point)
    low = env["H"] / float(point["condition"])
    total = int(env["K"] * env["R"])
    h = np.array([low, env["H"]])
    sq, gap, weight = np.full(2, env["B"] ** 2 / 2), 0.0, 0.0
    short = low * total <= 2 * env["H"]
    for time in range(1, total + 1):
        late = time - total / 2
        eta = 1 / (4 * env["H"]) if short or late <= 0 else 2 / (8 * env["H"] + low * late)
        sq = (1 - eta * h) ** 2 * sq + eta**2 * env["sigma"] ** 2 / (2 * env["M"])
        own = (1 - low * eta) ** (total - time) if short else max(0.0, 8 * env["H"] / low + late) * (late > 0)
        gap, weight = gap + own * float((h / 2 * sq).sum()), weight + own
    return {**env, lam: low, error: gap / weight}


def coins(point: Params) -> dict[Any, Any]:
    """Return the mean gap of all averaged iterates of all coins, with the step size of the sharp form."""
    made, _ = objective(point)
    machines, length, number = int(point["M"]), int(point["K"]), int(point["R"])
    noise = float(point["sigma"])
    if machines * length * number > 8:
        raise Rejected("too many coins")
    far = float(np.sqrt(((point["start"] - point["centre"]) ** 2).sum()))
    env = {"M": machines, "K": length, "R": number, "H": float(point["H"]), "B": far, "sigma": noise}
    eta = min(_runs.convex_rates(env, number, 1.0))
    if eta == 0:
        raise Rejected("the step size is zero for a start at the minimiser")
    models = walk(made, point["start"], machines, [eta] * (length * number), noise, every=length)
    gaps = [float(mean(made.value(0, x.mean(axis=1)))) for x in models[1:]]
    return {**env, _runs.mean_gap: float(np.mean(gaps))}


def at_the_end(point: Params, made: Any, run: Any) -> Any:
    """Return the quantities of a run."""
    return _runs.all_models(point, made, run)


SPACE = Space(
    {
        "problem": Choice(("quadratic", "valley")),
        "M": Integer(1, 10**6),
        "K": Integer(1, 4096),
        "R": Integer(1, 4096),
        "H": Real(0.01, 100, log=True),
        "B": Real(0.01, 100, log=True),
        "sigma": Real(0, 10000),
        "condition": Real(1, 1e6, log=True),
    }
)
NOISY: dict[str, Any] = {"problem": "quadratic", "M": 1, "K": 4, "R": 4096, "H": 1.0, "B": 1.0, "sigma": 1.0}
QUIET: dict[str, Any] = {**NOISY, "sigma": 0.0}
VALLEY: dict[str, Any] = {**NOISY, "problem": "valley", "K": 2, "R": 2048}
"""Where the noise, the start, the drift is the largest term of a rate."""
STRONG: dict[str, Any] = {**NOISY, "K": 1, "condition": 2.0}
SHRINKING: dict[str, Any] = {**QUIET, "R": 16, "condition": 4.0}


def along(base: dict[str, Any], names: tuple[str, ...], factors: tuple[float, ...]) -> tuple[Sweep, ...]:
    """Return sweeps of some parameters around their values in a base."""
    return tuple(Sweep(name, tuple(float(base[name]) * factor for factor in factors), base) for name in names)


WIDE, NEAR = (0.125, 0.25, 0.5, 1.0), (0.5, 1.0, 1.5, 2.0)
"""Factors of the values of a sweep."""


def law(instances: Any, *sweeps: Sweep) -> Sweeps:
    """Return how a rate is checked."""
    made = Instances(space=SPACE, realise=instances, method=Method.EXACT, rational=False)
    return Sweeps(instances=made, sweeps=sweeps)


third = Rational(1, 3)
start, noise = H * B**2 / (K * R), sigma * B / sqrt(M * K * R)
drift = (H * sigma**2 * B**4) ** third / (K**third * R ** (2 * third))
forgotten = H * B**2 * exp(-lam * K * R / (4 * H))
averaged = Observation(
    quantities=_runs.averaged,
    about=_runs.about,
    rate=_runs.tuned(0.25),
    axis=R,
    record={"mean_iterate": True},
    algorithm=FedAvg,
    conditions=_runs.conditions,
    exceeds="gap",
)

claim = Claim(
    id="woodworth.theorem-2",
    kind=Kind.RATE,
    title="rates of local SGD on convex functions",
    citation=Citation("woodworth", "Theorem 2"),
    forms=(
        Form(
            statement=Le(error, BigO(Min(start + noise + drift, start + sigma * B / sqrt(K * R)))),
            note="convex functions, the step size (89)",
        ),
        Form(
            variant="published@strongly-convex",
            statement=Le(
                error,
                BigO(
                    Min(
                        forgotten
                        + sigma**2 / (lam * M * K * R)
                        + H * sigma**2 * log(9 + lam * K * R / H) / (lam**2 * K * R**2),
                        forgotten + sigma**2 / (lam * K * R),
                    )
                ),
            ),
            assumptions=(Assumption("strongly convex", Gt(lam, 0), Origin.DECLARED),),
            check=law(
                strongly_convex,
                *along(STRONG, ("R",), WIDE),
                *along({**STRONG, "R": 1024}, ("sigma", "B"), NEAR),
                *(Sweep(name, (1.0, 2.0, 4.0, 8.0), {**STRONG, "R": 512}) for name in ("K", "M")),
                Sweep("condition", (1.5, 2.0, 3.0, 4.0), {**STRONG, "R": 1024}),
                *along(SHRINKING, ("R", "K"), (0.25, 0.5, 1.0, 2.0)),
                *along(SHRINKING, ("condition", "B"), NEAR),
            ),
            note="strongly convex functions, step sizes and weights of the proof",
        ),
        Form(
            variant="published@constants",
            statement=Le(_runs.mean_gap, 8 * start + 4 * noise + 10 * drift),
            check=Experiments(
                space=Space({**_runs.CLIENTS, "R": Integer(1, 30)}),
                experiment=_runs.tuned_experiment(_runs.tuned(0.25)),
                quantities=at_the_end,
                record={"mean_iterate": True},
            ),
            observation=averaged,
            note="with the constants of (92)",
        ),
        Form(
            variant="sharp",
            statement=Le(_runs.mean_gap, start / 2 + (1 + 1 / (2 * K * R)) * noise + 3 * drift / 4),
            check=Instances(
                space=Space({"M": Integer(1, 3), "K": Integer(1, 4), "R": Integer(1, 4), **OBJECTIVE}),
                realise=coins,
                rational=False,
            ),
            observation=Observation(
                quantities=_runs.averaged,
                about=_runs.about,
                rate=_runs.tuned(1.0),
                axis=R,
                record={"mean_iterate": True},
                algorithm=FedAvg,
                conditions=_runs.conditions,
                exceeds="gap",
            ),
            note="smaller constants, largest step size 1 / H",
        ),
    ),
    uses=("woodworth.lemma-1", "woodworth.lemma-5"),
    check=law(
        convex,
        *along(NOISY, ("R", "sigma", "B"), WIDE),
        *along(QUIET, ("R", "H", "B"), WIDE),
        *(Sweep("K", (2.0, 4.0, 8.0, 16.0), base) for base in (NOISY, QUIET)),
        Sweep("M", (1.0, 2.0, 4.0, 8.0), {**NOISY, "R": 16384}),
        *along(VALLEY, ("R",), WIDE),
        Sweep("sigma", (1.0, 10.0, 100.0, 1000.0, 10000.0), {**VALLEY, "R": 512}),
        Sweep("K", (2.0, 3.0, 4.0, 5.0), {**VALLEY, "R": 1024}),
    ),
)
