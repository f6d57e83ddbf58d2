"""Which theorem says most, over many settings: the numbers behind the figure, and what is drawn of them."""

import pytest

import fltheory as fl
from fltheory.bounds.papers import PAPERS
from fltheory.figures.study import studies
from fltheory.figures.theory import theory_map
from fltheory.theory.standing import KnownVerdicts


@pytest.fixture(scope="module")
def data():
    return theory_map.compute(quick=True, seed=0)


def cells_of(data):
    return [cell for one in data["maps"] for row in one["cells"] for cell in row]


def test_a_cell_is_what_a_comparison_of_all_theorems_says(data):
    one = data["maps"][1]
    assert (one["key"], one["values"]) == ("spread", [0.0, 10.0])
    run = theory_map.experiment(100.0, {**data["base"], "spread": 10.0}, data["rounds"])
    found = fl.compare_theorems(run, own_algorithms=False)
    cell = one["cells"][1][1]
    assert (cell["theorem"], cell["form"]) == (found.smallest.id, found.smallest.variants[0])
    assert cell["bound"] == pytest.approx(found.smallest.gap_bound)
    assert cell["ratio"] == pytest.approx(found.smallest.tightness)
    assert min(cell["all"].values()) == cell["bound"]
    assert list(cell["all"].values()) == sorted(cell["all"].values())


def test_nothing_refuted_and_no_rate_is_best(data):
    verdicts = KnownVerdicts()
    for cell in cells_of(data):
        assert not cell["errors"]
        assert cell["ratio"] >= 1 - 1e-9
        assert not verdicts.of(cell["theorem"], cell["form"]).refuted
        assert fl.theorem(cell["theorem"]).kind == "bound"


def test_participation_and_different_hessians_change_the_answer(data):
    runs = {
        name: theory_map.experiment(10.0, {**data["base"], **setting}, 10)
        for name, setting in {
            "all": {},
            "some": {"clients": "2 of 4"},
            "different": {"spread": theory_map.DIFFERENT},
        }.items()
    }
    best = {name: fl.compare_theorems(run, own_algorithms=False).smallest.id for name, run in runs.items()}
    assert best["all"].startswith("fieldguide.")
    assert not best["some"].startswith("fieldguide.")
    assert not best["different"].startswith("fieldguide.")


def test_a_verdict_of_a_ledger_takes_a_theorem_off_the_map(data):
    first = data["maps"][0]["cells"][0][0]
    forms = [{"variant": name, "verdict": "VIOLATED"} for name in fl.theorem(first["theorem"]).forms]
    ledger = {"claims": [{"id": first["theorem"], "forms": forms}]}
    other = theory_map.compute(quick=True, seed=0, ledger=ledger)
    assert first["theorem"] not in {cell["theorem"] for cell in cells_of(other)}


def test_the_figure_names_all_winners_and_has_a_number_in_every_cell(data):
    figure = theory_map.draw(data)
    [legend] = figure.legends
    winners = {fl.theorem(cell["theorem"]).reference for cell in cells_of(data)}
    assert all(name.startswith(tuple(paper.label for paper in PAPERS.values())) for name in winners)
    told = dict(text.get_text().split("  ", 1) for text in legend.get_texts())
    assert set(told.values()) == winners
    # Colours alone do not tell theorems apart: every cell has the letter of its theorem.
    letters = [text.get_text().split("\n")[1] for axes in figure.axes for text in axes.texts]
    found = [fl.theorem(cell["theorem"]).reference for cell in cells_of(data)]
    assert [told[letter] for letter in letters] == found
    assert [len(axes.texts) for axes in figure.axes] == [4] * 4
    first = figure.axes[0].texts[0].get_text().split("\n")[0]
    assert first == theory_map._factor(data["maps"][0]["cells"][0][0]["ratio"])
    caption = theory_map.caption(data)
    assert all(name in caption for name in winners)
    assert not any(cell["theorem"] in caption for cell in cells_of(data))
    assert "in 16 settings" in caption


def test_a_setting_without_any_bound_is_white_and_said(data):
    nothing = {"theorem": None, "form": None, "bound": None, "ratio": None, "all": {}, "errors": {}}
    empty = {**data, "maps": [{**one, "cells": [[nothing] * len(row) for row in one["cells"]]} for one in data["maps"]]}
    assert "No theorem has a valid bound in any of the 16 settings" in theory_map.caption(empty)
    assert {text.get_text() for axes in theory_map.draw(empty).axes for text in axes.texts} == {"–"}


def test_it_is_found_by_name():
    assert studies()["theory-map"] is theory_map.study
