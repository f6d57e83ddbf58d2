"""Looking for the point of a space at which a form is closest to failing.

Four passes share the budget: a few points are extreme, with hundreds of local steps or condition numbers of a million;
Hypothesis draws simple points and steers by the score (``target``); random points mix the interior of the ranges with
their ends; then the best points are improved by a direct search of SciPy with the discrete parameters fixed. A
violation ends the search. Everything follows from the seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fltheory._internal.seeding import Purpose, generator
from fltheory.bounds.space import Choice, Integer, Integers, Params, Real, Space
from fltheory.validation.trials import Trials, as_floats

STARTS = 6
"""Points that are improved."""

SIMPLEX = 12
"""Most numbers that are improved by moving a simplex; more are improved along one direction after the other."""

TIES = 0.2
"""Share of random points at which all entries of every array agree."""

RARITY = 60
"""One evaluation in so many is at an extreme point, which may be slow."""

_TIGHT = 1e-6
"""Relative difference of sides that count as equal when starts are chosen."""

_ENOUGH = 50
"""Evaluations from which on Hypothesis, which takes as long to begin as dozens of them, is asked."""

_NOTHING = -1e4
"""Score of a point that is no instance."""


def search(
    trials: Trials, *, budget: int, seed: int, starts: Sequence[Params] = (), needed: Sequence[Params] = ()
) -> None:
    """Spend ``budget`` evaluations, fewer if a violation turns up; what was found stays in ``trials``.

    ``starts`` are points to begin with: those at which the form, or another one of the claim, is known to fail. Then
    come those that are ``needed``: the form is known to fail there without one of its terms.
    """
    space = trials.source.space
    pool: list[tuple[float, dict[str, Any]]] = []

    def score(point: dict[str, Any]) -> float:
        evaluation = trials.attempt(point)
        found = _NOTHING if evaluation is None else evaluation.score
        pool.append((found, point))
        return found

    for point in starts:
        if not trials.violated:
            reading = trials.attempt_given(point)
            pool.append((_NOTHING if reading is None else reading.score, as_floats(point)))
    for point in needed:
        if not trials.violated and space.draws(point):
            score(as_floats(point))
        elif not trials.violated:
            trials.attempt(as_floats(point))  # too slow to be improved
    if budget >= _ENOUGH:
        for point in extreme_points(space, generator(seed, Purpose.SEARCH, 2), -(-budget // RARITY)):
            if not trials.violated:
                trials.attempt(point)
        _by_hypothesis(score, trials, space, min(budget // 16, 30), seed)
    for point in sample(space, budget, seed):
        if trials.violated or trials.calls >= budget:
            return
        score(point)
    _improve(score, trials, space, pool, budget)


def sample(space: Space, budget: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the random points of a search: a third of its budget, or all of it if there is nothing to improve."""
    return random_points(space, generator(seed, Purpose.SEARCH), -(-budget // 3) if space.reals() else budget)


def improve(trials: Trials, budget: int) -> None:
    """Improve the points that have been evaluated, the closest to failing first, by as many evaluations."""
    space = trials.source.space

    def score(point: dict[str, Any]) -> float:
        evaluation = trials.attempt(point)
        return _NOTHING if evaluation is None else evaluation.score

    pool = [(at, dict(point)) for at, point in trials.seen if space.draws(point)]
    _improve(score, trials, space, pool, trials.calls + budget)


def _by_hypothesis(score: Any, trials: Trials, space: Space, count: int, seed: int) -> None:
    from hypothesis import HealthCheck, Phase, given, settings, target
    from hypothesis import seed as seeded

    from fltheory.strategies import points

    last = trials.calls + count

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(points(space))
    def explore(point: dict[str, Any]) -> None:
        if not trials.violated and trials.calls < last:
            found = score(point)
            if found > _NOTHING:
                target(found)

    explore()


def random_points(space: Space, rng: np.random.Generator, count: int) -> Iterator[dict[str, Any]]:
    """Yield points that mix the interior and the ends of their ranges; some have arrays whose entries agree."""
    for _ in range(count):
        discrete = random_discrete(space, rng)
        u = rng.random(space.length(discrete))
        ends = rng.random(u.shape) < rng.choice([0.0, 0.3, 0.7])
        u[ends] = rng.choice([0.0, 0.5, 1.0], size=int(ends.sum()))
        if rng.random() < TIES:
            start = 0
            for name in space.reals():
                stop = start + math.prod(space.shape(name, discrete))
                u[start:stop] = u[start : start + 1]
                start = stop
        yield space.at(discrete, u)


def extreme_points(space: Space, rng: np.random.Generator, count: int) -> Iterator[dict[str, Any]]:
    """Yield points of which about every other parameter that may be far is so; none if no parameter may.

    Half of the points have whole numbers close to the farthest ones, others spread them evenly in the logarithm.
    """
    far = [name for name, parameter in space.items() if isinstance(parameter, Integer | Real) and parameter.far]
    if not far:
        return
    for _ in range(count):
        chosen = {name for name in far if rng.random() < 0.5} or {far[int(rng.integers(len(far)))]}
        lowest = float(rng.choice([0.0, 0.9]))
        point: dict[str, Any] = {}
        for name in chosen:
            parameter = space.parameters[name]
            if isinstance(parameter, Integer) and parameter.far is not None:
                first = max(parameter.low, 1)
                position = rng.uniform(lowest, 1)
                point[name] = max(parameter.low, round(first * (parameter.far / first) ** position))
        usual = random_discrete(space, rng, fixed=point)
        point = space.at(usual, rng.random(space.length(usual)))
        for name in chosen:
            parameter = space.parameters[name]
            if isinstance(parameter, Real):
                low, high = parameter.extremes
                values = low * (high / low) ** rng.random(space.shape(name, usual))
                point[name] = np.clip(values, low, high) if parameter.shape else float(np.clip(values, low, high))
        yield point


def random_discrete(space: Space, rng: np.random.Generator, *, fixed: Params | None = None) -> dict[str, Any]:
    """Return discrete parameters; small integers are more likely. Those that are ``fixed`` are not drawn."""
    point: dict[str, Any] = dict(fixed or {})
    for name, parameter in space.items():
        if name in point:
            continue
        if isinstance(parameter, Integer):
            size = parameter.high - parameter.low + 1
            chance = 1.0 / np.arange(1, size + 1)
            point[name] = int(parameter.low + rng.choice(size, p=chance / chance.sum()))
        elif isinstance(parameter, Choice):
            point[name] = parameter.options[int(rng.integers(len(parameter.options)))]
        elif isinstance(parameter, Integers):
            high = point[parameter.high] if isinstance(parameter.high, str) else parameter.high
            point[name] = rng.integers(parameter.low, int(high) + 1, size=space.shape(name, point))
    return point


def _improve(score: Any, trials: Trials, space: Space, pool: list[tuple[float, dict[str, Any]]], budget: int) -> None:
    ranked = sorted((entry for entry in pool if entry[0] > _NOTHING), key=lambda entry: -entry[0])
    # Where both sides agree, often because the instance is trivial, nothing near may be worse: begin elsewhere too.
    tight = [entry for entry in ranked if entry[0] > -_TIGHT]
    slack = [entry for entry in ranked if entry[0] <= -_TIGHT]
    starts = _distinct(tight, space)[: STARTS // 2]
    starts += _distinct(slack, space)[: STARTS - len(starts)]
    for position, start in enumerate(starts):
        left = budget - trials.calls
        if trials.violated or left <= 0:
            return
        polish(score, trials, space, start, max(left // (len(starts) - position), 1))


def _distinct(ranked: list[tuple[float, dict[str, Any]]], space: Space) -> list[dict[str, Any]]:
    """Return the best points, those with new discrete parameters first."""
    seen: set[str] = set()
    fresh: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for _, point in ranked[: 20 * STARTS]:
        key = repr(space.discrete(point))
        (rest if key in seen else fresh).append(point)
        seen.add(key)
    merged = [point for pair in zip(fresh, rest, strict=False) for point in pair]
    return merged + fresh[len(rest) :] + rest[len(fresh) :]


class _Enough(Exception):
    """The direct search has used up its share, or has found what was looked for."""


def polish(score: Any, trials: Trials, space: Space, start: Params, budget: int) -> None:
    """Improve the continuous parameters of one point."""
    from scipy.optimize import minimize

    discrete = space.discrete(start)
    u0 = np.clip(space.position(start), 0.0, 1.0)
    if u0.size == 0:
        return
    last = trials.calls + budget

    def cost(u: Any) -> float:
        if trials.violated or trials.calls >= last:
            raise _Enough
        return -float(score(space.at(discrete, np.clip(u, 0.0, 1.0))))

    box = [(0.0, 1.0)] * u0.size
    try:
        if u0.size <= SIMPLEX:
            simplex = np.vstack([u0, u0 + np.diag(np.where(u0 < 0.5, 0.15, -0.15))])
            options: Any = {"initial_simplex": simplex, "adaptive": True, "xatol": 1e-7, "fatol": 1e-12}
            minimize(cost, u0, method="Nelder-Mead", bounds=box, options=options)
        else:
            minimize(cost, u0, method="Powell", bounds=box)
    except _Enough:
        return
