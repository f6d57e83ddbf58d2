r"""Exponentials and logarithms of vectors, for the tiles of the softmax loops.

.. math:: e^x = 2^n (1 + r + t), \qquad n = \mathrm{round}(x / \log 2), \quad r = x - n \log 2,
          \quad t = r^2 \Bigl(\tfrac12 + \tfrac r6 + \dots + \tfrac{r^{10}}{12!}\Bigr),

to about 1e-16, with ``t`` accurate relative to its own size.
"""

from __future__ import annotations

import math

from llvmlite import ir  # type: ignore[import-untyped]

from fltheory._internal.vectors import VECTOR, Vector, whole_words

LARGE = 500.0
"""Beyond this exponent models are measured by array code, before an exponential overflows."""

_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# Adding 1.5 * 2**52 rounds to an integer and leaves that integer in the low bits of the sum.
_ROUNDING = 6755399441055744.0
_SERIES = [1.0 / math.factorial(k) for k in range(2, 13)]
_BITS = 52
_BIAS = 1023
_ROOT_HALF = 0x3FE6A09E667F3BCD
_TWO_52 = 0x4330000000000000


def exponentials(xs: list[Vector]) -> list[Vector]:
    """Return ``exp(x)`` for ``x`` up to 700; below -708 it is that of -708.

    Several vectors at once, so that a constant once loaded is used several times.
    """
    return [s * ((r + t) + 1.0) for s, r, t in _terms(xs)]


def remainders(xs: list[Vector]) -> list[Vector]:
    """Return ``exp(x) - 1 - x`` for ``x`` up to 700, accurate relative to its own size."""
    return [s.where("==", 1.0, t, s * ((r + t) + 1.0) - 1.0 - x) for x, (s, r, t) in zip(xs, _terms(xs), strict=True)]


def log_one_plus(x: Vector) -> Vector:
    r"""Return ``log(1 + x)`` for ``x`` at least 0, accurate relative to its own size.

    With :math:`u = 1 + x` rounded it is :math:`\log u + (x - (u - 1)) / u`; and :math:`\log u = k \log 2 + \log m` with
    :math:`m` between :math:`\sqrt{1/2}` and :math:`\sqrt 2`, whose logarithm is twice the area tangent of
    :math:`(m - 1) / (m + 1)`.
    """
    builder = x.builder
    u = x + 1.0
    shifted = builder.sub(u.words(), whole_words(_ROOT_HALF))
    k = builder.lshr(shifted, whole_words(_BITS))
    exponent = _seen(x, builder.or_(k, whole_words(_TWO_52))) - 2.0**52
    m = _seen(x, builder.sub(u.words(), builder.shl(k, whole_words(_BITS))))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = z.polynomial([2.0 / (2 * j + 1) for j in range(1, 11)])
    lost = (x - (u - 1.0)) / u
    return exponent * _LN2_HIGH + (s * 2.0 + (s * z * series + (exponent * _LN2_LOW + lost)))


def _terms(xs: list[Vector]) -> list[tuple[Vector, Vector, Vector]]:
    """Return ``s, r, t`` with ``exp(x) = s * (1 + r + t)`` and ``s`` a power of two, for every ``x``."""
    xs = [x.at_least(-708.0) for x in xs]
    shifted = [x * (1.0 / math.log(2.0)) + _ROUNDING for x in xs]
    ns = [x - _ROUNDING for x in shifted]
    rs = [x - n * _LN2_HIGH for x, n in zip(xs, ns, strict=True)]
    rs = [r - n * _LN2_LOW for r, n in zip(rs, ns, strict=True)]
    ts = [r.like(_SERIES[-1]) for r in rs]
    for coefficient in reversed(_SERIES[:-1]):
        ts = [t * r + coefficient for t, r in zip(ts, rs, strict=True)]
    return [(_power(x), r, t * r * r) for x, r, t in zip(shifted, rs, ts, strict=True)]


def _power(shifted: Vector) -> Vector:
    """Return two to the power that is in the low bits."""
    builder = shifted.builder
    raised = builder.shl(shifted.words(), whole_words(_BITS))
    return _seen(shifted, builder.add(raised, whole_words(_BIAS << _BITS)))


def _seen(x: Vector, words: ir.Value) -> Vector:
    """Return the doubles with these bits."""
    return x.like(x.builder.bitcast(words, VECTOR))
