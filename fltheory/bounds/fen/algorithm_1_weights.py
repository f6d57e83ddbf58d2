r"""Algorithm 1, line 7: aggregation under partial participation.

.. math:: \theta^t = \theta^{t-1} + \sum_{k\in\mathcal P_t}\frac{n_k}n\Delta_k^t ,

with :math:`n` the number of samples of *all* clients, as the text says. Read as an aggregation rule that extends
FedAvg and FedProx, it should move the server on average as full participation does (``published``), or to the
weighted mean of the participants' models (``published@average``). With all clients it does both. With :math:`P` of
:math:`m` clients the weights sum up to less than one: the step shrinks.

**Derivation of the corrected form.** Every client is drawn with probability :math:`P/m`, so the expected step is
:math:`P/m` times the one of full participation. With weights :math:`\frac mP\frac{n_k}n` the step is unbiased
(``corrected@unbiased``); with :math:`n_k / \sum_{j\in\mathcal P_t}n_j` the new model is the weighted mean of the
participants' models (``corrected@participants``), at the price of a bias if sample counts differ.

Instances: sub-problems (4) with piecewise linear derivatives, solved in closed form, exact zeros included; all sets
of participants.

Source: the paper's section 3.1, Algorithm 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq, Sum

from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._prox import SHAPES, losses
from fltheory.bounds.fen._round import SIZES, draws
from fltheory.bounds.fen._symbols import P, m, server
from fltheory.bounds.quantities import family
from fltheory.bounds.space import Params, Real, Space, ratio
from fltheory.bounds.symbols import k, n

update = family(
    "update", r"\Delta_{<0>}^t", "update of a client in Algorithm 1, were it drawn", shape=("clients", "dim")
)
drawn = family(
    "drawn",
    r"1[{<0>}\in\mathcal{P}_t]",
    "1 for clients that are drawn, else 0",
    random=True,
    shape=("clients",),
    domain="binary",
)


def realise(point: Params) -> dict[str, Any]:
    """Return every client's update and all draws."""
    clients, options = losses(point), draws(point)
    solved = clients.elastic(clients.centre * 0, point["start"], pull=point["l2"], l1=point["l1"]).at
    return {
        "chance": [ratio(point, 1, len(options))] * len(options),
        "m": point["m"],
        "P": min(point["P"], point["m"]),
        "n": point["n"],
        "server": point["start"],
        "update": solved - point["start"],
        "drawn": [np.isin(np.arange(point["m"]), chosen).astype(int) for chosen in options],
    }


def total(term: Any) -> Sum:
    """Return the sum over all clients."""
    return Sum(term, (k, 1, m))


samples = total(n[k])
printed = server + total(drawn[k] * n[k] * update[k]) / samples
full = total(n[k] * update[k]) / samples
participants = total(drawn[k] * n[k])
average = total(drawn[k] * n[k] * (server + update[k])) / participants

claim = Claim(
    id="fen.algorithm-1-weights",
    kind=Kind.IDENTITY,
    title="weights of the server step under partial participation",
    citation=Citation("fen", "Algorithm 1, line 7"),
    forms=(
        Form(
            statement=Eq(EE(printed), server + full, evaluate=False),
            note="read as: the expected step is that of full participation",
        ),
        Form(
            variant="published@average",
            statement=Eq(printed, average, evaluate=False),
            note="read as: the weighted mean of the participants' models",
        ),
        Form(
            variant="corrected",
            statement=Eq(EE(printed), server + P / m * full, evaluate=False),
            note="what line 7 does: the step shrinks by P/m",
        ),
        Form(
            variant="corrected@unbiased",
            statement=Eq(
                EE(server + m / P * total(drawn[k] * n[k] * update[k]) / samples), server + full, evaluate=False
            ),
            note="weights m/P n_k/n",
        ),
        Form(
            variant="corrected@participants",
            statement=Eq(server + total(drawn[k] * n[k] * update[k]) / participants, average, evaluate=False),
            note="n counts the participants' samples",
        ),
    ),
    check=Instances(
        space=Space(
            {
                **SIZES,
                **SHAPES,
                "n": Real(0.1, 10, log=True, shape=("m",), whole=True),
                "start": Real(-3, 3, shape=("d",)),
                "l1": Real(0.01, 10, log=True),
                "l2": Real(0.01, 10, log=True),
            }
        ),
        realise=realise,
    ),
)
