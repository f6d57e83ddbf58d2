r"""All functions of a class in place of those that a check makes, known only by their values and gradients at points.

The code of a claim makes its functions as :class:`~fltheory.bounds.functions.Kinked`, whose slopes lie between
:math:`\mu` and :math:`L`. Here that code is run on one coordinate whose entries are symbols for whole vectors. A
function that is asked for a value or a gradient answers with a new symbol. At the end, values :math:`f_i` and gradients
:math:`g_i` at points :math:`x_i` belong to some :math:`\mu`-strongly convex, :math:`L`-smooth function, in a space of
some dimension, if and only if for all pairs (Taylor, Hendrickx, Glineur 2017, Theorem 4)

.. math::
    f_i \ge f_j + \langle g_j, x_i - x_j\rangle + \frac{1}{2(1 - \mu/L)}\Big(\frac1L\|g_i - g_j\|^2
    + \mu\|x_i - x_j\|^2 - \frac{2\mu}{L}\langle g_j - g_i, x_j - x_i\rangle\Big) .

Sub-problems with an l1 term answer with their solution :math:`p`, a subgradient :math:`s` of :math:`\|p - a\|_1` with
which the optimality condition holds, and the sign :math:`\sigma` of :math:`p - a`. Of these it is known that
:math:`\langle s, p - a\rangle = \langle\sigma, p - a\rangle = \|p - a\|_1`, at least the product of :math:`p - a` with
any other subgradient or sign of either direction, and that :math:`\langle\sigma, s - \sigma\rangle = 0`; in one
dimension, that squares are at most one. A regulariser is any convex function: its proximal points :math:`p_i` with
subgradients :math:`u_i` have values :math:`\psi_i \ge \psi_j + \langle u_j, p_i - p_j\rangle`.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from fltheory.bounds.functions import Kinked, Regulariser, Solved
from fltheory.validation.proof.translate import Untranslatable


@dataclass(frozen=True, slots=True)
class Pulled:
    """A solution of a sub-problem with an l1 term: distance from the anchor, its sign, and a subgradient."""

    away: Any
    sign: sp.Symbol
    kick: sp.Symbol


@dataclass(slots=True)
class Answers:
    r"""What has been asked of the functions of an instance, and the symbols that were given as answers.

    Parameters
    ----------
    vectors, numbers
        Symbols for gradients and minimisers, and for values.
    seen
        For every function its constants :math:`\mu` and :math:`L`, and points with gradient and value.
    optima, pulled
        Minimisers of weighted sums, and solutions of sub-problems, by what was asked.
    proximal
        For every regulariser by what was asked: proximal point, subgradient and value.
    twins
        In the plane, the symbol for the second coordinate of every vector; ``None`` along one coordinate.
    told
        Which client of a family has a function, so that two functions are not taken for one.
    """

    vectors: list[sp.Symbol] = field(default_factory=list)
    numbers: list[sp.Symbol] = field(default_factory=list)
    seen: dict[Any, tuple[Any, Any, dict[Any, tuple[Any, Any]]]] = field(default_factory=dict)
    optima: dict[Any, Any] = field(default_factory=dict)
    pulled: dict[Any, tuple[Any, Pulled]] = field(default_factory=dict)
    proximal: dict[Any, dict[Any, tuple[Any, Any, Any]]] = field(default_factory=dict)
    twins: dict[sp.Symbol, sp.Symbol] | None = None
    told: dict[Any, tuple[Kinked, dict[Any, int]]] = field(default_factory=dict)

    def along(self, row: Any) -> Any:
        """Return the first coordinate of a vector, if the second one is its twin."""
        entries = list(row)
        if len(entries) != (1 if self.twins is None else 2):
            raise Untranslatable("functions of a class are asked along one coordinate")
        if self.twins is not None:
            first, second = (sp.sympify(entry) for entry in entries)
            twin = first.xreplace(self.twins)
            if twin != second and sp.expand(twin - second) != 0:
                raise Untranslatable("coordinates are not treated alike")
        return entries[0]

    def spread(self, entries: list[Any]) -> Any:
        """Return rows of vectors whose first coordinates are given."""
        made = np.empty((len(entries), 1 if self.twins is None else 2), dtype=object)
        made[:, 0] = entries
        if self.twins is not None:
            made[:, 1] = [sp.sympify(entry).xreplace(self.twins) for entry in entries]
        return made

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
        _, clients = self.told.setdefault(id(family), (family, {}))
        place = client % len(family.centre)
        if clients.setdefault(key, place) != place:
            raise Untranslatable("nothing tells two functions apart")
        if key not in self.seen:
            centre = sp.expand(self.along(family.centre[client]))
            slopes = [sp.sympify(side[client][0]) for side in (family.left, family.right)]
            if not all(slope.is_Rational for slope in slopes):
                raise Untranslatable("slopes of a function that are not numbers")
            low, high = min(slopes), max(slopes)
            if low < 0 or low == high:
                raise Untranslatable(f"no class of functions with slopes from {low} to {high}")
            zero = sp.Integer(0)
            self.seen[key] = (low, high, {centre: (zero, zero)})
        return self.seen[key]

    def optimum(self, family: Kinked, weights: Any, tilt: Any = 0) -> Any:
        """Return a minimiser of a weighted sum less a linear term: there weighted gradients add up to the term."""
        chosen = [(k, sp.sympify(weights[k])) for k in range(len(weights)) if weights[k] != 0]
        if not all(weight.is_Rational and weight > 0 for _, weight in chosen):
            raise Untranslatable("weights of functions that are not positive numbers")
        tilt = sp.expand(tilt)
        if len(chosen) == 1 and tilt == 0:
            return family.centre[chosen[0][0]][0]
        key = tuple((_key(family, k), weight / chosen[0][1]) for k, weight in chosen), tilt / chosen[0][1]
        if key not in self.optima:
            point = self.vector()
            *others, (last, heaviest) = chosen
            for k, _ in others:
                self.at(family, k, point)
            rest = (tilt - sum(weight * self.at(family, k, point)[0] for k, weight in others)) / heaviest
            self.function(family, last)[2][point] = (sp.expand(rest), self.number())
            self.optima[key] = point
        return self.optima[key]

    def elastic(self, family: Kinked, client: int, linear: Any, anchor: Any, pull: Any, l1: Any) -> tuple[Any, Any]:
        """Return the solution of a sub-problem with an l1 term, and the sign of its distance from the anchor."""
        strength = sp.sympify(l1)
        if not (strength.is_Rational and strength > 0 and sp.sympify(pull).is_Rational and pull >= 0):
            raise Untranslatable("penalties that are not numbers")
        key = (_key(family, client), sp.expand(linear), sp.expand(anchor), pull, l1)
        if key not in self.pulled:
            *_, known = self.function(family, client)
            point, sign, kick = self.vector(), self.vector(), self.vector()
            known[point] = (sp.expand(linear - pull * (point - anchor) - l1 * kick), self.number())
            self.pulled[key] = (point, Pulled(sp.expand(point - anchor), sign, kick))
        point, pulled = self.pulled[key]
        return point, pulled.sign

    def prox(self, psi: Regulariser, x: Any, scale: Any) -> Any:
        """Return the proximal point of a regulariser."""
        if self.twins is None and (np.shape(psi.rotation) != (1, 1) or sp.sympify(psi.rotation[0][0]) != 1):
            raise Untranslatable("regularisers are asked along one coordinate")
        if not (sp.sympify(scale).is_Rational and scale > 0):
            raise Untranslatable("the scale of a regulariser is not a positive number")
        key = tuple(sp.sympify(part[0]) for part in (psi.l1, psi.square, psi.low, psi.high))
        known = self.proximal.setdefault(key, {})
        asked = (sp.expand(x), scale)
        if asked not in known:
            point = self.vector()
            known[asked] = (point, sp.expand((x - point) / scale), self.number())
        return known[asked][0]

    def vector(self) -> sp.Symbol:
        """Return a new symbol for a vector."""
        made = sp.Symbol(f"vector_{len(self.vectors)}")
        self.vectors.append(made)
        if self.twins is not None:
            self.twins[made] = twin(made)
        return made

    def number(self) -> sp.Symbol:
        """Return a new symbol for a value."""
        self.numbers.append(sp.Symbol(f"value_{len(self.numbers)}", real=True))
        return self.numbers[-1]

    def inequalities(
        self, *, alone: bool = False, vector: Callable[[Any], Any] = sp.sympify, read: Callable[[Any], Any] = sp.sympify
    ) -> Iterator[Any]:
        """Yield what is nonnegative, as products of vectors for inner products; ``alone``: in one dimension.

        ``vector`` and ``read`` say what vectors and numbers are made into before they are multiplied.
        """
        for low, high, known in self.seen.values():
            points = [(vector(x), vector(g), read(f)) for x, (g, f) in known.items()]
            one, other, both, half = (read(c) for c in (1 / high, low, 2 * low / high, 1 / (2 * (1 - low / high))))
            for (x, g, f), (y, h, e) in itertools.permutations(points, 2):
                bent = one * (g - h) ** 2 + other * (x - y) ** 2 - both * (h - g) * (y - x)
                yield f - e - h * (x - y) - bent * half
        for nearest in self.proximal.values():
            points = [(vector(p), vector(u), read(f)) for p, u, f in nearest.values()]
            for (p, _, f), (r, u, e) in itertools.permutations(points, 2):
                yield f - e - u * (p - r)
        pulled = [(vector(one.kick), vector(one.sign), vector(one.away)) for _, one in self.pulled.values()]
        for kick, sign, away in pulled:
            yield kick * away
            if alone:
                yield from (1 - kick**2, 1 - sign**2, 1 - (kick - sign) ** 2)
        for (kick, _, away), (other_kick, other_sign, _) in itertools.permutations(pulled, 2):
            for force, side in itertools.product((other_kick, other_sign), (1, -1)):
                yield (kick - side * force) * away

    def equations(self) -> Iterator[Any]:
        """Yield what is zero, in the same way."""
        for _, one in self.pulled.values():
            yield (one.kick - one.sign) * one.away
            yield (one.kick - one.sign) * one.sign


def _key(family: Kinked, client: int) -> tuple[Any, ...]:
    """Return what a function is made of: the same function may be made twice."""
    return tuple(sp.sympify(part[client][0]) for part in (family.centre, family.knot, family.left, family.right))


def twin(symbol: sp.Symbol) -> sp.Symbol:
    """Return the symbol for the second coordinate of a vector."""
    return sp.Symbol(f"{symbol.name}'")


@contextlib.contextmanager
def any_functions(twins: dict[sp.Symbol, sp.Symbol] | None = None) -> Iterator[Answers]:
    """Let functions that are made meanwhile be any of their class; in the plane if second coordinates are given."""
    answers = Answers(twins=twins)
    column, along = answers.spread, answers.along

    def everywhere(w: Any, answer: Callable[[Any], Any]) -> Any:
        points = np.asarray(w, dtype=object)
        made = np.empty(points.shape[:-1], dtype=object)
        for place in np.ndindex(made.shape):
            made[place] = answer(along(points[place]))
        return made

    def gradient(self: Kinked, client: int, w: Any) -> Any:
        found = everywhere(w, lambda point: answers.at(self, int(client), point)[0])
        return column(list(found.reshape(-1))).reshape((*found.shape, -1))

    def value(self: Kinked, client: int, w: Any) -> Any:
        return everywhere(w, lambda point: answers.at(self, int(client), point)[1])[()]

    def minimiser(self: Kinked, weights: Any) -> Any:
        return column([answers.optimum(self, weights)])[0]

    def gradients(self: Kinked, w: Any) -> Any:
        rows = np.broadcast_to(np.asarray(w, dtype=object), np.shape(self.centre))
        return column([answers.at(self, k, along(row))[0] for k, row in enumerate(rows)])

    def mean(self: Kinked, w: Any) -> Any:
        count = len(self.centre)
        return np.asarray(sum(value(self, k, w) for k in range(count)) * sp.Rational(1, count), dtype=object)

    def elastic(self: Kinked, linear: Any, anchor: Any, *, pull: Any, l1: Any) -> Solved:
        anchors = np.broadcast_to(np.asarray(anchor, dtype=object), np.shape(self.centre))
        both = [answers.elastic(self, k, along(linear[k]), along(row), pull, l1) for k, row in enumerate(anchors)]
        return Solved(column([point for point, _ in both]), column([sign for _, sign in both]))

    def stationary(self: Kinked, tilt: Any = None) -> Any:
        count = len(self.centre)
        total = 0 if tilt is None else count * along(tilt)
        return column([answers.optimum(self, [1] * count, total)])[0]

    def prox(self: Regulariser, x: Any, scale: Any) -> Any:
        return column([answers.prox(self, along(x), scale)])[0]

    asked = {Kinked: (gradient, value, minimiser, gradients, mean, elastic, stationary), Regulariser: (prox,)}
    usual = [(owner, one.__name__, getattr(owner, one.__name__)) for owner, all_ in asked.items() for one in all_]
    for owner, several in asked.items():
        for method in several:
            setattr(owner, method.__name__, method)
    try:
        yield answers
    finally:
        for owner, name, before in usual:
            setattr(owner, name, before)
