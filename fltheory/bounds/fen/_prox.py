r"""Elastic-net sub-problems in closed form.

For losses of :class:`~fltheory.bounds.functions.Kinked` (separable, derivative piecewise linear with one kink) the
sub-problem

.. math:: \min_\theta\ L_k(\theta) - \langle m_k, \theta\rangle + \tfrac{\lambda_2}{2}\|\theta - a\|^2 +
   \lambda_1\|\theta - a\|_1

splits into coordinates. The derivative :math:`\psi` of the smooth part is increasing and piecewise linear, so its
inverse is explicit, and the minimiser is the middle one of three numbers,

.. math:: \max\bigl(\psi^{-1}(-\lambda_1), \min(a, \psi^{-1}(\lambda_1))\bigr),

which is exactly :math:`a` on the coordinates that the l1 term holds, in floating point too. With equal slopes it is
the soft threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory.bounds.claim import Rejected
from fltheory.bounds.functions import Kinked, Numbers
from fltheory.bounds.space import Params, Real

SHAPES = {
    "beta": Real(0.1, 10, log=True),
    "centre": Real(-3, 3, shape=("m", "d")),
    "knot": Real(-3, 3, shape=("m", "d")),
    "left": Real(0, 1, shape=("m", "d")),
    "right": Real(0, 1, shape=("m", "d")),
}
"""Parameters of ``m`` losses on ``d`` coordinates; slopes are shares of the smoothness, 0 included."""


def losses(point: Params) -> Kinked:
    """Return the clients' losses: convex, with the smoothness asked for."""
    beta = point["beta"]
    return Kinked(centre=point["centre"], knot=point["knot"], left=beta * point["left"], right=beta * point["right"])


def gradients(clients: Kinked, w: Numbers) -> Numbers:
    """Return every client's gradient, at its own row of ``w`` or at one common vector."""
    return _bent(w - clients.knot, clients) - _bent(clients.centre - clients.knot, clients)


def mean_loss(clients: Kinked, w: Numbers) -> Numbers:
    """Return the mean loss of all clients at models ``(..., d)``."""
    models, centre, knot = w[..., None, :], clients.centre, clients.knot
    rise = _halved_squares(models - knot, clients.left, clients.right)
    bottom = _halved_squares(centre - knot, clients.left, clients.right)
    losses = rise - bottom - _bent(centre - knot, clients) * (models - centre)
    return np.asarray(losses.sum(axis=-1).sum(axis=-1) / len(centre))


def quantities(clients: Kinked) -> dict[str, Callable[..., Any]]:
    """Return losses, gradients and mean loss as quantities of statements, with clients counted from 1."""
    left, right, knot, centre = clients.left, clients.right, clients.knot, clients.centre
    base = _bent(centre - knot, clients)
    bottom = _halved_squares(centre - knot, left, right)

    def value(w: Numbers, k: int) -> Numbers:
        return _halved_squares(w - knot[k], left[k], right[k]) - bottom[k] - base[k] * (w - centre[k])

    def gradient(k: int, w: Numbers) -> Numbers:
        away = w - knot[k - 1]
        return left[k - 1] * np.minimum(away, 0) + right[k - 1] * np.maximum(away, 0) - base[k - 1]

    return {
        "loss": lambda k, w: value(w, int(k) - 1).sum(),
        "grad": gradient,
        "risk": lambda w: mean_loss(clients, w).item(),
    }


def prox(clients: Kinked, linear: Numbers, anchor: Numbers, *, pull: Any, l1: Any) -> Numbers:
    """Return the minimisers of all sub-problems, one row per client.

    >>> one = Kinked(centre=np.array([[3.0, 0.5]]), knot=np.zeros((1, 2)), left=np.ones((1, 2)), right=np.ones((1, 2)))
    >>> prox(one, np.zeros((1, 2)), np.zeros(2), pull=1.0, l1=1.0).tolist()
    [[1.0, 0.0]]
    """
    at_knot = gradients(clients, clients.knot) - linear + pull * (clients.knot - anchor)

    def inverse(target: Any) -> Numbers:
        beyond = target - at_knot
        return (
            clients.knot
            + np.minimum(beyond, 0) / (clients.left + pull)
            + np.maximum(beyond, 0) / (clients.right + pull)
        )

    return np.maximum(inverse(-l1), np.minimum(anchor, inverse(l1)))


def minimiser(clients: Kinked, tilt: Numbers | None = None) -> Numbers:
    """Return a minimiser of the mean loss minus ``<tilt, w>``; flat stretches of the losses are allowed."""
    count, dim = np.shape(clients.centre)
    out = np.array(clients.centre[0])
    for axis in range(dim):
        out[axis] = _zero(clients, axis, 0 if tilt is None else count * tilt[axis])
    return out


def signs(x: Numbers) -> Numbers:
    """Return the sign of every entry as an integer, 0 at 0."""
    return np.asarray(x > 0, dtype=bool).astype(int) - np.asarray(x < 0, dtype=bool).astype(int)


def _bent(x: Numbers, clients: Kinked) -> Numbers:
    return clients.left * np.minimum(x, 0) + clients.right * np.maximum(x, 0)


def _halved_squares(x: Numbers, left: Numbers, right: Numbers) -> Numbers:
    below, above = np.minimum(x, 0), np.maximum(x, 0)
    return (left * below * below + right * above * above) / 2


def _zero(clients: Kinked, axis: int, total: Any) -> Any:
    """Return where the sum of the derivatives along one axis reaches ``total``, walking from piece to piece."""
    left, right, knot, centre = (list(x[:, axis]) for x in (clients.left, clients.right, clients.knot, clients.centre))
    knots = sorted(knot)
    rows = range(len(knots))
    base = sum((left if centre[k] < knot[k] else right)[k] * (centre[k] - knot[k]) for k in rows)
    for piece in range(len(knots) + 1):
        inside = knots[max(piece - 1, 0)]
        slope = sum((right if piece and knot[k] <= inside else left)[k] for k in rows)
        at = sum((left if inside < knot[k] else right)[k] * (inside - knot[k]) for k in rows)
        missing = total + base - at
        if missing == 0:
            return inside
        if slope > 0:
            zero = inside + missing / slope
            if piece == len(knots) or zero <= knots[piece]:
                return zero
    if total == 0:
        return inside  # a flat end, missed by rounding
    raise Rejected("the tilted loss has no minimiser")
