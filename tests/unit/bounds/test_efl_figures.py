"""Which weight of the elastic term is better: differences of runs with the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from fltheory.bounds.efl.figures import figure_2


def flat(mean: float, half: float) -> dict[str, list[float]]:
    return {"mean": [mean] * 3, "low": [mean - half] * 3, "high": [mean + half] * 3}


def numbers(gaps: dict[float, tuple[float, float]]) -> dict:
    """Return the numbers of a figure with one column; every weight has a gap and half the width of its difference."""
    curves = [{"elasticity": weight, "gap": flat(gap, 1.0)} for weight, (gap, _) in gaps.items()]
    for curve, (gap, half) in list(zip(curves, gaps.values(), strict=True))[1:]:
        curve["difference"] = flat(gap - gaps[0.0][0], half)
    sizes = {"every": 5, "rounds": 10, "replicates": 7}
    return {"sizes": sizes, "columns": [{"local_steps": 5, "rate": 0.1, "curves": curves}]}


@pytest.mark.parametrize(
    ("gaps", "told", "above"),
    [
        ({0.0: (0.5, 0), 1.0: (0.4, 0.05), 3.0: (0.6, 0.05)}, "λ = 1 by -0.1", 1),
        ({0.0: (0.5, 0), 1.0: (0.4, 0.15), 3.0: (0.6, 0.15)}, "(λ = 1 by -0.1)", 0),
        ({0.0: (0.3, 0), 1.0: (0.4, 0.05), 3.0: (0.6, 0.05)}, "λ = 0", 1),
    ],
)
def test_the_caption_says_which_weight_is_best_and_whether_that_is_clear(gaps, told, above) -> None:
    caption = figure_2.caption(numbers(gaps))
    assert "after 5 and after 10 rounds, with its difference to λ = 0 on the same random numbers (7 runs; " in caption
    assert f"E = 5, η = 0.1: {told}, then {told}; λ = 3 ends clearly above λ = 0 in {above} of 1 columns." in caption


def test_differences_are_known_better_than_the_gaps_themselves() -> None:
    data = figure_2.compute(quick=True, seed=0)
    column = data["columns"][0]
    none, little = column["curves"][:2]
    assert "difference" not in none
    assert little["elasticity"] == 0.1
    np.testing.assert_allclose(
        little["difference"]["mean"], np.subtract(little["gap"]["mean"], none["gap"]["mean"]), atol=1e-12
    )
    wide, narrow = (np.subtract(little[name]["high"], little[name]["low"])[-1] for name in ("gap", "difference"))
    assert narrow < wide / 3


def test_the_figure_has_a_row_of_differences_with_the_reference_at_zero() -> None:
    data = figure_2.compute(quick=True, seed=0)
    figure = figure_2.draw(data)
    columns = len(data["columns"])
    assert len(figure.axes) == 3 * columns
    for axes, column in zip(figure.axes[2 * columns :], data["columns"], strict=True):
        reference, *others = axes.lines
        assert list(reference.get_ydata()) == [0, 0]
        for line, curve in zip(others, column["curves"][1:], strict=True):
            np.testing.assert_allclose(line.get_ydata(), curve["difference"]["mean"])
