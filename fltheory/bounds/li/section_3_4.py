r"""Section 3.4: the start is at most :math:`2G/\mu` away from the minimiser.

As published, for :math:`\mu`-strongly convex :math:`F` and gradients bounded by :math:`G`,

.. math:: \|w_0 - w^*\|^2 \le \frac{4G^2}{\mu^2} .

**Where it is tight.** Nowhere, by the factor 4, if :math:`G` bounds the gradients at :math:`w_0`.

**Derivation of the sharp form.** Strong convexity gives :math:`\mu\|w_0 - w^*\| \le \|\nabla F(w_0)\|`, and
:math:`\|\nabla F(w_0)\| \le \sum_k p_k\|\nabla F_k(w_0)\| \le \max_k\sqrt{\mathbb E\|\nabla F_k(w_0, \xi)\|^2} \le G`.
So 1 stands in place of 4, and for one quadratic with Hessian :math:`\mu I` without noise it is an equality.

Instances: clients whose derivatives have a kink, and quadratics with turned axes, with noise of two values;
:math:`G^2` is the largest second moment of a stochastic gradient at :math:`w_0`.

Source: Li et al., ICLR 2020, section 3.4, where it is cited from Rakhlin, Shamir and Sridharan, 2012, Lemma 2.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.functions import Kinked, Turned
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import G_sq, N, k, mu, w_star
from fltheory.problems.problem import Origin

w_0 = scalar("w_0", "w_0", "start", shape=("dim",))
g_0 = family(
    "g_0", r"\nabla F_{<0>}(w_0, \xi)", "stochastic gradient at the start", random=True, shape=("clients", "dim")
)


def realise(point: Params, *, turned: bool) -> dict[Any, Any]:
    """Return the start, the minimiser, and the gradients for both faces of a coin."""
    clients, low = point["N"], point["mu"]
    slopes = low * (1 + point["left"])
    if turned:
        functions: Any = Turned(centre=point["centre"], eigenvalues=slopes, turn=point["turn"])
    else:
        functions = Kinked(centre=point["centre"], knot=point["knot"], left=slopes, right=low * (1 + point["right"]))
    weights = point["n"] / point["n"].sum()
    gradients = [functions.gradient(one, point["start"]) for one in range(clients)]
    noise = point["noise"]
    squares = [(g * g).sum() + (e * e).sum() for g, e in zip(gradients, noise, strict=True)]
    return {
        N: clients,
        mu: low,
        w_0: point["start"],
        w_star: functions.minimiser(weights),
        g_0: [[g + sign * e for g, e in zip(gradients, noise, strict=True)] for sign in (1, -1)],
        G_sq: max(squares),
        "chance": [ratio(point, 1, 2)] * 2,
    }


def _space(dim: int | str, **more: Any) -> Space:
    return Space(
        {
            "N": Integer(1, 3, far=5),
            **({"d": Integer(1, 2)} if dim == "d" else {}),
            "mu": Real(0.01, 10, log=True),
            "left": Real(0, 10, shape=("N", dim)),
            "centre": Real(-3, 3, shape=("N", dim)),
            "n": Real(0.1, 1, shape=("N",), far=0.001),
            "noise": Real(-1, 1, shape=("N", dim)),
            "start": Real(-3, 3, shape=(dim,)),
            **more,
        }
    )


kinked = Instances(
    space=_space("d", right=Real(0, 10, shape=("N", "d")), knot=Real(-3, 3, shape=("N", "d"))),
    realise=partial(realise, turned=False),
)
turned = Instances(
    space=_space(2, turn=Real(-1, 1, shape=("N",))), realise=partial(realise, turned=True), within=kinked
)

claim = Claim(
    id="li.section-3.4",
    kind=Kind.LEMMA,
    title="distance of the start from bounded gradients",
    citation=Citation("li", "Section 3.4"),
    forms=(
        Form(statement=Le(NormSq(w_0 - w_star), 4 * G_sq / mu**2)),
        Form(
            variant="published@turned",
            statement=Le(NormSq(w_0 - w_star), 4 * G_sq / mu**2),
            check=turned,
            note="quadratics whose Hessians do not commute",
        ),
        Form(
            variant="sharp",
            statement=Le(NormSq(w_0 - w_star), G_sq / mu**2),
            note="1 in place of 4, attained",
        ),
        Form(
            variant="sharp@turned",
            statement=Le(NormSq(w_0 - w_star), G_sq / mu**2),
            check=turned,
            note="1 in place of 4; quadratics whose Hessians do not commute",
        ),
    ),
    assumptions=(Assumption("bounded gradients (A4)", Le(EE(NormSq(g_0[k])), G_sq), Origin.DECLARED, ((k, 1, N),)),),
    check=kinked,
)
