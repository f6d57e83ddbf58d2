r"""(11): the first-order condition of the sub-problem, zero coordinates included.

The solution :math:`\theta_k^t` of :math:`\min_\theta L_k(\theta) - \langle\nabla L_k(\theta_k^{t-1}), \theta\rangle +
\frac{\lambda_2}2\|\theta - \theta^{t-1}\|^2 + \lambda_1\|\theta - \theta^{t-1}\|_1` is said to satisfy

.. math:: \nabla L_k(\theta_k^t) - \nabla L_k(\theta_k^{t-1}) + \lambda_2(\theta_k^t - \theta^{t-1})
   + \lambda_1\operatorname{sign}(\theta_k^t - \theta^{t-1}) = 0 .

That is true on the coordinates that move. Those that the l1 term holds, the very purpose of it, have
:math:`\operatorname{sign}(0) = 0` in place of a subgradient, and the residual there is anything up to
:math:`\lambda_1`.

(12) concludes from :math:`\theta_k^t \ne \theta^{t-1}`, "i.e." :math:`\operatorname{sign}(\theta_k^t -
\theta^{t-1}) = \pm1`, that the smooth part equals :math:`\pm\lambda_1`, every coordinate of it. The two premises are
not the same for vectors. If every coordinate has the sign :math:`\pm1` it is true (``published@12-every``); if only the
vectors differ, one coordinate that moves does not keep another one from being held (``published@12``).

**Derivation of the corrected form.** The subdifferential of :math:`|u|` is :math:`\{\operatorname{sign} u\}` if
:math:`u \ne 0` and :math:`[-1, 1]` if :math:`u = 0`. So the residual, coordinate by coordinate, has at most the
magnitude :math:`\lambda_1(1 - |\operatorname{sign}(\theta_k^t - \theta^{t-1})|)`: 0 off the zero set,
:math:`\lambda_1` on it. It is attained where the l1 term just holds. The condition is also sufficient, the
sub-problem being convex.

Instances: one client with piecewise linear derivative, any previous local model and server model, solved in closed
form.

Source: the paper's section 3.3, (10) to (12); the vector that is stored in place of the gradient is another matter
(Lemma B.2).
"""

from __future__ import annotations

from typing import Any

from sympy import Abs, Eq, Gt, Le, sign

from fltheory.bounds.algebra import NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._prox import SHAPES, losses, quantities
from fltheory.bounds.fen._symbols import grad, l1, l2, server
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import k

before = scalar("before", r"\theta_k^{t-1}", "local model before the round", shape=("dim",))
solution = scalar("solution", r"\theta_k^t", "solution of the sub-problem", shape=("dim",))
direction = scalar(
    "direction", r"\operatorname{sign}(\theta_k^t - \theta^{t-1})", "sign of the update, 0 at 0", shape=("dim",)
)


def realise(point: Params) -> dict[str, Any]:
    """Return one client's sub-problem and its solution."""
    client, pull = losses(point), point["beta"] * point["l2_over_beta"]
    stored = client.gradients(point["before"])
    solved = client.elastic(stored, point["server"], pull=pull, l1=point["l1"])
    return {
        "k": 1,
        "lambda_1": point["l1"],
        "lambda_2": pull,
        "server": point["server"],
        "before": point["before"],
        "solution": solved.at[0],
        "direction": solved.sign[0],
        **quantities(client),
    }


smooth = grad(k, solution) - grad(k, before) + l2 * (solution - server)

where = ((direction, sign(solution - server)),)

claim = Claim(
    id="fen.eq-11",
    kind=Kind.LEMMA,
    title="first-order condition of the sub-problem",
    citation=Citation("fen", "(11), (12)"),
    forms=(
        Form(statement=Eq(smooth + l1 * direction, 0, evaluate=False), where=where),
        Form(
            variant="published@12",
            statement=Eq(Abs(smooth), l1, evaluate=False),
            premises=(Gt(NormSq(solution - server), 0),),
            note="(12), for every coordinate once the models differ",
        ),
        Form(
            variant="published@12-every",
            intended=("published@12",),
            statement=Eq(Abs(smooth), l1, evaluate=False),
            where=where,
            premises=(Eq(Abs(direction), 1, evaluate=False),),
            note="(12), if every coordinate of the update has the sign +1 or -1, as the parenthesis says",
        ),
        Form(
            variant="corrected",
            statement=Le(Abs(smooth + l1 * direction), l1 * (1 - Abs(direction))),
            where=where,
            note="a subgradient in place of the sign on coordinates that are held",
        ),
    ),
    check=Instances(
        space=Space(
            {
                "m": Integer(1, 1),
                "d": Integer(1, 3),
                **SHAPES,
                "before": Real(-3, 3, shape=("d",)),
                "server": Real(-3, 3, shape=("d",)),
                "l1": Real(0.01, 10, log=True),
                "l2_over_beta": Real(0.01, 100, log=True),
            }
        ),
        realise=realise,
    ),
)
