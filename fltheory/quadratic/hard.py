r"""Problems on which lower bounds are attained: small, deterministic, with everything known in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fltheory._internal import arguments
from fltheory.quadratic.problem import Quadratic


def two_curvatures(*, mu: float, L: float, distance: float = 1.0) -> Quadratic:
    r"""Return two clients with different curvatures and minimisers, between which local steps pull to the wrong point.

    .. math:: F_1(w) = \tfrac L2(w - c)^2, \qquad F_2(w) = \tfrac\mu2w^2, \qquad F = \tfrac12(F_1 + F_2), \qquad
       w^* = \frac{L}{L+\mu}\,c .

    :math:`E` full-batch steps of size :math:`\eta` pull client :math:`k` towards its own minimiser by the factor
    :math:`1 - (1-\eta h_k)^E`, which grows less than in proportion to the curvature :math:`h_k`; so FedAvg settles
    nearer to the minimiser of the flat client than :math:`w^*` is.

    Parameters
    ----------
    mu, L
        Curvatures of the two clients.
    distance
        :math:`\|w^*\|`. The start is 0.

    Examples
    --------
    >>> two_curvatures(mu=1.0, L=3.0, distance=3.0).objective().w_star.tolist()
    [3.0]
    """
    owner = "two_curvatures"
    low = arguments.real(owner, "mu", mu, low=0, open_low=True)
    high = arguments.real(owner, "L", L, low=low)
    size = arguments.real(owner, "distance", distance, low=0, open_low=True)
    hessian = np.array([[high], [low]])
    centre = np.array([[size * (low + high) / high], [0.0]])
    return Quadratic(
        hessian=hessian,
        linear=-hessian * centre,
        constant=0.5 * (hessian * centre**2).sum(axis=1),
        noise_sq=np.zeros(2),
        start=np.zeros(1),
        sample_counts=np.ones(2),
    )


def opposed_pulls(*, mu: float, pull: float, start: float = 1.0) -> Quadratic:
    r"""Return two clients that pull apart, of which one is curved: local steps leave it before the other one.

    .. math:: f_1(x) = \mu x^2 + Gx, \qquad f_2(x) = -Gx, \qquad f(x) = \tfrac\mu2x^2, \qquad x^\star = 0 .

    The gradient of the second client is the same everywhere, that of the first one falls along its way, so that several
    local steps move the mean of both away from the minimiser. :math:`f` is :math:`\mu`-strongly convex, :math:`f_2` is
    linear.

    Parameters
    ----------
    mu, pull
        Curvature of the objective, and :math:`G`.
    start
        Where runs start.

    Examples
    --------
    >>> opposed_pulls(mu=2.0, pull=3.0).objective().w_star.tolist()
    [0.0]
    """
    owner = "opposed_pulls"
    low = arguments.real(owner, "mu", mu, low=0, open_low=True)
    size = arguments.real(owner, "pull", pull, low=0, open_low=True)
    first = arguments.real(owner, "start", start)
    return Quadratic(
        hessian=np.array([[2.0 * low], [0.0]]),
        linear=np.array([[size], [-size]]),
        constant=np.zeros(2),
        noise_sq=np.zeros(2),
        start=np.array([first]),
        sample_counts=np.ones(2),
    )


def spread_minimisers(*, pattern: ArrayLike, zeta: float) -> Quadratic:
    r"""Return clients on a line with one curvature and different minimisers, between which gossip never settles.

    .. math:: f_i(x) = \tfrac12(x - y_i)^2, \qquad y_i = 1 + \zeta v_i, \qquad \sum_iv_i = 0, \qquad
       \tfrac1n\sum_iv_i^2 = 1, \qquad x^\star = 1 .

    The mean of all models moves as in gradient descent, whatever the mixing; models stay apart in proportion to the
    step size and to :math:`\zeta`, the root mean square of the gradients at the minimiser. Where :math:`v` is an
    eigenvector of the mixing matrix, everything is known in closed form. The start is 0.

    Parameters
    ----------
    pattern
        How the minimisers are spread: any numbers, one per client, not all equal; :math:`v` is what is left of them
        without their mean, scaled.
    zeta
        :math:`\zeta`.

    Examples
    --------
    >>> spread_minimisers(pattern=[1.0, 0.0], zeta=0.5).linear.ravel().tolist()
    [-1.5, -0.5]
    """
    owner = "spread_minimisers"
    given = arguments.array(owner, "pattern", pattern, shape=(None,))
    size = arguments.real(owner, "zeta", zeta, low=0)
    away = given - given.mean() if given.size else given
    length = float(np.sqrt((away**2).mean())) if given.size else 0.0
    if length <= 1e-12 * float(np.abs(given).max(initial=0.0)):
        raise arguments.fail(owner, "pattern", "numbers that are not all equal", pattern)
    minimisers = 1.0 + size * away / length
    return Quadratic(
        hessian=np.ones((len(given), 1)),
        linear=-minimisers[:, None],
        constant=0.5 * minimisers**2,
        noise_sq=np.zeros(len(given)),
        start=np.zeros(1),
        sample_counts=np.ones(len(given)),
    )
