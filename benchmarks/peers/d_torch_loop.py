"""Job D as a researcher writes it in PyTorch: modules, an optimiser, client after client, averaged parameters."""

from __future__ import annotations

import copy
from time import perf_counter, process_time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.protocol import Job, Result


def prepare(
    *,
    data: str,
    hidden: list[int],
    batch: int,
    local_steps: int,
    rounds: int,
    rate: float,
    threads: int | None = None,
) -> Job:
    """Return the job: the server model's training loss after every round; seconds are per round."""
    if threads is not None:
        torch.set_num_threads(threads)
    with np.load(data) as stored:
        X, y = torch.tensor(stored["X"]), torch.tensor(stored["y"])
        X_test, y_test = torch.tensor(stored["X_test"]), torch.tensor(stored["y_test"])
        classes = int(stored["classes"])
    clients, samples = y.shape
    some = -(-len(y_test) // clients)
    X_evaluated, y_evaluated = X[:, :some].flatten(0, 1), y[:, :some].flatten()

    def built() -> nn.Module:
        layers: list[nn.Module] = [nn.Flatten()]
        for before, after in zip([X[0, 0].numel(), *hidden], [*hidden, classes], strict=True):
            layers += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*layers[:-1])

    def evaluate(model: nn.Module) -> tuple[float, float]:
        with torch.no_grad():
            loss = functional.cross_entropy(model(X_evaluated), y_evaluated)
            accuracy = (model(X_test).argmax(dim=1) == y_test).float().mean()
        return float(loss), float(accuracy)

    def run(*, seed: int, rounds: int = rounds, batches: list[list[list[list[int]]]] | None = None) -> Result:
        """Do the job; ``batches`` are minibatches by round, client and step, in place of those drawn here."""
        torch.manual_seed(0)
        server = built()
        torch.manual_seed(seed)
        began, before = perf_counter(), process_time()
        curve = [evaluate(server)]
        for t in range(rounds):
            states = []
            for i in range(clients):
                local = copy.deepcopy(server)
                optimiser = torch.optim.SGD(local.parameters(), lr=rate)
                for k in range(local_steps):
                    rows = torch.randint(samples, (batch,)) if batches is None else torch.tensor(batches[t][i][k])
                    optimiser.zero_grad()
                    functional.cross_entropy(local(X[i][rows]), y[i][rows]).backward()
                    optimiser.step()
                states.append(local.state_dict())
            server.load_state_dict(
                {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
            )
            curve.append(evaluate(server))
        seconds, spent = perf_counter() - began, process_time() - before
        note = f"processor time {spent / rounds:.3g} s per round"
        return Result(np.array(curve).T[:1], seconds=seconds / rounds, note=note)

    run(seed=0, rounds=1)
    return run
