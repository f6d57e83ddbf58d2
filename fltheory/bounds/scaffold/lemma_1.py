r"""Lemma 1: a constant step turns a contraction with noise into a linear rate.

For :math:`d_{r-1} \ge 0`, :math:`\mu > 0`, :math:`\eta_{\max} \in (0, 1/\mu]`, :math:`c \ge 0` and :math:`R \ge
1/(2\eta_{\max}\mu)` there is a constant step :math:`\eta \le \eta_{\max}` such that with :math:`w_r = (1 -
\mu\eta)^{1-r}` and :math:`W_R = \sum_{r=1}^{R+1} w_r`, as published,

.. math:: \Psi_R = \frac1{W_R}\sum_{r=1}^{R+1}\Bigl(\frac{w_r}\eta(1 - \mu\eta)d_{r-1} - \frac{w_r}\eta d_r + c\eta
   w_r\Bigr)
   = \tilde O\Bigl(\mu d_0\exp(-\mu\eta_{\max}R) + \frac c{\mu R}\Bigr) .

:math:`\Psi_R` may be negative; the equality sign is read as an upper bound, and :math:`\tilde O` allows one logarithm
of :math:`\mu^2Rd_0/c`. The step of the printed proof is :math:`\log(\max(1, \mu^2Rd_0/c))/(\mu R)` where that is below
:math:`\eta_{\max}`; it is zero for :math:`c \ge \mu^2Rd_0`, where nothing is defined. For :math:`\eta = \eta_{\max} =
1/\mu` the weights are infinite. Both are gaps of the proof, not of the statement.

**Derivation of the sharp form.** With :math:`a = 1 - \mu\eta \in (0, 1)` the sum telescopes to :math:`(d_0 -
w_{R+1}d_{R+1})/\eta`, and :math:`\eta W_R = \frac a\mu(a^{-R-1} - 1)`, so that for every such step

.. math:: \Psi_R \le \mu d_0\frac{a^{R+1}}{1 - a^{R+1}} + c\eta ,

with equality for :math:`d_{R+1} = 0`.

**Derivation of the corrected form.** Take :math:`\mu\eta = \min\{1 - e^{-\mu\eta_{\max}}, \ell/R\}` with :math:`\ell =
\max\{\frac12, \log(\mu^2Rd_0/c)\}`, which is below 1 and at most :math:`\mu\eta_{\max}`. In the first case :math:`a =
e^{-\mu\eta_{\max}}` and :math:`a^{R+1} \le e^{-1/2}`; in the second :math:`a^R \le e^{-\ell}`, which is at most
:math:`c/(\mu^2Rd_0)` and :math:`e^{-1/2}`. So with :math:`1/(1 - e^{-1/2}) \le 2.55`

.. math:: \Psi_R \le 2.55\,\mu d_0e^{-\mu\eta_{\max}R} + (2.55 + \ell)\frac c{\mu R} ;

for :math:`\ell = \frac12` in the second case :math:`\mu d_0 \le e^{1/2}c/(\mu R)` and :math:`a^R \le e^{-1/2}` give the
same constant.

Instances: the worst sequence, zero after :math:`d_0`, with that step, swept over all parameters; the sharp form is
searched over sequences and steps.

Source: Karimireddy et al., 2020, Lemma 1, page 14 of the supplement. The weights :math:`w_r` are not models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Max, Rational, Sum, exp, log

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.quantities import index, scalar
from fltheory.bounds.scaffold._symbols import R, eta, eta_max
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import mu
from fltheory.bounds.technical_lemmas.sequences import d
from fltheory.problems.problem import Origin

r = index("r")
c = scalar("c", "c", "constant in front of the squared step", domain="nonnegative")
ell = scalar("ell", r"\ell", "logarithm that the step has to be balanced with", domain="positive")


def realise(point: Params) -> dict[str, Any]:
    """Return the worst sequence and the step of the corrected form."""
    low, most, last, noise = point["mu"], point["eta_max"], int(point["R"]), point["c"]
    length = max(0.5, float(np.log(low**2 * last / noise)))
    return {
        "mu": low,
        "eta_max": most,
        "eta": min(1 - np.exp(-low * most), length / last) / low,
        "R": last,
        "c": noise,
        "d": np.eye(1, last + 2)[0],
    }


def contracted(point: Params) -> dict[str, Any]:
    """Return a sequence and the step of a given contraction."""
    return {
        "mu": point["mu"],
        "eta": (1 - point["contraction"]) / point["mu"],
        "R": point["R"],
        "c": point["c"],
        "d": point["d"],
    }


weight = (1 - mu * eta) ** (1 - r)
psi = Sum(weight / eta * (1 - mu * eta) * d[r - 1] - weight / eta * d[r] + c * eta * weight, (r, 1, R + 1)) / Sum(
    weight, (r, 1, R + 1)
)
shrunk = (1 - mu * eta) ** (R + 1)
constant = Rational(51, 20)
base: Params = {"R": 40, "mu": 1.0, "eta_max": 0.1, "c": 1.0}
tuned = Sweeps(
    instances=Instances(space=Space({"R": Integer(1, 1000)}), realise=realise, rational=False),
    sweeps=(
        Sweep("R", (10.0, 20.0, 40.0, 80.0, 160.0, 320.0), base),
        Sweep("mu", (0.2, 0.4, 0.8, 1.6, 3.2, 6.4), base),
        Sweep("eta_max", (0.025, 0.05, 0.1, 0.2, 0.4, 0.8), base),
        Sweep("c", (1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3), base),
    ),
)

claim = Claim(
    id="scaffold.lemma-1",
    kind=Kind.LEMMA,
    title="constant step for a linear rate",
    citation=Citation("scaffold", "Lemma 1"),
    forms=(
        Form(
            statement=Le(psi, BigO(mu * d[0] * exp(-mu * eta_max * R) + ell * c / (mu * R))),
            where=((ell, log(2 + mu**2 * R * d[0] / c)),),
            check=tuned,
            note="one logarithm of mu^2 R d_0/c for the tilde",
        ),
        Form(
            variant="corrected",
            statement=Le(psi, constant * mu * d[0] * exp(-mu * eta_max * R) + (constant + ell) * c / (mu * R)),
            where=((ell, Max(Rational(1, 2), log(mu**2 * R * d[0] / c))),),
            check=tuned,
            note="with constants, and a step that exists for all c",
        ),
        Form(
            variant="sharp",
            statement=Le(psi, mu * d[0] * shrunk / (1 - shrunk) + c * eta),
            assumptions=(),
            note="every step below 1/mu; attained",
        ),
    ),
    assumptions=(
        Assumption("enough rounds", Le(1 / (2 * eta_max * mu), R), Origin.DECLARED),
        Assumption("largest step", Le(eta_max, 1 / mu), Origin.DECLARED),
    ),
    check=Instances(
        space=Space(
            {
                "R": Integer(0, 6),
                "mu": Real(0.1, 10, log=True),
                "contraction": Real(0.05, 0.99),
                "c": Real(0, 3),
                "d": Real(0, 3, shape=(8,)),
            }
        ),
        realise=contracted,
    ),
)
