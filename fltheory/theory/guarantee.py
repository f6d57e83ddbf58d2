"""What one form of a theorem says about an experiment: its bound, what it bounds, and how far the two are apart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.theory.comparison import Comparison
from fltheory.theory.standing import Standing

GIVEN, PRESCRIBED = "given", "prescribed"
"""Learning rates at which theorems are evaluated: that of the experiment, and the theorem's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guarantee:
    """A form of a theorem whose assumptions hold, at one learning rate, after the last round.

    Parameters
    ----------
    id, title
        The statement.
    variants
        Its form, and all others of its forms that say the same here.
    setting
        ``given`` (the experiment's rate) or ``prescribed`` (the theorem's own).
    algorithm
        What was run: the experiment's algorithm, or the theorem's own where it is not about that one.
    rates
        The first and the last learning rate.
    standing
        What the bound is worth, see :class:`~fltheory.theory.standing.Standing`.
    evidence
        What is known about the form, in words.
    quantity
        What is bounded, in words.
    bound, exact
        The bound, and the same quantity of the run.
    gap_rounds, gap_curve
        Bound on the gap of a model that the run yields, after which rounds; ``None`` where what is bounded has no known
        relation to a gap, and for forms that guarantee nothing.
    rounds_to_accuracy
        Rounds after which the theorem guarantees the accuracy; ``None`` if it does not within the run.
    exact_rounds_to_accuracy
        Rounds after which the gap of the same run is at most the accuracy.
    compared
        Both sides in all rounds, every constant and every assumption.
    """

    id: str
    title: str
    variants: tuple[str, ...]
    setting: str
    algorithm: str
    rates: tuple[float, float]
    standing: Standing
    evidence: str
    quantity: str
    bound: float
    exact: float
    gap_rounds: Floats = field(repr=False)
    gap_curve: Floats | None = field(repr=False)
    rounds_to_accuracy: int | None
    exact_rounds_to_accuracy: int | None
    compared: Comparison = field(repr=False)

    @property
    def name(self) -> str:
        """Id and forms."""
        return f"{self.id} ({'; '.join(self.variants)})"

    @property
    def tightness(self) -> float:
        """Bound over exact value; 1 is the best that a bound can be."""
        if self.exact == 0:
            return 1.0 if self.bound == 0 else math.inf
        return self.bound / self.exact

    @property
    def gap_bound(self) -> float | None:
        """Bound on the gap of a model after the last round."""
        return None if self.gap_curve is None else float(self.gap_curve[-1])

    @property
    def rate_in_words(self) -> str:
        """Whose rate it is, and its first and last value."""
        first, last = self.rates
        return f"{self.setting}: " + (f"{first:.4g}" if first == last else f"{first:.4g} to {last:.4g}")

    def as_json(self) -> dict[str, Any]:
        """Return plain values; a ratio that is not finite is ``None``."""
        return {
            "id": self.id,
            "title": self.title,
            "variants": list(self.variants),
            "setting": self.setting,
            "algorithm": self.algorithm,
            "first_rate": self.rates[0],
            "last_rate": self.rates[1],
            "standing": self.standing.value,
            "evidence": self.evidence,
            "quantity": self.quantity,
            "bound": self.bound,
            "exact": self.exact,
            "tightness": self.tightness if math.isfinite(self.tightness) else None,
            "gap_bound": self.gap_bound,
            "rounds_to_accuracy": self.rounds_to_accuracy,
            "exact_rounds_to_accuracy": self.exact_rounds_to_accuracy,
            "assumptions": [
                {"name": one.name, "value": one.value, "origin": one.origin.value} for one in self.compared.assumptions
            ],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Inapplicable:
    """A form that says nothing about the experiment at one learning rate, and why.

    ``reasons`` are the assumptions that fail, each with its value, or the sentence with which the theorem refuses the
    setting (with an empty value).
    """

    id: str
    variant: str
    setting: str
    reasons: tuple[tuple[str, str], ...]

    @property
    def why(self) -> str:
        """The reasons in one line."""
        return "; ".join(f"{name} ({value})" if value else name for name, value in self.reasons)


def merged(rows: Iterable[Guarantee]) -> list[Guarantee]:
    """Return rows with forms of one statement that say the same of the same run as one row."""
    found: dict[tuple[Any, ...], Guarantee] = {}
    for one in rows:
        key = (one.id, one.setting, one.algorithm, one.rates, one.standing, one.evidence, one.quantity)
        numbers = (one.compared.right.tobytes(), one.compared.left.tobytes())
        same = found.get((*key, *numbers))
        found[(*key, *numbers)] = one if same is None else replace(same, variants=(*same.variants, *one.variants))
    return list(found.values())


def first_at_most(values: Floats, places: Floats, limit: float) -> int | None:
    """Return the place of the first value that is at most a limit.

    >>> first_at_most(np.array([4.0, 1.0]), np.array([1.0, 2.0]), 2.0)
    2
    """
    below = np.flatnonzero(values <= limit)
    return int(places[below[0]]) if below.size else None
