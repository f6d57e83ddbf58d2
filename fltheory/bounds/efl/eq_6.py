r"""Equation (6): the aggregated model written out with gradients.

From :math:`\omega_{(\tau+1)E}^G = \omega_{\tau E}^G + R^G + \sum_k p_\tau^k\,\Delta\omega_{\tau E}^k` the papers
conclude

.. math:: \omega_{(\tau+1)E}^G = \omega_{\tau E}^G + R_{(\tau-1)E}^G - \sum_{k=1}^N
   p_\tau^k\sum_{j=0}^{s_\tau^k}\eta_\tau g_{\tau E+j}^k .

Two things are wrong. The sum runs to :math:`s_\tau^k` inclusive, although the client takes :math:`s_\tau^k` steps (the
same slip is in (13), where it runs to :math:`E`); and :math:`\Delta\omega^k` contains the client's residual, which the
formula leaves out. The second fault is seen alone with :math:`s_\tau^k` terms in the sum (``published@003-residual``),
where it takes a second round. In the long version the server moreover receives :math:`\mathrm{ST}(\Delta\omega^k)`, not
:math:`\Delta\omega^k` (``published@000-residual``: one round suffices).

**Derivation of the corrected form.** :math:`\Delta\omega^k = R_{\mathrm{old}}^k - \eta_\tau\sum_{j=0}^{s-1} g_{\tau
E+j}^k` by the definition of the local steps; if it is compressed, :math:`\mathrm{ST}(\Delta\omega^k) = \Delta\omega^k
- R_{\mathrm{new}}^k`.

Instances: up to three rounds of the algorithm on quadratics; the gradient of index :math:`s_\tau^k` is the one at the
client's last model. :math:`\tau` counts rounds from 0, and residuals carry the number of the round before which they
are in force. Inactive clients have the coefficient 0 (:mod:`~fltheory.bounds.efl._compressor`).

Source: EFL, section 3.1, (6), both versions.
"""

from __future__ import annotations

from sympy import Eq, Sum

from fltheory.bounds.claim import Citation, Claim, Form, Kind
from fltheory.bounds.efl._compressor import runs_with
from fltheory.bounds.efl._symbols import coefficient, residual, residual_k, rounds, server
from fltheory.bounds.quantities import family
from fltheory.bounds.symbols import N, eta, j, k, tau

gradient = family(
    "gradient",
    "g_{<0> E+<2>}^{<1>}",
    "gradient of a client in a local step of a round",
    first=(0, 1, 0),
    shape=("rounds", "clients", "steps", "dim"),
)
steps = family(
    "steps",
    "s_{<0>}^{<1>}",
    "local steps that a client completes in a round",
    first=(0, 1),
    shape=("rounds", "clients"),
    domain="integer>=0",
)


def _after(correction: object, last: object) -> Eq:
    moved = Sum(
        coefficient[tau, k] * (correction - Sum(eta * gradient[tau, k, j], (j, 0, last))),
        (k, 1, N),
    )
    return Eq(server[tau + 1], server[tau] + residual[tau] + moved, evaluate=False)


every = ((tau, 0, rounds - 1),)
long_version = runs_with("000")
short_version = runs_with("003")

claim = Claim(
    id="efl.eq-6",
    kind=Kind.IDENTITY,
    title="aggregation written out with gradients",
    citation=Citation("efl", "section 3.1, (6) (both versions)"),
    forms=(
        Form(
            variant="published@000",
            statement=_after(0, steps[tau, k]),
            over=every,
            check=long_version,
            note="clients send compressed updates",
        ),
        Form(
            variant="published@003",
            statement=_after(0, steps[tau, k]),
            over=every,
            check=short_version,
            note="clients send uncompressed updates",
        ),
        Form(
            variant="published@000-residual",
            statement=_after(0, steps[tau, k] - 1),
            over=every,
            check=long_version,
            note="clients send compressed updates; the sum over the steps that are taken",
        ),
        Form(
            variant="published@003-residual",
            statement=_after(0, steps[tau, k] - 1),
            over=every,
            check=short_version,
            note="clients send uncompressed updates; the sum over the steps that are taken",
        ),
        Form(
            variant="corrected@000",
            statement=_after(residual_k[tau, k] - residual_k[tau + 1, k], steps[tau, k] - 1),
            over=every,
            check=long_version,
            note="s steps, and what the compression held back before and now",
        ),
        Form(
            variant="corrected@003",
            statement=_after(residual_k[tau, k], steps[tau, k] - 1),
            over=every,
            check=short_version,
            note="s steps, and the client's residual",
        ),
    ),
    check=short_version,
)
