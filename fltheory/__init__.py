"""The executable theory of federated learning on heterogeneous, drifting clients."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Experiment": "fltheory.experiment",
    "Participation": "fltheory.participation",
    "Record": "fltheory.recording",
    "Trajectories": "fltheory.trajectories",
    "client_quadratics": "fltheory.quadratic",
    "noisy_quadratic": "fltheory.quadratic",
    "simulate": "fltheory.engines",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Load public names on first use, so that importing the package costs nothing."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
