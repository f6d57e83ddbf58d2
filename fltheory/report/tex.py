r"""One claim as a LaTeX document for co-authors: statement, symbols, verdict, counterexample, correction, derivation.

The file compiles on its own with ``pdflatex``. Its entries for BibTeX stand at the end.
"""

from __future__ import annotations

import inspect
import io
import itertools
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from fltheory.bounds.claim import Claim
from fltheory.bounds.papers import PAPERS
from fltheory.bounds.printing import as_used, latex
from fltheory.bounds.quantities import Role, declared_in
from fltheory.figures.style import WORDS
from fltheory.report import notes
from fltheory.report.markup import with_names, without_roles
from fltheory.report.sections import BETWEEN
from fltheory.report.wording import EXACT, as_latex, decimal, form_name
from fltheory.validation.in_symbols import relation

_WIDTH = 72
"""Symbols of a formula that fit a line."""

_CHARACTERS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}

_EQUATION = re.compile(r"\\begin\{equation\*\}(.*?)\\end\{equation\*\}", re.DOTALL)

_ALIGNED = re.compile(r"(\\begin\{align\*\})(.*?)(\\end\{align\*\})", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$])\$[^$]{60,}\$")
"""A formula within a line that is so long that the line may have to end at one of its commas."""

_PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage{amsmath,amssymb}
\usepackage[margin=25mm]{geometry}
\usepackage{hyperref}
\setlength{\parindent}{0pt}
\setlength{\parskip}{5pt plus 2pt}
\emergencystretch=3em
"""


def document(
    claim: Claim, page: str, checked: Mapping[str, Any] | None, *, replay: Mapping[str, str], version: str, commit: str
) -> str:
    """Return the document.

    Parameters
    ----------
    claim
        The claim.
    page
        Its page, in reStructuredText.
    checked
        Its entry in a ledger; ``None`` if it has not been checked.
    replay
        Commands that evaluate its counterexamples again, by variant.
    version, commit
        Of this package.
    """
    found = {form["variant"]: form for form in checked["forms"]} if checked else {}
    published = [form for form in claim.forms if form.variant.startswith("published")]
    ours = [form for form in claim.forms if form not in published]
    body, needed = _body(page)
    parts = [
        _PREAMBLE + needed + r"\begin{document}",
        rf"\section*{{{escaped(claim.title[:1].upper() + claim.title[1:])}}}",
        escaped(f"{claim.citation.reference} of {_paper(claim.citation.paper)}."),
        r"\subsection*{Statement}",
        *(_statement(form) for form in published),
        r"\subsection*{Symbols}",
        _symbols(claim),
        *([r"\subsection*{Assumptions}", _assumptions(claim)] if claim.assumptions else []),
        r"\subsection*{Verdict}",
        *(_verdict(form.variant, found.get(form.variant), replay) for form in published),
    ]
    if ours:
        parts.append(r"\subsection*{Corrected and sharp forms}")
        for form in ours:
            parts += [_statement(form), _verdict(form.variant, found.get(form.variant), replay)]
    parts += [r"\subsection*{Discussion and derivation}", body]
    parts += [r"\subsection*{Source}", _source(claim, checked, version, commit), r"\end{document}", ""]
    return "\n\n".join(parts)


def escaped(text: str) -> str:
    r"""Return text for LaTeX.

    >>> print(escaped("50% of x_1"))
    50\% of x\_1
    """
    return "".join(_CHARACTERS.get(character, character) for character in text)


def broken(formula: str) -> str:
    r"""Return a long formula over several lines, which end before signs outside of fractions, norms and short brackets.

    >>> broken("a = " + " + ".join(["x_{12345}"] * 15)).count("quad")
    1
    """
    if _length(formula) <= _WIDTH:
        return formula
    # A line may end between brackets of a fixed size only.
    fixed = re.sub(r"\\(left|right)(?![a-z])", lambda match: rf"\Big{match[1][0]}", formula)
    lines = [""]
    for piece in _pieces(fixed):
        if lines[-1] and _length(lines[-1] + piece) > _WIDTH:
            lines.append("")
        lines[-1] += piece
    rows = " \\\\\n& \\quad ".join(line.strip() for line in lines)
    return rf"\begin{{aligned}}& {rows}\end{{aligned}}"


def _rows(display: str) -> str:
    """Return the rows of an aligned display, long ones over several lines."""
    rows = []
    for row in display.split("\\\\"):
        before, mark, after = " ".join(row.split()).partition("&")
        lines = [f"{before}{mark}"]
        for piece in _pieces(f" {after}") if _length(row) > _WIDTH and mark else [after]:
            if lines[-1] != f"{before}{mark}" and _length(lines[-1] + piece) > _WIDTH:
                lines.append(r"&\quad ")
            lines[-1] += piece
        rows += lines
    return "\n" + " \\\\\n".join(rows) + "\n"


def _pieces(formula: str) -> list[str]:
    """Return parts of a formula before which a line may end."""
    cuts, braces, bars, opened = [0], 0, False, list[int]()
    inside: list[tuple[int, int]] = []
    for mark in re.finditer(r"\\\||\\[{}]|[{}()\[\]]| (?:\\le|\\ge|=|\+|-|\\Rightarrow) ", formula):
        sign = mark[0]
        braces += {"{": 1, "}": -1}.get(sign, 0)
        bars ^= sign == r"\|"
        if sign in "([" and not braces:
            opened.append(mark.start())
        elif sign in ")]" and opened and not braces:
            inside.append((opened.pop(), mark.start()))
        elif sign.startswith(" ") and not braces and not bars:
            cuts.append(mark.start())
    short = [(start, end) for start, end in inside if _length(formula[start:end]) < _WIDTH // 3]
    kept = [cut for cut in cuts if not any(start < cut < end for start, end in short)]
    return [formula[start:end] for start, end in itertools.pairwise([*kept, len(formula)])]


def _length(formula: str) -> int:
    """Return the width of a formula in symbols, about."""
    narrow = re.sub(r"\\(?:left|right|frac|mathbb|mathcal|bar|tilde|hat)(?![A-Za-z])|[{}_^\s]", "", formula)
    return len(re.sub(r"\\[A-Za-z]+", "x", narrow))


def _displayed(formula: str) -> str:
    return "\n".join(rf"\[ {broken(part)} \]" for part in formula.split(BETWEEN))


def _statement(form: Any) -> str:
    note = f" ({escaped(form.note)})" if form.note else ""
    return rf"\textbf{{{escaped(form_name(form.variant))}}}{note}:" + "\n" + _displayed(form.latex())


def _symbols(claim: Claim) -> str:
    expressions = [part for form in claim.forms for part in form.parts()]
    known = declared_in(claim.id, expressions)
    items = [
        rf"\item ${as_used(quantity, expressions)}$: {escaped(quantity.meaning)}"
        for quantity in sorted(known.values(), key=lambda quantity: quantity.name)
        if quantity.role is not Role.INDEX
    ]
    return _list(items)


def _assumptions(claim: Claim) -> str:
    return _list([rf"\item {escaped(a.name)}: ${latex(a.relation)}$" for a in claim.assumptions])


def _list(items: Sequence[str]) -> str:
    return "\n".join([r"\begin{itemize}\setlength{\itemsep}{0pt}", *items, r"\end{itemize}"]) if items else ""


def _verdict(variant: str, form: Mapping[str, Any] | None, replay: Mapping[str, str]) -> str:
    name = escaped(form_name(variant))
    if form is None:
        return rf"\textbf{{{name}}}: not checked yet."
    text = rf"\textbf{{{name}}}: {WORDS[form['verdict']]}. "
    found = form["counterexample"]
    if not found:
        return text + escaped(form["reason"][:1].upper() + form["reason"][1:]) + "."
    left, right = found["lhs"], found["rhs"]
    if relation(form["latex"]) == "ge":
        left, right = right, left
    left, right = (_number(side) for side in (left, right))
    terms = found.get("terms") or {}
    left, right = (
        f"${terms[name]} =$ {value}" if name in terms else value for name, value in (("left", left), ("right", right))
    )
    text += f"On the instance below the left-hand side is {left}, the right-hand side {right}."
    rows = found.get("quantities", ())
    if rows:
        text += "\n\n" + ", ".join(f"${row['symbol']} = {_values(row['values'])}$" for row in rows) + "."
        if any(len(row["values"]) > 1 for row in rows):
            text += " Several values belong to the outcomes, in the same order."
    if found.get("hypotheses"):
        signs = {"≤": r"\le", "≥": r"\ge", "≠": r"\ne"}
        text += "\n\nThe assumptions hold: " + "; ".join(
            f"${one['statement']}$, here ${one['lhs']} {signs.get(one['sign'], one['sign'])} {one['rhs']}$"
            for one in found["hypotheses"]
        )
        text += "."
    if form["evidence"].get("sweeps"):
        text += "\n\n" + escaped(form["reason"][:1].upper() + form["reason"][1:]) + "."
    command = replay.get(variant, "")
    return text + ("\n" + _listing(_shell(command)) if command else "")


def _number(text: str) -> str:
    if about := decimal(text):
        return rf"about {about}"
    return f"${as_latex(text)}$" if EXACT.fullmatch(text) else escaped(text)


def _listing(text: str) -> str:
    return f"{{\\footnotesize\n\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}}}"


def _shell(command: str) -> str:
    r"""Return a command over several lines, which a shell reads as one.

    >>> print(_shell("fltheory replay " + "a/" * 30 + "b.json"))  # doctest: +ELLIPSIS
    fltheory replay \
        a/a/.../a/b.json
    """
    words = textwrap.wrap(command, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return " \\\n    ".join(words)


def _values(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else r"\ \text{or}\ ".join(values)


def _body(page: str) -> tuple[str, str]:
    """Return a page as LaTeX, and what it needs in the preamble."""
    from docutils.core import publish_parts

    settings = {
        "report_level": 5,
        "halt_level": 5,
        "warning_stream": io.StringIO(),
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "doctitle_xform": False,
        "use_latex_toc": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of docutils, about defaults that are set above
        made = publish_parts(_whole(inspect.cleandoc(page)), writer="latex", settings_overrides=settings)
    body = _EQUATION.sub(lambda match: rf"\[ {broken(' '.join(match[1].split()))} \]", str(made["body"]))
    body = _ALIGNED.sub(lambda match: f"{match[1]}{_rows(match[2])}{match[3]}", body)
    body = _INLINE.sub(lambda match: match[0].replace(", ", r",\allowbreak ").replace(",\n", ",\\allowbreak\n"), body)
    return body.strip(), str(made["requirements"]) + "\n" + str(made["fallbacks"])


def _whole(page: str) -> str:
    """Return a page followed by the notes to which it refers."""
    parts = [page, *(f"**Notes “{notes.title(name)}”.** {notes.text(name)}" for name in notes.targets(page))]
    return with_names(without_roles(notes.linked("\n\n".join(parts), lambda words, target: words)))


def _paper(tag: str) -> str:
    return PAPERS[tag].full if tag in PAPERS else tag


def _source(claim: Claim, checked: Mapping[str, Any] | None, version: str, commit: str) -> str:
    made = f"Made by fltheory {version}" + (f", commit {commit[:12]}" if commit else "")
    if checked and checked.get("time"):
        made += f"; checked at {checked['time']}"
    tag = claim.citation.paper
    known = PAPERS.get(tag)
    author, title = (known.authors, known.title) if known else ("{Unknown}", tag)
    entries = [
        f"@misc{{{tag},\n  author = {{{author}}},\n  title = {{{title}}},\n  note = {{{_paper(tag)}}}\n}}",
        f"@software{{fltheory,\n  title = {{fltheory}},\n  version = {{{version}}},\n  note = {{{made}}}\n}}",
    ]
    lines = (line for one in entries for line in one.split("\n"))
    listing = "\n".join(textwrap.fill(line, _WIDTH, subsequent_indent="    ") for line in lines)
    return escaped(f"{made}; id of the claim: {claim.id}.") + "\n" + _listing(listing)
