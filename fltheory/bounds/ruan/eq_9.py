r"""Equation (9): how much training time must be left for excluding a departing client to pay.

With the bounds :math:`f_0(\tau) = \frac{(\tau-\tau_0)D + V}{\tau E + \gamma}` (client kept) and
:math:`f_1(\tau) = \frac{V/(\tau_0 E+\gamma) + \Gamma_l}{(\tau-\tau_0)E+\gamma}` (client excluded), the rule (8),
:math:`\min_{\tau_0 \le \tau \le T} f_0(\tau) \ge f_1(T)`, is said to become

.. math:: T - \tau_0 \ge O\bigl(\sqrt{\Gamma_l\,\tau_0}\bigr) .

What is checked: the smallest :math:`T - \tau_0` from which (8) holds is at most a constant times
:math:`\sqrt{\Gamma_l\tau_0}`, where the constant may depend on :math:`D, V, E, \gamma`.

**Readings.** The minimum is taken up to the deadline, as in appendix A.6, from which (9) comes; and over all
:math:`\tau \ge \tau_0`, as (8) is printed (``published@all-rounds``). They differ for a decreasing :math:`f_0`, whose
infimum is :math:`D/E`.

**Where it fails.** :math:`f_0` is monotone. Write :math:`x = T - \tau_0` and :math:`Y = \tau_0 E + \gamma`.

* If :math:`DY \ge EV`, :math:`f_0` increases, (8) reads :math:`f_0(\tau_0) = V/Y \ge f_1(T)`, and the threshold is
  (88), which is *linear* in :math:`\Gamma_l\tau_0`. For given :math:`D` and :math:`V` every late departure is of this
  kind.
* Otherwise (8) reads :math:`f_0(T) \ge f_1(T)`, and the threshold is the positive root of
  :math:`DE\,x^2 + (\gamma D + EV - E\Gamma_l - EV/Y)\,x + V(\gamma-1) - \Gamma_l Y = 0`. The linear coefficient
  contains :math:`-E\Gamma_l`, which (89) counts as a constant: the root is linear in :math:`\Gamma_l`.
* Over all rounds the second case reads :math:`D/E \ge f_1(T)` instead, and the threshold is
  :math:`\frac{V/Y + \Gamma_l}{D} - \frac{\gamma}{E}`, again linear in :math:`\Gamma_l`.

**Derivation of the corrected form.** In the first case (88) gives
:math:`x = \frac{1-\gamma}{E} + \frac{\Gamma_l Y}{EV} \le \frac{\Gamma_l Y}{EV}` for :math:`\gamma \ge 1`. In the
second case :math:`EV \ge DY`. With :math:`\gamma, Y \ge 1` the linear coefficient is
:math:`\gamma D - E\Gamma_l + EV(1 - \frac1Y) \ge D + D(Y - 1) - E\Gamma_l = DY - E\Gamma_l`, and the constant one
is at least :math:`-\Gamma_l Y`. So for :math:`x \ge 0` the polynomial is at least

.. math:: DE\,x^2 + (DY - E\Gamma_l)\,x - \Gamma_l Y = (Dx - \Gamma_l)(Ex + Y) ,

and its root at most :math:`\Gamma_l/D`. Since :math:`EV \ge DY` tells which of the two is larger,

.. math:: T - \tau_0 \le \max\Bigl\{\frac{\Gamma_l}{D},\ \frac{\Gamma_l(\tau_0E+\gamma)}{EV}\Bigr\}
   = \frac{\Gamma_l}{E \inf_{\tau \ge \tau_0} f_0(\tau)} ,

with constants, and with equality for :math:`\gamma = 1`: always in the first case, for :math:`EV = DY` in the second.
No square root of :math:`\tau_0` is left.

**Derivation of the form for all rounds** (``corrected@all-rounds``). (8) reads :math:`f_1(T) \le m` with
:math:`m = \inf_{\tau\ge\tau_0} f_0 = \min\{V/Y, D/E\}`, and :math:`f_1(T) = \frac{V/Y + \Gamma_l}{Ex + \gamma}`
decreases in :math:`x`. So the threshold is :math:`x = \frac{V/Y + \Gamma_l}{Em} - \frac{\gamma}{E}`.

Instances: the threshold in closed form, case by case. Sweeps: :math:`\Gamma_l` for an early departure (:math:`f_0`
decreasing), and :math:`\tau_0`.

Source: Ruan et al., AISTATS 2021, section 4.3, (9), and appendix A.6, (88) and (89). Like there,
:math:`\tilde\gamma = \gamma` and :math:`\tilde V = V/(\tau_0E+\gamma) + \Gamma_l`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Eq, Ge, Le, Max, Min, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method, Rejected, Sweep, Sweeps
from fltheory.bounds.flexible_participation.symbols import D, V, gamma
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E

Gamma_dep = scalar("Gamma_gone", r"\Gamma_l", "gap of the departing client", domain="nonnegative")
tau_0 = scalar("tau_0", r"\tau_0", "round of the departure", domain="nonnegative")
remaining = scalar("remaining", r"(T - \tau_0)_{\min}", "smallest remaining time from which the rule excludes")


def realise(point: Params, *, all_rounds: bool) -> dict[str, Any]:
    """Return the threshold of the rule, with the minimum up to the deadline or over all rounds."""
    steps, offset, gap = point["E"], point["gamma"], point["Gamma_l"]
    at_departure = point["tau_0"] * steps + offset
    start, bias = point["V"], point["D"]
    if bias * at_departure >= steps * start:
        threshold = (1 - offset) / steps + gap * at_departure / (steps * start)
    elif all_rounds:
        threshold = (start / at_departure + gap) / bias - offset / steps
    else:
        slope = offset * bias + steps * start - steps * gap - steps * start / at_departure
        rest = start * (offset - 1) - gap * at_departure
        inside = slope**2 - 4 * bias * steps * rest
        if inside < 0:
            raise Rejected("the rule excludes at once")
        # The larger root, written so that nothing cancels; where its bound is tight, rounding would show.
        size = np.sqrt(inside) + abs(slope)
        threshold = -2 * rest / size if slope > 0 else size / (2 * bias * steps)
    if threshold <= 0:
        raise Rejected("the rule excludes at once")
    return {
        "E": steps,
        "gamma": offset,
        "D": bias,
        "V": start,
        "Gamma_gone": gap,
        "tau_0": point["tau_0"],
        "remaining": threshold,
    }


def thresholds(*, all_rounds: bool) -> Instances:
    """Return constants with the threshold of a reading."""
    return Instances(
        space=Space(
            {
                "E": Integer(1, 10),
                "gamma": Real(1, 1e4, log=True),
                "D": Real(1e-3, 1e3, log=True),
                "V": Real(1e-2, 1e8, log=True),
                "Gamma_l": Real(1e-2, 1e8, log=True),
                "tau_0": Real(1, 1e6, log=True),
            }
        ),
        realise=functools.partial(realise, all_rounds=all_rounds),
        method=Method.EXACT,
        rational=False,
    )


def sweeps(*, all_rounds: bool) -> Sweeps:
    """Return a growing gap for an early departure, and later and later departures."""
    decades = (1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
    base = {"E": 5, "gamma": 100.0, "D": 1.0, "V": 1e4}
    return Sweeps(
        instances=thresholds(all_rounds=all_rounds),
        sweeps=(
            Sweep("Gamma_l", decades, base | {"tau_0": 100.0}),
            Sweep("tau_0", decades, base | {"Gamma_l": 100.0}),
        ),
    )


later = tau_0 * E + gamma
printed = Le(remaining, BigO(sqrt(Gamma_dep * tau_0)))

claim = Claim(
    id="ruan.eq-9",
    kind=Kind.RATE,
    title="remaining time for which excluding pays",
    citation=Citation("ruan", "section 4.3, (9)"),
    forms=(
        Form(
            statement=printed,
            check=sweeps(all_rounds=False),
            note="the minimum in (8) is taken up to the deadline, as in appendix A.6",
        ),
        Form(
            variant="published@all-rounds",
            statement=printed,
            check=sweeps(all_rounds=True),
            note="the minimum in (8) is taken over all rounds from the departure on, as printed there",
        ),
        Form(
            variant="corrected",
            statement=Le(remaining, Max(Gamma_dep / D, Gamma_dep * later / (E * V))),
            note="linear in the gap, and linear in the time of a late departure; with constants",
        ),
        Form(
            variant="corrected@all-rounds",
            statement=Eq(remaining, (V / later + Gamma_dep) / (E * Min(V / later, D / E)) - gamma / E, evaluate=False),
            check=thresholds(all_rounds=True),
            note="the threshold itself, if the minimum is taken over all rounds",
        ),
    ),
    assumptions=(Assumption("offset at least 1", Ge(gamma, 1)),),
    uses=("ruan.eq-88", "ruan.eq-89", "ruan.corollary-4.0.3"),
    check=thresholds(all_rounds=False),
)
