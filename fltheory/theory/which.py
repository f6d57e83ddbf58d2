"""Which theorem is best here: every statement of the catalogue beside one experiment, sorted by how tight it is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy.core.relational import GreaterThan, StrictGreaterThan

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory._internal.culprits import in_words
from fltheory.algorithms.base import Algorithm
from fltheory.bounds import catalogue
from fltheory.bounds.claim import Form, Kind
from fltheory.bounds.observation import FROM_PROBLEM, Observation
from fltheory.bounds.plain_text import plain
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import declaration
from fltheory.errors import Diverged, FltheoryError, InvalidParameter, NotApplicable
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Schedule, as_rate, rates_of
from fltheory.simulation.trajectories import Trajectories
from fltheory.theory.comparison import Comparison, compare
from fltheory.theory.guarantees import GIVEN, PRESCRIBED, Guarantee, Guarantees, Inapplicable, first_at_most
from fltheory.theory.prescribed import reads_runs
from fltheory.theory.standing import KnownVerdicts, Standing
from fltheory.theory.theorem import Theorem
from fltheory.validation.verdict import Decision

ACCURACY = 0.01
"""Accuracy if none is given, as a share of the gap at the start."""


def compare_theorems(
    experiment: Experiment,
    *,
    pattern: str = "*",
    label: str | None = None,
    accuracy: float | None = None,
    engine: str | None = None,
    replicates: int = 100,
    seed: int = 0,
    radius: float | None = None,
    claims: catalogue.Folders = (),
    ledger: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    **constants: Any,
) -> Guarantees:
    """Return what every theorem of the catalogue says about an experiment, the tightest bound first.

    Every form of every statement that can be read off a run is evaluated at the experiment's learning rate and at the
    rate that the theorem prescribes; a theorem that is not about the experiment's algorithm is evaluated with its own.
    Tightness is the bound over the same quantity of the same run, exact where the exact engine applies. Forms with a
    known counterexample are shown but do not count, rates stand apart with the constant 1, and statements that do not
    apply are named with the assumption that fails.

    Parameters
    ----------
    experiment
        Any problem, algorithm, participation and learning rate.
    pattern
        Statements to look at, such as ``li.*``.
    label
        Name in table and figure; the algorithm's own if not given.
    accuracy
        Gap for which rounds are counted; a hundredth of the gap at the start if not given.
    engine, replicates, seed
        How runs are made; ``exact`` where that is possible without sampling, else ``monte_carlo``.
    radius, constants
        As for :meth:`~fltheory.theory.theorem.Theorem.compare`; a declared constant is used by all theorems that ask
        for it by this name.
    claims
        Folders with claims of your own.
    ledger
        Verdicts on the forms: a file that ``fltheory check`` or ``validate`` has written, or its content. Without it,
        the counterexamples that come with the package say which forms are refuted.

    Examples
    --------
    >>> import fltheory as fl
    >>> problem = fl.noisy_quadratic(dim=3, num_clients=2, mu=1.0, L=4.0, client_drift_sq=0.5)
    >>> participation = fl.Participation(num_clients=2, local_steps=2)
    >>> experiment = fl.Experiment(
    ...     problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=20, rate=0.05)
    >>> found = compare_theorems(experiment, pattern="fieldguide.*")
    >>> found.tightest.name, found.tightest.setting
    ('fieldguide.theorem-1 (sharp)', 'given')
    """
    owner = "compare_theorems"
    if accuracy is not None:
        accuracy = arguments.real(owner, "accuracy", accuracy, low=0, open_low=True)
    entries = catalogue.select([pattern], catalogue.folders(claims))
    verdicts = KnownVerdicts(ledger)
    bench = _Bench(experiment, engine=engine, replicates=replicates, seed=seed, radius=radius, constants=constants)
    known = set(FROM_PROBLEM)
    reference = bench.reference()
    if accuracy is None and reference is not None and reference.gap is not None:
        accuracy = ACCURACY * float(reference.gap[:, 0].mean()) or None
    rows: list[Guarantee] = []
    inapplicable: list[Inapplicable] = []
    errors: dict[str, str] = {}
    for entry in entries:
        if not reads_runs(entry):
            continue
        try:
            statement = Theorem(entry.load(), entry)
            known |= {quantity.name for quantity in statement.symbols}
        except Exception as error:  # a theorem that is broken must not cost the table
            errors[entry.id] = in_words(error)
            continue
        for form in statement.claim.forms:
            observation = form.observation or statement.claim.observation
            if observation is None:
                continue
            name = f"{entry.id} ({form.variant})"
            try:
                for found in bench.evaluated(statement, form, observation):
                    if isinstance(found, Inapplicable):
                        inapplicable.append(found)
                    else:
                        rows.append(_guarantee(statement, form, observation, found, verdicts, accuracy))
            except Exception as error:
                errors[name] = str(error) if isinstance(error, FltheoryError) else in_words(error)
    unknown = sorted(constants.keys() - known)
    if unknown:
        raise InvalidParameter(
            f"{owner}: no statement that was looked at has a constant {', '.join(unknown)}; "
            "fltheory show ID lists the symbols of a statement"
        )
    rows.sort(key=lambda one: (one.tightness, one.id))
    return Guarantees(
        label=label or experiment.algorithm.title,
        rounds=experiment.rounds,
        accuracy=accuracy,
        guarantees=tuple(rows),
        inapplicable=tuple(inapplicable),
        errors=errors,
        run=reference,
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Evaluated:
    """A form beside a run that meets its assumptions."""

    compared: Comparison
    experiment: Experiment
    setting: str


class _Bench:
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

    def evaluated(self, statement: Theorem, form: Form, observation: Observation) -> list[_Evaluated | Inapplicable]:
        """Return a form beside every run that it may be about: the given rate and its own, and its own algorithm."""
        found = self._with(self.experiment.algorithm, statement, form, observation)
        if any(isinstance(one, _Evaluated) for one in found) or observation.algorithm is None:
            return found
        own = observation.algorithm()
        if repr(own) == repr(self.experiment.algorithm):
            return found
        second = self._with(own, statement, form, observation)
        return second if any(isinstance(one, _Evaluated) for one in second) else found

    def _with(
        self, algorithm: Algorithm, statement: Theorem, form: Form, observation: Observation
    ) -> list[_Evaluated | Inapplicable]:
        chosen = dataclasses.replace(self.experiment, algorithm=algorithm)
        found = [self._one(chosen, GIVEN, statement, form, observation)]
        if observation.rate is None:
            return found
        try:
            rate = statement.rate_for(
                chosen.problem,
                chosen.participation,
                algorithm=algorithm,
                rounds=chosen.rounds,
                radius=self._radius,
                variant=form.variant,
                **self._constants,
            )
        except NotApplicable as error:
            return [*found, _refused(statement, form, PRESCRIBED, error)]
        except ZeroDivisionError:
            reason = "its rate divides by a constant that is 0 here, such as mu"
            return [*found, _refused(statement, form, PRESCRIBED, reason)]
        except InvalidParameter as error:  # such as a rate that is not positive
            return [*found, _refused(statement, form, PRESCRIBED, f"it prescribes no rate here: {error}")]
        own = dataclasses.replace(chosen, rate=rate)
        if _all_rates(own) == _all_rates(chosen):
            return found
        return [*found, self._one(own, PRESCRIBED, statement, form, observation)]

    def _one(
        self, experiment: Experiment, setting: str, statement: Theorem, form: Form, observation: Observation
    ) -> _Evaluated | Inapplicable:
        wanted = {**observation.record, **({"models": True} if "w_star" in self._constants else {})}
        try:
            compared = compare(
                statement.id,
                statement.claim,
                form,
                observation,
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
            return _refused(statement, form, setting, error)
        if compared.unmet:
            reasons = tuple((one.name, one.value) for one in compared.unmet)
            return Inapplicable(id=statement.id, variant=form.variant, setting=setting, reasons=reasons)
        return _Evaluated(compared, experiment, setting)

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
            return simulate(experiment, engine="exact", record=record, sampled="error", **self._options)
        except NotApplicable:
            return simulate(experiment, engine="monte_carlo", record=record, **self._options)


def _refused(statement: Theorem, form: Form, setting: str, reason: FltheoryError | str) -> Inapplicable:
    return Inapplicable(id=statement.id, variant=form.variant, setting=setting, reasons=((str(reason), ""),))


def _all_rates(experiment: Experiment) -> tuple[tuple[float, ...], ...]:
    """Return the rates of all local steps of all rounds, as far as they differ within a round."""
    steps, rate = experiment.participation.local_steps, _schedule(experiment)
    return tuple(tuple(dict.fromkeys(rates_of(rate, tau, steps))) for tau in range(experiment.rounds))


def _schedule(experiment: Experiment) -> Schedule:
    return as_rate(experiment.rate)


def _guarantee(
    statement: Theorem,
    form: Form,
    observation: Observation,
    found: _Evaluated,
    verdicts: KnownVerdicts,
    accuracy: float | None,
) -> Guarantee:
    """Return a row of the table."""
    compared, experiment = found.compared, found.experiment
    evidence = verdicts.of(statement.id, form.variant)
    lower = isinstance(form.relations[0], GreaterThan | StrictGreaterThan)
    if evidence.refuted:
        standing = Standing.REFUTED
    elif compared.decision is Decision.VIOLATED:
        standing = Standing.EXCEEDED
    elif lower:
        standing = Standing.LOWER
    elif compared.is_rate or statement.claim.kind is Kind.RATE:
        standing = Standing.RATE
    else:
        standing = Standing.BOUND
    gap = None if lower or standing is Standing.RATE else _on_gap(compared, observation)
    places = _rounds(compared, experiment.rounds)
    reached = seen = None
    if gap is not None and accuracy is not None:
        reached = first_at_most(gap, places, accuracy)
        curve = compared.run.gap
        if curve is not None:
            seen = first_at_most(curve.mean(axis=0), np.arange(curve.shape[1]), accuracy)
    sides = (float(compared.right[-1]), float(compared.left[-1]))
    steps, rate = experiment.participation.local_steps, _schedule(experiment)
    return Guarantee(
        id=statement.id,
        variant=form.variant,
        title=statement.title,
        setting=found.setting,
        algorithm=experiment.algorithm.title,
        rates=(float(rates_of(rate, 0, steps)[0]), float(rates_of(rate, experiment.rounds - 1, steps)[-1])),
        standing=standing,
        evidence=evidence.words,
        quantity=_quantity(form),
        bound=sides[1] if lower else sides[0],
        exact=sides[0] if lower else sides[1],
        gap_curve=gap,
        rounds_to_accuracy=reached,
        exact_rounds_to_accuracy=seen,
        compared=compared,
    )


def _quantity(form: Form) -> str:
    """Return in words what a form bounds."""
    left = form.relations[0].lhs
    declared = declaration(left)
    return plain(latex(left)) if declared is None else declared.meaning


def _rounds(compared: Comparison, rounds: int) -> Floats:
    """Return the round to which each entry of the sides belongs; some theorems count local steps instead."""
    if len(compared.right) == rounds:
        return np.arange(1.0, rounds + 1.0)
    return np.full(1, float(rounds)) if len(compared.right) == 1 else compared.rounds


def _on_gap(compared: Comparison, observation: Observation) -> Floats | None:
    """Return a bound on the gap of a model that the run yields, if the theorem gives one."""
    bounded = observation.exceeds or next(
        (name for name in ("gap", "distance_sq") if _is_curve(compared, name)),
        "",
    )
    if bounded == "gap":
        return compared.right
    smooth = compared.constants.get("L")
    if bounded == "distance_sq" and smooth is not None:
        return np.asarray(float(np.max(smooth.value)) / 2 * compared.right)
    return None


def _is_curve(compared: Comparison, name: str) -> bool:
    """Return whether the left side is a curve of the run."""
    values = getattr(compared.run, name)
    if values is None or len(compared.left) not in (values.shape[1], values.shape[1] - 1):
        return False
    curve = values.mean(axis=0)[-len(compared.left) :]
    return bool(np.array_equal(curve, compared.left))
