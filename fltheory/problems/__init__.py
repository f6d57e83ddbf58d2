"""What every problem offers, what an algorithm may ask of it, and parts for a problem of your own.

Public names, the generators of all problems among them, are listed in ``__init__.pyi`` and loaded on first use.
"""

from fltheory._internal.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
