r"""Deterministic runs with compression or elastic term, and the gradients along them.

Without noise and with full participation a run has one outcome, so that expectations are values. The engine gives the
curve of the server's model; :func:`gradients_sq` repeats the run to see the gradients of :math:`\widetilde
F_{\tau,k}` at the local models, elastic term included, whose largest squared norm is :math:`G^2`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.algorithms.efl import EFL
from fltheory.bounds._claim import Rejected
from fltheory.bounds._space import Params
from fltheory.checks import Floats
from fltheory.compression import SparseTernary
from fltheory.experiment import Experiment
from fltheory.participation import Participation
from fltheory.quadratic.problem import Quadratic
from fltheory.rates import Rate


def quadratics(point: Params) -> Quadratic:
    """Return separable quadratics with minimum 0 and no noise, and a start relative to the minimiser."""
    position = point["curvature"] - point["curvature"].min()
    hessian = point["mu"] * (1 + (point["condition"] - 1) * position / max(position.max(), 1e-9))
    weights = point["n"] / point["n"].sum()
    optimum = (weights[:, None] * hessian * point["centre"]).sum(axis=0) / (weights[:, None] * hessian).sum(axis=0)
    return Quadratic(
        hessian=hessian,
        linear=-hessian * point["centre"],
        constant=0.5 * (hessian * point["centre"] ** 2).sum(axis=1),
        sample_counts=point["n"],
        noise_sq=np.zeros(point["N"]),
        start=optimum + point["start"],
    )


def experiment(problem: Quadratic, algorithm: EFL, rounds: int, local_steps: int, rate: Rate) -> Experiment:
    """Return a run with full participation."""
    participation = Participation(num_clients=problem.num_clients, local_steps=local_steps)
    return Experiment(problem=problem, algorithm=algorithm, participation=participation, rounds=rounds, rate=rate)


def gradients_sq(run: Experiment) -> tuple[Floats, Floats]:
    """Return the largest squared norm of a local gradient, and the elastic term at the optimum, per round."""
    problem, algorithm = run.problem, run.algorithm
    assert isinstance(problem, Quadratic)
    assert isinstance(algorithm, EFL)
    hessian, linear, weights = problem.hessian, problem.linear, problem.weights
    fraction = algorithm.compression
    st: Any = (lambda v: v) if fraction is None else SparseTernary(fraction=fraction, ties=algorithm.ties)
    assert run.start is not None
    copy, rest = run.start.copy(), np.zeros(problem.dim)
    own, pull, push = np.zeros_like(hessian), 0.0 * copy, 0.0 * copy
    found, elastic = np.empty(run.rounds), np.zeros(run.rounds)
    optimum = problem.objective().w_star
    for index in range(run.rounds):
        rate = run.rate_at(index)
        local = np.broadcast_to(copy, hessian.shape)
        largest = 0.0
        for _ in range(run.participation.local_steps):
            gradient = hessian * local + linear + pull * local - push
            largest = max(largest, float((gradient * gradient).sum(axis=1).max()))
            local = local - rate * gradient
        found[index] = largest
        change = own + local - copy
        sent = st(change)
        own = change - sent
        update = rest + weights @ sent
        broadcast = st(update)
        rest = update - broadcast
        copy = copy + broadcast
        if algorithm.elasticity:
            pull, push = (
                algorithm.elasticity * hessian.sum(axis=0),
                algorithm.elasticity * (hessian * local).sum(axis=0),
            )
            elastic[index] = algorithm.elasticity / 2 * float((hessian * (optimum - local) ** 2).sum())
        if not np.all(np.isfinite(copy)) or float(np.abs(copy).max()) > 1e100:
            raise Rejected("the run diverges")
    return found, elastic
