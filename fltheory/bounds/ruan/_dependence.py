r"""Participation that depends on the past: one coin, tossed once before the first round.

A single client on the line with :math:`F(w) = \frac12w^2` and :math:`E = 1` starts at 1 and works with probability
:math:`q` in every round, so that the expectations of Theorem 3.1 are those of independent rounds. But it works always
or never: with probability :math:`1 - q` the model stays where it is, and

.. math:: \mathbb E\|w_{\tau}^{\mathcal G} - w^*\|^2 = q\prod_{t<\tau}(1 - \eta_t)^2 + 1 - q

does not vanish, whereas the bound does, after :math:`\gamma^2/(1 - q)` rounds.

The same for the rates of Table 1: two clients with :math:`F_k(w) = \frac12(w \mp 1)^2`, :math:`E = 1`, no noise, and a
coin that decides once which of the two works in all rounds. Each of them works half of the time, so participation is
homogeneous by the definition of the paper. The model starts at :math:`w^* = 0` and goes to the minimiser of the client
who works, at distance 1, while the table says that it stays at :math:`w^*` up to :math:`O(1/\tau)`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fltheory.bounds.algebra import Env
from fltheory.bounds.claim import Form, Instances, Method, Sweep, Sweeps
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


def either(share: float) -> Sweeps:
    """Return runs of ever more rounds in which the same client works always; ``share`` is its coefficient."""

    def realise(point: Params) -> Env:
        rounds = int(point["tau"])
        done = share
        gamma = max(32 * (1 + 2 * share), 4 * 2 * share) / done
        rates = 16 / (done * (np.arange(rounds) + gamma))
        return {
            "E": 1,
            "N": 2,
            "tau": rounds,
            "p": np.full(2, 0.5),
            "Gamma": np.full(2, 0.5),
            "sigma_sq": np.zeros(2),
            "chance": np.full(2, 0.5),
            "p_drawn": [np.array([share, 0.0]), np.array([0.0, share])],
            "s_drawn": [np.array([1.0, 0.0]), np.array([0.0, 1.0])],
            "distance_sq": (1 - np.prod(1 - share * rates)) ** 2,
            "dependence": 1.0,
        }

    source = Instances(space=Space({"tau": Integer(1, 100_000)}), realise=realise, method=Method.EXACT, rational=False)
    return Sweeps(instances=source, sweeps=(Sweep("tau", tuple(float(16 * 4**n) for n in range(7)), {}),))


def any_dependence(form: Form, share: float) -> Form:
    """Return the published rate without the assumption of independence."""
    return replace(
        form,
        variant="published@any-dependence",
        assumptions=(),
        check=either(share),
        note="no assumption on correlations; a coin decides once who works",
    )
