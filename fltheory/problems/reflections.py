r"""Bases of many dimensions without a matrix: a few reflections turn diagonal Hessians into others.

With orthonormal directions :math:`v_1, \dots, v_r` as the rows of :math:`V`, the product of the reflections along them,
:math:`Q = I - 2 V^\top V`, is symmetric and its own inverse. A diagonal :math:`\Lambda` in the coordinates
:math:`Qw` is in those of the model

.. math:: Q \Lambda Q = \Lambda - 2 V^\top V \Lambda - 2 \Lambda V^\top V + 4 V^\top (V \Lambda V^\top) V,

diagonal plus a matrix of rank :math:`2r` at most. It has the eigenvalues of :math:`\Lambda`, takes :math:`(r + 1) d`
numbers instead of :math:`d^2`, and is multiplied with a vector in as many operations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fltheory._internal import arguments, memory
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter

_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reflections:
    """An orthogonal basis as a product of reflections.

    Parameters
    ----------
    directions
        Orthonormal rows, shape ``(reflections, dim)``.

    Examples
    --------
    >>> mirror = Reflections(directions=[[0.6, 0.8]])
    >>> mirror.turned(np.array([0.6, 0.8]))
    array([-0.6, -0.8])
    >>> mirror.matrix()
    array([[ 0.28, -0.96],
           [-0.96, -0.28]])
    """

    directions: Floats

    def __post_init__(self) -> None:
        rows = arguments.array("Reflections", "directions", self.directions, shape=(None, None))
        if not np.allclose(rows @ rows.T, np.eye(len(rows)), rtol=0, atol=_TOLERANCE):
            raise InvalidParameter(
                "Reflections.directions must have orthonormal rows; take the transpose of Q of a QR decomposition"
            )
        object.__setattr__(self, "directions", rows)

    @property
    def dim(self) -> int:
        return int(self.directions.shape[1])

    def turned(self, w: Floats) -> Floats:
        """Return vectors ``(..., dim)`` in the other coordinates; to do it twice changes nothing."""
        return np.asarray(w - 2.0 * (w @ self.directions.T) @ self.directions, dtype=np.float64)

    def matrix(self) -> Floats:
        """Return the basis as a matrix, whose rows are the coordinate axes; an error if it is too large for one."""
        memory.require(
            "Reflections",
            "dim",
            self.dim,
            4 * 8 * self.dim**2,
            "a dense Hessian",
            power=2,
            limit=memory.DENSE,
            remedy="use the monte_carlo or the exact engine with an algorithm that treats all directions alike, such "
            "as FedAvg or SCAFFOLD, set rotated to false, or lower dim",
        )
        return self.turned(np.eye(self.dim))


Basis = Floats | Reflections | None
"""A matrix whose rows are the coordinate axes, a product of reflections, or the coordinates of the model."""


def inward(basis: Basis, w: Floats) -> Floats:
    """Return models ``(..., dim)`` in the coordinates of a basis."""
    if basis is None:
        return w
    return basis.turned(w) if isinstance(basis, Reflections) else w @ basis.T


def outward(basis: Basis, w: Floats) -> Floats:
    """Undo :func:`inward`."""
    if basis is None:
        return w
    return basis.turned(w) if isinstance(basis, Reflections) else w @ basis


def as_matrix(basis: Basis) -> Floats | None:
    """Return a basis as a matrix."""
    return basis.matrix() if isinstance(basis, Reflections) else basis


def dense_hessians(basis: Floats, values: Floats) -> Floats:
    """Return Hessians in the coordinates of the model, given their diagonals ``(n, dim)`` in those of a basis."""
    matrices = np.einsum("ka,nk,kb->nab", basis, values, basis)
    return np.asarray((matrices + matrices.swapaxes(1, 2)) / 2)


def checked(owner: str, basis: Basis, dim: int) -> Basis:
    """Return a basis if it has the right dimension."""
    if basis is None:
        return None
    if not isinstance(basis, Reflections):
        return arguments.array(owner, "basis", basis, shape=(dim, dim))
    if basis.dim != dim:
        raise arguments.fail(owner, "basis", f"of dimension {dim} like the Hessian", f"dimension {basis.dim}")
    return basis
