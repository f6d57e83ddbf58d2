r"""Lemma 3: how far local models are apart.

As published, for gradients bounded by :math:`G` (A4) and rates that do not increase, with
:math:`\eta_t \le 2\eta_{t+E}`,

.. math:: \mathbb E\sum_{k=1}^Np_k\|\bar w_t - w_t^k\|^2 \le 4\eta_t^2(E-1)^2G^2 .

**Derivation of the sharp form.** Local models left a common one :math:`s \le E - 1` steps ago, with rates of at most
:math:`\rho\eta_t`. The mean square around the mean is at most that around the common model, and
:math:`\mathbb E\|\sum_{i\le s}\eta_ig_i\|^2 \le s^2\rho^2\eta_t^2G^2`. Attained by two clients with opposite gradients.
With :math:`\eta_t = \frac2{\mu(\gamma + t)}` it is :math:`\rho \le 1 + \frac{E-1}\gamma`, not 2.

Instances: any stochastic gradients of two outcomes.

Source: Li et al., ICLR 2020, appendix A, Lemma 3; as it is commonly quoted, not yet compared with the print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.li import _steps
from fltheory.bounds.li._steps import growth, i, local, rate, rates, since, w_bar
from fltheory.bounds.space import Params, Space
from fltheory.bounds.symbols import E, G_sq, N, k, p
from fltheory.problems.problem import Origin


def _realise(any_growth: bool) -> Callable[[Params], dict[Any, Any]]:
    def realise(point: Params) -> dict[Any, Any]:
        return {**_steps.walked(point, growth_of=point["growth"] if any_growth else 2), E: point["s"] + 1}

    return realise


def walks(*, any_growth: bool) -> Instances:
    """Return the steps since the last averaging, with rates that fall by a factor of up to 2, or up to any."""
    realise = _realise(any_growth)
    within = Instances(space=Space(_steps.ANY), realise=realise)
    return Instances(space=Space(_steps.WALK), realise=realise, within=within)


def slow(factor: Any) -> Assumption:
    """Return that the rates since the last averaging are at most so much larger."""
    return Assumption("rates fall slowly", Le(rates[i], factor * rate), Origin.DECLARED, ((i, 1, since),))


MEAN = ((w_bar, Sum(p[k] * local[k], (k, 1, N))),)
apart = EE(Sum(p[k] * NormSq(w_bar - local[k]), (k, 1, N)))
soon = Assumption("averaged every E steps", Le(since, E - 1), Origin.DECLARED)

claim = Claim(
    id="li.lemma-3",
    kind=Kind.LEMMA,
    title="distance of local models from their mean",
    citation=Citation("li", "Lemma 3"),
    forms=(
        Form(statement=Le(apart, 4 * rate**2 * (E - 1) ** 2 * G_sq), where=MEAN),
        Form(
            variant="sharp",
            statement=Le(apart, growth**2 * rate**2 * (E - 1) ** 2 * G_sq),
            where=MEAN,
            assumptions=(_steps.BOUNDED, slow(growth), soon),
            check=walks(any_growth=True),
            note="the factor by which rates fall in place of 2; attained by opposite gradients",
        ),
    ),
    assumptions=(_steps.BOUNDED, slow(2), soon),
    check=walks(any_growth=False),
)
