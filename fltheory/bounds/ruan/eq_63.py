r"""Equation (63): the induction of Theorem 3.1 closes.

Write :math:`S = \mathbb E[\sum_k p_\tau^k s_\tau^k]` and :math:`\Delta_\tau = \mathbb E[\bar\Delta_{\tau E}]`. From
the recursion (62) with :math:`\eta_\tau = \frac{16E}{\mu S(\tau E + \gamma)}`, and from
:math:`\Delta_\tau \le \frac{M_\tau D + V}{\tau E + \gamma}`, as published

.. math::
   \Delta_{\tau+1} &\le \frac{\tau E + \gamma - 2E}{\tau E + \gamma}\, \frac{M_\tau D + V}{\tau E + \gamma}
   + \Bigl(\frac{16E}{\mu S}\Bigr)^2 \frac{B}{(\tau E + \gamma)^2} + \frac{\frac12 z_\tau D}{\tau E + \gamma} \\
   &\le \frac{\tau E + \gamma - E}{(\tau E + \gamma)^2} (M_\tau D + V) + \frac{\frac12 z_\tau D}{\tau E + \gamma}
   + \underbrace{\Bigl(\frac{16E}{\mu S}\Bigr)^2 \frac{B}{(\tau E + \gamma)^2}
   - \frac{E (M_\tau D + V)}{(\tau E + \gamma)^2}}_{\le 0} \\
   &\le \frac{M_\tau D + V}{(\tau+1)E + \gamma}
   + \frac{\frac12 \frac{\tau E + \gamma + E}{\tau E + \gamma} z_\tau D}{(\tau+1)E + \gamma}
   \le \frac{M_{\tau+1} D + V}{(\tau+1)E + \gamma} .

Every link is claimed, the bracket too, and the start as printed, :math:`V_0/\gamma^2 \ge \Delta_0`, where :math:`V_0`
is read as :math:`V`. The second link is an equality. The induction needs :math:`\Delta_0 \le V/\gamma` only, which
follows since :math:`\gamma \ge 1` and is claimed too.

What the steps need: :math:`S \le \theta E`, a consequence of Assumption 3.5, so that :math:`\gamma \ge 4E`; then the
contraction factor is positive and :math:`\frac{\tau E + \gamma + E}{2(\tau E + \gamma)} \le 1`. Everything rests on
(62), which is a claim of its own, and on participation that does not depend on the model: only then does its
expectation have :math:`S\,\Delta_\tau` for :math:`\mathbb E[\sum_kp_\tau^ks_\tau^k\,\bar\Delta_{\tau E}]`. The paper
does not list that. Without it (``published@any-dependence``) the first link fails: two outcomes are enough, with the
model far from the minimiser where little is done.

**Derivation of the corrected form.** It is the published one, with that assumption: then :math:`\mathbb
E[\sum_kp_\tau^ks_\tau^k\,\bar\Delta_{\tau E}] = S\,\Delta_\tau`, and (62) is the recursion that the links start from.

As in Theorem 3.1, :math:`D = 64E \sum_k \mathbb E[p_\tau^k s_\tau^k] \Gamma_k / (\mu S)`.

Instances: all numbers free, with :math:`\Delta_\tau` and :math:`\Delta_{\tau+1}` any share of what the premises
allow.

Source: Ruan et al., AISTATS 2021, appendix A.2, (63); :math:`\gamma`, :math:`D`, :math:`V` of Theorem 3.1.
"""

from __future__ import annotations

from typing import Any

from sympy import Ge, Le, Max, Rational

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.flexible_participation.symbols import (
    D,
    Delta_later,
    Delta_now,
    Delta_start,
    M_next,
    M_tau,
    V,
    gamma,
    mean_B,
    mean_ps,
    mean_ps_Gamma,
    theta,
    z_tau,
)
from fltheory.bounds.ruan._induction import (
    CONSTANTS,
    DISTANCES,
    OUTCOMES,
    any_dependence,
    fulfilled,
    gap_given,
    jointly,
    work,
)
from fltheory.bounds.ruan.theorem_3_1 import GAMMA
from fltheory.bounds.space import ExactPoint, Integer, Parameter, Params, Real, Space
from fltheory.bounds.symbols import E, eta, mu, tau

at = tau * E + gamma
unit = 16 * E / (mu * mean_ps)
bound = (M_tau * D + V) / at
recursion = (1 - mu * eta * mean_ps / 8) * Delta_now + eta**2 * mean_B + 2 * eta * z_tau * mean_ps_Gamma
given = recursion + mu * eta / 8 * (mean_ps * Delta_now - EE(work * gap_given))
definitions = (
    (gamma, GAMMA),
    (eta, unit / at),
    (D, 64 * E * mean_ps_Gamma / (mu * mean_ps)),
    (V, Max(gamma**2 * Delta_start, unit**2 * mean_B / E)),
    (M_next, M_tau + z_tau),
)

half = Rational(1, 2) * z_tau * D
bracket = unit**2 * mean_B / at**2 - E * (M_tau * D + V) / at**2
first = (at - 2 * E) / at * bound + unit**2 * mean_B / at**2 + half / at
second = (at - E) / at**2 * (M_tau * D + V) + half / at + bracket
third = (M_tau * D + V) / (at + E) + half * (at + E) / at / (at + E)
last = (M_next * D + V) / (at + E)


def realise(point: Params) -> dict[str, Any]:
    """Return constants, and distances that fulfil the premises."""
    env = {
        "tau": point["tau"],
        "mean_ps": point["theta"] * point["E"] * point["activity"],
        "mean_B": point["B"],
        "dependence": 0,
    }
    return fulfilled(point, env, definitions, bound, recursion)


def dependent(point: Params) -> dict[str, Any]:
    """Return the same with two outcomes, in which distance and work may depend on each other."""
    works = point["works"]
    same = {**point, "activity": (works[0] + works[1]) / 2}
    made = realise(ExactPoint(same) if isinstance(point, ExactPoint) else same)
    return {**jointly(point, made, given), "dependence": 1}


SPACE: dict[str, Parameter] = {**CONSTANTS, **DISTANCES, "tau": Integer(0, 30), "B": Real(0, 10000)}

links = (
    Ge(V / gamma**2, Delta_start),
    Le(Delta_start, V / gamma),
    Le(Delta_later, first),
    Le(first, second),
    Le(bracket, 0),
    Le(second, third),
    Le(third, last),
)
ASSUMPTIONS = (Assumption("bounded coefficients (3.5), summed", Le(mean_ps, theta * E)), INDEPENDENT)

claim = Claim(
    id="ruan.eq-63",
    kind=Kind.IDENTITY,
    title="the induction of Theorem 3.1 closes",
    citation=Citation("ruan", "appendix A.2, (63)"),
    forms=(
        Form(
            statement=links,
            where=definitions,
            premises=(Le(Delta_now, bound), Le(Delta_later, recursion)),
            note="all links; V_0 is read as V, and the start that the induction needs is claimed as well",
        ),
        Form(
            variant="published@any-dependence",
            statement=links,
            where=definitions,
            premises=(Le(Delta_now, bound), *any_dependence(mean_ps, Delta_now, Delta_later, given)),
            assumptions=ASSUMPTIONS[:1],
            check=Instances(space=Space({**SPACE, **OUTCOMES}), realise=dependent),
            note="no assumption on correlations, as appendix A.2 has it",
        ),
        Form(
            variant="corrected",
            statement=links,
            where=definitions,
            premises=(Le(Delta_now, bound), Le(Delta_later, recursion)),
            note="participation does not depend on the model",
        ),
    ),
    assumptions=ASSUMPTIONS,
    uses=("ruan.eq-62",),
    check=Instances(space=Space({**SPACE, "activity": Real(0.001, 1, log=True)}), realise=realise),
)
