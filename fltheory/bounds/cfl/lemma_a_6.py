r"""Lemma A.6: increasing weights give a harmonic sum no more than uniform ones.

For :math:`S = \sum_{t=1}^T p_t/t` with :math:`\sum_t p_t = 1` and :math:`p_t \le p_{t+1}`, as published,

.. math:: S \le \frac1T\sum_{t=1}^T\frac1t = \tilde O\Bigl(\frac{\ln T}{T}\Bigr) .

Chebyshev's sum inequality for oppositely ordered sequences; an equality for uniform weights, and weights may even be
negative. The rate (form ``published@rate``) is meant for :math:`T \ge 2`, since :math:`\ln 1 = 0`.

**Derivation of the sharp form.** For weights that increase to a large last one the bound is far from what it could be,
but among all such weights uniform ones are the worst, so nothing better can be said in terms of :math:`T` alone. With
:math:`\sum_{t \le T} 1/t \le 1 + \ln T`, an equality at :math:`T = 1`, the rate gets constants: :math:`S \le (1 + \ln
T)/T`.

Instances: up to six weights from non-negative increments; the rate is swept over :math:`T`.

Source: Guo et al., 2021, Lemma A.6. The weights are those of averaged models, not of rounds' objectives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq, Le, Sum, log

from fltheory.bounds.algebra import BigO
from fltheory.bounds.cfl._symbols import T
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.quantities import family
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import t
from fltheory.problems.problem import Origin

q = family("weight", "p_{<0>}", "increasing weights", shape=("terms",), domain="nonnegative")


def realise(point: Params) -> dict[str, Any]:
    """Return weights with the given increments."""
    weights = np.cumsum(point["increments"])
    return {"T": point["T"], "weight": weights / weights[-1] / (weights / weights[-1]).sum()}


def uniform(point: Params) -> dict[str, Any]:
    """Return the number of rounds only."""
    return {"T": int(point["T"])}


sum_of_weights = Sum(q[t] / t, (t, 1, T))
harmonic = Sum(1 / t, (t, 1, T)) / T

claim = Claim(
    id="cfl.lemma-a.6",
    kind=Kind.LEMMA,
    title="harmonic sum with increasing weights",
    citation=Citation("cfl", "Lemma A.6"),
    forms=(
        Form(statement=Le(sum_of_weights, harmonic)),
        Form(
            variant="published@rate",
            statement=Le(harmonic, BigO(log(T) / T)),
            assumptions=(),
            check=Sweeps(
                instances=Instances(space=Space({"T": Integer(2, 10000)}), realise=uniform),
                sweeps=(Sweep("T", (2.0, 8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0), {}),),
            ),
            note="the rate that follows, T from 2",
        ),
        Form(variant="sharp", statement=Le(sum_of_weights, (1 + log(T)) / T), note="with constants, T = 1 included"),
    ),
    assumptions=(
        Assumption("weights sum to one", Eq(Sum(q[t], (t, 1, T)), 1, evaluate=False), Origin.DECLARED),
        Assumption("weights increase", Le(q[t], q[t + 1]), Origin.DECLARED, ((t, 1, T - 1),)),
    ),
    check=Instances(
        space=Space({"T": Integer(1, 6), "increments": Real(0.01, 1, shape=("T",))}),
        realise=realise,
    ),
)
