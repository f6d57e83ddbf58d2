r"""Theorem A.4: lower bound for the iterate bias, third-order smoothness.

As published: for any :math:`H, \sigma, K` and any :math:`Q \le \frac{H^2}{12K\sigma}` there is an objective with a
distribution such that for any :math:`\eta \le \frac1{2H}` and any :math:`k < K`, from the minimiser,

.. math:: \bigl\|\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)}\bigr\| \ge
   0.005\,\eta^3\sigma^2Q\,\min\Bigl\{\frac{k-1}{\eta H},\ k(k-1)\Bigr\} .

The problem is :func:`fltheory.bent_parabola` with ``Q`` and its uniform noise in :math:`[-\sigma, \sigma]`. In the
proof, the double sum for :math:`k \le \frac1{\eta H}` has :math:`\frac12k(k-1)` terms, not :math:`k(k-1)`; the constant
:math:`\frac1{16}` after it covers that, since :math:`\frac1{2e^2} > \frac1{16}`. Lemma A.10 (d) has its inequality the
wrong way round.

**Derivation of the sharp form.** Nothing but constants is lost in the proof. There
:math:`\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)} \le -\frac1{12}\eta^3\sigma^2Q\sum_{j=1}^{k-1}
\sum_{i<j}(1-\eta H)^{2i+1}`, so that without the estimates that follow (form ``sharp``)

.. math:: \bigl\|\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)}\bigr\| \ge \tfrac1{12}\,\eta^3\sigma^2Q
   \sum_{j=1}^{k-1}\sum_{i=0}^{j-1}(1-\eta H)^{2i+1} .

The proof takes one half for the third derivative where it is close to 1, one third for the variance of the noise.

Instances: the mean of up to eight steps as a function of the start, a polynomial of degree 14 on the interval that can
be reached, carried on by Gauss quadrature over the noise.

Source: Glasgow et al., 2022, Theorem A.4, page 14 (Theorem 2.5).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, legendre
from sympy import Ge, Le, Lt, Min, Rational, Sum

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method
from fltheory.bounds.glasgow._symbols import H, K, Q, bias, eta, k, sigma
from fltheory.bounds.quantities import index
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.problems.problem import Origin

i, j = index("i"), index("j")

DEGREE = 14
NODES, WEIGHTS = legendre.leggauss(8)


def drift(steps: int, u: float, size: float) -> float:
    """Return the mean after steps from 0, in units of the width of the bend, with noise of a size."""
    mean: Any = None
    for done in range(1, steps + 1):
        reach = (steps - done) * size
        y = reach * np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1)) if reach > 0 else np.zeros(1)
        folded = np.log1p(np.expm1(-np.abs(y)) ** 2 / (2 * np.exp(-np.abs(y))))
        moved = (y - u * (3 * y / 4 + folded / 4))[:, None] + size * NODES
        values = (moved if mean is None else mean(moved)) @ WEIGHTS / 2
        mean = Chebyshev.fit(y, values, DEGREE, domain=[-reach, reach]) if reach > 0 else None
    return float(values[0])


def realise(point: Params) -> dict[Any, Any]:
    """Return the bias on the problem after the steps."""
    high, noise, steps = float(point["H"]), float(point["sigma"]), int(point["k"])
    longest = steps + int(point["more"])
    third = float(point["share"]) * high**2 / (12 * longest * noise)
    u = float(point["step"]) / 2
    width = high / (4 * third)
    return {
        H: high,
        Q: third,
        sigma: noise,
        eta: u / high,
        k: steps,
        K: longest,
        bias: width * abs(drift(steps, u, u / high * noise / width)),
    }


claim = Claim(
    id="glasgow.theorem-a.4",
    kind=Kind.LOWER,
    title="lower bound for the iterate bias under third-order smoothness",
    citation=Citation("glasgow", "Theorem A.4"),
    forms=(
        Form(statement=Ge(bias, Rational(5, 1000) * eta**3 * sigma**2 * Q * Min((k - 1) / (eta * H), k * (k - 1)))),
        Form(
            variant="sharp",
            statement=Ge(
                bias,
                eta**3 * sigma**2 * Q / 12 * Sum(Sum((1 - eta * H) ** (2 * i + 1), (i, 0, j - 1)), (j, 1, k - 1)),
            ),
            note="without the last two estimates of the proof",
        ),
    ),
    assumptions=(
        Assumption("step size", Le(eta, 1 / (2 * H)), Origin.DECLARED),
        Assumption("third-order smoothness", Le(Q, H**2 / (12 * K * sigma)), Origin.DECLARED),
        Assumption("number of steps", Lt(k, K), Origin.DECLARED),
    ),
    check=Instances(
        space=Space(
            {
                "k": Integer(1, 8, far=300),
                "more": Integer(1, 4),
                "H": Real(0.1, 10, log=True),
                "sigma": Real(0.1, 10, log=True),
                "share": Real(0.1, 1, log=True),
                "step": Real(0.1, 1, log=True),
            }
        ),
        realise=realise,
        method=Method.EXACT,
        rational=False,
    ),
)
