r"""One step of SGD on a bent parabola from a random start, on both outcomes of the start.

The objective has curvature :math:`\frac L2` left and :math:`L` right of its minimiser 0; with :math:`u = \eta L` a step
without noise is :math:`\varphi(x) = x - \frac u2(x + [x]_+)`. The start has two outcomes of any probabilities, and of
the noise only the moments of a Gaussian enter: :math:`0, s^2, 0, 3s^4` with :math:`s = \eta\sigma`. Everything works on
floats and on rationals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params, Real, Space

u = scalar("u", "u", "step size times the curvature on the right", domain="positive")
s_sq = scalar("s_sq", "s^2", "variance of what a step adds", domain="nonnegative")
first = scalar("first", r"\mathbb Ex", "mean before the step")
absolute = scalar("absolute", r"\mathbb E|x|", "mean modulus before the step", domain="nonnegative")
second = scalar("second", r"\mathbb Ex^2", "second moment before the step", domain="nonnegative")
fourth = scalar("fourth", r"\mathbb Ex^4", "fourth moment before the step", domain="nonnegative")
first_after = scalar("first_after", r"\mathbb Ex^+", "mean after the step")
second_after = scalar("second_after", r"\mathbb E(x^+)^2", "second moment after the step", domain="nonnegative")
fourth_after = scalar("fourth_after", r"\mathbb E(x^+)^4", "fourth moment after the step", domain="nonnegative")

SPACE = Space({"left": Real(-3, 3), "right": Real(-3, 3), "q": Real(0, 1), "u": Real(0.01, 1), "s": Real(0, 3)})


def realise(point: Params) -> dict[Any, Any]:
    """Return the moments before and after the step."""
    share, rate, s = point["q"], point["u"], point["s"]
    starts, chances = (point["left"], point["right"]), (share, 1 - share)

    def mean(power: int, values: Any) -> Any:
        return sum(chance * value**power for chance, value in zip(chances, values, strict=True))

    moved = [x - rate * (np.minimum(x, 0) + 2 * np.maximum(x, 0)) / 2 for x in starts]
    modulus = [np.maximum(x, 0) - np.minimum(x, 0) for x in starts]
    return {
        u: rate,
        s_sq: s * s,
        first: mean(1, starts),
        absolute: mean(1, modulus),
        second: mean(2, starts),
        fourth: mean(4, starts),
        first_after: mean(1, moved),
        second_after: mean(2, moved) + s * s,
        fourth_after: mean(4, moved) + 6 * s * s * mean(2, moved) + 3 * s**4,
    }
