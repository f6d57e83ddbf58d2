"""Settings shared by all tests."""

import os

# Test processes run on all cores already; more threads inside each would only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings

# The first call of a compiled loop compiles it, so single examples have no deadline; the same examples every time,
# so that a failure is a failure for everybody.
settings.register_profile("fltheory", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("fltheory")
