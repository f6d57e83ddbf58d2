"""The catalogue of readings and known mistakes, one module per algorithm.

A module ``mistakes/x_y.py`` holds ``VARIANTS`` of the algorithm named ``x-y``; those that many algorithms share are in
:mod:`~fltheory.conformance.mistakes.shared`.
"""

from __future__ import annotations

import importlib
import pkgutil

from fltheory.algorithms.base import Algorithm
from fltheory.configuration import registry
from fltheory.conformance.mistakes.shared import SHARED, shared_variants
from fltheory.conformance.variants import Variant


def variants(algorithm: Algorithm) -> tuple[Variant, ...]:
    """Return the variants that make sense for an algorithm with its parameters.

    >>> from fltheory.algorithms.scaffold import Scaffold
    >>> any("NIID-Bench" in variant.source for variant in variants(Scaffold()))
    True
    """
    every = (*own_variants(algorithm.name), *shared_variants(algorithm))
    return tuple(variant for variant in every if variant.applies(algorithm))


def own_variants(name: str) -> tuple[Variant, ...]:
    """Return the variants of an algorithm's own module, whatever the parameters."""
    module = name.replace("-", "_")
    if module not in {entry.name for entry in pkgutil.iter_modules(__path__)}:
        return ()
    found: tuple[Variant, ...] = importlib.import_module(f"{__name__}.{module}").VARIANTS
    return found


def listed() -> list[dict[str, str]]:
    """Return the whole catalogue as plain values, by algorithm; shared variants come last, once."""
    homes = [(name, own_variants(name)) for name in registry.algorithms()] + [("all", SHARED)]
    return [
        {"algorithm": name, "kind": v.kind.value, "name": v.name, "text": v.text, "source": v.source}
        for name, found in homes
        for v in found
    ]
