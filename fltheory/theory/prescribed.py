"""The learning rates that the catalogue's theorems prescribe for a problem, an algorithm and a participation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fltheory.algorithms.base import Algorithm
from fltheory.bounds import catalogue
from fltheory.errors import FltheoryError
from fltheory.participation import Participation
from fltheory.problems.problem import Problem
from fltheory.simulation.schedules import Schedule, rates_of
from fltheory.theory.theorem import Theorem

_KEYWORD = "observation="
"""What the file of every statement that can be read off a run contains; the others are not loaded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrescribedRate:
    """A learning rate and the forms of a statement that ask for it.

    Parameters
    ----------
    id, variants
        The statement, and all its forms with this rate.
    rate
        The rate, as a schedule.
    values
        Its values in all rounds, of the first local step if it changes inside rounds.
    name
        The id, with the first of the forms where other forms of the statement ask for other rates.
    """

    id: str
    variants: tuple[str, ...]
    rate: Schedule
    values: tuple[float, ...]
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PrescribedRates:
    """What the theorems say.

    Parameters
    ----------
    found
        The rates, in the order of the catalogue.
    refused
        Statements that prescribe a rate, but not here: why not, by id.
    free
        Ids of statements on runs that hold for every rate that meets their assumptions.
    """

    found: tuple[PrescribedRate, ...]
    refused: Mapping[str, str]
    free: tuple[str, ...]


def prescribed_rates(
    problem: Problem,
    participation: Participation,
    *,
    algorithm: Algorithm,
    rounds: int,
    radius: float | None = None,
    claims: catalogue.Folders = (),
    **constants: Any,
) -> PrescribedRates:
    """Return every learning rate that a theorem of the catalogue prescribes.

    Parameters
    ----------
    problem, participation, algorithm, rounds, radius, constants
        As for :meth:`~fltheory.theory.theorem.Theorem.rate_for`.
    claims
        Folders with claims of your own.

    Examples
    --------
    >>> import fltheory as fl
    >>> problem = fl.client_quadratics(dim=3, num_clients=2, mu=1.0, L=4.0, noise_sq=0.1)
    >>> found = prescribed_rates(
    ...     problem, fl.Participation(num_clients=2, local_steps=2), algorithm=fl.FedAvg(), rounds=10)
    >>> "ruan.theorem-3.1" in {one.id for one in found.found}
    True
    """
    found: list[PrescribedRate] = []
    refused: dict[str, str] = {}
    free: list[str] = []
    for entry in catalogue.select(["*"], catalogue.folders(claims)):
        if not reads_runs(entry):
            continue
        statement = Theorem(entry.load(), entry)
        variants = [name for name in statement.forms if statement.prescribes(name)]
        if not variants:
            free.append(entry.id)
        mine = {name: value for name, value in constants.items() if name in statement.takes()}
        own: dict[tuple[float, ...], tuple[list[str], Schedule]] = {}
        for variant in variants:
            try:
                rate = statement.rate_for(
                    problem,
                    participation,
                    algorithm=algorithm,
                    rounds=rounds,
                    radius=radius,
                    variant=variant,
                    **mine,
                )
                values = tuple(rates_of(rate, tau, participation.local_steps)[0] for tau in range(rounds))
            except FltheoryError as error:
                refused.setdefault(entry.id, str(error))
            else:
                own.setdefault(values, ([], rate))[0].append(variant)
        if own:
            refused.pop(entry.id, None)
        found += [
            PrescribedRate(
                id=entry.id,
                variants=tuple(names),
                rate=rate,
                values=values,
                name=entry.id if len(own) == 1 else f"{entry.id} ({names[0]})",
            )
            for values, (names, rate) in own.items()
        ]
    return PrescribedRates(found=tuple(found), refused=refused, free=tuple(free))


def reads_runs(entry: catalogue.Entry) -> bool:
    """Return whether some form of a statement may be read off a run; its file is not loaded for that."""
    return _KEYWORD in entry.path.read_text(encoding="utf-8")
