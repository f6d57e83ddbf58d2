"""Points of functions that matter: a point whose gradient and value nobody reads has nothing to say.

The code that makes an instance computes what any of its statements might need, gradients at final models among them. A
function that is asked at a hundred points has ten thousand interpolation inequalities. Those about points that enter
neither a relation nor another point are left out, which only makes a proof harder to find.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from fltheory.validation.proof.function_classes import Answers

MANY = 1000
"""Interpolation inequalities beyond which those of points that nobody reads are left out."""


def forget_others(answers: Answers, relations: Iterable[Any]) -> None:
    """Forget the points of functions that neither relations nor the points that are kept depend on.

    Points with gradients that are given (minimisers, solutions of sub-problems) are kept.
    """
    needed: set[Any] = set().union(*(relation.free_symbols for relation in relations))
    waiting = [(known, x) for _, _, known in answers.seen.values() for x in known]
    while True:
        kept = [(known, x) for known, x in waiting if _needed(*known[x], needed)]
        if not kept:
            break
        for known, x in kept:
            needed |= x.free_symbols.union(*(sp.sympify(part).free_symbols for part in known[x]))
        waiting = [(known, x) for known, x in waiting if not _needed(*known[x], needed)]
    for known, x in waiting:
        del known[x]


def count(answers: Answers) -> int:
    """Return how many interpolation inequalities there are."""
    return sum(len(known) * (len(known) - 1) for _, _, known in answers.seen.values())


def _needed(gradient: Any, value: Any, needed: set[Any]) -> bool:
    return not isinstance(gradient, sp.Symbol) or gradient in needed or value in needed
