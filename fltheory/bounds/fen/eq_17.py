r"""(17): the relaxed triangle inequality.

.. math:: \Bigl\|\sum_{j=1}^n v_j\Bigr\|^2 \le n\sum_{j=1}^n\|v_j\|^2 ,

the Cauchy--Schwarz inequality, an equality for equal vectors.

Instances: any vectors.

Source: the paper's appendix B.1, with a reference to Lemma 3 of Karimireddy et al. (2020).
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import j

terms = scalar("terms", "n", "number of vectors", domain="integer>=1")
v = family("v", "v_{<0>}", "any vector", shape=("vectors", "dim"))


def realise(point: Params) -> dict[str, Any]:
    """Return the vectors."""
    return {"terms": point["n"], "v": point["v"]}


claim = Claim(
    id="fen.eq-17",
    kind=Kind.LEMMA,
    title="relaxed triangle inequality",
    citation=Citation("fen", "(17)"),
    forms=(Form(statement=Le(NormSq(Sum(v[j], (j, 1, terms))), terms * Sum(NormSq(v[j]), (j, 1, terms)))),),
    check=Instances(
        space=Space({"n": Integer(1, 5), "d": Integer(1, 3), "v": Real(-3, 3, shape=("n", "d"))}), realise=realise
    ),
)
