"""Job L in NumPy with replicates and clients in one array."""

from __future__ import annotations

import numpy as np

from benchmarks.protocol import Floats, Job, Result


def prepare(*, data: str, batch: int, local_steps: int, rounds: int, replicates: int, rate: float, l2: float) -> Job:
    with np.load(data) as stored:
        X, y, classes = stored["X"], stored["y"], int(stored["classes"])
    clients, samples, features = X.shape
    everything, targets = X.reshape(-1, features), np.eye(classes)[y]
    rows = np.arange(clients)[None, :, None]

    def loss(W: Floats) -> Floats:
        z = everything @ W
        top = z.max(axis=2)
        partition = top + np.log(np.exp(z - top[:, :, None]).sum(axis=2))
        own = z[:, np.arange(len(everything)), y.ravel()]
        return np.asarray(np.mean(partition - own, axis=1) + 0.5 * l2 * np.sum(W**2, axis=(1, 2)))

    def run(*, seed: int) -> Result:
        rng = np.random.default_rng(seed)
        curve = np.zeros((replicates, rounds + 1))
        W = np.zeros((replicates, features, classes))
        curve[:, 0] = loss(W)
        for t in range(rounds):
            local = np.repeat(W[:, None], clients, axis=1)
            for _ in range(local_steps):
                picked = rng.integers(0, samples, (replicates, clients, batch))
                x = X[rows, picked]
                p = np.matmul(x, local)
                p -= p.max(axis=3, keepdims=True)
                np.exp(p, out=p)
                p /= p.sum(axis=3, keepdims=True)
                p -= targets[rows, picked]
                slope = np.matmul(x.swapaxes(2, 3), p)
                local *= 1 - rate * l2
                slope *= rate / batch
                local -= slope
            W = local.mean(axis=1)
            curve[:, t + 1] = loss(W)
        return Result(curve)

    return run
