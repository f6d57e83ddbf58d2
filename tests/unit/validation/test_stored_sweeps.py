"""Sweeps from files are compared, value by value, with the sweeps and the space of their claim."""

import numpy as np
import pytest

from fltheory.bounds.claim import Instances, Sweep, Sweeps
from fltheory.bounds.space import Choice, Integer, Real, Space
from fltheory.errors import InvalidParameter
from fltheory.validation.stored_sweeps import MOST, read_sweep

SPACE = Space({"T": Integer(1, 100), "rate": Real(0.1, 2), "kind": Choice(("one", "other"))})
BASE = {"rate": 3.0, "kind": "one", "p": np.array([0.25, 0.75]), "n": 2}
SOURCE = Sweeps(
    instances=Instances(space=SPACE, realise=lambda point: point),
    sweeps=(
        Sweep("T", (10, 20, 40, 80, 160), BASE, {"n": 7}),
        Sweep("rate", (0.5, 1.0, 2.0, 4.0), {"T": 3, "kind": "third", "p": np.array([0.5, 0.5]), "n": 5}),
    ),
)
STORED = {"T": [10, 20, 40, 80], "rate": 3.0, "kind": "one", "p": [0.25, 0.75], "n": 2}


def test_what_is_stored_comes_back():
    read = read_sweep(SOURCE, STORED)
    assert (read.name, read.values) == ("T", (10, 20, 40, 80))
    assert read.base["p"].tolist() == [0.25, 0.75]
    assert {name: read.base[name] for name in ("rate", "kind", "n")} == {"rate": 3.0, "kind": "one", "n": 2}
    other = read_sweep(SOURCE, {**STORED, "T": 3, "rate": [0.5, 1.0, 2.0, 4.0]})
    assert (other.name, other.values) == ("rate", (0.5, 1.0, 2.0, 4.0))


@pytest.mark.parametrize(
    "change",
    [
        {"T": [1, 2, 3, 160]},  # from the space, and from a sweep beyond it
        {"rate": 0.1},
        {"rate": 4.0},
        {"rate": 1},
        {"kind": "other"},  # only in the space
        {"kind": "third"},  # only in another sweep
        {"n": 7},  # of a lighter sweep
        {"n": 5},
        {"p": [0.75, 0.5]},
        {"T": list(range(1, 101))},
    ],
)
def test_values_within_the_ranges_are_read(change):
    read = read_sweep(SOURCE, {**STORED, **change})
    assert type(read.base["rate"]) is type(change.get("rate", 3.0))
    for name, value in change.items():
        assert list(read.values) == value if name == "T" else np.all(read.base[name] == value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"T": [0, 2, 3, 4]}, r"T\[0\]"),
        ({"T": [1, 2, 3, 161]}, r"T\[3\]"),
        ({"T": [1, 2, 3.5, 4]}, r"T\[2\]"),
        ({"T": [1, 2, 3]}, "T must be a list of 4 to 200 numbers, got 3"),
        ({"T": list(range(MOST + 1))}, "got 201"),
        ({"rate": 0.05}, "rate"),
        ({"rate": 4.5}, "rate"),
        ({"rate": "1"}, "rate"),
        ({"kind": "fourth"}, "kind"),
        ({"n": 1}, "n must be"),
        ({"n": 8}, "n must be"),
        ({"n": 2.5}, "n must be"),
        ({"p": [0.25, 0.8]}, r"parameters\.p must be numbers from 0\.25 to 0\.75, as in a sweep"),
        ({"p": [0.2, 0.75]}, "numbers from"),
        ({"p": [0.25, 0.5, 0.25]}, "numbers from"),
        ({"p": [[0.25, 0.75]]}, "numbers from"),
        ({"p": ["x", 0.5]}, r"parameters\.p must be a list of numbers"),
        ({"p": [float("nan"), 0.5]}, "numbers from"),
        ({"more": 1}, "those of a sweep of the claim"),
        ({"T": 10}, "those of a sweep of the claim"),
        ({"rate": [0.5, 1.0, 2.0, 4.0]}, "those of a sweep of the claim"),
    ],
)
def test_values_that_no_sweep_has_are_refused_with_their_name(change, message):
    with pytest.raises(InvalidParameter, match=message):
        read_sweep(SOURCE, {**STORED, **change})


def test_parameters_that_are_missing_are_told():
    with pytest.raises(InvalidParameter, match="those of a sweep of the claim"):
        read_sweep(SOURCE, {name: value for name, value in STORED.items() if name != "n"})
