"""Quadratics that have the given constants exactly.

Both generators draw directions from the seed and then rescale, so that eigenvalues, drifts, spreads and
dissimilarities of the instance are the requested numbers to rounding, not on average.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fltheory._internal import arguments, memory, seeding
from fltheory._internal.arguments import Floats
from fltheory._internal.linear_algebra import one_thread
from fltheory._internal.seeding import Purpose
from fltheory.errors import InvalidParameter
from fltheory.problems.reflections import Basis, Reflections
from fltheory.quadratic.problem import Quadratic

SPECTRA = ("linear", "log", "two-point", "random")
SCENARIOS = ("S1", "S2")

_COPIES = 4
"""Arrays of the largest size that are there at once while a problem is made."""


@one_thread()
def noisy_quadratic(
    *,
    dim: int = 20,
    num_clients: int = 10,
    mu: float = 1.0,
    L: float = 5.0,
    spectrum: str = "linear",
    rotated: bool = True,
    reflections: int | None = None,
    radius: float = 1.0,
    scenario: str = "S2",
    client_drift_sq: float = 0.01,
    client_drift_centred: bool = True,
    round_drift_sq: float = 0.01,
    noise_sq: float = 1e-5,
    client_growth: float = 0.0,
    round_growth: float = 0.0,
    noise_law: str = "gaussian",
    hessian_noise: float = 0.0,
    seed: int = 0,
) -> Quadratic:
    r"""Return the noisy quadratic with one Hessian, gradient :math:`Aw + B + \delta_i + \xi_{t,i} + \nu_{t,i,k}`.

    Parameters
    ----------
    dim, num_clients
        Sizes.
    mu, L
        Smallest and largest eigenvalue of ``A``; ``mu = 0`` keeps a minimiser, since ``B = -A w_star``.
    spectrum
        Eigenvalues between them: ``linear``, ``log`` (geometric; with ``mu = 0`` the smallest is 0 and the others
        run down to ``L / 1000``), ``two-point`` (half each), ``random`` (uniform, the ends exact).
    rotated
        Give ``A`` a random eigenbasis instead of the coordinate axes.
    reflections
        Let the eigenbasis be a product of so many random reflections instead of any. ``A`` is then diagonal plus a
        matrix of rank ``2 * reflections`` at most, and nothing of size ``dim**2`` is made, so ``dim`` may be large.
    radius
        ``||w_0 - w_star||``; the start is the origin.
    scenario
        ``S2``: the same clients in every round, ``delta_i`` fixed. ``S1``: fresh clients, ``delta`` drawn anew.
    client_drift_sq
        ``E ||delta||^2``: the mean over the clients in S2, the expectation in S1.
    client_drift_centred
        Make the client drifts of a round sum to zero.
    round_drift_sq, noise_sq
        ``E ||xi||^2`` and ``E ||nu||^2``.
    client_growth, round_growth
        ``B`` and ``A`` in ``E ||delta||^2 <= G^2 + B^2 ||grad f||^2`` and ``E ||xi||^2 <= D^2 + A^2 ||grad f||^2``,
        met with equality.
    noise_law, hessian_noise
        See :class:`~fltheory.quadratic.problem.Quadratic`.
    seed
        Seed of the instance.

    Examples
    --------
    >>> problem = noisy_quadratic(dim=4, num_clients=3, mu=0.5, L=2, client_drift_sq=9.0)
    >>> {name: round(problem.constants()[name].value, 12) for name in ("mu", "L", "client_drift_sq")}
    {'mu': 0.5, 'L': 2.0, 'client_drift_sq': 9.0}
    """
    owner = "noisy_quadratic"
    clients = arguments.integer(owner, "num_clients", num_clients, low=1)
    _require_vectors(owner, clients, arguments.integer(owner, "dim", dim, low=1))
    mirrors = _mirrors(owner, reflections, dim, rotated)
    if rotated and mirrors is None:
        memory.require(
            owner,
            "dim",
            dim,
            _COPIES * 8 * dim**2,
            "a random eigenbasis",
            power=2,
            limit=memory.DENSE,
            remedy="set reflections to 10, say, which is a diagonal Hessian plus one of low rank, or rotated to false, "
            f"which is a diagonal Hessian of {memory.shown(8 * dim)}, or lower dim",
        )
    seed = arguments.integer(owner, "seed", seed, low=0)
    rng = seeding.generator(seed, Purpose.INSTANCE)
    values = _spectrum(owner, dim, mu, L, spectrum, rng)
    basis: Basis = None
    if mirrors is not None:
        basis = _mirrored(rng, dim, mirrors)
    elif rotated:
        basis = _rotation(rng, dim)
    w_star = arguments.real(owner, "radius", radius, low=0) * _direction(rng, dim)
    drift_sq = arguments.real(owner, "client_drift_sq", client_drift_sq, low=0)
    centred = arguments.boolean(owner, "client_drift_centred", client_drift_centred)
    fresh = arguments.choice(owner, "scenario", scenario, SCENARIOS) == "S1"
    if centred and clients == 1 and drift_sq > 0:
        raise InvalidParameter(
            f"{owner}.client_drift_sq must be 0 for one client with centred drift, got client_drift_sq={drift_sq:g}; "
            "set client_drift_centred to false, or add clients"
        )
    growth = arguments.real(owner, "client_growth", client_growth, low=0, high=1)
    if growth > 0 and clients == 1:
        raise arguments.fail(owner, "client_growth", "0 for one client", growth)
    equal = np.full(clients, 1 / clients)
    alpha = _spread(np.where(np.arange(clients) % 2 == 0, 1.0, -1.0)[:, None], equal, growth**2, True)[:, 0]
    if growth > 0 and clients == 2 and centred and drift_sq > 0 and not fresh:
        raise InvalidParameter(
            f"{owner}.client_growth must be 0 for two clients with centred drift, got client_growth={growth:g}; the "
            "drift and its growth would point the same way: add clients, or set client_drift_centred to false"
        )
    drawn = rng.standard_normal((clients, dim))
    if growth > 0:
        # Without the part along alpha, ||delta_i + alpha_i grad f||^2 has no cross term on average over clients.
        drawn -= np.outer(alpha, alpha @ drawn) / (alpha @ alpha)
    drift = _spread(drawn, equal, drift_sq, centred)
    noise = arguments.real(owner, "noise_sq", noise_sq, low=0)
    return Quadratic(
        hessian=values[None],
        linear=-(values * w_star)[None],
        constant=np.zeros(1),
        basis=basis,
        sample_counts=np.ones(clients),
        client_drift=np.zeros((clients, dim)) if fresh else drift,
        fresh_drift_sq=drift_sq if fresh else 0.0,
        fresh_drift_centred=fresh and centred and drift_sq > 0,
        round_drift_sq=arguments.real(owner, "round_drift_sq", round_drift_sq, low=0),
        client_growth=alpha,
        round_growth=arguments.real(owner, "round_growth", round_growth, low=0, high=1),
        noise_sq=np.full(clients, noise),
        noise_law=noise_law,
        hessian_noise=hessian_noise,
        start=np.zeros(dim),
    )


@one_thread()
def client_quadratics(
    *,
    dim: int = 10,
    num_clients: int = 5,
    mu: float = 1.0,
    L: float = 5.0,
    spectrum: str = "linear",
    dissimilarity: float = 1.0,
    commuting: bool = False,
    reflections: int | None = None,
    spread: float = 1.0,
    radius: float = 1.0,
    sample_counts: ArrayLike | None = None,
    noise_sq: ArrayLike = 0.0,
    noise_law: str = "gaussian",
    hessian_noise: float = 0.0,
    round_drift_sq: float = 0.0,
    seed: int = 0,
) -> Quadratic:
    r"""Return client objectives :math:`f_i(w) = \frac12 (w - m_i)^\top H_i (w - m_i)` that differ in both parts.

    Parameters
    ----------
    dim, num_clients
        Sizes.
    mu, L
        Extreme eigenvalues over all clients, both attained.
    spectrum
        Shape of the common part of the Hessians, see :func:`noisy_quadratic`.
    dissimilarity
        ``epsilon``: the largest spectral norm of ``H_i - H_j``, attained; at most ``L - mu``.
    commuting
        Give all Hessians the same eigenvectors, the coordinate axes.
    reflections
        Let the common eigenvectors be the coordinate axes after so many random reflections; with ``commuting`` only.
        Each Hessian is then diagonal plus a matrix of rank ``2 * reflections`` at most, and nothing of size ``dim**2``
        is made.
    spread
        ``sum_i p_i ||m_i - m||^2`` around the weighted mean ``m`` of the minimisers.
    radius
        ``||m||``; the start is the origin.
    sample_counts
        ``n_i``; equal if not given.
    noise_sq
        ``sigma_i^2``: one number, or one per client.
    noise_law, hessian_noise, round_drift_sq
        See :class:`~fltheory.quadratic.problem.Quadratic`.
    seed
        Seed of the instance.

    Examples
    --------
    >>> problem = client_quadratics(dim=3, num_clients=4, mu=1, L=4, dissimilarity=2.0)
    >>> {name: round(problem.constants()[name].value, 9) for name in ("mu", "L", "epsilon")}
    {'mu': 1.0, 'L': 4.0, 'epsilon': 2.0}
    """
    owner = "client_quadratics"
    clients = arguments.integer(owner, "num_clients", num_clients, low=1)
    _require_vectors(owner, clients, arguments.integer(owner, "dim", dim, low=1))
    commuting = arguments.boolean(owner, "commuting", commuting)
    if reflections is not None and not commuting:
        raise arguments.fail(
            owner,
            "reflections",
            "left out where each Hessian has eigenvectors of its own",
            reflections,
            "set commuting to true, which gives all of them the same ones",
        )
    mirrors = None if reflections is None else _count_of_reflections(owner, reflections, dim)
    if not commuting:
        memory.require(
            owner,
            "dim" if dim > clients else "num_clients",
            max(dim, clients),
            _COPIES * 8 * clients * dim**2,
            f"dense Hessians of num_clients={clients} with dim={dim}",
            power=2 if dim > clients else 1,
            limit=memory.DENSE,
            remedy="set commuting to true, which gives diagonal Hessians, and reflections to 10, say, for diagonal "
            "ones plus some of low rank, or lower dim or num_clients",
        )
    arguments.real(owner, "mu", mu, low=0)
    arguments.real(owner, "L", L, low=0, open_low=True)
    if mu > L:
        raise InvalidParameter(f"{owner}.mu must be in [0, L], got mu={mu:g} with L={L:g}")
    gap = arguments.real(owner, "dissimilarity", dissimilarity, low=0)
    if clients == 1 and gap > 0:
        raise arguments.fail(owner, "dissimilarity", "0 for one client", gap)
    if gap > L - mu:
        raise arguments.fail(owner, "dissimilarity", f"at most L - mu = {L - mu:g}", gap, "raise L or lower it")
    counts = np.ones(clients) if sample_counts is None else sample_counts
    counts = arguments.array(owner, "sample_counts", counts, shape=(clients,), low=0.0)
    if counts.sum() <= 0:
        raise InvalidParameter(f"{owner}.sample_counts must have a positive sum, got {counts.sum():g}")
    spread = arguments.real(owner, "spread", spread, low=0)
    if spread > 0 and np.count_nonzero(counts) == 1:
        raise arguments.fail(owner, "spread", "0 if only one client has samples", spread)
    one = isinstance(noise_sq, int | float)
    noise = np.full(clients, arguments.real(owner, "noise_sq", noise_sq, low=0)) if one else noise_sq
    seed = arguments.integer(owner, "seed", seed, low=0)
    rng = seeding.generator(seed, Purpose.INSTANCE)
    exact_ends = gap < L - mu or dim == 1
    base = _spectrum(owner, dim, mu, L - gap, spectrum, rng) if exact_ends else np.full(dim, float(mu))
    # Client 0 gets nothing and client 1 everything, so that the pair differs by exactly epsilon and the ends of
    # [mu, L] are attained; the others lie between them in the order of positive semidefinite matrices.
    portions = rng.uniform(size=(clients, dim))
    portions[0] = 0.0
    if clients > 1:
        portions[1] = 1.0
    if commuting:
        hessian = base + gap * portions
    else:
        turns = [_rotation(rng, dim) for _ in range(clients)]
        common = _rotation(rng, dim)
        hessian = np.stack(
            [
                common.T @ (base[:, None] * common) + gap * turn.T @ (share[:, None] * turn)
                for turn, share in zip(turns, portions, strict=True)
            ]
        )
        hessian = (hessian + hessian.swapaxes(1, 2)) / 2
    p = counts / counts.sum()
    around = _spread(rng.standard_normal((clients, dim)), p, spread, True)
    # Minimisers are those in the coordinates of the Hessians: in distribution they are alike in all of them.
    minimisers = arguments.real(owner, "radius", radius, low=0) * _direction(rng, dim) + around
    curved = hessian * minimisers if hessian.ndim == 2 else np.matmul(hessian, minimisers[..., None])[..., 0]
    return Quadratic(
        hessian=hessian,
        linear=-curved,
        constant=0.5 * np.sum(curved * minimisers, axis=1),
        basis=None if mirrors is None else _mirrored(rng, dim, mirrors),
        sample_counts=counts,
        noise_sq=arguments.array(owner, "noise_sq", noise, shape=(clients,), low=0.0),
        noise_law=noise_law,
        hessian_noise=hessian_noise,
        round_drift_sq=round_drift_sq,
        start=np.zeros(dim),
    )


def _mirrors(owner: str, reflections: int | None, dim: int, rotated: bool) -> int | None:
    """Return how many reflections make up the eigenbasis; ``None`` if it is any basis, or that of the model."""
    arguments.boolean(owner, "rotated", rotated)
    if reflections is None:
        return None
    if not rotated:
        raise arguments.fail(owner, "reflections", "left out where nothing is rotated", reflections)
    return _count_of_reflections(owner, reflections, dim)


def _count_of_reflections(owner: str, reflections: int, dim: int) -> int:
    """Return a number of reflections if it is one, and if they fit into memory."""
    count = arguments.integer(owner, "reflections", reflections, low=1, high=dim)
    memory.require(
        owner,
        "reflections",
        count,
        _COPIES * 8 * count * dim,
        f"reflections={count} with dim={dim}",
        limit=memory.DENSE,
        remedy="lower reflections or dim",
    )
    return count


def _require_vectors(owner: str, clients: int, dim: int) -> None:
    """Raise if a few vectors per client do not fit into memory."""
    more_clients = clients >= dim
    memory.require(
        owner,
        "num_clients" if more_clients else "dim",
        max(clients, dim),
        _COPIES * 8 * clients * dim,
        f"vectors of num_clients={clients} with dim={dim}",
        remedy="lower num_clients or dim",
    )


def _spectrum(owner: str, dim: int, mu: float, L: float, shape: str, rng: np.random.Generator) -> Floats:
    arguments.integer(owner, "dim", dim, low=1)
    low = arguments.real(owner, "mu", mu, low=0)
    high = arguments.real(owner, "L", L, low=0, open_low=True)
    if low > high:
        raise InvalidParameter(f"{owner}.mu must be in [0, L], got mu={mu:g} with L={L:g}")
    shape = arguments.choice(owner, "spectrum", shape, SPECTRA)
    if dim == 1:
        if low != high:
            raise InvalidParameter(f"{owner}.mu must equal L in one dimension, got mu={mu:g} with L={L:g}")
        return np.array([high])
    if shape == "linear":
        return np.linspace(low, high, dim)
    if shape == "two-point":
        return np.where(np.arange(dim) < (dim + 1) // 2, low, high)
    if shape == "random":
        return np.sort(np.concatenate([[low, high], rng.uniform(low, high, dim - 2)]))
    if low > 0:
        values = np.geomspace(low, high, dim)
        values[[0, -1]] = low, high
        return values
    return np.concatenate([[0.0], np.geomspace(high / 1000, high, dim - 1)]) if dim > 2 else np.array([0.0, high])


def _rotation(rng: np.random.Generator, dim: int) -> Floats:
    """Return a Haar-distributed orthogonal matrix."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    return np.asarray(q * np.sign(np.diag(r)), dtype=np.float64)


def _mirrored(rng: np.random.Generator, dim: int, count: int) -> Reflections:
    """Return the coordinate axes after reflections along random directions."""
    return Reflections(directions=np.linalg.qr(rng.standard_normal((dim, count)))[0].T)


def _direction(rng: np.random.Generator, dim: int) -> Floats:
    x = rng.standard_normal(dim)
    return np.asarray(x / np.linalg.norm(x), dtype=np.float64)


def _spread(vectors: Floats, p: Floats, second_moment: float, centred: bool) -> Floats:
    """Rescale vectors (after centring, if asked) so that their weighted mean square is the requested one."""
    if second_moment == 0.0:
        return np.zeros(vectors.shape)
    if centred:
        vectors = vectors - p @ vectors
    return np.asarray(vectors * np.sqrt(second_moment / float(p @ np.sum(vectors**2, axis=1))))
