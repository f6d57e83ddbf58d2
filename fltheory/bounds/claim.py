"""What a claim is: a published statement, its repaired and sharp forms, its assumptions, and how instances are made.

One file per statement under ``bounds/<paper>/`` ends in ``claim = Claim(id=..., kind=..., title=..., citation=...,
...)``, with these four first and literal, so that claims can be listed without loading them. The docstring of the
file is the page of the claim. Nothing here decides anything: :mod:`fltheory.validation` does, and verdicts come only
out of running it.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from fltheory._internal import arguments
from fltheory.bounds.algebra import Env, needed_by
from fltheory.bounds.definitions import Definition, definitions, unfolded, used
from fltheory.bounds.observation import Observation
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import Quantity, Role, declared_in, named
from fltheory.bounds.space import Params, Space
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.problems.problem import Origin
from fltheory.simulation.experiment import Experiment

Range = tuple[sp.Symbol, Any, Any]
"""An index with its first and last value; the values may be expressions."""

_ID = re.compile(r"[a-z][a-z0-9-]*\.[a-zA-Z0-9.-]+")
_VARIANT = re.compile(r"published(@[a-z0-9.-]+)?|corrected(@[a-z0-9.-]+)?|sharp(@[a-z0-9.-]+)?")


class Rejected(FltheoryError):
    """An instance that cannot be made from these parameters; the search goes on with others."""


class Kind(enum.Enum):
    """What sort of statement a claim is, which decides how it is checked."""

    IDENTITY = "identity"
    """Two expressions agree, or one condition implies another."""
    LEMMA = "lemma"
    """An inequality or equality over vectors, functions, random variables."""
    BOUND = "bound"
    """A trajectory stays under a curve."""
    RATE = "rate"
    """A law up to constants."""
    RULE = "rule"
    """A decision rule: predicted against simulated outcome."""
    LOWER = "lower"
    """On a problem that the paper constructs, an error stays above a curve, or above a law up to constants."""


class Method(enum.Enum):
    """How the numbers behind a verdict were obtained."""

    EXACT = "exact"
    SYMBOLIC = "symbolic"
    ENUMERATION = "enumeration"
    MONTE_CARLO = "monte-carlo"
    SDP = "sdp"


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a statement is printed.

    Parameters
    ----------
    paper
        Tag of the paper, such as ``ruan``.
    reference
        Number in it, such as ``Theorem 3.1, (3)``.
    """

    paper: str
    reference: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """A condition of a statement, as a relation that is evaluated on every instance.

    Parameters
    ----------
    name
        A few words.
    relation
        A SymPy relation; anything else (a relation that SymPy has already decided) is refused.
    origin
        Whether the constants in it are computed, declared, or measured on the trajectory.
    over
        Indices for all of whose values it has to hold.
    """

    name: str
    relation: Any
    origin: Origin = Origin.COMPUTED
    over: tuple[Range, ...] = ()

    def __post_init__(self) -> None:
        _require_relation("Assumption", self.name, self.relation)


@dataclass(frozen=True, kw_only=True, slots=True)
class Instances:
    """Instances that are made from parameters alone.

    Parameters
    ----------
    space
        Parameters of an instance with their ranges.
    realise
        Turns a point of the space into quantities. It is called with floats and with SymPy rationals; it must use
        neither ``math`` nor float-only NumPy functions if ``rational`` is set. It raises :class:`Rejected` where the
        parameters make no instance.
    method
        How the numbers are obtained.
    rational
        Whether a violation can be confirmed without rounding.
    effort
        Multiplies the budget of a search, for spaces in which failures would be rare; it applies to all forms that
        share the check.
    begin
        Points that every search looks at, for terms that matter only where random points are rare: many dimensions,
        large numbers.
    within
        Instances over whole classes of functions and all vectors, made without rounding, that include these: what is
        certified for them holds here. They are not searched; constants that only the assumptions of the form bound may
        be parameters there.
    """

    space: Space
    realise: Callable[[Params], Mapping[Any, Any]]
    method: Method = Method.ENUMERATION
    rational: bool = True
    effort: int = 1
    begin: tuple[Params, ...] = ()
    within: Instances | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiments:
    """Instances that have to be run: parameters give experiments, their trajectories give quantities.

    Parameters
    ----------
    space
        Parameters of an experiment.
    experiment
        The experiment at a point of the space, or several that are compared.
    quantities
        Quantities from the parameters, the experiment and its trajectories (tuples of them if there are several). A
        :class:`~fltheory.simulation.trajectories.Band` may stand for a curve that was sampled.
    engine
        ``exact`` or ``monte_carlo``.
    replicates
        Of the Monte Carlo engine, and of sampled participation.
    moments
        Ask the exact engine for mean and covariance of the model.
    record
        What else has to be recorded: options of :class:`~fltheory.simulation.recording.Record`.
    effort
        Multiplies the budget of a search, for spaces with many parameters.
    horizon
        Parameter that decides for how many rounds an experiment is run, and nothing else: along a sweep of it, the
        longest run serves for all points.
    begin
        Points that every search looks at, for terms that matter only where random points are rare: after thousands of
        rounds, in hundreds of dimensions.
    """

    space: Space
    experiment: Callable[[Params], Experiment | tuple[Experiment, ...]]
    quantities: Callable[[Params, Any, Any], Mapping[Any, Any]]
    engine: str = "exact"
    replicates: int = 200
    moments: bool = False
    record: Mapping[str, bool] = field(default_factory=dict)
    effort: int = 1
    horizon: str = ""
    begin: tuple[Params, ...] = ()

    @property
    def method(self) -> Method:
        """How the numbers are obtained."""
        return Method.EXACT if self.engine == "exact" else Method.MONTE_CARLO

    @property
    def rational(self) -> bool:
        """Trajectories are float64."""
        return False


@dataclass(frozen=True, slots=True)
class Sweep:
    """One parameter varied, all others fixed.

    Parameters
    ----------
    name
        The parameter.
    values
        Its values, increasing, at least four; evenly spaced in the logarithm is best.
    base
        All other parameters.
    lighter
        Those to take instead where time is short: the same numbers in a faster way.
    """

    name: str
    values: tuple[float, ...]
    base: Params
    lighter: Params = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.values) < 4 or any(b <= a for a, b in zip(self.values, self.values[1:], strict=False)):
            raise arguments.fail("Sweep", "values", "at least four increasing numbers", self.values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sweeps:
    """How a rate is checked: what is measured over what is claimed must not grow along any sweep.

    Parameters
    ----------
    instances
        How instances are made.
    sweeps
        Parameters that are varied, one at a time.
    """

    instances: Instances | Experiments
    sweeps: tuple[Sweep, ...]

    def shortened(self, also: tuple[Sweep, ...] = ()) -> Sweeps:
        """Return the first sweep of every parameter, with its last four points: as many as an exponent is read from.

        Sweeps in ``also``, along which the statement is known to fail, come before them as they are.
        """
        first: dict[str, Sweep] = {}
        for sweep in self.sweeps:
            first.setdefault(sweep.name, Sweep(sweep.name, sweep.values[-4:], {**sweep.base, **sweep.lighter}))
        return Sweeps(instances=self.instances, sweeps=(*also, *first.values()))

    @property
    def method(self) -> Method:
        """How the numbers are obtained."""
        return self.instances.method


Check = Instances | Experiments | Sweeps


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Form:
    """One form of a statement.

    Parameters
    ----------
    variant
        ``published``, ``corrected`` or ``sharp``; ``published@003`` and the like where readings differ.
    statement
        One relation, or several that are claimed together.
    where
        Definitions, in order: a symbol, or a member ``B[t]`` of a family, and the expression that it stands for. An
        instance may give the value of a defined symbol itself, where that is faster.
    over
        Indices for all of whose values it is claimed.
    premises
        Relations that a rule or implication starts from; instances that do not fulfil them do not count.
    assumptions, check
        Instead of those of the claim.
    note
        One sentence for tables: what differs from what is printed, or which reading was taken.
    observation
        How it is read on a user's own experiment, instead of the claim's.
    intended
        Published forms of which this one is the intended reading: the text makes it obvious that it was meant, as a
        charitable reading of the same sentence or with nothing but the print mended; the severity of a violation
        depends on it.
    page
        Page of the claim, whose displays give terms their order in :meth:`latex`; set where a claim is loaded.
    """

    variant: str = "published"
    statement: Any
    where: tuple[Definition, ...] = ()
    over: tuple[Range, ...] = ()
    premises: tuple[Any, ...] = ()
    assumptions: tuple[Assumption, ...] | None = None
    check: Check | None = None
    note: str = ""
    observation: Observation | None = field(default=None, repr=False)
    intended: tuple[str, ...] = ()
    page: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _VARIANT.fullmatch(self.variant):
            raise arguments.fail(
                "Form", "variant", "published, corrected or sharp, perhaps with @reading", self.variant
            )
        relations = self.statement if isinstance(self.statement, tuple) else (self.statement,)
        for relation in (*relations, *self.premises):
            _require_relation("Form", self.variant, relation)
        object.__setattr__(self, "statement", relations)
        declared_in(f"Form {self.variant!r}", [*self.parts(), *_ends(self.over)])
        definitions(self.where)

    @property
    def must_hold(self) -> bool:
        """Whether the form is corrected or sharp, so that a violation would be an error of the correction."""
        return not self.variant.startswith("published")

    @property
    def relations(self) -> tuple[Relational, ...]:
        """The relations claimed."""
        relations: tuple[Relational, ...] = self.statement
        return relations

    def parts(self) -> list[Any]:
        """Return all expressions of the form: statement, premises, definitions."""
        defined = [part for target, value in self.where for part in (target, sp.sympify(value))]
        return [*self.relations, *self.premises, *defined]

    def quantities(self) -> list[Quantity]:
        """Return the quantities in which the form is written, by name, without indices."""
        definitions_used = used(self.where, [*self.relations, *self.premises])
        parts = [*self.relations, *self.premises, *(sp.sympify(part) for pair in definitions_used for part in pair)]
        found = {name: quantity for part in parts for name, quantity in needed_by(part).items()}
        return [found[name] for name in sorted(found) if found[name].role is not Role.INDEX]

    def named(self, env: Mapping[Any, Any]) -> Env:
        """Return an environment with names in place of symbols, or say which symbol is none of the form's."""
        return named(env, self.quantities)

    def unfolded(self, expression: Any) -> sp.Expr:
        """Return an expression with all definitions of the form substituted."""
        return unfolded(self.where, expression)

    def __repr__(self) -> str:
        count = len(self.relations)
        return f"Form({self.variant!r}, {count} relation{'s' * (count != 1)}, {len(self.where)} definitions)"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def latex(self) -> str:
        """Return the statement with its premises, ranges and definitions."""
        written = functools.partial(latex, page=self.page)
        text = r",\quad ".join(written(relation) for relation in self.relations)
        if self.premises:
            text = r"\ \wedge\ ".join(written(relation) for relation in self.premises) + r"\ \Rightarrow\ " + text
        for i, low, high in self.over:
            text += rf",\quad {latex(i)} = {latex(sp.sympify(low))}, \dots, {latex(sp.sympify(high))}"
        for target, value in used(self.where, [*self.relations, *self.premises]):
            text += rf",\quad {latex(target)} = {written(sp.sympify(value))}"
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One statement of a paper.

    Parameters
    ----------
    id
        ``paper.name``, as in the list of statements.
    kind, title, citation
        What it is, in a few words, and where it is printed.
    forms
        The published form, or one per reading; then corrected and sharp ones.
    assumptions
        Conditions of all forms that do not bring their own.
    uses
        Ids of the statements that the published proof uses.
    check
        How instances are made, for all forms that do not bring their own.
    observation
        How the statement is read on a user's own experiment, for all forms that do not bring their own; ``None`` if it
        is not about runs.
    """

    id: str
    kind: Kind
    title: str
    citation: Citation
    forms: tuple[Form, ...]
    assumptions: tuple[Assumption, ...] = ()
    uses: tuple[str, ...] = ()
    check: Check = field(repr=False)
    observation: Observation | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id) or not self.id.startswith(f"{self.citation.paper}."):
            raise arguments.fail("Claim", "id", "the tag of its paper, a dot and a name", self.id)
        variants = [form.variant for form in self.forms]
        if not variants or not variants[0].startswith("published") or len(set(variants)) != len(variants):
            raise arguments.fail("Claim", "forms", "distinct variants with a published one first", variants)
        published = {variant for variant in variants if variant.startswith("published")}
        for form in self.forms:
            if isinstance(form.intended, str) or not set(form.intended) <= published - {form.variant}:
                allowed = f"a tuple of other published forms of {self.id}"
                raise arguments.fail(f"Form {form.variant!r}", "intended", allowed, form.intended)
        conditions = [a for form in self.forms for a in self.assumptions_of(form)]
        declared_in(
            f"claim {self.id!r}",
            [
                *(part for form in self.forms for part in (*form.parts(), *_ends(form.over))),
                *(part for a in conditions for part in (a.relation, *_ends(a.over))),
            ],
        )

    def quantities(self) -> list[Quantity]:
        """Return the quantities in which the forms are written, by name."""
        found = {quantity.name: quantity for form in self.forms for quantity in form.quantities()}
        return [found[name] for name in sorted(found)]

    def named(self, env: Mapping[Any, Any]) -> Env:
        """Return an environment with names in place of symbols, or say which symbol is none of the claim's."""
        return named(env, self.quantities)

    def form(self, variant: str) -> Form:
        """Return one form, or raise with the variants there are."""
        found = {form.variant: form for form in self.forms}
        return found[arguments.choice(self.id, "variant", variant, found)]

    def with_page(self, page: str) -> Claim:
        """Return the claim with forms that print their terms in the order of its page."""
        return replace(self, forms=tuple(replace(form, page=page) for form in self.forms))

    def meant_by(self, form: Form) -> tuple[str, ...]:
        """Return the forms that are declared the intended reading of one."""
        return tuple(other.variant for other in self.forms if form.variant in other.intended)

    def check_of(self, form: Form) -> Check:
        """Return how a form is checked."""
        return self.check if form.check is None else form.check

    def assumptions_of(self, form: Form) -> tuple[Assumption, ...]:
        """Return the conditions of a form."""
        return self.assumptions if form.assumptions is None else form.assumptions


def _ends(over: tuple[Range, ...]) -> list[Any]:
    """Return indices with their ends, as expressions."""
    return [sp.sympify(part) for limits in over for part in limits]


def _require_relation(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, Relational):
        raise InvalidParameter(
            f"{owner} {name!r} must be a SymPy relation, got {value!r}; a relation that SymPy decides at once, such as "
            "one between positive symbols, has vanished: declare symbols without assumptions, use evaluate=False"
        )
