"""Counter-based random numbers in vectors: those of :mod:`fltheory._internal.seeding`, operation by operation.

Eight words are drawn at a time, each of which makes two numbers. Nothing is fused and nothing reordered, so that array
code and compiled code agree bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

from fltheory._internal.seeding import GOLDEN
from fltheory._internal.vectors import Array, Vector, loop, tile

WORDS = 8
"""Words of a vector; so many numbers are written at a time."""

_HALVES = ir.VectorType(ir.IntType(32), WORDS)
_SINGLES = ir.VectorType(ir.FloatType(), WORDS)
_DOUBLES = ir.VectorType(ir.DoubleType(), WORDS)
_PAIRS = ir.VectorType(ir.IntType(64), WORDS // 2)

_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_ROOT3 = math.sqrt(3.0)

# One instruction takes the low, or the high, halves of two vectors of four words if the words lie in this order.
_ORDERS = ([0, 1, 4, 5], [2, 3, 6, 7])
_LOW = [0, 2, 8, 10, 4, 6, 12, 14]
_HIGH = [1, 3, 9, 11, 5, 7, 13, 15]


def _draw_normals(builder: Any, key: Any, first: Any, count: Any, numbers: Array, at: Any) -> None:
    """Write the normal pairs of words ``first .. first + count``, and of a few more, to columns from ``at`` on."""
    _draw(builder, _normal_pairs, key, first, count, numbers, at)


def _draw_bounded(builder: Any, key: Any, first: Any, count: Any, numbers: Array, at: Any) -> None:
    r"""Write pairs of uniforms on :math:`[-\sqrt3, \sqrt3]` instead."""
    _draw(builder, _bounded_pairs, key, first, count, numbers, at)


def _draw(
    builder: Any,
    pairs: Callable[[Any, Any, Any], tuple[Vector, Vector]],
    key: Any,
    first: Any,
    count: Any,
    numbers: Array,
    at: Any,
) -> None:
    # Two loops, since their constants together would not stay in registers; the first leaves the words as they are.
    with loop(builder, count, WORDS) as m:
        passed = builder.mul(builder.add(first, m), ir.Constant(m.type, GOLDEN))
        counter = _repeated(builder, builder.add(key, passed))
        drawn = [_mixed(builder, builder.add(counter, _each([(k + 1) * GOLDEN for k in order]))) for order in _ORDERS]
        a, b = (builder.bitcast(words, _HALVES) for words in drawn)
        for place, order in zip(_places(builder, numbers, at, m, _HALVES), (_HIGH, _LOW), strict=True):
            builder.store(builder.shuffle_vector(a, b, ir.Constant(_HALVES, order)), place, align=4)
    with loop(builder, count, WORDS) as m:
        high, low = (builder.load(place, align=4) for place in _places(builder, numbers, at, m, _HALVES))
        for place, vector in zip(_places(builder, numbers, at, m, _SINGLES), pairs(builder, high, low), strict=True):
            builder.store(vector.value, place, align=4)


def _places(builder: Any, numbers: Array, at: Any, m: Any, kind: Any) -> list[Any]:
    """Return where the two parts of a vector of numbers are."""
    column = builder.add(at, m)
    rows = (ir.Constant(m.type, row) for row in range(2))
    return [builder.bitcast(numbers.at(row, column), kind.as_pointer()) for row in rows]


def _mixed(builder: Any, z: Any) -> Any:
    """Return the words at these counters."""
    z = builder.mul(builder.xor(z, builder.lshr(z, _each([30] * 4))), _each([_FIRST] * 4))
    z = builder.mul(builder.xor(z, builder.lshr(z, _each([27] * 4))), _each([_SECOND] * 4))
    return builder.xor(z, builder.lshr(z, _each([31] * 4)))


def _normal_pairs(builder: Any, high: Any, low: Any) -> tuple[Vector, Vector]:
    """Return Box and Muller's pairs; see :func:`fltheory._internal.seeding.normals`."""
    radius = _radius(builder, builder.lshr(high, _whole(1)))
    quarter = builder.ashr(builder.add(low, _whole(1 << 29)), _whole(30))
    angle = _single(builder, builder.sub(low, builder.shl(quarter, _whole(30)))) * (2.0 * math.pi / 2**32)
    z = angle * angle
    sine = z.polynomial([-1 / 6, 1 / 120, -1 / 5040, 1 / 362880])
    sine = angle * (z * sine + 1.0)
    cosine = z.polynomial([1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320])
    odd = builder.icmp_signed("!=", builder.and_(quarter, _whole(1)), _whole(0))
    x, y = (builder.select(odd, a.value, b.value) for a, b in ((sine, cosine), (cosine, sine)))
    signs = (builder.add(quarter, _whole(1)), quarter)
    return tuple(  # type: ignore[return-value]
        radius * radius.like(_turned(builder, value, builder.shl(builder.and_(sign, _whole(2)), _whole(30))))
        for value, sign in zip((x, y), signs, strict=True)
    )


def _radius(builder: Any, high: Any) -> Vector:
    bits = builder.bitcast((_single(builder, high) + 0.5).value, _HALVES)
    exponent = builder.ashr(builder.sub(bits, _whole(0x3F3504F3)), _whole(23))
    mantissa = _exactly(builder, builder.bitcast(builder.sub(bits, builder.shl(exponent, _whole(23))), _SINGLES))
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    series = z * z.polynomial([1 / 3, 1 / 5, 1 / 7, 1 / 9]) + 1.0
    whole = _single(builder, builder.sub(exponent, _whole(31))) * math.log(2.0)
    logarithm = s * 2.0 * series + whole
    root = builder.module.declare_intrinsic(f"llvm.sqrt.v{WORDS}f32", (), ir.FunctionType(_SINGLES, [_SINGLES]))
    return logarithm.like(builder.call(root, [(logarithm * -2.0).value]))


def _bounded_pairs(builder: Any, high: Any, low: Any) -> tuple[Vector, Vector]:
    scale = 2.0 * _ROOT3 / 4294967296.0
    parts = (_exactly(builder, builder.uitofp(half, _DOUBLES)) for half in (high, low))
    singles = (builder.fptrunc(((part + 0.5) * scale - _ROOT3).value, _SINGLES) for part in parts)
    head, tail = (_exactly(builder, single) for single in singles)
    return head, tail


def _exactly(builder: Any, value: Any) -> Vector:
    """Return a vector whose arithmetic is done as written."""
    return Vector(builder, value, fused=False)


def _single(builder: Any, whole: Any) -> Vector:
    return _exactly(builder, builder.sitofp(whole, _SINGLES))


def _turned(builder: Any, value: Any, sign: Any) -> Any:
    """Return numbers whose signs are turned where the sign bit is set."""
    return builder.bitcast(builder.xor(builder.bitcast(value, _HALVES), sign), _SINGLES)


def _whole(number: int) -> Any:
    return ir.Constant(_HALVES, [number] * WORDS)


def _each(words: list[int]) -> Any:
    return ir.Constant(_PAIRS, [word % 2**64 for word in words])


def _repeated(builder: Any, word: Any) -> Any:
    first = builder.insert_element(ir.Constant(_PAIRS, ir.Undefined), word, ir.Constant(ir.IntType(32), 0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4)
    return builder.shuffle_vector(first, first, order)


draw_normals = tile(_draw_normals)
draw_bounded = tile(_draw_bounded)
