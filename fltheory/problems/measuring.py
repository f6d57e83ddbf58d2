r"""Constants of a problem that does not know them, measured at given models.

A network, or a problem class of a user, may offer gradients and little else. Curvatures are the extreme eigenvalues of
the clients' Hessians. They need products :math:`\nabla^2 f_k(w)\,v`. An oracle that has them exactly
(:class:`HessianProducts`; networks differentiate twice) is asked for them, from any other they are differences of
gradients, :math:`(\nabla f_k(w + hv) - \nabla f_k(w - hv))/(2h)`. Differences are of no use where a gradient jumps, as
at the kinks of a rectifier: a jump divided by :math:`h` looks like a huge curvature. Small models get whole Hessians,
larger ones Lanczos' method. Noise is measured by comparing minibatch gradients with full ones. What is measured holds
at these models only, so every constant is labelled :attr:`~fltheory.problems.problem.Origin.MEASURED`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats, Ints
from fltheory.problems.oracle import Active
from fltheory.problems.problem import Constant, EngineOracle, Origin, Problem, require_problem

SMALL = 64
"""Dimension up to which whole Hessians are measured."""

ACCURACY = 1e-3
"""Lanczos' method stops when both ends of a spectrum change less in :data:`SETTLED` steps, relative to its size."""

SETTLED = 5
"""Steps over which that has to hold."""

STEPS = 60
"""Most steps of Lanczos' method."""

ROUNDING = 1e-7
"""A vector that is shorter than this share of the spectrum's size is zero."""

MEMORY = 2**27
"""Bytes for the vectors of the clients that are measured at once."""

DRAWS = 64
"""Minibatches from which the noise is measured."""


@runtime_checkable
class HessianProducts(Protocol):
    """An oracle that multiplies Hessians with vectors without rounding errors of differences."""

    def hessian_products(self, w: Floats, vectors: Floats, *, active: Active | None = None) -> Floats:
        """Return the clients' Hessians at ``w`` times vectors, ``(replicates, clients, dim)``; 0 for the inactive."""


def measure(problem: Problem, at: Floats, *, seed: int = 0, draws: int = DRAWS) -> Mapping[str, Constant]:
    """Return ``mu``, ``L`` and ``sigma_sq`` as measured at models.

    Parameters
    ----------
    problem
        Anything with a reference oracle.
    at
        Models, shape ``(points, dim)``.
    seed
        Of the minibatches and of the first vectors of Lanczos' method.
    draws
        Minibatches per model.

    Returns
    -------
    ``mu`` and ``L`` are the smallest and the largest eigenvalue of all clients' Hessians at these models; ``mu`` may be
    negative. ``sigma_sq`` has one entry per client, the largest over the models.

    Examples
    --------
    >>> import numpy as np
    >>> from fltheory.quadratic import noisy_quadratic
    >>> problem = noisy_quadratic(dim=3, num_clients=2, mu=0.5, L=4.0)
    >>> found = measure(problem, np.zeros((1, 3)))
    >>> round(found["mu"].value, 6), round(found["L"].value, 6), found["L"].origin.value
    (0.5, 4.0, 'measured')
    """
    require_problem("measure", problem)
    points = arguments.array("measure", "at", at, shape=(None, problem.dim))
    arguments.integer("measure", "draws", draws, low=2)
    oracle = problem.reference_oracle(seed=seed, replicates=range(1))
    oracle.begin_round(0)
    inside = oracle.enter(points)
    ends = [_extreme_eigenvalues(oracle, w, seed) for w in inside]
    noise = np.max([_noise(oracle, w, draws) for w in inside], axis=0)
    where = f"at {len(points)} model" + ("s" if len(points) > 1 else "")
    how = "Hessian-vector products" if isinstance(oracle, HessianProducts) else "differences of gradients"
    return {
        "mu": Constant(
            min(low for low, _ in ends), Origin.MEASURED, f"smallest eigenvalue of a Hessian {where}, by {how}"
        ),
        "L": Constant(
            max(high for _, high in ends), Origin.MEASURED, f"largest eigenvalue of a Hessian {where}, by {how}"
        ),
        "sigma_sq": Constant(noise, Origin.MEASURED, f"from {draws} minibatches {where}"),
    }


def _products(oracle: EngineOracle, w: Floats, v: Floats, active: Active | None = None) -> Floats:
    """Return the clients' Hessians at ``w`` times unit vectors that broadcast to ``(clients, dim)``."""
    if isinstance(oracle, HessianProducts):
        products = oracle.hessian_products(_spread(oracle, w), _spread(oracle, v), active=active)
        return np.asarray(products[0], dtype=np.float64)
    h = 1e-5 * (1.0 + float(np.abs(w).max()))
    above = np.asarray(oracle.gradient(_spread(oracle, w + h * v), active=active))
    below = np.asarray(oracle.gradient(_spread(oracle, w - h * v), active=active))
    return np.asarray((above - below)[0] / (2.0 * h))


def _spread(oracle: EngineOracle, w: Floats) -> Floats:
    return np.broadcast_to(w, (1, oracle.num_clients, oracle.dim))


def _extreme_eigenvalues(oracle: EngineOracle, w: Floats, seed: int) -> tuple[float, float]:
    clients, dim = oracle.num_clients, oracle.dim
    if dim <= SMALL:
        hessians = np.stack([_products(oracle, w, row) for row in np.eye(dim)], axis=-1)
        spectra = np.linalg.eigvalsh((hessians + hessians.swapaxes(-1, -2)) / 2)
        return float(spectra.min()), float(spectra.max())
    generator = np.random.default_rng(seed)
    together = max(1, MEMORY // (8 * dim * STEPS))
    ends = []
    for first in range(0, clients, together):
        group = np.arange(first, min(first + together, clients))
        active = np.isin(np.arange(clients), group)[None]

        def product(v: Floats, group: Ints = group, active: Active = active) -> Floats:
            vectors = np.zeros((clients, dim))
            vectors[group] = v
            return _products(oracle, w, vectors, active)[group]

        ends += _lanczos(product, generator.standard_normal((len(group), dim)))
    return min(low for low, _ in ends), max(high for _, high in ends)


def _lanczos(product: Callable[[Floats], Floats], start: Floats) -> list[tuple[float, float]]:
    """Return both ends of the spectra of several symmetric operators of one size.

    Every vector is made orthogonal to all earlier ones. The ends lie inside the true ones, and come from as many
    products as it takes until they change no more.

    Parameters
    ----------
    product
        Multiplies each operator with its vector, ``(operators, dim)`` in and out.
    start
        First vectors.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    operators, dim = start.shape
    basis = (start / np.linalg.norm(start, axis=1, keepdims=True))[None]
    diagonal: list[Floats] = []
    beside: list[Floats] = []
    lengths = np.full(operators, min(STEPS, dim))
    history: list[Floats] = []
    for step in range(1, min(STEPS, dim) + 1):
        image = product(basis[-1])
        diagonal.append(np.einsum("kd,kd->k", basis[-1], image))
        for _ in range(2):  # once is not enough in floating-point numbers
            image = image - np.einsum("skd,sk->kd", basis, np.einsum("skd,kd->sk", basis, image))
        length = np.linalg.norm(image, axis=1)
        spectra = [
            eigvalsh_tridiagonal(np.array(diagonal)[:last, k], np.array(beside).reshape(-1, operators)[: last - 1, k])
            for k, last in enumerate(np.minimum(lengths, step))
        ]
        history.append(np.array([(values[0], values[-1]) for values in spectra]))
        size = np.maximum(np.abs(history[-1]).max(axis=1), np.finfo(float).tiny)
        # No new direction is left: the operator's spectrum is complete.
        lengths = np.where((length <= ROUNDING * size) & (lengths > step), step, lengths)
        if np.all(lengths <= step):
            break
        if step > SETTLED:
            change = np.abs(history[-1] - history[-1 - SETTLED]).max(axis=1)
            if np.all(change <= ACCURACY * size):
                break
        beside.append(length)
        basis = np.concatenate([basis, (image / np.where(lengths > step, length, np.inf)[:, None])[None]])
    return [(float(low), float(high)) for low, high in history[-1]]


def _noise(oracle: EngineOracle, w: Floats, draws: int) -> Floats:
    models = _spread(oracle, w)
    full = np.asarray(oracle.gradient(models))[0]
    away = [np.asarray(oracle.gradient(models, oracle.minibatch(index)))[0] - full for index in range(draws)]
    return np.asarray(np.mean([np.einsum("kd,kd->k", one, one) for one in away], axis=0))
