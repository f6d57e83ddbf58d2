r"""Section 3.2: the server step of the main text against Algorithm 1.

With :math:`\Delta\omega_{t,i} = \omega_{t,i,K} - \omega_t`, the main text prints

.. math:: \omega_{t+1} = \omega_t - \frac{\eta_g}{N}\sum_{i=1}^N \Delta\omega_{t,i},

while Algorithm 1 adds the mean displacement. They agree only where the displacements cancel; with one client, one
step and :math:`\eta_g = 1` the printed formula climbs the gradient.

**Derivation of the corrected form.** Lines 13 and 14 of Algorithm 1: :math:`\omega_{t+1} = \omega_t +
\frac{\eta_g}{N}\sum_i\Delta\omega_{t,i}`.

Instances: one round of FedAvg on quadratics of one or two variables, run as Algorithm 1 says; the next model is
computed from the mean of the clients' models, :math:`(1 - \eta_g)\omega_t + \eta_g\frac1N\sum_i\omega_{t,i,K}`.

Source: Guo et al., 2021, section 3.2 and Algorithm 1.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Sum

from fltheory.bounds.cfl._symbols import eta_g, w_t
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import N, k

moved = family("moved", r"\Delta\omega_{t,<0>}", "displacement of a client in the round", shape=("clients", "dim"))
w_next = scalar("w_next", r"\omega_{t+1}", "global model after the round", shape=("dim",))


def realise(point: Params) -> dict[str, Any]:
    """Run one round."""
    start = point["start"]
    local = point["centre"] * 0 + start
    for _ in range(point["K"]):
        local = local - point["rate"] * point["curvature"] * (local - point["centre"])
    rate = point["eta_g"]
    return {
        "N": point["N"],
        "eta_g": rate,
        "w_t": start,
        "moved": local - start,
        "w_next": (1 - rate) * start + rate * local.sum(axis=0) / point["N"],
    }


def entry(sign: int) -> Eq:
    """Return the server step with this sign; models are compared entry by entry."""
    return Eq(w_next, w_t + sign * eta_g / N * Sum(moved[k], (k, 1, N)), evaluate=False)


claim = Claim(
    id="cfl.section-3.2-server",
    kind=Kind.IDENTITY,
    title="server step of the main text against Algorithm 1",
    citation=Citation("cfl", "Section 3.2"),
    forms=(
        Form(statement=entry(-1)),
        Form(variant="corrected", intended=("published",), statement=entry(1), note="plus, as in the algorithm boxes"),
    ),
    check=Instances(
        space=Space(
            {
                "N": Integer(1, 3),
                "K": Integer(1, 3),
                "d": Integer(1, 2),
                "start": Real(-2, 2, shape=("d",)),
                "centre": Real(-2, 2, shape=("N", "d")),
                "curvature": Real(0.1, 2, shape=("N", "d")),
                "rate": Real(0.05, 0.5),
                "eta_g": Real(0.5, 2),
            }
        ),
        realise=realise,
    ),
)
