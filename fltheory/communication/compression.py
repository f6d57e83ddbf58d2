r"""Sparse ternary compression of a vector, and error feedback around it.

For :math:`T \in \mathbb R^n` and a kept fraction :math:`q`, let :math:`k = \max(\lceil qn \rceil, 1)` and let
:math:`v` be the ``k``-th largest of the :math:`|T_j|`. The two published definitions agree unless :math:`v` is
attained both inside and outside the ``k`` largest:

``exact``
    exactly ``k`` coordinates are kept (on equal magnitude the one with the smaller index), each becomes
    :math:`m\,\mathrm{sign}(T_j)` with :math:`m` the mean magnitude of the kept ones. This is what the code of
    Sattler et al. does.
``threshold``
    all coordinates with :math:`|T_j| \ge v` are kept, and :math:`m = \frac1k \sum_{|T_j| \ge v} |T_j|`, still divided
    by ``k``. This is the algorithm box of EFL, read literally.

Ties are the rule, not the exception, at a server: a weighted sum of a few ternary vectors has few distinct
magnitudes. Which of them rounding makes larger would depend on the order of additions, so magnitudes are compared
to 40 binary digits of the largest one, and what agrees to that precision is a tie.

Both write :math:`\lceil qn \rceil` where the box has ``nq``, which need not be an integer; ``qn`` is rounded to nine
decimals first, so that ``q = 0.07`` keeps 7 of 100 coordinates and not 8.

**Contraction.** With ``exact``, and with :math:`m` as above,

.. math:: \|T - \mathrm{ST}(T)\|^2 \le \|T\|^2 - k m^2 \le \Bigl(1 - \min\bigl(\tfrac1k, \tfrac kn\bigr)\Bigr)\,\|T\|^2,

the first with equality if ``T`` has at least ``k`` non-zero entries. For a given sum :math:`s = km` of the kept
magnitudes :math:`\|T\|^2` is convex in them, and so largest at a vertex: one entry alone (:math:`s^2`) or all ``n``
equal (:math:`s^2 n/k^2`). The second is attained and the first approached, by one entry among tiny ones, so the
constant is sharp. With ``threshold`` ties break it: for ``n`` equal entries :math:`m` is ``n/k`` times their magnitude
and the error is :math:`(n/k - 1)^2\,\|T\|^2`, an expansion once ``n > 2k``; error feedback then amplifies what it
should absorb.

**Error feedback.** What a compressor leaves out is added to the next vector: :func:`feedback`.

Source: Sattler et al., *Robust and communication-efficient federated learning from non-i.i.d. data*, 2019; EFL,
Algorithm 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats

TIES = ("exact", "threshold")

_RESOLUTION = 2.0**40


@dataclass(frozen=True, kw_only=True, slots=True)
class SparseTernary:
    """The compressor ST: the largest coordinates, all with one magnitude.

    Parameters
    ----------
    fraction
        ``q``, the fraction of coordinates to keep, in ``(0, 1]``.
    ties
        ``exact`` or ``threshold``: what is kept when magnitudes are equal.

    Examples
    --------
    >>> vector = np.array([3.0, -1.0, 0.5, 1.0])
    >>> SparseTernary(fraction=0.5)(vector)
    array([ 2., -2.,  0.,  0.])
    >>> SparseTernary(fraction=0.5, ties="threshold")(vector)
    array([ 2.5, -2.5,  0. ,  2.5])
    """

    fraction: float
    ties: str = "exact"

    def __post_init__(self) -> None:
        arguments.real("SparseTernary", "fraction", self.fraction, low=0, high=1, open_low=True)
        arguments.choice("SparseTernary", "ties", self.ties, TIES)

    def kept(self, length: int) -> int:
        """Return ``k``, the number of coordinates kept of ``length``.

        >>> SparseTernary(fraction=0.07).kept(100), SparseTernary(fraction=0.01).kept(5)
        (7, 1)
        """
        return max(math.ceil(round(self.fraction * length, 9)), 1)

    def contraction(self, length: int) -> float:
        r"""Return the supremum of :math:`\|T - ST(T)\|^2 / \|T\|^2` with ``exact``, or without ties."""
        k = self.kept(length)
        return 1.0 - min(1.0 / k, k / length)

    def __call__(self, values: Floats) -> Floats:
        """Compress each vector along the last axis."""
        k = self.kept(values.shape[-1])
        size = np.abs(values)
        largest = size.max(axis=-1, keepdims=True)
        rank = np.rint(size / np.where(largest > 0, largest, 1.0) * _RESOLUTION)
        if self.ties == "exact":
            # A stable sort, because a partition would break ties in an order of its own.
            order = np.argsort(-rank, axis=-1, kind="stable")[..., :k]
            mask = np.zeros(values.shape, dtype=np.bool_)
            np.put_along_axis(mask, order, True, axis=-1)
        else:
            mask = rank >= np.partition(rank, -k, axis=-1)[..., -k, None]
        magnitude = np.where(mask, size, 0.0).sum(axis=-1, keepdims=True) / k
        return np.asarray(np.where(mask, magnitude * np.sign(values), 0.0), dtype=np.float64)


def feedback(compressor: SparseTernary | None, residual: Floats, update: Floats) -> tuple[Floats, Floats]:
    """Return what is sent of ``residual + update``, and the new residual.

    Sent and residual always add up to ``residual + update``, so nothing is lost, only delayed.

    Parameters
    ----------
    compressor
        A compressor; ``None`` sends everything.
    residual, update
        What was kept back so far, and what is new, shape ``(replicates, clients, dim)``.

    Returns
    -------
    tuple of numpy.ndarray
        What is sent, and what is kept back.

    Examples
    --------
    >>> sent, kept = feedback(SparseTernary(fraction=0.5), np.zeros((1, 1, 2)), np.array([[[3.0, 1.0]]]))
    >>> sent.tolist(), kept.tolist()
    ([[[3.0, 0.0]]], [[[0.0, 1.0]]])
    """
    total = residual + update
    sent = total if compressor is None else compressor(total)
    return sent, total - sent
