"""The constants of a logistic problem: what theorems call ``mu``, ``L``, ``sigma``, ``Gamma`` and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.logistic.model import probabilities, scores
from fltheory.problems.problem import Constant, Origin

if TYPE_CHECKING:
    from fltheory.logistic.problem import LogisticProblem


def constants(problem: LogisticProblem) -> dict[str, Constant]:
    """Return the constants by name; see :meth:`~fltheory.logistic.problem.LogisticProblem.constants`."""
    objective = problem.objective()
    w_star = objective.w_star
    clients = [problem.client_objective(i) for i in range(problem.num_clients)]
    sigma_sq, drift_sq = variances(problem, w_star)
    frozen, computed, measured, law = arguments.frozen, Origin.COMPUTED, Origin.MEASURED, Origin.DECLARED
    smooth = "attained at the zero model" if problem.binary else "from the bound 1/2 on the softmax Hessian"
    if problem.batch_size:
        noise = Constant(
            frozen(sigma_sq),
            measured,
            "variance of a minibatch gradient at w_star, averaged over the label drift, and of the noise; per client",
        )
    else:
        noise = Constant(
            frozen(sigma_sq), computed, "of the added noise" if np.any(sigma_sq) else "full gradients have no noise"
        )
    known = {
        "mu": Constant(problem.l2, computed, "the l2 regularisation"),
        "L": Constant(float(problem.client_smoothness.max()), computed, f"largest over the clients; {smooth}"),
        "client_L": Constant(problem.client_smoothness, computed, f"per client; {smooth}"),
        "sigma_sq": noise,
        "client_drift_sq": Constant(client_drift_sq(problem), computed, "sum_i p_i ||grad f_i(w_star)||^2"),
        "fresh_drift_sq": Constant(problem.fresh_drift_sq, law, "scenario S1"),
        "round_drift_sq": Constant(
            float(problem.weights @ drift_sq), computed, "mean of drift_sq over the clients, E ||xi||^2 at any model"
        ),
        "drift_sq": Constant(
            frozen(drift_sq), computed, "variance of a round's gradient under label drift and round drift, at any model"
        ),
        "w_star": Constant(w_star, computed),
        "f_star": Constant(objective.f_star, computed),
        "client_f_star": Constant(frozen([client.f_star for client in clients]), computed),
        "gamma": Constant(
            frozen([client.gap(w_star) for client in clients]), computed, "f_k(w_star) - f_k*, per client"
        ),
        "epsilon": Constant(
            dissimilarity(problem, w_star), measured, "largest difference of two clients' Hessians at w_star"
        ),
    }
    spread = gradient_spread(problem)
    if spread is not None:
        note = "bound on ||grad f_i(w) - grad f(w)|| for all models, per client"
        known["gradient_spread"] = Constant(frozen(spread), computed, note)
    return known


def gradient_spread(problem: LogisticProblem) -> Floats | None:
    r"""Return a bound on the difference of each client's gradient and that of the objective, for all models.

    The regularisation is common to all clients. What remains of a client's gradient is the mean over its samples of
    :math:`(\pi_j(w) - q_j) \otimes x_j`, where :math:`\pi_j(w)` is a law over classes, :math:`q_j` that of the label.
    The difference of two laws is longest at a corner of the simplex, so sample :math:`j` contributes at most
    :math:`\|x_j\| \max_c\|e_c - q_j\|`, and with the means :math:`m_k` of these numbers

    .. math:: \|\nabla f_i(w) - \nabla f(w)\| \le (1 - p_i) m_i + \sum_{k \ne i} p_k m_k .

    Fixed drifts of the clients add their norms. ``None`` if these have a mean, which is no part of the objective.
    """
    drift, p = problem.client_drift, problem.weights
    if drift is not None and np.linalg.norm(p @ drift) > 1e-12 * np.abs(drift).max():
        return None
    means = np.empty(problem.num_clients)
    for i in range(problem.num_clients):
        own = problem.train.rows(i)
        law = problem.label_law(own)
        if problem.binary:
            longest = np.maximum(law, 1.0 - law)[:, 0]
        else:
            # The squared distance to corner c is |q|^2 - 2 q_c + 1.
            longest = np.sqrt(np.maximum((law**2).sum(axis=1) - 2.0 * law.min(axis=1) + 1.0, 0.0))
        means[i] = (np.linalg.norm(problem.train.features[own], axis=1) * longest).mean()
    spread = (1.0 - p) * means + p @ means - p * means
    return np.asarray(spread if drift is None else spread + np.linalg.norm(drift, axis=1))


def client_drift_sq(problem: LogisticProblem) -> float:
    r"""Return :math:`\sum_i p_i\|\nabla f_i(w^*)\|^2`."""
    w_star = problem.objective().w_star
    slopes = np.stack([problem.client_loss(i).gradient(w_star) for i in range(problem.num_clients)])
    return float(problem.weights @ (slopes**2).sum(axis=1))


def variances(problem: LogisticProblem, w: Floats) -> tuple[Floats, Floats]:
    r"""Return the variances of a stochastic gradient at ``w`` and of a round's gradient, per client.

    With per-sample gradients :math:`g_j = (p_j - e_{y_j}) \otimes x_j`, independent over ``j`` under the drift of
    labels, the first is the mean over rounds of :math:`\frac1n\sum_j\|g_j\|^2 - \|\frac1n\sum_j g_j\|^2` divided by the
    batch size, plus the added noise.
    """
    sigma_sq, drift_sq = np.array(problem.noise_sq), np.full(problem.num_clients, problem.round_drift_sq)
    for i in range(problem.num_clients):
        within, scatter, count = sample_variance(problem, i, w)
        drift_sq[i] += scatter / count
        if problem.batch_size:
            sigma_sq[i] += (within + (1.0 - 1.0 / count) * scatter) / problem.batch_size
    return sigma_sq, drift_sq


def sample_variance(problem: LogisticProblem, client: int, w: Floats) -> tuple[float, float, int]:
    """Return the variance over a client's samples of their expected gradients, that over labels, and the samples."""
    own = problem.train.rows(client)
    features, law = problem.train.features[own], problem.label_law(own)
    lengths = (features**2).sum(axis=1)
    residuals = probabilities(scores(features, w)) - law
    mean = residuals.T @ features / len(lengths)
    within = max(0.0, float((lengths * (residuals**2).sum(axis=1)).mean() - (mean**2).sum()))
    return within, float((lengths * (law * (1.0 - law)).sum(axis=1)).mean()), len(lengths)


def dissimilarity(problem: LogisticProblem, w: Floats) -> float:
    """Return the largest spectral norm of a difference of two clients' Hessians at ``w``."""
    hessians = [problem.client_loss(i).hessian(w) for i in range(problem.num_clients)]
    largest = 0.0
    for i, first in enumerate(hessians):
        for second in hessians[:i]:
            largest = max(largest, _spectral_norm(first - second))
    return largest


def _spectral_norm(symmetric: Floats) -> float:
    """Return the largest absolute eigenvalue; Lanczos where a full decomposition would be slow."""
    if not symmetric.any():
        return 0.0
    if len(symmetric) <= 64:
        return float(np.abs(np.linalg.eigvalsh(symmetric)).max())
    from scipy.sparse.linalg import eigsh

    # A fixed first vector keeps the result the same in every run.
    first = np.cos(np.arange(len(symmetric)))
    return float(abs(eigsh(symmetric, k=1, which="LM", v0=first, return_eigenvectors=False)[0]))
