r"""Lemma B.9: SGD on the bent parabola is on average left of gradient descent on both parabolas.

On :math:`f(x; \xi) = \frac L2\psi(x) + \xi x` with :math:`\psi(x) = \frac12x^2` left and :math:`x^2` right of 0, as
published for all :math:`x^{(0)}`

.. math:: \mathbb E[x^{(k)} \mid x^{(0)}] \le (1-\eta L)^kx^{(0)} , \qquad
   \mathbb E[x^{(k)} \mid x^{(0)}] \le \Bigl(1-\frac{\eta L}2\Bigr)^kx^{(0)} .

The step size is not bounded here, but the lemma belongs to Lemma B.3 with :math:`\eta \le \frac1{6L}`; the proof needs
:math:`\eta \le \frac1L`, which is the assumption here.

**Derivation of the sharp form.** Since :math:`[x]_+ = \frac12(|x| + x)`, for any law of the start and with :math:`u =
\eta L`

.. math:: \mathbb Ex^+ = \bigl(1 - \tfrac34u\bigr)\,\mathbb Ex - \tfrac u4\,\mathbb E|x| , \qquad
   (\mathbb Ex^2)^3 \le (\mathbb E|x|)^2\,\mathbb Ex^4 .

The first is an equality, and the lemma for one step follows from :math:`|x| \ge \pm x`. The second is Hölder's
inequality with exponents :math:`\frac32` and 3 for :math:`x^2 = |x|^{2/3}|x|^{4/3}`. Both are the steps of Theorem A.2.

Instances: one to three steps, noise of either sign with any two outcomes of mean zero; for the sharp form
:mod:`fltheory.bounds.glasgow._one_step`.

Source: Glasgow et al., 2022, Lemma B.9, page 24.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Eq, Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.glasgow import _one_step
from fltheory.bounds.glasgow._one_step import absolute, first, first_after, fourth, second, u
from fltheory.bounds.glasgow._symbols import eta, k
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import L
from fltheory.problems.problem import Origin

start = scalar("start", "x^{(0)}", "start")
mean = scalar("mean", r"\mathbb E[x^{(k)} \mid x^{(0)}]", "mean after the steps")


def realise(point: Params) -> dict[Any, Any]:
    """Return the mean after the steps, over both outcomes of the noise of every step."""
    rate, smooth, share = point["step"] / point["L"], point["L"], point["q"]
    noises = (-point["noise"] * (1 - share), point["noise"] * share)
    models, chances = [point["start"]], [1 + 0 * share]
    for _ in range(point["k"]):
        moved = [x - rate * smooth * (np.minimum(x, 0) + 2 * np.maximum(x, 0)) / 2 for x in models]
        models = [x - rate * noise for x in moved for noise in noises]
        chances = [chance * part for chance in chances for part in (share, 1 - share)]
    total = sum(chance * x for chance, x in zip(chances, models, strict=True))
    return {k: point["k"], eta: rate, L: smooth, start: point["start"], mean: total}


claim = Claim(
    id="glasgow.lemma-b.9",
    kind=Kind.LEMMA,
    title="the mean of SGD on a bent parabola, against both parabolas",
    citation=Citation("glasgow", "Lemma B.9"),
    forms=(
        Form(statement=(Le(mean, (1 - eta * L) ** k * start), Le(mean, (1 - eta * L / 2) ** k * start))),
        Form(
            variant="sharp",
            statement=(
                Eq(first_after, (1 - 3 * u / 4) * first - u / 4 * absolute),
                Le(second**3, absolute**2 * fourth),
            ),
            assumptions=(),
            check=Instances(space=_one_step.SPACE, realise=_one_step.realise),
            note="one step from any start, as an equality, and the mean modulus by moments",
        ),
    ),
    assumptions=(Assumption("step size", Le(eta, 1 / L), Origin.DECLARED),),
    check=Instances(
        space=Space(
            {
                "k": Integer(1, 3),
                "L": Real(0.1, 10, log=True),
                "step": Real(0.01, 1, log=True),
                "start": Real(-3, 3),
                "noise": Real(0, 3),
                "q": Real(0.05, 0.95),
            }
        ),
        realise=realise,
    ),
)
