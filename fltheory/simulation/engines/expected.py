"""From means and covariances of models to the expected curves that are recorded."""

from __future__ import annotations

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.experiment import Experiment


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
    keys = [p.tobytes() for p in weights]
    for key in dict.fromkeys(keys):
        columns = np.array([k == key for k in keys])
        objective = oracle.objective(weights[keys.index(key)])
        h = objective.hessian
        for which, (distance, gap, norm) in enumerate(names):
            away, spread = means[which, columns] - objective.w_star, spreads[which, columns]
            forms = [(distance, np.ones(len(h)) if h.ndim == 1 else np.eye(len(h)), 1.0), (gap, h, 0.5)]
            if norm:
                forms.append((norm, h * h if h.ndim == 1 else h @ h, 1.0))
            for name, form, factor in forms:
                if h.ndim == 1:
                    values = (away**2 + spread) @ form
                else:
                    # One coordinate has a variance, not a matrix, even where the Hessian is one.
                    square = spread if spread.ndim == 3 else spread[:, :, None] * np.eye(len(h))
                    values = np.einsum("ti,ij,tj->t", away, form, away) + np.einsum("ij,tij->t", form, square)
                curves[name][columns] = factor * values
    return curves | {"model_mean": means[0], "model_covariance": spreads[0]}


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
