r"""Theorem 1: its constants as printed and as corrected, and the runs on which it is checked.

Clients and step laws are those of :mod:`fltheory.bounds.ruan._theorem` with scheme C, which is EFL without
compression and elastic term. The law of participation changes once during a run, so that sums, maxima and minima over
rounds are taken over different ones; :math:`\theta` and :math:`G^2` are the smallest that fit the whole run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sympy import Expr, Gt, Le, Max

from fltheory.bounds._algebra import EE, compiled, scalar
from fltheory.bounds._claim import Assumption
from fltheory.bounds._space import Integer, Integers, Parameter, Params, Real
from fltheory.bounds._symbols import E, G_sq, L, mu, tau
from fltheory.bounds.efl._round import B_PRINTED, B_PROVED, METRIC
from fltheory.bounds.efl._symbols import C, H, J, distance, gamma, start
from fltheory.bounds.ruan import _theorem
from fltheory.bounds.ruan._symbols import theta
from fltheory.checks import Floats, Ints
from fltheory.participation import Participation, Scheme, TimeVarying
from fltheory.problem import Origin
from fltheory.quadratic.problem import Quadratic
from fltheory.rates import Table

least = scalar("efl_least", r"\min_\tau\mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]", "smallest expected sum of a run")
B_sum = scalar(
    "efl_B_sum",
    r"\sum_{t=0}^{\tau-1}\frac{\mathbb{E}[B_t]}{(\mathbb{E}[\sum_k p_t^k s_t^k])^2}",
    "second-order terms so far, each over the square of its own expected sum, as printed",
)
B_sum_tau = scalar(
    "efl_B_sum_tau",
    r"\sum_{t=0}^{\tau-1}\frac{\mathbb{E}[B_t]}{(\mathbb{E}[\sum_k p_\tau^k s_\tau^k])^2}",
    "second-order terms so far, over the square of the expected sum of the current round, as printed",
)
B_sum_proved = scalar(
    "efl_B_sum_proved",
    r"\sum_{t=0}^{\tau-1}\frac{\mathbb{E}[\hat B_t]}{(\mathbb{E}[\sum_k p_t^k s_t^k])^2}",
    "corrected second-order terms so far",
)
gaps = scalar(
    "efl_gaps",
    r"\max_\tau\frac{\sum_k\mathbb{E}[p_\tau^k s_\tau^k]\Gamma_k}{\mathbb{E}[\sum_k p_\tau^k s_\tau^k]}",
    "largest mean metric of a round",
)

GAMMA = Max(4 * E**2 * theta / least, 32 * E * (1 + theta) * L / (mu * least))
OFFSET = (gamma, GAMMA)
FIRST, SCALE = gamma**2 * start, (16 * E / mu) ** 2
WITH_MU = (J, 32 * E * gaps / mu)

BOUND: Expr = C / (tau * E + gamma) ** 2 + H * J / (tau * E + gamma)
STATEMENT = Le(distance, BOUND)
"""The theorem, for constants that are defined elsewhere."""

LONG_VERSION = (OFFSET, (C, FIRST + SCALE * B_sum), WITH_MU)
"""Constants of the proof in the long version."""

CORRECTED = (OFFSET, (C, FIRST + SCALE * B_sum_proved), WITH_MU)
"""Constants that are proved for the algorithm without compression and elastic term."""

ratio = scalar("efl_ratio", r"\frac{p_\tau^k}{p^k}", "largest ratio of coefficient and weight of each law of a run")
ASSUMPTIONS = (
    Assumption("some updates are aggregated", Gt(least, 0)),
    Assumption("bounded gradients (Assumption 4)", Le(_theorem.gradient_sq, G_sq), Origin.MEASURED),
    Assumption("bounded coefficients (Assumption 5)", Le(ratio, theta)),
)


def clients() -> dict[str, Parameter]:
    """Return the parameters of a run."""
    return {
        **_theorem.clients(schemes=("C",)),
        "mu": Real(0.01, 10, log=True),
        "low_later": Integers(0, "E", shape=("N",)),
        "high_later": Integers(0, "E", shape=("N",)),
        "q_later": Real(0, 1, shape=("N",)),
        "change": Integer(1, 8),
        "more": Integer(1, 16),
        "near": Real(0.001, 1, log=True),
    }


def from_optimum(point: Params) -> tuple[Quadratic, Floats]:
    """Return the clients' quadratics, and a start at a distance from the minimiser that ``near`` scales."""
    problem = _theorem.quadratics(point)
    return problem, problem.objective().w_star + point["near"] * point["start"]


class Schedule(NamedTuple):
    """Participation whose law changes once, and the law that is in force in each round."""

    participation: Participation
    laws: list[dict[str, Any]]
    """What the theorem needs to know about either law."""
    which: Ints
    """Number of the law, shape ``(rounds + 1,)``."""

    def of_rounds(self, values: Any) -> Floats:
        """Return one number per law as one per round, shape ``(rounds + 1,)``."""
        return np.asarray(values, dtype=float)[self.which]

    @property
    def work(self) -> Floats:
        """The expected sum of coefficients times steps in every round."""
        return self.of_rounds([law["mean_ps"] for law in self.laws])

    @property
    def active(self) -> Floats:
        """Every client's chance to work in every round, shape ``(rounds, clients)``."""
        chances = [law["chance"] @ (np.asarray(law["s_drawn"]) > 0) for law in self.laws]
        return np.stack(chances)[self.which[:-1]]

    def squared_sums(self) -> Floats:
        """Return the expected sum, over the steps of a round, of the squared sum of the coefficients in use."""
        steps = np.arange(self.participation.local_steps)
        found = []
        for law in self.laws:
            used = (np.asarray(law["p_drawn"])[:, :, None] * (np.asarray(law["s_drawn"])[:, :, None] > steps)).sum(
                axis=1
            )
            found.append(float(law["chance"] @ (used**2).sum(axis=1)))
        return self.of_rounds(found)[:-1]

    def expected(self, term: Any, env: dict[str, Any]) -> Floats:
        """Return the expectation of a term in every round, the one after the last excluded."""
        drawn = ("p_drawn", "s_drawn", "chance")
        values = [float(compiled(EE(term))(env | {name: law[name] for name in drawn})) for law in self.laws]
        return self.of_rounds(values)[:-1]


def schedule(point: Params, problem: Quadratic, first: Any, later: Any, rounds: int) -> Schedule:
    """Return the participation with one law before the round ``change`` and another from then on."""
    laws = TimeVarying(laws=(first, later), starts=(0, point["change"]))
    participation = Participation(num_clients=point["N"], local_steps=point["E"], steps=laws)
    return Schedule(
        participation,
        [_theorem.law(problem, participation, Scheme.C, index) for index in (0, point["change"])],
        (np.arange(rounds + 1) >= point["change"]).astype(int),
    )


def rounds(point: Params) -> int:
    """Return the number of rounds: some before the change, some after it."""
    return int(point["change"] + point["more"])


def two_laws(point: Params, problem: Quadratic) -> Schedule:
    """Return the participation of a point of :func:`clients`."""
    later = _theorem.two_values(point, low="low_later", high="high_later", q="q_later")
    return schedule(point, problem, _theorem.two_values(point), later, rounds(point))


def setting(problem: Quadratic, plan: Schedule, **other: Any) -> dict[str, Any]:
    """Return all that the learning rate depends on; ``other`` replaces constants of the problem."""
    known = {
        "E": plan.participation.local_steps,
        **_theorem.constants(problem),
        "theta": max(law["theta"] for law in plan.laws),
        "efl_ratio": np.array([law["theta"] for law in plan.laws]),
        "efl_least": min(law["mean_ps"] for law in plan.laws),
    }
    return known | other


def rates(plan: Schedule, env: dict[str, Any]) -> Table:
    """Return the learning rate of the theorem."""
    steps, work = env["E"], plan.work[:-1]
    times = np.arange(1, len(work) + 1)
    return Table(values=16 * steps / (env["mu"] * (times * steps + compiled(GAMMA)(env)) * work))


def constants(plan: Schedule, env: dict[str, Any]) -> dict[str, Any]:
    """Return the sums and maxima over rounds, curves from round 1 on; ``env`` has ``G_sq``."""
    work = plan.work
    mixed = plan.of_rounds([law["z"] for law in plan.laws])[:-1]
    printed = plan.expected(B_PRINTED, env)
    return {
        "tau": np.arange(1, len(work)),
        "efl_B_sum": np.cumsum(printed / work[:-1] ** 2),
        "efl_B_sum_tau": np.cumsum(printed) / work[1:] ** 2,
        "efl_B_sum_proved": np.cumsum(plan.expected(B_PROVED, env) / work[:-1] ** 2),
        "efl_H": np.cumsum(mixed),
        "efl_gaps": float((plan.expected(METRIC, env) / work[:-1]).max()),
    }
