"""Selections: hand-derived laws, weights, and every parameter that is refused."""

import math

import numpy as np
import pytest

from fltheory.errors import InvalidParameter
from fltheory.participation import Bernoulli, BySize, Everyone, Participation, WithoutReplacement, WithReplacement

P = np.array([0.5, 0.3, 0.2])
ALL = np.ones(3, dtype=bool)


def law_of(selection, p=P, members=ALL):
    """Return the law as a dictionary from multiplicities to (probability, weights)."""
    probability, multiplicity = selection.outcomes(p, members)
    weights = selection.weights(multiplicity, p, members)
    assert len({tuple(row) for row in multiplicity.tolist()}) == len(multiplicity)
    return {
        tuple(row): (chance, omega)
        for chance, row, omega in zip(probability.tolist(), multiplicity.tolist(), weights.tolist(), strict=True)
    }


def test_everyone_weights_by_the_objective():
    assert law_of(Everyone()) == {(1, 1, 1): (1.0, P.tolist())}


def test_with_replacement_two_draws():
    """Two draws from (.5, .3, .2): a pair (i, i) has p_i^2, a pair (i, j) has 2 p_i p_j, each draw weighs 1/2."""
    law = law_of(WithReplacement(size=2))
    assert len(law) == 6
    assert law[(2, 0, 0)] == (0.25, [1, 0, 0])
    assert law[(1, 1, 0)][0] == pytest.approx(0.3)
    assert law[(1, 1, 0)][1] == [0.5, 0.5, 0]
    assert law[(0, 1, 1)][0] == pytest.approx(0.12)


@pytest.mark.parametrize(("renormalise", "weights"), [(False, [0.75, 0.45, 0.0]), (True, [0.625, 0.375, 0.0])])
def test_without_replacement_two_of_three(renormalise, weights):
    """Three equally likely pairs; {0, 1} has p N/S = (.5, .3) 3/2, or (.5, .3) / .8."""
    law = law_of(WithoutReplacement(size=2, renormalise=renormalise))
    assert set(law) == {(1, 1, 0), (1, 0, 1), (0, 1, 1)}
    assert all(chance == pytest.approx(1 / 3) for chance, _ in law.values())
    assert law[(1, 1, 0)][1] == pytest.approx(weights)


def test_bernoulli_conditions_on_somebody():
    """Fair coins of three clients: eight patterns, the empty one redrawn, so 1/7 each; plain means."""
    law = law_of(Bernoulli(probability=0.5))
    assert len(law) == 7
    assert all(chance == pytest.approx(1 / 7) for chance, _ in law.values())
    assert law[(1, 0, 1)][1] == [0.5, 0.0, 0.5]


def test_by_size_sums_over_orders():
    """{0, 1} arises as 0 then 1 (.5 * .3/.5) or as 1 then 0 (.3 * .5/.7): .3 + 3/14 = 18/35.

    {0, 2}: .5 * .2/.5 + .2 * .5/.8 = .2 + .125; {1, 2}: .3 * .2/.7 + .2 * .3/.8 = 6/70 + .075.
    """
    law = law_of(BySize(size=2))
    assert law[(1, 1, 0)][0] == pytest.approx(18 / 35, rel=1e-14)
    assert law[(1, 0, 1)][0] == pytest.approx(0.325, rel=1e-14)
    assert law[(0, 1, 1)][0] == pytest.approx(6 / 70 + 0.075, rel=1e-14)
    assert law[(1, 0, 1)][1] == pytest.approx([5 / 7, 0, 2 / 7])


def test_selection_acts_on_members_only():
    """With client 1 outside, two members are left: N/S counts two, and nobody else is ever asked."""
    members = np.array([True, False, True])
    p = np.array([0.6, 0.0, 0.4])
    assert law_of(WithoutReplacement(size=1, renormalise=False), p, members) == {
        (1, 0, 0): (0.5, [1.2, 0.0, 0.0]),
        (0, 0, 1): (0.5, [0.0, 0.0, 0.8]),
    }
    assert set(law_of(Bernoulli(probability=0.3), p, members)) == {(1, 0, 0), (0, 0, 1), (1, 0, 1)}
    assert set(law_of(BySize(size=1), p, members)) == {(1, 0, 0), (0, 0, 1)}
    keys = np.arange(500, dtype=np.uint64)
    for selection in (
        Everyone(),
        WithReplacement(size=3),
        WithoutReplacement(size=1, renormalise=True),
        Bernoulli(probability=0.3),
        BySize(size=1),
    ):
        assert not selection.sample(p, members, keys)[:, 1].any()


def test_weightless_clients_are_never_drawn_by_weight():
    p = np.array([0.5, 0.0, 0.5, 0.0])
    keys = np.arange(2000, dtype=np.uint64)
    for selection in (WithReplacement(size=3), BySize(size=2)):
        assert not selection.sample(p, np.ones(4, dtype=bool), keys)[:, [1, 3]].any()


def test_renormalised_weights_of_weightless_clients_are_zero():
    p = np.array([1.0, 0.0, 0.0])
    law = law_of(WithoutReplacement(size=2, renormalise=True), p)
    assert law[(0, 1, 1)][1] == [0.0, 0.0, 0.0]


def test_rare_coins_keep_their_digits():
    """For q -> 0 given somebody, each of three clients is alone with probability 1/3 + O(q)."""
    law = law_of(Bernoulli(probability=1e-15))
    assert law[(1, 0, 0)][0] == pytest.approx(1 / 3, rel=1e-12)
    drawn = Bernoulli(probability=1e-15).sample(P, ALL, np.arange(3000, dtype=np.uint64))
    # Three shares of 3000 draws; 5 standard deviations are 129, a false alarm once in 6e5 seeds.
    assert np.all(np.abs(drawn.sum(axis=0) - 1000) < 129)


@pytest.mark.parametrize("selection", [Everyone(), Bernoulli(probability=1.0)])
def test_certain_selections_ask_all(selection):
    assert selection.asks_all(3)
    assert selection.sample(P, ALL, np.arange(50, dtype=np.uint64)).tolist() == [[1, 1, 1]] * 50


@pytest.mark.parametrize(
    ("selection", "cases"),
    [
        (Everyone(), 1),
        (WithReplacement(size=3), 10),
        (WithoutReplacement(size=2, renormalise=True), 3),
        (Bernoulli(probability=0.2), 7),
        (BySize(size=2), 3),
    ],
)
def test_cases_counts_the_law(selection, cases):
    assert selection.cases(3) == cases == len(law_of(selection))


def test_cases_of_by_size_count_the_way_there():
    """29 of 30 clients are 30 subsets, but the recursion passes through all subsets of 15."""
    assert BySize(size=29).cases(30) == math.comb(30, 15)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: WithReplacement(size=0), r"WithReplacement\.size must be an integer >= 1, got size=0"),
        (lambda: WithReplacement(size=2.0), r"WithReplacement\.size must be an integer"),
        (lambda: WithoutReplacement(size=0, renormalise=True), r"WithoutReplacement\.size"),
        (lambda: WithoutReplacement(size=1, renormalise=1), r"WithoutReplacement\.renormalise must be true or false"),
        (lambda: Bernoulli(probability=0), r"Bernoulli\.probability must be a number in \(0, 1\]"),
        (lambda: Bernoulli(probability=1.5), r"Bernoulli\.probability"),
        (lambda: BySize(size=-1), r"BySize\.size"),
        (
            lambda: Participation(
                num_clients=3, local_steps=1, selection=WithoutReplacement(size=4, renormalise=False)
            ),
            r"WithoutReplacement\.size must be at most .* 3 .*got size=4; select fewer",
        ),
        (
            lambda: Participation(num_clients=3, local_steps=1, selection=BySize(size=4)),
            r"BySize\.size must be at most",
        ),
        (
            lambda: BySize(size=2).sample(np.array([1.0, 0.0]), np.ones(2, dtype=bool), np.zeros(1, dtype=np.uint64)),
            r"BySize\.size .*positive weight, 1, got size=2",
        ),
        (lambda: BySize(size=2).outcomes(np.array([1.0, 0.0]), np.ones(2, dtype=bool)), r"BySize\.size .*positive"),
    ],
)
def test_refused(build, message):
    with pytest.raises(InvalidParameter, match=message):
        build()


def test_who_is_asked_is_certain_for_one_member_or_probability_one():
    for probability, members, everybody in ((0.3, 1, True), (0.3, 2, False), (1.0, 2, True), (1.0, 5, True)):
        assert Bernoulli(probability=probability).asks_all(members) is everybody
