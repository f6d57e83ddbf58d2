"""The proof graph of Ruan et al.: which statement rests on which, coloured by the verdict on its published form.

An arrow leads from a statement to one whose proof uses it. Statements that are connected to no other are left out.
Every published form (the first, where there are several readings) is checked with a small effort, so *holds* means
that a short search found no counterexample, and *violated* that one was found and confirmed. Symbols repeat the
colours: a tick (holds), a cross (violated), a question mark (inconclusive), a dash (no instance was found).

Statements stand as close below those that use them as the order allows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fltheory.claims import index
from fltheory.figures.study import Data, Study
from fltheory.figures.style import PAGE, POINTS, VERDICTS, panels
from fltheory.validation.decide import Effort, check
from fltheory.validation.proof_graph import layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "ruan"
SYMBOLS = {"HOLDS": "✓", "VIOLATED": "✗", "INCONCLUSIVE": "?", "NOT_APPLICABLE": "–", "NOT_CHECKED": ""}
WORDS = {
    "HOLDS": "holds",
    "VIOLATED": "violated",
    "INCONCLUSIVE": "inconclusive",
    "NOT_APPLICABLE": "no instance found",
    "NOT_CHECKED": "not checked",
}
NARROW, WIDE, TALL, ROW, GAP = 0.40, 0.78, 0.32, 0.58, 0.05
"""Sizes of boxes, rows and gaps in inches."""


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Check the published form of every connected statement."""
    claims = {id_: entry.load() for id_, entry in index().items() if entry.paper == PAPER}
    graph = layout({id_: claim.uses for id_, claim in claims.items()}, widest=len(claims))
    effort = Effort(instances=20, experiments=3) if quick else Effort(instances=60, experiments=6)
    nodes: list[dict[str, Any]] = []
    for id_, claim in claims.items():
        if id_ not in graph.layer:
            continue
        node: dict[str, Any] = {"id": id_, "layer": graph.layer[id_], "kind": claim.kind.value}
        node |= {"reference": claim.source.reference, "variant": claim.forms[0].variant, "margin": None}
        if quick and (claim.kind.value == "rate" or len(nodes) % 3):
            nodes.append({**node, "verdict": "NOT_CHECKED"})
            continue
        verdict = check(claim, variant=claim.forms[0].variant, effort=effort, seed=seed)[0]
        nodes.append({**node, "verdict": verdict.outcome.value, "margin": verdict.margin})
    return {
        "effort": {"instances": effort.instances, "experiments": effort.experiments},
        "nodes": nodes,
        "edges": [list(edge) for edge in graph.edges],
    }


def draw(data: Data) -> Figure:
    """Draw boxes in rows and arrows from what is used to what uses it."""
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    nodes = {node["id"]: node for node in data["nodes"]}
    edges = [(one, other) for one, other in data["edges"]]
    rows = _rows({id_: node["layer"] for id_, node in nodes.items()}, edges)
    across = _across(rows, edges)
    count = max(rows.values()) + 1
    figure, grid = panels(1, 1, height=count * ROW + 0.3)
    axes = grid[0, 0]
    axes.set_axis_off()
    axes.set_xlim(-PAGE / 2 - GAP, PAGE / 2 + GAP)
    axes.set_ylim(-0.25, (count - 1) * ROW + 0.25)
    for one, other in edges:
        start = (across[other], rows[other] * ROW + TALL / 2)
        end = (across[one], rows[one] * ROW - TALL / 2)
        bend = 0.0 if rows[one] == rows[other] + 1 else 0.12
        style: dict[str, Any] = {
            "arrowstyle": "-|>",
            "mutation_scale": 6,
            "linewidth": 0.6,
            "color": "0.45",
            "shrinkA": 0,
            "shrinkB": 0,
        }
        axes.add_patch(FancyArrowPatch(start, end, connectionstyle=f"arc3,rad={bend}", zorder=1, **style))
    for id_, node in nodes.items():
        x, y, wide = across[id_], rows[id_] * ROW, _width(id_)
        colour = VERDICTS.get(node["verdict"], "#444444")
        corner = (x - wide / 2, y - TALL / 2)
        shape = "round,pad=0,rounding_size=0.04"
        axes.add_patch(
            FancyBboxPatch(corner, wide, TALL, boxstyle=shape, facecolor="white", edgecolor="none", zorder=2)
        )
        box = FancyBboxPatch(corner, wide, TALL, boxstyle=shape, linewidth=1.2, zorder=3)
        box.set_facecolor((*_rgb(colour), 0.22))
        box.set_edgecolor(colour)
        axes.add_patch(box)
        text = f"{_label(id_)} {SYMBOLS[node['verdict']]}".strip()
        axes.text(x, y, text, ha="center", va="center", fontsize=POINTS - 2, zorder=4, linespacing=1.05)
    _key(figure, data)
    return figure


def _key(figure: Figure, data: Data) -> None:
    from matplotlib.patches import Patch

    seen = Counter(node["verdict"] for node in data["nodes"])
    handles = []
    for verdict in SYMBOLS:
        if seen[verdict]:
            colour = VERDICTS.get(verdict, "#444444")
            label = f"{SYMBOLS[verdict]} {WORDS[verdict]} ({seen[verdict]})".strip()
            handles.append(Patch(facecolor=(*_rgb(colour), 0.22), edgecolor=colour, linewidth=1.2, label=label))
    figure.legend(handles=handles, loc="outside upper center", ncols=5, fontsize=POINTS, frameon=False)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def _rows(layer: Mapping[str, int], edges: list[tuple[str, str]]) -> dict[str, int]:
    """Return the rows: every statement that others use is moved up until it stands just below the first of them."""
    rows = dict(layer)
    for id_ in sorted(layer, key=lambda node: -layer[node]):
        users = [rows[one] for one, other in edges if other == id_]
        if users:
            rows[id_] = min(users) - 1
    resting = {one for one, _ in edges}
    for row in range(max(rows.values()), 0, -1):
        # What does not fit and rests on nothing moves one row down, wide boxes first.
        movable = sorted(
            (id_ for id_ in rows if rows[id_] == row and id_ not in resting), key=lambda i: (-_width(i), i)
        )
        while movable and sum(_pitch(id_) for id_ in rows if rows[id_] == row) > PAGE:
            rows[movable.pop(0)] = row - 1
    return rows


def _across(rows: Mapping[str, int], edges: list[tuple[str, str]]) -> dict[str, float]:
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
        found[id_] = max(wish[id_], edge + _width(id_) / 2)
        edge = found[id_] + _pitch(id_) - _width(id_) / 2
    shift = sum(found[id_] - wish[id_] for id_ in row) / len(row)
    edge = PAGE / 2 + GAP / 2
    for id_ in reversed(row):
        found[id_] = min(found[id_] - shift, edge - _pitch(id_) + _width(id_) / 2)
        edge = found[id_] - _width(id_) / 2
    edge = -PAGE / 2 + GAP / 2
    for id_ in row:
        found[id_] = max(found[id_], edge + _width(id_) / 2)
        edge = found[id_] + _pitch(id_) - _width(id_) / 2
    return found


def _width(id_: str) -> float:
    return NARROW if re.fullmatch(r".*\.eq-\d+", id_) else WIDE


def _pitch(id_: str) -> float:
    return _width(id_) + (GAP if _width(id_) == NARROW else 3 * GAP)


def _label(id_: str) -> str:
    """Return a short name of a statement."""
    name = id_.split(".", 1)[1]
    if name.startswith("eq-"):
        return "(" + name[3:].replace("-", ")–(") + ")"
    kind, number, *rest = name.split("-")
    short = {"theorem": "Thm", "corollary": "Cor.", "lemma": "Lemma", "table": "Table"}.get(kind, kind)
    more = " ".join(rest).replace("homogeneous", "hom.").replace("heterogeneous", "het.")
    return f"{short} {number.upper()}" + (f"\n{more}" if more else "")


def caption(data: Data) -> str:
    """Say how many published statements fail, and how many that rest on failing ones hold."""
    verdict = {node["id"]: node["verdict"] for node in data["nodes"]}
    checked = [id_ for id_, found in verdict.items() if found != "NOT_CHECKED"]
    failing = [id_ for id_ in checked if verdict[id_] == "VIOLATED"]
    below: dict[str, set[str]] = {}

    def support(id_: str) -> set[str]:
        if id_ not in below:
            below[id_] = set()
            for one, other in data["edges"]:
                if one == id_:
                    below[id_] |= {other} | support(other)
        return below[id_]

    resting = [id_ for id_ in checked if verdict[id_] == "HOLDS" and support(id_) & set(failing)]
    shown = ", ".join(_label(id_).replace("\n", " ") for id_ in failing)
    return (
        f"Of {len(checked)} connected statements checked, {len(failing)} fail as published ({shown}); no "
        f"counterexample is found to {sum(verdict[id_] == 'HOLDS' for id_ in checked)}, {len(resting)} of which rest "
        "on a failing one."
    )


study = Study(
    name="proof-graph-ruan",
    title="Proof graph of Ruan et al. with verdicts",
    paper="ruan",
    compute=compute,
    caption=caption,
    draw=draw,
)
