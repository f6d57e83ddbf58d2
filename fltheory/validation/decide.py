"""From a claim to verdicts: prove, else search; shrink and confirm what fails; say how hard was looked."""

from __future__ import annotations

import time
from dataclasses import dataclass

import sympy as sp

from fltheory import checks
from fltheory.bounds._algebra import EE
from fltheory.bounds._claim import Claim, Experiments, Form, Instances, Kind, Method, Sweeps
from fltheory.bounds._space import Params, Space, exact, plain
from fltheory.validation.evaluate import Reading
from fltheory.validation.outcomes import in_words, outcome_table
from fltheory.validation.rates import check_rate
from fltheory.validation.search import sample, search
from fltheory.validation.shrink import RETRIES, as_floats, shrink
from fltheory.validation.trials import Memory, Trials
from fltheory.validation.verdict import Counterexample, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look.

    Parameters
    ----------
    instances, experiments
        Evaluations per form, for instances that cost microseconds and for those that are run.
    whole_sweeps
        Measure all sweeps at all points, not one per parameter at the last ones, from which the exponent is read.
    """

    instances: int
    experiments: int
    whole_sweeps: bool = True

    def __post_init__(self) -> None:
        checks.integer("Effort", "instances", self.instances, low=1)
        checks.integer("Effort", "experiments", self.experiments, low=1)

    def of(self, form_check: Instances | Experiments) -> int:
        """Return the evaluations allowed for a check."""
        usual = self.instances if isinstance(form_check, Instances) else self.experiments
        return usual * form_check.effort


QUICK = Effort(36, 5, whole_sweeps=False)
FULL = Effort(500, 50)


def check(claim: Claim, *, variant: str | None = None, effort: Effort = FULL, seed: int = 0) -> list[Verdict]:
    """Return a verdict for every form of a claim, or for one of them.

    Parameters
    ----------
    claim
        What to check.
    variant
        One form only.
    effort
        How hard to look.
    seed
        Of the search and of the engines.
    """
    forms = claim.forms if variant is None else (claim.form(variant),)
    memory: Memory = {}
    failures: Failures = []
    return [_check_form(claim, form, effort, seed, memory, failures) for form in forms]


Failures = list[tuple[Space, Params]]
"""Points at which forms of the claim fail, with the space of each."""


def _check_form(claim: Claim, form: Form, effort: Effort, seed: int, memory: Memory, failures: Failures) -> Verdict:
    begin = time.perf_counter()
    source = claim.check_of(form)
    if isinstance(source, Sweeps):
        sweeps = source if effort.whole_sweeps else source.shortened()
        return check_rate(claim, form, sweeps, seed=seed, memory=memory)
    if claim.kind is Kind.IDENTITY and _proved(claim, form):
        return Verdict(
            id=claim.id,
            variant=form.variant,
            outcome=Outcome.HOLDS,
            margin=1.0,
            method=Method.SYMBOLIC.value,
            instances=0,
            budget=0,
            seconds=time.perf_counter() - begin,
            reason="both sides are the same rational function",
            seed=seed,
        )
    budget = effort.of(source) * _hardest(claim, form) // source.effort
    trials = Trials(claim, form, source, seed, memory=memory)
    known = [point for space, point in failures if _fits(point, space, source.space)]
    search(trials, budget=budget, seed=seed, starts=known)
    if trials.violated and trials.best is not None:
        failures.append((source.space, trials.best[1]))
    outcome, counterexample, reason = judge(trials, effort=-(-budget // 4))
    evidence = trials.as_evidence()
    if claim.kind is Kind.RULE:
        table = outcome_table(trials, sample(source.space, budget, seed))
        evidence["outcomes"] = table
        reason = f"{reason}; {in_words(table)}"
    return Verdict(
        id=claim.id,
        variant=form.variant,
        outcome=outcome,
        margin=trials.margin,
        method=source.method.value,
        instances=trials.instances,
        budget=budget,
        seconds=time.perf_counter() - begin,
        assumptions=trials.conditions(),
        counterexample=counterexample,
        worst={} if trials.best is None else {"parameters": plain(trials.best[1]), "where": trials.best[0].where},
        evidence=evidence,
        reason=reason,
        seed=seed,
    )


def _fits(point: Params, space: Space, other: Space) -> bool:
    """Return whether a point of one space is one of another: the same parameters, within their ranges."""
    kinds = [{name: type(parameter) for name, parameter in one.items()} for one in (space, other)]
    return kinds[0] == kinds[1] and other.contains(point)


def _hardest(claim: Claim, form: Form) -> int:
    """Return the effort of a form's check; for a form of ours, the largest one that any form of the claim asks for."""
    checks_made = [claim.check_of(other) for other in (claim.forms if form.must_hold else (form,))]
    return max(made.effort for made in checks_made if not isinstance(made, Sweeps))


def judge(trials: Trials, *, effort: int = RETRIES) -> tuple[Outcome, Counterexample | None, str]:
    """Return the outcome of a finished search, with the smallest counterexample that as much effort finds."""
    if trials.best is None:
        return Outcome.NOT_APPLICABLE, None, trials.obstacle()
    if trials.violated:
        counterexample = confirm(trials, trials.best[1], effort=effort)
        return Outcome.VIOLATED, counterexample, f"fails at {counterexample.in_one_line()}"
    if trials.uncertain:
        return Outcome.INCONCLUSIVE, None, "a sampled curve may lie on either side; raise the number of replicates"
    found = "no counterexample" if trials.margin is None else f"smallest rhs/lhs {trials.margin:.4g}"
    return Outcome.HOLDS, None, f"{found} on {trials.instances} instances of {trials.calls} points tried"


def outcome_at(claim: Claim, form: Form, point: Params, *, seed: int) -> Reading | None:
    """Return the reading of a form at one point, without rounding where the instance allows it.

    ``None`` if an assumption fails there.
    """
    source = claim.check_of(form)
    assert not isinstance(source, Sweeps)
    trials = Trials(claim, form, source, seed)
    return trials.exactly(point) if source.rational else trials.attempt(as_floats(point))


def confirm(trials: Trials, point: Params, *, effort: int = RETRIES) -> Counterexample:
    """Shrink a violation, keeping it one without rounding where the instance allows it."""
    rough = Trials(trials.claim, trials.form, trials.source, trials.seed, memory=trials.memory)

    def failing_at(candidate: Params) -> Reading | None:
        # Most candidates do not fail, which float64 tells much faster; what seems to fail is confirmed there and here.
        if trials.source.rational and not rough.suspicious(as_floats(candidate)):
            return None
        reading = outcome_at(trials.claim, trials.form, candidate, seed=trials.seed)
        return reading if reading is not None and reading.violated else None

    smallest = shrink(trials, point, lambda candidate: failing_at(candidate) is not None, effort=effort)
    reading = failing_at(smallest)
    assert reading is not None  # shrinking only takes steps that keep it
    rational = trials.source.rational
    return _counterexample(
        trials, exact(smallest) if rational else smallest, reading, "rational" if rational else "float64"
    )


def _counterexample(trials: Trials, point: Params, reading: Reading, arithmetic: str) -> Counterexample:
    lhs, rhs = reading.lhs, reading.rhs
    ratio = float(lhs) / float(rhs) if float(rhs) != 0 else None
    return Counterexample(
        id=trials.claim.id,
        variant=trials.form.variant,
        parameters=plain(point),
        lhs=str(lhs),
        rhs=str(rhs),
        ratio=ratio,
        sign="≠" if reading.equality else ">",
        relation=reading.relation,
        where=dict(reading.where),
        arithmetic=arithmetic,
        seed=trials.seed,
    )


def _proved(claim: Claim, form: Form) -> bool:
    """Return whether SymPy proves all equalities of a form: as rational functions of its letters, without premises."""
    if form.premises or claim.assumptions_of(form):
        return False
    replaced = dict(form.where)
    for relation in form.sources:
        if not isinstance(relation, sp.Eq) or relation.atoms(sp.IndexedBase, sp.Sum, EE, sp.Function):
            return False
        difference = relation.lhs - relation.rhs
        for _ in form.where:
            difference = difference.xreplace(replaced)
        if not difference.is_rational_function() or sp.cancel(sp.together(difference)) != 0:
            return False
    return True
