"""Job S: what numba itself takes to load one trivial loop from its disk cache."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)  # type: ignore[untyped-decorator]
def _total(values):  # type: ignore[no-untyped-def]
    total = 0.0
    for value in values:
        total += value
    return total


if __name__ == "__main__":
    _total(np.ones(3))
