r"""Lemma 1: one step of FedAvg, before models are averaged.

With :math:`\bar w_t = \sum_kp_kw_t^k`, the weighted means :math:`g_t` of the stochastic gradients and :math:`\bar g_t`
of the gradients at the local models, and :math:`\bar v_{t+1} = \bar w_t - \eta_tg_t`, as published, for
:math:`\mu`-strongly convex :math:`L`-smooth :math:`F_k` and :math:`\eta_t \le \frac1{4L}`

.. math:: \mathbb E\|\bar v_{t+1} - w^*\|^2 \le (1 - \eta_t\mu)\,\mathbb E\|\bar w_t - w^*\|^2 +
   \eta_t^2\,\mathbb E\|g_t - \bar g_t\|^2 + 6L\eta_t^2\Gamma + 2\,\mathbb E\sum_{k=1}^Np_k\|\bar w_t - w_t^k\|^2 .

**Reading.** The expectation is over the step; noise has mean zero whatever came before, which the proof uses.

Instances: clients with one kink of the derivative per coordinate, any local models, noise of two values in the mean
gradient.

Source: Li et al., ICLR 2020, appendix A, Lemma 1; as it is commonly quoted, not yet compared with the print.
"""

from __future__ import annotations

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.li import _steps
from fltheory.bounds.li._steps import Gamma, drawn, expected, local, rate, v_bar, w_bar
from fltheory.bounds.space import Real, Space
from fltheory.bounds.symbols import L, N, k, mu, p, w_star
from fltheory.problems.problem import Origin

apart = Sum(p[k] * NormSq(w_bar - local[k]), (k, 1, N))

claim = Claim(
    id="li.lemma-1",
    kind=Kind.LEMMA,
    title="one step of FedAvg",
    citation=Citation("li", "Lemma 1"),
    forms=(
        Form(
            statement=Le(
                EE(NormSq(v_bar - w_star)),
                (1 - rate * mu) * EE(NormSq(w_bar - w_star))
                + rate**2 * EE(NormSq(drawn - expected))
                + 6 * L * rate**2 * Gamma
                + 2 * EE(apart),
            )
        ),
    ),
    assumptions=(
        Assumption("step size", Le(rate, 1 / (4 * L)), Origin.DECLARED),
        Assumption("unbiased gradients", Le(NormSq(EE(drawn - expected)), 0, evaluate=False), Origin.DECLARED),
    ),
    check=Instances(
        space=Space(
            {
                **_steps.WEIGHTS,
                "L": Real(0.1, 10, log=True),
                "condition": Real(1, 100, log=True),
                "centre": Real(-3, 3, shape=("N", "d")),
                "knot": Real(-3, 3, shape=("N", "d")),
                "left": Real(0, 1, shape=("N", "d")),
                "right": Real(0, 1, shape=("N", "d")),
                "x": Real(-3, 3, shape=("N", "d")),
                "noise": Real(-3, 3, shape=("d",)),
                "step": Real(0.01, 1, log=True),
            }
        ),
        realise=_steps.step,
    ),
)
