r"""The largest learning rate with which an algorithm is stable.

On a problem with affine gradients a round of an affine algorithm is :math:`z' = M_o z + b_o + B_o\epsilon`, where the
outcome :math:`o` says who takes part. Second moments of the state then follow the linear map

.. math:: T(C) = \mathbb E_o\Bigl[M_o C M_o^\top + \sum_f D_{o,f}\, C\, D_{o,f}^\top\Bigr],

with :math:`D_{o,f}` what noise that multiplies the state adds (random Hessians). They stay bounded if the square root
of the spectral radius of :math:`T` is below one; if everybody always takes part that is the spectral radius of
:math:`M`. Parts of the state that never change, such as a sum of control variates that is zero for ever, have the
eigenvalue one at every rate, so eigenvalues that are one up to rounding do not count as unstable.

Where there is no such map, runs are watched for divergence instead.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import Diverged, NotAffine, NotApplicable
from fltheory.simulation.engines import simulate
from fltheory.simulation.engines.affine import RoundMap
from fltheory.simulation.engines.exact import last_round_maps
from fltheory.simulation.experiment import Experiment, require_experiment
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Constant

UNSTABLE = 1.0 + 1e-14
"""Spectral radius above which a round is unstable."""

ONE = 1e-7
"""Eigenvalues so close to one count as one: rounding moves a double eigenvalue by the root of 1e-16."""

PER_DECADE = 8
"""Rates that are tried per decade before the limit is refined."""

RESOLUTION = 1e-7
"""Relative accuracy of a limit that was found by spectral radii."""

RUN_RESOLUTION = 1e-2
"""Relative accuracy of a limit that was found by watching runs."""

WATCHED_ROUNDS = 200
"""Rounds, at least, after which a run that has not diverged counts as stable."""

GROWTH = 10.0
"""A run whose curve ends so many times as high as it began has diverged."""

_DENSE = 400
"""Entries of a symmetric matrix up to which all eigenvalues of the map of second moments are computed."""

_ITERATIONS = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class StabilityLimit:
    """The largest stable constant rate.

    Parameters
    ----------
    rate
        All rates between ``lowest`` and this are stable; infinite if no rate that was tried is unstable.
    lowest
        Smallest rate that was found stable.
    method
        ``spectral radius``, or ``divergence of runs`` where a round is not an affine map that stays the same.
    reason
        Why runs had to be watched; empty for spectral radii.
    """

    rate: float
    lowest: float
    method: str
    reason: str = ""


class _Search(NamedTuple):
    stable: Callable[[float], bool]
    resolution: float
    method: str
    reason: str


def largest_stable_rate(
    experiment: Experiment,
    *,
    low: float = 1e-6,
    high: float = 1e3,
    seed: int = 0,
    replicates: int = 8,
) -> StabilityLimit:
    """Return the largest constant local rate with which an experiment is stable in the long run.

    Parameters
    ----------
    experiment
        What to run; its own rate is ignored. If participation changes over time, the law of its last round counts.
    low, high
        Interval of rates.
    seed, replicates
        Of runs that are watched, where a round is not an affine map.

    Examples
    --------
    >>> from fltheory import Participation, noisy_quadratic
    >>> from fltheory.algorithms.fedavg import FedAvg
    >>> problem = noisy_quadratic(dim=3, num_clients=2, mu=1, L=4)
    >>> limit = largest_stable_rate(Experiment(problem=problem, algorithm=FedAvg(), rounds=10, rate=1.0,
    ...                                        participation=Participation(num_clients=2, local_steps=3)))
    >>> round(limit.rate, 6), limit.method
    (0.5, 'spectral radius')
    """
    require_experiment("largest_stable_rate", experiment)
    low = arguments.real("largest_stable_rate", "low", low, low=0, open_low=True)
    high = arguments.real("largest_stable_rate", "high", high, low=low, open_low=True)
    search = _search(experiment, seed, replicates)
    count = math.ceil(PER_DECADE * math.log10(high / low)) + 1
    first = last = None
    for rate in np.geomspace(low, high, max(count, 2)).tolist():
        if search.stable(rate):
            first, last = first or rate, rate
        elif last is not None:
            break
    else:
        if last is not None:
            return StabilityLimit(rate=math.inf, lowest=first or low, method=search.method, reason=search.reason)
    if first is None or last is None:
        raise NotApplicable(
            f"{experiment.algorithm.title} is stable with no constant rate in [{low:g}, {high:g}]; lower the interval, "
            "or change the other parameters of the algorithm"
        )
    inside, outside = last, rate
    while outside > inside * (1.0 + search.resolution):
        middle = math.sqrt(inside * outside)
        inside, outside = (middle, outside) if search.stable(middle) else (inside, middle)
    return StabilityLimit(rate=inside, lowest=first, method=search.method, reason=search.reason)


def growth_per_round(experiment: Experiment, rate: float) -> float:
    """Return by which factor deviations grow per round in the long run, in root mean square.

    :class:`~fltheory.errors.NotApplicable` where a round is not an affine map that stays the same.
    """
    chances, maps = last_round_maps(dataclasses.replace(experiment, rate=Constant(value=rate)))
    with np.errstate(over="ignore", invalid="ignore"):
        if len(maps) == 1 and maps[0].tilts is None:
            return _radius(maps[0].matrix)
        return math.sqrt(_mean_square(chances, maps))


def _search(experiment: Experiment, seed: int, replicates: int) -> _Search:
    try:
        growth_per_round(experiment, 1e-3)
    except NotApplicable as error:
        watched = dataclasses.replace(experiment, rounds=max(experiment.rounds, WATCHED_ROUNDS), averaging=None)
        engine = _engine(watched)
        return _Search(
            lambda rate: _survives(watched, rate, engine, seed, replicates),
            RUN_RESOLUTION,
            "divergence of runs",
            str(error),
        )
    return _Search(lambda rate: growth_per_round(experiment, rate) <= UNSTABLE, RESOLUTION, "spectral radius", "")


def _engine(experiment: Experiment) -> str:
    """Return the engine for runs that are watched; an affine round may change from round to round."""
    try:
        simulate(dataclasses.replace(experiment, rounds=1), engine="exact", sampled="error")
    except Diverged:
        return "exact"
    except NotApplicable:
        return "monte_carlo"
    return "exact"


def _survives(experiment: Experiment, rate: float, engine: str, seed: int, replicates: int) -> bool:
    trial = dataclasses.replace(experiment, rate=Constant(value=rate))
    try:
        run = simulate(trial, engine=engine, seed=seed, replicates=replicates, record=Record(consensus=False))
    except Diverged:
        return False
    except NotAffine:
        raise
    except NotApplicable:  # a rate that is too large for the algorithm itself
        return False
    curve = run.curve("gap" if run.gap is not None else "loss").mean(axis=0)
    return bool(curve[-1] <= GROWTH * max(float(curve[0]), 1e-300))


def _radius(matrices: Floats) -> float:
    """Return the largest spectral radius of matrices ``(groups, size, size)``."""
    if not np.all(np.isfinite(matrices)):
        return math.inf
    return _largest(np.linalg.eigvals(matrices))


def _largest(eigenvalues: Any) -> float:
    """Return the largest size of eigenvalues, those that are one up to rounding being one."""
    sizes = np.where(np.abs(eigenvalues - 1.0) <= ONE, 1.0, np.abs(eigenvalues))
    return float(sizes.max(initial=0.0))


def _mean_square(chances: Floats, maps: list[RoundMap]) -> float:
    """Return the spectral radius of the map of second moments, the largest of all groups."""
    factors = []
    for chance, one in zip(chances, maps, strict=True):
        factors.append(math.sqrt(chance) * one.matrix[None])
        if one.tilts is not None:
            factors.append(math.sqrt(chance) * one.tilts.matrix)
    stacked = np.concatenate(factors)
    if not np.all(np.isfinite(stacked)):
        return math.inf
    size = stacked.shape[-1]
    if size * (size + 1) // 2 > _DENSE:
        return _by_iteration(stacked)
    return max(_by_eigenvalues(stacked[:, group]) for group in range(stacked.shape[1]))


def _by_eigenvalues(factors: Floats) -> float:
    """Return the spectral radius of ``C -> sum_f F_f C F_f'`` on symmetric matrices; factors ``(count, n, n)``."""
    rows, columns = np.triu_indices(factors.shape[-1])
    images = np.einsum("fai,fbj->abij", factors, factors, optimize=True)
    onto = images[rows, columns]
    both = onto[:, rows, columns] + np.where(rows == columns, 0.0, onto[:, columns, rows])
    return _largest(np.linalg.eigvals(both))


def _by_iteration(factors: Floats) -> float:
    """Return the same for large matrices ``(count, groups, n, n)`` by iterating from the identity.

    The map keeps matrices positive semidefinite, and the identity is inside that cone, so the growth of its images
    tends to the spectral radius.
    """
    size = factors.shape[-1]
    image = np.broadcast_to(np.eye(size), factors.shape[1:]) / size
    growth = np.zeros(len(image))
    for _ in range(_ITERATIONS):
        image = sum(np.matmul(np.matmul(one, image), one.swapaxes(-1, -2)) for one in factors)
        growth = np.trace(image, axis1=-2, axis2=-1)
        image = image / np.where(growth > 0, growth, 1.0)[:, None, None]
    return _largest(growth)
