r"""Algorithm 2: the l1 term as a subgradient step, said to make updates sparse.

The clients take :math:`B` steps

.. math:: \theta_k \leftarrow \theta_k - \eta_l\bigl(\nabla L_k(\theta_k) - c_k + c + \lambda_2(\theta_k - \theta^{t-1})
   + \lambda_1\operatorname{sign}(\theta_k - \theta^{t-1})\bigr)

from :math:`\theta^{t-1}`, and the l1 term is said to sparsify :math:`\Delta_k^t = \theta_k^t - \theta^{t-1}`. Made
precise: the update has no more non-zero entries than that of the minimiser of the objective whose subgradient is
taken (``published``), and fewer than without the l1 term wherever that minimiser has zeros and the run without it has
none (``published@fewer``).

Neither is true. The first step starts at :math:`\theta^{t-1}`, where the sign is 0, and moves every coordinate with a
non-zero gradient. After that a coordinate is pushed back and forth across zero, and meets it only by accident. Zeros
come from the cut of the experiments (entries of at most :math:`\epsilon` are sent as 0).

**Derivation of the corrected form.** For separable losses a coordinate :math:`u` of the update follows
:math:`u \leftarrow u - \eta(q(u) + \lambda_1\operatorname{sign}u)` with :math:`q` increasing, of slope at most
:math:`\beta + \lambda_2`. The minimiser has a zero there if :math:`|q(0)| \le \lambda_1`. Let
:math:`\eta(\beta + \lambda_2) \le 1`. Then :math:`|u| \le 2\eta\lambda_1` is never left: from :math:`u > 0` the step
goes down, since :math:`q(u) \ge q(0) \ge -\lambda_1`, and not below :math:`-2\eta\lambda_1`, since
:math:`u - \eta(q(u) - q(0)) \ge 0`; the other side is the same, and from 0 the step is at most :math:`\eta\lambda_1`.
So with a cut :math:`\epsilon \ge 2\eta\lambda_1` what is sent has no more non-zeros than the minimiser. The printed
:math:`\lambda_1 \le 10^{-4}`, :math:`\epsilon \ge 10^{-4}` fulfil the condition on the cut for every :math:`\eta \le
\frac12`.

**Derivation of the corrected form with a proximal step.** For separable losses again,
:math:`u \leftarrow \operatorname{soft}(u - \eta q(u), \eta\lambda_1)` maps 0 to 0 if :math:`|q(0)| \le \lambda_1`; so
zeros of the minimiser are kept from the first step on, exactly, without a cut and for every rate.

Both need separable losses. With coupled coordinates one that the minimiser holds may have a gradient beyond
:math:`\lambda_1` at the start, and leaves 0 with either step: for :math:`L(u) = \frac12u^\top Hu - b^\top u` with
:math:`H = \begin{pmatrix}1 & 0.9 \\ 0.9 & 1\end{pmatrix}`, :math:`b = (2, 1.85)`, :math:`\lambda_1 = 1`,
:math:`\lambda_2 = 0` the minimiser is :math:`(1, 0)`, while one step with :math:`\eta = 0.1` from 0 leads to
:math:`(0.1, 0.085)` with the proximal map. We know of no statement of this strength for coupled coordinates.

Instances: one client with piecewise linear derivative and any control variates, full gradients.

Source: the paper's section 3.2, (7) and Algorithm 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Ge, Le, Lt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._prox import SHAPES, losses
from fltheory.bounds.fen._symbols import beta, d, epsilon, l1, l2
from fltheory.bounds.functions import Numbers, signs
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space

rate = scalar("eta_l", r"\eta_l", "local step size of Algorithm 2", domain="nonnegative")
sent = scalar("nonzeros", r"\|\Delta_k^t\|_0", "non-zero entries of the update", domain="integer>=0")
plain = scalar(
    "nonzeros_plain",
    r"\|\Delta_k^t|_{\lambda_1=0}\|_0",
    "non-zero entries of the update without the l1 term",
    domain="integer>=0",
)
cut = scalar(
    "nonzeros_cut",
    r"\|\mathrm{cut}_\epsilon(\Delta_k^t)\|_0",
    "entries of the update beyond the cut",
    domain="integer>=0",
)
proximal = scalar(
    "nonzeros_proximal",
    r"\|\Delta_k^{t,\mathrm{prox}}\|_0",
    "non-zero entries of the update with proximal steps",
    domain="integer>=0",
)
best = scalar(
    "nonzeros_best", r"\|\Delta_k^{t,*}\|_0", "non-zero entries of the minimiser's update", domain="integer>=0"
)


def nonzeros(update: Numbers, above: Any = 0) -> int:
    """Count the entries that are larger than a number."""
    return int(np.count_nonzero(np.asarray(np.maximum(update, -update) > above, dtype=bool)))


def realise(point: Params) -> dict[str, Any]:
    """Return the sparsity of one client's update, taken in several ways."""
    client, weight, pull = losses(point), point["l1"], point["l2"]
    eta = point["rate"] / (point["beta"] + pull)

    def slope(update: Numbers) -> Numbers:
        return client.gradients(point["server"] + update) + point["control"] + pull * update

    subgradient = without = thresholded = client.centre * 0
    for _ in range(point["B"]):
        subgradient = subgradient - eta * (slope(subgradient) + weight * signs(subgradient))
        without = without - eta * slope(without)
        moved = thresholded - eta * slope(thresholded)
        thresholded = np.maximum(moved - eta * weight, 0) + np.minimum(moved + eta * weight, 0)
    minimiser = client.elastic(-point["control"], point["server"], pull=pull, l1=weight).at
    limit = 2 * eta * weight * point["slack"]
    return {
        "d": point["d"],
        "beta": point["beta"],
        "lambda_1": weight,
        "lambda_2": pull,
        "eta_l": eta,
        "epsilon": limit,
        "nonzeros": nonzeros(subgradient),
        "nonzeros_plain": nonzeros(without),
        "nonzeros_cut": nonzeros(subgradient, limit),
        "nonzeros_proximal": nonzeros(thresholded),
        "nonzeros_best": nonzeros(minimiser - point["server"]),
    }


claim = Claim(
    id="fen.algorithm-2-sparsifies",
    kind=Kind.LEMMA,
    title="the l1 term as a subgradient step makes updates sparse",
    citation=Citation("fen", "Section 3.2, (7), Algorithm 2"),
    forms=(
        Form(statement=Le(sent, best), note="read as: as sparse as the minimiser of the local objective"),
        Form(
            variant="published@fewer",
            statement=Lt(sent, plain),
            premises=(Lt(best, d), Ge(plain, d)),
            note="read as: sparser than without the l1 term",
        ),
        Form(
            variant="corrected",
            statement=Le(cut, best),
            assumptions=(
                Assumption("small step", Le(rate * (beta + l2), 1)),
                Assumption("large cut", Ge(epsilon, 2 * rate * l1)),
            ),
            note="separable losses; with a cut of at least twice the size of the l1 step",
        ),
        Form(
            variant="corrected@proximal", statement=Le(proximal, best), note="separable losses; proximal steps, no cut"
        ),
    ),
    check=Instances(
        space=Space(
            {
                "m": Integer(1, 1),
                "d": Integer(1, 3),
                "B": Integer(1, 4),
                **SHAPES,
                # Without a quadratic penalty a flat loss has no unique minimiser.
                "left": Real(0.02, 1, shape=("m", "d")),
                "right": Real(0.02, 1, shape=("m", "d")),
                "server": Real(-3, 3, shape=("d",)),
                "control": Real(-3, 3, shape=("d",)),
                "rate": Real(0.01, 1, log=True),
                "slack": Real(1, 2),
                "l1": Real(0.01, 10, log=True),
                "l2": Real(0, 3),
            }
        ),
        realise=realise,
    ),
)
