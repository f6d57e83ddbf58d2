"""Job L as a researcher's script: loops over replicates, rounds, clients and steps."""

from __future__ import annotations

import numpy as np

from benchmarks.protocol import Floats, Job, Result


def prepare(*, data: str, batch: int, local_steps: int, rounds: int, replicates: int, rate: float, l2: float) -> Job:
    with np.load(data) as stored:
        X, y, classes = stored["X"], stored["y"], int(stored["classes"])
    clients, samples, features = X.shape
    everything, targets = X.reshape(-1, features), np.eye(classes)[y]

    def loss(W: Floats) -> float:
        z = everything @ W
        top = z.max(axis=1)
        partition = top + np.log(np.exp(z - top[:, None]).sum(axis=1))
        return float(np.mean(partition - z[np.arange(len(z)), y.ravel()]) + 0.5 * l2 * np.sum(W**2))

    def run(*, seed: int) -> Result:
        rng = np.random.default_rng(seed)
        curve = np.zeros((replicates, rounds + 1))
        for r in range(replicates):
            W = np.zeros((features, classes))
            curve[r, 0] = loss(W)
            for t in range(rounds):
                total = np.zeros_like(W)
                for i in range(clients):
                    local = W.copy()
                    for _ in range(local_steps):
                        picked = rng.integers(0, samples, batch)
                        x = X[i, picked]
                        z = x @ local
                        p = np.exp(z - z.max(axis=1, keepdims=True))
                        p /= p.sum(axis=1, keepdims=True)
                        local -= rate * (x.T @ (p - targets[i, picked]) / batch + l2 * local)
                    total += local
                W = total / clients
                curve[r, t + 1] = loss(W)
        return Result(curve)

    return run
