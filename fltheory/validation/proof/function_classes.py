r"""All functions of a class in place of those that a check makes, known only by their values and gradients at points.

The code of a claim makes its functions as :class:`~fltheory.bounds.functions.Kinked`, whose slopes lie between
:math:`\mu` and :math:`L`. Here that code is run on one coordinate whose entries are symbols for whole vectors. A
function that is asked for a value or a gradient answers with a new symbol. At the end, values :math:`f_i` and gradients
:math:`g_i` at points :math:`x_i` belong to some :math:`\mu`-strongly convex, :math:`L`-smooth function, in a space of
some dimension, if and only if for all pairs (Taylor, Hendrickx, Glineur 2017, Theorem 4)

.. math::
    f_i \ge f_j + \langle g_j, x_i - x_j\rangle + \frac{1}{2(1 - \mu/L)}\Big(\frac1L\|g_i - g_j\|^2
    + \mu\|x_i - x_j\|^2 - \frac{2\mu}{L}\langle g_j - g_i, x_j - x_i\rangle\Big) .
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from fltheory.bounds.functions import Kinked
from fltheory.validation.proof.translate import Untranslatable


@dataclass(slots=True)
class Answers:
    r"""What has been asked of the functions of an instance, and the symbols that were given as answers.

    Parameters
    ----------
    vectors, numbers
        Symbols for gradients and minimisers, and for values.
    seen
        For every function its constants :math:`\mu` and :math:`L`, and points with gradient and value.
    """

    vectors: list[sp.Symbol] = field(default_factory=list)
    numbers: list[sp.Symbol] = field(default_factory=list)
    seen: dict[Any, tuple[Any, Any, dict[Any, tuple[Any, Any]]]] = field(default_factory=dict)
    optima: dict[Any, Any] = field(default_factory=dict)

    def at(self, family: Kinked, client: int, point: Any) -> tuple[Any, Any]:
        """Return gradient and value of a function at a point."""
        *_, known = self.function(family, client)
        where = sp.expand(point)
        if where not in known:
            known[where] = (self.vector(), self.number())
        return known[where]

    def function(self, family: Kinked, client: int) -> tuple[Any, Any, dict[Any, tuple[Any, Any]]]:
        """Return constants and known points of a function; its minimum 0 is at the centre."""
        key = _key(family, client)
        if key not in self.seen:
            if np.shape(family.centre)[-1] != 1:
                raise Untranslatable("functions of a class are asked along one coordinate")
            slopes = [sp.sympify(side[client][0]) for side in (family.left, family.right)]
            if not all(slope.is_Rational for slope in slopes):
                raise Untranslatable("slopes of a function that are no numbers")
            low, high = min(slopes), max(slopes)
            if low < 0 or low == high:
                raise Untranslatable(f"no class of functions with slopes from {low} to {high}")
            zero = sp.Integer(0)
            self.seen[key] = (low, high, {sp.expand(family.centre[client][0]): (zero, zero)})
        return self.seen[key]

    def optimum(self, family: Kinked, weights: Any) -> Any:
        """Return the minimiser of a weighted sum: a point at which the weighted gradients add up to nothing."""
        chosen = [(k, sp.sympify(weights[k])) for k in range(len(weights)) if weights[k] != 0]
        if not all(weight.is_Rational and weight > 0 for _, weight in chosen):
            raise Untranslatable("weights of functions that are no positive numbers")
        if len(chosen) == 1:
            return family.centre[chosen[0][0]][0]
        key = tuple((_key(family, k), weight / chosen[0][1]) for k, weight in chosen)
        if key not in self.optima:
            point = self.vector()
            *others, (last, heaviest) = chosen
            for k, _ in others:
                self.at(family, k, point)
            rest = -sum(weight * self.at(family, k, point)[0] for k, weight in others) / heaviest
            self.function(family, last)[2][point] = (sp.expand(rest), self.number())
            self.optima[key] = point
        return self.optima[key]

    def vector(self) -> sp.Symbol:
        """Return a new symbol for a vector."""
        self.vectors.append(sp.Symbol(f"vector_{len(self.vectors)}"))
        return self.vectors[-1]

    def number(self) -> sp.Symbol:
        """Return a new symbol for a value."""
        self.numbers.append(sp.Symbol(f"value_{len(self.numbers)}", real=True))
        return self.numbers[-1]

    def inequalities(self) -> Iterator[Any]:
        """Yield what is nonnegative, as products of vectors that stand for inner products."""
        for low, high, known in self.seen.values():
            points = [(x, g, f) for x, (g, f) in known.items()]
            for (x, g, f), (y, h, e) in itertools.permutations(points, 2):
                bent = (g - h) ** 2 / high + low * (x - y) ** 2 - 2 * low / high * (h - g) * (y - x)
                yield sp.expand(f - e - h * (x - y) - bent / (2 * (1 - low / high)))


def _key(family: Kinked, client: int) -> tuple[Any, ...]:
    """Return what a function is made of: the same function may be made twice."""
    return tuple(sp.sympify(part[client][0]) for part in (family.centre, family.knot, family.left, family.right))


@contextlib.contextmanager
def any_functions() -> Iterator[Answers]:
    """Let functions that are made meanwhile be any of their class."""
    answers = Answers()
    usual = {name: getattr(Kinked, name) for name in ("value", "gradient", "minimiser")}

    def gradient(self: Kinked, client: int, w: Any) -> Any:
        points = np.asarray(w, dtype=object)
        made = np.empty(points.shape, dtype=object)
        for place in np.ndindex(points.shape[:-1]):
            made[(*place, 0)] = answers.at(self, int(client), points[(*place, 0)])[0]
        return made

    def value(self: Kinked, client: int, w: Any) -> Any:
        points = np.asarray(w, dtype=object)
        if points.ndim != 1:
            raise Untranslatable("values at several points at once")
        return answers.at(self, int(client), points[0])[1]

    def minimiser(self: Kinked, weights: Any) -> Any:
        made = np.empty(1, dtype=object)
        made[0] = answers.optimum(self, weights)
        return made

    for name, method in (("value", value), ("gradient", gradient), ("minimiser", minimiser)):
        setattr(Kinked, name, method)
    try:
        yield answers
    finally:
        for name, method in usual.items():
            setattr(Kinked, name, method)
