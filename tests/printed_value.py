r"""What a printed formula is worth: LaTeX read back by the rules of arithmetic, to compare with its SymPy object.

Quantities are printed as one private character each and get random values. Expectations, norms, sums and the like are
replaced by fixed functions of what they enclose, the same on both sides, so that a bracket that is lost, a sign or an
exponent that moves changes the value.
"""

from __future__ import annotations

import cmath
import math
import random
import re
from functools import reduce
from typing import Any

import sympy as sp

from fltheory.bounds.algebra import EE, BigO, Inner, Norm, NormSq, Pos
from fltheory.bounds.printing import _Latex
from fltheory.bounds.quantities import declaration

_TOKEN = re.compile(r"\\[A-Za-z]+|\\\||\d+|[^\s\\]")

_ENCLOSED = {
    "sum": lambda x: 1.7 * x + 0.31,
    "E": lambda x: 0.9 * x + 0.11,
    "norm": lambda x: cmath.sqrt(x * x + 0.53),
    "+": lambda x: x * x + 0.77 * x,
    "O": lambda x: 1.3 * x + 0.07,
}


def _pair(x: complex, y: complex) -> complex:
    return (x + 2.1) * (y + 2.1)


def _factorial(x: complex) -> complex:
    return x * x * x + 0.19


class Placeholders(_Latex):
    """The printer, with one character for every quantity."""

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.characters: dict[Any, str] = {}

    def _print_quantity(self, expr: Any, exp: Any = None) -> str:
        text = self.characters.setdefault(expr, chr(0xE000 + len(self.characters)))
        return f"{text}^{{{exp}}}" if exp else text

    _print_Symbol = _print_Indexed = _print_quantity

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        return self._print_quantity(expr, exp) if declaration(expr) else str(super()._print_Function(expr, exp))


def both_values(expression: sp.Expr, seed: int = 0) -> tuple[complex, complex]:
    """Return the value of an expression and that of its LaTeX."""
    printer = Placeholders()
    text = printer.doprint(expression)
    draw = random.Random(seed)
    values = {quantity: complex(draw.uniform(0.5, 1.5)) for quantity in printer.characters}
    reader = _Reader(text, {printer.characters[quantity]: value for quantity, value in values.items()})
    printed = reader.sum(())
    assert reader.peek() == "", f"left over in {text}"
    return _value(expression, values), printed


def _value(e: Any, values: dict[Any, complex]) -> complex:
    if e in values:
        return values[e]
    if e.is_Number or e is sp.E or e is sp.pi:
        return complex(e)
    if isinstance(e, sp.Sum):
        return reduce(lambda x, _: _ENCLOSED["sum"](x), e.args[1:], _value(e.args[0], values))
    parts = [_value(part, values) for part in e.args]
    if isinstance(e, sp.Add):
        return sum(parts)
    if isinstance(e, sp.Mul):
        return math.prod(parts, start=complex(1))
    if isinstance(e, sp.Pow):
        return parts[0] ** parts[1]
    if isinstance(e, sp.Max | sp.Min | Inner | sp.binomial):
        return reduce(_pair, parts) if not isinstance(e, sp.Max | sp.Min) else _extreme(parts)
    if isinstance(e, sp.exp):
        return cmath.exp(parts[0])
    if isinstance(e, sp.log):
        return cmath.log(parts[0])
    if isinstance(e, sp.factorial):
        return _factorial(parts[0])
    if isinstance(e, sp.Abs):
        return _ENCLOSED["norm"](parts[0]) + 5
    name = {EE: "E", Norm: "norm", NormSq: "norm", Pos: "+", BigO: "O"}[type(e)]
    return _ENCLOSED[name](parts[0]) ** (2 if isinstance(e, NormSq) else 1)


def _extreme(parts: list[complex]) -> complex:
    return math.prod((part + 2.1 for part in parts), start=complex(1))


class _Reader:
    def __init__(self, text: str, values: dict[str, complex]) -> None:
        self.tokens, self.place, self.values = _TOKEN.findall(text), 0, values

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        assert token, "a formula ends too early"
        assert expected in ("", token), f"{token} where {expected} should be"
        self.place += 1
        return token

    def group(self) -> complex:
        self.take("{")
        value = self.sum(("}",))
        self.take("}")
        return value

    def sum(self, ends: tuple[str, ...]) -> complex:
        total, sign = complex(0), 1
        if self.peek() == "-":
            self.take()
            sign = -1
        while True:
            total += sign * self.product(ends)
            if self.peek() not in ("+", "-"):
                return total
            sign = 1 if self.take() == "+" else -1

    def product(self, ends: tuple[str, ...]) -> complex:
        value = complex(1)
        while self.peek() and self.peek() not in ("+", "-", ",", r"\right", *ends):
            if self.peek() == r"\sum":
                return value * self.total(ends)
            value *= self.factor()
        return value

    def total(self, ends: tuple[str, ...]) -> complex:
        """Return a sum: all that is left of the product belongs to it."""
        self.take(r"\sum")
        for sign in ("_", "^"):
            self.take(sign)
            depth = 0
            while True:
                depth += {"{": 1, "}": -1}.get(self.take(), 0)
                if not depth:
                    break
        return complex(_ENCLOSED["sum"](self.product(ends)))

    def factor(self) -> complex:
        value = self.base()
        if self.peek() == "!":
            self.take()
            value = _factorial(value)
        if self.peek() == "_":
            for token in ("_", "{", "+", "}"):
                self.take(token)
            value = _ENCLOSED["+"](value)
        if self.peek() == "^":
            self.take()
            value = value ** self.group()
        return complex(value)

    def base(self) -> complex:
        token = self.take()
        if token.isdigit():
            return complex(int(token))
        if token in self.values:
            return self.values[token]
        if token == "e":
            return complex(math.e)
        if token == "{":
            self.place -= 1
            return self.group()
        if token in ("(", r"\left") or token == r"\|":
            self.place -= 1
            return self.enclosed()
        if token == r"\frac":
            return self.group() / self.group()
        if token == r"\binom":
            return _pair(self.group(), self.group())
        if token == r"\sqrt":
            degree = complex(2)
            if self.peek() == "[":
                self.take()
                degree = self.sum(("]",))
                self.take("]")
            return self.group() ** (1 / degree)
        if token == r"\mathbb":
            for expected in "{E}":
                self.take(expected)
            return complex(_ENCLOSED["E"](self.enclosed()))
        if token in (r"\max", r"\min", r"\log", "O"):
            parts = self.bracket()
            return _extreme(parts) if token in (r"\max", r"\min") else self.call(token, parts)
        if token == r"\langle":
            self.place -= 1
            return self.enclosed()
        raise AssertionError(f"unknown {token}")

    def call(self, name: str, parts: list[complex]) -> complex:
        (argument,) = parts
        return cmath.log(argument) if name == r"\log" else complex(_ENCLOSED["O"](argument))

    def enclosed(self) -> complex:
        start = self.tokens[self.place + (self.peek() == r"\left")]
        parts = self.bracket()
        if start == r"\|":
            return complex(_ENCLOSED["norm"](parts[0]))
        if start == "|":
            return complex(_ENCLOSED["norm"](parts[0]) + 5)
        return _pair(*parts) if start == r"\langle" else parts[0]

    def bracket(self) -> list[complex]:
        """Return what stands in brackets, between commas."""
        growing = self.peek() == r"\left"
        if growing:
            self.take()
        closing = {"(": ")", "[": "]", r"\|": r"\|", r"\langle": r"\rangle", "|": "|"}[self.take()]
        parts = [self.sum((closing,))]
        while self.peek() == ",":
            self.take()
            parts.append(self.sum((closing,)))
        if growing:
            self.take(r"\right")
        self.take(closing)
        return parts
