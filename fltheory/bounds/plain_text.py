r"""LaTeX as plain text with Unicode symbols, for terminals and tooltips.

>>> plain(r"\mathbb{E}\|\bar w_{\tau} - w^*\|^{2} \le \frac{M_\tau D + V}{\tau E + \gamma}")
'𝔼‖w̄_τ - w*‖² ≤ (M_τ D + V)/(τ E + γ)'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)

_SIGNS = """
le:≤ leq:≤ ge:≥ geq:≥ ne:≠ neq:≠ approx:≈ in:∈ ll:≪ gg:≫ propto:∝ pm:± cdot:· times:× wedge:∧ mid:| to:→ leftarrow:←
Rightarrow:⇒ top:ᵀ sum:∑ prod:∏ int:∫ dots:… ldots:… cdots:… langle:⟨ rangle:⟩ lceil:⌈ rceil:⌉ lfloor:⌊ rfloor:⌋ lVert:‖
rVert:‖ infty:∞ star:⋆ mapsto:↦ nabla:∇ partial:∂ ell:ℓ varepsilon:ε epsilon:ε varsigma:ς vartheta:ϑ
varphi:φ varrho:ϱ varpi:ϖ forall:∀ exists:∃ iff:⇔
implies:⇒ sim:~ equiv:≡ setminus:∖ cup:∪ subset:⊂ circ:∘ prime:′
"""
_NAMED = dict(pair.split(":") for pair in _SIGNS.split())
_OTHER = {r"\|": "‖", r"\{": "{", r"\}": "}", r"\!": "", "\\\\": "\n"} | dict.fromkeys(
    (r"\,", r"\;", r"\:", "\\ ", "\\\n"), " "
)
_SPACES = {"quad": "  ", "qquad": "    "}
_DROPPED = re.compile(r"(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|limits|nolimits)")
_ACCENTS = {"bar": "\u0304", "overline": "\u0304", "tilde": "\u0303", "widetilde": "\u0303", "hat": "\u0302"} | {
    "widehat": "\u0302",
    "check": "\u030c",
}
_ALPHABETS = {"mathbb": "DOUBLE-STRUCK", "mathcal": "SCRIPT"}
_UPRIGHT = ("mathrm", "mathbf", "operatorname", "operatorname*", "text", "textbf", "boldsymbol")
_FUNCTIONS = ("max", "min", "log", "ln", "exp", "cosh", "lim", "inf", "sup", "argmin")
_SINGLE = re.compile(r"[\d.]+|[^\W\d_][\u0300-\u036f]*(?:_\w|_\{\w+\}|[₀-₉]+)?[*²³]?|√?\w")
"""A number, or one symbol with its index."""

_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def plain(latex: str) -> str:
    """Return LaTeX as one or several lines of text; commands that are not known stay as they are."""
    reader = _Reader(_TOKEN.findall(latex))
    text = reader.row(())
    return "\n".join(re.sub(r"(?<=\S) {3,}(?=\S)", "  ", line.rstrip()) for line in text.split("\n")).strip()


_BLOCK = re.compile(r"^([ \t]*)\.\. math::[ \t]*(.*(?:\n(?:[ \t]*\n)*\1[ \t]+\S.*)*)", re.MULTILINE)
_ROLE = re.compile(r":(math|\w+):`~?\.?([^`]*)`")


def plain_page(docstring: str) -> str:
    r"""Return a page in reStructuredText as text for a terminal: formulas in Unicode, marks left out, no line ends.

    >>> plain_page(r"**Proof.** By :func:`~a.latex`, :math:`\frac12\mu \le` ``x``.")
    'Proof. By latex, 1/2 μ ≤ x.'
    >>> print(plain_page("One\ntwo.\n\n.. math:: a\n\n- three\n  four"))
    One two.
    <BLANKLINE>
        a
    <BLANKLINE>
    - three
      four
    """

    def block(match: re.Match[str]) -> str:
        lines = plain(re.sub(r"\s*\n\s*", " ", match[2]).strip()).split("\n")
        return "\n".join(f"{match[1]}    {line}" for line in lines)

    def role(match: re.Match[str]) -> str:
        return plain(match[2].replace("\n", " ")) if match[1] == "math" else match[2].split(".")[-1]

    text = _ROLE.sub(role, _BLOCK.sub(block, docstring))
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"::$", ":", text.replace("``", ""), flags=re.MULTILINE)
    return re.sub(r"(?:^(?![-*+|=\d]|\.\.|.*\S {2,}\S)\S.*\n?)+", _joined, text, flags=re.MULTILINE)


def _joined(paragraph: re.Match[str]) -> str:
    """Return a paragraph in one line, whose length after the change of its formulas nobody has looked at."""
    lines = paragraph[0].splitlines()
    return " ".join(lines) + ("\n" if paragraph[0].endswith("\n") else "")


class _Reader:
    """Reads tokens from the left."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens, self._place = list(tokens), 0

    def _peek(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._place += 1
        return token

    def row(self, ends: tuple[str, ...]) -> str:
        """Return what stands before one of several tokens."""
        text = ""
        while self._peek() and self._peek() not in ends:
            token = self._peek()
            if token in "^_":
                self._take()
                text = text.rstrip(" ") + _script(token, self._argument())
            elif token.isspace():
                self._take()
                text += "" if text.endswith((" ", "(", "[", "{", "\n")) else " "
            else:
                text += self._part()
        return text

    def _argument(self) -> str:
        while self._peek().isspace():
            self._take()
        if self._peek() == "{":
            self._take()
            inner = self.row(("}",))
            self._take()
            return inner
        if self._peek()[:1].isdigit() and len(self._peek()) > 1:
            number = self._take()
            self._place -= 1
            self._tokens[self._place] = number[1:]
            return number[0]
        return self._part()

    def _part(self) -> str:
        token = self._take()
        if token == "{":
            inner = self.row(("}",))
            self._take()
            return inner
        if token in _OTHER:
            return _OTHER[token]
        if not token.startswith("\\"):
            return "" if token in ("}", "&") else token
        return self._command(token[1:])

    def _command(self, name: str) -> str:
        if _DROPPED.fullmatch(name):
            if self._peek() == ".":
                self._take()
            return ""
        if name in ("frac", "tfrac", "dfrac"):
            above = self._argument()
            fraction = f"{_grouped(above)}/{_grouped(self._argument(), below=True)}"
            closed = self._peek()[:1] in ("", "^", "_", "}", ")", "]", ",", " ", "\n") or self._peek() == r"\right"
            return fraction if closed else f"{fraction} "
        if name == "binom":
            above = self._argument()
            return f"C({above}, {self._argument()})"
        if name == "sqrt":
            degree = ""
            if self._peek() == "[":
                self._take()
                degree = self.row(("]",))
                self._take()
            return f"{degree.translate(_RAISED)}√{_grouped(self._argument(), below=True)}"
        if name in _ACCENTS:
            inner = self._argument()
            return inner[:1] + _ACCENTS[name] + inner[1:] if len(inner) == 1 else f"({inner}){_ACCENTS[name]}"
        if name in _ALPHABETS:
            return "".join(_styled(symbol, _ALPHABETS[name]) for symbol in self._argument())
        if name in _UPRIGHT:
            return self._argument()
        if name == "underbrace":
            return f"[{self._argument()}]"
        if name == "tag":
            return f"    ({self._argument()})"
        if name in ("begin", "end"):
            self._argument()
            return ""
        if name in _FUNCTIONS:
            follows = self._peek()[1:] if self._peek().startswith("\\") else ""
            return f"{name} " if follows.isalpha() and not _DROPPED.fullmatch(follows) else name
        return _SPACES.get(name) or _NAMED.get(name) or _greek(name)


def _script(sign: str, text: str) -> str:
    text = text.strip()
    if text in ("*", "∗"):
        return "*" if sign == "^" else "_*"
    if text in ("ᵀ", "′"):
        return text
    table, known = (_RAISED, "0123456789+-=()n") if sign == "^" else (_LOWERED, "0123456789+-=()")
    if text and all(symbol in known for symbol in text):
        return text.translate(table)
    if len(unicodedata.normalize("NFC", text)) == 1:
        return sign + text
    if sign == "_":
        return f"_{{{text}}}"
    return f"^{text}" if re.fullmatch(r"\([^()]*\)", text) else f"^({text})"


def _grouped(text: str, *, below: bool = False) -> str:
    text = text.strip()
    single = _SINGLE.fullmatch(text) or (not below and re.fullmatch(r"[^\s+()-]+", text))
    return text if single else f"({text})"


def _styled(symbol: str, alphabet: str) -> str:
    size = "CAPITAL" if symbol.isupper() else "SMALL"
    for name in (f"MATHEMATICAL {alphabet} {size} {symbol}", f"{alphabet} {size} {symbol}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return symbol


def _greek(name: str) -> str:
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {'lamda' if name.lower() == 'lambda' else name}")
    except KeyError:
        return f"\\{name}"
