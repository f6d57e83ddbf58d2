"""Terms that matter: whether a check would notice if a term of a form that holds were not there.

Every term of a form is deleted, or doubled if that is what makes the statement stronger. The changed form is evaluated
on the instances that the check has seen, the tightest first, and searched if none of them fails. A term is

* ``necessary``: an instance fails the form without it (or with twice of it, for a term that is subtracted; or with half
  of it, where the form means nothing without it); the instance is kept, and whether it fails with half of the term,
  too;
* ``unnecessary``: the form without it has a certificate, so that there is a sharper statement;
* ``untested``: neither; a check would not notice if it were wrong.

Most changed forms need no new instance: definitions are carried out again on the quantities that are known. Where an
instance gives the value of a defined symbol itself, that value is dropped if its definition is changed, or that of
anything that it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fltheory.bounds.algebra import BigO, Env
from fltheory.bounds.claim import Claim, Experiments, Form, Instances, Rejected, Sweeps
from fltheory.bounds.definitions import definitions
from fltheory.bounds.quantities import Role
from fltheory.bounds.space import ExactPoint, Params, plain
from fltheory.errors import Diverged, FltheoryError, NotApplicable
from fltheory.validation.evaluate import Evaluation
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.left_out import differ
from fltheory.validation.proof.provers import attempt, prover_of
from fltheory.validation.rates import check_rate
from fltheory.validation.search import improve, sample, search
from fltheory.validation.terms import Change, Term, terms
from fltheory.validation.trials import Memory, PointCheck, Trials, as_floats, environment
from fltheory.validation.verdict import Decision

NECESSARY, UNNECESSARY, UNTESTED = "necessary", "unnecessary", "untested"
STATUSES = (NECESSARY, UNNECESSARY, UNTESTED)

SECONDS = 3.0
"""Time for a proof of a form without a term; tried for forms that have a certificate themselves."""

GLANCE = 60
"""Instances on which both changes of a term are tried, and half of one that is necessary."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TermResult:
    """What is known about one term of a form.

    Parameters
    ----------
    place, term
        Where it stands and what it is, as LaTeX.
    status
        ``necessary``, ``unnecessary`` or ``untested``.
    change
        What was done to it where it is necessary or unnecessary: ``deleted``, ``doubled`` or ``halved``.
    half
        Whether half of a necessary term is too little on the instance, too.
    parameters
        The instance, or the sweep, that fails the changed form.
    ratio
        Left-hand side over right-hand side of the changed form there, if the latter is positive.
    words
        What a certificate covers, or why nothing is known.
    """

    place: str
    term: str
    status: str
    change: str = ""
    half: bool = False
    parameters: dict[str, Any] | None = None
    ratio: float | None = None
    words: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


def examine(
    claim: Claim,
    form: Form,
    *,
    memory: Memory,
    seen: Sequence[tuple[float, Params]],
    given: Sequence[Params],
    budget: int,
    seed: int,
    prove: bool,
) -> list[TermResult]:
    """Return what is known about every term of a form that holds.

    Parameters
    ----------
    claim, form
        The form.
    memory
        Quantities of instances made so far.
    seen, given
        Points that the check has evaluated, with their scores; and points that are known to need terms.
    budget
        Evaluations of a search, for a term that none of them needs.
    seed
        Of the search and of the engines.
    prove
        Whether to look for proofs of changed forms.
    """
    source = claim.check_of(form)
    if isinstance(source, Sweeps):
        return [_along_sweeps(claim, term, source, seed, memory) for term in terms(form)]
    ranked = [point for _, point in sorted(seen, key=lambda one: -one[0])]
    # What one term needs, others often need as well.
    points: list[Params] = [*(as_floats(point) for point in given), *ranked]
    found = []
    idle: list[Term] = []
    for term in terms(form):
        attempted = Attempt(claim, term, source, points, memory=memory, seed=seed)
        if any(term.is_part_of(other) for other in idle):
            # Without a part of it, a term may be much smaller or larger than without the whole, or twice of it.
            words = "part of a term that is not known to be necessary"
            unknown = TermResult(place=term.place, term=term.shown, status=UNTESTED, words=words)
            found.append(attempted.glance() or unknown)
            continue
        one = attempted.outcome(budget)
        if one.status == UNTESTED and prove:
            one = attempted.proved() or one
        if attempted.witness is not None:
            points = [attempted.witness, *(point for point in points if point is not attempted.witness)]
        else:
            idle.append(term)
        found.append(one)
    return found


class Attempt:
    """One term of a form that is checked on instances.

    Parameters
    ----------
    claim, term, source
        The term, and how instances are made.
    points
        Instances to begin with; random ones by default.
    memory
        Quantities of instances made so far.
    seed
        Of the engines and of the search.
    """

    def __init__(
        self, claim: Claim, term: Term, source: PointCheck, points: Sequence[Params], *, memory: Memory, seed: int
    ) -> None:
        self._claim, self._term, self._seed = claim, term, seed
        self._points = list(points) or list(sample(source.space, GLANCE, seed))
        self._plainly = Trials(claim, term.form, source, seed, memory=memory)
        self._without = self._dropped()
        self._source = _less(self._plainly, self._kept) if self._without else source
        # Instances are remembered by the address of their source, so those of a passing one are kept apart.
        self._memory = {} if self._without else memory
        self._trials: dict[Change, Trials] = {}
        self._change: Change | None = None
        self.witness: Params | None = None
        """An instance that needs the term."""

    def outcome(self, budget: int) -> TermResult:
        """Return what instances say; if none of those given needs the term, as many evaluations improve them."""
        try:
            for change in self._changes():
                if self.fails(change, self._points[:GLANCE]):
                    return self._necessary(change)
            self._change = self._stronger()
            if not self.fails(self._change, self._points[GLANCE:]) and budget:
                trials = self._of(self._change)
                if trials.seen:
                    improve(trials, budget)
                else:
                    search(trials, budget=trials.calls + budget, seed=self._seed)
            if self._of(self._change).violated:
                return self._necessary(self._change)
        except (FltheoryError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            given = f"an instance gives {', '.join(sorted(self._without))} itself; " if self._without else ""
            return self._untested(f"{given}{error}")
        trials = self._of(self._change)
        return self._untested(f"none of {trials.instances} instances fails with it {self._change.word}")

    def glance(self) -> TermResult | None:
        """Return that one of the first instances, or of a few of all, needs the term; ``None`` if they do not."""
        try:
            for change in self._changes():
                if self.fails(change, [*self._points[:GLANCE], *self._spread()]):
                    return self._necessary(change)
        except (FltheoryError, ArithmeticError, LookupError, TypeError, ValueError):
            return None
        return None

    def fails(self, change: Change, points: Sequence[Params]) -> Evaluation | None:
        """Return the evaluation at the first point on which the changed form fails; ``None`` if it never does."""
        for point in points:
            found = self._at(change, point)
            if found is not None and found.violated:
                return found
        return None

    def _at(self, change: Change, point: Params) -> Evaluation | None:
        """Return the evaluation of the changed form at a point; ``None`` where it divides by zero, too."""
        try:
            return self._of(change).attempt(as_floats(point))
        except ArithmeticError:
            return None

    def _changes(self) -> tuple[Change, ...]:
        """Return the changes that are tried: a term without which the form means nothing is halved, not deleted."""
        for point in self._points[:GLANCE]:
            try:
                if self._of(Change.DELETED).attempt(as_floats(point)) is not None:
                    return Change.DELETED, Change.DOUBLED
            except ArithmeticError:
                continue
        meaningless = any(self._at(Change.HALVED, point) is not None for point in self._points[:GLANCE])
        return (Change.HALVED if meaningless else Change.DELETED), Change.DOUBLED

    def proved(self) -> TermResult | None:
        """Return that the changed form has a certificate, if one is found."""
        source = self._plainly.source
        if self._change is None or (self._without and isinstance(source, Experiments)):
            return None
        if isinstance(source, Instances) and self._without:
            realise = source.realise
            source = replace(source, realise=lambda point: self._kept(self._claim.named(realise(point))))
        form = replace(self._term.changed(self._change), check=source)
        known = Hypotheses.of(self._claim, form)
        certificate = attempt(self._claim.id, form, known, seconds=SECONDS)
        if certificate is None:
            return None
        whole = self._term.form
        pair = (whole, Hypotheses.of(self._claim, whole)), (form, known)
        if not differ(prover_of(certificate), pair, certificate.scope):
            return None  # the term vanishes in all cases, so that they do not tell
        words = f"{certificate.strength.value} by {certificate.method}: {certificate.words}"
        return self._tested(UNNECESSARY, change=self._change.word, words=words)

    def _of(self, change: Change) -> Trials:
        if change not in self._trials:
            form = self._term.changed(change)
            self._trials[change] = Trials(self._claim, form, self._source, self._seed, memory=self._memory)
        return self._trials[change]

    def _stronger(self) -> Change:
        """Return the change that brings the form closest to failing on some of the instances seen."""
        closest: dict[Change, float] = {}
        changes = self._changes()
        for point in self._spread():
            usual = self._plainly.attempt(as_floats(point))
            for change in changes:
                found = self._at(change, point)
                if usual is not None and found is not None and found.score > usual.score:
                    closest[change] = max(closest.get(change, -np.inf), found.score)
        return max(closest, key=lambda change: closest[change], default=changes[0])

    def _spread(self) -> Sequence[Params]:
        """Return points from the tightest to the loosest: where a form is tight, many of its terms vanish."""
        return self._points[:: max(len(self._points) // GLANCE, 1)]

    def _necessary(self, change: Change) -> TermResult:
        """Return that a term is necessary, if possible with an instance on which half of it is too little, too."""
        best = self._of(change).best
        assert best is not None
        at, point = best
        half = False
        if change is Change.DELETED:
            for candidate in (point, *self._points[:GLANCE]):
                if self.fails(Change.HALVED, [candidate]):
                    also = at if candidate is point else self.fails(change, [candidate])
                    if also is not None:
                        at, point, half = also, candidate, True
                        break
        self.witness = point
        lhs, rhs = float(at.lhs), float(at.rhs)
        ratio = lhs / rhs if rhs > 0 else None
        return self._tested(NECESSARY, change=change.word, half=half, parameters=plain(point), ratio=ratio)

    def _untested(self, words: str) -> TermResult:
        return self._tested(UNTESTED, words=words)

    def _tested(self, status: str, **more: Any) -> TermResult:
        return TermResult(place=self._term.place, term=self._term.shown, status=status, **more)

    def _dropped(self) -> frozenset[str]:
        """Return the names of defined quantities that instances give, although the change decides them."""
        if not self._term.defined:
            return frozenset()
        for point in self._points:
            try:
                env = self._plainly.environment(as_floats(point))
            except (Rejected, Diverged, NotApplicable):
                continue
            return frozenset(_decided(self._term.form, self._term.defined) & env.keys())
        return frozenset()

    def _kept(self, env: Env) -> Env:
        """Return the quantities of an instance without those; curves at their last entry, as sums need numbers."""
        curves = {q.name for q in self._term.form.quantities() if q.role is Role.NUMBER and not q.shape}
        kept = {name: value for name, value in env.items() if name not in self._without}
        return {name: _last(value) if name in curves else value for name, value in kept.items()}


def _less(plainly: Trials, kept: Callable[[Env], Env]) -> Instances:
    """Return instances made of those of another check."""
    source = plainly.source

    def realise(point: Params) -> Env:
        if isinstance(point, ExactPoint):
            env = environment(source, point, seed=plainly.seed, claim=plainly.claim)
        else:
            env = plainly.environment(point)
        return kept(env)

    return Instances(space=source.space, realise=realise, method=source.method, rational=source.rational)


def _along_sweeps(claim: Claim, term: Term, source: Sweeps, seed: int, memory: Memory) -> TermResult:
    """Return whether a rate needs a term: whether some sweep grows beyond the claim without it."""
    found: dict[str, Any] = {"status": UNTESTED, "words": "no sweep grows beyond what is claimed without it"}
    law = any(relation.has(BigO) for relation in term.form.relations)
    for change in (Change.DELETED,) if law else Change:
        try:
            verdict = check_rate(claim, term.changed(change), source, seed=seed, memory=memory)
        except (FltheoryError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            found = {"status": UNTESTED, "words": str(error)}
            continue
        if verdict.decision is Decision.VIOLATED and verdict.counterexample is not None:
            at = verdict.counterexample
            found = {"status": NECESSARY, "change": change.word, "parameters": dict(at.parameters), "ratio": at.ratio}
            break
    return TermResult(place=term.place, term=term.shown, **found)


def _decided(form: Form, name: str) -> frozenset[str]:
    """Return the names of all definitions that depend on one, itself among them."""
    found = {name}
    for definition in definitions(form.where):
        if definition.needs & found:
            found.add(definition.name)
    return frozenset(found)


def _last(value: Any) -> Any:
    return value[-1] if isinstance(value, np.ndarray) and value.ndim == 1 else value


def explained(one: Mapping[str, Any]) -> str:
    """Return in words what is known about a term.

    >>> known = {"status": "necessary", "change": "deleted", "half": True, "ratio": 1.25}
    >>> explained(known), explained({**known, "change": "doubled", "half": False, "ratio": None})
    ('fails without it, and with half of it; left-hand side 1.25 of the right-hand side', 'fails with twice of it')
    """
    if one["status"] != NECESSARY:
        return f"can be {one['change']}: {one['words']}" if one["status"] == UNNECESSARY else str(one["words"])
    how = {
        Change.DELETED.word: "without it",
        Change.HALVED.word: "with half of it",
        Change.DOUBLED.word: "with twice of it",
    }
    half = ", and with half of it" if one["half"] else ""
    ratio = "" if one["ratio"] is None else f"; left-hand side {one['ratio']:.4g} of the right-hand side"
    return f"fails {how[one['change']]}{half}{ratio}"


def summarised(terms: Sequence[Mapping[str, Any]]) -> str:
    """Return how many terms of a form are necessary, unnecessary, untested; empty if it has none."""
    counted = {status: sum(one["status"] == status for one in terms) for status in STATUSES}
    return ", ".join(f"{count} {status}" for status, count in counted.items() if count)
