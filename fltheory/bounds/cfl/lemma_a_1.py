r"""Lemma A.1: geometric weights turn a contraction into an exponential.

For :math:`d_t \ge 0`, :math:`\mu > 0` and :math:`T \ge 1/(2\eta_{\max}\mu)` there is a step :math:`\eta \le
\eta_{\max}` such that with :math:`\omega_t = (1 - \mu\eta)^{1-t}` and :math:`W_T = \sum_{t=1}^{T+1}\omega_t`, as
published,

.. math:: \Phi_T = \frac1{W_T}\sum_{t=1}^{T+1}\Bigl(\frac{\omega_{t-1}}{\eta}(1 - \mu\eta)d_{t-1} -
   \frac{\omega_t}{\eta}d_t\Bigr)
   = \tilde O\bigl(\mu d_0\exp(-\mu\eta_{\max}T)\bigr) .

The weight of :math:`d_{t-1}` is printed as :math:`\omega_{t-1}`; the lemma that is cited has :math:`\omega_t`, for
which the sum telescopes. With :math:`\omega_{t-1}` the sum is smaller, so the bound is true all the more.
:math:`\Phi_T` may be negative; the equality sign is read as an upper bound. The step must stay below :math:`1/\mu`,
which is not said.

**Derivation of the sharp form.** Take :math:`\omega_t` in both terms and put :math:`a = 1 - \mu\eta`. Then
:math:`\omega_t a = \omega_{t-1}`, the sum is :math:`(\omega_0 d_0 - \omega_{T+1}d_{T+1})/\eta`, and :math:`\eta W_T =
\frac a\mu(a^{-T-1} - 1)`, so that

.. math:: \Phi_T \le \mu d_0\,\frac{a^{T+1}}{1 - a^{T+1}},

with equality for :math:`d_{T+1} = 0`. The step :math:`\eta = (1 - e^{-\mu\eta_{\max}})/\mu` is at most
:math:`\eta_{\max}`, always below :math:`1/\mu`, and makes :math:`a = e^{-\mu\eta_{\max}}`: the constant in front of
:math:`\mu d_0 e^{-\mu\eta_{\max}T}` is at most :math:`1/(1 - e^{-1/2}) < 2.55`.

Instances: the published form is swept over :math:`T`, :math:`\mu` and :math:`\eta_{\max}` with that step and the
worst sequence, zero after :math:`d_0`; the sharp form is searched over sequences.

Source: Guo et al., 2021, Lemma A.1, (7), after Karimireddy et al., 2020, Lemma 1. The weights :math:`\omega_t` are not
models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Sum, exp

from fltheory.bounds.algebra import BigO
from fltheory.bounds.cfl._symbols import T, eta, eta_max
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import mu, t
from fltheory.bounds.technical_lemmas.sequences import d
from fltheory.problems.problem import Origin


def realise(point: Params) -> dict[str, Any]:
    """Return the worst sequence and the step that makes the contraction an exponential."""
    low, most, last = point["mu"], point["eta_max"], int(point["T"])
    return {
        "mu": low,
        "eta_max": most,
        "eta": (1 - np.exp(-low * most)) / low,
        "T": last,
        "d": np.eye(1, last + 2)[0],
    }


def contracted(point: Params) -> dict[str, Any]:
    """Return a sequence and the step of a given contraction."""
    return {
        "mu": point["mu"],
        "eta": (1 - point["contraction"]) / point["mu"],
        "T": point["T"],
        "d": point["d"],
    }


weight = (1 - mu * eta) ** (1 - t)
total = Sum(weight, (t, 1, T + 1))
earlier = weight.subs(t, t - 1)
printed = Sum(earlier / eta * (1 - mu * eta) * d[t - 1] - weight / eta * d[t], (t, 1, T + 1)) / total
telescoping = Sum(weight / eta * (1 - mu * eta) * d[t - 1] - weight / eta * d[t], (t, 1, T + 1)) / total
base: Params = {"T": 40, "mu": 1.0, "eta_max": 0.1}

claim = Claim(
    id="cfl.lemma-a.1",
    kind=Kind.LEMMA,
    title="geometric weights give an exponential",
    citation=Citation("cfl", "Lemma A.1, (7)"),
    forms=(
        Form(
            statement=Le(printed, BigO(mu * d[0] * exp(-mu * eta_max * T))),
            check=Sweeps(
                instances=Instances(space=Space({"T": Integer(1, 1000)}), realise=realise, rational=False),
                sweeps=(
                    Sweep("T", (10.0, 20.0, 40.0, 80.0, 160.0, 320.0), base),
                    Sweep("mu", (0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8), base),
                    Sweep("eta_max", (0.02, 0.04, 0.08, 0.16, 0.32, 0.64), base),
                ),
            ),
        ),
        Form(
            variant="sharp",
            statement=Le(telescoping, mu * d[0] * (1 - mu * eta) ** (T + 1) / (1 - (1 - mu * eta) ** (T + 1))),
            assumptions=(),
            note="weights as in the cited lemma; attained",
        ),
    ),
    assumptions=(Assumption("enough rounds", Le(1 / (2 * eta_max * mu), T), Origin.DECLARED),),
    check=Instances(
        space=Space(
            {
                "T": Integer(1, 6),
                "mu": Real(0.1, 10, log=True),
                "contraction": Real(0.05, 0.99),
                "d": Real(0, 3, shape=(8,)),
            }
        ),
        realise=contracted,
    ),
)
