r"""Lemma 9: recursion for the consensus distance, convex functions.

With :math:`\Xi_t = \frac1n\mathbb E\sum_i\|x_i^{(t)} - \bar x^{(t)}\|^2`, convex :math:`F_i`, :math:`\eta_t \le
\frac p{96\sqrt3\tau L}` and :math:`m = \lfloor t/\tau\rfloor - 1`, for :math:`t \ge \tau`, as published

.. math:: \Xi_t \le \Bigl(1 - \frac p2\Bigr)\Xi_{m\tau} + \frac p{16\tau}\sum_{j=m\tau}^{t-1}\Xi_j + 36L\frac\tau
   p\sum_{j=m\tau}^{t-1}\eta_j^2\bigl(f(\bar x^{(j)}) - f(x^\star)\bigr) + \Bigl(\bar\sigma^2 +
   \frac{18\tau}p\bar\zeta^2\Bigr) \sum_{j=m\tau}^{t-1}\eta_j^2 .

**Where it fails.** The printed proof treats the noise at the minimiser, :math:`\partial F(X^\star, \xi^{(j)}) -
\partial f(X^\star)`, as if it were not correlated with the rest, :math:`\partial F(X^{(j)}, \xi^{(j)}) - \partial
F(X^\star, \xi^{(j)}) + \partial f(X^\star)`, although both depend on the same :math:`\xi^{(j)}`. As in Lemma 8, the
noise at :math:`x` may have a variance of nearly :math:`(\bar\sigma + \sqrt{2L(f(x) - f^\star)})^2`, and
:math:`36\frac{L\tau}p(f(x) - f^\star)` pays for the linear part of it only if something is left of
:math:`\bar\sigma^2`. That is so if the step whose noise the block contracts counts, or if there are few clients, as
noise moves :math:`n` models apart by a share :math:`1 - \frac1n` of its variance. Local SGD with :math:`\tau = 2`,
:math:`p = 1`, equal clients and a model that all of them share has :math:`\Xi_0 = \Xi_1 = 0` and, after averaging and
a second step :math:`\eta_1 \gg \eta_0`, :math:`\Xi_2 = (1 - \frac1n)\eta_1^2\operatorname{Var}`. With :math:`s =
\sqrt{2L(f(x) - f^\star)} = \frac{\bar\sigma}{35}` that is :math:`(1 - \frac1n)\frac{36}{35}` times
:math:`\eta_1^2(\bar\sigma^2 + 36s^2)`, in the limit of a curvature that is rarely drawn: it fails for
:math:`n \ge 37` clients. For constant steps, all that Theorem 2 needs, the contracted step makes up for this.

Form ``published@proof`` is the statement for the larger steps that the last line of the proof needs, :math:`\eta_t \le
\frac p{12\sqrt2\tau L}`, and form ``published@drawn`` has matrices that are drawn, with the expectation over them too;
both fail in the same way.

**Derivation of the corrected form**, which a complete proof gives: :math:`6\bar\sigma^2` in place of
:math:`\bar\sigma^2`, for steps up to :math:`\frac p{12\sqrt2\tau L}`. Off the mean, :math:`X^{(t)} = P + S + N` with
what is left of :math:`X^{(m\tau)}`, the expected gradients :math:`\partial f(X^{(j)})` and the noise at
:math:`X^{(j)}`, all of them mixed. :math:`P` and :math:`N` are uncorrelated, as are the parts of :math:`N`. With
:math:`1 + \alpha = \frac{1 - p/2}{1 - p}`, for which :math:`1 + \frac1\alpha = \frac2p - 1`,

.. math:: \mathbb E\|P + S + N\|^2 \le \Bigl(1 - \frac p2\Bigr)\mathbb E\|X^{(m\tau)} - \bar X^{(m\tau)}\|^2 +
   \Bigl(\frac2p - 1 + 1\Bigr)\mathbb E\|S\|^2 + (1 + 1)\,\mathbb E\|N\|^2 .

There are at most :math:`2\tau` steps, so that :math:`\mathbb E\|S\|^2 \le 2\tau\sum_j\eta_j^2\cdot3n(L^2\Xi_j + 2Lg_j +
\bar\zeta^2)` with :math:`g_j = \mathbb E f(\bar x^{(j)}) - f^\star`, and :math:`\mathbb E\|N\|^2 \le
\sum_j\eta_j^2n\bigl(3\bar\sigma^2 + \frac32\cdot2(L^2\Xi_j + 2Lg_j)\bigr)`. Together :math:`\frac{12\tau}p + 6 \le
\frac{18\tau}p` times :math:`L^2\Xi_j + 2Lg_j`, :math:`\frac{12\tau}p\bar\zeta^2` and :math:`6\bar\sigma^2`; and
:math:`\frac{18\tau}pL^2\eta_j^2 \le \frac p{16\tau}` for the steps allowed.

Matrices that are drawn change nothing in this, as they do not depend on the noise, and none of them expands.

Instances: :mod:`fltheory.bounds.koloskova._late` for the published forms, :mod:`fltheory.bounds.koloskova._walk` for
the corrected ones.

Source: Koloskova et al., 2020, Lemma 9, page 19, with :math:`\bar X^{(m\tau+\frac12)}` for :math:`\bar X^{(m\tau)}` in
the proof.
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Lt, Sum, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.koloskova._any_walk import any_walk
from fltheory.bounds.koloskova._late import late
from fltheory.bounds.koloskova._noisy import CONVEX
from fltheory.bounds.koloskova._symbols import p, sigma_bar_sq, tau, zeta_bar_sq
from fltheory.bounds.koloskova._walk import walk
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import L, j
from fltheory.problems.problem import Origin

now = scalar("now", "t", "number of the iteration", domain="integer>=1")
m = scalar("m", "m", "number of the last block that is over", domain="integer>=0")
Xi = family("Xi", r"\Xi_{<0>}", "consensus distance", first=0, shape=("iterations",), domain="nonnegative")
eta = family("steps", r"\eta_{<0>}", "step sizes", first=0, shape=("iterations",), domain="nonnegative")
gap = family(
    "gap",
    r"(f(\bar x^{(<0>)}) - f(x^\star))",
    "expected gap of the mean model",
    first=0,
    shape=("iterations",),
    domain="nonnegative",
)


def larger(point: Params) -> dict[str, Any]:
    """Return the same with the larger steps of the proof, by a factor of 96 sqrt(3) / (12 sqrt(2)) > 9.79."""
    return walk({**point, "steps": point["steps"] * ratio(point, 979, 100)})


def recursion(constant: Any) -> Any:
    """Return the statement with a constant in front of the variance."""
    first = m * tau
    return Le(
        Xi[now],
        (1 - p / 2) * Xi[first]
        + p / (16 * tau) * Sum(Xi[j], (j, first, now - 1))
        + 36 * L * tau / p * Sum(eta[j] ** 2 * gap[j], (j, first, now - 1))
        + (constant * sigma_bar_sq + 18 * tau / p * zeta_bar_sq) * Sum(eta[j] ** 2, (j, first, now - 1)),
    )


SPACE = Space(
    {
        **CONVEX,
        "n": Integer(2, 3),
        "d": Integer(1, 1),
        "tau": Integer(1, 2),
        "beyond": Integer(0, 1),
        "equal": Choice(("yes", "no")),
        "omega": Real(0, 1, shape=(3,)),
        "part": Real(0.1, 1),
        "steps": Real(0, 1, shape=(3,)),
    }
)


def limit(divisor: Any) -> tuple[Assumption, ...]:
    """Return the assumptions, with steps of at most p over tau L and a divisor."""
    return (
        Assumption("step", Le(eta[j], p / (divisor * tau * L)), Origin.DECLARED, ((j, m * tau, now - 1),)),
        Assumption("consensus rate", Le(p, 1), Origin.DECLARED),
        Assumption("a block is over", Le((m + 1) * tau, now), Origin.DECLARED),
        Assumption("and no block after it", Lt(now, (m + 2) * tau), Origin.DECLARED),
    )


ANY = Space(
    {
        "d": Integer(1, 1),
        "tau": Integer(1, 2),
        "L": Real(0.1, 10, log=True),
        "q": Real(0.1, 0.5),
        "x": Real(-3, 3, shape=(2, "d")),
        "knot": Real(-3, 3, shape=(4, "d")),
        "tilt": Real(-3, 3, shape=(4, "d")),
        "left": Real(0, 1, shape=("d",)),
        "right": Real(0, 1, shape=("d",)),
        "omega": Real(0, 1, shape=(3,)),
        "part": Real(0.1, 1),
        "steps": Real(0, 1, shape=(3,)),
    }
)
LARGER = Instances(space=SPACE, realise=larger, within=Instances(space=ANY, realise=any_walk))
CHANCE = {"chance": Real(0.05, 0.95)}
DRAWN = Instances(
    space=Space({**SPACE.parameters, **CHANCE}),
    realise=larger,
    within=Instances(space=Space({**ANY.parameters, **CHANCE}), realise=any_walk),
)

claim = Claim(
    id="koloskova.lemma-9",
    kind=Kind.LEMMA,
    title="recursion for the consensus distance, convex functions",
    citation=Citation("koloskova", "Lemma 9"),
    forms=(
        Form(statement=recursion(1)),
        Form(
            variant="published@proof",
            statement=recursion(1),
            assumptions=limit(12 * sqrt(2)),
            check=late(17),
            note="for the larger steps of the last line of the proof",
        ),
        Form(
            variant="published@drawn",
            statement=recursion(1),
            check=late(167, drawn=True),
            note="matrices that are drawn at random, with the expectation over them too",
        ),
        Form(
            variant="corrected",
            statement=recursion(6),
            assumptions=limit(12 * sqrt(2)),
            check=LARGER,
            note="6 in front of the variance, as a complete proof gives, for the larger steps",
        ),
        Form(
            variant="corrected@drawn",
            statement=recursion(6),
            assumptions=limit(12 * sqrt(2)),
            check=DRAWN,
            note="the same with matrices that are drawn",
        ),
    ),
    assumptions=limit(96 * sqrt(3)),
    check=late(167),
)
