"""What an examination found: a conclusion, its reasons, and how it is shown."""

from __future__ import annotations

import enum
import html
from dataclasses import dataclass
from typing import Any

from fltheory.conformance.noise import NoiseResult
from fltheory.conformance.variants import Correctness, Variant


class Conclusion(enum.Enum):
    """What an implementation is."""

    CONFORMS = "CONFORMS"
    """The algorithm as the package reads it."""
    VARIANT = "VARIANT"
    """Another legitimate reading of the algorithm."""
    KNOWN_MISTAKE = "KNOWN_MISTAKE"
    """The algorithm with a mistake from the catalogue."""
    DIFFERS = "DIFFERS"
    """Something else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The first place where an implementation leaves the reference."""

    instance: str
    round: int
    """Number of the round, from 1."""
    rounds: int
    what: str
    """``server model``, ``local models`` or the name of a state field."""
    got: list[Any]
    expected: list[Any]
    relative: float
    """Largest difference relative to the size of what is expected."""

    def __str__(self) -> str:
        return (
            f"'{self.instance}', round {self.round} of {self.rounds}, {self.what}: "
            f"got {_numbers(self.got)}, expected {_numbers(self.expected)}"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceResult:
    """How an implementation did on one instance."""

    name: str
    features: tuple[str, ...]
    difference: Difference | None

    @property
    def agrees(self) -> bool:
        """Whether the whole curve agrees."""
        return self.difference is None


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Conformance:
    """Answer to "is my implementation right?".

    Parameters
    ----------
    algorithm, title, parameters
        What the implementation was compared with.
    conclusion
        What the implementation is.
    matches
        Combinations of variants that the implementation equals, if it is not the reference; those with fewest changes.
    condition
        When it agrees with the reference and when not, in words.
    hints
        What else was noticed.
    instances
        Every instance.
    skipped
        Features that were not examined.
    noise
        Comparison of the moments under gradient noise, if it was asked for.
    tolerance
        Relative difference up to which models count as equal.
    seconds
        Time taken.
    """

    algorithm: str
    title: str
    parameters: dict[str, Any]
    conclusion: Conclusion
    matches: tuple[tuple[Variant, ...], ...]
    condition: str
    hints: tuple[str, ...]
    instances: tuple[InstanceResult, ...]
    skipped: tuple[str, ...]
    noise: NoiseResult | Any
    tolerance: float
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the implementation is the algorithm or a legitimate reading of it, also under noise."""
        right = self.conclusion in (Conclusion.CONFORMS, Conclusion.VARIANT)
        return right and (self.noise is None or self.noise.agrees)

    @property
    def difference(self) -> Difference | Any:
        """The first difference on the smallest instance that has one; ``None`` if there is none."""
        return next((each.difference for each in self.instances if each.difference is not None), None)

    @property
    def diagnosis(self) -> str:
        """One sentence on what the implementation is."""
        if self.conclusion is Conclusion.CONFORMS:
            return f"equals {self.title} on all {len(self.instances)} instances"
        if not self.matches:
            return f"is neither {self.title} nor a variant of it in the catalogue"
        text = f"equals {self.title} with {_joined(self.matches[0])}"
        for other in self.matches[1:]:
            instead = tuple(variant for variant in other if variant not in self.matches[0])
            text += f"; or, which cannot be told apart here, with {_joined(instead)}"
        if self.conclusion is Conclusion.VARIANT:
            text += ": a variant, not a mistake"
        return text

    def __repr__(self) -> str:
        return f"Conformance({self.title}: {self.conclusion.value}, {self.diagnosis})"

    def lines(self) -> list[str]:
        """Return what was found, one sentence per line."""
        found = [self.diagnosis]
        if self.condition:
            found.append(self.condition)
        if self.difference is not None:
            found.append(f"first difference: {self.difference}")
        found += self.hints
        if self.skipped:
            found.append(f"not examined: {', '.join(self.skipped)}")
        if self.noise is not None:
            found.append(str(self.noise))
        return found

    def __str__(self) -> str:
        width = max(len(each.name) for each in self.instances)
        rows = [
            f"  {each.name:{width}}  "
            + ("agrees" if each.difference is None else f"differs from round {each.difference.round} on")
            for each in self.instances
        ]
        return "\n".join([f"{self.title}: {self.conclusion.value}", *self.lines(), *rows])

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "algorithm": self.algorithm,
            "parameters": self.parameters,
            "conclusion": self.conclusion.value,
            "ok": self.ok,
            "diagnosis": self.diagnosis,
            "condition": self.condition,
            "hints": list(self.hints),
            "matches": [
                [{"name": v.name, "kind": v.kind.value, "text": v.text, "source": v.source or None} for v in match]
                for match in self.matches
            ],
            "instances": [
                {
                    "name": each.name,
                    "features": list(each.features),
                    "agrees": each.agrees,
                    "difference": None
                    if each.difference is None
                    else {
                        "round": each.difference.round,
                        "what": each.difference.what,
                        "got": each.difference.got,
                        "expected": each.difference.expected,
                        "relative": each.difference.relative,
                    },
                }
                for each in self.instances
            ],
            "skipped": list(self.skipped),
            "noise": None if self.noise is None else self.noise.as_json(),
            "tolerance": self.tolerance,
            "seconds": round(self.seconds, 3),
        }

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(each.name)}</td>"
            f"<td>{'agrees' if each.difference is None else f'differs from round {each.difference.round} on'}</td></tr>"
            for each in self.instances
        )
        sentences = "".join(f"<p>{html.escape(line)}</p>" for line in self.lines())
        return (
            f"<p><b>{html.escape(self.title)}: {self.conclusion.value}</b></p>{sentences}"
            f"<table><thead><tr><th>instance</th><th>server models</th></tr></thead><tbody>{rows}</tbody></table>"
        )


def conclude(matches: tuple[tuple[Variant, ...], ...]) -> Conclusion:
    """Return the conclusion for an implementation that equals the given combinations of variants."""
    if not matches:
        return Conclusion.DIFFERS
    if any(all(variant.kind is Correctness.READING for variant in match) for match in matches):
        return Conclusion.VARIANT
    return Conclusion.KNOWN_MISTAKE


def _joined(variants: tuple[Variant, ...]) -> str:
    return "; and with ".join(variant.described() for variant in variants)


def _numbers(values: list[Any]) -> str:
    if values and isinstance(values[0], list):
        return "[" + ", ".join(_numbers(row) for row in values) + "]"
    return "[" + ", ".join(f"{value:.10g}" for value in values) + "]"
