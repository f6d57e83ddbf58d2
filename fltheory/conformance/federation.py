r"""The federation that a user's own code is run on: least squares on a few samples per client.

Client ``i`` has features :math:`X_i`, shape ``(n_i, dim)``, and targets :math:`y_i`; its objective is the mean squared
error :math:`f_i(w) = \frac{1}{n_i} \|X_i w - y_i\|^2`, a quadratic whose Hessian differs from client to client. So the
same federation serves code that asks for gradients and code that trains a linear model on data with a
mean-squared-error loss; one full-batch step is the same thing in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats, Ints
from fltheory.errors import InvalidParameter
from fltheory.problems.oracle import Round
from fltheory.quadratic.problem import Quadratic

if TYPE_CHECKING:
    from fltheory.conformance.pytorch import TorchFederation


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Federation:
    r"""Clients with data, and who works how long in which round.

    Parameters
    ----------
    features, targets
        :math:`X_i` and :math:`y_i` of every client.
    steps
        Local steps that a client completes in a round, shape ``(rounds, clients)``; 0 means absent.
    local_steps
        Local steps that a participant is asked for; stragglers complete fewer.
    rates
        Local learning rate of every round.
    initial
        Model before round 0, shape ``(dim,)``.
    parameters
        Parameters of the algorithm by name, such as ``{"prox": 0.1}``.
    noise
        Standard deviation per coordinate of the noise in a gradient that is asked for with a generator.
    seed
        Seed of :attr:`rng`.

    Examples
    --------
    >>> federation = Federation(
    ...     features=([[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0]]), targets=([1.0, 0.0], [3.0]),
    ...     steps=[[2, 2], [2, 0]], local_steps=2, rates=[0.1, 0.1], initial=[0.0, 0.0])
    >>> federation.participants
    ((0, 1), (0,))
    >>> federation.gradient(1, federation.start)
    array([-6., -6.])
    """

    features: tuple[Floats, ...]
    targets: tuple[Floats, ...]
    steps: Ints
    local_steps: int
    rates: tuple[float, ...]
    initial: Floats
    parameters: Mapping[str, Any] = field(default_factory=dict)
    noise: float = 0.0
    seed: int = 0
    rng: np.random.Generator = field(init=False, repr=False)
    """Generator for :meth:`gradient`, seeded with :attr:`seed`: another one in every repetition of a noisy run."""
    hessians: Floats = field(init=False, repr=False)
    linear: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        owner = "Federation"
        if not self.features or len(self.features) != len(self.targets):
            raise InvalidParameter(
                f"Federation.features and targets must have one array per client, got {len(self.features)} and "
                f"{len(self.targets)}"
            )
        initial = arguments.array(owner, "initial", self.initial, shape=(None,))
        features = tuple(arguments.array(owner, "features", x, shape=(None, len(initial))) for x in self.features)
        targets = tuple(
            arguments.array(owner, "targets", y, shape=(len(x),)) for x, y in zip(features, self.targets, strict=True)
        )
        local_steps = arguments.integer(owner, "local_steps", self.local_steps, low=1)
        steps = np.array(self.steps, dtype=np.int64)
        if steps.ndim != 2 or steps.shape[1] != len(features) or not len(steps):
            raise InvalidParameter(
                f"Federation.steps must have shape (rounds, {len(features)}), got shape {steps.shape}"
            )
        if steps.min() < 0 or steps.max() > local_steps:
            raise arguments.fail(owner, "steps", f"between 0 and local_steps={local_steps}", steps.tolist())
        steps.setflags(write=False)
        rates = tuple(arguments.real(owner, "rates", rate, low=0, open_low=True) for rate in self.rates)
        if len(rates) != len(steps):
            raise InvalidParameter(f"Federation.rates must have {len(steps)} entries, one per round, got {len(rates)}")
        values = {
            "features": features,
            "targets": targets,
            "steps": steps,
            "local_steps": local_steps,
            "rates": rates,
            "initial": initial,
            "parameters": MappingProxyType(dict(self.parameters)),
            "noise": arguments.real(owner, "noise", self.noise, low=0),
            "seed": arguments.integer(owner, "seed", self.seed, low=0),
            "rng": np.random.default_rng(self.seed),
            "hessians": arguments.frozen([2.0 / len(x) * x.T @ x for x in features]),
            "linear": arguments.frozen([-2.0 / len(x) * x.T @ y for x, y in zip(features, targets, strict=True)]),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def num_clients(self) -> int:
        return len(self.features)

    @property
    def dim(self) -> int:
        return len(self.initial)

    @property
    def rounds(self) -> int:
        return len(self.steps)

    @property
    def start(self) -> Floats:
        """Model before round 0, shape ``(dim,)``; a fresh copy that may be written into."""
        return np.array(self.initial)

    @property
    def sample_counts(self) -> Ints:
        """Number of samples of every client, shape ``(clients,)``."""
        return np.array([len(x) for x in self.features], dtype=np.int64)

    @property
    def weights(self) -> Floats:
        """Shares of the clients in all samples, shape ``(clients,)``."""
        counts = self.sample_counts
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    @property
    def participants(self) -> tuple[tuple[int, ...], ...]:
        """Clients that take part in each round, in increasing order."""
        return tuple(tuple(int(i) for i in np.flatnonzero(row)) for row in self.steps)

    @property
    def server_rate(self) -> float:
        """The server's learning rate; 1 if the algorithm has none."""
        return float(self.parameters.get("server_rate", 1.0))

    def gradient(self, client: int, w: Any, rng: np.random.Generator | None = None) -> Floats:
        """Return the gradient of a client's objective, shape ``(dim,)``; with the noise of a fresh minibatch if asked.

        Parameters
        ----------
        client
            Number of the client, from 0.
        w
            Model, shape ``(dim,)``.
        rng
            Source of the noise, for instance :attr:`rng`; full gradients without.
        """
        full: Floats = self.hessians[self._known(client)] @ self._model(w) + self.linear[client]
        return full if rng is None or self.noise == 0.0 else full + self.noise * rng.standard_normal(self.dim)

    def minibatch(self, client: int, rng: np.random.Generator) -> Callable[[Any], Floats]:
        """Draw a minibatch and return its gradient as a function of the model: the same data wherever it is asked."""
        error = self.noise * rng.standard_normal(self.dim)
        return lambda w: self.gradient(client, w) + error

    def loss(self, client: int, w: Any) -> float:
        """Return a client's mean squared error."""
        client, w = self._known(client), self._model(w)
        return float(np.mean((self.features[client] @ w - self.targets[client]) ** 2))

    def hessian(self, client: int) -> Floats:
        """Return the Hessian of a client's objective, shape ``(dim, dim)``."""
        return np.array(self.hessians[self._known(client)])

    def torch(self) -> TorchFederation:
        """Return the same federation as models, data sets and losses of PyTorch."""
        from fltheory.conformance.pytorch import TorchFederation

        return TorchFederation(self)

    def problem(self) -> Quadratic:
        """Return the objective as a problem of the package."""
        return Quadratic(
            hessian=(self.hessians + self.hessians.swapaxes(1, 2)) / 2,
            linear=self.linear,
            constant=np.array([float(np.mean(y**2)) for y in self.targets]),
            sample_counts=self.sample_counts.astype(np.float64),
            noise_sq=np.full(self.num_clients, self.dim * self.noise**2),
            start=self.initial,
        )

    def work(self, index: int) -> Round:
        """Return the terms of a round; participants count by their samples."""
        present = self.weights * (self.steps[index] > 0)
        return Round(
            index=index,
            rates=(self.rates[index],),
            local_steps=self.local_steps,
            p=self.weights,
            steps=self.steps[index][None],
            weights=(present / max(present.sum(), np.finfo(float).tiny))[None],
            boost=np.ones(self.num_clients),
        )

    def _known(self, client: int) -> int:
        return arguments.integer("Federation", "client", client, low=0, high=self.num_clients - 1)

    def _model(self, w: Any) -> Floats:
        model = np.asarray(w, dtype=np.float64)
        if model.shape != (self.dim,):
            raise InvalidParameter(f"Federation.w must have shape ({self.dim},), got shape {model.shape}")
        return model
