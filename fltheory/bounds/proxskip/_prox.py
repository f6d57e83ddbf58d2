r"""ProxSkip in exact arithmetic: functions, proximal operators, and steps with all coins.

The regulariser is :class:`~fltheory.bounds.functions.Regulariser`; the smooth part :math:`f` is
:class:`~fltheory.bounds.functions.Kinked`, tilted so that a given point is the minimiser of :math:`f + \psi`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory.bounds.functions import Kinked, Numbers, Regulariser
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real

REGULARISER: dict[str, Parameter] = {
    "l1": Real(0, 3, shape=("d",)),
    "square": Real(0, 3, shape=("d",)),
    "low": Real(-3, 0, shape=("d",)),
    "width": Real(0, 3, shape=("d",)),
    "turn": Real(-1, 1),
    "bounds": Choice(("none", "box", "line")),
}


def regulariser(point: Params) -> Regulariser:
    """Return the regulariser of a point: unbounded, on a box, or on a line (a point, in one dimension)."""
    d, turn = point["d"], point["turn"]
    cosine, sine = (1 - turn * turn) / (1 + turn * turn), 2 * turn / (1 + turn * turn)
    rotation = np.array([[cosine, sine], [-sine, cosine]]) if d == 2 else np.array([[1 + 0 * turn]])
    far = 0 * point["low"] + 10**6
    low, high = point["low"], point["low"] + point["width"]
    if point["bounds"] == "none":
        low, high = -far, far
    elif point["bounds"] == "line":
        low = np.array([0 * far[0], *(-far[1:])])
        high = np.array([0 * far[0], *far[1:]])
    return Regulariser(l1=point["l1"], square=point["square"], low=low, high=high, rotation=rotation)


SMOOTH: dict[str, Parameter] = {
    "mu": Real(0.01, 10, log=True),
    "condition": Real(1, 100, log=True, far=1e6),
    "left": Real(0, 1, shape=("d",)),
    "right": Real(0, 1, shape=("d",)),
    "knot": Real(-3, 3, shape=("d",)),
}
STEP: dict[str, Parameter] = {
    "step": Real(0.01, 1, log=True),
    "q": Real(0.05, 1, log=True, far=0.001),
    "x": Real(-3, 3, shape=("d",)),
    "h": Real(-3, 3, shape=("d",)),
    "optimum": Real(-3, 3, shape=("d",)),
}
SIZES: dict[str, Parameter] = {"d": Integer(1, 2)}


@dataclass(frozen=True, slots=True, eq=False)
class ProxProblem:
    """A problem with its minimiser, a step size and a probability."""

    smooth: Kinked
    tilt: Numbers
    psi: Regulariser
    x_star: Numbers
    gamma: Any
    q: Any

    def gradient(self, x: Numbers) -> Numbers:
        """Return the gradient of the smooth part."""
        return self.smooth.gradient(0, x) + self.tilt

    @property
    def h_star(self) -> Numbers:
        """The gradient at the minimiser."""
        return self.gradient(self.x_star)

    def step(self, x: Numbers, h: Numbers, gradient: Numbers) -> Iterator[tuple[Any, Numbers, Numbers]]:
        """Yield chance, model and control variate for both faces of the coin."""
        moved = x - self.gamma * (gradient - h)
        ratio = self.gamma / self.q
        for chance, after in ((self.q, self.psi.prox(moved - ratio * h, ratio)), (1 - self.q, moved)):
            yield chance, after, h + (after - moved) / ratio

    def distance(self, x: Numbers, h: Numbers) -> Any:
        """Return the Lyapunov function."""
        ratio = self.gamma / self.q
        return ((x - self.x_star) ** 2).sum() + ratio**2 * ((h - self.h_star) ** 2).sum()


def setting(point: Params, *, farthest: Any = 1) -> ProxProblem:
    """Return the problem of a point, with a step size of at most ``farthest / L``."""
    low, high = point["mu"], point["mu"] * point["condition"]
    slopes = [low + (high - low) * point[side] for side in ("left", "right")]
    smooth = Kinked(
        centre=0 * point["knot"][None], knot=point["knot"][None], left=slopes[0][None], right=slopes[1][None]
    )
    psi = regulariser(point)
    at = psi.prox(point["optimum"], 1 + 0 * low)
    # optimum - at is a subgradient of psi at the minimiser; the gradient of f has to be its negative.
    tilt = at - point["optimum"] - smooth.gradient(0, at)
    return ProxProblem(smooth, tilt, psi, at, farthest * point["step"] / high, point["q"])
