"""Provers: a form and its hypotheses in, a certificate out; and certificates replayed without any search."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import sympy as sp

from fltheory.bounds.claim import Form, Instances
from fltheory.bounds.quantities import Domain
from fltheory.bounds.space import Params
from fltheory.validation.proof import expand, instances, products, quadratic, smt
from fltheory.validation.proof.certificate import Certificate, Hypotheses, statement_digest
from fltheory.validation.proof.class_cases import MOST_DRAWN
from fltheory.validation.proof.counterexamples import refuted
from fltheory.validation.proof.left_out import completed, left_out
from fltheory.validation.proof.sequent import Sequent
from fltheory.validation.proof.translate import Untranslatable, sequents
from fltheory.validation.proof.vacuous import vacuous
from fltheory.validation.proof.worst_case import WorstCase
from fltheory.validation.verdict import Strength

LARGEST_SIZE = 3
"""Largest number of clients, steps and the like at which statements are written out."""

MOST_SIZES = 12
"""Combinations of sizes, and of discrete parameters, at which a form is certified."""

MOST_RANKED = 400
"""Combinations of discrete parameters among which those are looked for that smaller ones leave out."""

FEWEST = 3
"""Discrete parameters at which a form has to be certified at least."""

Scope = Mapping[str, Any]
"""Sizes and discrete parameters of one case."""


class Prover(Protocol):
    """Something that proves forms.

    A certificate holds its parts case by case. ``problems`` derives the polynomial problems of a case from the form
    alone; it has to return the same ones whenever it is called. ``means`` says what may prove them: ``polynomial``, all
    there is; ``quadratic``, weighted sums of hypotheses and squares only, since symbols stand for vectors.
    """

    name: str
    strength: Strength
    means: str

    def scopes(self, form: Form, hypotheses: Hypotheses) -> list[Scope]:
        """Return the cases to be proved; none if the prover cannot say anything about the form."""
        ...

    def required(self, scopes: Sequence[Scope]) -> int:
        """Return how many of the cases, from the first on, have to be proved for a certificate to be of use."""
        ...

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Scope) -> list[Sequent]:
        """Return the polynomial problems of one case."""
        ...

    def sampled(self, hypotheses: Hypotheses, scope: Scope) -> tuple[Instances, Iterator[Params]] | None:
        """Return instances of a case, and random points of them; ``None`` if a case leaves nothing out."""
        ...

    def words(self, form: Form, hypotheses: Hypotheses, scopes: Sequence[Scope]) -> str:
        """Return what a certificate of these cases covers."""
        ...


class Scalar:
    """Statements about numbers: for all values in their declared ranges."""

    name = "scalar"
    strength = Strength.PROVED
    means = "polynomial"

    def scopes(self, form: Form, hypotheses: Hypotheses) -> list[Scope]:
        """Return one case without any sizes, if the form is about numbers only."""
        return [{}] if expand.scalar_only(form, hypotheses.assumptions) else []

    def required(self, scopes: Sequence[Scope]) -> int:
        """Return that it has to be proved."""
        return 1

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Scope) -> list[Sequent]:
        """Return the problems of the form."""
        made = expand.expanded(form, hypotheses.assumptions, {})
        return [one for goal in made.goals for one in sequents(made.hypotheses, goal, made.domains)]

    def sampled(self, hypotheses: Hypotheses, scope: Scope) -> None:
        """Return nothing: there are all values."""

    def words(self, form: Form, hypotheses: Hypotheses, scopes: Sequence[Scope]) -> str:
        """Return what is covered."""
        return "all values within the declared ranges"


class Sizes:
    """Statements with sums, families and expectations, written out at small sizes."""

    name = "sizes"
    strength = Strength.CERTIFIED
    means = "polynomial"

    def scopes(self, form: Form, hypotheses: Hypotheses) -> list[Scope]:
        """Return small sizes, unless there is nothing to be written out."""
        if expand.scalar_only(form, hypotheses.assumptions):
            return []
        sizes = expand.sizes_in(form, hypotheses.assumptions)
        options = [_small(domain) for domain in sizes.values()]
        ranked = sorted(itertools.product(*options), key=lambda values: (sum(values), values))
        return [dict(zip(sizes, values, strict=True)) for values in ranked[:MOST_SIZES]]

    def required(self, scopes: Sequence[Scope]) -> int:
        """Return the place of the last case in which every size is at most two."""
        small = [place for place, scope in enumerate(scopes, 1) if all(value <= 2 for value in scope.values())]
        return max(small, default=1)

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Scope) -> list[Sequent]:
        """Return the problems at given sizes."""
        made = expand.expanded(form, hypotheses.assumptions, scope)
        return [one for goal in made.goals for one in sequents(made.hypotheses, goal, made.domains)]

    def sampled(self, hypotheses: Hypotheses, scope: Scope) -> None:
        """Return nothing: every quantity is a symbol."""

    def words(self, form: Form, hypotheses: Hypotheses, scopes: Sequence[Scope]) -> str:
        """Return the sizes, and what else is fixed."""
        parts = [in_words(scopes)] if any(scopes) else []
        if expand.has_outcomes(form, hypotheses.assumptions):
            parts.append(f"{expand.OUTCOMES} outcomes of any probabilities")
        if expand.has_norms(form, hypotheses.assumptions):
            parts.append("one dimension")
        return ", ".join(parts) or "all values within the declared ranges"


class OnInstances:
    """Statements on the instances of their check, with symbols for the continuous parameters."""

    name = "instances"
    strength = Strength.CERTIFIED
    means = "polynomial"

    def scopes(self, form: Form, hypotheses: Hypotheses) -> list[Scope]:
        """Return discrete parameters, if the check makes instances without rounding."""
        check = hypotheses.check
        if not isinstance(check, Instances) or not check.rational or not check.space.reals():
            return []
        several = [_stored(point) for point in instances.discrete_points(check.space, MOST_RANKED)]
        small = several[: len(instances.discrete_points(check.space, MOST_SIZES))]
        return completed(self, form, hypotheses, small, several[len(small) :], fewest=FEWEST)

    def required(self, scopes: Sequence[Scope]) -> int:
        """Return a few cases, or all if there are fewer."""
        return min(len(scopes), FEWEST)

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Scope) -> list[Sequent]:
        """Return the problems along all paths through the code that makes an instance."""
        check = hypotheses.check
        if not isinstance(check, Instances):
            raise Untranslatable("no instances")
        equations = all(isinstance(relation, sp.Eq) for relation in form.relations)
        if not equations and any(q.role.value == "function" for q in form.quantities()):
            raise Untranslatable("an inequality over functions needs all functions, not those of the check")
        found = []
        discrete = {name: np.array(v) if isinstance(v, list) else v for name, v in scope.items()}
        for known, goals, ranges in instances.statements(form, hypotheses.assumptions, check, discrete):
            domains = {symbol: _domain(real.low) for symbol, real in ranges.items()}
            box = [] if equations else _box(ranges)
            for goal in goals:
                alone = sequents([], goal, {})
                same = all(one.trivial for one in alone)
                found += alone if same else sequents([*box, *known], goal, domains)
        return found

    def sampled(self, hypotheses: Hypotheses, scope: Scope) -> tuple[Instances, Iterator[Params]] | None:
        """Return the instances of the check, and points of them with discrete parameters as they are in a case."""
        check = hypotheses.check
        if not isinstance(check, Instances):
            return None
        discrete = {name: np.array(v) if isinstance(v, list) else v for name, v in scope.items()}
        rng = np.random.default_rng(0)
        length = check.space.length(discrete)
        return check, (check.space.at(discrete, rng.random(length)) for _ in range(MOST_DRAWN))

    def words(self, form: Form, hypotheses: Hypotheses, scopes: Sequence[Scope]) -> str:
        """Return the discrete parameters."""
        equations = all(isinstance(relation, sp.Eq) for relation in form.relations)
        fixed = [scope for scope in scopes if scope]
        at = f" with {in_words(scopes)}" if fixed else ""
        return f"all instances of the check{at}" + ("" if equations else ", within the ranges of its parameters")


def _domain(low: float) -> Domain:
    return Domain.POSITIVE if low > 0 else Domain.NONNEGATIVE if low == 0 else Domain.REAL


def _box(ranges: Mapping[sp.Symbol, Any]) -> list[Any]:
    """Return the ranges of the parameters, as the check has them."""
    ends = [(symbol, sp.Rational(str(real.low)), sp.Rational(str(real.high))) for symbol, real in ranges.items()]
    lower = [sp.Ge(symbol, low, evaluate=False) for symbol, low, _ in ends]
    return lower + [sp.Le(symbol, high, evaluate=False) for symbol, _, high in ends]


def _small(domain: Domain) -> range:
    low = 0 if domain is Domain.COUNT else 1
    return range(low, LARGEST_SIZE + 1)


def _stored(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in point.items()}


def in_words(scopes: Sequence[Scope]) -> str:
    """Return which values sizes have.

    >>> in_words([{"N": 1, "E": 1}, {"N": 2, "E": 1}])
    'N = 1, 2, E = 1'
    """
    values: dict[str, list[Any]] = {}
    for scope in scopes:
        for name, value in scope.items():
            shown = values.setdefault(name, [])
            if value not in shown:
                shown.append(value)
    return ", ".join(f"{name} = {', '.join(map(str, shown))}" for name, shown in values.items())


PROVERS: tuple[Prover, ...] = (Scalar(), Sizes(), OnInstances(), WorstCase(), WorstCase(alone=True))
"""All provers, those that prove most first."""


def prover_of(certificate: Certificate) -> Prover:
    """Return the prover that has found a certificate."""
    found = next((one for one in PROVERS if one.name == certificate.prover), None)
    if found is None:
        raise Untranslatable(f"there is no prover called {certificate.prover!r}")
    return found


def attempt(
    id_: str, form: Form, hypotheses: Hypotheses, *, seconds: float, provers: Iterable[Prover] = PROVERS
) -> Certificate | None:
    """Return a certificate for a form, if a prover finds one in time; ``None`` otherwise."""
    end = time.perf_counter() + seconds
    able = [(prover, scopes) for prover in _ordered(provers, form) if (scopes := prover.scopes(form, hypotheses))]
    for place, (prover, scopes) in enumerate(able):
        # Every prover has its share of the time that is left.
        now = time.perf_counter()
        try:
            proved, parts = _settled(prover, form, hypotheses, scopes, now + (end - now) / (len(able) - place))
        except Untranslatable:
            continue
        about = _about(prover, ((scope, prover.problems(form, hypotheses, scope)) for scope in proved))
        if about and len(proved) >= prover.required(scopes) and not left_out(prover, form, hypotheses, about):
            if prover.strength is not Strength.PROVED and refuted(form, hypotheses):
                return None
            return Certificate(
                id=id_,
                variant=form.variant,
                statement=statement_digest(form, hypotheses),
                prover=prover.name,
                strength=prover.strength,
                scope=proved,
                words=prover.words(form, hypotheses, about),
                parts=parts,
            )
    return None


def _ordered(provers: Iterable[Prover], form: Form) -> list[Prover]:
    """Return provers as they are tried: for inequalities, all vectors come before all values of the parameters."""
    equations = all(isinstance(relation, sp.Eq) for relation in form.relations)
    return sorted(provers, key=lambda prover: not equations and prover.name == OnInstances.name)


def _settled(
    prover: Prover, form: Form, hypotheses: Hypotheses, scopes: Sequence[Scope], end: float
) -> tuple[list[Scope], list[list[dict[str, Any]]]]:
    """Return the cases that are proved, in order, up to the first that takes too long, and their parts.

    One case that cannot be proved although there is time is a reason to say nothing at all.
    """
    done: list[Scope] = []
    found: list[list[dict[str, Any]]] = []
    said = False
    for scope in scopes:
        if len(done) >= prover.required(scopes) and time.perf_counter() > end:
            break
        try:
            problems = prover.problems(form, hypotheses, scope)
        except Untranslatable:
            if len(done) >= prover.required(scopes):
                break  # only larger sizes are too large
            raise
        parts = []
        for place, problem in enumerate(problems):
            left = end - time.perf_counter()
            share = left / (2 * (len(problems) - place))
            part = settle(problem, prover.means, seconds=left, quick=min(QUICK, share)) if left > 0 else None
            if part is None:
                return (done, found) if said and time.perf_counter() > end else ([], [])
            parts.append(part)
        said = said or bool(problems)
        done.append(scope)
        found.append(parts)
    return (done, found) if said else ([], [])


QUICK = 2.0
"""Seconds after which products of hypotheses are given up, and a solver is asked."""


def settle(
    problem: Sequent, means: str = "polynomial", *, seconds: float, quick: float = QUICK
) -> dict[str, Any] | None:
    """Return what proves a polynomial problem; ``None`` if nothing is found.

    Products of hypotheses, which anybody can check, are looked for in ``quick`` seconds; then a solver is asked.
    """
    digest = {"digest": problem.digest()}
    if problem.trivial:
        return digest
    if means == "quadratic":
        weights = quadratic.attempt(problem)
        return None if weights is None else {**digest, **weights}
    found = products.attempt(problem, seconds=min(seconds, quick))
    if found is not None:
        return {**digest, **found}
    text = smt.text(problem)
    if smt.solve("z3", text, seconds=seconds) != "unsat":
        return None
    second = smt.solve("cvc5", text, seconds=min(seconds, 5.0))
    if second == "sat":
        return None
    solvers = {smt.version("z3"): "unsat", **({smt.version("cvc5"): second} if smt.available("cvc5") else {})}
    return {**digest, "solvers": solvers, "text": text}


REPLAY_SECONDS = 60.0
"""Time that a solver gets to repeat what it has answered before."""


def replay(certificate: Certificate, form: Form, hypotheses: Hypotheses, *, seconds: float = REPLAY_SECONDS) -> str:
    """Check a certificate without searching; return why it proves nothing, or an empty string if it does.

    What a certificate says that it covers are the cases in which assumptions can be fulfilled.
    """
    if certificate.statement != statement_digest(form, hypotheses):
        return "the certificate is about another statement"
    try:
        prover = prover_of(certificate)
    except Untranslatable as error:
        return str(error)
    if certificate.strength is not prover.strength:
        return f"what the prover {prover.name!r} finds is {prover.strength.value}"
    allowed = prover.scopes(form, hypotheses)
    if not certificate.scope or len(certificate.scope) != len(certificate.parts):
        return "the certificate has no cases"
    if len(certificate.scope) < prover.required(allowed):
        return "the certificate has too few cases"
    if list(certificate.scope) != [dict(scope) for scope in allowed[: len(certificate.scope)]]:
        return "the certificate is about other sizes"
    made: list[list[Sequent]] = []
    for scope, parts in zip(certificate.scope, certificate.parts, strict=True):
        try:
            problems = prover.problems(form, hypotheses, scope)
        except Untranslatable as error:
            return str(error)
        made.append(problems)
        if len(problems) != len(parts):
            return "the certificate is about other problems"
        for problem, part in zip(problems, parts, strict=True):
            why = _refused(problem, part, prover.means, seconds)
            if why:
                return why
    about = _about(prover, zip(certificate.scope, made, strict=True))
    if not about:
        return "the hypotheses contradict each other"
    missing = left_out(prover, form, hypotheses, about)
    if missing:
        return f"in all cases of the certificate this is zero: {', '.join(sorted(missing))}"
    if certificate.words != prover.words(form, hypotheses, about):
        return "the certificate says that it covers something else"
    return ""


def _about(prover: Prover, cases: Iterable[tuple[Scope, Sequence[Sequent]]]) -> list[Scope]:
    """Return the cases of a certificate in which hypotheses do not contradict each other: what it is about."""
    known_to_be_possible = prover.means != "polynomial"  # each has an instance
    return [scope for scope, problems in cases if known_to_be_possible or not vacuous(problems)]


def _refused(problem: Sequent, part: Mapping[str, Any], means: str, seconds: float) -> str:
    """Return why a part does not prove a problem; empty if it does."""
    if part["digest"] != problem.digest():
        return "a part is about another problem"
    if problem.trivial:
        return ""
    try:
        if means == "quadratic":
            proved = "weights" in part and quadratic.verified(problem, part)
            return "" if proved else "weighted hypotheses and squares do not add up to the goal"
        if "terms" in part or "halves" in part:
            return "" if products.verified(problem, part) else "products of hypotheses do not add up to the goal"
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # a file may have been edited
        return f"a part cannot be read: {type(error).__name__}: {error}"
    if "text" not in part or part["text"] != smt.text(problem):
        return "a part proves nothing"
    if not smt.available("z3"):
        return "z3 is not installed, which has to repeat its answer; install it with: pip install --editable '.[proof]'"
    answer = smt.solve("z3", part["text"], seconds=seconds)
    return "" if answer == "unsat" else f"z3 does not repeat its answer: {answer}"
