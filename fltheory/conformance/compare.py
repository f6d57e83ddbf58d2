"""Compare a user's curves with those of the reference, round by round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm
from fltheory.conformance.instances import Instance
from fltheory.conformance.reference import ModelPath, oracle_of, rounds, trace
from fltheory.conformance.result import Difference, InstanceResult
from fltheory.conformance.user_code import Returned, Run, call
from fltheory.conformance.variants import Variant
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.problems.problem import EngineOracle

SMALLEST = 1e-3
"""Curves smaller than this are compared as if they had this size: differences of numbers near zero mean nothing."""


class Case(NamedTuple):
    """One instance with what the user's code and the reference do on it."""

    instance: Instance
    returned: Returned
    reference: ModelPath
    oracle: EngineOracle

    @classmethod
    def of(cls, run: Run, algorithm: Algorithm, instance: Instance) -> Case:
        """Run both; the reference first, so that an algorithm that cannot run here says so."""
        try:
            oracle = oracle_of(instance.federation)
            reference = trace(algorithm, instance.federation, oracle=oracle)
        except NotApplicable as error:
            raise NotApplicable(f"{algorithm.title} cannot be examined: {error}") from None
        if not np.all(np.isfinite(reference.models)):
            raise NotApplicable(
                f"{algorithm.title} itself diverges on the instance '{instance.name}' with these parameters; "
                "choose others"
            )
        returned = call(run, instance.federation, instance.name)
        unknown = [name for name in returned.others if name != "local" and name not in reference.states]
        if unknown:
            raise InvalidParameter(
                f"the code returned {unknown[0]!r}, which is not part of the state of {algorithm.title}; it has "
                f"{', '.join(['models', 'local', *reference.states])}"
            )
        return cls(instance, returned, reference, oracle)

    def result(self, tolerance: float) -> InstanceResult:
        """Compare the server models; where they differ, find the first difference in anything that was returned."""
        names = tuple(sorted(feature.value for feature in self.instance.features))
        same = first_difference(self.returned.models[1:], self.reference.models[1:], tolerance) is None
        found = None if same else self.difference(tolerance)
        return InstanceResult(name=self.instance.name, features=names, difference=found)

    def difference(self, tolerance: float) -> Difference | None:
        """Return the first difference: by round, then local models, states and the server model in this order."""
        curves: list[tuple[str, Floats, Floats]] = []
        for name, got in self.returned.others.items():
            expected = self.reference.local if name == "local" else self.reference.states[name]
            if got.shape != expected.shape:
                raise InvalidParameter(
                    f"the code must return {name!r} of shape {expected.shape}, one row per round, got shape {got.shape}"
                )
            if name == "local":
                working = (self.instance.federation.steps > 0)[:, :, None]
                curves.insert(0, ("local models", np.where(working, got, 0.0), np.where(working, expected, 0.0)))
            else:
                curves.append((name, got, expected))
        curves.append(("server model", self.returned.models[1:], self.reference.models[1:]))
        firsts = [first_difference(got, expected, tolerance) for _, got, expected in curves]
        places = [(first, place) for place, first in enumerate(firsts) if first is not None]
        if not places:
            return None
        index, place = min(places)
        what, got, expected = curves[place]
        return Difference(
            instance=self.instance.name,
            round=index + 1,
            rounds=self.instance.federation.rounds,
            what=what,
            got=got[index].tolist(),
            expected=expected[index].tolist(),
            relative=float(
                np.abs(got[index] - expected[index]).max() / max(np.abs(expected[: index + 1]).max(), SMALLEST)
            ),
        )

    def equals(self, algorithm: Algorithm, variants: tuple[Variant, ...], tolerance: float) -> bool:
        """Return whether the user's models are those of the algorithm with variants."""
        size = 0.0
        steps = rounds(algorithm, self.instance.federation, variants, self.oracle)
        for got, (expected, _, _) in zip(self.returned.models[1:], steps, strict=True):
            size = max(size, float(np.abs(expected).max()), SMALLEST)
            if not np.abs(got - expected).max() <= tolerance * size:
                return False
        return True


def first_difference(got: Floats, expected: Floats, tolerance: float) -> int | None:
    """Return the first round in which two curves differ by more than rounding, relative to the size so far."""
    axes = tuple(range(1, expected.ndim))
    size = np.maximum.accumulate(np.abs(expected).max(axis=axes, initial=0.0))
    wrong = np.abs(got - expected).max(axis=axes, initial=0.0) > tolerance * np.maximum(size, SMALLEST)
    return int(np.argmax(wrong)) if wrong.any() else None
