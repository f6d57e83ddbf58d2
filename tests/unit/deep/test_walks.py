"""The quick loop takes the steps of the obvious one, with every term of (G) and for every kind of layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.deep.flat import FlatNetwork
from fltheory.deep.walks import Walk, reference_walk, walk
from fltheory.problems.oracle import LocalSteps


@pytest.mark.parametrize("kind", ["softmax", "mlp", "cnn", "lstm"])
@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    pull=st.sampled_from(["none", "number", "diagonal", "matrix"]),
    terms=st.sets(st.sampled_from(["correction", "anchor", "l1", "l1_anchor", "recentre", "l2"])),
    same_rate=st.booleans(),
)
def test_every_term_of_the_generic_step(
    make_network_problem: Any, kind: str, seed: int, pull: str, terms: set[str], same_rate: bool
) -> None:
    problem = make_network_problem(kind, 1, l2=0.2 if "l2" in terms else 0.0)
    rng = np.random.default_rng(seed)
    dim = problem.dim
    task = Walk(
        start=problem.start + 0.1 * rng.standard_normal(dim),
        batches=rng.integers(0, 17, (3, 4)),
        rates=(0.3,) if same_rate else (0.3, 0.2, 0.05),
        how=LocalSteps(
            correction=rng.standard_normal(dim) if "correction" in terms else None,
            pull={
                "none": 0.0,
                "number": 0.7,
                "diagonal": rng.random(dim),
                "matrix": rng.standard_normal((dim, dim)) / dim,
            }[pull],
            anchor=rng.standard_normal(dim) if "anchor" in terms else None,
            l1=0.2 if "l1" in terms else 0.0,
            l1_anchor=rng.standard_normal(dim) if "l1_anchor" in terms else None,
            recentre="recentre" in terms,
        ),
    )
    data = problem._bench(reference=True).train
    quick = walk(FlatNetwork(problem.module(), "double"), data, task)
    obvious = reference_walk(FlatNetwork(problem.module(), "double"), data, task)
    np.testing.assert_allclose(quick, obvious, rtol=1e-11, atol=1e-12)
    if "recentre" not in terms:  # the first of its steps stays where it is
        assert np.abs(quick - task.start).max() > 1e-6


def test_one_step_by_hand(make_network_problem: Any) -> None:
    """Softmax at zero: each of 3 classes has probability 1/3, so the gradient of a sample is (1/3 - e_y) x^T."""
    problem = make_network_problem("softmax")
    train = problem.train
    inputs, labels = np.asarray(train.inputs), train.labels
    residual = 1 / 3 - np.eye(3)[labels[[2, 4]]]
    weight = residual.T @ inputs[[2, 4]] / 2
    expected = -0.5 * np.concatenate([weight.ravel(), residual.mean(axis=0)])
    task = Walk(np.zeros(15), np.array([[2, 4]]), (0.5,), LocalSteps())
    network = FlatNetwork(problem.module(), "double")
    np.testing.assert_allclose(walk(network, problem._bench(reference=True).train, task), expected, atol=1e-15)
