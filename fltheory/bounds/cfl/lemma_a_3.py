r"""Lemma A.3: the squared norm of a mean is at most the mean of the squared norms.

For vectors :math:`v_1, \dots, v_\tau`, as published,

.. math:: \Bigl\|\frac1\tau\sum_{i=1}^\tau v_i\Bigr\|^2 \le \frac1\tau\sum_{i=1}^\tau\|v_i\|^2 .

Jensen's inequality; an equality if and only if all vectors are equal.

Instances: up to four vectors in up to three dimensions.

Source: Guo et al., 2021, Lemma A.3, (9), after Karimireddy et al., 2020, Lemma 3.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import i
from fltheory.bounds.technical_lemmas.vectors import count, v


def realise(point: Params) -> dict[str, Any]:
    """Return the vectors."""
    return {"count": point["count"], "v": point["v"]}


claim = Claim(
    id="cfl.lemma-a.3",
    kind=Kind.LEMMA,
    title="relaxed triangle inequality",
    citation=Citation("cfl", "Lemma A.3, (9)"),
    forms=(
        Form(
            statement=Le(
                NormSq(Sum(v[i], (i, 1, count)) / count),
                Sum(NormSq(v[i]), (i, 1, count)) / count,
            ),
        ),
    ),
    check=Instances(
        space=Space({"count": Integer(1, 4), "d": Integer(1, 3), "v": Real(-3, 3, shape=("count", "d"))}),
        realise=realise,
    ),
)
