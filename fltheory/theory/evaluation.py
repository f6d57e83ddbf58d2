"""Forms of statements beside the runs that they may be about, every run made once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from fltheory.algorithms.base import Algorithm, Chance
from fltheory.bounds.claim import Form
from fltheory.bounds.observation import Facts, NoRun, Observation
from fltheory.errors import Diverged, FltheoryError, InvalidParameter, NotApplicable
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Schedule, as_rate, rates_of
from fltheory.simulation.trajectories import Trajectories
from fltheory.theory.comparison import Comparison, compare, keeps_to
from fltheory.theory.guarantee import GIVEN, PRESCRIBED, Inapplicable
from fltheory.theory.theorem import Theorem

MOST_DRAWS = 64
"""Outcomes of an algorithm's own draws in a round that are enumerated; with more of them, runs are simulated."""


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A form of a statement that can be read off a run."""

    statement: Theorem
    form: Form
    observation: Observation

    @property
    def name(self) -> str:
        """Id and form."""
        return f"{self.statement.id} ({self.form.variant})"


@dataclasses.dataclass(frozen=True, slots=True)
class Evaluated:
    """A form beside a run that meets its assumptions; ``setting`` is whose learning rate the run has."""

    compared: Comparison
    experiment: Experiment
    setting: str


class Runs:
    """Runs the experiment with the rates and algorithms of the theorems, every combination once."""

    def __init__(
        self,
        experiment: Experiment,
        *,
        engine: str | None,
        replicates: int,
        seed: int,
        radius: float | None,
        constants: Mapping[str, Any],
    ) -> None:
        self.experiment = experiment
        self._engine = engine
        self._options: dict[str, Any] = {"replicates": replicates, "seed": seed}
        self._radius = radius
        self._constants = constants
        self._runs: dict[tuple[Any, ...], Trajectories | FltheoryError] = {}

    def reference(self) -> Trajectories | None:
        """Return the run of the experiment itself; ``None`` if it diverges."""
        try:
            return self._run(self.experiment, Record())
        except Diverged:
            return None

    def evaluated(self, one: Candidate, *, own_algorithms: bool) -> list[Evaluated | Inapplicable]:
        """Return a form beside every run that it may be about: the given rate and its own, and its own algorithm."""
        found = self._with(self.experiment.algorithm, one)
        if any(isinstance(made, Evaluated) for made in found):
            return found
        if not own_algorithms or one.observation.algorithm is None:
            return found
        own = one.observation.algorithm()
        if repr(own) == repr(self.experiment.algorithm):
            return found
        second = self._with(own, one)
        if any(isinstance(made, Evaluated) for made in second):
            return second
        # What is wrong with its own algorithm tells more than that the theorem is about that one.
        return [
            dataclasses.replace(made, reasons=tuple((f"with {own.title}: {why}", value) for why, value in made.reasons))
            for made in second
            if isinstance(made, Inapplicable)
        ]

    def _with(self, algorithm: Algorithm, one: Candidate) -> list[Evaluated | Inapplicable]:
        chosen = dataclasses.replace(self.experiment, algorithm=algorithm)
        if one.observation.rate is None:
            return [self._one(chosen, GIVEN, one)]
        try:
            rate = one.statement.rate_for(
                chosen.problem,
                chosen.participation,
                algorithm=algorithm,
                rounds=chosen.rounds,
                radius=self._radius,
                variant=one.form.variant,
                **{name: value for name, value in self._constants.items() if name in one.statement.takes()},
            )
        except NotApplicable as error:
            return [_refused(one, PRESCRIBED, error)]
        except InvalidParameter as error:  # such as a rate that is not positive
            return [_refused(one, PRESCRIBED, f"it prescribes no rate here: {error}")]
        kept = keeps_to(rate, chosen)
        if kept.met:
            return [self._one(chosen, GIVEN, one)]
        other = Inapplicable(
            id=one.statement.id, variant=one.form.variant, setting=GIVEN, reasons=((kept.name, kept.value),)
        )
        own = dataclasses.replace(chosen, rate=rate)
        return [other, self._one(own, PRESCRIBED, one)]

    def _one(self, experiment: Experiment, setting: str, one: Candidate) -> Evaluated | Inapplicable:
        early = self._screened(experiment, one)
        if early:
            return Inapplicable(id=one.statement.id, variant=one.form.variant, setting=setting, reasons=early)
        wanted = {**one.observation.record, **({"models": True} if "w_star" in self._constants else {})}
        try:
            compared = compare(
                one.statement.id,
                one.statement.claim,
                one.form,
                one.observation,
                experiment,
                self._run(experiment, Record(**wanted)),
                engine=None,
                replicates=1,
                seed=0,
                radius=self._radius,
                constants=self._constants,
                strict=False,
            )
        except (NotApplicable, Diverged) as error:
            return _refused(one, setting, error)
        if compared.unmet:
            reasons = tuple((condition.name, condition.value) for condition in compared.unmet)
            return Inapplicable(id=one.statement.id, variant=one.form.variant, setting=setting, reasons=reasons)
        return Evaluated(compared, experiment, setting)

    def _screened(self, experiment: Experiment, one: Candidate) -> tuple[tuple[str, str], ...]:
        """Return what speaks against a form before anything is run; nothing, if that shows only along a run."""
        facts = Facts(
            problem=experiment.problem,
            algorithm=experiment.algorithm,
            participation=experiment.participation,
            experiment=experiment,
            radius=self._radius,
            given=self._constants,
        )
        try:
            one.observation.about(facts)
            found = one.observation.conditions(facts)
        except NoRun:
            return ()
        except NotApplicable as error:
            return ((str(error), ""),)
        return tuple((condition.name, condition.value) for condition in found if not condition.met)

    def _run(self, experiment: Experiment, record: Record) -> Trajectories:
        """Return a run, each only once; one that failed fails again."""
        same = experiment.algorithm is self.experiment.algorithm
        key = ("" if same else repr(experiment.algorithm), _all_rates(experiment), repr(record))
        if key not in self._runs:
            try:
                self._runs[key] = self._simulated(experiment, record)
            except FltheoryError as error:
                self._runs[key] = error
        found = self._runs[key]
        if isinstance(found, FltheoryError):
            raise found
        return found

    def _simulated(self, experiment: Experiment, record: Record) -> Trajectories:
        if self._engine is not None:
            return simulate(experiment, engine=self._engine, record=record, **self._options)
        try:
            if _draws(experiment) <= MOST_DRAWS:
                return simulate(experiment, engine="exact", record=record, sampled="error", **self._options)
        except NotApplicable:
            pass
        return simulate(experiment, engine="monte_carlo", record=record, **self._options)


def _draws(experiment: Experiment) -> int:
    """Return how many outcomes the algorithm's own draws of a round have."""
    chances = experiment.algorithm.chances(experiment.participation.local_steps)
    return math.prod(len(one.probabilities) ** one.count for one in chances.values() if isinstance(one, Chance))


def _refused(one: Candidate, setting: str, reason: FltheoryError | str) -> Inapplicable:
    return Inapplicable(id=one.statement.id, variant=one.form.variant, setting=setting, reasons=((str(reason), ""),))


def _all_rates(experiment: Experiment) -> tuple[tuple[float, ...], ...]:
    """Return the rates of all local steps of all rounds, as far as they differ within a round."""
    steps, rate = experiment.participation.local_steps, schedule_of(experiment)
    return tuple(tuple(dict.fromkeys(rates_of(rate, tau, steps))) for tau in range(experiment.rounds))


def schedule_of(experiment: Experiment) -> Schedule:
    """Return the learning rate of an experiment, which it keeps as a schedule."""
    return as_rate(experiment.rate)
