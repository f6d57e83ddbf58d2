r"""Participation whose law changes once during a run of Theorem 1.

Clients and step laws are those of :mod:`fltheory.bounds.flexible_participation.experiments` with scheme C, which is EFL
without compression and elastic term. Since the law changes, sums, maxima and minima over rounds are taken over
different ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats, Ints
from fltheory.bounds.algebra import EE, compiled
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.run_laws import laws_of
from fltheory.bounds.space import Integer, Integers, Parameter, Params, Real
from fltheory.participation import Participation, Scheme, TimeVarying
from fltheory.quadratic.problem import Quadratic


def clients() -> dict[str, Parameter]:
    """Return the parameters of a run."""
    return {
        **experiments.clients(schemes=("C",)),
        "mu": Real(0.01, 10, log=True, far=0.001),
        "low_later": Integers(0, "E", shape=("N",)),
        "high_later": Integers(0, "E", shape=("N",)),
        "q_later": Real(0, 1, shape=("N",)),
        "change": Integer(1, 8),
        "more": Integer(1, 16, furthest=10_000),
        "near": Real(0.001, 1, log=True),
    }


def from_optimum(point: Params) -> tuple[Quadratic, Floats]:
    """Return the clients' quadratics, and a start at a distance from the minimiser that ``near`` scales."""
    problem = experiments.quadratics(point)
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

    def known(self) -> dict[str, Any]:
        """Return the laws of all rounds that are planned: those of the run, and the second law if it comes later."""
        later = [law for number, law in enumerate(self.laws) if number > self.which[-1]]
        planned = [*(self.laws[number] for number in self.which), *later]
        return {
            "T": len(self.which) - 1,
            "planned": len(planned) - 1,
            "mean_ps_at": np.array([law["mean_ps"] for law in planned]),
            **laws_of(planned),
        }

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
    participation = Participation(
        num_clients=point["N"], local_steps=point["E"], selection=experiments.selection(point), steps=laws
    )
    return Schedule(
        participation,
        [experiments.law(problem, participation, Scheme.C, index) for index in (0, point["change"])],
        (np.arange(rounds + 1) >= point["change"]).astype(int),
    )


def rounds(point: Params) -> int:
    """Return the number of rounds: some before the change, some after it."""
    return int(point["change"] + point["more"])


def two_laws(point: Params, problem: Quadratic) -> Schedule:
    """Return the participation of a point of :func:`clients`."""
    later = experiments.two_values(point, low="low_later", high="high_later", q="q_later")
    return schedule(point, problem, experiments.two_values(point), later, rounds(point))
