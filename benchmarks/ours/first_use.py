"""First use of a compiled loop in a fresh process: ``python -m benchmarks.ours.first_use KIND [ALGORITHM]``.

Prints the seconds from before the import of fltheory to the first result. ``KIND`` is ``quadratic``, ``collapsed`` or
``softmax``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from benchmarks.sizes import SINGLE


def main() -> None:
    """Run the smallest experiment of the kind and print how long it took."""
    began = time.perf_counter()
    kind = sys.argv[1]
    algorithm = sys.argv[2] if len(sys.argv) > 2 else "fedavg"
    _run(kind, algorithm)
    sys.stdout.write(f"{time.perf_counter() - began}\n")


def _run(kind: str, algorithm: str) -> None:
    import importlib

    from fltheory import Experiment, Participation, noisy_quadratic, simulate

    problem: Any
    clients = 1 if algorithm in SINGLE else 2
    if kind == "softmax":
        from fltheory.logistic import synthetic

        problem = synthetic(
            alpha=1, beta=1, num_clients=clients, num_features=3, num_classes=3, sizes="equal", batch_size=5, seed=0
        )
    else:
        problem = noisy_quadratic(dim=4, num_clients=clients, client_drift_sq=0.0)
    if algorithm == "fedavg":
        made = importlib.import_module("fltheory.algorithms.fedavg").FedAvg()
    else:
        made = importlib.import_module("fltheory.configuration.registry").algorithms()[algorithm]()
    experiment = Experiment(
        problem=problem,
        algorithm=made,
        participation=Participation(num_clients=clients, local_steps=2),
        rounds=2,
        rate=0.01,
    )
    simulate(experiment, replicates=2, collapse=kind == "collapsed")


if __name__ == "__main__":
    main()
