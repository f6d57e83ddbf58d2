r"""Proposition 4: sequences that change slowly.

:math:`\{a_t\}` is :math:`s`-slow decreasing if :math:`a_{t+1} \le a_t` and :math:`a_{t+1}\bigl(1 + \frac1{2s}\bigr)
\ge a_t` for all :math:`t \ge 0`, and slow increasing if the inverses are slow decreasing. As published (with :math:`s`
in place of :math:`\tau`, which is also the number of mixing matrices):

1. :math:`\{\eta_t^2\}` with :math:`\eta_t = \frac a{b+t}`, :math:`b \ge \frac{32}p`, is :math:`\frac4p`-slow
   decreasing;
2. constant step sizes, :math:`\{\eta^2\}`, are :math:`s`-slow decreasing for any :math:`s`;
3. :math:`\{w_t\}` with :math:`w_t = (b+t)^2`, :math:`b \ge \frac{84}p`, is :math:`\frac8p`-slow increasing;
4. constant weights are :math:`s`-slow increasing for any :math:`s`.

Form ``published@lemma-12`` is what the proof of Theorem 2 refers to the proposition for: that steps and weights
"satisfy conditions of Lemmas 8, 9, 12", of which Lemma 12 asks for :math:`\frac{8\tau}p`-slow squared steps and
:math:`\frac{16\tau}p`-slow weights. It fails: the offset does not grow with :math:`\tau`, and for the steps
:math:`\frac{32}p` is too small even for :math:`\tau = 1`, since :math:`(1 + \frac p{32})^2 > 1 + \frac p{16}`. A
sequence that is slow for one :math:`s` need not be for a larger one. The theorem is not touched, as it takes constant
steps; but its weights :math:`(1-a\eta)^{-(t+1)}` in the strongly convex case are not in the proposition.

**Derivation of the sharp form.** For :math:`a_t = (b+t)^{-2}` the ratio :math:`a_t/a_{t+1} = (1 + \frac1{b+t})^2` is
largest at :math:`t = 0`, where it is :math:`1 + \frac{2b+1}{b^2}`. So the sequence is slow for
:math:`s = \frac{b^2}{2(2b+1)}` and for no larger :math:`s`; the same holds for weights :math:`(b+t)^2`.

**Derivation of the corrected form** ``corrected@lemma-12``. By the sharp form, steps need :math:`\frac{2b+1}{b^2} \le
\frac p{16\tau}`, and :math:`b \ge \frac{33\tau}p` gives :math:`\frac{2b+1}{b^2} \le \frac p{33\tau}\bigl(2 +
\frac1{33}\bigr)`, as :math:`p \le \tau`. Weights need :math:`\frac p{32\tau}` on the right, and :math:`b \ge
\frac{65\tau}p` gives :math:`\frac p{65\tau}\bigl(2 + \frac1{65}\bigr)`. Geometric weights with :math:`\rho = a\eta \le
\frac p{33\tau}` grow by :math:`\frac1{1-a\eta} \le 1 + \frac p{32\tau}`, since :math:`33\tau \ge 32\tau + p`.

Instances: any :math:`p`, :math:`\tau`, scales, and offsets from the smallest one that is allowed.

Source: Koloskova et al., 2020, Definition 2 and Proposition 4, page 17.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Eq, Ge, Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.koloskova._symbols import p, t, tau
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space
from fltheory.problems.problem import Origin

a = scalar("a", "a", "scale of the decreasing steps", domain="positive")
b = scalar("b", "b", "offset of the decreasing steps", domain="positive")
b_w = scalar("b_w", r"\hat b", "offset of the increasing weights", domain="positive")
s = scalar("s", "s", "any slowness", domain="positive")
T = scalar("T", "T", "number of the last iteration", domain="integer>=0")
step = scalar("step", r"\eta", "a constant step size", domain="positive")
rate = scalar("rate", r"\rho", "rate at which geometric weights grow", domain="positive")
eta = family("steps", r"\eta_{<0>}", "decreasing step sizes", first=0, shape=("iterations",), domain="positive")
w = family("weights", "w_{<0>}", "increasing weights", first=0, shape=("iterations",), domain="positive")
same_eta = family("same_steps", "c_{<0>}", "constant step sizes", first=0, shape=("iterations",))
same_w = family("same_weights", "u_{<0>}", "constant weights", first=0, shape=("iterations",))
geometric = family("geometric", "v_{<0>}", "geometric weights", first=0, shape=("iterations",))

SEQUENCES = ((eta[t], a / (b + t)), (w[t], (b_w + t) ** 2))
CONSTANT = ((same_eta[t], step), (same_w[t], 1))


def slow_steps(steps: Any, slowness: Any) -> tuple[Any, Any]:
    """Return that squared step sizes are slow decreasing."""
    now, later = steps[t] ** 2, steps[t + 1] ** 2
    return Le(later, now), Ge(later * (1 + 1 / (2 * slowness)), now)


def slow_weights(weights: Any, slowness: Any) -> tuple[Any, Any]:
    """Return that weights are slow increasing."""
    now, later = 1 / weights[t], 1 / weights[t + 1]
    return Le(later, now), Ge(later * (1 + 1 / (2 * slowness)), now)


def realise(point: Params, *, longer: bool) -> dict[str, Any]:
    """Return offsets that are at least the smallest ones; ``longer`` ones grow with the block."""
    unit = point["tau"] if longer else 1
    return {
        "a": point["a"],
        "b": 32 * unit / point["p"] * point["larger"],
        "b_w": 84 * unit / point["p"] * point["larger"],
        "s": point["s"],
        "p_mix": point["p"],
        "block": point["tau"],
        "step": point["a"],
        "rate": point["p"] / (33 * point["tau"]) * point["share"],
        "T": point["T"],
    }


def offset(low: Any) -> tuple[Any, Any]:
    """Return that both offsets are large enough."""
    return (
        Assumption("offset of the steps", Ge(b, 32 * low / p), Origin.DECLARED),
        Assumption("offset of the weights", Ge(b_w, 84 * low / p), Origin.DECLARED),
    )


PROBABILITY = Assumption("consensus rate", Le(p, 1), Origin.DECLARED)
best = b**2 / (2 * (2 * b + 1))
best_w = b_w**2 / (2 * (2 * b_w + 1))
EVERY = ((t, 0, T),)
SPACE: dict[str, Parameter] = {
    "T": Integer(0, 1),
    "tau": Integer(1, 6),
    "a": Real(0.01, 10, log=True),
    "p": Real(0.001, 1, log=True),
    "s": Real(0.01, 100, log=True),
    "larger": Real(1, 3),
    "share": Real(0.01, 1),
}
LONGER = Instances(space=Space({**SPACE, "larger": Real(33 / 32, 3)}), realise=partial(realise, longer=True))

claim = Claim(
    id="koloskova.proposition-4",
    kind=Kind.LEMMA,
    title="sequences that change slowly",
    citation=Citation("koloskova", "Proposition 4"),
    forms=(
        Form(
            statement=(
                *slow_steps(eta, 4 / p),
                *slow_steps(same_eta, s),
                *slow_weights(w, 8 / p),
                *slow_weights(same_w, s),
            ),
            where=(*SEQUENCES, *CONSTANT),
            over=EVERY,
        ),
        Form(
            variant="published@lemma-12",
            statement=(*slow_steps(eta, 8 * tau / p), *slow_weights(w, 16 * tau / p)),
            where=SEQUENCES,
            over=EVERY,
            note="as Theorem 2 uses it: with the slowness that Lemma 12 asks for",
        ),
        Form(
            variant="corrected@lemma-12",
            statement=(
                *slow_steps(eta, 8 * tau / p),
                *slow_weights(w, 16 * tau / p),
                *slow_weights(geometric, 16 * tau / p),
            ),
            where=(*SEQUENCES, (geometric[t], (1 - rate) ** (-t - 1))),
            over=EVERY,
            assumptions=(
                PROBABILITY,
                Assumption("offset of the steps", Ge(b, 33 * tau / p), Origin.DECLARED),
                Assumption("offset of the weights", Ge(b_w, 65 * tau / p), Origin.DECLARED),
                Assumption("geometric weights", Le(rate, p / (33 * tau)), Origin.DECLARED),
            ),
            check=LONGER,
            note="offsets 33 tau/p and 65 tau/p, and the geometric weights of the strongly convex case",
        ),
        Form(
            variant="sharp",
            statement=(
                *slow_steps(eta, best),
                Eq(eta[0] ** 2, eta[1] ** 2 * (1 + 1 / (2 * best))),
                *slow_weights(w, best_w),
                Eq(w[1], w[0] * (1 + 1 / (2 * best_w))),
            ),
            where=SEQUENCES,
            over=EVERY,
            assumptions=(),
            note="the largest slowness of both sequences, for any offset; attained",
        ),
    ),
    assumptions=(PROBABILITY, *offset(1)),
    check=Instances(space=Space(SPACE), realise=partial(realise, longer=False)),
)
