r"""Section 3.3: stationary points of Algorithm 3 against those of the mean loss.

The text says of (11), as of FedDyn's (9), that it makes the stationary points of the local objectives consistent with
the server model, so that client drift is resolved. For FedDyn that means: if a round changes nothing, then
:math:`\theta_k = \theta` for all clients, what they store is :math:`\nabla L_k(\theta)` and sums up to
:math:`m h = 0`, hence

.. math:: \nabla\mathcal R(\theta) = \frac1m\sum_{k\in[m]}\nabla L_k(\theta) = 0 .

With the l1 term and the printed memory the last step fails. A round changes nothing if and only if :math:`h = 0` and
every client is held, :math:`|\nabla L_k(\theta) - m_k| \le \lambda_1` in every coordinate. So there is a continuum of
fixed points, and the gradient of the mean loss there is anything up to :math:`\lambda_1` per coordinate. Some of them
are the very start: with :math:`m_k = 0`, every :math:`\theta^0` at which all clients' gradients are at most
:math:`\lambda_1`. The excess risk of such a point has no bound in terms of :math:`\lambda_1` without strong
convexity.

The converse is true: the minimiser, with what is stored equal to the gradients there, is a fixed point
(``published@optimum``).

**Derivation of the corrected form.** At a fixed point :math:`\sum_k m_k = 0`, so that
:math:`|\nabla\mathcal R(\theta)| = |\frac1m\sum_k(\nabla L_k(\theta) - m_k)| \le \lambda_1` in every coordinate. It
is attained if all clients are held with the full force in the same direction.

**Derivation of the corrected form for stored subgradients.** Then :math:`h^t = \frac1m\sum_k\nabla L_k(\theta_k^t)`
(Lemma B.2), and smoothness gives in every round, whichever clients take part,

.. math:: \|\nabla\mathcal R(\theta^{t-1})\| \le \|h^t\| + \frac\beta m\sum_{k\in[m]}\|\theta_k^t - \theta^{t-1}\| .

Both terms vanish at a fixed point (:math:`h^t = \lambda_2(\gamma^t - \theta^t)`), so the only fixed points are
stationary points of :math:`\mathcal R`: the claim of the text, true for this memory.

Instances: fixed points, made by choosing how hard each client is held and solving for :math:`\theta`, then verified
with one round of the algorithm with all clients; rounds of the algorithm for the last form.

Source: the paper's section 3.3, after (9) and (11).
"""

from __future__ import annotations

from typing import Any

from sympy import Abs, Eq, Le

from fltheory.bounds.algebra import Norm
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._feddyn import mean
from fltheory.bounds.fen._prox import SHAPES
from fltheory.bounds.fen._round import State, algorithm, constants, one_round
from fltheory.bounds.fen._symbols import beta, grad, h_new, l1, local_new, server, stored_old, theta_star
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import k

server_next = scalar("server_next", r"\theta^t", "server model after a round with all clients", shape=("dim",))
stored_next = family(
    "stored_next", "m_{<0>}^t", "what a client stores after a round with all clients", shape=("clients", "dim")
)


def realise(point: Params) -> dict[str, Any]:
    """Return a fixed point of the printed algorithm and the round after it."""
    fen = algorithm(point, "sign")
    held = fen.l1 * point["held"]
    server = fen.clients.stationary(held.sum(axis=0) / point["m"])
    stored = fen.clients.gradients(server) - held
    before = State(server=server, h=stored[0] * 0, stored=stored, local=stored * 0 + server)
    after = fen.advance(before, fen.solve(before), tuple(range(point["m"])))
    return constants(point, fen) | {
        "server": server,
        "stored_old": stored,
        "server_next": after.server,
        "stored_next": after.stored,
    }


def realise_optimum(point: Params) -> dict[str, Any]:
    """Return the same with nobody held, so that the fixed point is the minimiser."""
    return realise({**point, "held": 0 * point["held"]})


space = Space(
    {
        "m": Integer(1, 3),
        "P": Integer(1, 1),
        "d": Integer(1, 2),
        **SHAPES,
        "left": Real(0.02, 1, shape=("m", "d")),
        "right": Real(0.02, 1, shape=("m", "d")),
        "held": Real(-1, 1, shape=("m", "d")),
        "l1": Real(0.01, 10, log=True),
        "l2_over_beta": Real(0.1, 100, log=True),
    }
)
gradient = mean(grad(k, server))
fixed = (
    Eq(server_next, server, evaluate=False),
    Eq(mean(Norm(stored_next[k] - stored_old[k])), 0, evaluate=False),
)

claim = Claim(
    id="fen.stationary",
    kind=Kind.LEMMA,
    title="fixed points of Algorithm 3 are stationary points of the mean loss",
    citation=Citation("fen", "Section 3.3, after (11)"),
    forms=(
        Form(statement=Eq(gradient, 0, evaluate=False), premises=fixed),
        Form(
            variant="published@optimum",
            statement=fixed,
            premises=(Eq(server, theta_star, evaluate=False),),
            check=Instances(space=space, realise=realise_optimum),
            note="the converse: the minimiser with its gradients stored is a fixed point",
        ),
        Form(
            variant="corrected",
            statement=Le(Abs(gradient), l1),
            premises=fixed,
            note="the gradient is at most lambda_1 per coordinate; attained",
        ),
        Form(
            variant="corrected@subgradient",
            statement=Le(Norm(gradient), Norm(h_new) + beta * mean(Norm(local_new[k] - server))),
            check=one_round("subgradient"),
            note="subgradients stored: what a round changes bounds the gradient",
        ),
    ),
    uses=("fen.eq-11",),
    check=Instances(space=space, realise=realise),
)
