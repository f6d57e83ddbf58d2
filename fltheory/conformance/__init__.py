"""Is my implementation right? Compare your own code with the algorithms of the package.

:func:`conform` runs it on small, telling instances and says what it is: the algorithm, a reading of it, the algorithm
with a known mistake, or something else. :func:`assert_conforms` does the same in a test suite.
"""

from fltheory.conformance.conform import assert_conforms, conform
from fltheory.conformance.federation import Federation
from fltheory.conformance.result import Conclusion, Conformance
from fltheory.conformance.user_code import UserCodeError

__all__ = ["Conclusion", "Conformance", "Federation", "UserCodeError", "assert_conforms", "conform"]
