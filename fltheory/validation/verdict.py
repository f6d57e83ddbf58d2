"""What comes out of checking a form of a claim: the verdict and its evidence."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from fltheory.bounds.catalogue import Entry
from fltheory.validation.in_symbols import instance, side


class Decision(enum.Enum):
    """What a check decides about a form, or a comparison about a theorem."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT_APPLICABLE"


class Strength(enum.Enum):
    """What an answer rests on, the strongest first."""

    PROVED = "proved"
    """For all values within the declared ranges, by a stored certificate that is replayed without the search."""
    CERTIFIED = "certified"
    """By a certificate as well, at stated sizes."""
    REFUTED = "refuted"
    """By an instance, confirmed in rational arithmetic."""
    REFUTED_FLOAT = "refuted (float64)"
    """By an instance in floating point that exceeds by far more than rounding."""
    SEARCHED = "searched"
    """No counterexample was found."""
    SAMPLED = "sampled"
    """Curves are estimated from replicates, with a band."""
    EXTRAPOLATED = "extrapolated"
    """A trend was continued beyond what was evaluated."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Counterexample:
    """An instance on which a form fails, small and round, with what `replay` needs to evaluate it again.

    Parameters
    ----------
    id, variant
        Which form of which claim.
    parameters
        The instance as JSON values; rationals are strings.
    lhs, rhs
        Both sides of the failing relation, as text (exact where they are).
    ratio
        ``lhs / rhs`` where that makes sense.
    sign
        How the sides compare: ``>`` where ``<=`` was claimed, ``≠`` where equality was.
    relation, where
        Which relation of the form, at which indices.
    arithmetic
        ``rational`` (confirmed without rounding) or ``float64``.
    seed
        Of the engine that ran it.
    quantities
        The instance in the symbols of the paper; see :mod:`fltheory.validation.instance_values`.
    terms, hypotheses
        Both sides term by term, and the assumptions on the instance; see :mod:`fltheory.validation.by_hand`.
    given
        Sides that are nothing but a quantity of the instance.
    """

    id: str
    variant: str
    parameters: Mapping[str, Any]
    lhs: str
    rhs: str
    ratio: float | None
    sign: str
    relation: int
    where: Mapping[str, int]
    arithmetic: str
    seed: int
    quantities: Sequence[Mapping[str, Any]] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    hypotheses: Sequence[Mapping[str, str]] = ()
    given: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}

    def __str__(self) -> str:
        return f"{self.id} ({self.variant}) fails at {self.in_one_line()}"

    def __repr__(self) -> str:
        lhs, rhs = _sides(self.lhs, self.rhs)
        return f"Counterexample({self.id!r}, {self.variant!r}, {lhs} {self.sign} {rhs})"

    def _repr_html_(self) -> str:
        shown = [(f"${one['symbol']}$", ", ".join(map(str, one["values"]))) for one in self.quantities]
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in shown)
        lhs, rhs = _sides(self.lhs, self.rhs)
        heading = f"<b>{escape(self.id)}</b> ({escape(self.variant)}) fails: {escape(f'{lhs} {self.sign} {rhs}')}"
        table = f"<table>{rows}</table>" if rows else f"<br>{escape(self._made_from())}"
        return f"<div>{heading}{table}</div>"

    def in_one_line(self, *, turned: bool = False) -> str:
        """Return the instance in the symbols of the paper, and what fails on it, for tables.

        With ``turned`` the sides stand in the order of a statement with ``>=``, which is checked as one with ``<=``.
        """
        lhs, rhs = _sides(self.lhs, self.rhs)
        failing = f"{rhs} < {lhs}" if turned and self.sign == ">" else f"{lhs} {self.sign} {rhs}"
        return f"{instance(self.quantities, self.where) or self._made_from()}: {failing}"

    def _made_from(self) -> str:
        """Return the parameters of the generator; real numbers that are 1 are not named one by one."""
        named = {name: value for name, value in self.parameters.items() if not _ones(value)}
        words = [f"{name} = {_short(value)}" for name, value in named.items()]
        rest = ["all other numbers 1" if named else "all numbers 1"] if len(named) < len(self.parameters) else []
        return f"the instance that its generator makes from {', '.join(words + rest)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """An assumption as it was met: how many instances fulfilled it, the first that did not, and what was measured.

    ``example`` and ``measured`` are the sides of the assumption, on the first instance that fails it and on the one on
    which the statement is closest to failing.
    """

    name: str
    statement: str
    origin: str
    met: int
    failed: int
    example: str = ""
    measured: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Verdict:
    """The verdict on one form of a claim.

    Parameters
    ----------
    id, variant
        Which form of which claim.
    decision
        Whether the form holds.
    strength
        What it rests on.
    margin
        Smallest ``rhs / lhs`` seen; ``None`` if no instance had a positive left-hand side.
    method
        How the numbers were obtained.
    instances
        Instances on which all assumptions held and the statement was evaluated.
    budget
        Evaluations that were allowed.
    seconds
        Time taken.
    assumptions
        The conditions, as they were met.
    counterexample
        Where it fails, if it does.
    worst
        The instance with the smallest margin.
    evidence
        Further evidence, by kind: fitted exponents of a rate, the outcome table of a rule, the level of a band.
    reason
        How the decision was reached, in one sentence.
    seed
        Seed of the search.
    meant
        Forms that are declared the intended reading of this one.
    severity
        Of a violated published form: misprint, gap or false; see :mod:`fltheory.validation.severity`.
    """

    id: str
    variant: str
    decision: Decision
    strength: Strength
    margin: float | None
    method: str
    instances: int
    budget: int
    seconds: float
    assumptions: tuple[Condition, ...] = ()
    counterexample: Counterexample | None = None
    worst: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    seed: int = 0
    meant: tuple[str, ...] = ()
    severity: str = ""

    def __repr__(self) -> str:
        return f"Verdict({self.id!r}, {self.variant!r}, {self.decision.value})"

    def __str__(self) -> str:
        margin = "" if self.margin is None else f", smallest margin {self.margin:.4g}"
        grave = f" ({self.severity})" if self.severity else ""
        return f"{self.id} ({self.variant}): {self.decision.value}{grave}{margin}; {self.reason}"

    def _repr_html_(self) -> str:
        heading = f"<b>{escape(self.id)}</b> ({escape(self.variant)}): {self.decision.value}"
        margin = "" if self.margin is None else f"<br>smallest margin {self.margin:.4g}"
        how = f"<br>{self.instances} instances, method {escape(self.method)}, seed {self.seed}"
        return f"<div>{heading}<br>{escape(self.reason)}{margin}{how}</div>"

    def as_json(self) -> dict[str, Any]:
        """Return the object that `check --json` prints."""
        return {
            "id": self.id,
            "variant": self.variant,
            "verdict": self.decision.value,
            "strength": self.strength.value,
            "margin": self.margin,
            "method": self.method,
            "instances": self.instances,
            "seconds": round(self.seconds, 3),
            "assumptions": [condition.as_json() for condition in self.assumptions],
            "counterexample": None if self.counterexample is None else self.counterexample.as_json(),
            "budget": self.budget,
            "worst": _plain(self.worst),
            "evidence": _plain(self.evidence),
            "reason": self.reason,
            "seed": self.seed,
            "severity": self.severity,
            "meant": list(self.meant),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Verdict:
        """Undo :meth:`as_json`, up to the digits of the time taken; lists stay lists."""
        counterexample = stored["counterexample"]
        same = ("id", "variant", "margin", "method", "instances", "seconds", "budget", "worst", "evidence", "reason")
        return cls(
            **{name: stored[name] for name in (*same, "seed")},
            decision=Decision(stored["verdict"]),
            strength=Strength(stored["strength"]),
            severity=stored["severity"],
            meant=tuple(stored["meant"]),
            assumptions=tuple(Condition(**_fields(Condition, one)) for one in stored["assumptions"]),
            counterexample=None
            if counterexample is None
            else Counterexample(**_fields(Counterexample, counterexample)),
        )


def _fields(kind: Any, stored: Mapping[str, Any]) -> dict[str, Any]:
    return {name: stored[name] for name in kind.__slots__ if name in stored}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _sides(lhs: str, rhs: str) -> tuple[str, str]:
    """Return both sides of a failing relation, floats with as many digits as tell them apart, six at least."""
    try:
        if "." not in lhs + rhs:
            raise ValueError  # exact numbers, and powers, are not rounded
        numbers = float(lhs), float(rhs)
    except ValueError:
        return _short(side(lhs)), _short(side(rhs))
    digits = next((n for n in range(6, 17) if f"{numbers[0]:.{n}g}" != f"{numbers[1]:.{n}g}"), 17)
    return f"{numbers[0]:.{digits}g}", f"{numbers[1]:.{digits}g}"


def _ones(value: Any) -> bool:
    """Return whether a parameter, or every entry of it, is the number 1; whole numbers are sizes and counts."""
    if isinstance(value, list | tuple):
        return bool(value) and all(_ones(item) for item in value)
    return value in ("1", 1.0) and not isinstance(value, int)


def _short(value: Any) -> str:
    text = str(value).replace("'", "")
    return text if len(text) <= 40 else text[:37] + "..."


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with its verdicts and the LaTeX of its forms.

    ``time`` says when they were found, ``reused`` whether by an earlier run; ``error`` why there are none, and
    ``traceback`` where in the code that was noticed.
    """

    entry: Entry
    uses: tuple[str, ...]
    latex: tuple[str, ...]
    notes: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    error: str = ""
    reused: bool = False
    time: str = ""
    traceback: str = ""

    @property
    def broken(self) -> bool:
        """Whether a corrected or sharp form, which must hold, does not, or the claim could not be evaluated at all."""
        return bool(self.error) or any(
            v.decision is Decision.VIOLATED and not v.variant.startswith("published") for v in self.verdicts
        )
