r"""Table 1: communication rounds to reach accuracy :math:`\epsilon`, and that EFL's bound is the tightest.

The strongly convex rows, up to constants:

.. math:: \text{SCAFFOLD: } \frac{G^2}{\mu S\epsilon} + \frac{G}{\mu\sqrt\epsilon} + \frac L\mu, \qquad \text{MIME: }
   \frac{G^2}{\mu S\epsilon} + \frac\delta\mu, \qquad \text{EFL: } \frac{G^2}{\mu S\epsilon} +
   \frac{L}{\mu\sqrt\epsilon} .

The text says that EFL has a tighter bound than the methods that assume strong convexity. Taken as inequalities
between the rows (``published@scaffold``, ``published@mime``) this fails on most of the parameter box: against
SCAFFOLD whenever :math:`L(1 - \sqrt\epsilon) > G`, and against MIME whenever :math:`L > \delta\sqrt\epsilon`, which
is always so for :math:`\epsilon < \frac14`, as a Hessian dissimilarity is at most :math:`2L`. (The rows add numbers
of different units: :math:`G/\mu` is a length, :math:`L/\mu` has none. The two other rows, VRL-SGD and FedAMP, are for
functions that are not convex and are not compared.)

EFL's own row is not what Theorem 1 says: its :math:`C_\tau` has :math:`\mu^2` in the denominator. For the squared
distance of the theorem (``published@distance``) a noisy quadratic needs :math:`\mu^{-2}` rounds; for the gap of the
objective (``published@gap``) the row is right in :math:`\epsilon` and :math:`\mu`.

**Derivation of the corrected form.** Subtract the common term: EFL's row is below SCAFFOLD's if and only if
:math:`L(1 - \sqrt\epsilon) \le G`, and below MIME's if and only if :math:`L \le \delta\sqrt\epsilon`
(``corrected@scaffold``, ``corrected@mime``; both sides of the equivalences are elementary). For distances, Theorem 1
gives :math:`\frac{\tau B}{\mu^2(\tau + \gamma)^2} \le \epsilon` with :math:`\gamma` of order :math:`L/\mu`, so
:math:`\frac{G^2}{\mu^2S\epsilon} + \frac L{\mu\sqrt\epsilon}` rounds (``corrected@distance``).

**Derivation of the sharp form.** It cannot be better: with steps of :math:`\frac{16}{\mu\tau}` a noisy quadratic of
curvature :math:`\mu` is at a squared distance of the order :math:`\frac{\sigma^2}{\mu^2S\tau}` after :math:`\tau`
rounds, so that the row over the measured rounds stays bounded, too (``sharp@distance``).

Instances: all parameters over several orders of magnitude; for the measured rows a quadratic with curvatures
:math:`\mu` and :math:`L = 1`, noise in both directions, started at its optimum, one local step, :math:`S` clients,
the learning rate of Theorem 1; the number of rounds is the last one with an expected error above :math:`\epsilon`,
from the recursion of second moments.

Source: EFL, Table 1 and section 3.2, both versions.
"""

from __future__ import annotations

import functools
from typing import Any

from sympy import Le, sqrt

from fltheory.bounds._algebra import BigO, scalar
from fltheory.bounds._claim import Claim, Form, Instances, Kind, Method, Source, Sweep, Sweeps
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import L, mu

accuracy = scalar("efl_epsilon", r"\epsilon", "accuracy to be reached")
sampled = scalar("efl_S", "S", "number of clients in a round")
G = scalar("efl_G", "G", "bound on the norm of a gradient")
delta = scalar("efl_delta", r"\delta", "Hessian dissimilarity")
rounds_distance = scalar(
    "efl_rounds_distance", r"T_\epsilon", "rounds until the squared distance stays below the accuracy"
)
rounds_gap = scalar("efl_rounds_gap", r"T_\epsilon", "rounds until the gap of the objective stays below the accuracy")

statistical = G**2 / (mu * sampled * accuracy)
efl = statistical + L / (mu * sqrt(accuracy))
scaffold = statistical + G / (mu * sqrt(accuracy)) + L / mu
mime = statistical + delta / mu


def compared(point: Params) -> dict[str, Any]:
    """Return any constants with a dissimilarity that is possible."""
    return {
        "mu": point["mu"],
        "L": point["mu"] * point["condition"],
        "efl_epsilon": point["epsilon"],
        "efl_S": point["S"],
        "efl_G": point["G"],
        "efl_delta": 2 * point["mu"] * point["condition"] * point["delta"],
    }


def measured(point: Params) -> dict[str, Any]:
    """Return the rounds that a noisy quadratic needs."""
    return _needed(int(point["S"]), 1 / point["inverse_mu"], 1 / point["inverse_epsilon"])


@functools.lru_cache(maxsize=64)
def _needed(clients: int, low: float, epsilon: float) -> dict[str, Any]:
    """Return the same; forms share the points of their sweeps."""
    offset = 64 / low
    flat = steep = largest = 0.0
    last = {"distance": 1, "gap": 1}
    for index in range(int(400 / (low**2 * epsilon * clients) + 40 * offset)):
        rate = 16 / (low * (index + 1 + offset))
        flat = (1 - rate * low) ** 2 * flat + rate**2 / clients
        steep = (1 - rate) ** 2 * steep + rate**2 / clients
        largest = max(largest, low**2 * flat + steep)
        if flat + steep > epsilon:
            last["distance"] = index + 1
        if (low * flat + steep) / 2 > epsilon:
            last["gap"] = index + 1
        if index > 4 * offset and index > 4 * last["distance"] + 100:
            break
    return {
        "mu": low,
        "L": 1.0,
        "efl_epsilon": epsilon,
        "efl_S": clients,
        "efl_G": (2.0 + largest) ** 0.5,
        "efl_rounds_distance": last["distance"],
        "efl_rounds_gap": last["gap"],
    }


box = Instances(
    space=Space(
        {
            "S": Integer(1, 100),
            "mu": Real(1e-3, 10, log=True),
            "condition": Real(1, 1e4, log=True),
            "epsilon": Real(1e-6, 1, log=True),
            "G": Real(1e-2, 1e3, log=True),
            "delta": Real(0, 1),
        }
    ),
    realise=compared,
)
needed = Sweeps(
    source=Instances(
        space=Space({"S": Integer(1, 100), "inverse_mu": Real(1, 100), "inverse_epsilon": Real(1, 1e6)}),
        realise=measured,
        method=Method.EXACT,
        rational=False,
    ),
    sweeps=(
        Sweep("inverse_mu", (2.0, 4.0, 8.0, 16.0, 32.0), {"S": 1, "inverse_epsilon": 20.0}),
        Sweep("inverse_epsilon", (10.0, 30.0, 100.0, 300.0, 1000.0), {"S": 1, "inverse_mu": 2.0}),
    ),
)
squared_row = statistical / mu + L / (mu * sqrt(accuracy))
few_gradients, similar = Le(L * (1 - sqrt(accuracy)), G), Le(L, delta * sqrt(accuracy))

claim = Claim(
    id="efl.table-1",
    kind=Kind.RATE,
    title="rounds to accuracy, and the comparison",
    source=Source("efl", "Table 1 (both versions)"),
    forms=(
        Form(variant="published@scaffold", statement=Le(efl, scaffold), note="EFL tighter than SCAFFOLD"),
        Form(variant="published@mime", statement=Le(efl, mime), note="EFL tighter than MIME"),
        Form(
            variant="published@distance",
            statement=Le(rounds_distance, BigO(efl)),
            check=needed,
            note="row of EFL, accuracy as squared distance",
        ),
        Form(
            variant="published@gap",
            statement=Le(rounds_gap, BigO(efl)),
            check=needed,
            note="row of EFL, accuracy as gap of the objective",
        ),
        Form(
            variant="corrected@scaffold",
            statement=Le(efl, scaffold),
            premises=(few_gradients,),
            note="where gradients are at least as large as L(1 - sqrt(epsilon))",
        ),
        Form(
            variant="corrected@mime",
            statement=Le(efl, mime),
            premises=(similar,),
            note="where the dissimilarity is at least L/sqrt(epsilon)",
        ),
        Form(
            variant="corrected@distance",
            statement=Le(rounds_distance, BigO(squared_row)),
            check=needed,
            note="the square of mu, as in Theorem 1",
        ),
        Form(
            variant="sharp@distance",
            statement=Le(squared_row, BigO(rounds_distance)),
            check=needed,
            note="a noisy quadratic needs as many rounds",
        ),
    ),
    uses=("efl.theorem-1",),
    check=box,
)
