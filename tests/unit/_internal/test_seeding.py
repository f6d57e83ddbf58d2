"""Streams are addressed, never consumed: published answers, prefixes, independence of names, compiled twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory._internal import seeding
from fltheory._internal.seeding import Purpose
from fltheory.errors import InvalidParameter

PUBLISHED = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
"""First outputs of SplitMix64 from the seed 1234567."""

words = st.integers(0, 2**64 - 1)


def sequential_splitmix(state: int, count: int) -> list[int]:
    """SplitMix64 in Python integers, as a generator that is consumed in order."""
    mask, out = 2**64 - 1, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out.append(z ^ (z >> 31))
    return out


def test_published_answers():
    assert [int(w) for w in seeding.words(np.uint64(1234567), np.arange(5, dtype=np.uint64))] == PUBLISHED


@given(key=words, count=st.integers(1, 8))
def test_words_are_splitmix_read_at_a_counter(key, count):
    drawn = seeding.words(np.uint64(key), np.arange(count, dtype=np.uint64))
    assert [int(w) for w in drawn] == sequential_splitmix(key, count)


@given(seed=st.integers(0, 2**70), first=st.integers(0, 50), count=st.integers(1, 20), more=st.integers(0, 20))
def test_replicate_keys_are_a_window_on_one_sequence(seed, first, count, more):
    window = seeding.replicate_keys(seed, Purpose.STEP_NOISE, range(first, first + count))
    whole = seeding.replicate_keys(seed, Purpose.STEP_NOISE, range(first + count + more))
    assert np.array_equal(window, whole[first : first + count])


@given(key=words, dim=st.integers(1, 9), vector=st.integers(0, 5), extra=st.integers(1, 4))
def test_more_clients_leave_the_first_ones_alone(key, dim, vector, extra):
    keys = np.array([key], dtype=np.uint64)
    few, many = seeding.client_keys(keys, 3, 2), seeding.client_keys(keys, 3, 2 + extra)
    assert np.array_equal(few, many[:, :2])
    assert np.array_equal(seeding.normals(few, dim, vector=vector), seeding.normals(many, dim, vector=vector)[:, :2])


@given(key=words, first=st.integers(0, 9), count=st.integers(1, 9))
def test_uniforms_are_addressed_by_position(key, first, count):
    keys = np.array([key], dtype=np.uint64)
    whole = seeding.uniforms(keys, first + count)
    assert np.array_equal(seeding.uniforms(keys, count, first=first), whole[:, first:])
    assert np.all((whole >= 0) & (whole < 1))


@given(key=words, dim=st.integers(1, 9), vector=st.integers(0, 4))
def test_consecutive_vectors_share_no_word(key, dim, vector):
    keys = np.array([key], dtype=np.uint64)
    half = (dim + 1) // 2
    high, low = seeding.halves(keys, dim, vector=vector)
    together = seeding.words(keys[:, None], np.arange((vector + 1) * half, dtype=np.uint64))[:, -half:]
    assert np.array_equal(high, together >> np.uint64(32))
    assert np.array_equal(low, together & np.uint64(0xFFFFFFFF))


def test_purposes_rounds_clients_and_replicates_have_distinct_keys():
    keys = [
        seeding.client_keys(seeding.replicate_keys(7, purpose, range(6)), index, 5).ravel()
        for purpose in Purpose
        for index in range(8)
    ]
    keys.append(np.array([seeding.master_key(seed, purpose) for seed in range(20) for purpose in Purpose]))
    flat = np.concatenate(keys)
    assert len(np.unique(flat)) == len(flat)


def test_generators_differ_by_purpose_and_by_further_names():
    draws = [
        seeding.generator(3, Purpose.INSTANCE).uniform(),
        seeding.generator(3, Purpose.SEARCH).uniform(),
        seeding.generator(3, Purpose.INSTANCE, 1).uniform(),
        seeding.generator(4, Purpose.INSTANCE).uniform(),
    ]
    assert len(set(draws)) == 4
    assert seeding.generator(3, Purpose.INSTANCE).uniform() == draws[0]


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(InvalidParameter, match=r"seeding\.seed must be an integer >= 0"):
        seeding.master_key(seed, Purpose.INSTANCE)
    with pytest.raises(InvalidParameter, match=r"seeding\.seed"):
        seeding.generator(seed, Purpose.INSTANCE)


@settings(deadline=None)
@given(key=words, count=st.integers(1, 40), dim=st.integers(1, 12), vector=st.integers(0, 3))
def test_compiled_vectors_equal_numpy(key, count, dim, vector):
    from fltheory.quadratic.compiled import compiled_unit_vectors

    keys = seeding.words(np.uint64(key), np.arange(count, dtype=np.uint64))
    gaussian = compiled_unit_vectors("gaussian", keys, dim, vector)
    assert np.array_equal(gaussian, seeding.normals(keys, dim, vector=vector))
    bounded = compiled_unit_vectors("bounded", keys, dim, vector)
    assert np.array_equal(bounded, seeding.bounded(keys, dim, vector=vector))


def box_muller(word: int) -> np.ndarray:
    """Return the pair of a word in double precision, from the formula."""
    high, low = word >> 33, word & 0xFFFFFFFF
    radius, angle = math.sqrt(-2 * math.log((high + 0.5) / 2**31)), 2 * math.pi * low / 2**32
    return radius * np.array([math.cos(angle), math.sin(angle)])


@given(key=words, counter=st.integers(0, 100))
def test_normals_are_those_of_box_and_muller(key, counter):
    pair = seeding.normals(np.array([key], dtype=np.uint64), 2, vector=counter)[0]
    np.testing.assert_allclose(pair, box_muller(sequential_splitmix(key, counter + 1)[-1]), atol=2e-6)


def inverse_word(word: int) -> int:
    """Return the key whose word at counter 0 is ``word``: every stage of the mix is a bijection."""
    mask = 2**64 - 1

    def unshift(z: int, by: int) -> int:
        out = z
        for _ in range(64 // by + 1):
            out = z ^ (out >> by)
        return out

    z = unshift(word, 31)
    z = unshift((z * pow(0x94D049BB133111EB, -1, 2**64)) & mask, 27)
    z = unshift((z * pow(0xBF58476D1CE4E5B9, -1, 2**64)) & mask, 30)
    return (z - 0x9E3779B97F4A7C15) & mask


@pytest.mark.parametrize("high", [0, 2, 2**25 - 1, 2**31, 3037000499, 2**32 - 300, 2**32 - 1])
@pytest.mark.parametrize("low", [0, 1, 2**29 - 1, 2**29, 2**30, 2**31, 3 * 2**30, 2**32 - 1])
def test_compiled_normals_at_the_ends_of_every_branch(high, low):
    """Corners of the logarithm's and the angle's reduction, which random keys practically never hit."""
    from fltheory.quadratic.compiled import compiled_unit_vectors

    keys = np.array([inverse_word((high << 32) | low)], dtype=np.uint64)
    assert int(seeding.words(keys, 0)[0]) == (high << 32) | low
    pair = seeding.normals(keys, 2)
    assert np.array_equal(compiled_unit_vectors("gaussian", keys, 2, 0), pair)
    # Near u = 2^31 the radius vanishes and single precision cannot resolve 1 - u / 2^31 below 6e-8.
    np.testing.assert_allclose(pair[0], box_muller((high << 32) | low), atol=4e-4 if high > 2**32 - 2**10 else 2e-6)
    assert np.linalg.norm(pair) < 6.67


def test_bounded_law_stays_in_its_interval():
    keys = np.array([inverse_word(0), inverse_word(2**64 - 1)], dtype=np.uint64)
    ends = seeding.bounded(keys, 2)
    np.testing.assert_allclose(ends, np.sqrt(3) * np.array([[-1, -1], [1, 1]]), rtol=1e-7)


@given(key=words, vector=st.integers(0, 9))
def test_signs_are_the_top_bit(key, vector):
    sign = seeding.signs(np.array([key], dtype=np.uint64), vector=vector)[0]
    assert sign == (-1.0 if sequential_splitmix(key, vector + 1)[-1] >> 63 else 1.0)


def test_keys_of_rounds_are_those_of_clients():
    keys = seeding.replicate_keys(3, Purpose.MINIBATCH, range(2, 5))
    made = seeding.RoundKeys(keys, 4)
    for index in (0, 15, 16, 40, 3):
        assert np.array_equal(made(index), seeding.client_keys(keys, index, 4))
