"""Job P in Flower: its simulation runtime and its FedAvg; the clients' own work is a few lines of NumPy."""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation

from benchmarks.protocol import Floats, Job, Result


def prepare(*, data: str, batch: int, local_steps: int, rounds: int, rate: float, l2: float) -> Job:
    with np.load(data) as stored:
        X, y = stored["X"], stored["y"]
    clients, samples, features = X.shape

    def loss(w: Floats) -> float:
        z = X.reshape(-1, features) @ w
        return float(np.mean(np.logaddexp(0, z) - y.ravel() * z) + 0.5 * l2 * w @ w)

    def train(message: Message, context: Context) -> Message:
        i = int(context.node_config["partition-id"])
        config: Any = message.content["config"]
        rng = np.random.default_rng([int(config["seed"]), int(config["server-round"]), i])
        arrays: Any = message.content["arrays"]
        (w,) = arrays.to_numpy_ndarrays()
        for _ in range(local_steps):
            picked = rng.integers(0, samples, batch)
            x = X[i, picked]
            w = w - rate * (x.T @ (1 / (1 + np.exp(-(x @ w))) - y[i, picked]) / batch + l2 * w)
        content = {"arrays": ArrayRecord([w]), "metrics": MetricRecord({"num-examples": samples})}
        return Message(content=RecordDict(content), reply_to=message)

    def run(*, seed: int) -> Result:
        began = time.perf_counter()
        curve, times = [], []

        def evaluate(server_round: int, arrays: ArrayRecord) -> MetricRecord:
            curve.append(loss(arrays.to_numpy_ndarrays()[0]))
            times.append(time.perf_counter())
            return MetricRecord({"loss": curve[-1]})

        server, client = ServerApp(), ClientApp()
        client.train()(train)

        def main(grid: Grid, context: Context) -> None:
            strategy = FedAvg(
                fraction_train=1.0, fraction_evaluate=0.0, min_train_nodes=clients, min_available_nodes=clients
            )
            strategy.start(
                grid=grid,
                initial_arrays=ArrayRecord([np.zeros(features)]),
                num_rounds=rounds,
                train_config=ConfigRecord({"seed": seed}),
                evaluate_fn=evaluate,
            )

        server.main()(main)
        cores = os.cpu_count() or 1
        backend: Any = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}, "init_args": {"num_cpus": cores}}
        run_simulation(server_app=server, client_app=client, num_supernodes=clients, backend_config=backend)
        ray.shutdown()
        # The first round also starts the workers, so it counts as start-up.
        seconds = (times[-1] - times[1]) / (rounds - 1)
        return Result(np.array([curve]), seconds=seconds, note=f"first round after {times[1] - began:.2g} s")

    return run
