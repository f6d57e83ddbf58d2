r"""(63): from the recursion to the weighted mean of the models.

With the recursion (62), :math:`q_t = (1 - \frac{\mu\eta}2)^{1-t}` and :math:`\omega_F = \sum_t q_t\omega_t/\sum_t
q_t`, as published

.. math:: f(\omega_F) - f^* \le \frac1{\eta\sum_{t=1}^T q_t}\sum_{t=1}^T q_t\Bigl(\bigl(1 -
   \tfrac{\mu\eta}2\bigr)\mathbb E\|\omega_t - \omega^*\|
   - \mathbb E\|\omega_{t+1} - \omega^*\| + c_1(t)\eta + c_2(t)\eta^2\Bigr) .

Two slips: the distances have lost their squares, and after the division by :math:`\eta` in front of the sum the last
terms should be :math:`c_1(t)\eta^2 + c_2(t)\eta^3`. The second matters for steps above one, which small :math:`L`
allows (form ``published@squares`` restores the squares only).

**Derivation of the corrected form.** Divide (62) by :math:`\eta`, average with the weights, and use that :math:`f` is
convex:

.. math:: \mathbb E f(\omega_F) - f^* \le \frac1{\sum_t q_t}\sum_{t=1}^T q_t\Bigl(\frac{(1 - \frac{\mu\eta}2)\mathbb
   E\|\omega_t - \omega^*\|^2
   - \mathbb E\|\omega_{t+1} - \omega^*\|^2}\eta + c_1(t)\eta + c_2(t)\eta^2\Bigr) .

Attained if (62) is an equality and all models are equal.

Instances: any sequences of models in one or two dimensions and :math:`f = \frac a2\|\omega\|^2`; :math:`c_2(t)` is
given and :math:`c_1(t)` is the smallest number for which (62) holds.

Source: Guo et al., 2021, (62) and (63).
"""

from __future__ import annotations

from typing import Any

from sympy import Le, Sum

from fltheory.bounds.algebra import Norm, NormSq
from fltheory.bounds.cfl._symbols import T, eta
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import mu, t, w_star
from fltheory.problems.problem import Origin

models = family("models", r"\omega_{<0>}", "global models", shape=("rounds", "dim"))
gaps = family(
    "gaps", r"\left(f(\omega_{<0>}) - f^*\right)", "gaps of the global models", shape=("rounds",), domain="nonnegative"
)
mean_gap = scalar("mean_gap", r"f(\omega_F) - f^*", "gap of the weighted mean of the models", domain="nonnegative")
c_1 = family("c_1_at", "c_1(<0>)", "constant in front of the squared step", shape=("rounds",), domain="nonnegative")
c_2 = family("c_2_at", "c_2(<0>)", "constant in front of the cubed step", shape=("rounds",), domain="nonnegative")

q = (1 - mu * eta / 2) ** (1 - t)
total = Sum(q, (t, 1, T))


def after(squared: Any) -> Any:
    """Return distance before, contracted, less distance after."""
    return (1 - mu * eta / 2) * squared(models[t] - w_star) - squared(models[t + 1] - w_star)


RECURSION = Assumption(
    "recursion (62)",
    Le(
        NormSq(models[t + 1] - w_star) + eta * gaps[t],
        (1 - mu * eta / 2) * NormSq(models[t] - w_star) + c_1[t] * eta**2 + c_2[t] * eta**3,
    ),
    Origin.DECLARED,
    ((t, 1, T),),
)


def realise(point: Params) -> dict[str, Any]:
    """Return models, gaps and the smallest constants."""
    low, step, path, last = point["mu"], point["contraction"] / point["mu"], point["path"], point["T"]
    curvature = low * point["condition"]
    gap = curvature * (path * path).sum(axis=1) / 2
    square = (path * path).sum(axis=1)
    needed = square[1 : last + 1] + step * gap[:last] - (1 - low * step / 2) * square[:last]
    first = [max(0 * low, (needed[n] - point["c_2"][n] * step**3) / step**2) for n in range(last)]
    weights = [(1 - low * step / 2) ** (-n) for n in range(last)]
    mean = sum(weights[n] * path[n] for n in range(last)) / sum(weights)
    return {
        "mu": low,
        "eta": step,
        "eta_max": step,
        "T": last,
        "w_star": 0 * path[0],
        "models": path,
        "gaps": gap,
        "mean_gap": curvature * (mean * mean).sum() / 2,
        "c_1_at": first,
        "c_2_at": point["c_2"],
    }


SPACE = Space(
    {
        "T": Integer(1, 4),
        "d": Integer(1, 2),
        "mu": Real(0.05, 5, log=True),
        "condition": Real(1, 20, log=True),
        "contraction": Real(0.01, 1),
        "path": Real(-3, 3, shape=(5, "d")),
        "c_2": Real(0, 2, shape=(4,)),
    }
)

claim = Claim(
    id="cfl.eq-63",
    kind=Kind.LEMMA,
    title="from the recursion to the weighted mean",
    citation=Citation("cfl", "(63)"),
    forms=(
        Form(
            statement=Le(mean_gap, Sum(q * (after(Norm) + c_1[t] * eta + c_2[t] * eta**2), (t, 1, T)) / (eta * total)),
        ),
        Form(
            variant="published@squares",
            statement=Le(
                mean_gap, Sum(q * (after(NormSq) + c_1[t] * eta + c_2[t] * eta**2), (t, 1, T)) / (eta * total)
            ),
            note="squares restored",
        ),
        Form(
            variant="corrected",
            statement=Le(mean_gap, Sum(q * (after(NormSq) / eta + c_1[t] * eta + c_2[t] * eta**2), (t, 1, T)) / total),
            note="squares, and every term divided by the step",
        ),
    ),
    assumptions=(RECURSION,),
    uses=("cfl.eq-59", "cfl.eq-61"),
    check=Instances(space=SPACE, realise=realise),
)
