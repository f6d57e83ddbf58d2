r"""Lemma 11: variance of the server's update in one round of SCAFFOLD.

For any :math:`\tilde\eta = \eta_l\eta_gK \ge 0`, with :math:`\mathcal C_r = \frac1N\sum_i\mathbb E\|\mathbb E[c_i^r] -
\nabla f_i(x^*)\|^2` and :math:`\mathcal E_r = \frac1{KN}\sum_{k,i}\mathbb E\|y_{i,k}^r - x^{r-1}\|^2`, as
published,

.. math:: \mathbb E\|x^r - x^{r-1}\|^2 \le 8\beta\tilde\eta^2\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) +
   8\tilde\eta^2\mathcal C_{r-1} + 4\tilde\eta^2\beta^2\mathcal E_r + \frac{12\tilde\eta^2\sigma^2}{KS} .

It fails as soon as clients are sampled. The printed proof says that :math:`c_i` has a variance below
:math:`\sigma^2/K`, which counts the noise of its gradients; but whether and where they were taken depends on who was
sampled before. Two clients with one Hessian, one of them sampled, and :math:`c_i^0` that mirror the gradients at
:math:`x^0`: after one round :math:`\mathbb E[c_i^1] = \nabla f_i(x^*)` and the control-lag is zero, the model may
be at the minimiser, and yet the next step moves it, since no :math:`c_i^1` is right.

**Derivation of the corrected form.** Let the expectation stand outside, :math:`\mathcal C'_r = \frac1N\sum_i\mathbb
E\|c_i^r - \nabla f_i(x^*)\|^2`. Write a step as the sum of its noise, of :math:`\nabla f_i(y) - \nabla f_i(x)`, of
:math:`\nabla f_i(x) - \nabla f_i(x^*)` and of :math:`c - (c_i - \nabla f_i(x^*))`. The mean over a uniform
sample of the last has a mean square of at most that of the population, :math:`\frac1N\sum_i\|c_i - \nabla
f_i(x^*)\|^2`, as :math:`c - \nabla f(x^*)` is the mean of the bracket. So by Lemma 3 with four parts, (9) and
Lemma 4

.. math:: \mathbb E\|x^r - x^{r-1}\|^2 \le \tilde\eta^2\Bigl(8\beta\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) +
   4\mathcal C'_{r-1} + 4\beta^2\mathcal E_r + \frac{4\sigma^2}{KS}\Bigr) .

Instances: see :mod:`fltheory.bounds.scaffold._controlled`.

Source: Karimireddy et al., 2020, Lemma 11, page 26 of the supplement.
"""

from __future__ import annotations

from sympy import Le

from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._controlled import lasting, rounds
from fltheory.bounds.scaffold._round import drift, full_lag, gap, lag, moved_sq
from fltheory.bounds.scaffold._symbols import K, S, beta, sigma_sq, step

MANY, ANY = lasting(1), rounds(1, any_state=True)
published = Le(
    moved_sq,
    8 * beta * step**2 * gap + 8 * step**2 * lag + 4 * step**2 * beta**2 * drift + 12 * step**2 * sigma_sq / (K * S),
)
corrected = Le(moved_sq, step**2 * (8 * beta * gap + 4 * full_lag + 4 * beta**2 * drift + 4 * sigma_sq / (K * S)))
CHANGE = "control-lag with the expectation outside of the square; half and a third of two constants"

claim = Claim(
    id="scaffold.lemma-11",
    kind=Kind.LEMMA,
    title="variance of the server's update of SCAFFOLD",
    citation=Citation("scaffold", "Lemma 11"),
    forms=(
        Form(variant="published@many-rounds", statement=published, check=MANY, note="many rounds, one local step"),
        Form(
            variant="published@two-rounds",
            statement=published,
            note="first and second rounds only, few clients, kinks and noise",
        ),
        Form(variant="corrected", statement=corrected, check=ANY, note=CHANGE),
        Form(variant="corrected@many-rounds", statement=corrected, check=MANY, note=f"{CHANGE}; many rounds"),
    ),
    uses=("scaffold.lemma-3", "scaffold.lemma-4", "scaffold.eq-9"),
    check=rounds(1),
)
