r"""Lemma 7: progress of one round of FedAvg.

For :math:`\eta_l \le \frac1{(1 + B^2)8\beta K\eta_g}` and :math:`\tilde\eta = K\eta_g\eta_l`, as published,

.. math:: \mathbb E\|x^r - x^*\|^2 \le \bigl(1 - \tfrac{\mu\tilde\eta}2\bigr)\mathbb E\|x^{r-1} - x^*\|^2
   + \tfrac1{KS}\tilde\eta^2\sigma^2 + \bigl(1 - \tfrac SN\bigr)\tfrac{4\tilde\eta^2}SG^2
   - \tilde\eta\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) + 3\beta\tilde\eta\mathcal E_r .

The printed proof separates mean and variance of :math:`\sum_{k,i}g_i(y_{i,k-1})` as if the gradients of later steps did
not depend on the noise of earlier ones, where its Lemma 4 would cost a factor of two. For convex functions a step
against the noise lowers the later gradients along it, so that the product that was left out helps. Dissimilarity (14)
is used at :math:`x^{r-1}` only, so that :math:`G` is the smallest constant there, for a given :math:`B \ge 1`.

**What the proof uses.** The noises of two clients are independent: with one noise for all of them, sampling more
clients averages nothing out, and the second term has to be :math:`\frac1K\tilde\eta^2\sigma^2` (form
``published@any-dependence``). A4 does not say so, and clients that draw from data of their own are understood to draw
independently, so that the plain reading is the intended one. :math:`\eta_g \ge 1`, which Theorem V has, is not needed.

Instances: see :mod:`fltheory.bounds.scaffold._round`; up to three clients and steps, any number of them sampled,
:math:`\eta_g` from a tenth to ten, from anywhere or from the minimiser, where clients drift and sampling shows.

Source: Karimireddy et al., 2020, Lemma 7, page 19 of the supplement.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.scaffold._round import (
    NOISY,
    ROUND,
    advance,
    begin,
    drift,
    federation,
    gap,
    sampled,
    variance,
    x_next,
    x_star,
)
from fltheory.bounds.scaffold._symbols import INDEPENDENT, B_sq, G_sq, K, S, beta, sigma_sq, step
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, Space
from fltheory.bounds.symbols import N, mu
from fltheory.problems.problem import Origin

distance = scalar(
    "distance", r"\mathbb E\|x^{r-1} - x^*\|^2", "squared distance before the round", domain="nonnegative"
)
local_sq = scalar(
    "local_sq",
    r"\tfrac1N\sum_i\|\nabla f_i(x^{r-1})\|^2",
    "mean over clients of the squared gradients before the round",
    domain="nonnegative",
)
f_star = scalar("f_star", r"f(x^*)", "minimum of the objective")
f_before = scalar("f_before", r"\mathbb E[f(x^{r-1})]", "objective before the round")


def realise(point: Params, *, common: bool = False) -> dict[str, Any]:
    """Run one round of FedAvg."""
    made = federation(point)
    if point["place"] == "minimiser":
        point = {**point, "start": made.x_star}
    size = point["step"] / (8 * (1 + point["B_sq"]) * made.beta)
    state = begin(point, 0 * point["centre"])
    after, moved = advance(point, made, state, size / (point["K"] * point["eta_g"]), controlled=False, common=common)
    before = made.gap(state.x)[0]
    squares = made.squares(made.gradients(state.x))[0]
    away = point["start"] - made.x_star
    return {
        "N": point["N"],
        "S": sampled(point),
        "K": point["K"],
        "mu": made.mu,
        "beta": made.beta,
        "B_sq": point["B_sq"],
        "G_sq": max(squares - 2 * made.beta * point["B_sq"] * before, 0 * squares),
        "sigma_sq": variance(point),
        "eta_g": point["eta_g"],
        "eta_tilde": size,
        "distance": (away * away).sum(),
        "local_sq": squares,
        "gap": before,
        "f_before": made.value(point["start"]),
        "f_star": made.value(made.x_star),
        "drift": moved[0],
        "x_next": after.x,
        "x_star": made.x_star,
        "chance": after.chance,
        "dependence": int(common),
    }


SMALL = Assumption("step", Le(step, 1 / (8 * (1 + B_sq) * beta)), Origin.DECLARED)
ALIKE = Assumption("gradient dissimilarity (14)", Le(local_sq, G_sq + 2 * beta * B_sq * gap))
OWN: dict[str, Parameter] = {"B_sq": Real(1, 9), "place": Choice(("start", "minimiser"))}


def rounds(*, smallest: float) -> Instances:
    """Return rounds with global step-sizes from ``smallest`` on."""
    return Instances(
        space=Space({**ROUND, **OWN, "eta_g": Real(smallest, 10, log=True)}),
        realise=realise,
        within=Instances(space=Space({**NOISY, **OWN, "place": Choice(("start",))}), realise=realise),
    )


SEVERAL: dict[str, Parameter] = {
    "N": Integer(2, 3),
    "K": Integer(1, 1),
    "S": Integer(2, 2),
    "noisy": Choice(("yes",)),
    "sigma": Real(0.1, 3),
}
SHARED = Instances(space=Space({**ROUND, **OWN, **SEVERAL}), realise=partial(realise, common=True))
"""Two sampled clients with the same noise."""


STATEMENT = Le(
    EE(NormSq(x_next - x_star)),
    (1 - mu * step / 2) * distance
    + step**2 * sigma_sq / (K * S)
    + (1 - S / N) * 4 * step**2 / S * G_sq
    - step * gap
    + 3 * beta * step * drift,
)

claim = Claim(
    id="scaffold.lemma-7",
    kind=Kind.LEMMA,
    title="progress of one round of FedAvg",
    citation=Citation("scaffold", "Lemma 7"),
    forms=(
        Form(statement=STATEMENT, intended=("published@any-dependence",)),
        Form(
            variant="published@any-dependence",
            statement=STATEMENT,
            assumptions=(SMALL, ALIKE),
            check=SHARED,
            note="without the independence of clients, which no assumption lists",
        ),
    ),
    assumptions=(SMALL, ALIKE, INDEPENDENT),
    uses=("scaffold.lemma-3", "scaffold.lemma-4", "scaffold.lemma-5"),
    check=rounds(smallest=0.1),
)
