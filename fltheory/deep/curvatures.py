r"""Second-order information on a network at ``w``: its Hessian, and diagonals of Fisher information.

With the gradients :math:`g_{j,c} = -\nabla\log\pi_c(x_j)` of single samples, the Fisher diagonal is
:math:`\frac1n\sum_j\sum_c \pi_c(x_j)\,g_{j,c}^2` and the empirical one :math:`\frac1n\sum_j g_{j,y_j}^2`, entry by
entry. The gradient of a fully connected layer on one sample is an outer product :math:`\delta_j a_j^\top`, so the
weighted mean of its squares is the matrix product :math:`\frac1n(\omega\,\delta^2)^\top a^2`: all samples at once.
Networks with other layers take one sample after the other.

The regulariser is part of the Hessian and no part of the likelihood.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from fltheory._internal.arguments import Floats
from fltheory.deep.flat import CHUNK, FlatNetwork
from fltheory.errors import NotApplicable

LARGEST = 2000
"""Most parameters of a network whose Hessian is computed: its square is stored for every client."""


def require_small(dim: int) -> None:
    """Raise if a Hessian of this size is out of the question."""
    if dim > LARGEST:
        raise NotApplicable(
            f"Hessians are computed for networks with at most {LARGEST} parameters, got {dim}; "
            "choose the curvature 'fisher' or 'empirical-fisher'"
        )


def hessian(network: FlatNetwork, inputs: Any, labels: Any, l2: float) -> Floats:
    """Return the Hessian of the mean loss with its regulariser, shape ``(dim, dim)``."""
    loss = functional.cross_entropy(network.module(inputs), labels)
    slopes = torch.autograd.grad(loss, network.parameters, create_graph=True)
    flat = torch.cat([slope.flatten() for slope in slopes])
    rows = [torch.cat([part.flatten() for part in _second(entry, network.parameters)]) for entry in flat]
    matrix: Floats = torch.stack(rows).to(torch.float64).numpy()
    matrix[range(network.dim), range(network.dim)] += l2
    return matrix


def hessian_product(network: FlatNetwork, inputs: Any, labels: Any, vector: Any, l2: float) -> Any:
    """Return the Hessian of the mean loss with its regulariser, times a vector, without the matrix itself.

    The product is the gradient of the inner product of gradient and vector, for networks of any size.
    """
    total = l2 * vector
    parts = vector.split([parameter.numel() for parameter in network.parameters])
    for given, classes in zip(inputs.split(CHUNK), labels.split(CHUNK), strict=True):
        loss = functional.cross_entropy(network.module(given), classes) * (len(classes) / len(labels))
        slopes = torch.autograd.grad(loss, network.parameters, create_graph=True, materialize_grads=True)
        along = torch.stack([(slope.flatten() * part).sum() for slope, part in zip(slopes, parts, strict=True)]).sum()
        second = torch.autograd.grad(along, network.parameters, materialize_grads=True)
        total = total + torch.cat([part.flatten() for part in second])
    return total


def fisher(network: FlatNetwork, inputs: Any) -> Floats:
    """Return the diagonal of the Fisher information of the labels under the model, shape ``(dim,)``."""
    total = torch.zeros(network.dim, dtype=torch.float64)
    for part in inputs.split(CHUNK):
        chances = functional.softmax(network.scores(part), dim=1)
        for label in range(chances.shape[1]):
            labels = torch.full((len(part),), label)
            total += _squares(network, part, labels, chances[:, label])
    diagonal: Floats = (total / len(inputs)).numpy()
    return diagonal


def empirical_fisher(network: FlatNetwork, inputs: Any, labels: Any) -> Floats:
    """Return the mean squared gradient of single samples at their labels, shape ``(dim,)``."""
    total = torch.zeros(network.dim, dtype=torch.float64)
    for part, classes in zip(inputs.split(CHUNK), labels.split(CHUNK), strict=True):
        total += _squares(network, part, classes, torch.ones(len(part), dtype=network.w.dtype))
    diagonal: Floats = (total / len(inputs)).numpy()
    return diagonal


def _squares(network: FlatNetwork, inputs: Any, labels: Any, weights: Any) -> Any:
    """Return the weighted sum of squared gradients of single samples."""
    owners = [layer for layer in network.module.modules() if next(layer.parameters(recurse=False), None) is not None]
    if all(isinstance(layer, nn.Linear) for layer in owners):
        squares = _linear_squares(network, owners, inputs, labels, weights)
        if squares is not None:
            return squares
    total = torch.zeros_like(network.w)
    for place in range(len(labels)):
        own = slice(place, place + 1)
        total += weights[place] * network.gradient(inputs[own], labels[own], 0.0) ** 2
    return total


def _linear_squares(network: FlatNetwork, layers: list[Any], inputs: Any, labels: Any, weights: Any) -> Any:
    """Return the same for fully connected layers; ``None`` if one of them is not used once and on vectors."""
    seen: list[tuple[Any, Any, Any]] = []
    hooks = [layer.register_forward_hook(lambda one, given, out: seen.append((one, given[0], out))) for layer in layers]
    try:
        loss = functional.cross_entropy(network.module(inputs), labels, reduction="sum")
    finally:
        for hook in hooks:
            hook.remove()
    if [layer for layer, _, _ in seen] != layers or any(given.ndim != 2 for _, given, _ in seen):
        return None
    parts = []
    for (layer, given, _), delta in zip(seen, torch.autograd.grad(loss, [out for _, _, out in seen]), strict=True):
        squared = weights[:, None] * delta**2
        parts.append((squared.T @ given.detach() ** 2).flatten())
        if layer.bias is not None:
            parts.append(squared.sum(dim=0))
    return torch.cat(parts)


def _second(entry: Any, parameters: list[Any]) -> Any:
    return torch.autograd.grad(entry, parameters, retain_graph=True, materialize_grads=True)
