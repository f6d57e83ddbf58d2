"""Proof graphs as SVG, with a link to every statement."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from fltheory.figures.style import SYMBOLS
from fltheory.validation.proof_graph import layout

_GAP, _ROW, _HEIGHT = 12, 64, 30
_LETTER = 7.2
"""Width of a letter of the labels."""


def svg(uses: Mapping[str, Sequence[str]], verdicts: Mapping[str, str], *, paper: str) -> str:
    """Return the graph of one paper; ``verdicts`` gives the class of every box."""
    plan = layout(uses, widest=7)
    if not plan.layers:
        return ""
    box = round(max(len(node.partition(".")[2]) for node in plan.layer) * _LETTER) + 30
    width = max(plan.widest, 1) * (box + _GAP) + _GAP
    height = plan.layers * _ROW + 10

    def place(node: str) -> tuple[float, float]:
        x = width / 2 + plan.position[node] * (box + _GAP)
        y = height - 10 - (plan.layer[node] + 0.5) * _ROW
        return x, y

    parts = [
        f'<svg class="graph" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="proof graph of {html.escape(paper)}">'
    ]
    for one, other in plan.edges:
        (x1, y1), (x2, y2) = place(other), place(one)
        a, b = y1 - _HEIGHT / 2, y2 + _HEIGHT / 2
        middle = (a + b) / 2
        parts.append(f'<path d="M{x1:.0f},{a:.0f} C{x1:.0f},{middle:.0f} {x2:.0f},{middle:.0f} {x2:.0f},{b:.0f}"/>')
    for node in plan.layer:
        x, y = place(node)
        verdict = verdicts.get(node, "NOT_APPLICABLE")
        label = f"{SYMBOLS[verdict]} {html.escape(node.partition('.')[2])}"
        parts.append(
            f'<a href="#{html.escape(node)}"><title>{html.escape(node)}: {verdict}</title>'
            f'<rect class="{verdict}" x="{x - box / 2:.0f}" y="{y - _HEIGHT / 2:.0f}" '
            f'width="{box}" height="{_HEIGHT}" rx="5"/>'
            f'<text x="{x:.0f}" y="{y + 4:.0f}">{label}</text></a>'
        )
    parts.append("</svg>")
    return "".join(parts)
