r"""Section 4.2: the rate when incomplete work is weighted by :math:`p_\tau^k = Ep^k/s_\tau^k`.

The convergence bound of Theorem 1 is said to become

.. math:: O\Bigl(\frac{E^5\sum_{t<\tau}\sum_kp^k\,\mathbb E[1/s_t^k] + E^2\sum_{t<\tau}\sum_k(p^k\sigma_k)^2\,\mathbb
   E[1/s_t^k]}{(\tau E+E^2)^2}\Bigr) .

All clients are active, as :math:`1/s_t^k` requires; then :math:`\mathbb E[p_\tau^ks_\tau^k] = Ep^k` and no term from
heterogeneous participation is left. The second sum is the noise, the first one covers gradients and metrics, with
:math:`\theta = E`. Constants such as :math:`\mu, L, G` and the distance at the start are not shown.

Instances: two clients with different minimisers in one dimension, step counts uniform on :math:`1, \dots, E`,
learning rate of Theorem 1, first and second moments by recursion; along the rounds, the assigned steps and the
variance.

Source: EFL, section 4.2, both versions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from sympy import Le, Sum

from fltheory.algorithms.efl import EFL
from fltheory.bounds.algebra import EE, BigO
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.efl import theorem_1
from fltheory.bounds.efl._symbols import distance
from fltheory.bounds.flexible_participation.observed import (
    changing_bound,
    independent_noise,
    inverse_weights,
    law,
    stationary,
)
from fltheory.bounds.flexible_participation.symbols import s_drawn
from fltheory.bounds.observation import Facts, Requirement
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, N, k, p, sigma_sq, tau

inverse_sum = scalar(
    "inverse", r"\sum_k p^k\mathbb{E}[1/s^k]", "weighted mean of the inverse step counts", domain="probability"
)
noise_sum = scalar(
    "noise",
    r"\sum_k (p^k\sigma_k)^2\mathbb{E}[1/s^k]",
    "weighted noise with the inverse step counts",
    domain="nonnegative",
)


def run(point: Params) -> dict[str, Any]:
    """Return the distance at the end; curvatures 1 and 2, minimisers -1 and 1, so that the optimum is 1/3."""
    steps, rounds = int(point["E"]), int(point["tau"])
    counts = np.arange(1, steps + 1)
    # theta = E and E[sum p s] = E in the offset of Theorem 1; L = 2 mu.
    offset = max(4 * steps**2, 64 * (1 + steps))
    shares = steps / (2 * counts)
    first = second = 0.0
    for index in range(rounds):
        rate = 16 / ((index + 1) * steps + offset)
        moves, noise = [], 0.0
        for curvature in (1.0, 2.0):
            kept = 1 - rate * curvature
            moves.append(shares * (kept**counts - 1))
            inside = rate**2 * point["noise"] * np.cumsum(kept ** (2 * counts - 2))
            noise += float(shares**2 @ inside) / steps
        # Relative to the optimum the minimisers are at -4/3 and 2/3.
        factor = 1 + moves[0][:, None] + moves[1]
        added = 4 / 3 * moves[0][:, None] - 2 / 3 * moves[1]
        mixed = [float(np.vdot(a, b)) / steps**2 for a, b in ((factor, factor), (factor, added), (added, added))]
        second = mixed[0] * second + 2 * mixed[1] * first + mixed[2] + noise
        first = (float(factor.sum()) * first + float(added.sum())) / steps**2
    inverse = float(np.mean(1 / counts))
    return {
        "E": steps,
        "tau": rounds,
        "N": 2,
        "p": np.full(2, 0.5),
        "sigma_sq": np.full(2, point["noise"]),
        "s_drawn": list(np.stack(np.meshgrid(counts, counts), axis=-1).reshape(-1, 2)),
        "chance": np.full(steps**2, 1 / steps**2),
        "inverse": inverse,
        "noise": 0.5 * point["noise"] * inverse,
        "distance_sq": second,
    }


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return what the section asks for: weights of EFL, and clients that complete at least one step each."""
    fewest = int(law(facts, 0).steps.min())
    return (
        *independent_noise(facts),
        inverse_weights(facts),
        Requirement("every client completes at least one step", fewest >= 1, f"fewest steps {fewest}"),
    )


claim = Claim(
    id="efl.section-4.2",
    kind=Kind.RATE,
    title="incomplete clients",
    citation=Citation("efl", "section 4.2 (both versions)"),
    forms=(
        Form(
            statement=Le(
                distance,
                BigO((E**5 * tau * inverse_sum + E**2 * tau * noise_sum) / (tau * E + E**2) ** 2),
            ),
            where=(
                (inverse_sum, Sum(p[k] * EE(1 / s_drawn[k]), (k, 1, N))),
                (noise_sum, Sum(p[k] ** 2 * sigma_sq[k] * EE(1 / s_drawn[k]), (k, 1, N))),
            ),
        ),
    ),
    uses=("efl.theorem-1",),
    check=Sweeps(
        instances=Instances(
            space=Space({"E": Integer(1, 16), "tau": Integer(1, 10000), "noise": Real(0, 1e9)}),
            realise=run,
            method=Method.EXACT,
            rational=False,
        ),
        sweeps=(
            Sweep("tau", (250, 500, 1000, 2000, 4000), {"E": 2, "noise": 1.0}),
            Sweep("E", (1, 2, 4, 8, 16), {"tau": 400, "noise": 1.0}),
            Sweep("noise", (1e0, 1e2, 1e4, 1e6, 1e8), {"E": 2, "tau": 400}),
        ),
    ),
    observation=dataclasses.replace(
        changing_bound(theorem_1.GAMMA, setting_of=stationary),
        conditions=conditions,
        algorithm=functools.partial(EFL, elasticity=0.0),
    ),
)
