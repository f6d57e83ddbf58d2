"""Hypothesis strategies for property-testing lemmas of federated optimisation.

Names are plural nouns, arguments are keywords, bad arguments are refused at once. What is drawn has the constants it is
asked for by construction, so that a test never has to filter:

>>> from hypothesis import given, settings
>>> from fltheory import strategies as fls
>>> @settings(max_examples=20, database=None, deadline=None)
... @given(fls.client_families(num_clients=3, dim=2, mu=1.0, L=10.0))
... def gradients_cancel_at_the_minimiser(family):
...     total = sum(p * family.functions.gradient(k, family.w_star) for k, p in enumerate(family.weights))
...     assert abs(total).max() < 1e-9
>>> gradients_cancel_at_the_minimiser()
"""

from fltheory.strategies._families import ClientFamily, client_families, smooth_functions
from fltheory.strategies._laws import Noise, compressors, noises, participation_laws
from fltheory.strategies._points import points

__all__ = [
    "ClientFamily",
    "Noise",
    "client_families",
    "compressors",
    "noises",
    "participation_laws",
    "points",
    "smooth_functions",
]
