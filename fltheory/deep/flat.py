"""A network on one vector: its parameters are views of ``w``, their gradients views of ``g``.

So a local step is arithmetic on two vectors, whatever the network, and nothing is copied between its layers and the
vectors. One thread uses one of these.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from fltheory.checks import Floats, Ints
from fltheory.errors import NotApplicable

CHUNK = 512
"""Samples that are put through a network at once where all of a client's samples are asked for."""

DTYPES = {"single": torch.float32, "double": torch.float64}
"""Kinds of numbers by precision."""


class FlatNetwork:
    """A module whose parameters live in the vector ``w``, and their gradients in ``g``.

    Parameters
    ----------
    module
        The module; it belongs to this object from now on.
    precision
        ``single`` or ``double``.
    """

    def __init__(self, module: Any, precision: str) -> None:
        if next(module.buffers(), None) is not None:
            raise NotApplicable(
                "networks may have parameters only, but this one also has buffers, such as the running means of batch "
                "normalisation, which belong to no client; leave normalisation out, or use GroupNorm"
            )
        self.module = module.to(DTYPES[precision])
        self.parameters = list(self.module.parameters())
        self.w = torch.cat([parameter.detach().flatten() for parameter in self.parameters])
        self.g = torch.zeros_like(self.w)
        at = 0
        for parameter in self.parameters:
            own = slice(at, at := at + parameter.numel())
            parameter.data = self.w[own].view(parameter.shape)
            parameter.grad = self.g[own].view(parameter.shape)

    @property
    def dim(self) -> int:
        """Number of parameters."""
        return int(self.w.numel())

    def scores(self, inputs: Any) -> Any:
        """Return the scores of inputs at ``w``, without a gradient."""
        with torch.no_grad():
            return self.module(inputs)

    def gradient(self, inputs: Any, labels: Any, l2: float) -> Any:
        r"""Return ``g``, the gradient at ``w`` of the mean loss of a batch plus :math:`\frac\lambda2\|w\|^2`."""
        self.g.zero_()
        for part, classes in zip(inputs.split(CHUNK), labels.split(CHUNK), strict=True):
            (functional.cross_entropy(self.module(part), classes, reduction="sum") / len(labels)).backward()
        return self.g.add_(self.w, alpha=l2) if l2 else self.g

    def judge(self, inputs: Any, labels: Any, rows: Ints) -> tuple[Floats, Floats]:
        """Return the losses of the given rows at ``w``, without regulariser, and 1 for those that are right, else 0."""
        losses, hits = [], []
        for part in torch.tensor(rows).split(CHUNK):
            classes = labels[part]
            scores = self.scores(inputs[part]).double()
            losses.append(functional.cross_entropy(scores, classes, reduction="none"))
            hits.append((scores.argmax(dim=1) == classes).double())
        return torch.cat(losses).numpy(), torch.cat(hits).numpy()
