"""Proof graphs as SVG, with a link to every statement."""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence

from fltheory.figures.graph_layout import GAP, ROW, TALL, across_of, label, rows_of, width
from fltheory.figures.style import PAGE, SYMBOLS, WORDS
from fltheory.validation.proof_graph import layout

_INCH = 145
"""Units to an inch of the printed figure, whose places these graphs share."""

_LINE, _LETTER = 14, 6.8
"""Between the lines of a label; width of a letter, about."""

_ROOM = 6.0
"""Between an edge and the boxes that it passes."""

_FAILING = ("VIOLATED", "MIXED")

Point = tuple[float, float]


def resting_on_failures(uses: Mapping[str, Sequence[str]], verdicts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the statements that hold although a step of their published proof fails, with the steps that fail.

    >>> resting_on_failures({"theorem": ["lemma"], "lemma": []}, {"theorem": "HOLDS", "lemma": "VIOLATED"})
    {'theorem': ['lemma']}
    """
    found: dict[str, list[str]] = {}
    for id_ in uses:
        if verdicts.get(id_) == "HOLDS":
            failing = [used for used in _below(id_, uses) if verdicts.get(used) in _FAILING]
            if failing:
                found[id_] = failing
    return found


def _below(id_: str, uses: Mapping[str, Sequence[str]]) -> list[str]:
    """Return everything that a proof rests on, nearest first."""
    seen: dict[str, None] = {}
    queue = list(uses.get(id_, ()))
    while queue:
        used = queue.pop(0)
        if used not in seen and used != id_:
            seen[used] = None
            queue += uses.get(used, ())
    return list(seen)


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
    taken = {
        row: sorted(
            (places[n][0] - width(n) * _INCH / 2, places[n][0] + width(n) * _INCH / 2) for n in rows if rows[n] == row
        )
        for row in set(rows.values())
    }
    levels = {rows[node]: places[node][1] for node in places}
    name = f"arrow-{html.escape(paper)}"
    parts = [
        f'<svg class="graph" viewBox="0 0 {wide} {high}" width="{wide}" role="group" '
        f'aria-label="proof graph of {html.escape(paper)}">'
        f'<defs><marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="head" d="M0,1 L8,4 L0,7 z"/></marker></defs>'
    ]
    for one, other in edges:
        start, end = places[other], places[one]
        between = [(taken[row], levels[row]) for row in range(rows[other] + 1, rows[one])]
        parts.append(f'<path marker-end="url(#{name})" d="{_path(start, end, between, half)}"/>')
    shaky = resting_on_failures(uses, verdicts)
    parts += [
        _box(node, places[node], half, verdicts.get(node, "NOT_APPLICABLE"), shaky.get(node), tips or {})
        for node in plan.layer
    ]
    parts.append("</svg>")
    return "".join(parts)


def _path(start: Point, end: Point, between: Sequence[tuple[list[Point], float]], half: float) -> str:
    """Return an edge from the top of one box to the bottom of another, through gaps in the rows between."""
    (x1, y1), (x2, y2) = start, end
    a, b = y1 - half, y2 + half
    text = f"M{x1:.0f},{a:.0f}"
    x, y = x1, a
    for boxes, level in between:
        wish = x1 + (x2 - x1) * (a - level) / (a - b)
        gap = _gap(boxes, wish)
        below, above = level + half + 2, level - half - 2
        text += _bend(x, y, gap, below) + f" L{gap:.0f},{above:.0f}"
        x, y = gap, above
    return text + _bend(x, y, x2, b)


def _bend(x1: float, y1: float, x2: float, y2: float) -> str:
    middle = (y1 + y2) / 2
    return f" C{x1:.0f},{middle:.0f} {x2:.0f},{middle:.0f} {x2:.0f},{y2:.0f}"


def _gap(boxes: Sequence[Point], wish: float) -> float:
    """Return the place nearest to a wish that no box of a row covers."""
    if all(not left - _ROOM < wish < right + _ROOM for left, right in boxes):
        return wish
    ends = [boxes[0][0] - _ROOM, boxes[-1][1] + _ROOM]
    for (_, left), (right, _) in itertools.pairwise(boxes):
        ends.append((left + right) / 2 if right - left < 2 * _ROOM else min(max(wish, left + _ROOM), right - _ROOM))
    return min(ends, key=lambda x: abs(x - wish))


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
