r"""Theorem 1 for the elastic objective, whose anchors move.

The assumptions are about :math:`\widetilde F_k`, which contains the elastic term and changes in every round with the
anchors :math:`\omega_{\tau-1}^i`; the theorem treats it as fixed. When models agree the term's gradient vanishes, so
the only point to which the algorithm can settle is the minimiser :math:`\omega^*` of :math:`\sum_k p^kf_k`. As
published, constants from the proof of the long version (:mod:`~fltheory.bounds.efl.theorem_1`),

.. math:: \mathbb E\|\omega_{\tau E}^G - \omega^*\|^2 \le \frac{C_\tau}{(\tau E+\gamma)^2} + \frac{H_\tau J}{\tau
   E+\gamma} ,

where :math:`\mu, L` are those of :math:`\widetilde F_{\tau,k}`, also in the learning rate, and :math:`G` bounds its
gradients. The metric :math:`D_k` is that of :math:`f_k` (``published@plain``) or the largest of
:math:`\widetilde F_{\tau,k}`, bounded by adding the elastic term at :math:`\omega^*` (``published@moving``, checked as
a rate in the number of rounds). Taken literally, :math:`\omega^*` is the minimiser of :math:`\sum_kp^k\widetilde
F_{\tau,k}`, another one in every round, which follows the model (``published@literal``, with the same metric, as a
rate). All fail for large :math:`\lambda`: strong convexity grows with :math:`\lambda`, so the learning rate falls, but
anchors follow the model and the pull towards :math:`\omega^*` stays that of :math:`f_k`. With full participation and
equal curvatures :math:`\mu_f` of the :math:`f_k` the distance falls like :math:`\tau^{-32\mu_f/\mu}`, where
:math:`\tau^{-1}` is claimed; that to the minimiser of the round is smaller by a factor, and falls no faster.

**Derivation of the corrected form.** Take :math:`\mu, L, D_k` and the learning rate of the plain :math:`f_k`, and treat
the elastic gradient as a perturbation. Norms are :math:`\|X\| = (\mathbb E|X|^2)^{1/2}`; client :math:`i` is active in
round :math:`t` with probability :math:`q_t^i`, independent of the past; :math:`W_t = \mathbb E\sum_kp_t^ks_t^k`,
:math:`Q_t = \mathbb E\sum_k\frac{(p_t^k)^2}{p^k}s_t^k`. By (58) a round moves the model by at most
:math:`\eta_tG\sqrt{EQ_t}`. The anchor of an active client is :math:`\eta_tEG` from the model at the start of the round,
that of an absent one stays, so anchors are at most :math:`z_t^i` away from :math:`\omega_{tE}^G`, with

.. math:: z_0^i = 0, \qquad z_{t+1}^i = \eta_tG\sqrt{EQ_t} + \sqrt{q_t^i(\eta_tEG)^2 + (1 - q_t^i)(z_t^i)^2} ,

and the elastic gradient in a step of round :math:`t` is at most :math:`K_t = \lambda\sum_i\max_au_a^i\,((E-1)\eta_tG +
z_t^i)` long: of the order of the learning rate, if no client stays away for good. Let :math:`P_j = \sum_kp_t^k
1[s_t^k > j]`. For the step :math:`y` without perturbation :math:`e`, :math:`\|e\| \le P_jK_t`, and the fixed number
:math:`a = \frac{\mu\eta_tW_t}{16E}` (a random one would not average, see :mod:`~fltheory.bounds.efl.eq_64`),
:math:`|y - \eta_te - \omega^*|^2 \le (1+a)|y - \omega^*|^2 + (1 + \frac1a)\eta_t^2|e|^2`. Since :math:`\mu\eta_tW_t =
\frac{16E}{(t+1)E+\gamma} \le \frac{16}5`, :math:`(1+a)^E \le e^{\mu\eta_tW_t/16} \le 1 + \frac{3}{40}\mu\eta_tW_t \le
\frac{31}{25}`. Sum (46) over the round as for (64), with these factors. The distance at the start keeps the factor
:math:`1 + (\frac3{40} - \frac14)\mu\eta_tW_t \le 1 - \frac{2E}{(t+1)E+\gamma}`. In the last sum of (46) the factors
:math:`(1+a)^{E-j} - 1` cost at most :math:`\frac{3}{20}\mu\eta_t^2W_t\sum_k\mathbb E[p_t^ks_t^k]D_k`, for
:math:`f_k(\omega^*) - f_k \le D_k`; the gradient of :math:`f_k` at the start of the round is at most
:math:`G + K_t`. Together the second-order term of a round is

.. math:: \hat B_t = \tfrac{31}{25}\Bigl(\mathbb E[B_t'] + 2EG^2Q_t + 2(E-1)G(G + K_t)Q_t + \Bigl(1 +
   \frac{16E}{\mu\eta_tW_t}\Bigr)K_t^2\,\mathbb E\sum_jP_j^2\Bigr) + \tfrac3{20}\mu W_t\sum_k\mathbb E[p_t^ks_t^k]D_k
   ,

with :math:`B_t'` the corrected (59), and the induction closes as in (65).

Instances: one or two clients with separable quadratics without noise and their Hessian diagonals as Fisher
information, :math:`\lambda` up to 100; random step counts in up to five rounds, then fixed ones (0 included), up to 20
rounds, all courses of participation enumerated. Before round 0 all clients report their statistics at the common start
(:mod:`~fltheory.bounds.efl._runs`), since else the elastic term would be missing in it. Besides, 6800 rounds in which
one of two clients works: the run settles at the minimiser of that client, and the corrected form fails there without
:math:`J`.

Margins near 1 come from runs that hardly move, see :mod:`~fltheory.bounds.efl.theorem_1`.

Source: EFL, Theorem 1, (7), with the objective (2), both versions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import Le, Max, Min, Rational, Sum, sqrt

from fltheory._internal.arguments import Floats
from fltheory.algorithms.efl import EFL
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.efl import _runs, theorem_1
from fltheory.bounds.efl._round import METRIC, inner_proved, second_order, squares
from fltheory.bounds.efl._symbols import C, distance, gamma
from fltheory.bounds.flexible_participation.observed import about_efl, changing_bound
from fltheory.bounds.flexible_participation.run_laws import mean_in, q_at, works_in
from fltheory.bounds.flexible_participation.symbols import mean_ps_at, p_drawn, s_drawn
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Params, Real, Space
from fltheory.bounds.symbols import E, G_sq, N, j, k, mu, t, tau
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic

B_sum_elastic = scalar(
    "B_sum_elastic",
    r"\tilde S_\tau",
    "second-order terms so far with the elastic gradient as perturbation",
)
pull_at = family(
    "pull_at",
    "K_{<0>}",
    "bound on the elastic gradient in a round",
    first=0,
    shape=("rounds",),
    domain="nonnegative",
)
away_at = family(
    "away_at",
    "z_{<0>}^{<1>}",
    "bound on the distance of a client's anchor from the model before a round, root mean square",
    first=(0, 1),
    shape=("rounds", "clients"),
    domain="nonnegative",
)
elasticity = scalar("elasticity", r"\lambda", "weight of the elastic term", domain="nonnegative")
fisher_max = family(
    "fisher_max",
    r"\bar u^{<0>}",
    "largest entry of the diagonal of a client's Fisher information",
    shape=("clients",),
    domain="nonnegative",
)
eta_at = family(
    "eta_at", r"\eta_{<0>}", "local learning rate in a round", first=0, shape=("rounds",), domain="positive"
)
mean_B_elastic = family(
    "mean_B_elastic_at",
    r"\hat B_{<0>}",
    "second-order term of a round with the elastic gradient",
    first=0,
    shape=("rounds",),
)
without_pull = second_order(p_drawn, s_drawn, inner_proved(p_drawn, s_drawn))
squared_work = squares(p_drawn, s_drawn)
works = Min(Max(s_drawn[k] - j, 0), 1)
squared_sums = Sum(Sum(p_drawn[k] * works, (k, 1, N)) ** 2, (j, 0, E - 1))
G = sqrt(G_sq)
elastic = Rational(31, 25) * (
    mean_in(without_pull, t)
    + 2 * E * G_sq * mean_in(squared_work, t)
    + 2 * (E - 1) * G * (G + pull_at[t]) * mean_in(squared_work, t)
    + (1 + 16 * E / (mu * eta_at[t] * mean_ps_at[t])) * pull_at[t] ** 2 * mean_in(squared_sums, t)
) + Rational(3, 20) * mu * mean_ps_at[t] * mean_in(METRIC, t)
with_pull = (
    *theorem_1.OFFSET,
    (eta_at[t], 16 * E / (mu * mean_ps_at[t] * ((t + 1) * E + gamma))),
    works_in,
    (away_at[0, k], 0),
    (
        away_at[t + 1, k],
        eta_at[t] * G * sqrt(E * mean_in(squared_work, t))
        + sqrt(q_at[t, k] * (eta_at[t] * E * G) ** 2 + (1 - q_at[t, k]) * away_at[t, k] ** 2),
    ),
    (pull_at[t], elasticity * Sum(fisher_max[k] * ((E - 1) * eta_at[t] * G + away_at[t, k]), (k, 1, N))),
    (mean_B_elastic[t], elastic),
    (B_sum_elastic, Sum(mean_B_elastic[t] / mean_ps_at[t] ** 2, (t, 0, tau - 1))),
    (C, theorem_1.FIRST + theorem_1.SCALE * B_sum_elastic),
    *theorem_1.WITH_MU,
    *theorem_1.COUNTED,
)


def perturbations(observed: _runs.Observed, fisher: Floats, weight: float, squared: Floats) -> Floats:
    """Return the bound on the elastic gradient in every round, shape ``(rounds,)``."""
    env, plan = observed.env, observed.plan
    steps, size = env["E"], env["G_sq"] ** 0.5
    behind = np.zeros(env["N"])
    found = []
    for rate, active, square in zip(observed.rates, plan.active, squared, strict=True):
        found.append(weight * float(fisher @ ((steps - 1) * rate * size + behind)))
        behind = rate * size * (steps * square) ** 0.5 + np.sqrt(
            active * (rate * steps * size) ** 2 + (1 - active) * behind**2
        )
    return np.array(found)


def realise_plain(point: Params) -> dict[str, Any]:
    """Return the quantities of the theorem for constants of the plain functions."""
    weight = point["elasticity"]
    observed = _runs.observe(point, EFL(elasticity=weight))
    env, plan, rates = observed.env, observed.plan, observed.rates
    work, squared = plan.work[:-1], plan.expected(squared_work, env)
    fisher = _runs.quadratics(point)[0].hessian.max(axis=1)
    pull = perturbations(observed, fisher, weight, squared)
    size, steps = env["G_sq"] ** 0.5, env["E"]
    second = 1.24 * (
        plan.expected(without_pull, env)
        + 2 * steps * size**2 * squared
        + 2 * (steps - 1) * size * (size + pull) * squared
        + (1 + 16 * steps / (env["mu"] * rates * work)) * pull**2 * plan.squared_sums()
    ) + 0.15 * env["mu"] * work * plan.expected(METRIC, env)
    return env | {
        "elasticity": weight,
        "fisher_max": fisher,
        "pull_at": pull,
        "B_sum_elastic": np.cumsum(second / work**2),
    }


def realise(point: Params, *, moving: bool, literal: bool = False, walks: _runs.Walks | None = None) -> dict[str, Any]:
    """Return the quantities for constants with the elastic term; ``moving`` adds it to the metric, last round only.

    ``literal`` measures distances to the minimiser with the elastic term of the round.
    """
    hessian = _runs.quadratics(point)[0].hessian
    total = hessian + point["elasticity"] * hessian.sum(axis=0)
    algorithm = EFL(elasticity=point["elasticity"])
    bent: dict[str, Any] = {"mu": float(total.min()), "L": float(total.max())}
    observed = _runs.observe(point, algorithm, last=moving, walks=walks, **bent)
    if not moving:
        return observed.env
    env = observed.env | {"Gamma": observed.env["Gamma"] + observed.course.elastic}
    env |= {name: np.ravel(value)[-1] for name, value in theorem_1.constants(observed.plan, env).items()}
    if literal:
        about = observed.course.chance @ observed.course.moving_sq
        env |= {"start_sq": about[0], "distance_sq": about[-1]}
    return env


space = Space({**_runs.clients(most=2, dim=3), "elasticity": Real(0.001, 100, log=True, far=1e-8)})
one_works: Params = {
    **{name: value for name, value in _runs.base(E=1, centre=np.array([[-1.0], [1.0]])).items() if name != "q_later"},
    "T": 6800,
    "participation": "heterogeneous",
    **{name: np.array([0, 1]) for name in ("low", "high", "later")},
    "q": np.ones(2),
    "n": np.array([1.0, 0.6]),
    "elasticity": 1e-8,
    "condition": 1.0,
    "curvature": np.zeros((2, 1)),
    "start": np.zeros(1),
}
"""A run that ends at the minimiser of the only client who works: what heterogeneous participation adds is needed."""

walks: _runs.Walks = {}
one_coordinate = _runs.base(
    E=1,
    elasticity=200.0,
    condition=1.0,
    curvature=np.zeros((2, 1)),
    centre=np.zeros((2, 1)),
    start=np.ones(1),
)


def observed() -> Observation:
    """Return how the theorem is read on a run of EFL; Fisher information is known of quadratics, else asked for."""
    whole = changing_bound(theorem_1.GAMMA, setting_of=about_efl)

    def quantities(facts: Facts) -> Mapping[Any, Any]:
        algorithm, problem = facts.algorithm, facts.problem
        assert isinstance(algorithm, EFL)
        env = {**whole.quantities(facts), "elasticity": algorithm.elasticity}
        if "fisher_max" in facts.given:
            return env | {"fisher_max": facts.keep("fisher_max", None, Origin.DECLARED)}
        if isinstance(problem, Quadratic) and algorithm.fisher in ("fisher", "diagonal"):
            hessian = problem.hessian
            diagonal = np.diagonal(hessian, axis1=-2, axis2=-1) if hessian.ndim == 3 else hessian
            largest = np.broadcast_to(diagonal.max(axis=1), (problem.num_clients,))
            env["fisher_max"] = facts.keep("fisher_max", largest, Origin.COMPUTED, "diagonals of the Hessians")
        return env

    def conditions(facts: Facts) -> tuple[Requirement, ...]:
        assert isinstance(facts.algorithm, EFL)
        share = facts.algorithm.compression
        return (*whole.conditions(facts), Requirement("no compression", share is None, f"compression = {share}"))

    return dataclasses.replace(whole, quantities=quantities, conditions=conditions)


claim = Claim(
    id="efl.theorem-1-elastic",
    kind=Kind.BOUND,
    title="convergence with elastic term and moving anchors",
    citation=Citation("efl", "Theorem 1, (7), with (2)"),
    forms=(
        Form(
            variant="published@plain",
            statement=theorem_1.STATEMENT,
            where=theorem_1.LONG_VERSION,
            note="constants with the elastic term, metric of the plain functions",
        ),
        *(
            Form(
                variant=f"published@{reading}",
                statement=Le(distance, theorem_1.BOUND),
                where=theorem_1.LONG_VERSION,
                check=Sweeps(
                    instances=Instances(
                        space=space,
                        realise=functools.partial(realise, moving=True, literal=reading == "literal", walks=walks),
                        method=Method.EXACT,
                        rational=False,
                    ),
                    sweeps=(Sweep("T", (50, 100, 200, 400, 800, 1600), one_coordinate),),
                ),
                note=f"{note}; after many rounds",
            )
            for reading, note in (
                ("moving", "metric with the elastic term"),
                ("literal", "the same, distances to the minimiser with the elastic term of the round"),
            )
        ),
        Form(
            variant="corrected",
            statement=theorem_1.STATEMENT,
            where=with_pull,
            check=Instances(space=space, realise=realise_plain, rational=False, begin=(one_works,)),
            note="constants and learning rate of the plain functions; the elastic term as a perturbation",
        ),
    ),
    assumptions=theorem_1.ASSUMPTIONS,
    uses=("efl.theorem-1", "efl.eq-3"),
    check=Instances(space=space, realise=functools.partial(realise, moving=False), rational=False),
    observation=observed(),
)
