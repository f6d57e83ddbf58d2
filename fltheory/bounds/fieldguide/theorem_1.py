r"""Theorem 1: convergence of local SGD under uniform heterogeneity.

:math:`M` clients with convex :math:`L`-smooth :math:`F_i`, gradients of variance at most :math:`\sigma^2`,
:math:`\|\nabla F_i(x) - \nabla F(x)\| \le \zeta` for all :math:`i` and :math:`x`; :math:`\tau` local steps per round,
:math:`\eta \le \frac1{4L}`, :math:`D = \|x_0 - x^*\|`, and :math:`A` the mean over rounds of
:math:`A_t = \frac1\tau\sum_{k=1}^\tau F(\bar x^{t,k}) - F^*`. As published

.. math:: \mathbb E[A] \le \frac{D^2}{2\eta\tau T} + \frac{\eta\sigma^2}{M} + 4\tau\eta^2L\sigma^2 +
   18\tau^2\eta^2L\zeta^2 .

**Derivation of the sharp form.** The sharp form of Lemma 1 adds up over rounds to

.. math:: \mathbb E[A] \le \frac{D^2}{2\eta\tau T} + \frac{\eta(1+\eta L)\sigma^2}{2M} + \frac{L}{2M\tau T}\sum_{t,i}
   \sum_{k<\tau}\mathbb E\|x_i^{t,k} - \bar x^{t,k}\|^2 ,

and the sharp form of Lemma 2, with :math:`(a+b)^2 \le 2a^2 + 2b^2`, :math:`\sum_{k<\tau}k = \frac12\tau(\tau-1)` and
:math:`\sum_{k<\tau}k^2 = \frac16\tau(\tau-1)(2\tau-1)`, bounds the last term by

.. math:: \frac L2\Bigl(\frac{M-1}M\Bigr)^2\eta^2\Bigl(\tfrac43(\tau-1)(2\tau-1)\zeta^2 + 2(\tau-1)\sigma^2\Bigr) .

**Where it is tight.** The first term is attained in the limit of many steps where the gradient is the same all the way
to the minimiser; on quadratics it is twice what happens. Both lemmas hold for :math:`\eta \le \frac1L`. With one local
step, or one client, nothing of the drift remains, as it should
be.

Instances: up to three clients with quadratics of one Hessian, condition up to 1000, up to four local steps, twelve
rounds in exact expectation, step sizes up to :math:`\frac1{4L}` (``sharp``: :math:`\frac1L`). On quadratics uniform
heterogeneity allows no other Hessians; functions that are not quadratic are in the instances of the two lemmas.

Source: Wang et al., A field guide to federated optimization, 2021, section 6.1, Theorem 1, (15).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sympy import Le, Rational

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.claim import Assumption, Citation, Claim, Experiments, Form, Kind
from fltheory.bounds.fieldguide import _runs
from fltheory.bounds.fieldguide._symbols import D_sq, M, T, eta, excess, sigma_sq, steps, zeta_sq
from fltheory.bounds.observation import Facts, Observation
from fltheory.bounds.space import Params, Real, Space
from fltheory.bounds.symbols import L
from fltheory.simulation.experiment import Experiment


def experiment(point: Params, *, longest: float) -> Experiment:
    """Return a run of twelve rounds."""
    return _runs.experiment(point, rounds=12, rate=float(longest * point["step"] / point["L"]))


def quantities(point: Params, made: Experiment, run: Any) -> Any:
    """Return the quantities of the theorem."""
    return _runs.quantities(Facts.of(made, run))


def runs(longest: float) -> Experiments:
    """Return runs with step sizes up to ``longest / L``."""
    return Experiments(
        space=Space({**_runs.CLIENTS, "step": Real(0.01, 1, log=True)}),
        experiment=partial(experiment, longest=longest),
        quantities=quantities,
        record={"mean_iterate": True},
    )


forgotten = D_sq / (2 * eta * steps * T)
drift = Rational(4, 3) * (steps - 1) * (2 * steps - 1) * zeta_sq + 2 * (steps - 1) * sigma_sq

claim = Claim(
    id="fieldguide.theorem-1",
    kind=Kind.BOUND,
    title="convergence of local SGD under uniform heterogeneity",
    citation=Citation("fieldguide", "Section 6.1, Theorem 1, (15)"),
    forms=(
        Form(
            statement=Le(
                excess,
                forgotten
                + eta * sigma_sq / M
                + 4 * steps * eta**2 * L * sigma_sq
                + 18 * steps**2 * eta**2 * L * zeta_sq,
            ),
        ),
        Form(
            variant="sharp",
            statement=Le(
                excess,
                forgotten + eta * (1 + eta * L) * sigma_sq / (2 * M) + L / 2 * ((M - 1) / M) ** 2 * eta**2 * drift,
            ),
            assumptions=(Assumption("step size", Le(eta, 1 / L)),),
            check=runs(1.0),
            note="smaller constants, nothing for one local step, step sizes up to 1 / L",
        ),
    ),
    assumptions=(Assumption("step size", Le(eta, 1 / (4 * L))),),
    uses=("fieldguide.lemma-1", "fieldguide.lemma-2"),
    check=runs(0.25),
    observation=Observation(
        quantities=_runs.quantities,
        about=_runs.about,
        axis=T,
        record={"mean_iterate": True},
        algorithm=FedAvg,
        conditions=_runs.conditions,
        exceeds="gap",
    ),
)
