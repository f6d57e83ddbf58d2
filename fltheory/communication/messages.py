r"""What a message costs: non-zero entries, bits, and the entropy of its values.

Costs follow the coding that the algorithm names for the message:

============  =======================================================================================
coding        bits of a vector of length ``n`` with ``k`` non-zero entries
============  =======================================================================================
``dense``     ``32 n``
``sparse``    ``k (32 + B(k, n))``, positions Golomb coded
``ternary``   ``k (1 + B(k, n)) + 32``: a sign and a position each, one magnitude
``sign``      ``n``
``levels``    ``n (1 + ceil(log2(s + 1))) + 32``: a sign and one of ``s + 1`` levels each, one magnitude
============  =======================================================================================

Expected Golomb bits of a position, for gaps that are geometric with parameter ``q = (k + 1)/(n + 1)``
(Sattler et al., *Robust and communication-efficient federated learning from non-i.i.d. data*, 2019):

.. math:: b^* = 1 + \Bigl\lfloor \log_2 \frac{\ln(\varphi - 1)}{\ln(1 - q)} \Bigr\rfloor, \qquad
          B = b^* + \frac{1}{1 - (1 - q)^{2^{b^*}}},

with the golden ratio :math:`\varphi`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fltheory._internal.arguments import Floats

FLOAT_BITS = 32


class Coding(enum.Enum):
    """How the entries of a message are written down."""

    DENSE = "dense"
    SPARSE = "sparse"
    TERNARY = "ternary"
    SIGN = "sign"
    LEVELS = "levels"


@dataclass(frozen=True, slots=True)
class Message:
    """One vector that is sent.

    Parameters
    ----------
    values
        The vector, shape ``(replicates, clients | 1, dim)``.
    coding
        How it is encoded.
    times
        How often a client sent or received such a vector in the round, shape ``(replicates | 1, clients)``; once by
        default.
    levels
        The number ``s`` of a quantised coding.
    """

    values: Floats
    coding: Coding = Coding.DENSE
    times: Floats | None = None
    levels: int = 1


def golomb_bits(nonzeros: NDArray[np.int64] | Floats, length: int) -> Floats:
    """Return the expected number of bits of one position.

    >>> float(golomb_bits(np.array([10.0]), 1000)[0]).__round__(4)
    7.9725
    """
    q = np.minimum((np.asarray(nonzeros, dtype=np.float64) + 1.0) / (length + 1.0), 1.0 - 1e-12)
    ratio = np.log((np.sqrt(5.0) - 1.0) / 2.0) / np.log1p(-q)
    order = np.maximum(1.0 + np.floor(np.log2(ratio)), 0.0)
    return np.asarray(order + 1.0 / (1.0 - (1.0 - q) ** (2.0**order)), dtype=np.float64)


def message_bits(message: Message) -> Floats:
    """Return the bits of each vector, shape ``(replicates, clients | 1)``."""
    shape, dim = message.values.shape[:-1], message.values.shape[-1]
    if message.coding is Coding.DENSE:
        return np.full(shape, float(FLOAT_BITS * dim))
    if message.coding is Coding.SIGN:
        return np.full(shape, float(dim))
    if message.coding is Coding.LEVELS:
        return np.full(shape, float(dim * (1 + message.levels.bit_length()) + FLOAT_BITS))
    nonzeros = message_nonzeros(message)
    positions = golomb_bits(nonzeros, dim)
    if message.coding is Coding.SPARSE:
        return np.asarray(nonzeros * (FLOAT_BITS + positions), dtype=np.float64)
    return np.asarray(nonzeros * (1.0 + positions) + FLOAT_BITS, dtype=np.float64)


def total_bits(messages: Iterable[Message], active: NDArray[np.bool_]) -> Floats:
    """Return the bits of all messages between the server and its active clients, shape ``(replicates | 1,)``."""
    dense, total = 0, np.zeros(1)
    for message in messages:
        if message.coding is Coding.DENSE and message.times is None:
            dense += FLOAT_BITS * message.values.shape[-1]
        else:
            total = total + (message_bits(message) * sent(message, active)).sum(axis=1)
    return np.asarray(total + float(dense) * active.sum(axis=1))


def sent(message: Message, active: NDArray[np.bool_]) -> Floats:
    """Return how often each client sent or received a message, shape ``(replicates | 1, clients)``."""
    return np.asarray(active if message.times is None else message.times * active, dtype=np.float64)


def message_nonzeros(message: Message) -> Floats:
    """Return the number of non-zero entries of each vector, shape ``(replicates, clients | 1)``."""
    return np.asarray(np.count_nonzero(message.values, axis=-1), dtype=np.float64)


def entropy_bits(values: Floats, bin_size: float) -> float:
    """Return the Shannon entropy, in bits per entry, of the values rounded to multiples of ``bin_size``.

    >>> entropy_bits(np.array([0.0, 0.001, 1.0, 1.0]), 0.01)
    1.0
    """
    _, counts = np.unique(np.rint(np.asarray(values).ravel() / bin_size), return_counts=True)
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0
