r"""Families of smooth, strongly convex functions in exact arithmetic.

Lemmas of convex optimisation are usually tight on functions made of few quadratic pieces. Two families cover them, and
one of regularisers that need not be smooth:

* :class:`Kinked`: sums over coordinates of functions of one variable whose derivative is piecewise linear, with slope
  ``left`` below a knot and ``right`` above it,

  .. math:: \phi(x) = P(x) - P(c) - P'(c)(x - c), \qquad
     P(x) = \tfrac12 a \min(x - \kappa, 0)^2 + \tfrac12 b \max(x - \kappa, 0)^2 ,

  so that :math:`\phi` has its minimum 0 at :math:`c`. Slopes in :math:`[\mu, L]` make it :math:`\mu`-strongly convex
  and :math:`L`-smooth. A knot at the minimiser, or slopes that agree, are special cases.
* :class:`Turned`: quadratics in the plane whose axes are turned by a rational rotation, so that Hessians do not
  commute;
* :class:`Regulariser`: :math:`\psi(x) = \sum_a\psi_a\bigl((Rx)_a\bigr)` with a rational rotation :math:`R` of the plane
  (none on a line) and

  .. math:: \psi_a(y) = \lambda|y| + \tfrac12sy^2 \quad\text{for}\quad \ell \le y \le u, \qquad \infty
     \quad\text{otherwise},

  so that its proximal operator is a soft threshold, a scaling and a projection, all in rational arithmetic; for
  :math:`\ell = u` along one axis and no bound along the other it is the projection onto a line, as in consensus.

Elastic-net sub-problems

.. math:: \min_\theta\ \phi_k(\theta) - \langle m_k, \theta\rangle + \tfrac{\lambda_2}{2}\|\theta - a\|^2 +
   \lambda_1\|\theta - a\|_1

of kinked functions split into coordinates. The derivative :math:`\psi` of the smooth part is increasing and piecewise
linear, so its inverse is explicit, and the minimiser is the middle one of three numbers,

.. math:: \max\bigl(\psi^{-1}(-\lambda_1), \min(a, \psi^{-1}(\lambda_1))\bigr),

which is exactly :math:`a` on the coordinates that the l1 term holds, in floating point too. With equal slopes it is
the soft threshold.

Everything is arithmetic on the numbers given: floats give floats, SymPy rationals give rationals, minimisers of
weighted sums included. Where a certificate is about all functions of a class, values, gradients and minimisers are
answered with symbols (:mod:`fltheory.validation.proof.function_classes`), so claims ask for them by these methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fltheory.bounds.claim import Rejected

Numbers = Any
"""An array of floats, or an object array of rationals."""


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Minimisers of elastic-net sub-problems, and the signs of their distances from the anchor; one row per client."""

    at: Numbers
    sign: Numbers


class Functions(Protocol):
    """One function per client, all with minimum 0."""

    def value(self, client: int, w: Numbers) -> Any:
        """Return the value of a client's function (clients from 0) at a vector."""
        ...

    def gradient(self, client: int, w: Numbers) -> Numbers:
        """Return its gradient."""
        ...

    def minimiser(self, weights: Numbers) -> Numbers:
        """Return the minimiser of the weighted sum."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Kinked:
    """Separable functions with one kink in the derivative per coordinate.

    Parameters
    ----------
    centre
        Minimisers, shape ``(clients, dim)``.
    knot
        Where the second derivative jumps, shape ``(clients, dim)``.
    left, right
        Second derivatives on both sides of the kink, shape ``(clients, dim)``.

    Examples
    --------
    >>> f = Kinked(centre=np.array([[0.0], [2.0]]), knot=np.zeros((2, 1)), left=np.ones((2, 1)), right=np.ones((2, 1)))
    >>> float(f.value(1, np.array([0.0]))), f.minimiser(np.array([0.5, 0.5])).tolist()
    (2.0, [1.0])
    """

    centre: Numbers
    knot: Numbers
    left: Numbers
    right: Numbers

    def value(self, client: int, w: Numbers) -> Any:
        a, b, knot, centre = self.left[client], self.right[client], self.knot[client], self.centre[client]
        at, bottom = _piece(w - knot, a, b), _piece(centre - knot, a, b)
        return (at - bottom - _piece_slope(centre - knot, a, b) * (w - centre)).sum(axis=-1)

    def gradient(self, client: int, w: Numbers) -> Numbers:
        a, b, knot, centre = self.left[client], self.right[client], self.knot[client], self.centre[client]
        return _piece_slope(w - knot, a, b) - _piece_slope(centre - knot, a, b)

    def minimiser(self, weights: Numbers) -> Numbers:
        out = np.array(self.centre[0])
        for axis in range(out.shape[0]):
            out[axis] = self._zero(weights, axis)
        return out

    def _zero(self, weights: Numbers, axis: int) -> Any:
        """Return where the weighted derivative along one axis vanishes: it is increasing and linear between knots."""
        counted = [k for k in range(len(weights)) if weights[k] != 0]
        # Beyond its last knot the derivative has one slope for good; start in the leftmost piece and walk right.
        knots = sorted(self.knot[k, axis] for k in counted)
        for piece in range(len(knots) + 1):
            low = knots[piece - 1] if piece > 0 else None
            high = knots[piece] if piece < len(knots) else None
            inside: Any = high if low is None else low
            slope: Any = 0
            at: Any = 0
            for k in counted:
                a, b, knot, centre = (x[k, axis] for x in (self.left, self.right, self.knot, self.centre))
                right = low is not None and knot <= low
                slope = slope + weights[k] * (b if right else a)
                at = at + weights[k] * (_piece_slope(inside - knot, a, b) - _piece_slope(centre - knot, a, b))
            zero = inside - at / slope
            if high is None or zero <= high:
                return zero
        raise AssertionError("an increasing derivative has a zero")  # pragma: no cover

    def gradients(self, w: Numbers) -> Numbers:
        """Return every client's gradient, at its own row of ``w`` or at one common vector."""
        left, right = self.left, self.right
        return _piece_slope(w - self.knot, left, right) - _piece_slope(self.centre - self.knot, left, right)

    def mean(self, w: Numbers) -> Numbers:
        """Return the mean of all values at vectors ``(..., dim)``."""
        models, left, right = w[..., None, :], self.left, self.right
        rise, bottom = _piece(models - self.knot, left, right), _piece(self.centre - self.knot, left, right)
        slope = _piece_slope(self.centre - self.knot, left, right)
        values = rise - bottom - slope * (models - self.centre)
        return np.asarray(values.sum(axis=-1).sum(axis=-1) / len(self.centre))

    def elastic(self, linear: Numbers, anchor: Numbers, *, pull: Any, l1: Any) -> Solved:
        """Return the solutions of all elastic-net sub-problems, one row per client.

        >>> ones = np.ones((1, 2))
        >>> one = Kinked(centre=np.array([[3.0, 0.5]]), knot=0 * ones, left=ones, right=ones)
        >>> one.elastic(np.zeros((1, 2)), np.zeros(2), pull=1.0, l1=1.0).at.tolist()
        [[1.0, 0.0]]
        """
        at_knot = self.gradients(self.knot) - linear + pull * (self.knot - anchor)

        def inverse(target: Any) -> Numbers:
            beyond = target - at_knot
            below, above = np.minimum(beyond, 0) / (self.left + pull), np.maximum(beyond, 0) / (self.right + pull)
            return self.knot + below + above

        at = np.maximum(inverse(-l1), np.minimum(anchor, inverse(l1)))
        return Solved(at, signs(at - anchor))

    def stationary(self, tilt: Numbers | None = None) -> Numbers:
        """Return a minimiser of the mean minus ``<tilt, w>``; flat stretches are allowed."""
        count = len(self.centre)
        out = np.array(self.centre[0])
        for axis in range(out.shape[0]):
            out[axis] = self._reached(axis, 0 if tilt is None else count * tilt[axis])
        return out

    def _reached(self, axis: int, total: Any) -> Any:
        """Return where the sum of the derivatives along one axis reaches ``total``, walking from piece to piece."""
        columns = (self.left, self.right, self.knot, self.centre)
        left, right, knot, centre = (list(x[:, axis]) for x in columns)
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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Regulariser:
    """The function psi; arrays have one entry per axis."""

    l1: Numbers
    square: Numbers
    low: Numbers
    high: Numbers
    rotation: Numbers

    def prox(self, x: Numbers, scale: Any) -> Numbers:
        """Return the proximal operator of ``scale`` times the function."""
        y = self.rotation.dot(x)
        cut = scale * self.l1
        soft = np.maximum(y - cut, 0) + np.minimum(y + cut, 0)
        return self.rotation.T.dot(np.minimum(np.maximum(soft / (1 + scale * self.square), self.low), self.high))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Turned:
    r"""Quadratics in the plane with turned axes.

    Parameters
    ----------
    centre
        Minimisers, shape ``(clients, 2)``.
    eigenvalues
        Of the Hessians, shape ``(clients, 2)``.
    turn
        The number :math:`h` for every client, shape ``(clients,)``: the axes are turned by :math:`2\arctan h`.

    Examples
    --------
    >>> f = Turned(centre=np.zeros((1, 2)), eigenvalues=np.array([[1.0, 3.0]]), turn=np.array([1.0]))
    >>> f.gradient(0, np.array([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """

    centre: Numbers
    eigenvalues: Numbers
    turn: Numbers

    def hessian(self, client: int) -> Numbers:
        """Return the Hessian of a client, shape ``(2, 2)``."""
        h = self.turn[client]
        cosine, sine = (1 - h * h) / (1 + h * h), 2 * h / (1 + h * h)
        low, high = self.eigenvalues[client]
        off = cosine * sine * (low - high)
        entries = [[cosine**2 * low + sine**2 * high, off], [off, sine**2 * low + cosine**2 * high]]
        return np.array(entries, dtype=np.asarray(self.centre).dtype)

    def value(self, client: int, w: Numbers) -> Any:
        away = w - self.centre[client]
        return (away * self.gradient(client, w)).sum() / 2

    def gradient(self, client: int, w: Numbers) -> Numbers:
        return self.hessian(client).dot(w - self.centre[client])

    def minimiser(self, weights: Numbers) -> Numbers:
        total = sum(weights[k] * self.hessian(k) for k in range(len(weights)))
        pull = sum(weights[k] * self.hessian(k).dot(self.centre[k]) for k in range(len(weights)))
        (a, b), (_, c) = total
        determinant = a * c - b * b
        return np.array([(c * pull[0] - b * pull[1]) / determinant, (a * pull[1] - b * pull[0]) / determinant])


def signs(x: Numbers) -> Numbers:
    """Return the sign of every entry as an integer, 0 at 0."""
    return np.asarray(x > 0, dtype=bool).astype(int) - np.asarray(x < 0, dtype=bool).astype(int)


def one_based(functions: Functions) -> dict[str, Callable[..., Any]]:
    """Return value and gradient as the quantities ``F`` and ``grad_F`` of statements, with clients counted from 1.

    Parameters
    ----------
    functions
        One function per client, counted from 0.

    Returns
    -------
    dict
        The two callables, each of a client and a model.

    Examples
    --------
    >>> f = Turned(centre=np.zeros((1, 2)), eigenvalues=np.array([[1.0, 3.0]]), turn=np.array([1.0]))
    >>> float(one_based(f)["F"](1, np.array([1.0, 1.0])))
    2.0
    """
    return {
        "F": lambda client, w: functions.value(int(client) - 1, w),
        "grad_F": lambda client, w: functions.gradient(int(client) - 1, w),
    }


def _piece(x: Numbers, left: Numbers, right: Numbers) -> Numbers:
    below, above = np.minimum(x, 0), np.maximum(x, 0)
    return (left * below * below + right * above * above) / 2


def _piece_slope(x: Numbers, left: Numbers, right: Numbers) -> Numbers:
    return left * np.minimum(x, 0) + right * np.maximum(x, 0)
