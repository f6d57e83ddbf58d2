r"""Lemma 9: a recursion with drift does not fall faster than the inverse of the number of rounds.

If :math:`\eta_r \le \frac1\mu` and, for all :math:`r \ge 1`,

.. math:: x^r \ge x^{r-1}(1 - 2\mu\eta_r)^K + \frac{\eta_rG}2\sum_{\tau=0}^{K-1}\bigl(1 - (1 - 2\mu\eta_r)^\tau\bigr) ,

there is a constant :math:`c > 0` such that for any sequence of step-sizes, as published, :math:`x^R \ge c\min(x^0,
\frac G{\mu R})`. The form has the constant of the corrected one.

It fails for every constant: between :math:`\frac1{2\mu}` and :math:`\frac1\mu` the base :math:`1 - 2\mu\eta_r` is
negative, and for odd :math:`K` a step throws the model over the minimiser. With :math:`K = 3`,
:math:`\eta_1 = \frac1\mu` and :math:`x^0 = \frac G\mu` the recursion allows :math:`x^1 = 0`. The printed proof also
drops a factor :math:`1/R` twice, uses Bernoulli's inequality in the wrong direction for :math:`K > 3`, and says that
:math:`K - 1 \le K/2` for :math:`K \ge 2`.

**Derivation of the corrected form.** Let :math:`\eta_r \le \frac1{2\mu}`, :math:`K \ge 2`,
:math:`u = \mu\eta_r(K - 1)` and :math:`z_r = \mu x^r/G`. At least :math:`\frac{K-1}2` terms of the sum have
:math:`\tau \ge \frac{K-1}2`, so that they are at least :math:`1 - e^{-u}`: the second part of the recursion is at
least :math:`\frac G\mu\cdot\frac u4(1 - e^{-u})`. If :math:`u \ge \frac18`, then
:math:`z_r \ge \frac1{32}(1 - e^{-1/8}) =: z`. If :math:`u < \frac18`, then :math:`1 - e^{-u} \ge \frac{15}{16}u`,
:math:`(1 - 2\mu\eta_r)^K \ge 1 - 4u`, and

.. math:: z_r \ge z_{r-1}(1 - 4u) + \tfrac{15}{64}u^2 \ge z_{r-1} - az_{r-1}^2, \qquad a = \tfrac{256}{15} .

For :math:`z_{r-1} \le \frac1{2a}` the inverse grows by at most :math:`2a`; above,
:math:`z_r \ge \frac12z_{r-1} \ge \frac1{4a} > z`. So :math:`z_R \ge \bigl(\max\{z_0^{-1}, z^{-1}\} + 2aR\bigr)^{-1}`,
and with :math:`z^{-1} \le 273`, :math:`2a \le 34.2`

.. math:: x^R \ge \tfrac1{308}\min\bigl(x^0, \tfrac G{\mu R}\bigr) .

Instances: the recursion with equality; step-sizes as parameters, or in every round the one that makes the model
smallest, found on a grid.

Source: Karimireddy et al., 2020, Lemma 9, page 23 of the supplement.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Ge, Gt, Le, Min, Rational

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.scaffold._symbols import G, K, R
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import mu
from fltheory.problems.problem import Origin

CONSTANT = Rational(1, 308)

start = scalar("start", "x^0", "start of the recursion", domain="positive")
last = scalar("last", "x^R", "the recursion after all rounds")
rates = family("rates", r"\eta_{<0>}", "step-sizes of the rounds", shape=("rounds",), domain="positive")
round_ = index("r", "r", "a round, from 1")


def next_model(x: Any, eta: Any, mu: Any, G: Any, steps: int) -> Any:
    """Return the right-hand side of the recursion."""
    base = 1 - 2 * mu * eta
    pulled = sum(1 - base**tau for tau in range(steps))
    return x * base**steps + eta * G / 2 * pulled


def realise(point: Params, *, largest: int) -> dict[str, Any]:
    """Return the recursion with step-sizes of at most one over ``largest`` times the curvature."""
    curvature, pull, steps = point["mu"], point["G"], point["K"]
    x = point["start"] * pull / curvature
    first, chosen = x, []
    for part in point["steps"]:
        eta = part / (largest * curvature)
        if point["rates"] == "smallest":
            grid = part * np.geomspace(1e-4, 1.0, 200) / (largest * curvature)
            values = [next_model(x, trial, curvature, pull, steps) for trial in grid]
            eta = grid[int(np.argmin(np.abs(values)))]
        chosen.append(eta)
        x = next_model(x, eta, curvature, pull, steps)
    return {
        "mu": curvature,
        "G": pull,
        "K": steps,
        "R": point["R"],
        "start": first,
        "last": x,
        "rates": chosen,
    }


def recursion(largest: int, rates: tuple[str, ...]) -> Instances:
    """Return recursions; ``rates`` says how step-sizes are chosen."""
    return Instances(
        space=Space(
            {
                "R": Integer(1, 8),
                "K": Integer(2, 6, far=300),
                "rates": Choice(rates),
                "mu": Real(0.1, 10, log=True),
                "G": Real(0.1, 10, log=True),
                "start": Real(0.01, 100, log=True),
                "steps": Real(0.001, 1, shape=("R",)),
            }
        ),
        realise=partial(realise, largest=largest),
        rational="smallest" not in rates,
    )


statement = Ge(last, CONSTANT * Min(start, G / (mu * R)))
small = Assumption("steps", Le(rates[round_], 1 / mu), Origin.DECLARED, ((round_, 1, R),))
more = Assumption("several local steps", Gt(K, 1), Origin.DECLARED)
half = Assumption("half of the steps", Le(rates[round_], 1 / (2 * mu)), Origin.DECLARED, ((round_, 1, R),))

claim = Claim(
    id="scaffold.lemma-9",
    kind=Kind.LEMMA,
    title="a recursion with drift falls slowly",
    citation=Citation("scaffold", "Lemma 9"),
    forms=(
        Form(statement=statement, note="with the constant of the corrected form; no other one helps"),
        Form(
            variant="corrected",
            statement=statement,
            assumptions=(half, more),
            check=recursion(2, ("given", "smallest")),
            note="steps of at most 1/(2 mu), with a constant",
        ),
    ),
    assumptions=(small, more),
    check=recursion(1, ("given",)),
)
