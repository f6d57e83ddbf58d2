"""The sparse ternary compressor against its definition, its laws, and error feedback around it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory._internal.arguments import Floats
from fltheory.communication.compression import TIES, SparseTernary, feedback
from fltheory.errors import InvalidParameter

fractions = st.integers(1, 20).map(lambda n: n / 20)
tied_vectors = st.lists(st.integers(-3, 3), min_size=1, max_size=12).map(lambda v: np.array(v, dtype=np.float64))
float_vectors = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=12).map(np.array)
vectors = tied_vectors | float_vectors


def by_definition(vector: Floats, k: int, ties: str) -> Floats:
    """Compress one vector entry by entry; meant for magnitudes that are equal or far apart."""
    ranked = sorted(range(len(vector)), key=lambda j: (-abs(vector[j]), j))
    least = abs(vector[ranked[k - 1]])
    kept = ranked[:k] if ties == "exact" else [j for j in ranked if abs(vector[j]) >= least]
    magnitude = sum(abs(vector[j]) for j in kept) / k
    out = np.zeros(len(vector))
    for j in kept:
        out[j] = math.copysign(magnitude, vector[j]) if vector[j] != 0 else 0.0
    return out


@pytest.mark.parametrize("ties", TIES)
@settings(deadline=None)
@given(vector=tied_vectors, fraction=fractions)
def test_agrees_with_the_definition(ties: str, vector: Floats, fraction: float) -> None:
    compressor = SparseTernary(fraction=fraction, ties=ties)
    expected = by_definition(vector, compressor.kept(len(vector)), ties)
    np.testing.assert_allclose(compressor(vector), expected, rtol=1e-14)


@pytest.mark.parametrize("ties", TIES)
@settings(deadline=None)
@given(fraction=fractions, magnitudes=st.sets(st.integers(1, 40), min_size=1, max_size=12), data=st.data())
def test_definitions_agree_and_keep_k_without_ties(
    ties: str, fraction: float, magnitudes: set[int], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(sorted(magnitudes)))
    signs = data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(order), max_size=len(order)))
    vector = np.array(order) * np.array(signs)
    compressor = SparseTernary(fraction=fraction, ties=ties)
    out, k = compressor(vector), compressor.kept(len(vector))
    assert np.count_nonzero(out) == k
    assert np.abs(vector[out != 0]).min() >= np.abs(vector[out == 0]).max(initial=0.0)
    np.testing.assert_array_equal(out, SparseTernary(fraction=fraction)(vector))


@settings(deadline=None)
@given(vector=vectors, fraction=fractions)
def test_exact_is_ternary_with_at_most_k_entries(vector: Floats, fraction: float) -> None:
    compressor = SparseTernary(fraction=fraction)
    out, k = compressor(vector), compressor.kept(len(vector))
    largest = np.abs(vector).max()
    plain = np.count_nonzero(np.abs(vector) > 1e-6 * largest)  # far smaller entries count as ties with zeros
    assert min(k, plain) <= np.count_nonzero(out) <= min(k, np.count_nonzero(vector))
    assert len(np.unique(np.abs(out[out != 0]))) <= 1
    assert np.all((np.sign(out) == np.sign(vector)) | (out == 0))


@settings(deadline=None)
@given(vector=vectors, fraction=fractions)
def test_exact_contracts(vector: Floats, fraction: float) -> None:
    compressor = SparseTernary(fraction=fraction)
    out, k = compressor(vector), compressor.kept(len(vector))
    total, error = float(vector @ vector), float((vector - out) @ (vector - out))
    assert error <= compressor.contraction(len(vector)) * total * (1 + 1e-9) + 1e-9 * total
    # With z non-zero kept entries of sum k m: error = ||T||^2 - 2 m (k m) + z m^2.
    m, z = float(np.abs(out).max()), np.count_nonzero(out)
    assert error == pytest.approx(total - (2 * k - z) * m**2, rel=0, abs=1e-9 * total)


@pytest.mark.parametrize(("length", "fraction"), [(10, 0.1), (10, 0.3), (10, 0.5), (9, 1.0), (16, 0.25)])
def test_contraction_factor_is_attained(length: int, fraction: float) -> None:
    """The worse of a flat vector (removes ``k/n``) and the vector below attains the factor.

    With one entry 1 and the other kept ones tiny but not zero, ``m = 1/k`` and the removed share is ``1/k``.
    """
    compressor = SparseTernary(fraction=fraction)
    flat = np.ones(length)
    spike = np.full(length, 1e-9)
    spike[0] = 1.0
    ratios = [float(((v - compressor(v)) ** 2).sum() / (v @ v)) for v in (flat, spike)]
    assert max(ratios) == pytest.approx(compressor.contraction(length), abs=1e-7)


def test_threshold_expands_a_flat_vector() -> None:
    """Ten equal entries, k = 2: every entry is sent as 10/2 of its size, so the error is (5 - 1)^2 the vector."""
    vector = np.ones(10)
    out = SparseTernary(fraction=0.2, ties="threshold")(vector)
    np.testing.assert_array_equal(out, np.full(10, 5.0))
    assert ((vector - out) ** 2).sum() == 16 * (vector @ vector)


def test_exact_breaks_ties_by_index_even_when_rounding_disagrees() -> None:
    """Entries that differ by a few units in the last place are a tie; so are sums of the same numbers."""
    vector = np.array([0.1 + 0.2, 0.3, -0.3, np.nextafter(0.3, 1), 0.05])
    for nudged in (vector, np.nextafter(vector, 1), np.where(np.arange(5) == 2, -(0.1 + 0.2), vector)):
        assert np.flatnonzero(SparseTernary(fraction=0.4)(nudged)).tolist() == [0, 1]
        assert np.flatnonzero(SparseTernary(fraction=0.4, ties="threshold")(nudged)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("ties", TIES)
@settings(deadline=None)
@given(vector=vectors, fraction=fractions, power=st.integers(-8, 8))
def test_odd_and_homogeneous(ties: str, vector: Floats, fraction: float, power: int) -> None:
    compressor = SparseTernary(fraction=fraction, ties=ties)
    np.testing.assert_array_equal(compressor(-vector), -compressor(vector))
    np.testing.assert_array_equal(compressor(vector * 2.0**power), compressor(vector) * 2.0**power)


@pytest.mark.parametrize("ties", TIES)
def test_every_vector_of_a_batch_is_compressed_alone(ties: str) -> None:
    compressor = SparseTernary(fraction=0.3, ties=ties)
    batch = np.random.default_rng(0).integers(-3, 4, size=(4, 5, 7)).astype(np.float64)
    batch[1, 2] = 0.0
    out = compressor(batch)
    assert not np.any(out[1, 2])
    for index in np.ndindex(4, 5):
        np.testing.assert_array_equal(out[index], compressor(batch[index]))


@pytest.mark.parametrize(
    ("fraction", "length", "kept"),
    [(0.07, 100, 7), (0.3, 10, 3), (0.31, 10, 4), (0.01, 5, 1), (1.0, 5, 5), (1e-12, 4, 1), (0.29, 100, 29)],
)
def test_number_of_kept_coordinates(fraction: float, length: int, kept: int) -> None:
    assert SparseTernary(fraction=fraction).kept(length) == kept


@pytest.mark.parametrize("ties", [None, *TIES])
def test_feedback_loses_nothing(ties: str | None) -> None:
    """What was sent in total plus the last residual is the sum of all updates."""
    compressor = None if ties is None else SparseTernary(fraction=0.3, ties=ties)
    updates = np.random.default_rng(1).normal(size=(6, 2, 3, 10))
    residual, total = np.zeros((2, 3, 10)), np.zeros((2, 3, 10))
    for update in updates:
        before = residual
        sent, residual = feedback(compressor, before, update)
        total += sent
        np.testing.assert_allclose(sent + residual, before + update, rtol=1e-14, atol=1e-14)
        if compressor is None:
            assert not np.any(residual)
        else:
            np.testing.assert_array_equal(sent, compressor(before + update))
    np.testing.assert_allclose(total + residual, updates.sum(axis=0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fraction": 0.0}, r"SparseTernary\.fraction must be a number in \(0, 1\], got fraction=0\.0"),
        ({"fraction": 1.5}, r"SparseTernary\.fraction must be a number in \(0, 1\]"),
        ({"fraction": math.nan}, r"SparseTernary\.fraction must be"),
        ({"fraction": "half"}, r"SparseTernary\.fraction must be"),
        ({"fraction": 0.5, "ties": "treshold"}, r"SparseTernary\.ties must be one of .* did you mean 'threshold'\?"),
    ],
)
def test_bad_parameters(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        SparseTernary(**arguments)  # type: ignore[arg-type]
