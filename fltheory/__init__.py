"""The executable theory of federated learning on heterogeneous, drifting clients.

Public names are listed in ``__init__.pyi`` and loaded on first use.
"""

from fltheory._internal.lazy import attach

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__, "__version__")
