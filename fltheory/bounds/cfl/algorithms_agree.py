r"""Algorithm 1 with uniform weights equals Algorithm 2.

Algorithm 1 steps by :math:`\eta_l(p_{t,i}g_{t,i} + G_{agg,i} + H_{agg,i}\,\omega)` with aggregates weighted by
:math:`p_{\tau,i}`; Algorithm 2 steps by :math:`\frac{\eta_l}t(g_{t,i} + G_{agg,i} + H_{agg,i}\,\omega)` with plain
sums. For :math:`p_{\tau,i} = 1/t` in round :math:`t`, as published, all global models agree,

.. math:: \omega^{(1)}_t = \omega^{(2)}_t, \qquad t = 1, \dots, T + 1 .

It is an identity: the factor :math:`1/t` is taken out of the aggregates. The weights of all earlier rounds change
with :math:`t`, so Algorithm 1 must keep the Hessians and gradients of all rounds, or their sums. In line 4 of
Algorithm 2 the sum is read to cover both terms.

Instances: up to three rounds of both algorithms in one or two dimensions, with noise. Objectives are separable
functions with kinks of the derivative, each in a frame of its own, so that Hessians do not commute; Hessians and
gradients are those at the end of the client's round.

Source: Guo et al., 2021, Algorithms 1 and 2, section 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq

from fltheory.bounds.cfl._round import unit
from fltheory.bounds.cfl._symbols import T
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import family
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import t

first = family(
    "first", r"\omega^{(1)}_{<0>}", "global models of Algorithm 1 with uniform weights", shape=("rounds", "dim")
)
second = family("second", r"\omega^{(2)}_{<0>}", "global models of Algorithm 2", shape=("rounds", "dim"))


def realise(point: Params) -> dict[str, Any]:
    """Run both algorithms."""
    return {"T": point["T"], "first": _run(point, weighted=True), "second": _run(point, weighted=False)}


def _run(point: Params, *, weighted: bool) -> list[Any]:
    models = [point["start"]]
    memory: list[list[tuple[Any, Any]]] = [[] for _ in range(point["N"])]
    for number in range(1, point["T"] + 1):
        functions = Kinked(**{name: point[name][number - 1] for name in ("centre", "knot", "left", "right")})
        moved = []
        for client, kept in enumerate(memory):
            nothing = (0 * np.outer(models[0], models[0]), 0 * models[0])
            hessian, gradient = (sum(column) for column in zip(nothing, *kept, strict=True))
            frame = _frame(point["turn"][number - 1, client], point["d"])
            w = models[-1]
            for noise in point["noise"][number - 1, client]:
                fresh = frame.T.dot(functions.gradient(client, frame.dot(w))) + noise
                if weighted:
                    share = ratio(point, 1, number)
                    w = w - point["rate"] * (fresh * share + gradient * share + (hessian * share).dot(w))
                else:
                    w = w - point["rate"] / number * (fresh + gradient + hessian.dot(w))
            left, right, knot = (point[name][number - 1, client] for name in ("left", "right", "knot"))
            slopes = np.where(frame.dot(w) <= knot, left, right)
            second = frame.T.dot(slopes[:, None] * frame)
            kept.append((second, frame.T.dot(functions.gradient(client, frame.dot(w))) - second.dot(w)))
            moved.append(w - models[-1])
        models.append(models[-1] + point["eta_g"] * sum(moved) / point["N"])
    return models


def _frame(tangent: Any, dim: int) -> Any:
    """Return the rotation by twice the angle with this tangent."""
    first = unit(tangent, dim)
    return first[None] if dim == 1 else np.array([first, [-first[1], first[0]]])


claim = Claim(
    id="cfl.algorithms-agree",
    kind=Kind.IDENTITY,
    title="Algorithm 1 with uniform weights equals Algorithm 2",
    citation=Citation("cfl", "Algorithms 1 and 2"),
    forms=(Form(statement=Eq(first[t], second[t], evaluate=False), over=((t, 1, T + 1),)),),
    check=Instances(
        space=Space(
            {
                "T": Integer(1, 3),
                "N": Integer(1, 2),
                "K": Integer(1, 2),
                "d": Integer(1, 2),
                "start": Real(-2, 2, shape=("d",)),
                "turn": Real(-1, 1, shape=("T", "N")),
                "centre": Real(-2, 2, shape=("T", "N", "d")),
                "knot": Real(-2, 2, shape=("T", "N", "d")),
                "left": Real(0.1, 2, shape=("T", "N", "d")),
                "right": Real(0.1, 2, shape=("T", "N", "d")),
                "noise": Real(-1, 1, shape=("T", "N", "K", "d")),
                "rate": Real(0.05, 0.5),
                "eta_g": Real(0.5, 2),
            }
        ),
        realise=realise,
    ),
)
