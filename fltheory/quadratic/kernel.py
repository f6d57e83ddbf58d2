r"""The compiled loops of the quadratic models: counter-based noise and ``s_i`` steps of (G).

Functions take arrays and scalars only, scratch included, run serially over a block of replicates and release the
interpreter lock, so that the engine can run blocks in threads; the numbers do not depend on the split. They are called
through :mod:`fltheory.quadratic.compiled`.

Random numbers are those of :mod:`fltheory._internal.seeding`, bit by bit (:mod:`fltheory.quadratic.normals`). The
local steps are
in double precision and may be fused.

Scratch: ``numbers``, ``(2, size)``, are the pairs of numbers made of counter-based words, as laid out by
:func:`fltheory._internal.seeding.halves`; models in scratch are split in the same two parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fltheory._internal.seeding import GOLDEN
from fltheory.quadratic.normals import draw_bounded, draw_normals
from fltheory.quadratic.tiles import WIDTH, walk_tile

_GAMMA = np.uint64(GOLDEN)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

_EXACT: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False}
_OPTIONS: dict[str, Any] = {**_EXACT, "fastmath": {"contract"}}
_INNER: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@njit(**_EXACT, **_INNER)
def _draw(law, key, first, count, numbers, at):  # type: ignore[no-untyped-def]
    """Write the pairs of words ``first .. first + count``, and of a few more, to columns from ``at`` on."""
    if law == 1:
        draw_bounded(key, first, count, numbers, at)
    else:
        draw_normals(key, first, count, numbers, at)


@njit(**_EXACT, cache=True)
def unit_vectors(law, keys, vector, out, numbers):  # type: ignore[no-untyped-def]
    """Write the ``vector``-th vectors of these keys to the rows of ``out``."""
    count, dim = out.shape
    half = (dim + 1) // 2
    for n in range(count):
        _draw(law, keys[n], vector * half, half, numbers, 0)
        for j in range(half):
            out[n, j] = numbers[0, j]
        for j in range(half, dim):
            out[n, j] = numbers[1, j - half]


@njit(inline="always")
def _flip(key, vector):  # type: ignore[no-untyped-def]
    """Return the sign of the random Hessian: the top bit of a word."""
    z = key + np.uint64(vector + 1) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return 1.0 - 2.0 * np.float64(np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(63)))


@njit(inline="always")
def _sign(x):  # type: ignore[no-untyped-def]
    return (1.0 if x > 0.0 else 0.0) - (1.0 if x < 0.0 else 0.0)


@njit(**_OPTIONS, **_INNER)
def _multiply_add(matrix, vector, out):  # type: ignore[no-untyped-def]
    """Add a symmetric matrix times a vector to ``out``; runs along rows, so that it vectorises."""
    dim = vector.shape[0]
    for a in range(dim):
        x = vector[a]
        for j in range(dim):
            out[j] += matrix[a, j] * x


@njit(**_OPTIONS, cache=True)
def steps_diagonal(  # type: ignore[no-untyped-def]
    out, start, hessian, scale, offset, correction, pull, anchor, l1_anchor, l1, steps, rates,
    drift_keys, drift_scale, keys, sign_keys, sigma, rho, law, fixed, recentre, numbers, state,
):  # fmt: skip
    """Run the steps with diagonal Hessians and pulls into ``out``; see :mod:`fltheory.quadratic.compiled`.

    ``state``, ``(5, 2, coordinates)``, is scratch: the model, its slope and shift in a step, and the pull's share of
    both. Slopes and shifts are made anew only for replicates that have their own.
    """
    replicates, clients, dim = out.shape
    half = (dim + 1) // 2
    w, slope, shift, drag, still = state[0], state[1], state[2], state[3], state[4]
    own = max(scale.shape[0], offset.shape[0], correction.shape[0], pull.shape[0], anchor.shape[0]) > 1 or recentre
    linear = rho == 0.0 and l1 == 0.0
    # Where steps have rates of their own, what is made once for all of them is made for the rate 1.
    varied = rates.shape[0] > 1
    rate = 1.0 if varied else rates[0]
    drift = 0.0 if recentre else rate * drift_scale
    stride = 0 if fixed >= 0 else half
    for i in range(clients):
        noise = 0.0 if recentre else rate * sigma[i]
        for r in range(replicates):
            count = steps[r % steps.shape[0], i % steps.shape[1]]
            first = start[r % start.shape[0], i % start.shape[1]]
            b = l1_anchor[r % l1_anchor.shape[0], i % l1_anchor.shape[1]]
            if r == 0 or own:
                factor = rate * scale[r % scale.shape[0], i % scale.shape[1]]
                h = hessian[i % hessian.shape[0]]
                o = offset[r % offset.shape[0], i % offset.shape[1]]
                c = correction[r % correction.shape[0], i % correction.shape[1]]
                q = pull[r % pull.shape[0], i % pull.shape[1]]
                a = anchor[r % anchor.shape[0], i % anchor.shape[1]]
                for j in range(dim):
                    part = 1 if j >= half else 0
                    at = j - part * half
                    slope[part, at] = factor * h[j]
                    shift[part, at] = -slope[part, at] * first[j] if recentre else rate * o[j]
                    drag[part, at] = rate * q[j]
                    still[part, at] = rate * (c[j] - q[j] * a[j])
                    if linear:
                        slope[part, at] += drag[part, at]
                        shift[part, at] += still[part, at]
                        if not varied:
                            slope[part, at] = 1.0 - slope[part, at]
            drawn = 0
            if noise != 0.0 and count > 0:
                drawn = half if fixed >= 0 else count * half
                _draw(law, keys[r, i], fixed * half if fixed >= 0 else 0, drawn, numbers, 0)
            if drift != 0.0:
                _draw(law, drift_keys[r, i], 0, half, numbers, drawn)
            for j in range(half):
                w[0, j] = first[j]
            for j in range(dim - half):
                w[1, j] = first[half + j]
            if linear and varied:
                for k in range(count):
                    for part in range(2):
                        for j in range(half):
                            x = w[part, j]
                            push = shift[part, j] + drift * numbers[part, drawn + j]
                            step = slope[part, j] * x + push + noise * numbers[part, k * stride + j]
                            w[part, j] = x - rates[k] * step
            elif linear:
                for part in range(2):
                    for j in range(0, half, WIDTH):
                        walk_tile(state, part, j, noise, drift, numbers, drawn, stride, count)
            else:
                for k in range(count):
                    wobble = 1.0 + rho * _flip(sign_keys[r, i], fixed if fixed >= 0 else k)
                    for j in range(dim):
                        part = 1 if j >= half else 0
                        at = j - part * half
                        x = w[part, at]
                        push = shift[part, at] + drift * numbers[part, drawn + at]
                        step = wobble * (slope[part, at] * x + push) + drag[part, at] * x + still[part, at]
                        if varied:
                            step += noise * numbers[part, k * stride + at] + l1 * _sign(x - b[j])
                            w[part, at] = x - rates[k] * step
                            continue
                        lean = rate * l1 * _sign(x - b[j])
                        w[part, at] = x - step - noise * numbers[part, k * stride + at] - lean
            for j in range(half):
                out[r, i, j] = w[0, j]
            for j in range(dim - half):
                out[r, i, half + j] = w[1, j]


@njit(**_OPTIONS, cache=True)
def steps_dense(  # type: ignore[no-untyped-def]
    out, start, hessian, scale, offset, correction, pull, anchor, l1_anchor, l1, steps, rates,
    drift_keys, drift_scale, keys, sign_keys, sigma, rho, law, fixed, recentre, numbers, state, basis,
):  # fmt: skip
    """Run the steps with dense Hessians into ``out``; ``state``, ``(7, dim)``, is scratch.

    A pull has two more axes, the first of them of length 1 if it is diagonal.
    """
    replicates, clients, dim = out.shape
    half = (dim + 1) // 2
    w, moved, drawn, noise, own, gradient, drag = state[0], state[1], state[2], state[3], state[4], state[5], state[6]
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
            # Two things are drawn, the drift (-1) and the noise of every step.
            for k in range(-1 if drift_scale != 0.0 else 0, count):
                vector = 0 if k < 0 else (fixed if fixed >= 0 else k)
                if k < 0 or (level != 0.0 and (fixed < 0 or k == 0)):
                    _draw(law, drift_keys[r, i] if k < 0 else keys[r, i], vector * half, half, numbers, 0)
                    size = drift_scale if k < 0 else 1.0
                    for j in range(dim):
                        drawn[j] = size * (numbers[0, j] if j < half else numbers[1, j - half])
                        noise[j] = 0.0 if rotate else drawn[j]
                    if rotate:
                        _multiply_add(basis, drawn, noise)
                if k < 0:
                    for j in range(dim):
                        own[j] += noise[j]
                    continue
                wobble = 1.0 + rho * _flip(sign_keys[r, i], vector)
                rate = rates[k if rates.shape[0] > 1 else 0]
                for j in range(dim):
                    gradient[j] = 0.0
                    drag[j] = 0.0
                    moved[j] = w[j] - first[j] if recentre else w[j]
                _multiply_add(h, moved, gradient)
                for j in range(dim):
                    moved[j] = w[j] - a[j]
                if q.shape[0] == dim:
                    _multiply_add(q, moved, drag)
                else:
                    for j in range(dim):
                        drag[j] = q[0, j] * moved[j]
                for j in range(dim):
                    g = wobble * (factor * gradient[j] + (0.0 if recentre else own[j]))
                    w[j] -= rate * (g + c[j] + drag[j] + l1 * _sign(w[j] - b[j]) + level * noise[j])
            for j in range(dim):
                out[r, i, j] = w[j]
