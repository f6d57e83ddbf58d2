"""A theorem beside an experiment: both sides round by round, every constant with its origin, every assumption."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy.core.relational import GreaterThan, StrictGreaterThan

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.bounds.algebra import BigO, needed_by
from fltheory.bounds.claim import Claim, Form, Kind, Rejected
from fltheory.bounds.definitions import definitions, used
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.papers import labelled
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import Role
from fltheory.errors import InvalidParameter, MissingConstants, NotApplicable, NotRecorded
from fltheory.problems.problem import Constant, Origin
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment, require_experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Schedule, rates_of
from fltheory.simulation.trajectories import Band, Trajectories, library
from fltheory.theory.bound import RATE_NOTE
from fltheory.theory.declared import check_constants, check_run, completed
from fltheory.validation.evaluate import defined, failing, measured, sides
from fltheory.validation.verdict import Decision

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGREE = 1e-9
"""Learning rates that differ by less, relatively, are the same."""

OWN_RATE = "learning rate of the theorem"
"""Name of the condition that an experiment has the rate that the theorem prescribes."""

ROUND = "round"
"""Name of a horizontal axis that counts rounds."""

ROUNDING = 1e-9
"""Relative excess of the left side that is put down to rounding."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class Comparison:
    """Both sides of a theorem along one experiment.

    Parameters
    ----------
    id, reference, variant, statement
        What is compared: the statement, where it is printed, the form, and its LaTeX.
    rounds
        Values of the horizontal axis: numbers of rounds, or of what the statement counts instead.
    axis
        ``round``, or the name of the symbol that counts something else, such as local steps.
    left, right
        The sides, one entry per round; ``left`` is the mean of a sampled run.
    left_low, left_high, right_low, right_high
        Bands of the sides that hold for all rounds at once; equal to the sides for exact runs.
    direction
        ``upper``, or ``lower`` for a bound that the run stays above: its sides are the bound and the run.
    assumptions
        Every condition with its value.
    constants
        Every constant with value and origin, by the name of its symbol.
    is_rate
        Whether the right side is a rate, evaluated with the constant 1.
    run
        The run itself.
    """

    id: str
    reference: str
    variant: str
    statement: str
    rounds: Floats
    axis: str
    left: Floats
    left_low: Floats
    left_high: Floats
    right: Floats
    right_low: Floats
    right_high: Floats
    direction: str
    assumptions: tuple[Requirement, ...]
    constants: Mapping[str, Constant]
    is_rate: bool
    run: Trajectories = field(repr=False)

    @property
    def slack(self) -> Floats:
        """How many times the right side is larger than the left one; below 1 where the bound is exceeded.

        Infinite where the left side is no more than 0 and the right side no less.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((self.left <= 0) & (self.right >= 0), np.inf, self.right / self.left)

    @property
    def unmet(self) -> tuple[Requirement, ...]:
        """The conditions that are not met."""
        return tuple(assumption for assumption in self.assumptions if not assumption.met)

    @property
    def decision(self) -> Decision:
        """What this run says about the theorem: nothing, if an assumption is not met or a constant is open."""
        if self.unmet:
            return Decision.NOT_APPLICABLE
        if self.is_rate:
            return Decision.INCONCLUSIVE
        rounding = ROUNDING * np.abs(self.right)
        if np.any(self.left_low > self.right_high + rounding):
            return Decision.VIOLATED
        surely = np.all(self.left_high <= self.right_low + rounding)
        return Decision.HOLDS if surely else Decision.INCONCLUSIVE

    def __str__(self) -> str:
        worst = int(np.argmin(self.slack))
        lines = [
            f"{self.id} ({self.variant}): {self.decision.value}",
            f"closest {self._place(worst)}: {self.left[worst]:.4g} against {self.right[worst]:.4g}",
        ]
        if self.is_rate:
            lines.append(RATE_NOTE)
        lines += [str(assumption) for assumption in self.assumptions]
        lines += [f"{name} = {_shown(known.value)} ({known.origin.value})" for name, known in self.constants.items()]
        return "\n".join(lines)

    def _place(self, index: int) -> str:
        value = f"{self.rounds[index]:g}"
        return f"in round {value}" if self.axis == ROUND else f"at {self.axis} = {value}"

    def __repr__(self) -> str:
        return f"Comparison({self.id!r}, {self.variant!r}, {self.decision.value}, {len(self.rounds)} rounds)"

    def _repr_html_(self) -> str:
        conditions = "".join(
            f"<tr><td>{'met' if a.met else '<b>not met</b>'}</td><td>{html.escape(a.name)}</td>"
            f"<td>{html.escape(a.value)}</td><td>{a.origin.value}</td></tr>"
            for a in self.assumptions
        )
        known = "".join(
            f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(_shown(c.value))}</td>"
            f"<td>{c.origin.value}</td><td>{html.escape(c.note)}</td></tr>"
            for name, c in self.constants.items()
        )
        return (
            f"<div><b>{html.escape(self.id)}</b> ({html.escape(self.variant)}): {self.decision.value}<br>"
            f"$\\displaystyle {html.escape(self.statement)}$"
            f"<table><tr><th></th><th>assumption</th><th>value</th><th>origin</th></tr>{conditions}</table>"
            f"<table><tr><th>constant</th><th>value</th><th>origin</th><th></th></tr>{known}</table></div>"
        )

    def columns(self) -> dict[str, Floats]:
        """Return both sides and their ratio by name, one entry per round."""
        return {
            self.axis: self.rounds,
            "left": self.left,
            "left_low": self.left_low,
            "left_high": self.left_high,
            "right": self.right,
            **({} if np.array_equal(self.right_low, self.right_high) else self._right_band()),
            "slack": self.slack,
        }

    def _right_band(self) -> dict[str, Floats]:
        return {"right_low": self.right_low, "right_high": self.right_high}

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with one row per round."""
        return library("pandas").DataFrame(self.columns())

    def plot(self, *, title: str | None = None) -> Figure:
        """Return a figure with both sides on logarithmic axes, the bound as a dashed line."""
        from fltheory.figures.against_bound import against_bound

        return against_bound(self, title=title)


def compare(
    id_: str,
    claim: Claim,
    form: Form,
    observation: Observation,
    experiment: Experiment,
    run: Trajectories | None,
    *,
    engine: str | None,
    replicates: int,
    seed: int,
    radius: float | None,
    constants: Mapping[str, Any],
    strict: bool = True,
) -> Comparison:
    """Return both sides of a form along an experiment; see :meth:`~fltheory.theory.theorem.Theorem.compare`.

    Unless ``strict`` is set, declared constants that the statement makes no use of are ignored, and nobody asks whether
    the run is one of the experiment.
    """
    owner = "compare"
    require_experiment(owner, experiment)
    replicates = arguments.integer(owner, "replicates", replicates, low=1)
    seed = arguments.integer(owner, "seed", seed, low=0)
    quantities = {name: one for part in _parts(claim, form) for name, one in needed_by(part).items()}
    check_constants(owner, quantities.values(), constants, experiment)
    wanted = {**observation.record, **({"models": True} if "w_star" in constants else {})}
    given = run is not None
    if run is None:
        run = _run(experiment, Record(**wanted), engine, replicates, seed)
    elif strict:
        check_run(owner, experiment, run)
    beside = partial(_beside, id_, claim, form, observation, experiment, radius=radius, constants=constants)
    try:
        return beside(run, strict=strict)
    except NotRecorded as error:
        more = completed(experiment, run, wanted) if given else None
        if more is None:
            remedy = f"; run it with record=fl.theorem({id_!r}).record({form.variant!r}), or leave the run out"
            raise NotRecorded(f"{error}{remedy if given else ''}") from None
    return beside(more, strict=strict)


def _beside(
    id_: str,
    claim: Claim,
    form: Form,
    observation: Observation,
    experiment: Experiment,
    run: Trajectories,
    *,
    radius: float | None,
    constants: Mapping[str, Any],
    strict: bool,
) -> Comparison:
    """Return both sides of a form along a run."""
    facts = Facts.of(experiment, run, given=constants, radius=radius)
    setting = observation.about(facts)
    env = {_name(key): value for key, value in observation.quantities(facts).items()}
    unknown = constants.keys() - facts.used - env.keys()
    if unknown and strict:
        raise InvalidParameter(
            f"{id_} makes no use of {', '.join(sorted(unknown))}; it can be told {', '.join(sorted(facts.found))}"
        )
    for name in constants.keys() - facts.used - unknown:
        env[name] = constants[name]
        facts.found[name] = Constant(constants[name], Origin.DECLARED, "declared by the user")
    _require_all(claim, form, env, type(experiment.problem).__name__)
    env = _without_exceptions(claim, form, env)
    met = [Requirement("setting", True, setting, Origin.COMPUTED)]
    if observation.rate is not None:
        met.append(_prescribed(observation.rate, facts))
    met += [*observation.conditions(facts), *facts.inside_ball()]
    met += _domains(form, env, facts)
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            met += _conditions(claim, form, env)
            left, right = _sides(form, env, "")
            low, right_low = _sides(form, env, "low")
            high, right_high = _sides(form, env, "high")
    except (ZeroDivisionError, Rejected) as error:
        failed = "".join(f"; {one.name} ({one.value})" for one in met if not one.met)
        by = _denominators(form, env) or ", ".join(sorted(_zeros(env)))
        raise NotApplicable(f"the statement divides by what is 0 here: {by}{failed}") from error
    if not np.all(np.isfinite(right)):
        round_ = int(np.argmin(np.isfinite(right))) + 1
        by = _denominators(form, env)
        value = f"it is {right[round_ - 1]:g} in round {round_}{f', divided by {by} = 0' if by else ''}"
        met.append(Requirement("the right-hand side is finite", False, value))
    rounds, axis = np.arange(1.0, len(left) + 1.0), ROUND
    if len(left) == 1:  # a statement about the end of the run
        rounds = np.full(1, float(experiment.rounds))
    if observation.axis is not None:
        counted = np.atleast_1d(np.asarray(env[_name(observation.axis)], dtype=float))
        if counted.shape == left.shape:
            one_by_one = len(counted) == experiment.rounds and bool(np.all(np.diff(counted) == 1))
            rounds, axis = counted, ROUND if one_by_one else _name(observation.axis)
    return Comparison(
        id=id_,
        reference=labelled(claim.citation.paper, claim.citation.reference),
        variant=form.variant,
        statement=form.latex(),
        rounds=rounds,
        axis=axis,
        left=left,
        left_low=low,
        left_high=high,
        right=right,
        right_low=right_low,
        right_high=right_high,
        direction="lower" if is_lower(claim, form) else "upper",
        assumptions=tuple(met),
        constants=dict(facts.found),
        is_rate=any(isinstance(side, BigO) for side in form.relations[0].args),
        run=run,
    )


def _parts(claim: Claim, form: Form) -> list[Any]:
    """Return all expressions of a form and of its assumptions."""
    return [*form.parts(), *(one.relation for one in claim.assumptions_of(form))]


def _without_exceptions(claim: Claim, form: Form, env: Mapping[str, Any]) -> dict[str, Any]:
    """Return an environment in which a division by zero has a value that is not finite, in place of an exception."""
    counts = {
        name
        for part in _parts(claim, form)
        for name, quantity in needed_by(part).items()
        if quantity.domain.value.startswith("integer") or quantity.role is Role.INDEX
    }
    return {
        name: np.float64(value) if isinstance(value, int | float) and name not in counts else value
        for name, value in env.items()
    }


def _require_all(claim: Claim, form: Form, env: Mapping[str, Any], where: str) -> None:
    """Raise with all quantities that the form needs and nobody knows."""
    relations = [*form.relations, *form.premises, *(one.relation for one in claim.assumptions_of(form))]
    used_here = used(form.where, relations)
    made = {one.name: one for one in definitions(used_here)}
    indices = {i.name for i, _, _ in (*form.over, *(r for one in claim.assumptions_of(form) for r in one.over))}
    missing: dict[str, str] = {}
    for part in (*relations, *(value for _, value in used_here)):
        for name, quantity in needed_by(sp.sympify(part)).items():
            inner = {index for one in made.values() for index in one.indices}
            if name not in env and name not in made and name not in indices | inner:
                missing[name] = quantity.meaning
    if missing:
        raise MissingConstants(missing, where=where)


def _run(experiment: Experiment, record: Record, engine: str | None, replicates: int, seed: int) -> Trajectories:
    if engine is not None:
        return simulate(experiment, engine=engine, record=record, replicates=replicates, seed=seed)
    try:
        return simulate(experiment, engine="exact", record=record, replicates=replicates, seed=seed)
    except NotApplicable:
        return simulate(experiment, engine="monte_carlo", record=record, replicates=replicates, seed=seed)


def _name(key: Any) -> str:
    """Return the name of a symbol, of a family, or a name itself."""
    if isinstance(key, str):
        return key
    return str(getattr(key, "name", None) or key.label.name)


def _prescribed(prescribe: Callable[[Facts], Schedule], facts: Facts) -> Requirement:
    try:
        rate = finite_rate(prescribe, facts)
    except (InvalidParameter, NotApplicable) as error:  # constants outside of their range give no rate
        return Requirement(OWN_RATE, False, f"it prescribes none here: {error}", Origin.COMPUTED)
    return keeps_to(rate, facts.experiment)


def is_lower(claim: Claim, form: Form) -> bool:
    """Return whether what is run stands on the larger side of a form."""
    return claim.kind is Kind.LOWER or isinstance(form.relations[0], GreaterThan | StrictGreaterThan)


def finite_rate(prescribe: Callable[[Facts], Schedule], facts: Facts) -> Schedule:
    """Return the learning rate that a statement prescribes, or say that it divides by zero."""
    try:
        return prescribe(facts)
    except ZeroDivisionError:
        raise NotApplicable("the learning rate divides by a constant that is 0 here, such as mu") from None


def keeps_to(rate: Schedule, experiment: Experiment) -> Requirement:
    """Return whether an experiment has the learning rate that a theorem prescribes."""
    steps = experiment.participation.local_steps
    for index in range(experiment.rounds):
        since = index - experiment.participation.restart_before(index)
        # One rate per round or one per local step, on either side.
        for want, have in np.broadcast(rates_of(rate, since, steps), experiment.rates_at(index)):
            if abs(want - have) > AGREE * abs(want):
                digits = next((d for d in (6, 9, 12) if f"{want:.{d}g}" != f"{have:.{d}g}"), 17)
                value = f"in round {index} it prescribes {want:.{digits}g}, the experiment has {have:.{digits}g}"
                return Requirement(OWN_RATE, False, value, Origin.COMPUTED)
    return Requirement(OWN_RATE, True, f"{rates_of(rate, 0, 1)[0]:.6g} in the first round", Origin.COMPUTED)


def _domains(form: Form, env: Mapping[str, Any], facts: Facts) -> list[Requirement]:
    """Return a condition for every quantity whose value is outside of the range in which its symbol is declared."""
    found: dict[str, Requirement] = {}
    for part in form.parts():
        for name, quantity in needed_by(part).items():
            if name in found or name not in env or callable(env[name]):
                continue
            value = _flat(_mean(env[name]))
            if not quantity.domain.contains(value):
                origin = facts.found[name].origin if name in facts.found else Origin.COMPUTED
                words = f"{quantity.meaning} is {quantity.domain.value}"
                found[name] = Requirement(words, False, f"{name} = {_shown(value)}", origin)
    return list(found.values())


def _conditions(claim: Claim, form: Form, env: Mapping[str, Any]) -> list[Requirement]:
    values = defined(form, {name: _mean(value) for name, value in env.items()})
    found = []
    for assumption in claim.assumptions_of(form):
        wrong = failing(assumption.relation, assumption.over, values)
        value = wrong or measured(assumption.relation, assumption.over, values)
        found.append(Requirement(assumption.name, not wrong, value, assumption.origin))
    for premise in form.premises:
        wrong = failing(premise, form.over, values)
        found.append(Requirement(f"premise ${latex(premise)}$", not wrong, wrong or "holds", Origin.COMPUTED))
    return found


def _denominators(form: Form, env: Mapping[str, Any]) -> str:
    """Return the constants that are 0 and stand in a denominator."""
    powers = {power for part in form.parts() for power in part.atoms(sp.Pow) if power.exp.could_extract_minus_sign()}
    return ", ".join(sorted({name for power in powers for name in needed_by(form.unfolded(power.base))} & _zeros(env)))


def _zeros(env: Mapping[str, Any]) -> set[str]:
    return {name for name in env if np.ndim(_mean(env[name])) == 0 and not callable(env[name]) and not _mean(env[name])}


def _sides(form: Form, env: Mapping[str, Any], side: str) -> tuple[Floats, Floats]:
    """Return both sides as curves; ``side`` picks a limit of the bands of a sampled run."""
    chosen = {name: _mean(value, side) for name, value in env.items()}
    left, right = sides(form, chosen)
    return np.atleast_1d(np.asarray(left, dtype=float)).ravel(), np.atleast_1d(np.asarray(right, dtype=float)).ravel()


def _mean(value: Any, side: str = "") -> Any:
    if not isinstance(value, Band):
        return value
    return {"": value.mean, "low": value.low, "high": value.high}[side]


def _flat(value: Any) -> Floats:
    """Return all numbers in a value; lists of rounds may have arrays of different lengths."""
    if isinstance(value, list | tuple):
        return np.concatenate([np.zeros(0), *(_flat(part).ravel() for part in value)])
    return np.asarray(value, dtype=float)


def _shown(value: Any) -> str:
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return f"{float(array):.6g}"
    if array.size <= 4:
        return "[" + ", ".join(f"{entry:.4g}" for entry in array.ravel()) + "]"
    return f"{array.shape} from {array.min():.4g} to {array.max():.4g}"
