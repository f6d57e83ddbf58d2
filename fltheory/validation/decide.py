"""From a claim to verdicts: prove, else search; shrink and confirm what fails; say how hard was looked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fltheory._internal import arguments
from fltheory.bounds.algebra import EE, BigO, Env
from fltheory.bounds.claim import Claim, Experiments, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.space import Params, Space, exact, plain
from fltheory.errors import FltheoryError
from fltheory.simulation.trajectories import Band
from fltheory.validation import by_hand, known, known_terms
from fltheory.validation.evaluate import Evaluation, defined
from fltheory.validation.in_symbols import covered
from fltheory.validation.instance_values import instance_values
from fltheory.validation.proof.certificate import Certificate
from fltheory.validation.proof.store import recall
from fltheory.validation.rates import check_rate
from fltheory.validation.rule_table import in_words, outcome_table
from fltheory.validation.search import sample, search
from fltheory.validation.sensitivity import examine
from fltheory.validation.shrink import RETRIES, shrink
from fltheory.validation.trials import Memory, Trials, as_floats, environment
from fltheory.validation.verdict import Counterexample, Decision, Strength, Verdict


class ContradictoryProof(FltheoryError):
    """A form has both a certificate and a counterexample."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look.

    Parameters
    ----------
    instances, experiments
        Evaluations per form, for instances that cost microseconds and for those that are run.
    whole_sweeps
        Measure all sweeps at all points, not one per parameter at the last ones, from which the exponent is read.
    unaided
        Search without the counterexamples that come with the package; see :mod:`fltheory.validation.known`.
    sensitivity
        Find out which terms of forms that hold are necessary; see :mod:`fltheory.validation.sensitivity`.
    """

    instances: int
    experiments: int
    whole_sweeps: bool = True
    unaided: bool = False
    sensitivity: bool = False

    def __post_init__(self) -> None:
        arguments.integer("Effort", "instances", self.instances, low=1)
        arguments.integer("Effort", "experiments", self.experiments, low=1)

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
    found = [_check_form(claim, form, effort, seed, memory, failures) for form in forms]
    return [
        replace(strengthened(verdict, recall(claim, form)), meant=claim.meant_by(form))
        for verdict, form in zip(found, forms, strict=True)
    ]


def strengthened(verdict: Verdict, certificate: Certificate | None) -> Verdict:
    """Return a verdict that rests on a certificate, if there is one that proves the form.

    A certificate of a form that has a counterexample would be a fault of the prover, and is an error.
    """
    if certificate is None or verdict.strength is Strength.PROVED:
        return verdict
    if verdict.decision is Decision.VIOLATED:
        raise ContradictoryProof(
            f"{verdict.id} {verdict.variant} has a certificate and a counterexample ({verdict.reason}); one of the two "
            "is wrong: replay both, and report it"
        )
    how = f"{certificate.strength.value} by {certificate.method}: {covered(certificate.words)}"
    return replace(
        verdict,
        decision=Decision.HOLDS,
        strength=certificate.strength,
        evidence={**verdict.evidence, "certificate": {"covers": certificate.words, "method": certificate.method}},
        reason=f"{how}; {verdict.reason}" if verdict.reason else how,
    )


Failures = list[tuple[Space, Params]]
"""Points at which forms of the claim fail, with the space of each."""


def _check_form(claim: Claim, form: Form, effort: Effort, seed: int, memory: Memory, failures: Failures) -> Verdict:
    begin = time.perf_counter()
    source = claim.check_of(form)
    if isinstance(source, Sweeps):
        sweeps = source if effort.whole_sweeps else source.shortened(also=_failing_sweeps(claim, form, effort))
        rate = check_rate(claim, form, sweeps, seed=seed, memory=memory)
        return _with_terms(claim, form, rate, effort, memory)
    if claim.kind is Kind.IDENTITY and _proved(claim, form):
        proved = Verdict(
            id=claim.id,
            variant=form.variant,
            decision=Decision.HOLDS,
            strength=Strength.PROVED,
            margin=1.0,
            method=Method.SYMBOLIC.value,
            instances=0,
            budget=0,
            seconds=time.perf_counter() - begin,
            reason="both sides are the same rational function",
            seed=seed,
        )
        return _with_terms(claim, form, proved, effort, memory)
    budget = effort.of(source) * _hardest(claim, form) // source.effort
    trials = Trials(claim, form, source, seed, memory=memory)
    given = [] if effort.unaided else list(known.points(claim, form))
    others = [point for space, point in failures if _fits(point, space, source.space)]
    needed = [*source.begin, *([] if effort.unaided else known_terms.points(claim, form))]
    if not effort.whole_sweeps:
        needed = [point for point in needed if source.space.draws(point)]
    search(trials, budget=budget, seed=seed, starts=[*(point for _, point in given), *others], needed=needed)
    if trials.violated and trials.best is not None:
        failures.append((source.space, trials.best[1]))
    # A known counterexample has been shrunk before.
    own = [point for variant, point in given if variant == form.variant]
    small = trials.best is not None and any(trials.best[1] is point for point in own)
    outcome, counterexample, reason = conclude(trials, effort=0 if small else -(-budget // 4))
    evidence = trials.as_evidence()
    if small and counterexample is not None:
        evidence["known counterexample"] = True
    if counterexample is not None and counterexample.arithmetic == "float64":
        evidence["relative excess"] = _excess(float(counterexample.lhs), float(counterexample.rhs))
    if claim.kind is Kind.RULE:
        table = outcome_table(trials, sample(source.space, budget, seed))
        evidence["outcomes"] = table
        reason = f"{reason}; {in_words(table)}"
    verdict = Verdict(
        id=claim.id,
        variant=form.variant,
        decision=outcome,
        strength=strength_of(trials, counterexample),
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
    return _with_terms(claim, form, verdict, effort, memory, trials.seen)


def _with_terms(
    claim: Claim,
    form: Form,
    verdict: Verdict,
    effort: Effort,
    memory: Memory,
    seen: Sequence[tuple[float, Params]] = (),
) -> Verdict:
    """Return a verdict with what is known about every term of the form, if that is asked for and the form holds."""
    if not effort.sensitivity or verdict.decision is not Decision.HOLDS:
        return verdict
    begin, source = time.perf_counter(), claim.check_of(form)
    found = examine(
        claim,
        form,
        memory=memory,
        seen=seen,
        given=[] if effort.unaided else known_terms.points(claim, form),
        budget=0 if isinstance(source, Sweeps) else effort.of(source) // source.effort,
        seed=verdict.seed,
        prove=recall(claim, form) is not None,
    )
    terms = [one.as_json() for one in found]
    seconds = verdict.seconds + time.perf_counter() - begin
    return replace(verdict, evidence={**verdict.evidence, "terms": terms}, seconds=seconds)


def _failing_sweeps(claim: Claim, form: Form, effort: Effort) -> tuple[Sweep, ...]:
    """Return the sweeps along which a form is known to fail."""
    firm = not any(relation.has(BigO) for relation in form.relations)
    return () if effort.unaided else tuple(known.sweeps(claim, form, firm=firm))


def _fits(point: Params, space: Space, other: Space) -> bool:
    """Return whether a point of one space is one of another: the same parameters, within their ranges."""
    kinds = [{name: type(parameter) for name, parameter in one.items()} for one in (space, other)]
    return kinds[0] == kinds[1] and other.contains(point)


def _hardest(claim: Claim, form: Form) -> int:
    """Return the effort of a form's check; of a corrected or sharp form, the largest that any form of the claim has."""
    checks_made = [claim.check_of(other) for other in (claim.forms if form.must_hold else (form,))]
    return max(made.effort for made in checks_made if not isinstance(made, Sweeps))


def conclude(trials: Trials, *, effort: int = RETRIES) -> tuple[Decision, Counterexample | None, str]:
    """Return the outcome of a finished search, with the smallest counterexample that as much effort finds.

    Without effort the counterexample stays as it is.
    """
    if trials.best is None:
        return Decision.NOT_APPLICABLE, None, trials.obstacle()
    if trials.violated:
        counterexample = confirm(trials, trials.best[1], effort=effort)
        turned = _claims_at_least(trials.form, counterexample.relation)
        return Decision.VIOLATED, counterexample, f"fails at {counterexample.in_one_line(turned=turned)}"
    if trials.uncertain:
        return Decision.INCONCLUSIVE, None, "a sampled curve may lie on either side; raise the number of replicates"
    ratio = "lhs/rhs" if _claims_at_least(trials.form) else "rhs/lhs"
    found = "no counterexample" if trials.margin is None else f"smallest {ratio} {trials.margin:.4g}"
    return Decision.HOLDS, None, f"{found} on {trials.instances} instances of {trials.calls} points tried"


def _claims_at_least(form: Form, relation: int = 0) -> bool:
    """Return whether a relation is printed with ``>=``; it is checked as one with ``<=``, with sides exchanged."""
    return isinstance(form.relations[relation], sp.Ge | sp.Gt)


def _excess(lhs: float, rhs: float) -> float:
    """Return by how much two sides differ, relative to the larger one: far above rounding where a form is refuted."""
    return abs(lhs - rhs) / max(abs(lhs), abs(rhs))


def strength_of(trials: Trials, counterexample: Counterexample | None) -> Strength:
    """Return what the outcome of a search rests on."""
    if counterexample is not None:
        return Strength.REFUTED if counterexample.arithmetic == "rational" else Strength.REFUTED_FLOAT
    return Strength.SAMPLED if trials.source.method is Method.MONTE_CARLO else Strength.SEARCHED


def outcome_at(claim: Claim, form: Form, point: Params, *, seed: int) -> Evaluation | None:
    """Return the evaluation of a form at one point, without rounding where the instance allows it.

    ``None`` if an assumption fails there.
    """
    source = claim.check_of(form)
    assert not isinstance(source, Sweeps)
    trials = Trials(claim, form, source, seed)
    return trials.exactly(point) if source.rational else trials.attempt(as_floats(point))


def confirm(trials: Trials, point: Params, *, effort: int = RETRIES) -> Counterexample:
    """Shrink a violation, keeping it one without rounding where the instance allows it."""
    rough = Trials(trials.claim, trials.form, trials.source, trials.seed, memory=trials.memory)

    def failing_at(candidate: Params) -> Evaluation | None:
        # Most candidates do not fail, which float64 tells much faster; what seems to fail is confirmed there and here.
        if trials.source.rational and not rough.suspicious(as_floats(candidate)):
            return None
        evaluation = outcome_at(trials.claim, trials.form, candidate, seed=trials.seed)
        return evaluation if evaluation is not None and evaluation.violated else None

    smallest = shrink(trials, point, lambda one: failing_at(one) is not None, effort=effort) if effort else dict(point)
    evaluation = failing_at(smallest)
    assert evaluation is not None  # shrinking only takes steps that keep it
    trials.settle(evaluation)
    rational = trials.source.rational
    return _counterexample(
        trials, exact(smallest) if rational else smallest, evaluation, "rational" if rational else "float64"
    )


def _counterexample(trials: Trials, point: Params, evaluation: Evaluation, arithmetic: str) -> Counterexample:
    lhs, rhs = evaluation.lhs, evaluation.rhs
    ratio = float(lhs) / float(rhs) if float(rhs) != 0 else None
    values, exactly = _values(trials, point)
    assumptions = trials.claim.assumptions_of(trials.form)
    return Counterexample(
        id=trials.claim.id,
        variant=trials.form.variant,
        parameters=plain(point),
        lhs=str(lhs),
        rhs=str(rhs),
        ratio=ratio,
        sign="≠" if evaluation.equality else ">",
        relation=evaluation.relation,
        where=dict(evaluation.where),
        arithmetic=arithmetic,
        seed=trials.seed,
        quantities=instance_values(trials.form, values, exactly, evaluation.where, assumptions),
        terms=by_hand.terms(trials.form, values, evaluation, exact=exactly),
        hypotheses=by_hand.hypotheses(assumptions, values, exact=exactly),
        given=by_hand.given(trials.form, evaluation),
    )


def _values(trials: Trials, point: Params) -> tuple[Env, bool]:
    """Return the quantities of an instance, and whether they are exact; of a sampled curve its mean."""
    exactly = trials.source.rational
    made = environment(trials.source, point, seed=trials.seed) if exactly else trials.environment(as_floats(point))
    means = {name: value.mean if isinstance(value, Band) else value for name, value in trials.form.named(made).items()}
    return defined(trials.form, means, exact=exactly), exactly


def _proved(claim: Claim, form: Form) -> bool:
    """Return whether SymPy proves all equalities of a form: as rational functions of its symbols, without premises."""
    if form.premises or claim.assumptions_of(form):
        return False
    for claimed in form.relations:
        if not isinstance(claimed, sp.Eq) or claimed.atoms(sp.IndexedBase, sp.Sum, EE, sp.Function):
            return False
        difference = form.unfolded(claimed.lhs - claimed.rhs)
        if not difference.is_rational_function() or sp.cancel(sp.together(difference)) != 0:
            return False
    return True
