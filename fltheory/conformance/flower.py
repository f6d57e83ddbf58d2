"""An adapter for Flower: a strategy and its NumPy clients, driven in this process without Ray or a network.

Each round, the strategy's ``configure_fit`` is given the participants of the round as the clients that are available,
each client is asked to ``fit``, and ``aggregate_fit`` gives the next model: what Flower's server does, minus transport.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.conformance.federation import Federation
from fltheory.conformance.user_code import Run, UserCodeError
from fltheory.errors import NotApplicable

try:
    from flwr.client import NumPyClient
    from flwr.common import Code, FitRes, Parameters, Status, ndarrays_to_parameters, parameters_to_ndarrays
    from flwr.server.client_manager import SimpleClientManager
    from flwr.server.client_proxy import ClientProxy
    from flwr.server.criterion import Criterion
    from flwr.server.strategy import Strategy
except ImportError:
    raise NotApplicable("this needs Flower; install it with: pip install --editable '.[flower]'") from None


class LocalSGD(NumPyClient):
    """A client that runs its local steps, with FedProx's pull if the strategy's configuration has ``proximal_mu``."""

    def __init__(self, client: int, federation: Federation) -> None:
        self.client = client
        self.federation = federation

    def fit(self, parameters: Any, config: dict[str, Any]) -> tuple[list[Floats], int, dict[str, Any]]:
        """Return the local model, the number of samples, and no metrics."""
        federation, client = self.federation, self.client
        index = int(config["server_round"]) - 1
        sent = np.array(parameters[0])
        prox = float(config.get("proximal_mu", 0.0))
        local = sent.copy()
        for _ in range(int(federation.steps[index, client])):
            gradient = federation.gradient(client, local, federation.rng)
            local = local - federation.rates[index] * (gradient + prox * (local - sent))
        return [local], int(federation.sample_counts[client]), {}


ClientMaker = Callable[[int, Federation], NumPyClient]


def from_flower(strategy: Callable[[Federation], Strategy], client: ClientMaker = LocalSGD) -> Run:
    """Adapt a Flower strategy with NumPy clients.

    Parameters
    ----------
    strategy
        Makes a fresh strategy for a federation; strategies that need ``initial_parameters`` get them from
        ``initial_parameters(federation)`` of this module.
    client
        Makes the NumPy client of a number; it lives as long as the run, so it can keep state. Its configuration has
        the number of the round, from 1, as ``server_round``. Plain local steps by default.
    """

    def run(federation: Federation) -> list[Floats]:
        made = strategy(federation)
        clients = [client(number, federation) for number in range(federation.num_clients)]
        parameters = made.initialize_parameters(_Manager()) or initial_parameters(federation)
        models = []
        for index, participants in enumerate(federation.participants):
            manager = _Manager()
            for number in participants:
                manager.register(_Proxy(str(number)))
            results = []
            for proxy, instructions in made.configure_fit(index + 1, parameters, manager):
                config = {"server_round": index + 1, **instructions.config}
                sent = parameters_to_ndarrays(instructions.parameters)
                arrays, examples, metrics = clients[int(proxy.cid)].fit(sent, config)
                status = Status(code=Code.OK, message="")
                results.append((proxy, FitRes(status, ndarrays_to_parameters(arrays), examples, metrics)))
            asked = sorted(int(proxy.cid) for proxy, _ in results)
            if asked != list(participants):
                raise UserCodeError(
                    f"the strategy must ask all clients that are available, {list(participants)}, got {asked} in round "
                    f"{index + 1}; give it fraction_fit=1.0, min_fit_clients=1 and min_available_clients=1"
                )
            parameters = made.aggregate_fit(index + 1, results, [])[0] or parameters
            models.append(np.concatenate([np.ravel(part) for part in parameters_to_ndarrays(parameters)]))
        return models

    return run


def initial_parameters(federation: Federation) -> Parameters:
    """Return the model before round 0 as Flower's parameters."""
    return ndarrays_to_parameters([federation.start])


class _Proxy(ClientProxy):
    """Stands for a client; the adapter calls the client itself."""

    def fit(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    get_properties = get_parameters = evaluate = reconnect = fit


class _Manager(SimpleClientManager):
    """The clients of one round, in a fixed order."""

    def wait_for(self, num_clients: int, timeout: int = 86400) -> bool:
        return True

    def sample(
        self, num_clients: int, min_num_clients: int | None = None, criterion: Criterion | None = None
    ) -> list[ClientProxy]:
        return list(self.clients.values())[:num_clients]
