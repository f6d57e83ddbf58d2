"""Formulas as MathML, with the converter of the report: no script, no font and no network is needed to read them."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from fltheory.report.formulas import display, mathml


def inline(translator: Any, node: nodes.math) -> None:
    """Write a formula inside a sentence."""
    translator.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula that stands alone."""
    translator.body.append(f'<div class="formula">{display(node.astext())}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
