"""A network on one vector computes what its module computes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from fltheory.deep import flat
from fltheory.deep.flat import FlatNetwork
from fltheory.errors import NotApplicable


def make() -> tuple[FlatNetwork, nn.Module]:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False))
    copy = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False)).double()
    copy.load_state_dict({name: value.double() for name, value in module.state_dict().items()})
    return FlatNetwork(module, "double"), copy


def test_the_vector_is_the_network() -> None:
    network, module = make()
    assert network.dim == 3 * 4 + 4 + 4 * 2
    inputs = torch.randn(5, 3, dtype=torch.float64)
    torch.testing.assert_close(network.scores(inputs), module(inputs).detach())
    network.w[0] += 1.0
    with torch.no_grad():
        next(module.parameters())[0, 0] += 1.0
    torch.testing.assert_close(network.scores(inputs), module(inputs).detach())
    assert not network.scores(inputs).requires_grad


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_gradients_are_those_of_the_mean_loss_with_regulariser(monkeypatch: pytest.MonkeyPatch, l2: float) -> None:
    network, module = make()
    inputs, labels = torch.randn(7, 3, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 1, 0, 0])
    loss = functional.cross_entropy(module(inputs), labels)
    loss = loss + 0.5 * l2 * sum((parameter**2).sum() for parameter in module.parameters())
    expected = torch.cat([slope.flatten() for slope in torch.autograd.grad(loss, list(module.parameters()))])
    torch.testing.assert_close(network.gradient(inputs, labels, l2), expected)
    monkeypatch.setattr(flat, "CHUNK", 3)
    torch.testing.assert_close(network.gradient(inputs, labels, l2), expected)


def test_losses_and_hits_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    network, module = make()
    inputs, labels = torch.randn(7, 3, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 1, 0, 0])
    rows = np.array([6, 0, 3])
    scores = module(inputs).detach()
    for chunk in (512, 2):
        monkeypatch.setattr(flat, "CHUNK", chunk)
        losses, hits = network.measure(inputs, labels, rows)
        np.testing.assert_allclose(losses, functional.cross_entropy(scores, labels, reduction="none")[rows])
        np.testing.assert_array_equal(hits, (scores.argmax(dim=1) == labels)[rows])


def test_running_means_are_refused() -> None:
    with pytest.raises(NotApplicable, match="batch normalisation, which belong to no client"):
        FlatNetwork(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)), "single")
