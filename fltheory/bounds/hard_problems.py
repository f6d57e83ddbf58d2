"""Problems of lower bounds, recognised: whether an experiment is on one of them, and with which parameters.

A lower bound is about one problem that its paper constructs. Its parameters are read off the arrays of a user's
problem, and the problem is built again from them: only if it comes out as it was is the experiment one that the bound
is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.observation import Facts, Requirement
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.quadratic import hard
from fltheory.quadratic.bent import BentQuadratic
from fltheory.quadratic.problem import Quadratic

SAME = 1e-9
"""Relative difference of numbers that are the same but for rounding."""

Parameters = dict[str, Any]


def two_curvatures(facts: Facts) -> Parameters:
    """Return the parameters of :func:`fltheory.two_curvatures`."""

    def read(problem: Quadratic) -> Parameters:
        high, low = problem.hessian.ravel()
        return {"mu": low, "L": high, "distance": -problem.linear[0, 0] / (low + high)}

    return _recognised(facts, hard.two_curvatures, Quadratic, read)


def opposed_pulls(facts: Facts) -> Parameters:
    """Return the parameters of :func:`fltheory.opposed_pulls`."""

    def read(problem: Quadratic) -> Parameters:
        return {"mu": problem.hessian[0, 0] / 2, "pull": problem.linear[0, 0], "start": problem.start[0]}

    return _recognised(facts, hard.opposed_pulls, Quadratic, read)


def spread_minimisers(facts: Facts) -> Parameters:
    """Return the parameters of :func:`fltheory.spread_minimisers`."""

    def read(problem: Quadratic) -> Parameters:
        away = -problem.linear[:, 0] - 1.0
        return {"pattern": away, "zeta": np.sqrt((away**2).mean())}

    return _recognised(facts, hard.spread_minimisers, Quadratic, read)


def bent_valley(facts: Facts) -> Parameters:
    """Return the parameters of :func:`fltheory.bent_valley`."""

    def read(problem: BentQuadratic) -> Parameters:
        low, high, _, *fourth = problem.left[0]
        return {
            "H": high,
            "mu": low,
            "distance": problem.centre[0, 0] * np.sqrt(problem.dim),
            "sigma": np.sqrt(problem.noise_sq[0, 2] * (1 + len(fourth))),
            "num_clients": problem.num_clients,
            "nu": fourth[0] if fourth else None,
        }

    return _recognised(facts, hard.bent_valley, BentQuadratic, read)


def bent_valley_with_pulls(facts: Facts) -> Parameters:
    """Return the parameters of :func:`fltheory.bent_valley_with_pulls`."""

    def read(problem: BentQuadratic) -> Parameters:
        _, low, high, last, *fifth = problem.left[0]
        return {
            "H": high,
            "mu": low,
            "distance": 2 * problem.start[1],
            "sigma": np.sqrt(problem.noise_sq[0, 0] * (1 + len(fifth))),
            "zeta": problem.centre[0, 3] * last,
            "num_clients": problem.num_clients,
            "nu": fifth[0] if fifth else None,
        }

    return _recognised(facts, hard.bent_valley_with_pulls, BentQuadratic, read)


def _recognised(facts: Facts, build: Callable[..., Any], kind: type, read: Callable[[Any], Parameters]) -> Parameters:
    name = f"fl.{build.__name__}"
    problem = facts.problem
    found = _rebuilt(problem, build, read) if isinstance(problem, kind) else None
    if found is None:
        raise NotApplicable(f"the lower bound is about the problem {name}, got {problem!r}")
    if not np.allclose(np.asarray(facts.experiment.start), problem.start, rtol=SAME, atol=0.0):
        raise NotApplicable(f"the lower bound is about runs from the start of {name}, the experiment has another one")
    return found


def _rebuilt(problem: Any, build: Callable[..., Any], read: Callable[[Any], Parameters]) -> Parameters | None:
    """Return the parameters with which a problem can be built; ``None`` if it cannot."""
    try:
        given = {name: one.item() if isinstance(one, np.generic) else one for name, one in read(problem).items()}
        made = build(**given)
    except (InvalidParameter, ValueError, IndexError):  # too few clients or coordinates, parameters out of range
        return None
    return given if all(_equal(getattr(problem, f.name), getattr(made, f.name)) for f in fields(made)) else None


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray | float) or not isinstance(other, np.ndarray | float):
        return bool(one is other or (not isinstance(one, np.ndarray) and one == other))
    if np.shape(one) != np.shape(other):
        return False
    size = float(np.abs(other).max(initial=0.0))
    return bool(np.allclose(one, other, rtol=SAME, atol=SAME * size))


def about_fedavg(facts: Facts) -> str:
    """Return the setting in words; refuse other algorithms than FedAvg."""
    if not isinstance(facts.algorithm, FedAvg):
        raise NotApplicable(f"the lower bound is about FedAvg (local SGD), got {facts.algorithm.title}")
    return f"FedAvg, {facts.num_clients} clients, {facts.local_steps} local steps"


def everybody(facts: Facts) -> Sequence[Requirement]:
    """Return that all clients complete all steps, and that their models are averaged."""
    assert isinstance(facts.algorithm, FedAvg)
    server = facts.algorithm.server_rate
    complete = facts.everybody_completes()
    return [
        Requirement("all clients complete all steps", complete, "they do" if complete else "some do not"),
        Requirement("models are averaged", server == 1, f"rate {server:g}"),
    ]


def one_step_size(facts: Facts) -> Requirement:
    """Return that the learning rate is constant."""
    rates = {rate for index in range(facts.rounds) for rate in facts.experiment.rates_at(index)}
    return Requirement("one step size", len(rates) == 1, f"{len(rates)} different")


def chosen(name: str, wanted: float, given: float | None) -> Requirement:
    """Return whether a parameter of the problem is the one that the proof chooses."""
    met = given is not None and abs(given - wanted) <= SAME * wanted
    value = f"the proof chooses {wanted:.17g}, the problem has {'none' if given is None else f'{given:.17g}'}"
    return Requirement(f"{name} of the problem", met, value)
