r"""Decentralised SGD on quadratics, with second moments propagated by whole blocks: the instances of Theorem 2.

Clients are of two kinds, half of them each. On the steep axis the first kind has the curvature :math:`L`, the second
one :math:`\mu`, and they pull apart with :math:`\pm\bar\zeta`; on the flat axis all have :math:`\mu`, or in the convex
case the curvature that is worst for the accuracy, :math:`8\epsilon/R_0^2`. The minimiser is the origin, the start is on
both axes. After :math:`\tau - 1` local steps a complete graph mixes with :math:`W = \lambda I +
\frac{1-\lambda}n\mathbf 1\mathbf 1^\top`, :math:`1 - \lambda^2 = p`. Noise is additive. Means of the two kinds are all
that the mean model depends on, so that a step is a matrix on their first and second moments, with the sum of the gaps
so far; powers of a block's matrix bracket the number of iterations to an accuracy.

Where matrices are drawn, clients get the mean after :math:`\tau` local steps if a coin shows so, with probability
:math:`p`, and nobody communicates otherwise: of all laws with this :math:`p` the one with the rarest communication.
Coins do not depend on the models, so that expected moments are again mapped by a matrix.

The step size is the one of the proof: at most :math:`\frac1d = \frac p{96\sqrt3\tau L}`, and such that what the noise
and what the drift add, with the constants of the proof, are at most :math:`\frac\epsilon6`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.bounds.claim import Instances, Method, Rejected
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space

eps = scalar("eps", r"\epsilon", "accuracy", domain="positive")
T_eps = scalar("T_eps", "T", "number of iterations to the accuracy", domain="integer>=0")
R_0 = scalar("R_0", "R_0", "distance of the start", domain="positive")
sigma_bar = scalar("sigma_bar", r"\bar\sigma", "root mean square noise at the minimiser", domain="nonnegative")
zeta_bar = scalar("zeta_bar", r"\bar\zeta", "root mean square of the gradients at the minimiser", domain="nonnegative")

SPACE = Space(
    {
        "n": Integer(2, 2**30),
        "tau": Integer(1, 1024),
        "inverse": Real(1, 1e6, log=True),
        "L": Real(0.01, 1e4, log=True),
        "condition": Real(1, 1e6, log=True),
        "sigma": Real(0, 1e6),
        "zeta": Real(0, 1e6),
        "start": Real(0.01, 1e6, log=True),
        "finer": Real(1, 1e12, log=True),
    }
)
_BASE: dict[str, Any] = {
    "n": 2,
    "tau": 4,
    "inverse": 4.0,
    "L": 1.0,
    "condition": 8.0,
    "sigma": 0.0,
    "zeta": 0.0,
    "start": 10.0,
    "finer": 1e3,
}
NOISY = {**_BASE, "sigma": 30.0}
MANY = {**_BASE, "sigma": 30.0, "n": 2**26}
QUIET = {**_BASE, "zeta": 30.0}
STILL = dict(_BASE)
"""Where the first term of a rate is the largest, the two parts of the second, and the last."""
ALONE: dict[str, Any] = {"tau": 1, "inverse": 1.0}
"""Minibatch SGD, where the second term is smallest."""

_LARGEST = 60
"""Blocks are at most two to this power."""


class _Axis:
    """Moments of the two kinds along one axis: two squares, their product, two means, 1, and the sum of gaps."""

    def __init__(self, curvature: tuple[float, float], pull: float, start: float) -> None:
        self.curvature, self.pull, self.start = curvature, pull, start

    @property
    def gap(self) -> Floats:
        """The gap of the mean model, as weights of the moments."""
        half = sum(self.curvature) / 4
        return half * np.array([0.25, 0.5, 0.25, 0, 0, 0, 0])

    @property
    def far(self) -> Floats:
        """The squared mean model."""
        return np.array([0.25, 0.5, 0.25, 0, 0, 0, 0])

    @property
    def first(self) -> Floats:
        """The moments at the start."""
        return np.array([self.start**2] * 3 + [self.start] * 2 + [1.0, 0.0])

    def block(
        self, size: float, spread: float, steps: int, mixing: float, forget: float, chance: float = 1.0
    ) -> Floats:
        """Return the matrix of a block: steps, the last of which is followed by mixing, with some chance."""
        local = self._map(np.diag([1 - size * h for h in self.curvature]), size * self.pull, spread)
        local[6] = forget * np.eye(7)[6] + self.gap
        near, far = (1 + mixing) / 2, (1 - mixing) / 2
        meet = self._map(np.array([[near, far], [far, near]]), 0.0, 0.0)
        meet = chance * meet + (1 - chance) * np.eye(7)
        return np.asarray(meet @ np.linalg.matrix_power(local, steps))

    @staticmethod
    def _map(matrix: Floats, shift: float, spread: float) -> Floats:
        (a, b), (c, d) = matrix
        one, other = -shift, shift
        out = np.zeros((7, 7))
        out[0] = [a * a, 2 * a * b, b * b, 2 * a * one, 2 * b * one, one**2 + spread, 0]
        out[1] = [a * c, a * d + b * c, b * d, a * other + c * one, b * other + d * one, one * other, 0]
        out[2] = [c * c, 2 * c * d, d * d, 2 * c * other, 2 * d * other, other**2 + spread, 0]
        out[3], out[4] = [0, 0, 0, a, b, one, 0], [0, 0, 0, c, d, other, 0]
        out[5, 5] = out[6, 6] = 1
        return out


def step_size(point: Params, *, accuracy: float) -> float:
    """Return the step size of the proof."""
    rate, length, smooth = 1 / float(point["inverse"]), float(point["tau"]), float(point["L"])
    noise, pull = float(point["sigma"]) ** 2, float(point["zeta"]) ** 2
    size = rate / (96 * np.sqrt(3) * length * smooth)
    first = noise / float(point["n"])
    second = 64 * 3 * smooth * length / rate * (noise + 18 * length / rate * pull)
    if first > 0:
        size = min(size, accuracy / (6 * first))
    if second > 0:
        size = min(size, np.sqrt(accuracy / (6 * second)))
    return float(size)


def realise(point: Params, *, strongly: bool, drawn: bool = False) -> dict[str, Any]:
    """Return the number of iterations to an accuracy, with matrices that are ``drawn`` or used in turn."""
    accuracy, rate, length = 1 / float(point["finer"]), 1 / float(point["inverse"]), int(point["tau"])
    high, far = float(point["L"]), float(point["start"])
    low = high / float(point["condition"]) if strongly else min(high, 8 * accuracy / far**2)
    size = step_size(point, accuracy=accuracy)
    spread = (size * float(point["sigma"])) ** 2 / float(point["n"])
    forget = 1 - low * size / 2 if strongly else 1.0
    axes = (
        _Axis((high, low), float(point["zeta"]), far / np.sqrt(2)),
        _Axis((low, low), 0.0, far / np.sqrt(2)),
    )

    def error(states: list[Floats], count: float) -> float:
        steps = count * length
        weight = -np.expm1(steps * np.log1p(-low * size / 2)) / (low * size / 2) if strongly else steps
        total = sum(state[6] for state in states) / weight
        last = sum(axis.far @ state for axis, state in zip(axes, states, strict=True))
        return float(total + (low * last if strongly else 0.0))

    mixing, chance = (0.0, rate) if drawn else (float(np.sqrt(1 - rate)), 1.0)
    powers = [[axis.block(size, spread, length, mixing, forget, chance) for axis in axes]]
    first = [axis.first for axis in axes]

    def after(states: list[Floats], level: int) -> list[Floats]:
        return [matrix @ state for matrix, state in zip(powers[level], states, strict=True)]

    while error(after(first, len(powers) - 1), 2.0 ** (len(powers) - 1)) > accuracy:
        if len(powers) > _LARGEST:
            raise Rejected("the accuracy is not reached")
        powers.append([matrix @ matrix for matrix in powers[-1]])
    states, count = first, 0.0
    for level in range(len(powers) - 2, -1, -1):
        further = after(states, level)
        if error(further, count + 2.0**level) > accuracy:
            states, count = further, count + 2.0**level
    return {
        "n_clients": float(point["n"]),
        "block": float(length),
        "p_mix": rate,
        "L": high,
        "mu": low if strongly else 0.0,
        "sigma_bar": float(point["sigma"]),
        "zeta_bar": float(point["zeta"]),
        "R_0": far,
        "eps": accuracy,
        "T_eps": length * (count + 1),
        "dependence": 0,
    }


def instances(*, strongly: bool, drawn: bool = False) -> Instances:
    """Return instances of one of both cases, with matrices that are ``drawn`` or used in turn."""
    made = partial(realise, strongly=strongly, drawn=drawn)
    return Instances(space=SPACE, realise=made, method=Method.EXACT, rational=False)
