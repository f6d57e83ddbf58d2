r"""Constants of a logistic problem that hold for every model in a ball, with proofs.

Let :math:`\|w - c\| \le R`. The scores of a sample :math:`x` move by at most :math:`\rho = R\|x\|` in Euclidean norm.
With :math:`J = \nabla^2 A`, the Hessian of the log-partition function at the scores, the Hessian of client ``i`` is
:math:`\lambda I + \frac1n\sum_j J_j \otimes x_j x_j^\top`.

**Curvature of a sample.** Binary: :math:`J = s(z) = \sigma(z)(1 - \sigma(z))` falls with :math:`|z|`, so it lies
between its values at :math:`|z_c| + \rho` and at :math:`\max(|z_c| - \rho, 0)`. Softmax: :math:`\|J\|` is at most 1/2,
at most :math:`2\max_k p_k(1 - p_k)` (row sums), at most :math:`\max_k p_k`, and at most
:math:`e^{\sqrt2\rho}\|J_c\|`, because the third derivative of :math:`A` is a third central moment:
:math:`|D^3A[u, v, v]| = |\mathbb E (U - \mathbb EU)(V - \mathbb EV)^2| \le (\max u - \min u)\,D^2A[v, v]`. Each
probability's logit changes by at most :math:`\sqrt2\rho`, the norm of its gradient being at most :math:`\sqrt2`. The
least of these bounds is called :math:`\kappa_j`.

**mu and L.** Binary: the eigenvalues with all curvatures least, or all greatest. Softmax: ``mu`` is :math:`\lambda`, as
adding the same vector to all rows changes no probability; ``L`` is the smaller of
:math:`\lambda + \lambda_{\max}(\frac1n\sum\kappa_j x_jx_j^\top)` and the largest eigenvalue of the Hessian at ``c``
with sample ``j`` weighted by :math:`e^{\sqrt2\rho_j}`.

**Full gradients.** :math:`\|\nabla f_i(w)\|` is at most :math:`\|\nabla f_i(c)\| + L_i R`, and at most
:math:`\frac1n\sum_j r_j\|x_j\| + \|\lambda c + \delta_i\| + \lambda R`, where :math:`r_j` bounds the residual
:math:`\|p_j - q_j\|`: that at ``c`` plus :math:`\Delta_j`, or that of the farthest corner of the simplex (for the
binary model: of the farther end of the interval of scores). Here :math:`\Delta_j \le \min(\kappa_j\rho_j, \sqrt2)`
bounds the change of the probabilities (binary: computed at the ends).

**Noise.** The standard deviation over samples is a seminorm of the vectors :math:`g_j`, so at ``w`` it is at most that
at ``c`` plus :math:`(\frac1n\sum\|g_j(w) - g_j(c)\|^2)^{1/2}`, which is at most
:math:`(\frac1n\sum\|x_j\|^2\Delta_j^2)^{1/2}` and at most
:math:`R\,\lambda_{\max}(\frac1n\sum\|x_j\|^2\kappa_j^2 x_jx_j^\top)^{1/2}`. And the variance is at most
:math:`\frac1n\sum\|x_j\|^2r_j^2`, and 0 for a single sample. Redrawn labels and added noise have variances that do not
depend on the model.

At :math:`R = 0` all of these are the values at ``c``. They hold up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.logistic.constants import sample_variance
from fltheory.logistic.model import LogisticLoss, probabilities
from fltheory.problems.problem import Constant, ball, ball_constants

if TYPE_CHECKING:
    from fltheory.logistic.problem import LogisticProblem

_ROUNDING = 1e-15
"""Error of a probability's variance, which the exponential would magnify."""

_FAR = 40.0
"""Beyond this exponent the bound from the third derivative is worse than all others."""


class _Samples(NamedTuple):
    """Bounds for the samples of a client, each of shape ``(samples,)``."""

    least: Floats
    """Curvature from below."""
    most: Floats
    """Curvature from above."""
    change: Floats
    """How far the probabilities move."""
    residual: Floats
    """How far they are from the law of the labels."""


def constants_on_ball(problem: LogisticProblem, radius: float, centre: Floats | None = None) -> Mapping[str, Constant]:
    """Return constants by name; see :func:`fltheory.problems.problem.constants_on_ball`."""
    radius, c = ball("LogisticProblem", problem, radius, centre)
    rows = [_client(problem, i, radius, c) for i in range(problem.num_clients)]
    mu, L, sigma_sq, gradient_sq = (np.array(column) for column in zip(*rows, strict=True))
    return ball_constants(mu=mu, L=L, sigma_sq=sigma_sq, gradient_sq=gradient_sq)


def _client(problem: LogisticProblem, client: int, radius: float, centre: Floats) -> tuple[float, float, float, float]:
    loss = problem.client_loss(client)
    x, count = loss.features, len(loss.weights)
    lengths = np.linalg.norm(x, axis=1)
    bounds = (_binary if problem.binary else _softmax)(loss, centre, radius * lengths)
    low = loss.l2 + (_extreme(x, bounds.least / count, 0) if problem.binary else 0.0)
    high = loss.l2 + _extreme(x, bounds.most / count, -1)
    if not problem.binary:
        high = min(high, _weighted_hessian(loss, centre, math.sqrt(2.0) * radius * lengths))

    slope = loss.gradient(centre)
    fixed = loss.l2 * centre if loss.linear is None else loss.l2 * centre + loss.linear
    direct = float((bounds.residual * lengths).mean() + np.linalg.norm(fixed)) + loss.l2 * radius
    full = min(float(np.linalg.norm(slope)) + high * radius, direct)

    within, scatter, _ = sample_variance(problem, client, centre)
    sigma_sq = float(np.asarray(problem.noise_sq)[client])
    if problem.batch_size:
        spread = min(
            math.sqrt(float((lengths**2 * bounds.change**2).mean())),
            radius * math.sqrt(_extreme(x, lengths**2 * bounds.most**2 / count, -1)),
        )
        among = min((math.sqrt(within) + spread) ** 2, float((lengths**2 * bounds.residual**2).mean()))
        among = among if count > 1 else 0.0
        sigma_sq += (among + (1.0 - 1.0 / count) * scatter) / problem.batch_size
    drift_sq = scatter / count + problem.round_drift_sq + problem.fresh_drift_sq
    return low, high, sigma_sq, full**2 + drift_sq + sigma_sq


def _binary(loss: LogisticLoss, centre: Floats, moved: Floats) -> _Samples:
    z, law = loss.scores(centre)[:, 0], loss.targets[:, 0]
    here = _sigmoid(z)
    ends = np.stack([_sigmoid(z - moved), _sigmoid(z + moved)])
    return _Samples(
        least=_bell(np.abs(z) + moved),
        most=_bell(np.maximum(np.abs(z) - moved, 0.0)),
        change=np.abs(ends - here).max(axis=0),
        residual=np.abs(ends - law).max(axis=0),
    )


def _softmax(loss: LogisticLoss, centre: Floats, moved: Floats) -> _Samples:
    z = loss.scores(centre)
    p, law = probabilities(z), loss.targets
    reach = math.sqrt(2.0) * moved[:, None]
    logits = np.stack([z[:, k] - _log_sum(np.delete(z, k, axis=1)) for k in range(z.shape[1])], axis=1)
    low, high = _sigmoid(logits - reach), _sigmoid(logits + reach)
    middle = np.clip(0.5, low, high)
    curvature = np.einsum("jk,kl->jkl", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None, :]
    here = np.linalg.eigvalsh(curvature)[:, -1] + _ROUNDING
    near = np.where(reach[:, 0] < _FAR, np.exp(np.minimum(reach[:, 0], _FAR)) * here, np.inf)
    rows = 2.0 * (middle * (1.0 - middle)).max(axis=1)
    most = np.minimum.reduce([np.full(len(p), 0.5), rows, high.max(axis=1), near])
    change = np.minimum(most * moved, math.sqrt(2.0))
    # The farthest corner e_k from a law q: |e_k - q|^2 = 1 - 2 q_k + |q|^2 at the least likely class.
    corner = np.sqrt(np.maximum(1.0 - 2.0 * law.min(axis=1) + (law**2).sum(axis=1), 0.0))
    residual = np.minimum(np.linalg.norm(p - law, axis=1) + change, corner)
    return _Samples(least=np.zeros(len(p)), most=most, change=change, residual=residual)


def _weighted_hessian(loss: LogisticLoss, centre: Floats, exponents: Floats) -> float:
    """Return the largest eigenvalue of the Hessian at the centre with samples weighted by exponentials."""
    if exponents.max() >= _FAR:
        return math.inf
    weighted = LogisticLoss(
        features=loss.features, targets=loss.targets, weights=loss.weights * np.exp(exponents), l2=loss.l2
    )
    rounding = _ROUNDING * float(weighted.weights @ (loss.features**2).sum(axis=1))
    return float(np.linalg.eigvalsh(weighted.hessian(centre))[-1]) + rounding


def _extreme(x: Floats, weights: Floats, which: int) -> float:
    """Return the least (0) or the greatest (-1) eigenvalue of a weighted sum of outer products."""
    return max(float(np.linalg.eigvalsh((x.T * weights) @ x)[which]), 0.0)


def _sigmoid(z: Floats) -> Floats:
    return probabilities(z[..., None])[..., 0]


def _bell(z: Floats) -> Floats:
    """Return ``sigma(z) sigma(-z)``."""
    return _sigmoid(z) * _sigmoid(-z)


def _log_sum(z: Floats) -> Floats:
    top = z.max(axis=1)
    return np.asarray(top + np.log(np.exp(z - top[:, None]).sum(axis=1)))
