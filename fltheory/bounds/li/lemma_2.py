r"""Lemma 2: variance of the weighted mean of stochastic gradients.

As published, if the variance of a stochastic gradient of client :math:`k` is at most :math:`\sigma_k^2` (A3),

.. math:: \mathbb E\|g_t - \bar g_t\|^2 \le \sum_{k=1}^Np_k^2\sigma_k^2 .

**What the proof uses.** The noises of two clients are uncorrelated. A1 to A4 do not say so: with one noise for all
clients the left-hand side is :math:`(\sum_kp_k\sigma_k)^2`, which is larger. It is an assumption here; form
``published@any-dependence`` is without it. Clients that draw from data of their own are understood to draw
independently, so the plain reading is the intended one.

**Derivation of the sharp form.** Expanding the square leaves the variances, since all products of two noises vanish: an
equality.

Instances: noises :math:`\pm` a vector of the client, by a coin of the client's own, or one for all.

Source: Li et al., ICLR 2020, appendix A, Lemma 2; as it is commonly quoted, not yet compared with the print.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Eq, Le, Sum

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.li import _steps
from fltheory.bounds.li._steps import each, noise
from fltheory.bounds.space import Params, Real, Space, ratio
from fltheory.bounds.symbols import N, k, l, p, sigma_sq
from fltheory.problems.problem import Origin


def realise(point: Params, *, common: bool) -> dict[Any, Any]:
    """Return noises of all clients, by their own coins or a common one."""
    made = _steps.noises(point)
    if common:
        made |= {noise: [point["noise"], -point["noise"]], "chance": [ratio(point, 1, 2)] * 2}
    return made


def noises(*, common: bool) -> Instances:
    """Return noises of up to three clients."""
    space = Space({**_steps.WEIGHTS, "noise": Real(-3, 3, shape=("N", "d"))})
    return Instances(space=space, realise=partial(realise, common=common))


statement = Le(EE(NormSq(Sum(p[k] * noise[k], (k, 1, N)))), Sum(p[k] ** 2 * sigma_sq[k], (k, 1, N)))
UNBIASED = Assumption("unbiased gradients", Le(NormSq(EE(noise[k])), 0, evaluate=False), Origin.DECLARED, each)
VARIANCE = Assumption("bounded variance (A3)", Le(EE(NormSq(noise[k])), sigma_sq[k]), Origin.DECLARED, each)
INDEPENDENT = Assumption(
    "noise independent over the clients (used by the proof, listed nowhere)",
    Eq((k - l) * EE(Inner(noise[k], noise[l])), 0, evaluate=False),
    Origin.DECLARED,
    ((k, 1, N), (l, 1, N)),
)

claim = Claim(
    id="li.lemma-2",
    kind=Kind.LEMMA,
    title="variance of the mean of stochastic gradients",
    citation=Citation("li", "Lemma 2"),
    forms=(
        Form(statement=statement, intended=("published@any-dependence",)),
        Form(
            variant="sharp",
            statement=Eq(EE(NormSq(Sum(p[k] * noise[k], (k, 1, N)))), Sum(p[k] ** 2 * EE(NormSq(noise[k])), (k, 1, N))),
            note="an equation, with the variances themselves",
        ),
        Form(
            variant="published@any-dependence",
            statement=statement,
            assumptions=(UNBIASED, VARIANCE),
            check=noises(common=True),
            note="without the independence of clients, which no assumption lists",
        ),
    ),
    assumptions=(UNBIASED, VARIANCE, INDEPENDENT),
    check=noises(common=False),
)
