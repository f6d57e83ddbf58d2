r"""Scaffnew on quadratics: the expected Lyapunov function, exactly, and how it is read on an experiment.

With :math:`e_i = x_i - x_\star` and :math:`u_i = h_i - \nabla f_i(x_\star)` a step is linear given its coin,

.. math:: \hat e_i = e_i - \gamma(H_ie_i - u_i) + \gamma\nu_i, \qquad
   (e_i, u_i) \leftarrow \begin{cases}\bigl(\bar e, u_i + \frac p\gamma(\bar e - \hat e_i)\bigr), & \text{heads}\\
   (\hat e_i, u_i), & \text{tails,}\end{cases}

so that second moments are propagated through the coin: :math:`S \leftarrow pM_1(S)M_1^\top + (1-p)M_0(S)M_0^\top`, with
what the noise adds. Then :math:`\mathbb E[\Psi_T] = \mathrm{tr}\,S_{ee} + \frac{\gamma^2}{p^2}\,\mathrm{tr}\,S_{uu}`.

The paper's :math:`f` is :math:`\sum_if_i(x_i)` over all clients' models together, :math:`\psi` allows equal models
only, and norms are sums over clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.bounds.fixed_objectives import fixed_objectives
from fltheory.bounds.observation import Facts, Requirement
from fltheory.errors import NotApplicable
from fltheory.problems.problem import Origin, Problem
from fltheory.quadratic.problem import Quadratic, client_gradients
from fltheory.simulation.experiment import Experiment

MOST = 120
"""Largest number of clients times dimensions whose second moments are propagated."""


@dataclass(frozen=True, slots=True, eq=False)
class ErrorMoments:
    """Second moments of all errors, ``(2 n, 2 n)`` with ``n`` clients times dimensions, models first."""

    curvature: Floats
    mean: Floats
    noise: Floats
    start: Floats

    @classmethod
    def of(cls, problem: Problem, start: Floats | None = None) -> ErrorMoments:
        """Return the errors at the start, where control variates are zero."""
        clients, dim = problem.num_clients, problem.dim
        if not isinstance(problem, Quadratic) or clients * dim > MOST:
            raise NotApplicable(
                "the Lyapunov function is computed on quadratics with at most "
                f"{MOST} clients times dimensions; got {type(problem).__name__} with {clients} x {dim}"
            )
        if problem.hessian_noise > 0 or problem.round_growth > 0:
            raise NotApplicable(
                "the Lyapunov function is computed for additive noise; set hessian_noise and round_growth to 0"
            )
        best = np.asarray(problem.objective().w_star)
        slopes = client_gradients(problem, best)
        around = client_gradients(problem, best + np.eye(dim)) - slopes[:, None]
        curvature = np.zeros((clients * dim, clients * dim))
        for number, rows in enumerate(around):
            block = slice(number * dim, (number + 1) * dim)
            curvature[block, block] = rows.T
        begin = np.asarray(problem.start if start is None else start) - best
        variance = np.broadcast_to(np.asarray(problem.constants()["sigma_sq"].value, dtype=float), (clients,))
        mean = np.kron(np.full((clients, clients), 1 / clients), np.eye(dim))
        first = np.concatenate([np.tile(begin, clients), -slopes.ravel()])
        return cls(curvature, mean, np.repeat(variance / dim, dim), np.outer(first, first))

    def maps(self, gamma: float, q: float) -> tuple[Floats, Floats, Floats]:
        """Return what a step does after heads and after tails, and the noise of the local step, as a diagonal."""
        size = len(self.mean)
        one, zero = np.eye(size), np.zeros((size, size))
        local = np.block([[one - gamma * self.curvature, gamma * one], [zero, one]])
        meet = np.block([[self.mean, zero], [q / gamma * (self.mean - one), one]])
        return meet, local, np.concatenate([gamma**2 * self.noise, np.zeros(size)])

    def psi(self, gamma: Sequence[float], q: float) -> Iterator[float]:
        """Yield the expected Lyapunov function at the start and after every step, one step size each."""
        size, now = len(self.mean), self.start
        known: dict[float, tuple[Floats, Floats, Floats]] = {}
        for step in (gamma[0], *gamma):
            if known:
                meet, local, noise = known.setdefault(step, self.maps(step, q))
                now = local @ now @ local.T + np.diag(noise)
                now = q * meet @ now @ meet.T + (1 - q) * now
            else:
                known[step] = self.maps(step, q)
            yield float(np.trace(now[:size, :size]) + (step / q) ** 2 * np.trace(now[size:, size:]))


def about(facts: Facts) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    if not isinstance(facts.algorithm, Scaffnew):
        raise NotApplicable(f"the theorem is read on Scaffnew, got {facts.algorithm.title}")
    if not facts.everybody_completes():
        raise NotApplicable("the theorem is about clients that all take part in every step")
    return f"Scaffnew, {facts.num_clients} clients, probability {facts.algorithm.probability:g}"


def conditions(facts: Facts, *, noise: bool) -> Sequence[Requirement]:
    """Return what the theorem assumes besides relations between symbols."""
    spread = float(np.ptp(facts.problem.weights))
    rates = set(_rates(facts.experiment))
    found = [
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
        Requirement("one step size", len(rates) == 1, f"{len(rates)} different"),
    ]
    if not noise:
        largest = float(np.max(facts.require("sigma_sq")["sigma_sq"]))
        found.append(Requirement("exact gradients", largest == 0.0, f"sigma_sq = {largest:g}"))
    return [*found, *fixed_objectives(facts)]


def _rates(experiment: Experiment) -> list[float]:
    """Return the step size of every local step of an experiment."""
    steps = experiment.participation.local_steps
    found: list[float] = []
    for index in range(experiment.rounds):
        rates = experiment.rates_at(index)
        found += list(rates) if len(rates) == steps else [rates[0]] * steps
    return found


def quantities(facts: Facts) -> dict[str, Any]:
    """Return the quantities of the theorem at the end of every round."""
    assert isinstance(facts.algorithm, Scaffnew)
    known, steps = facts.require("mu", "L", "sigma_sq"), facts.local_steps
    q, rates = facts.algorithm.probability, _rates(facts.experiment)
    values = np.array(list(ErrorMoments.of(facts.problem, np.asarray(facts.experiment.start)).psi(rates, q)))
    total = float(np.broadcast_to(np.asarray(known["sigma_sq"], dtype=float), (facts.num_clients,)).sum())
    return {
        "mu": known["mu"],
        "L": known["L"],
        "gamma": facts.keep("gamma", rates[0], Origin.DECLARED, "step size of the experiment"),
        "q": facts.keep("p", q, Origin.DECLARED, "probability of the algorithm"),
        "A": facts.keep("A", known["L"], Origin.COMPUTED, "expected smoothness, by Lemma 5.4"),
        "C": facts.keep("C", total, Origin.COMPUTED, "variance of all clients, by Lemma 5.4"),
        "spread_sq": facts.keep("spread_sq", total, Origin.COMPUTED, "variance of all clients"),
        "T": steps * np.arange(1, facts.rounds + 1),
        "psi_T": values[steps::steps],
        "psi_0": float(values[0]),
    }
