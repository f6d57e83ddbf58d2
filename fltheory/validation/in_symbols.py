r"""Instances and certificates in one line of plain text: in the symbols of the paper, for tables and terminals.

The parameters of a generator say how an instance is made, and mean nothing to a reader of the paper; they are told only
where nothing else is known, and are then called what they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fltheory.bounds.plain_text import plain

HIDDEN = ("outcome", "entry")
"""Places in arrays, which are no indices of the paper."""

PROBABILITY = r"\mathbb{P}"
"""Symbol of the row of an instance with the probabilities of its outcomes."""

_RELATION = re.compile(r"(?:\\(le|ge|ne)(?![A-Za-z]))|(?P<strict>[<>])|(?<!\\)[{}]|\\[{}]|[\[\]()]")
_AT = re.compile(r",? (?:at|with) (?=\w+ = )")
_INSTANCES, _RANGES = "all instances of the check", ", within the ranges of its parameters"
_SIZES = {"count": "number of vectors", "terms": "number of terms"}
"""What sizes are called for which a paper has no symbol, or several."""

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi"),
    *("rho", "sigma", "tau", "phi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi"),
)
"""Names of symbols that are Greek letters."""


def instance(rows: Sequence[Mapping[str, Any]], where: Mapping[str, int]) -> str:
    r"""Return an instance and the place at which a statement fails on it; values of outcomes are parted by bars.

    >>> def row(symbol, *values):
    ...     return {"symbol": symbol, "values": values}
    >>> instance([row("L", "1"), row(r"\mu", "1"), row(r"\theta", "2")], {"tau": 3})
    'L = μ = 1, θ = 2, at τ = 3'
    >>> instance([row(r"\mathbb{P}", "1/2", "1/2"), row("N", "1"), row("s", "0", "1")], {})
    'N = 1, s = 0 | 1 (2 outcomes of probability 1/2 each)'
    """
    alike: dict[str, list[str]] = {}
    several = []
    chance: Sequence[str] = ()
    for row in rows:
        values = [plain(value) for value in row["values"]]
        if row["symbol"] == PROBABILITY:
            chance = values
        elif len(values) == 1:
            alike.setdefault(values[0], []).append(plain(row["symbol"]))
        else:
            several.append(f"{plain(row['symbol'])} = {' | '.join(values)}")
    if several:
        equal = f"{len(chance)} outcomes of probability {chance[0]} each"
        several[-1] += f" ({equal if len(set(chance)) == 1 else 'outcomes of probability ' + ' | '.join(chance)})"
    words = [" = ".join([*symbols, value]) for value, symbols in alike.items()] + several
    place = ", ".join(f"{plain(_latex(name))} = {value}" for name, value in where.items() if name not in HIDDEN)
    return ", ".join(words + [f"at {place}"] * bool(words and place))


def side(text: str) -> str:
    """Return one side of a relation, as SymPy prints it, with the usual signs.

    >>> side("3*sqrt(2)/4"), side("T^0.4321")
    ('3·√(2)/4', 'T^0.4321')
    """
    return re.sub(r"\bsqrt(?=\()", "√", text.replace("**", "^").replace("*", "·"))


def relation(latex: str) -> str:
    r"""Return the command of the relation that a statement claims, which stands in no brackets and no group.

    >>> relation(r"\{j : a \ge b\} \le \frac{c}{d}"), relation(r"a \le b \Rightarrow c > d"), relation("a = b")
    ('le', 'ge', '')
    """
    depth = 0
    for mark in _RELATION.finditer(latex.split(r",\quad ")[0].split(r"\Rightarrow")[-1]):
        if mark[1] or mark["strict"]:
            if depth == 0:
                return mark[1] or {"<": "le", ">": "ge"}[mark[0]]
        else:
            depth += 1 if mark[0][-1] in "{[(" else -1
    return ""


def settings(covers: str) -> list[str]:
    """Return the settings that :func:`covered` leaves out of what a certificate covers.

    >>> settings("all functions, at N = 1, shape = kinked; N = 2, shape = kinked")
    ['N = 1, shape = kinked', 'N = 2, shape = kinked']
    """
    listed = _AT.split(covers, maxsplit=1)[1:]
    names = {name for name in re.findall(r"(\w+) = ", covers) if name not in GREEK}
    if not listed or (all(len(name) == 1 for name in names) and ";" not in covers):
        return []
    return listed[0].removesuffix(_RANGES).split("; ")


def covered(covers: str) -> str:
    """Return what a certificate covers, without parameters of the generator.

    >>> covered("all functions, at N = 1, shape = kinked; N = 2, shape = kinked")
    'all functions, for the 2 settings of its certificate'
    >>> covered("all instances of the check with N = 1, 2, 3")
    'all instances of the check with N = 1, 2, 3'
    >>> covered("all instances of the check with d = 1, ties = exact, within the ranges of its parameters")
    'all instances of the check at the sizes that its certificate lists, within the ranges of its parameters'
    >>> covered("count = 1, 2, 3, one dimension")
    'number of vectors = 1, 2, 3, one dimension'
    """
    count = len(settings(covers))
    if not count:
        return re.sub(rf"\b({'|'.join(_SIZES)}) = ", lambda match: f"{_SIZES[match[1]]} = ", covers)
    before = _AT.split(covers, maxsplit=1)[0].rstrip(",")
    if before.startswith(_INSTANCES):
        return f"{before} at the sizes that its certificate lists{_RANGES if covers.endswith(_RANGES) else ''}"
    return f"{before}, for the {f'{count} settings' if count > 1 else 'setting'} of its certificate"


def _latex(name: str) -> str:
    return f"\\{name}" if name in GREEK else name
