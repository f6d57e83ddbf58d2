"""Both sides of a bound along a run: which instance is drawn, and what is computed on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.bounds.claim import Claim, Experiments, Form, Rejected, Sweeps
from fltheory.bounds.quantities import names_in
from fltheory.bounds.space import Integer, Params, plain, read
from fltheory.errors import Diverged, InvalidParameter, NotApplicable
from fltheory.figures.comparison import AXES
from fltheory.simulation.engines import simulate
from fltheory.simulation.recording import Record
from fltheory.simulation.trajectories import Trajectories, simultaneous_half_width
from fltheory.validation.evaluate import sides
from fltheory.validation.search import search
from fltheory.validation.trials import Trials, as_floats, environment

SHORTEST = 3
"""Fewest points that make a curve."""

LONGER = ("T", "more")
"""Parameters that make a run longer: all rounds, or those after participation has changed."""

LEVEL = 0.95
"""Coverage of the bands."""


def curves_of(
    claim: Claim, verdicts: Mapping[str, Any] | None, *, budget: int, replicates: int, seed: int
) -> list[dict[str, Any]]:
    """Return the curves of the published and of the corrected form, at most one each."""
    found: list[dict[str, Any]] = []
    shared: Params | None = None
    for form, point in _published(claim, verdicts, budget, seed):
        curve = at(claim, form, point, seed=seed, replicates=replicates)
        if curve is not None:
            found.append(curve)
            shared = point
            break
    known = _by_variant(verdicts)
    ours = [form for form in claim.forms if form.variant.startswith("corrected") and _drawable(claim, form)]
    for form in ours:
        curve = at(claim, form, shared, seed=seed, replicates=replicates)
        if curve is None:
            own = _worst(claim, form, known.get(form.variant), budget, seed)[1]
            curve = at(claim, form, own, seed=seed, replicates=replicates)
        if curve is not None:
            return [*found, curve]
    return found


def _by_variant(verdicts: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if verdicts is None else {form["variant"]: form for form in verdicts["forms"]}


def _published(
    claim: Claim, verdicts: Mapping[str, Any] | None, budget: int, seed: int
) -> Iterator[tuple[Form, Params | None]]:
    """Yield published forms with an instance each: first those that fail on it, by a factor, then the others."""
    forms = [form for form in claim.forms if form.variant.startswith("published") and _drawable(claim, form)]
    known = _by_variant(verdicts)
    rest = []
    for form in forms:
        verdict = known.get(form.variant)
        if verdict is not None and verdict["counterexample"] and verdict["margin"] and verdict["margin"] > 0:
            yield form, _recorded(claim, form, verdict["counterexample"])
        else:
            rest.append(form)
    searched = [(form, *_worst(claim, form, known.get(form.variant), budget, seed)) for form in rest]
    yield from ((form, point) for form, _, point in sorted(searched, key=lambda found: found[1]))


def _drawable(claim: Claim, form: Form) -> bool:
    return not isinstance(claim.check_of(form), Sweeps)


def _recorded(claim: Claim, form: Form, kept: Mapping[str, Any]) -> Params:
    """Return an instance of a ledger, which anybody may have edited."""
    source = claim.check_of(form)
    assert not isinstance(source, Sweeps)
    try:
        return as_floats(read(source.space, kept["parameters"]))
    except InvalidParameter as error:
        raise InvalidParameter(f"the ledger's instance for {claim.id} ({form.variant}): {error}") from None


def _worst(
    claim: Claim, form: Form, verdict: Mapping[str, Any] | None, budget: int, seed: int
) -> tuple[float, Params | None]:
    """Return the smallest slack that the check, or else a short search, has found, and its instance."""
    if verdict is not None and "parameters" in verdict["worst"]:
        return float("inf") if verdict["margin"] is None else verdict["margin"], _recorded(
            claim, form, verdict["worst"]
        )
    source = claim.check_of(form)
    assert not isinstance(source, Sweeps)
    trials = Trials(claim, form, source, seed)
    search(trials, budget=budget, seed=seed)
    if trials.best is None:
        return float("inf"), None
    margin = trials.best[0].margin
    return float("inf") if margin is None else margin, trials.best[1]


def at(claim: Claim, form: Form, point: Params | None, *, seed: int, replicates: int) -> dict[str, Any] | None:
    """Return both sides of a form along the rounds at a point, or nothing if it is no instance or no curve."""
    source = claim.check_of(form)
    if point is None or isinstance(source, Sweeps):
        return None
    if set(point) != {name for name, _ in source.space.items()} or not source.space.contains(point):
        return None
    points: list[Params] = [point]
    for name in LONGER:
        horizon = source.space.parameters.get(name)
        if isinstance(horizon, Integer):
            # The longest run first: if its sides are curves, it is all there is to draw.
            points = [{**point, name: value} for value in range(horizon.high, horizon.low - 1, -1)]
            break
    rounds: list[float] = []
    lefts, rights = [], []
    for place in points:
        try:
            env = environment(source, place, seed=seed)
        except (Rejected, Diverged, NotApplicable):
            return None
        if not Trials(claim, form, source, seed).admitted(env):
            return None
        left, right = sides(form, env)
        if left.ndim > 1:
            return None
        if left.ndim:
            rounds += range(1, left.size + 1)
        else:
            length = env if "T" in names_in(form.relations[0]) else place
            if "T" not in length:  # one number, of a run whose length is no parameter of the space
                return None
            rounds.append(float(length["T"]))
        lefts.append(np.atleast_1d(left))
        rights.append(np.atleast_1d(right))
        if left.ndim:
            break
    order = np.argsort(rounds)
    rounds = [rounds[position] for position in order]
    left, right = np.concatenate(lefts)[order], np.concatenate(rights)[order]
    if left.size < SHORTEST or not np.all(np.isfinite(left)):
        return None
    return {
        "variant": form.variant,
        "method": source.method.value,
        "instance": plain(points[0]),
        "rounds": rounds,
        "left": left.tolist(),
        "right": [float(value) if np.isfinite(value) else None for value in right],
        "band": _band(source, points[0], left, seed, replicates) if isinstance(source, Experiments) else None,
    }


def _band(source: Experiments, point: Params, left: Floats, seed: int, replicates: int) -> dict[str, Any] | None:
    """Return a Monte Carlo band of the left-hand side, where that is a curve of the exact engine, or a mean of some."""
    if source.engine != "exact":
        return None
    made = source.experiment(point)
    runs = made if isinstance(made, tuple) else (made,)
    record = Record(consensus=False)
    exact = [simulate(run, engine="exact", record=record, sampled="error") for run in runs]
    name = _name(exact, left)
    if name is None:
        return None
    try:
        sampled = [
            simulate(run, engine="monte_carlo", seed=seed + number, replicates=replicates, record=record, threads=1)
            for number, run in enumerate(runs)
        ]
    except (Diverged, NotApplicable):
        return None
    values = np.mean([run.curve(name) for run in sampled], axis=0)[:, 1:]
    mean, half = values.mean(axis=0), simultaneous_half_width(values, LEVEL)
    return {"curve": name, "replicates": replicates, "low": (mean - half).tolist(), "high": (mean + half).tolist()}


def _name(exact: Sequence[Trajectories], left: Floats) -> str | None:
    """Return the curve that is the left-hand side, found by its numbers."""
    if any(run.rounds != left.size for run in exact):
        return None
    for name in AXES:
        if all(name in run.curves() for run in exact):
            curve = np.mean([run.curve(name)[0, 1:] for run in exact], axis=0)
            if np.allclose(curve, left, rtol=1e-9, atol=0):
                return name
    return None
