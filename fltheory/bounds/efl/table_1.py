r"""Table 1: communication rounds to reach accuracy :math:`\epsilon`, and that EFL's bound is the tightest.

The strongly convex rows, up to constants:

.. math:: \text{SCAFFOLD: } \frac{G^2}{\mu S\epsilon} + \frac{G}{\mu\sqrt\epsilon} + \frac L\mu, \qquad \text{MIME: }
   \frac{G^2}{\mu S\epsilon} + \frac\delta\mu, \qquad \text{EFL: } \frac{G^2}{\mu S\epsilon} +
   \frac{L}{\mu\sqrt\epsilon} .

The two other rows are for functions that are not convex, and are not compared: VRL-SGD,
:math:`\frac{N\sigma^2}{S\epsilon^2} + \frac N\epsilon`, and FedAMP, :math:`\frac{G^2}{LS\epsilon} +
\frac{G}{\epsilon^{3/2}} + \frac{L^2}{\sqrt\epsilon}` in the long version, with :math:`\frac{G}{\sqrt\epsilon}` for its
last term in the short one.

*The comparison.* The text says that EFL has a tighter bound than the methods that assume strong convexity. Taken as
inequalities between the rows (``published@scaffold``, ``published@mime``) this fails on a large part of the parameter
box (the table of the figures has the shares): against SCAFFOLD whenever :math:`L(1 - \sqrt\epsilon) > G`, and against
MIME whenever :math:`L > \delta\sqrt\epsilon`, which is always so for :math:`\epsilon < \frac14`, as a Hessian
dissimilarity is at most :math:`2L`. As rates, up to constants (``published@scaffold-rate``, ``published@mime-rate``),
the rows differ where the common first term does not hide the others, that is for :math:`S` of order
:math:`\frac1\epsilon`: :math:`\frac L{\sqrt\epsilon}` is no :math:`O(\frac G{\sqrt\epsilon} + L)` when :math:`L` grows,
and no :math:`O(\delta)`. (The rows add numbers of different units: :math:`G/\mu` is a length, :math:`L/\mu` has none.)

*The row of EFL* is not what Theorem 1 says: its :math:`C_\tau` has :math:`\mu^2` in the denominator. For the squared
distance of the theorem (``published@distance``) a noisy quadratic needs :math:`\mu^{-2}` rounds. For the gap of the
objective (``published@gap``) the quadratics confirm the row in :math:`\epsilon` and :math:`\mu`, and in :math:`S` if
all clients have the same weight. But :math:`B_t` contains :math:`2EG^2\sum_k\frac{(p_t^k)^2}{p^k}s_t^k`, in which there
is no :math:`\frac1S`; and if one client has half of the weight, averaging over the others does not remove its noise. At
:math:`S = \epsilon^{-1/2}` the row then misses a factor :math:`S` (``published@gap-unequal``).

**Derivation of the corrected forms.** Subtract the common term: EFL's row is below SCAFFOLD's if and only if
:math:`L(1 - \sqrt\epsilon) \le G`, and below MIME's if and only if :math:`L \le \delta\sqrt\epsilon`
(``corrected@scaffold``, ``corrected@mime``; both sides of the equivalences are elementary).

For distances, take one local step and everybody in every round. Strong convexity and :math:`\mathbb E\|\sum_kp^kg^k\|^2
\le G^2` give :math:`\Delta_{\tau+1} \le (1 - 2\mu\eta_\tau)\Delta_\tau + \eta_\tau^2G^2`, and with :math:`\eta_\tau =
\frac{16}{\mu(\tau+1+\gamma)}`, :math:`\gamma = \frac{64L}\mu`, the induction of :mod:`~fltheory.bounds.efl.eq_65` gives
:math:`\Delta_\tau \le \frac{\gamma^2\Delta_0 + 256\tau G^2/\mu^2}{(\tau+\gamma)^2}`. Hence
:math:`\frac{G^2}{\mu^2\epsilon} + \frac L{\mu\sqrt\epsilon}` rounds up to constants and :math:`\Delta_0`, whatever the
weights (``corrected@distance``). If all weights are equal and the clients' functions are the same, :math:`\mathbb
E\|\sum_kp^kg^k\|^2 \le L\langle\nabla F(\omega), \omega - \omega^*\rangle + \frac{G^2}S`, and as :math:`\eta_\tau L \le
\frac14`, :math:`\Delta_{\tau+1} \le (1 - \mu\eta_\tau)\Delta_\tau + \eta_\tau^2\frac{G^2}S`: by the same induction
:math:`\frac{G^2}{\mu^2S\epsilon} + \frac L{\mu\sqrt\epsilon}` rounds (``corrected@equal``). For the gap nothing is
corrected: beyond quadratics the gap is at most :math:`\frac L2` times the squared distance, which costs a factor
:math:`\frac L\mu`, and no instance shows that it is needed.

**Derivation of the sharp form.** The first term cannot be better: with steps of :math:`\frac{16}{\mu\tau}` a noisy
quadratic of curvature :math:`\mu` is at a squared distance of the order :math:`\frac{\sigma^2}{\mu^2\tau}\sum_k(p^k)^2`
after :math:`\tau` rounds, so that it stays bounded over the measured rounds, with one client (``sharp@distance``) and,
with :math:`\frac1S`, for equal weights and :math:`S = \epsilon^{-1/2}` clients (``sharp@equal``). About the second term
nothing is said: these runs start at the optimum.

Instances: all parameters over several orders of magnitude; for the measured rows a quadratic with curvatures
:math:`\mu` and :math:`L = 1`, noise in both directions, started at its optimum, one local step, :math:`S` clients with
equal weights or one of them with half of the weight, the learning rate of Theorem 1; the number of rounds is the last
one with an expected error above :math:`\epsilon`, from the recursion of second moments.

Source: EFL, Table 1 and section 3.2, both versions.
"""

from __future__ import annotations

import functools
from typing import Any

from sympy import Le, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import L, mu

accuracy = scalar("epsilon", r"\epsilon", "accuracy to be reached", domain="nonnegative")
sampled = scalar("S", "S", "number of clients in a round", domain="integer>=1")
G = scalar("G", "G", "bound on the norm of a gradient", domain="nonnegative")
delta = scalar("delta", r"\delta", "Hessian dissimilarity", domain="nonnegative")
rounds_distance = scalar(
    "rounds_distance", r"T_\epsilon", "rounds until the squared distance stays below the accuracy", domain="integer>=0"
)
rounds_gap = scalar(
    "rounds_gap", r"T_\epsilon", "rounds until the gap of the objective stays below the accuracy", domain="integer>=0"
)

statistical = G**2 / (mu * sampled * accuracy)
efl = statistical + L / (mu * sqrt(accuracy))
scaffold = statistical + G / (mu * sqrt(accuracy)) + L / mu
mime = statistical + delta / mu


def compared(point: Params) -> dict[str, Any]:
    """Return any constants with a dissimilarity that is possible."""
    return {
        "mu": point["mu"],
        "L": point["mu"] * point["condition"],
        "epsilon": point["epsilon"],
        "S": point["S"],
        "G": point["G"],
        "delta": 2 * point["mu"] * point["condition"] * point["delta"],
    }


def as_rates(point: Params) -> dict[str, Any]:
    """Return as many clients as the inverse accuracy, and a smoothness that grows with it or does not."""
    return {
        "mu": 1.0,
        "L": point["inverse_epsilon"] ** point["growth"],
        "epsilon": 1 / point["inverse_epsilon"],
        "S": point["inverse_epsilon"],
        "G": 1.0,
        "delta": 1.0,
    }


def measured(point: Params) -> dict[str, Any]:
    """Return the rounds that a noisy quadratic needs; no number of clients stands for the root of the accuracy."""
    clients = int(point["S"]) or round(point["inverse_epsilon"] ** 0.5)
    squared = 1 / clients if point["weights"] == "equal" else (1 + 1 / (clients - 1)) / 4
    return _needed(clients, squared, 1 / point["inverse_mu"], 1 / point["inverse_epsilon"])


@functools.lru_cache(maxsize=64)
def _needed(clients: int, squared: float, low: float, epsilon: float) -> dict[str, Any]:
    r"""Return the rounds for a sum of squared weights; forms share the points of their sweeps.

    A step :math:`x \mapsto (1 - r\lambda)^2x + r^2s` has the fixed point :math:`\phi(r) =
    \frac{rs}{\lambda(2 - r\lambda)}`, which falls with the rate. So once :math:`x \ge \phi(r)`, :math:`x` falls
    from there on, and if both variances do, what has become small enough stays so.
    """
    offset = 64 / low
    flat = steep = largest = 0.0
    distance = gap = 1
    for index in range(int(400 * squared / (low**2 * epsilon) + 40 * offset)):
        rate = 16 / (low * (index + 1 + offset))
        flat = (1 - rate * low) ** 2 * flat + rate**2 * squared
        steep = (1 - rate) ** 2 * steep + rate**2 * squared
        if (size := low**2 * flat + steep) > largest:
            largest = size
        if flat + steep > epsilon:
            distance = index + 1
        if (low * flat + steep) / 2 > epsilon:
            gap = index + 1
        falling = flat >= rate * squared / (low * (2 - rate * low)) and steep >= rate * squared / (2 - rate)
        if falling and max(distance, gap) <= index:
            break
    return {
        "mu": low,
        "L": 1.0,
        "epsilon": epsilon,
        "S": clients,
        "G": (2.0 + largest) ** 0.5,
        "rounds_distance": distance,
        "rounds_gap": gap,
    }


box = Instances(
    space=Space(
        {
            "S": Integer(1, 100),
            "mu": Real(1e-3, 10, log=True),
            "condition": Real(1, 1e4, log=True),
            "epsilon": Real(1e-6, 1, log=True),
            "G": Real(1e-2, 1e3, log=True),
            "delta": Real(0, 1),
        }
    ),
    realise=compared,
)
one = {"S": 1, "weights": "equal"}
alone = (
    Sweep("inverse_mu", (2.0, 4.0, 8.0, 16.0, 32.0), {**one, "inverse_epsilon": 20.0}),
    Sweep("inverse_epsilon", (10.0, 30.0, 100.0, 300.0, 1000.0), {**one, "inverse_mu": 2.0}),
)
shared = Sweep("S", (1, 2, 4, 8, 16), {"weights": "equal", "inverse_mu": 2.0, "inverse_epsilon": 1000.0})
many_equal, many_unequal = (
    Sweep("inverse_epsilon", values, {"S": 0, "weights": weights, "inverse_mu": 2.0})
    for weights, values in (
        ("equal", (1600.0, 6400.0, 25600.0, 102400.0, 409600.0)),
        ("half", (100.0, 400.0, 1600.0, 6400.0)),
    )
)


def _along(*sweeps: Sweep) -> Sweeps:
    space = Space(
        {
            "S": Integer(0, 100),
            "weights": Choice(("equal", "half")),
            "inverse_mu": Real(1, 100),
            "inverse_epsilon": Real(1, 1e6),
        }
    )
    return Sweeps(
        instances=Instances(space=space, realise=measured, method=Method.EXACT, rational=False), sweeps=sweeps
    )


equal = _along(*alone, shared, many_equal)
rates = Sweeps(
    instances=Instances(
        space=Space({"inverse_epsilon": Real(1, 1e9), "growth": Real(0, 1)}), realise=as_rates, rational=False
    ),
    sweeps=tuple(Sweep("inverse_epsilon", (1e2, 1e3, 1e4, 1e5, 1e6, 1e7), {"growth": g}) for g in (0.5, 0.0)),
)
per_client, optimisation = statistical / mu, L / (mu * sqrt(accuracy))
any_weights = G**2 / (mu**2 * accuracy)
few_gradients, similar = Le(L * (1 - sqrt(accuracy)), G), Le(L, delta * sqrt(accuracy))

claim = Claim(
    id="efl.table-1",
    kind=Kind.RATE,
    title="rounds to accuracy, and the comparison",
    citation=Citation("efl", "Table 1 (both versions)"),
    forms=(
        Form(variant="published@scaffold", statement=Le(efl, scaffold), note="EFL tighter than SCAFFOLD"),
        Form(variant="published@mime", statement=Le(efl, mime), note="EFL tighter than MIME"),
        Form(
            variant="published@scaffold-rate",
            statement=Le(efl, BigO(scaffold)),
            check=rates,
            note="EFL tighter than SCAFFOLD up to constants, with as many clients as the inverse accuracy",
        ),
        Form(
            variant="published@mime-rate",
            statement=Le(efl, BigO(mime)),
            check=rates,
            note="EFL tighter than MIME up to constants, with as many clients as the inverse accuracy",
        ),
        Form(
            variant="published@distance",
            statement=Le(rounds_distance, BigO(efl)),
            check=equal,
            note="row of EFL, accuracy as squared distance",
        ),
        Form(
            variant="published@gap",
            statement=Le(rounds_gap, BigO(efl)),
            check=equal,
            note="row of EFL, accuracy as gap of the objective, clients of equal weight",
        ),
        Form(
            variant="published@gap-unequal",
            statement=Le(rounds_gap, BigO(efl)),
            check=_along(many_unequal),
            note="the same if one client has half of the weight",
        ),
        Form(
            variant="corrected@scaffold",
            statement=Le(efl, scaffold),
            premises=(few_gradients,),
            note="where gradients are at least as large as L(1 - sqrt(epsilon))",
        ),
        Form(
            variant="corrected@mime",
            statement=Le(efl, mime),
            premises=(similar,),
            note="where the dissimilarity is at least L/sqrt(epsilon)",
        ),
        Form(
            variant="corrected@distance",
            statement=Le(rounds_distance, BigO(any_weights + optimisation)),
            check=_along(many_unequal, *alone, shared, many_equal),
            note="the square of mu, as in Theorem 1, and no number of clients",
        ),
        Form(
            variant="corrected@equal",
            statement=Le(rounds_distance, BigO(per_client + optimisation)),
            check=equal,
            note="the square of mu, for clients of equal weight that are alike",
        ),
        Form(
            variant="sharp@distance",
            statement=Le(any_weights, BigO(rounds_distance)),
            check=_along(*alone),
            note="a noisy quadratic needs as many rounds as the first term says; one client",
        ),
        Form(
            variant="sharp@equal",
            statement=Le(per_client, BigO(rounds_distance)),
            check=_along(many_equal),
            note="the same with as many clients as the root of the inverse accuracy, of equal weight",
        ),
    ),
    uses=("efl.theorem-1",),
    check=box,
)
