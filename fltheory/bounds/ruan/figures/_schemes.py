"""Schemes A, B and C of Ruan et al. side by side: accuracies, and what each gains over the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

SCHEMES = ("A", "B", "C")

COMPARED = (
    "traces",
    *(f"accuracy {scheme} (%)" for scheme in SCHEMES),
    "B − A (points)",
    "C − B (points)",
    "B − A, published",
    "C − B, published",
)
"""Columns of a comparison."""


def gains(cell: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return mean and standard error of B over A and of C over B in percentage points.

    ``cell["accuracy"]`` has one row per scheme and one share per instance.
    """
    a, b, c = 100 * np.array(cell["accuracy"])
    root = float(np.sqrt(len(a)))
    return [(float(np.mean(d)), float(np.std(d, ddof=1)) / root) for d in (b - a, c - b)]


def compared(cell: Mapping[str, Any], published: Sequence[float]) -> tuple[str, ...]:
    """Return the row of a set of traces, in the order of :data:`COMPARED`; ``published`` are two gains."""
    return (
        str(cell["traces"]),
        *(f"{value:.1f}" for value in 100 * np.array(cell["accuracy"]).mean(axis=1)),
        *(f"{mean:.1f} ± {error:.1f}" for mean, error in gains(cell)),
        *(f"{value:.1f}" for value in published),
    )
