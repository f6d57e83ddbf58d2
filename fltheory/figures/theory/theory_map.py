r"""Which theorem says most about FedAvg: over condition number, local steps, heterogeneity, noise and participation.

Four clients with quadratics in two dimensions, :math:`\mu = 1`, the start one unit from the mean of the clients'
minimisers. The abscissa is :math:`L/\mu`; each panel varies one thing more, all others are as in :data:`BASE`. In every
cell all bounds of the catalogue that can be read off a run are evaluated: at the learning rate that the theorem
prescribes, or at :math:`1/(4L)` if it prescribes none. Forms with a known counterexample do not take part, and neither
do rates, whose constants are not stated.

The colour is the theorem with the smallest bound on the gap after the last round: of the model, or of the average of
iterates that the theorem is about. A bound on the squared distance counts with the factor :math:`L/2`. The number is
the ratio of that bound to the quantity that it bounds on the same run, in exact expectation. A white cell has no valid
bound at all. No paper has this figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.catalogue import Folders
from fltheory.figures.study import Data, Study
from fltheory.figures.style import COLOURS, POINTS, dress, panels
from fltheory.participation import Everyone, Participation, Selection, WithoutReplacement, WithReplacement
from fltheory.quadratic.generators import client_quadratics
from fltheory.simulation.experiment import Experiment
from fltheory.theory.evaluation import Candidate
from fltheory.theory.standing import KnownVerdicts
from fltheory.theory.which import candidates, guarantees_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLIENTS, DIM = 4, 2

BASE: dict[str, Any] = {"K": 2, "spread": 1.0, "noise_sq": 1.0, "clients": "all"}
"""What is not varied in a panel."""

DIFFERENT = "other Hessians"
"""Heterogeneity in which the clients' Hessians differ as well, as much as :math:`L - \\mu` allows."""

SELECTIONS: dict[str, Selection] = {
    "all": Everyone(),
    "2 of 4": WithoutReplacement(size=2, renormalise=False),
    "1 of 4": WithoutReplacement(size=1, renormalise=False),
    "2 draws": WithReplacement(size=2),
}
"""Who takes part: subsets, or draws with replacement."""

PANELS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("K", "local steps $K$", (1, 2, 4, 8)),
    ("spread", "mean square distance\nof clients' minimisers", (0.0, 0.1, 10.0, DIFFERENT)),
    ("noise_sq", r"noise $\sigma^2$", (0.0, 0.1, 1.0, 100.0)),
    ("clients", "participation per round", tuple(SELECTIONS)),
)
"""What is varied: the key, how it is called, and its values."""


def compute(*, quick: bool, seed: int, ledger: Mapping[str, Any] | None = None, claims: Folders = ()) -> dict[str, Any]:
    """Evaluate all bounds in all cells; nothing is random, the seed is unused."""
    del seed
    conditions = [2.0, 100.0] if quick else [2.0, 10.0, 100.0]
    rounds = 10 if quick else 20
    verdicts = KnownVerdicts(ledger)
    chosen = [
        one
        for one in candidates(claims=claims)
        if one.statement.kind == "bound" and not verdicts.of(one.statement.id, one.form.variant).refuted
    ]
    known: dict[str, dict[str, Any]] = {}  # panels have the cells of the base in common

    def cell(condition: float, setting: dict[str, Any]) -> dict[str, Any]:
        name = repr((condition, setting))
        if name not in known:
            known[name] = _cell(experiment(condition, setting, rounds), chosen, verdicts)
        return known[name]

    maps = []
    for key, _, values in PANELS:
        kept = values[::2] if quick else values
        cells = [[cell(condition, {**BASE, key: value}) for condition in conditions] for value in kept]
        maps.append({"key": key, "values": list(kept), "cells": cells})
    names = {one.statement.id: one.statement.reference for one in chosen}
    best = {name: names[name] for name in _winners(maps)}
    return {"conditions": conditions, "rounds": rounds, "base": BASE, "maps": maps, "names": best}


def experiment(condition: float, setting: Data, rounds: int) -> Experiment:
    """Return the run of a cell."""
    different = setting["spread"] == DIFFERENT
    problem = client_quadratics(
        dim=DIM,
        num_clients=CLIENTS,
        mu=1.0,
        L=condition,
        dissimilarity=condition - 1.0 if different else 0.0,
        commuting=True,
        spread=1.0 if different else setting["spread"],
        noise_sq=setting["noise_sq"],
    )
    return Experiment(
        problem=problem,
        algorithm=FedAvg(),
        participation=Participation(
            num_clients=CLIENTS, local_steps=setting["K"], selection=SELECTIONS[setting["clients"]]
        ),
        rounds=rounds,
        rate=1 / (4 * condition),
    )


def _cell(run: Experiment, chosen: Sequence[Candidate], verdicts: KnownVerdicts) -> dict[str, Any]:
    """Return the best theorem of a cell, its bound and its ratio, and what all others guarantee."""
    found = guarantees_on(run, chosen, verdicts)
    best: dict[str, float] = {}
    for one in found.ranked:
        if one.gap_bound is not None:
            best[one.id] = min(best.get(one.id, np.inf), one.gap_bound)
    winner = found.smallest
    return {
        "theorem": None if winner is None else winner.id,
        "form": None if winner is None else winner.variants[0],
        "bound": None if winner is None else winner.gap_bound,
        "ratio": None if winner is None else winner.tightness,
        "all": dict(sorted(best.items(), key=lambda item: item[1])),
        "errors": dict(found.errors),
    }


def _winners(maps: Sequence[Data]) -> list[str]:
    """Return the theorems that are best somewhere, the most frequent first."""
    counted = Counter(cell["theorem"] for one in maps for row in one["cells"] for cell in row)
    return [name for name, _ in counted.most_common() if name is not None]


def draw(data: Data) -> Figure:
    """Draw one map per thing that is varied."""
    from matplotlib.patches import Patch, Rectangle

    figure, axes = panels(1, len(data["maps"]), height=2.3)
    winners = _winners(data["maps"])
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(winners)}
    letters = {name: chr(ord("a") + place) for place, name in enumerate(winners)}
    words = {key: name for key, name, _ in PANELS}
    for one, place in zip(data["maps"], axes.flat, strict=True):
        for row, cells in enumerate(one["cells"]):
            for column, cell in enumerate(cells):
                filled = "white" if cell["theorem"] is None else colours[cell["theorem"]]
                corner = (column - 0.5, row - 0.5)
                place.add_patch(Rectangle(corner, 1, 1, facecolor=filled, alpha=0.45, edgecolor="white"))
                text = "–" if cell["theorem"] is None else _factor(cell["ratio"])
                text += "" if cell["theorem"] is None else f"\n{letters[cell['theorem']]}"
                place.text(column, row, text, ha="center", va="center", fontsize=POINTS - 1, linespacing=1.0)
        place.set_xlim(-0.5, len(data["conditions"]) - 0.5)
        place.set_ylim(-0.5, len(one["values"]) - 0.5)
        place.set_xticks(range(len(data["conditions"])), [f"{value:g}" for value in data["conditions"]])
        labels = ["other\nHessians" if value == DIFFERENT else value for value in one["values"]]
        labels = [value if isinstance(value, str) else f"{value:g}" for value in labels]
        place.set_yticks(range(len(labels)), labels)
        dress(place, xlabel=r"$L/\mu$", ylabel=words[one["key"]])
        place.grid(visible=False)
        place.tick_params(length=0)
    meaning = {name: f"{letters[name]}  {data['names'][name]}" for name in winners}
    handles = [Patch(facecolor=colours[name], alpha=0.45, label=meaning[name]) for name in winners]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=POINTS - 1, frameon=False)
    return figure


def _factor(value: float) -> str:
    """Write a ratio in few characters.

    >>> _factor(3.14159), _factor(314.159), _factor(31415.9)
    ('3.1', '314', '3.1e4')
    """
    if value < 10:
        return f"{value:.1f}"
    if value < 1000:
        return f"{value:.0f}"
    power = int(np.floor(np.log10(value)))
    return f"{value / 10.0**power:.1f}e{power}"


def caption(data: Data) -> str:
    """Say which theorems are best, in how many cells, and how far the best bound is from the exact value."""
    cells = [cell for one in data["maps"] for row in one["cells"] for cell in row]
    known = [cell for cell in cells if cell["theorem"] is not None]
    if not known:
        return f"No theorem has a valid bound in any of the {len(cells)} settings."
    counted = Counter(cell["theorem"] for cell in known)
    ratios = [cell["ratio"] for cell in known]
    winners = "; ".join(f"{data['names'][name]} in {count}" for name, count in counted.most_common())
    return (
        f"The smallest valid bound on the gap of FedAvg after {data['rounds']} rounds, in {len(cells)} settings: "
        f"{winners}; no theorem applies in {len(cells) - len(known)}; the bound exceeds the exact value of what it "
        f"bounds by a factor of {min(ratios):.2g} to {max(ratios):.2g}."
    )


study = Study(
    name="theory-map",
    title="Which theorem says most about FedAvg",
    paper="fltheory",
    compute=compute,
    caption=caption,
    draw=draw,
    needs_ledger=True,
    own_claims=True,
    weight=4,
)
