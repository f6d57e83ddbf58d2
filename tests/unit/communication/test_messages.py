"""Cost of messages: hand-computed values, and the law of the Golomb code itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fltheory.communication.messages import Coding, Message, entropy_bits, golomb_bits, message_bits, message_nonzeros


def message(coding):
    values = np.zeros((2, 3, 100))
    values[0, 0, :5] = 1.0
    values[1, 2, :100] = -2.0
    return Message(values, coding)


def test_dense_and_sign_messages_cost_the_same_whatever_they_hold():
    assert np.all(message_bits(message(Coding.DENSE)) == 3200)
    assert np.all(message_bits(message(Coding.SIGN)) == 100)


def test_sparse_and_ternary_messages_by_hand():
    """Five of a hundred: ``q = 6/101``, ``b* = 1 + floor(log2(0.4812 / 0.06125)) = 3``."""
    q = 6 / 101
    position = 3 + 1 / (1 - (1 - q) ** 8)
    sparse, ternary = message_bits(message(Coding.SPARSE)), message_bits(message(Coding.TERNARY))
    assert sparse[0, 0] == pytest.approx(5 * (32 + position))
    assert ternary[0, 0] == pytest.approx(5 * (1 + position) + 32)
    assert sparse[0, 1] == 0.0
    assert ternary[0, 1] == 32.0
    assert sparse[1, 2] == pytest.approx(100 * 33, rel=1e-9)
    assert message_nonzeros(message(Coding.SPARSE)).tolist() == [[5, 0, 0], [0, 0, 100]]


@given(length=st.integers(2, 5000), share=st.floats(0, 1))
def test_golomb_formula_is_the_expected_length_of_a_code(length, share):
    """A Golomb-Rice code of order ``b`` spends ``b`` bits and a unary quotient on a geometric gap; none is better."""
    nonzeros = round(share * length)
    q = min((nonzeros + 1) / (length + 1), 1 - 1e-12)
    bits = float(golomb_bits(np.array([nonzeros]), length)[0])
    costs = [b + 1 / -math.expm1(2**b * math.log1p(-q)) for b in range(20)]
    assert any(math.isclose(bits, cost, rel_tol=1e-9) for cost in costs)
    assert bits <= 1.07 * min(costs)


@given(length=st.integers(1, 3000))
def test_all_entries_need_one_bit_per_position(length):
    assert golomb_bits(np.array([length]), length)[0] == pytest.approx(1.0, abs=1e-9)


@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=40), bin_size=st.sampled_from([1e-3, 0.5, 2.0]))
def test_entropy_is_that_of_the_histogram(values, bin_size):
    _, counts = np.unique(values, return_counts=True)
    share = counts / counts.sum()
    jitter = 0.2 * np.sin(np.arange(len(values)))
    measured = entropy_bits((np.array(values) + jitter) * bin_size, bin_size)
    assert measured == pytest.approx(-(share * np.log2(share)).sum(), abs=1e-12)
    assert measured >= 0.0
    assert math.copysign(1, measured) == 1.0
