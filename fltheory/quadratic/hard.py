r"""Problems on which lower bounds are attained: small, with everything known in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fltheory._internal import arguments, memory
from fltheory.quadratic.bent import BentQuadratic
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


def bent_parabola(*, H: float, sigma: float, Q: float | None = None, num_clients: int = 1) -> BentQuadratic:
    r"""Return a parabola that is twice as curved on the right as on the left: the mean of SGD drifts to the left.

    .. math:: F''(x) = \tfrac34H + \tfrac14H\tanh\tfrac{4Qx}H , \qquad x^\star = 0 ,

    between :math:`\frac H2` and :math:`H`, with third derivatives of at most :math:`Q` and uniform noise; without
    ``Q`` the curvature jumps at 0, and the noise is Gaussian. Gradient descent from the minimiser stays there, the mean
    of stochastic gradient descent does not. All clients are equal.

    Parameters
    ----------
    H
        Smoothness.
    sigma
        Bound of the noise (uniform in :math:`[-\sigma, \sigma]`), or its standard deviation (Gaussian).
    Q
        Largest third derivative; ``None`` for a kink.
    num_clients
        Number of equal clients.

    Examples
    --------
    >>> bent_parabola(H=1.0, sigma=0.0).slope(0, np.array([[-2.0], [2.0]])).tolist()
    [[-1.0], [2.0]]
    """
    owner = "bent_parabola"
    high = arguments.real(owner, "H", H, low=0, open_low=True)
    noise = arguments.real(owner, "sigma", sigma, low=0)
    clients = _clients(owner, num_clients)
    bend = None if Q is None else arguments.real(owner, "Q", Q, low=0, open_low=True)
    ones = np.ones((clients, 1))
    return BentQuadratic(
        left=high / 2 * ones,
        right=high * ones,
        centre=0 * ones,
        width=np.array([0.0 if bend is None else high / (4 * bend)]),
        noise_sq=(noise**2 if bend is None else noise**2 / 3) * ones,
        noise_law="gaussian" if bend is None else "uniform",
        start=np.zeros(1),
    )


def bent_valley(
    *, H: float, mu: float, distance: float, sigma: float, num_clients: int, nu: float | None = None
) -> BentQuadratic:
    r"""Return equal clients with a flat, a steep and a bent axis, on which no step size suits local SGD.

    .. math:: F(x) = \tfrac\mu2(x_1-b)^2 + \tfrac H2(x_2-b)^2 + \tfrac H8\bigl((x_3-b)^2 + [x_3-b]_+^2\bigr)

    from the origin, with gradients whose third coordinate is off by :math:`\pm\sigma`. Small steps do not get along
    the flat axis, large ones diverge on the steep axis, and in between local steps drift along the bent axis, by an
    amount that does not depend on the number of clients. With ``nu`` there is a fourth axis
    :math:`\frac\nu2(x_4-b)^2`, and the noise is shared by the last two, of variance :math:`\frac12\sigma^2` each.

    Parameters
    ----------
    H, mu
        Curvatures of the steep and the flat axis; ``mu`` is at most ``H``.
    distance
        :math:`\|x^\star\|`: :math:`b` is a :math:`\sqrt3`-th of it, half of it with a fourth axis.
    sigma
        Standard deviation of the stochastic gradient.
    num_clients
        Number of equal clients.
    nu
        Curvature of the fourth axis, at most ``H``; ``None`` for three axes.

    Examples
    --------
    >>> bent_valley(H=1.0, mu=0.01, distance=2.0, sigma=1.0, num_clients=2, nu=0.5).objective().w_star.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    owner = "bent_valley"
    high = arguments.real(owner, "H", H, low=0, open_low=True)
    low = arguments.real(owner, "mu", mu, low=0, open_low=True, high=high)
    far = arguments.real(owner, "distance", distance, low=0, open_low=True)
    noise = arguments.real(owner, "sigma", sigma, low=0)
    clients = _clients(owner, num_clients)
    fourth = [] if nu is None else [arguments.real(owner, "nu", nu, low=0, open_low=True, high=high)]
    left, right = [low, high, high / 4, *fourth], [low, high, high / 2, *fourth]
    dim, shared = len(left), noise**2 / (1 + len(fourth))
    return BentQuadratic(
        left=np.tile(left, (clients, 1)),
        right=np.tile(right, (clients, 1)),
        centre=np.full((clients, dim), far / np.sqrt(dim)),
        width=np.zeros(dim),
        noise_sq=np.tile([0.0, 0.0, *[shared] * (dim - 2)], (clients, 1)),
        noise_law="sign",
        start=np.zeros(dim),
    )


def bent_valley_with_pulls(
    *,
    H: float,
    mu: float,
    distance: float,
    sigma: float,
    zeta: float,
    num_clients: int,
    nu: float | None = None,
) -> BentQuadratic:
    r"""Return a bent, a flat, a steep axis and one along which clients of two curvatures pull apart.

    .. math:: F_m(x) = \tfrac H{24}\psi(x_1) + \tfrac\mu2x_2^2 + \tfrac H2x_3^2 + \tfrac{h_m}2x_4^2 - \zeta_mx_4 ,
       \qquad \psi(x) = \tfrac12x^2 + \tfrac12[x]_+^2 ,

    from :math:`(0, \frac D2, \frac D2, 0)`; :math:`h_m = H` and :math:`\zeta_m = \zeta` for odd clients,
    :math:`h_m = \frac H2` and :math:`\zeta_m = -\zeta` for even ones, and if there is one client too many, it has
    :math:`h_m = H` and no pull. Gaussian noise along the first axis. Local steps drift along the bent axis because of
    the noise, and along the last one because of the pulls; the minimiser is the origin. With ``nu`` there is a fifth
    axis :math:`\frac\nu2x_5^2`, from :math:`\frac D2`, and the noise is shared by the first and the last.

    Parameters
    ----------
    H, mu
        Curvatures of the steep and the flat axis; ``mu`` is at most ``H``.
    distance
        :math:`D`, above the distance of the start from the minimiser.
    sigma, zeta
        Standard deviation of the stochastic gradient, and norm of the clients' gradients at the minimiser.
    num_clients
        Number of clients.
    nu
        Curvature of the fifth axis, at most ``H``; ``None`` for four axes.

    Examples
    --------
    >>> problem = bent_valley_with_pulls(H=1.0, mu=0.1, distance=2.0, sigma=0.0, zeta=3.0, num_clients=2)
    >>> problem.slope(0, np.zeros((1, 4))).tolist(), problem.objective().w_star.tolist()
    ([[0.0, 0.0, 0.0, -3.0]], [0.0, 0.0, 0.0, 0.0])
    """
    owner = "bent_valley_with_pulls"
    high = arguments.real(owner, "H", H, low=0, open_low=True)
    low = arguments.real(owner, "mu", mu, low=0, open_low=True, high=high)
    far = arguments.real(owner, "distance", distance, low=0, open_low=True)
    noise = arguments.real(owner, "sigma", sigma, low=0)
    apart = arguments.real(owner, "zeta", zeta, low=0)
    clients = _clients(owner, num_clients)
    fifth = [] if nu is None else [arguments.real(owner, "nu", nu, low=0, open_low=True, high=high)]
    even = np.arange(clients) % 2 == 1
    last = np.where(even, high / 2, high)
    pulls = apart * np.where(even, -1.0, 1.0)
    if clients % 2 == 1:
        pulls[-1] = 0.0
    left = np.tile([high / 24, low, high, 0.0, *fifth], (clients, 1))
    left[:, 3] = last
    right = left.copy()
    right[:, 0] *= 2
    dim, shared = left.shape[1], noise**2 / (1 + len(fifth))
    centre = np.zeros((clients, dim))
    centre[:, 3] = pulls / last
    return BentQuadratic(
        left=left,
        right=right,
        centre=centre,
        width=np.zeros(dim),
        noise_sq=np.tile([shared, 0.0, 0.0, 0.0, *[shared] * len(fifth)], (clients, 1)),
        noise_law="gaussian",
        start=np.array([0.0, far / 2, far / 2, 0.0, *[far / 2] * len(fifth)]),
    )


def _clients(owner: str, num_clients: int) -> int:
    """Return a number of clients if a few vectors of each fit into memory."""
    clients = arguments.integer(owner, "num_clients", num_clients, low=1)
    memory.require_product(owner, {"num_clients": clients}, 8 * 50 * clients, f"curvatures of num_clients={clients}")
    return clients
