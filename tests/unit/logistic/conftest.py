"""Small instances for the tests of logistic problems."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fltheory.logistic import LogisticProblem, Samples
from fltheory.problems.oracle import Round

Maker = Callable[..., LogisticProblem]


@pytest.fixture(scope="session")
def make_problem() -> Maker:
    """Build a random problem with clients of different sizes."""

    def make(
        seed: int = 0,
        *,
        counts: tuple[int, ...] = (5, 9, 3),
        num_features: int = 3,
        num_classes: int = 3,
        l2: float = 0.1,
        **more: Any,
    ) -> LogisticProblem:
        rng = np.random.default_rng(seed)
        features = [rng.standard_normal((n, num_features)) + rng.standard_normal(num_features) for n in counts]
        labels = [rng.integers(0, num_classes, n) for n in counts]
        train = Samples.from_clients(features, labels)
        return LogisticProblem(train=train, num_classes=num_classes, l2=l2, **more)

    return make


@pytest.fixture(scope="session")
def make_round() -> Callable[..., Round]:
    """Build the terms of a round in which client ``i`` takes ``steps[..., i]`` steps."""

    def make(problem: LogisticProblem, steps: Any, rate: float = 0.3) -> Round:
        counts = np.atleast_2d(np.asarray(steps, dtype=np.int64))
        return Round(
            index=0,
            rates=(rate,),
            local_steps=int(counts.max()),
            p=problem.weights,
            steps=counts,
            weights=np.broadcast_to(problem.weights, counts.shape),
            boost=np.ones(problem.num_clients),
        )

    return make
