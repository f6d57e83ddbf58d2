"""The proof graphs of the papers: which statement rests on which, coloured by the verdict on it as printed.

An arrow leads from a statement to one whose proof uses it. Statements that are connected to no other are left out.
Verdicts are those of a ledger: of the one that ``fltheory validate`` has just written, of the file given with
``--ledger``, or, without any, of checks made for the figure with the same effort. *Holds* means that the search found
no counterexample, *violated* that one was found and confirmed, *in part* that some readings or parts fail and others
do not. Symbols repeat the colours: a tick (holds), a cross (violated), a plus over a minus (in part), a question mark
(open), a dash (no instance was found). A dashed frame and a star mark a statement that holds although a step of its
published proof fails.

Statements stand as close below those that use them as the order allows.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fltheory.bounds.catalogue import index
from fltheory.bounds.papers import PAPERS
from fltheory.errors import NotApplicable
from fltheory.figures.graph_layout import GAP, ROW, TALL, Point, across_of, label, routes, rows_of, width
from fltheory.figures.study import Data, Study
from fltheory.figures.style import PAGE, POINTS, SYMBOLS, VERDICTS, WORDS, panels
from fltheory.validation import composition
from fltheory.validation import ledger as ledgers
from fltheory.validation.decide import FULL, QUICK
from fltheory.validation.proof_graph import layout, resting_on_failures
from fltheory.validation.runner import check_all
from fltheory.validation.summary import printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.path import Path


def compute(*, quick: bool, seed: int, ledger: Mapping[str, Any] | None, paper: str) -> dict[str, Any]:
    """Return the verdicts on the connected statements of a paper, checking them if there is no ledger."""
    if ledger is None:
        entries = [entry for entry in index().values() if entry.paper == paper]
        done, _ = check_all(entries, effort=QUICK if quick else FULL, seed=seed)
        ledger = ledgers.ledger(done, seed=seed, effort="quick" if quick else "full")
    found = {entry["id"]: entry for entry in ledger["claims"] if entry["paper"] == paper}
    graph = layout({id_: entry["uses"] for id_, entry in found.items()}, widest=len(found))
    if not graph.edges:
        raise NotApplicable(
            f"the ledger has no statements of {PAPERS[paper].spoken} of which one uses another; write it with: "
            "fltheory check --all"
        )
    return {
        "paper": paper,
        "ledger": {name: ledger[name] for name in ("commit", "time", "seed", "effort")},
        "nodes": [
            {
                "id": id_,
                "layer": graph.layer[id_],
                "kind": entry["kind"],
                "reference": entry["reference"],
                "verdict": printed(entry),
            }
            for id_, entry in found.items()
            if id_ in graph.layer
        ],
        "edges": [list(edge) for edge in graph.edges],
        "shaky": sorted(
            resting_on_failures(
                {id_: entry["uses"] for id_, entry in found.items()},
                {id_: printed(entry) for id_, entry in found.items()},
            )
        ),
        "results": composition.totals({"claims": list(found.values())}),
    }


def draw(data: Data) -> Figure:
    """Draw boxes in rows and arrows from what is used to what uses it."""
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    nodes = {node["id"]: node for node in data["nodes"]}
    edges = [(one, other) for one, other in data["edges"]]
    rows = rows_of({id_: node["layer"] for id_, node in nodes.items()}, edges)
    across = across_of(rows, edges)
    count = max(rows.values()) + 1
    figure, grid = panels(1, 1, height=count * ROW + 0.3)
    axes = grid[0, 0]
    axes.set_axis_off()
    axes.set_xlim(-PAGE / 2 - GAP, PAGE / 2 + GAP)
    axes.set_ylim(-0.25, (count - 1) * ROW + 0.25)
    for points in routes(rows, across, edges):
        style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 6, "linewidth": 0.6, "color": "0.45"}
        axes.add_patch(FancyArrowPatch(path=_path(points), shrinkA=0, shrinkB=0, zorder=1, **style))
    shaky = data.get("shaky", ())
    for id_, node in nodes.items():
        x, y, wide = across[id_], rows[id_] * ROW, width(id_)
        colour = VERDICTS[node["verdict"]]
        corner = (x - wide / 2, y - TALL / 2)
        shape = "round,pad=0,rounding_size=0.04"
        axes.add_patch(
            FancyBboxPatch(corner, wide, TALL, boxstyle=shape, facecolor="white", edgecolor="none", zorder=2)
        )
        box = FancyBboxPatch(corner, wide, TALL, boxstyle=shape, linewidth=1.2, zorder=3)
        box.set_facecolor((*_rgb(colour), 0.22))
        box.set_edgecolor(VERDICTS["VIOLATED"] if id_ in shaky else colour)
        box.set_linestyle((0, (3, 1.5)) if id_ in shaky else "-")
        axes.add_patch(box)
        text = f"{label(id_)} {SYMBOLS[node['verdict']]}".strip() + "*" * (id_ in shaky)
        axes.text(x, y, text, ha="center", va="center", fontsize=POINTS - 2, zorder=4, linespacing=1.05)
    _key(figure, data)
    return figure


def _path(points: Sequence[Point]) -> Path:
    """Return an edge through these points: bends and straight lines in turn."""
    from matplotlib.path import Path

    found, codes = [points[0]], [Path.MOVETO]
    for number, (before, after) in enumerate(itertools.pairwise(points)):
        if number % 2:
            found.append(after)
            codes.append(Path.LINETO)
        else:
            middle = (before[1] + after[1]) / 2
            found += [(before[0], middle), (after[0], middle), after]
            codes += [Path.CURVE4] * 3
    return Path(found, codes)


def _key(figure: Figure, data: Data) -> None:
    from matplotlib.patches import Patch

    seen = Counter(node["verdict"] for node in data["nodes"])
    handles = []
    for verdict in SYMBOLS:
        if seen[verdict]:
            colour = VERDICTS[verdict]
            label = f"{SYMBOLS[verdict]} {WORDS[verdict]} ({seen[verdict]})".strip()
            handles.append(Patch(facecolor=(*_rgb(colour), 0.22), edgecolor=colour, linewidth=1.2, label=label))
    if data.get("shaky"):
        label = f"* a step of its proof fails ({len(data['shaky'])})"
        failing = VERDICTS["VIOLATED"]
        handles.append(Patch(facecolor="white", edgecolor=failing, linestyle=(0, (3, 1.5)), linewidth=1.2, label=label))
    figure.legend(handles=handles, loc="outside upper center", ncols=5, fontsize=POINTS, frameon=False)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def caption(data: Data) -> str:
    """Say how many published statements fail, and how many that rest on failing ones hold."""
    verdict = {node["id"]: node["verdict"] for node in data["nodes"]}
    counted = Counter(verdict.values())
    others = "".join(f", {counted[name]} {WORDS[name]}" for name in list(WORDS)[2:] if counted[name])
    results = data["results"]
    certain = results["proved"] + results["certified"]
    composed = (
        f"; of {sum(results.values())} results that hold, as printed or corrected, {certain} rest on steps that are all"
        f" proved or certified, {results['modulo']} on others as well"
        if certain + results["modulo"]
        else ""
    )
    shaky = len(data.get("shaky", ()))
    resting = f", but a step of the proof fails for {shaky} of them" if shaky else ""
    return (
        f"Of {len(verdict)} connected statements {counted['VIOLATED']} fail as printed{others}; no counterexample is "
        f"found to {counted['HOLDS']}{resting} ({data['ledger']['effort']} effort){composed}."
    )


studies = tuple(
    Study(
        name=f"proof-graph-{paper}",
        title=f"Proof graph of {known.spoken} with verdicts",
        paper=paper,
        compute=functools.partial(compute, paper=paper),
        caption=caption,
        draw=draw,
        needs_ledger=True,
    )
    for paper, known in PAPERS.items()
)
