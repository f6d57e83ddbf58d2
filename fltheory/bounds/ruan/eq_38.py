r"""Equation (38): a local model is far from the optimum if the virtual one is.

.. math:: \|w_{\tau E+i}^k - w^*\|^2 \ge \frac12\|\bar w_{\tau E+i} - w^*\|^2 - \|w_{\tau E+i}^k - \bar w_{\tau
   E+i}\|^2 .

True for any three vectors: it is :math:`\|a + b\|^2 \le 2\|a\|^2 + 2\|b\|^2`, with equality for :math:`a = b`, that
is where the local model lies halfway between the virtual one and the optimum.

Instances: any three vectors.

Source: Ruan et al., AISTATS 2021, appendix A.1.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Ge

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.flexible_participation.symbols import w_bar, w_loc
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import i, k, w_star


def realise(point: Params) -> dict[str, Any]:
    """Return one local model, one virtual model and the optimum."""
    local, virtual = np.array(point["local"]), np.array(point["virtual"])
    return {
        "w_loc": [[[local]]],
        "w_bar": [[virtual]],
        "w_star": point["optimum"],
        "chance": [ratio(point, 1)],
    }


claim = Claim(
    id="ruan.eq-38",
    kind=Kind.LEMMA,
    title="lower bound by half the squared distance",
    citation=Citation("ruan", "(38)"),
    forms=(
        Form(
            statement=Ge(NormSq(w_loc[k, i] - w_star), NormSq(w_bar[i] - w_star) / 2 - NormSq(w_loc[k, i] - w_bar[i])),
            over=((k, 1, 1), (i, 0, 0)),
        ),
    ),
    check=Instances(
        space=Space(
            {
                "d": Integer(1, 3),
                "local": Real(-3, 3, shape=("d",)),
                "virtual": Real(-3, 3, shape=("d",)),
                "optimum": Real(-3, 3, shape=("d",)),
            }
        ),
        realise=realise,
    ),
)
