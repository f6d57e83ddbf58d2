"""Known mistakes in FedAvg."""

from __future__ import annotations

from fltheory.conformance.mistakes.averaging import AVERAGING

VARIANTS = AVERAGING
