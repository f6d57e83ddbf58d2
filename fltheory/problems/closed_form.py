r"""What the exact engine needs of a problem: gradients that are affine, and the moments of what disturbs them.

In round ``t`` client ``i`` has the gradient

.. math:: \nabla f_{t,i}(w) = s_{t,i}\,(H_i w + b_i) + \delta_i + \xi_{t,i}, \qquad
          s_{t,i} = 1 + \alpha_i + \beta_{t,i},

and a stochastic gradient is :math:`(1 + \rho\,\epsilon)\,\nabla f_{t,i}(w) + \nu`, fresh in every step. A problem whose
gradients have this form returns a :class:`ClosedForm` from a method ``closed_form()``. The plain case, quadratic
objectives with noise that does not depend on the model, needs the Hessians, the linear terms and ``noise_sq`` only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.problems import reflections
from fltheory.problems.problem import Problem
from fltheory.problems.reflections import Basis

_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ClosedForm:
    r"""Affine gradients with noise of known second moments.

    Noise, drifts and signs are independent of each other, between clients, rounds and steps, and of mean zero.

    Parameters
    ----------
    hessian
        ``H_i``: matrices, shape ``(1 | clients, dim, dim)``, or diagonals, shape ``(1 | clients, dim)``, of positive
        semidefinite Hessians. A single one is shared by all clients.
    linear
        ``b_i``, the gradients of the clients' objectives at the origin, shape ``(clients, dim)``.
    noise_sq
        ``E ||nu||^2`` of one stochastic gradient, for all clients or one number for each. The noise is isotropic: its
        covariance is ``noise_sq / dim`` times the identity.
    gaussian
        Whether noise and drifts are Gaussian. The exact engine does not ask; the compiled one then draws whole rounds
        at once where that has the same law.
    basis
        Orthogonal matrix whose rows are the coordinate axes in which ``hessian``, ``linear`` and ``client_drift`` are
        given, or :class:`~fltheory.problems.Reflections` for very many dimensions; ``None`` for the coordinates of
        the model.
    near
        Of several minimisers take the one closest to this model, given like ``linear``, shape ``(dim,)``; the origin
        if ``None``.
    client_drift
        ``delta_i``, what a client's gradient has beyond that of the objective, shape ``(clients, dim)``.
    client_growth
        ``alpha_i``, shape ``(clients,)``.
    round_drift_sq
        ``E ||xi||^2``, isotropic and independent between clients.
    fresh_drift_sq, fresh_drift_centred
        The same for a second drift over rounds, which may sum to zero over the clients.
    round_growth
        ``A``, where ``beta`` is ``A`` or ``-A`` with probability 1/2 each.
    hessian_noise
        ``rho``, where ``epsilon`` is 1 or -1 with probability 1/2 each.

    Examples
    --------
    >>> form = ClosedForm(hessian=[[[2.0, 0.0], [0.0, 1.0]]], linear=[[-2.0, 0.0], [0.0, 1.0]], noise_sq=0.1)
    >>> form.num_clients, form.dim, form.noise_sq.tolist()
    (2, 2, [0.1, 0.1])
    """

    hessian: Floats
    linear: Floats
    noise_sq: Floats | float = 0.0
    gaussian: bool = False
    basis: Basis = None
    near: Floats | None = None
    client_drift: Floats | None = None
    client_growth: Floats | None = None
    round_drift_sq: float = 0.0
    fresh_drift_sq: float = 0.0
    fresh_drift_centred: bool = False
    round_growth: float = 0.0
    hessian_noise: float = 0.0

    def __post_init__(self) -> None:
        owner = "ClosedForm"
        linear = arguments.array(owner, "linear", self.linear, shape=(None, None))
        clients, dim = linear.shape
        dense = np.ndim(self.hessian) == 3
        hessian = arguments.array(owner, "hessian", self.hessian, shape=(None, *(dim,) * (2 if dense else 1)))
        if len(hessian) not in (1, clients):
            raise InvalidParameter(
                f"ClosedForm.hessian must have 1 or {clients} entries, like linear, got {len(hessian)}"
            )
        if dense and not np.allclose(hessian, hessian.swapaxes(1, 2), rtol=0, atol=1e-12 * np.abs(hessian).max()):
            raise InvalidParameter("ClosedForm.hessian must be symmetric; use (H + H.T) / 2")
        if dense and self.basis is not None:
            raise InvalidParameter("ClosedForm.basis must be None when the Hessians are matrices")
        noise = np.full(clients, self.noise_sq) if np.ndim(self.noise_sq) == 0 else self.noise_sq
        arrays = {
            "linear": linear,
            "hessian": hessian,
            "noise_sq": arguments.array(owner, "noise_sq", noise, shape=(clients,), low=0.0),
        }
        shapes = {"near": (dim,), "client_drift": (clients, dim), "client_growth": (clients,)}
        for name, shape in shapes.items():
            if (value := getattr(self, name)) is not None:
                arrays[name] = arguments.array(owner, name, value, shape=shape)
        for name, values in arrays.items():
            object.__setattr__(self, name, values)
        object.__setattr__(self, "basis", reflections.checked(owner, self.basis, dim))
        for name in ("round_drift_sq", "fresh_drift_sq", "round_growth", "hessian_noise"):
            object.__setattr__(self, name, arguments.real(owner, name, getattr(self, name), low=0))
        for name in ("gaussian", "fresh_drift_centred"):
            arguments.boolean(owner, name, getattr(self, name))
        if self.fresh_drift_centred and clients == 1:
            raise InvalidParameter("ClosedForm.fresh_drift_centred needs at least two clients")

    @property
    def num_clients(self) -> int:
        return len(self.linear)

    @property
    def dim(self) -> int:
        return int(self.linear.shape[1])

    @property
    def is_dense(self) -> bool:
        """Whether the Hessians are matrices."""
        return self.hessian.ndim == 3

    @property
    def multiplies(self) -> bool:
        """Whether noise multiplies the model: a random Hessian, or a round drift that grows with the gradient."""
        return self.hessian_noise > 0 or self.round_growth > 0

    def inward(self, w: Floats) -> Floats:
        """Return models ``(..., dim)`` in the coordinates of ``hessian``."""
        return reflections.inward(self.basis, w)

    def outward(self, w: Floats) -> Floats:
        """Undo :meth:`inward`."""
        return reflections.outward(self.basis, w)

    def in_model_coordinates(self) -> ClosedForm:
        """Return the same form with everything given in the coordinates of the model."""
        basis = reflections.as_matrix(self.basis)
        if basis is None:
            return self
        return replace(
            self,
            hessian=reflections.dense_hessians(basis, self.hessian),
            linear=self.outward(self.linear),
            client_drift=None if self.client_drift is None else self.outward(self.client_drift),
            near=None if self.near is None else self.outward(self.near),
            basis=None,
        )

    def with_matrices(self) -> ClosedForm:
        """Return the same form with matrices as Hessians, in the coordinates of the model."""
        flat = self.in_model_coordinates()
        return flat if flat.is_dense else replace(flat, hessian=flat.hessian[..., None] * np.eye(flat.dim))


@runtime_checkable
class HasClosedForm(Protocol):
    """A problem that the exact engine can work on."""

    def closed_form(self) -> ClosedForm:
        """Return the gradients as affine functions with the moments of their noise."""
        ...


def closed_form_of(problem: Problem) -> ClosedForm:
    """Return a problem's closed form; an error says how to provide one, or that it contradicts the problem."""
    name = type(problem).__name__
    if not isinstance(problem, HasClosedForm):
        raise NotApplicable(
            f"the exact engine needs affine gradients, and {name} has no closed_form(); use the monte_carlo engine or, "
            "if its gradients are affine, add a method closed_form() that returns a fltheory.problems.ClosedForm"
        )
    form = problem.closed_form()
    if (form.num_clients, form.dim) != (problem.num_clients, problem.dim):
        raise InvalidParameter(
            f"{name}.closed_form() must have num_clients={problem.num_clients} and dim={problem.dim} like the problem, "
            f"got num_clients={form.num_clients} and dim={form.dim}"
        )
    if form.basis is None:
        _compare(problem, form)
    return form


def _compare(problem: Problem, form: ClosedForm) -> None:
    """Raise if the gradient of the objective is not that of the closed form, at two points."""
    w = np.random.Generator(np.random.PCG64(3)).standard_normal((2, form.dim))
    hessian = form.hessian[0] if len(form.hessian) == 1 else np.tensordot(problem.weights, form.hessian, axes=1)
    linear = problem.weights @ form.linear
    expected = (w @ hessian if form.is_dense else w * hessian) + linear
    given = np.asarray(problem.objective().gradient(w))
    if not np.allclose(given, expected, rtol=_TOLERANCE, atol=_TOLERANCE * np.abs(expected).max()):
        raise InvalidParameter(
            f"{type(problem).__name__}.closed_form() must describe the problem's objective, but their gradients at a "
            "random model differ; compare the weighted means of hessian and linear with objective().gradient"
        )
