r"""Theorem 3: lower bound for local SGD, equal machines.

As published: for :math:`0 \le \lambda \le \frac H{16}` there is a problem of the class such that for any
:math:`K \ge 2` and :math:`M, R \ge 1` local SGD from 0 with any fixed step size outputs :math:`\hat x` with, for a
universal constant :math:`c`,

.. math:: \mathbb EF(\hat x) - \min_xF(x) \ge c\cdot\min\Bigl\{\frac{H^{1/3}\sigma^{2/3}B^{4/3}}{K^{2/3}R^{2/3}},
   \frac{H\sigma^2}{\lambda^2K^2R^2}, HB^2\Bigr\} + c\cdot\min\Bigl\{\frac{\sigma B}{\sqrt{MKR}},
   \frac{\sigma^2}{\lambda MKR}\Bigr\} .

**Readings.** The output is the averaged last iterate. "We define this hard instance as" (11) is
:func:`fltheory.bent_valley` with :math:`\mu = \lambda` (form ``published``). The appendix chooses
:math:`\mu = \bigl(\frac{H\sigma^2}{3072B^2K^2R^2}\bigr)^{1/3}`, cut to :math:`[\lambda, \frac H{16}]`, after :math:`K`
and :math:`R` (form ``published@appendix``). What it proves is the first of the two terms, with the constants of (198)
to (200) (form ``published@first-term``); the second one is called classical.

**Where it fails.** With (11) nothing is lost along the flat axis for vanishing :math:`\lambda`, so that step sizes of
the order of :math:`\frac{\log(KR)}{HKR}` reach an error of the order of :math:`(KR)^{-1}`. On the problem of the
appendix, without variance along the flat axis, the same step sizes reach the first term and :math:`\frac{\sigma^2}
{HKR}`, so that the second term is wrong for one machine and many steps. As both are problems of which the theorem
only says that some exist, what refutes it is extreme noise: on any problem a step size close to zero reaches
:math:`\frac H2B^2`, while the second term grows with :math:`\sigma` without bound; it has lost the :math:`HB^2` of the
first one. Form ``published@moderate-noise`` is the theorem for :math:`\sigma \le HB\sqrt{MKR}`, where that makes no
difference; it holds on the problem of the corrected form. The paper does not ask for such noise. It compares rates at
:math:`H = B = \sigma^2 = 1`, where noise is moderate, but states the theorem for every class :math:`\mathcal F(H,
\lambda, B, \sigma^2)`; so this form adds an assumption and is not a reading of the printed sentence.
Like the problem of the appendix that one depends on
:math:`K` and :math:`R`, and on :math:`M`, although the theorem names the problem first and then says "for any
:math:`K \ge 2` and :math:`M, R \ge 1`"; whether one problem will do for all of them is left open.

**Derivation of the corrected form.** The problem has a fourth axis :math:`\frac\nu2(x_4-b)^2`, with half of the
variance of the noise along the third and along the fourth axis, and :math:`b = \frac B2`. Let :math:`T = KR`.

*First term.* As in the appendix: for :math:`\eta < \frac1{2\mu T}` the gap along the first axis is at least
:math:`\frac{\mu b^2}8`, for :math:`\eta > \frac2H` that along the second one is at least :math:`\frac{Hb^2}2`, and in
between the mean along the third one has drifted by :math:`\frac{\eta\sigma}{48\sqrt2}`, which costs
:math:`\frac H8\cdot\frac{\eta^2\sigma^2}{4608}`; in all at least :math:`\min\{\frac{\mu B^2}{32},
\frac{H\sigma^2}{147456\mu^2T^2}\}`. With :math:`\mu^3 = \frac{H\sigma^2}{4608B^2T^2}`, cut to
:math:`[\lambda, \frac H{16}]`, it is at least the smallest one of :math:`\frac1{533}`, :math:`\frac1{147456}` and
:math:`\frac1{512}` times the three terms.

*Second term.* With :math:`s^2 = \frac{\sigma^2}{2M}` and :math:`q = (1-\eta\nu)^{2T}` the gap along the fourth axis is
:math:`\frac\nu2\bigl(qb^2 + (1-q)\frac{\eta s^2}{\nu(2-\eta\nu)}\bigr)`. For :math:`\eta\nu T \le \frac12` the first
part is at least :math:`\frac{\nu b^2}8 = \frac{\nu B^2}{32}`. For :math:`\frac1{2T} \le \eta\nu \le 1` there is
:math:`q \le \frac1e`, and the second part is at least :math:`(1-\frac1e)\frac{\eta s^2}4 \ge
(1-\frac1e)\frac{s^2}{8\nu T} \ge \frac{\sigma^2}{26\nu MT}`. For :math:`1 < \eta\nu < 2` it is a mean of
:math:`\frac\nu2b^2` and more than :math:`\frac{s^2}{2\nu}`, and for larger steps at least :math:`\frac\nu2b^2`. So the
gap is at least :math:`\min\{\frac{\nu B^2}{32}, \frac{\sigma^2}{26\nu MT}\}`, and with
:math:`\nu = \frac\sigma{B\sqrt{MT}}`, cut to :math:`[\lambda, H]`, at least

.. math:: \tfrac1{32}\min\Bigl\{\frac{\sigma B}{\sqrt{MKR}}, \frac{\sigma^2}{\lambda MKR}, HB^2\Bigr\} .

Instances: for the published forms the step size that is best on a grid, and errors that are overestimated (along the
third axis by :math:`\frac H4\mathbb E(x_3-b)^2`, and that as if there were one machine), which is in favour of the
statement. For the others any step size, and errors that are underestimated: along the third axis those of infinitely
many machines, see :mod:`fltheory.bounds.woodworth._drift`.

Source: Woodworth et al., 2020, Theorem 3, page 6, and (119) to (200) of the supplement. (182) has lost a sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sympy import Ge, Le, Min, Rational, sqrt

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds import hard_problems
from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space
from fltheory.bounds.woodworth._drift import rounds as drifted
from fltheory.bounds.woodworth._drift import value
from fltheory.bounds.woodworth._symbols import B, H, K, M, R, eta, lam, sigma
from fltheory.problems.problem import Origin

error = scalar("error", r"\mathbb EF(\hat x) - \min_xF(x)", "expected gap of the output", domain="nonnegative")

RATES = np.geomspace(1e-8, 1.0, 161)
"""Step sizes times H among which the best one is taken."""


def parameters(point: Params) -> dict[str, float]:
    """Return the constants of the class, and the sizes of the run."""
    env = {name: float(point[name]) for name in ("M", "K", "R", "H", "B", "sigma")}
    return {**env, "lam": env["H"] * float(point["convexity"])}


def flat(env: dict[str, float], divisor: float) -> float:
    """Return the curvature of the flat axis that the proof chooses."""
    best = (env["H"] * env["sigma"] ** 2 / (divisor * (env["B"] * env["K"] * env["R"]) ** 2)) ** (1 / 3)
    return float(min(max(best, env["lam"]), env["H"] / 16))


def statistical(env: dict[str, float]) -> float:
    """Return the curvature of the fourth axis."""
    return float(min(max(env["sigma"] / (env["B"] * np.sqrt(env["M"] * env["K"] * env["R"])), env["lam"]), env["H"]))


def overestimated(point: Params, *, chosen: bool) -> dict[Any, Any]:
    """Return at least the error of the best step size, with the flat curvature of the proof or with lambda."""
    env = parameters(point)
    high, total, b_sq = env["H"], env["K"] * env["R"], env["B"] ** 2 / 3
    low = flat(env, 3072.0) if chosen else env["lam"]
    step = RATES / high
    gaps = sum(h / 2 * b_sq * (1 - step * h) ** (2 * total) for h in (low, high))
    bent = high / 4
    left = (1 - step * bent) ** (2 * total)
    gaps = gaps + bent * (left * b_sq + step**2 * env["sigma"] ** 2 * (1 - left) / (1 - (1 - step * bent) ** 2))
    best = int(np.argmin(gaps))
    return {**env, eta: float(step[best]), error: float(gaps[best])}


def underestimated(point: Params, *, fourth: bool) -> dict[Any, Any]:
    """Return at most the error of a step size, on three or on four axes."""
    env = parameters(point)
    high, total, step = env["H"], env["K"] * env["R"], float(point["step"]) / env["H"]
    b, shared = env["B"] / np.sqrt(4 if fourth else 3), env["sigma"] / np.sqrt(2 if fourth else 1)
    low = flat(env, 4608.0 if fourth else 3072.0)
    gap = sum(h / 2 * b**2 * (1 - step * h) ** (2 * total) for h in (low, high))
    bent = {"left": high / 4, "right": high / 2}
    if step <= 2 / high:
        x, _ = drifted(-b, length=int(env["K"]), number=int(env["R"]), eta=step, sigma=shared, **bent)
        gap += float(value(x, **bent)) if x < 0 else 0.0
    if fourth:
        nu = statistical(env)
        left = (1 - step * nu) ** (2 * total)
        steps = (1 - step * nu) ** (2 * np.arange(int(total)))
        gap += nu / 2 * (left * b**2 + step**2 * shared**2 / env["M"] * float(steps.sum()))
    return {**env, eta: step, error: gap}


def about(facts: Facts) -> str:
    """Return the setting in words; refuse other problems and algorithms."""
    words = hard_problems.about_fedavg(facts)
    hard_problems.bent_valley(facts)
    return words


def constants(facts: Facts) -> dict[str, Any]:
    """Return what does not depend on the run.

    The class has problems that are lambda-strongly convex: unless the user declares a smaller lambda, it is the
    curvature of the flat axis.
    """
    known = hard_problems.bent_valley(facts)
    return {
        "M": facts.num_clients,
        "K": facts.local_steps,
        "R": facts.rounds,
        "H": known["H"],
        "B": known["distance"],
        "sigma": known["sigma"],
        "lam": facts.keep("lam", known["mu"], Origin.COMPUTED, "curvature of the flat axis"),
    }


def observed(facts: Facts) -> dict[str, Any]:
    """Return what a run says at its end; the problem depends on the number of rounds."""
    return {**constants(facts), "error": facts.curve("gap", first=facts.rounds)}


def conditions(facts: Facts, *, divisor: float | None, fourth: bool) -> Sequence[Requirement]:
    """Return what is assumed besides relations between symbols: the curvatures that the proof chooses."""
    known = hard_problems.bent_valley(facts)
    env = constants(facts)
    found = [*hard_problems.everybody(facts), hard_problems.one_step_size(facts)]
    if divisor is not None:
        found.append(hard_problems.chosen("flat curvature mu", flat(env, divisor), known["mu"]))
    if fourth:
        found.append(hard_problems.chosen("fourth curvature nu", statistical(env), known["nu"]))
    elif known["nu"] is not None:
        found.append(Requirement("three axes", False, f"a fourth one, nu = {known['nu']:g}"))
    return found


def read(*, divisor: float | None = None, fourth: bool = False) -> Observation:
    """Return how a form is read on an experiment."""
    return Observation(
        quantities=observed,
        about=about,
        conditions=partial(conditions, divisor=divisor, fourth=fourth),
        algorithm=FedAvg,
    )


CLASS: dict[str, Parameter] = {
    "M": Integer(1, 20),
    "H": Real(0.1, 10, log=True),
    "convexity": Real(1e-6, 0.0625, log=True),
    "B": Real(0.1, 10, log=True),
    "sigma": Real(0.001, 1000, log=True),
}
LAWS = Space({**CLASS, "K": Integer(2, 4096), "R": Integer(1, 10**6), "convexity": Real(1e-15, 0.0625, log=True)})
RUNS = Space({**CLASS, "K": Integer(2, 4), "R": Integer(1, 8), "step": Real(1e-4, 2.5, log=True)})
BASE: dict[str, Any] = {"M": 1, "K": 2, "R": 2**14, "H": 1.0, "convexity": 1e-12, "B": 1.0, "sigma": 1.0}
ROUNDS = (4096.0, 16384.0, 65536.0, 262144.0, 1048576.0)


def law(*, chosen: bool) -> Sweeps:
    """Return how the published forms are checked."""
    return Sweeps(
        instances=Instances(
            space=LAWS, realise=partial(overestimated, chosen=chosen), method=Method.EXACT, rational=False
        ),
        sweeps=(
            Sweep("R", ROUNDS, BASE),
            Sweep("sigma", (1e2, 1e3, 1e4, 1e5), {**BASE, "R": 16}),
        ),
    )


def run(*, fourth: bool) -> Instances:
    """Return runs with any step size."""
    return Instances(space=RUNS, realise=partial(underestimated, fourth=fourth), method=Method.EXACT, rational=False)


third = Rational(1, 3)
drift = H**third * sigma ** (2 * third) * B ** (4 * third) / (K * R) ** (2 * third)
strong = H * sigma**2 / (lam * K * R) ** 2
noise, strong_noise = sigma * B / sqrt(M * K * R), sigma**2 / (lam * M * K * R)
printed = Min(drift, strong, H * B**2) + Min(noise, strong_noise)
any_step = (
    Assumption("convexity", Le(lam, H / 16), Origin.DECLARED),
    Assumption("several local steps", Ge(K, 2), Origin.DECLARED),
)

claim = Claim(
    id="woodworth.theorem-3",
    kind=Kind.LOWER,
    title="lower bound for local SGD with equal machines",
    citation=Citation("woodworth", "Theorem 3"),
    forms=(
        Form(statement=Le(printed, BigO(error)), observation=read(), note="the problem (11)"),
        Form(
            variant="published@appendix",
            statement=Le(printed, BigO(error)),
            check=law(chosen=True),
            observation=read(divisor=3072.0),
            note="the problem (119), with the flat curvature that the proof chooses after K and R",
        ),
        Form(
            variant="published@moderate-noise",
            statement=Le(printed / 147456, error),
            assumptions=(*any_step, Assumption("moderate noise", Le(noise, H * B**2), Origin.DECLARED)),
            check=run(fourth=True),
            note="noise that all gradients together average out, with a constant, on the problem of the corrected form",
        ),
        Form(
            variant="published@first-term",
            statement=Le(Min(drift / 350, strong / 73728, H * B**2 / 384), error),
            check=run(fourth=False),
            observation=read(divisor=3072.0),
            note="the first term on the problem (119), with the constants of the proof",
        ),
        Form(
            variant="corrected",
            statement=Le(
                Min(drift / 533, strong / 147456, H * B**2 / 512) + Min(noise, strong_noise, H * B**2) / 32, error
            ),
            check=run(fourth=True),
            observation=read(divisor=4608.0, fourth=True),
            note="H B^2 in both terms, with constants; on a problem that depends on K, R and M",
        ),
    ),
    assumptions=any_step,
    check=law(chosen=False),
)
