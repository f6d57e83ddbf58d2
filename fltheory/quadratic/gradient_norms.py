r"""Expected squared norms of the stochastic gradients that clients see inside rounds.

Theorems that assume :math:`\mathbb E\|g_t^k\|^2 \le G^2` hold on a quadratic only along its trajectory; this is the
smallest :math:`G^2` there. With :math:`g_0 = H_k w + b_k` at the start of a round, a local step with rate
:math:`\eta` and additive noise :math:`\nu` turns the full gradient :math:`g_i` into :math:`(I - \eta H_k) g_i - \eta
H_k \nu`, so second moments follow from mean and covariance of the server model.
"""

from __future__ import annotations

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.quadratic.problem import Quadratic


def local_gradient_sq(problem: Quadratic, mean: Floats, covariance: Floats, rates: Floats, local_steps: int) -> Floats:
    """Return the expected squared norms, shape ``(rounds, clients, local_steps)``.

    Parameters
    ----------
    problem
        Quadratics with fixed drifts and additive noise.
    mean, covariance
        Moments of the server model before every round, ``(rounds, dim)`` and ``(rounds, dim, dim)``.
    rates
        Learning rate of every round, ``(rounds,)``.
    local_steps
        Steps assigned to a client.
    """
    if problem.round_drift_sq or problem.fresh_drift_sq or problem.round_growth or problem.hessian_noise:
        raise NotApplicable("gradient norms along a trajectory are computed for fixed drifts and additive noise only")
    flat = problem.unrotated()
    clients, dim = problem.num_clients, problem.dim
    hessian = flat.hessian if flat.is_dense else flat.hessian[:, :, None] * np.eye(dim)
    scale = 1.0 + np.asarray(flat.client_growth)
    hessian = scale[:, None, None] * np.broadcast_to(hessian, (clients, dim, dim))
    linear = scale[:, None] * np.broadcast_to(flat.linear, (clients, dim)) + np.asarray(flat.client_drift)
    at = np.einsum("kab,tb->tka", hessian, mean) + linear
    second = at[..., :, None] * at[..., None, :] + np.einsum("kab,tbc,kdc->tkad", hessian, covariance, hessian)
    contraction = np.eye(dim) - rates[:, None, None, None] * hessian
    fed = rates[:, None, None, None] ** 2 * np.einsum("k,kab,kcb->kac", flat.noise_sq / dim, hessian, hessian)
    norms = np.empty((len(rates), clients, local_steps))
    for step in range(local_steps):
        norms[..., step] = np.einsum("tkaa->tk", second) + flat.noise_sq
        second = contraction @ second @ contraction.swapaxes(-1, -2) + fed
    return norms
