r"""(38): the squared distance after one round, expanded.

As published,

.. math:: \mathbb E\|\omega_t + \Delta\omega_t - \omega^*\|^2 = \|\omega_t - \omega^*\|^2
   - 2\,\mathbb E\langle\omega_t - \omega^*, \Delta\omega_t\rangle + \mathbb E\|\Delta\omega_t\|^2 .

The sign of the inner product is wrong. The next line, (39), makes a second error of sign, since
:math:`\Delta\omega_t` is a negative multiple of the gradients, so that both cancel and (39) continues with the right
expression.

**Derivation of the corrected form.** The square of a sum: :math:`+2\,\mathbb E\langle\omega_t - \omega^*,
\Delta\omega_t\rangle`.

Instances: one round of CFL-R in one or two dimensions, see the module of rounds.

Source: Guo et al., 2021, (38) and (39).
"""

from __future__ import annotations

from sympy import Eq

from fltheory.bounds.algebra import EE, Inner, NormSq
from fltheory.bounds.cfl._round import realise, space, update
from fltheory.bounds.cfl._symbols import w_t
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.symbols import w_star


def expansion(sign: int) -> Eq:
    """Return the expansion with this sign of the inner product."""
    return Eq(
        EE(NormSq(w_t + update - w_star)),
        NormSq(w_t - w_star) + sign * 2 * EE(Inner(w_t - w_star, update)) + EE(NormSq(update)),
        evaluate=False,
    )


claim = Claim(
    id="cfl.eq-38",
    kind=Kind.IDENTITY,
    title="one-step expansion",
    citation=Citation("cfl", "(38)"),
    forms=(
        Form(statement=expansion(-1)),
        Form(variant="corrected", intended=("published",), statement=expansion(1), note="plus"),
    ),
    check=Instances(space=space(rate=1.0), realise=realise),
)
