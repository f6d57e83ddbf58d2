"""The comparison figure: what is drawn, where bands end, and that nothing global changes."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex

from fltheory import figures
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.figures.comparison import AXES
from fltheory.figures.style import COLOURS, STYLES
from fltheory.simulation.trajectories import Trajectories


def trajectories(gap: Floats, *, exact: bool = False) -> Trajectories:
    return Trajectories(
        algorithm="A",
        distance_sq=gap,
        gap=gap,
        gradient_norm_sq=gap,
        uplink_bits=np.abs(gap),
        downlink_bits=np.abs(gap),
        exact=exact,
    )


def decaying(replicates: int = 8, rounds: int = 10, noise: float = 0.1) -> Floats:
    spread = noise * (np.linspace(-1, 1, replicates) if replicates > 1 else np.zeros(1))[:, None]
    return np.asarray(0.5 ** np.arange(rounds + 1) * (1 + spread), dtype=np.float64)


def test_every_curve_but_the_models_has_an_axis() -> None:
    meta = {"algorithm", "exact", "conditional", "provenance", "models", "model_mean", "model_covariance"}
    names = {field.name for field in dataclasses.fields(Trajectories)}
    inside = {"gradient_sq", "local_models", *(name for name in names if name.startswith("mean_iterate"))}
    assert names - meta - inside == set(AXES)


def test_one_line_and_one_band_per_curve_at_column_width() -> None:
    figure = figures.comparison([("one", trajectories(decaying())), ("two", trajectories(2 * decaying()))], title="T")
    (axes,) = figure.axes
    assert tuple(figure.get_size_inches()) == (3.4, 2.6)
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == AXES["gap"]
    assert axes.get_title() == "T"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    assert len(axes.collections) == 2
    np.testing.assert_allclose(axes.lines[1].get_ydata(), 2 * decaying().mean(axis=0))
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), np.arange(11))


def test_colours_and_styles_differ() -> None:
    figure = figures.comparison([(f"curve {i}", trajectories(decaying())) for i in range(6)])
    lines = figure.axes[0].lines
    assert len({to_hex(line.get_color()) for line in lines}) == 6
    looks = {(COLOURS[i % len(COLOURS)], STYLES[i % len(STYLES)]) for i in range(len(COLOURS) * len(STYLES))}
    assert len(looks) == len(COLOURS) * len(STYLES)


def test_band_is_the_simultaneous_one() -> None:
    runs = trajectories(decaying())
    figure = figures.comparison([("one", runs)], level=0.9)
    band = runs.band("gap", level=0.9)
    top = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert top.max() == pytest.approx(band.high.max())


def test_band_below_zero_ends_at_the_edge_of_the_figure() -> None:
    runs = trajectories(decaying(noise=3.0))
    assert runs.band("gap").low.min() < 0
    axes = figures.comparison([("wide", runs)]).axes[0]
    reached = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert reached.min() == pytest.approx(axes.get_ylim()[0])
    assert 0 < axes.get_ylim()[0] < runs.gap.mean(axis=0).min()


def test_means_that_are_not_positive_leave_a_hole() -> None:
    gap = np.array([[1.0, 0.1, 0.0, 0.01]])
    drawn = figures.comparison([("hole", trajectories(gap, exact=True))]).axes[0].lines[0].get_ydata()
    np.testing.assert_array_equal(np.isnan(drawn), [False, False, True, False])


def test_axis_is_linear_when_nothing_is_positive() -> None:
    axes = figures.comparison([("still", trajectories(np.zeros((1, 4)), exact=True))]).axes[0]
    assert axes.get_yscale() == "linear"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), np.zeros(4))


@pytest.mark.parametrize("exact", [False, True])
def test_one_row_is_drawn_without_a_band(exact: bool) -> None:
    axes = figures.comparison([("one", trajectories(decaying(replicates=1), exact=exact))]).axes[0]
    assert not axes.collections
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), decaying(replicates=1)[0])


@pytest.mark.parametrize("label", [r"$\nonsense{$", "_hidden", "costs 5$", "[red]x", "<&>"])
def test_labels_are_taken_literally(label: str, tmp_path: Path) -> None:
    figure = figures.comparison([(label, trajectories(decaying()))], title=label)
    assert figure.axes[0].get_legend().get_texts()[0].get_text() == label
    svg, png = figures.save(figure, tmp_path / "figure")
    assert svg.read_bytes().startswith(b"<?xml")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_files_are_reproducible(tmp_path: Path) -> None:
    first = figures.save(figures.comparison([("one", trajectories(decaying()))]), tmp_path / "first")
    second = figures.save(figures.comparison([("one", trajectories(decaying()))]), tmp_path / "second")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_text_is_eight_points_or_close(tmp_path: Path) -> None:
    figure = figures.comparison([("one", trajectories(decaying()))], title="T")
    figures.save(figure, tmp_path / "figure")
    axes = figure.axes[0]
    texts = [axes.xaxis.label, axes.yaxis.label, axes.title, *axes.get_xticklabels(), *axes.get_yticklabels()]
    assert {text.get_fontsize() for text in texts} == {8}
    assert {text.get_fontsize() for text in axes.get_legend().get_texts()} == {7}


def test_nothing_global_changes(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    figures.save(figures.comparison([("one", trajectories(decaying()))]), tmp_path / "figure")
    assert dict(matplotlib.rcParams) == before
    code = "import sys, fltheory.figures; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_mistakes_are_named() -> None:
    runs = trajectories(decaying())
    with pytest.raises(InvalidParameter, match="did you mean 'gap'"):
        figures.comparison([("one", runs)], quantity="gapp")
    with pytest.raises(InvalidParameter, match="at least one curve"):
        figures.comparison([])
    with pytest.raises(NotApplicable, match="nonzeros"):
        figures.comparison([("one", runs)], quantity="nonzeros")


def test_a_band_without_end_does_not_stretch_the_axis() -> None:
    values = np.array([[1.0, 0.1e308], [1.0, 1.6e308]])
    (axes,) = figures.comparison([("one", trajectories(values))]).axes
    assert np.isfinite(axes.get_ylim()[1])


def test_where_no_minimiser_is_known_the_accuracy_is_drawn_on_a_linear_axis() -> None:
    share = 1.0 - decaying()
    run = Trajectories(algorithm="A", loss=decaying(), accuracy=share, uplink_bits=share, downlink_bits=share)
    (axes,) = figures.comparison([("one", run)]).axes
    assert axes.get_yscale() == "linear"
    assert axes.get_ylabel() == AXES["accuracy"]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), share.mean(axis=0))
    (losses,) = figures.comparison([("one", run)], quantity="loss").axes
    assert losses.get_yscale() == "log"
    with pytest.raises(NotApplicable, match="'gap' was not recorded"):
        figures.comparison([("one", run)], quantity="gap")
