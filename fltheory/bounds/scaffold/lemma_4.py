r"""Lemma 4: separating mean and variance of a sum of random vectors.

For random vectors, "not necessarily independent", with :math:`\mathbb E\,\Xi_i = \xi_i` and :math:`\mathbb E\|\Xi_i -
\xi_i\|^2 \le \sigma^2`, as published (form ``published@means``)

.. math:: \mathbb E\Bigl\|\sum_{i=1}^\tau\Xi_i\Bigr\|^2 \le \Bigl\|\sum_{i=1}^\tau\xi_i\Bigr\|^2 + \tau^2\sigma^2 ,

and for conditional means :math:`\mathbb E[\Xi_i \mid \Xi_{i-1}, \dots, \Xi_1] = \xi_i` (form
``published@conditional``)

.. math:: \mathbb E\Bigl\|\sum_{i=1}^\tau\Xi_i\Bigr\|^2 \le 2\Bigl\|\sum_{i=1}^\tau\xi_i\Bigr\|^2 + 2\tau\sigma^2 .

The first is true and attained by equal centred variables. In the second :math:`\xi_i` is random, as the printed proof
says itself, and the right-hand side has lost its expectation: taken outcome by outcome it fails where earlier variables
make the conditional means cancel in one outcome and add up in another.

**Derivation of the corrected form.** With :math:`A = \sum_i\xi_i` and :math:`M = \sum_i(\Xi_i - \xi_i)`,
:math:`\mathbb E\|A + M\|^2 \le 2\,\mathbb E\|A\|^2 + 2\,\mathbb E\|M\|^2`, and :math:`\mathbb E\|M\|^2 = \sum_i\mathbb
E\|\Xi_i - \xi_i\|^2 \le \tau\sigma^2` since the differences are uncorrelated.

**Derivation of the sharp form.** Minkowski's inequality in place of the relaxed triangle inequality: :math:`\mathbb
E\|A + M\|^2 \le \bigl(\sqrt{\mathbb E\|A\|^2} + \sqrt{\tau\sigma^2}\bigr)^2`. It is an equality for :math:`A = 0` and
for :math:`\sigma = 0`.

Instances: fair coins :math:`s_j`; in the first part :math:`\Xi_i = \xi_i + s_ix_i + s_0z_i`, in the second
:math:`\Xi_i = \xi_i + s_ix_i` with :math:`\xi_i = m_i + b_i\sum_{j<i}s_jx_j`. :math:`\sigma^2` is the smallest
constant.

Source: Karimireddy et al., 2020, Lemma 4, page 16 of the supplement.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sympy import Eq, Le, Sum, sqrt

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family
from fltheory.bounds.scaffold._symbols import sigma_sq
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space, ratio
from fltheory.bounds.symbols import i, j
from fltheory.bounds.technical_lemmas.vectors import Xi, count, mean
from fltheory.problems.problem import Origin

given = family(
    "given", r"\xi_{<0>}", "their conditional means given earlier ones", random=True, shape=("vectors", "dim")
)


def realise(point: Params) -> dict[str, Any]:
    """Return all outcomes of the coins, for any dependence."""
    number, means, own, shared = point["count"], point["mean"], point["own"], point["shared"]
    faces = np.array(list(itertools.product((-1, 1), repeat=number + 1)))
    variance = (own * own).sum(axis=1) + (shared * shared).sum(axis=1)
    return {
        "count": number,
        "mean": means,
        "Xi": [means + face[1:, None] * own + int(face[0]) * shared for face in faces],
        "sigma_sq": max(variance),
        "chance": [ratio(point, 1, len(faces))] * len(faces),
    }


def conditional(point: Params) -> dict[str, Any]:
    """Return all outcomes of the coins, with means that depend on earlier variables."""
    number, own = point["count"], point["own"]
    faces = np.array(list(itertools.product((-1, 1), repeat=number)))
    earlier = np.array([[sum((f[j] * own[j] for j in range(n)), 0 * own[0]) for n in range(number)] for f in faces])
    means = point["mean"][None] + point["follow"][None, :, None] * earlier
    return {
        "count": number,
        "given": means,
        "Xi": means + faces[:, :, None] * own[None],
        "sigma_sq": max((own * own).sum(axis=1)),
        "chance": [ratio(point, 1, len(faces))] * len(faces),
    }


SPACE: dict[str, Parameter] = {
    "count": Integer(2, 3),
    "d": Integer(1, 2),
    "mean": Real(-2, 2, shape=("count", "d")),
    "own": Real(-2, 2, shape=("count", "d")),
}
each = ((i, 1, count),)
left = EE(NormSq(Sum(Xi[i], (i, 1, count))))
spread = Assumption("bounded variance", Le(EE(NormSq(Xi[i] - given[i])), sigma_sq), Origin.DECLARED, each)
off = [Xi[n] - given[n] for n in (i, j)]
martingale = Assumption(
    "differences from conditional means, which are uncorrelated",
    Eq((i - j) * EE(NormSq(off[0] + off[1])), (i - j) * (EE(NormSq(off[0])) + EE(NormSq(off[1]))), evaluate=False),
    Origin.DECLARED,
    (*each, (j, 1, count)),
)
differences = Instances(space=Space({**SPACE, "follow": Real(-3, 3, shape=("count",))}), realise=conditional)
together = EE(NormSq(Sum(given[i], (i, 1, count))))

claim = Claim(
    id="scaffold.lemma-4",
    kind=Kind.LEMMA,
    title="separating mean and variance",
    citation=Citation("scaffold", "Lemma 4"),
    forms=(
        Form(
            variant="published@means",
            statement=Le(left, NormSq(Sum(mean[i], (i, 1, count))) + count**2 * sigma_sq),
            note="any dependence",
        ),
        Form(
            variant="published@conditional",
            statement=Le(left, 2 * NormSq(Sum(given[i], (i, 1, count))) + 2 * count * sigma_sq),
            assumptions=(spread, martingale),
            check=differences,
            note="conditional means, which are random, without an expectation, as printed",
        ),
        Form(
            variant="corrected@conditional",
            statement=Le(left, 2 * together + 2 * count * sigma_sq),
            assumptions=(spread, martingale),
            check=differences,
            intended=("published@conditional",),
            note="expectation on both sides",
        ),
        Form(
            variant="sharp@conditional",
            statement=Le(left, (sqrt(together) + sqrt(count * sigma_sq)) ** 2),
            assumptions=(spread, martingale),
            check=differences,
            note="Minkowski's inequality",
        ),
    ),
    assumptions=(
        Assumption("means", Eq(NormSq(EE(Xi[i]) - mean[i]), 0, evaluate=False), Origin.DECLARED, each),
        Assumption("bounded variance", Le(EE(NormSq(Xi[i] - mean[i])), sigma_sq), Origin.DECLARED, each),
    ),
    uses=("scaffold.lemma-3",),
    check=Instances(space=Space({**SPACE, "shared": Real(-2, 2, shape=("count", "d"))}), realise=realise),
)
