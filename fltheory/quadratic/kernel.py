r"""The compiled loop of the quadratic models: counter-based noise and ``s_i`` steps of (G).

Everything that is compiled together stays in this file, since numba's disk cache does not notice edits
elsewhere. Functions take arrays and scalars only, run serially over a block of replicates and release the
interpreter lock, so that the engine can run blocks in threads; the numbers do not depend on the split.

Normals are those of :mod:`fltheory.seeding`, operation by operation, so that both have the same bits: loops over
32-bit integers and floats that LLVM vectorises (division needs ``error_model="numpy"`` for that), and no fused
operations in the generator. The local steps are in double precision and may be fused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fltheory.checks import Floats
from fltheory.seeding import GOLDEN, Words

GAUSSIAN = 0
BOUNDED = 1

_GAMMA = np.uint64(GOLDEN)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
# Adding an integer below 2^52 to these bits and subtracting 2^52 converts it to a float without a call.
_TWO_52_BITS = np.uint64(0x4330000000000000)
_TWO_52 = 4503599627370496.0
_ROOT3 = math.sqrt(3.0)
_F = np.float32
_I = np.int32
_WIDTH = 32
_LN2 = np.float32(math.log(2.0))
_TURN = np.float32(2.0 * math.pi / 2**32)

_EXACT: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": False}
_OPTIONS: dict[str, Any] = {**_EXACT, "fastmath": {"contract"}}


@njit(inline="always")
def _word(key, counter):  # type: ignore[no-untyped-def]
    z = key + (counter + _ONE) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@njit(inline="always")
def _scratch(words):  # type: ignore[no-untyped-def]
    """Return room for the halves of so many words and for the numbers made of them."""
    size = (words + _WIDTH - 1) // _WIDTH * _WIDTH + _WIDTH
    return np.empty(size, _I), np.empty(size, _I), np.zeros(size, _F), np.zeros(size, _F)


@njit(**_EXACT)
def _fill(law, key, first, count, high, low, head, tail):  # type: ignore[no-untyped-def]
    """Write the vectors of words ``first .. first + count`` as two half-vectors per word, into :func:`_scratch`."""
    if law == 1:
        scale = 2.0 * _ROOT3 / 4294967296.0
        for m in range(count):
            w = _word(key, np.uint64(first + m))
            u = np.uint64((w >> np.uint64(32)) | _TWO_52_BITS).view(np.float64) - _TWO_52
            v = np.uint64((w & _LOW) | _TWO_52_BITS).view(np.float64) - _TWO_52
            head[m] = _F((u + 0.5) * scale - _ROOT3)
            tail[m] = _F((v + 0.5) * scale - _ROOT3)
        return
    # Compiled loops leave what does not fill their vectors to scalar code, so a few more words cost less.
    count = (count + _WIDTH - 1) // _WIDTH * _WIDTH
    for m in range(count):
        w = _word(key, np.uint64(first + m))
        high[m] = _I(w >> np.uint64(33))
        low[m] = _I(w)
    for m in range(count):
        bits = _I(np.float32(_F(high[m]) + _F(0.5)).view(_I))
        exponent = _I(_I(bits - _I(0x3F3504F3)) >> 23)
        mantissa = _I(bits - _I(exponent << 23)).view(_F)
        s = (mantissa - _F(1)) / (mantissa + _F(1))
        z = s * s
        p = _F(1 / 7) + z * _F(1 / 9)
        p = _F(1 / 5) + z * p
        p = _F(1 / 3) + z * p
        logarithm = _F(2) * s * (_F(1) + z * p) + _F(_I(exponent - 31)) * _LN2
        radius = np.sqrt(_F(-2) * logarithm)
        quarter = _I(_I(low[m] + _I(1 << 29)) >> 30)
        angle = _F(_I(low[m] - _I(quarter << 30))) * _TURN
        z = angle * angle
        sine = _F(-1 / 5040) + z * _F(1 / 362880)
        sine = _F(1 / 120) + z * sine
        sine = _F(-1 / 6) + z * sine
        sine = angle * (_F(1) + z * sine)
        cosine = _F(-1 / 720) + z * _F(1 / 40320)
        cosine = _F(1 / 24) + z * cosine
        cosine = _F(-1 / 2) + z * cosine
        cosine = _F(1) + z * cosine
        odd = (quarter & 1) != 0
        x = sine if odd else cosine
        y = cosine if odd else sine
        sign_x = _I(_I((quarter + 1) & 2) << 30)
        sign_y = _I(_I(quarter & 2) << 30)
        head[m] = radius * _I(np.float32(x).view(_I) ^ sign_x).view(_F)
        tail[m] = radius * _I(np.float32(y).view(_I) ^ sign_y).view(_F)


@njit(**_OPTIONS)
def _unit_vectors(law, keys, vector, out):  # type: ignore[no-untyped-def]
    count, dim = out.shape
    half = (dim + 1) // 2
    high, low, head, tail = _scratch(half)
    for n in range(count):
        _fill(law, keys[n], vector * half, half, high, low, head, tail)
        for j in range(half):
            out[n, j] = head[j]
        for j in range(half, dim):
            out[n, j] = tail[j - half]


def unit_vectors(law: int, keys: Words, dim: int, vector: int = 0) -> Floats:
    """Return vectors with independent entries of mean 0 and variance 1, shape ``keys.shape + (dim,)``."""
    out = np.empty((keys.size, dim))
    _unit_vectors(law, np.ascontiguousarray(keys).ravel(), vector, out)
    return out.reshape(*keys.shape, dim)


@njit(inline="always")
def _sign(x):  # type: ignore[no-untyped-def]
    return (1.0 if x > 0.0 else 0.0) - (1.0 if x < 0.0 else 0.0)


@njit(inline="always")
def _multiply_add(matrix, vector, out):  # type: ignore[no-untyped-def]
    """Add a symmetric matrix times a vector to ``out``; runs along rows, so that it vectorises."""
    dim = vector.shape[0]
    for a in range(dim):
        x = vector[a]
        for j in range(dim):
            out[j] += matrix[a, j] * x


@njit(**_OPTIONS)
def _steps_diagonal(  # type: ignore[no-untyped-def]
    out, start, hessian, scale, offset, correction, pull, anchor, l1_anchor, l1, steps, rate,
    drift_keys, drift_scale, keys, sign_keys, sigma, rho, law, fixed, recentre,
):  # fmt: skip
    replicates, clients, dim = out.shape
    half = (dim + 1) // 2
    most = 1
    for r in range(steps.shape[0]):
        for i in range(steps.shape[1]):
            most = max(most, steps[r, i])
    high, low, head, tail = _scratch(half if fixed >= 0 else most * half)
    w = np.empty(dim)
    slope = np.empty(dim)
    shift = np.empty(dim)
    still = np.empty(dim)
    drag = np.empty(dim)
    for r in range(replicates):
        for i in range(clients):
            count = steps[r % steps.shape[0], i % steps.shape[1]]
            factor = scale[r % scale.shape[0], i % scale.shape[1]]
            h = hessian[i % hessian.shape[0]]
            first = start[r % start.shape[0], i % start.shape[1]]
            o = offset[r % offset.shape[0], i % offset.shape[1]]
            c = correction[r % correction.shape[0], i % correction.shape[1]]
            q = pull[r % pull.shape[0], i % pull.shape[1]]
            a = anchor[r % anchor.shape[0], i % anchor.shape[1]]
            b = l1_anchor[r % l1_anchor.shape[0], i % l1_anchor.shape[1]]
            noise = rate * sigma[i]
            for j in range(dim):
                w[j] = first[j]
                slope[j] = rate * factor * h[j]
                shift[j] = -rate * factor * h[j] * first[j] if recentre else rate * o[j]
                drag[j] = rate * q[j]
                still[j] = rate * (c[j] - q[j] * a[j])
            if drift_scale != 0.0 and not recentre:
                _fill(law, drift_keys[r, i], 0, half, high, low, head, tail)
                for j in range(half):
                    shift[j] += rate * drift_scale * head[j]
                for j in range(half, dim):
                    shift[j] += rate * drift_scale * tail[j - half]
            if noise != 0.0 and not recentre and count > 0:
                begin, words = (fixed * half, half) if fixed >= 0 else (0, count * half)
                _fill(law, keys[r, i], begin, words, high, low, head, tail)
            else:
                noise = 0.0
            if rho == 0.0 and l1 == 0.0:
                for j in range(dim):
                    slope[j] = 1.0 - (slope[j] + drag[j])
                    shift[j] = shift[j] + still[j]
                if noise == 0.0:
                    for _ in range(count):
                        for j in range(dim):
                            w[j] = slope[j] * w[j] - shift[j]
                else:
                    for k in range(count):
                        base = 0 if fixed >= 0 else k * half
                        for j in range(half):
                            w[j] = slope[j] * w[j] - shift[j] - noise * head[base + j]
                        for j in range(dim - half):
                            w[half + j] = slope[half + j] * w[half + j] - shift[half + j] - noise * tail[base + j]
            else:
                pinch = rate * l1
                for k in range(count):
                    base = 0 if fixed >= 0 else k * half
                    vector = fixed if fixed >= 0 else k
                    top = _word(sign_keys[r, i], np.uint64(vector)) >> np.uint64(63)
                    wobble = 1.0 + rho * (1.0 - 2.0 * np.float64(top))
                    for j in range(dim):
                        z = head[base + j] if j < half else tail[base + j - half]
                        step = wobble * (slope[j] * w[j] + shift[j]) + drag[j] * w[j] + still[j]
                        w[j] = w[j] - step - noise * z - pinch * _sign(w[j] - b[j])
            for j in range(dim):
                out[r, i, j] = w[j]


@njit(**_OPTIONS)
def _steps_dense(  # type: ignore[no-untyped-def]
    out, start, hessian, scale, offset, correction, pull, anchor, l1_anchor, l1, steps, rate,
    drift_keys, drift_scale, keys, sign_keys, sigma, rho, law, fixed, recentre, basis,
):  # fmt: skip
    replicates, clients, dim = out.shape
    half = (dim + 1) // 2
    high, low, head, tail = _scratch(half)
    w = np.empty(dim)
    moved = np.empty(dim)
    drawn = np.zeros(dim)
    noise = np.zeros(dim)
    own = np.empty(dim)
    gradient = np.empty(dim)
    drag = np.empty(dim)
    rotate = basis.shape[0] > 0
    for r in range(replicates):
        for i in range(clients):
            count = steps[r % steps.shape[0], i % steps.shape[1]]
            factor = scale[r % scale.shape[0], i % scale.shape[1]]
            h = hessian[i % hessian.shape[0]]
            first = start[r % start.shape[0], i % start.shape[1]]
            o = offset[r % offset.shape[0], i % offset.shape[1]]
            c = correction[r % correction.shape[0], i % correction.shape[1]]
            q = pull[r % pull.shape[0], i % pull.shape[1]]
            a = anchor[r % anchor.shape[0], i % anchor.shape[1]]
            b = l1_anchor[r % l1_anchor.shape[0], i % l1_anchor.shape[1]]
            level = 0.0 if recentre else sigma[i]
            for j in range(dim):
                w[j] = first[j]
                own[j] = o[j]
            if drift_scale != 0.0:
                _fill(law, drift_keys[r, i], 0, half, high, low, head, tail)
                for j in range(dim):
                    drawn[j] = drift_scale * (head[j] if j < half else tail[j - half])
                if rotate:
                    _multiply_add(basis, drawn, own)
                else:
                    for j in range(dim):
                        own[j] += drawn[j]
            for k in range(count):
                vector = fixed if fixed >= 0 else k
                if level != 0.0 and (fixed < 0 or k == 0):
                    _fill(law, keys[r, i], vector * half, half, high, low, head, tail)
                    for j in range(dim):
                        drawn[j] = head[j] if j < half else tail[j - half]
                        noise[j] = 0.0 if rotate else drawn[j]
                    if rotate:
                        _multiply_add(basis, drawn, noise)
                top = _word(sign_keys[r, i], np.uint64(vector)) >> np.uint64(63)
                wobble = 1.0 + rho * (1.0 - 2.0 * np.float64(top))
                for j in range(dim):
                    gradient[j] = 0.0
                    drag[j] = 0.0
                    moved[j] = w[j] - first[j] if recentre else w[j]
                _multiply_add(h, moved, gradient)
                for j in range(dim):
                    moved[j] = w[j] - a[j]
                if pull.ndim == 4:
                    _multiply_add(q, moved, drag)
                else:
                    for j in range(dim):
                        drag[j] = q[j] * moved[j]
                for j in range(dim):
                    g = wobble * (factor * gradient[j] + (0.0 if recentre else own[j]))
                    w[j] -= rate * (g + c[j] + drag[j] + l1 * _sign(w[j] - b[j]) + level * noise[j])
            for j in range(dim):
                out[r, i, j] = w[j]


def local_steps(
    out: Floats, *, basis: Floats | None, hessian: Floats, pull: Floats, steps: NDArray[np.int64], **arrays: Any
) -> None:
    """Run the steps into ``out``; a dense Hessian or pull selects the dense loop.

    All arrays broadcast over replicates and clients by an axis of length 1. ``sigma`` is the standard deviation
    of a noise coordinate per client, ``rho`` the relative size of the random Hessian, ``fixed`` the index of the
    one minibatch to use or -1, ``basis`` rotates the noise out of the eigenbasis.
    """
    if hessian.ndim == 2 and pull.ndim == 3:
        _steps_diagonal(out, hessian=hessian, pull=pull, steps=steps, **arrays)
        return
    rotation = np.empty((0, 0)) if basis is None else basis
    _steps_dense(out, hessian=hessian, pull=pull, steps=steps, basis=rotation, **arrays)
