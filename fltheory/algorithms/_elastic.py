r"""What the three FedElasticNet algorithms share: the elastic-net sub-problem and the cut before the upload.

.. math:: \min_w\ f_i(w) + \langle \ell_i, w \rangle + \frac{\lambda_2}{2}\|w - w^t\|^2 + \lambda_1 \|w - w^t\|_1,

then every coordinate of the displacement with :math:`|\Delta_i(j)| \le \epsilon` is sent as 0. The paper cuts what
is *sent*, after the boxes have renewed the clients' memories; so memories on the clients see the displacement
before the cut, and the server, which has nothing else, the one after it.
"""

from __future__ import annotations

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import keep_absent
from fltheory.problems.oracle import LocalSteps, Oracle, Round


def validate(owner: str, *, l1: float, l2: float, epsilon: float, positive_l2: bool = False) -> None:
    """Check the three parameters; ``positive_l2`` if the algorithm divides by ``l2``."""
    arguments.real(owner, "l1", l1, low=0)
    arguments.real(owner, "l2", l2, low=0, open_low=positive_l2)
    arguments.real(owner, "epsilon", epsilon, low=0)


def piecewise(l1: float, epsilon: float) -> str:
    """Name what keeps the round from being affine; empty if nothing does."""
    parts = []
    if l1 > 0:
        parts.append(f"sign of the l1 term, l1 = {l1:g}")
    if epsilon > 0:
        parts.append(f"cut of small displacements, epsilon = {epsilon:g}")
    return " and ".join(parts)


def cut(moved: Floats, epsilon: float) -> Floats:
    """Return the displacements as they are sent: 0 where they are at most ``epsilon``.

    >>> cut(np.array([0.5, -0.1, 0.2]), 0.2)
    array([0.5, 0. , 0. ])
    """
    return np.where(np.abs(moved) <= epsilon, 0.0, moved)


def solve(
    oracle: Oracle, work: Round, sent: Floats, *, exact: bool, l1: float, l2: float, linear: Floats | None = None
) -> Floats:
    """Return the local models: solutions of the sub-problem, or its subgradient steps from ``sent``."""
    if exact:
        return keep_absent(work.active, oracle.prox(sent, pull=l2, l1=l1, linear=linear), sent)
    how = LocalSteps(correction=linear, pull=l2, anchor=sent, l1=l1, l1_anchor=sent)
    return oracle.local_steps(sent, work, how)
