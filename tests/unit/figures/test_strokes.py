"""Lines of a figure differ in more than their colour, and its ticks do not run into each other."""

import itertools

import pytest

from fltheory.figures.between import draw
from fltheory.figures.style import panels
from fltheory.figures.theory.bound_against_trajectory import _ticks


def test_bounds_of_one_panel_are_told_apart_without_colours():
    values = [4.0, 2.0, 1.0]
    panel = {
        "title": "t",
        "xlabel": "rounds",
        "x": [1, 10, 100],
        "upper": {"one": values, "two": values},
        "lower": {"three": values, "four": values, "five": values},
        "run": {"six": values, "seven": values},
    }
    (axes,) = draw([panel], ylabel="gap").axes
    # How matplotlib stores dashes; points and squares have markers.
    looks = [
        (line.get_linestyle(), str(line._unscaled_dash_pattern), line.get_marker(), line.get_markerfacecolor())
        for line in axes.lines
    ]
    assert len(looks) == 7
    for one, other in itertools.combinations([look[:3] for look in looks[:5]], 2):
        assert one != other
    assert looks[5][2] != looks[6][2]


@pytest.mark.parametrize("last", [4, 20, 60, 200, 5000, 40_000])
def test_ticks_of_long_runs_do_not_run_into_each_other(last):
    figure, grid = panels(1, 3, height=2.0)
    place = grid[0, 0]
    place.loglog([1, last], [1.0, 2.0])
    _ticks(place)
    figure.canvas.draw()
    low, high = place.get_xlim()
    shown = [label for label in place.get_xticklabels() if label.get_text() and low <= label.get_position()[0] <= high]
    assert len(shown) >= 2
    ends = [label.get_window_extent() for label in shown]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(ends))
