r"""Lemma 9: a recursion with drift does not fall faster than the inverse of the number of rounds.

If :math:`\eta_r \le \frac1\mu` and, for all :math:`r \ge 1`,

.. math:: x^r \ge x^{r-1}(1 - 2\mu\eta_r)^K + \frac{\eta_rG}2\sum_{\tau=0}^{K-1}\bigl(1 - (1 - 2\mu\eta_r)^\tau\bigr) ,

there is a constant :math:`c > 0` such that for any sequence of step-sizes, as published, :math:`x^R \ge c\min(x^0,
\frac G{\mu R})`. The form has the constant of the corrected one.

It fails for every constant: between :math:`\frac1{2\mu}` and :math:`\frac1\mu` the base :math:`1 - 2\mu\eta_r` is
negative, and for odd :math:`K` a step jumps over the minimiser. With :math:`K = 3`,
:math:`\eta_1 = \frac1\mu` and :math:`x^0 = \frac G\mu` the recursion allows :math:`x^1 = 0`. The printed proof also
drops a factor :math:`1/R` twice, uses Bernoulli's inequality in the wrong direction for :math:`K > 3`, and says that
:math:`K - 1 \le K/2` for :math:`K \ge 2`.

**Derivation of the sharp form.** Let :math:`\eta_r \le \frac1{2\mu}`, :math:`K \ge 2`,
:math:`q = 1 - 2\mu\eta_r \in [0, 1)` and :math:`y_r = 1 + 4\mu x^r/G`. The sum of the recursion is geometric, so that

.. math:: y_r \ge K + y_{r-1}q^K - Kq \ge K - (K-1)\,y_{r-1}^{-1/(K-1)} \ge 2 - \frac1{y_{r-1}} .

The second step is the tangent of the convex function :math:`q^K` at :math:`q = y_{r-1}^{-1/(K-1)} =: s`, the third one
Bernoulli's inequality :math:`1 - s^{K-1} \le (K-1)(1-s)`; both are equalities for :math:`K = 2` and
:math:`q = 1/y_{r-1}`. In terms of :math:`x` this is :math:`\frac1{x^r} \le \frac1{x^{r-1}} + \frac{4\mu}G`, and by
induction

.. math:: \frac1{x^R} \le \frac1{x^0} + \frac{4\mu R}G ,

attained by two local steps with these step-sizes.

**Derivation of the corrected form.** The right-hand side is at most
:math:`5\max\bigl\{\frac1{x^0}, \frac{\mu R}G\bigr\}`: the lemma holds with :math:`c = \frac15`, attained for
:math:`x^0 = \frac G{\mu R}`.

Instances: the recursion with equality; step-sizes as parameters, or in every round the one that makes the model
smallest.

Source: Karimireddy et al., 2020, Lemma 9, page 23 of the supplement.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Ge, Gt, Le, Min, Rational, Sum

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.scaffold._symbols import G, K
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import mu
from fltheory.problems.problem import Origin

CONSTANT = Rational(1, 5)

R = scalar("R", "R", "number of rounds", domain="integer>=1")
models = family("models", "x^{<0>}", "the recursion after rounds", first=0, shape=("rounds",))
rates = family("rates", r"\eta_{<0>}", "step-sizes of the rounds", shape=("rounds",), domain="positive")
round_, tau = index("r", "r", "a round, from 1"), index("tau", r"\tau", "a local step")


def next_model(x: Any, eta: Any, mu: Any, G: Any, steps: int) -> Any:
    """Return the right-hand side of the recursion."""
    base = 1 - 2 * mu * eta
    pulled = sum(1 - base**tau for tau in range(steps))
    return x * base**steps + eta * G / 2 * pulled


def realise(point: Params, *, largest: int) -> dict[str, Any]:
    """Return the recursion with step-sizes of at most one over ``largest`` times the curvature."""
    curvature, pull, steps = point["mu"], point["G"], point["K"]
    x = point["start"] * pull / curvature
    reached, chosen = [x], []
    for part in point["steps"]:
        eta = part / (largest * curvature)
        if point["rates"] == "smallest":
            # Where the convex function of the derivation is smallest.
            base = (pull / (pull + 4 * curvature * x)) ** (1 / (steps - 1))
            eta = (1 - base) / (2 * curvature)
        chosen.append(eta)
        x = next_model(x, eta, curvature, pull, steps)
        reached.append(x)
    return {
        "mu": curvature,
        "G": pull,
        "K": steps,
        "R": point["R"],
        "models": reached,
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


start, last = models[0], models[R]
statement = Ge(last, CONSTANT * Min(start, G / (mu * R)))
each = ((round_, 1, R),)
factor = 1 - 2 * mu * rates[round_]
recursion_holds = Assumption(
    "recursion",
    Ge(
        models[round_],
        models[round_ - 1] * factor**K + rates[round_] * G / 2 * Sum(1 - factor ** (tau - 1), (tau, 1, K)),
    ),
    Origin.DECLARED,
    each,
)
begun = Assumption("start", Gt(start, 0), Origin.DECLARED)
small = Assumption("steps", Le(rates[round_], 1 / mu), Origin.DECLARED, each)
more = Assumption("several local steps", Gt(K, 1), Origin.DECLARED)
half = Assumption("half of the steps", Le(rates[round_], 1 / (2 * mu)), Origin.DECLARED, each)
MENDED = (half, more, begun, recursion_holds)

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
            assumptions=MENDED,
            check=recursion(2, ("given", "smallest")),
            note="steps of at most 1/(2 mu), with the best constant",
        ),
        Form(
            variant="sharp",
            statement=Ge(last, start * G / (G + 4 * mu * R * start)),
            assumptions=MENDED,
            check=recursion(2, ("given", "smallest")),
            note="steps of at most 1/(2 mu); attained by two local steps",
        ),
    ),
    assumptions=(small, more, begun, recursion_holds),
    check=recursion(1, ("given",)),
)
