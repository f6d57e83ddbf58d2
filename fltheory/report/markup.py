"""From LaTeX and docstrings to HTML with MathML, without scripts or fonts from elsewhere."""

from __future__ import annotations

import copy
import functools
import html
import io
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree

_COMMANDS = {
    r"\dots": r"\ldots",
    r"\tfrac": r"\frac",
    r"\dfrac": r"\frac",
    r"\Big": "",
    r"\big": "",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
    r"\operatorname*": r"\operatorname",
}
"""Commands that the converter lacks, with what they are replaced by."""

_LACKING = re.compile("(?:" + "|".join(map(re.escape, _COMMANDS)) + r")(?![A-Za-z])")

_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
"""Not needed inside HTML."""

_ENTITY = re.compile(r"&(?!lt;|gt;|amp;)\w+;")
"""Names of characters that HTML knows and XML does not."""

_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)

_BEFORE = frozenset("=≤≥<>≠≈∈⇒⇔∧∨+−")
"""Signs before which a line may end."""

_OPEN, _CLOSE, _BARS = frozenset("([{⟨"), frozenset(")]}⟩"), frozenset("‖|")

_ACCENTS = frozenset("~ˆˉ")

_LONG = 24
"""Letters and signs of a piece of a formula from which on it may also be broken inside its brackets."""

_WIDE = 60
"""Letters and signs of a fraction from which on it is set smaller in print, since no line can end inside it."""


@functools.cache
def mathml(latex: str, *, block: bool = True) -> str:
    r"""Return MathML for LaTeX; what cannot be converted is shown as its source.

    >>> mathml(r"\mu", block=False)
    '<math><mi>μ</mi></math>'
    """
    from docutils.utils.math import MathError
    from docutils.utils.math.latex2mathml import tex2mathml

    text = _replaced(latex)
    try:
        return _pieces(str(tex2mathml(text, as_block=block)))
    except (MathError, ValueError, AttributeError, IndexError):
        return f"<code class='latex'>{html.escape(latex)}</code>"


def page(docstring: str) -> str:
    """Return the page of a claim as HTML: its docstring, read as reStructuredText."""
    from docutils.core import publish_parts

    text = re.sub(
        r":(?:class|func|mod|data|meth|attr):`~?\.?([^`]+)`", lambda m: f"``{m[1].split('.')[-1]}``", docstring
    )
    body = str(publish_parts(_replaced(text), writer="html5", settings=copy.copy(_settings()))["body"])
    return _MATH.sub(lambda match: _pieces(match[0]), body)


@functools.cache
def _settings() -> Any:
    """Return the settings of all pages; to collect them takes docutils as long as to read a page."""
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser
    from docutils.readers.standalone import Reader
    from docutils.writers.html5_polyglot import Writer

    settings = get_default_settings(Parser, Reader, Writer)
    settings.math_output = "MathML"
    settings.report_level = settings.halt_level = 5
    settings.warning_stream = io.StringIO()
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.initial_header_level = 4
    settings.doctitle_xform = False
    return settings


def _replaced(text: str) -> str:
    return _LACKING.sub(lambda match: _COMMANDS[match[0]], text)


def _pieces(text: str) -> str:
    """Return a formula as several, one after the other, between which a line may end.

    Browsers break a line between formulas, never inside one. White space between the elements is left out.
    """
    plain = _ENTITY.sub(lambda match: html.unescape(match[0]), text.replace(_NAMESPACE, ""))
    root = ElementTree.fromstring(plain)
    for node in root.iter():
        node.text, node.tail = (node.text or "").strip() or None, None
        _lower(node)
    attributes = ' displaystyle="true"' if root.get("display") == "block" else ""
    written: list[str] = []
    for piece in _split(_tokens(root), 0):
        if written:
            piece[0].node.set("form", "infix")  # with the space of a sign between two sides
        content = "".join(ElementTree.tostring(token.node, encoding="unicode") for token in piece)
        size = ' class="wide"' if max(_length(token.node) for token in piece) > _WIDE else ""
        written.append(f"<math{size}{attributes}>{content}</math>")
    return "<wbr>".join(written)


def _lower(node: ElementTree.Element) -> None:
    """Set the index of a letter with an accent beside it; the converter sets it below, like a limit."""
    if node.tag == "munderover" and (node[2].text or "").strip() in _ACCENTS:
        letter, index, accent = node
        accented = ElementTree.Element("mover", {"accent": "true"})
        accented.extend([letter, accent])
        node[:] = [accented, index]
        node.tag = "msub"


class _Token(NamedTuple):
    """A part of a formula, in how many brackets it stands, and whether a line may end before it."""

    node: ElementTree.Element
    depth: int
    breakable: bool


def _tokens(root: ElementTree.Element) -> list[_Token]:
    found: list[_Token] = []
    inside, norm, last = 0, 0, ","
    for node in _flat(root):
        sign = _sign(node)
        inside -= sign in _CLOSE
        # A sign after another one, or after an opening bracket, belongs to what follows.
        found.append(_Token(node, inside + norm, sign in _BEFORE and last not in _BEFORE | _OPEN | {","}))
        inside += sign in _OPEN
        norm = 1 - norm if sign in _BARS else norm
        last = sign
    return found


def _flat(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield what stands in a row; long groups are opened."""
    for node in root:
        if node.tag == "mrow" and _length(node) > _LONG:
            yield from _flat(node)
        else:
            yield node


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
