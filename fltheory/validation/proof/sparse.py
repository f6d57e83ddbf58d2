r"""Few hypotheses and few vectors that suffice: programs without interior, made small enough to be rounded.

A statement that is attained by a whole family of instances (flat functions, a model that does not move) has its weights
on the boundary of the cone, where solvers are imprecise. Two things help. Vectors of which all polynomials know some
combinations only are replaced by as many of them: if all matrices have the kernel of :math:`R`, in echelon form with
pivots :math:`P`, each is :math:`R^\top Q_{PP} R`, so that only the rows and columns :math:`P` matter. And most
hypotheses are not needed, as a proof on paper uses a dozen: they are left out, light ones first and then in halves, as
long as the program keeps a solution.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

from fltheory.validation.proof.sequent import Fact, Sequent

LIGHT = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
"""Weights, relative to the largest, below which hypotheses are left out, most courageous first."""

MOST_SOLVED = 120
"""Programs that are solved for one problem."""

Solve = Callable[[Sequent], Any]
"""Returns weights in floats of the hypotheses of a problem; ``None`` if it has no solution."""


def reduced(sequent: Sequent, solve: Solve) -> Iterator[tuple[Sequent, list[int]]]:
    """Yield problems with few hypotheses that have solutions still, the smallest first, and the places of those."""
    budget = itertools.count()

    def solved(places: list[int]) -> Any:
        return solve(_only(sequent, places)) if next(budget) < MOST_SOLVED else None

    places = list(range(len(sequent.hypotheses)))
    weights = solved(places)
    if weights is None:
        return
    found: list[list[int]] = [places]
    while (smaller := _lighter(places, weights, solved)) is not None:
        places, weights = smaller
        found.append(places)
    size = len(places) // 2
    while size:
        start = 0
        while start < len(places):
            order = [places[n] for n in np.argsort(np.abs(weights))]
            left_out = set(order[start : start + size])
            kept = [n for n in places if n not in left_out]
            new = solved(kept)
            if new is None:
                start += size
            else:
                places, weights = kept, new
                found.append(places)
        size //= 2
    for several in reversed(found):
        yield _only(sequent, several), several


def _lighter(places: list[int], weights: Any, solved: Callable[[list[int]], Any]) -> tuple[list[int], Any] | None:
    """Return the places that are left without light hypotheses, with new weights; ``None`` if all are needed."""
    largest = float(np.abs(weights).max(initial=0.0))
    tried = {len(places)}
    for light in LIGHT:
        kept = [n for n, weight in zip(places, weights, strict=True) if abs(weight) > light * largest]
        if len(kept) in tried:
            continue
        tried.add(len(kept))
        new = solved(kept)
        if new is not None:
            return kept, new
    return None


def _only(sequent: Sequent, places: list[int]) -> Sequent:
    """Return a problem with some of its hypotheses."""
    return without_kernel(Sequent(sequent.ring, tuple(sequent.hypotheses[n] for n in places), sequent.goal))


def without_kernel(sequent: Sequent) -> Sequent:
    """Return a problem without vectors that only occur in fixed combinations with others.

    >>> from fltheory.validation.proof.sequent import Sign, ring_of
    >>> ring = ring_of(["u", "v"])
    >>> u, v = ring.gens
    >>> square = Fact(u**2 - 2 * u * v + v**2, Sign.NONNEGATIVE)
    >>> without_kernel(Sequent(ring, (square,), square)).goal.polynomial
    u**2
    """
    from sympy.polys.matrices import DomainMatrix

    facts = (*sequent.hypotheses, sequent.goal)
    rows: dict[int, dict[int, Any]] = {}
    for number, fact in enumerate(facts):
        for monomial, value in fact.polynomial.terms():
            places = [n for n, power in enumerate(monomial) for _ in range(power)]
            if len(places) == 2:
                for one, other in {(places[0], places[1]), (places[1], places[0])}:
                    row = rows.setdefault(number * len(monomial) + one, {})
                    row[other] = value * (2 if places[0] == places[1] else 1)
    if not rows:
        return sequent
    table = DomainMatrix(dict(enumerate(rows.values())), (len(rows), sequent.ring.ngens), sp.QQ)
    pivots = set(table.to_sparse().rref()[1])

    def kept(fact: Fact) -> Fact:
        terms = {
            monomial: value
            for monomial, value in fact.polynomial.terms()
            if sum(monomial) != 2 or all(n in pivots for n, power in enumerate(monomial) if power)
        }
        return Fact(sequent.ring.from_dict(terms), fact.sign)

    *hypotheses, goal = map(kept, facts)
    return Sequent(sequent.ring, tuple(hypotheses), goal)
