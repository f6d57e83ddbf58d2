r"""Formulas read twice, independently: from LaTeX by a reader written for the tests, and back from MathML.

Both give the same structure, nested tuples: a row is a tuple of its parts. A part is a symbol (a string),
``("frac", above, below)``, ``("binom", above, below)``, ``("root", row, degree)``, ``("scripts", base, below, above)``,
``("accent", sign, row)``, ``("text", words)`` or ``("table", rows)``. Brackets that grow with what they enclose carry a
star: ``"(*"``. Spaces are left out.
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from typing import Any
from xml.etree import ElementTree

Part = Any
"""A symbol, or a tuple as above."""

_GREEK = (
    "alpha beta gamma delta zeta eta theta iota kappa mu nu xi pi rho sigma tau psi omega "
    "Gamma Delta Xi Phi Psi Sigma Omega"
)
_OTHERS = """
lambda:λ epsilon:ϵ varepsilon:ε varsigma:ς ell:ℓ nabla:∇ infty:∞ le:≤ ge:≥ ne:≠ approx:≈ in:∈ ll:≪ gg:≫ propto:∝ pm:±
cdot:⋅ wedge:∧ mid:∣ to:→ mapsto:↦ star:⋆ leftarrow:← Rightarrow:⇒ top:⊤ sum:∑ int:∫ dots:… ldots:… langle:⟨ rangle:⟩
varrho:ϱ lceil:⌈ rceil:⌉ lfloor:⌊ rfloor:⌋ equiv:≡ sim:∼ partial:∂ |:‖ {:{ }:} lVert:‖ rVert:‖
"""
SYMBOLS = {
    **{
        name: unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER {name}")
        for name in _GREEK.split()
    },
    **dict(pair.split(":") for pair in _OTHERS.split()),
    **{name: name for name in ("max", "min", "log", "ln", "exp", "cosh", "lim", "inf", "sup")},
}
ACCENTS = {"bar": "¯", "overline": "¯", "tilde": "~", "widetilde": "~", "hat": "^", "check": "ˇ", "underbrace": "⏟"}
SPACES = {",", ";", " ", "\n", "!", "quad", "qquad", "textstyle"}
ALPHABETS = {"mathbb": "DOUBLE-STRUCK", "mathcal": "SCRIPT", "mathbf": "BOLD"}
SIZES = re.compile(r"(?:big|Big|bigg|Bigg)[lrm]?")
_SIGNS = {"-": "−", "*": "∗", "'": "′"}
_TOKEN = re.compile(r"\\text\{[^{}]*\}|\\(?:[A-Za-z]+\*?|.)|\d+(?:\.\d+)?|\s+|.", re.DOTALL)


def from_latex(latex: str) -> Part:
    """Return the structure of one line of LaTeX."""
    reader = _Reader([token for token in _TOKEN.findall(latex) if not token.isspace()])
    row = reader.row(())
    assert reader.place == len(reader.tokens), f"left over in {latex}"
    return row


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.place = tokens, 0

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        assert token, "a formula ends too early"
        self.place += 1
        return token

    def row(self, ends: tuple[str, ...]) -> Part:
        parts: list[Part] = []
        while self.peek() and self.peek() not in ends:
            if self.peek() in ("^", "_", "'"):
                base = parts.pop() if parts else ()
                parts.append(self.scripts(base))
            else:
                parts += self.part()
        return tuple(parts)

    def scripts(self, base: Part) -> Part:
        below: Part = ()
        above: tuple[Part, ...] = ()
        while self.peek() in ("^", "_", "'"):
            sign = self.take()
            if sign == "_":
                below = self.argument()
            else:
                above += ("′",) if sign == "'" else self.argument()
        if base and isinstance(base, tuple) and base[:2] == ("accent", "⏟"):
            return ("under", base, below)
        return ("scripts", base, below, above)

    def argument(self) -> Part:
        """Return one argument: a group, or the next symbol; of a number its first digit."""
        while self.peek().startswith("\\") and self.peek()[1:] in SPACES:
            self.take()
        if self.peek() == "{":
            return self.group()
        if self.peek()[0].isdigit() and len(self.peek()) > 1:
            number = self.take()
            self.place -= 1
            self.tokens[self.place : self.place + 1] = [number[0], number[1:]]
        return tuple(self.part())

    def group(self) -> Part:
        assert self.take() == "{"
        inner = self.row(("}",))
        assert self.take() == "}"
        return inner

    def raw(self) -> str:
        """Return the words of a group."""
        assert self.take() == "{"
        words = ""
        while self.peek() != "}":
            words += self.take()
        self.take()
        return words

    def bracketed(self) -> Part:
        self.take()
        inner = self.row(("]",))
        self.take()
        return inner

    def enclosed(self, opening: str, inner: Part, closing: str) -> list[Part]:
        """Return brackets that grow with what is in them: one part where an index follows."""
        whole = (*_growing(opening), *inner, *_growing(closing))
        return [whole] if self.peek() in ("^", "_") else list(whole)

    def part(self) -> list[Part]:
        """Return the next part, as none or several where it is a space or a group."""
        token = self.take()
        if token == "{":
            self.place -= 1
            inner = self.group()
            return [inner] if self.peek() in ("^", "_") and len(inner) != 1 else list(inner)
        if not token.startswith("\\"):
            return [_SIGNS.get(token, token)]
        name = token[1:].rstrip("*")
        if name in SPACES:
            return []
        if name in ("frac", "tfrac", "dfrac", "binom"):
            above = self.argument()
            if name == "binom":
                return self.enclosed("(", (("binom", above, self.argument()),), ")")
            return [("frac", above, self.argument())]
        if name == "sqrt":
            index = self.bracketed() if self.peek() == "[" else ()
            return [("root", self.argument(), index)]
        if name in ACCENTS:
            return [("accent", ACCENTS[name], self.argument())]
        if name in ALPHABETS:
            return [_styled(symbol, ALPHABETS[name]) for symbol in self.argument()]
        if name in ("mathrm", "operatorname"):
            runs = itertools.groupby(self.argument(), lambda symbol: isinstance(symbol, str) and symbol.isalpha())
            return [part for word, run in runs for part in (["".join(run)] if word else run)]
        if name.startswith("text{"):
            return [("text", token[6:-1].split())]
        if name == "left":
            opening = _fence(self.take())
            inner = self.row(("\\right",))
            self.take()
            return self.enclosed(opening, inner, _fence(self.take()))
        if SIZES.fullmatch(name) and name.endswith("l"):
            opening = _fence(self.take())
            inner = self.row(tuple(f"\\{size}r" for size in ("big", "Big", "bigg", "Bigg")))
            self.take()
            return self.enclosed(opening, inner, _fence(self.take()))
        if SIZES.fullmatch(name):
            return [f"{_fence(self.take())}*"]
        if name == "begin":
            return self.table(self.raw())
        return [SYMBOLS[name]]

    def table(self, environment: str) -> list[Part]:
        assert environment == "pmatrix"
        rows: list[list[Part]] = [[]]
        while True:
            rows[-1].append(self.row(("&", "\\\\", "\\end")))
            mark = self.take()
            if mark == "\\end":
                self.raw()
                return self.enclosed("(", (("table", tuple(map(tuple, rows))),), ")")
            if mark == "\\\\":
                rows.append([])


def _fence(token: str) -> str:
    return SYMBOLS[token[1:]] if token.startswith("\\") else token


def _growing(bracket: str) -> Part:
    """Return a bracket that grows; a full stop stands for none."""
    return () if bracket == "." else (f"{bracket}*",)


def _styled(symbol: str, alphabet: str) -> str:
    if symbol.isdigit():
        return unicodedata.lookup(f"MATHEMATICAL {alphabet} DIGIT {unicodedata.name(symbol).split()[-1]}")
    size = "CAPITAL" if symbol.isupper() else "SMALL"
    for name in (f"MATHEMATICAL {alphabet} {size} {symbol}", f"{alphabet} {size} {symbol}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    raise AssertionError(f"{alphabet} {symbol}")


_BRACKETS = frozenset("()[]{}⟨⟩⌈⌉‖|")


def from_mathml(text: str) -> Part:
    """Return the structure of MathML, in one or several pieces."""
    plain = re.sub(r"&(?!lt;|gt;|amp;)\w+;", lambda match: html.unescape(match[0]), text.replace("<wbr>", ""))
    return _row(ElementTree.fromstring(f"<mrow>{plain}</mrow>"))


_ROWS = ("math", "mrow", "mstyle", "mpadded")


def _row(node: ElementTree.Element) -> Part:
    parts: list[Part] = []
    for child in node:
        parts += _row(child) if child.tag in _ROWS else _part(child)
    return tuple(parts)


def _argument(node: ElementTree.Element) -> Part:
    return _row(node) if node.tag in _ROWS else tuple(_part(node))


def _base(node: ElementTree.Element) -> Part:
    inner = _argument(node)
    return inner[0] if len(inner) == 1 else inner


def _part(node: ElementTree.Element) -> list[Part]:
    if node.tag in ("mi", "mn", "mo"):
        symbol = node.text or ""
        if symbol in ("\u2061", "\u2063", ""):  # application of a function, and no bracket
            return []
        growing = node.get("stretchy", "true") == "true" and node.tag == "mo" and symbol in _BRACKETS
        return [symbol + "*" * growing]
    if node.tag == "mtext":
        words = (node.text or "").split()
        return [("text", words)] if words else []
    if node.tag == "mspace":
        return []
    if node.tag == "mfrac":
        name = "binom" if node.get("linethickness") in ("0", "0pt", "0px") else "frac"
        return [(name, *map(_argument, node))]
    if node.tag == "msqrt":
        return [("root", _row(node), ())]
    if node.tag == "mroot":
        return [("root", *map(_argument, node))]
    if node.tag == "mover" and node.get("accent") == "true":
        return [("accent", _accent(node[1]), _argument(node[0]))]
    if node.tag == "munder" and node.get("accentunder") == "true":
        return [("accent", _accent(node[1]), _argument(node[0]))]
    if node.tag in ("msub", "munder"):
        base = _base(node[0])
        if base and base[:2] == ("accent", "⏟"):
            return [("under", base, _argument(node[1]))]
        return [("scripts", base, _argument(node[1]), ())]
    if node.tag in ("msup", "mover"):
        return [("scripts", _base(node[0]), (), _argument(node[1]))]
    if node.tag in ("msubsup", "munderover"):
        return [("scripts", _base(node[0]), _argument(node[1]), _argument(node[2]))]
    if node.tag == "mtable":
        return [("table", tuple(tuple(_row(cell) for cell in line) for line in node))]
    raise AssertionError(f"unknown element {node.tag}")


def _accent(node: ElementTree.Element) -> str:
    sign = node.text or ""
    return {"ˉ": "¯", "‾": "¯", "―": "¯", "˜": "~", "ˆ": "^"}.get(sign, sign)
