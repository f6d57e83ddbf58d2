"""The oracle of the quadratic models, with the NumPy steps that every other engine is tested against.

The same class serves the reference and the compiled engine; they differ in the two functions that are handed
in: how a block of local steps is run, and how unit noise vectors are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Floats
from fltheory._internal.seeding import Purpose, Words
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import PLAIN, Active, LocalSteps, Minibatch, Round, rate_of
from fltheory.problems.reflections import as_matrix
from fltheory.quadratic.objective import QuadraticObjective, client_minima
from fltheory.quadratic.problem import Quadratic, client_values
from fltheory.quadratic.prox import elastic_net_minimiser

UnitVectors = Callable[[str, Words, int, int], Floats]
"""Law, keys, dimension and number of the vector to vectors with unit variance per coordinate."""


class RoundData(NamedTuple):
    """What fixes the stochastic gradients of one round; arrays broadcast over replicates and clients."""

    replicates: int
    hessian: Floats
    scale: Floats
    offset: Floats
    """What is added to ``scale * H w``, without the round drift as long as ``drift_scale`` is positive."""
    drift_keys: Words
    drift_scale: float
    """Standard deviation of a coordinate of the round drift that is still to be drawn; 0 if there is none."""
    sigma: Floats
    hessian_noise: float
    noise_law: str
    keys: Words
    sign_keys: Words
    rotation: Floats | None


Stepper = Callable[[RoundData, Floats, Round, LocalSteps], Floats]
"""Runs local steps from a start; the arguments after the first are those of :meth:`Oracle.local_steps`."""


class QuadraticOracle:
    """Gradients of a :class:`~fltheory.quadratic.problem.Quadratic` for a block of replicates.

    Parameters
    ----------
    problem
        The problem.
    inside
        Work in the common eigenbasis of the Hessians instead of the coordinates of the model.
    seed, replicates
        Which random numbers.
    stepper, unit_vectors
        How local steps are run and noise is drawn.
    """

    def __init__(
        self,
        *,
        problem: Quadratic,
        inside: bool,
        seed: int,
        replicates: range,
        stepper: Stepper,
        unit_vectors: UnitVectors,
    ) -> None:
        self._outer = problem
        self._inside = inside or problem.basis is None
        self._problem = problem if self._inside else problem.unrotated()
        self._rotation = None if self._inside else as_matrix(problem.basis)
        self._replicates = len(replicates)
        self._stepper = stepper
        self._unit_vectors = unit_vectors
        self._sigma = np.sqrt(problem.noise_sq / problem.dim)
        self._keys = {
            purpose: seeding.RoundKeys(seeding.replicate_keys(seed, purpose, replicates), problem.num_clients)
            for purpose in (
                Purpose.STEP_NOISE,
                Purpose.HESSIAN_NOISE,
                Purpose.ROUND_DRIFT,
                Purpose.FRESH_CLIENTS,
                Purpose.ROUND_SCALE,
            )
        }
        self._data: RoundData | None = None

    @property
    def num_clients(self) -> int:
        return self._problem.num_clients

    @property
    def dim(self) -> int:
        return self._problem.dim

    def begin_round(self, index: int) -> None:
        problem, clients = self._problem, self.num_clients
        scale = 1.0 + np.asarray(problem.client_growth)[None]
        if problem.round_growth > 0:
            scale = scale + problem.round_growth * seeding.signs(self._client_keys(Purpose.ROUND_SCALE, index))
        offset = scale[:, :, None] * problem.linear + np.asarray(problem.client_drift)
        if problem.fresh_drift_sq > 0:
            keys = self._client_keys(Purpose.FRESH_CLIENTS, index)
            fresh = self._unit_vectors(problem.noise_law, keys, self.dim, 0)
            fresh = np.sqrt(problem.fresh_drift_sq / self.dim) * _turned(fresh, self._rotation)
            if problem.fresh_drift_centred:
                fresh = (fresh - fresh.mean(axis=1, keepdims=True)) * np.sqrt(clients / (clients - 1))
            offset = offset + fresh
        keys = self._client_keys(Purpose.STEP_NOISE, index)
        self._data = RoundData(
            replicates=self._replicates,
            hessian=problem.hessian,
            scale=scale,
            offset=offset,
            drift_keys=self._client_keys(Purpose.ROUND_DRIFT, index),
            drift_scale=float(np.sqrt(problem.round_drift_sq / self.dim)),
            sigma=self._sigma,
            hessian_noise=problem.hessian_noise,
            noise_law=problem.noise_law,
            keys=keys,
            # Without a random Hessian its signs are not looked at, so any keys will do.
            sign_keys=self._client_keys(Purpose.HESSIAN_NOISE, index) if problem.hessian_noise > 0 else keys,
            rotation=self._rotation,
        )

    def _client_keys(self, purpose: Purpose, index: int) -> Words:
        """Return the keys of all replicates and clients in a round."""
        return self._keys[purpose](index)

    @property
    def _round(self) -> RoundData:
        if self._data is None:
            self.begin_round(0)
        assert self._data is not None  # begin_round sets it
        return self._data

    def _drifted(self) -> RoundData:
        """Return the round with its drift drawn; local steps draw it themselves, which saves memory traffic."""
        self._data = with_drift(self._round, self._unit_vectors)
        return self._data

    def objective(self, p: Floats) -> QuadraticObjective:
        return self._problem.objective_inside(p)

    def enter(self, w: Floats) -> Floats:
        return self._outer.inward(w) if self._inside else w

    def leave(self, w: Floats) -> Floats:
        return self._outer.outward(w) if self._inside else w

    def client_measures(self, w: Floats) -> Mapping[str, Floats]:
        problem = self._problem
        scale = 1.0 + np.asarray(problem.client_growth)
        minima = client_minima(
            problem.hessian, problem.linear, problem.constant, scale, np.asarray(problem.client_drift)
        )
        if not np.all(np.isfinite(minima)):
            raise NotApplicable(
                "the loss of personal models is undefined: a client's own objective is unbounded below "
                "(mu = 0 with client drift); choose mu > 0"
            )
        return {"personal_gap": np.maximum(client_values(problem, w) - minima, 0.0)}

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        return self._stepper(self._round, start, work, how)

    def minibatch(self, index: int) -> Minibatch:
        return Minibatch(index)

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        data = self._drifted()
        full = data.scale[:, :, None] * times(data.hessian, w) + data.offset
        if minibatch is None:
            return full
        return noisy(data, full, minibatch.index, self._unit_vectors)

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        return curvature_of(self._round, kind, self._inside and self._outer.basis is not None, lambda: self.gradient(w))

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        return times_curvature(curvature, vectors)

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        data = self._round
        slope = self.gradient(anchor) + (0.0 if linear is None else linear)
        curvature = self.curvature(anchor, "exact")
        shape = np.broadcast_shapes((data.replicates, self.num_clients, self.dim), slope.shape)
        return np.asarray(anchor + elastic_net_minimiser(curvature, np.broadcast_to(slope, shape), pull, l1))


def times(hessian: Floats, w: Floats) -> Floats:
    """Return ``H_i w_i`` for models ``(replicates | 1, clients | 1, dim)``."""
    return times_curvature(hessian[None], w)


def times_curvature(curvature: Floats, vectors: Floats) -> Floats:
    """Multiply a diagonal ``(r, n, d)`` or dense ``(r, n, d, d)`` curvature with vectors ``(r, n, d)``."""
    return curvature * vectors if curvature.ndim == 3 else np.asarray(np.matmul(curvature, vectors[..., None])[..., 0])


def curvature_of(data: RoundData, kind: str, rotated: bool, gradient: Callable[[], Floats]) -> Floats:
    """Return a curvature of the round's objectives; ``rotated`` says that coordinates are not the model's."""
    scale = data.scale
    if kind == "exact":
        return np.asarray(scale.reshape(*scale.shape, *(1,) * (data.hessian.ndim - 1)) * data.hessian)
    if rotated:
        raise NotApplicable(
            f"curvature {kind!r} is diagonal in the coordinates of the model, but this oracle works in the "
            "eigenbasis; the algorithm must not call itself rotation equivariant"
        )
    if kind in ("diagonal", "fisher"):
        diagonal = np.diagonal(data.hessian, axis1=-2, axis2=-1) if data.hessian.ndim == 3 else data.hessian
        return np.asarray(scale[:, :, None] * diagonal)
    arguments.choice("Oracle", "curvature", kind, ("exact", "diagonal", "fisher", "empirical-fisher"))
    return np.asarray((1.0 + data.hessian_noise**2) * gradient() ** 2 + (data.sigma**2)[None, :, None])


def with_drift(data: RoundData, unit_vectors: UnitVectors) -> RoundData:
    """Return the round with its drift drawn and added to the offset."""
    if data.drift_scale == 0.0:
        return data
    unit = unit_vectors(data.noise_law, data.drift_keys, data.offset.shape[-1], 0)
    return data._replace(offset=data.offset + data.drift_scale * _turned(unit, data.rotation), drift_scale=0.0)


def _turned(vectors: Floats, rotation: Floats | None) -> Floats:
    return vectors if rotation is None else vectors @ rotation


def noisy(data: RoundData, gradient: Floats, vector: int, unit_vectors: UnitVectors) -> Floats:
    """Add to a full gradient the noise of the ``vector``-th minibatch."""
    if data.hessian_noise > 0:
        gradient = (1.0 + data.hessian_noise * seeding.signs(data.sign_keys, vector=vector)[:, :, None]) * gradient
    if not np.any(data.sigma):
        return gradient
    unit = _turned(unit_vectors(data.noise_law, data.keys, gradient.shape[-1], vector), data.rotation)
    return np.asarray(gradient + data.sigma[None, :, None] * unit, dtype=np.float64)


def numpy_unit_vectors(law: str, keys: Words, dim: int, vector: int) -> Floats:
    """Draw unit noise with NumPy."""
    return seeding.normals(keys, dim, vector=vector) if law == "gaussian" else seeding.bounded(keys, dim, vector=vector)


def numpy_steps(data: RoundData, start: Floats, work: Round, how: LocalSteps) -> Floats:
    """Run local steps in NumPy, one line per formula."""
    data = with_drift(data, numpy_unit_vectors)
    clients, dim = len(data.sigma), start.shape[-1]
    steps, rates = how.steps_in(work), how.rates_in(work)
    correction, pull, anchor, l1_anchor = how.written_out(dim)
    w = np.broadcast_to(start, (data.replicates, clients, dim)).copy()
    for k in range(int(steps.max(initial=0))):
        vector = k if how.minibatch is None else how.minibatch.index
        if how.recentre:
            full = data.scale[:, :, None] * times(data.hessian, w - start)
            g = noisy(data._replace(sigma=np.zeros(clients)), full, vector, numpy_unit_vectors)
        else:
            full = data.scale[:, :, None] * times(data.hessian, w) + data.offset
            g = noisy(data, full, vector, numpy_unit_vectors)
        pulled = times_curvature(pull, w - anchor)
        new = w - rate_of(rates, k) * (g + correction + pulled + how.l1 * np.sign(w - l1_anchor))
        w = np.where((k < steps)[:, :, None], new, w)
    return w
