r"""Lemma 4: the mean of the drawn models is unbiased.

As published, for participants drawn by scheme I or scheme II,

.. math:: \mathbb E_{S_{t+1}}\bar w_{t+1} = \bar v_{t+1} .

**Reading.** Scheme II is about equal weights, :math:`p_k = \frac1N`, as the paper assumes there.

Instances: see :mod:`fltheory.bounds.li._drawn`; all draws are enumerated.

Source: Li et al., ICLR 2020, appendix A, Lemma 4; as it is commonly quoted, not yet compared with the print.
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.li._drawn import drawn, w_next
from fltheory.bounds.li._steps import local, v_bar
from fltheory.bounds.symbols import N, k, p

statement = Eq(EE(w_next), EE(v_bar))
MEAN = ((v_bar, Sum(p[k] * local[k], (k, 1, N))),)

claim = Claim(
    id="li.lemma-4",
    kind=Kind.LEMMA,
    title="the mean of the drawn models is unbiased",
    citation=Citation("li", "Lemma 4"),
    forms=(
        Form(variant="published@with-replacement", statement=statement, where=MEAN, note="scheme I"),
        Form(
            variant="published@without-replacement",
            statement=statement,
            where=MEAN,
            check=drawn("II"),
            note="scheme II",
        ),
    ),
    check=drawn("I"),
)
