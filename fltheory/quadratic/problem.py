r"""Noisy quadratics: the model on which every constant of a theorem can be set and every moment computed.

In round ``t`` client ``i`` has the gradient

.. math:: \nabla f_{t,i}(w) = s_{t,i}\,(H_i w + b_i) + \delta_{t,i} + \xi_{t,i}, \qquad
          s_{t,i} = 1 + \alpha_i + \beta_{t,i},

and a stochastic gradient adds noise to it, :math:`(1 + \rho\,\epsilon)\,\nabla f_{t,i}(w) + \nu`, fresh in every
step. Here :math:`\delta` is the drift over clients (fixed in scenario S2, drawn anew with the clients in S1),
:math:`\xi` the drift over rounds, :math:`\alpha_i` and :math:`\beta_{t,i} = \pm A` make both drifts grow with the
gradient, and :math:`\epsilon = \pm 1` makes the Hessian random.

The objective is the one without drift and noise, :math:`f(w) = \sum_i p_i\,(\tfrac12 w^\top H_i w + b_i^\top w + c_i)`,
so that for a shared Hessian its gradient is :math:`A w + B`.

If the Hessians share a basis, everything is stored in it: ``hessian`` then holds eigenvalues, ``basis`` the
rotation (``basis @ w`` are the coordinates), and isotropic noise means the same in either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter
from fltheory.problems import display, reflections
from fltheory.problems.closed_form import ClosedForm
from fltheory.problems.problem import Constant, EngineOracle, Origin
from fltheory.problems.reflections import Basis
from fltheory.quadratic.objective import QuadraticObjective, client_minima, eigenvalues, spectral_distance

NOISE_LAWS = ("gaussian", "bounded")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Quadratic:
    r"""A federated quadratic; the generators of :mod:`fltheory.quadratic` build it from the constants.

    Parameters
    ----------
    hessian
        Eigenvalues in the common basis, shape ``(1 | clients, dim)``, or matrices ``(1 | clients, dim, dim)``.
    linear
        ``b_i`` in the coordinates of ``hessian``, shape ``(1 | clients, dim)``.
    constant
        ``c_i``, shape ``(1 | clients,)``.
    basis
        Orthogonal matrix whose rows are the common eigenvectors, :class:`~fltheory.problems.Reflections` for very
        many dimensions, or ``None`` for the coordinate axes.
    sample_counts
        ``n_i``, shape ``(clients,)``.
    client_drift
        ``delta_i`` of scenario S2 in the coordinates of ``hessian``, shape ``(clients, dim)``.
    fresh_drift_sq, fresh_drift_centred
        Scenario S1: ``E ||delta_{t,i}||^2`` of the clients of each round, and whether they sum to zero.
    round_drift_sq
        ``E ||xi_{t,i}||^2``.
    client_growth
        ``alpha_i``, shape ``(clients,)``.
    round_growth
        ``A``, the size of ``beta_{t,i}``.
    noise_sq
        ``E ||nu||^2`` per client, shape ``(clients,)``.
    noise_law
        ``gaussian``, or ``bounded`` (uniform coordinates); the round drift follows the same law.
    hessian_noise
        ``rho``.
    start
        Model before round 0, in the coordinates of the model, shape ``(dim,)``.
    """

    packages: ClassVar[tuple[str, ...]] = ()

    hessian: Floats
    linear: Floats
    constant: Floats
    basis: Basis = None
    sample_counts: Floats
    client_drift: Floats | None = None
    fresh_drift_sq: float = 0.0
    fresh_drift_centred: bool = False
    round_drift_sq: float = 0.0
    client_growth: Floats | None = None
    round_growth: float = 0.0
    noise_sq: Floats
    noise_law: str = "gaussian"
    hessian_noise: float = 0.0
    start: Floats
    weights: Floats = field(init=False)

    def __post_init__(self) -> None:
        owner = "Quadratic"
        counts = arguments.array(owner, "sample_counts", self.sample_counts, shape=(None,), low=0.0)
        if counts.size == 0 or counts.sum() <= 0:
            raise InvalidParameter("Quadratic.sample_counts must have a positive sum, got none")
        clients = len(counts)
        dense = np.ndim(self.hessian) == 3
        hessian = arguments.array(owner, "hessian", self.hessian, shape=(None,) * (3 if dense else 2))
        dim = hessian.shape[-1]
        if hessian.shape[0] not in (1, clients) or (dense and hessian.shape[1] != dim):
            raise InvalidParameter(
                f"Quadratic.hessian must have shape (1 | {clients}, dim) or (1 | {clients}, dim, dim), "
                f"got shape {hessian.shape}"
            )
        if dense and not np.allclose(hessian, hessian.swapaxes(1, 2), rtol=0, atol=1e-12 * np.abs(hessian).max()):
            raise InvalidParameter("Quadratic.hessian must be symmetric; use (H + H.T) / 2")
        lowest = float(np.linalg.eigvalsh(hessian).min() if dense else hessian.min())
        if lowest < -1e-12 * float(np.abs(hessian).max()):
            raise arguments.fail(
                owner, "hessian", "positive semidefinite", lowest, "the value is its lowest eigenvalue"
            )
        if dense and self.basis is not None:
            raise InvalidParameter("Quadratic.basis must be None when the Hessians are matrices")
        linear = arguments.array(owner, "linear", self.linear, shape=(None, dim))
        drift = np.zeros((clients, dim)) if self.client_drift is None else self.client_drift
        growth = np.zeros(clients) if self.client_growth is None else self.client_growth
        round_growth = arguments.real(owner, "round_growth", self.round_growth, low=0)
        growth = arguments.array(owner, "client_growth", growth, shape=(clients,))
        if 1.0 + growth.min() - round_growth < 0:
            raise InvalidParameter(
                "Quadratic.client_growth and round_growth must leave every local objective convex "
                f"(1 + alpha_i - A >= 0), got {1.0 + growth.min() - round_growth:g}; lower one of them"
            )
        values = {
            "sample_counts": counts,
            "weights": arguments.frozen(counts / counts.sum()),
            "hessian": hessian,
            "linear": linear,
            "constant": arguments.array(owner, "constant", self.constant, shape=(linear.shape[0],)),
            "client_drift": arguments.array(owner, "client_drift", drift, shape=(clients, dim)),
            "client_growth": growth,
            "round_growth": round_growth,
            "fresh_drift_sq": arguments.real(owner, "fresh_drift_sq", self.fresh_drift_sq, low=0),
            "round_drift_sq": arguments.real(owner, "round_drift_sq", self.round_drift_sq, low=0),
            "noise_sq": arguments.array(owner, "noise_sq", self.noise_sq, shape=(clients,), low=0.0),
            "noise_law": arguments.choice(owner, "noise_law", self.noise_law, NOISE_LAWS),
            "hessian_noise": arguments.real(owner, "hessian_noise", self.hessian_noise, low=0),
            "start": arguments.array(owner, "start", self.start, shape=(dim,)),
        }
        if linear.shape[0] not in (1, clients):
            raise InvalidParameter(f"Quadratic.linear must have 1 or {clients} rows, got {linear.shape[0]}")
        basis = reflections.checked(owner, self.basis, dim)
        if isinstance(basis, np.ndarray) and not np.allclose(basis @ basis.T, np.eye(dim), atol=1e-9):
            raise InvalidParameter("Quadratic.basis must be orthogonal; take Q of a QR decomposition")
        if self.fresh_drift_centred and clients == 1:
            raise InvalidParameter("Quadratic.fresh_drift_centred needs at least two clients")
        object.__setattr__(self, "basis", basis)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        facts: dict[str, object] = {"num_clients": self.num_clients, "dim": self.dim}
        if not self.is_dense or self.hessian.size * self.dim <= 10**8:
            facts["mu"], facts["L"] = self._extremes(self._spectra())
        optional = {
            "client_drift_sq": self._client_drift_sq(),
            "fresh_drift_sq": self.fresh_drift_sq,
            "round_drift_sq": self.round_drift_sq,
            "noise_sq": float(self.noise_sq.max()),
            "hessian_noise": self.hessian_noise,
        }
        return display.one_line(self, facts | {name: value for name, value in optional.items() if value})

    def _repr_html_(self) -> str:
        quick = not self.is_dense or self.hessian.size * self.dim * self.num_clients <= 10**8
        return display.table(repr(self), self.constants if quick else None)

    @property
    def num_clients(self) -> int:
        return len(self.sample_counts)

    @property
    def dim(self) -> int:
        return int(self.hessian.shape[-1])

    @property
    def is_dense(self) -> bool:
        """Whether the Hessians are matrices without a common basis."""
        return self.hessian.ndim == 3

    def inward(self, w: Floats) -> Floats:
        """Return models ``(..., dim)`` in the coordinates of ``hessian``."""
        return reflections.inward(self.basis, w)

    def outward(self, w: Floats) -> Floats:
        """Undo :meth:`inward`."""
        return reflections.outward(self.basis, w)

    def unrotated(self) -> Quadratic:
        """Return the same problem with everything stored in the coordinates of the model."""
        basis = reflections.as_matrix(self.basis)
        if basis is None:
            return self
        return Quadratic(
            hessian=reflections.dense_hessians(basis, self.hessian),
            linear=self.outward(self.linear),
            constant=self.constant,
            sample_counts=self.sample_counts,
            client_drift=self.outward(np.asarray(self.client_drift)),
            fresh_drift_sq=self.fresh_drift_sq,
            fresh_drift_centred=self.fresh_drift_centred,
            round_drift_sq=self.round_drift_sq,
            client_growth=self.client_growth,
            round_growth=self.round_growth,
            noise_sq=self.noise_sq,
            noise_law=self.noise_law,
            hessian_noise=self.hessian_noise,
            start=self.start,
        )

    def objective(self, p: Floats | None = None) -> QuadraticObjective:
        """Return the objective in the coordinates of the model."""
        return self.objective_inside(p).rotated(self.basis)

    def objective_inside(self, p: Floats | None = None) -> QuadraticObjective:
        """Return the objective in the coordinates of ``hessian``."""
        p = self.weights if p is None else np.asarray(p)
        return QuadraticObjective.mean(self.hessian, self.linear, self.constant, p, self.inward(self.start))

    def constants(self) -> Mapping[str, Constant]:
        spectra = self._spectra()
        mu, L = self._extremes(spectra)
        growth = np.asarray(self.client_growth)
        objective = self.objective()
        scales = np.broadcast_to(1 + growth, (self.num_clients,))
        minima = client_minima(self.hessian, self.linear, self.constant, scales, np.asarray(self.client_drift))
        inside = self.objective_inside()
        at_optimum = client_values(self, inside.w_star[None])
        computed = Origin.COMPUTED
        law = Origin.DECLARED
        sigma_note = "of the additive noise" + (
            "" if self.hessian_noise == 0 else "; the random Hessian adds rho^2 ||grad f_i||^2"
        )
        dissimilarity = spectral_distance(self.hessian, scales) + 2 * self.round_growth * float(spectra.max())
        return {
            "mu": Constant(mu, computed),
            "L": Constant(L, computed),
            "sigma_sq": Constant(self.noise_sq, law, sigma_note),
            "client_drift_sq": Constant(self._client_drift_sq(), computed, "scenario S2"),
            "fresh_drift_sq": Constant(self.fresh_drift_sq, law, "scenario S1"),
            "round_drift_sq": Constant(self.round_drift_sq, law),
            "client_growth_sq": Constant(float(self.weights @ growth**2), computed),
            "round_growth_sq": Constant(self.round_growth**2, law),
            "hessian_noise": Constant(self.hessian_noise, law),
            "w_star": Constant(objective.w_star, computed),
            "f_star": Constant(objective.f_star, computed),
            "client_f_star": Constant(minima, computed, "-inf where a client's objective is unbounded below"),
            "gamma": Constant(np.maximum(at_optimum - minima, 0.0), computed, "Gamma_k = F_k(w*) - F_k*"),
            "epsilon": Constant(dissimilarity, computed, "largest spectral norm of H_i - H_j"),
        }

    def closed_form(self) -> ClosedForm:
        """Return what the exact engine needs."""
        return ClosedForm(
            hessian=self.hessian,
            linear=np.broadcast_to(self.linear, (self.num_clients, self.dim)),
            noise_sq=self.noise_sq,
            gaussian=self.noise_law == "gaussian",
            basis=self.basis,
            near=self.inward(self.start),
            client_drift=self.client_drift,
            client_growth=self.client_growth,
            round_drift_sq=self.round_drift_sq,
            fresh_drift_sq=self.fresh_drift_sq,
            fresh_drift_centred=self.fresh_drift_centred,
            round_growth=self.round_growth,
            hessian_noise=self.hessian_noise,
        )

    def _spectra(self) -> Floats:
        """Return the eigenvalues of the Hessians, shape ``(1 | clients, dim)``."""
        return eigenvalues(self.hessian) if self.is_dense else self.hessian

    def _extremes(self, spectra: Floats) -> tuple[float, float]:
        """Return the extreme eigenvalues of the clients' objectives over all rounds."""
        growth = np.asarray(self.client_growth)
        factors = np.concatenate([1 + growth - self.round_growth, 1 + growth + self.round_growth])
        return float(spectra.min() * factors.min()), float(spectra.max() * factors.max())

    def _client_drift_sq(self) -> float:
        return float(self.weights @ np.sum(np.asarray(self.client_drift) ** 2, axis=1))

    def constants_on_ball(self, radius: float, centre: Floats | None = None) -> Mapping[str, Constant]:
        """Return constants that hold for all models in a ball; see :mod:`fltheory.quadratic.ball`."""
        from fltheory.quadratic.ball import constants_on_ball

        return constants_on_ball(self, radius, centre)

    def reference_oracle(self, *, seed: int, replicates: range) -> EngineOracle:
        from fltheory.quadratic.oracle import QuadraticOracle, numpy_steps, numpy_unit_vectors

        return QuadraticOracle(
            problem=self,
            inside=False,
            seed=seed,
            replicates=replicates,
            stepper=numpy_steps,
            unit_vectors=numpy_unit_vectors,
        )

    def compiled_oracle(self, *, seed: int, replicates: range, rotation_equivariant: bool) -> EngineOracle:
        from fltheory.quadratic.compiled import compiled_steps, compiled_unit_vectors
        from fltheory.quadratic.oracle import QuadraticOracle

        return QuadraticOracle(
            problem=self,
            inside=rotation_equivariant,
            seed=seed,
            replicates=replicates,
            stepper=compiled_steps,
            unit_vectors=compiled_unit_vectors,
        )


def client_values(problem: Quadratic, w: Floats) -> Floats:
    """Return ``f_i(w_i)`` with the fixed drifts, for inside coordinates ``(..., clients | 1, dim)``."""
    h = problem.hessian
    curved = np.matmul(h, w[..., None])[..., 0] if problem.is_dense else h * w
    base = np.sum((0.5 * curved + problem.linear) * w, axis=-1) + problem.constant
    drift = np.sum(np.asarray(problem.client_drift) * w, axis=-1)
    return np.asarray((1 + np.asarray(problem.client_growth)) * base + drift, dtype=np.float64)


def client_gradients(problem: Quadratic, w: Floats) -> Floats:
    """Return the gradients of all clients' objectives at models ``(..., dim)``, shape ``(clients, ..., dim)``."""
    drift = problem.outward(np.asarray(problem.client_drift))
    return np.stack(
        [
            (1 + growth) * np.asarray(problem.objective(row).gradient(w)) + own
            for row, growth, own in zip(np.eye(len(drift)), np.asarray(problem.client_growth), drift, strict=True)
        ]
    )
