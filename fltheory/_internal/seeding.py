r"""The only place where a seed becomes random numbers.

An integer seed and a *purpose* (step noise, round drift, participation, ...) give one 64-bit key through
:class:`numpy.random.SeedSequence`; replicate, round and client split that key further. A key names a stream
of 64-bit words by position, so that any word can be computed without its predecessors:

.. math:: \mathrm{word}(k, n) = \mathrm{mix}\bigl(k + (n+1)\,\gamma \bmod 2^{64}\bigr),
          \qquad \gamma = \texttt{0x9E3779B97F4A7C15},

which is SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014)
read at a counter. A child key is a word of its parent, as in that paper's ``split``.

Because nothing is ever consumed in sequence, the numbers do not depend on the number of threads, of
replicates or of rounds, and two algorithms that ask for the same (replicate, round, client, step) get the
same numbers: common random numbers across algorithms hold by construction.

A standard normal pair comes from one word: 31 bits of the high half :math:`u` and the low half :math:`v` (32 bits,
signed), through Box and Muller's :math:`\sqrt{-2\ln\frac{u+1/2}{2^{31}}}\,(\cos, \sin)\bigl(2\pi v/2^{32}\bigr)`,
evaluated in single precision with polynomials and without fused operations. The compiled loops evaluate the same
operations in the same order, so both give the same bits. Values are multiples of about :math:`10^{-7}` of
themselves, the largest is 6.66; they are added to models in double precision.
"""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats

Words = NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_F = np.float32


class Purpose(enum.IntEnum):
    """What a stream of random numbers is for; every purpose has its own key."""

    INSTANCE = 0
    STEP_NOISE = 1
    ROUND_DRIFT = 2
    FRESH_CLIENTS = 3
    ROUND_SCALE = 4
    SELECTION = 5
    STEP_COUNTS = 6
    MINIBATCH = 7
    LABEL_DRIFT = 8
    SEARCH = 9
    HESSIAN_NOISE = 10
    COLLAPSED = 11
    ALGORITHM = 12


def master_key(seed: int, purpose: Purpose) -> np.uint64:
    """Return the 64-bit key of one purpose."""
    seed = arguments.integer("seeding", "seed", seed, low=0, remedy="use a non-negative integer")
    return np.uint64(np.random.SeedSequence(seed, spawn_key=(int(purpose),)).generate_state(1, np.uint64)[0])


def generator(seed: int, purpose: Purpose, *more: int) -> np.random.Generator:
    """Return a NumPy generator for one-off draws, such as building a problem instance."""
    seed = arguments.integer("seeding", "seed", seed, low=0, remedy="use a non-negative integer")
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(int(purpose), *more))))


def replicate_keys(seed: int, purpose: Purpose, replicates: range) -> Words:
    """Return one key per replicate, shape ``(replicates,)``."""
    numbers = np.arange(replicates.start, replicates.stop, dtype=np.uint64)
    return words(np.full(numbers.shape, master_key(seed, purpose)), numbers)


def words(keys: Words, counters: NDArray[np.uint64] | int) -> Words:
    """Return the words at the given counters; keys and counters broadcast.

    >>> [int(words(np.uint64(1234567), n)) for n in range(2)]
    [6457827717110365317, 3203168211198807973]
    """
    with np.errstate(over="ignore"):
        z = np.asarray(keys, dtype=np.uint64) + (np.asarray(counters, dtype=np.uint64) + np.uint64(1)) * np.uint64(
            GOLDEN
        )
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def split(keys: Words, *indices: int | NDArray[np.uint64]) -> Words:
    """Return child keys, one split per index (round, client, ...); indices broadcast against the keys."""
    for index in indices:
        keys = words(keys, np.asarray(index, dtype=np.uint64))
    return keys


def client_keys(keys: Words, round_index: int, num_clients: int) -> Words:
    """Return the keys of every (replicate, client) in one round, shape ``(replicates, clients)``."""
    return words(split(keys, round_index)[:, None], np.arange(num_clients, dtype=np.uint64))


class RoundKeys:
    """The keys of every (replicate, client) as in :func:`client_keys`, made for several rounds at once."""

    _ROUNDS = 16

    def __init__(self, keys: Words, num_clients: int) -> None:
        self._keys = keys
        self._clients = np.arange(num_clients, dtype=np.uint64)
        self._first = -1
        self._made: Words = keys

    def __call__(self, index: int) -> Words:
        """Return the keys of a round, shape ``(replicates, clients)``."""
        first = index - index % self._ROUNDS
        if self._first != first:
            rounds = np.arange(first, first + self._ROUNDS, dtype=np.uint64)
            self._made = words(words(self._keys, rounds[:, None])[:, :, None], self._clients)
            self._first = first
        return np.asarray(self._made[index - first])


def uniforms(keys: Words, count: int, *, first: int = 0) -> Floats:
    """Return uniforms on ``[0, 1)`` with 53 bits, shape ``keys.shape + (count,)``."""
    counters = np.arange(first, first + count, dtype=np.uint64)
    return (words(np.asarray(keys)[..., None], counters) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def halves(keys: Words, dim: int, *, vector: int = 0) -> tuple[Floats, Floats]:
    """Return the two 32-bit halves of the words of the ``vector``-th vector of length ``dim``.

    A vector of length ``dim`` uses ``ceil(dim / 2)`` words: entry ``j`` of the first half of the vector and
    entry ``j + ceil(dim / 2)`` share word ``j``.
    """
    half = (dim + 1) // 2
    counters = np.arange(vector * half, (vector + 1) * half, dtype=np.uint64)
    drawn = words(np.asarray(keys)[..., None], counters)
    return (drawn >> np.uint64(32)).astype(np.float64), (drawn & np.uint64(0xFFFFFFFF)).astype(np.float64)


def normals(keys: Words, dim: int, *, vector: int = 0) -> Floats:
    """Return standard normal vectors, shape ``keys.shape + (dim,)``."""
    half = (dim + 1) // 2
    counters = np.arange(vector * half, (vector + 1) * half, dtype=np.uint64)
    drawn = words(np.asarray(keys)[..., None], counters)
    high = (drawn >> np.uint64(33)).astype(np.int32)
    low = drawn.astype(np.uint32).view(np.int32)
    radius = _radius(high)
    cosine, sine = _turn(low)
    return np.concatenate([radius * cosine, radius * sine], axis=-1)[..., :dim].astype(np.float64)


def _radius(high: NDArray[np.int32]) -> NDArray[np.float32]:
    r"""Return :math:`\sqrt{-2\ln((u + 1/2)/2^{31})}`: exponent and mantissa, then the series of artanh."""
    bits = (high.astype(np.float32) + _F(0.5)).view(np.int32)
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    mantissa = (bits - (exponent << np.int32(23))).view(np.float32)
    s = (mantissa - _F(1)) / (mantissa + _F(1))
    z = s * s
    p = _F(1 / 7) + z * _F(1 / 9)
    p = _F(1 / 5) + z * p
    p = _F(1 / 3) + z * p
    logarithm = _F(2) * s * (_F(1) + z * p) + (exponent - np.int32(31)).astype(np.float32) * _F(np.log(2.0))
    return np.asarray(np.sqrt(_F(-2) * logarithm), dtype=np.float32)


def _turn(low: NDArray[np.int32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    r"""Return cosine and sine of :math:`2\pi v / 2^{32}`: nearest quarter turn, then Taylor's series."""
    with np.errstate(over="ignore"):
        quarter = (low + np.int32(1 << 29)) >> np.int32(30)
        rest = low - (quarter << np.int32(30))
    angle = rest.astype(np.float32) * _F(2 * np.pi / 2**32)
    z = angle * angle
    sine = _F(-1 / 5040) + z * _F(1 / 362880)
    sine = _F(1 / 120) + z * sine
    sine = _F(-1 / 6) + z * sine
    sine = angle * (_F(1) + z * sine)
    cosine = _F(-1 / 720) + z * _F(1 / 40320)
    cosine = _F(1 / 24) + z * cosine
    cosine = _F(-1 / 2) + z * cosine
    cosine = _F(1) + z * cosine
    odd = (quarter & 1) == 1
    x, y = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    return np.where((quarter + 1) & 2, -x, x), np.where(quarter & 2, -y, y)


def bounded(keys: Words, dim: int, *, vector: int = 0) -> Floats:
    r"""Return vectors of independent uniforms on :math:`[-\sqrt3, \sqrt3]` (mean 0, variance 1)."""
    high, low = halves(keys, dim, vector=vector)
    scale = 2.0 * np.sqrt(3.0) * 2.0**-32
    both = np.concatenate([high, low], axis=-1)[..., :dim]
    return np.asarray((both + 0.5) * scale - np.sqrt(3.0), dtype=np.float32).astype(np.float64)


def signs(keys: Words, *, vector: int = 0) -> Floats:
    """Return one Rademacher sign per key: the top bit of word ``vector``."""
    top = words(keys, vector) >> np.uint64(63)
    return 1.0 - 2.0 * top.astype(np.float64)
