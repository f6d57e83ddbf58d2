r"""The order in which a paper prints the terms of a sum, read from the displays on the page of a claim.

SymPy sorts the terms of a sum by name. The page of a claim quotes its statement as the paper prints it, so that the
order can be read there: every term of a sum is compared with the terms that stand together in a display, by the
symbols that both are written with. Where a display has the same terms, as far as one can tell, its order is that of
the paper; else the rules of :mod:`fltheory.bounds.term_order` stand.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Sequence

SURE = 0.55
"""Share of symbols that a term and its counterpart in a display have in common, at least."""

MOST = 7
"""Terms of a sum beyond which the order of the paper is not looked for."""

_DISPLAY = re.compile(r"^\.\. math::((?:[^\n]*\n)(?:[ \t]+[^\n]*\n|[ \t]*\n)*)", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]*)`")

_SILENT = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|tfrac|dfrac|frac|bigl|limits|[,;:! ]|tag\{[^}]*\})"
    r"(?![A-Za-z])"
)
_SIZED = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)(?=\\?[(){}\[\]|.<>]|\\[a-z]*angle|\\\|)\.?")
_ENDS = re.compile(r"\\sum(?:_(?:\{[^{}]*\}|[^\\{\s]))?(?:\^(?:\{[^{}]*\}|[^\\{\s]))?")
_GOES_ON = re.compile(r"\\\\[\s&]*(?:\\q?quad)?[\s{}]*(?=[+-])")
"""Where a line of a display ends within a sum."""
_TOKEN = re.compile(r"\\\||\\[{}]|\\\\|\\[A-Za-z]+|[^\s]")
_SEPARATE = frozenset(
    {"=", "<", ">", r"\le", r"\ge", r"\leq", r"\geq", r"\ne", r"\Rightarrow", r"\\", r"\text", r"\quad", r"\qquad"}
    | {",", ";"}
)
_OPEN, _CLOSE = frozenset({"(", "[", "{", r"\{", r"\langle"}), frozenset({")", "]", "}", r"\}", r"\rangle"})
_NOTHING = _OPEN | _CLOSE | frozenset({"_", "^", "&", ".", r"\mathbb", r"\mathcal", r"\cdot", "1", r"\|", "/"})

_SIGNS = frozenset("+-")

Term = Counter[str]
"""The symbols of a term, each as often as it stands there; its sign is one of them if it is a minus."""


@functools.cache
def displays(page: str) -> tuple[tuple[Term, ...], ...]:
    """Return the sums on a page, the terms of each in their order."""
    formulas = [found[1] for found in _DISPLAY.finditer(page + "\n")]
    formulas += [found[1] for found in _INLINE.finditer(page) if "+" in found[1] or "-" in found[1]]
    return tuple(sum_ for formula in formulas for sum_ in _sums(formula))


def order(page: str, terms: Sequence[str]) -> list[int]:
    r"""Return the places of terms in the order in which a display of the page has them; as they are if none has.

    >>> page = ".. math:: x \\le (\\tau + M) \\sum_i \\|\\xi_i\\|^2 + \\tau\\sigma^2 .\n"
    >>> order(page, [r"\tau \sigma^2", r"(M + \tau) \sum_{i=1}^{\tau} \|\xi_{i}\|^{2}"])
    [1, 0]
    >>> order(page, ["a", "b"])
    [0, 1]
    """
    as_given = list(range(len(terms)))
    if not 1 < len(terms) <= MOST:
        return as_given
    wanted = [_symbols(term) for term in terms]
    best, found = 0.0, as_given
    for display in displays(page):
        if len(display) != len(terms):
            continue
        alike = [[_alike(term, other) for other in display] for term in wanted]
        if min(map(max, alike)) < SURE:
            continue
        for places in itertools.permutations(as_given):
            shares = [alike[n][place] for n, place in enumerate(places)]
            if min(shares) >= SURE and sum(shares) > best + 1e-9:
                best, found = sum(shares), sorted(as_given, key=lambda n: places[n])
    return found


def _symbols(term: str) -> Term:
    found = Counter(token for token in _tokens(term) if token not in _NOTHING and token not in _SIGNS)
    return found + Counter("-") if term.lstrip().startswith("-") else found


def _alike(one: Term, other: Term) -> float:
    """Return the share of symbols that two terms have in common; none if their signs differ."""
    if one["-"] != other["-"]:
        return 0.0
    return (one & other).total() / max((one | other).total(), 1)


def _tokens(formula: str) -> list[str]:
    whole = _GOES_ON.sub(" ", formula)
    return _TOKEN.findall(_SILENT.sub(" ", _SIZED.sub(" ", _ENDS.sub(r"\\sum ", whole))))


def _sums(formula: str) -> list[tuple[Term, ...]]:
    """Return every sum of a formula, outside and inside of brackets."""
    found: list[list[Term]] = []
    # Terms of the sums that are being read, one at every depth of brackets.
    depth: list[list[Term]] = [[Counter()]]
    bars = False
    for token in _tokens(formula):
        mark = token
        if token == r"\|":
            bars = not bars
            mark = "(" if bars else ")"
        if mark in _OPEN:
            depth.append([Counter()])
        elif mark in _CLOSE:
            if len(depth) > 1:
                inner = depth.pop()
                found.append(inner)
                for term in inner:
                    depth[-1][-1].update({one: count for one, count in term.items() if one != "-"})
        elif mark in _SEPARATE and len(depth) == 1:
            found.append(depth[-1])
            depth[-1] = [Counter()]
        elif mark in _SIGNS:
            depth[-1].append(Counter("-") if mark == "-" else Counter())
        elif mark not in _NOTHING and mark not in _SEPARATE:
            depth[-1][-1][mark] += 1
    sums = (tuple(term for term in terms if term.keys() - {"-"}) for terms in found + depth)
    return [terms for terms in sums if len(terms) > 1]
