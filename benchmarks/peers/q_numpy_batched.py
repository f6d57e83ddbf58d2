"""Job Q in NumPy with replicates and clients in one array, and normals drawn in place."""

from __future__ import annotations

import numpy as np

from benchmarks.protocol import Job, Result


def prepare(*, data: str, local_steps: int, rounds: int, replicates: int, rate: float) -> Job:
    with np.load(data) as stored:
        A, B, delta, start, w_star = (stored[name] for name in ("A", "B", "delta", "start", "w_star"))
        xi_scale = np.sqrt(stored["round_drift_sq"] / len(B))
        noise_scale = np.sqrt(stored["noise_sq"] / len(B))
    shape = (replicates, *delta.shape)

    def run(*, seed: int) -> Result:
        rng = np.random.default_rng(seed)
        distance = np.zeros((replicates, rounds + 1))
        noise, slope = np.empty(shape), np.empty(shape)
        w = np.tile(start, (replicates, 1))
        distance[:, 0] = np.sum((w - w_star) ** 2, axis=1)
        for t in range(rounds):
            offset = B + delta + xi_scale * rng.standard_normal(shape)
            local = np.repeat(w[:, None], len(delta), axis=1)
            for _ in range(local_steps):
                np.matmul(local.reshape(-1, len(B)), A, out=slope.reshape(-1, len(B)))
                rng.standard_normal(out=noise)
                noise *= noise_scale
                slope += offset
                slope += noise
                slope *= rate
                local -= slope
            w = local.mean(axis=1)
            distance[:, t + 1] = np.sum((w - w_star) ** 2, axis=1)
        return Result(distance)

    return run
