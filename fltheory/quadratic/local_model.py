r"""A quadratic that stands for another problem near one model: curvature, noise and drift as measured there.

Networks have no known minimiser, and no theorem or exact moment applies to them. Near a model :math:`w` a quadratic
with the same extreme curvatures, the same gradient norm, the same noise and the same spread of the clients' gradients
shows what learning rates do there. It is a model: directions, higher derivatives and everything far from :math:`w` are
lost.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.problems.measuring import DRAWS, measure
from fltheory.problems.problem import Problem, norm_sq, require_problem
from fltheory.quadratic.generators import noisy_quadratic
from fltheory.quadratic.problem import Quadratic

FLATTEST = 1e-3
"""Smallest curvature of the model, relative to the largest, where the measured one is smaller or negative."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LocalModel:
    """A quadratic and what it was made from.

    Parameters
    ----------
    problem
        The quadratic; its start stands for the model at which the other problem was measured.
    mu, L
        Smallest and largest eigenvalue of a client's Hessian, as measured; ``mu`` may be negative.
    sigma_sq
        Variance of each client's stochastic gradient, shape ``(clients,)``.
    client_drift_sq
        Weighted mean of ``||grad f_i - grad f||^2``.
    gradient_norm_sq
        ``||grad f||^2``.
    """

    problem: Quadratic
    mu: float
    L: float
    sigma_sq: Floats
    client_drift_sq: float
    gradient_norm_sq: float

    def __str__(self) -> str:
        flat = "" if self.problem.constants()["mu"].value == self.mu else f", taken as {FLATTEST:g} L"
        return (
            f"mu = {self.mu:.4g}{flat}, L = {self.L:.4g}, sigma^2 = {float(np.mean(self.sigma_sq)):.4g}, "
            f"client drift^2 = {self.client_drift_sq:.4g}, gradient^2 = {self.gradient_norm_sq:.4g}"
        )


def local_model(
    problem: Problem, at: Floats | None = None, *, dim: int = 20, seed: int = 0, draws: int = DRAWS
) -> LocalModel:
    """Return a noisy quadratic with the constants of a problem near a model.

    Parameters
    ----------
    problem
        Anything with gradients: a network, a class of your own.
    at
        The model, shape ``(dim of the problem,)``; its start if not given.
    dim
        Dimension of the quadratic; its eigenvalues are spread geometrically over the measured interval.
    seed, draws
        Of the minibatches and of Lanczos' method, see :func:`~fltheory.problems.measuring.measure`.

    Examples
    --------
    >>> from fltheory import noisy_quadratic
    >>> other = noisy_quadratic(dim=8, num_clients=3, mu=0.5, L=4.0, client_drift_sq=0.3, round_drift_sq=0.0)
    >>> found = local_model(other)
    >>> round(found.mu, 6), round(found.L, 6), round(found.client_drift_sq, 6), found.problem.num_clients
    (0.5, 4.0, 0.3, 3)
    """
    require_problem("local_model", problem)
    arguments.integer("local_model", "dim", dim, low=2)
    w = problem.start if at is None else arguments.array("local_model", "at", at, shape=(problem.dim,))
    found = measure(problem, np.asarray(w)[None], seed=seed, draws=draws)
    mu, L = float(found["mu"].value), float(found["L"].value)
    if not (np.isfinite(L) and L > 0):
        raise NotApplicable(
            f"the largest measured curvature is {L:g}; a local quadratic needs a model at which it is positive: pass "
            "another one as at=..."
        )
    sigma_sq = np.asarray(found["sigma_sq"].value)
    gradients = _gradients(problem, np.asarray(w), seed)
    mean = problem.weights @ gradients
    drift_sq = float(problem.weights @ norm_sq(gradients - mean))
    gradient_sq = float(norm_sq(mean))
    quadratic = noisy_quadratic(
        dim=dim,
        num_clients=problem.num_clients,
        mu=max(mu, FLATTEST * L),
        L=L,
        spectrum="log",
        rotated=False,
        client_drift_sq=0.0,
        round_drift_sq=0.0,
        noise_sq=0.0,
        seed=seed,
    )
    # The start is the origin, so that the gradient there is the linear term.
    scale = np.sqrt(gradient_sq / float(norm_sq(quadratic.linear[0])))
    quadratic = dataclasses.replace(
        quadratic,
        linear=scale * quadratic.linear,
        sample_counts=problem.sample_counts,
        noise_sq=sigma_sq,
        client_drift=_drifts(problem.weights, drift_sq, dim, seed),
    )
    return LocalModel(
        problem=quadratic, mu=mu, L=L, sigma_sq=sigma_sq, client_drift_sq=drift_sq, gradient_norm_sq=gradient_sq
    )


def _gradients(problem: Problem, w: Floats, seed: int) -> Floats:
    oracle = problem.reference_oracle(seed=seed, replicates=range(1))
    oracle.begin_round(0)
    inside = np.broadcast_to(oracle.enter(w), (1, problem.num_clients, problem.dim))
    gradients: Floats = np.asarray(oracle.gradient(inside), dtype=np.float64)[0]
    return gradients


def _drifts(p: Floats, drift_sq: float, dim: int, seed: int) -> Floats:
    """Return random drifts whose weighted mean is zero and whose weighted mean square is given."""
    drawn = np.random.default_rng(seed).standard_normal((len(p), dim))
    drawn -= p @ drawn
    size = float(p @ norm_sq(drawn))
    return np.asarray(drawn * np.sqrt(drift_sq / size)) if size > 1e-20 else np.zeros_like(drawn)
