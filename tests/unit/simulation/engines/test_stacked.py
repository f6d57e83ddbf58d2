"""Stacked maps against a list of everything that may happen: random signs for state, noise and factors."""

import itertools

import numpy as np
import pytest

from fltheory.simulation.engines.affine import RoundMap, Tilts
from fltheory.simulation.engines.stacked import Average, StackedMaps

GROUPS, SIZE, LOCAL, SOURCES = 2, 2, 3, 1
FACTORS = [0, 1, 2]
"""How many factors the maps of the three outcomes have."""

SHARE = 0.3
COMBINE = np.array([[0.6, 0.4]])


def made_map(rng, factors):
    def some(*shape):
        return rng.standard_normal(shape)

    tilts = Tilts(
        matrix=some(factors, GROUPS, SIZE, SIZE),
        shift=some(factors, GROUPS, SIZE),
        spread_matrix=some(factors, GROUPS, LOCAL, SIZE),
        spread_shift=some(factors, GROUPS, LOCAL),
    )
    return RoundMap(
        matrix=some(GROUPS, SIZE, SIZE),
        shift=some(GROUPS, SIZE),
        noise=some(GROUPS, SIZE, SOURCES),
        spread_matrix=some(GROUPS, LOCAL, SIZE),
        spread_shift=some(GROUPS, LOCAL),
        spread_noise=some(GROUPS, LOCAL, SOURCES),
        memory={"u": np.array([factors % 2])},
        uplink_bits=10.0 + factors,
        downlink_bits=20.0 + factors,
        tilts=tilts if factors else None,
    )


def listed(step, states, averages, share):
    """Return state, averaged iterate and spread after the round for all signs, and all states before it."""
    found = []
    factors = 0 if step.tilts is None else len(step.tilts.matrix)
    for signs in itertools.product([1.0, -1.0], repeat=SOURCES + factors):
        epsilon, kappa = np.array(signs[:SOURCES]), signs[SOURCES:]
        matrix, shift = step.matrix, step.shift + step.noise @ epsilon
        local, local_shift = step.spread_matrix, step.spread_shift + step.spread_noise @ epsilon
        for f, sign in enumerate(kappa):
            matrix, shift = matrix + sign * step.tilts.matrix[f], shift + sign * step.tilts.shift[f]
            local = local + sign * step.tilts.spread_matrix[f]
            local_shift = local_shift + sign * step.tilts.spread_shift[f]
        for z, a in zip(states, averages, strict=True):
            after = np.einsum("gab,gb->ga", matrix, z) + shift
            average = a + share * (after @ COMBINE.T - a)
            away = np.einsum("gab,gb->ga", local, z) + local_shift
            found.append((np.concatenate([after, average], axis=1), np.sum(away**2)))
    rows, spread = (np.array(part) for part in zip(*found, strict=True))
    mean = rows.mean(axis=0)
    return mean, np.einsum("sga,sgb->gab", rows - mean, rows - mean) / len(rows), spread.mean()


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("factors", [FACTORS, [0, 0, 0], [2, 0, 1]], ids=str)
def test_moments_after_a_round_are_those_of_the_list(averaged, factors):
    rng = np.random.default_rng(4)
    steps = [made_map(rng, count) for count in factors]
    average = Average(COMBINE, SHARE, None) if averaged else None
    maps = StackedMaps.of(steps, average)
    # Equally likely states, of which the last part is the averaged iterate.
    points = rng.standard_normal((4, GROUPS, SIZE + 1))
    kept = points if averaged else points[..., :SIZE]
    mean = kept.mean(axis=0)
    covariance = np.einsum("sga,sgb->gab", kept - mean, kept - mean) / len(kept)
    moved, carried = maps.moved(mean, covariance)
    consensus = maps.consensus(mean, covariance)
    size = kept.shape[-1]
    for which, step in enumerate(steps):
        expected = listed(step, points[..., :SIZE], points[..., SIZE:], SHARE)
        np.testing.assert_allclose(moved[which], expected[0][:, :size], rtol=1e-10)
        np.testing.assert_allclose(carried[which], expected[1][:, :size, :size], rtol=1e-9, atol=1e-12)
        assert consensus[which] == pytest.approx(expected[2], rel=1e-10)
    np.testing.assert_array_equal(maps.uplink_bits, 10.0 + np.array(factors))
    np.testing.assert_array_equal(maps.downlink_bits, 20.0 + np.array(factors))


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("factors", [FACTORS, [0, 0, 0]], ids=str)
def test_the_first_round_starts_from_no_state_at_all(averaged, factors):
    """Its shift is everything; the averaged iterate starts at the model before it."""
    rng = np.random.default_rng(5)
    steps = [made_map(rng, count) for count in factors]
    start = rng.standard_normal(GROUPS)
    maps = StackedMaps.of(steps, Average(COMBINE, SHARE, start) if averaged else None)
    moved, carried = maps.moved(None, None)
    consensus = maps.consensus(None, None)
    size = SIZE + averaged
    for which, step in enumerate(steps):
        expected = listed(step, np.zeros((1, GROUPS, SIZE)), start[None, :, None], SHARE)
        np.testing.assert_allclose(moved[which], expected[0][:, :size], rtol=1e-10)
        np.testing.assert_allclose(carried[which], expected[1][:, :size, :size], rtol=1e-9, atol=1e-12)
        assert consensus[which] == pytest.approx(expected[2], rel=1e-10)


def test_outcomes_that_lead_to_the_same_memory_arrive_together():
    rng = np.random.default_rng(6)
    maps = StackedMaps.of([made_map(rng, count) for count in (1, 2, 3, 0)], None)
    np.testing.assert_array_equal(maps.arrives, [0, 1, 0, 1])
    assert [memory["u"].tolist() for memory in maps.memories] == [[1], [0]]


def test_a_spread_that_was_not_asked_for_is_zero():
    none = {"spread_matrix": (GROUPS, 0, SIZE), "spread_shift": (GROUPS, 0), "spread_noise": (GROUPS, 0, SOURCES)}
    step = made_map(np.random.default_rng(7), 0)._replace(**{name: np.zeros(shape) for name, shape in none.items()})
    maps = StackedMaps.of([step, step], None)
    np.testing.assert_array_equal(
        maps.consensus(np.ones((GROUPS, SIZE)), np.tile(np.eye(SIZE), (GROUPS, 1, 1))), [0, 0]
    )
    np.testing.assert_array_equal(maps.consensus(None, None), [0, 0])
