r"""Did every tool do the same job? Its mean curve has to agree with what is expected of it.

For FedAvg on Job Q the expectation is known in closed form. In the eigenbasis of ``A``, with
:math:`\rho = 1 - \eta\lambda`, :math:`S = \sum_{k<K}\rho^k`, the error :math:`e_t = w_t - w^*` obeys

.. math:: \mathbb E e_{t+1} = \rho^K\,\mathbb E e_t - \eta S\bar\delta, \qquad
          \mathrm{Var}\,e_{t+1} = \rho^{2K}\,\mathrm{Var}\,e_t
          + \frac{\eta^2}{Nd}\Bigl(S^2\sigma_\xi^2 + \sigma_\nu^2\sum_{k<K}\rho^{2k}\Bigr)

coordinate by coordinate. This uses nothing of fltheory's engines, so it checks them as well as the peers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.protocol import Floats

SIGMAS = 5.0
"""Standard errors within which two estimates agree; by chance alone fewer than 1 in 10^5 comparisons fail."""

ROUNDING = 1e-8
"""Relative difference that is put down to floating point."""


class Estimate(NamedTuple):
    """A mean with its standard error; ``None`` if a single run cannot tell."""

    mean: float
    error: float | None

    @classmethod
    def pooled(cls, runs: Sequence[Estimate]) -> Estimate:
        """Return the average of independent runs."""
        mean = math.fsum(run.mean for run in runs) / len(runs)
        known = [run.error for run in runs if run.error is not None]
        if len(known) < len(runs):
            if len({run.mean for run in runs}) == 1:
                return cls(mean, None)
            spread = math.sqrt(math.fsum((run.mean - mean) ** 2 for run in runs) / (len(runs) - 1))
            return cls(mean, spread / math.sqrt(len(runs)))
        return cls(mean, math.sqrt(math.fsum(error**2 for error in known)) / len(runs))


def summary(curve: Floats) -> dict[str, Estimate]:
    """Return estimates after the first, the middle and the last round, and of the average over the later half.

    The average notices what single rounds do not: by then the start is forgotten and drift and noise are all there
    is. ``curve`` has shape ``(replicates, rounds + 1)``; a single row has no standard error.
    """
    replicates, columns = curve.shape
    values = {str(column): curve[:, column] for column in sorted({1, columns // 2, columns - 1})}
    values["later half"] = curve[:, columns // 2 :].mean(axis=1)
    return {
        name: Estimate(
            float(sample.mean()), float(sample.std(ddof=1)) / math.sqrt(replicates) if replicates > 1 else None
        )
        for name, sample in values.items()
    }


def disagreement(seen: Mapping[str, Estimate], truth: Mapping[str, Estimate], spread: float = 0.0) -> str:
    """Return where two sets of estimates differ by more than chance, or an empty string.

    ``spread`` is a further relative difference that is allowed, where the jobs agree only nearly in law.
    """
    for name, expected in truth.items():
        if name not in seen:
            return f"{name} was not recorded"
        mean, error = seen[name]
        allowed = SIGMAS * math.hypot(error or 0.0, expected.error or 0.0) + (ROUNDING + spread) * abs(expected.mean)
        if not abs(mean - expected.mean) <= allowed:
            return f"{_place(name)}: {mean:.6g}, expected {expected.mean:.6g} +- {allowed:.2g}"
    return ""


def _place(name: str) -> str:
    return f"round {name}" if name.isdigit() else name


def fedavg_distances(data: Path, *, local_steps: int, rounds: int, rate: float) -> Floats:
    """Return the expected squared distance of FedAvg after every round of Job Q, shape ``(1, rounds + 1)``."""
    with np.load(data) as stored:
        values, vectors = np.linalg.eigh(stored["A"])
        clients, dim = stored["delta"].shape
        mean = vectors.T @ (stored["start"] - stored["w_star"])
        drift = vectors.T @ stored["delta"].mean(axis=0)
        round_drift_sq, noise_sq = float(stored["round_drift_sq"]), float(stored["noise_sq"])
    powers = (1 - rate * values) ** np.arange(local_steps)[:, None]
    contraction = (1 - rate * values) ** local_steps
    reach = powers.sum(axis=0)
    fresh = rate**2 / (clients * dim) * (reach**2 * round_drift_sq + (powers**2).sum(axis=0) * noise_sq)
    variance = np.zeros(dim)
    distances = [float(mean @ mean)]
    for _ in range(rounds):
        mean = contraction * mean - rate * reach * drift
        variance = contraction**2 * variance + fresh
        distances.append(float(mean @ mean + variance.sum()))
    return np.array([distances])
