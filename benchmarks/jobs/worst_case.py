"""Job W: worst cases by an SDP (PEPit) against fltheory's search over instances; value and time.

Every row has to show theorem >= SDP >= search: the theorem bounds all functions, the SDP finds the worst of them, the
search exhibits one.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
from fltheory.bounds.objective_shift.displacement import SAFETY, constants, simulated, worst_case

from benchmarks.options import Options
from benchmarks.report import WRONG, Table, seconds_text
from fltheory.bounds.functions import Kinked
from fltheory.errors import NotApplicable

COLUMNS = ("instance", "theorem", "SDP", "search", "SDP, s", "search, s", "verdict")


def run(options: Options) -> list[Table]:
    """Measure and return the table."""
    table = Table(title="W  worst cases: theorem, SDP over all functions, search over instances", columns=COLUMNS)
    pairs = [(10.0, 1.0)] if options.quick else [(2.0, 1.0), (10.0, 0.1), (10.0, 1.0), (10.0, 10.0), (100.0, 1.0)]
    for condition, ratio in pairs:
        label = f"objective shift, L/mu={condition:g}, n/n_l={ratio:g}"
        theorem = constants(condition, ratio)[0]
        _row(
            table,
            label,
            theorem,
            lambda c=condition, r=ratio: worst_case(c, r),
            lambda c=condition, r=ratio: simulated(c, r),
        )
    for steps in (1, 2) if options.quick else (1, 2, 3):
        federation = Federation(steps=steps)
        label = f"one round of FedAvg, N=2, E={steps}, L/mu=10"
        _row(table, label, federation.theorem(), federation.worst_case, federation.searched)
    table.notes.append(
        "objective shift: mu ||w* - w~*||^2 / Gamma_l; FedAvg: ||w_E - w*||^2 after a round with the theorem's rate"
    )
    return [table]


class Federation:
    """Two clients with equal weights, no noise, and the learning rate of the convergence theorem."""

    mu, smooth, start_sq, gamma_metric, gradient_sq = 1.0, 10.0, 1.0, 0.5, 150.0

    def __init__(self, *, steps: int) -> None:
        self.steps = steps
        shift = max(64 * self.smooth / self.mu, 4 * steps)
        self.shift, self.rate = shift, 16 / (self.mu * shift)

    def theorem(self) -> float:
        """Return the bound of the theorem after one round: full participation, theta = 1."""
        e, g_sq = self.steps, self.gradient_sq
        b = 6 * self.smooth * e * self.gamma_metric + (2 + self.mu / (4 * self.smooth)) * e * e * (e - 1) * g_sq
        b += 2 * e * e * g_sq
        return float(max(self.shift**2 * self.start_sq, (16 / self.mu) ** 2 * b / e) / (e + self.shift))

    def worst_case(self) -> float:
        """Return the worst case over all functions of the class."""
        try:
            from PEPit import PEP
            from PEPit.functions import SmoothStronglyConvexFunction
        except ImportError:
            raise NotApplicable("pip install 'fltheory[pep]'") from None
        problem = PEP()
        clients = [problem.declare_function(SmoothStronglyConvexFunction, mu=self.mu, L=self.smooth) for _ in range(2)]
        star = ((clients[0] + clients[1]) / 2).stationary_point()
        start = problem.set_initial_point()
        problem.set_initial_condition((start - star) ** 2 <= self.start_sq)
        own = [client.stationary_point() for client in clients]
        gaps = [client(star) - client(best) for client, best in zip(clients, own, strict=True)]
        problem.add_constraint((gaps[0] + gaps[1]) / 2 <= self.gamma_metric)
        ends = []
        for client in clients:
            w = start
            for _ in range(self.steps):
                gradient = client.gradient(w)
                problem.add_constraint(gradient**2 <= self.gradient_sq)
                w = w - self.rate * gradient
            ends.append(w)
        problem.set_performance_metric(((ends[0] + ends[1]) / 2 - star) ** 2)
        return float(problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)) * (1 + SAFETY)

    def searched(self) -> float:
        """Return the largest distance on piecewise quadratics in one dimension that fulfil the constraints."""
        from scipy.optimize import differential_evolution

        def value(u: Any) -> float:
            centre, knot = 3 * u[0:2, None], 3 * u[2:4, None]
            slopes = self.mu + (self.smooth - self.mu) * (u[4:8, None] + 1) / 2
            functions = Kinked(centre=centre, knot=knot, left=slopes[:2], right=slopes[2:])
            star = functions.minimiser(np.array([0.5, 0.5]))
            ends, largest = [], 0.0
            for client in range(2):
                w = star + np.sign(u[8]) * np.sqrt(self.start_sq)
                for _ in range(self.steps):
                    gradient = functions.gradient(client, w)
                    largest = max(largest, float(gradient[0] ** 2))
                    w = w - self.rate * gradient
                ends.append(w)
            gap = sum(float(functions.value(client, star)) for client in range(2)) / 2
            excess = max(gap - self.gamma_metric, 0.0) + max(largest - self.gradient_sq, 0.0)
            return excess - (0.0 if excess else float(((ends[0] + ends[1]) / 2 - star)[0] ** 2))

        return -float(differential_evolution(value, [(-1, 1)] * 9, seed=0, maxiter=60, tol=1e-9).fun)


def _row(table: Table, label: str, theorem: float, by_sdp: Any, by_search: Any) -> None:
    begin = time.perf_counter()
    try:
        worst = by_sdp()
    except NotApplicable as error:
        worst = None
        table.notes.append(str(error))
    middle = time.perf_counter()
    found = by_search()
    end = time.perf_counter()
    chain = [theorem, found] if worst is None else [theorem, worst, found]
    ordered = all(a >= b * (1 - 10 * SAFETY) for a, b in itertools.pairwise(chain))
    verdict = "ok" if ordered else WRONG
    table.rows.append(
        [
            label,
            f"{theorem:.5g}",
            "-" if worst is None else f"{worst:.5g}",
            f"{found:.5g}",
            seconds_text(middle - begin),
            seconds_text(end - middle),
            verdict,
        ]
    )
    table.records.append(
        {
            "instance": label,
            "theorem": theorem,
            "sdp": worst,
            "search": found,
            "sdp_seconds": middle - begin,
            "search_seconds": end - middle,
            "verdict": verdict,
        }
    )
