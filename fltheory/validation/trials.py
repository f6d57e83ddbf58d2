"""Trying a form of a claim on points of its space, with the books kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from fltheory._internal.culprits import in_words
from fltheory.bounds.algebra import Env
from fltheory.bounds.claim import Claim, Experiments, Form, Instances, Rejected
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import named
from fltheory.bounds.space import Params, exact
from fltheory.errors import BrokenClaim, Diverged, FltheoryError, NotApplicable
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.trajectories import Trajectories
from fltheory.validation.evaluate import Evaluation, defined, failing, measured, read
from fltheory.validation.verdict import Condition

PointCheck = Instances | Experiments

TINY, VANISHING = 1e-6, 1e-12
"""Sides below the first are evaluated without rounding where they are close to each other and the instance allows it;
below the second, always."""

FLOOR, LOOSE = 1e-12, 1e-6
"""Sides of float64 instances below the first count as zero; a violation has to exceed the second, relative."""


Memory = dict[tuple[Any, ...], Env]
"""Quantities of instances made so far, so that forms that share a check do not make them again."""


Runs = tuple[Trajectories, ...]
"""Trajectories of the experiments of an instance."""


def environment(
    source: PointCheck, point: Params, *, seed: int, longer: Runs | None = None, claim: Claim | None = None
) -> Env:
    """Return the quantities of the instance at a point, by name.

    ``longer`` runs of the same experiments are cut, if given. Where the claim is given, symbols as keys have to be its.
    """
    found: Mapping[Any, Any]
    if isinstance(source, Instances):
        found = _called(source.realise, point)
    else:
        made = _called(source.experiment, point)
        experiments = made if isinstance(made, tuple) else (made,)
        if longer is None:
            runs = tuple(_run(source, experiment, seed) for experiment in experiments)
        else:
            runs = tuple(run.until(e.rounds) for run, e in zip(longer, experiments, strict=True))
        found = _called(source.quantities, point, made, runs if isinstance(made, tuple) else runs[0])
    return named(found) if claim is None else claim.named(found)


def run_at(source: Experiments, point: Params, *, seed: int) -> Runs:
    """Return the trajectories of the experiments at a point."""
    made = _called(source.experiment, point)
    return tuple(_run(source, experiment, seed) for experiment in (made if isinstance(made, tuple) else (made,)))


def _called(code: Callable[..., Any], *values: Any) -> Any:
    """Call code of a claim; an error in it that does not concern the instance says in which file and line it is."""
    try:
        return code(*values)
    except (Rejected, Diverged, NotApplicable):
        raise
    except (Exception, SystemExit) as error:
        raise BrokenClaim(in_words(error, kind=not isinstance(error, FltheoryError))) from error


def _run(source: Experiments, experiment: Experiment, seed: int) -> Trajectories:
    record = Record(**{"consensus": False, "moments": source.moments, **source.record})
    return simulate(
        experiment, engine=source.engine, seed=seed, replicates=source.replicates, record=record, sampled="error"
    )


def beyond_rounding(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation of float64 sides, no longer violated if rounding in the instance could explain it.

    Where both sides vanish to rounding there is nothing to compare, and the instance is rejected.
    """
    lhs, rhs = float(evaluation.lhs), float(evaluation.rhs)
    scale = max(abs(lhs), abs(rhs))
    if scale < FLOOR:
        raise Rejected("both sides vanish to rounding")
    excess = abs(lhs - rhs) if evaluation.equality else lhs - rhs
    return evaluation if excess > LOOSE * scale else evaluation._replace(violated=False)


def _hashable(value: Any) -> Any:
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _blurred(evaluation: Evaluation) -> bool:
    """Return whether rounding may have changed what an evaluation of small sides says."""
    lhs, rhs = abs(float(evaluation.lhs)), abs(float(evaluation.rhs))
    scale = max(lhs, rhs)
    return 0 < scale < VANISHING or (scale < TINY and lhs > 0.5 * rhs > 0)


def as_floats(point: Params) -> dict[str, Any]:
    """Return a point with float64 in place of rationals."""
    return {
        name: value.astype(float) if isinstance(value, np.ndarray) and value.dtype == object else _as_float(value)
        for name, value in point.items()
    }


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, sp.Rational) and not isinstance(value, int) else value


@dataclass(slots=True)
class Trials:
    """Evaluations of one form, with the worst evaluation so far.

    Attributes
    ----------
    calls
        Points tried.
    instances
        Points at which all assumptions and premises held.
    best
        The evaluation closest to failing, and its point.
    margin, smallest
        Smallest ratio of the sides seen; once there is a counterexample, the ratio there and the smallest one.
    uncertain
        Whether some sampled curve could lie on either side of its bound.
    memory
        Shared by the forms of a claim.
    seen
        Score and point of every instance evaluated.
    """

    claim: Claim
    form: Form
    source: PointCheck
    seed: int
    calls: int = 0
    instances: int = 0
    best: tuple[Evaluation, Params] | None = None
    margin: float | None = None
    smallest: float | None = None
    uncertain: bool = False
    met: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    premises: Counter[bool] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    memory: Memory = field(default_factory=dict)
    seen: list[tuple[float, Params]] = field(default_factory=list)

    def environment(self, point: Params, *, longer: Callable[[], Runs | None] = lambda: None) -> Env:
        """Return the quantities of the float64 instance at a point, made once; see :func:`environment`."""
        key = (id(self.source), self.seed, *((name, _hashable(value)) for name, value in point.items()))
        if key not in self.memory:
            self.memory[key] = environment(self.source, point, seed=self.seed, longer=longer(), claim=self.claim)
        return self.memory[key]

    def attempt(self, point: Params) -> Evaluation | None:
        """Evaluate the form at a point; ``None`` if an assumption fails or there is no such instance."""
        self.calls += 1
        try:
            with np.errstate(all="ignore"):
                env = self.environment(point)
                if not self.admitted(env):
                    return None
                evaluation = read(self.form, env, side="low")
                # Rounding alone can make two equal sides differ, or fill two sides that vanish.
                if self.source.rational and (evaluation.violated or _blurred(evaluation)):
                    confirmed = self.exactly(point)
                    if confirmed is None:
                        return None
                    evaluation = confirmed
                elif evaluation.violated and not self.source.rational:
                    evaluation = beyond_rounding(evaluation)
                if self.source.method.value == "monte-carlo" and not evaluation.violated:
                    self.uncertain |= read(self.form, env, side="high").violated
        except (Rejected, Diverged, NotApplicable) as error:
            self.rejected[str(error)] += 1
            return None
        self.instances += 1
        self.seen.append((evaluation.score, point))
        self._note(evaluation, point)
        return evaluation

    def _note(self, evaluation: Evaluation, point: Params) -> None:
        """Keep a evaluation if it is the closest to failing so far."""
        if self.best is None or (evaluation.violated, evaluation.score) > (self.best[0].violated, self.best[0].score):
            self.best = evaluation, point
        if evaluation.margin is not None and (self.margin is None or evaluation.margin < self.margin):
            self.margin = evaluation.margin

    def attempt_given(self, point: Params) -> Evaluation | None:
        """Evaluate the form at a point whose numbers may be rationals; rounding them does not hide a failure."""
        evaluation = self.attempt(as_floats(point))
        if evaluation is not None and evaluation.violated:
            if self.best is not None and self.best[0] is evaluation:
                self.best = evaluation, point
            return evaluation
        confirmed = self.exactly(point) if self.source.rational else None
        if confirmed is None or not confirmed.violated:
            return evaluation
        self.instances += evaluation is None
        self._note(confirmed, point)
        return confirmed

    def suspicious(self, point: Params) -> bool:
        """Return whether float64 does not rule out that the form fails at a point."""
        try:
            with np.errstate(all="ignore"):
                env = self.environment(point)
                evaluation = read(self.form, env) if self.admitted(env) else None
        except (Rejected, Diverged, NotApplicable):
            return False
        return evaluation is not None and (evaluation.violated or _blurred(evaluation))

    def exactly(self, point: Params) -> Evaluation | None:
        """Return the evaluation at a point in exact arithmetic; ``None`` if an assumption or premise fails."""
        try:
            env = environment(self.source, exact(point), seed=self.seed)
            values = defined(self.form, env, exact=True)
            for assumption in self.claim.assumptions_of(self.form):
                if failing(assumption.relation, assumption.over, values, exact=True):
                    return None
            if any(failing(premise, (), values, exact=True) for premise in self.form.premises):
                return None
            return read(self.form, env, exact=True)
        except (Rejected, ZeroDivisionError):
            return None

    def settle(self, evaluation: Evaluation) -> None:
        """Take the margin of a counterexample for that of the form, so that there is one number for both.

        The smallest margin that was met on the way stays in the evidence.
        """
        self.smallest, self.margin = self.margin, evaluation.margin

    @property
    def violated(self) -> bool:
        """Whether a violation has been seen."""
        return self.best is not None and self.best[0].violated

    def conditions(self) -> tuple[Condition, ...]:
        """Return the assumptions as they were met, with their sides on the instance that is closest to failing."""
        worst = None if self.best is None else defined(self.form, self.environment(as_floats(self.best[1])))
        return tuple(
            Condition(
                name=assumption.name,
                statement=latex(assumption.relation),
                origin=assumption.origin.value,
                met=self.met[assumption.name],
                failed=self.failed[assumption.name],
                example=self.examples.get(assumption.name, ""),
                measured="" if worst is None else measured(assumption.relation, assumption.over, worst),
            )
            for assumption in self.claim.assumptions_of(self.form)
        )

    def obstacle(self) -> str:
        """Return why no instance was found, in one sentence."""
        if self.failed:
            name, count = self.failed.most_common(1)[0]
            return f"{name} failed on {count} of {self.calls} instances, first with {self.examples[name]}"
        if self.rejected:
            reason, count = self.rejected.most_common(1)[0]
            return f"{count} of {self.calls} points made no instance: {reason}"
        return "no point fulfils the premises" if self.premises[False] else "the space has no point"

    def admitted(self, env: Env) -> bool:
        """Return whether an instance fulfils all assumptions and premises, and count it."""
        values = defined(self.form, env)
        for assumption in self.claim.assumptions_of(self.form):
            why = failing(assumption.relation, assumption.over, values)
            if why:
                self.failed[assumption.name] += 1
                self.examples.setdefault(assumption.name, why)
                return False
            self.met[assumption.name] += 1
        fulfilled = not any(failing(premise, (), values) for premise in self.form.premises)
        self.premises[fulfilled] += 1
        return fulfilled

    def as_evidence(self) -> dict[str, Any]:
        """Return what else was counted."""
        found: dict[str, Any] = {"points tried": self.calls}
        if self.form.premises:
            found["premises fulfilled"] = self.premises[True]
            found["premises not fulfilled"] = self.premises[False]
        if self.rejected:
            found["no instance"] = sum(self.rejected.values())
        if self.smallest is not None:
            found["smallest margin met"] = self.smallest
        return found
