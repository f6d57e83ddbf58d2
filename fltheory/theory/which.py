"""Which theorem is best here: every statement of the catalogue beside one experiment, sorted by how tight it is."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory._internal.culprits import in_words
from fltheory.bounds import catalogue
from fltheory.bounds.claim import Form, Kind
from fltheory.bounds.observation import FROM_PROBLEM, Observation
from fltheory.bounds.plain_text import plain
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import declaration
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.simulation.experiment import Experiment, require_experiment
from fltheory.simulation.schedules import rates_of
from fltheory.theory.comparison import Comparison
from fltheory.theory.evaluation import Candidate, Evaluated, Runs, schedule_of
from fltheory.theory.guarantee import Guarantee, Inapplicable, first_at_most, merged
from fltheory.theory.guarantees import Guarantees
from fltheory.theory.prescribed import reads_runs
from fltheory.theory.standing import KnownVerdicts, Standing
from fltheory.theory.theorem import Theorem
from fltheory.validation.verdict import Decision

ACCURACY = 0.01
"""Accuracy if none is given, as a share of the gap at the start."""


def compare_theorems(
    experiment: Experiment,
    *,
    pattern: str | Sequence[str] = "*",
    own_algorithms: bool = True,
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
    known counterexample are shown but do not count, unless they print what another form prints that stands under more
    assumptions: that one is enough. Rates stand apart with the constant 1, and statements that do not apply are named
    with the assumption that fails.

    Parameters
    ----------
    experiment
        Any problem, algorithm, participation and learning rate.
    pattern
        Statements to look at, such as ``li.*``; one pattern or several.
    own_algorithms
        Whether theorems about another algorithm are evaluated with that one.
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
    >>> problem = fl.client_quadratics(dim=3, num_clients=2, mu=1.0, L=4.0, dissimilarity=0.0)
    >>> participation = fl.Participation(num_clients=2, local_steps=2)
    >>> experiment = fl.Experiment(
    ...     problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=20, rate=0.05)
    >>> found = compare_theorems(experiment, pattern="fieldguide.*")
    >>> found.tightest.name, found.tightest.setting
    ('fieldguide.theorem-1 (sharp)', 'given')
    """
    owner = "compare_theorems"
    require_experiment(owner, experiment)
    if accuracy is not None:
        accuracy = arguments.real(owner, "accuracy", accuracy, low=0, open_low=True)
    errors: dict[str, str] = {}
    chosen = candidates(pattern, claims=claims, errors=errors)
    known = FROM_PROBLEM.keys() | {symbol.name for one in chosen for symbol in one.statement.symbols}
    unknown = sorted(constants.keys() - known)
    if unknown:
        raise InvalidParameter(
            f"{owner}: no statement that was looked at has a constant {', '.join(unknown)}; "
            "fltheory show ID lists the symbols of a statement"
        )
    bench = Runs(experiment, engine=engine, replicates=replicates, seed=seed, radius=radius, constants=constants)
    return _guarantees(
        bench,
        chosen,
        label=label or experiment.algorithm.title,
        own_algorithms=own_algorithms,
        accuracy=accuracy,
        verdicts=KnownVerdicts(ledger),
        errors=errors,
    )


def candidates(
    pattern: str | Sequence[str] = "*", *, claims: catalogue.Folders = (), errors: dict[str, str] | None = None
) -> list[Candidate]:
    """Return the forms of all statements that can be read off a run; files that cannot be loaded go into ``errors``."""
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    found: list[Candidate] = []
    for entry in catalogue.select(patterns, catalogue.folders(claims)):
        if not reads_runs(entry):
            continue
        try:
            statement = Theorem(entry.load(), entry)
        except (Exception, SystemExit) as error:  # a file that is broken must not cost the table
            if errors is None:
                raise
            errors[entry.id] = in_words(error)
            continue
        for form in statement.claim.forms:
            observation = form.observation or statement.claim.observation
            if observation is not None:
                found.append(Candidate(statement, form, observation))
    return found


def guarantees_on(experiment: Experiment, chosen: Sequence[Candidate], verdicts: KnownVerdicts) -> Guarantees:
    """Return what some forms say about an experiment with its own algorithm."""
    bench = Runs(experiment, engine=None, replicates=100, seed=0, radius=None, constants={})
    title = experiment.algorithm.title
    return _guarantees(bench, chosen, label=title, own_algorithms=False, accuracy=None, verdicts=verdicts, errors={})


def _guarantees(
    bench: Runs,
    chosen: Sequence[Candidate],
    *,
    label: str,
    own_algorithms: bool,
    accuracy: float | None,
    verdicts: KnownVerdicts,
    errors: dict[str, str],
) -> Guarantees:
    reference = bench.reference()
    if accuracy is None and reference is not None and reference.gap is not None:
        accuracy = ACCURACY * float(reference.gap[:, 0].mean()) or None
    rows: list[Guarantee] = []
    inapplicable: list[Inapplicable] = []
    for one in _of_their_own(chosen, verdicts):
        try:
            for found in bench.evaluated(one, own_algorithms=own_algorithms):
                if isinstance(found, Inapplicable):
                    inapplicable.append(found)
                else:
                    rows.append(_guarantee(one, found, verdicts, accuracy))
        except (Exception, SystemExit) as error:  # a form that is broken must not cost the table
            errors[one.name] = str(error) if isinstance(error, FltheoryError) else in_words(error)
    return Guarantees(
        label=label,
        rounds=bench.experiment.rounds,
        accuracy=accuracy,
        guarantees=tuple(merged(sorted(rows, key=lambda row: (row.tightness, row.id)))),
        inapplicable=tuple(inapplicable),
        errors=errors,
        run=reference,
    )


def _of_their_own(chosen: Sequence[Candidate], verdicts: KnownVerdicts) -> list[Candidate]:
    """Return all forms but the refuted readings that print what a form that stands prints, under fewer assumptions.

    Where the assumption that makes the difference is met, the other form says the same and may be relied on; where it
    is not, that one is named as not applicable.
    """
    known = [(one, verdicts.of(one.statement.id, one.form.variant).refuted) for one in chosen]
    stand = [one for one, refuted in known if not refuted]
    return [one for one, refuted in known if not (refuted and any(_says_more(one, other) for other in stand))]


def _says_more(one: Candidate, other: Candidate) -> bool:
    """Return whether one form is another one without some of its assumptions."""
    if one.statement.id != other.statement.id or one.form.relations != other.form.relations:
        return False
    assumed, more = (set(form.statement.claim.assumptions_of(form.form)) for form in (one, other))
    defined, again = dict(one.form.where), dict(other.form.where)
    return assumed < more and all(defined[symbol] == again[symbol] for symbol in defined.keys() & again.keys())


def _guarantee(one: Candidate, found: Evaluated, verdicts: KnownVerdicts, accuracy: float | None) -> Guarantee:
    """Return a row of the table."""
    compared, experiment, statement, form = found.compared, found.experiment, one.statement, one.form
    evidence = verdicts.of(statement.id, form.variant)
    lower = compared.direction == "lower"
    gap = None if lower or compared.is_rate else _on_gap(compared, one.observation)
    if evidence.refuted:
        standing = Standing.REFUTED
    elif compared.decision is Decision.VIOLATED:
        standing = Standing.EXCEEDED
    elif lower:
        standing = Standing.LOWER
    elif compared.is_rate or (statement.claim.kind is Kind.RATE and gap is None):  # with constants, it may be a bound
        standing = Standing.RATE
    else:
        standing = Standing.BOUND
    if standing is not Standing.BOUND:
        gap = None
    places = _rounds(compared, experiment.rounds)
    reached = seen = None
    if gap is not None and accuracy is not None:
        reached = first_at_most(gap, places, accuracy)
        curve = compared.run.gap
        if curve is not None:
            seen = first_at_most(curve.mean(axis=0), np.arange(float(curve.shape[1])), accuracy)
    sides = (float(compared.right[-1]), float(compared.left[-1]))
    steps, rate = experiment.participation.local_steps, schedule_of(experiment)
    return Guarantee(
        id=statement.id,
        variants=(form.variant,),
        title=statement.title,
        setting=found.setting,
        algorithm=experiment.algorithm.title,
        rates=(float(rates_of(rate, 0, steps)[0]), float(rates_of(rate, experiment.rounds - 1, steps)[-1])),
        standing=standing,
        evidence=evidence.words,
        quantity=_quantity(form),
        bound=sides[1] if lower else sides[0],
        exact=sides[0] if lower else sides[1],
        gap_rounds=places,
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
