"""What the cases of a certificate leave out: quantities, and terms, that vanish in all of them.

A bound with a term for the drift of clients is not proved by cases of a single local step, in which there is no drift:
without that term it would have the same certificate. So the cases together have to give every quantity of the
statement a value other than zero, if the check itself does on some of its instances.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from fltheory.bounds.claim import Form, Instances, Rejected
from fltheory.bounds.space import Params
from fltheory.validation.evaluate import defined, failing, read
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.search import sample

LOOKED_AT = 100
"""Instances of a case that are looked at."""

BUDGET = 60
"""Instances of the check, of any sizes, that are looked at if the cases leave something out."""

MOST_ASKED = 6
"""Further cases that are asked whether they can be translated."""

NOTHING = 1e-12
"""Numbers in float64 that count as zero."""


class Cases(Protocol):
    """A prover whose cases can be sampled."""

    def sampled(self, hypotheses: Hypotheses, scope: Mapping[str, Any]) -> tuple[Instances, Iterator[Params]] | None:
        """Return instances of a case, and random points of them; ``None`` if a case leaves nothing out."""
        ...

    def problems(self, form: Form, hypotheses: Hypotheses, scope: Mapping[str, Any]) -> Sequence[Any]:
        """Return what has to be proved in a case, or raise that it cannot be translated."""
        ...


def left_out(prover: Cases, form: Form, hypotheses: Hypotheses, scopes: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the quantities that vanish in all cases, although the check has instances in which they do not.

    Parameters
    ----------
    prover
        Whose cases they are.
    form, hypotheses
        The statement.
    scopes
        The cases.
    """
    own = hypotheses.check
    if not isinstance(own, Instances):
        return frozenset()
    names = [quantity.name for quantity in form.quantities()]
    missing = _moving(form, hypotheses, own, iter(sample(own.space, BUDGET, seed=0)), names)
    for scope in scopes:
        sampled = prover.sampled(hypotheses, scope)
        if sampled is None:
            return frozenset()
        if missing:
            missing -= _moving(form, hypotheses, *sampled, missing)
    return missing


def completed(
    prover: Cases,
    form: Form,
    hypotheses: Hypotheses,
    scopes: Sequence[Mapping[str, Any]],
    further: Iterable[Mapping[str, Any]],
    *,
    fewest: int,
) -> list[Mapping[str, Any]]:
    """Return cases, and such further ones, behind the first few, that leave less out; see :func:`left_out`.

    Of those that would, the first few are asked whether they can be translated.
    """
    missing = left_out(prover, form, hypotheses, scopes)
    added: list[Mapping[str, Any]] = []
    asked = 0
    for scope in further if missing else ():
        still = missing & left_out(prover, form, hypotheses, [scope])
        if still == missing:
            continue
        asked += 1
        try:
            prover.problems(form, hypotheses, scope)
        except Untranslatable:
            if asked == MOST_ASKED:
                break
            continue
        added, missing = [*added, scope], still
        if not missing:
            break
    return [*scopes[:fewest], *added, *scopes[fewest:]]


def differ(prover: Cases, pair: Sequence[tuple[Form, Hypotheses]], scopes: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the sides of two forms of the same check differ on some instance of some of the cases."""
    (one, hypotheses), (other, others) = pair
    for scope in scopes:
        first, second = prover.sampled(hypotheses, scope), prover.sampled(others, scope)
        if first is None or second is None:
            return True
        found = zip(_sides(one, hypotheses, *first), _sides(other, others, *second), strict=False)
        if any(left is not None and right is not None and not _close(left, right) for left, right in found):
            return True
    return False


def _moving(
    form: Form, hypotheses: Hypotheses, check: Instances, points: Iterator[Params], names: Iterable[str]
) -> frozenset[str]:
    """Return the quantities, of some, that are not zero on one of a few instances."""
    found: set[str] = set()
    wanted = set(names)
    for values in itertools.islice(fulfilling(form, hypotheses, check, points), LOOKED_AT):
        found |= {name for name in wanted & values.keys() if not _vanishes(values[name])}
        if found == wanted:
            break
    return frozenset(found)


def fulfilling(
    form: Form, hypotheses: Hypotheses, check: Instances, points: Iterable[Params]
) -> Iterator[dict[str, Any]]:
    """Yield the quantities of those instances that fulfil assumptions and premises."""
    for point in points:
        try:
            values = defined(form, form.named(check.realise(point)))
            if any(failing(a.relation, a.over, values) for a in hypotheses.assumptions):
                continue
            if any(failing(premise, (), values) for premise in form.premises):
                continue
        except (Rejected, ArithmeticError):
            continue
        yield values


def _sides(
    form: Form, hypotheses: Hypotheses, check: Instances, points: Iterable[Params]
) -> Iterator[tuple[float, float] | None]:
    """Yield both sides at every point; ``None`` where assumptions fail or the form means nothing."""
    for point in itertools.islice(points, LOOKED_AT):
        values = next(fulfilling(form, hypotheses, check, [point]), None)
        try:
            found = None if values is None else read(form, form.named(check.realise(point)))
        except (Rejected, ArithmeticError):
            found = None
        yield None if found is None else (float(found.lhs), float(found.rhs))


def _close(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-9, abs_tol=NOTHING) for a, b in zip(one, other, strict=True))


def _vanishes(value: Any) -> bool:
    """Return whether all entries of a number, an array or a family are zero; functions and words are not."""
    try:
        return bool(np.all(np.abs(np.asarray(value, dtype=float)) <= NOTHING))
    except (TypeError, ValueError):
        return False
