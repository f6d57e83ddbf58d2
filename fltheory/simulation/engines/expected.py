"""From means and covariances of models to the expected curves that are recorded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fltheory._internal.arguments import Floats, Ints
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.experiment import Experiment

_HELD = 2**22
"""Most numbers of moments that are copied at once."""


def expected_curves(
    experiment: Experiment, oracle: ClosedFormOracle, means: Floats, spreads: Floats, weights: list[Floats]
) -> dict[str, Floats]:
    """Return the expected distance, gap and squared gradient norm from means and (co)variances.

    Mean and (co)variance of the model itself are passed on, in the coordinates of the oracle.
    """
    names = [("distance_sq", "gap", "gradient_norm_sq")]
    if experiment.averaging is not None:
        names.append(("average_distance_sq", "average_gap", ""))
    curves: dict[str, Floats] = {name: np.zeros(len(weights)) for group in names for name in group if name}
    for p, rounds in _with_equal_weights(weights):
        objective = oracle.objective(p)
        h = objective.hessian
        one, two = (np.ones(len(h)), h * h) if h.ndim == 1 else (np.eye(len(h)), h @ h)
        for which, (distance, gap, norm) in enumerate(names):
            forms = [(distance, one, 1.0), (gap, h, 0.5), (norm, two, 1.0)]
            for columns in _in_portions(rounds, spreads[which, 0].size):
                away, spread = means[which, columns] - objective.w_star, spreads[which, columns]
                for name, form, factor in forms:
                    if not name:
                        continue
                    if h.ndim == 1:
                        values = (away**2 + spread) @ form
                    else:
                        # One coordinate has a variance, not a matrix, even where the Hessian is one.
                        square = spread if spread.ndim == 3 else spread[:, :, None] * np.eye(len(h))
                        values = np.einsum("ti,ij,tj->t", away, form, away) + np.einsum("ij,tij->t", form, square)
                    curves[name][columns] = factor * values
    return curves | {"model_mean": means[0], "model_covariance": spreads[0]}


def _with_equal_weights(weights: list[Floats]) -> Iterator[tuple[Floats, Ints]]:
    """Yield the different weights of the clients, and the rounds with each; rounds mostly share one array."""
    keys: dict[int, bytes] = {}
    rounds: dict[bytes, list[int]] = {}
    for index, p in enumerate(weights):
        if id(p) not in keys:
            keys[id(p)] = p.tobytes()
        rounds.setdefault(keys[id(p)], []).append(index)
    for found in rounds.values():
        yield weights[found[0]], np.array(found)


def _in_portions(rounds: Ints, size: int) -> Iterator[Ints]:
    """Yield rounds of which the moments, of so many numbers each, are copied at a time."""
    most = max(1, _HELD // size)
    for first in range(0, len(rounds), most):
        yield rounds[first : first + most]


def in_problem(oracle: ClosedFormOracle, mean: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return mean ``(..., dim)`` and covariance ``(..., dim, dim)`` of the model in the coordinates of the problem."""
    covariance = spread[..., None] * np.eye(oracle.dim) if spread.ndim == mean.ndim else spread
    return oracle.leave(mean), oracle.leave(oracle.leave(covariance).swapaxes(-1, -2))


def shares_of(experiment: Experiment) -> list[float]:
    """Return by how much the averaged iterate moves to the new model after every round."""
    if experiment.averaging is None:
        return [0.0] * experiment.rounds
    shares: list[float] = (experiment.averaging / np.cumsum(experiment.averaging))[1:].tolist()
    return shares
