r"""Equation (88): when excluding a departed client pays off, if the bound that keeps it increases.

Client :math:`l` departs in round :math:`\tau_0`. If the objective is kept the bound is
:math:`f_0(\tau) = \frac{(\tau - \tau_0) D + V}{\tau E + \gamma}`, else
:math:`f_1(\tau) = \frac{V/(\tau_0 E + \gamma) + \Gamma_l}{(\tau - \tau_0) E + \gamma}`. An increasing :math:`f_0` is
smallest at :math:`\tau_0`; then :math:`f_0(\tau_0) = f_1(\tau)` holds, as published, for

.. math:: \tau - \tau_0 = \frac{1 - \gamma}{E} + \frac{\Gamma_l (\tau_0 E + \gamma)}{E V}
   = O\Bigl(\frac{\Gamma_l \tau_0}{V}\Bigr) .

The equation is linear in :math:`\tau`, so this is its only solution; SymPy proves that it is one, as an identity of
rational functions. The order is a form of its own (``published@order``). A negative value means that excluding the
client is better at once.

**Derivation of the sharp form.** Since :math:`\gamma \ge 1` the first term is not positive, and the second is at most
:math:`(1 + \gamma/E)\, \Gamma_l \tau_0 / V` from :math:`\tau_0 = 1` on, so that the constant of the order depends on
:math:`\gamma/E` alone (``sharp@order``, attained for :math:`\gamma = \tau_0 = 1`).

Instances of the order: :math:`\tau_0`, :math:`\Gamma_l` and :math:`V` varied one at a time over five decades, with
the other numbers fixed.

Source: Ruan et al., AISTATS 2021, appendix A.6, (88).
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Ge, Le

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.flexible_participation.symbols import V, gamma
from fltheory.bounds.ruan._shift_bounds import E, Gamma_gone, f_0, f_1, reached, tau, tau_0
from fltheory.bounds.space import Params, Real, Space
from fltheory.problems.problem import Origin

crossing = (1 - gamma) / E + Gamma_gone * reached / (E * V)


def realise(point: Params) -> dict[str, Any]:
    """Return the constants."""
    return {
        "E": point["E"],
        "tau_0": point["tau_0"],
        "gamma": point["gamma"],
        "V": point["V"],
        "D": point["D"],
        "Gamma_gone": point["Gamma"],
    }


constants = Instances(
    space=Space(
        {
            "E": Real(1, 10),
            "tau_0": Real(1, 1e5, log=True),
            "gamma": Real(1, 100, log=True),
            "V": Real(0.001, 1e6, log=True),
            "D": Real(0.001, 1000, log=True),
            "Gamma": Real(0.001, 1e6, log=True),
        }
    ),
    realise=realise,
)

decades = tuple(10.0**power for power in range(6))
base = {"E": 2.0, "gamma": 20.0, "D": 1.0, "V": 1.0, "Gamma": 10.0, "tau_0": 100.0}

claim = Claim(
    id="ruan.eq-88",
    kind=Kind.IDENTITY,
    title="crossing time for an increasing bound",
    citation=Citation("ruan", "appendix A.6, (88)"),
    forms=(
        Form(
            statement=Eq(f_0(tau_0), f_1(tau), evaluate=False),
            where=((tau, tau_0 + crossing),),
        ),
        Form(
            variant="published@order",
            statement=Le(crossing, BigO(Gamma_gone * tau_0 / V)),
            check=Sweeps(
                instances=constants,
                sweeps=(
                    Sweep("tau_0", decades, base),
                    Sweep("Gamma", decades, base),
                    Sweep("V", decades, base | {"Gamma": 1e6}),
                ),
            ),
            note="the order in the last link",
        ),
        Form(
            variant="sharp@order",
            statement=Le(crossing, (1 + gamma / E) * Gamma_gone * tau_0 / V),
            assumptions=(
                Assumption("gamma at least one", Ge(gamma, 1), Origin.DECLARED),
                Assumption("departure after a round", Ge(tau_0, 1), Origin.DECLARED),
            ),
            note="the order with its constant",
        ),
    ),
    uses=("ruan.theorem-3.1", "ruan.corollary-3.2.1"),
    check=constants,
)
