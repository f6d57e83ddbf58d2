"""Ids of statements and public names in pages in Markdown, as links to their pages.

In the files they are plain code, so that they read well where the files are read as they are.
"""

import functools
from collections.abc import Iterator

from docutils import nodes
from generated_pages import page_name, places
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import fltheory as fl
from fltheory.bounds import catalogue


class LinkedNames(SphinxTransform):
    """Put a reference around every such name."""

    default_priority = 500

    def apply(self, **kwargs: object) -> None:
        """Change the tree of a page."""
        if self.env.docname.startswith("reference/generated/"):
            return
        for literal in list(self.document.findall(nodes.literal)):
            inside = any(
                isinstance(one, nodes.title | nodes.reference | addnodes.pending_xref) for one in _above(literal)
            )
            reference = None if inside else _reference(literal.astext())
            if reference is not None:
                reference["refdoc"] = self.env.docname
                literal.replace_self(reference)
                reference += literal


def _reference(name: str) -> addnodes.pending_xref | None:
    """Return a reference to the page of a statement or of a public name, if it is one."""
    if name in catalogue.index():
        target = f"/reference/generated/claims/{page_name(name)}"
        return addnodes.pending_xref(refdomain="std", reftype="doc", reftarget=target, refexplicit=True, refwarn=True)
    public = name.removeprefix("fl.")
    target = _places().get(id(getattr(fl, public))) if public != name and public in fl.__all__ else None
    if target is not None:
        return addnodes.pending_xref(refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True)
    return None


@functools.cache
def _places() -> dict[int, str]:
    return places()


def _above(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(LinkedNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
