"""From docstrings to HTML: reStructuredText with formulas as MathML."""

from __future__ import annotations

import copy
import functools
import io
import re
from typing import Any

from docutils.core import publish_parts
from docutils.writers.html5_polyglot import HTMLTranslator, Writer

from fltheory.report import notes
from fltheory.report.formulas import display, mathml
from fltheory.report.links import harmless
from fltheory.report.wording import form_name

_ROLES = re.compile(r":(?:class|func|mod|data|meth|attr):`~?\.?([^`]+)`")


_VARIANT = r"(?:published|corrected|sharp)@\w[\w.-]*(?<=\w)"
_FORM = re.compile(rf"``({_VARIANT})``|(?<![\w/@.-])({_VARIANT})")
"""A form by its variant, as a literal or not."""


class _Translator(HTMLTranslator):
    """As in docutils, with formulas converted here."""

    def visit_math(self, node: Any, math_env: str = "") -> None:
        self.body.append(mathml(node.astext(), block=False))
        self._skip()

    def visit_math_block(self, node: Any) -> None:
        self.body.append(display(node.astext()) + "\n")
        self._skip()

    def _skip(self) -> None:
        from docutils.nodes import SkipNode

        raise SkipNode


def without_roles(docstring: str) -> str:
    """Return reStructuredText in which references to code are literals, since only Sphinx knows them."""
    return _ROLES.sub(lambda match: f"``{match[1].split('.')[-1]}``", docstring)


def page(docstring: str) -> str:
    """Return the page of a claim as HTML: its docstring, read as reStructuredText."""
    writer = Writer()
    writer.translator_class = _Translator
    linked = notes.linked(docstring, lambda words, target: f"`{words} <#{notes.anchor(target)}>`__")
    text = with_names(without_roles(linked))
    return harmless(str(publish_parts(text, writer=writer, settings=copy.copy(_settings()))["body"]))


def with_names(docstring: str) -> str:
    """Return reStructuredText with the names of forms in place of their variants, except in code.

    >>> with_names("``published@expected`` repairs it.")
    '“As printed: expected” repairs it.'
    """
    lines = docstring.split("\n")
    return "\n".join(line if ">>>" in line else _FORM.sub(_name, line) for line in lines)


def _name(match: re.Match[str]) -> str:
    return f"“{form_name(match[1] or match[2])}”"


@functools.cache
def _settings() -> Any:
    """Return the settings of all pages; to collect them takes docutils as long as to read a page."""
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser
    from docutils.readers.standalone import Reader

    settings = get_default_settings(Parser, Reader, Writer)
    settings.report_level = settings.halt_level = 5
    settings.warning_stream = io.StringIO()
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.initial_header_level = 4
    settings.doctitle_xform = False
    return settings
