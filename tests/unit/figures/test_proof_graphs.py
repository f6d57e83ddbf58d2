"""Proof graphs as pictures: what they mark, and where their edges run."""

from collections import Counter

import numpy as np
import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.papers import PAPERS
from fltheory.figures.graph_layout import ROW, TALL, across_of, routes, rows_of, width
from fltheory.figures.theory.proof_graphs import _path, caption, compute, draw
from fltheory.validation.proof_graph import layout

INDEX = catalogue.index()


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_no_edge_runs_behind_a_box(paper):
    plan = layout({id_: catalogue.uses(entry) for id_, entry in INDEX.items() if entry.paper == paper}, widest=1000)
    edges = list(plan.edges)
    rows = rows_of(plan.layer, edges)
    across = across_of(rows, edges)
    assert edges
    for (one, other), points in zip(edges, routes(rows, across, edges), strict=True):
        (line,) = _path(points).to_polygons(closed_only=False)
        steps = np.linspace(line[:-1], line[1:], 20, axis=1).reshape(-1, 2)
        for id_ in rows.keys() - {one, other}:
            inside = (np.abs(steps[:, 0] - across[id_]) < width(id_) / 2) & (
                np.abs(steps[:, 1] - rows[id_] * ROW) < TALL / 2
            )
            assert not inside.any(), (one, other, id_)


def test_what_holds_although_a_step_fails_is_marked_and_counted_once():
    def entry(name, verdict, *uses):
        return {
            "id": f"li.{name}",
            "paper": "li",
            "kind": "lemma",
            "reference": name,
            "error": "",
            "uses": [f"li.{use}" for use in uses],
            "forms": [
                {"variant": "published", "verdict": verdict, "strength": "searched", "evidence": {}, "meant": []}
            ],
        }

    claims = [
        entry("theorem-1", "HOLDS", "lemma-1"),
        entry("theorem-2", "HOLDS", "lemma-2"),
        entry("lemma-1", "VIOLATED"),
        entry("lemma-2", "HOLDS"),
    ]
    document = {"claims": claims, "commit": "", "time": "", "seed": 0, "effort": "full"}
    data = compute(quick=True, seed=0, ledger=document, paper="li")
    assert data["shaky"] == ["li.theorem-1"]
    assert "a step of the proof fails for 1 of them" in caption(data)
    figure = draw(data)
    (axes,) = figure.axes
    frames = Counter(patch.get_linestyle() for patch in axes.patches if patch.get_zorder() == 3)
    assert frames["--"] + frames[(0, (3, 1.5))] == 1
    assert [text.get_text().count("*") for text in axes.texts].count(1) == 1
    assert "* a step of its proof fails (1)" in [text.get_text() for text in figure.legends[0].get_texts()]
