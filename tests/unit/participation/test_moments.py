"""Exact moments against hand-derived values, the published closed forms, and large federations."""

import math

import numpy as np
import pytest

from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.participation import (
    Arrival,
    Bernoulli,
    BernoulliSteps,
    BySize,
    Departure,
    Everyone,
    Participation,
    Scheme,
    StepCounts,
    Timeline,
    UniformSteps,
    WithoutReplacement,
    WithReplacement,
    scheme_weights,
)
from fltheory.participation.moments import excess_moment, leave_one_out, moments, poisson_binomial


def test_scheme_a_by_hand():
    """Two clients, E = 2, complete with probability 1/2 and 1 (p = 1/4, 3/4).

    K = 2 or 1 with probability 1/2 each. K = 2: weights (1/4, 3/4). K = 1: (0, 3/2). So E[p] = (1/8, 9/8),
    E[p s] = 2 E[p], E[p^2 s] = 2 (1/2 * 1/16, 1/2 * 9/16 + 1/2 * 9/4), E[1/K] = 3/4. The ratios E[p s]/p are
    (1, 3), so z = 1. The weights sum to 1 or 3/2, never above 2.
    """
    participation = Participation(num_clients=2, local_steps=2, steps=BernoulliSteps(probability=[0.5, 1.0]))
    p = np.array([0.25, 0.75])
    found = moments(Scheme.A, participation, 0, p)
    assert found.p == pytest.approx([1 / 8, 9 / 8])
    assert found.p_s == pytest.approx([1 / 4, 9 / 4])
    assert found.p_sq_s == pytest.approx([1 / 16, 45 / 16])
    assert found.sum_p_s == pytest.approx(2.5)
    assert found.complete_probability == 1.0
    assert found.inverse_complete == pytest.approx(0.75)
    assert found.ratio_spread == pytest.approx(2.0)
    assert found.z == 1
    assert excess_moment(Scheme.A, participation, 0, p) == 0.0


def test_scheme_b_by_hand():
    """S uniform on {0, 1, 2}: E[s] = 1, so E[p s] = p and E[p^2 s] = p^2; equal ratios."""
    participation = Participation(num_clients=2, local_steps=2, steps=UniformSteps(low=0))
    found = moments(Scheme.B, participation, 0, np.array([0.25, 0.75]))
    assert found.p == pytest.approx([0.25, 0.75])
    assert found.p_s == pytest.approx([0.25, 0.75])
    assert found.p_sq_s == pytest.approx([1 / 16, 9 / 16])
    assert found.z == 0
    assert found.complete_probability is None
    assert found.inverse_complete is None


def test_scheme_c_by_hand():
    """S in {0, 1, 2} with masses (1/4, 1/4, 1/2): E/s is 2 or 1, so E[p] = p (1/2 + 1/2) = p.

    E[p s] = E p P(s > 0) = 3/2 p and E[p^2 s] = E^2 p^2 E[1/s; s > 0] = 4 p^2 (1/4 + 1/4) = 2 p^2.
    """
    participation = Participation(num_clients=2, local_steps=2, steps=StepCounts(pmf=[0.25, 0.25, 0.5]))
    p = np.array([0.25, 0.75])
    found = moments(Scheme.C, participation, 0, p)
    assert found.p == pytest.approx(p)
    assert found.p_s == pytest.approx(1.5 * p)
    assert found.p_sq_s == pytest.approx(2 * p**2)
    assert found.z == 0


def test_excess_by_hand():
    """Scheme C, one client, E = 4, s = 1 or 4 with probability 1/2: sum p = 4 or 1, sum p s = 4. (4 - 2) * 4 / 2."""
    participation = Participation(num_clients=1, local_steps=4, steps=StepCounts(pmf=[0, 0.5, 0, 0, 0.5]))
    assert excess_moment(Scheme.C, participation, 0, np.ones(1)) == pytest.approx(4.0)


def test_excess_of_scheme_a_by_hand():
    """Three clients, p = (.8, .1, .1), E = 1, fair coins: the sum exceeds 2 only if client 0 is alone.

    Then sum p = 3 * .8 = 2.4 = sum p s, with probability 1/8: .4 * 2.4 / 8 = .12. With one other: 3/2 * .9 < 2.
    """
    participation = Participation(num_clients=3, local_steps=1, steps=BernoulliSteps(probability=0.5))
    assert excess_moment(Scheme.A, participation, 0, np.array([0.8, 0.1, 0.1])) == pytest.approx(0.12)


@pytest.mark.parametrize(("num_clients", "q"), [(3, 0.5), (7, 0.2), (12, 0.9)])
def test_published_moments_of_homogeneous_scheme_a(num_clients, q):
    """(68): E[p | K > 0] = p. (69): E[p^2 | K > 0] = N p^2 E[1/K | K > 0]."""
    local_steps, p = 3, np.arange(1.0, num_clients + 1) / (num_clients * (num_clients + 1) / 2)
    participation = Participation(num_clients=num_clients, local_steps=local_steps, steps=BernoulliSteps(probability=q))
    found = moments(Scheme.A, participation, 0, p)
    inverse = sum(
        math.comb(num_clients, k) * q**k * (1 - q) ** (num_clients - k) / k for k in range(1, num_clients + 1)
    ) / (1 - (1 - q) ** num_clients)
    assert found.complete_probability == pytest.approx(1 - (1 - q) ** num_clients)
    assert found.inverse_complete == pytest.approx(inverse)
    assert found.p / found.complete_probability == pytest.approx(p)
    assert found.p_sq_s / found.complete_probability == pytest.approx(local_steps * num_clients * p**2 * inverse)
    assert found.z == 0


def test_published_moments_of_heterogeneous_scheme_a():
    """(71), (72): client 0 always complete, N - 1 others with probability q."""
    n, q = 6, 0.3
    p = np.full(n, 1 / n)
    participation = Participation(
        num_clients=n, local_steps=2, steps=BernoulliSteps(probability=np.array([1.0] + [q] * (n - 1)))
    )
    found = moments(Scheme.A, participation, 0, p)
    assert found.p[0] == pytest.approx(p[0] * (1 - (1 - q) ** n) / q)
    assert found.p[1:] == pytest.approx(p[1:] * (n * q + (1 - q) ** n - 1) / ((n - 1) * q))
    assert found.z == 1


def test_published_moments_of_scheme_c():
    """(75) and (77) for s >= 1: E[sum p] = E E[1/s], E[sum p^2 s] = E^2 E[1/s] sum p^2."""
    p = np.array([0.2, 0.3, 0.5])
    participation = Participation(num_clients=3, local_steps=3, steps=UniformSteps(low=1))
    found = moments(Scheme.C, participation, 0, p)
    inverse = (1 + 1 / 2 + 1 / 3) / 3
    assert found.p.sum() == pytest.approx(3 * inverse)
    assert found.p_sq_s.sum() == pytest.approx(9 * inverse * (p**2).sum())
    assert found.sum_p_s == pytest.approx(3)


def test_selection_is_part_of_the_law():
    """One of two clients drawn uniformly, all steps done: scheme B sees s = E or 0, each with probability 1/2.

    Under scheme A exactly one client is complete, so E[p_i] = (1/2) * 2 p_i = p_i and K = 1.
    """
    participation = Participation(num_clients=2, local_steps=4, selection=WithoutReplacement(size=1, renormalise=True))
    p = np.array([0.25, 0.75])
    assert moments(Scheme.B, participation, 0, p).p_s == pytest.approx(2 * p)
    found = moments(Scheme.A, participation, 0, p)
    assert found.p == pytest.approx(p)
    assert found.inverse_complete == pytest.approx(1)


def test_a_kept_departed_client_biases_every_scheme():
    participation = Participation(
        num_clients=2,
        local_steps=2,
        timeline=Timeline(departures=[Departure(client=0, round=3, exclude=False)]),
    )
    p = np.array([0.5, 0.5])
    for scheme in Scheme:
        assert moments(scheme, participation, 2, p).z == 0
        found = moments(scheme, participation, 3, p)
        assert found.z == 1
        assert found.p_s[0] == 0


def test_clients_outside_the_objective_are_left_out_of_z():
    participation = Participation(
        num_clients=3, local_steps=2, timeline=Timeline(arrivals=[Arrival(client=2, round=3)])
    )
    for scheme in Scheme:
        found = moments(scheme, participation, 0, np.array([0.5, 0.5, 0.0]))
        assert found.z == 0
        assert found.p_s == pytest.approx([1.0, 1.0, 0.0])


def test_nobody_ever_complete():
    participation = Participation(num_clients=2, local_steps=2, steps=BernoulliSteps(probability=0.0))
    found = moments(Scheme.A, participation, 0, np.array([0.5, 0.5]))
    assert found.complete_probability == 0
    assert found.inverse_complete is None
    assert (found.sum_p_s, found.z) == (0, 0)


def test_poisson_binomial_is_binomial_for_equal_trials():
    expected = [math.comb(9, k) * 0.3**k * 0.7 ** (9 - k) for k in range(10)]
    assert poisson_binomial(np.full(9, 0.3)) == pytest.approx(expected)
    rows = leave_one_out(np.array([0.0, 0.3, 1.0]))
    assert rows == pytest.approx(np.array([[0, 0.7, 0.3, 0], [0, 1, 0, 0], [0.7, 0.3, 0, 0]]))


def test_two_hundred_clients_by_convolution():
    """E[sum over complete clients of 1/K] = P(K > 0), whatever the probabilities: sum_i E[p_i]/(N p_i) says so."""
    n = 200
    q, p = np.linspace(0.01, 1.0, n) ** 3, np.arange(1.0, n + 1) / (n * (n + 1) / 2)
    participation = Participation(num_clients=n, local_steps=5, steps=BernoulliSteps(probability=q))
    found = moments(Scheme.A, participation, 0, p)
    assert (found.p / (n * p)).sum() == pytest.approx(1, rel=1e-12)
    assert found.complete_probability == 1
    rare = Participation(num_clients=n, local_steps=5, steps=BernoulliSteps(probability=1e-3 * q))
    found = moments(Scheme.A, rare, 0, p)
    assert (found.p / (n * p)).sum() == pytest.approx(found.complete_probability, rel=1e-12)
    assert found.complete_probability == pytest.approx(1 - np.prod(1 - 1e-3 * q), rel=1e-12)


def test_excess_of_many_alike_clients():
    """With equal weights scheme A's weights always sum to one; scheme C with s = 1 or 2 of 2 sums to at most 2."""
    n = 150
    p = np.full(n, 1 / n)
    alike = Participation(num_clients=n, local_steps=2, steps=UniformSteps(low=1))
    assert excess_moment(Scheme.A, alike, 0, p, limit=n + 1) == 0
    assert excess_moment(Scheme.C, alike, 0, p) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("scheme", [Scheme.A, Scheme.C])
@pytest.mark.parametrize(
    "selection", [Everyone(), Bernoulli(probability=0.2), WithoutReplacement(size=3, renormalise=True)]
)
def test_excess_equals_enumeration(scheme, selection):
    """Five clients of incommensurable weights, one of them large, so that the sum exceeds 2 often enough."""
    p = np.array([4.0, *np.sqrt(np.arange(1.0, 5.0)) / 3])
    p /= p.sum()
    participation = Participation(
        num_clients=5, local_steps=3, selection=selection, steps=StepCounts(pmf=[0.1, 0.6, 0.0, 0.3])
    )
    probability, steps, _ = participation.outcomes(0, p)
    weights = scheme_weights(scheme, p, steps, 3)
    excess = np.maximum(weights.sum(axis=1) - 2, 0) * (weights * steps).sum(axis=1)
    assert probability @ excess > 0.05
    assert excess_moment(scheme, participation, 0, p) == pytest.approx(probability @ excess, rel=1e-11)


def test_excess_tells_nearly_equal_weights_apart():
    """Scheme A, fair coins, five clients, E = 1: the weights sum to more than 2 in three cases of mass 1/32.

    Client 0 or 1 is complete alone (5 p), or just these two are (5/2 times their weights). A case with sum u
    contributes (u - 2) u.
    """
    p = np.array([0.45, 0.45 - 1e-9, 0.04, 0.03, 0.03 + 1e-9])
    participation = Participation(num_clients=5, local_steps=1, steps=BernoulliSteps(probability=0.5))
    sums = np.array([5 * p[0], 5 * p[1], 2.5 * (p[0] + p[1])])
    assert excess_moment(Scheme.A, participation, 0, p) == pytest.approx(((sums - 2) * sums).sum() / 32, rel=1e-11)


def test_excess_refuses_incommensurable_weights():
    p = np.sqrt(np.arange(1.0, 31.0))
    participation = Participation(num_clients=30, local_steps=1, steps=BernoulliSteps(probability=0.5))
    with pytest.raises(NotApplicable, match=r"scheme A needs more than limit=1000 partial sums with 30 clients; use"):
        excess_moment(Scheme.A, participation, 0, p / p.sum(), limit=1000)
    assert excess_moment(Scheme.B, participation, 0, p / p.sum()) == 0


@pytest.mark.parametrize(
    ("scheme", "selection"),
    [(Scheme.A, WithoutReplacement(size=20, renormalise=True)), (Scheme.C, BySize(size=20))],
)
def test_what_cannot_be_convolved_is_refused(scheme, selection):
    participation = Participation(num_clients=60, local_steps=1, selection=selection)
    with pytest.raises(NotApplicable, match="limit=4096"):
        moments(scheme, participation, 0, np.full(60, 1 / 60))


@pytest.mark.parametrize(
    "selection",
    [WithoutReplacement(size=20, renormalise=True), WithReplacement(size=20), Bernoulli(probability=0.3)],
)
def test_scheme_c_scales_under_selection(selection):
    participation = Participation(num_clients=60, local_steps=4, selection=selection, steps=UniformSteps(low=1))
    found = moments(Scheme.C, participation, 0, np.full(60, 1 / 60))
    asked = {"without-replacement": 20 / 60, "with-replacement": 1 - (59 / 60) ** 20, "bernoulli": 0.3 / (1 - 0.7**60)}
    assert found.p_s == pytest.approx(4 / 60 * asked[selection.name])


def test_weights_are_checked():
    participation = Participation(num_clients=2, local_steps=1)
    with pytest.raises(InvalidParameter, match=r"Participation\.p must sum to 1"):
        moments(Scheme.A, participation, 0, np.array([1.0, 1.0]))
    with pytest.raises(InvalidParameter, match=r"Participation\.p must have shape"):
        excess_moment(Scheme.B, participation, 0, np.ones(1))
