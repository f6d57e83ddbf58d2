"""Short texts about problems: one line for a terminal, a small table for a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fltheory.errors import FltheoryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fltheory.problems.problem import Constant


def one_line(problem: object, facts: Mapping[str, object]) -> str:
    """Return the class and a few facts; numbers have six digits.

    >>> one_line(3, {"mu": 0.1 + 0.2, "law": "normal"})
    "int(mu=0.3, law='normal')"
    """
    shown = ", ".join(f"{name}={_shown(value)}" for name, value in facts.items())
    return f"{type(problem).__name__}({shown})"


def table(title: str, constants: Callable[[], Mapping[str, Constant]] | None) -> str:
    """Return constants as a table in HTML, with their origins; ``None`` stands for constants too dear to compute."""
    head = f"<p><code>{html.escape(title)}</code></p>"
    if constants is None:
        return head + "<p>constants() computes the constants.</p>"
    try:
        known = constants()
    except FltheoryError as error:
        return head + f"<p>{html.escape(str(error))}</p>"
    rows = "".join(
        f"<tr><td><code>{html.escape(name)}</code></td><td>{_entries(constant.value)}</td>"
        f"<td>{constant.origin.value}</td><td>{html.escape(constant.note)}</td></tr>"
        for name, constant in known.items()
    )
    if not rows:
        return head
    return f"{head}<table><tr><th>constant</th><th>value</th><th>origin</th><th></th></tr>{rows}</table>"


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else repr(value)


def _entries(value: object) -> str:
    """Return a number, or the range of an array."""
    entries = np.asarray(value, dtype=np.float64).ravel()
    low, high = f"{entries.min():.6g}", f"{entries.max():.6g}"
    if entries.size == 1 or low == high:
        return low
    return f"{low} … {high}"
