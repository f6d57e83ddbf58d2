"""Programs without interior are made small: few hypotheses, few vectors, and no falsehood is certified by it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.validation.proof import quadratic, sparse
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

NAMES = ["a", "b", "c", "p", "q", "f", "g"]


def _flat(factor: Any = 1, *, extra: int = 0) -> Sequent:
    r"""Return that a gradient step on a convex function does not increase a distance, tight for flat functions.

    The function is known at :math:`a` (gradient :math:`p`, value :math:`f`) and at its minimiser :math:`b`; gradient
    :math:`q` and value :math:`g` at another point :math:`c` say nothing, nor do ``extra`` copies of what is known.
    """
    ring = ring_of(NAMES)
    a, b, c, p, q, f, g = ring.gens
    half = sp.QQ(1, 2)
    points = [(a, p, f), (b, 0 * a, 0 * f), (c, q, g)]
    facts = [
        Fact(v - w - k * (x - y) - half * (h - k) ** 2, Sign.NONNEGATIVE)
        for (x, h, v), (y, k, w) in itertools.permutations(points, 2)
    ]
    facts += [Fact(fact.polynomial * (2 + n), fact.sign) for n in range(extra) for fact in facts[:2]]
    return Sequent(ring, tuple(facts), Fact((a - b) ** 2 - factor * (a - p - b) ** 2, Sign.NONNEGATIVE))


@pytest.mark.parametrize("extra", [0, 3])
def test_tight_truths_are_certified(extra: int) -> None:
    problem = _flat(extra=extra)
    part = quadratic.attempt(problem)
    assert part is not None
    assert quadratic.verified(problem, part)


@pytest.mark.parametrize("excess", [sp.QQ(1, 10**6), sp.QQ(1, 100)])
def test_falsehoods_are_refused(excess: Any) -> None:
    assert quadratic.attempt(_flat(1 + excess, extra=2)) is None


def _weights(problem: Sequent) -> Any:
    program = quadratic._Program(problem)
    found = program.solved(np.ones(len(program.facts), dtype=bool), interior=False)
    return found if found is not None and program.satisfied(found) else None


def test_hypotheses_that_are_not_needed_are_left_out() -> None:
    problem = _flat(extra=3)
    smaller, places = next(sparse.reduced(problem, _weights))
    # The two inequalities between a and b, in one copy each.
    assert len(places) == len(smaller.hypotheses) == 2
    mentioned = {n for fact in smaller.hypotheses for m in fact.polynomial.monoms() for n, e in enumerate(m) if e}
    assert not mentioned & {NAMES.index("c"), NAMES.index("q"), NAMES.index("g")}


def test_without_a_solution_there_is_nothing_to_leave_out() -> None:
    assert list(sparse.reduced(_flat(sp.QQ(101, 100)), _weights)) == []


def test_vectors_in_fixed_combinations_are_one() -> None:
    ring = ring_of(["u", "v", "f"])
    u, v, f = ring.gens
    problem = Sequent(ring, (Fact((u - v) ** 2 - f, Sign.NONNEGATIVE),), Fact(3 * (u - v) ** 2 + f, Sign.NONNEGATIVE))
    smaller = sparse.without_kernel(problem)
    assert smaller.hypotheses[0].polynomial == u**2 - f
    assert smaller.goal.polynomial == 3 * u**2 + f
    other = Sequent(ring, problem.hypotheses, Fact(3 * (u - v) ** 2 + v**2, Sign.NONNEGATIVE))
    assert sparse.without_kernel(other).goal == other.goal


def test_a_solution_in_floats_that_is_none_is_not_believed() -> None:
    problem = _flat()
    program = quadratic._Program(problem)
    weights = _weights(problem)
    assert program.satisfied(weights)
    assert not program.satisfied(0 * weights)
    assert not program.satisfied(weights + 1e-4)


def test_light_hypotheses_are_left_out_first() -> None:
    """Weights below a share of the largest; the least share that leaves something to be solved is not asked twice."""
    asked: list[list[int]] = []

    def solved(places: list[int]) -> Any:
        asked.append(places)
        return np.ones(len(places)) if len(places) > 1 else None

    found = sparse._lighter([0, 2, 5], np.array([1.0, 1e-6, -0.2]), solved)
    assert found is not None
    assert (found[0], asked) == ([0, 5], [[0], [0, 5]])
    assert sparse._lighter([0, 2], np.array([1.0, 0.5]), solved) is None


def test_programs_are_solved_a_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """When no more may be solved, what has been found so far is yielded, and nobody is asked again.

    Here any part of the ten hypotheses has a solution: half of them are left out, and then the other half.
    """
    problem = _flat(extra=2)
    everything = list(range(len(problem.hypotheses)))
    sizes: list[int] = []

    def solve(smaller: Sequent) -> Any:
        sizes.append(len(smaller.hypotheses))
        return np.ones(len(smaller.hypotheses))

    for most, halved in ((1, [10]), (2, [10, 5]), (3, [10, 5, 0])):
        monkeypatch.setattr(sparse, "MOST_SOLVED", most)
        sizes.clear()
        found = [places for _, places in sparse.reduced(problem, solve)]
        assert sizes == halved
        assert [len(places) for places in found] == halved[::-1]
        assert found[-1] == everything
