r"""The small algebra in which statements are written: SymPy plus norms, inner products and expectations.

A statement is one SymPy object; it is printed (LaTeX, MathML) and it is evaluated. Its symbols are declared, see
:mod:`fltheory.bounds.quantities`. ``EE(x)`` is the expectation over the outcomes of a finite probability space, by
enumeration; their probabilities are the quantity ``chance``. A random quantity outside of ``EE`` makes the statement
one about every outcome.

:func:`compiled` turns an expression into Python. The same code runs on float64 (arrays broadcast) and on exact SymPy
numbers, so that a violation seen in floating point is confirmed without rounding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from fltheory.bounds.operators import EE as EE
from fltheory.bounds.operators import BigO as BigO
from fltheory.bounds.operators import Differ as Differ
from fltheory.bounds.operators import Inner as Inner
from fltheory.bounds.operators import Largest as Largest
from fltheory.bounds.operators import Norm as Norm
from fltheory.bounds.operators import NormSq as NormSq
from fltheory.bounds.operators import Pos as Pos
from fltheory.bounds.operators import Smallest as Smallest
from fltheory.bounds.quantities import CHANCE, Declared, Quantity, Role, declared_in, named, names_in
from fltheory.errors import InvalidParameter

Env = Mapping[str, Any]
"""Values of quantities by name: numbers, arrays (first axis over outcomes if random), functions."""

_CHANCE: Quantity = CHANCE.label.quantity


@functools.cache
def is_random(expression: sp.Basic) -> bool:
    """Return whether a random quantity stands outside of every expectation."""
    if isinstance(expression, EE):
        return False
    if isinstance(expression, Declared):
        return expression.quantity.random
    return any(is_random(part) for part in expression.args)


def needed_by(expression: sp.Basic) -> dict[str, Quantity]:
    """Return the quantities that an expression refers to, by name: those that have to be known to evaluate it.

    Indices of sums are left out; the probabilities of the outcomes are among them if there are outcomes.

    >>> from fltheory.bounds.quantities import family, index, scalar
    >>> k, N = index("k"), scalar("N", "N", "number of clients")
    >>> s = family("s", "s_{<0>}", "steps that a client completes", random=True)
    >>> sorted(needed_by(sp.Sum(EE(s[k]), (k, 1, N))))
    ['N', 'chance', 's']
    """
    return dict(_needed_by(expression))


@functools.lru_cache(maxsize=4096)
def _needed_by(expression: sp.Basic) -> dict[str, Quantity]:
    """Return the same once for all: instances whose values are keyed by symbols ask for it again and again."""
    declared = declared_in(str(expression), [expression])
    found = {name: declared[name] for name in names_in(expression)}
    outcomes = is_random(expression) or any(is_random(mean.args[0]) for mean in expression.atoms(EE))
    if outcomes and found.setdefault(_CHANCE.name, _CHANCE) != _CHANCE:
        raise InvalidParameter(
            f"{expression} contains a quantity called 'chance', which is the name of {_CHANCE.meaning}; rename it"
        )
    return dict(sorted(found.items()))


# Code


def _code(e: Any) -> str:
    """Return Python code; integers stay integers, so that the arithmetic decides what a quotient is."""
    if isinstance(e, sp.Integer):
        return f"({int(e)})"
    if isinstance(e, sp.Rational):
        return f"_ratio({e.p}, {e.q})"
    if isinstance(e, sp.Indexed):
        base = e.base.label.quantity
        if len(e.indices) != len(base.first):
            raise InvalidParameter(f"{base.name} has {len(base.first)} indices, got {e}")
        at = "".join(f"[{_place(i, first)}]" for i, first in zip(e.indices, base.first, strict=True))
        return f"{base.name}{'[_o]' if base.random else ''}{at}"
    if isinstance(e, Declared):
        return f"{e.name}[_o]" if e.quantity.random else e.name
    if isinstance(e, sp.Pow):
        return _power(e.base, e.exp)
    for kind, name in _OVER.items():
        if isinstance(e, kind):
            body, *limits = e.args
            code = _code(body)
            for v, low, high in limits:  # the first one is the innermost
                code = f"{name}(lambda {v.name}: {code}, {_code(low)}, {_code(high)})"
            return code
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


def _place(index: Any, first: int) -> str:
    """Return the code of a position; what is no index, such as the number of a round, may come as a float."""
    indices = all(isinstance(s, Declared) and s.quantity.role is Role.INDEX for s in index.free_symbols)
    return f"{_code(index)} - {first}" if indices else f"_at({_code(index)} - {first})"


def _power(base: Any, exponent: Any) -> str:
    if exponent == sp.Rational(1, 2):
        return f"_sqrt({_code(base)})"
    if exponent.could_extract_minus_sign():
        return f"_inverse({_power(base, -exponent)})"
    if exponent == 1:
        return _code(base)
    return f"_power({_code(base)}, {_code(exponent)})"


_OVER: dict[Any, str] = {sp.Sum: "_total", Largest: "_largest", Smallest: "_smallest"}

_CALLS: dict[Any, str] = {
    Norm: "_norm",
    NormSq: "_norm_sq",
    Inner: "_inner",
    Pos: "_positive",
    Differ: "_differ",
    BigO: "_identity",
    sp.Max: "_max",
    sp.Min: "_min",
    sp.Abs: "_abs",
    sp.sign: "_sign",
    sp.exp: "_exp",
    sp.log: "_log",
    sp.binomial: "_binomial",
    sp.factorial: "_factorial",
}


def _expect(value: Callable[[int], Any], chance: Any) -> Any:
    return sum((chance[o] * value(o) for o in range(1, len(chance))), start=chance[0] * value(0))


def _total(term: Callable[[int], Any], low: Any, high: Any, add: Callable[[Iterable[Any]], Any] = sum) -> Any:
    """Return a sum; ends that are arrays give an array of sums."""
    if not (isinstance(low, np.ndarray) or isinstance(high, np.ndarray)):
        return add(map(term, range(int(low), int(high) + 1)))
    first, last = np.broadcast_arrays(np.asarray(low, dtype=int), np.asarray(high, dtype=int))
    out: Any = np.zeros(first.shape)
    for i in range(int(first.min(initial=0)), int(last.max(initial=-1)) + 1):
        inside = (first <= i) & (i <= last)
        if inside.any():
            out = out + np.where(inside, term(i), 0.0)
    return out


def _at(position: Any) -> Any:
    """Return a position, or an array of them, as integers."""
    whole = position.astype(int) if isinstance(position, np.ndarray) else int(position)
    if np.any(whole != position):
        raise InvalidParameter(f"an index must be a whole number, got {position}")
    return whole


def _places(low: Any, high: Any) -> range:
    """Return the indices over which a largest or smallest value is taken; there must be one."""
    found = range(int(low), int(high) + 1)
    if not found:
        raise InvalidParameter(f"a largest or smallest value is taken over no index: from {low} to {high}")
    return found


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


_SAME = 1e-9
"""Relative difference of numbers that count as equal."""

_FLOAT: dict[str, Any] = {
    "_expect": _expect,
    "_total": _total,
    "_ratio": lambda p, q: p / q,
    "_inverse": lambda x: 1.0 / x,
    "_power": _float_power,
    "_sqrt": np.sqrt,
    "_norm_sq": lambda v: _float_inner(v, v),
    "_norm": lambda v: np.sqrt(_float_inner(v, v)),
    "_inner": _float_inner,
    "_positive": lambda x: _float_max(x, 0.0),
    "_differ": lambda x, y: np.where(np.abs(x - y) > _SAME * np.maximum(np.abs(x), np.abs(y)), 1.0, 0.0)[()],
    "_max": lambda *xs: functools.reduce(_float_max, xs),
    "_largest": lambda term, low, high: functools.reduce(_float_max, map(term, _places(low, high))),
    "_smallest": lambda term, low, high: functools.reduce(_float_min, map(term, _places(low, high))),
    "_min": lambda *xs: functools.reduce(_float_min, xs),
    "_abs": np.abs,
    "_sign": np.sign,
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
    "_expect": lambda value, chance: _exact_sum(chance[o] * value(o) for o in range(len(chance))),
    "_total": lambda term, low, high: _total(term, low, high, _exact_sum),
    "_ratio": sp.Rational,
    "_inverse": lambda x: 1 / sp.sympify(x),
    "_power": lambda x, n: sp.sympify(x) ** n,
    "_sqrt": lambda x: _exact_root(sp.sympify(x)),
    "_norm_sq": lambda v: _exact_inner(v, v),
    "_norm": lambda v: _exact_root(_exact_inner(v, v)),
    "_inner": lambda u, v: _exact_inner(u, v),
    "_positive": lambda x: _exact_max(x, 0),
    "_differ": lambda x, y: sp.Integer(0) if sp.sympify(x - y).equals(0) else sp.Integer(1),
    "_max": lambda *xs: functools.reduce(_exact_max, xs),
    "_largest": lambda term, low, high: functools.reduce(_exact_max, map(term, _places(low, high))),
    "_smallest": lambda term, low, high: -functools.reduce(_exact_max, (-term(i) for i in _places(low, high))),
    "_min": lambda *xs: -functools.reduce(_exact_max, [-x for x in xs]),
    "_abs": abs,
    "_sign": lambda x: np.frompyfunc(sp.sign, 1, 1)(x),
    "_exp": sp.exp,
    "_log": sp.log,
    "_binomial": sp.binomial,
    "_factorial": sp.factorial,
    "_pi": sp.pi,
    "_e": sp.E,
}

_BOTH: dict[str, Any] = {"_at": _at, "_identity": lambda x: x}


def _exact_sum(terms: Iterable[Any]) -> Any:
    """Return a sum; one that grows term by term would be sorted by SymPy as often as it has terms."""
    several = list(terms)
    return sp.Add(*several) if all(isinstance(term, sp.Expr) for term in several) else sum(several)


def _exact_inner(u: Any, v: Any) -> Any:
    return _exact_sum(sp.sympify(a * b) for a, b in zip(np.ravel(u), np.ravel(v), strict=True))


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
    quantities
        What it needs, by name.
    random
        Whether its value depends on the outcome.
    """

    expression: sp.Basic
    quantities: Mapping[str, Quantity]
    random: bool
    _calls: dict[bool, Callable[..., Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def names(self) -> frozenset[str]:
        """Names of the quantities that it needs."""
        return frozenset(self.quantities)

    def __call__(self, env: Mapping[Any, Any], *, exact: bool = False, outcome: int = 0) -> Any:
        """Return the value; ``env`` gives every quantity that is needed, by name or by its symbol."""
        try:
            values = [env[name] for name in self.quantities]
        except KeyError:
            values = self._found(named(env, self.quantities.values))
        call = self._calls.get(exact) or self._written(exact)
        try:
            return call(outcome, *values)
        except (TypeError, IndexError, KeyError) as error:
            raise self._explained(error, values) from error

    def _found(self, env: Env) -> list[Any]:
        missing = [quantity.described() for name, quantity in self.quantities.items() if name not in env]
        if missing:
            names = ", ".join(name for name in self.quantities if name not in env)
            raise InvalidParameter(f"the value of {names} is missing: {'; '.join(missing)}")
        return [env[name] for name in self.quantities]

    def _explained(self, error: Exception, values: list[Any]) -> Exception:
        """Return what is wrong with the values, or the error itself if they fit their declarations."""
        given = list(zip(self.quantities.values(), values, strict=True))
        unfit = [text for text in (_misfit(quantity, value) for quantity, value in given) if text]
        if unfit:
            return InvalidParameter("; ".join(unfit))
        if isinstance(error, IndexError) and not any(quantity.role is Role.FUNCTION for quantity, _ in given):
            lengths = [_lengths(quantity, value) for quantity, value in given if quantity.first]
            return InvalidParameter(f"{'; '.join(lengths)}, fewer than are asked for")
        return error

    def _written(self, exact: bool) -> Callable[..., Any]:
        """Make the code when it is first asked for: most expressions are never evaluated exactly."""
        # As sympy.lambdify would, without a docstring and replacements that take most of its time.
        code = f"lambda {', '.join(('_o', *self.quantities))}: {_code(self.expression)}"
        self._calls[exact] = eval(code, {**(_EXACT if exact else _FLOAT), **_BOTH})
        return self._calls[exact]


def valued(call: Compiled, env: Env, *, exact: bool = False) -> Any:
    """Return the value of an expression; a list of one per outcome if it is random."""
    if not call.random:
        return call(env, exact=exact)
    return [call(env, exact=exact, outcome=o) for o in range(len(env["chance"]))]


def _misfit(quantity: Quantity, value: Any) -> str:
    """Return why a value cannot be that of a quantity: it cannot be called, or not be indexed often enough."""
    if quantity.role is Role.FUNCTION:
        return "" if callable(value) else f"{quantity.described()}, got {value!r}"
    if value is None or isinstance(value, str):
        return f"{quantity.described()}, got {value!r}"
    part = value
    for axis in ("outcomes",) * quantity.random + quantity.shape[: len(quantity.first)]:
        try:
            part = part[0]
        except (TypeError, IndexError, KeyError):
            shown = f"shape {np.shape(value)}" if isinstance(value, np.ndarray | list | tuple) else repr(value)
            return f"{quantity.described()}, got {shown} without the axis of {axis}"
    return ""


def _lengths(quantity: Quantity, value: Any) -> str:
    """Return how many members of a family are given, for an index that is out of range."""
    axes = ("outcomes",) * quantity.random + quantity.shape[: len(quantity.first)]
    found = []
    for axis in axes:
        found.append(f"{len(value)} {'entry' if len(value) == 1 else 'entries'} along {axis}")
        value = value[0]
    return f"{quantity.name} has {' and '.join(found)}" if found else ""


@functools.cache
def compiled(expression: sp.Basic) -> Compiled:
    """Return an expression as Python code for float64 and for exact numbers.

    Parameters
    ----------
    expression
        A SymPy expression of declared quantities.

    Returns
    -------
    Compiled
        A function of a mapping from quantities, by name or symbol, to values; ``exact=True`` calculates with SymPy.

    Examples
    --------
    >>> from fltheory.bounds.quantities import scalar
    >>> x = scalar("x", "x", "any number")
    >>> half = compiled(sp.sqrt(x) / 2)
    >>> half({"x": np.array([4.0, 9.0])}).tolist(), half({x: sp.Integer(2)}, exact=True)
    ([1.0, 1.5], sqrt(2)/2)
    """
    return Compiled(expression, needed_by(expression), is_random(expression))
