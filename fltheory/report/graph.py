"""Proof graphs as SVG, with a link to every statement."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from fltheory.figures.graph_layout import GAP, ROW, TALL, across_of, label, routes, rows_of, width
from fltheory.figures.style import PAGE, SYMBOLS, WORDS
from fltheory.validation.proof_graph import layout, resting_on_failures

_INCH = 145
"""Units to an inch of the printed figure, whose places these graphs share."""

_LINE, _LETTER = 14, 6.8
"""Between the lines of a label; width of a letter, about."""

Point = tuple[float, float]


def svg(
    uses: Mapping[str, Sequence[str]],
    verdicts: Mapping[str, str],
    *,
    paper: str,
    tips: Mapping[str, str] | None = None,
) -> str:
    """Return the graph of one paper.

    Parameters
    ----------
    uses
        Statements that the published proof of every statement uses.
    verdicts
        The class of every box.
    paper
        Tag of the paper.
    tips
        What a statement says, shown when the pointer rests on its box.
    """
    plan = layout(uses, widest=max(len(uses), 1))
    if not plan.layers:
        return ""
    edges = list(plan.edges)
    rows = rows_of(plan.layer, edges)
    across = across_of(rows, edges)
    wide = round((PAGE + 2 * GAP) * _INCH)
    high = round((max(rows.values()) * ROW + TALL + 2 * GAP) * _INCH)
    half = TALL / 2 * _INCH
    places = {
        node: (wide / 2 + across[node] * _INCH, high - (GAP + TALL / 2 + rows[node] * ROW) * _INCH)
        for node in plan.layer
    }
    name = f"arrow-{html.escape(paper)}"
    parts = [
        f'<svg class="graph" viewBox="0 0 {wide} {high}" width="{wide}" role="group" '
        f'aria-label="proof graph of {html.escape(paper)}">'
        f'<defs><marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="head" d="M0,1 L8,4 L0,7 z"/></marker></defs>'
    ]
    for points in routes(rows, across, edges):
        path = _path([(wide / 2 + x * _INCH, high - (GAP + TALL / 2 + y) * _INCH) for x, y in points])
        parts.append(f'<path marker-end="url(#{name})" d="{path}"/>')
    shaky = resting_on_failures(uses, verdicts)
    parts += [
        _box(node, places[node], half, verdicts.get(node, "NOT_APPLICABLE"), shaky.get(node), tips or {})
        for node in plan.layer
    ]
    parts.append("</svg>")
    return "".join(parts)


def _path(points: Sequence[Point]) -> str:
    """Return an edge through these points: bends and straight lines in turn."""
    (x, y), *others = points
    text = f"M{x:.0f},{y:.0f}"
    for number, (next_x, next_y) in enumerate(others):
        if number % 2:
            text += f" L{next_x:.0f},{next_y:.0f}"
        else:
            middle = (y + next_y) / 2
            text += f" C{x:.0f},{middle:.0f} {next_x:.0f},{middle:.0f} {next_x:.0f},{next_y:.0f}"
        x, y = next_x, next_y
    return text


def _box(
    node: str, place: Point, half: float, verdict: str, failing: Sequence[str] | None, tips: Mapping[str, str]
) -> str:
    x, y = place
    lines = f"{label(node)} {SYMBOLS[verdict]}{'*' if failing else ''}".split("\n")
    first = y + 4 - _LINE * (len(lines) - 1) / 2
    box = width(node) * _INCH
    text = "".join(
        f'<tspan x="{x:.0f}" y="{first + _LINE * n:.0f}"{_squeezed(part, box - 6)}>{html.escape(part)}</tspan>'
        for n, part in enumerate(lines)
    )
    words = f"{node}: {WORDS[verdict]}"
    if failing:
        words += f", but its proof uses {', '.join(failing)}, which {'fails' if len(failing) == 1 else 'fail'}"
    tip = html.escape("\n".join(filter(None, (words, tips.get(node, "")))))
    return (
        f'<a href="#{html.escape(node)}"><title>{tip}</title>'
        f'<rect class="{verdict}{" shaky" if failing else ""}" x="{x - box / 2:.0f}" y="{y - half:.0f}" '
        f'width="{box:.0f}" height="{2 * half:.0f}" rx="5"/>'
        f"<text>{text}</text></a>"
    )


def _squeezed(text: str, room: float) -> str:
    """Return attributes that fit a long line into its box."""
    return f' textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"' if len(text) * _LETTER > room else ""
