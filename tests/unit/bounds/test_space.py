"""Spaces of instances: what is in them, what a search usually draws, and what only a few of its points reach."""

import numpy as np
import pytest

from fltheory.bounds.space import Integer, Integers, Real, Space, plain, read
from fltheory.errors import InvalidParameter

SPACE = Space(
    {
        "E": Integer(1, 3, far=300),
        "rounds": Integer(8, 8, furthest=4000),
        "s": Integers(0, "E", shape=("E",)),
        "condition": Real(1, 100, log=True, far=1e6),
        "q": Real(0, 1, shape=("E",), far=1e-3),
        "n": Real(0.1, 10, log=True, far=1e-3),
    }
)
USUAL = {
    "E": 2,
    "rounds": 8,
    "s": np.array([2, 0]),
    "condition": 100.0,
    "q": np.array([0.0, 1.0]),
    "n": 0.1,
}


def test_a_usual_point_is_of_the_space_and_may_be_drawn():
    assert SPACE.contains(USUAL)
    assert SPACE.draws(USUAL)
    assert SPACE.reals() == ["condition", "q", "n"]


@pytest.mark.parametrize(
    ("name", "reached", "beyond"),
    [("E", 300, 301), ("rounds", 4000, 4001), ("condition", 1e6, 1.1e6), ("n", 1e-3, 0.9e-3)],
)
def test_far_values_are_of_the_space_but_not_usual(name, reached, beyond):
    def at(value):
        count = value if name == "E" else 2
        return {**USUAL, "s": np.zeros(count, dtype=int), "q": np.zeros(count), name: value}

    assert SPACE.contains(at(reached))
    assert not SPACE.draws(at(reached))
    assert not SPACE.contains(at(beyond))
    assert read(SPACE, plain(at(reached)))[name] == reached
    with pytest.raises(InvalidParameter, match=f"parameters.{name} is outside the space"):
        read(SPACE, plain(at(beyond)))


def test_both_ends_of_a_range_stay_in_it_whichever_is_far():
    assert SPACE.parameters["condition"].ends == (1, 1e6)
    assert SPACE.parameters["q"].ends == (0, 1)
    assert SPACE.parameters["q"].extremes == (1e-3, 1)
    assert SPACE.parameters["n"].ends == (1e-3, 10)
    assert Real(0, 1).extremes == (0, 1)
    with pytest.raises(InvalidParameter, match=r"from 0\.001 to 10"):
        read(SPACE, plain({**USUAL, "n": 20.0}))
    for name, value in (("condition", 0.5), ("n", 11.0), ("q", np.array([0.5, 1.5])), ("q", np.array([-0.1, 1.0]))):
        assert not SPACE.contains({**USUAL, name: value}), name


def test_what_is_far_must_be_beyond_the_usual():
    with pytest.raises(InvalidParameter, match=r"Integer\.far"):
        Integer(1, 10, far=5)
    with pytest.raises(InvalidParameter, match=r"Real\.far must be positive"):
        Real(0, 1, far=-1.0)
    with pytest.raises(InvalidParameter, match=r"Real\.far must be positive"):
        Real(0, 1, far=10.0)
    assert Integer(1, 10, furthest=20, far=15).last == 20
    assert Integer(1, 10, far=15).last == 15
