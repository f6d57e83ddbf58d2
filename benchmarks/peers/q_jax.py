"""Job Q in JAX: scan over steps and rounds, vmap over replicates, jit around all, float64."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.protocol import Job, Result

jax.config.update("jax_enable_x64", True)


def prepare(*, data: str, local_steps: int, rounds: int, replicates: int, rate: float) -> Job:
    with np.load(data) as stored:
        A, B, delta, start, w_star = (jnp.asarray(stored[name]) for name in ("A", "B", "delta", "start", "w_star"))
        xi_scale = float(np.sqrt(stored["round_drift_sq"] / len(B)))
        noise_scale = float(np.sqrt(stored["noise_sq"] / len(B)))

    def one_round(w: Any, key: Any) -> tuple[Any, Any]:
        drift_key, noise_key = jax.random.split(key)
        offset = B + delta + xi_scale * jax.random.normal(drift_key, delta.shape)

        def step(local: Any, step_key: Any) -> tuple[Any, None]:
            noise = noise_scale * jax.random.normal(step_key, delta.shape)
            return local - rate * (local @ A + offset + noise), None

        local, _ = jax.lax.scan(step, jnp.tile(w, (len(delta), 1)), jax.random.split(noise_key, local_steps))
        w = local.mean(axis=0)
        return w, jnp.sum((w - w_star) ** 2)

    def replicate(key: Any) -> Any:
        _, distances = jax.lax.scan(one_round, start, jax.random.split(key, rounds))
        return jnp.concatenate([jnp.sum((start - w_star) ** 2)[None], distances])

    every = jax.jit(jax.vmap(replicate))
    compiled = every.lower(jax.random.split(jax.random.PRNGKey(0), replicates)).compile()

    def run(*, seed: int) -> Result:
        return Result(np.asarray(compiled(jax.random.split(jax.random.PRNGKey(seed), replicates))))

    return run
