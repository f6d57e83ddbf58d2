r"""Lemma 3: relaxed triangle inequalities.

For vectors :math:`v_1, \dots, v_\tau`, as published,

.. math:: \|v_i + v_j\|^2 \le (1 + a)\|v_i\|^2 + \bigl(1 + \tfrac1a\bigr)\|v_j\|^2 \quad (a > 0), \qquad
   \Bigl\|\sum_{i=1}^\tau v_i\Bigr\|^2 \le \tau\sum_{i=1}^\tau\|v_i\|^2 .

The first is an equality for :math:`v_j = av_i`, the second for equal vectors. The identity of the printed proof has a
plus between :math:`\sqrt av_i` and :math:`v_j/\sqrt a` where a minus belongs.

Instances: up to four vectors in up to three dimensions.

Source: Karimireddy et al., 2020, Lemma 3, page 16 of the supplement.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import i, j
from fltheory.bounds.technical_lemmas.vectors import count, v

a = scalar("a", "a", "any positive number", domain="positive")


def realise(point: Params) -> dict[str, Any]:
    """Return the vectors."""
    return {"count": point["count"], "v": point["v"], "a": point["a"]}


claim = Claim(
    id="scaffold.lemma-3",
    kind=Kind.LEMMA,
    title="relaxed triangle inequalities",
    citation=Citation("scaffold", "Lemma 3"),
    forms=(
        Form(
            statement=(
                Le(NormSq(v[i] + v[j]), (1 + a) * NormSq(v[i]) + (1 + 1 / a) * NormSq(v[j])),
                Le(NormSq(Sum(v[i], (i, 1, count))), count * Sum(NormSq(v[i]), (i, 1, count))),
            ),
            over=((i, 1, count), (j, 1, count)),
        ),
    ),
    check=Instances(
        space=Space(
            {
                "count": Integer(1, 4),
                "d": Integer(1, 3),
                "v": Real(-3, 3, shape=("count", "d")),
                "a": Real(0.01, 100, log=True),
            }
        ),
        realise=realise,
    ),
)
