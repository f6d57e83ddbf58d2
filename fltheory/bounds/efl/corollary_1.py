r"""Corollary 1: when to abandon a client that is often inactive.

Client :math:`a` is inactive with probability :math:`y^a` in each round. Kept, the bound of Theorem 1 tends to
:math:`y^aJ`; abandoned at :math:`\tau_0`, it is :math:`f_1(T) = \tilde C_T/(E(T - \tau_0) + \tilde\gamma)^2` at the
deadline. The rule:

.. math:: y^aJ > f_1(T) \quad\Rightarrow\quad \text{abandon client } a , \qquad\text{or } y^a >
   O\Bigl(\frac{C}{JTE}\Bigr) \text{ with } \tilde C_\tau = \tau C .

(The short version prints :math:`y^k` for :math:`y^a`.) It compares upper bounds, and so predicts nothing unless they
are equally loose. The outcome is simulated: ``published@own`` compares the squared distances at :math:`T`, each to
the minimiser of its own objective; ``published@loss`` compares the loss of all clients, which is what abandoning
gives up. In the first :math:`y^aJ` is too large for rare inactivity, because the bias of the kept run is of order
:math:`(y^a)^2`: then the rule abandons although keeping is better, in particular if the remaining clients are noisy
and few. (9) follows from (8) up to constants if :math:`\tau_0` is a fraction of :math:`T` (``published@9``):
:math:`f_1(T)/J` is of order :math:`C/(JTE^2)`.

**Derivation of the corrected form.** A lower bound on the kept run is needed. It is homogeneous for the objective
:math:`F_y = \sum_k\mathbb E[p_\tau^ks_\tau^k]F_k`, so by the corrected Theorem 1, applied to :math:`F_y` with
:math:`\theta = 1/(1 - y^a)`, it stays within :math:`f_y(T)` of the minimiser :math:`\omega_y` of :math:`F_y` in mean
square. By the triangle inequality :math:`\mathbb E\|\omega_T - \omega^*\|^2 \ge (\|\omega_y - \omega^*\| -
\sqrt{f_y(T)})_+^2`, and the rule

.. math:: \bigl(\|\omega_y - \omega^*\| - \sqrt{f_y(T)}\bigr)_+^2 > f_1(T) \quad\Rightarrow\quad \text{abandon client
   } a

is right for distances to own minimisers. The shift :math:`\|\omega_y - \omega^*\|` takes the place of :math:`y^aJ`.
The rule is cautious: both bounds are loose, and it speaks only for late deadlines. For the loss of all clients no
such rule can be given: the abandoned run tends to a point with a positive gap, however small :math:`y^a` is.

Instances: client :math:`a` and one other client, quadratics in one dimension, one local step, :math:`\tau_0 = 0`;
first and second moments by recursion.

Source: EFL, section 4.1, Corollary 1, (8) and (9), both versions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Gt, Le, sqrt

from fltheory.bounds._algebra import BigO, Pos, scalar
from fltheory.bounds._claim import Claim, Form, Instances, Kind, Method, Source, Sweep, Sweeps
from fltheory.bounds._space import Integer, Params, Real, Space
from fltheory.bounds._symbols import E
from fltheory.bounds.efl._symbols import J

y_a = scalar("efl_y_a", "y^a", "probability that the client is inactive in a round")
f_1 = scalar("efl_f_1", "f_1(T)", "bound at the deadline if the client is abandoned")
f_y = scalar("efl_f_y", "f_y(T)", "bound on the distance of the kept run to the minimiser it tends to")
shift = scalar("efl_shift", r"\|w_y - w^*\|", "distance of that minimiser to the optimum")
kept = scalar("efl_kept_error", r"\mathbb{E}\|w_T - w^*\|^2", "squared distance at the deadline if the client is kept")
left = scalar(
    "efl_left_error", r"\mathbb{E}\|\hat w_T - \hat w^*\|^2", "squared distance at the deadline if it is abandoned"
)
kept_loss = scalar("efl_kept_loss", r"\mathbb{E}F(w_T) - F^*", "gap of all clients' loss if the client is kept")
left_loss = scalar("efl_left_loss", r"\mathbb{E}F(\hat w_T) - F^*", "gap of all clients' loss if it is abandoned")
deadline = scalar("efl_deadline", "T", "number of rounds until the deadline")
C_rate = scalar("efl_C_rate", "C", "what a round adds to the constant of the bound")


def _run(point: Params, factor: float, share: float, active: float, theta: float) -> dict[str, float]:
    """Return moments at the deadline of a run with client a at the given share and activity."""
    weight = np.array([share, 1 - share])
    curvature, noise = point["curvature"], factor * point["noise"]
    low, high = float(point["curvature"].min()), float(point["curvature"].max())
    minima = np.array([0.0, 1.0])
    chance = np.array([active, 1.0])
    pull = weight * curvature
    mean_sum = float(weight @ chance)
    offset = max(4 * theta / mean_sum, 32 * (1 + theta) * high / (low * mean_sum))
    whole, biased = (float((c * pull) @ minima / (c @ pull)) for c in (np.ones(2), chance))
    first = second = 0.0
    at = biased + point["start"]
    first, second = at, at * at
    spread, largest = float((weight**2 * chance) @ noise), 0.0
    p, q, ca, cb = pull[0], pull[1], minima[0], minima[1]
    top, ha, hb, na, nb = 16 / (low * mean_sum), curvature[0] ** 2, curvature[1] ** 2, noise[0], noise[1]
    for index in range(int(point["T"])):
        if share > 0:
            largest = max(largest, ha * (second - 2 * ca * first + ca * ca) + na)
        largest = max(largest, hb * (second - 2 * cb * first + cb * cb) + nb)
        r = top / (index + 1 + offset)
        on, off, add_on, add_off = 1 - r * (p + q), 1 - r * q, r * (p * ca + q * cb), r * q * cb
        second = (
            active * (on * on * second + 2 * on * add_on * first + add_on**2)
            + (1 - active) * (off * off * second + 2 * off * add_off * first + add_off**2)
            + r * r * spread
        )
        first = active * (on * first + add_on) + (1 - active) * (off * first + add_off)
    gaps = curvature * (biased - minima) ** 2 / 2
    grown = spread + 2 * (2 + theta) * high * float((weight * chance) @ gaps) + 2 * largest * mean_sum
    constant = offset**2 * point["start"] ** 2 + (16 / (low * mean_sum)) ** 2 * point["T"] * grown
    metric = float((weight * chance) @ (curvature * (whole - minima) ** 2 / 2)) / mean_sum
    return {
        "first": first,
        "second": second,
        "whole": whole,
        "biased": biased,
        "bound": constant / (point["T"] + offset) ** 2,
        "J": 32 * metric / low,
        "pull": float(p + q),
    }


def _both(point: Params, *, careful: bool) -> dict[str, Any]:
    active = 1 - point["y"]
    stay = _run(point, 1.0, point["share"], active, 1 / active if careful else 1.0)
    go = _run(point, 1.0, 0.0, active, 1.0)

    def about(run: dict[str, float], at: float) -> float:
        return max(run["second"] - 2 * at * run["first"] + at * at, 0.0)

    return {
        "efl_y_a": point["y"],
        "efl_J": stay["J"],
        "efl_f_1": go["bound"],
        "efl_f_y": stay["bound"],
        "efl_shift": abs(stay["biased"] - stay["whole"]),
        "efl_kept_error": about(stay, stay["whole"]),
        "efl_left_error": about(go, go["biased"]),
        "efl_kept_loss": stay["pull"] / 2 * about(stay, stay["whole"]),
        "efl_left_loss": stay["pull"] / 2 * about(go, stay["whole"]),
    }


def printed(point: Params) -> dict[str, Any]:
    """Return both runs with the learning rate of the theorem."""
    return _both(point, careful=False)


def careful(point: Params) -> dict[str, Any]:
    """Return both runs, the kept one with the offset that its own objective needs."""
    return _both(point, careful=True)


def threshold(point: Params) -> dict[str, Any]:
    """Return the bound of an abandoned client and the letters of (9)."""
    rest = point["E"] * point["T"] * (1 - point["fraction"]) + point["gamma"]
    return {
        "E": point["E"],
        "efl_J": 1.0,
        "efl_C_rate": 1.0,
        "efl_deadline": point["T"],
        "efl_f_1": point["T"] / rest**2,
    }


space = Space(
    {
        "y": Real(0.005, 0.95, log=True),
        "share": Real(0.05, 0.95),
        "T": Integer(100, 4000),
        "curvature": Real(1, 2, shape=(2,)),
        "noise": Real(1e-4, 100, log=True, shape=(2,)),
        "start": Real(0, 1),
    }
)
_rule = Instances(space=space, realise=printed, method=Method.EXACT, rational=False)
_base = {"E": 2, "gamma": 100.0, "fraction": 0.5}

claim = Claim(
    id="efl.corollary-1",
    kind=Kind.RULE,
    title="abandon an inactive client",
    source=Source("efl", "Corollary 1, (8) and (9) (both versions)"),
    forms=(
        Form(
            variant="published@own",
            statement=Le(left, kept),
            premises=(Gt(y_a * J, f_1),),
            note="each distance to the minimiser of its own objective",
        ),
        Form(
            variant="published@loss",
            statement=Le(left_loss, kept_loss),
            premises=(Gt(y_a * J, f_1),),
            note="loss of all clients",
        ),
        Form(
            variant="published@9",
            statement=Le(f_1 / J, BigO(C_rate / (J * deadline * E))),
            check=Sweeps(
                source=Instances(
                    space=Space(
                        {
                            "E": Integer(1, 64),
                            "T": Real(1, 1e9),
                            "fraction": Real(0, 0.9),
                            "gamma": Real(1, 1e4),
                        }
                    ),
                    realise=threshold,
                    rational=False,
                ),
                sweeps=(
                    Sweep("T", (1e3, 1e4, 1e5, 1e6, 1e7), _base),
                    Sweep("E", (1, 2, 4, 8, 16), {"T": 1e5, "gamma": 100.0, "fraction": 0.5}),
                ),
            ),
            note="(9) from (8), abandoned half way",
        ),
        Form(
            variant="corrected",
            statement=Le(left, kept),
            premises=(Gt(Pos(shift - sqrt(f_y)) ** 2, f_1),),
            check=Instances(space=space, realise=careful, method=Method.EXACT, rational=False),
            note="the shift of the minimiser and the bound around it, in place of the bound on the bias",
        ),
    ),
    uses=("efl.theorem-1",),
    check=_rule,
)
