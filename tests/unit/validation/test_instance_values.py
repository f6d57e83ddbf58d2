"""Counterexamples in the symbols of the paper."""

import numpy as np
import pytest
import sympy as sp
from sympy import Eq, Le, Rational, Sum

from fltheory.bounds import catalogue
from fltheory.bounds.algebra import EE
from fltheory.bounds.claim import Assumption, Form
from fltheory.bounds.quantities import family, function, index, scalar
from fltheory.problems.problem import Origin
from fltheory.validation.decide import Effort, check
from fltheory.validation.instance_values import MEMBERS, OUTCOMES, instance_values, written

k, t = index("k"), index("t")
N = scalar("N", "N", "number of clients")
w = scalar("w", "w", "a model", shape=("dim",))
loss = scalar("loss", r"\ell_t", "loss by round", shape=("rounds",))
p = family("p", "p^{<0>}", "weights")
s = family("s", r"s_\tau^{<0>}", "steps", random=True)
F = function("F", "F_{<0>}(<1>)", "objectives")


def rows(statement, values, where=None, **more):
    form = Form(statement=statement, **more)
    return {row["symbol"]: row["values"] for row in instance_values(form, values, exact=True, where=where or {})}


def test_members_of_families_outcomes_and_functions_are_written_out():
    values = {
        "N": 2,
        "w": np.array([Rational(1, 2)], dtype=object),
        "p": [Rational(1, 4), Rational(3, 4)],
        "s": [[0, 1], [1, 1]],
        "chance": [0.5, 0.5],
        "F": lambda k, w: k * w[0] ** 2,
    }
    found = rows(Le(EE(Sum(p[k] * s[k] * F(k, w), (k, 1, N))), N), values)
    assert found == {
        r"\mathbb{P}": ["1/2", "1/2"],
        "N": ["2"],
        "w": ["1/2"],
        "p^{1}": ["1/4"],
        "p^{2}": ["3/4"],
        r"s_\tau^{1}": ["0", "1"],
        r"s_\tau^{2}": ["1"],  # the same in every outcome
        "F_{1}(w)": ["1/4"],
        "F_{2}(w)": ["1/2"],
    }


def test_outcomes_that_never_happen_are_left_out():
    values = {"N": 1, "s": [[0], [1], [2]], "chance": [Rational(0), Rational(1, 4), Rational(3, 4)]}
    statement = Le(EE(s[1]), N)
    assert rows(statement, values) == {r"\mathbb{P}": ["1/4", "3/4"], "N": ["1"], r"s_\tau^{1}": ["1", "2"]}
    certain = {**values, "chance": [Rational(0), Rational(1), Rational(0)]}
    assert rows(statement, certain) == {"N": ["1"], r"s_\tau^{1}": ["1"]}


def test_the_place_at_which_it_fails_is_shown():
    assert rows(Le(loss, N), {"loss": [1.5, 2.5, 7.0], "N": 1}, {"entry": 2}) == {r"\ell_t": ["7"], "N": ["1"]}
    long = list(range(MEMBERS + 1))
    assert rows(Le(p[k], N), {"p": long, "N": 1}, {"k": 3}, over=((k, 1, N),)) == {"N": ["1"]}
    many = [[Rational(n)] for n in range(OUTCOMES + 1)]
    chance = [Rational(1, OUTCOMES + 1)] * (OUTCOMES + 1)
    assert rows(Le(s[1], N), {"s": many, "N": 1, "chance": chance}, {"outcome": 5}) == {
        "N": ["1"],
        r"s_\tau^{1}": ["5"],
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (np.int64(3), "3"),
        (Rational(-7, 3), "-7/3"),
        (sp.sqrt(2), r"\sqrt{2}"),
        (0.1, "1/10"),
        (0.12345678, "0.123457"),
        (1.5e20, r"1.5 \cdot 10^{20}"),
        (float("inf"), r"\infty"),
        ([[1, 2], [3, 4]], "((1, 2), (3, 4))"),
        ([[5]], "5"),
        ([], ""),
        (np.array([[1, 2], []], dtype=object), "((1, 2))"),
        (np.array([0.25, 3.0]), "(1/4, 3)"),
        (True, "1"),
        (sp.Float(0.75), "3/4"),
        (999 / 64, "999/64"),
        (1000 / 64, "125/8"),
        (1001 / 64, "15.6406"),
        (1e-9, r"1 \cdot 10^{-9}"),
        (list(range(24)), "(" + ", ".join(map(str, range(24))) + ")"),
        (list(range(25)), ""),
        (list(range(100)), ""),
        (len, ""),
    ],
)
def test_numbers_are_short(value, text):
    assert written(value) == text


def test_probabilities_are_shown_only_beside_random_quantities():
    assert rows(Le(N, 2), {"N": 1, "chance": [0.5, 0.5]}) == {"N": ["1"]}
    same = {"N": 1, "s": [[1], [1]], "chance": [0.5, 0.5]}
    assert rows(Le(s[1], N), same) == {"N": ["1"], r"s_\tau^{1}": ["1"]}
    assert rows(Le(s[1], N), {"N": 1, "s": [[1], [1]]}) == {"N": ["1"]}  # outcomes without probabilities


def test_all_outcomes_are_shown_up_to_a_number_of_them():
    few = {"N": 1, "s": [[n] for n in range(OUTCOMES)], "chance": [Rational(1, OUTCOMES)] * OUTCOMES}
    found = rows(Le(s[1], N), few)
    assert found[r"s_\tau^{1}"] == [str(n) for n in range(OUTCOMES)]
    more = {"N": 1, "s": [[n] for n in range(OUTCOMES + 1)], "chance": [Rational(1, OUTCOMES + 1)] * (OUTCOMES + 1)}
    assert rows(Le(s[1], N), more) == {"N": ["1"]}


def test_quantities_that_an_instance_does_not_give_are_left_out():
    assert rows(Le(N * loss, w + p[1]), {"N": 1}) == {"N": ["1"]}


def test_numbers_come_first_then_families_then_what_is_random():
    values = {"N": 1, "p": [1], "s": [[1], [2]], "chance": [0.5, 0.5], "w": [3.0]}
    shown = list(rows(Le(EE(s[1]) * p[1], w * N), values))
    assert shown == [r"\mathbb{P}", "N", "w", "p^{1}", r"s_\tau^{1}"]


def test_families_are_listed_up_to_a_number_of_members():
    few, many = list(range(1, MEMBERS + 1)), list(range(1, MEMBERS + 2))
    assert len(rows(Le(p[1], N), {"p": few, "N": 1})) == MEMBERS + 1
    assert rows(Le(p[1], N), {"p": many, "N": 1}) == {"N": ["1"]}
    assert rows(Le(p[1], N), {"p": many, "N": 1}, {"entry": 2}) == {"N": ["1"], "p^{3}": ["3"]}
    assert rows(Le(p[1], N), {"p": many, "N": 1}, {"entry": MEMBERS + 1}) == {"N": ["1"]}


def test_definitions_are_among_the_quantities():
    gamma = scalar("gamma", r"\gamma", "offset")
    form = Form(statement=Eq(gamma, N), where=((gamma, N + 3),))
    found = instance_values(form, {"N": 1, "gamma": 4}, exact=True, where={})
    assert [(row["symbol"], row["values"]) for row in found] == [("N", ["1"]), (r"\gamma", ["4"])]


@pytest.mark.parametrize("id_", ["ruan.eq-78", "ruan.eq-46", "efl.eq-55"])
def test_a_violation_carries_its_quantities(id_):
    verdicts = check(catalogue.index()[id_].load(), effort=Effort(instances=60, experiments=3))
    (first, *_) = [verdict for verdict in verdicts if verdict.counterexample is not None]
    shown = first.counterexample.quantities
    assert shown
    assert all(row["symbol"] and row["meaning"] and all(row["values"]) for row in shown)
    assert any(row["symbol"] == "N" for row in shown)


def test_a_row_has_room_for_two_dozen_numbers():
    assert written(np.arange(24)) == f"({', '.join(map(str, range(24)))})"
    assert written(np.arange(25)) == ""


def test_what_only_assumptions_speak_about_is_listed_as_assumed_without_indices():
    assumptions = (
        Assumption("weights", Le(p[k], N), Origin.DECLARED, ((k, 1, N),)),
        Assumption("loss", Le(sp.Symbol("unnamed") * 0 + N, 3), Origin.DECLARED),
    )
    values = {"N": 2, "p": [Rational(1, 4), Rational(3, 4)], "w": np.array([3])}
    found = instance_values(Form(statement=Le(w, N)), values, exact=True, where={}, assumptions=assumptions)
    assert [(row["symbol"], row["values"], row.get("assumed", False)) for row in found] == [
        ("N", ["2"], False),
        ("w", ["3"], False),
        ("p^{1}", ["1/4"], True),
        ("p^{2}", ["3/4"], True),
    ]
    indexed = instance_values(
        Form(statement=Le(w, N)), {**values, "k": 7}, exact=True, where={"k": 1}, assumptions=assumptions[:1]
    )
    assert "k" not in {row["symbol"] for row in indexed}  # an index has no value of its own
