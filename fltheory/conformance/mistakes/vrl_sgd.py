"""Readings of VRL-SGD and known mistakes in its corrections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fltheory.conformance.mistakes.fedgate import TRACKING
from fltheory.conformance.variants import Variant, reading


def _every_round_alike(algorithm: Any) -> bool:
    return not algorithm.warm_up


VARIANTS: tuple[Variant, ...] = (
    reading(
        "warm-up",
        "a first round of a single local step",
        "the paper's warm-up variant",
        parameters={"warm_up": True},
        applies=_every_round_alike,
    ),
    *(replace(variant, applies=_every_round_alike) for variant in TRACKING),
)
