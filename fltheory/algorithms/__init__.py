"""One file per algorithm, and what an algorithm of your own is made of.

The catalogue finds algorithms by scanning this folder. Public names are listed in ``__init__.pyi`` and loaded on first
use: the base class, what a round returns, the weighted sum over clients, messages, and every algorithm.
"""

from fltheory._internal.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
