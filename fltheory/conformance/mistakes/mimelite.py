"""Readings of MIMELite and known mistakes in its statistics."""

from __future__ import annotations

from fltheory.conformance.mistakes.mime import momentum_round, momentum_variants
from fltheory.conformance.variants import Variant, mistake

VARIANTS: tuple[Variant, ...] = (
    mistake(
        "corrected",
        "local gradients recentred at the mean gradient, which is MIME",
        round=momentum_round(corrected=True),
    ),
    *momentum_variants(corrected=False),
)
