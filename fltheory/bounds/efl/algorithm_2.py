r"""Algorithm 2: what sparse ternary compression keeps, and whether it contracts.

With :math:`k = \max(nq, 1)` and :math:`e` the :math:`k`-th largest of the :math:`|T_j|`, entries with :math:`|T_j|
\ge e` are kept and become :math:`\pm\mu_{\mathrm{ST}}`, :math:`\mu_{\mathrm{ST}} = \frac1k\sum_{|T_j|\ge e}|T_j|`,
which is called the mean magnitude of the top :math:`k`. The box thus says that :math:`k` entries are kept; and to
feed the error back makes sense only if it is no larger than what was compressed:

.. math:: |\{j : |T_j| \ge e\}| = k, \qquad \|T - \mathrm{ST}(T)\|^2 \le \|T\|^2 .

:math:`nq` need not be a whole number: the reading ``published@ceil`` rounds it up, ``published@unrounded`` divides by
:math:`nq` itself and rounds up only to find :math:`e`. Ties break both, and the count. For :math:`n` equal entries
all are kept, :math:`\mu_{\mathrm{ST}}` is :math:`n/k` times their magnitude, and the error is :math:`(n/k -
1)^2\|T\|^2`: an expansion for :math:`n > 2k`. Without ties the second reading contracts too, since the error on
:math:`m \ge k > m - 1` kept entries of sum :math:`S` changes by :math:`\frac{S^2}{k^2}(m - 2k) \le 0`.

**Derivation of the corrected form.** Keep exactly :math:`k = \lceil\max(nq, 1)\rceil` entries, whichever of equal
ones. On them the error is :math:`\sum(|T_j| - \mu_{\mathrm{ST}})^2 = \sum T_j^2 - k\mu_{\mathrm{ST}}^2`, so

.. math:: \|T - \mathrm{ST}(T)\|^2 \le \|T\|^2 - k\,\mu_{\mathrm{ST}}^2 ,

with equality unless a kept entry is zero. (Keeping all tied entries and dividing by their number instead of :math:`k`
contracts as well.)

**Derivation of the sharp form.** Given the sum :math:`k\mu_{\mathrm{ST}}` of the kept magnitudes, :math:`\|T\|^2` is
convex in them, hence largest at a vertex: one entry alone, :math:`k^2\mu_{\mathrm{ST}}^2`, or all :math:`n` equal,
:math:`n\mu_{\mathrm{ST}}^2` (the vertices with :math:`1 < m < k` equal entries have
:math:`\frac{k^2}m\mu_{\mathrm{ST}}^2`, less than the first). So :math:`k\mu_{\mathrm{ST}}^2 \ge \min(\frac1k, \frac
kn)\|T\|^2`. For :math:`k^2 \le n` the smaller one is :math:`\frac kn` and is attained by equal entries; otherwise it is
:math:`\frac1k` and is approached by one entry among tiny ones.

Instances: vectors of one to six entries, ties included, and any fraction; for the corrected and the sharp form, a
number of entries to be kept and a number of others.

Source: EFL, Algorithm 2, both versions. The papers' :math:`\mu` of the box is written :math:`\mu_{\mathrm{ST}}` here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq, Le, Min

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.efl._compressor import Sent, asked_for, compress
from fltheory.bounds.efl._symbols import asked, kept, length, level, sent, vector
from fltheory.bounds.space import Integer, Params, Real, Space


def _instance(point: Params, *, ties: str, rounded: bool = True) -> dict[str, Any]:
    values, size = point["T"], point["n"]
    count = asked_for(point["q"], size)
    divisor = count if rounded or point["q"] * size < 1 else point["q"] * size
    return _made(values, count, compress(values, count, ties=ties, divisor=divisor))


def _made(values: Any, count: int, found: Sent) -> dict[str, Any]:
    return {
        "T": values,
        "ST": found.values,
        "level": found.level,
        "length": len(values),
        "asked": count,
        "kept": found.kept,
    }


def _counted(point: Params) -> dict[str, Any]:
    values = np.concatenate([point["T"], point["more"]])
    return _made(values, point["k"], compress(values, point["k"], ties="exact"))


def _threshold(point: Params) -> dict[str, Any]:
    return _instance(point, ties="threshold")


def _unrounded(point: Params) -> dict[str, Any]:
    return _instance(point, ties="threshold", rounded=False)


space = Space({"n": Integer(1, 6), "q": Real(0.01, 1), "T": Real(-3, 3, shape=("n",))})
entries = Space(
    {
        "k": Integer(1, 4),
        "left": Integer(0, 4),
        "T": Real(-3, 3, shape=("k",)),
        "more": Real(-3, 3, shape=("left",)),
    }
)
error = NormSq(vector - sent)

claim = Claim(
    id="efl.algorithm-2",
    kind=Kind.LEMMA,
    title="the compressor keeps k entries and contracts",
    citation=Citation("efl", "Algorithm 2 (both versions)"),
    forms=(
        Form(
            variant="published@ceil",
            statement=Le(error, NormSq(vector)),
            check=Instances(space=space, realise=_threshold),
            note="nq rounded up",
        ),
        Form(
            variant="published@count",
            statement=Eq(kept, asked, evaluate=False),
            check=Instances(space=space, realise=_threshold),
            note="nq rounded up; how many entries are kept",
        ),
        Form(
            variant="published@unrounded",
            statement=Le(error, NormSq(vector)),
            check=Instances(space=space, realise=_unrounded),
            note="the sum of the kept magnitudes is divided by nq itself",
        ),
        Form(
            variant="corrected",
            statement=(Eq(kept, asked, evaluate=False), Le(error, NormSq(vector) - asked * level**2)),
            note="exactly k entries are kept, whichever of equal ones",
        ),
        Form(
            variant="sharp",
            statement=Le(error, (1 - Min(1 / asked, asked / length)) * NormSq(vector)),
            note="attained by equal entries if k^2 <= n, otherwise approached by one entry among tiny ones",
        ),
    ),
    check=Instances(space=entries, realise=_counted),
)
