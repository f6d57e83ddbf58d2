"""Every figure of the papers at the size at which it is printed: letters, legends, edges, colours, caption."""

from __future__ import annotations

import copy
import itertools
import json

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text

from fltheory.bounds import catalogue
from fltheory.figures.study import studies
from fltheory.figures.style import COLOURS, COLUMN, PAGE, settle
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import ledger
from fltheory.validation.runner import check_all

SMALLEST = 6.0
"""Points; what journals ask for at the size of print."""

DRAWN = [name for name, study in studies().items() if study.draw is not None]


@pytest.fixture(scope="module")
def verdicts():
    ids = ["cfl.eq-62-fedavg", "cfl.eq-59", "ruan.eq-44", "ruan.eq-46", "efl.lemma-2", "efl.eq-59", "fen.lemma-b.*"]
    ids += ["li.*", "proxskip.*", "fieldguide.*", "scaffold.lemma-?"]
    ids += ["glasgow.theorem-a.1", "glasgow.theorem-a.3", "koloskova.lemma-9", "koloskova.theorem-2-sc"]
    ids += ["woodworth.lemma-4", "woodworth.lemma-5"]
    done, _ = check_all(catalogue.select(ids), effort=Effort(instances=20, experiments=3))
    return ledger(done, seed=0, effort="quick")


@pytest.fixture(scope="module", params=DRAWN)
def drawn(request, verdicts):
    """Return a study, its numbers as they are stored, and its figure laid out."""
    study = studies()[request.param]
    more = {"ledger": verdicts} if study.needs_ledger else {}
    data = json.loads(json.dumps(study.compute(quick=True, seed=0, **more), allow_nan=False))
    figure = study.draw(data)
    FigureCanvasAgg(figure)
    settle(figure)
    figure.draw_without_rendering()
    return study, data, figure


def texts(figure):
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in shown if text.axes is None or text.axes.get_visible()]


def test_drawing_is_a_pure_function_of_the_stored_numbers(drawn):
    study, data, figure = drawn
    before, settings = copy.deepcopy(data), dict(matplotlib.rcParams)
    again = study.draw(data)
    assert again is not figure
    assert data == before
    assert dict(matplotlib.rcParams) == settings


def test_letters_can_be_read_at_the_width_of_print(drawn):
    _, _, figure = drawn
    assert any(np.isclose(figure.get_figwidth(), width) for width in (COLUMN, PAGE))
    sizes = {text.get_text(): text.get_fontsize() for text in texts(figure)}
    assert sizes
    assert min(sizes.values()) >= SMALLEST, min(sizes.items(), key=lambda item: item[1])


def test_nothing_is_cut_off(drawn):
    _, _, figure = drawn
    renderer = figure.canvas.get_renderer()
    shown = [axis for axes in figure.axes if axes.get_visible() and axes.axison for axis in (axes.xaxis, axes.yaxis)]
    ticks = {text for axis in shown for text in axis.get_ticklabels(which="both")}  # some are outside the axes
    boxes = {text.get_text(): text.get_window_extent(renderer) for text in texts(figure) if text not in ticks}
    boxes |= {f"axis {n}": axis.get_tightbbox(renderer) for n, axis in enumerate(shown)}
    for name, box in boxes.items():
        if box is not None and box.width * box.height > 0:
            assert min(box.x0, box.y0) >= -1, name
            assert box.x1 <= figure.bbox.width + 1, name
            assert box.y1 <= figure.bbox.height + 1, name


def test_numbers_along_an_axis_do_not_run_into_each_other(drawn):
    _, _, figure = drawn
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        if not (axes.get_visible() and axes.axison):
            continue
        low, high = axes.get_window_extent(renderer).intervalx
        shown = [text for text in axes.get_xticklabels() if text.get_visible() and text.get_text()]
        boxes = sorted((text.get_window_extent(renderer) for text in shown), key=lambda box: box.x0)
        inside = [box for box in boxes if low - 1 <= (box.x0 + box.x1) / 2 <= high + 1]
        for left, right in itertools.pairwise(inside):
            assert left.x1 <= right.x0 + 0.5, (axes.get_title(), axes.get_xlabel())


def test_no_legend_hides_a_curve(drawn):
    _, _, figure = drawn
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent(renderer)
        for line in axes.lines:
            points = line.get_transform().transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
            points = points[np.isfinite(points).all(axis=1)]
            if len(points) > 2:  # not a mark across the panel
                inside = [box.contains(*point) for point in points]
                assert not any(inside), f"{sum(inside)} points of {line.get_label()}"


def test_axes_say_what_they_show(drawn):
    study, _, figure = drawn
    shown = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
    if study.name.startswith("proof-graph"):
        assert not shown
        return
    assert any(axes.get_xlabel() for axes in shown)
    assert any(axes.get_ylabel() for axes in shown)


def test_curves_have_the_colours_that_stay_apart(drawn):
    _, _, figure = drawn
    for axes in figure.axes:
        for line in axes.lines:
            colour = to_hex(line.get_color())
            grey = len({colour[1:3], colour[3:5], colour[5:7]}) == 1
            assert grey or colour.upper() in COLOURS, colour


def one_sentence(caption: str) -> None:
    """Assert that a caption is one sentence with numbers."""
    assert caption.endswith(".")
    assert "\n" not in caption
    assert ". " not in caption.replace("i. e. ", "")
    assert not {"nan", "inf", "None"} & set(caption.replace(",", " ").replace(")", " ").split())
    assert any(letter.isdigit() for letter in caption)


def test_the_caption_is_one_sentence_of_numbers(drawn):
    study, data, _ = drawn
    one_sentence(study.caption(data))


@pytest.mark.parametrize("name", [name for name, study in studies().items() if study.draw is None])
def test_a_table_has_full_rows_and_a_caption_of_one_sentence(name):
    study = studies()[name]
    data = json.loads(json.dumps(study.compute(quick=True, seed=0), allow_nan=False))
    one_sentence(study.caption(data))
    table = study.table(data)
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert not {"nan", "inf", "None"} & {word for row in table.rows for cell in row for word in cell.split()}
