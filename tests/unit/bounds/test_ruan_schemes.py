"""Rows that compare the schemes."""

import pytest

from fltheory.bounds.ruan.figures._schemes import COMPARED, compared, gains

CELL = {"traces": 3, "accuracy": [[0.1, 0.3], [0.5, 0.5], [0.4, 0.8]]}


def test_gains_are_paired_differences_in_points():
    (over_a, a_error), (over_b, b_error) = gains(CELL)
    assert (over_a, over_b) == (pytest.approx(30), pytest.approx(10))
    assert (a_error, b_error) == (pytest.approx(10), pytest.approx(20))


def test_rows_have_all_columns():
    row = compared(CELL, (1.25, -2))
    assert row == ("3", "20.0", "50.0", "60.0", "30.0 ± 10.0", "10.0 ± 20.0", "1.2", "-2.0")
    assert len(row) == len(COMPARED)
