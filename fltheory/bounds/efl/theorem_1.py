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
  :mod:`~fltheory.bounds.efl.eq_64`).

The denominators of ``published@003`` are those of the current round: when participation rises from one round to the
next, what has been summed up so far is divided by a larger number, and the bound falls faster than the distance can.
The maximum in :math:`C_\tau` can fail by itself only within a factor of two (:mod:`~fltheory.bounds.efl.eq_65`), where
its two members are about equal: :math:`\gamma^2\|\omega_0 - \omega^*\|^2` against the sum, which is why starts at all
distances from the optimum (``near``) and noise of all sizes are among the instances.

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
in exact expectation. For ``published@literal`` two clients with different minimisers, one of which is inactive half of
the time, and up to 1600 rounds.

Source: EFL, Theorem 1, (7), both versions.
"""

from __future__ import annotations

import numpy as np
from sympy import Le, Max

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds._algebra import BigO, Env
from fltheory.bounds._claim import Claim, Experiments, Form, Kind, Source, Sweep, Sweeps
from fltheory.bounds._space import Params, Space
from fltheory.bounds._symbols import E, tau
from fltheory.bounds.efl import _theorem
from fltheory.bounds.efl._symbols import C, H, J, distance
from fltheory.bounds.ruan._theorem import along
from fltheory.experiment import Experiment
from fltheory.quadratic.problem import Quadratic
from fltheory.trajectories import Trajectories

printed = (
    _theorem.OFFSET,
    (C, Max(_theorem.FIRST, _theorem.SCALE * _theorem.B_sum_tau)),
    (J, 32 * E * _theorem.gaps),
)


def experiment(point: Params) -> Experiment:
    """Return the run of a point with the theorem's learning rate."""
    problem, start = _theorem.from_optimum(point)
    plan = _theorem.two_laws(point, problem)
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme="C"),
        participation=plan.participation,
        rounds=_theorem.rounds(point),
        rate=_theorem.rates(plan, _theorem.setting(problem, plan)),
        start=start,
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters of the theorem, curves from round 1 on."""
    assert isinstance(run.problem, Quadratic)
    plan = _theorem.two_laws(point, run.problem)
    found = along(run, trajectories)
    env = _theorem.setting(run.problem, plan) | {
        "G_sq": found["G_sq"],
        "ruan_gradient_sq": found["ruan_gradient_sq"],
        "efl_distance": found["ruan_distance"],
        "efl_start": found["ruan_distance_start"],
    }
    return env | _theorem.constants(plan, env)


def at_the_end(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters of the theorem after the last round."""
    curves = ("tau", "efl_B_sum", "efl_B_sum_tau", "efl_B_sum_proved", "efl_H", "efl_distance")
    return {
        name: np.ravel(value)[-1] if name in curves else value
        for name, value in quantities(point, run, trajectories).items()
    }


space = Space(_theorem.clients())
half_inactive: Params = {
    "N": 2,
    "d": 1,
    "E": 1,
    "scheme": "C",
    "participation": "heterogeneous",
    **{name: np.array([1, 0]) for name in ("low", "low_later")},
    **{name: np.array([1, 1]) for name in ("high", "high_later")},
    **{name: np.array([0.5, 0.5]) for name in ("q", "q_later")},
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
many_rounds = Sweeps(
    source=Experiments(space=space, experiment=experiment, quantities=at_the_end, moments=True, horizon="more"),
    sweeps=(Sweep("more", (200, 400, 800, 1600), half_inactive),),
)
agreeing = _theorem.BOUND.xreplace({H: tau - H})

claim = Claim(
    id="efl.theorem-1",
    kind=Kind.BOUND,
    title="convergence with random participation",
    source=Source("efl", "Theorem 1, (7) (both versions)"),
    forms=(
        Form(
            variant="published@003",
            statement=_theorem.STATEMENT,
            where=printed,
            note="constants of the short version",
        ),
        Form(
            variant="published@003-literal",
            statement=Le(distance, agreeing),
            where=printed,
            note="rounds counted whose ratios agree",
        ),
        Form(
            variant="published@literal",
            statement=Le(distance, BigO(agreeing)),
            where=_theorem.CORRECTED,
            check=many_rounds,
            note="rounds counted whose ratios agree, all other constants corrected; as a rate in the number of rounds",
        ),
        Form(
            variant="published@000",
            statement=_theorem.STATEMENT,
            where=_theorem.LONG_VERSION,
            note="constants of the proof in the long version",
        ),
        Form(
            variant="corrected",
            statement=_theorem.STATEMENT,
            where=_theorem.CORRECTED,
            note="sum in place of the maximum, own denominators, mu in J, product and positive part in B",
        ),
    ),
    assumptions=_theorem.ASSUMPTIONS,
    uses=("efl.lemma-1", "efl.eq-64", "efl.eq-65"),
    check=Experiments(effort=4, space=space, experiment=experiment, quantities=quantities, moments=True),
)
