r"""Theorem VI: FedAvg is slowed down by the drift of its clients, whatever the step-sizes.

"For any positive constants :math:`G, \mu` there exist :math:`\mu`-strongly convex functions satisfying A1 for which the
output of FedAvg satisfying A6 has the error for any :math:`r \ge 1`", as published,

.. math:: f(x^r) - f(x^*) \ge \Omega\Bigl(\min\Bigl\{f(x^0) - f(x^*), \frac{G^2}{\mu R^2}\Bigr\}\Bigr) .

A6: :math:`\eta_g = 1`, :math:`K > 1`, any step-sizes :math:`\eta_r \le \frac1\mu`, the server's update a convex
combination of the clients' with given weights. The functions are those of
:func:`~fltheory.quadratic.hard.opposed_pulls`. With the mean of both clients (form ``published@mean``) it holds.

For other weights the proof says that the weight :math:`\alpha` of the flat client may be assumed to be at most one
half, or else the functions are swapped (form ``published@weights``). That is the wrong half: the update of the round
is :math:`x((1 - \alpha)q^K + \alpha) + \eta_rG\sum_\tau(\alpha - (1 - \alpha)q^\tau)` with
:math:`q = 1 - 2\mu\eta_r`, and the pulls fall with :math:`\alpha`. A federation that weighs the curved client more
moves through the minimiser, and may stop there (form ``published@weights``): weights :math:`\frac35, \frac25`,
:math:`K = 3`, :math:`\eta_1 = \frac1\mu` and :math:`x^0 = \frac{3G}\mu` reach :math:`x^1 = x^*`, so that no constant
helps. The theorem survives: with the other half, which is what swapping the functions is for, it is true (form
``corrected``). The functions do not satisfy A1 as claimed either, see
:mod:`~fltheory.bounds.scaffold.theorem_vi_assumption`, and one of them is linear.

**Derivation of the sharp form.** Let :math:`\alpha \ge \frac12`, swapping the functions if need be. As
:math:`|q| \le 1`, the update grows with :math:`\alpha`, so take :math:`\alpha = \frac12`. With
:math:`\epsilon = \frac{4\mu x}G` before and :math:`\epsilon'` after the round, and :math:`Y = 1 + \frac\epsilon2`, the
sum of the powers gives

.. math:: \epsilon' = \frac\epsilon2 + Yq^K + K(1 - q) - 1 \ge \frac\epsilon2 + 1 - \frac1Y =
   \frac{\epsilon(4 + \epsilon)}{2(2 + \epsilon)} , \qquad \text{so that} \qquad \frac1{\epsilon'} \le \frac1\epsilon +
   \frac1{4 + \epsilon} ,

for :math:`q \in [0, 1]` as in :mod:`~fltheory.bounds.scaffold.lemma_9`, with :math:`Y` in place of its :math:`y_{r-1}`.
For larger steps :math:`q = -p \in [-1, 0)`, and :math:`Yq^K + K(1 - q) \ge 2` for even :math:`K`. For odd :math:`K` the
pulls of :math:`\tau = 1, 2` alone give :math:`x^r \ge ax + b\frac G\mu` with :math:`a = \frac12(1 - p^3)` and
:math:`b = \frac14(1+p)^2(2-p) = \frac14(2 + 3p - p^3)`, which are at most 1, so that
:math:`\sqrt a + \sqrt b \ge a + b = 1 + \frac34(p - p^3) \ge 1` and
:math:`x^r\bigl(\frac1x + \frac\mu G\bigr) \ge (\sqrt a + \sqrt b)^2 \ge 1`. In all
cases

.. math:: \frac1{x^R} \le \frac1{x^0} + \frac{\mu R}G , \qquad
   f(x^R) - f(x^*) \ge \frac\mu2\Bigl(\sqrt{\frac\mu{2(f(x^0) - f(x^*))}} + \frac{\mu R}G\Bigr)^{-2} ,

since :math:`f(x) = \frac\mu2x^2`: models fall four times as slowly as the recursion of Lemma 9 allows, which drops half
of :math:`x`. Attained by two local steps in the limit of small :math:`x`.

**Derivation of the corrected form.** :math:`\frac1{x^R} \le 2\max\bigl\{\frac1{x^0}, \frac{\mu R}G\bigr\}`, which is
:math:`\frac18` times the minimum of the statement. No larger constant does: take :math:`x^0 = \frac G{\mu R}` and many
rounds.

Instances: ``published@mean`` runs FedAvg on the problem by the exact engine, with constant and with decaying rates; the
other forms run the update with weights in rational arithmetic.

Source: Karimireddy et al., 2020, Theorem VI, page 22 of the supplement (Theorem II in the text).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Ge, Gt, Le, Min, Rational, sqrt

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds import hard_problems
from fltheory.bounds.algebra import Env
from fltheory.bounds.claim import Assumption, Citation, Claim, Experiments, Form, Instances, Kind
from fltheory.bounds.observation import Facts, Observation
from fltheory.bounds.quantities import scalar
from fltheory.bounds.scaffold._symbols import G, K, R
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, Space
from fltheory.bounds.symbols import mu
from fltheory.participation import Participation
from fltheory.problems.problem import Origin
from fltheory.quadratic.hard import opposed_pulls
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Inverse
from fltheory.simulation.trajectories import Trajectories

first = scalar("first", r"(f(x^0) - f(x^*))", "gap at the start", domain="nonnegative")
error = scalar("error", r"(f(x^R) - f(x^*))", "gap after all rounds", domain="nonnegative")
largest = scalar("largest", r"\max_r\eta_r", "largest step-size of the run", domain="positive")

SPACE: dict[str, Parameter] = {
    "K": Integer(2, 6, far=300),
    "mu": Real(0.1, 10, log=True),
    "G": Real(0.1, 10, log=True),
    "start": Real(0.01, 100, log=True),
}


def experiment(point: Params) -> Experiment:
    """Return a run of FedAvg on the problem."""
    curvature = float(point["mu"])
    rate = float(point["step"]) / curvature
    return Experiment(
        problem=opposed_pulls(
            mu=curvature, pull=float(point["G"]), start=float(point["start"] * point["G"]) / curvature
        ),
        algorithm=FedAvg(),
        participation=Participation(num_clients=2, local_steps=int(point["K"])),
        rounds=int(point["R"]),
        rate=rate if point["rates"] == "constant" else Inverse(scale=rate * 4.0, shift=4.0),
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the gaps of all rounds."""
    gaps = trajectories.curve("gap")[0]
    return {
        "mu": float(point["mu"]),
        "G": float(point["G"]),
        "K": float(point["K"]),
        "R": np.arange(1.0, len(gaps)),
        "largest": float(point["step"]) / float(point["mu"]),
        "first": gaps[0],
        "error": gaps[1:],
    }


def realise(point: Params) -> dict[str, Any]:
    """Run the update of the rounds with given weights."""
    curvature, pull, flat = point["mu"], point["G"], point["weight"]
    x = point["start"] * pull / curvature
    half = curvature * x * x / 2
    rates = [part / curvature for part in point["steps"]]
    for eta in rates:
        base = 1 - 2 * curvature * eta
        pulled = sum(flat - (1 - flat) * base**tau for tau in range(point["K"]))
        x = x * ((1 - flat) * base ** point["K"] + flat) + eta * pull * pulled
    return {
        "mu": curvature,
        "G": pull,
        "K": point["K"],
        "R": point["R"],
        "largest": max(rates),
        "first": half,
        "error": curvature * x * x / 2,
    }


def weighted(low: float, high: float) -> Instances:
    """Return runs in which the weight of the flat client is in a range."""
    return Instances(
        space=Space(
            {
                **SPACE,
                "R": Integer(1, 4),
                "weight": Real(low, high),
                "steps": Real(0.001, 1, shape=("R",)),
            }
        ),
        realise=realise,
        effort=2,
    )


def about(facts: Facts) -> str:
    """Return the setting in words; refuse other problems and algorithms."""
    words = hard_problems.about_fedavg(facts)
    hard_problems.opposed_pulls(facts)
    return words


def observed(facts: Facts) -> dict[Any, Any]:
    """Return what a run says, after every round; its clients weigh alike."""
    known = hard_problems.opposed_pulls(facts)
    return {
        mu: known["mu"],
        G: known["pull"],
        K: facts.local_steps,
        R: np.arange(1, facts.rounds + 1),
        largest: max(rate for index in range(facts.rounds) for rate in facts.experiment.rates_at(index)),
        first: facts.at_start("gap"),
        error: facts.curve("gap", first=1),
    }


CONSTANT = Rational(1, 8)
statement = Ge(error, CONSTANT * Min(first, G**2 / (mu * R**2)))
runs = Experiments(
    space=Space(
        {**SPACE, "R": Integer(4, 200), "rates": Choice(("constant", "decaying")), "step": Real(0.001, 1, log=True)}
    ),
    experiment=experiment,
    quantities=quantities,
)

claim = Claim(
    id="scaffold.theorem-vi",
    kind=Kind.LOWER,
    title="lower bound for FedAvg with drifting clients",
    citation=Citation("scaffold", "Theorem VI"),
    forms=(
        Form(
            variant="published@mean", statement=statement, note="mean of both clients; with the constant of our proof"
        ),
        Form(
            variant="published@weights",
            statement=statement,
            check=weighted(0.0, 0.5),
            note="any weights, that of the flat client at most one half, as printed",
        ),
        Form(
            variant="corrected",
            statement=statement,
            check=weighted(0.5, 1.0),
            intended=("published@weights",),
            note="any weights, that of the flat client at least one half; with the best constant",
        ),
        Form(
            variant="sharp",
            statement=Ge(error, mu / 2 / (sqrt(mu / (2 * first)) + mu * R / G) ** 2),
            check=weighted(0.5, 1.0),
            note="any weights, that of the flat client at least one half; attained by two local steps for small models",
        ),
    ),
    assumptions=(
        Assumption("steps (A6)", Le(largest, 1 / mu), Origin.DECLARED),
        Assumption("several local steps (A6)", Gt(K, 1), Origin.DECLARED),
    ),
    uses=("scaffold.lemma-9", "scaffold.theorem-vi-assumption"),
    check=runs,
    observation=Observation(
        quantities=observed, about=about, axis=R, conditions=hard_problems.everybody, algorithm=FedAvg
    ),
)
