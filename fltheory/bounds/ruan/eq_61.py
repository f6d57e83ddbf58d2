r"""Equation (61): division by the factor on the left of (58).

With :math:`P_\tau = \sum_kp_\tau^ks_\tau^k`, :math:`x = \frac14\mu\eta_\tau P_\tau` and :math:`\eta_\tau \le
\frac{4}{\mu E\theta} \le \frac{4}{\mu P_\tau}`, as printed

.. math:: \bar\Delta_{(\tau+1)E} \le \Bigl(1 - \frac{x}{1+x}\Bigr)\bar\Delta_{\tau E} + 2\eta_\tau^2\bar H_\tau +
   \eta_\tau^2\bar C_\tau + 2\eta_\tau z_\tau\sum_kp_\tau^ks_\tau^k\Gamma_k
   \le \Bigl(1 - \tfrac18\mu\eta_\tau P_\tau\Bigr)\bar\Delta_{\tau E} + \eta_\tau^2B_\tau + 2\eta_\tau
   z_\tau\sum_kp_\tau^ks_\tau^k\Gamma_k .

As a consequence of (58), (60) and the bounds (56), (57) this is correct algebra, since :math:`x \le 1`
(``published@division``); :math:`\bar H_\tau` would do with half its factor. As a statement about a round with given
participation (``published@round``, its two ends) it is not true, because (60) is not: with :math:`z_\tau = 0` a draw
in which one client works alone moves the model towards that client's minimum, a change of the first order in
:math:`\eta_\tau`. Dividing by a factor that is random, as participation is, would also spoil the mean that comes
next.

**Derivation of the corrected form.** Bound the distances in (49) from below by the first one, :math:`\Delta_{\tau
E+i} \ge \frac14\Delta_{\tau E} - \frac13\|\bar w_{\tau E+i} - \bar w_{\tau E}\|^2`, instead of by the last one as in
(53). Nothing is left to divide. By (26), with :math:`Q_\tau = \sum_k\frac{(p_\tau^k)^2}{p^k}s_\tau^k`,

.. math:: -\tfrac12\mu\eta_\tau\sum_iA_i\mathbb E_\xi\Delta_{\tau E+i} \le -\tfrac18\mu\eta_\tau P_\tau\Delta_{\tau E}
   + \tfrac16\mu\eta_\tau P_\tau(E-1)G^2\eta_\tau^2Q_\tau ,

and the last term is at most :math:`\frac23(E-1)G^2\eta_\tau^2Q_\tau`. The last sum of (49) is bounded as in (60): its
factor is at most :math:`2\eta_\tau`, and :math:`P_\tau^2 \le EQ_\tau` by Cauchy-Schwarz (:math:`s_\tau^k \le E`,
:math:`\sum_kp^k = 1`), so what the round moves costs at most :math:`(E-1)G^2\eta_\tau^2Q_\tau`. Together
:math:`\frac53(E-1)G^2Q_\tau`, less than the :math:`2EG^2Q_\tau` that :math:`B_\tau` has in store for :math:`\bar
H_\tau`; :math:`2E - \frac53(E-1) = \frac{E+5}{3}` is left over. So, given participation,

.. math:: \bar\Delta_{(\tau+1)E} \le \Bigl(1 - \tfrac18\mu\eta_\tau P_\tau\Bigr)\bar\Delta_{\tau E} +
   \eta_\tau^2\Bigl(B_\tau - \tfrac{E+5}{3}G^2Q_\tau\Bigr)
   + \gamma_\tau(1 - \eta_\tau L)\sum_kp_\tau^ks_\tau^k\bigl(F_k(w^*) - F_k(\bar w_{\tau E})\bigr) .

**Derivation of the sharp form.** Without smoothness, for every learning rate. Given participation, write
:math:`d_{k,i}` for the stochastic gradient of step :math:`i < s = s_\tau^k` at the model :math:`w_{k,i}` and
:math:`g_{k,i}` for its mean, :math:`D_k = \sum_id_{k,i}`, :math:`w = \bar w_{\tau E}`. Noise has mean zero given the
model, and :math:`w - w_{k,i} = \eta_\tau\sum_{j<i}d_{k,j}`, so that

.. math:: \sum_i\mathbb E\langle g_{k,i}, w - w_{k,i}\rangle = \tfrac{\eta_\tau}2\mathbb E\bigl(\|D_k\|^2 -
   \sum_i\|d_{k,i}\|^2\bigr) .

Convexity gives :math:`\mathbb E(F_k(w) - F_k(w_{k,i})) \le \eta_\tau\sum_{j<i}\mathbb E\|g_{k,j}\|^2` and
:math:`\langle g_{k,i}, w_{k,i} - w^*\rangle \ge F_k(w_{k,i}) - F_k(w^*) + \frac\mu4\Delta_{\tau E} - \frac\mu2\|w_{k,i}
- w\|^2`. Together

.. math:: -2\sum_i\mathbb E\langle g_{k,i}, w - w^*\rangle \le 2s(F_k(w^*) - F_k(w)) - \tfrac12\mu s\Delta_{\tau E}
   + \mu\sum_i\mathbb E\|w_{k,i} - w\|^2 + \eta_\tau\sum_i\mathbb E\bigl(2(s - 1 - i)\|g_{k,i}\|^2 +
   \|d_{k,i}\|^2\bigr) - \eta_\tau\mathbb E\|D_k\|^2 .

The last sum is at most :math:`s^2G^2`, the one before at most :math:`\frac13\eta_\tau^2s^3G^2`. What a client loses on
its way comes back in :math:`\|D_k\|^2`: the square of the round's step is at most :math:`\eta_\tau^2\sum_jp_\tau^j
\sum_kp_\tau^k\|D_k\|^2`, and :math:`\|D_k\|^2 \le s^2G^2` in the mean. So, given participation,

.. math:: \bar\Delta_{(\tau+1)E} \le \Bigl(1 - \tfrac12\mu\eta_\tau P_\tau\Bigr)\bar\Delta_{\tau E}
   + \eta_\tau^2G^2\Bigl(\max\Bigl\{1, \sum_kp_\tau^k\Bigr\}\sum_kp_\tau^k(s_\tau^k)^2
   + \tfrac13\mu\eta_\tau\sum_kp_\tau^k(s_\tau^k)^3\Bigr)
   + 2\eta_\tau\sum_kp_\tau^ks_\tau^k\bigl(F_k(w^*) - F_k(w)\bigr) .

For :math:`E = 1` and small rates this is the usual inequality of subgradient steps. Many terms of the corrected form no
instance can show, since this one does without them.

Instances: numbers that fulfil the premises; rounds with random participation in which noise is averaged out, see
:mod:`~fltheory.bounds.flexible_participation.draws`. A change of the first order shows where terms of the second order
do not hide it, so learning rates go down to a thousandth of the largest one, and half of all points have homogeneous
devices, no noise and a start close to :math:`w^*`; in the sharp form they go up to thirty times the largest one.

Source: Ruan et al., AISTATS 2021, appendix A.1.4.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Max, Sum

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Rejected
from fltheory.bounds.flexible_participation.draws import ANY_RATE, GIVEN, bounded_gradients
from fltheory.bounds.flexible_participation.experiments import BOUNDED_COEFFICIENTS
from fltheory.bounds.flexible_participation.round import factor, small_rate, small_rate_of_round
from fltheory.bounds.flexible_participation.symbols import (
    B_tau,
    C_given,
    Delta_after,
    Delta_before,
    H_given,
    gamma_tau,
    p_drawn,
    s_drawn,
    w_start,
    z_tau,
)
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan.theorem_3_1 import B_PRINTED, B_ROUND
from fltheory.bounds.space import Integer, Integers, Params, Real, Space, ratio
from fltheory.bounds.symbols import F, G_sq, Gamma, L, N, eta, k, mu, w_star

ascent_mean = scalar(
    "ascent_mean",
    r"\mathbb{E}_\xi\sum_{k=1}^N p_\tau^k s_\tau^k(F_k(w^*) - F_k(\bar w_{\tau E+l}))",
    "mean of the heterogeneity term, given participation",
    random=True,
)
done = Sum(p_drawn[k] * s_drawn[k], (k, 1, N))
x = mu * eta * done / 4
gaps = z_tau * Sum(p_drawn[k] * s_drawn[k] * Gamma[k], (k, 1, N))
middle = (1 - x / (1 + x)) * Delta_before + 2 * eta**2 * H_given + eta**2 * C_given + 2 * eta * gaps
steps_sq = Sum(p_drawn[k] * s_drawn[k] ** 2, (k, 1, N))
moves = Max(1, Sum(p_drawn[k], (k, 1, N))) * steps_sq + mu * eta / 3 * Sum(p_drawn[k] * s_drawn[k] ** 3, (k, 1, N))
"""What the steps of a round move, in the sharp form."""
shrunk = (1 - mu * eta * done / 8) * Delta_before + eta**2 * B_tau


def realise(point: Params) -> dict[str, Any]:
    """Return numbers that fulfil what comes before the division."""
    steps = (point["coefficients"] * point["s"]).sum()
    if steps == 0:
        raise Rejected("nobody works")
    eta_ = point["rate"] * 4 / (point["mu"] * steps)
    quarter = point["mu"] * eta_ * steps / 4
    heterogeneous = point["z"] * (point["coefficients"] * point["s"] * point["Gamma"]).sum()
    gain = heterogeneous - point["slack"]
    right = point["before"] + 2 * eta_**2 * quarter * point["path"] + eta_**2 * point["spread"] + 2 * eta_ * gain
    if right < 0:
        raise Rejected("no squared distance is small enough")
    return {
        "N": point["N"],
        "mu": point["mu"],
        "eta": eta_,
        "z_tau": point["z"],
        "Gamma": point["Gamma"],
        "p_drawn": [point["coefficients"]],
        "s_drawn": [point["s"]],
        "Delta_before": point["before"],
        "Delta_after": [point["used"] * right / (1 + quarter)],
        "H_given": [point["path"]],
        "C_given": [point["spread"]],
        "B_tau": [2 * point["path"] + point["spread"]],
        "ascent_mean": [gain],
        "chance": [ratio(point, 1)],
    }


DIVISION = Instances(
    space=Space(
        {
            "N": Integer(1, 2),
            "z": Integer(0, 1),
            "s": Integers(0, 3, shape=("N",)),
            "coefficients": Real(0.1, 3, shape=("N",)),
            "mu": Real(0.1, 10, log=True),
            "rate": Real(0.01, 1, log=True),
            "before": Real(0, 5),
            "path": Real(0, 5),
            "spread": Real(0, 5),
            "Gamma": Real(0, 5, shape=("N",)),
            "slack": Real(0, 1),
            "used": Real(0, 1),
        }
    ),
    realise=realise,
)

claim = Claim(
    id="ruan.eq-61",
    kind=Kind.LEMMA,
    title="division step",
    citation=Citation("ruan", "(61)"),
    forms=(
        Form(
            variant="published@division",
            statement=(Le(Delta_after, middle), Le(middle, shrunk + 2 * eta * gaps)),
            premises=(
                Le(
                    (1 + x) * Delta_after,
                    Delta_before + mu * eta**3 * done * H_given / 2 + eta**2 * C_given + 2 * eta * ascent_mean,
                ),
                Le(ascent_mean, gaps),
                Le(2 * H_given + C_given, B_tau),
                Le(eta, 4 / (mu * done)),
            ),
            assumptions=(),
            check=DIVISION,
            note="as a consequence of (58), (60) and the bounds (56), (57)",
        ),
        Form(
            variant="published@round",
            statement=Le(Delta_after, shrunk + 2 * eta * gaps),
            where=((B_tau, B_PRINTED),),
            note="as a statement about a round, for every draw of participation",
        ),
        Form(
            variant="corrected",
            statement=Le(
                Delta_after,
                shrunk
                + gamma_tau * (1 - eta * L) * Sum(p_drawn[k] * s_drawn[k] * (F(k, w_star) - F(k, w_start)), (k, 1, N)),
            ),
            where=(factor, (B_tau, B_ROUND)),
            note="the heterogeneity term at the start of the round, where no draw matters; less of the gradient bound",
        ),
        Form(
            variant="sharp",
            statement=Le(
                Delta_after,
                (1 - mu * eta * done / 2) * Delta_before
                + eta**2 * G_sq * moves
                + 2 * eta * Sum(p_drawn[k] * s_drawn[k] * (F(k, w_star) - F(k, w_start)), (k, 1, N)),
            ),
            assumptions=(bounded_gradients,),
            check=ANY_RATE,
            note="any learning rate, no smoothness: four times the contraction, the gradient bound only",
        ),
    ),
    assumptions=(small_rate, small_rate_of_round, bounded_gradients, BOUNDED_COEFFICIENTS),
    uses=("ruan.eq-49", "ruan.eq-53", "ruan.eq-56", "ruan.eq-57", "ruan.eq-60"),
    check=GIVEN,
)
