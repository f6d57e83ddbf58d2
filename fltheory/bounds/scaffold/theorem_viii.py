r"""Theorem VIII: rate of SCAFFOLD on quadratics with similar Hessians.

For quadratics with Hessian dissimilarity :math:`\delta`, all clients, :math:`\eta_g = 1` and the update (28), which
takes the gradients at the server's model as control variates, as published: strongly convex, for :math:`\eta_l \le
\min(\frac1{10\beta}, \frac1{22\delta K}, \frac1{10\mu K})` and :math:`R \ge \max(\frac{20\beta}\mu, \frac{44\delta K +
20\mu K}\mu, 20K)` (form ``published@strongly-convex``)

.. math:: \mathbb E\|\nabla f(\bar x^R)\|^2 \le \tilde O\Bigl(\frac{\beta\sigma^2}{\mu RKN} +
   \mu D^2\exp\Bigl(-\frac\mu{20\beta + 44\delta K + 20\mu K}RK\Bigr)\Bigr) ,

and general convex, :math:`\nabla^2f \ge -\delta I`, for :math:`\eta_l \le \min(\frac1{10\beta},
\frac1{22\delta K})` and :math:`R \ge 1` (form ``published@general-convex``; here :math:`f` is convex)

.. math:: \mathbb E\|\nabla f(\bar x^R)\|^2 \le O\Bigl(\frac{\sigma\sqrt{\beta(f(x_0) - f^*)}}{\sqrt{RKN}} +
   \frac{(\beta + \delta K)(f(x_0) - f^*)}{RK}\Bigr) .

The second term of the strongly convex rate has the unit of a function value where the left-hand side is a squared
gradient: multiply all functions by :math:`s`, and without noise the left-hand side grows by :math:`s^2` and the
right-hand side by :math:`s`. So it fails along a sweep of the scale. A factor :math:`\beta` is lost; with it the rate
holds as printed (form ``published@unit``) if the last model is the output, and the theorem says no more than that
there are probabilities :math:`p_k^r`.

**Derivation of the corrected form.** It is about the output of the printed proof. Lemma 24 with
:math:`w_k = (1 - \frac{\mu\eta}6)^{1-k}` bounds the weighted mean of :math:`\frac\eta6\|\nabla f\|^2` by the gap of the
start over the sum of the weights: as in Lemma 1, :math:`\frac6{\eta W}(f(x_0) - f^*) = O(\mu(f(x_0) -
f^*)\exp(-\mu\eta RK/6))`, and :math:`f(x_0) - f^* \le \frac\beta2D^2`. So the second term is
:math:`\mu\beta D^2\exp(\cdot)`, with the exponent divided by six; the terms with :math:`\sigma^2` have the right unit,
as the sum in Lemma 24 is over :math:`8\eta^2\beta\sigma^2/N`.

Instances: two clients with curvatures :math:`h \pm \delta` on a steep axis and :math:`\mu` on a flat one, mean and
variance of all steps in closed form, the step that balances both terms. The output is the model after the last round,
or (``corrected@strongly-convex``, ``published@general-convex``) one after any round, drawn with the weights of the
proof.

Source: Karimireddy et al., 2020, Theorem VIII, page 36 of the supplement (Theorem IV in the text).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Ge, Le, Max, exp, log, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.quantities import scalar
from fltheory.bounds.scaffold._quadratics import delta
from fltheory.bounds.scaffold._symbols import INDEPENDENT, K, R, beta, sigma_sq
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import N, mu
from fltheory.problems.problem import Origin

gradient_sq = scalar(
    "gradient_sq", r"\mathbb E\|\nabla f(\bar x^R)\|^2", "expected squared gradient of the output", domain="nonnegative"
)
D = scalar("D", "D", "distance of the start", domain="nonnegative")
ell = scalar("ell", r"\ell", "logarithm of what the start shrinks by", domain="positive")
first_gap = scalar("first_gap", r"(f(x_0) - f^*)", "gap of the start", domain="nonnegative")

_BASE: dict[str, Any] = {"R": 8192, "K": 4, "condition": 4.0, "scale": 1.0, "similar": 0.2, "start": 1.0}
NOISY = {**_BASE, "sigma": 30.0, "start": 10.0}
QUIET = {**_BASE, "sigma": 0.0, "R": 256, "condition": 2.0}
"""Where the first, the second term of a rate is the largest."""


def realise(point: Params, *, strongly: bool = True, last: bool = True) -> dict[str, Any]:
    """Run (28) in closed form; the output is the last model, or one drawn with the weights of the proof."""
    rounds, steps, scale = int(point["R"]), int(point["K"]), float(point["scale"])
    high, unlike = scale, scale * float(point["similar"])
    sigma_now, start = float(point["sigma"]), float(point["start"])
    low = high / float(point["condition"])
    limits = [1 / (10 * high), 1 / (22 * unlike * steps)]
    total = rounds * steps
    if strongly:
        limits.append(1 / (10 * low * steps))
        ratio = low**2 * total * start**2 / max(sigma_now**2, 1e-300)
        limits.append(6 * float(np.log(max(2.0, ratio))) / (low * total))
    elif sigma_now > 0:
        limits.append(float(np.sqrt(start**2 * 2 / (sigma_now**2 * total))))
    eta = min(limits)
    if not strongly:
        low = min(high, 1 / (eta * total))
    own = np.array([[high, low], [high - 2 * unlike, low]])
    mean = own.mean(axis=0)
    shrink = 1 - eta * own
    powers = shrink[None] ** np.arange(steps)[:, None, None]
    keep = (shrink**steps - eta * powers.sum(axis=0) * (mean - own)).mean(axis=0)
    spread = eta**2 * sigma_now**2 / 2 * (powers**2).sum(axis=(0, 1)) / 4
    number = np.arange(1, rounds + 1)[:, None]
    second = keep ** (2 * number) * start**2 / 2 + spread * (1 - keep ** (2 * number)) / (1 - keep**2)
    values = (mean**2 * second).sum(axis=1)
    decay = 1 - low * eta / 6 if strongly else 1.0
    weights = decay ** (steps * (rounds - np.arange(1.0, rounds + 1.0)))
    return {
        "R": float(rounds),
        "K": float(steps),
        "N": 2.0,
        "mu": low if strongly else 0.0,
        "beta": high,
        "delta": unlike,
        "sigma_sq": sigma_now**2,
        "D": start,
        "first_gap": float((mean * start**2 / 4).sum()),
        "gradient_sq": float(values[-1] if last else weights @ values / weights.sum()),
        "dependence": 0.0,
    }


def general(point: Params) -> dict[str, Any]:
    """Run with equal weights, on the flat axis with the worst curvature."""
    return realise(point, strongly=False, last=False)


def drawn(point: Params) -> dict[str, Any]:
    """Run with the output of the printed proof."""
    return realise(point, last=False)


SPACE = Space(
    {
        "R": Integer(1, 2**16),
        "K": Integer(1, 256),
        "condition": Real(1, 1e6, log=True),
        "scale": Real(1e-6, 1e6, log=True),
        "similar": Real(1e-6, 0.5, log=True),
        "sigma": Real(0, 1e6),
        "start": Real(0.01, 1e3, log=True),
    }
)
ROUNDS = (2048.0, 4096.0, 8192.0, 16384.0, 32768.0)
SCALES = (1.0, 4.0, 16.0, 64.0, 256.0)


def sweeps(run: Any) -> Sweeps:
    """Return the sweeps of one of both cases."""
    return Sweeps(
        instances=Instances(space=SPACE, realise=run, method=Method.EXACT, rational=False),
        sweeps=(
            Sweep("R", ROUNDS, NOISY),
            Sweep("R", (192.0, 256.0, 384.0, 512.0), QUIET),
            Sweep("sigma", (8.0, 16.0, 32.0, 64.0, 128.0), NOISY),
            Sweep("scale", (0.25, 0.5, 1.0, 2.0, 4.0), NOISY),
            Sweep("scale", SCALES, QUIET),
            Sweep("K", (2.0, 4.0, 8.0, 16.0, 32.0), NOISY),
            Sweep("start", SCALES, QUIET),
        ),
    )


logarithm = (ell, log(2 + beta**2 * D**2 / gradient_sq))
noise = ell * beta * sigma_sq / (mu * R * K * N)
slow = mu / (20 * beta + 44 * delta * K + 20 * mu * K) * R * K

LONG = Assumption(
    "enough rounds",
    Le(Max(20 * beta / mu, (44 * delta * K + 20 * mu * K) / mu, 20 * K), R),
    Origin.DECLARED,
)

claim = Claim(
    id="scaffold.theorem-viii",
    kind=Kind.RATE,
    title="rate of SCAFFOLD on quadratics with similar Hessians",
    citation=Citation("scaffold", "Theorem VIII"),
    forms=(
        Form(
            variant="published@strongly-convex",
            statement=Le(gradient_sq, BigO(noise + mu * D**2 * exp(-slow))),
            where=(logarithm,),
            note="one logarithm for the tilde",
        ),
        Form(
            variant="published@unit",
            statement=Le(gradient_sq, BigO(noise + mu * beta * D**2 * exp(-slow))),
            where=(logarithm,),
            intended=("published@strongly-convex",),
            note="beta in the second term, which had the wrong unit",
        ),
        Form(
            variant="published@general-convex",
            statement=Le(
                gradient_sq,
                BigO(
                    sqrt(sigma_sq) * sqrt(beta * first_gap) / sqrt(R * K * N) + (beta + delta * K) * first_gap / (R * K)
                ),
            ),
            assumptions=(INDEPENDENT, Assumption("rounds", Ge(R, 1), Origin.DECLARED)),
            check=sweeps(general),
        ),
        Form(
            variant="corrected@strongly-convex",
            statement=Le(gradient_sq, BigO(noise + mu * beta * D**2 * exp(-slow / 6))),
            where=(logarithm,),
            check=sweeps(drawn),
            note="beta in the second term, and a sixth of the exponent for the weights of the proof",
        ),
    ),
    assumptions=(INDEPENDENT, LONG),
    uses=("scaffold.lemma-1", "scaffold.lemma-2", "scaffold.lemma-21", "scaffold.lemma-22"),
    check=sweeps(realise),
)
