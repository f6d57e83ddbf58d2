"""Arrivals and departures on SYNTHETIC data: traces, branches that continue their past, measures, waiting times."""

from __future__ import annotations

import numpy as np
import pytest

from fltheory.bounds.ruan import settings as study
from fltheory.bounds.ruan.figures import figure_4, table_4, table_5
from fltheory.errors import InvalidParameter
from fltheory.participation import Departure, Timeline


@pytest.fixture(scope="module")
def problem():
    return study.federation(spread=1.0, seed=3)


@pytest.mark.parametrize("number", range(len(study.MEANS)))
@pytest.mark.parametrize("steps", [5, 20])
def test_traces_have_the_published_deviations_and_our_means(number: int, steps: int) -> None:
    pmf = study.trace(number, steps)
    share = np.arange(steps + 1) / steps
    mean = pmf @ share
    assert pmf.sum() == pytest.approx(1.0)
    assert mean == pytest.approx(study.MEANS[number], abs=1e-9)
    assert np.sqrt(pmf @ (share - mean) ** 2) == pytest.approx(study.DEVIATIONS[number], abs=1e-9)
    assert (pmf[0] == 0.0) == (number < study.NEVER_INACTIVE)


def test_a_branch_without_an_event_continues_its_past_exactly(problem) -> None:
    whole = study.scheme_c(problem, Timeline(), rounds=7, seed=3)
    models = study.run_models(whole, seed=3, replicates=2)
    later = study.run_models(whole, seed=3, replicates=2, first=4, begin=models[:, 4])
    np.testing.assert_array_equal(later, models[:, 4:])


def test_blocks_of_rounds_are_one_run(problem, monkeypatch) -> None:
    past = study.before_arrival(problem, rounds=3, replicates=2, seed=3)
    more = {"at": 3, "horizon": 7, "fast": True, "seed": 3}
    (once,) = study.after_arrival(problem, past, **more)
    monkeypatch.setattr(study, "BLOCK", 3)
    blocks = list(study.after_arrival(problem, past, **more))
    assert [accuracy.shape for accuracy, _ in blocks] == [(2, 3), (2, 3), (2, 1)]
    for measure in (0, 1):
        np.testing.assert_array_equal(np.hstack([block[measure] for block in blocks]), once[measure])


def test_fast_reboot_and_exclusion_change_the_run_after_the_event_only(problem) -> None:
    past = study.before_arrival(problem, rounds=4, replicates=2, seed=3)
    fast, vanilla = (
        next(study.after_arrival(problem, past, at=4, horizon=2, fast=fast, seed=3)) for fast in (True, False)
    )
    assert not np.array_equal(fast[1], vanilla[1])
    past = study.before_departure(problem, rounds=4, replicates=2, seed=3)
    keep, drop = (
        next(study.after_departure(problem, past, at=4, horizon=2, exclude=drop, seed=3)) for drop in (False, True)
    )
    # Without the leaver's test samples, and with a learning rate that begins anew.
    assert not np.array_equal(drop[1], keep[1])
    timeline = Timeline(departures=(Departure(client=study.CLIENTS - 1, round=4, exclude=True),))
    run = study.scheme_c(problem, timeline, rounds=6, seed=3)
    assert (run.rate_at(3), run.rate_at(4)) == (0.25, 1.0)


def test_measures_are_those_of_the_members(problem) -> None:
    w = np.random.default_rng(0).normal(size=(2, problem.dim))
    accuracy, loss = study.held_out(problem, w, study.everyone_but(None))
    np.testing.assert_allclose(accuracy, problem.accuracy(w))
    each = [study.held_out(problem, w, ~study.everyone_but(client)) for client in range(study.CLIENTS)]
    np.testing.assert_allclose(np.mean([one[0] for one in each], axis=0), accuracy)
    np.testing.assert_allclose(np.mean([one[1] for one in each], axis=0), loss)
    others = study.held_out(problem, w, study.everyone_but(4))[1]
    np.testing.assert_allclose((study.CLIENTS - 1) * others + each[4][1], study.CLIENTS * loss)


def test_waiting_asks_for_no_more_blocks_than_it_needs() -> None:
    asked = []

    def blocks():
        for number in range(4):
            asked.append(number)
            yield np.array([[number == 0, False], [False, number == 1]])

    np.testing.assert_array_equal(study.rounds_until(blocks()), [1, 4])
    assert asked == [0, 1]
    np.testing.assert_array_equal(study.rounds_until([np.array([[False], [True]])]), [np.inf, 1])
    with pytest.raises(InvalidParameter, match="at least one block"):
        study.rounds_until([])


def test_runs_that_never_recover_count_with_the_horizon_and_are_told(monkeypatch) -> None:
    never = np.array([[np.inf, 4.0, 6.0], [2.0, 3.0, 4.0]])  # accuracy, loss
    monkeypatch.setattr(table_4, "_recovery", lambda *_, fast, **__: never - fast)
    data = table_4.compute(quick=True, seed=0)
    (cell, _) = data["sizes"][0]["cells"]
    horizon = data["settings"]["horizon"]
    assert cell["rounds"]["accuracy"]["vanilla"] == pytest.approx([(horizon + 10) / 3] * 3)
    assert cell["rounds"]["loss"] == {"fast": [2.0] * 3, "vanilla": [3.0] * 3}
    assert cell["not_recovered"] == {"accuracy": {"fast": 3, "vanilla": 3}, "loss": {"fast": 0, "vanilla": 0}}
    assert f"12 recoveries are not seen within {horizon} rounds." in table_4.caption(data)
    assert "clearly for accuracy at τ₀ = 10" in table_4.caption(data)


def test_the_departure_table_tells_the_change_and_what_was_published(monkeypatch) -> None:
    found = iter(np.array([[1.0, 1.0], [3.0, 3.0], [9.0, np.inf], [1.0, 1.0], [5.0, 5.0], [2.0, 2.0]] * 2))
    monkeypatch.setattr(table_5, "rounds_until", lambda _: next(found))
    data = table_5.compute(quick=True, seed=0)
    horizon = data["settings"]["horizon"]
    first = data["rows"][0]
    assert first["crossings"] == [[1.0, 3.0, (9 + horizon) / 2], [1.0, 5.0, 2.0]]
    assert first["never"] == [0, 0, 1]
    caption = table_5.caption(data)
    assert "published: from 2 to 40" in caption
    assert all(table_5.table(data).columns)  # a screen reader tells a cell with the name of its column
    assert f"2 of 24 runs have no crossing within {horizon} rounds." in caption


def test_the_arrival_figure_tells_what_fast_reboot_adds() -> None:
    data = figure_4.compute(quick=True, seed=0)
    fast, vanilla = (np.array(data["arrival"][name]["mean"]) for name in ("fast reboot", "vanilla reboot"))
    at = data["settings"]["at"]
    np.testing.assert_array_equal(fast[:at], vanilla[:at])
    np.testing.assert_allclose(data["gain"]["mean"], (fast - vanilla)[at:], atol=1e-12)
    flat = {**data, "gain": {"mean": [0.01, -0.02], "low": [0.005, -0.03], "high": [0.02, 0.01]}}
    told = figure_4.caption(flat)
    assert "leaves out zero in 1 of 2 rounds (largest mean: fast minus vanilla -2.0 points in round 2" in told
    assert "leaves out zero in none of 2" in figure_4.caption({**flat, "gain": {**flat["gain"], "low": [-1, -1]}})
