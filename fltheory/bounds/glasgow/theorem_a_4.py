r"""Theorem A.4: lower bound for the iterate bias, third-order smoothness.

As published: for any :math:`H, \sigma, K` and any :math:`Q \le \frac{H^2}{12K\sigma}` there is an objective with a
distribution such that for any :math:`\eta \le \frac1{2H}` and any :math:`k < K`, from the minimiser,

.. math:: \bigl\|\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)}\bigr\| \ge
   0.005\,\eta^3\sigma^2Q\,\min\Bigl\{\frac{k-1}{\eta H},\ k(k-1)\Bigr\} .

The problem of the proof, (A.5), is :func:`fltheory.bent_parabola` with ``Q`` and its uniform noise in :math:`[-\sigma,
\sigma]`. In the proof, the double sum for :math:`k \le \frac1{\eta H}` has :math:`\frac12k(k-1)` terms, not
:math:`k(k-1)`; the constant :math:`\frac1{16}` after it covers that, since :math:`\frac1{2e^2} > \frac1{16}`. Lemma
A.10 (d) has its inequality the wrong way round.

**Where the proof fails.** After hundreds of steps. (A.5) is :math:`\frac H2`-strongly convex, so that the bias settles;
in the proof :math:`\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)} \le -\frac1{12}\eta^3\sigma^2Q
\sum_{j=1}^{k-1}\sum_{i<j}(1-\eta H)^{2i+1}` lacks the factor by which later steps shrink what step :math:`j` has added,
and the first member of the minimum grows with :math:`k` without bound. At :math:`\eta = \frac1{2H}` it exceeds the bias
on (A.5) from about :math:`k = 75` on (form ``published@problem``). Theorem 2.5, for :math:`\eta \le \frac1{2HK}`, is
not concerned.

**Why the theorem holds.** It claims that there is an objective, not that it is (A.5), and a flatter one does it (form
``published``): the bent parabola of smoothness :math:`h = HK^{-1/2}` in place of :math:`H`, with the same :math:`Q` and
noise. Let :math:`v = \eta h \le \frac12`, :math:`w = \frac h{4Q}`, :math:`V_j = \sum_{i<j}(1-v)^{2i}` and :math:`T_j =
\sum_{i<j}(1-\frac v2)^{2i}`. As slopes of a step without noise are between :math:`1-v` and :math:`1-\frac v2`,
:math:`\mathbb E(x^{(j)})^2 \ge \frac13\eta^2\sigma^2V_j` and, by induction, :math:`\mathbb E(x^{(j)})^4 \le
\frac13(\eta^2\sigma^2T_j)^2`. From :math:`\log\cosh t \ge \frac12t^2 - \frac1{12}t^4` follows

.. math:: \mathbb E\log\cosh\frac{x^{(j)}}w \ge \frac{\mathbb E(x^{(j)})^2}{4w^2} \qquad \text{if} \qquad
   \frac13\eta^2\sigma^2\,\frac{T_j^2}{V_j} \le w^2 .

Since :math:`T_j \le 2V_j` and :math:`T_j \le \frac8{7v}`, it is enough that :math:`h^3 \ge \frac{256}{21}\eta\sigma^2
Q^2`, and the right-hand side is at most :math:`0.05\,H^3K^{-2}`. So the recursion below gives :math:`b_k \ge
\frac1{12}\eta^3\sigma^2Q\,S_k` with :math:`h` for :math:`H` in :math:`S_k`, which is shown to be at least
:math:`0.1\,k(k-1)` or :math:`0.05\,v^{-2}`; and :math:`v^{-2} = \frac K{(\eta H)^2} \ge \frac{2(k-1)}{\eta H}`. In all
at least 0.008 times the minimum.

**Derivation of the sharp form**, on (A.5). Let :math:`u = \eta H \le \frac12`, :math:`w = \frac H{4Q}` the width of the
bend, :math:`b_j = -\mathbb Ex^{(j)}` and :math:`V_j = \sum_{i<j}(1-u)^{2i}`. With :math:`F'(x) = \frac{3H}4x +
\frac{Hw}4\log\cosh\frac xw`,

.. math:: b_{j+1} = \bigl(1-\tfrac34u\bigr)b_j + \tfrac{uw}4\,\mathbb E\log\cosh\frac{x^{(j)}}w , \qquad b_1 = 0 .

A step without noise has slopes of at least :math:`1-u`, so that :math:`\mathbb E(x^{(j)})^2 \ge
\frac13\eta^2\sigma^2V_j`; and it does not enlarge :math:`|x|`, so that :math:`|x^{(j)}| \le j\eta\sigma \le \frac w6`,
where :math:`\log\cosh t \ge \frac12t^2(1-\frac16t^2) \ge \frac{215}{432}t^2`. Together

.. math:: b_k \ge \tfrac{215}{1296}\,\eta^3\sigma^2Q\,S_k , \qquad S_k = \sum_{j=1}^{k-1}\bigl(1-\tfrac34\eta
   H\bigr)^{k-1-j}\sum_{i=0}^{j-1}(1-\eta H)^{2i} .

For :math:`k = 2` nothing is lost but :math:`\frac{215}{216}`.

**Derivation of the corrected form**, on (A.5). A bound on :math:`S_k`, which increases with :math:`k` since
:math:`V_j` does. Let :math:`m` be the largest integer with :math:`m(m-1) \le u^{-2}`; then :math:`m \ge 2`. For
:math:`2 \le k \le m` all :math:`j \le k-1` are at most :math:`\frac1u`, so that
:math:`V_j \ge \frac{1-e^{-2uj}}{2u} \ge \frac{1-e^{-2}}2j` because :math:`1-e^{-2s}` is concave, and the other factor
is at least :math:`(1-\frac34u)^{1/u-1} \ge e^{-3/4}`: in all :math:`S_k \ge 0.1\,k(k-1)`. For :math:`k > m`,
:math:`S_k \ge S_m`, and :math:`u^{-2} < m(m+1)`: for :math:`m \ge 3` that is at least
:math:`0.1\cdot\frac{m-1}{m+1}u^{-2} \ge 0.05\,u^{-2}`, and :math:`S_2 = 1 \ge \frac16u^{-2}`. So

.. math:: \bigl\|\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)}\bigr\| \ge
   0.005\,\eta^3\sigma^2Q\,\min\Bigl\{\frac1{(\eta H)^2},\ k(k-1)\Bigr\} .

Instances: the mean of up to eight steps, now and then of hundreds, as a function of the start, a polynomial on the
interval that can be reached, carried on by Gauss quadrature over the noise.

Source: Glasgow et al., 2022, Theorem A.4, page 14 (Theorem 2.5); (A.5) has :math:`\xi` for :math:`\xi x`.
"""

from __future__ import annotations

from functools import partial
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

DEGREE, MORE = 14, 10
"""Degree of the polynomials, and by how much it rises with every width of the bend that can be reached."""

NODES, WEIGHTS = legendre.leggauss(8)


def drift(steps: int, u: float, size: float) -> float:
    """Return the mean after steps from 0, in units of the width of the bend, with noise of a size."""
    mean: Any = None
    for done in range(1, steps + 1):
        reach = (steps - done) * size
        degree = DEGREE + MORE * int(reach)
        y = reach * np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)) if reach > 0 else np.zeros(1)
        folded = np.log1p(np.expm1(-np.abs(y)) ** 2 / (2 * np.exp(-np.abs(y))))
        moved = (y - u * (3 * y / 4 + folded / 4))[:, None] + size * NODES
        values = (moved if mean is None else mean(moved)) @ WEIGHTS / 2
        mean = Chebyshev.fit(y, values, degree, domain=[-reach, reach]) if reach > 0 else None
    return float(values[0])


def realise(point: Params, *, flatter: bool) -> dict[Any, Any]:
    """Return the bias after the steps, on the problem of the proof or on one that is flatter."""
    high, noise, steps = float(point["H"]), float(point["sigma"]), int(point["k"])
    longest = steps + int(point["more"])
    third = float(point["share"]) * high**2 / (12 * longest * noise)
    eta_here = float(point["step"]) / (2 * high)
    smooth = high / np.sqrt(longest) if flatter else high
    width = smooth / (4 * third)
    return {
        H: high,
        Q: third,
        sigma: noise,
        eta: eta_here,
        k: steps,
        K: longest,
        bias: width * abs(drift(steps, eta_here * smooth, eta_here * noise / width)),
    }


SPACE = Space(
    {
        "k": Integer(1, 8, far=300),
        "more": Integer(1, 4),
        "H": Real(0.1, 10, log=True),
        "sigma": Real(0.1, 10, log=True),
        "share": Real(0.1, 1, log=True),
        "step": Real(0.1, 1, log=True),
    }
)
LONG: Params = {"k": 300, "more": 1, "H": 1.0, "sigma": 1.0, "share": 1.0, "step": 1.0}


def instances(*, flatter: bool) -> Instances:
    """Return runs on one of both problems."""
    return Instances(
        space=SPACE, realise=partial(realise, flatter=flatter), method=Method.EXACT, rational=False, begin=(LONG,)
    )


shrinking = (1 - 3 * eta * H / 4) ** (k - 1 - j)
spread = Sum((1 - eta * H) ** (2 * i), (i, 0, j - 1))
front = Rational(5, 1000) * eta**3 * sigma**2 * Q
printed = Ge(bias, front * Min((k - 1) / (eta * H), k * (k - 1)))

claim = Claim(
    id="glasgow.theorem-a.4",
    kind=Kind.LOWER,
    title="lower bound for the iterate bias under third-order smoothness",
    citation=Citation("glasgow", "Theorem A.4"),
    forms=(
        Form(
            statement=printed,
            check=instances(flatter=True),
            intended=("published@problem",),
            note="there is such a problem: one that is flatter than that of the proof",
        ),
        Form(variant="published@problem", statement=printed, note="the problem (A.5) of the proof"),
        Form(
            variant="corrected",
            statement=Ge(bias, front * Min((eta * H) ** -2, k * (k - 1))),
            note="on (A.5) the bias settles: 1 / (eta H) for k - 1 in the first member",
        ),
        Form(
            variant="sharp",
            statement=Ge(bias, Rational(215, 1296) * eta**3 * sigma**2 * Q * Sum(shrinking * spread, (j, 1, k - 1))),
            note="on (A.5), without the estimates of the sums, and with what later steps shrink",
        ),
    ),
    assumptions=(
        Assumption("step size", Le(eta, 1 / (2 * H)), Origin.DECLARED),
        Assumption("third-order smoothness", Le(Q, H**2 / (12 * K * sigma)), Origin.DECLARED),
        Assumption("number of steps", Lt(k, K), Origin.DECLARED),
    ),
    check=instances(flatter=False),
)
