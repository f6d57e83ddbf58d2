"""Statements on the instances of their own check, with symbols in place of the continuous parameters.

The code that makes an instance is run on symbols. Where it asks how two numbers compare, both answers are followed, and
what was answered is a hypothesis of that path. Sizes, counts and words are those of listed points. So a certificate
says: on all instances that the check makes with these discrete parameters.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from fltheory.bounds.claim import Assumption, Form, Instances, Rejected
from fltheory.bounds.quantities import Domain, Role
from fltheory.bounds.space import Choice, ExactPoint, Integer, Integers, Real, Space
from fltheory.validation.evaluate import defined, sides_at
from fltheory.validation.proof import expand
from fltheory.validation.proof.intervals import Interval, decided, enclosure
from fltheory.validation.proof.parts import of_kinds
from fltheory.validation.proof.translate import Untranslatable

MOST_PATHS = 64
"""Paths through the code of an instance."""

DEEPEST = 40
"""Comparisons along one path."""


def discrete_points(space: Space, most: int) -> list[dict[str, Any]]:
    """Return discrete parameters in order of size, at most so many; all arrays that belong to sizes, or none.

    >>> space = Space({"N": Integer(1, 2), "s": Integers(0, 1, shape=("N",)), "w": Real(0, 1)})
    >>> [(point["N"], point["s"].tolist()) for point in discrete_points(space, 3)]
    [(1, [0]), (1, [1])]
    """
    whole = [name for name, parameter in space.items() if isinstance(parameter, Integer | Choice)]
    options = [_options(space.parameters[name]) for name in whole]
    ranked = sorted(itertools.product(*(range(len(choices)) for choices in options)), key=lambda at: (sum(at), at))
    found: list[dict[str, Any]] = []
    for at in ranked:
        sizes = {name: choices[n] for name, choices, n in zip(whole, options, at, strict=True)}
        points = list(itertools.islice(_with_arrays(space, sizes), most + 1))
        if len(found) + len(points) > most:
            break
        found += points
    return found


def _options(parameter: Any) -> list[Any]:
    if isinstance(parameter, Choice):
        return list(parameter.options)
    return list(range(parameter.low, parameter.high + 1))


def _with_arrays(space: Space, sizes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    arrays = [(name, p) for name, p in space.items() if isinstance(p, Integers)]
    ranges = []
    for name, parameter in arrays:
        high = sizes[parameter.high] if isinstance(parameter.high, str) else parameter.high
        count = int(np.prod(space.shape(name, sizes), dtype=int))
        ranges.append([range(parameter.low, int(high) + 1)] * count)
    for values in itertools.product(*(itertools.product(*several) for several in ranges)):
        made = {
            name: np.array(entries, dtype=int).reshape(space.shape(name, sizes))
            for (name, _), entries in zip(arrays, values, strict=True)
        }
        yield {**sizes, **made}


def symbolic(space: Space, discrete: dict[str, Any]) -> tuple[ExactPoint, dict[sp.Symbol, Real]]:
    """Return a point with a symbol for every continuous number, and the range of each."""
    point: dict[str, Any] = dict(discrete)
    ranges: dict[sp.Symbol, Real] = {}
    for name in space.reals():
        parameter = space.parameters[name]
        assert isinstance(parameter, Real)
        shape = space.shape(name, discrete)
        array = np.empty(shape, dtype=object)
        for at in np.ndindex(shape):
            # Real, so that SymPy knows that squares are not negative; nothing else is known.
            symbol = sp.Symbol("_".join([name.replace(" ", "_"), *map(str, at)]), real=True)
            if symbol in ranges:
                raise Untranslatable(f"{symbol} would stand for two parameters")
            array[at] = symbol
            ranges[symbol] = parameter
        point[name] = array if shape else array[()]
    return ExactPoint(point), ranges


Path = tuple[Any, tuple[Relational, ...]]
"""What a computation returns along a path, and the comparisons that lead there."""


def paths(
    compute: Callable[[], Any], *, most: int = MOST_PATHS, ranges: Mapping[sp.Symbol, Interval] | None = None
) -> Iterator[Path]:
    """Yield the results of a computation on symbols, for every way in which its comparisons can turn out.

    What the ranges of the symbols decide is not asked.

    >>> x = sp.Symbol("x", real=True)
    >>> [(str(result), [str(one) for one in asked]) for result, asked in paths(lambda: x if x > 1 else 1 - x)]
    [('x', ['x > 1']), ('1 - x', ['x <= 1'])]
    """
    found: list[tuple[Any, list[Relational], list[bool]]] = []
    waiting: list[list[bool]] = [[]]
    count = 0
    comparisons = _Comparisons(ranges or {})
    with comparisons.answered():  # once for all paths: SymPy has many classes, and each has to learn of it
        while waiting:
            count += 1
            if count > most:
                raise Untranslatable(f"more than {most} paths")
            answers = waiting.pop()
            asked = comparisons.begin(answers)
            try:
                result = compute()
            except (Rejected, ZeroDivisionError):
                result = None
            except Untranslatable:
                raise
            except (Exception, SystemExit) as error:  # the code of a claim may not be made for symbols
                raise Untranslatable(f"the instance cannot be made of symbols: {error}") from error
            if len(waiting) + len(asked) - len(answers) >= most:
                raise Untranslatable(f"more than {most} paths")
            new = range(len(answers), len(asked))
            waiting += [[*answers, *([True] * (place - len(answers))), False] for place in new]
            if result is not None:
                found.append((result, asked, [*answers, *([True] * (len(asked) - len(answers)))]))
    for result, asked, taken in found:
        # That two numbers differ is nothing that is used.
        answered = [one if yes else one.negated for one, yes in zip(asked, taken, strict=True)]
        yield result, tuple(one for one in answered if not isinstance(one, sp.Ne))


class _Comparisons:
    """Answers to comparisons of symbols along a path: as listed, then yes; what was answered before stays."""

    def __init__(self, ranges: Mapping[sp.Symbol, Interval]) -> None:
        self._ranges = ranges
        self.begin([])

    def begin(self, answers: list[bool]) -> list[Relational]:
        """Begin a path with given answers; return the list to which comparisons are added when they are asked."""
        self._answers = answers
        self._asked: list[Relational] = []
        self._known: dict[Relational, bool] = {}
        return self._asked

    @contextlib.contextmanager
    def answered(self) -> Iterator[None]:
        """Let comparisons of symbols be answered meanwhile."""
        usual = Relational.__bool__
        Relational.__bool__ = Relational.__nonzero__ = lambda relation: self._holds(relation)
        try:
            with _comparing(self._vanishes):
                yield
        finally:
            Relational.__bool__ = Relational.__nonzero__ = usual

    def _holds(self, relation: Relational) -> bool:
        one = relation.canonical
        if one in (sp.true, sp.false):
            return bool(one == sp.true)
        plain = decided(one, self._ranges)
        if plain is not None:
            return plain
        opposite = one.negated.canonical
        return self._asked_for(one, opposite)

    def _vanishes(self, difference: Any) -> bool:
        found = enclosure(difference, self._ranges)
        if found is not None and not found[0] <= 0 <= found[1]:
            return False
        return self._asked_for(sp.Eq(difference, 0, evaluate=False), sp.Ne(difference, 0, evaluate=False))

    def _asked_for(self, one: Relational, opposite: Relational) -> bool:
        if one not in self._known:
            if len(self._asked) >= DEEPEST:
                raise Untranslatable(f"more than {DEEPEST} comparisons")
            yes = self._answers[len(self._asked)] if len(self._asked) < len(self._answers) else True
            self._asked.append(one)
            self._known[one], self._known[opposite] = yes, not yes
        return self._known[one]


_OWN = ("sympy", "mpmath", "fltheory.validation")
"""Modules in which symbols are compared as what they are, not as the numbers that they stand for."""


@contextlib.contextmanager
def _comparing(vanishes: Callable[[Any], bool]) -> Iterator[None]:
    """Ask whether numbers are equal, or zero, where code does: SymPy would say no of symbols, whatever they are."""
    equal, unequal = sp.Expr.__eq__, sp.Expr.__ne__

    def asked(one: Any, other: Any) -> Any:
        """Return the difference that decides; ``None`` where expressions are meant, not numbers."""
        caller = sys._getframe(2).f_globals.get("__name__", "")
        if caller.startswith(_OWN) or not isinstance(other, sp.Expr | int | float):
            return None
        difference = sp.expand(one - other)
        return difference if _of_instances(difference) else None

    def eq(one: Any, other: Any) -> Any:
        found = equal(one, other)
        difference = None if found is True else asked(one, other)
        return found if difference is None else vanishes(difference)

    def ne(one: Any, other: Any) -> Any:
        found = unequal(one, other)
        difference = None if found is False else asked(one, other)
        return found if difference is None else not vanishes(difference)

    def truth(one: Any) -> bool:
        if sys._getframe(1).f_globals.get("__name__", "").startswith(_OWN) or not _of_instances(one):
            return True
        return not vanishes(sp.expand(one))

    sp.Expr.__eq__, sp.Expr.__ne__, sp.Expr.__bool__ = eq, ne, truth
    try:
        yield
    finally:
        # SymPy's own methods are those of a class further up.
        del sp.Expr.__eq__, sp.Expr.__ne__, sp.Expr.__bool__


def _of_instances(expression: Any) -> bool:
    """Return whether there are symbols for parameters in an expression, not only those of a statement."""
    return any(type(symbol) is sp.Symbol for symbol in expression.free_symbols)


def statements(
    form: Form, assumptions: tuple[Assumption, ...], check: Instances, discrete: dict[str, Any]
) -> Iterator[tuple[list[Relational], list[Relational], dict[sp.Symbol, Real]]]:
    """Yield hypotheses and goals along every path, with the ranges of the parameters.

    An inequality with norms is about all functions of a class. Instances whose code compares numbers have functions of
    a particular shape, with kinks, so nothing is said about those, unless there is nothing but vectors.
    """
    point, ranges = symbolic(check.space, discrete)
    if not ranges:
        raise Untranslatable("the instance has no continuous parameter")

    def compute() -> tuple[list[Relational], list[Relational]]:
        env = form.named(check.realise(point))
        values = defined(form, env, exact=True)
        known = list(declared(form, values))
        for assumption in assumptions:
            known += relations(assumption.relation, assumption.over, values)
        for premise in form.premises:
            known += relations(premise, (), values)
        goals = [made for relation in form.relations for made in relations(relation, form.over, values)]
        return known, goals

    equations = all(isinstance(relation, sp.Eq) for relation in form.relations)
    shaped = not equations and expand.has_norms(form, assumptions) and not only_vectors(check.space)
    ends = {symbol: (_end(real.low), _end(real.high)) for symbol, real in ranges.items()}
    for (known, goals), conditions in paths(compute, most=1 if shaped else MOST_PATHS, ranges=ends):
        names = {symbol: sp.Symbol(symbol.name) for symbol in ranges}
        plain = [[_renamed(one, names) for one in several] for several in ([*conditions, *known], goals)]
        yield plain[0], plain[1], {names[symbol]: real for symbol, real in ranges.items()}


def only_vectors(space: Space) -> bool:
    """Return whether all continuous parameters are entries of vectors, with no direction preferred: no functions.

    >>> only_vectors(Space({"n": Integer(1, 2), "T": Real(-3, 3, shape=("n",))}))
    True
    >>> only_vectors(Space({"n": Integer(1, 2), "T": Real(-3, 3, shape=("n",)), "left": Real(0, 1, shape=("n",))}))
    False
    """
    reals = [parameter for parameter in space.parameters.values() if isinstance(parameter, Real)]
    return all(parameter.shape and parameter.low == -parameter.high for parameter in reals)


def _end(number: float) -> sp.Rational:
    """Return the end of a range as it is written: a tenth, not the float nearest to it."""
    return sp.Rational(str(number))


def _renamed(relation: Relational, names: dict[Any, Any]) -> Relational:
    # Whole numbers may be floats even where everything is exact: an empty product is 1.0.
    whole = {n: sp.Integer(int(n)) for n in of_kinds(relation, sp.Float) if float(n).is_integer()}
    sides = (side.xreplace({**names, **whole}) for side in relation.args)
    return relation.func(*sides, evaluate=False)


def relations(relation: Relational, over: Any, values: Any) -> list[Relational]:
    """Return a relation at all values of its indices, and on all outcomes."""
    return [
        relation.func(*((rhs, lhs) if backward else (lhs, rhs)), evaluate=False)
        for lhs, rhs, backward in sides_at(relation, over, values)
    ]


def declared(form: Form, values: Any) -> Iterator[Relational]:
    """Yield what the declarations say about the numbers of an instance."""
    for several in declared_by_quantity(form, values):
        yield from several


def declared_by_quantity(form: Form, values: Any) -> Iterator[Iterator[Relational]]:
    """Yield the same, for one quantity after the other."""
    for quantity in form.quantities():
        value = values.get(quantity.name)
        if quantity.role is Role.FUNCTION or value is None or quantity.domain is Domain.REAL or callable(value):
            continue
        if isinstance(value, sp.Expr | int | np.ndarray | list):
            yield _within(quantity.domain, np.ravel(np.asarray(value, dtype=object)))


def _within(domain: Domain, entries: Any) -> Iterator[Relational]:
    for entry in entries:
        if hasattr(entry, "__getitem__"):  # members of a defined family, which SymPy would count for ever
            continue
        expression = sp.sympify(entry)
        if not expression.free_symbols:
            continue
        if domain is Domain.POSITIVE:
            yield sp.Gt(expression, 0, evaluate=False)
        elif domain.low is not None:
            yield sp.Ge(expression, domain.low, evaluate=False)
        if domain.high is not None:
            yield sp.Le(expression, domain.high, evaluate=False)
