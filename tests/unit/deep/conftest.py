"""Small networks on small data."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fltheory.deep import DeepProblem, Examples
from fltheory.deep.networks import CNN, LSTM, MLP, Softmax

Maker = Callable[..., DeepProblem]


@pytest.fixture(scope="session")
def make_network_problem() -> Maker:
    """Build a random problem for a kind of network, with clients of different sizes."""

    def make(kind: str = "mlp", seed: int = 0, *, counts: tuple[int, ...] = (5, 9, 3), **more: Any) -> DeepProblem:
        rng = np.random.default_rng(seed)
        total = sum(counts)
        network, shape = {
            "softmax": (Softmax(), (4,)),
            "mlp": (MLP(hidden=(5, 4)), (4,)),
            "cnn": (CNN(channels=(3,), kernel=3, dense=(5,)), (6, 6)),
            "lstm": (LSTM(embedding=2, hidden=3, layers=2), (5,)),
        }[kind]
        if kind == "lstm":
            inputs: Any = rng.integers(0, 3, (total + 8, *shape))
        else:
            inputs = rng.standard_normal((total + 8, *shape))
        labels = rng.integers(0, 3, total + 8)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return DeepProblem(
            network=network,
            train=Examples(inputs=inputs[:total], labels=labels[:total], offsets=offsets),
            test=Examples(inputs=inputs[total:], labels=labels[total:], offsets=np.array([0, 8])),
            num_classes=3,
            precision=more.pop("precision", "double"),
            seed=seed,
            **more,
        )

    return make
