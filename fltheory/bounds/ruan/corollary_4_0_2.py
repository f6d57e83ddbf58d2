r"""Corollary 4.0.2: near the old minimiser an extra step of the arriving client helps.

Client :math:`l` arrives; the objective :math:`F` with minimiser :math:`w^*` becomes
:math:`\tilde F = (1-\tilde p^l) F + \tilde p^l F_l` with minimiser :math:`\tilde w^*`. With :math:`W` a bound on
:math:`\|\nabla F(w)\|` and :math:`\|\nabla^2 F(w)\|_2`, as published: if

.. math:: \|w - w^*\| < \frac{\tilde F(w^*) - \tilde F(\tilde w^*)}
   {\bigl(\frac{2\sqrt{2L}}{\mu}\tilde p^l\sqrt{\Gamma_l} + 1\bigr)\tilde p^l W} ,

then some :math:`\delta^l > 0` makes :math:`w' = w - \delta^l\nabla F_l(w)` closer to :math:`\tilde w^*` than
:math:`w` is. Since
:math:`\|w' - \tilde w^*\|^2 = \|w - \tilde w^*\|^2 - 2\delta^l\langle w - \tilde w^*, \nabla F_l(w)\rangle +
(\delta^l)^2\|\nabla F_l(w)\|^2`,
such a :math:`\delta^l` exists if and only if :math:`\langle w - \tilde w^*, \nabla F_l(w)\rangle > 0`. What is
evaluated is the same in another form: with :math:`u` a multiple of :math:`\nabla F_l(w)` about as long as
:math:`w - \tilde w^*`, going by :math:`-u` ends nearer to :math:`\tilde w^*` than going by :math:`u`.

**Reading.** No strongly convex function has a bounded gradient everywhere, and :math:`\nabla F(w^*) = 0`. So
:math:`W` bounds both norms on a box that holds :math:`w`, :math:`w^*`, :math:`\tilde w^*` and the minimisers of all
clients.

**Where it fails.** The proof bounds :math:`\nabla F_l` and :math:`\nabla^2 F_l` by :math:`W`, the statement bounds
those of :math:`F`. A flat :math:`F` and a curved :math:`F_l` make the printed radius too large: in one dimension with
:math:`F = \frac\mu2 w^2`, :math:`F_l = \frac L2(w-1)^2`, :math:`L > 2\mu` and a small :math:`\tilde p^l` the radius
reaches beyond :math:`\tilde w^*`, and there the extra step leads away from it.

**Derivation of the corrected form.** With :math:`W_l` a bound on :math:`\|\nabla F_l\|` and
:math:`\|\nabla^2 F_l\|_2` on the segment from :math:`w^*` to :math:`w`, every step of (86) and (87) is right. It also
follows from the sharp form, whose radius is at least as large since :math:`\|\nabla F_l(w^*)\| \le W_l`.

**Derivation of the sharp form.** Convexity at :math:`w` and at :math:`w^*` gives

.. math:: \langle w - \tilde w^*, \nabla F_l(w)\rangle \ge F_l(w) - F_l(\tilde w^*)
   \ge F_l(w^*) - F_l(\tilde w^*) - \|\nabla F_l(w^*)\|\,\|w - w^*\| .

Since :math:`F(\tilde w^*) \ge F(w^*)`,
:math:`\tilde p^l\,(F_l(w^*) - F_l(\tilde w^*)) \ge \tilde F(w^*) - \tilde F(\tilde w^*)`, and
:math:`\tilde p^l\nabla F_l(w^*) = \nabla\tilde F(w^*)` as :math:`\nabla F(w^*) = 0`. So

.. math:: \|w - w^*\| < \frac{\tilde F(w^*) - \tilde F(\tilde w^*)}{\|\nabla\tilde F(w^*)\|}

suffices: no :math:`L`, no :math:`\mu`, no Hessian, and only quantities of the new objective at the old minimiser. The
constant 1 cannot be improved: in one dimension the step helps only before :math:`\tilde w^*`, and if
:math:`\tilde F'` stays near its value at :math:`w^*` until shortly before :math:`\tilde w^*` and then rises steeply,
which takes a large condition number, the radius comes as close to :math:`|w^* - \tilde w^*|` as one likes. On the way
one also sees that the step helps wherever :math:`F_l(w) > F_l(\tilde w^*)`.

Instances: two or three clients in the plane, with a kink in the derivative per coordinate or with turned axes;
:math:`w` around :math:`w^*` at distances comparable with :math:`\|w^* - \tilde w^*\|`.

Source: Ruan et al., AISTATS 2021, section 4.2, (7), and appendix A.5.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sympy import Lt, sqrt

from fltheory.bounds._algebra import Norm, scalar
from fltheory.bounds._claim import Claim, Form, Instances, Kind, Source
from fltheory.bounds._space import Choice, Integer, Params, Real, Space
from fltheory.bounds._symbols import L, mu, w_star
from fltheory.bounds.ruan._shift import Gamma_l, kinked, w_new, without_last
from fltheory.functions import Functions, Turned

w_now = scalar("ruan_w_now", "w", "global model when the client arrives")
share = scalar("ruan_share", r"\tilde p^l", "weight of the arriving client")
F_at_old = scalar("ruan_F_at_old", r"\tilde F(w^*)", "new objective at the old minimiser")
F_at_new = scalar("ruan_F_at_new", r"\tilde F(\tilde w^*)", "minimum of the new objective")
grad_at_old = scalar("ruan_grad_at_old", r"\nabla\tilde F(w^*)", "gradient of the new objective at the old minimiser")
u = scalar("ruan_u", "u", "positive multiple of the arriving client's gradient at the model")
W = scalar("ruan_W", "W", "bound on gradient and Hessian of the old objective")
W_l = scalar(
    "ruan_W_l", "W_l", "bound on gradient and Hessian of the arriving client between the old minimiser and the model"
)


def functions_of(point: Params) -> tuple[Functions, Any]:
    """Return the clients' functions, and a bound on the curvature of each."""
    # Clients that were there before may all be flatter than the one that arrives.
    scale: Any = np.array([[point["flat"]]] * (point["N"] - 1) + [[1]])
    point = {**point, "left": scale * point["left"], "right": scale * point["right"]}
    if point["shape"] == "kinked":
        found = kinked(point)
        return found, np.maximum(found.left, found.right).max(axis=1)
    low, high = point["mu"], point["mu"] * point["condition"]
    eigenvalues = low + (high - low) * point["left"]
    return Turned(centre=point["centre"], eigenvalues=eigenvalues, turn=point["turn"]), eigenvalues.max(axis=1)


def realise(point: Params) -> dict[str, Any]:
    """Return both minimisers, a model near the old one, and the bounds."""
    functions, curvature = functions_of(point)
    counts, ranks = point["n"], range(point["N"])
    new, old = counts / counts.sum(), without_last(counts) / without_last(counts).sum()
    before, after = functions.minimiser(old), functions.minimiser(new)
    move, (along, across) = after - before, point["reach"]
    model = before + along * move + across * np.array([-move[1], move[0]])

    def value(w: Any) -> Any:
        return sum(new[k] * functions.value(k, w) for k in ranks)

    def gradient(weights: Any, w: Any) -> Any:
        return sum(weights[k] * functions.gradient(k, w) for k in ranks)

    # Gradients are largest at the corners: monotone in every coordinate, or linear. Sums of moduli bound norms.
    held = [model, before, after, *point["centre"]]
    corners = itertools.product(*(((min(x), max(x))) for x in zip(*held, strict=True)))
    steepest = max(_size(gradient(old, np.array(corner))) for corner in corners)
    own, own_before = functions.gradient(-1, model), functions.gradient(-1, before)
    along_segment = np.maximum(np.maximum(own, -own), np.maximum(own_before, -own_before)).sum()
    return {
        "mu": point["mu"],
        "L": point["mu"] * point["condition"],
        "w_star": before,
        "w_new": after,
        "ruan_w_now": model,
        "ruan_share": new[-1],
        "ruan_F_at_old": value(before),
        "ruan_F_at_new": value(after),
        "ruan_grad_at_old": gradient(new, before),
        "ruan_u": own * (_size(model - after) / _size(own)) if _size(own) > 0 else own,
        "Gamma_l": functions.value(-1, before),
        "ruan_W": max(steepest, (old * curvature).sum()),
        "ruan_W_l": max(along_segment, curvature[-1]),
    }


def _size(v: Any) -> Any:
    return np.maximum(v, -v).sum()


def sphere(bound: Any) -> Any:
    """Return the published condition with a given bound on gradient and Hessian."""
    radius = (F_at_old - F_at_new) / ((2 * sqrt(2 * L) / mu * share * sqrt(Gamma_l) + 1) * share * bound)
    return Lt(Norm(w_now - w_star), radius)


helps = Lt(Norm(w_now - u - w_new), Norm(w_now + u - w_new))

claim = Claim(
    id="ruan.corollary-4.0.2",
    kind=Kind.RULE,
    title="fast reboot helps near the old minimiser",
    source=Source("ruan", "Corollary 4.0.2, (7)"),
    forms=(
        Form(
            statement=helps,
            premises=(sphere(W),),
            note="the bound W is taken on a box that holds all points in question",
        ),
        Form(
            variant="corrected",
            statement=helps,
            premises=(sphere(W_l),),
            note="gradient and Hessian of the arriving client, as the proof needs, in place of the old objective's",
        ),
        Form(
            variant="sharp",
            statement=helps,
            premises=(Lt(Norm(w_now - w_star) * Norm(grad_at_old), F_at_old - F_at_new),),
            note="a larger sphere, from quantities of the new objective at the old minimiser alone",
        ),
    ),
    uses=("ruan.lemma-a.4", "ruan.theorem-3.2-arrival"),
    check=Instances(
        space=Space(
            {
                "N": Integer(2, 3),
                "d": Integer(2, 2),
                "shape": Choice(("kinked", "turned")),
                "mu": Real(0.01, 10, log=True),
                "condition": Real(1, 1000, log=True),
                "n": Real(0.01, 100, log=True, shape=("N",)),
                "centre": Real(-1, 1, shape=("N", "d")),
                "knot": Real(-1, 1, shape=("N", "d")),
                "left": Real(0, 1, shape=("N", "d")),
                "right": Real(0, 1, shape=("N", "d")),
                "flat": Real(0.001, 1, log=True),
                "turn": Real(-1, 1, shape=("N",)),
                "reach": Real(-1.5, 1.5, shape=(2,)),
            }
        ),
        realise=realise,
    ),
)
