r"""Equation (66): the bound of Theorem 3.1 when the laws of participation change over time.

With :math:`\eta_\tau = \frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\,\frac{1}{(\tau+1)E+\gamma}` and
:math:`\gamma` redefined with the smallest :math:`\mathbb E[\sum_k p_\tau^k s_\tau^k]` over all rounds, as published

.. math:: \mathbb E[\bar\Delta_{\tau E}] \le \frac{M_\tau D}{\tau E + \gamma} + \frac{V_\tau}{(\tau E + \gamma)^2},
   \qquad
   V_\tau = \max\Bigl\{\gamma^2\,\mathbb E\|w_0^{\mathcal G} - w^*\|^2,\ \Bigl(\frac{16E}{\mu}\Bigr)^2
   \sum_{t=0}^{\tau-1} \frac{\mathbb E[B_t]}{(\mathbb E[\sum_k p_t^k s_t^k])^2}\Bigr\} .

**Readings.** :math:`D`, which is not redefined, is read as the largest of its values over the rounds, the smallest
constant with which a term :math:`z_\tau D` can be added in every round. :math:`B_\tau` is that of Theorem 3.1. A scan
of the paper has :math:`\tau` for :math:`t` in the denominators under the sum: ``published@index-tau``.

**Where it fails.** The last line of (67) needs :math:`V_{\tau+1} \ge V_\tau + c_\tau` with
:math:`c_\tau = (16E/\mu)^2\,\mathbb E[B_\tau]/(\mathbb E[\sum_k p_\tau^k s_\tau^k])^2`. A maximum of
:math:`a = \gamma^2\,\mathbb E\|w_0^{\mathcal G} - w^*\|^2` and a sum does not grow by :math:`c_\tau` while :math:`a`
is larger. One round suffices: with one client, :math:`E = 1`, noise that makes :math:`c_0` as large as :math:`a`, and
a large condition number, the noise adds a third of the initial distance while the round contracts by next to nothing.
With the index :math:`\tau` it fails besides when clients become more active: the noise of rounds with large learning
rates is then divided by the larger sum of a later round.

**Derivation of the corrected form.** The corrected recursion (62) says, with
:math:`Q_\tau = \sum_k\frac{(p_\tau^k)^2}{p^k}s_\tau^k` and
:math:`\hat B_\tau = B_\tau - \frac{E+5}{3}G^2Q_\tau`, for every round

.. math:: \mathbb E\bar\Delta_{(\tau+1)E} \le \bigl(1 - \tfrac18\mu\eta_\tau\,\mathbb E\textstyle\sum_k p_\tau^k
   s_\tau^k\bigr)\,
   \mathbb E\bar\Delta_{\tau E} + \eta_\tau^2\,\mathbb E[\hat B_\tau] + 2\eta_\tau z_\tau\sum_k\mathbb E[p_\tau^k
   s_\tau^k]\Gamma_k .

With :math:`x = \tau E + \gamma` the contraction is :math:`\frac{x-E}{x+E}`, and since :math:`(x-E)(x+E) \le x^2`, both
:math:`\frac{x-E}{x+E}\cdot\frac1x \le \frac1{x+E}` and
:math:`\frac{x-E}{x+E}\cdot\frac1{x^2} \le \frac1{(x+E)^2}`. The second term is
:math:`\bigl(\frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\bigr)^2\frac{\mathbb E[\hat B_\tau]}{(x+E)^2}`, the
last one at most :math:`\frac{z_\tau D}{2(x+E)}`. So the induction closes with half of :math:`D`,

.. math:: \mathbb E[\bar\Delta_{\tau E}] \le \frac{\frac12 M_\tau D}{\tau E + \gamma}
   + \frac{V_\tau}{(\tau E + \gamma)^2} , \qquad
   V_\tau = \gamma^2\,\mathbb E\|w_0^{\mathcal G} - w^*\|^2 + \Bigl(\frac{16E}{\mu}\Bigr)^2
   \sum_{t=0}^{\tau-1} \frac{\mathbb E[\hat B_t]}{(\mathbb E[\sum_k p_t^k s_t^k])^2} .

**Section 3.2** says in a sentence that Theorem 3.1 extends to such laws if expectations are replaced by their smallest
or largest values over the rounds (``published@section-3.2``). It is read so that the replaced quantities are as small
as the proof allows: :math:`m = \min_\tau\mathbb E[\sum_kp_\tau^ks_\tau^k]` in the learning rate :math:`\frac{16E}{\mu
m}\frac{1}{\tau E+\gamma}`, in :math:`\gamma` and in all denominators, the largest :math:`\sum_k\mathbb
E[p_\tau^ks_\tau^k]\Gamma_k` in :math:`D`, the largest :math:`\mathbb E[B_\tau]` in :math:`V`. It is true, by the proof
on the page of :mod:`~fltheory.bounds.ruan.theorem_3_1`: the contraction :math:`1 - \frac14\mu\eta_\tau\mathbb
E[\sum_kp_\tau^ks_\tau^k]` is at most :math:`1 - 4E/x` in every round, and what a round adds is at most what the largest
values give. So its smaller constants do as well (``corrected@section-3.2``, with :math:`\check B_\tau` that has
:math:`3(E-1)G^2` for :math:`2EG^2`).

The statement for :math:`\tau = 0` is an equality by definition and is left out of the check.

Instances: those of :mod:`~fltheory.bounds.ruan.theorem_3_1`, with one law of step counts up to some round and another
one after it. By the argument above a failure needs :math:`c_0` comparable with :math:`a`, so noise is measured in units
of :math:`L^2\|w_0 - w^*\|^2`, from none of which either part of :math:`V_\tau` vanishes; and a start along a flat
direction with a steep one beside it, which sets the learning rate: the plane, condition numbers up to :math:`10^4`. All
forms are searched there; eight rounds. Besides, 1500 rounds with a single active client: by then the bound without
:math:`D` is exceeded.

Source: Ruan et al., AISTATS 2021, appendix A.2.1, (66) and (67).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Le, Max, Sum

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import EE, Env, Largest, Smallest, compiled
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Kind
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.observed import changing_bound
from fltheory.bounds.flexible_participation.run_laws import laws_of, mean_in, of_round
from fltheory.bounds.flexible_participation.symbols import (
    D,
    V,
    distance_start,
    gamma,
    mean_ps_at,
    p_drawn,
    s_drawn,
    theta,
)
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.ruan import theorem_3_1
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, Gamma, L, N, k, mu, t, tau
from fltheory.participation import Participation
from fltheory.participation.schemes import Scheme
from fltheory.participation.steps import TimeVarying
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Table
from fltheory.simulation.trajectories import Trajectories

mean_B = family(
    "mean_B_at", r"\mathbb{E}[B_{<0>}]", "expected second-order term of a round", first=0, shape=("rounds",)
)
mean_B_proved = family(
    "mean_B_proved_at",
    r"\mathbb{E}[\hat B_{<0>}]",
    "expected second-order term of a round without (E+5)/3 of the 2E G^2",
    first=0,
    shape=("rounds",),
)
M_at = family(
    "M_at",
    r"M_{<0>}",
    "number of rounds before one whose participation was heterogeneous",
    first=0,
    shape=("rounds",),
    domain="integer>=0",
)
distance_at = family(
    "distance_sq_at",
    r"\mathbb{E}[\bar\Delta_{<0>E}]",
    "expected squared distance before a round",
    first=0,
    shape=("rounds",),
    domain="nonnegative",
)
min_ps = scalar(
    "mean_ps_min",
    r"\min_\tau \mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]",
    "smallest expected sum of coefficients times completed steps, over all rounds",
    domain="nonnegative",
)
max_B = scalar("max_B", r"\max_\tau \mathbb{E}[B_\tau]", "largest expected second-order term of all rounds")
max_B_proved = scalar(
    "max_B_proved",
    r"\max_\tau \mathbb{E}[\check B_\tau]",
    "largest expected second-order term of all rounds, with 3(E-1)G^2 for 2EG^2",
)
max_ps_Gamma = scalar(
    "max_ps_Gamma",
    r"\max_\tau \sum_{k=1}^{N} \mathbb{E}[p_\tau^k s_\tau^k] \Gamma_k",
    "largest expected heterogeneity of all rounds",
    domain="nonnegative",
)
last = scalar("last", "T", "last round", domain="integer>=0")


def experiment(point: Params, *, smallest: bool = False) -> Experiment:
    """Return a run whose law changes once; ``smallest`` has the rate of Theorem 3.1 for the smallest sum."""
    problem = comparable(point)
    steps = TimeVarying(
        laws=(experiments.two_values(point), experiments.two_values(point, high="high_later", q="q_later")),
        starts=(0, point["change"]),
    )
    rounds = point["rounds"]
    participation = Participation(
        num_clients=point["N"], local_steps=point["E"], selection=experiments.selection(point), steps=steps
    )
    env = setting(problem, participation, point["scheme"], rounds)
    offset, count = float(compiled(GAMMA)(env)), point["E"]
    sums, first = (np.full(rounds, env["mean_ps_min"]), 0) if smallest else (env["mean_ps_at"], 1)
    rates = [16 * count / (env["mu"] * sums[i] * ((i + first) * count + offset)) for i in range(rounds)]
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme=point["scheme"]),
        participation=participation,
        rounds=rounds,
        rate=Table(values=np.array(rates)),
    )


def comparable(point: Params) -> Quadratic:
    """Return the clients' quadratics with noise measured by the gradient at the start."""
    quiet = experiments.quadratics(point, unit=0.0)
    known = experiments.constants(quiet)
    return experiments.quadratics(point, unit=known["L"] ** 2 * float(((quiet.start - known["w_star"]) ** 2).sum()))


def setting(problem: Quadratic, participation: Participation, scheme: str, rounds: int) -> dict[str, Any]:
    """Return the constants and the law of every round."""
    phases = [experiments.law(problem, participation, Scheme(scheme), index) for index in (0, rounds - 1)]
    assert isinstance(participation.steps, TimeVarying)
    phase = (np.arange(rounds) >= participation.steps.starts[1]).astype(int)
    sums = np.array([one["mean_ps"] for one in phases])[phase]
    return {
        "E": participation.local_steps,
        **experiments.constants(problem),
        **phases[0],
        "phases": phases,
        "phase": phase,
        "theta": max(one["theta"] for one in phases),
        # The definition as printed refers to the round after the last one, too.
        "mean_ps_at": np.append(sums, sums[-1]),
        "mean_ps_min": sums.min(),
        **laws_of([phases[which] for which in np.append(phase, phase[-1])]),
        "M_at": np.cumsum([0, *(phases[which]["z"] for which in phase)]),
        "last": rounds,
    }


def quantities(point: Params, run: Experiment, trajectories: Trajectories, *, smallest: bool = False) -> Env:
    """Return the quantities; expectations over participation are taken round by round."""
    assert isinstance(run.problem, Quadratic)
    env = setting(run.problem, run.participation, point["scheme"], run.rounds) | experiments.along(run, trajectories)
    phases = [env | one | {"theta": env["theta"]} for one in env["phases"]]
    as_printed, proved, of_theorem = (
        np.array([mean(one) for one in phases])[env["phase"]]
        for mean in (
            compiled(EE(second)) for second in (theorem_3_1.B_PRINTED, theorem_3_1.B_ROUND, theorem_3_1.B_PROVED)
        )
    )
    bias = compiled(theorem_3_1.D_PRINTED)
    # With the smallest sum of all rounds, D is another constant, which follows from the others.
    largest = {} if smallest else {"D": max(bias(one) for one in phases)}
    return env | {
        **largest,
        "distance_sq_at": [env["start_sq"], *env["distance_sq"]],
        "mean_B_at": as_printed,
        "mean_B_proved_at": proved,
        "max_B": as_printed.max(),
        "max_B_proved": of_theorem.max(),
        "max_ps_Gamma": max(float(one["mean_ps_of"] @ env["Gamma"]) for one in phases),
    }


GAMMA = Max(32 * E * (1 + theta) * L / (mu * min_ps), 4 * E**2 * theta / min_ps)


def terms(expected: Any, at: Any = t) -> Any:
    """Return the sum of the second-order terms so far; ``at`` is the index of its denominators."""
    return Sum(expected[t] / mean_ps_at[at] ** 2, (t, 0, tau - 1))


def bound(constant: Any, bias: Any = D) -> Any:
    """Return the statement with its V."""
    return Le(distance_at[tau], M_at[tau] * bias / (tau * E + gamma) + constant / (tau * E + gamma) ** 2)


def printed(at: Any) -> Any:
    """Return the published statement for an index of the denominators."""
    return bound(Max(gamma**2 * distance_start, (16 * E / mu) ** 2 * terms(mean_B, at)))


LONG: Params = {
    **experiments.one_works(rounds=1500, change=1),
    "d": 2,
    "high_later": np.array([0, 1]),
    "q_later": np.ones(2),
    "curvature": np.zeros((2, 2)),
    "centre": np.array([[-1.0, 0.0], [1.0, 0.0]]),
    "noise": np.ones(2),
    "start": np.zeros(2),
}
"""A run on which the bias of heterogeneous participation is more than the rest of the bound."""


def runs(*, smallest: bool = False) -> Experiments:
    """Return runs with a learning rate for every round, or with that for the smallest sum."""
    return Experiments(
        effort=3,
        space=Space(
            {
                **experiments.clients(steps=2),
                "rounds": Integer(8, 8, furthest=4000),
                "change": Integer(1, 7),
                "high_later": experiments.clients()["high"],
                "q_later": Real(0, 1, shape=("N",)),
                "d": Integer(2, 2),
                "noise": Real(0.25, 1, shape=("N",)),
                "loud": Real(0.05, 20, log=True),
                "condition": Real(1, 10000, log=True, far=1e6),
            }
        ),
        experiment=functools.partial(experiment, smallest=smallest),
        quantities=functools.partial(quantities, smallest=smallest),
        moments=True,
        begin=(LONG,),
    )


sums = (
    (mean_ps_at[t], mean_in(Sum(p_drawn[k] * s_drawn[k], (k, 1, N)), t)),
    (min_ps, Smallest(mean_ps_at[t], (t, 0, last - 1))),
    (gamma, GAMMA),
)
second_order = (mean_B[t], mean_in(theorem_3_1.B_PRINTED, t))
biases = (D, Largest(of_round(theorem_3_1.D_PRINTED, t), (t, 0, last - 1)))
expected_bias = mean_in(Sum(p_drawn[k] * s_drawn[k] * Gamma[k], (k, 1, N)), t)
heterogeneity = (max_ps_Gamma, Largest(expected_bias, (t, 0, last - 1)))
extended = Le(distance_at[tau], (M_at[tau] * D + V) / (tau * E + gamma))
unit = 16 * E / (mu * min_ps)

claim = Claim(
    id="ruan.eq-66",
    kind=Kind.BOUND,
    title="bound for laws that change over time",
    citation=Citation("ruan", "appendix A.2.1, (66)"),
    forms=(
        Form(
            statement=printed(t),
            where=(*sums, second_order, biases),
            over=((tau, 1, last),),
            note="the largest D of all rounds is a reading",
        ),
        Form(
            variant="published@index-tau",
            statement=printed(tau),
            where=(*sums, second_order, biases),
            over=((tau, 1, last),),
            note="denominators with the index of the round that is bounded, as in a scan of the paper",
        ),
        Form(
            variant="published@section-3.2",
            statement=extended,
            where=(
                *sums,
                (max_B, Largest(mean_in(theorem_3_1.B_PRINTED, t), (t, 0, last - 1))),
                heterogeneity,
                (D, 64 * E * max_ps_Gamma / (mu * min_ps)),
                (V, Max(gamma**2 * distance_start, unit**2 * max_B / E)),
            ),
            over=((tau, 1, last),),
            check=runs(smallest=True),
            observation=changing_bound(GAMMA, smallest=True),
            note="Theorem 3.1 with smallest and largest expectations over the rounds",
        ),
        Form(
            variant="corrected",
            statement=bound(distance_start * gamma**2 + (16 * E / mu) ** 2 * terms(mean_B_proved), D / 2),
            where=(*sums, (mean_B_proved[t], mean_in(theorem_3_1.B_ROUND, t)), biases),
            over=((tau, 1, last),),
            note="a sum in place of the maximum; half of D, and less of the gradient bound, as (62) allows",
        ),
        Form(
            variant="corrected@section-3.2",
            statement=extended,
            where=(
                *sums,
                (max_B_proved, Largest(mean_in(theorem_3_1.B_PROVED, t), (t, 0, last - 1))),
                heterogeneity,
                (D, 40 * E * max_ps_Gamma / (mu * min_ps)),
                (V, Max(gamma * distance_start, unit**2 * max_B_proved / (3 * E))),
            ),
            over=((tau, 1, last),),
            check=runs(smallest=True),
            observation=changing_bound(GAMMA, smallest=True),
            note="the same with the constants of the proof of Theorem 3.1",
        ),
    ),
    assumptions=theorem_3_1.ASSUMPTIONS,
    uses=("ruan.eq-62",),
    check=runs(),
    observation=changing_bound(GAMMA),
)
