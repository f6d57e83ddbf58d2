r"""Lemma 5: distance of the iterates from their average between two rounds of communication.

Under the conditions of Lemma 1, for step sizes that do not increase and :math:`\eta_t \le \frac1H`, for any :math:`t`
and :math:`m`, as published

.. math:: \mathbb E\|x_t^m - \bar x_t\|^2 \le \frac{2(M-1)(K-1)\eta_{t-K+1\wedge0}^2\sigma^2}M ,

and for :math:`\eta_t = \frac2{\lambda(a+t+1)}` (form ``published@decaying``) with :math:`\eta_{t-1}^2` in place of
:math:`\eta_{t-K+1\wedge0}^2`.

**Reading.** :math:`\wedge` is the minimum, so that the index is 0 for all :math:`t \ge K - 1`, and negative before
that, where no step size is. Form ``published`` is the text as it stands, for :math:`t \ge K - 1`: the largest step size
of all. What is meant is the maximum (form ``published@max``): the step size after the last averaging.

**Derivation of the sharp form.** Models of two machines part by their noise and are drawn together by the gradient,
which for :math:`\eta_t \le \frac1H` contracts distances by :math:`1 - \eta_t\lambda`, not only their squares as in the
paper's Lemma 3. So from the last averaging :math:`t_0` on, with the equality in Lemma 4,

.. math:: \mathbb E\|x_t^m - \bar x_t\|^2 \le \frac{M-1}M\,\sigma^2\sum_{i=t_0}^{t-1}\eta_i^2\rho_{i+1} ,
   \qquad \rho_t = 1, \qquad \rho_i = (1-\eta_i\lambda)^2\rho_{i+1} ,

an equality on :math:`F(x) = \frac\lambda2\|x\|^2`. There are at most :math:`K - 1` terms, so that even for
:math:`\lambda = 0` it is half of what is printed.

Instances: two or three machines in one or two dimensions, up to three steps after an averaging at any time, all coins.

Source: Woodworth et al., 2020, Lemma 5, page 6 of the supplement.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Eq, Ge, Le, Sum

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space, ratio
from fltheory.bounds.woodworth._machines import OBJECTIVE, mean, noise, objective, squares, walk
from fltheory.bounds.woodworth._symbols import H, K, M, lam, sigma_sq
from fltheory.bounds.woodworth.lemma_4 import own_sq
from fltheory.problems.problem import Origin

i = index("i")
rates = family("eta", r"\eta_{<0>}", "step size", first=0, shape=("times",), domain="positive")
last = scalar("last", r"\eta_{t-1}", "step size before the time of the statement", domain="positive")
after_averaging = scalar(
    "after_averaging", r"\eta_{\max(t-K+1,0)}", "step size K - 1 steps earlier, or the first one", domain="positive"
)
literal = scalar("literal", r"\eta_{t-K+1\wedge0}", "step size with the smaller of both indices", domain="positive")
kept = family(
    "kept",
    r"\rho_{<0>}",
    "what is left of a squared distance at that time, product of (1 - lambda eta_j)^2 from there on",
    first=0,
    shape=("times",),
    domain="nonnegative",
)
t, t_0 = scalar("t", "t", "time", domain="integer>=0"), scalar("t_0", "t_0", "last averaging", domain="integer>=0")
a = scalar("a", "a", "offset of the step size", domain="nonnegative")


def realise(point: Params, *, decaying: bool) -> dict[Any, Any]:
    """Run the steps since the last averaging."""
    made, low = objective(point)
    machines, length = point["M"], point["K"]
    begin = length * point["round"]
    now = begin + min(point["past"], length - 1)
    if decaying:
        offset = 2 * point["condition"] - 1 + point["a"]
        steps = [ratio(point, 2, 1) / (low * (offset + s + 1)) for s in range(now + 1)]
    else:
        offset = 0 * point["H"]
        largest = point["step"] / point["H"]
        falls = [1, *(point["falls"][s % len(point["falls"])] for s in range(now))]
        steps = [largest * np.prod(falls[: s + 1]) for s in range(now + 1)]
    left = [1]
    for rate in reversed(steps[:now]):
        left.append((1 - low * rate) ** 2 * left[-1])
    sigma = noise(point, machines, now - begin)
    models = walk(made, point["start"], machines, steps[begin:now], sigma)[-1]
    return {
        M: machines,
        K: length,
        H: point["H"],
        lam: low,
        sigma_sq: sigma * sigma,
        a: offset,
        t: now,
        t_0: begin,
        "eta": np.array(steps),
        "kept": np.array(left[::-1]),
        last: steps[max(now - 1, 0)],
        after_averaging: steps[max(now - length + 1, 0)],
        literal: steps[0],
        own_sq: mean(squares(models[:, 0] - models.sum(axis=1) / machines)),
    }


SPACE: dict[str, Parameter] = {
    "M": Integer(2, 3),
    "K": Integer(1, 4),
    "round": Integer(0, 2),
    "past": Integer(0, 3),
    **OBJECTIVE,
}
fixed = Instances(
    space=Space({**SPACE, "step": Real(0.01, 1, log=True), "falls": Real(0.1, 1, shape=(4,))}),
    realise=partial(realise, decaying=False),
)
decaying = Instances(
    space=Space({**SPACE, "condition": Real(1, 100, log=True), "a": Real(0, 10)}),
    realise=partial(realise, decaying=True),
)
small = Assumption("step size", Le(rates[i], 1 / H), Origin.DECLARED, over=((i, 0, t),))
falling = Assumption("step sizes do not increase", Le(rates[i], rates[i - 1]), Origin.DECLARED, over=((i, 1, t),))
front = 2 * (M - 1) * (K - 1) * sigma_sq / M

claim = Claim(
    id="woodworth.lemma-5",
    kind=Kind.LEMMA,
    title="distance of iterates from their average within a round",
    citation=Citation("woodworth", "Lemma 5"),
    forms=(
        Form(
            statement=Le(own_sq, front * literal**2),
            assumptions=(small, falling, Assumption("the index exists", Ge(t, K - 1), Origin.DECLARED)),
            note="the index as printed, the smaller one of t - K + 1 and 0",
        ),
        Form(
            variant="published@max",
            statement=Le(own_sq, front * after_averaging**2),
            note="the larger one of t - K + 1 and 0",
            intended=("published",),
        ),
        Form(
            variant="published@decaying",
            statement=Le(own_sq, front * last**2),
            assumptions=(
                small,
                Assumption("decay", Eq(rates[i], 2 / (lam * (a + i + 1))), Origin.DECLARED, over=((i, 0, t),)),
            ),
            check=decaying,
            note="step sizes 2 / (lambda (a + t + 1))",
        ),
        Form(
            variant="sharp",
            statement=Le(own_sq, (M - 1) / M * sigma_sq * Sum(rates[i] ** 2 * kept[i + 1], (i, t_0, t - 1))),
            assumptions=(
                small,
                Assumption("nothing is lost at the end", Eq(kept[t], 1), Origin.DECLARED),
                Assumption(
                    "contraction",
                    Eq(kept[i], (1 - lam * rates[i]) ** 2 * kept[i + 1]),
                    Origin.DECLARED,
                    over=((i, t_0, t - 1),),
                ),
            ),
            note="attained by the flattest parabola",
        ),
    ),
    assumptions=(small, falling),
    uses=("woodworth.lemma-4",),
    check=fixed,
)
