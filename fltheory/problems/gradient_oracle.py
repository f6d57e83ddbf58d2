"""An oracle and an objective made of a problem's own functions, so that a problem class need not write them.

:class:`GradientOracle` runs local steps one by one in NumPy, from a function that returns a client's gradient and,
optionally, one for the noise of a minibatch and one for the Hessian. :class:`DifferentiableObjective` measures models
with a function, its gradient and a minimiser. Neither is fast; both are enough for every engine but the compiled one,
and a problem without a compiled loop may give the same oracle to that engine too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from fltheory._internal import arguments, seeding
from fltheory._internal.arguments import Floats
from fltheory._internal.seeding import Purpose
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import PLAIN, Active, LocalSteps, Minibatch, Round, rate_of
from fltheory.problems.problem import Measures, Objective, Problem, norm_sq

Gradient = Callable[[int, Floats], Floats]
"""Client and models ``(replicates, dim)`` to gradients of the same shape."""

Noise = Callable[[int, Floats, np.random.Generator], Floats]
"""Client, one model ``(dim,)`` and a generator to what a minibatch adds to the gradient there, ``(dim,)``."""

Hessian = Callable[[int, Floats], Floats]
"""Client and one model ``(dim,)`` to the Hessian there, ``(dim, dim)``."""

_NEWTON_STEPS = 50
_SOLVED = 1e-13


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DifferentiableObjective:
    """An objective given by a function, its gradient and a minimiser.

    Parameters
    ----------
    value
        Models ``(..., dim)`` to values ``(...,)``.
    slope
        Models ``(..., dim)`` to gradients of the same shape.
    w_star
        A minimiser, shape ``(dim,)``.

    Examples
    --------
    >>> parabola = DifferentiableObjective(value=lambda w: (w**2).sum(axis=-1), slope=lambda w: 2 * w, w_star=[0.0])
    >>> parabola.measure(np.array([3.0]))
    Measures(distance_sq=array(9.), gap=array(9.), gradient_norm_sq=array(36.))
    """

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    w_star: Floats
    f_star: float = field(init=False)

    def __post_init__(self) -> None:
        w_star = arguments.array("DifferentiableObjective", "w_star", self.w_star, shape=(None,))
        object.__setattr__(self, "w_star", w_star)
        object.__setattr__(self, "f_star", float(self.value(w_star)))

    def gap(self, w: Floats) -> Floats:
        return np.asarray(self.value(w) - self.f_star, dtype=np.float64)

    def gradient(self, w: Floats) -> Floats:
        return np.asarray(self.slope(w), dtype=np.float64)

    def measure(self, w: Floats) -> Measures:
        return Measures(norm_sq(w - self.w_star), self.gap(w), norm_sq(self.gradient(w)))


class GradientOracle:
    """The oracle of a problem that can say what a client's gradient is.

    Algorithms that ask for curvature or proximal points need ``hessian``; algorithms with personal models need a
    subclass with a :meth:`client_measures` of its own.

    Parameters
    ----------
    problem
        Gives the sizes and the objective.
    gradient
        ``gradient(client, w)``: the client's full gradient at models ``(replicates, dim)``.
    noise
        ``noise(client, w, generator)``: what a minibatch adds to the gradient at one model ``(dim,)``. Called twice for
        the same minibatch, it gets a generator in the same state, so that the noise is that of the same data.
    hessian
        ``hessian(client, w)``: the client's Hessian at one model, shape ``(dim, dim)``.
    seed, replicates
        Which random numbers: those that the engine hands to ``reference_oracle``.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        gradient: Gradient,
        noise: Noise | None = None,
        hessian: Hessian | None = None,
        seed: int,
        replicates: range,
    ) -> None:
        self._problem = problem
        self._gradient = gradient
        self._noise = noise
        self._hessian = hessian
        self._replicates = len(replicates)
        keys = seeding.replicate_keys(seed, Purpose.MINIBATCH, replicates)
        self._keys = seeding.RoundKeys(keys, problem.num_clients)
        self._round = 0

    @property
    def num_clients(self) -> int:
        return self._problem.num_clients

    @property
    def dim(self) -> int:
        return self._problem.dim

    def begin_round(self, index: int) -> None:
        self._round = index

    def objective(self, p: Floats) -> Objective:
        return self._problem.objective(p)

    def enter(self, w: Floats) -> Floats:
        return w

    def leave(self, w: Floats) -> Floats:
        return w

    def client_measures(self, w: Floats) -> Mapping[str, Floats]:
        """Refuse: the minima of the clients' own objectives are not known here."""
        raise NotApplicable(
            f"{type(self._problem).__name__} does not say how good personal models are; "
            "derive from GradientOracle and override client_measures"
        )

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        counts, rates, terms = how.steps_in(work), how.rates_in(work), how.written_out(self.dim)
        begin = self._models(start)
        w = begin
        for k in range(int(counts.max(initial=0))):
            batch = Minibatch(k) if how.minibatch is None else how.minibatch
            active = np.broadcast_to(k < counts, w.shape[:2])
            slope = self.gradient(w, batch, active=active)
            if how.recentre:
                slope = slope - self.gradient(begin, batch, active=active)
            pulled = self.apply(terms.pull, w - terms.anchor)
            signs = how.l1 * np.sign(w - terms.l1_anchor)
            moved = w - rate_of(rates, k) * (slope + terms.correction + pulled + signs)
            w = np.where(active[:, :, None], moved, w)
        return w

    def minibatch(self, index: int) -> Minibatch:
        return Minibatch(index)

    def gradient(self, w: Floats, minibatch: Minibatch | None = None, *, active: Active | None = None) -> Floats:
        w = self._models(w)
        everybody = np.ones((1, self.num_clients), dtype=np.bool_)
        taking = np.broadcast_to(everybody if active is None else active, w.shape[:2])
        result = np.zeros(w.shape)
        for i in np.flatnonzero(taking.any(axis=0)):
            result[:, i] = self._gradient(int(i), w[:, i])
        if minibatch is not None and self._noise is not None:
            keys = self._keys(self._round)
            for r, i in np.argwhere(taking):
                # Philox takes key and counter, so that every minibatch has a stream of its own.
                stream = np.random.Philox(key=int(keys[r, i]), counter=[0, minibatch.index, 0, 0])
                result[r, i] += self._noise(int(i), w[r, i], np.random.Generator(stream))
        return result

    def curvature(self, w: Floats, kind: str, *, active: Active | None = None) -> Floats:
        arguments.choice("Oracle", "curvature", kind, ("exact", "diagonal", "fisher", "empirical-fisher"))
        if kind not in ("exact", "diagonal"):
            raise NotApplicable(
                f"{type(self._problem).__name__} has no curvature {kind!r}; derive from GradientOracle and override "
                "curvature"
            )
        w = self._models(w)
        matrices = np.stack(
            [np.stack([self._hessian_at(i, w[r, i]) for i in range(w.shape[1])]) for r in range(len(w))]
        )
        return matrices if kind == "exact" else np.diagonal(matrices, axis1=-2, axis2=-1)

    def apply(self, curvature: Floats, vectors: Floats) -> Floats:
        if curvature.ndim == 3:
            return np.asarray(curvature * vectors)
        return np.asarray(np.matmul(curvature, vectors[..., None])[..., 0])

    def prox(self, anchor: Floats, *, pull: float, l1: float = 0.0, linear: Floats | None = None) -> Floats:
        if l1 != 0.0:
            raise NotApplicable(
                f"{type(self._problem).__name__} has no sub-problems with an l1 term (lambda_1 = {l1:g}); derive from "
                "GradientOracle and override prox"
            )
        anchors = self._models(anchor)
        w, extra = anchors, 0.0 if linear is None else linear
        for _ in range(_NEWTON_STEPS):
            slope = self.gradient(w) + extra + pull * (w - anchors)
            matrix = self.curvature(w, "exact") + pull * np.eye(self.dim)
            step = np.linalg.solve(matrix, slope[..., None])[..., 0]
            w = w - step
            if np.abs(step).max(initial=0.0) <= _SOLVED * max(1.0, float(np.abs(w).max(initial=0.0))):
                return w
        raise NotApplicable(
            f"a proximal point of {type(self._problem).__name__} was not found in {_NEWTON_STEPS} Newton steps; "
            "derive from GradientOracle and override prox"
        )

    def _models(self, w: Floats) -> Floats:
        return np.broadcast_to(w, (self._replicates, self.num_clients, self.dim))

    def _hessian_at(self, client: int, w: Floats) -> Floats:
        if self._hessian is None:
            raise NotApplicable(
                f"{type(self._problem).__name__} has no Hessian, which this algorithm asks for; "
                "pass hessian= to GradientOracle"
            )
        return np.asarray(self._hessian(client, w), dtype=np.float64)
