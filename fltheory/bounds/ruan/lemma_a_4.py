r"""Lemma A.4: the objective of an arriving client from the old and the new global objective.

Client :math:`l` with :math:`n_l` samples joins clients with :math:`n` samples together, so that
:math:`\tilde n = n + n_l`. For any :math:`w`, as published

.. math:: F_l(w) = \frac{1}{\tilde p^l} \Bigl(\tilde F(w) - \frac{n}{\tilde n} F(w)\Bigr), \qquad
   F = \sum_{k=1}^N \frac{n_k}{n} F_k, \quad \tilde F = \sum_{k=1}^N \frac{n_k}{\tilde n} F_k + \tilde p^l F_l, \quad
   \tilde p^l = \frac{n_l}{\tilde n} .

It is the definition of :math:`\tilde F` solved for :math:`F_l`, true for any functions; gradients obey it too.

Instances: up to three clients and the new one, with strongly convex functions that have kinks in the derivative and
any minimum, any numbers of samples, any model.

Source: Ruan et al., AISTATS 2021, appendix A.5, (81).
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Sum

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import F, N, k, l, n

w = scalar("w", "w", "any model", shape=("dim",))
n_before = scalar("n_before", "n", "number of samples of all clients but the one that arrives", domain="positive")
n_tilde = scalar(
    "n_tilde", r"\tilde n", "number of samples of all clients with the one that arrives", domain="positive"
)
p_tilde_l = scalar(
    "p_tilde_l", r"\tilde p^l", "weight of the arriving client in the new objective", domain="probability"
)
F_old = scalar("F_old", "F(w)", "old global objective at the model")
F_new = scalar("F_new", r"\tilde F(w)", "new global objective at the model")

definitions = (
    (n_before, Sum(n[k], (k, 1, N))),
    (n_tilde, n_before + n[l]),
    (p_tilde_l, n[l] / n_tilde),
    (F_old, Sum(n[k] / n_before * F(k, w), (k, 1, N))),
    (F_new, Sum(n[k] / n_tilde * F(k, w), (k, 1, N)) + p_tilde_l * F(l, w)),
)


def realise(point: Params) -> dict[str, Any]:
    """Return the functions of all clients; the arriving one is the last."""
    slopes = {side: point["mu"] * (1 + point[side]) for side in ("left", "right")}
    functions = Kinked(centre=point["centre"], knot=point["knot"], **slopes)
    lowest = point["minimum"]
    return {
        "N": point["all"] - 1,
        "l": point["all"],
        "n": point["n"],
        "w": point["w"],
        "F": lambda client, w: functions.value(int(client) - 1, w) + lowest[int(client) - 1],
    }


claim = Claim(
    id="ruan.lemma-a.4",
    kind=Kind.IDENTITY,
    title="an arriving client's objective from the old and new global ones",
    citation=Citation("ruan", "Lemma A.4, (81)"),
    forms=(
        Form(
            statement=Eq(F(l, w), 1 / p_tilde_l * (F_new - n_before / n_tilde * F_old), evaluate=False),
            where=definitions,
        ),
    ),
    check=Instances(
        space=Space(
            {
                "all": Integer(2, 4),
                "d": Integer(1, 2),
                "mu": Real(0.1, 10, log=True),
                "n": Real(0.05, 20, log=True, shape=("all",), whole=True),
                "w": Real(-3, 3, shape=("d",)),
                "minimum": Real(-3, 3, shape=("all",)),
                "centre": Real(-3, 3, shape=("all", "d")),
                "knot": Real(-3, 3, shape=("all", "d")),
                "left": Real(0, 100, shape=("all", "d")),
                "right": Real(0, 100, shape=("all", "d")),
            }
        ),
        realise=realise,
    ),
)
