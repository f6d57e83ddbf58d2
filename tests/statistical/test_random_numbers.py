"""Laws of the random numbers, on fixed seeds.

Sample: 2,000,000 normals (1,000 keys x 2,000 entries), the same number of bounded variables, of uniforms and of
signs. Every test fails with probability at most 1e-8 for a perfect generator and a seed drawn at random, so the
file does with probability below 1e-6; the seeds are fixed, so a run repeats.
"""

import numpy as np
import pytest
from scipy import stats

from fltheory._internal import seeding
from fltheory._internal.seeding import Purpose

ALARM = 1e-8
KEYS, ENTRIES = 1000, 2000


@pytest.fixture(scope="module")
def keys():
    return seeding.replicate_keys(2024, Purpose.STEP_NOISE, range(KEYS))


@pytest.fixture(scope="module")
def normals(keys):
    return seeding.normals(keys, ENTRIES)


def assert_mean(values, expected):
    """Compare a sample mean with its expectation by the central limit theorem."""
    z = (values.mean() - expected) * np.sqrt(values.size) / values.std()
    assert abs(z) < stats.norm.isf(ALARM / 2)


@pytest.mark.parametrize("power", [1, 2, 3, 4, 6])
def test_moments_of_normals(normals, power):
    assert_mean(normals**power, float(stats.norm.moment(power)))


def test_bins_of_normals_with_tails(normals):
    """Chi-square over 42 bins, with both tails beyond 4 (about 63 expected each) as bins of their own."""
    edges = np.concatenate([[-np.inf], np.linspace(-4, 4, 41), [np.inf]])
    counts = np.histogram(normals, bins=edges)[0]
    expected = normals.size * np.diff(stats.norm.cdf(edges))
    assert expected.min() > 60
    assert stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), len(counts) - 1) > ALARM


def test_kolmogorov_smirnov(normals, keys):
    assert stats.kstest(normals.ravel(), "norm").pvalue > ALARM
    flat = seeding.bounded(keys, ENTRIES).ravel()
    assert stats.kstest(flat, stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)).cdf).pvalue > ALARM
    assert stats.kstest(seeding.uniforms(keys, ENTRIES).ravel(), "uniform").pvalue > ALARM


@pytest.mark.parametrize("lag", [1, 2, ENTRIES // 2])
def test_serial_correlation(normals, lag):
    """Lag ``ENTRIES / 2`` pairs the cosine and the sine of one word."""
    assert_mean(normals[:, lag:] * normals[:, :-lag], 0.0)
    assert_mean((normals[:, lag:] ** 2 - 1) * (normals[:, :-lag] ** 2 - 1), 0.0)


def test_correlation_across_replicates_vectors_rounds_clients_and_purposes(normals, keys):
    assert_mean(normals[1:] * normals[:-1], 0.0)
    assert_mean(normals * seeding.normals(keys, ENTRIES, vector=1), 0.0)
    by_client = seeding.client_keys(keys, 0, 2)
    first, second = seeding.normals(by_client[:, 0], ENTRIES), seeding.normals(by_client[:, 1], ENTRIES)
    assert_mean(first * second, 0.0)
    assert_mean(first * seeding.normals(seeding.client_keys(keys, 1, 1)[:, 0], ENTRIES), 0.0)
    other = seeding.replicate_keys(2024, Purpose.ROUND_DRIFT, range(KEYS))
    assert_mean(normals * seeding.normals(other, ENTRIES), 0.0)
    assert_mean(normals * seeding.normals(seeding.replicate_keys(2025, Purpose.STEP_NOISE, range(KEYS)), ENTRIES), 0.0)


def test_bounded_law(keys):
    values = seeding.bounded(keys, ENTRIES)
    assert_mean(values, 0.0)
    assert_mean(values**2, 1.0)
    assert np.abs(values).max() <= np.sqrt(3)
    half = ENTRIES // 2
    assert_mean(values[:, :half] * values[:, half:], 0.0)


def test_signs(keys):
    values = np.stack([seeding.signs(keys, vector=k) for k in range(ENTRIES)])
    assert_mean(values, 0.0)
    assert_mean(values[1:] * values[:-1], 0.0)


def test_uniform_bits_are_balanced(keys):
    """Each of the 64 bits over 2,000,000 words; binomial, with the alarm rate shared between the bits."""
    drawn = seeding.words(keys[:, None], np.arange(ENTRIES, dtype=np.uint64))
    ones = np.array([int(((drawn >> np.uint64(b)) & np.uint64(1)).sum()) for b in range(64)])
    z = (ones - drawn.size / 2) / np.sqrt(drawn.size / 4)
    assert np.abs(z).max() < stats.norm.isf(ALARM / 128)
