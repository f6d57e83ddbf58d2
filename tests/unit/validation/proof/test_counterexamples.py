"""Random instances that refute a form: those that fulfil what it assumes, with a failure that is no rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from fltheory.bounds.claim import Assumption, Experiments, Form, Instances, Rejected
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params, Real, Space
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.counterexamples import EXCESS, refuted

out = scalar("out", "o", "a number")
SPACE = Space({"x": Real(0, 2)})


def _refuted(
    statement: Any, realise: Callable[[Params], Any], *, rational: bool = True, premises: Any = (), assumed: Any = ()
) -> bool:
    assumptions = tuple(Assumption("given", one) for one in assumed)
    form = Form(statement=statement, premises=premises, assumptions=assumptions)
    check = Instances(space=SPACE, realise=lambda point: {"out": realise(point)}, rational=rational)
    return refuted(form, Hypotheses(assumptions=assumptions, check=check))


def _number(point: Params) -> Any:
    return point["x"]


SMALL, BIG = sp.Le(out, 1), sp.Ge(out, 1)


@pytest.mark.parametrize("rational", [True, False])
def test_an_instance_counts_that_fulfils_assumptions_and_premises(rational: bool) -> None:
    """Of the numbers from 0 to 2 some are above one; none of them is among those that are assumed to be below."""
    assert _refuted(SMALL, _number, rational=rational)
    assert not _refuted(sp.Le(out, 2), _number, rational=rational)
    assert not _refuted(SMALL, _number, rational=rational, premises=(SMALL,))
    assert not _refuted(SMALL, _number, rational=rational, assumed=(SMALL,))
    assert _refuted(SMALL, _number, rational=rational, premises=(BIG,), assumed=(BIG,))
    assert not _refuted(SMALL, _number, rational=rational, premises=(BIG, SMALL))
    assert not _refuted(SMALL, _number, rational=rational, assumed=(BIG, SMALL))


@pytest.mark.parametrize("error", [Rejected("none"), ZeroDivisionError()])
def test_points_that_make_no_instance_do_not_count(error: Exception) -> None:
    def never(point: Params) -> Any:
        raise error

    def often(point: Params) -> Any:
        if point["x"] < 1:
            raise error
        return point["x"]

    assert not _refuted(SMALL, never)
    assert _refuted(SMALL, often)


def test_what_fails_in_floats_has_to_fail_in_rational_numbers_where_there_are_some() -> None:
    def rounded(point: Params) -> Any:
        return 2.0 if isinstance(point["x"], float) else sp.Integer(1)

    assert not _refuted(SMALL, rounded)
    assert _refuted(SMALL, rounded, rational=False)


@pytest.mark.parametrize("scale", [1, 10**6])
def test_small_differences_of_floats_are_rounding(scale: int) -> None:
    """Relative to the larger side; an equation fails on either side of it, an inequality on one."""
    least, equal = sp.Le(out, scale), sp.Eq(out, scale, evaluate=False)

    def found(statement: Any, excess: float) -> bool:
        return _refuted(statement, lambda point: scale * (1 + excess), rational=False)

    for share, believed in ((0.5, False), (2, True)):
        assert found(least, share * EXCESS) is believed
        assert found(least, -share * EXCESS) is False
        assert found(equal, share * EXCESS) is believed
        assert found(equal, -share * EXCESS) is believed


def test_runs_are_not_looked_at() -> None:
    """Only instances are: an experiment has no quantities before it is run."""
    form = Form(statement=SMALL)
    check = Experiments(space=SPACE, experiment=lambda point: None, quantities=lambda *_: {"out": 5})
    assert not refuted(form, Hypotheses(assumptions=(), check=check))
