"""The data of the jobs, written once to ``.npz`` so that every tool reads the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.sizes import NetworkSize, QuadraticSize, SoftmaxSize, TinySize


def write_quadratic(path: Path, size: QuadraticSize) -> None:
    """Write Job Q's problem: dense ``A``, ``B``, client drifts, start and minimiser, in the model's coordinates."""
    from benchmarks.ours.q import job_q_problem

    problem = job_q_problem(size.dim, size.num_clients).unrotated()
    np.savez(
        path,
        A=problem.hessian[0],
        B=problem.linear[0],
        delta=np.asarray(problem.client_drift),
        start=problem.start,
        w_star=problem.objective().w_star,
        round_drift_sq=problem.round_drift_sq,
        noise_sq=problem.noise_sq[0],
    )


def write_softmax(path: Path, size: SoftmaxSize) -> None:
    """Write Job L's samples: every client has its own feature mean and its own linear labelling rule."""
    rng = np.random.default_rng(0)
    shape = (size.num_clients, size.samples, size.features)
    centres = rng.standard_normal((size.num_clients, 1, size.features))
    scales = np.arange(1, size.features + 1) ** -0.6
    X = centres + scales * rng.standard_normal(shape)
    rules = rng.standard_normal((size.num_clients, size.features, size.classes))
    np.savez(path, X=X, y=np.argmax(X @ rules, axis=2), classes=size.classes)


def write_tiny(path: Path, size: TinySize) -> None:
    """Write Job P's samples: one noisy linear rule for all clients, shifted features."""
    rng = np.random.default_rng(1)
    shape = (size.num_clients, size.samples, size.features)
    X = 0.3 * rng.standard_normal((size.num_clients, 1, size.features)) + rng.standard_normal(shape)
    score = X @ rng.standard_normal(size.features) / np.sqrt(size.features)
    y = (score + 0.5 * rng.standard_normal(shape[:2]) > 0).astype(np.int64)
    np.savez(path, X=X, y=y)


def write_network(path: Path, size: NetworkSize) -> None:
    """Write Job D's samples: noise of MNIST's shape around one image per class, and as many classes on every client."""
    rng = np.random.default_rng(2)
    total = size.num_clients * size.samples + size.tests
    y = rng.integers(0, size.classes, total)
    X = rng.standard_normal((total, size.side, size.side), dtype=np.float32)
    X += 0.1 * rng.standard_normal((size.classes, size.side, size.side), dtype=np.float32)[y]
    train = total - size.tests
    shape = (size.num_clients, size.samples)
    np.savez(
        path,
        X=X[:train].reshape(*shape, size.side, size.side),
        y=y[:train].reshape(shape),
        X_test=X[train:],
        y_test=y[train:],
        classes=size.classes,
    )
