r"""(17): the relaxed triangle inequality.

.. math:: \Bigl\|\sum_{j=1}^n v_j\Bigr\|^2 \le n\sum_{j=1}^n\|v_j\|^2 ,

the Cauchy--Schwarz inequality, an equality for equal vectors.

Instances: any vectors.

Source: the paper's appendix B.1, with a reference to Lemma 3 of Karimireddy et al. (2020).
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Sum

from fltheory.bounds._algebra import NormSq, family, scalar
from fltheory.bounds._claim import Claim, Form, Instances, Kind, Source
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import j

terms = scalar("fen_terms", "n", "number of vectors")
v = family("fen_v", "v_{<0>}", "any vector")


def realise(point: Params) -> dict[str, Any]:
    """Return the vectors."""
    return {"fen_terms": point["n"], "fen_v": point["v"]}


claim = Claim(
    id="fen.eq-17",
    kind=Kind.LEMMA,
    title="relaxed triangle inequality",
    source=Source("fen", "(17)"),
    forms=(Form(statement=Le(NormSq(Sum(v[j], (j, 1, terms))), terms * Sum(NormSq(v[j]), (j, 1, terms)))),),
    check=Instances(
        space=Space({"n": Integer(1, 5), "d": Integer(1, 3), "v": Real(-3, 3, shape=("n", "d"))}), realise=realise
    ),
)
