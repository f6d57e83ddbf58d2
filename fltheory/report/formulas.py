r"""From LaTeX to MathML, without scripts or fonts from elsewhere.

The conversion itself is done by math-core. This module rewrites the few commands that math-core lacks
(:func:`normalised`), splits displays into lines with their numbers (:func:`lines`), and lets a line end before a sign
of a long formula (:func:`mathml`): browsers break a line between formulas, never inside one.
"""

from __future__ import annotations

import functools
import html
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree

_COMMANDS = {
    r"\widetilde": r"\tilde",  # stretches over more than a symbol in few browsers only
    r"\dots": "…",  # one character, which screen readers know, for three full stops
    r"\ldots": "…",
    "\\\n": "\\ ",
}
_WRITTEN_OUT = re.compile(r"\\(?:(?:widetilde|l?dots)(?![A-Za-z])|\n)")

_SIZED = re.compile(r"(\\\\|\\[{}]|[{}]|\\[bB]igg?[lr]?(?![A-Za-z]))")
"""Groups, and commands that make a bracket larger."""

_TAG = re.compile(r"\\tag\{([^{}]*)\}")

_ROW = re.compile(r"\\(begin|end)\{[a-z]+\*?\}|\\\\|\\&|&")
"""What begins and ends an environment, ends a row, and marks where rows are aligned."""

_ENTITY = re.compile(r"&(?!lt;|gt;|amp;)\w+;")
"""Names of characters that HTML knows and XML does not."""

_CHARACTERS = {"\ufe00": "", "\u0332": "‾"}
"""Characters that fonts draw badly: a choice between two script alphabets, and a line over symbols."""

_BEFORE = frozenset("=≤≥<>≠≈∈⇒⇔∧∨+−")
"""Signs before which a line may end."""

_OPEN, _CLOSE, _BARS = frozenset("([{⟨⌈"), frozenset(")]}⟩⌉"), frozenset("‖|")

_LONG = 24
"""Symbols of a piece of a formula from which on it may also be broken inside its brackets."""

_WIDE = 60
"""Symbols of a fraction from which on it is set smaller in print, since no line can end inside it."""


class Line(NamedTuple):
    """One line of a display: its MathML, and its number as the paper prints it, if it has one."""

    mathml: str
    tag: str


def normalised(latex: str) -> str:
    r"""Return LaTeX in which commands that the converter leaves out are written with those that it knows.

    >>> normalised(r"\widetilde F_k")
    '\\tilde F_k'
    """
    return _stretched(_WRITTEN_OUT.sub(lambda match: _COMMANDS[match[0]], latex))


def _stretched(latex: str) -> str:
    """Return LaTeX whose pairs of large brackets are as high as what is in them, whatever size was asked for."""
    parts = _SIZED.split(latex)
    depth, opened = 0, list[tuple[int, list[int]]]()
    for place, mark in list(enumerate(parts))[1::2]:
        if mark in ("{", "}"):
            depth += 1 if mark == "{" else -1
        elif mark.endswith("l"):
            opened.append((depth, [place]))
        elif mark[-1] in "gr" and opened and opened[-1][0] == depth:
            opened[-1][1].append(place)
            if mark.endswith("r"):
                first, *between, last = opened.pop()[1]
                parts[first], parts[last] = r"\left", r"\right"
                for middle in between:
                    parts[middle] = r"\middle"
    return "".join(parts)


@functools.cache
def mathml(latex: str, *, block: bool = True) -> str:
    r"""Return MathML for one line of LaTeX; what cannot be converted is shown as its source.

    >>> mathml(r"\frac12\mu", block=False)
    '<math><mfrac><mn>1</mn><mn>2</mn></mfrac><mi>μ</mi></math>'
    """
    from math_core import LatexError

    try:
        return _pieces(_converter().convert_with_local_state(normalised(latex), displaystyle=block))
    except LatexError:
        return f"<code class='latex'>{html.escape(latex)}</code>"


def lines(latex: str) -> list[Line]:
    r"""Return the lines of a display.

    >>> [line.tag for line in lines(r"a &= b \tag{1} \\ &= c")]
    ['1', '']
    """
    found = []
    for row in _rows(latex):
        tag = _TAG.search(row)
        found.append(Line(mathml(_TAG.sub("", row).strip()), tag[1] if tag else ""))
    return found


def display(latex: str) -> str:
    """Return a display as HTML, one ``div`` for a line."""
    written = []
    for number, line in enumerate(lines(latex)):
        tag = f'<span class="tag">({html.escape(line.tag)})</span>' if line.tag else ""
        written.append(f'<div class="math{" more" if number else ""}">{line.mathml}{tag}</div>')
    return "\n".join(written)


@functools.cache
def _converter() -> Any:
    from math_core import LatexToMathML

    return LatexToMathML(fancy_error=False)


def _rows(latex: str) -> list[str]:
    """Return what stands between line ends outside of every environment, without the marks of alignment."""
    rows, place, depth = [""], 0, 0
    for mark in _ROW.finditer(latex):
        outside = depth == 0
        depth += {"begin": 1, "end": -1}.get(mark[1], 0)
        kept = mark[0] if mark[0] not in ("\\\\", "&") or not outside else ""
        rows[-1] += latex[place : mark.start()] + kept
        if outside and mark[0] == "\\\\":
            rows.append("")
        place = mark.end()
    rows[-1] += latex[place:]
    return [row for row in rows if row.strip()]


def _pieces(text: str) -> str:
    """Return a formula as several, one after the other, between which a line may end."""
    plain = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    for character, instead in _CHARACTERS.items():
        plain = plain.replace(character, instead)
    root = ElementTree.fromstring(plain)
    for node in root.iter():
        # Space before and behind a pair of brackets, which is too much between factors.
        if node.tag == "mo" and (node.text or "") in _OPEN:
            node.attrib.pop("lspace", None)
        if node.tag == "mo" and (node.text or "") in _CLOSE:
            node.attrib.pop("rspace", None)
        if node.tag == "mpadded":
            node.tag, node.attrib = "mrow", {}
    attributes = ' displaystyle="true"' if root.get("display") == "block" else ""
    written: list[str] = []
    for piece in _split(_tokens(root), 0):
        if written and piece[0].node.tag == "mo":
            piece[0].node.set("form", "infix")  # with the space of a sign between two sides
        content = "".join(ElementTree.tostring(token.node, encoding="unicode") for token in piece)
        size = ' class="wide"' if max(_length(token.node) for token in piece) > _WIDE else ""
        written.append(f"<math{size}{attributes}>{content}</math>")
    return "<wbr>".join(written)


class _Token(NamedTuple):
    """A part of a formula, in how many brackets it stands, and whether a line may end before it."""

    node: ElementTree.Element
    depth: int
    breakable: bool


def _tokens(root: ElementTree.Element) -> list[_Token]:
    found: list[_Token] = []
    opened: list[int] = []
    last = ","
    for node in _flat(root):
        sign = _sign(node)
        closing = sign in _CLOSE or (sign in _BARS and opened and _sign(found[opened[-1]].node) == sign)
        if closing and opened:
            _join(found, opened.pop())
        # A sign after another one, or after an opening bracket, belongs to what follows.
        found.append(_Token(node, len(opened), sign in _BEFORE and last not in _BEFORE | _OPEN | {","}))
        if sign in _OPEN or (sign in _BARS and not closing):
            opened.append(len(found) - 1)
        last = sign
    return list(_kept_together(found))


def _kept_together(tokens: list[_Token]) -> Iterator[_Token]:
    """Yield tokens so that a line may end behind a wide space, and not inside a short formula between two of them."""
    ends = [n + 1 for n, token in enumerate(tokens) if token.node.tag == "mspace" and token.depth == 0]
    for begin, end in itertools.pairwise([0, *ends, len(tokens)]):
        part = tokens[begin:end]
        short = sum(_length(token.node) for token in part) <= _LONG
        for n, token in enumerate(part):
            yield token._replace(breakable=(n == 0 and begin > 0) or (token.breakable and not short))


def _join(tokens: list[_Token], start: int) -> None:
    """Let no line end in the brackets that open at a place, if they are short."""
    if sum(_length(token.node) for token in tokens[start:]) <= _LONG:
        tokens[start:] = [
            token._replace(breakable=token.breakable and n == 0) for n, token in enumerate(tokens[start:])
        ]


def _flat(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield what stands in a row; long groups are opened."""
    for node in root:
        if node.tag == "mrow" and _length(node) > _LONG:
            _fix_brackets(node)
            yield from _flat(node)
        else:
            yield node


def _fix_brackets(group: ElementTree.Element) -> None:
    """Give the brackets of a group the height of what is in it, since they may come to stand in different pieces."""
    high = max(map(_height, group))
    for bracket in group:
        if bracket.tag == "mo" and (bracket.text or "") in _OPEN | _CLOSE | _BARS and high > 1:
            for name, value in (("stretchy", "true"), ("minsize", f"{1.1 * high:.1f}em"), ("symmetric", "true")):
                bracket.attrib.setdefault(name, value)


def _height(node: ElementTree.Element) -> float:
    """Return the height of a part of a formula in lines, about."""
    parts = [_height(part) for part in node]
    if node.tag == "mfrac":
        return sum(parts)
    if node.tag in ("munder", "mover", "munderover"):
        return parts[0] + 0.6 * sum(parts[1:]) if node.get("accent") is None else parts[0]
    if node.tag in ("msub", "msup", "msubsup"):
        return parts[0]
    return max(parts, default=1.0)


def _split(row: list[_Token], depth: int) -> Iterator[list[_Token]]:
    """Yield parts of a row that begin with a sign in ``depth`` brackets; long ones are split inside deeper brackets."""
    cuts = [place for place, token in enumerate(row) if place and token.breakable and token.depth == depth]
    for begin, end in itertools.pairwise([0, *cuts, len(row)]):
        part = row[begin:end]
        deeper = any(token.breakable and token.depth > depth for token in part[1:])
        if deeper and sum(_length(token.node) for token in part) > _LONG:
            yield from _split(part, depth + 1)
        else:
            yield part


def _sign(node: ElementTree.Element) -> str:
    """Return the sign that an element is, with or without an exponent."""
    while node.tag in {"msup", "msub", "msubsup"} and len(node):
        node = node[0]
    return node.text or "" if node.tag == "mo" else ""


def _length(node: ElementTree.Element) -> int:
    return sum(1 for part in node.iter() if len(part) == 0)
