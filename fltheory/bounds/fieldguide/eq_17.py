r"""(17): the bound of Theorem 1 with the best step size.

As published, with

.. math:: \eta = \min\Bigl\{\frac1{4L}, \frac{\sqrt MD}{\sqrt{\tau T}\,\sigma},
   \frac{D^{2/3}}{\tau^{2/3}T^{1/3}L^{1/3}\sigma^{2/3}}, \frac{D^{2/3}}{\tau T^{1/3}L^{1/3}\zeta^{2/3}}\Bigr\}

the bound is

.. math:: \mathbb E[A] \le \frac{2LD^2}{\tau T} + \frac{2\sigma D}{\sqrt{M\tau T}} +
   \frac{5L^{1/3}\sigma^{2/3}D^{4/3}}{\tau^{1/3}T^{2/3}} + \frac{19L^{1/3}\zeta^{2/3}D^{4/3}}{T^{2/3}} .

**Reading.** Where :math:`\sigma` or :math:`\zeta` is zero, the step sizes that divide by it do not count. The step size
depends on :math:`T`: the bound is on the mean over all rounds of a run.

**Derivation of the sharp form.** :math:`\frac1\eta` is at most the sum of the inverses, and each other term of Theorem
1 is at most its value at one of the four. The printed constants 4 and 18 of Theorem 1 give
:math:`2, \frac32, \frac92, \frac{37}2`. Its sharp form has
:math:`\frac{\eta(1+\eta L)}{2M}\sigma^2 \le \frac58\frac{\eta\sigma^2}M`, since :math:`\eta L \le \frac14`, and
:math:`\frac L2\eta^2\bigl(\frac83\tau^2\zeta^2 + 2\tau\sigma^2\bigr)` for the drift. So the constants are :math:`2`,
:math:`\frac12 + \frac58 = \frac98`, :math:`\frac12 + 1 = \frac32` and :math:`\frac12 + \frac43 = \frac{11}6`.

Instances: as for :mod:`~fltheory.bounds.fieldguide.theorem_1`, with runs of up to 30 rounds at the step size (16).

Source: Wang et al., 2021, section 6.1, (16), (17).
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Rational, sqrt

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Kind, Rejected
from fltheory.bounds.fieldguide import _runs
from fltheory.bounds.fieldguide._symbols import D, M, last_excess, last_T, sigma, steps, zeta
from fltheory.bounds.observation import Facts, Observation
from fltheory.bounds.space import Integer, Params, Space
from fltheory.bounds.symbols import L
from fltheory.errors import NotApplicable
from fltheory.simulation.experiment import Experiment


def experiment(point: Params) -> Experiment:
    """Return a run with the step size (16)."""
    made = _runs.experiment(point, rounds=point["T"], rate=1.0)
    facts = Facts(problem=made.problem, algorithm=made.algorithm, participation=made.participation, rounds=made.rounds)
    try:
        rate = _runs.tuned(facts)
    except NotApplicable as error:
        raise Rejected(str(error)) from error
    return _runs.experiment(point, rounds=point["T"], rate=rate)


def quantities(point: Params, made: Experiment, run: Any) -> Any:
    """Return the quantities after all rounds."""
    return _runs.at_the_end(Facts.of(made, run))


THIRD = Rational(1, 3)


def bound(start: Any, noise: Any, drift: Any, heterogeneity: Any) -> Le:
    """Return the bound with four constants."""
    return Le(
        last_excess,
        start * L * D**2 / (steps * last_T)
        + noise * sigma * D / sqrt(M * steps * last_T)
        + drift * L**THIRD * sigma ** (2 * THIRD) * D ** (4 * THIRD) / (steps**THIRD * last_T ** (2 * THIRD))
        + heterogeneity * L**THIRD * zeta ** (2 * THIRD) * D ** (4 * THIRD) / last_T ** (2 * THIRD),
    )


claim = Claim(
    id="fieldguide.eq-17",
    kind=Kind.BOUND,
    title="convergence of local SGD with the best step size",
    citation=Citation("fieldguide", "Section 6.1, (16), (17)"),
    forms=(
        Form(statement=bound(2, 2, 5, 19)),
        Form(
            variant="sharp",
            statement=bound(2, Rational(9, 8), Rational(3, 2), Rational(11, 6)),
            note="constants of the sharp form of Theorem 1",
        ),
    ),
    uses=("fieldguide.theorem-1",),
    check=Experiments(
        space=Space({**_runs.CLIENTS, "T": Integer(1, 30)}),
        experiment=experiment,
        quantities=quantities,
        record={"mean_iterate": True},
    ),
    observation=Observation(
        quantities=_runs.at_the_end,
        about=_runs.about,
        rate=_runs.tuned,
        axis=last_T,
        record={"mean_iterate": True},
        algorithm=FedAvg,
        conditions=_runs.conditions,
        exceeds="gap",
    ),
)
