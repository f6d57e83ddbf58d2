r"""Participation that depends on the past: one coin, thrown before the first round and kept for ever.

A single client on the line with :math:`F(w) = \frac12w^2` and :math:`E = 1` starts at 1 and works with probability
:math:`q` in every round, so that the expectations of Theorem 3.1 are those of independent rounds. But it works always
or never: with probability :math:`1 - q` the model stays where it is, and

.. math:: \mathbb E\|w_{\tau}^{\mathcal G} - w^*\|^2 = q\prod_{t<\tau}(1 - \eta_t)^2 + 1 - q

does not vanish, whereas the bound does, after :math:`\gamma^2/(1 - q)` rounds.
"""

from __future__ import annotations

import numpy as np

from fltheory.bounds.algebra import Env
from fltheory.bounds.claim import Instances, Method
from fltheory.bounds.space import Integer, Params, Real, Space


def realise(point: Params) -> Env:
    """Return the quantities of Theorem 3.1 after the last round."""
    work, rounds = point["q"], point["rounds"]
    gamma = 64 / work
    rates = 16 / (work * (np.arange(rounds) + gamma))
    return {
        "E": 1,
        "N": 1,
        "mu": 1.0,
        "L": 1.0,
        "theta": 1.0,
        "p": np.ones(1),
        "Gamma": np.zeros(1),
        "sigma_sq": np.zeros(1),
        "chance": np.array([1 - work, work]),
        "p_drawn": [np.ones(1)] * 2,
        "s_drawn": [np.zeros(1), np.ones(1)],
        "mean_ps": work,
        "G_sq": 1.0,
        "gradient_sq": np.ones(1),
        "start_sq": 1.0,
        "tau": rounds,
        "z_tau": 0,
        "M_tau": 0,
        "distance_sq": work * np.prod((1 - rates) ** 2) + 1 - work,
        "dependence": 1.0,
    }


FROZEN = Instances(
    space=Space({"rounds": Integer(1, 24, furthest=100_000), "q": Real(0.1, 0.9)}),
    realise=realise,
    method=Method.EXACT,
    rational=False,
    begin=({"rounds": 100_000, "q": 0.5},),
)
"""One client who works always or never."""
