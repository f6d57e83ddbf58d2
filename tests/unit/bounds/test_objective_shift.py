"""Three ways to the same constant: derived, worst case by an SDP, attained by an instance."""

import pytest

from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.figures import displacement
from fltheory.figures.displacement import attained, constants, simulated, table, worst_case


@pytest.mark.parametrize("condition", [1.5, 10.0, 100.0])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0])
def test_derived_worst_and_attained_agree(condition, ratio):
    published, corrected, sharp = constants(condition, ratio)
    assert published == pytest.approx(4 * corrected)
    assert sharp <= corrected
    assert attained(condition, ratio) == pytest.approx(sharp, rel=1e-12)
    worst = worst_case(condition, ratio)
    assert worst == pytest.approx(sharp, rel=1e-4)


def test_the_search_stays_below_and_comes_close():
    sharp = constants(10.0, 10.0)[2]
    found = simulated(10.0, 10.0, searches=2)
    assert 0.8 * sharp < found <= sharp * (1 + 1e-9)


def test_the_table_does_without_the_solver(monkeypatch):
    def missing(condition, ratio):
        raise NotApplicable("no solver")

    monkeypatch.setattr(displacement, "worst_case", missing)
    row = table([2.0], [1.0])[0]
    assert row.worst_case is None
    assert row.simulated <= row.sharp * (1 + 1e-9) <= row.corrected * (1 + 1e-9)


def test_bad_arguments_are_named():
    with pytest.raises(InvalidParameter, match="condition must be"):
        constants(0.5, 1.0)
