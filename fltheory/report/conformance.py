"""The page that says whether an implementation is right, in the style of the report."""

from __future__ import annotations

from pathlib import Path

from fltheory.conformance.result import Conformance
from fltheory.report.build import template


def write(found: Conformance, path: Path, *, code: str = "") -> Path:
    """Write the page.

    Parameters
    ----------
    found
        What :func:`fltheory.conformance.conform` returned.
    path
        Where to write.
    code
        What was examined, for the heading.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(template("conformance.html.j2").render(found=found, code=code), encoding="utf-8")
    return path
