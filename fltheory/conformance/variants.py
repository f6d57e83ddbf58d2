"""Known mistakes and readings of an algorithm, each a small change to the algorithm of the package.

A *reading* is another legitimate form of the algorithm: a choice that papers or codes leave open. A *mistake* is an
error that somebody made. Both are described by what they change: the parameters, the terms of a round, the state
before round 0, or the round itself. Changes of different kinds can be put together.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.conformance.federation import Federation
from fltheory.problems.oracle import Oracle, Round


class Correctness(enum.Enum):
    """Whether a variant is right."""

    READING = "reading"
    MISTAKE = "mistake"


ChangeWork = Callable[[Round, Federation], Round]
Begin = Callable[[Any, Floats, Oracle, Floats], Any]
"""Algorithm, start, oracle and weights to a state, as :meth:`Algorithm.init`."""
Perform = Callable[[Any, Any, Oracle, Round], RoundResult]
"""Algorithm, state, oracle and terms to an result, as :meth:`Algorithm.round`."""

Correct = Callable[[Any, Floats, RoundResult, Round], Floats]
"""Algorithm, old server model, outcome of a round and its terms to another server model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A form of an algorithm that differs from the package's in one place.

    Parameters
    ----------
    name
        Identifier, unique within an algorithm.
    kind
        Reading or mistake.
    text
        What is different; completes the sentence "equals SCAFFOLD with ...".
    source
        Where it was seen, if it was seen in public.
    parameters
        Parameters of the algorithm that are replaced.
    work, init, round
        What replaces the terms of a round, the state before round 0 and the round.
    after
        What replaces the server model at the end of a round.
    assemble, rules
        Instead of a whole round: a function that returns the algorithm's round with some rules replaced, and these
        rules by name. Variants that replace different rules of the same round can be put together.
    applies
        Whether the variant makes sense for the algorithm with its parameters.
    """

    name: str
    kind: Correctness
    text: str
    source: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    work: ChangeWork | None = None
    init: Begin | None = None
    round: Perform | None = None
    after: Correct | None = None
    assemble: Callable[..., Perform] | None = None
    rules: Mapping[str, Any] = field(default_factory=dict)
    applies: Callable[[Any], bool] = lambda algorithm: True

    def described(self) -> str:
        """Return the text with its source."""
        return f"{self.text}, as in {self.source}" if self.source else self.text

    def touches(self) -> frozenset[str]:
        """Return what is replaced; variants that replace the same thing cannot be put together."""
        parts = {name for name in ("work", "init", "round", "after") if getattr(self, name) is not None}
        return frozenset(parts | set(self.parameters) | {f"rule {name}" for name in self.rules})


def changed(assemble: Callable[..., Perform], **rules: Any) -> dict[str, Any]:
    """Return the changes of a variant that replaces rules of a round."""
    return {"assemble": assemble, "rules": rules}


def mistake(name: str, text: str, source: str = "", **changes: Any) -> Variant:
    """Return a known mistake."""
    return Variant(name=name, kind=Correctness.MISTAKE, text=text, source=source, **changes)


def reading(name: str, text: str, source: str = "", **changes: Any) -> Variant:
    """Return a legitimate reading."""
    return Variant(name=name, kind=Correctness.READING, text=text, source=source, **changes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Altered(Algorithm):
    """An algorithm with variants applied to it, on one federation."""

    name: ClassVar[str] = "altered"
    title: ClassVar[str] = "altered"
    autonomous: ClassVar[bool] = False

    base: Algorithm
    variants: tuple[Variant, ...]
    federation: Federation

    @property
    def rotation_equivariant(self) -> bool:
        return False

    @property
    def not_affine(self) -> str:
        return self.base.not_affine

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> Any:
        for variant in self.variants:
            if variant.work is not None:
                p = variant.work(replace(self.federation.work(0), p=p), self.federation).p
        for variant in self.variants:
            if variant.init is not None:
                return variant.init(self.base, start, oracle, p)
        return self.base.init(start, oracle, p)

    def model(self, state: Any) -> Floats:
        return self.base.model(state)

    def round(self, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        for variant in self.variants:
            if variant.work is not None:
                work = variant.work(work, self.federation)
        perform = replaced_round(self.variants)
        result = self.base.round(state, oracle, work) if perform is None else perform(self.base, state, oracle, work)
        for variant in self.variants:
            if variant.after is not None:
                w = variant.after(self.base, self.model(state), result, work)
                result = result._replace(state=result.state._replace(w=w))
        return result


def replaced_round(variants: tuple[Variant, ...]) -> Perform | None:
    """Return the round that variants put in place of the algorithm's own, if they do."""
    for variant in variants:
        if variant.round is not None:
            return variant.round
    rules = {name: rule for variant in variants for name, rule in variant.rules.items()}
    assemble = next((variant.assemble for variant in variants if variant.assemble is not None), None)
    return None if assemble is None else assemble(**rules)


def altered(base: Algorithm, variants: tuple[Variant, ...], federation: Federation) -> Algorithm:
    """Return the algorithm with the parameters of a federation and the variants applied."""
    parameters = dict(federation.parameters)
    for variant in variants:
        parameters |= variant.parameters
    base = replace(base, **parameters)
    return Altered(base=base, variants=variants, federation=federation) if variants else base


def stepped(
    oracle: Oracle,
    work: Round,
    start: Floats,
    direction: Callable[[Floats, Floats], Floats],
    *,
    rate: float | None = None,
) -> Floats:
    """Return the local models after steps along ``direction(gradient, local)``, for directions outside (G)."""
    local = np.broadcast_to(start, (start.shape[0], oracle.num_clients, oracle.dim)).copy()
    for k in range(int(work.steps.max())):
        change = direction(oracle.gradient(local, oracle.minibatch(k)), local)
        local = local - (work.rate if rate is None else rate) * (work.steps > k)[:, :, None] * change
    return local


def unit(vectors: Floats) -> Floats:
    """Return vectors divided by their norm: the gradient of the norm, 0 at 0."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))
