"""Examples without the empty line that ends them: doctest needs it in Markdown, readers do not."""

from docutils import nodes
from sphinx.application import Sphinx


def trim(app: Sphinx, tree: nodes.document) -> None:
    """Remove empty lines at the end of blocks of code."""
    for block in tree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip("\n")
        block.children = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Trim every page after it was read."""
    app.connect("doctree-read", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
