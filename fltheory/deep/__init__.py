"""Deep networks on real data: the papers' networks, trained by the algorithms of this package with PyTorch.

PyTorch is an extra, ``pip install --editable '.[torch]'``; it is loaded when a network is built.
"""

from fltheory.deep.examples import Examples
from fltheory.deep.problem import DeepObjective, DeepProblem

__all__ = ["DeepObjective", "DeepProblem", "Examples"]
