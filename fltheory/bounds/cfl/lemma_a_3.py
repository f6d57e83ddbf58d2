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

from fltheory.bounds._algebra import NormSq, family, scalar
from fltheory.bounds._claim import Claim, Form, Instances, Kind, Source
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import i

count = scalar("cfl_count", r"\tau", "number of vectors or random variables")
v = family("cfl_v", "v_{<0>}", "any vectors")


def realise(point: Params) -> dict[str, Any]:
    """Return the vectors."""
    return {"cfl_count": point["count"], "cfl_v": point["v"]}


claim = Claim(
    id="cfl.lemma-a.3",
    kind=Kind.LEMMA,
    title="relaxed triangle inequality",
    source=Source("cfl", "Lemma A.3, (9)"),
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
