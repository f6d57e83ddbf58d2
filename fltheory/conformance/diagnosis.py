"""What an implementation is if it is not the reference: which variants it equals, and when it agrees."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from fltheory.algorithms.base import Algorithm
from fltheory.conformance.compare import Case
from fltheory.conformance.instances import Feature
from fltheory.conformance.mistakes import variants as known_variants
from fltheory.conformance.mistakes.shared import is_shared
from fltheory.conformance.result import InstanceResult
from fltheory.conformance.user_code import Run, call, is_one_array
from fltheory.conformance.variants import Correctness, Variant

Combination = tuple[Variant, ...]


def combinations(algorithm: Algorithm) -> Iterator[list[Combination]]:
    """Yield combinations of variants, fewest first; within a number, without mistakes first.

    A combination has at most one reading, one mistake of the algorithm's own and one shared mistake; or two readings;
    or two mistakes of the algorithm's own and a reading. No two of them may replace the same part of the algorithm.
    """
    known = known_variants(algorithm)
    readings = [v for v in known if v.kind is Correctness.READING]
    own = [v for v in known if v.kind is Correctness.MISTAKE and not is_shared(v)]
    shared = [v for v in known if v.kind is Correctness.MISTAKE and is_shared(v)]
    groups = [[None, *own], [None, *shared], [None, *readings]]
    listed = [tuple(v for v in choice if v is not None) for choice in itertools.product(*groups)]
    # Two readings at a time: an option and a choice of weights are made independently.
    listed += list(itertools.combinations(readings, 2))
    pairs = [pair for pair in itertools.combinations(own, 2) if compatible(pair)]
    listed += [(*pair, *also) for pair in pairs for also in [(), *((each,) for each in readings)]]
    possible = [choice for choice in listed if choice and compatible(choice)]
    mistakes = [sum(v.kind is Correctness.MISTAKE for v in choice) for choice in possible]
    for size, wrong in sorted({(len(choice), count) for choice, count in zip(possible, mistakes, strict=True)}):
        yield [c for c, count in zip(possible, mistakes, strict=True) if (len(c), count) == (size, wrong)]


def compatible(choice: Combination) -> bool:
    """Return whether variants change different things; terms of rounds can be changed one after the other."""
    touched = [part for variant in choice for part in variant.touches() - {"work"}]
    weights = [v for v in choice if v.work is not None and v.kind is Correctness.READING]
    whole = [v for v in choice if v.round is not None]
    parts = [v for v in choice if v.assemble is not None]
    return len(touched) == len(set(touched)) and len(weights) <= 1 and not (whole and parts)


def diagnose(algorithm: Algorithm, cases: Sequence[Case], tolerance: float) -> tuple[Combination, ...]:
    """Return the combinations of variants that an implementation equals on all instances; those with fewest changes."""
    # Where the reference fails soonest most variants are rejected at once; the richest instance rejects nearly all.
    failing = [(found.round, place) for place, case in enumerate(cases) if (found := case.difference(tolerance))]
    first = cases[min(failing)[1]]
    ordered = [first, *reversed([case for case in cases if case is not first])]
    for group in combinations(algorithm):
        equal = [c for c in group if all(case.equals(algorithm, c, tolerance) for case in ordered)]
        if equal:
            return tuple(equal)
    return ()


def condition(results: Sequence[InstanceResult]) -> str:
    """Say under which conditions an implementation agrees with the reference; empty if it always does."""
    failed = [{Feature(name) for name in result.features} for result in results if not result.agrees]
    passed = [{Feature(name) for name in result.features} for result in results if result.agrees]
    if not failed:
        return ""
    if not passed:
        return "differs already with one client, one local step and one round"
    # Instances grow, so what the smallest failing ones have beyond every smaller passing one is to blame.
    blamed = []
    for features in failed:
        largest = max((p for p in passed if p < features), key=len, default=set())
        extra = features - largest
        if len(extra) == 1 and (only := next(iter(extra))) not in blamed:
            blamed.append(only)
    if not blamed:
        return "agrees with each of the features alone; differs where several of them come together"
    agrees = " and ".join(feature.without for feature in blamed)
    differs = " or ".join(feature.within for feature in blamed)
    return f"agrees {agrees}; differs as soon as {differs}"


def hints(
    run: Run, algorithm: Algorithm, cases: Sequence[Case], results: Sequence[InstanceResult], tolerance: float
) -> tuple[str, ...]:
    """Return what else is noticed about an implementation that equals nothing known."""
    found = []
    case, result = next((c, r) for c, r in zip(cases, results, strict=True) if not r.agrees)
    if any(is_one_array(c.returned.models[1:]) for c in cases):
        found.append("all rounds have the same model: append a copy, models.append(w.copy())")
    again = call(run, case.instance.federation, case.instance.name).models
    if not np.array_equal(again, case.returned.models):
        found.append(
            "two runs on the same instance differ: something random is used, or kept from one call to the next"
        )
    if result.difference is not None and result.difference.what == "server model":
        fields = list(case.reference.states)
        if result.difference.round > 1 and fields:
            found.append(
                f"earlier rounds agree, so look at what is carried from round to round ({', '.join(fields)}); return "
                "it by name to have it compared"
            )
    if (near := nearest(algorithm, cases, results, tolerance)) is not None:
        found.append(near)
    return tuple(found)


def nearest(
    algorithm: Algorithm, cases: Sequence[Case], results: Sequence[InstanceResult], tolerance: float
) -> str | None:
    """Return the single variant that agrees on most instances, if that is more than the reference does."""
    best, score = None, sum(result.agrees for result in results)
    for variant in known_variants(algorithm):
        agreeing = sum(case.equals(algorithm, (variant,), tolerance) for case in cases)
        if agreeing > score:
            best, score = variant, agreeing
    if best is None:
        return None
    return f"closest: {algorithm.title} with {best.described()}, which agrees on {score} of {len(cases)} instances"


def other_states(cases: Sequence[Case], tolerance: float) -> tuple[str, ...]:
    """Return what is to be said about returned states that differ although all server models agree."""
    found = next((difference for case in cases if (difference := case.difference(tolerance)) is not None), None)
    return () if found is None else (f"the server models agree although {found.what} does not: {found}",)
