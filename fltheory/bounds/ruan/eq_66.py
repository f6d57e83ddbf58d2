r"""Equation (66): the bound of Theorem 3.1 when the laws of participation change over time.

With :math:`\eta_\tau = \frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\,\frac{1}{(\tau+1)E+\gamma}` and
:math:`\gamma` redefined with the smallest :math:`\mathbb E[\sum_k p_\tau^k s_\tau^k]` over all rounds, as published

.. math:: \mathbb E[\bar\Delta_{\tau E}] \le \frac{M_\tau D}{\tau E + \gamma} + \frac{V_\tau}{(\tau E + \gamma)^2},
   \qquad
   V_\tau = \max\Bigl\{\gamma^2\,\mathbb E\|w_0^{\mathcal G} - w^*\|^2,\ \Bigl(\frac{16E}{\mu}\Bigr)^2
   \sum_{t=0}^{\tau-1} \frac{\mathbb E[B_t]}{(\mathbb E[\sum_k p_\tau^k s_\tau^k])^2}\Bigr\} .

**Readings.** Inside the sum over :math:`t` the printed denominator carries the index :math:`\tau` of the round that is
bounded. That is ``published``, verbatim; with :math:`t` in its place, which is what the learning rates call for, it is
``published@index-t``. In both :math:`D`, which is not redefined, is read as the largest of its values over the rounds,
the smallest constant with which a term :math:`z_\tau D` can be added in every round. :math:`B_\tau` is that of
Theorem 3.1.

**Where it fails.** The last line of (67) needs :math:`V_{\tau+1} \ge V_\tau + c_\tau` with
:math:`c_\tau = (16E/\mu)^2\,\mathbb E[B_\tau]/(\mathbb E[\sum_k p_\tau^k s_\tau^k])^2`. A maximum of
:math:`a = \gamma^2\,\mathbb E\|w_0^{\mathcal G} - w^*\|^2` and a sum does not grow by :math:`c_\tau` while :math:`a`
is larger. One round suffices: with one client, :math:`E = 1`, noise that makes :math:`c_0` as large as :math:`a`, and
a large condition number, the noise adds a third of the initial distance while the round contracts by next to nothing.
As printed the statement fails besides when clients become more active: the noise of rounds with large learning rates is
then divided by the larger sum of a later round.

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
forms are searched there; eight rounds.

Source: Ruan et al., AISTATS 2021, appendix A.2.1, (66) and (67).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Le, Max, Sum

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds._algebra import EE, Env, compiled, family, scalar
from fltheory.bounds._claim import Claim, Experiments, Form, Kind, Source
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import E, L, mu, t, tau
from fltheory.bounds.ruan import _theorem
from fltheory.bounds.ruan._symbols import D, V, distance_start, gamma, mean_ps_at, theta
from fltheory.experiment import Experiment
from fltheory.participation import Participation
from fltheory.participation.schemes import Scheme
from fltheory.participation.steps import TimeVarying
from fltheory.quadratic.problem import Quadratic
from fltheory.rates import Table
from fltheory.trajectories import Trajectories

ROUNDS = 8

mean_B = family("ruan_mean_B", r"\mathbb{E}[B_{<0>}]", "expected second-order term of a round", first=0)
mean_B_proved = family(
    "ruan_mean_B_proved", r"\mathbb{E}[\hat B_{<0>}]", "the same without (E+5)/3 of its 2E G^2", first=0
)
M_at = family("ruan_M_at", r"M_{<0>}", "number of rounds before one whose participation was heterogeneous", first=0)
distance_at = family(
    "ruan_distance_at", r"\mathbb{E}[\bar\Delta_{<0>E}]", "expected squared distance before a round", first=0
)
min_ps = scalar(
    "ruan_min_ps", r"\min_\tau \mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]", "smallest such sum of all rounds"
)
max_B = scalar("ruan_max_B", r"\max_\tau \mathbb{E}[B_\tau]", "largest expected second-order term of all rounds")
max_B_proved = scalar("ruan_max_B_proved", r"\max_\tau \mathbb{E}[\check B_\tau]", "the same with 3(E-1)G^2 for 2EG^2")
max_ps_Gamma = scalar(
    "ruan_max_ps_Gamma",
    r"\max_\tau \sum_{k=1}^{N} \mathbb{E}[p_\tau^k s_\tau^k] \Gamma_k",
    "largest expected heterogeneity of all rounds",
)
last = scalar("ruan_last", "T", "last round")


def experiment(point: Params, *, smallest: bool = False) -> Experiment:
    """Return a run whose law changes once; ``smallest`` has the rate of Theorem 3.1 for the smallest sum."""
    problem = comparable(point)
    steps = TimeVarying(
        laws=(_theorem.two_values(point), _theorem.two_values(point, high="high_later", q="q_later")),
        starts=(0, point["change"]),
    )
    participation = Participation(num_clients=point["N"], local_steps=point["E"], steps=steps)
    env = setting(problem, participation, point["scheme"])
    offset, count = float(compiled(GAMMA)(env)), point["E"]
    sums, first = (np.full(ROUNDS, env["ruan_min_ps"]), 0) if smallest else (env["mean_ps_at"], 1)
    rates = [16 * count / (env["mu"] * sums[i] * ((i + first) * count + offset)) for i in range(ROUNDS)]
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme=point["scheme"]),
        participation=participation,
        rounds=ROUNDS,
        rate=Table(values=np.array(rates)),
    )


def comparable(point: Params) -> Quadratic:
    """Return the clients' quadratics with noise measured by the gradient at the start."""
    quiet = _theorem.quadratics(point, unit=0.0)
    known = _theorem.constants(quiet)
    return _theorem.quadratics(point, unit=known["L"] ** 2 * float(((quiet.start - known["w_star"]) ** 2).sum()))


def setting(problem: Quadratic, participation: Participation, scheme: str) -> dict[str, Any]:
    """Return the constants and the law of every round."""
    phases = [_theorem.law(problem, participation, Scheme(scheme), index) for index in (0, ROUNDS - 1)]
    assert isinstance(participation.steps, TimeVarying)
    phase = (np.arange(ROUNDS) >= participation.steps.starts[1]).astype(int)
    sums = np.array([one["mean_ps"] for one in phases])[phase]
    return {
        "E": participation.local_steps,
        **_theorem.constants(problem),
        **phases[0],
        "phases": phases,
        "phase": phase,
        "theta": max(one["theta"] for one in phases),
        # The definition as printed refers to the round after the last one, too.
        "mean_ps_at": np.append(sums, sums[-1]),
        "ruan_min_ps": sums.min(),
        "ruan_M_at": np.cumsum([0, *(phases[which]["z"] for which in phase)]),
        "ruan_last": ROUNDS,
    }


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters; expectations over participation are taken round by round."""
    assert isinstance(run.problem, Quadratic)
    env = setting(run.problem, run.participation, point["scheme"]) | _theorem.along(run, trajectories)
    phases = [env | one | {"theta": env["theta"]} for one in env["phases"]]
    as_printed, proved, of_theorem = (
        np.array([mean(one) for one in phases])[env["phase"]]
        for mean in (compiled(EE(second)) for second in (_theorem.B_PRINTED, _theorem.B_ROUND, _theorem.B_PROVED))
    )
    bias = compiled(_theorem.D_PRINTED)
    return env | {
        "ruan_distance_at": [env["ruan_distance_start"], *env["ruan_distance"]],
        "ruan_mean_B": as_printed,
        "ruan_mean_B_proved": proved,
        "ruan_D": max(bias(one) for one in phases),
        "ruan_max_B": as_printed.max(),
        "ruan_max_B_proved": of_theorem.max(),
        "ruan_max_ps_Gamma": max(float(one["mean_ps_of"] @ env["Gamma"]) for one in phases),
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


def runs(*, smallest: bool = False) -> Experiments:
    """Return runs with a learning rate for every round, or with that for the smallest sum."""
    return Experiments(
        effort=3,
        space=Space(
            {
                **_theorem.clients(steps=2),
                "change": Integer(1, ROUNDS - 1),
                "high_later": _theorem.clients()["high"],
                "q_later": Real(0, 1, shape=("N",)),
                "d": Integer(2, 2),
                "noise": Real(0.25, 1, shape=("N",)),
                "loud": Real(0.05, 20, log=True),
                "condition": Real(1, 10000, log=True),
            }
        ),
        experiment=functools.partial(experiment, smallest=smallest),
        quantities=quantities,
        moments=True,
    )


extended = Le(distance_at[tau], (M_at[tau] * D + V) / (tau * E + gamma))
unit = 16 * E / (mu * min_ps)

claim = Claim(
    id="ruan.eq-66",
    kind=Kind.BOUND,
    title="bound for laws that change over time",
    source=Source("ruan", "appendix A.2.1, (66)"),
    forms=(
        Form(
            statement=printed(tau),
            where=((gamma, GAMMA),),
            over=((tau, 1, last),),
            note="the largest D of all rounds is a reading",
        ),
        Form(
            variant="published@index-t",
            statement=printed(t),
            where=((gamma, GAMMA),),
            over=((tau, 1, last),),
            note="the summands carry the index of the sum",
        ),
        Form(
            variant="published@section-3.2",
            statement=extended,
            where=(
                (gamma, GAMMA),
                (D, 64 * E * max_ps_Gamma / (mu * min_ps)),
                (V, Max(gamma**2 * distance_start, unit**2 * max_B / E)),
            ),
            over=((tau, 1, last),),
            check=runs(smallest=True),
            note="Theorem 3.1 with smallest and largest expectations over the rounds",
        ),
        Form(
            variant="corrected",
            statement=bound(distance_start * gamma**2 + (16 * E / mu) ** 2 * terms(mean_B_proved), D / 2),
            where=((gamma, GAMMA),),
            over=((tau, 1, last),),
            note="a sum in place of the maximum; half of D, and less of the gradient bound, as (62) allows",
        ),
        Form(
            variant="corrected@section-3.2",
            statement=extended,
            where=(
                (gamma, GAMMA),
                (D, 40 * E * max_ps_Gamma / (mu * min_ps)),
                (V, Max(gamma * distance_start, unit**2 * max_B_proved / (3 * E))),
            ),
            over=((tau, 1, last),),
            check=runs(smallest=True),
            note="the same with the constants of the proof of Theorem 3.1",
        ),
    ),
    assumptions=_theorem.ASSUMPTIONS,
    uses=("ruan.eq-62",),
    check=runs(),
)
