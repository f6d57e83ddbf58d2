"""Job L in JAX: scan over steps and rounds, vmap over clients and replicates, jit around all, float64."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.protocol import Job, Result

jax.config.update("jax_enable_x64", True)


def prepare(*, data: str, batch: int, local_steps: int, rounds: int, replicates: int, rate: float, l2: float) -> Job:
    with np.load(data) as stored:
        X, y, classes = jnp.asarray(stored["X"]), jnp.asarray(stored["y"]), int(stored["classes"])
    clients, samples, features = X.shape

    def loss(W: Any, x: Any, labels: Any) -> Any:
        z = x @ W
        own = jnp.take_along_axis(z, labels[:, None], axis=1)[:, 0]
        return jnp.mean(jax.nn.logsumexp(z, axis=1) - own) + 0.5 * l2 * jnp.sum(W**2)

    slope = jax.grad(loss)

    def client(W: Any, x: Any, labels: Any, key: Any) -> Any:
        picks = jax.random.randint(key, (local_steps, batch), 0, samples)

        def step(local: Any, picked: Any) -> tuple[Any, None]:
            return local - rate * slope(local, x[picked], labels[picked]), None

        return jax.lax.scan(step, W, picks)[0]

    def one_round(W: Any, key: Any) -> tuple[Any, Any]:
        local = jax.vmap(client, in_axes=(None, 0, 0, 0))(W, X, y, jax.random.split(key, clients))
        W = local.mean(axis=0)
        return W, total(W)

    def total(W: Any) -> Any:
        return loss(W, X.reshape(-1, features), y.ravel())

    def replicate(key: Any) -> Any:
        start = jnp.zeros((features, classes))
        _, losses = jax.lax.scan(one_round, start, jax.random.split(key, rounds))
        return jnp.concatenate([total(start)[None], losses])

    every = jax.jit(jax.vmap(replicate))
    compiled = every.lower(jax.random.split(jax.random.PRNGKey(0), replicates)).compile()

    def run(*, seed: int) -> Result:
        return Result(np.asarray(compiled(jax.random.split(jax.random.PRNGKey(seed), replicates))))

    return run
