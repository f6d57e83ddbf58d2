r"""Parabolas with a bend at their minimiser: flatter on one side than on the other.

Client :math:`i` has the separable objective :math:`F_i(x) = \sum_j\varphi_{ij}(x_j - c_{ij})` with

.. math:: \varphi'(y) = \tfrac{a+b}2\,y + \tfrac{b-a}2\,w\log\cosh\tfrac yw , \qquad
          \varphi''(y) = \tfrac{a+b}2 + \tfrac{b-a}2\tanh\tfrac yw ,

whose curvature goes from :math:`a` on the left to :math:`b` on the right; for the width :math:`w = 0` it jumps,
:math:`\varphi'(y) = a\min(y, 0) + b\max(y, 0)`. Stochastic gradients have additive noise of mean zero on every axis.
On such a function the mean of a noisy run drifts towards the flatter side, away from the minimiser, which is what
lower bounds for local steps are made of. The problems themselves are in :mod:`fltheory.quadratic.hard`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import spence

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.problems import display
from fltheory.problems.gradient_oracle import DifferentiableObjective, GradientOracle
from fltheory.problems.problem import Constant, EngineOracle, Origin

NOISE_LAWS = ("sign", "gaussian", "uniform")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class BentQuadratic:
    r"""Separable objectives with one bend per axis, and additive noise.

    Parameters
    ----------
    left, right
        Curvatures on both sides of the bend, positive, shape ``(clients, dim)``.
    centre
        Minimisers of the clients, at which the bends are, shape ``(clients, dim)``.
    width
        :math:`w` of every axis, shape ``(dim,)``; 0 for a kink of the derivative.
    noise_sq
        Variance of the stochastic gradient along every axis, shape ``(clients, dim)``.
    noise_law
        ``sign`` (one of two values), ``gaussian`` or ``uniform``.
    start
        Model before round 0, shape ``(dim,)``.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> bent = BentQuadratic(left=one, right=2 * one, centre=0 * one, width=[0.0], noise_sq=one, start=[3.0])
    >>> bent.slope(0, np.array([[-1.0], [1.0]])).tolist(), bent.value(0, np.array([[-1.0], [1.0]])).tolist()
    ([[-1.0], [2.0]], [0.5, 1.0])
    """

    packages: ClassVar[tuple[str, ...]] = ()

    left: Floats
    right: Floats
    centre: Floats
    width: Floats
    noise_sq: Floats
    noise_law: str = "sign"
    start: Floats
    weights: Floats = field(init=False)
    sample_counts: Floats = field(init=False)

    def __post_init__(self) -> None:
        owner = "BentQuadratic"
        left = arguments.array(owner, "left", self.left, shape=(None, None))
        right = arguments.array(owner, "right", self.right, shape=left.shape)
        clients, dim = left.shape
        for name, curvature in (("left", left), ("right", right)):
            if curvature.size == 0 or curvature.min() <= 0:
                raise arguments.fail(owner, name, "positive curvatures", curvature.tolist())
        parts = {
            "left": left,
            "right": right,
            "centre": arguments.array(owner, "centre", self.centre, shape=left.shape),
            "width": arguments.array(owner, "width", self.width, shape=(dim,), low=0.0),
            "noise_sq": arguments.array(owner, "noise_sq", self.noise_sq, shape=left.shape, low=0.0),
            "start": arguments.array(owner, "start", self.start, shape=(dim,)),
            "weights": arguments.frozen(np.full(clients, 1.0 / clients)),
            "sample_counts": arguments.frozen(np.ones(clients)),
        }
        arguments.choice(owner, "noise_law", self.noise_law, NOISE_LAWS)
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        facts = {"num_clients": self.num_clients, "dim": self.dim, "mu": self._mu, "L": self._smooth}
        return display.one_line(self, {**facts, "noise_law": self.noise_law})

    def _repr_html_(self) -> str:
        return display.table(repr(self), self.constants)

    @property
    def num_clients(self) -> int:
        return len(self.left)

    @property
    def dim(self) -> int:
        return int(self.left.shape[1])

    @property
    def _mu(self) -> float:
        return float(min(self.left.min(), self.right.min()))

    @property
    def _smooth(self) -> float:
        return float(max(self.left.max(), self.right.max()))

    def value(self, client: int, w: Floats) -> Floats:
        """Return the objective of a client at models ``(..., dim)``; its minimum is 0."""
        y = w - self.centre[client]
        mean, half = (self.left[client] + self.right[client]) / 2, (self.right[client] - self.left[client]) / 2
        return np.asarray((mean * y * y / 2 + half * self._bend(y)).sum(axis=-1), dtype=np.float64)

    def slope(self, client: int, w: Floats) -> Floats:
        """Return the gradient of a client at models ``(..., dim)``."""
        y = w - self.centre[client]
        mean, half = (self.left[client] + self.right[client]) / 2, (self.right[client] - self.left[client]) / 2
        return np.asarray(mean * y + half * self._bend_slope(y), dtype=np.float64)

    def hessian(self, client: int, w: Floats) -> Floats:
        """Return the Hessian of a client at one model ``(dim,)``; that of the right side at a kink."""
        y = w - self.centre[client]
        sharp = np.where(y >= 0, 1.0, -1.0)
        rise = np.where(self.width > 0, np.tanh(y / np.where(self.width > 0, self.width, 1.0)), sharp)
        mean, half = (self.left[client] + self.right[client]) / 2, (self.right[client] - self.left[client]) / 2
        return np.diag(mean + half * rise)

    def _bend_slope(self, y: Floats) -> Floats:
        """Return ``w log cosh(y / w)``, which is ``|y|`` for vanishing width."""
        fall = np.exp(-2 * np.abs(y) / np.where(self.width > 0, self.width, 1.0))
        return np.abs(y) + np.where(self.width > 0, self.width * (np.log1p(fall) - np.log(2.0)), 0.0)

    def _bend(self, y: Floats) -> Floats:
        """Return the integral of :meth:`_bend_slope` from 0."""
        size = np.abs(y)
        fall = np.exp(-2 * size / np.where(self.width > 0, self.width, 1.0))
        # The integral of log(1 + exp(-2 s)) from 0 is (pi^2 / 12 + Li_2(-exp(-2 s))) / 2, and spence(1 - z) = Li_2(z).
        curved = self.width**2 / 2 * (np.pi**2 / 12 + spence(1.0 + fall)) - self.width * np.log(2.0) * size
        return np.asarray(np.sign(y) * (size * size / 2 + np.where(self.width > 0, curved, 0.0)))

    def _minimiser(self, p: Floats) -> Floats:
        """Return the minimiser of the mean with given weights: the zero of an increasing function on every axis."""
        counted = np.flatnonzero(p > 0)
        out = np.empty(self.dim)
        for axis in range(self.dim):
            low, high = self.centre[counted, axis].min(), self.centre[counted, axis].max()
            straight = np.array_equal(self.left[counted, axis], self.right[counted, axis])
            if straight or low == high:
                pull = p[counted] * self.left[counted, axis]
                out[axis] = low if low == high else pull @ self.centre[counted, axis] / pull.sum()
            else:
                out[axis] = brentq(self._mean_slope, low, high, args=(p, axis), xtol=1e-300, rtol=1e-15)
        return out

    def _mean_slope(self, x: float, p: Floats, axis: int) -> float:
        w = np.zeros(self.dim)
        w[axis] = x
        return float(sum(p[i] * self.slope(i, w)[axis] for i in range(self.num_clients)))

    def objective(self, p: Floats | None = None) -> DifferentiableObjective:
        """Return the objective with client weights ``p``."""
        weights = self.weights if p is None else np.asarray(p, dtype=np.float64)
        counted = [int(i) for i in np.flatnonzero(weights)]
        return DifferentiableObjective(
            value=lambda w: np.asarray(sum(weights[i] * self.value(i, w) for i in counted)),
            slope=lambda w: np.asarray(sum(weights[i] * self.slope(i, w) for i in counted)),
            w_star=self._minimiser(weights),
        )

    def constants(self) -> Mapping[str, Constant]:
        """Return strong convexity, smoothness, noise, minimiser and the gaps of the clients there."""
        whole = self.objective()
        gaps = np.array([float(self.value(i, whole.w_star)) for i in range(self.num_clients)])
        values: dict[str, float | Floats] = {
            "mu": self._mu,
            "L": self._smooth,
            "sigma_sq": arguments.frozen(self.noise_sq.sum(axis=1)),
            "w_star": whole.w_star,
            "f_star": whole.f_star,
            "gamma": arguments.frozen(gaps),
        }
        return {name: Constant(value, Origin.COMPUTED) for name, value in values.items()}

    def reference_oracle(self, *, seed: int, replicates: range) -> EngineOracle:
        """Return the plain NumPy oracle."""
        deviation = np.sqrt(self.noise_sq)

        def noise(client: int, w: Floats, generator: np.random.Generator) -> Floats:
            if self.noise_law == "gaussian":
                return np.asarray(deviation[client] * generator.standard_normal(self.dim))
            uniform = 2.0 * generator.random(self.dim) - 1.0
            signed = np.where(uniform < 0, -1.0, 1.0)
            return np.asarray(deviation[client] * (signed if self.noise_law == "sign" else np.sqrt(3.0) * uniform))

        return GradientOracle(
            self, gradient=self.slope, noise=noise, hessian=self.hessian, seed=seed, replicates=replicates
        )

    def compiled_oracle(self, *, seed: int, replicates: range, rotation_equivariant: bool) -> EngineOracle:
        """Return the plain oracle; there is no compiled loop for these functions."""
        return self.reference_oracle(seed=seed, replicates=replicates)
