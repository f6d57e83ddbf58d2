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
:math:`\|\nabla^2 F_l\|_2` on the segment from :math:`w^*` to :math:`w`, every step of (86) is right. (87) has dropped a
factor :math:`\tilde p^l` in front of :math:`W_l`, which (7) has; the radius follows from (86). It also follows from the
sharp form, whose radius is at least as large since :math:`\|\nabla F_l(w^*)\| \le W_l`.

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

**On the fly.** Section 4.2 says that in practice the extra step is part of the round: the coefficient of the arriving
client is raised to :math:`\tilde p^l + \delta^l`, at first by a factor of 3 (section 5.3). What is then compared are
two runs, with and without fast reboot. After one round of one step with learning rate :math:`\eta` the squared
distances to :math:`\tilde w^*` differ by

.. math:: 4\eta\tilde p^l\Bigl(\eta\langle\nabla\tilde F(w), \nabla F_l(w)\rangle + \eta\tilde p^l\|\nabla F_l(w)\|^2
   - \langle w - \tilde w^*, \nabla F_l(w)\rangle\Bigr) ,

so for small :math:`\eta` fast reboot helps where the extra step does, and the published sphere is too large for it in
the same way (``published@on-the-fly``, at :math:`\eta \le \frac{1}{1000L}`; where it fails, the inner product is
negative, and no smaller rate would help). With the lower bound on the inner product from the sharp form a rule follows
that says how small :math:`\eta` has to be (``corrected@on-the-fly``, :math:`\eta \le \frac{1}{2L}`): fast reboot ends
nearer to :math:`\tilde w^*` if

.. math:: \|\nabla\tilde F(w^*)\|\,\|w - w^*\| + \eta\tilde p^l\bigl(\langle\nabla\tilde F(w), \nabla F_l(w)\rangle +
   \tilde p^l\|\nabla F_l(w)\|^2\bigr) < \tilde F(w^*) - \tilde F(\tilde w^*) .

Both sides of the comparison are shifted by twice
:math:`\|w_{\mathrm{plain}} - \tilde w^*\|\,\|w_{\mathrm{fast}} - w_{\mathrm{plain}}\|`, the most by which they can
differ to first order, so that small learning rates do not drown the difference.

Instances: two or three clients in the plane, with a kink in the derivative per coordinate or with turned axes;
:math:`w` around :math:`w^*` at distances comparable with :math:`\|w^* - \tilde w^*\|`. The clients that were there
before may be flatter than the arriving one by a common factor, since that is what makes the printed radius too large;
without it all clients have curvatures of the same size, and :math:`W` is about :math:`W_l`. On the fly: quadratics
without noise, everybody takes its one step; the run starts such that :math:`w` is reached in the one round before the
client arrives. There :math:`w` lies on the side of :math:`\tilde w^*`, up to a bit beyond it, where the extra step may
lead away, and :math:`\mu \ge 1`, so that the 1 in the denominator of the printed radius, which has no unit, does not
make up for the wrong :math:`W`; sample counts differ widely, for small :math:`\tilde p^l`, and condition numbers are
at least 10. Both forms are searched there.

Source: Ruan et al., AISTATS 2021, section 4.2, (7), and appendix A.5.
"""

from __future__ import annotations

from typing import Any

from sympy import Lt, Sum, sqrt

from fltheory.bounds.algebra import Inner, Norm, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.objective_shift.clients import Gamma_l, w_new
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan._reboot import AT_ARRIVAL, on_the_fly
from fltheory.bounds.symbols import F, F_star, L, N, eta, grad_F, k, mu, p, w_star

w_now = scalar("w_now", "w", "global model when the client arrives", shape=("dim",))
share = scalar("share", r"\tilde p^l", "weight of the arriving client", domain="probability")
F_at_old = scalar("F_at_old", r"\tilde F(w^*)", "new objective at the old minimiser")
F_at_new = scalar("F_at_new", r"\tilde F(\tilde w^*)", "minimum of the new objective")
grad_at_old = scalar(
    "grad_at_old", r"\nabla\tilde F(w^*)", "gradient of the new objective at the old minimiser", shape=("dim",)
)
u = scalar("u", "u", "positive multiple of the arriving client's gradient at the model", shape=("dim",))
W = scalar("W", "W", "bound on gradient and Hessian of the old objective", domain="nonnegative")
W_l = scalar(
    "W_l",
    "W_l",
    "bound on gradient and Hessian of the arriving client between the old minimiser and the model",
    domain="nonnegative",
)
grad_new_now = scalar(
    "grad_new_now", r"\nabla\tilde F(w)", "gradient of the new objective at the model", shape=("dim",)
)
grad_l_now = scalar("grad_l_now", r"\nabla F_l(w)", "gradient of the arriving client at the model", shape=("dim",))
after_fast = scalar(
    "after_fast_sq",
    r"\|w_{\mathrm{fast}} - \tilde w^*\|^2",
    "squared distance after a round with fast reboot",
    domain="nonnegative",
)
moved = scalar(
    "moved",
    r"\|w_{\mathrm{fast}} - w_{\mathrm{plain}}\|",
    "by how much fast reboot moves the model in a round",
    domain="nonnegative",
)
after_plain = scalar(
    "after_plain_sq",
    r"\|w_{\mathrm{plain}} - \tilde w^*\|^2",
    "squared distance after a round without fast reboot",
    domain="nonnegative",
)


DEFINITIONS = (
    (share, p[N]),
    (F_at_old, Sum(p[k] * F(k, w_star), (k, 1, N))),
    (F_at_new, Sum(p[k] * F(k, w_new), (k, 1, N))),
    (Gamma_l, F(N, w_star) - F_star[N]),
    (grad_at_old, Sum(p[k] * grad_F(k, w_star), (k, 1, N))),
    (grad_new_now, Sum(p[k] * grad_F(k, w_now), (k, 1, N))),
    (grad_l_now, grad_F(N, w_now)),
)
"""The arriving client is the last one; weights are those after its arrival."""


def sphere(bound: Any) -> Any:
    """Return the published condition with a given bound on gradient and Hessian."""
    radius = (F_at_old - F_at_new) / ((2 * sqrt(2 * L) / mu * share * sqrt(Gamma_l) + 1) * share * bound)
    return Lt(Norm(w_now - w_star), radius)


most = 2 * sqrt(after_plain) * moved
faster = Lt(most + after_fast - after_plain, most)
helps = Lt(Norm(w_now - u - w_new), Norm(w_now + u - w_new))

claim = Claim(
    id="ruan.corollary-4.0.2",
    kind=Kind.RULE,
    title="fast reboot helps near the old minimiser",
    citation=Citation("ruan", "Corollary 4.0.2, (7)"),
    forms=(
        Form(
            statement=helps,
            where=DEFINITIONS,
            premises=(sphere(W),),
            note="the bound W is taken on a box that holds all points in question",
        ),
        Form(
            variant="corrected",
            statement=helps,
            where=DEFINITIONS,
            premises=(sphere(W_l),),
            note="gradient and Hessian of the arriving client, as the proof needs, in place of the old objective's",
        ),
        Form(
            variant="sharp",
            statement=helps,
            where=DEFINITIONS,
            premises=(Lt(Norm(w_now - w_star) * Norm(grad_at_old), F_at_old - F_at_new),),
            note="a larger sphere, from quantities of the new objective at the old minimiser alone",
        ),
        Form(
            variant="published@on-the-fly",
            statement=faster,
            where=DEFINITIONS,
            premises=(sphere(W),),
            check=on_the_fly(0.001),
            note="one round of runs with and without fast reboot, small learning rates",
        ),
        Form(
            variant="corrected@on-the-fly",
            statement=faster,
            where=DEFINITIONS,
            premises=(
                Lt(
                    Norm(w_now - w_star) * Norm(grad_at_old)
                    + eta * share * (Inner(grad_new_now, grad_l_now) + share * NormSq(grad_l_now)),
                    F_at_old - F_at_new,
                ),
            ),
            check=on_the_fly(0.5),
            note="the larger sphere, and how small the learning rate has to be",
        ),
    ),
    uses=("ruan.lemma-a.4", "ruan.theorem-3.2-arrival"),
    check=AT_ARRIVAL,
)
