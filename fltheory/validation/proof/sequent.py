"""Polynomial problems over the rationals: facts, and one that is to follow from them."""

from __future__ import annotations

import enum
import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing

Polynomial = PolyElement
"""A sparse polynomial with rational coefficients."""

Monomial = tuple[int, ...]
"""Exponents, one per symbol."""


class Sign(enum.Enum):
    """What a fact says about its polynomial."""

    NONNEGATIVE = ">="
    POSITIVE = ">"
    ZERO = "="


@dataclass(frozen=True, slots=True)
class Fact:
    """A polynomial that is nonnegative, positive or zero."""

    polynomial: Any
    sign: Sign

    def text(self) -> str:
        """Return the fact in one line, terms in a fixed order."""
        return f"{polynomial_text(self.polynomial)} {self.sign.value} 0"


@dataclass(frozen=True, slots=True)
class Sequent:
    """A fact that is to follow from others, for all real values of the symbols.

    Parameters
    ----------
    ring
        Polynomials in the symbols.
    hypotheses
        What is known.
    goal
        What is claimed.
    """

    ring: PolyRing
    hypotheses: tuple[Fact, ...]
    goal: Fact

    @property
    def names(self) -> list[str]:
        """Names of the symbols."""
        return [symbol.name for symbol in self.ring.symbols]

    @property
    def trivial(self) -> bool:
        """Whether the goal holds without any hypothesis: a number, or for an equation the zero polynomial."""
        constant = self.goal.polynomial.is_ground
        value = self.goal.polynomial.coeff(1) if constant else None
        if value is None:
            return False
        if self.goal.sign is Sign.ZERO:
            return bool(value == 0)
        return bool(value > 0 if self.goal.sign is Sign.POSITIVE else value >= 0)

    def text(self) -> str:
        """Return the problem as text that depends on nothing else: what a certificate is about."""
        lines = [" ".join(self.names), *(fact.text() for fact in self.hypotheses), f"|- {self.goal.text()}"]
        return "\n".join(lines)

    def digest(self) -> str:
        """Return a short name of the problem."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]


def ring_of(names: Iterable[str]) -> PolyRing:
    """Return polynomials in symbols of given names."""
    return _ring(tuple(names))


@functools.lru_cache(maxsize=256)
def _ring(names: tuple[str, ...]) -> PolyRing:
    return PolyRing([sp.Symbol(name) for name in names], sp.QQ, sp.grlex)


def terms_of(polynomial: Any) -> list[tuple[Monomial, Any]]:
    """Return exponents and coefficients in a fixed order."""
    return sorted(polynomial.terms(), reverse=True)


@functools.lru_cache(maxsize=4096)
def polynomial_text(polynomial: Any) -> str:
    """Return a polynomial as text, terms in a fixed order; a hypothesis is one of many problems."""
    return " + ".join(f"{c}*{list(m)}" for m, c in terms_of(polynomial)) or "0"


def fraction_text(value: Any) -> str:
    """Return a rational number as ``p/q``, or ``p``."""
    number = sp.Rational(int(value.numerator), int(value.denominator))
    return str(number)
