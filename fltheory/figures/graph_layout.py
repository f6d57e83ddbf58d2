"""Where the boxes of a proof graph stand."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fltheory.figures.style import PAGE

NARROW, WIDE, TALL, ROW, GAP = 0.40, 0.78, 0.32, 0.58, 0.05
"""Sizes of boxes, rows and gaps in inches."""


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
