r"""How far a minimiser can move when a client joins: published, corrected and sharp constant, worst case, simulation.

For :math:`\kappa = L/\mu` and :math:`r = n/n_l` (samples of the others over those of the client), every row compares
bounds on :math:`\mu\|w^* - \tilde w^*\|^2/\Gamma_l`:

* *published* and *corrected*: Theorem 3.2 of the paper on flexible participation as printed, and with the factor 1/2
  that strong
  convexity gives;
* *sharp*: :math:`2/(1 + 2r + r^2/\kappa)`, derived on the page of the claim ``ruan.theorem-3.2-arrival``;
* *worst case*: the value of a performance-estimation problem, an SDP that maximises over all functions of the class
  in all
  dimensions (PEPit with CLARABEL; extra ``pep``). Interior-point solvers stop within a tolerance, so it is raised by
  :data:`SAFETY`, relative, before it is compared;
* *attained*: the value on one instance, which proves that the constant cannot be smaller;
* *simulated*: the largest value on an instance that this package's own search finds, without being told which.

So sharp, worst case and attained have to agree. Departures give the same numbers, with :math:`r = (n - n_l)/n_l` and
the gap taken at the new minimiser.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory.bounds.catalogue import index
from fltheory.bounds.claim import Claim, Instances
from fltheory.bounds.space import ExactPoint, Params, Real, Space, exact
from fltheory.errors import NotApplicable
from fltheory.validation.search import search
from fltheory.validation.trials import Trials

SAFETY = 1e-6
"""Relative margin added to the value of an SDP."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; bounds on ``mu ||w* - w~*||^2 / Gamma_l``, and the seconds of worst case and search."""

    condition: float
    ratio: float
    published: float
    corrected: float
    sharp: float
    worst_case: float | None
    attained: float
    simulated: float
    worst_case_seconds: float
    simulated_seconds: float


def constants(condition: float, ratio: float) -> tuple[float, float, float]:
    """Return the published, corrected and sharp constant.

    >>> constants(1.0, 1.0)
    (2.0, 0.5, 0.5)
    """
    condition = arguments.real("constants", "condition", condition, low=1)
    ratio = arguments.real("constants", "ratio", ratio, low=0, open_low=True)
    share = 1.0 / (1.0 + ratio)
    return 8 * condition * share**2, 2 * condition * share**2, 2.0 / (1 + 2 * ratio + ratio**2 / condition)


def worst_case(condition: float, ratio: float) -> float:
    """Return the worst case over all functions of the class, by an SDP, on the safe side."""
    try:
        from PEPit import PEP
        from PEPit.functions import SmoothStronglyConvexFunction
    except ImportError:
        raise NotApplicable("worst cases need PEPit; install the extra: pip install --editable '.[pep]'") from None
    condition = arguments.real("worst_case", "condition", condition, low=1, open_low=True)
    ratio = arguments.real("worst_case", "ratio", ratio, low=0, open_low=True)
    problem = PEP()
    others = problem.declare_function(SmoothStronglyConvexFunction, mu=1.0, L=condition)
    joining = problem.declare_function(SmoothStronglyConvexFunction, mu=1.0, L=condition)
    before, own = others.stationary_point(), joining.stationary_point()
    after = (ratio * others + joining).stationary_point()
    problem.set_initial_condition(joining(before) - joining(own) <= 1)
    problem.set_performance_metric((before - after) ** 2)
    return float(problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)) * (1 + SAFETY)


def _arrival() -> tuple[Claim, Callable[[Params], Any]]:
    claim = index()["ruan.theorem-3.2-arrival"].load()
    assert isinstance(claim.check, Instances)
    return claim, claim.check.realise


def _instance(condition: float, ratio: float) -> dict[str, Any]:
    """Return two clients in one dimension with minimisers 0 and 1, which costs no generality there."""
    centre, counts = np.array([[0.0], [1.0]]), np.array([ratio, 1.0])
    return {"N": 2, "d": 1, "mu": 1.0, "condition": condition, "n": counts, "centre": centre}


def attained(condition: float, ratio: float) -> float:
    """Return the value on the instance that attains the sharp constant.

    The others have curvature ``mu``; the joining client has curvature ``mu`` up to the new minimiser and ``L`` beyond.
    """
    _, realise = _arrival()
    kink = condition / (condition + ratio)
    slopes = {"left": np.zeros((2, 1)), "right": np.array([[0.0], [1.0]]), "knot": np.full((2, 1), kink)}
    env = realise(_instance(condition, ratio) | slopes)
    return float(np.sum((env["w_star"] - env["w_new"]) ** 2) / env["Gamma_l"])


def simulated(condition: float, ratio: float, *, searches: int = 4, seed: int = 0) -> float:
    """Return the largest value on an instance that a few searches find."""
    claim, inner = _arrival()
    space = Space({"knot": Real(-1, 2, shape=(2, 1)), **{s: Real(0, 1, shape=(2, 1)) for s in ("left", "right")}})

    def realise(point: Params) -> Any:
        whole = {**_instance(condition, ratio), **point}
        return inner(exact(whole) if isinstance(point, ExactPoint) else whole)

    narrowed = Instances(space=space, realise=realise)
    trials = Trials(replace(claim, check=narrowed), claim.form("sharp"), narrowed, seed)
    for number in range(arguments.integer("simulated", "searches", searches, low=1)):
        search(trials, budget=trials.calls + 600, seed=seed + number)
    assert trials.margin is not None  # every point of this space is an instance
    return constants(condition, ratio)[2] / trials.margin**2


def table(
    conditions: Sequence[float] = (2.0, 10.0, 100.0),
    ratios: Sequence[float] = (0.1, 1.0, 10.0),
    *,
    seed: int = 0,
) -> list[Row]:
    """Return the comparison; without PEPit the worst case is left out."""
    rows = []
    for condition in conditions:
        for ratio in ratios:
            begin = time.perf_counter()
            try:
                worst: float | None = worst_case(condition, ratio)
            except NotApplicable:
                worst = None
            middle = time.perf_counter()
            found = simulated(condition, ratio, seed=seed)
            end = time.perf_counter()
            rows.append(
                Row(
                    condition,
                    ratio,
                    *constants(condition, ratio),
                    worst,
                    attained(condition, ratio),
                    found,
                    middle - begin,
                    end - middle,
                )
            )
    return rows
