r"""Lemma 11: variance of the server's update in one round of SCAFFOLD.

For any :math:`\tilde\eta = \eta_l\eta_gK \ge 0`, with :math:`\mathcal C_r = \frac1N\sum_i\mathbb E\|\mathbb E[c_i^r] -
\nabla f_i(x^*)\|^2` and :math:`\mathcal E_r = \frac1{KN}\sum_{k,i}\mathbb E\|y_{i,k}^r - x^{r-1}\|^2`, as
published,

.. math:: \mathbb E\|x^r - x^{r-1}\|^2 \le 8\beta\tilde\eta^2\bigl(\mathbb E[f(x^{r-1})] - f(x^*)\bigr) +
   8\tilde\eta^2\mathcal C_{r-1} + 4\tilde\eta^2\beta^2\mathcal E_r + \frac{12\tilde\eta^2\sigma^2}{KS} .

**Reading.** Over what is the expectation inside of the square? Over everything, sampling included, as the proof of
Lemma 12 takes it (forms ``published@two-rounds``, ``published@many-rounds``), it fails as soon as clients are sampled:
the printed proof says that :math:`c_i` has a variance below :math:`\sigma^2/K`, which counts the noise of its
gradients; but whether and where they were taken depends on who was sampled before. Two clients with
:math:`\nabla f_i(x) = \beta(x - m_i)`, one of them sampled, and :math:`c_i^0` that mirror the gradients at
:math:`x^0`: for :math:`\tilde\eta = \frac1\beta` the first round ends at :math:`x^1 = x^*` whoever is sampled,
:math:`\mathbb E[c_i^1] = \nabla f_i(x^*)`, and the right-hand side is :math:`4/\eta_g^2` times the left-hand side,
since no :math:`c_i^1` is right.

Over the noise of the gradients that :math:`c_i` is the mean of, and nothing else (form ``published@minibatches``), the
lemma is true. That is what the outer expectation in (24) is for, and what the variance of :math:`\sigma^2/K` is about;
and it is what the paper takes it for in the next section, where the proof of Lemma 15 writes :math:`\mathbb E[c_i]` and
goes on with :math:`\frac1K\sum_k\nabla f_i(\alpha_{i,k-1})`, the points :math:`\alpha_{i,k-1}` being random (26). So
it is the intended one, although the proof of Lemma 12 averages over the sampling as well. Let
:math:`\hat c_i^r` be :math:`c_i^r` without that noise, :math:`\frac1K\sum_k\nabla f_i(y_{i,k-1})` of the last round in
which :math:`i` was sampled, and :math:`\hat{\mathcal C}_r = \frac1N\sum_i\mathbb E\|\hat c_i^r - \nabla
f_i(x^*)\|^2`. Then Lemmas 11 to 13 are steps of the printed proof of Theorem VII as it stands.

**What the proof uses.** The noises of two clients are independent, as in :mod:`~fltheory.bounds.scaffold.lemma_7`, and
the noise in :math:`c_i^{r-1}` has a variance of at most :math:`\sigma^2/K`, which is so if :math:`c_i^0` has none.

**Derivation of the sharp form.** Given the past, the mean of the gradients and control variates of client :math:`i` is
:math:`u_i = a_i + b_i + n_i + e_i + m_i` with :math:`a_i = \nabla f_i(x) - \nabla f_i(x^*)`, :math:`b_i = \hat c -
(\hat c_i - \nabla f_i(x^*))`, the noise :math:`n_i` in :math:`c - c_i`, the mean :math:`e_i` over steps of
:math:`\nabla f_i(y_{i,k-1}) - \nabla f_i(x)`, and the noise :math:`m_i` of the round. The mean square of the mean of a
uniform sample is at most that of the population, and for what has mean zero over the population, as :math:`b_i` and
:math:`n_i`, also at most a share :math:`\frac1S` of it. So (9), and Lemma 4 for :math:`n_i` and :math:`m_i`, bound the
root mean squares over samples of :math:`a, b, n, m` by :math:`\sqrt{2\beta(f(x) - f^*)}, \sqrt{\hat{\mathcal C}},
\frac\sigma{\sqrt{KS}}, \frac\sigma{\sqrt{KS}}`. Given the past, :math:`a + b + n` is fixed and :math:`m` has mean zero,
so that their squares add up; :math:`e` with :math:`\frac1N\sum_i\mathbb E\|e_i\|^2 \le \beta^2\mathcal E_r` depends on
:math:`m`. By Minkowski's inequality

.. math:: \mathbb E\|x^r - x^{r-1}\|^2 \le \tilde\eta^2\biggl(\sqrt{\Bigl(\sqrt{2\beta(\mathbb E[f(x^{r-1})] - f(x^*))}
   + \sqrt{\hat{\mathcal C}_{r-1}} + \frac\sigma{\sqrt{KS}}\Bigr)^2 + \frac{\sigma^2}{KS}} + \beta\sqrt{\mathcal E_r}
   \biggr)^2 .

It is attained for :math:`\eta_g \to \infty`, where nothing drifts, by each of the first three terms alone.

**Derivation of the corrected form.** :math:`(s + t)^2 \le \frac43s^2 + 4t^2`, and
:math:`(s + t + u)^2 \le \frac52s^2 + \frac52t^2 + 5u^2`, since :math:`\frac25 + \frac25 + \frac15 = 1`:

.. math:: \mathbb E\|x^r - x^{r-1}\|^2 \le \tilde\eta^2\Bigl(\tfrac{20}3\beta\bigl(\mathbb E[f(x^{r-1})] -
   f(x^*)\bigr) + \tfrac{10}3\hat{\mathcal C}_{r-1} + 4\beta^2\mathcal E_r + \frac{8\sigma^2}{KS}\Bigr) .

Instances: see :mod:`fltheory.bounds.scaffold._controlled`.

Source: Karimireddy et al., 2020, Lemma 11, page 26 of the supplement.
"""

from __future__ import annotations

from sympy import Le, Rational, sqrt

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Kind
from fltheory.bounds.scaffold._controlled import lasting, rounds, second
from fltheory.bounds.scaffold._round import calm_lag, drift, gap, lag, moved_sq, restless_sq
from fltheory.bounds.scaffold._symbols import INDEPENDENT, K, S, beta, sigma_sq, step
from fltheory.problems.problem import Origin

MANY, ANY = lasting(1), rounds(1, any_state=True, longer=10)
RESTLESS = Assumption(
    "noise of control variates (used by the proof, listed nowhere)", Le(restless_sq, sigma_sq / K), Origin.DECLARED
)
CHANGE = "control variates without their noise; smaller constants"
first_two = sqrt(2 * beta * gap) + sqrt(calm_lag)
shared = sigma_sq / (K * S)


def published(control_lag: object) -> Le:
    """Return the published form for one reading of the control-lag."""
    return Le(
        moved_sq,
        8 * beta * step**2 * gap + 8 * step**2 * control_lag + 4 * step**2 * beta**2 * drift + 12 * step**2 * shared,
    )


corrected = Le(
    moved_sq,
    step**2 * (Rational(20, 3) * beta * gap + Rational(10, 3) * calm_lag + 4 * beta**2 * drift + 8 * shared),
)

claim = Claim(
    id="scaffold.lemma-11",
    kind=Kind.LEMMA,
    title="variance of the server's update of SCAFFOLD",
    citation=Citation("scaffold", "Lemma 11"),
    forms=(
        Form(
            variant="published@two-rounds",
            statement=published(lag),
            check=second(1),
            note="inner expectation over everything; the second round, one local step",
        ),
        Form(
            variant="published@many-rounds",
            statement=published(lag),
            check=MANY,
            note="inner expectation over everything; many rounds, one local step",
        ),
        Form(
            variant="published@minibatches",
            statement=published(calm_lag),
            intended=("published@two-rounds", "published@many-rounds"),
            note="inner expectation over the noise in the control variates only",
        ),
        Form(variant="corrected", statement=corrected, note=CHANGE),
        Form(variant="corrected@many-rounds", statement=corrected, check=MANY, note=f"{CHANGE}; many rounds"),
        Form(
            variant="sharp",
            statement=Le(
                moved_sq, step**2 * (sqrt((first_two + sqrt(shared)) ** 2 + shared) + beta * sqrt(drift)) ** 2
            ),
            note="roots in place of constants; attained by each term alone where nothing drifts",
        ),
    ),
    assumptions=(INDEPENDENT, RESTLESS),
    uses=("scaffold.lemma-3", "scaffold.lemma-4", "scaffold.eq-9"),
    check=ANY,
)
