r"""Theorem 3: FedAvg with participants drawn without replacement (scheme II).

In every round :math:`K` of the :math:`N` clients are drawn uniformly without replacement, all clients weigh
:math:`p_k = \frac1N`, and :math:`w_t \leftarrow \frac NK\sum_{k\in S_t}p_kw_t^k`. As published the bound of
:mod:`~fltheory.bounds.li.theorem_2` holds with

.. math:: C = \frac{N-K}{N-1}\,\frac4K E^2G^2 .

**Reading.** How time is counted, and what the instances are: :mod:`fltheory.bounds.li._setting`. A single client makes
:math:`C` the undefined :math:`0/0`; instances have at least two.

**Derivation of the sharp form.** As for Theorem 2: the variance of the mean of a sample without replacement is
:math:`\frac{N-K}{N-1}\,\frac1K\cdot\frac1N\sum_k\|w_{t+1}^k - \bar w_{t+1}\|^2`, so that
:math:`C = \frac{N-K}{N-1}\,\frac{\rho^2}K E^2G^2`. With all clients drawn it vanishes,
and the bound is that of Theorem 1.

Source: Li et al., ICLR 2020, Theorem 3.
"""

from __future__ import annotations

from sympy import Gt

from fltheory.bounds.claim import Assumption, Citation, Claim, Kind
from fltheory.bounds.li import _setting
from fltheory.bounds.li._setting import K
from fltheory.bounds.symbols import E, G_sq, N

C_PRINTED = (N - K) / (N - 1) * (4 / K) * E**2 * G_sq

claim = Claim(
    id="li.theorem-3",
    kind=Kind.BOUND,
    title="convergence of FedAvg, participants drawn without replacement",
    citation=Citation("li", "Theorem 3"),
    forms=_setting.forms("II", C_PRINTED),
    assumptions=(*_setting.ASSUMPTIONS, Assumption("more than one client", Gt(N, 1))),
    uses=("li.theorem-1", "li.lemma-4", "li.lemma-5"),
    check=_setting.runs("II", later=1),
    observation=_setting.observed("II", later=1),
)
