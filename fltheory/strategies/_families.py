"""Functions that are smooth and strongly convex, and federations of clients that have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.bounds.functions import Functions, Kinked, Turned
from fltheory.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ClientFamily:
    """Clients with their objectives (all with minimum 0) and weights, and the minimiser of the weighted sum.

    Parameters
    ----------
    functions
        The clients' objectives.
    weights, sample_counts
        Weights of the clients, and their numbers of samples, shape ``(clients,)``.
    w_star
        Minimiser of the weighted sum, shape ``(dim,)``.
    mu, L
        Strong convexity and smoothness.
    """

    functions: Functions
    weights: Floats
    sample_counts: Floats
    w_star: Floats
    mu: float
    L: float

    @property
    def gamma(self) -> Floats:
        """Gaps of the clients at the common minimiser, ``F_k(w*) - F_k*``."""
        return np.array([self.functions.value(k, self.w_star) for k in range(len(self.weights))], dtype=float)


def smooth_functions(
    *, dim: int = 1, mu: float = 1.0, L: float = 10.0, num_clients: int = 1, radius: float = 5.0
) -> st.SearchStrategy[Functions]:
    """Return ``mu``-strongly convex and ``L``-smooth functions with minimisers within ``radius`` per coordinate.

    Piecewise quadratics with a kink per coordinate; in the plane also quadratics with turned axes. Slopes at the ends
    of ``[mu, L]``, where inequalities are tight, come often.

    Parameters
    ----------
    dim
        Dimension.
    mu, L
        Strong convexity and smoothness, ``0 < mu <= L``.
    num_clients
        Number of functions in the family.
    radius
        Range of minimisers and kinks.
    """
    owner = "smooth_functions"
    dim = arguments.integer(owner, "dim", dim, low=1)
    num_clients = arguments.integer(owner, "num_clients", num_clients, low=1)
    radius = arguments.real(owner, "radius", radius, low=0, open_low=True)
    low, high = _constants(owner, mu, L)
    shape = (num_clients, dim)
    slopes, places = _entries(low, high), _entries(-radius, radius)
    kinked = st.builds(
        Kinked,
        centre=npst.arrays(float, shape, elements=places),
        knot=npst.arrays(float, shape, elements=places),
        left=npst.arrays(float, shape, elements=slopes),
        right=npst.arrays(float, shape, elements=slopes),
    )
    if dim != 2:
        return kinked
    turned = st.builds(
        Turned,
        centre=npst.arrays(float, shape, elements=places),
        eigenvalues=npst.arrays(float, shape, elements=slopes),
        turn=npst.arrays(float, (num_clients,), elements=_entries(-2.0, 2.0)),
    )
    return st.one_of(kinked, turned)


@st.composite
def client_families(
    draw: st.DrawFn,
    *,
    num_clients: int = 2,
    dim: int = 1,
    mu: float = 1.0,
    L: float = 10.0,
    radius: float = 5.0,
    largest_share: float = 1e3,
) -> ClientFamily:
    """Return federations: functions as in :func:`smooth_functions`, sample counts, weights, minimiser.

    Parameters
    ----------
    num_clients, dim, mu, L, radius
        As for :func:`smooth_functions`.
    largest_share
        Largest ratio of two sample counts.
    """
    largest = arguments.real("client_families", "largest_share", largest_share, low=1)
    functions = draw(smooth_functions(dim=dim, mu=mu, L=L, num_clients=num_clients, radius=radius))
    counts = draw(npst.arrays(float, (num_clients,), elements=_entries(1.0, largest)))
    weights = counts / counts.sum()
    return ClientFamily(
        functions=functions,
        weights=weights,
        sample_counts=counts,
        w_star=np.asarray(functions.minimiser(weights), dtype=float),
        mu=float(mu),
        L=float(L),
    )


def _constants(owner: str, mu: Any, L: Any) -> tuple[float, float]:
    low = arguments.real(owner, "mu", mu, low=0, open_low=True)
    high = arguments.real(owner, "L", L, low=0, open_low=True)
    if low > high:
        raise InvalidParameter(f"{owner}.mu must be in (0, L], got mu={mu:g} with L={L:g}")
    return low, high


def _entries(low: float, high: float) -> st.SearchStrategy[float]:
    """Return numbers in a range, its ends and simple ones often."""
    simple = [v for v in (0.0, 1.0, -1.0) if low < v < high]
    return st.one_of(st.sampled_from([low, high, *simple]), st.floats(low, high, allow_subnormal=False))
