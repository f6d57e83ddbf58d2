"""Hypotheses that contradict each other: everything follows from them, and nothing that is worth a certificate.

A statement may have assumptions that no numbers fulfil at the sizes of a certificate. Some cases of a problem are empty
by rights (a maximum cannot be each of its members), so at least one case has to be possible.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from fltheory.validation.proof import products, smt
from fltheory.validation.proof.sequent import Fact, Sequent, Sign

POINTS = 4000
"""Places at which hypotheses are tried before anything else."""

SECONDS = 5.0
"""Time to find out whether hypotheses contradict each other."""

_VALUES = (0, 1, -1, Fraction(1, 2), Fraction(-1, 2), 2, 3, Fraction(1, 4), Fraction(1, 10), Fraction(1, 100), 10)


def vacuous(problems: Iterable[Sequent]) -> bool:
    """Return whether the hypotheses of all problems contradict each other.

    >>> from fltheory.validation.proof.sequent import ring_of
    >>> ring = ring_of(["x"])
    >>> above, below = (Fact(p, Sign.NONNEGATIVE) for p in (ring.gens[0] - 2, 1 - ring.gens[0]))
    >>> [vacuous([Sequent(ring, several, above)]) for several in ((above,), (above, below))]
    [False, True]
    """
    used = [problem for problem in problems if not problem.trivial]
    return bool(used) and all(contradictory(problem.ring, problem.hypotheses) for problem in used)


@functools.lru_cache(maxsize=256)
def contradictory(ring: Any, hypotheses: tuple[Fact, ...]) -> bool:
    """Return whether facts are found to contradict each other."""
    if not hypotheses or _met(ring, hypotheses):
        return False
    nothing = Sequent(ring, hypotheses, Fact(ring(-1), Sign.NONNEGATIVE))
    answer = smt.solve("z3", smt.text(nothing), seconds=SECONDS)
    if answer == "unknown":
        return products.attempt(nothing, seconds=SECONDS) is not None
    return answer == "unsat"


def _met(ring: Any, hypotheses: tuple[Fact, ...]) -> bool:
    """Return whether a few simple numbers fulfil all facts."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(_VALUES), size=(POINTS, ring.ngens))
    numbers = np.array([float(value) for value in _VALUES])
    for fact in hypotheses:
        # Only the places that are left are looked at; after a few facts there are not many.
        values = numbers[chosen]
        total = np.zeros(len(chosen))
        for monomial, coefficient in fact.polynomial.terms():
            used = np.flatnonzero(monomial)
            total += float(coefficient) * np.prod(values[:, used] ** np.array(monomial)[used], axis=1)
        chosen = chosen[np.abs(total) < 1e-9 if fact.sign is Sign.ZERO else total > -1e-9]
        if not len(chosen):
            return False
    return any(_exactly(hypotheses, [_VALUES[n] for n in place]) for place in chosen[:20])


def _exactly(hypotheses: tuple[Fact, ...], values: list[Any]) -> bool:
    for fact in hypotheses:
        total = Fraction(0)
        for monomial, coefficient in fact.polynomial.terms():
            term = Fraction(int(coefficient.numerator), int(coefficient.denominator))
            for value, power in zip(values, monomial, strict=True):
                term *= Fraction(value) ** power
            total += term
        if not {Sign.ZERO: total == 0, Sign.POSITIVE: total > 0, Sign.NONNEGATIVE: total >= 0}[fact.sign]:
            return False
    return True
