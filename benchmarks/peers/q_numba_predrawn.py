"""Job Q in numba, parallel over replicates, with a round's normals drawn beforehand by NumPy's generator."""

from __future__ import annotations

import numba
import numpy as np

from benchmarks.protocol import Job, Result


@numba.njit(parallel=True)
def _advance(w, A, offset, noise, rate):  # type: ignore[no-untyped-def]
    replicates, clients, steps, dim = noise.shape
    for r in numba.prange(replicates):
        total = np.zeros(dim)
        local, slope = np.empty(dim), np.empty(dim)
        for i in range(clients):
            local[:] = w[r]
            for k in range(steps):
                for j in range(dim):
                    slope[j] = offset[r, i, j] + noise[r, i, k, j]
                for a in range(dim):
                    x = local[a]
                    for j in range(dim):
                        slope[j] += A[a, j] * x
                for j in range(dim):
                    local[j] -= rate * slope[j]
            total += local
        w[r] = total / clients


def prepare(*, data: str, local_steps: int, rounds: int, replicates: int, rate: float) -> Job:
    with np.load(data) as stored:
        A, B, delta, start, w_star = (stored[name] for name in ("A", "B", "delta", "start", "w_star"))
        xi_scale = np.sqrt(stored["round_drift_sq"] / len(B))
        noise_scale = np.sqrt(stored["noise_sq"] / len(B))
    clients, dim = delta.shape

    def run(*, seed: int, replicates: int = replicates, rounds: int = rounds) -> Result:
        rng = np.random.default_rng(seed)
        distance = np.zeros((replicates, rounds + 1))
        noise = np.empty((replicates, clients, local_steps, dim))
        w = np.tile(start, (replicates, 1))
        distance[:, 0] = np.sum((w - w_star) ** 2, axis=1)
        for t in range(rounds):
            offset = B + delta + xi_scale * rng.standard_normal((replicates, clients, dim))
            rng.standard_normal(out=noise)
            noise *= noise_scale
            _advance(w, A, offset, noise, rate)
            distance[:, t + 1] = np.sum((w - w_star) ** 2, axis=1)
        return Result(distance)

    run(seed=0, replicates=2, rounds=1)
    return run
