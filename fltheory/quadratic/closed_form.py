r"""Local steps in closed form, for probing one round of an algorithm.

``s`` steps of (G) without the sign term are affine: with :math:`M_i = I - \eta (H_i + Q_i)`,

.. math:: w_{i,s} = M_i^s w_{i,0} - \eta \sum_{k<s} M_i^k\,(o_i + c_i - Q_i a_i)
          - \eta \sum_{k<s} M_i^{s-1-k} \nu_{i,k},

where :math:`o_i` collects linear term and drifts. The last sum has mean zero and covariance
:math:`\eta^2\sigma_i^2 \sum_{k<s} M_i^{2k} / d`, whatever the law of the noise, so all steps of a client are one
*source* of unit variance with a known gain.

Every replicate of this oracle is a *probe*: it sees its own drift and its own values of the sources, so one run
of an algorithm's round returns the response to all of them. With a common eigenbasis one probe serves all
coordinates at once; otherwise every coordinate has its own.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np

from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Words
from fltheory.errors import NotAffine
from fltheory.problems.closed_form import ClosedForm
from fltheory.problems.oracle import PLAIN, Active, LocalSteps, Minibatch, Rates, Round
from fltheory.quadratic.objective import QuadraticObjective
from fltheory.quadratic.oracle import RoundData, curvature_of, times, times_curvature

NoiseCall = tuple[str, int]
"""A source of noise that every client has once: ``("steps", 0)``, the local steps, or ``("minibatch", index)``."""

_DECOMPOSITIONS = 4
"""Eigendecompositions that are kept."""

_NO_KEYS: Words = np.zeros((1, 1), dtype=np.uint64)


class ClosedFormOracle:
    """The oracle of the exact engine; ``inside`` works in the common eigenbasis."""

    def __init__(self, form: ClosedForm, *, inside: bool) -> None:
        if form.multiplies:
            raise NotAffine("noise multiplies the state, which takes a MultipliedOracle")
        self._outer = form
        self._inside = inside or form.basis is None
        self._form = form if self._inside else form.in_model_coordinates()
        growth = np.zeros(form.num_clients) if form.client_growth is None else form.client_growth
        scale = 1.0 + growth[None]
        self._fixed_offset = scale[:, :, None] * self._form.linear
        if self._form.client_drift is not None:
            self._fixed_offset = self._fixed_offset + self._form.client_drift
        self._data = RoundData(
            replicates=1,
            hessian=self._form.hessian,
            scale=scale,
            offset=self._fixed_offset,
            drift_keys=_NO_KEYS,
            drift_scale=0.0,
            sigma=np.sqrt(np.asarray(form.noise_sq) / form.dim),
            hessian_noise=0.0,
            noise_law="",
            keys=_NO_KEYS,
            sign_keys=_NO_KEYS,
            rotation=None,
        )
        self._noisy = bool(np.any(self._data.sigma))
        self._units: dict[NoiseCall, Floats] = {}
        self._decomposed: dict[bytes, tuple[Floats, Floats]] = {}
        self._spent = 0
        self.sources: list[NoiseCall] = []

    @property
    def num_clients(self) -> int:
        return len(self._data.sigma)

    @property
    def dim(self) -> int:
        return int(self._data.offset.shape[-1])

    def repeated(self, times: int, *, averaged: bool) -> ClosedFormOracle:
        """Return the oracle with so many copies of every coordinate, one copy after the other; separable ones only.

        If ``averaged``, the clients, which have to be exchangeable, are replaced by one that has their mean offset.
        """
        clients = slice(0, 1) if averaged else slice(None)
        offset = self._fixed_offset.mean(axis=1, keepdims=True) if averaged else self._fixed_offset
        wide = copy.copy(self)
        wide._fixed_offset = np.tile(offset, times)
        wide._data = self._data._replace(
            hessian=np.tile(self._data.hessian[clients], times),
            scale=self._data.scale[:, clients],
            sigma=self._data.sigma[clients],
            offset=wide._fixed_offset,
        )
        return wide

    def among(self, clients: Ints) -> ClosedFormOracle:
        """Return the oracle of some of the clients, whose drifts have to be independent of those of the others."""
        few = copy.copy(self)
        few._fixed_offset = self._fixed_offset[:, clients]
        few._data = self._data._replace(
            hessian=self._data.hessian if len(self._data.hessian) == 1 else self._data.hessian[clients],
            scale=self._data.scale[:, clients],
            sigma=self._data.sigma[clients],
            offset=few._fixed_offset,
        )
        return few

    @property
    def has_independent_clients(self) -> bool:
        """Whether drifts of different clients are independent."""
        return not self._form.fresh_drift_centred

    @property
    def separable(self) -> bool:
        """Whether coordinates do not interact, so that one probe serves them all."""
        return not self._form.is_dense

    @property
    def exchangeable(self) -> bool:
        """Whether clients differ in linear terms and fixed drifts at most."""
        parts = (self._data.hessian, self._data.scale[0], self._data.sigma)
        return all(np.ptp(part, axis=0).max(initial=0.0) == 0.0 for part in parts)

    def drift_variances(self) -> tuple[float, float]:
        """Return the variance of a coordinate of the clients' mean drift, and of a direction apart from it."""
        clients, per = self._form.num_clients, 1.0 / self._form.dim
        own, fresh = self._form.round_drift_sq * per, self._form.fresh_drift_sq * per
        if self._form.fresh_drift_centred:
            return own / clients, own + fresh * clients / (clients - 1)
        return (own + fresh) / clients, own + fresh

    def drift_factor(self) -> Floats:
        """Return ``F`` with ``F F'`` the covariance of one coordinate of the clients' drifts, ``(clients, rank)``."""
        clients = self.num_clients
        covariance = self._form.round_drift_sq / self._form.dim * np.eye(clients)
        fresh = self._form.fresh_drift_sq / self._form.dim
        if self._form.fresh_drift_centred:
            covariance += fresh * clients / (clients - 1) * (np.eye(clients) - 1.0 / clients)
        else:
            covariance += fresh * np.eye(clients)
        values, vectors = np.linalg.eigh(covariance)
        keep = values > 1e-14 * max(float(values.max()), 1e-300)
        return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))

    def arm(self, probes: int, drift: Floats | None, units: dict[NoiseCall, Floats]) -> None:
        """Set the number of probes, their drifts and the values that the sources take, ``(probes, clients, dim)``."""
        offset = self._fixed_offset if drift is None else self._fixed_offset + drift
        self._data = self._data._replace(replicates=probes, offset=offset)
        self._units = units
        self._spent = 0
        self.sources = []

    def begin_round(self, index: int) -> None:
        """Do nothing: what is fresh in a round is set by :meth:`arm`."""

    def objective(self, p: Floats) -> QuadraticObjective:
        form = self._form
        near = np.zeros(form.dim) if form.near is None else form.near
        # A sum of equal rows with weights that sum to one up to rounding would not be that row.
        linear = form.linear[:1] if np.array_equal(form.linear[:-1], form.linear[1:]) else form.linear
        return QuadraticObjective.mean(form.hessian, linear, np.zeros(1), p, near)

    def enter(self, w: Floats) -> Floats:
        return self._outer.inward(w) if self._inside else w

    def leave(self, w: Floats) -> Floats:
        return self._outer.outward(w) if self._inside else w

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        if how.l1 != 0.0:
            raise NotAffine(f"the sign term of the local steps (lambda_1 = {how.l1:g}) is not affine")
        rates, counts, minibatch = how.rates_in(work), how.steps_in(work), how.minibatch
        source = ("steps", 0) if minibatch is None else ("minibatch", minibatch.index)
        if minibatch is None and not how.recentre:
            self._spend(int(counts.max()))
        q = np.full((1, 1, self.dim), float(how.pull)) if isinstance(how.pull, int | float) else one_row(how.pull)
        own = self.curvature(start, "exact")
        force = -times_curvature(own, start) if how.recentre else self._data.offset
        if how.correction is not None:
            force = force + how.correction
        if how.anchor is not None:
            force = force - times_curvature(q, how.anchor)
        unit = None if how.recentre else self._unit(source)
        sigma = self._data.sigma[None, :, None]
        if self.separable:
            eta, decay, gain, fresh = _gains(own + q, rates, counts)
            w = decay * start - eta * gain * force
            return w if unit is None else w - eta * (fresh if minibatch is None else gain) * sigma * unit
        values, vectors = self._eigen(as_matrices(own) + as_matrices(q))
        eta, decay, gain, fresh = _gains(values, rates, counts)
        w = forward(vectors, decay * backward(vectors, start) - eta * gain * backward(vectors, force))
        if unit is None:
            return w
        # All fresh steps together are isotropic up to their gains, so the source may live in the eigenbasis.
        noise = fresh * unit if minibatch is None else gain * backward(vectors, unit)
        return w - eta * sigma * forward(vectors, noise)

    def minibatch(self, index: int) -> Minibatch:
        return Minibatch(index)

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        full = self._data.scale[:, :, None] * times(self._data.hessian, w) + self._data.offset
        unit = None if minibatch is None else self._unit(("minibatch", minibatch.index))
        return full if unit is None else full + self._data.sigma[None, :, None] * unit

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        return curvature_of(self._data, kind, self._inside and self._outer.basis is not None, lambda: self.gradient(w))

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        return times_curvature(curvature, vectors)

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        if l1 != 0.0:
            raise NotAffine(f"the l1 term of the sub-problem (lambda_1 = {l1:g}) is not affine")
        slope = self.gradient(anchor) + (0.0 if linear is None else linear)
        own = self.curvature(anchor, "exact")
        if self.separable:
            return np.asarray(anchor - slope / (own + pull))
        matrix = own + pull * np.eye(self.dim)
        return np.asarray(anchor - np.linalg.solve(matrix, slope[..., None])[..., 0])

    def client_measures(self, w: Floats) -> Mapping[str, Floats]:
        """Refuse: a personal loss is a second moment that the exact engine does not propagate."""
        raise NotAffine("the loss of personal models is not computed by the exact engine; use monte_carlo")

    def _spend(self, count: int) -> None:
        """Note that local steps use minibatches ``0 .. count - 1``: as one source, so nothing else may use them."""
        if self._spent and count and self._noisy:
            raise NotAffine("local steps are run twice on the same minibatches of a round")
        if any(kind == "minibatch" and index < count for kind, index in self.sources):
            raise NotAffine("a minibatch is used a second time by the local steps of the same round")
        self._spent = max(self._spent, count)

    def _unit(self, source: NoiseCall) -> Floats | None:
        if not self._noisy:
            return None
        if source[0] == "minibatch" and source[1] < self._spent:
            raise NotAffine("a minibatch of the local steps is used a second time in the same round")
        if source not in self.sources:
            self.sources.append(source)
        return self._units.get(source)

    def _eigen(self, matrices: Floats) -> tuple[Floats, Floats]:
        content = matrices.tobytes()
        if content not in self._decomposed:
            if len(self._decomposed) >= _DECOMPOSITIONS:
                self._decomposed.clear()
            values, vectors = np.linalg.eigh(matrices)
            self._decomposed[content] = (values, vectors)
        return self._decomposed[content]


def geometric(ratio: Floats, counts: Ints) -> tuple[Floats, Floats]:
    r"""Return :math:`M^s` and :math:`\sum_{k<s} M^k` by repeated squaring; stable for every ``M``.

    >>> power, total = geometric(np.array([2.0, 1.0]), np.array([5, 5]))
    >>> power.tolist(), total.tolist()
    ([32.0, 1.0], [31.0, 5.0])
    """
    if counts.size and counts.min() == counts.max():
        return _geometric(ratio, int(counts.flat[0]))
    shape = np.broadcast_shapes(ratio.shape, counts.shape)
    power, total = np.ones(shape), np.zeros(shape)
    for count in np.unique(counts):
        here = np.broadcast_to(counts == count, shape)
        for result, values in zip((power, total), _geometric(ratio, int(count)), strict=True):
            np.copyto(result, values, where=here)
    return power, total


def _geometric(ratio: Floats, count: int) -> tuple[Floats, Floats]:
    power, total = np.ones_like(ratio), np.zeros_like(ratio)
    base, span = ratio, np.ones_like(ratio)
    while count:
        if count & 1:
            total = total * base + span
            power = power * base
        count >>= 1
        if count:
            span = span * (1.0 + base)
            base = base * base
    return power, total


def _gains(curvature: Floats, rates: Rates, counts: Ints) -> tuple[float, Floats, Floats, Floats]:
    r"""Return a rate, decay, gain and the gain of fresh noise, the last three of shape ``(1, clients, dim)``.

    Gains are in units of the rate, which is 1 where steps have rates of their own: then the decay is
    :math:`\prod_{k<s} M_k` with :math:`M_k = 1 - \eta_k h`, the gain
    :math:`\sum_{k<s} \eta_k \prod_{k<l<s} M_l`, and that of fresh noise the root of the sum of squares.
    """
    if len(rates) == 1:
        ratio = 1.0 - rates[0] * curvature
        power, total = geometric(np.stack([ratio, ratio * ratio]), counts[:, :, None])
        return rates[0], power[0], total[0], np.sqrt(total[1])
    decay, gain, squares = np.ones(1), np.zeros(1), np.zeros(1)
    for k in range(int(counts.max(initial=0))):
        here, ratio = (k < counts)[:, :, None], 1.0 - rates[k] * curvature
        decay = np.where(here, decay * ratio, decay)
        gain = np.where(here, gain * ratio + rates[k], gain)
        squares = np.where(here, squares * ratio**2 + rates[k] ** 2, squares)
    return 1.0, decay, gain, np.sqrt(squares)


def one_row(pull: Floats) -> Floats:
    """Return the pull of all probes as one row; they must agree, since a pull multiplies the state."""
    if pull.shape[0] > 1 and not np.allclose(pull, pull[:1], rtol=1e-12, atol=0.0):
        raise NotAffine("the quadratic pull of the local steps depends on the state")
    return pull[:1]


def as_matrices(curvature: Floats) -> Floats:
    """Return a curvature in its dense form."""
    return curvature if curvature.ndim == 4 else curvature[..., None] * np.eye(curvature.shape[-1])


def forward(vectors: Floats, x: Floats) -> Floats:
    """Multiply every client's matrix with its vectors; all probes, which share the matrices, in one product."""
    shape = (len(x), max(vectors.shape[1], x.shape[1]), x.shape[2])
    spread = np.broadcast_to(x, shape).swapaxes(0, 1)
    return np.asarray(np.matmul(spread, vectors[0].swapaxes(-1, -2)).swapaxes(0, 1))


def backward(vectors: Floats, x: Floats) -> Floats:
    """Multiply with the transposed matrices."""
    return forward(vectors.swapaxes(-1, -2), x)
