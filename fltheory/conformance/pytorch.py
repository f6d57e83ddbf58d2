"""A federation in PyTorch, and an adapter for training loops that exchange ``state_dict`` objects.

The objective is a linear layer without bias trained with the mean squared error on all samples of a client at once:
what a training loop does with a model, a data set and a loss, it can do with these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.conformance.federation import Federation
from fltheory.conformance.user_code import Run, UserCodeError, home, name_of
from fltheory.errors import NotApplicable

if TYPE_CHECKING:
    import torch


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise NotApplicable("this needs PyTorch; install it with: pip install --editable '.[torch]'") from None
    return torch


class TorchFederation:
    """A federation as models, data sets and losses of PyTorch.

    Parameters
    ----------
    federation
        The federation; its schedule is available under the same names: ``participants``, ``steps``, ``rates``,
        ``local_steps``, ``server_rate``, ``parameters``, ``sample_counts``, ``weights``, ``num_clients``, ``rounds``.
    dtype
        Type of models and data; double precision if ``None``.
    """

    def __init__(self, federation: Federation, dtype: torch.dtype | None = None) -> None:
        self._torch = _torch()
        self.federation = federation
        self.dtype = self._torch.float64 if dtype is None else dtype

    def __getattr__(self, name: str) -> Any:
        if name in ("gradient", "loss", "minibatch", "hessian", "torch", "federation"):
            raise AttributeError(f"TorchFederation has no {name!r}; use model(), dataset(client) and loss_function")
        return getattr(self.federation, name)

    def model(self) -> torch.nn.Module:
        """Return a linear layer without bias that holds the model before round 0."""
        torch = self._torch
        layer = torch.nn.Linear(self.federation.dim, 1, bias=False, dtype=self.dtype)
        with torch.no_grad():
            layer.weight.copy_(torch.as_tensor(self.federation.start[None], dtype=self.dtype))
        return layer

    def dataset(self, client: int) -> torch.utils.data.TensorDataset:
        """Return a client's samples: features ``(n_i, dim)`` and targets ``(n_i, 1)``."""
        federation, torch = self.federation, self._torch
        return torch.utils.data.TensorDataset(
            torch.as_tensor(np.array(federation.features[client]), dtype=self.dtype),
            torch.as_tensor(np.array(federation.targets[client])[:, None], dtype=self.dtype),
        )

    def loader(self, client: int) -> torch.utils.data.DataLoader[Any]:
        """Return a loader with all samples of a client in one batch: an epoch is one local step."""
        return self._torch.utils.data.DataLoader(self.dataset(client), batch_size=len(self.federation.features[client]))

    @property
    def loss_function(self) -> torch.nn.Module:
        """Mean squared error, averaged over the samples."""
        return self._torch.nn.MSELoss()


def from_torch(train: Callable[[TorchFederation], Iterable[Any]], *, dtype: torch.dtype | None = None) -> Run:
    """Adapt a training loop in PyTorch.

    Parameters
    ----------
    train
        Takes a :class:`TorchFederation` and returns, or yields, the server's model after every round: a
        ``state_dict``, a module or a tensor. It is copied at once, so yielding a model that changes later is safe.
    dtype
        Type of models and data; double precision if ``None``. In single precision use ``tolerance=1e-4``.
    """

    @functools.wraps(train)
    def run(federation: Federation) -> Floats:
        return np.stack([flat(train, each) for each in train(TorchFederation(federation, dtype))])

    return run


def flat(train: Callable[..., Any], model: Any) -> Floats:
    """Return a ``state_dict``, a module or a tensor as one vector."""
    torch = _torch()
    if isinstance(model, torch.nn.Module):
        model = model.state_dict()
    tensors = list(model.values()) if isinstance(model, Mapping) else [model]
    if not tensors or not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        raise UserCodeError(
            f"{name_of(train)} must give a state_dict, a module or a tensor for every round, got "
            f"{type(model).__name__} ({home(train)})"
        )
    return np.concatenate([tensor.detach().cpu().numpy().astype(np.float64).ravel() for tensor in tensors])
