r"""Theorem A.2: lower bound for the iterate bias, second-order smoothness.

As published: for any :math:`H, \sigma, K` there is an objective with a distribution such that for any
:math:`\eta \le \frac1{2H}` and any :math:`k \le K`, from the minimiser,

.. math:: \bigl\|\mathbb E[x_{\mathrm{SGD}}^{(k)}] - z_{\mathrm{GD}}^{(k)}\bigr\| \ge
   0.002\,\min\bigl\{\eta^2k^{3/2}H\sigma,\ \eta^{1/2}H^{-1/2}\sigma\bigr\} .

The problem is :func:`fltheory.bent_parabola` with Gaussian noise. It is not twice differentiable at its kink, as
Assumption 1 asks for; a bend that is sharp enough does the same.

**Where it fails.** For :math:`k = 1`, on any problem: the mean of one stochastic step is the step of gradient descent,
and there is no bias, as the paper says after Definition 2.1. Theorem 2.3 has :math:`k \ge 2`. The printed proof refers
to Lemma B.8, which asks for :math:`\eta \le \frac1{6H}` and rests on the variances of Lemma B.5, where
:math:`(1-\eta L)^t` should be squared.

**Derivation of the corrected form**, :math:`k \ge 2` and a constant 0.006. Let :math:`u = \eta H \le \frac12`,
:math:`b_j = -\mathbb Ex^{(j)}`, :math:`S_j = \sum_{i<j}(1-u)^{2i}` and :math:`T_j = \sum_{i<j}(1-\frac u2)^{2i}`. With
:math:`F'(x) = \frac H2x + \frac H2[x]_+` and :math:`[x]_+ = \frac12(|x| + x)`

.. math:: b_{j+1} = \bigl(1-\tfrac34u\bigr)b_j + \tfrac u4\,\mathbb E|x^{(j)}| , \qquad b_0 = 0 .

A step without noise multiplies :math:`|x|` by a number in :math:`[1-u, 1-\frac u2]`, so that
:math:`\mathbb E(x^{(j)})^2 \ge \eta^2\sigma^2S_j` and :math:`\mathbb E(x^{(j)})^4 \le 3(\eta^2\sigma^2T_j)^2`, and by
Hölder's inequality :math:`\mathbb E|x^{(j)}| \ge \eta\sigma S_j^{3/2}/(\sqrt3\,T_j)`. By the inequality of means
:math:`S_j \ge j(1-u)^{j-1}`, and :math:`T_j \le j`. For :math:`2 \le k \le \frac1u`, where
:math:`(1-u)^{k-1} \ge \frac1e`,

.. math:: b_k \ge \frac{u\eta\sigma}{4\sqrt3}\sum_{j=1}^{k-1}(1-u)^{k-1-j}\sqrt j\,(1-u)^{3(j-1)/2} \ge
   \frac{u\eta\sigma}{4\sqrt3}\,e^{-3/2}\sum_{j=1}^{k-1}\sqrt j \ge \frac{e^{-3/2}}{8\sqrt6}\,\eta^2k^{3/2}H\sigma ,

since the exponents are at most :math:`\frac32(k-2)` and the sum is at least :math:`(k/2)^{3/2}`. The map of a step is
increasing and concave, and so is the mean of :math:`k` steps as a function of the start: by Jensen's inequality
:math:`b_{k+1} \ge b_k`. For :math:`k > \frac1u` therefore :math:`b_k \ge b_n` with the
largest integer :math:`n \le \frac1u`, and :math:`n \ge \frac2{3u}`, so that :math:`b_k` is at least
:math:`(\frac23)^{3/2}\frac{e^{-3/2}}{8\sqrt6} > 0.006` times :math:`\eta^{1/2}H^{-1/2}\sigma`.

The inequalities of one step are :mod:`~fltheory.bounds.glasgow.lemma_b_5` (``corrected@bent``) and
:mod:`~fltheory.bounds.glasgow.lemma_b_9` (``sharp``).

For :math:`k = 2` the bias is :math:`\frac{\eta^2H\sigma}{2\sqrt{2\pi}}`, about 0.07 times the first term.

Instances: the density of SGD on the problem, see :mod:`fltheory.bounds.glasgow._bent`; up to ten steps, now and
then up to 200.

Source: Glasgow et al., 2022, Theorem A.2, page 14 (Theorem 2.3).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Ge, Le, Min, Rational, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method
from fltheory.bounds.glasgow._bent import from_minimiser
from fltheory.bounds.glasgow._symbols import H, bias, eta, k, sigma
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.problems.problem import Origin


def realise(point: Params, *, first: int) -> dict[Any, Any]:
    """Return the bias after every number of steps, from ``first`` on."""
    high, u, noise = float(point["H"]), float(point["step"]) / 2, float(point["sigma"])
    means = np.array(from_minimiser(int(point["K"]), u))
    return {
        H: high,
        sigma: noise,
        eta: u / high,
        k: np.arange(first, len(means)),
        bias: u / high * noise * np.abs(means[first:]),
    }


def runs(first: int) -> Instances:
    """Return runs of at least so many steps."""
    return Instances(
        space=Space(
            {
                "K": Integer(first, 10, far=200),
                "H": Real(0.1, 10, log=True),
                "sigma": Real(0.1, 10, log=True),
                "step": Real(0.01, 1, log=True),
            }
        ),
        realise=partial(realise, first=first),
        method=Method.EXACT,
        rational=False,
    )


least = Min(eta**2 * k ** Rational(3, 2) * H * sigma, sqrt(eta / H) * sigma)
small = Assumption("step size", Le(eta, 1 / (2 * H)), Origin.DECLARED)

claim = Claim(
    id="glasgow.theorem-a.2",
    kind=Kind.LOWER,
    title="lower bound for the iterate bias under second-order smoothness",
    citation=Citation("glasgow", "Theorem A.2"),
    forms=(
        Form(statement=Ge(bias, Rational(2, 1000) * least), note="all k, from one step on"),
        Form(
            variant="published@two-steps",
            statement=Ge(bias, Rational(2, 1000) * least),
            assumptions=(small, Assumption("several steps", Ge(k, 2), Origin.DECLARED)),
            check=runs(2),
            note="two steps or more, as in Theorem 2.3",
            intended=("published",),
        ),
        Form(
            variant="corrected",
            statement=Ge(bias, Rational(6, 1000) * least),
            assumptions=(small, Assumption("several steps", Ge(k, 2), Origin.DECLARED)),
            check=runs(2),
            note="two steps or more, with the constant of a proof that covers all these step sizes",
        ),
    ),
    assumptions=(small,),
    uses=("glasgow.lemma-b.5", "glasgow.lemma-b.9"),
    check=runs(1),
)
