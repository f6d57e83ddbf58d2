r"""Theorem 1: convergence when participation is random and changes over time.

With :math:`\eta_\tau = \frac{16E}{\mu((\tau+1)E+\gamma)\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}`,

.. math:: \mathbb E\|\omega_{\tau E}^G - \omega^*\|^2 \le \frac{C_\tau}{(\tau E+\gamma)^2} + \frac{H_\tau J}{\tau
   E+\gamma} .

The short version defines the constants in the theorem; of the long one its proof has :math:`C_\tau, H_\tau` (by what
they gain in a round) and the conditions on the learning rate, but :math:`\gamma` and :math:`J` are defined nowhere.
Readings:

* ``published@003``: :math:`C_\tau = \max\{\gamma^2\,\mathbb E\|\omega_0^G - \omega^*\|^2,
  (\frac{16E}{\mu})^2\sum_{t<\tau}\mathbb E[B_t]/(\mathbb E[\sum_k p_\tau^k s_\tau^k])^2\}` (with :math:`\tau` in the
  denominator), :math:`J = \max_\tau 32E\sum_k\mathbb E[p_\tau^k s_\tau^k]D_k/\mathbb E[\sum_k p_\tau^k s_\tau^k]`
  (the print is garbled, but has no :math:`\mu`), :math:`H_\tau` the number of rounds whose ratios :math:`\mathbb
  E[p_t^k s_t^k]/p^k` differ;
* ``published@003-literal``: the same with :math:`r_t = 1` where the ratio *has the same value* for all clients, as
  the sentence says;
* ``published@literal``: this :math:`r_t` with all other constants as corrected below, as a rate in the number of
  rounds, so that nothing else can be at fault;
* ``published@000``: constants from the proof, :math:`C_{\tau+1} = C_\tau + \dots`, :math:`\gamma` of the short
  version, :math:`J` with :math:`\mu` in the denominator, as the step (65) needs it; for :math:`\overline B_\tau` and
  :math:`\overline H_\tau`, which the proof adds up, the right-hand sides of (59) and (58) stand, as in the short
  version (with the quantities themselves the recursion is ``published@defined`` of
  :mod:`~fltheory.bounds.efl.eq_64`);
* ``published@003-positive-part`` and ``published@000-positive-part``: the same as ``published@003`` and
  ``published@000``, with the sign after :math:`\sum_k p_t^k - 2` in :math:`B_t` read as that of a positive part.

The denominators of ``published@003`` are those of the current round: when participation rises from one round to the
next, what has been summed up so far is divided by a larger number, and the bound falls faster than the distance can.
The maximum in :math:`C_\tau` can fail by itself only within a factor of two (:mod:`~fltheory.bounds.efl.eq_65`), where
its two members are about equal: :math:`\gamma^2\|\omega_0 - \omega^*\|^2` against the sum, which is why starts at all
distances from the optimum (``near``) and noise of all sizes are among the instances.

Read with the positive part the form of the long version holds on all instances, that of the short version fails for
its denominators and its maximum.

:math:`B_t` is printed with :math:`\theta(\sum_k p_t^k - 2)` added instead of multiplied
(:mod:`~fltheory.bounds.efl.eq_59`). With few active clients it is negative, so that the bound of a run that starts at
the optimum is zero or less, whereas noise moves it away. The missing :math:`\mu` of :math:`J` matters for :math:`\mu
< \frac1{32}` or so: :math:`J` must have the units of a squared distance. The literal reading claims convergence to
:math:`\omega^*` where participation is heterogeneous in all rounds, although the limit is another point
(``published@literal``).

**Derivation of the corrected form.** The corrected recursion of :mod:`~fltheory.bounds.efl.eq_64`, with contraction
:math:`1 - \frac14\mu\eta_\tau\mathbb E[\sum_k p_\tau^k s_\tau^k] = 1 - \frac{4E}{(\tau+1)E+\gamma} \le 1 -
\frac{2E}{(\tau+1)E+\gamma}`, and the induction of :mod:`~fltheory.bounds.efl.eq_65` with a sum:

.. math:: C_\tau = \gamma^2\,\mathbb E\|\omega_0^G - \omega^*\|^2 +
   \Bigl(\frac{16E}\mu\Bigr)^2\sum_{t<\tau}\frac{\mathbb E[\hat B_t]}{(\mathbb E[\sum_k p_t^k s_t^k])^2}, \qquad J =
   \max_\tau\frac{32E\sum_k\mathbb E[p_\tau^k s_\tau^k]D_k}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]} .

:math:`\gamma` as printed gives :math:`\eta_\tau \le \min\{\frac1{2(1+\theta)L}, \frac4{\mu E\theta}\}` in every
round. The form is loose: constants are worst cases of every step. Where :math:`\gamma` is large, because hardly anybody
works or functions are badly conditioned, a run hardly moves and both sides stay near :math:`\|\omega_0 - \omega^*\|^2`;
margins near 1 come from there and do not say that the form is tight.

Instances: one or two clients with quadratics, step counts with two values per client whose law changes once, up to
24 rounds, coefficients :math:`p_\tau^k = Ep^k/s_\tau^k`, noise from none to large, starts at or away from the optimum;
in exact expectation; and 5500 rounds with a single active client, as many as it takes until the term with
:math:`H_\tau` is needed. For ``published@literal`` two clients with different minimisers, one of which works in one
round out of twenty, and up to 6400 rounds.

Source: EFL, Theorem 1, (7), both versions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Expr, Gt, Le, Max, Sum

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import Differ, Env, Largest, Smallest, compiled
from fltheory.bounds.claim import Assumption, Citation, Claim, Experiments, Form, Kind, Sweep, Sweeps
from fltheory.bounds.definitions import Definition
from fltheory.bounds.efl import _schedule
from fltheory.bounds.efl._round import METRIC, inner_printed, inner_proved, second_order, squares
from fltheory.bounds.efl._symbols import C, H, J, distance, gamma, start
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.observed import changing_bound
from fltheory.bounds.flexible_participation.run_laws import mean_in
from fltheory.bounds.flexible_participation.symbols import mean_ps_at, p_drawn, s_drawn, theta
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Params, Space
from fltheory.bounds.symbols import E, G_sq, L, N, k, mu, p, t, tau
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Table
from fltheory.simulation.trajectories import Trajectories

least = scalar(
    "mean_ps_min",
    r"\min_\tau\mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]",
    "smallest expected sum of a run",
    domain="nonnegative",
)
B_sum = scalar(
    "B_sum",
    r"S_\tau",
    "second-order terms so far, each over the square of its own expected sum, as printed",
)
B_sum_tau = scalar(
    "B_sum_tau",
    r"S_\tau",
    "second-order terms so far, over the square of the expected sum of the current round, as printed",
)
B_sum_proved = scalar(
    "B_sum_proved",
    r"\hat S_\tau",
    "corrected second-order terms so far",
)
B_sum_positive = scalar(
    "B_sum_positive",
    r"S_\tau^+",
    "second-order terms so far with the positive part, each over the square of its own expected sum",
)
B_sum_tau_positive = scalar(
    "B_sum_tau_positive",
    r"S_\tau^+",
    "second-order terms so far with the positive part, over the square of the expected sum of the current round",
)
gaps = scalar(
    "gaps",
    r"\Gamma_{\max}",
    "largest mean metric of a round",
    domain="nonnegative",
)

mean_B = family("mean_B_at", r"\mathbb{E}[B_{<0>}]", "second-order term of a round", first=0, shape=("rounds",))
mean_B_positive = family(
    "mean_B_positive_at",
    r"\mathbb{E}[B_{<0>}^+]",
    "second-order term of a round, with the positive part",
    first=0,
    shape=("rounds",),
)
mean_B_proved = family(
    "mean_B_proved_at",
    r"\mathbb{E}[\hat B_{<0>}]",
    "second-order term of a round, as the corrected recursion needs it",
    first=0,
    shape=("rounds",),
)
T = scalar("T", "T", "number of rounds", domain="integer>=0")
planned = scalar("planned", r"\hat T", "last round whose participation is planned", domain="integer>=0")

B_PRINTED = second_order(p_drawn, s_drawn, inner_printed(p_drawn, s_drawn)) + 2 * E * G_sq * squares(p_drawn, s_drawn)
r""":math:`B_t`, in the proof :math:`\overline B_\tau + 2\overline H_\tau`, as printed."""

B_POSITIVE = second_order(p_drawn, s_drawn, inner_proved(p_drawn, s_drawn)) + 2 * E * G_sq * squares(p_drawn, s_drawn)
"""The same with the sign after the bracket read as that of a positive part."""

B_PROVED = second_order(p_drawn, s_drawn, inner_proved(p_drawn, s_drawn)) + (4 * E - 2) * G_sq * squares(
    p_drawn, s_drawn
)
"""The same as the corrected recursion needs it."""

GAMMA = Max(4 * E**2 * theta / least, 32 * E * (1 + theta) * L / (mu * least))
OFFSET: tuple[Definition, ...] = (
    (mean_ps_at[t], mean_in(Sum(p_drawn[k] * s_drawn[k], (k, 1, N)), t)),
    (least, Smallest(mean_ps_at[t], (t, 0, planned))),
    (gamma, GAMMA),
)
FIRST, SCALE = gamma**2 * start, (16 * E / mu) ** 2
GAPS = (gaps, Largest(mean_in(METRIC, t) / mean_ps_at[t], (t, 0, T - 1)))
WITH_MU: tuple[Definition, ...] = (GAPS, (J, 32 * E * gaps / mu))

r_at = family(
    "r_at",
    "r_{<0>}",
    "whether the participation of a round is heterogeneous",
    first=0,
    shape=("rounds",),
    domain="binary",
)
ratios = mean_in(p_drawn[k] * s_drawn[k], t) / p[k]
COUNTED: tuple[Definition, ...] = (
    (r_at[t], Differ(Largest(ratios, (k, 1, N)), Smallest(ratios, (k, 1, N)))),
    (H, Sum(r_at[t], (t, 0, tau - 1))),
)
"""Rounds so far whose participation was heterogeneous."""

BOUND: Expr = C / (tau * E + gamma) ** 2 + H * J / (tau * E + gamma)
STATEMENT = Le(distance, BOUND)
"""The theorem, for constants that are defined elsewhere."""

SHORT_VERSION: tuple[Definition, ...] = (
    *OFFSET,
    (mean_B[t], mean_in(B_PRINTED, t)),
    (B_sum_tau, Sum(mean_B[t] / mean_ps_at[tau] ** 2, (t, 0, tau - 1))),
    (C, Max(FIRST, SCALE * B_sum_tau)),
    GAPS,
    (J, 32 * E * gaps),
    *COUNTED,
)
"""Constants of the short version."""

SHORT_VERSION_POSITIVE: tuple[Definition, ...] = (
    *OFFSET,
    (mean_B_positive[t], mean_in(B_POSITIVE, t)),
    (B_sum_tau_positive, Sum(mean_B_positive[t] / mean_ps_at[tau] ** 2, (t, 0, tau - 1))),
    (C, Max(FIRST, SCALE * B_sum_tau_positive)),
    GAPS,
    (J, 32 * E * gaps),
    *COUNTED,
)
"""The same with the positive part."""

LONG_VERSION: tuple[Definition, ...] = (
    *OFFSET,
    (mean_B[t], mean_in(B_PRINTED, t)),
    (B_sum, Sum(mean_B[t] / mean_ps_at[t] ** 2, (t, 0, tau - 1))),
    (C, FIRST + SCALE * B_sum),
    *WITH_MU,
    *COUNTED,
)
"""Constants of the proof in the long version."""

LONG_VERSION_POSITIVE: tuple[Definition, ...] = (
    *OFFSET,
    (mean_B_positive[t], mean_in(B_POSITIVE, t)),
    (B_sum_positive, Sum(mean_B_positive[t] / mean_ps_at[t] ** 2, (t, 0, tau - 1))),
    (C, FIRST + SCALE * B_sum_positive),
    *WITH_MU,
    *COUNTED,
)
"""The same with the positive part."""

CORRECTED: tuple[Definition, ...] = (
    *OFFSET,
    (mean_B_proved[t], mean_in(B_PROVED, t)),
    (B_sum_proved, Sum(mean_B_proved[t] / mean_ps_at[t] ** 2, (t, 0, tau - 1))),
    (C, FIRST + SCALE * B_sum_proved),
    *WITH_MU,
    *COUNTED,
)
"""Constants that are proved for the algorithm without compression and elastic term."""

ratio = scalar(
    "ratio",
    r"\frac{p_\tau^k}{p^k}",
    "largest ratio of coefficient and weight of each law of a run",
    domain="nonnegative",
)
ASSUMPTIONS = (
    Assumption("some updates are aggregated", Gt(least, 0)),
    Assumption("bounded gradients (Assumption 4)", Le(experiments.gradient_sq, G_sq), Origin.MEASURED),
    Assumption("bounded coefficients (Assumption 5)", Le(ratio, theta)),
    experiments.INDEPENDENT,
)


def setting(problem: Quadratic, plan: _schedule.Schedule, **other: Any) -> dict[str, Any]:
    """Return all that the learning rate depends on; ``other`` replaces constants of the problem."""
    known = {
        "E": plan.participation.local_steps,
        **experiments.constants(problem),
        "theta": max(law["theta"] for law in plan.laws),
        "ratio": np.array([law["theta"] for law in plan.laws]),
        "mean_ps_min": min(law["mean_ps"] for law in plan.laws),
        "dependence": max(law["dependence"] for law in plan.laws),
        **plan.known(),
    }
    return known | other


def rates(plan: _schedule.Schedule, env: dict[str, Any]) -> Table:
    """Return the learning rate of the theorem."""
    steps, work = env["E"], plan.work[:-1]
    times = np.arange(1, len(work) + 1)
    return Table(values=16 * steps / (env["mu"] * (times * steps + compiled(GAMMA)(env)) * work))


def constants(plan: _schedule.Schedule, env: dict[str, Any]) -> dict[str, Any]:
    """Return the sums and maxima over rounds, curves from round 1 on; ``env`` has ``G_sq``."""
    work = plan.work
    mixed = plan.of_rounds([law["z"] for law in plan.laws])[:-1]
    printed, positive = plan.expected(B_PRINTED, env), plan.expected(B_POSITIVE, env)
    return {
        "tau": np.arange(1, len(work)),
        "B_sum": np.cumsum(printed / work[:-1] ** 2),
        "B_sum_tau": np.cumsum(printed) / work[1:] ** 2,
        "B_sum_positive": np.cumsum(positive / work[:-1] ** 2),
        "B_sum_tau_positive": np.cumsum(positive) / work[1:] ** 2,
        "B_sum_proved": np.cumsum(plan.expected(B_PROVED, env) / work[:-1] ** 2),
        "H_tau": np.cumsum(mixed),
        "gaps": float((plan.expected(METRIC, env) / work[:-1]).max()),
    }


def experiment(point: Params) -> Experiment:
    """Return the run of a point with the theorem's learning rate."""
    problem, start = _schedule.from_optimum(point)
    plan = _schedule.two_laws(point, problem)
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme="C"),
        participation=plan.participation,
        rounds=_schedule.rounds(point),
        rate=rates(plan, setting(problem, plan)),
        start=start,
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the quantities of the theorem, curves from round 1 on."""
    assert isinstance(run.problem, Quadratic)
    plan = _schedule.two_laws(point, run.problem)
    found = experiments.along(run, trajectories)
    env = setting(run.problem, plan) | {
        "G_sq": found["G_sq"],
        "gradient_sq": found["gradient_sq"],
        "distance_sq": found["distance_sq"],
        "start_sq": found["start_sq"],
    }
    return env | constants(plan, env)


def at_the_end(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the quantities of the theorem after the last round."""
    sums = ("B_sum", "B_sum_tau", "B_sum_positive", "B_sum_tau_positive", "B_sum_proved")
    curves = ("tau", *sums, "H_tau", "distance_sq")
    return {
        name: np.ravel(value)[-1] if name in curves else value
        for name, value in quantities(point, run, trajectories).items()
    }


space = Space(_schedule.clients())
rarely_active: Params = {
    "N": 2,
    "d": 1,
    "E": 1,
    "scheme": "C",
    "participation": "heterogeneous",
    **{name: np.array([1, 0]) for name in ("low", "low_later")},
    **{name: np.array([1, 1]) for name in ("high", "high_later")},
    **{name: np.array([0.5, 0.05]) for name in ("q", "q_later")},
    "n": np.ones(2),
    "mu": 1.0,
    "condition": 1.0,
    "curvature": np.zeros((2, 1)),
    "centre": np.array([[-1.0], [1.0]]),
    "noise": np.zeros(2),
    "loud": 1.0,
    "start": np.zeros(1),
    "near": 1.0,
    "change": 1,
}
one_works = experiments.one_works(
    change=1,
    more=5500,
    near=1.0,
    **{name: np.array([0, 1]) for name in ("low_later", "high_later")},
    q_later=np.ones(2),
)
"""A run on which the term with :math:`H_\\tau` is needed."""
many_rounds = Sweeps(
    instances=Experiments(space=space, experiment=experiment, quantities=at_the_end, moments=True, horizon="more"),
    sweeps=(Sweep("more", (800, 1600, 3200, 6400), rarely_active),),
)
agreeing = BOUND.xreplace({H: tau - H})

claim = Claim(
    id="efl.theorem-1",
    kind=Kind.BOUND,
    title="convergence with random participation",
    citation=Citation("efl", "Theorem 1, (7) (both versions)"),
    forms=(
        Form(
            variant="published@003",
            statement=STATEMENT,
            where=SHORT_VERSION,
            note="constants of the short version",
        ),
        Form(
            variant="published@003-literal",
            statement=Le(distance, agreeing),
            where=SHORT_VERSION,
            note="rounds counted whose ratios agree",
        ),
        Form(
            variant="published@literal",
            statement=Le(distance, agreeing),
            where=CORRECTED,
            check=many_rounds,
            note="rounds counted whose ratios agree, all other constants corrected; after many rounds",
        ),
        Form(
            variant="published@000",
            statement=STATEMENT,
            where=LONG_VERSION,
            note="constants of the proof in the long version",
        ),
        Form(
            variant="published@003-positive-part",
            intended=("published@003",),
            statement=STATEMENT,
            where=SHORT_VERSION_POSITIVE,
            note="constants of the short version, with the positive part in B",
        ),
        Form(
            variant="published@000-positive-part",
            intended=("published@000",),
            statement=STATEMENT,
            where=LONG_VERSION_POSITIVE,
            note="constants of the proof in the long version, with the positive part in B",
        ),
        Form(
            variant="corrected",
            statement=STATEMENT,
            where=CORRECTED,
            note="sum in place of the maximum, own denominators, mu in J, product and positive part in B",
        ),
    ),
    assumptions=ASSUMPTIONS,
    uses=("efl.lemma-1", "efl.eq-64", "efl.eq-65"),
    check=Experiments(
        effort=4, space=space, experiment=experiment, quantities=quantities, moments=True, begin=(one_works,)
    ),
    observation=changing_bound(GAMMA),
)
