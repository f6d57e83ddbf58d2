r"""Declared quantities: the symbols in which statements are written, each with its own declaration.

Every symbol is declared with its name in code, its LaTeX and its meaning, and carries this declaration with it:

* :func:`scalar`: a number, or one vector;
* :func:`family`: numbers or vectors with indices, ``p[k]`` or ``w[k, i]``; ``first`` says where each index starts in
  the paper (clients from 1, steps from 0), arrays start at 0;
* :func:`function`: a function of an index and a vector, ``F(k, w)``;
* :func:`index`: an index of a sum, or one for all of whose values a statement is claimed.

The declaration is part of a symbol's identity: two symbols with the same name and different meanings are different, and
there is no list of all of them. Names have to be unique within one claim only, where they name the values that it is
evaluated with.

Declared with ``random=True`` a quantity has one value per outcome of a finite probability space: a leading axis over
the outcomes, whose probabilities are the quantity :data:`CHANCE`.

``domain`` says which values a quantity may have. It is no assumption of SymPy, which would decide relations such as
``mu > 0`` at once and let them vanish.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction

from fltheory._internal import arguments
from fltheory.errors import InvalidParameter


class Domain(enum.Enum):
    """Values that a quantity, or every entry of it, may have."""

    REAL = "real"
    NONNEGATIVE = "nonnegative"
    POSITIVE = "positive"
    PROBABILITY = "probability"
    BINARY = "binary"
    INTEGER = "integer"
    COUNT = "integer>=0"
    SIZE = "integer>=1"

    @property
    def whole(self) -> bool:
        """Whether only integers belong to it."""
        return self in (Domain.BINARY, Domain.INTEGER, Domain.COUNT, Domain.SIZE)

    @property
    def low(self) -> int | None:
        """Lower end, which belongs to all but the positive numbers; ``None`` if there is none."""
        return {Domain.REAL: None, Domain.INTEGER: None, Domain.SIZE: 1}.get(self, 0)

    @property
    def high(self) -> int | None:
        """Upper end, which belongs to it; ``None`` if there is none."""
        return 1 if self in (Domain.PROBABILITY, Domain.BINARY) else None

    def contains(self, value: Any) -> bool:
        """Return whether all entries of a value belong to it, up to rounding at the ends.

        >>> Domain.PROBABILITY.contains([0.25, 0.75]), Domain.SIZE.contains(0)
        (True, False)
        """
        entries = np.asarray(value, dtype=float)
        slack = 1e-9
        inside = np.ones(entries.shape, dtype=bool)
        if self.low is not None:
            inside &= entries > 0 if self is Domain.POSITIVE else entries >= self.low - slack
        if self.high is not None:
            inside &= entries <= self.high + slack
        if self.whole:
            inside &= np.abs(entries - np.round(entries)) <= slack
        return bool(np.all(inside))


_INDICES = {"clients": "k", "N": "k", "steps": "i", "rounds": "t", "T": "t", "t": "t"}
"""The usual index of an axis."""


class Role(enum.Enum):
    """What sort of object a declared symbol is."""

    NUMBER = "number"
    FAMILY = "family"
    FUNCTION = "function"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class Quantity:
    """The declaration of a symbol.

    Parameters
    ----------
    name
        Name in code: a keyword, and the key of its value in an environment.
    latex
        How it is printed, with ``<0>``, ``<1>`` for indices or arguments.
    meaning
        A few words.
    first
        Where its indices start.
    random
        Whether it has one value per outcome.
    shape
        What the axes of its value are, one word each, without that of the outcomes; empty for a number.
    domain
        Which values it, or every entry of it, may have.
    role
        What sort of object it is.
    """

    name: str
    latex: str
    meaning: str
    first: tuple[int, ...] = ()
    random: bool = False
    shape: tuple[str, ...] = ()
    domain: Domain = Domain.REAL
    role: Role = Role.NUMBER

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or keyword.iskeyword(self.name) or self.name.startswith("_"):
            raise arguments.fail("Quantity", "name", "a public Python identifier", self.name)

    @property
    def axes(self) -> tuple[str, ...]:
        """What the axes of its value are, that of the outcomes first."""
        return ("outcomes", *self.shape) if self.random else self.shape

    @property
    def with_indices(self) -> str:
        r"""Its LaTeX with usual indices in their places, for tables of symbols.

        >>> family("p", "p^{<0>}", "weight of a client").label.quantity.with_indices
        'p^{k}'
        """
        latex = self.latex
        if self.role is Role.FUNCTION:
            symbols = ["k", "w"] if "<1>" in latex else ["w"]
        else:
            symbols = [_INDICES.get(axis, "") for axis in self.shape]
        taken = {symbol for symbol in symbols if symbol}
        spare = (symbol for symbol in "kijlmnr" if symbol not in taken)
        for place in range(latex.count("<")):
            symbol = symbols[place] if place < len(symbols) and symbols.count(symbols[place]) == 1 else ""
            latex = latex.replace(f"<{place}>", symbol or next(spare))
        return latex

    def described(self) -> str:
        r"""Return name, LaTeX, meaning and shape in one line.

        >>> scalar("theta", r"\theta", "bound on a ratio", domain="positive").quantity.described()
        'theta (\\theta): bound on a ratio; a number, positive'
        """
        return f"{self.name} ({self.latex}): {self.meaning}; {self._sort()}"

    def _sort(self) -> str:
        if self.role is Role.FUNCTION:
            return "a function"
        kind = f"an array ({', '.join(self.axes)}{',' if len(self.axes) == 1 else ''})" if self.axes else "a number"
        return kind if self.domain is Domain.REAL else f"{kind}, {self.domain.value}"


class Declared(sp.Symbol):  # type: ignore[misc]
    """A symbol that carries its declaration, which is part of its identity."""

    __slots__ = ("_key", "quantity")
    quantity: Quantity
    _key: str

    def __new__(cls, quantity: Quantity) -> Declared:
        made: Declared = sp.Symbol.__xnew__(cls, quantity.name)
        made.quantity = quantity
        made._key = repr(quantity)
        return made

    def _hashable_content(self) -> tuple[Any, ...]:
        # Text, since SymPy orders the terms of a sum by comparing these.
        return (*super()._hashable_content(), self._key)

    def __getnewargs_ex__(self) -> tuple[tuple[Quantity], dict[str, Any]]:
        return (self.quantity,), {}


class _FunctionOf(UndefinedFunction):  # type: ignore[misc]
    """The class of classes of declared functions; keyword arguments are part of their identity."""


def _made_function(quantity: Quantity) -> Any:
    return _FunctionOf(quantity.name, quantity=quantity)


copyreg.pickle(_FunctionOf, lambda made: (_made_function, (made.quantity,)))


def scalar(
    name: str,
    latex: str,
    meaning: str,
    *,
    random: bool = False,
    shape: tuple[str, ...] = (),
    domain: Domain | str = Domain.REAL,
) -> Declared:
    r"""Declare a number, or with ``shape=("dim",)`` a vector.

    Parameters
    ----------
    name
        Name in Python and in configuration files; unique within a claim.
    latex
        LaTeX of the symbol.
    meaning
        What it is, in a few words.
    random
        Whether it has one value per outcome.
    shape
        One word per axis of its value; empty for a number.
    domain
        Values that it may have, such as ``"positive"`` or ``"integer>=1"``; see :class:`Domain`.

    Returns
    -------
    Declared
        A SymPy symbol that carries this declaration; symbols with different declarations differ.

    Examples
    --------
    >>> scalar("theta", r"\theta", "an angle") == scalar("theta", r"\theta", "a bound")
    False
    """
    return Declared(Quantity(name, latex, meaning, (), random, shape, _domain(name, domain)))


def family(
    name: str,
    latex: str,
    meaning: str,
    *,
    first: int | tuple[int, ...] = 1,
    random: bool = False,
    shape: tuple[str, ...] = (),
    domain: Domain | str = Domain.REAL,
) -> sp.IndexedBase:
    r"""Declare numbers or vectors with indices.

    Parameters
    ----------
    name
        Name in Python and in configuration files; unique within a claim.
    latex
        LaTeX of the symbol; ``<0>``, ``<1>`` stand for its indices.
    meaning
        What it is, in a few words.
    first
        First value of the index, or of every index if there are several.
    random
        Whether every member has one value per outcome.
    shape
        One word per axis of its value, those of the indices first; by default those of the indices only.
    domain
        Values that it may have; see :class:`Domain`.

    Returns
    -------
    sympy.IndexedBase
        A symbol that takes indices in square brackets.

    Examples
    --------
    >>> p, k = family("p", "p^{<0>}", "weights of the clients", domain="nonnegative"), index("k")
    >>> p[k]
    p[k]
    """
    start = (first,) if isinstance(first, int) else first
    axes = shape or tuple("index" if len(start) == 1 else f"index {n + 1}" for n in range(len(start)))
    if len(axes) < len(start):
        raise arguments.fail("family", "shape", f"one word per axis, {len(start)} of them for the indices", shape)
    return sp.IndexedBase(
        Declared(Quantity(name, latex, meaning, start, random, axes, _domain(name, domain), Role.FAMILY))
    )


def function(name: str, latex: str, meaning: str, *, domain: Domain | str = Domain.REAL) -> Any:
    """Declare a function; its value is computed by the callable of that name.

    Parameters
    ----------
    name
        Name in Python and in configuration files; unique within a claim.
    latex
        LaTeX of the symbol; ``<0>``, ``<1>`` stand for its arguments.
    meaning
        What it is, in a few words.
    domain
        Values that it may have; see :class:`Domain`.

    Returns
    -------
    Any
        A SymPy function that carries this declaration.

    Examples
    --------
    >>> F, k, w = function("F", "F_{<0>}(<1>)", "objective of a client"), index("k"), scalar("w", "w", "a model")
    >>> F(k, w)
    F(k, w)
    """
    return _made_function(Quantity(name, latex, meaning, domain=_domain(name, domain), role=Role.FUNCTION))


def index(name: str, latex: str = "", meaning: str = "index") -> Declared:
    """Declare an index of a sum, or one for all of whose values a statement is claimed.

    Parameters
    ----------
    name
        Name in Python.
    latex
        LaTeX of the index; its name by default.
    meaning
        What it counts, in a few words.

    Returns
    -------
    Declared
        A SymPy symbol for whole numbers.

    Examples
    --------
    >>> index("k", meaning="client").name
    'k'
    """
    return Declared(Quantity(name, latex or name, meaning, domain=Domain.INTEGER, role=Role.INDEX))


def _domain(name: str, domain: Domain | str) -> Domain:
    if isinstance(domain, Domain):
        return domain
    return Domain(arguments.choice(f"quantity {name!r}", "domain", domain, [d.value for d in Domain]))


CHANCE = family(
    "chance",
    r"\mathbb{P}(\omega_{<0>})",
    "probabilities of the outcomes over which expectations are taken",
    shape=("outcomes",),
    domain=Domain.PROBABILITY,
)
"""Needed wherever an expectation is taken, or a random quantity stands outside of one."""


def declaration(made: Any) -> Quantity | None:
    """Return the declaration of a symbol, a family, one of its members, or a function; ``None`` if there is none."""
    if isinstance(made, sp.Indexed):
        made = made.base
    if isinstance(made, sp.IndexedBase):
        made = made.label
    if isinstance(made, AppliedUndef):
        made = made.func
    found = getattr(made, "quantity", None)
    return found if isinstance(found, Quantity) else None


def _parts(expression: sp.Basic) -> Iterator[tuple[str, Quantity | None]]:
    """Yield names and declarations of all symbols and functions in an expression, indices of sums included."""
    for atom in expression.atoms(sp.Symbol, AppliedUndef):
        name = atom.name if isinstance(atom, sp.Symbol) else atom.func.__name__
        yield name, declaration(atom)


@functools.cache
def names_in(expression: sp.Basic) -> frozenset[str]:
    """Return the names of the quantities that an expression refers to, without the indices of its sums."""
    free = {symbol.name for symbol in expression.free_symbols if isinstance(symbol, sp.Symbol)}
    return frozenset(free | {applied.func.__name__ for applied in expression.atoms(AppliedUndef)})


def declared_in(owner: str, expressions: Iterable[sp.Basic]) -> dict[str, Quantity]:
    """Return all declarations in expressions by name; two for one name, or a symbol without one, are errors."""
    found: dict[str, Quantity] = {}
    for expression in expressions:
        for name, quantity in sorted(_parts(expression), key=lambda part: part[0]):
            if quantity is None:
                raise InvalidParameter(
                    f"{owner} contains {name!r}, which is not declared; declare it with "
                    f"scalar({name!r}, latex, meaning), family, function or index"
                )
            other = found.setdefault(name, quantity)
            if other != quantity:
                raise InvalidParameter(
                    f"{owner} contains two different quantities that are called {name!r}: {other.described()}, and "
                    f"{quantity.described()}; rename one of them{_nuance(other, quantity)}"
                )
    return found


def _nuance(one: Quantity, other: Quantity) -> str:
    """Return what differs where two descriptions read the same."""
    if one.described() != other.described():
        return ""
    fields = [name for name in Quantity.__slots__ if getattr(one, name) != getattr(other, name)]
    return f", or make {' and '.join(fields)} of both the same"


def named(env: Mapping[Any, Any], meant: Callable[[], Iterable[Quantity]] = tuple) -> Mapping[str, Any]:
    r"""Return an environment whose keys are names; declared symbols, families and functions may stand for theirs.

    ``meant`` returns the quantities that are meant: a key that is another quantity of the same name is an error.

    >>> theta = scalar("theta", r"\theta", "bound on a ratio")
    >>> named({theta: 3.0, "N": 2})
    {'theta': 3.0, 'N': 2}
    """
    if all(type(key) is str for key in env):
        return env
    known = {quantity.name: quantity for quantity in meant()}
    found: dict[str, Any] = {}
    for key, value in env.items():
        quantity = None if isinstance(key, str) else declaration(key)
        if quantity is None and not isinstance(key, str):
            raise InvalidParameter(f"a value is keyed by {key!r}, which is neither a name nor a declared quantity")
        name = key if quantity is None else quantity.name
        if name in found:
            raise InvalidParameter(f"the value of {name!r} is given twice; remove one of the two")
        other = known.get(name, quantity)
        if quantity is not None and other is not None and other != quantity:
            raise InvalidParameter(
                f"a value is given for {quantity.described()}, but {name!r} is here {other.described()}; use that one "
                f"as the key, or its name{_nuance(other, quantity)}"
            )
        found[name] = value
    return found
