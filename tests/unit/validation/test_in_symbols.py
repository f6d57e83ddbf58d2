"""Instances and what certificates cover, in one line of plain text."""

import pytest

from fltheory.validation.in_symbols import covered, instance, relation, settings, side


@pytest.mark.parametrize(
    ("covers", "listed", "told"),
    [
        (
            "all functions, at N = 1, shape = kinked; N = 2, shape = kinked",
            ["N = 1, shape = kinked", "N = 2, shape = kinked"],
            "all functions, for the 2 settings of its certificate",
        ),
        ("all functions, at N = 1, shape = kinked", ["N = 1, shape = kinked"],
         "all functions, for the setting of its certificate"),
        # Texts of which all parameters are symbols of a paper, Greek ones too, are told as they are.
        ("all functions, at N = 1, mu = 2", [], "all functions, at N = 1, mu = 2"),
        ("all functions with kappa = 3", [], "all functions with kappa = 3"),
        ("all functions, at mu = 1; mu = 2", ["mu = 1", "mu = 2"],
         "all functions, for the 2 settings of its certificate"),
        # The first "at" or "with" before a parameter ends what is told.
        ("all functions, at shape = one with N = 2", ["shape = one with N = 2"],
         "all functions, for the setting of its certificate"),
        ("all vectors at any place", [], "all vectors at any place"),
        ("all instances of the check with shape = kinked, d = 1", ["shape = kinked, d = 1"],
         "all instances of the check at the sizes that its certificate lists"),
        ("all instances of the check with shape = kinked, within the ranges of its parameters", ["shape = kinked"],
         "all instances of the check at the sizes that its certificate lists, within the ranges of its parameters"),
        ("count = 1, 2, terms = 3", [], "number of vectors = 1, 2, number of terms = 3"),
    ],
)  # fmt: skip
def test_what_a_certificate_covers_is_told_without_parameters_of_a_generator(covers, listed, told):
    assert settings(covers) == listed
    assert covered(covers) == told


def row(symbol, *values):
    return {"symbol": symbol, "values": values}


def test_an_instance_has_one_entry_per_value_and_its_place_at_the_end():
    rows = [row("L", "2"), row(r"\mu", "1"), row("N", "2")]
    assert instance(rows, {"k": 3, "outcome": 1, "entry": 4}) == "L = N = 2, μ = 1, at k = 3"
    assert instance(rows[:1], {"outcome": 1}) == "L = 2"
    assert instance([], {"k": 3}) == ""


def test_probabilities_are_told_once_behind_the_last_of_what_differs():
    chance = row(r"\mathbb{P}", "1/4", "3/4")
    assert instance([chance, row("s", "0", "1"), row("t", "2", "3")], {}) == (
        "s = 0 | 1, t = 2 | 3 (outcomes of probability 1/4 | 3/4)"
    )
    assert instance([chance, row("N", "1")], {}) == "N = 1"


def test_signs_and_relations():
    assert side("a**2*b + mysqrt(3)*sqrt(2)") == "a^2·b + mysqrt(3)·√(2)"
    assert relation(r"\{a > b\} \ne c") == "ne"
    assert relation(r"f(a \le b) < c") == "le"
    assert relation(r"a \ge b,\quad c \le d") == "ge"
    assert relation(r"x \left( a \right)") == ""
