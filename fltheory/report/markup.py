"""From LaTeX and docstrings to HTML with MathML, without scripts or fonts from elsewhere."""

from __future__ import annotations

import copy
import functools
import html
import io
import re
from typing import Any

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

_ACCENT = re.compile(r"\\(?:bar|hat|tilde)\s*(?:[A-Za-z]|\\[A-Za-z]+|\{[^{}]*\})")
"""A letter with an accent is put in braces, or an index would be set under it like a limit."""

_LACKING = re.compile("(?:" + "|".join(map(re.escape, _COMMANDS)) + r")(?![A-Za-z])")


@functools.cache
def mathml(latex: str, *, block: bool = True) -> str:
    r"""Return MathML for LaTeX; what cannot be converted is shown as its source.

    >>> mathml(r"\mu", block=False).startswith("<math")
    True
    """
    from docutils.utils.math import MathError
    from docutils.utils.math.latex2mathml import tex2mathml

    text = _replaced(latex)
    try:
        return str(tex2mathml(text, as_block=block)).replace("\n", "")
    except (MathError, ValueError, AttributeError, IndexError):
        return f"<code class='latex'>{html.escape(latex)}</code>"


def page(docstring: str) -> str:
    """Return the page of a claim as HTML: its docstring, read as reStructuredText."""
    from docutils.core import publish_parts

    text = re.sub(
        r":(?:class|func|mod|data|meth|attr):`~?\.?([^`]+)`", lambda m: f"``{m[1].split('.')[-1]}``", docstring
    )
    return str(publish_parts(_replaced(text), writer="html5", settings=copy.copy(_settings()))["body"])


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
    known = _LACKING.sub(lambda match: _COMMANDS[match[0]], text)
    return _ACCENT.sub(lambda match: f"{{{match[0]}}}", known)
