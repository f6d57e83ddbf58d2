r"""Equation (67): the induction of the extension to time-varying participation, which does not close.

Write :math:`S_t = \mathbb E[\sum_k p_t^k s_t^k]`, :math:`\Delta_\tau = \mathbb E[\bar\Delta_{\tau E}]` and
:math:`x = \tau E + \gamma`. With :math:`\gamma = \max\{\frac{32E(1+\theta)L}{\mu \min_t S_t},
\frac{4E^2\theta}{\min_t S_t}\}`, :math:`\eta_\tau = \frac{16E}{\mu S_\tau (x + E)}` and

.. math:: V_\tau = \max\Bigl\{\gamma^2 \Delta_0,\ \Bigl(\frac{16E}{\mu}\Bigr)^2 \sum_{t=0}^{\tau-1}
   \frac{\mathbb E[B_t]}{S_t^2}\Bigr\}

the recursion (62) and :math:`\Delta_\tau \le \frac{M_\tau D}{x} + \frac{V_\tau}{x^2}` are said to give

.. math::
   \Delta_{\tau+1} &\le \frac{x - E}{x + E}\Bigl(\frac{M_\tau D}{x} + \frac{V_\tau}{x^2}\Bigr) + R
   \le \frac{(x - E) M_\tau D}{x^2 - E^2} + \frac{x - E}{x^2 - E^2}\, \frac{V_\tau}{x + E} + R \\
   &\le \frac{M_\tau D}{x + E} + \frac{V_\tau}{(x + E)^2} + R
   = \frac{M_{\tau+1} D}{x + E} + \frac{V_{\tau+1}}{(x + E)^2} ,
   \qquad R = \frac{(16E)^2\, \mathbb E[\bar B_\tau + 2\bar H_\tau]}{(\mu S_\tau)^2 (x + E)^2} + \frac{z_\tau D}{x
   + E} .

The last step takes :math:`V_{\tau+1} = V_\tau + (\frac{16E}{\mu S_\tau})^2\, \mathbb E[B_\tau]`. For a maximum that
is wrong: as long as :math:`\gamma^2\Delta_0` is the larger term, :math:`V_{\tau+1}` stays where it is while the round
adds noise. Three readings are checked: as printed; with :math:`\le` in place of the last equality (``@at-most``); and
with :math:`S_\tau` for :math:`S_t` under the sum, as a scan of the paper has it (``@index-tau``). Elsewhere the text is
read kindly: :math:`\mathbb E[\bar B_\tau + 2\bar H_\tau]` is :math:`\mathbb E[B_\tau]` of (62), and :math:`D`, which
varies with the round, is as large as the round needs,
:math:`D \ge 64E \sum_k \mathbb E[p_\tau^k s_\tau^k]\Gamma_k/(\mu S_\tau)`.

**Derivation of the corrected form.** Add the two terms instead of taking the larger one,

.. math:: V_\tau = \gamma^2 \Delta_0 + \Bigl(\frac{16E}{\mu}\Bigr)^2 \sum_{t=0}^{\tau-1}
   \frac{\mathbb E[B_t]}{S_t^2} .

Then the last equality is the definition, and the links before it are :math:`x^2 - E^2 \le x^2` and
:math:`\frac12 \le 1` (half of :math:`z_\tau D` would do). :math:`\gamma \ge 4E` keeps :math:`x - E` positive, because
:math:`S_t \le \theta E`. The corrected :math:`V_\tau` is at most twice the maximum. It cannot be replaced by the
maximum: with equality in (62) the old :math:`V_\tau` only shrinks by the factor :math:`1 - E^2/x^2` in a round, and
the product of these factors over all rounds, which telescopes, is :math:`1 - E/\gamma \ge \frac34`.

As in (63), the recursion in expectation needs participation that does not depend on the model; the paper does not list
it.

Instances: up to four rounds with free :math:`S_t \le \theta E` and :math:`\mathbb E[B_t]`; :math:`\Delta_\tau` and
:math:`\Delta_{\tau+1}` are any share of what the premises allow.

Source: Ruan et al., AISTATS 2021, appendix A.2.1, (67).
"""

from __future__ import annotations

import functools
from typing import Any

from sympy import Eq, Le, Max, Sum

from fltheory.bounds.algebra import Smallest
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.flexible_participation.experiments import INDEPENDENT
from fltheory.bounds.flexible_participation.symbols import (
    D,
    Delta_later,
    Delta_now,
    Delta_start,
    M_next,
    M_tau,
    gamma,
    mean_ps_Gamma,
    theta,
    z_tau,
)
from fltheory.bounds.flexible_participation.symbols import mean_ps_at as S
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.ruan._induction import CONSTANTS, DISTANCES, fulfilled
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, L, eta, mu, t, tau

B = family("mean_B_at", r"\mathbb{E}[B_{<0>}]", "expected noise and drift of a round", first=0, shape=("rounds",))
S_min = scalar(
    "mean_ps_min",
    r"\min_\tau \mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]",
    "smallest expected sum of coefficients times completed steps, over all rounds",
    domain="nonnegative",
)
V_tau = scalar(
    "V_tau", r"V_\tau", "constant of the vanishing part of the bound, growing with the round", domain="nonnegative"
)
V_next = scalar(
    "V_next", r"V_{\tau+1}", "constant of the vanishing part of the bound one round later", domain="nonnegative"
)

at = tau * E + gamma
noise = (16 * E) ** 2 * B[tau] / ((mu * S[tau]) ** 2 * (at + E) ** 2)
rest = noise + z_tau * D / (at + E)
bound = M_tau * D / at + V_tau / at**2
recursion = (1 - mu * eta * S[tau] / 8) * Delta_now + eta**2 * B[tau] + 2 * eta * z_tau * mean_ps_Gamma
first = (at - E) / (at + E) * bound + rest
second = (at - E) * M_tau * D / (at**2 - E**2) + (at - E) / (at**2 - E**2) * V_tau / (at + E) + rest
third = M_tau * D / (at + E) + V_tau / (at + E) ** 2 + rest
last = M_next * D / (at + E) + V_next / (at + E) ** 2

common = (
    (S_min, Smallest(S[t], (t, 0, tau + 1))),
    (gamma, Max(32 * E * (1 + theta) * L / (mu * S_min), 4 * E**2 * theta / S_min)),
    (eta, 16 * E / (mu * S[tau] * (at + E))),
    (M_next, M_tau + z_tau),
)
initial = gamma**2 * Delta_start
scale = (16 * E / mu) ** 2
scanned = (
    *common,
    (V_tau, Max(initial, scale * Sum(B[t] / S[tau] ** 2, (t, 0, tau - 1)))),
    (V_next, Max(initial, scale * Sum(B[t] / S[tau + 1] ** 2, (t, 0, tau)))),
)
largest = (
    *common,
    (V_tau, Max(initial, scale * Sum(B[t] / S[t] ** 2, (t, 0, tau - 1)))),
    (V_next, Max(initial, scale * Sum(B[t] / S[t] ** 2, (t, 0, tau)))),
)
added = (
    *common,
    (V_tau, initial + scale * Sum(B[t] / S[t] ** 2, (t, 0, tau - 1))),
    (V_next, initial + scale * Sum(B[t] / S[t] ** 2, (t, 0, tau))),
)


def realise(definitions: tuple[Any, ...], point: Params) -> dict[str, Any]:
    """Return constants of all rounds, and distances that fulfil the premises."""
    sums = point["activity"] * point["theta"] * point["E"]
    env = {
        "tau": point["rounds"] - 2,
        "mean_ps_at": sums,
        "mean_ps_min": min(sums),
        "mean_B_at": point["B"],
        "dependence": 0,
        "D": 64 * point["E"] * point["Gamma"] / (point["mu"] * sums[-2]),
    }
    return fulfilled(point, env, definitions, bound, recursion)


def checked(definitions: tuple[Any, ...]) -> Instances:
    """Return instances for one definition of the constant."""
    return Instances(
        space=Space(
            {
                # The round after the present one is needed as well: the reading of the scan refers to it.
                "rounds": Integer(2, 5),
                **CONSTANTS,
                **DISTANCES,
                "activity": Real(0.001, 1, log=True, shape=("rounds",)),
                "B": Real(0.001, 10000, log=True, shape=("rounds",)),
            }
        ),
        realise=functools.partial(realise, definitions),
    )


links = (Le(Delta_later, first), Le(first, second), Le(second, third))
premises = (Le(Delta_now, bound), Le(Delta_later, recursion))

claim = Claim(
    id="ruan.eq-67",
    kind=Kind.IDENTITY,
    title="the induction for time-varying participation",
    citation=Citation("ruan", "appendix A.2.1, (67)"),
    forms=(
        Form(
            statement=(*links, Eq(third, last, evaluate=False)),
            where=largest,
            premises=premises,
            check=checked(largest),
        ),
        Form(
            variant="published@at-most",
            statement=Le(Delta_later, last),
            where=largest,
            premises=premises,
            check=checked(largest),
            note="the step of the induction without its intermediate expressions",
        ),
        Form(
            variant="published@index-tau",
            statement=(*links, Eq(third, last, evaluate=False)),
            where=scanned,
            premises=premises,
            check=checked(scanned),
            note="denominators with the index of the round that is bounded, as in a scan of the paper",
        ),
        Form(
            variant="corrected",
            statement=(*links, Eq(third, last, evaluate=False)),
            where=added,
            premises=premises,
            check=checked(added),
            note="the two terms of V are added",
        ),
    ),
    assumptions=(
        Assumption("bounded coefficients (3.5), summed", Le(S[t], theta * E), over=((t, 0, tau + 1),)),
        Assumption("D covers the round", Le(64 * E * mean_ps_Gamma / (mu * S[tau]), D)),
        INDEPENDENT,
    ),
    uses=("ruan.eq-62",),
    check=checked(largest),
)
