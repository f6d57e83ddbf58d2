r"""Lemma A.4: separating mean and variance of a sum of random vectors.

For random vectors with means :math:`\mathbb E\,\Xi_i = \xi_i` and :math:`\mathbb E\|\Xi_i - \xi_i\|^2 \le
M\|\xi_i\|^2 + \sigma^2`, said to be "not necessarily independent", as published

.. math:: \mathbb E\Bigl\|\sum_{i=1}^\tau\Xi_i\Bigr\|^2 \le (\tau + M)\sum_{i=1}^\tau\|\xi_i\|^2 + \tau\sigma^2 .

It is false as it stands: :math:`\tau` copies of one centred variable have :math:`\tau^2\sigma^2` on the left. The
lemma that is cited asks for martingale differences. With independent variables (form ``published@independent``) it is
true, and an equality for equal means and attained variances.

**Derivation of the corrected form.** For any dependence the mean and the centred part are orthogonal, and both are
sums of :math:`\tau` vectors, so by Lemma A.3

.. math:: \mathbb E\Bigl\|\sum_i\Xi_i\Bigr\|^2 = \Bigl\|\sum_i\xi_i\Bigr\|^2 + \mathbb E\Bigl\|\sum_i(\Xi_i -
   \xi_i)\Bigr\|^2
   \le \tau(1 + M)\sum_i\|\xi_i\|^2 + \tau^2\sigma^2 ,

attained by equal variables.

Instances: :math:`\Xi_i = \xi_i + s_i x_i + s_0 z_i` with fair coins :math:`s_i` and a common one :math:`s_0`; without
the common part they are independent. :math:`\sigma^2` is the smallest constant for the given :math:`M`.

Source: Guo et al., 2021, Lemma A.4, (10), after Stich and Karimireddy, 2020, Lemma 14. Used from (45) to (46) and in
(52).
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
from sympy import Eq, Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._symbols import sigma_sq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import i, j
from fltheory.bounds.technical_lemmas.vectors import Xi, count, mean
from fltheory.problems.problem import Origin

M = scalar("M", "M", "growth of the variance with the squared mean", domain="nonnegative")


def realise(point: Params, *, common: bool) -> dict[str, Any]:
    """Return all outcomes of the coins."""
    number, means, own = point["count"], point["mean"], point["own"]
    shared = point["shared"] * (1 if common else 0)
    faces = np.array(list(itertools.product((-1, 1), repeat=number + 1)))
    variance = (own * own).sum(axis=1) + (shared * shared).sum(axis=1)
    rest = variance - point["M"] * (means * means).sum(axis=1)
    return {
        "count": number,
        "mean": means,
        "Xi": [means + face[1:, None] * own + int(face[0]) * shared for face in faces],
        "M": point["M"],
        "sigma_sq": max([0 * rest[0], *rest]),
        "chance": [ratio(point, 1, len(faces))] * len(faces),
    }


space = Space(
    {
        "count": Integer(2, 3),
        "d": Integer(1, 2),
        "mean": Real(-2, 2, shape=("count", "d")),
        "own": Real(-2, 2, shape=("count", "d")),
        "shared": Real(-2, 2, shape=("count", "d")),
        "M": Real(0, 3),
    }
)
each = ((i, 1, count),)
left = EE(NormSq(Sum(Xi[i], (i, 1, count))))
means = Sum(NormSq(mean[i]), (i, 1, count))
lemma = Le(left, (count + M) * means + count * sigma_sq)

off = [Xi[n] - mean[n] for n in (i, j)]
BOUNDED = (
    Assumption("means", Eq(NormSq(EE(Xi[i]) - mean[i]), 0, evaluate=False), Origin.DECLARED, each),
    Assumption(
        "bounded variance", Le(EE(NormSq(Xi[i] - mean[i])), M * NormSq(mean[i]) + sigma_sq), Origin.DECLARED, each
    ),
)
INDEPENDENT = Assumption(
    "uncorrelated, as independent variables are",
    Eq((i - j) * EE(NormSq(off[0] + off[1])), (i - j) * (EE(NormSq(off[0])) + EE(NormSq(off[1]))), evaluate=False),
    Origin.DECLARED,
    (*each, (j, 1, count)),
)

claim = Claim(
    id="cfl.lemma-a.4",
    kind=Kind.LEMMA,
    title="separating mean and variance",
    citation=Citation("cfl", "Lemma A.4, (10)"),
    forms=(
        Form(statement=lemma, note="variables of any dependence, as printed"),
        Form(
            variant="published@independent",
            statement=lemma,
            assumptions=(*BOUNDED, INDEPENDENT),
            check=Instances(space=space, realise=partial(realise, common=False)),
            note="independent variables",
        ),
        Form(
            variant="corrected",
            statement=Le(left, count * (1 + M) * means + count**2 * sigma_sq),
            note="any dependence; attained by equal variables",
        ),
    ),
    assumptions=BOUNDED,
    check=Instances(space=space, realise=partial(realise, common=True)),
)
