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

A standard normal pair comes from one word: the high half :math:`u` and the low half :math:`v`, both
32 bits, through Box and Muller's
:math:`\sqrt{-2\ln\frac{u+1/2}{2^{32}}}\,(\cos, \sin)\bigl(2\pi v/2^{32}\bigr)`. The largest value is 6.76.
"""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from fltheory import checks
from fltheory.checks import Floats

Words = NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


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


def master_key(seed: int, purpose: Purpose) -> np.uint64:
    """Return the 64-bit key of one purpose."""
    seed = checks.integer("seeding", "seed", seed, low=0, remedy="use a non-negative integer")
    return np.uint64(np.random.SeedSequence(seed, spawn_key=(int(purpose),)).generate_state(1, np.uint64)[0])


def generator(seed: int, purpose: Purpose, *more: int) -> np.random.Generator:
    """Return a NumPy generator for one-off draws, such as building a problem instance."""
    seed = checks.integer("seeding", "seed", seed, low=0, remedy="use a non-negative integer")
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
    high, low = halves(keys, dim, vector=vector)
    radius = np.sqrt(-2.0 * np.log((high + 0.5) * 2.0**-32))
    angle = low * (2.0 * np.pi * 2.0**-32)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)[..., :dim]


def bounded(keys: Words, dim: int, *, vector: int = 0) -> Floats:
    r"""Return vectors of independent uniforms on :math:`[-\sqrt3, \sqrt3]` (mean 0, variance 1)."""
    high, low = halves(keys, dim, vector=vector)
    scale = 2.0 * np.sqrt(3.0) * 2.0**-32
    both = np.concatenate([high, low], axis=-1)[..., :dim]
    return np.asarray((both + 0.5) * scale - np.sqrt(3.0), dtype=np.float64)


def signs(keys: Words, *, vector: int = 0) -> Floats:
    """Return one Rademacher sign per key: the top bit of word ``vector``."""
    top = words(keys, vector) >> np.uint64(63)
    return 1.0 - 2.0 * top.astype(np.float64)
