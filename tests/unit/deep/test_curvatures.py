"""Hessians and Fisher diagonals against finite differences, single samples, and logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from fltheory.deep import curvatures, flat
from fltheory.deep.flat import FlatNetwork
from fltheory.errors import NotApplicable


def at_random(problem: Any) -> tuple[FlatNetwork, Any, Any]:
    network = FlatNetwork(problem.module(), "double")
    network.w.copy_(torch.randn(network.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(1)))
    data = problem._bench(reference=True).train
    return network, data.inputs, data.labels


@pytest.mark.parametrize("kind", ["softmax", "mlp", "cnn", "lstm"])
def test_fisher_diagonals_are_sums_over_single_samples(
    monkeypatch: pytest.MonkeyPatch, make_network_problem: Any, kind: str
) -> None:
    network, inputs, labels = at_random(make_network_problem(kind))
    chances = torch.softmax(network.scores(inputs), dim=1)
    full, observed = np.zeros(network.dim), np.zeros(network.dim)
    for j in range(len(labels)):
        for c in range(3):
            squares = network.gradient(inputs[j : j + 1], torch.tensor([c]), 0.0).numpy() ** 2
            full += float(chances[j, c]) * squares / len(labels)
            observed += squares / len(labels) if c == labels[j] else 0.0
    for chunk in (512, 4):
        monkeypatch.setattr(curvatures, "CHUNK", chunk)
        np.testing.assert_allclose(curvatures.fisher(network, inputs), full, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(
            curvatures.empirical_fisher(network, inputs, labels), observed, rtol=1e-10, atol=1e-14
        )


def test_a_layer_that_is_used_twice_takes_single_samples() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.layer(torch.tanh(self.layer(x)))

    torch.manual_seed(0)
    network = FlatNetwork(Twice(), "double")
    inputs, labels = torch.randn(5, 2, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 1])
    expected = sum(network.gradient(inputs[j : j + 1], labels[j : j + 1], 0.0).numpy() ** 2 for j in range(5)) / 5
    np.testing.assert_allclose(curvatures.empirical_fisher(network, inputs, labels), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["softmax", "mlp", "cnn"])
def test_hessians_differentiate_the_gradient(make_network_problem: Any, kind: str) -> None:
    network, inputs, labels = at_random(make_network_problem(kind))
    size = 1e-6
    matrix = curvatures.hessian(network, inputs, labels, 0.3)
    for j in range(0, network.dim, 3):
        sides = []
        for sign in (1, -1):
            network.w[j] += sign * size
            sides.append(network.gradient(inputs, labels, 0.3).numpy().copy())
            network.w[j] -= sign * size
        np.testing.assert_allclose(matrix[j], (sides[0] - sides[1]) / (2 * size), rtol=1e-5, atol=1e-7)


def test_large_hessians_are_refused(make_network_problem: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curvatures, "LARGEST", 10)
    oracle = make_network_problem().reference_oracle(seed=0, replicates=range(1))
    w = np.zeros((1, 1, oracle.dim))
    for kind in ("exact", "diagonal"):
        with pytest.raises(NotApplicable, match=r"at most 10 parameters, got .*choose the curvature 'fisher'"):
            oracle.curvature(w, kind)
    assert oracle.curvature(w, "empirical-fisher").shape == (1, 3, oracle.dim)


def test_chunks_are_those_of_the_network() -> None:
    assert curvatures.CHUNK == flat.CHUNK


@pytest.mark.parametrize("kind", ["softmax", "mlp", "cnn", "lstm"])
def test_products_are_those_of_the_whole_hessian(
    make_network_problem: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, inputs, labels = at_random(make_network_problem(kind))
    matrix = curvatures.hessian(network, inputs, labels, 0.3)
    vector = torch.randn(network.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for chunk in (512, 2):
        monkeypatch.setattr(curvatures, "CHUNK", chunk)
        product = curvatures.hessian_product(network, inputs, labels, vector, 0.3).numpy()
        np.testing.assert_allclose(product, matrix @ vector.numpy(), rtol=1e-9, atol=1e-12)
