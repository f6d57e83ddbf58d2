r"""Theorem 1 for the elastic objective, whose anchors move.

The assumptions are about :math:`\widetilde F_k`, which contains the elastic term and changes in every round with the
anchors :math:`\omega_{\tau-1}^i`; the theorem treats it as fixed. When models agree the term's gradient vanishes, so
the only point to which the algorithm can settle is the minimiser :math:`\omega^*` of :math:`\sum_k p^kf_k`. With full
participation and without noise, as published,

.. math:: \|\omega_{\tau E}^G - \omega^*\|^2 \le \frac{C_\tau}{(\tau E+\gamma)^2}, \qquad C_\tau =
   \gamma^2\|\omega_0^G - \omega^*\|^2 + \Bigl(\frac{16}{\tilde\mu}\Bigr)^2\tau B, \quad B = 6\tilde LED + \Bigl(2 +
   \frac{\tilde\mu}{4\tilde L}\Bigr)E(E-1)(2E-1)G^2 + 2E^2G^2 ,

with the constants :math:`\tilde\mu, \tilde L` of :math:`\widetilde F_k`, also in the learning rate, and :math:`G` the
largest gradient of :math:`\widetilde F_{\tau,k}`. The metric :math:`D` is that of :math:`f_k` (``published@plain``)
or the largest of :math:`\widetilde F_{\tau,k}`, bounded by adding the elastic term at :math:`\omega^*`
(``published@moving``, checked as a rate in the number of rounds). Both fail for large :math:`\lambda`:
:math:`\tilde\mu` grows with :math:`\lambda`, so the learning rate falls, but anchors follow the model and the pull
towards :math:`\omega^*` stays :math:`\mu`; the distance falls like :math:`\tau^{-32\mu/\tilde\mu}`.

**Derivation of the corrected form.** Take :math:`\mu, L, D` and the learning rate of the plain functions, and treat
the elastic gradient as a perturbation. With full participation all anchors are last round's models, at most
:math:`2\eta_{\tau-1}EG` away from :math:`\omega_{\tau E}^G`, and :math:`\eta_{\tau-1} \le \frac54\eta_\tau`; so the
perturbation of a step has norm at most :math:`\eta_\tau K`, :math:`K = \frac72\lambda\hat UEG`, :math:`\hat U =
\sum_i\max_a u_a^i`. For an unperturbed step :math:`y`, :math:`\|y - \eta_\tau e - \omega^*\|^2 \le (1 +
\frac14\mu\eta_\tau)\|y - \omega^*\|^2 + (1 + \frac4{\mu\eta_\tau})\eta_\tau^4K^2`. With (46), whose last sum is
:math:`F(\omega^*) - F \le 0`, a step contracts by :math:`1 - \frac14\mu\eta_\tau`, and a round by at most :math:`1/(1
+ \frac14\mu\eta_\tau E) \le 1 - \frac{2E}{(\tau+1)E+\gamma}`. The second-order term of a round is at most, with
:math:`\eta_\tau \le \frac1{4L}`,

.. math:: \hat B = \Bigl(1 + \frac\mu{16L}\Bigr)\Bigl(6LED + \Bigl(2 + \frac\mu{4L}\Bigr)E(E-1)^2G^2\Bigr) + \frac
   E{4L}\Bigl(\frac4\mu + \frac1{4L}\Bigr)K^2 ,

and the induction closes as in (65).

Instances: one to three clients with separable quadratics and their Hessian diagonals as Fisher information,
:math:`\lambda` up to 100, 48 rounds; without noise there is one outcome, so that the sampling engine is exact.

Source: EFL, Theorem 1, (7), with the objective (2), both versions.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Le, Max, sqrt

from fltheory.algorithms.efl import EFL
from fltheory.bounds._algebra import BigO, Env, scalar
from fltheory.bounds._claim import Claim, Experiments, Form, Kind, Source, Sweep, Sweeps
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import E, G_sq, L, mu, tau
from fltheory.bounds.efl import _runs
from fltheory.bounds.efl._symbols import C, distance, gamma, start
from fltheory.bounds.efl.eq_3 import elasticity
from fltheory.bounds.efl.theorem_1_compressed import B_full, D_mean
from fltheory.experiment import Experiment
from fltheory.rates import Inverse
from fltheory.trajectories import Trajectories

mu_tilde = scalar("efl_mu_tilde", r"\tilde\mu", "strong convexity with the elastic term")
L_tilde = scalar("efl_L_tilde", r"\tilde L", "smoothness with the elastic term")
D_moving = scalar("efl_D_moving", r"\max_\tau D", "largest weighted metric with the elastic term")
U_hat = scalar("efl_U", r"\hat U", "sum over clients of the largest Fisher entry")
K = scalar("efl_K", "K", "bound on the elastic gradient over the learning rate")

ROUNDS = 48


def _elastic(problem: Any, weight: float) -> tuple[float, float]:
    total = problem.hessian + weight * problem.hessian.sum(axis=0)
    return float(total.min()), float(total.max())


def experiment(point: Params, *, plain: bool) -> Experiment:
    """Return a run with elastic term; ``plain`` takes the constants of the plain functions in the learning rate."""
    problem = _runs.quadratics(point)
    low, high = _elastic(problem, 0.0 if plain else point["elasticity"])
    steps = point["E"]
    offset = max(4 * steps, 64 * high / low)
    rate = Inverse(scale=16 / (low * steps), shift=offset / steps + 1)
    return _runs.experiment(problem, EFL(elasticity=point["elasticity"]), int(point.get("T", ROUNDS)), steps, rate)


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters of the theorem, curves from round 1 on."""
    curve, known = trajectories.distance_sq[0], run.problem.constants()
    gradients, elastic = _runs.gradients_sq(run)
    low, high = _elastic(run.problem, point["elasticity"])
    metric = float(run.problem.weights @ np.asarray(known["gamma"].value))
    return {
        "E": point["E"],
        "mu": known["mu"].value,
        "L": known["L"].value,
        "efl_mu_tilde": low,
        "efl_L_tilde": high,
        "efl_lambda": point["elasticity"],
        "efl_U": float(_runs.quadratics(point).hessian.max(axis=1).sum()),
        "efl_D_mean": metric,
        "efl_D_moving": metric + float(elastic.max()),
        "G_sq": float(gradients.max()),
        "tau": np.arange(1, run.rounds + 1),
        "efl_distance": curve[1:],
        "efl_start": curve[0],
    }


def at_the_end(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the same with the last round in place of the curves."""
    found: dict[str, Any] = dict(quantities(point, run, trajectories))
    return found | {"tau": run.rounds, "efl_distance": found["efl_distance"][-1]}


def _constants(low: Any, high: Any, second: Any) -> tuple[Any, ...]:
    return (
        (gamma, Max(4 * E, 64 * high / low)),
        (B_full, second),
        (C, gamma**2 * start + (16 / low) ** 2 * tau * B_full),
    )


def _printed(metric: Any) -> tuple[Any, ...]:
    drift = (2 + mu_tilde / (4 * L_tilde)) * E * (E - 1) * (2 * E - 1) * G_sq
    return _constants(mu_tilde, L_tilde, 6 * L_tilde * E * metric + drift + 2 * E**2 * G_sq)


proved = (1 + mu / (16 * L)) * (6 * L * E * D_mean + (2 + mu / (4 * L)) * E * (E - 1) ** 2 * G_sq) + E / (4 * L) * (
    4 / mu + 1 / (4 * L)
) * K**2
bound = C / (tau * E + gamma) ** 2

space = Space(
    {
        "N": Integer(1, 3),
        "d": Integer(1, 3),
        "E": Integer(1, 3),
        "elasticity": Real(0.001, 100, log=True),
        "n": Real(0.1, 10, log=True, shape=("N",)),
        "mu": Real(0.1, 10, log=True),
        "condition": Real(1, 10, log=True),
        "curvature": Real(0, 1, shape=("N", "d")),
        "centre": Real(-1, 1, shape=("N", "d")),
        "start": Real(-3, 3, shape=("d",)),
    }
)


def _runs_with(measure: Any, *, plain: bool, space: Space = space) -> Experiments:
    return Experiments(
        space=space,
        experiment=functools.partial(experiment, plain=plain),
        quantities=measure,
        engine="monte_carlo",
        replicates=1,
    )


claim = Claim(
    id="efl.theorem-1-elastic",
    kind=Kind.BOUND,
    title="convergence with elastic term and moving anchors",
    source=Source("efl", "Theorem 1, (7), with (2)"),
    forms=(
        Form(
            variant="published@plain",
            statement=Le(distance, bound),
            where=_printed(D_mean),
            note="constants with the elastic term, metric of the plain functions",
        ),
        Form(
            variant="published@moving",
            statement=Le(distance, BigO(bound)),
            where=_printed(D_moving),
            check=Sweeps(
                source=_runs_with(at_the_end, plain=False, space=Space({**space.parameters, "T": Integer(1, 1000)})),
                sweeps=(
                    Sweep(
                        "T",
                        (25, 50, 100, 200, 400, 800),
                        {
                            "N": 2,
                            "d": 1,
                            "E": 1,
                            "elasticity": 200.0,
                            "n": np.ones(2),
                            "mu": 1.0,
                            "condition": 1.0,
                            "curvature": np.zeros((2, 1)),
                            "centre": np.zeros((2, 1)),
                            "start": np.ones(1),
                        },
                    ),
                ),
            ),
            note="metric with the elastic term; as a rate in the number of rounds",
        ),
        Form(
            variant="corrected",
            statement=Le(distance, bound),
            where=((K, 7 * elasticity * U_hat * E * sqrt(G_sq) / 2), *_constants(mu, L, proved)),
            check=_runs_with(quantities, plain=True),
            note="constants and learning rate of the plain functions; the elastic term as a perturbation",
        ),
    ),
    uses=("efl.theorem-1", "efl.eq-3"),
    check=_runs_with(quantities, plain=False),
)
