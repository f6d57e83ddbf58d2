r"""Local steps in closed form where noise multiplies the model.

Two laws do: a random Hessian, which makes a stochastic gradient :math:`(1 + \rho\epsilon)\nabla f + \nu` with a fresh
sign :math:`\epsilon` per minibatch, and a round drift that grows with the gradient, :math:`A\beta\,(Hw + b)` with one
sign :math:`\beta` per client and round. Whatever a client computes is then linear in its inputs with *random
coefficients*,

.. math:: y = \Bigl(T_0 + \sum_f \kappa_f T_f\Bigr)(\text{inputs}),

and second moments only need coefficients that are uncorrelated, of mean 0 and variance 1: the *factors*
:math:`\kappa_f`. There are two kinds.

* Signs. A function of :math:`\beta` and of the sign of one minibatch is a sum of the products of these signs (Walsh
  functions), found by evaluating the plain closed form for all their values.
* Fresh steps. With :math:`m_k = 1 - \eta_k\bigl((1+\rho\epsilon_k)h + q\bigr)`, ``h`` an eigenvalue and ``q`` a pull,
  the model after ``s`` steps is :math:`P w_0 - G\,o - \Gamma c`, where :math:`o` is the part of the gradient that does
  not depend on the model and :math:`c` what is added to gradients, with

  .. math:: P' = m_k P, \qquad G' = m_k G + \eta_k(1+\rho\epsilon_k), \qquad \Gamma' = m_k\Gamma + \eta_k .

  All three are affine in :math:`\epsilon_k`, so mean and covariance of :math:`(P, G, \Gamma)` follow step by step, and
  a square root of the covariance gives the factors; if the drift grows, one set for each sign :math:`\beta`, divided
  by :math:`\sqrt2`. Additive noise has mean 0 given the signs, so it keeps one source, whose gain squared is
  :math:`\sum_k\eta_k^2\prod_{l>k}\mathbb E m_l^2`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats, Ints
from fltheory.errors import NotAffine
from fltheory.problems.closed_form import ClosedForm
from fltheory.problems.oracle import PLAIN, Active, LocalSteps, Minibatch, Rates, Round, rate_of
from fltheory.quadratic.closed_form import (
    ClosedFormOracle,
    NoiseCall,
    as_matrices,
    backward,
    forward,
    one_row,
)
from fltheory.quadratic.oracle import times_curvature

Factor = tuple[str, int, int]
"""A factor that every client has once: ``("signs", minibatch, growth)`` or ``("steps", sign, number)``."""

_RANK = 1e-15


class MultipliedOracle(ClosedFormOracle):
    """The oracle of the exact engine for problems in which noise multiplies the model.

    Besides what its base class does, every probe sees its own values of the factors, 0 unless set.
    """

    def __init__(self, form: ClosedForm, *, inside: bool) -> None:
        super().__init__(replace(form, hessian_noise=0.0, round_growth=0.0), inside=inside)
        self._rho, self._growth = form.hessian_noise, form.round_growth
        self._noisy = self._noisy or self._rho > 0
        self._values: dict[Factor, Floats] = {}
        self.factors: list[Factor] = []

    @property
    def exchangeable(self) -> bool:
        """Never: factors are read client by client."""
        return False

    def arm(self, probes: int, drift: Floats | None, units: dict[NoiseCall, Floats]) -> None:
        super().arm(probes, drift, units)
        self._values = {}
        self.factors = []

    def set_factors(self, values: dict[Factor, Floats]) -> None:
        """Set the values of factors, each of shape ``(clients,)``, for all probes."""
        self._values = values

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        if self._rho == 0.0 or how.minibatch is not None:
            return self._over_signs(lambda oracle: oracle.local_steps(start, work, how), how.minibatch)
        if how.l1 != 0.0:
            raise NotAffine(f"the sign term of the local steps (lambda_1 = {how.l1:g}) is not affine")
        counts = how.steps_in(work)
        self._spend(int(counts.max()))
        q = np.full((1, 1, self.dim), float(how.pull)) if isinstance(how.pull, int | float) else one_row(how.pull)
        added = np.zeros((1, 1, self.dim)) if how.correction is None else how.correction
        if how.anchor is not None:
            added = added - times_curvature(q, how.anchor)
        unit = None if how.recentre else self._unit(("steps", 0))
        vectors, spectrum, pull = self._common_basis(q)
        turned, turned_added = _into(vectors, start), _into(vectors, added)
        signs = (1.0, -1.0) if self._growth > 0 else (0.0,)
        means, squares, tilted = [], [], np.zeros(1)
        for which, sign in enumerate(signs):
            growth = sign * self._growth
            own = (self._data.scale + growth)[:, :, None] * spectrum
            offset = -own * turned
            if not how.recentre:
                offset = _into(vectors, self._data.offset + growth * self._form.linear)
            inputs = (turned, -offset, -turned_added)
            law = _law(own[0], pull[0], self._rho, how.rates_in(work), counts[0], joint=vectors is not None)
            means.append(_combined(law.mean, inputs))
            squares.append(law.squares)
            for number in range(law.root.shape[-1]):
                value = self._value(("steps", which, number))
                if value is not None:
                    tilted = tilted + value * _combined(law.root[..., number], inputs) / np.sqrt(len(signs))
        result = np.mean(means, axis=0) + tilted
        if len(signs) == 2 and (value := self._value(("signs", -1, 1))) is not None:
            result = result + value * (means[0] - means[1]) / 2
        if unit is not None:
            gain = np.sqrt(np.mean(squares, axis=0))
            result = result - self._data.sigma[None, :, None] * gain * unit
        return _out_of(vectors, result)

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        return self._over_signs(lambda oracle: oracle.gradient(w, minibatch, active=active), minibatch)

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        return self._over_signs(lambda oracle: oracle.curvature(w, kind, active=active), None)

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        return self._over_signs(lambda oracle: oracle.prox(anchor, pull=pull, l1=l1, linear=linear), None)

    def _over_signs(self, evaluate: Callable[[ClosedFormOracle], Floats], minibatch: Minibatch | None) -> Floats:
        """Return what is computed from the signs of the growing drift and of a minibatch, with factors for both."""
        both = (1.0, -1.0)
        growths = both if self._growth > 0 else (0.0,)
        noises = both if self._rho > 0 and minibatch is not None else (0.0,)
        found = {(g, e): evaluate(self._given(g, e)) for g, e in itertools.product(growths, noises)}
        if minibatch is None and self._growth == 0.0:
            return found[0.0, 0.0]
        result = np.mean(list(found.values()), axis=0)
        for with_growth, with_noise in itertools.product(range(len(growths)), range(len(noises))):
            if not with_growth and not with_noise:
                continue
            batch = minibatch.index if minibatch is not None and with_noise else -1
            value = self._value(("signs", batch, with_growth))
            if value is not None:
                parts = [g**with_growth * e**with_noise * y for (g, e), y in found.items()]
                part = np.mean(parts, axis=0)
                result = result + value.reshape(*value.shape[:2], *(1,) * (part.ndim - 2)) * part
        return np.asarray(result)

    def _given(self, growth_sign: float, noise_sign: float) -> ClosedFormOracle:
        """Return the plain oracle of the round in which the signs have these values."""
        growth, factor = growth_sign * self._growth, 1.0 + noise_sign * self._rho
        plain = object.__new__(ClosedFormOracle)
        plain.__dict__.update(self.__dict__)
        plain._data = self._data._replace(
            scale=factor * (self._data.scale + growth),
            offset=factor * (self._data.offset + growth * self._form.linear),
        )
        return plain

    def _value(self, factor: Factor) -> Floats | None:
        """Note that a factor is met, and return its values ``(1, clients, 1)`` if it has any."""
        if factor not in self.factors:
            self.factors.append(factor)
        values = self._values.get(factor)
        return None if values is None else values[None, :, None]

    def _common_basis(self, q: Floats) -> tuple[Floats | None, Floats, Floats]:
        """Return common eigenvectors of Hessians and pulls, and the eigenvalues of both."""
        if self.separable:
            return None, self._data.hessian[None], q
        spectrum, vectors = self._eigen(self._data.hessian[None])
        turned = np.matmul(np.matmul(vectors.swapaxes(-1, -2), as_matrices(q)), vectors)
        pull = np.diagonal(turned, axis1=-2, axis2=-1)
        if np.abs(turned - pull[..., None] * np.eye(self.dim)).max() > 1e-9 * np.abs(turned).max():
            raise NotAffine(
                "the pull of the local steps does not commute with the random Hessian; use the monte_carlo engine"
            )
        return vectors, spectrum, pull


class _Law(NamedTuple):
    """Moments of the random coefficients of start, offset and added force in fresh local steps."""

    mean: Floats
    """``(3, clients, dim)``"""
    root: Floats
    """``(3, clients, dim, factors)``: a square root of their covariance"""
    squares: Floats
    """Second moment of the gain of additive noise, ``(clients, dim)``"""


def _law(own: Floats, pull: Floats, rho: float, rates: Rates, counts: Ints, *, joint: bool) -> _Law:
    """Return the law of fresh local steps; ``joint`` asks for the covariances between coordinates, too."""
    clients, dim = len(counts), own.shape[-1]
    # Coordinates are either independent batches or entries of one vector; each has P, G, Gamma and the number 1.
    batches, entries = (1, dim) if joint else (dim, 1)
    shape = (clients, batches, entries)
    own, pull = (np.broadcast_to(part, (clients, dim)).reshape(shape) for part in (own, pull))
    mean = np.broadcast_to([1.0, 0.0, 0.0, 1.0], (*shape, 4))
    covariance = np.zeros((*shape, 4, entries, 4))
    squares = np.zeros(shape)
    for k in range(int(counts.max(initial=0))):
        eta = rate_of(rates, k)
        ratio, tilt = 1.0 - eta * (own + pull), -eta * rho * own
        sure, random = np.zeros((*shape, 4, 4)), np.zeros((*shape, 4, 4))
        for row in range(3):
            sure[..., row, row], random[..., row, row] = ratio, tilt
        sure[..., 1, 3] = sure[..., 2, 3] = eta
        sure[..., 3, 3] = 1.0
        random[..., 1, 3] = eta * rho
        second = covariance + np.einsum("cbji,cbmn->cbjimn", mean, mean)
        moved = _around(sure, covariance) + _around(random, second)
        here = (k < counts).reshape(-1, *(1,) * 5)
        covariance = np.where(here, moved, covariance)
        mean = np.where(here[..., 0, 0], np.einsum("cbjik,cbjk->cbji", sure, mean), mean)
        squares = np.where(here[..., 0, 0, 0], (ratio**2 + tilt**2) * squares + eta**2, squares)
    size = 3 * entries
    values, vectors = np.linalg.eigh(covariance[..., :3, :, :3].reshape(clients, batches, size, size))
    keep = (values > _RANK * values.max(initial=0.0)).any(axis=(0, 1))
    root = vectors[..., keep] * np.sqrt(np.maximum(values[..., keep], 0.0))[:, :, None]
    root = root.reshape(clients, dim, 3, root.shape[-1])
    return _Law(
        mean=np.moveaxis(mean.reshape(clients, dim, 4)[..., :3], 2, 0),
        root=np.moveaxis(root, 2, 0),
        squares=squares.reshape(clients, dim),
    )


def _around(matrices: Floats, covariance: Floats) -> Floats:
    left = np.einsum("cbjik,cbjkmn->cbjimn", matrices, covariance)
    return np.asarray(np.einsum("cbjiml,cbmnl->cbjimn", left, matrices))


def _combined(coefficients: Floats, inputs: tuple[Floats, Floats, Floats]) -> Floats:
    first, second, third = (part[None] * given for part, given in zip(coefficients, inputs, strict=True))
    return np.asarray(first + second + third)


def _into(vectors: Floats | None, x: Floats) -> Floats:
    return x if vectors is None else backward(vectors, x)


def _out_of(vectors: Floats | None, x: Floats) -> Floats:
    return x if vectors is None else forward(vectors, x)
