r"""Equation (65): the induction of Theorem 1 closes.

With :math:`x = \tau E + \gamma`, :math:`b_\tau = \bigl(\frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k
s_\tau^k]}\bigr)^2\,\mathbb E[\overline B_\tau + 2\overline H_\tau]` and the hypothesis :math:`\mathbb
E[\overline\Delta_{\tau E}] \le \frac{C_\tau}{x^2} + \frac{H_\tau J}{x}` (the print has :math:`TE + \gamma` in its
second denominator), the step is

.. math:: \frac{x - E}{x + E}\Bigl(\frac{C_\tau}{x^2} + \frac{H_\tau J}{x}\Bigr) + \frac{b_\tau}{(x+E)^2} +
   \frac{r_\tau J}{x + E} \le \frac{C_{\tau+1}}{(x+E)^2} + \frac{H_{\tau+1}J}{x+E} .

With :math:`C_{\tau+1} = C_\tau + b_\tau` and :math:`H_{\tau+1} = H_\tau + r_\tau`, as its last line says
(``published@000``), it is true: :math:`(x - E)(x + E) \le x^2`. With the constant that the short version prints in
the theorem (``published@003``),

.. math:: C_\tau = \max\Bigl\{\gamma^2\,\mathbb E\|\omega_0^G - \omega^*\|^2,\ \sum_{t<\tau} b_t\Bigr\} ,

it is not: while the first one dominates, :math:`C_\tau` does not grow and there is no room for :math:`b_\tau`. (The
print moreover divides all terms by the square of :math:`\mathbb E[\sum_k p_\tau^k s_\tau^k]` of the current round; here
each :math:`b_t` has its own, and the other fault is shown on the page of :mod:`~fltheory.bounds.efl.theorem_1`.)

**Derivation of the corrected form.** A sum in place of the maximum, :math:`C_\tau = \gamma^2\,\mathbb E\|\omega_0^G -
\omega^*\|^2 + \sum_{t<\tau}b_t`, is what the last line uses. It is at most twice the maximum.

Instances: any round and constants; :math:`b_t` is the same in earlier rounds; :math:`\gamma \ge 4E`, which follows
from its definition.

Source: EFL (long version), appendix A.2.1, (65); short version, Theorem 1.
"""

from __future__ import annotations

from typing import Any

from sympy import Ge, Le, Max

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.efl._symbols import C, H, J, gamma, r_tau, start
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, tau

C_next = scalar("C_next", r"C_{\tau+1}", "constant of the bound after one more round")
b_tau = scalar("b_tau", r"b_\tau", "what a round adds to the constant")
C_any = scalar("C_any", r"C_\tau", "any non-negative constant", domain="nonnegative")

x = tau * E + gamma
first, total = gamma**2 * start, tau * b_tau
step = Le(
    (x - E) / (x + E) * (C / x**2 + H * J / x) + b_tau / (x + E) ** 2 + r_tau * J / (x + E),
    C_next / (x + E) ** 2 + (H + r_tau) * J / (x + E),
)


def realise(point: Params) -> dict[str, Any]:
    """Return any constants."""
    return {
        "E": point["E"],
        "tau": point["tau"],
        "r_tau": point["r"],
        "H_tau": point["H"] * point["tau"],
        "J": point["J"],
        "gamma": point["E"] * point["offset"],
        "b_tau": point["b"],
        "start_sq": point["start"],
        "C_any": point["C"],
    }


claim = Claim(
    id="efl.eq-65",
    kind=Kind.IDENTITY,
    title="the induction closes",
    citation=Citation("efl", "appendix A.2.1, (65) (long); Theorem 1 (short)"),
    forms=(
        Form(variant="published@000", statement=step, where=((C, C_any), (C_next, C + b_tau))),
        Form(
            variant="published@003",
            statement=step,
            where=((C, Max(first, total)), (C_next, Max(first, total + b_tau))),
            note="constants of the theorem in the short version",
        ),
        Form(
            variant="corrected",
            statement=step,
            where=((C, first + total), (C_next, first + total + b_tau)),
            note="a sum in place of the maximum",
        ),
    ),
    assumptions=(
        Assumption("offset at least 4E", Ge(gamma, 4 * E)),
        Assumption("no round takes away from the constant", Ge(b_tau, 0)),
    ),
    uses=("efl.eq-64",),
    check=Instances(
        space=Space(
            {
                "E": Integer(1, 5),
                "tau": Integer(0, 30),
                "r": Integer(0, 1),
                "H": Real(0, 1),
                "J": Real(0, 10),
                "offset": Real(4, 1000, log=True),
                "b": Real(0, 1e4),
                "start": Real(0, 10),
                "C": Real(0, 1e4),
            }
        ),
        realise=realise,
    ),
)
