r"""Unbiased random quantisation of a vector: a norm, signs, and a few levels.

With ``s`` levels, every coordinate of :math:`x \in \mathbb R^n` is rounded at random to one of the two nearest
multiples of :math:`\|x\|/s`,

.. math:: Q(x)_j = \|x\|\,\mathrm{sign}(x_j)\,\frac{l_j + [u_j < r_j]}s, \qquad
          \frac{s|x_j|}{\|x\|} = l_j + r_j, \quad l_j \in \mathbb Z, \quad 0 \le r_j < 1,

with independent :math:`u_j`, uniform on :math:`[0, 1)`. So :math:`\mathbb E Q(x) = x` and

.. math:: \mathbb E\|Q(x) - x\|^2 = \frac{\|x\|^2}{s^2}\sum_jr_j(1 - r_j) \le \min\Bigl(\frac n{s^2},
   \frac{\sqrt n}s\Bigr)\|x\|^2 .

What is sent is the norm, with 32 bits, and for every coordinate a sign and a level of :math:`\lceil\log_2(s+1)\rceil`
bits. (The papers also code the levels, most of which are small.)

Source: Alistarh, Grubic, Li, Tomioka and Vojnovic, *QSGD: communication-efficient SGD via gradient quantization and
encoding*, NeurIPS 2017, section 3.1 and Lemma 3.1; the quantiser of FedPAQ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantiser:
    """Unbiased random rounding to a few levels.

    Parameters
    ----------
    levels
        ``s``, at least 1; 1 sends signs and zeros.

    Examples
    --------
    >>> Quantiser(levels=2)(np.array([3.0, -4.0]), np.array([0.5, 0.5]))
    array([ 2.5, -5. ])
    """

    levels: int

    def __post_init__(self) -> None:
        arguments.integer("Quantiser", "levels", self.levels, low=1, high=2**31 - 1)

    def variance(self, length: int) -> float:
        r"""Return the bound on :math:`\mathbb E\|Q(x) - x\|^2 / \|x\|^2` for vectors of a length.

        >>> Quantiser(levels=2).variance(4), Quantiser(levels=1).variance(4)
        (1.0, 2.0)
        """
        return min(length / self.levels**2, math.sqrt(length) / self.levels)

    def __call__(self, values: Floats, uniforms: Floats) -> Floats:
        """Quantise each vector along the last axis, with numbers that are uniform on ``[0, 1)``."""
        norm = np.sqrt((values * values).sum(axis=-1, keepdims=True))
        scaled = self.levels * np.minimum(np.abs(values) / np.where(norm > 0, norm, 1.0), 1.0)
        low = np.floor(scaled)
        level = low + (uniforms < scaled - low)
        return np.asarray(norm * np.sign(values) * level / self.levels, dtype=np.float64)
