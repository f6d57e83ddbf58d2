"""Proof graphs as SVG, with a link to every statement."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from fltheory.figures.papers._graph_places import GAP, ROW, TALL, across_of, label, rows_of, width
from fltheory.figures.style import PAGE, SYMBOLS, WORDS
from fltheory.validation.proof_graph import layout

_INCH = 145
"""Units to an inch of the printed figure, whose places these graphs share."""

_LINE, _LETTER = 14, 6.8
"""Between the lines of a label; width of a letter, about."""


def svg(uses: Mapping[str, Sequence[str]], verdicts: Mapping[str, str], *, paper: str) -> str:
    """Return the graph of one paper; ``verdicts`` gives the class of every box."""
    plan = layout(uses, widest=max(len(uses), 1))
    if not plan.layers:
        return ""
    edges = list(plan.edges)
    rows = rows_of(plan.layer, edges)
    across = across_of(rows, edges)
    wide = round((PAGE + 2 * GAP) * _INCH)
    high = round((max(rows.values()) * ROW + TALL + 2 * GAP) * _INCH)

    def place(node: str) -> tuple[float, float]:
        return wide / 2 + across[node] * _INCH, high - (GAP + TALL / 2 + rows[node] * ROW) * _INCH

    half = TALL / 2 * _INCH
    name = f"arrow-{html.escape(paper)}"
    parts = [
        f'<svg class="graph" viewBox="0 0 {wide} {high}" width="{wide}" role="img" '
        f'aria-label="proof graph of {html.escape(paper)}">'
        f'<defs><marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="head" d="M0,1 L8,4 L0,7 z"/></marker></defs>'
    ]
    for one, other in edges:
        (x1, y1), (x2, y2) = place(other), place(one)
        a, b = y1 - half, y2 + half
        # As in the printed figure: straight to the next row, bent past the rows between.
        bend = 0.0 if rows[one] == rows[other] + 1 else 0.12
        x, y = (x1 + x2) / 2 - bend * (b - a), (a + b) / 2 + bend * (x2 - x1)
        parts.append(f'<path marker-end="url(#{name})" d="M{x1:.0f},{a:.0f} Q{x:.0f},{y:.0f} {x2:.0f},{b:.0f}"/>')
    for node in plan.layer:
        x, y = place(node)
        verdict = verdicts.get(node, "NOT_APPLICABLE")
        lines = f"{label(node)} {SYMBOLS[verdict]}".split("\n")
        first = y + 4 - _LINE * (len(lines) - 1) / 2
        box = width(node) * _INCH
        text = "".join(
            f'<tspan x="{x:.0f}" y="{first + _LINE * n:.0f}"{_squeezed(part, box - 6)}>{html.escape(part)}</tspan>'
            for n, part in enumerate(lines)
        )
        parts.append(
            f'<a href="#{html.escape(node)}"><title>{html.escape(node)}: {WORDS[verdict]}</title>'
            f'<rect class="{verdict}" x="{x - box / 2:.0f}" y="{y - half:.0f}" '
            f'width="{box:.0f}" height="{2 * half:.0f}" rx="5"/>'
            f"<text>{text}</text></a>"
        )
    parts.append("</svg>")
    return "".join(parts)


def _squeezed(text: str, room: float) -> str:
    """Return attributes that fit a long line into its box."""
    return f' textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"' if len(text) * _LETTER > room else ""
