"""The figure of a sweep: what is drawn where, and on which scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fltheory import figures
from fltheory.errors import InvalidParameter
from fltheory.figures.grid import MOST, RUNAWAY, Spot, grid

STEPS = (1, 4, 16)


def spots(*others: object, label: str = "A", scale: float = 1.0, half: float = 0.0) -> list[Spot]:
    return [
        Spot({"participation.local_steps": steps, "problem.mu": other}, label, scale / steps, half)
        for steps in STEPS
        for other in others
    ]


def test_one_line_per_label_and_one_panel_per_choice() -> None:
    drawn = [*spots(0.5, 1.0), *spots(0.5, 1.0, label="_$B$", scale=2.0)]
    figure = grid(drawn, against="participation.local_steps", title="T $x$")
    assert [axes.get_title() for axes in figure.axes] == ["mu = 0.5", "mu = 1"]
    for axes in figure.axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlabel() == "local_steps"
        assert len(axes.containers) == 2
        np.testing.assert_allclose(np.asarray(axes.lines[1].get_ydata(), dtype=float), [2.0, 0.5, 0.125])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A", "_$B$"]
    assert figure._suptitle.get_text() == "T $x$"  # type: ignore[attr-defined]


def test_bands_are_error_bars_that_end_at_the_edge() -> None:
    figure = grid(spots(1.0, half=0.5), against="participation.local_steps")
    (axes,) = figure.axes
    (bars,) = axes.containers[0].lines[2]  # type: ignore[union-attr]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 1], 1.0 / np.array(STEPS) + 0.5)
    np.testing.assert_allclose(ends[0], [0.5, 1.5])
    assert ends[1:, 0] == pytest.approx(axes.get_ylim()[0])


def test_the_number_of_panels_is_bounded_and_the_rest_is_named() -> None:
    figure = grid(spots(*range(10)), against="participation.local_steps", more="sweep.csv")
    assert len(figure.axes) == MOST
    assert figure._suptitle.get_text() == "first 6 of 10 choices; all are in sweep.csv"  # type: ignore[attr-defined]


def test_choices_that_look_alike_stay_apart() -> None:
    assert len(grid(spots(0.1, 0.1 + 1e-12), against="participation.local_steps").axes) == 2


def test_scales_follow_the_values() -> None:
    at = [Spot({"x": x}, "A", mean) for x, mean in ((0, 1.0), (1, 0.0), (2, 0.5))]
    (axes,) = grid(at, against="x").axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [0, 2])
    (axes,) = grid([spot._replace(mean=-spot.mean) for spot in at], against="x").axes
    assert axes.get_yscale() == "linear"


def test_runs_about_to_diverge_do_not_press_the_others_flat() -> None:
    far = [spot._replace(mean=1e3 * RUNAWAY, half_width=1e300) for spot in spots(2.0)]
    figure = grid([*spots(1.0), *far], against="participation.local_steps")
    assert figure.axes[0].get_ylim()[1] < 2.0
    assert [text.get_text() for text in figure.axes[1].texts] == ["beyond the figure"]
    (axes,) = grid([spot._replace(mean=1.7e308) for spot in far], against="participation.local_steps").axes
    assert np.isfinite(axes.get_ylim()[1])


def test_the_files_are_not_empty_and_always_the_same(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        figures.save(grid(spots(1.0, half=0.01), against="participation.local_steps"), tmp_path / folder / "figure")
    for name in ("figure.svg", "figure.png"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert first == second
        assert len(first) > 5000


def test_nothing_to_draw_and_unknown_quantities_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"grid.spots must hold at least one value"):
        grid([], against="x")
    with pytest.raises(InvalidParameter, match=r"grid.quantity must be one of"):
        grid(spots(1.0), against="participation.local_steps", quantity="gapp")
