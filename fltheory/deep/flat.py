"""A network on one vector: its parameters are views of ``w``.

So all terms of a local step but the gradient are arithmetic on vectors, whatever the network. The gradient is not
gathered into a vector: it is subtracted layer by layer, as PyTorch returns it, which spares two passes over memory.
One thread uses one of these.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from fltheory._internal.arguments import Floats, Ints
from fltheory.errors import NotApplicable

CHUNK = 512
"""Samples that are put through a network at once where all of a client's samples are asked for."""

DTYPES = {"single": torch.float32, "double": torch.float64}
"""Kinds of numbers by precision."""


class FlatNetwork:
    """A module whose parameters live in the vector ``w``.

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
        parts = self.w.split([parameter.numel() for parameter in self.parameters])
        self._parts = [part.view_as(parameter) for part, parameter in zip(parts, self.parameters, strict=True)]
        for part, parameter in zip(self._parts, self.parameters, strict=True):
            parameter.data = part

    @property
    def dim(self) -> int:
        """Number of parameters."""
        return int(self.w.numel())

    def scores(self, inputs: Any) -> Any:
        """Return the scores of inputs at ``w``, without a gradient."""
        with torch.no_grad():
            return self.module(inputs)

    def slopes(self, inputs: Any, labels: Any) -> list[Any]:
        """Return the gradient at ``w`` of the mean loss of a batch, layer by layer."""
        chunks = list(zip(inputs.split(CHUNK), labels.split(CHUNK), strict=True))
        slopes: list[Any] = []
        for part, classes in chunks:
            loss = functional.cross_entropy(self.module(part), classes)
            if len(chunks) > 1:
                loss = loss * (len(classes) / len(labels))
            found = torch.autograd.grad(loss, self.parameters, materialize_grads=True)
            slopes = [a + b for a, b in zip(slopes, found, strict=True)] if slopes else list(found)
        return slopes

    def gradient(self, inputs: Any, labels: Any, l2: float) -> Any:
        r"""Return the gradient at ``w`` of the mean loss of a batch plus :math:`\frac\lambda2\|w\|^2`, as a vector."""
        g = torch.cat([slope.flatten() for slope in self.slopes(inputs, labels)])
        return g.add_(self.w, alpha=l2) if l2 else g

    def move(self, slopes: list[Any], factor: float) -> None:
        """Add a multiple of what :meth:`slopes` returned to ``w``."""
        for part, slope in zip(self._parts, slopes, strict=True):
            part.add_(slope, alpha=factor)

    def measure(self, inputs: Any, labels: Any, rows: Ints) -> tuple[Floats, Floats]:
        """Return the losses of the given rows at ``w``, without regulariser, and 1 for those that are right, else 0."""
        losses, hits = [], []
        for part in torch.tensor(rows).split(CHUNK):
            classes = labels[part]
            scores = self.scores(inputs[part]).double()
            losses.append(functional.cross_entropy(scores, classes, reduction="none"))
            hits.append((scores.argmax(dim=1) == classes).double())
        return torch.cat(losses).numpy(), torch.cat(hits).numpy()
