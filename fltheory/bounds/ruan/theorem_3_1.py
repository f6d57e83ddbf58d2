r"""Theorem 3.1: convergence when clients complete a random number of local steps.

With :math:`\eta_\tau = \frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\,\frac{1}{\tau E + \gamma}`, as published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w^*\|^2 \le \frac{M_\tau D + V}{\tau E + \gamma}, \qquad
   D = \frac{64E\sum_k \mathbb E[p_\tau^k s_\tau^k]\,\Gamma_k}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}, \qquad
   V = \max\Bigl\{\gamma^2\,\mathbb E\|w_0^{\mathcal G} - w^*\|^2,\
   \Bigl(\frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\Bigr)^2 \frac{\mathbb E[B_\tau]}{E}\Bigr\},

with :math:`\gamma` and :math:`B_\tau` as listed below, and :math:`M_\tau` the number of rounds so far in which
:math:`\mathbb E[p_t^k s_t^k]/p^k` differs between clients.

**Reading.** In scheme A the moments are not conditional on a complete client: a discarded round is a round, and the
engine runs it as such.

**What the proof uses and the theorem does not list.** Expectations over the participation of a round are taken as if it
did not depend on the model, that is on earlier rounds, nor on the noise; the appendix says that nothing is assumed on
correlations. Independence is an assumption here. Without it (``published@any-dependence``) the theorem is false, and so
is the corrected form: a client that decides once and for all whether it works
(:mod:`~fltheory.bounds.ruan._dependence`) leaves the model where it is with a probability that no bound of this kind
can make up for.

**Where it is tight.** Nowhere. :math:`V` contains :math:`\gamma^2` where the induction needs :math:`\gamma`, and
:math:`\gamma \ge 32(1+\theta)/\theta > 32` since :math:`\mathbb E\sum_k p_\tau^k s_\tau^k \le \theta E`; for schemes B
and C, where that sum is at most :math:`E`, it is at least :math:`32(1+\theta) \ge 64`. With heterogeneous participation
the run tends to the minimiser of :math:`\sum_k \mathbb E[p_\tau^k s_\tau^k] F_k`, and :math:`D/E` is 32 times the sharp
bound on its squared distance from :math:`w^*` (:mod:`~fltheory.bounds.ruan.table_1_b_heterogeneous`).

**Derivation of the corrected form.** The published proof has gaps: (46) replaces the factor of a sum by a larger one
although the sum may be negative, (60) takes the expectation over participation as if :math:`\bar w_{\tau E+l}` did
not depend on it, and (61) divides by a random number before expectations are taken. A proof that avoids all three:
keep the factor :math:`\kappa = \gamma_\tau(1 - \eta_\tau L) \in [0, 2\eta_\tau]` of (44), and bound distances inside
the round from below by that at its start,
:math:`\Delta_{\tau E+i} \ge \frac12\Delta_{\tau E} - \|\bar w_{\tau E+i} - \bar w_{\tau E}\|^2`, which is independent
of the participation of the round. Write :math:`P_\tau = \sum_k p_\tau^k s_\tau^k \le \theta E` and
:math:`Q_\tau = \sum_k\frac{(p_\tau^k)^2}{p^k}s_\tau^k`. By (26) what is subtracted costs at most
:math:`\frac12\mu\eta_\tau P_\tau(E-1)G^2\eta_\tau^2Q_\tau \le 2(E-1)G^2\eta_\tau^2Q_\tau`, since
:math:`\mu\eta_\tau P_\tau \le 4`. So

.. math:: \mathbb E\Delta_{(\tau+1)E} \le \bigl(1 - \tfrac14\mu\eta_\tau\,\mathbb E P_\tau\bigr)\,
   \mathbb E\Delta_{\tau E} + \eta_\tau^2\,\mathbb E\bigl[B_\tau - 2EG^2Q_\tau + 2(E-1)G^2Q_\tau\bigr]
   + \kappa\,\mathbb E\sum_{i,k} p_\tau^k\alpha_{\tau E+i}^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E+i})\bigr) .

If :math:`z_\tau = 1`, the last term is at most :math:`2\eta_\tau\sum_k\mathbb E[p_\tau^k s_\tau^k]\Gamma_k`. If
:math:`z_\tau = 0`, convexity gives
:math:`F_k(\bar w_{\tau E+i}) \ge F_k(\bar w_{\tau E}) + \langle\nabla F_k(\bar w_{\tau E}), \bar w_{\tau E+i} -
\bar w_{\tau E}\rangle`;
the values at :math:`\bar w_{\tau E}` add up to a multiple of :math:`F(w^*) - F(\bar w_{\tau E}) \le 0`, and the inner
products cost at most :math:`2\eta_\tau\cdot\frac12\eta_\tau G^2(1 - \frac1E)P_\tau^2 \le (E-1)G^2\eta_\tau^2Q_\tau`, by
the computation on the page of (60) and :math:`P_\tau^2 \le EQ_\tau`. So the third term of :math:`B_\tau` gets
:math:`3(E-1)G^2` in place of :math:`2EG^2`; call the result :math:`\hat B_\tau \le \frac32B_\tau`. With
:math:`x = \tau E + \gamma` the contraction is :math:`1 - 4E/x`, and

.. math:: \Bigl(1 - \frac{4E}{x}\Bigr)\frac1x = \frac{1}{x+E} - \frac{3E}{x(x+E)} - \frac{4E^2}{x^2(x+E)} ,

so that :math:`V \ge \bigl(16E/(\mu\,\mathbb E\sum_k p_\tau^k s_\tau^k)\bigr)^2\,\mathbb E[\hat B_\tau]/(3E)` closes
the induction, the start needs :math:`V \ge \gamma\,\mathbb E\|w_0^{\mathcal G} - w^*\|^2` only, and
:math:`\gamma \ge 4E` allows 40 in place of 64 in :math:`D`. Since :math:`\hat B_\tau/3 \le B_\tau`, this proves the
published form as well.

**Derivation of the sharp form for the limit.** Replace the objective weights by
:math:`a_k = \mathbb E[p_\tau^k s_\tau^k]/\mathbb E[\sum_j p_\tau^j s_\tau^j]`, and leave out clients with :math:`a_k =
0`, which never move the model. Then :math:`\mathbb E[p_\tau^k s_\tau^k]/a_k` is the same for all clients, whatever the
scheme and the participation: :math:`z_\tau = 0`. The proof above uses nothing else about the weights. So with
:math:`\theta = \max_k p_\tau^k/a_k`, with :math:`\Gamma_k` at the minimiser :math:`w_\infty` of
:math:`\sum_k a_k F_k`, and with :math:`\gamma`, :math:`B_\tau` accordingly,

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - w_\infty\|^2 \le \frac{V}{\tau E + \gamma} .

This is the limit of every scheme, with a rate. :math:`a_k` is proportional to :math:`p^k\,\mathbb E[s_\tau^k]` for
scheme B, to :math:`p^k\,\mathbb P(s_\tau^k > 0)` for scheme C, and to
:math:`p^k\,\mathbb E[\mathbf 1[s_\tau^k = E]/K_\tau]` for scheme A, so :math:`w_\infty = w^*` for homogeneous
participation, and for scheme C also for heterogeneous one without inactive clients. A client that never takes part
leaves no trace in :math:`w_\infty`. With the offset :math:`\gamma` of the published learning rate, the same holds from
the round on in which :math:`\tau E + \gamma` exceeds the offset for :math:`a_k`.

Instances: one or two clients with quadratics of different curvature (condition up to 1000), step counts with two
values per client (none, some, all of them; the same law for all clients or not; so clients may be inactive at times or
always), schemes A, B, C, noise from none to large, starts anywhere; 24 rounds in exact expectation.
Besides, a run whose only active client moves it away from :math:`w^*`, for 400 and for 6500 rounds: so many it takes
until the bound without :math:`M_\tau D` is exceeded, since :math:`V` is large; and a start along a flat direction.
:math:`\mu, L, \theta, G` are the smallest that the instance allows; :math:`G` is taken along the run, in expectation
over everything, which asks less than the published assumption and so makes the check harder.

Source: Ruan et al., AISTATS 2021, section 3.2, (3), and appendix A.2. The proof's :math:`\gamma_\tau` of (40) and
:math:`D` of (41) are other quantities than :math:`\gamma` and :math:`D` here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import Gt, Le, Max, Sum

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import EE, Differ, Env, Largest, Pos, Smallest, compiled
from fltheory.bounds.claim import Assumption, Citation, Claim, Experiments, Form, Kind
from fltheory.bounds.definitions import Definition
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.observed import main_bound
from fltheory.bounds.flexible_participation.symbols import (
    B_tau,
    D,
    M_tau,
    V,
    distance,
    distance_start,
    gamma,
    mean_ps,
    p_drawn,
    s_drawn,
    theta,
    z_tau,
)
from fltheory.bounds.ruan import _limit
from fltheory.bounds.ruan._dependence import FROZEN
from fltheory.bounds.ruan._limit import from_limit
from fltheory.bounds.space import Integer, Params, Space
from fltheory.bounds.symbols import E, G_sq, Gamma, L, N, k, mu, p, sigma_sq, tau
from fltheory.participation import Participation
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Inverse
from fltheory.simulation.trajectories import Trajectories

_ps = Sum(p_drawn[k] * s_drawn[k], (k, 1, N))
_excess = Pos(Sum(p_drawn[k], (k, 1, N)) - 2)

MEAN_PS = Sum(EE(p_drawn[k] * s_drawn[k]), (k, 1, N))
GAMMA = Max(32 * E * (1 + theta) * L / (mu * mean_ps), 4 * E**2 * theta / mean_ps)
D_PRINTED = 64 * E * Sum(EE(p_drawn[k] * s_drawn[k]) * Gamma[k], (k, 1, N)) / (mu * mean_ps)
B_PRINTED = (
    2 * (2 + theta) * L * Sum(p_drawn[k] * s_drawn[k] * Gamma[k], (k, 1, N))
    + (2 + mu / (2 * (1 + theta) * L)) * E * (E - 1) * G_sq * (_ps + theta * _excess * _ps)
    + 2 * E * G_sq * Sum(p_drawn[k] ** 2 / p[k] * s_drawn[k], (k, 1, N))
    + Sum(p_drawn[k] ** 2 * s_drawn[k] * sigma_sq[k], (k, 1, N))
)
V_PRINTED = Max(gamma**2 * distance_start, (16 * E / (mu * mean_ps)) ** 2 * EE(B_tau) / E)

B_ROUND = B_PRINTED - (E + 5) * G_sq * Sum(p_drawn[k] ** 2 / p[k] * s_drawn[k], (k, 1, N)) / 3
"""What a round needs of it if a quarter of the distance inside the round is used, see (61)."""

B_PROVED = B_PRINTED + (E - 3) * G_sq * Sum(p_drawn[k] ** 2 / p[k] * s_drawn[k], (k, 1, N))
"""What a round needs of it if half of the distance inside the round is used, see Theorem 3.1."""

D_PROVED = 40 * E * Sum(EE(p_drawn[k] * s_drawn[k]) * Gamma[k], (k, 1, N)) / (mu * mean_ps)
NOISE_PROVED = (16 * E / (mu * mean_ps)) ** 2 * EE(B_tau) / (3 * E)
"""The constants of the proof on the page of Theorem 3.1."""

CONSTANTS: tuple[Definition, ...] = (
    (mean_ps, MEAN_PS),
    (gamma, GAMMA),
    (D, D_PRINTED),
    (B_tau, B_PRINTED),
    (V, V_PRINTED),
)
"""Definitions of the theorem, in order."""

ASSUMPTIONS = (
    Assumption("some updates are aggregated", Gt(mean_ps, 0)),
    experiments.BOUNDED_GRADIENTS,
    experiments.BOUNDED_COEFFICIENTS,
    experiments.INDEPENDENT,
)


def staircase(env: Env, offset: Any = None) -> Inverse:
    """Return the learning rate of the theorem; ``offset`` stands for another gamma."""
    shift = compiled(GAMMA)(env) if offset is None else offset
    return Inverse(scale=16 / (env["mu"] * env["mean_ps"]), shift=float(shift) / env["E"])


def experiment(point: Params, *, within: Callable[..., Env] = experiments.setting) -> Experiment:
    """Return the run of a point with the theorem's learning rate; ``within`` returns what the rate depends on."""
    problem = experiments.quadratics(point)
    participation = Participation(
        num_clients=point["N"],
        local_steps=point["E"],
        selection=experiments.selection(point),
        steps=experiments.two_values(point),
    )
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme=point["scheme"]),
        participation=participation,
        rounds=point["rounds"],
        rate=staircase(within(problem, participation, point["scheme"])),
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the quantities of the theorem."""
    assert isinstance(run.problem, Quadratic)
    env = experiments.setting(run.problem, run.participation, point["scheme"]) | experiments.along(run, trajectories)
    return env | {"M_tau": env["z"] * env["tau"]}


FLAT_START: Params = {
    **experiments.one_works(),
    "N": 1,
    "d": 2,
    "participation": "full",
    **{name: np.ones(1, dtype=int) for name in ("low", "high")},
    **{name: np.ones(1) for name in ("q", "n")},
    "condition": 1000.0,
    "curvature": np.array([[0.0, 1.0]]),
    "centre": np.zeros((1, 2)),
    "noise": np.zeros(1),
    "start": np.array([1.0, 0.0]),
    "rounds": 24,
}
"""A run along the flat direction, where gradients are small against what the learning rate is made for."""


def runs(
    within: Callable[..., Env] = experiments.setting,
    quantities: Callable[..., Env] = quantities,
    *,
    begin: tuple[Params, ...],
) -> Experiments:
    """Return runs with the learning rate of a setting; ``begin`` are points that are looked at in any case."""
    return Experiments(
        space=Space({**experiments.clients(), "rounds": Integer(24, 24, furthest=10_000)}),
        experiment=functools.partial(experiment, within=within),
        quantities=quantities,
        moments=True,
        effort=2,
        begin=begin,
    )


def heterogeneous(coefficient: Any = p_drawn) -> Definition:
    """Return the definition of whether participation is heterogeneous, for one law in all rounds."""
    ratio = EE(coefficient[k] * s_drawn[k]) / p[k]
    return z_tau, Differ(Largest(ratio, (k, 1, N)), Smallest(ratio, (k, 1, N)))


HETEROGENEOUS: tuple[Definition, ...] = (heterogeneous(), (M_tau, z_tau * tau))
"""Whether participation is heterogeneous, and in how many rounds so far it was."""

bound = Le(distance, (M_tau * D + V) / (tau * E + gamma))

claim = Claim(
    id="ruan.theorem-3.1",
    kind=Kind.BOUND,
    title="convergence with flexible participation",
    citation=Citation("ruan", "Theorem 3.1, (3)"),
    forms=(
        Form(
            statement=bound,
            where=(*CONSTANTS, *HETEROGENEOUS),
        ),
        Form(
            variant="published@any-dependence",
            statement=bound,
            where=(*CONSTANTS, (M_tau, z_tau * tau)),
            assumptions=tuple(one for one in ASSUMPTIONS if one is not experiments.INDEPENDENT),
            check=FROZEN,
            note="no assumption on correlations, as appendix A.2 has it; participation that is decided once",
        ),
        Form(
            variant="corrected",
            statement=bound,
            where=(
                (mean_ps, MEAN_PS),
                (gamma, GAMMA),
                (D, D_PROVED),
                (B_tau, B_PROVED),
                (V, Max(gamma * distance_start, NOISE_PROVED)),
                *HETEROGENEOUS,
            ),
            note="gamma for its square, a third of the noise with 3(E-1) for 2E, 40 for 64; with a proof that closes",
        ),
        Form(
            variant="sharp@limit",
            statement=Le(from_limit, V / (tau * E + gamma)),
            where=(
                (mean_ps, MEAN_PS),
                (gamma, GAMMA),
                (B_tau, B_PROVED),
                (V, Max(gamma * distance_start, NOISE_PROVED)),
            ),
            check=runs(within=_limit.setting, quantities=_limit.quantities, begin=(FLAT_START,)),
            observation=_limit.observed(staircase),
            note="the limit of every scheme: the minimiser for the weights that clients get on average",
        ),
    ),
    assumptions=ASSUMPTIONS,
    uses=("ruan.eq-62", "ruan.eq-63", "ruan.eq-64-65"),
    check=runs(begin=(*(experiments.one_works(rounds=rounds) for rounds in (400, 6500)), FLAT_START)),
    observation=main_bound(GAMMA),
)
