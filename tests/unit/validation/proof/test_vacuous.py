"""Hypotheses that contradict each other prove nothing."""

from __future__ import annotations

from typing import Any

import pytest

from fltheory.validation.proof import products, smt, vacuous
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

RING = ring_of(["x", "y"])
x, y = RING.gens
ABOVE, BELOW = Fact(x - 2, Sign.NONNEGATIVE), Fact(1 - x, Sign.NONNEGATIVE)


def _sequent(*facts: Fact, goal: Any = y) -> Sequent:
    return Sequent(RING, facts, Fact(RING(goal), Sign.NONNEGATIVE))


def test_one_problem_that_is_possible_is_enough_but_one_without_content_is_not() -> None:
    """A goal that is a number is no reason to give a certificate, whatever its hypotheses are."""
    impossible, possible = (ABOVE, BELOW), (ABOVE,)
    for problems, answer in (
        ([_sequent(*impossible)], True),
        ([_sequent(*possible)], False),
        ([_sequent(*impossible), _sequent(*possible)], False),
        ([_sequent(*impossible), _sequent(*possible, goal=1)], True),
        ([_sequent(*impossible, goal=1)], False),
        ([_sequent()], False),
        ([], False),
    ):
        assert vacuous.vacuous(problems) is answer


@pytest.mark.parametrize("answer", ["unsat", "sat", "unknown"])
def test_a_solver_decides_and_products_do_if_it_does_not_know(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers 7 and -7 are not among those that are tried first."""
    monkeypatch.setattr(smt, "solve", lambda *_, **__: answer)
    for facts, by_products in (
        ((Fact(x**2 - 49, Sign.ZERO),), False),
        ((Fact(x - 7, Sign.NONNEGATIVE), Fact(6 - x, Sign.NONNEGATIVE)), True),
    ):
        vacuous.contradictory.cache_clear()
        expected = {"unsat": True, "sat": False, "unknown": by_products}[answer]
        assert vacuous.contradictory(RING, facts) is expected
    vacuous.contradictory.cache_clear()


def test_what_simple_numbers_fulfil_is_asked_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("somebody is asked")

    monkeypatch.setattr(smt, "solve", never)
    monkeypatch.setattr(products, "attempt", never)
    vacuous.contradictory.cache_clear()
    assert vacuous.contradictory(RING, ()) is False
    # One place in a hundred, and all others are near.
    rare = (Fact((x - 10) / 100, Sign.NONNEGATIVE), Fact((y - 10) / 100, Sign.NONNEGATIVE))
    assert vacuous.contradictory(RING, rare) is False
    with pytest.raises(AssertionError, match="somebody"):
        vacuous.contradictory(RING, (Fact(-(x**2), Sign.POSITIVE),))
    with pytest.raises(AssertionError, match="somebody"):
        vacuous.contradictory(RING, (Fact(x**2 + y**2 + 1, Sign.ZERO),))
    vacuous.contradictory.cache_clear()


@pytest.mark.parametrize(
    ("fact", "met"),
    [
        (Fact(x - y, Sign.ZERO), True), (Fact(x**2 + y**2, Sign.ZERO), True), (Fact(x - 10, Sign.NONNEGATIVE), True),
        (Fact(x - 10, Sign.POSITIVE), False), (Fact(-(x**2), Sign.NONNEGATIVE), True),
        (Fact(-(x**2), Sign.POSITIVE), False),
        (Fact(x**2 - 2, Sign.ZERO), False), (Fact(2 * x + 1, Sign.ZERO), True),
    ],
)  # fmt: skip
def test_simple_numbers(fact: Fact, met: bool) -> None:
    assert vacuous._met(RING, (fact,)) is met
