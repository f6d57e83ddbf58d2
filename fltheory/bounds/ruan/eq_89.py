r"""Equation (89): when excluding a departed client pays off, if the bound that keeps it decreases.

With :math:`f_0`, :math:`f_1` as in (88) and :math:`a = \tau_0 E + \gamma`, :math:`C_1 = DE`,
:math:`C_2 = \gamma D + VE - E\Gamma_l`, :math:`C_3 = V(\gamma - 1)`, the only possible root of
:math:`f_0(\tau) = f_1(\tau)` is, as published,

.. math:: \tau - \tau_0 = \frac{EV}{a} - C_2
   + \sqrt{4 C_1 \Gamma_l a + \Bigl(\frac{EV}{a}\Bigr)^2 - \frac{2 C_2 EV}{a} + (C_2^2 - 4 C_1 C_3)}
   = O(\sqrt{\tau_0 \Gamma_l}) .

The denominator :math:`2 C_1` of the root is missing. The order (``published@order``, checked on the true root) is
wrong in :math:`\Gamma_l`: since :math:`C_2` contains :math:`-E\Gamma_l`, the root grows like :math:`\Gamma_l / D`.
That is plain from the bounds: :math:`f_0` levels off at :math:`D/E`, and
:math:`f_1 \approx \Gamma_l/((\tau - \tau_0)E)` needs :math:`\Gamma_l/D` rounds to get there. In :math:`\tau_0` there
is no room for an order: :math:`f_0` decreases only as long as :math:`D a \le E V`.

**Derivation of the corrected form.** Multiplying :math:`f_0 = f_1` out with :math:`x = \tau - \tau_0` gives

.. math:: C_1 x^2 + \Bigl(C_2 - \frac{EV}{a}\Bigr) x + C_3 - \Gamma_l a = 0 ,

whose larger root is the printed expression divided by :math:`2 C_1`. If :math:`f_1(\tau_0) \ge f_0(\tau_0)`, that is
:math:`\Gamma_l a \ge C_3`, the product of the roots is not positive, so that this is the only root from
:math:`\tau_0` on; in any round :math:`\tau` after :math:`\tau_0`, :math:`f_0(\tau) - f_1(\tau)` has the sign of
:math:`\tau` minus the root. This is claimed as well. Otherwise excluding the client is better at once, and there may
be two crossings or none.

For the order (``corrected@order``), let :math:`\gamma \ge 1`, so that :math:`a \ge 1` and :math:`C_3 \ge 0`. Since
:math:`EV \ge Da`,

.. math:: C_2 - \frac{EV}{a} = \gamma D - E\Gamma_l + EV\Bigl(1 - \frac1a\Bigr) \ge D + D(a - 1) - E\Gamma_l
   = Da - E\Gamma_l ,

so for :math:`x \ge 0` the polynomial is at least :math:`DE x^2 + (Da - E\Gamma_l) x - \Gamma_l a =
(Dx - \Gamma_l)(Ex + a)`, which is positive beyond :math:`\Gamma_l/D`. Hence :math:`x \le \Gamma_l/D`, with equality for
:math:`\gamma = 1` and :math:`EV = Da`.

Instances: free constants with :math:`D a \le E V` and :math:`\Gamma_l a \ge C_3`; for the order :math:`\Gamma_l` over
eight decades. :math:`f_0` and :math:`f_1` are homogeneous in :math:`(V, D, \Gamma_l)`, so that :math:`V \ge 10` is no
restriction for the corrected forms.

Source: Ruan et al., AISTATS 2021, appendix A.6, (89).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq, Ge, Le, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.flexible_participation.symbols import D, V, gamma
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan._shift_bounds import E, Gamma_gone, f_0, f_1, reached, tau, tau_0
from fltheory.bounds.space import Integer, Params, Real, Space

C_1 = scalar("C_1", "C_1", "leading coefficient of the quadratic equation for the crossing time", domain="nonnegative")
C_2 = scalar("C_2", "C_2", "part of the linear coefficient of the bound")
C_3 = scalar("C_3", "C_3", "part of the constant coefficient of the bound")
other = scalar("tau_other", r"\tau'", "any round from the departure on", domain="nonnegative")

definitions = ((C_1, D * E), (C_2, gamma * D + V * E - E * Gamma_gone), (C_3, V * (gamma - 1)))
drop = E * V / reached
printed = drop - C_2 + sqrt(4 * C_1 * Gamma_gone * reached + drop**2 - 2 * C_2 * drop + (C_2**2 - 4 * C_1 * C_3))
root = printed / (2 * C_1)


def realise(point: Params) -> dict[str, Any]:
    """Return constants for which the bound decreases and the crossing lies ahead."""
    at = point["tau_0"] * point["E"] + point["gamma"]
    least = np.maximum(point["V"] * (point["gamma"] - 1) / at, 0)
    return {
        "E": point["E"],
        "tau_0": point["tau_0"],
        "gamma": point["gamma"],
        "V": point["V"],
        "D": point["falling"] * point["E"] * point["V"] / at,
        "Gamma_gone": least + point["Gamma"],
        "tau_other": point["tau_0"] + point["later"],
    }


constants = Instances(
    space=Space(
        {
            "E": Integer(1, 5),
            "tau_0": Integer(0, 1000),
            "gamma": Real(1, 100, log=True),
            "V": Real(10, 1e6, log=True),
            "falling": Real(0.001, 1, log=True),
            "Gamma": Real(1, 1e11, log=True),
            "later": Real(0, 1000),
        }
    ),
    realise=realise,
)

base = {"E": 2, "tau_0": 100, "gamma": 20.0, "V": 100.0, "falling": 0.5, "later": 0.0}
agree = Eq(f_0(tau), f_1(tau), evaluate=False)

claim = Claim(
    id="ruan.eq-89",
    kind=Kind.IDENTITY,
    title="crossing time for a decreasing bound",
    citation=Citation("ruan", "appendix A.6, (89)"),
    forms=(
        Form(statement=agree, where=(*definitions, (tau, tau_0 + printed))),
        Form(
            variant="published@order",
            statement=Le(root, BigO(sqrt(tau_0 * Gamma_gone))),
            where=definitions,
            check=Sweeps(
                instances=constants, sweeps=(Sweep("Gamma", tuple(10.0**power for power in range(1, 9)), base),)
            ),
            note="the order in the last link, of the root with its denominator",
        ),
        Form(
            variant="corrected",
            intended=("published",),
            statement=(agree, Ge((other - tau) * (f_0(other) - f_1(other)), 0)),
            where=(*definitions, (tau, tau_0 + root)),
            note="the root has the denominator 2 C_1; it is the only one from the departure on",
        ),
        Form(
            variant="corrected@order",
            statement=Le(root, Gamma_gone / D),
            where=definitions,
            note="linear in the gap of the departing client",
        ),
    ),
    assumptions=(
        Assumption("the bound that keeps the client decreases", Le(D * reached, E * V)),
        Assumption("excluding the client is worse at first", Le(f_0(tau_0), f_1(tau_0))),
        Assumption("the offset is at least one", Ge(gamma, 1)),
    ),
    uses=("ruan.theorem-3.1", "ruan.corollary-3.2.1"),
    check=constants,
)
