"""Where the boxes of a proof graph stand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from fltheory.figures.style import PAGE

NARROW, WIDE, TALL, ROW, GAP = 0.40, 0.78, 0.32, 0.58, 0.05
"""Sizes of boxes, rows and gaps in inches."""

_ROOM, _CLEAR = 0.04, 0.014
"""Between an edge and the boxes beside it; above and below them."""

Point = tuple[float, float]


def rows_of(layer: Mapping[str, int], edges: list[tuple[str, str]]) -> dict[str, int]:
    """Return the rows: every statement that others use is moved up until it stands just below the first of them."""
    rows = dict(layer)
    for id_ in sorted(layer, key=lambda node: -layer[node]):
        users = [rows[one] for one, other in edges if other == id_]
        if users:
            rows[id_] = min(users) - 1
    resting = {one for one, _ in edges}
    for row in range(max(rows.values()), 0, -1):
        # What does not fit and rests on nothing moves one row down, wide boxes first.
        movable = sorted((id_ for id_ in rows if rows[id_] == row and id_ not in resting), key=lambda i: (-width(i), i))
        while movable and sum(_pitch(id_) for id_ in rows if rows[id_] == row) > PAGE:
            rows[movable.pop(0)] = row - 1
    lowest = min(rows.values())  # below 0 after a circular argument
    return {id_: row - lowest for id_, row in rows.items()}


def across_of(rows: Mapping[str, int], edges: list[tuple[str, str]]) -> dict[str, float]:
    """Return places in inches: a few sweeps that pull every statement to the mean of its neighbours."""
    near: dict[str, list[str]] = {id_: [] for id_ in rows}
    for one, other in edges:
        near[one].append(other)
        near[other].append(one)
    order = sorted(rows)
    across = dict.fromkeys(rows, 0.0)
    by_row = [[id_ for id_ in order if rows[id_] == row] for row in range(max(rows.values()) + 1)]
    sweeps = list(range(len(by_row) - 1, -1, -1)) + list(range(len(by_row)))
    for row in sweeps * 4:
        wish = {id_: sum(across[other] for other in near[id_]) / len(near[id_]) for id_ in by_row[row]}
        by_row[row].sort(key=lambda id_: (round(wish[id_], 3), id_))
        across |= _spread(by_row[row], wish)
    return across


def _spread(row: list[str], wish: Mapping[str, float]) -> dict[str, float]:
    """Return places as wished, moved apart from left to right, shifted back to the middle, kept on the page."""
    found: dict[str, float] = {}
    edge = -float("inf")
    for id_ in row:
        found[id_] = max(wish[id_], edge + width(id_) / 2)
        edge = found[id_] + _pitch(id_) - width(id_) / 2
    shift = sum(found[id_] - wish[id_] for id_ in row) / len(row)
    edge = PAGE / 2 + GAP / 2
    for id_ in reversed(row):
        found[id_] = min(found[id_] - shift, edge - _pitch(id_) + width(id_) / 2)
        edge = found[id_] - width(id_) / 2
    edge = -PAGE / 2 + GAP / 2
    for id_ in row:
        found[id_] = max(found[id_], edge + width(id_) / 2)
        edge = found[id_] + _pitch(id_) - width(id_) / 2
    return found


def routes(rows: Mapping[str, int], across: Mapping[str, float], edges: Sequence[tuple[str, str]]) -> list[list[Point]]:
    """Return the points of every edge in inches, from the top of what is used to the bottom of what uses it.

    Between two points in turn an edge bends, and goes straight up beside the boxes of a row that it passes: no edge
    runs behind a box.
    """
    taken: dict[int, list[Point]] = {row: [] for row in rows.values()}
    for id_, row in rows.items():
        taken[row].append((across[id_] - width(id_) / 2, across[id_] + width(id_) / 2))
    found = []
    for one, other in edges:
        start, end = (across[other], rows[other] * ROW + TALL / 2), (across[one], rows[one] * ROW - TALL / 2)
        points = [start]
        for row in range(rows[other] + 1, rows[one]):
            wish = start[0] + (end[0] - start[0]) * (row * ROW - start[1]) / (end[1] - start[1])
            gap = _gap(sorted(taken.get(row, ())), wish)
            points += [(gap, row * ROW - TALL / 2 - _CLEAR), (gap, row * ROW + TALL / 2 + _CLEAR)]
        found.append([*points, end])
    return found


def _gap(boxes: Sequence[Point], wish: float) -> float:
    """Return the place nearest to a wish that no box of a row covers."""
    if all(not left - _ROOM < wish < right + _ROOM for left, right in boxes):
        return wish
    ends = [boxes[0][0] - _ROOM, boxes[-1][1] + _ROOM]
    for (_, left), (right, _) in itertools.pairwise(boxes):
        ends.append((left + right) / 2 if right - left < 2 * _ROOM else min(max(wish, left + _ROOM), right - _ROOM))
    return min(ends, key=lambda x: abs(x - wish))


def width(id_: str) -> float:
    """Return the width of a box in inches."""
    return NARROW if re.fullmatch(r".*\.eq-\d+", id_) else WIDE


def _pitch(id_: str) -> float:
    return width(id_) + (GAP if width(id_) == NARROW else 3 * GAP)


def label(id_: str) -> str:
    """Return a short name of a statement."""
    name = id_.split(".", 1)[1]
    if name.startswith("eq-"):
        number, *rest = name[3:].split("-")
        if rest and rest[0].isdigit():
            return f"({number})–({rest[0]})"
        return f"({number})" + ("\n" + " ".join(rest) if rest else "")
    kind, _, rest_ = name.partition("-")
    number, *rest = rest_.split("-")
    short = {"theorem": "Thm", "corollary": "Cor.", "lemma": "Lemma", "table": "Table", "section": "Sec."}
    more = " ".join(rest).replace("homogeneous", "hom.").replace("heterogeneous", "het.")
    first = f"{short.get(kind, kind.capitalize())} {number.upper()}".strip()
    return first + (f"\n{more}" if more else "")
