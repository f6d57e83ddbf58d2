"""Job Q as a researcher's script: loops over replicates, rounds and steps; the clients are the rows of one array."""

from __future__ import annotations

import numpy as np

from benchmarks.protocol import Job, Result


def prepare(*, data: str, local_steps: int, rounds: int, replicates: int, rate: float) -> Job:
    with np.load(data) as stored:
        A, B, delta, start, w_star = (stored[name] for name in ("A", "B", "delta", "start", "w_star"))
        xi_scale = np.sqrt(stored["round_drift_sq"] / len(B))
        noise_scale = np.sqrt(stored["noise_sq"] / len(B))

    def run(*, seed: int) -> Result:
        rng = np.random.default_rng(seed)
        distance = np.zeros((replicates, rounds + 1))
        for r in range(replicates):
            w = start.copy()
            distance[r, 0] = np.sum((w - w_star) ** 2)
            for t in range(rounds):
                offset = B + delta + xi_scale * rng.standard_normal(delta.shape)
                local = np.tile(w, (len(delta), 1))
                for _ in range(local_steps):
                    local -= rate * (local @ A + offset + noise_scale * rng.standard_normal(delta.shape))
                w = local.mean(axis=0)
                distance[r, t + 1] = np.sum((w - w_star) ** 2)
        return Result(distance)

    return run
