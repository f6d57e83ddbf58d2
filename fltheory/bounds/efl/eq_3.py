r"""Equation (3): the elastic objective rearranged.

The elastic term of (2), :math:`\frac\lambda2\sum_i(\omega - \omega_{\tau-1}^i)^\top\mathrm{diag}(I_{\tau-1,i})(\omega
- \omega_{\tau-1}^i)`, is expanded so that clients need only the sums of :math:`u^i = \mathrm{diag}(I_{\tau-1,i})` and
:math:`v^i = \mathrm{diag}(I_{\tau-1,i})\,\omega_{\tau-1}^i`:

.. math:: \widetilde F_{\tau,k}(\omega) = f_k(\omega) +
   \tfrac\lambda2\,\omega^\top\sum_i\mathrm{diag}(I_{\tau-1,i})\,\omega -
   \lambda\,\omega^\top\sum_i\mathrm{diag}(I_{\tau-1,i})\,\omega_{\tau-1}^i + Z, \qquad Z = \tfrac\lambda2\sum_i
   (\omega_{\tau-1}^i)^\top\mathrm{diag}(I_{\tau-1,i})\,\omega_{\tau-1}^i .

True: :math:`Z` does not depend on :math:`\omega`. The reading ``published@000-box`` takes :math:`v^i` from the
algorithm box of the long version, where the scan shows :math:`v_\tau^k = \mathrm{diag}(I_{\tau,k})` without the
model; the linear term of (3) is then another one, and clients are pulled towards the vector of ones instead of each
other's models. The text of both versions and the box of the short one have the model.

**Derivation of the corrected form.** Expand the square; :math:`v^i = \mathrm{diag}(I_{\tau-1,i})\,\omega_{\tau-1}^i`.

Instances: up to four clients, any non-negative diagonals, any models; the value of :math:`f_k` is any number.

Source: EFL, section 3.1, (2) and (3), both versions.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Sum

from fltheory.bounds.algebra import Inner
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import N, i

elasticity = scalar("elasticity", r"\lambda", "weight of the elastic term", domain="nonnegative")
risk = scalar("risk", r"f_k(w)", "empirical risk of a client at a model")
model = scalar("w", "w", "any model", shape=("dim",))
anchor = family("anchor", r"w_{\tau-1}^{<0>}", "model of a client in the last round", shape=("clients", "dim"))
fisher = family(
    "fisher",
    r"\mathrm{diag}(I_{\tau-1,<0>})",
    "diagonal of a client's Fisher information",
    shape=("clients", "dim"),
    domain="nonnegative",
)
statistic = family(
    "v", r"v_{\tau-1}^{<0>}", "second statistic that a client reports, as in the box", shape=("clients", "dim")
)

away = model - anchor[i]
objective = risk + elasticity / 2 * Sum(Inner(fisher[i] * away, away), (i, 1, N))
constant = elasticity / 2 * Sum(Inner(fisher[i] * anchor[i], anchor[i]), (i, 1, N))


def _rearranged(linear: Any) -> Any:
    quadratic = Inner(Sum(fisher[i], (i, 1, N)) * model, model)
    return Eq(
        objective, risk + elasticity / 2 * quadratic - elasticity * Inner(model, linear) + constant, evaluate=False
    )


def realise(point: Params) -> dict[str, Any]:
    """Return any objective, diagonals and models."""
    return {
        "N": point["N"],
        "elasticity": point["elasticity"],
        "risk": point["risk"],
        "w": point["model"],
        "anchor": point["anchor"],
        "fisher": point["fisher"],
        "v": point["fisher"],
    }


claim = Claim(
    id="efl.eq-3",
    kind=Kind.IDENTITY,
    title="elastic objective rearranged",
    citation=Citation("efl", "section 3.1, (3) (both versions)"),
    forms=(
        Form(statement=_rearranged(Sum(fisher[i] * anchor[i], (i, 1, N)))),
        Form(
            variant="published@000-box",
            statement=_rearranged(Sum(statistic[i], (i, 1, N))),
            note="second statistic as in the box of the long version, without the model",
        ),
        Form(
            variant="corrected",
            intended=("published@000-box",),
            statement=_rearranged(Sum(fisher[i] * anchor[i], (i, 1, N))),
            note="second statistic with the model, as in the text",
        ),
    ),
    check=Instances(
        space=Space(
            {
                "N": Integer(1, 4),
                "d": Integer(1, 3),
                "elasticity": Real(0, 5),
                "risk": Real(-3, 3),
                "model": Real(-3, 3, shape=("d",)),
                "anchor": Real(-3, 3, shape=("N", "d")),
                "fisher": Real(0, 3, shape=("N", "d")),
            }
        ),
        realise=realise,
    ),
)
