"""One statement of the catalogue as a user meets it: its page, forms and symbols, its bounds, and its learning rate."""

from __future__ import annotations

import html
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fltheory._internal import arguments
from fltheory.algorithms.base import Algorithm
from fltheory.bounds import catalogue
from fltheory.bounds.algebra import needed_by
from fltheory.bounds.claim import Assumption, Claim, Form
from fltheory.bounds.observation import FROM_PROBLEM, Facts, Observation
from fltheory.bounds.papers import labelled
from fltheory.bounds.plain_text import plain
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import Quantity
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.participation import Participation
from fltheory.problems.problem import Problem
from fltheory.simulation.experiment import Experiment, require_parts
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Schedule
from fltheory.simulation.trajectories import Trajectories
from fltheory.theory.bound import Bound
from fltheory.theory.comparison import Comparison, compare, finite_rate


@dataclass(frozen=True, slots=True, repr=False)
class Theorem:
    """A published statement with its forms; :func:`theorem` returns it by its id.

    Parameters
    ----------
    claim
        The claim that its file declares.
    entry
        Its entry in the catalogue.
    """

    claim: Claim
    entry: catalogue.Entry

    @property
    def id(self) -> str:
        """Its id, such as ``ruan.theorem-3.1``."""
        return self.claim.id

    @property
    def title(self) -> str:
        """What it says, in a few words."""
        return self.claim.title

    @property
    def kind(self) -> str:
        """``identity``, ``lemma``, ``bound``, ``lower``, ``rate`` or ``rule``."""
        return self.claim.kind.value

    @property
    def reference(self) -> str:
        """Where it is printed."""
        return labelled(self.claim.citation.paper, self.claim.citation.reference)

    @property
    def page(self) -> str:
        """The page of the statement: setting, readings, where it is tight or fails, derivations, source."""
        return inspect.getdoc(self.entry.module()) or ""

    @property
    def forms(self) -> Mapping[str, Form]:
        """The forms by variant: ``published``, ``corrected``, ``sharp``, with ``@reading`` where readings differ."""
        return MappingProxyType({form.variant: form for form in self.claim.forms})

    @property
    def symbols(self) -> Symbols:
        """All quantities of all forms and assumptions."""
        found: dict[str, Quantity] = {}
        for form in self.claim.forms:
            relations = [assumption.relation for assumption in self.claim.assumptions_of(form)]
            for part in (*form.parts(), *relations):
                found |= needed_by(part)
        return Symbols(found[name] for name in sorted(found))

    def assumptions(self, variant: str | None = None) -> tuple[Assumption, ...]:
        """Return the conditions of a form.

        Parameters
        ----------
        variant
            The form, see :meth:`form`.
        """
        return self.claim.assumptions_of(self.form(variant))

    def form(self, variant: str | None = None) -> Form:
        """Return a form by variant.

        ``corrected`` also finds ``corrected@...`` where there is no plain one, the first in order. ``None`` stands for
        the first corrected form, or the first published one of a statement that needs no correction.

        Parameters
        ----------
        variant
            Name of the form, such as ``published``, ``corrected`` or ``sharp@limit``.
        """
        if variant is None:
            ours = [form for form in self.claim.forms if form.variant.startswith("corrected")]
            return (ours or list(self.claim.forms))[0]
        if variant in self.forms:
            return self.forms[variant]
        readings = [form for form in self.claim.forms if form.variant.startswith(f"{variant}@")]
        if readings:
            return readings[0]
        return self.claim.form(variant)  # raises, with the variants there are

    def bound(self, variant: str | None = None, *, part: int = 0) -> Bound:
        """Return what a form states as a bound.

        Parameters
        ----------
        variant
            The form, see :meth:`form`.
        part
            Which relation, where a form states several.

        Examples
        --------
        >>> bound = theorem("ruan.theorem-3.1").bound("corrected")
        >>> bound.direction, sorted(symbol.name for symbol in bound.symbols)[:5]
        ('upper', ['E', 'G_sq', 'Gamma', 'L', 'N'])
        """
        return Bound.of(self.id, self.form(variant), part)

    def compare(
        self,
        experiment: Experiment,
        run: Trajectories | None = None,
        *,
        variant: str | None = None,
        engine: str | None = None,
        replicates: int = 100,
        seed: int = 0,
        radius: float | None = None,
        **constants: Any,
    ) -> Comparison:
        """Return both sides of a form along an experiment, with every constant and assumption.

        Parameters
        ----------
        experiment
            Any problem, algorithm and participation that the statement is about.
        run
            What came out of it, recorded with :attr:`record`; by default it is run here.
        variant
            The form, see :meth:`form`.
        engine, replicates, seed
            How to run it if no run is given: ``exact`` where that is possible, else ``monte_carlo``.
        radius
            Take smoothness, noise and gradient bound that hold for all models at most this far from the minimiser,
            where the problem knows them (:func:`~fltheory.problems.problem.constants_on_ball`).
        constants
            Values that you declare, by the name of their symbol; they replace what would be computed or measured.
        """
        form = self.form(variant)
        return compare(
            self.id,
            self.claim,
            form,
            self._observation(form),
            experiment,
            run,
            engine=engine,
            replicates=replicates,
            seed=seed,
            radius=radius,
            constants=constants,
        )

    def record(self, variant: str | None = None) -> Record:
        """Return what has to be recorded of a run for :meth:`compare`.

        Parameters
        ----------
        variant
            The form, see :meth:`form`.
        """
        return Record(**self._observation(self.form(variant)).record)

    def prescribes(self, variant: str) -> bool:
        """Return whether a form prescribes a learning rate; see :meth:`rate_for`.

        Parameters
        ----------
        variant
            Name of the form.
        """
        observation = self.form(variant).observation or self.claim.observation
        return observation is not None and observation.rate is not None

    def rate_for(
        self,
        problem: Problem,
        participation: Participation,
        *,
        algorithm: Algorithm | None = None,
        rounds: int | None = None,
        radius: float | None = None,
        variant: str | None = None,
        **constants: Any,
    ) -> Schedule:
        """Return the learning rate that the statement prescribes, as a schedule for an experiment.

        Parameters
        ----------
        problem, participation, algorithm
            What will be run; without an algorithm the one that the statement is about.
        rounds
            Number of rounds, where participation changes over time and the rate with it.
        radius
            As for :meth:`compare`.
        variant
            The form, see :meth:`form`.
        constants
            Values that you declare, by the name of their symbol.
        """
        observation = self._observation(self.form(variant))
        if observation.rate is None:
            asked = "; ".join(f"{one.name}, {plain(latex(one.relation))}" for one in self.assumptions(variant))
            others = [name for name in self.forms if self.prescribes(name)]
            raise NotApplicable(
                f"{self.id} prescribes no learning rate"
                + (f" in this form; pass variant={others[0]!r} for one that does" if others else "")
                + (f"; it holds for all that meet its assumptions: {asked}" if asked else "; choose one")
                + "; fl.step_sizes compares rates for a problem"
            )
        if algorithm is None:
            if observation.algorithm is None:
                raise InvalidParameter(f"{self.id} is about several algorithms; pass algorithm=...")
            algorithm = observation.algorithm()
        require_parts("rate_for", problem, algorithm, participation)
        known = self.takes()
        for name in constants.keys() - known:
            hint = (
                arguments.nearest(name, sorted(known)) or f"fl.theorem({self.id!r}).symbols lists what it can be told"
            )
            raise InvalidParameter(f"{self.id} makes no use of {name}; {hint}")
        facts = Facts(
            problem=problem,
            algorithm=algorithm,
            participation=participation,
            rounds=None if rounds is None else arguments.integer("rate_for", "rounds", rounds, low=1),
            radius=radius,
            given=constants,
        )
        observation.about(facts)
        return finite_rate(observation.rate, facts)

    def takes(self) -> frozenset[str]:
        """Return the names of all constants that can be declared."""
        return frozenset(FROM_PROBLEM) | {symbol.name for symbol in self.symbols}

    def _observation(self, form: Form) -> Observation:
        observation = form.observation or self.claim.observation
        if observation is None:
            readable = [name for name, other in self.forms.items() if other.observation is not None]
            instead = (
                f"; pass variant={readable[0]!r} for a form that can"
                if readable
                else f" ({self.title}); evaluate its bound with theorem({self.id!r}).bound().function(), or "
                f"check it with fltheory check {self.id}"
            )
            name = f"{self.id} ({form.variant})" if readable else f"{self.id} ({self.kind})"
            raise NotApplicable(f"{name} cannot be read off a run{instead}")
        return observation

    def __repr__(self) -> str:
        return f"Theorem({self.id!r}: {self.title}; forms {', '.join(self.forms)})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(variant)}</td><td>$\\displaystyle {html.escape(form.latex())}$</td></tr>"
            for variant, form in self.forms.items()
        )
        heading = f"<b>{html.escape(self.id)}</b>: {html.escape(self.title)} ({html.escape(self.reference)})"
        return f"<div>{heading}<table>{rows}</table></div>"


class Symbols(tuple[Quantity, ...]):
    """Quantities, shown as a table in notebooks."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(symbol.described() for symbol in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{html.escape(s.name)}</code></td><td>${html.escape(s.with_indices)}$</td>"
            f"<td>{html.escape(s.meaning)}</td></tr>"
            for s in self
        )
        return f"<table><tr><th>name</th><th>symbol</th><th>meaning</th></tr>{rows}</table>"


def theorem(id: str, *, claims: catalogue.Folders = ()) -> Theorem:
    """Return a statement by its id; an unknown one raises with the nearest id.

    Parameters
    ----------
    id
        Such as ``ruan.theorem-3.1``; ``fltheory list`` shows all of them.
    claims
        Folders with claims of your own.

    Returns
    -------
    Theorem
        The statement.

    Examples
    --------
    >>> theorem("ruan.theorem-3.1").title
    'convergence with flexible participation'
    >>> theorem("ruan.theorem-3-1")
    Traceback (most recent call last):
    ...
    fltheory.errors.InvalidParameter: no claim matches 'ruan.theorem-3-1'; did you mean 'ruan.theorem-3.1'?
    """
    entry = catalogue.select_one(id, catalogue.folders(claims))
    return Theorem(entry.load(), entry)


def theorems(pattern: str = "*", *, claims: catalogue.Folders = ()) -> list[str]:
    """Return the ids of all statements that match a pattern.

    Parameters
    ----------
    pattern
        An id or a pattern such as ``ruan.*``.
    claims
        Folders with claims of your own.

    Returns
    -------
    list of str
        The ids, in the order of the catalogue.

    Examples
    --------
    >>> theorems("fieldguide.lemma-*")
    ['fieldguide.lemma-1', 'fieldguide.lemma-2']
    """
    return [entry.id for entry in catalogue.select([pattern], catalogue.folders(claims))]
