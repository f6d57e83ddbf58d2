"""Job P in FedJAX: its federated averaging on in-memory client data sets, float64.

FedJAX calls ``jax.tree_map``, which newer JAX has removed: it is put back here, and the table says so. Its minibatches
are drawn without replacement within an epoch, so its losses agree with the other tools' nearly, not exactly, in law.
"""

from __future__ import annotations

import time
from typing import Any

import fedjax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.protocol import Job, Result

SHIM = "" if hasattr(jax, "tree_map") else "jax.tree_map"
if SHIM:
    jax.tree_map = jax.tree_util.tree_map

jax.config.update("jax_enable_x64", True)


def prepare(*, data: str, batch: int, local_steps: int, rounds: int, rate: float, l2: float) -> Job:
    with np.load(data) as stored:
        X, y = stored["X"], stored["y"].astype(np.float64)
    features = X.shape[2]
    note = f"shim: {SHIM}, removed from JAX, put back" if SHIM else "no shim needed"

    def loss(w: Any, x: Any, labels: Any) -> Any:
        z = x @ w
        return jnp.mean(jnp.logaddexp(0.0, z) - labels * z) + 0.5 * l2 * w @ w

    def slope(w: Any, examples: Any, rng: Any) -> Any:
        return jax.grad(loss)(w, examples["x"], examples["y"])

    total = jax.jit(lambda w: loss(w, X.reshape(-1, features), y.ravel()))
    batches = fedjax.ShuffleRepeatBatchHParams(batch_size=batch, num_steps=local_steps, num_epochs=None)
    algorithm = fedjax.algorithms.fed_avg.federated_averaging(
        slope, fedjax.optimizers.sgd(rate), fedjax.optimizers.sgd(1.0), batches
    )
    sets = [fedjax.ClientDataset({"x": X[i], "y": y[i]}) for i in range(len(X))]

    def run(*, seed: int, rounds: int = rounds) -> Result:
        # The batches are shuffled by NumPy's global state, which no argument of FedJAX reaches.
        np.random.seed(seed)  # noqa: NPY002
        state = algorithm.init(jnp.zeros(features))
        curve = [float(total(state.params))]
        key = jax.random.PRNGKey(seed)
        began = time.perf_counter()
        for _ in range(rounds):
            key, *keys = jax.random.split(key, len(sets) + 1)
            state, _ = algorithm.apply(state, [(str(i), sets[i], keys[i]) for i in range(len(sets))])
            curve.append(float(total(state.params)))
        return Result(np.array([curve]), seconds=(time.perf_counter() - began) / rounds, note=note)

    run(seed=0, rounds=2)
    return run
