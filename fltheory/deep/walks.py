r"""Local steps of one client: what they need, the loop over them on flat vectors, and the same loop in obvious code.

.. math:: w \leftarrow w - \eta\,\bigl(g(w) + c + Q (w - a) + \lambda_1\,\mathrm{sign}(w - b)\bigr)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.func import functional_call
from torch.nn import functional

from fltheory._internal.arguments import Floats, Ints
from fltheory.deep.flat import FlatNetwork
from fltheory.problems.oracle import LocalSteps, Rates, rate_of


class Data(NamedTuple):
    """Samples of all clients as tensors, and the weight of the regulariser."""

    inputs: Any
    labels: Any
    l2: float


class Walk(NamedTuple):
    """The steps of one client in one replicate."""

    start: Floats
    """Shape ``(dim,)``."""
    batches: Ints
    """Rows of the minibatch of every step, ``(steps, batch)``."""
    rates: Rates
    how: LocalSteps
    """What is added to the gradients, as vectors ``(dim,)`` and a pull that is a number, a diagonal or a matrix."""


Walker = Callable[[FlatNetwork, Data, Walk], Floats]


def walk(network: FlatNetwork, data: Data, task: Walk) -> Floats:
    """Return the model after all steps; terms that are zero cost nothing."""
    w, kind = network.w, network.w.dtype
    how = task.how
    start, c, a, b = (
        None if vector is None else torch.tensor(vector, dtype=kind)
        for vector in (task.start, how.correction, how.anchor, how.l1_anchor)
    )
    pull = float(how.pull) if np.ndim(how.pull) == 0 else torch.tensor(how.pull, dtype=kind)

    def beside() -> Any:
        """Return all terms but the gradient of the loss, or ``None``."""
        terms = [] if c is None else [c]
        if not isinstance(pull, float) or pull != 0.0:
            away = w if a is None else w - a
            terms.append(pull @ away if not isinstance(pull, float) and pull.ndim == 2 else pull * away)
        if how.l1:
            terms.append(torch.sign(w if b is None else w - b).mul_(how.l1))
        if data.l2:
            # Recentred, the regulariser at the start is subtracted like the rest of the gradient there.
            terms.append(data.l2 * (w - start if how.recentre else w))
        return functools.reduce(torch.add, terms) if terms else None

    w.copy_(start)
    for k, rows in enumerate(torch.from_numpy(task.batches)):
        rate = float(rate_of(task.rates, k))
        inputs, labels = data.inputs.index_select(0, rows), data.labels.index_select(0, rows)
        slopes, more = network.slopes(inputs, labels), beside()
        if how.recentre:
            here = w.clone()
            w.copy_(start)
            origin = network.slopes(inputs, labels)
            w.copy_(here)
            network.move(origin, rate)
        network.move(slopes, -rate)
        if more is not None:
            w.add_(more, alpha=-rate)
    return _array(w)


def reference_walk(network: FlatNetwork, data: Data, task: Walk) -> Floats:
    """Return the same by one line per formula, with gradients of a function of one vector."""
    kind, how = network.w.dtype, task.how
    zero = torch.zeros_like(network.w)
    c, a, b = (
        zero if vector is None else torch.tensor(vector, dtype=kind)
        for vector in (how.correction, how.anchor, how.l1_anchor)
    )
    Q = torch.tensor(how.pull, dtype=kind)
    times = torch.matmul if Q.ndim == 2 else torch.mul  # the square of a large network would not fit into memory
    names = [name for name, _ in network.module.named_parameters()]
    shapes = [parameter.shape for parameter in network.parameters]

    def gradient(w: Any, rows: Any) -> Any:
        leaf = w.clone().requires_grad_()
        parts = leaf.split([shape.numel() for shape in shapes])
        values = {name: part.view(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
        scores = functional_call(network.module, values, (data.inputs[rows],))
        loss = functional.cross_entropy(scores, data.labels[rows]) + 0.5 * data.l2 * (leaf**2).sum()
        return torch.autograd.grad(loss, leaf)[0]

    w = start = torch.tensor(task.start, dtype=kind)
    for k, rows in enumerate(torch.from_numpy(task.batches)):
        g = gradient(w, rows) - (gradient(start, rows) if how.recentre else 0.0)
        w = w - float(rate_of(task.rates, k)) * (g + c + times(Q, w - a) + how.l1 * torch.sign(w - b))
    return _array(w)


def _array(vector: Any) -> Floats:
    values: Floats = vector.detach().to(torch.float64, copy=True).numpy()
    return values
