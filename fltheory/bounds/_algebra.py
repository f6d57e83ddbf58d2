r"""The small algebra in which statements are written: SymPy plus norms, inner products and expectations.

A statement is one SymPy object; it is printed (LaTeX, MathML) and it is evaluated. To that end every letter is declared
once, with its name in code, its LaTeX and its meaning:

* :func:`scalar`: a number;
* :func:`family`: numbers or vectors with indices, ``p[k]`` or ``w[k, i]``; ``first`` says where each index starts in
  the
  paper (clients from 1, steps from 0), arrays start at 0;
* :func:`function`: a function of an index and a vector, ``F(k, w)``.

Declared with ``random=True`` a quantity has one value per outcome of a finite probability space: a leading axis over
the outcomes, whose probabilities are the quantity ``chance``. ``EE(x)`` is the expectation over them, by enumeration.
A random quantity outside of ``EE`` makes the statement one about every outcome.

:func:`compiled` turns an expression into Python. The same code runs on float64 (arrays broadcast) and on exact SymPy
numbers, so that a violation seen in floating point is confirmed without rounding.
"""

from __future__ import annotations

import functools
import keyword
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter

from fltheory.errors import InvalidParameter

Env = Mapping[str, Any]
"""Values of quantities by name: numbers, arrays (first axis over outcomes if random), functions."""


class EE(sp.Function):
    """Expectation over the outcomes."""

    nargs = 1


class Norm(sp.Function):
    """Euclidean norm of a vector."""

    nargs = 1


class NormSq(sp.Function):
    """Squared Euclidean norm of a vector."""

    nargs = 1


class Inner(sp.Function):
    """Inner product of two vectors."""

    nargs = 2


class Pos(sp.Function):
    """Positive part."""

    nargs = 1


class BigO(sp.Function):
    """The right-hand side of a rate: up to a constant that does not depend on what is swept."""

    nargs = 1


@dataclass(frozen=True, slots=True)
class Quantity:
    """One letter: its LaTeX (with ``<0>``, ``<1>`` for indices or arguments), its meaning, where its indices start."""

    name: str
    latex: str
    meaning: str
    first: tuple[int, ...] = ()
    random: bool = False


_DECLARED: dict[str, Quantity] = {}


def scalar(name: str, latex: str, meaning: str, *, random: bool = False) -> sp.Symbol:
    """Declare a number."""
    _declare(Quantity(name, latex, meaning, (), random))
    return sp.Symbol(name)


def family(
    name: str, latex: str, meaning: str, *, first: int | tuple[int, ...] = 1, random: bool = False
) -> sp.IndexedBase:
    """Declare numbers or vectors with indices."""
    _declare(Quantity(name, latex, meaning, (first,) if isinstance(first, int) else first, random))
    return sp.IndexedBase(name)


def function(name: str, latex: str, meaning: str) -> Any:
    """Declare a function; its value is computed by the callable of that name."""
    _declare(Quantity(name, latex, meaning))
    return sp.Function(name)


def index(name: str) -> sp.Symbol:
    """Return the letter of a summation index or of a quantified index."""
    _declare(Quantity(name, name, "index"))
    return sp.Symbol(name)


def quantity(name: str) -> Quantity:
    """Return a declared letter."""
    return _DECLARED[name]


def _declare(new: Quantity) -> None:
    _require_name(new.name)
    old = _DECLARED.setdefault(new.name, new)
    if old != new:
        raise InvalidParameter(
            f"quantity {new.name!r} is declared twice with different meanings: {old.meaning!r} ({old.latex}) and "
            f"{new.meaning!r} ({new.latex}); rename one of them"
        )


def _require_name(name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise InvalidParameter(f"a quantity's name must be a public Python identifier, got {name!r}")


@functools.cache
def names_in(expression: sp.Basic) -> set[str]:
    """Return the names of the quantities that an expression refers to, without its summation indices."""
    bound = {str(v) for total in expression.atoms(sp.Sum) for v in total.bound_symbols}
    found = {str(s) for s in expression.atoms(sp.Symbol)} - bound
    return found | {f.func.__name__ for f in expression.atoms(AppliedUndef)}


def letters(expressions: Iterable[sp.Basic]) -> list[Quantity]:
    """Return the declared letters in expressions, by name, indices left out."""
    names = set().union(*(names_in(expression) for expression in expressions))
    found = [_DECLARED[name] for name in sorted(names) if name in _DECLARED]
    return [letter for letter in found if letter.meaning != "index"]


def is_random(expression: sp.Basic) -> bool:
    """Return whether a random quantity stands outside of every expectation."""
    if isinstance(expression, EE):
        return False
    if isinstance(expression, sp.Symbol):
        return expression.name in _DECLARED and _DECLARED[expression.name].random
    return any(is_random(part) for part in expression.args)


# Code


def _code(e: Any) -> str:
    """Return Python code; integers stay integers, so that the arithmetic decides what a quotient is."""
    if isinstance(e, sp.Integer):
        return f"({int(e)})"
    if isinstance(e, sp.Rational):
        return f"_ratio({e.p}, {e.q})"
    if isinstance(e, sp.Indexed):
        base = quantity(str(e.base.label))
        at = "".join(f"[{_code(i)} - {first}]" for i, first in zip(e.indices, base.first, strict=True))
        return f"{base.name}{'[_o]' if base.random else ''}{at}"
    if isinstance(e, sp.Symbol):
        _require_name(e.name)
        random = e.name in _DECLARED and _DECLARED[e.name].random
        return f"{e.name}[_o]" if random else e.name
    if isinstance(e, sp.Pow):
        return _power(e.base, e.exp)
    if isinstance(e, sp.Sum):
        body, *limits = e.args
        loops = " ".join(f"for {v} in range(_int({_code(low)}), _int({_code(high)}) + 1)" for v, low, high in limits)
        return f"_sum({_code(body)} {loops})"
    if isinstance(e, EE) and not is_random(e.args[0]):
        return _code(e.args[0])
    if isinstance(e, EE):
        return f"_expect(lambda _o: {_code(e.args[0])}, chance)"
    if isinstance(e, AppliedUndef):
        return f"{e.func.__name__}({', '.join(map(_code, e.args))})"
    for kind, sign in ((sp.Add, " + "), (sp.Mul, "*")):
        if isinstance(e, kind):
            return "(" + sign.join(map(_code, e.args)) + ")"
    for kind, name in _CALLS.items():
        if isinstance(e, kind):
            return f"{name}({', '.join(map(_code, e.args))})"
    if e in (sp.pi, sp.E):
        return f"_{e}".lower()
    raise InvalidParameter(f"a statement cannot contain {type(e).__name__}, got {e}; rewrite it with sums and norms")


def _power(base: Any, exponent: Any) -> str:
    if exponent == sp.Rational(1, 2):
        return f"_sqrt({_code(base)})"
    if exponent.could_extract_minus_sign():
        return f"_inverse({_power(base, -exponent)})"
    if exponent == 1:
        return _code(base)
    return f"_power({_code(base)}, {_code(exponent)})"


_CALLS: dict[Any, str] = {
    Norm: "_norm",
    NormSq: "_norm_sq",
    Inner: "_inner",
    Pos: "_positive",
    BigO: "_identity",
    sp.Max: "_max",
    sp.Min: "_min",
    sp.Abs: "_abs",
    sp.exp: "_exp",
    sp.log: "_log",
    sp.binomial: "_binomial",
    sp.factorial: "_factorial",
}


def _expect(value: Callable[[int], Any], chance: Any) -> Any:
    return sum((chance[o] * value(o) for o in range(1, len(chance))), start=chance[0] * value(0))


def _float_inner(u: Any, v: Any) -> Any:
    u, v = np.asarray(u), np.asarray(v)
    if u.ndim == v.ndim == 1:
        return np.float64(u.dot(v))
    return np.sum(u * v, axis=-1)


def _float_power(x: Any, n: Any) -> Any:
    if type(n) is int and isinstance(x, float):
        return np.float64(x) ** n
    return np.power(np.asarray(x, dtype=float), n)


def _float_max(x: Any, y: Any) -> Any:
    if isinstance(x, float) and isinstance(y, float):
        return x if x > y or x != x else y  # the call of np.maximum costs more than all else; NaN stays NaN
    return np.maximum(x, y)


def _float_min(x: Any, y: Any) -> Any:
    if isinstance(x, float) and isinstance(y, float):
        return x if x < y or x != x else y
    return np.minimum(x, y)


_FLOAT: dict[str, Any] = {
    "_ratio": lambda p, q: p / q,
    "_inverse": lambda x: 1.0 / x,
    "_power": _float_power,
    "_sqrt": np.sqrt,
    "_norm_sq": lambda v: _float_inner(v, v),
    "_norm": lambda v: np.sqrt(_float_inner(v, v)),
    "_inner": _float_inner,
    "_positive": lambda x: _float_max(x, 0.0),
    "_max": lambda *xs: functools.reduce(_float_max, xs),
    "_min": lambda *xs: functools.reduce(_float_min, xs),
    "_abs": np.abs,
    "_exp": np.exp,
    "_log": np.log,
    "_binomial": lambda n, k: math.comb(int(n), int(k)),
    "_factorial": lambda n: math.factorial(int(n)),
    "_pi": np.pi,
    "_e": np.e,
}

_LARGE = 128
"""Bits of numbers whose prime factors take long to find."""

_EXACT: dict[str, Any] = {
    "_ratio": sp.Rational,
    "_inverse": lambda x: 1 / sp.sympify(x),
    "_power": lambda x, n: sp.sympify(x) ** n,
    "_sqrt": lambda x: _exact_root(sp.sympify(x)),
    "_norm_sq": lambda v: _exact_inner(v, v),
    "_norm": lambda v: _exact_root(_exact_inner(v, v)),
    "_inner": lambda u, v: _exact_inner(u, v),
    "_positive": lambda x: _exact_max(x, 0),
    "_max": lambda *xs: functools.reduce(_exact_max, xs),
    "_min": lambda *xs: -functools.reduce(_exact_max, [-x for x in xs]),
    "_abs": abs,
    "_exp": sp.exp,
    "_log": sp.log,
    "_binomial": sp.binomial,
    "_factorial": sp.factorial,
    "_pi": sp.pi,
    "_e": sp.E,
}

_BOTH: dict[str, Any] = {"_sum": sum, "_int": int, "_expect": _expect, "_identity": lambda x: x}


def _exact_inner(u: Any, v: Any) -> Any:
    return sum((a * b for a, b in zip(np.ravel(u), np.ravel(v), strict=True)), start=sp.Integer(0))


def _exact_root(x: sp.Expr) -> sp.Expr:
    """Return a square root; that of a large rational, whose prime factors SymPy would look for, to 80 digits."""
    if not x.is_Rational or x < 0 or max(x.p, x.q).bit_length() <= _LARGE:
        return sp.sqrt(x)
    top, bottom = math.isqrt(x.p), math.isqrt(x.q)
    return sp.Rational(top, bottom) if top**2 == x.p and bottom**2 == x.q else sp.sqrt(sp.Float(x, 80))


def _exact_max(x: Any, y: Any) -> Any:
    """Return the larger one, for every entry of arrays too."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.maximum(x, y)
    return x if bool(sp.sympify(x) >= y) else sp.sympify(y)


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression that can be evaluated.

    Parameters
    ----------
    names
        Quantities that it needs.
    random
        Whether its value depends on the outcome.
    """

    expression: sp.Basic
    names: frozenset[str]
    random: bool
    _order: tuple[str, ...]
    _calls: dict[bool, Callable[..., Any]] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, env: Env, *, exact: bool = False, outcome: int = 0) -> Any:
        """Return the value; ``env`` gives every quantity in :attr:`names`."""
        try:
            values = [env[name] for name in self._order]
        except KeyError:
            missing = ", ".join(sorted(self.names - env.keys()))
            raise InvalidParameter(
                f"the value of {missing} is missing; pass it to evaluate {self.expression}"
            ) from None
        call = self._calls.get(exact) or self._written(exact)
        return call(outcome, env.get("chance"), *values)

    def _written(self, exact: bool) -> Callable[..., Any]:
        """Make the code when it is first asked for: most expressions are never evaluated exactly."""
        # As sympy.lambdify would, without a docstring and replacements that take most of its time.
        code = f"lambda {', '.join(('_o', 'chance', *self._order))}: {_code(self.expression)}"
        self._calls[exact] = eval(code, {**(_EXACT if exact else _FLOAT), **_BOTH})
        return self._calls[exact]


@functools.cache
def compiled(expression: sp.Basic) -> Compiled:
    """Return an expression as Python code for float64 and for exact numbers.

    >>> x = scalar("doctest_x", "x", "any number")
    >>> half = compiled(sp.sqrt(x) / 2)
    >>> half({"doctest_x": np.array([4.0, 9.0])}).tolist(), half({"doctest_x": sp.Integer(2)}, exact=True)
    ([1.0, 1.5], sqrt(2)/2)
    """
    names = names_in(expression)
    return Compiled(expression, frozenset(names), is_random(expression), tuple(sorted(names)))


# LaTeX


class _Latex(LatexPrinter):
    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        known = _DECLARED.get(expr.name)
        return known.latex if known else str(super()._print_Symbol(expr, style))

    def _print_Pow(self, expr: Any) -> str:
        base = self._print(expr.base) if isinstance(expr.base, sp.Symbol | sp.Indexed) else ""
        if "^" in base and expr.exp.is_Rational and expr.exp.is_positive and expr.exp.is_Integer:
            return rf"\left({base}\right)^{{{self._print(expr.exp)}}}"
        return str(super()._print_Pow(expr))

    def _print_Indexed(self, expr: Any) -> str:
        return _filled(quantity(str(expr.base.label)).latex, [self._print(i) for i in expr.indices])

    def _print_Sum(self, expr: Any) -> str:
        body, *limits = expr.args
        signs = "".join(
            rf"\sum_{{{self._print(v)}={self._print(low)}}}^{{{self._print(high)}}} " for v, low, high in limits
        )
        inner = self._print(body)
        return signs + (rf"\left({inner}\right)" if isinstance(body, sp.Add) or inner.startswith("-") else inner)

    def _print_EE(self, expr: Any, exp: Any = None) -> str:
        return _raised(rf"\mathbb{{E}}\left[{self._print(expr.args[0])}\right]", exp)

    def _print_Norm(self, expr: Any, exp: Any = None) -> str:
        return _raised(rf"\left\|{self._print(expr.args[0])}\right\|", exp)

    def _print_NormSq(self, expr: Any, exp: Any = None) -> str:
        text = rf"\left\|{self._print(expr.args[0])}\right\|^{{2}}"
        return _raised(f"({text})", exp) if exp else text

    def _print_Inner(self, expr: Any, exp: Any = None) -> str:
        left, right = map(self._print, expr.args)
        return _raised(rf"\left\langle {left}, {right} \right\rangle", exp)

    def _print_Pos(self, expr: Any, exp: Any = None) -> str:
        return _raised(rf"\left({self._print(expr.args[0])}\right)_{{+}}", exp)

    def _print_BigO(self, expr: Any, exp: Any = None) -> str:
        return _raised(rf"O\left({self._print(expr.args[0])}\right)", exp)

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        name = expr.func.__name__
        if isinstance(expr, AppliedUndef) and name in _DECLARED:
            return _raised(_filled(_DECLARED[name].latex, [self._print(a) for a in expr.args]), exp)
        return str(super()._print_Function(expr, exp))


def _raised(text: str, exp: Any) -> str:
    return f"{text}^{{{exp}}}" if exp else text


def _filled(template: str, parts: list[str]) -> str:
    for position, part in enumerate(parts):
        # A command that ends in a letter must not run into the next one.
        template = template.replace(f"<{position}>", f"{{{part}}}" if "\\" in part else part)
    return template


@functools.cache
def latex(expression: sp.Basic) -> str:
    r"""Return LaTeX; ``<0>``, ``<1>`` in the LaTeX of a family or function stand for its indices or arguments.

    >>> k, N = index("k"), scalar("doctest_N", "N", "number of things")
    >>> latex(sp.Sum(family("doctest_p", "p^{<0>}", "weights")[k], (k, 1, N)))
    '\\sum_{k=1}^{N} p^{k}'
    """
    if isinstance(expression, Relational):
        sign = {"<=": r"\le", ">=": r"\ge", "==": "=", "<": "<", ">": ">", "!=": r"\ne"}[expression.rel_op]
        return f"{latex(expression.lhs)} {sign} {latex(expression.rhs)}"
    return str(_Latex({"mul_symbol": None}).doprint(expression))
