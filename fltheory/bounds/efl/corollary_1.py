r"""Corollary 1: when to abandon a client that is often inactive.

Client :math:`a` is inactive with probability :math:`y^a` in each round. If it is kept, the bound of Theorem 1 is said
to tend to :math:`y^aJ`; if it is abandoned at :math:`\tau_0`, the bound is :math:`f_1(T) = \tilde C_T/(E(T - \tau_0) +
\tilde\gamma)^2` at the deadline. The rule, and its form for :math:`\tilde C_\tau = \tau C`:

.. math:: y^aJ > f_1(T) \quad\Rightarrow\quad \text{abandon client } a , \qquad y^a > O\Bigl(\frac{C}{JTE}\Bigr) .

(The short version prints :math:`y^k` for :math:`y^a`.) It compares upper bounds, and so predicts nothing unless they
are equally loose. The outcome is simulated, both runs from the same model at :math:`\tau_0`: ``published@own`` compares
the squared distances at :math:`T`, each to the minimiser of its own objective; ``published@loss`` compares the loss of
all clients, which is what abandoning gives up. In the first :math:`y^aJ` is too large for rare inactivity, because the
bias of the kept run is of order :math:`(y^a)^2`: then the rule abandons although keeping is better, in particular if
the remaining clients are noisy and few.

*The limit.* :math:`y^aJ` is not what Theorem 1 gives. The other clients are always active, so the ratios :math:`\mathbb
E[p_t^ks_t^k]/p^k` differ in every round, :math:`r_t = 1` and :math:`H_T = T`, however small :math:`y^a > 0` is; the
term is :math:`TJ/(TE+\gamma)`, and tends to :math:`J/E` (``published@limit``). If :math:`r_t` were the random event
that the client is inactive, the limit would be :math:`y^aJ/E`, below :math:`y^aJ` by the factor :math:`E`
(``published@limit-event``).

*Condition (9).* If :math:`\tau_0` is a fraction of :math:`T`, :math:`f_1(T)/J` is of order :math:`C/(JTE^2)`. So (9)
suffices for (8) up to constants (``published@9``), but is not the same condition: it asks for :math:`E` times as much
(``published@9-converse``). The papers add that a client is the more sensitive to inactivity the more epochs it trains:
the least :math:`y^a` of (8), :math:`f_1(T)/J`, should fall with :math:`E`. It does for fixed :math:`C, J, \gamma`
(``published@epochs-fixed``), but these contain :math:`E`: with the constants of Theorem 1 (``published@epochs``),
:math:`J` grows like :math:`E` and :math:`B` like :math:`E^3` where the gradients dominate, and the least :math:`y^a`
rises.

**Derivation of the corrected form.** A lower bound on the kept run is needed. It is homogeneous for the objective
:math:`F_y = \sum_k\mathbb E[p_\tau^ks_\tau^k]F_k`, so by the corrected Theorem 1, applied to :math:`F_y` with
:math:`\theta = 1/(1 - y^a)`, it stays within :math:`f_y(T)` of the minimiser :math:`\omega_y` of :math:`F_y` in mean
square. By the triangle inequality :math:`\mathbb E\|\omega_T - \omega^*\|^2 \ge (\|\omega_y - \omega^*\| -
\sqrt{f_y(T)})_+^2`, and the rule

.. math:: \bigl(\|\omega_y - \omega^*\| - \sqrt{f_y(T)}\bigr)_+^2 > f_1(T) \quad\Rightarrow\quad \text{abandon client
   } a

is right for distances to own minimisers. The shift :math:`\|\omega_y - \omega^*\|` takes the place of :math:`y^aJ`. The
rule is very cautious, as both bounds are loose: with the constants of Theorem 1 it applies only after tens of thousands
of rounds, when abandoning has long been better. Its instances have such deadlines; where the published rule is searched
it hardly ever applies. For the loss of all clients no such rule can be given: the abandoned run tends to a point with a
positive gap, however small :math:`y^a` is.

The term of :math:`J` is at most :math:`\frac{T}{TE+\gamma}J \le \frac JE` (``corrected@limit``), and
:math:`\frac{TC}{(E(T-\tau_0)+\gamma)^2}` at most :math:`\frac{C}{TE^2}(1 - \tau_0/T)^{-2}` (``corrected@9``).

**Derivation of the sharp form.** Neither can be smaller in order: :math:`\frac{TE}{TE+\gamma}` tends to one
(``sharp@limit``), and so does :math:`\frac{(TE)^2}{(E(T-\tau_0)+\gamma)^2}(1-\tau_0/T)^2` as soon as :math:`\gamma
\ll ET` (``sharp@9``).

Instances: client :math:`a` and one other client, quadratics in one dimension, one local step, :math:`\tau_0 = 0`;
first and second moments by recursion. For ``published@epochs`` one client remains, which completes all steps; its
:math:`G^2` is its variance and the squared gradient at a start, and :math:`J` is proportional to :math:`E`.

Source: EFL, section 4.1, Corollary 1, (8) and (9), both versions.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Gt, Le, sqrt

from fltheory.bounds.algebra import BigO, Pos
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.efl._symbols import H, J, gamma
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E

y_a = scalar("y_a", "y^a", "probability that the client is inactive in a round", domain="probability")
f_1 = scalar("f_1", "f_1(T)", "bound at the deadline if the client is abandoned", domain="nonnegative")
f_y = scalar(
    "f_y", "f_y(T)", "bound on the distance of the kept run to the minimiser it tends to", domain="nonnegative"
)
shift = scalar(
    "shift",
    r"\|w_y - w^*\|",
    "distance to the optimum of the minimiser that the kept run tends to",
    domain="nonnegative",
)
kept = scalar(
    "kept_error",
    r"\mathbb{E}\|w_T - w^*\|^2",
    "squared distance at the deadline if the client is kept",
    domain="nonnegative",
)
left = scalar(
    "left_error",
    r"\mathbb{E}\|\hat w_T - \hat w^*\|^2",
    "squared distance at the deadline if the client is abandoned",
    domain="nonnegative",
)
kept_loss = scalar(
    "kept_loss", r"\mathbb{E}F(w_T) - F^*", "gap of all clients' loss if the client is kept", domain="nonnegative"
)
left_loss = scalar(
    "left_loss",
    r"\mathbb{E}F(\hat w_T) - F^*",
    "gap of all clients' loss if the client is abandoned",
    domain="nonnegative",
)
deadline = scalar("deadline", "T", "number of rounds until the deadline", domain="integer>=0")
C_rate = scalar("C_rate", "C", "what a round adds to the constant of the bound")
least = scalar(
    "least_y", r"\left.f_1(T)/J\right|_{E}", "least chance of inactivity for which to abandon", domain="nonnegative"
)
least_more = scalar(
    "least_y_more",
    r"\left.f_1(T)/J\right|_{E+1}",
    "least chance of inactivity for which to abandon, if clients are assigned one more step",
    domain="nonnegative",
)

BLOCK = 8192
"""Rounds whose moments are computed at once."""


def _run(point: Params, share: float, active: float, theta: float) -> dict[str, float]:
    """Return moments at the deadline of a run with client a at the given share and activity."""
    weight, chance = np.array([share, 1 - share]), np.array([active, 1.0])
    curvature, noise = point["curvature"], point["noise"]
    low, high = float(curvature.min()), float(curvature.max())
    pull, minima = weight * curvature, np.array([0.0, 1.0])
    mean_sum = float(weight @ chance)
    offset = max(4 * theta / mean_sum, 32 * (1 + theta) * high / (low * mean_sum))
    whole, biased = (float((c * pull) @ minima / (c @ pull)) for c in (np.ones(2), chance))
    # Moments of the distance to the point that the mean tends to, so that the mean has no constant term.
    start, away = point["start"] - biased, minima - biased
    first, second = start, start**2
    spread, largest = float((weight**2 * chance) @ noise), 0.0
    for begin in range(1, point["T"] + 1, BLOCK):
        rate = 16 / (low * mean_sum) / (np.arange(begin, min(begin + BLOCK, point["T"] + 1)) + offset)
        both, alone = 1 - rate * pull.sum(), 1 - rate * pull[1]
        means = first * np.append(1.0, np.cumprod(active * both + (1 - active) * alone))
        to_both, to_alone = float(pull @ away), pull[1] * away[1]
        added = 2 * rate * (active * to_both * both + (1 - active) * to_alone * alone) * means[:-1]
        added += rate**2 * (active * to_both**2 + (1 - active) * to_alone**2 + spread)
        shrunk = np.cumprod(active * both**2 + (1 - active) * alone**2)
        squares = np.append(second, shrunk * (second + np.cumsum(added / shrunk)))
        for k in (0, 1):
            if weight[k] > 0:
                seen = float((squares - 2 * away[k] * means)[:-1].max()) + away[k] ** 2
                largest = max(largest, curvature[k] ** 2 * seen + noise[k])
        first, second = float(means[-1]), float(squares[-1])
    gaps = curvature * away**2 / 2
    grown = spread + 2 * (2 + theta) * high * float((weight * chance) @ gaps) + 2 * largest * mean_sum
    constant = (offset * start) ** 2 + (16 / (low * mean_sum)) ** 2 * point["T"] * grown
    metric = float((weight * chance) @ (curvature * (whole - minima) ** 2 / 2)) / mean_sum
    return {
        "first": first,
        "second": second,
        "whole": whole,
        "biased": biased,
        "bound": constant / (point["T"] + offset) ** 2,
        "J": 32 * metric / low,
        "pull": float(pull.sum()),
    }


def _both(point: Params, *, careful: bool) -> dict[str, Any]:
    active = 1 - point["y"]
    stay = _run(point, point["share"], active, 1 / active if careful else 1.0)
    go = _run(point, 0.0, active, 1.0)

    def about(run: dict[str, float], at: float) -> float:
        off = at - run["biased"]
        return max(run["second"] - 2 * off * run["first"] + off * off, 0.0)

    return {
        "y_a": point["y"],
        "J": stay["J"],
        "f_1": go["bound"],
        "f_y": stay["bound"],
        "shift": abs(stay["biased"] - stay["whole"]),
        "kept_error": about(stay, stay["whole"]),
        "left_error": about(go, go["biased"]),
        "kept_loss": stay["pull"] / 2 * about(stay, stay["whole"]),
        "left_loss": stay["pull"] / 2 * about(go, stay["whole"]),
    }


def printed(point: Params) -> dict[str, Any]:
    """Return both runs with the learning rate of the theorem."""
    return _both(point, careful=False)


def careful(point: Params) -> dict[str, Any]:
    """Return both runs, the kept one with the offset that its own objective needs."""
    return _both(point, careful=True)


def threshold(point: Params) -> dict[str, Any]:
    """Return the bound of an abandoned client and the symbols of (9)."""
    rest = point["E"] * point["T"] * (1 - point["fraction"]) + point["gamma"]
    return {
        "E": point["E"],
        "J": 1.0,
        "C_rate": 1.0,
        "deadline": point["T"],
        "f_1": point["T"] / rest**2,
    }


def term(point: Params, *, event: bool = False) -> dict[str, Any]:
    """Return the quantities of the term that stays if the client is kept; ``event`` counts only rounds it misses."""
    y = 1 / point["inverse_y"]
    return {
        "E": point["E"],
        "J": 1.0,
        "gamma": point["gamma"],
        "deadline": point["T"],
        "y_a": y,
        "H_tau": (y if event else 1) * point["T"],
    }


def _least(point: Params, steps: int, *, fixed: bool) -> Any:
    """Return the least chance of inactivity for which (8) says to abandon, up to a factor without ``E``."""
    deadline, low, high = point["T"], point["mu"], point["mu"] * point["condition"]
    if fixed:
        return deadline * point["C"] / (steps * deadline + 64 * point["condition"]) ** 2
    size = point["noise"] + (low * point["start"]) ** 2
    offset = max(4 * steps, 64 * point["condition"])
    grown = (
        steps * point["noise"]
        + (2 + low / (4 * high)) * steps * (steps - 1) * size * (2 * steps - 1)
        + 2 * steps**2 * size
    )
    constant = (offset * point["start"]) ** 2 + 256 / low**2 * deadline * grown
    return constant / (steps * deadline + offset) ** 2 / steps


def epochs(point: Params, *, fixed: bool) -> dict[str, Any]:
    """Return the least chances for ``E`` and ``E + 1`` steps."""
    return {
        "least_y": _least(point, point["E"], fixed=fixed),
        "least_y_more": _least(point, point["E"] + 1, fixed=fixed),
    }


space = Space(
    {
        "y": Real(0.005, 0.95, log=True),
        "share": Real(0.05, 0.95),
        "T": Integer(100, 4000),
        "curvature": Real(1, 2, shape=(2,)),
        "noise": Real(1e-4, 100, log=True, shape=(2,)),
        "start": Real(-1, 2),
    }
)
late = Space(
    {
        **space.parameters,
        "y": Real(0.1, 0.9),
        "share": Real(0.2, 0.8),
        "T": Integer(50_000, 150_000),
        "noise": Real(1e-4, 10, log=True, shape=(2,)),
        "start": Real(0, 1),
    }
)
_rule = Instances(space=space, realise=printed, method=Method.EXACT, rational=False)
_times, _steps = (1e3, 1e4, 1e5, 1e6, 1e7), (1, 2, 4, 8, 16)
_base = {"E": 2, "gamma": 100.0, "fraction": 0.5}
_condition = Sweeps(
    instances=Instances(
        space=Space({"E": Integer(1, 64), "T": Real(1, 1e9), "fraction": Real(0, 0.9), "gamma": Real(1, 1e4)}),
        realise=threshold,
        rational=False,
    ),
    sweeps=(Sweep("T", _times, _base), Sweep("E", _steps, {**_base, "T": 1e5})),
)


def _limit(*, event: bool = False) -> Sweeps:
    at = {"E": 2, "gamma": 100.0, "T": 1e6, "inverse_y": 10.0}
    return Sweeps(
        instances=Instances(
            space=Space({"E": Integer(1, 64), "T": Real(1, 1e9), "inverse_y": Real(1, 1e6), "gamma": Real(1, 1e4)}),
            realise=functools.partial(term, event=event),
            rational=False,
        ),
        sweeps=(
            Sweep("inverse_y", (10.0, 1e2, 1e3, 1e4, 1e5), at),
            Sweep("E", _steps, at),
            Sweep("T", _times, at),
        ),
    )


def _epochs(*, fixed: bool) -> Instances:
    return Instances(
        space=Space(
            {
                "E": Integer(1, 20, far=300),
                "T": Integer(1, 10000),
                "mu": Real(0.01, 10, log=True),
                "condition": Real(1, 100, log=True, far=1e6),
                "start": Real(0, 10),
                **({"C": Real(0.01, 100, log=True)} if fixed else {"noise": Real(0.01, 100, log=True)}),
            }
        ),
        realise=functools.partial(epochs, fixed=fixed),
    )


stays = H * J / (deadline * E + gamma)
rule = (Gt(y_a * J, f_1),)

claim = Claim(
    id="efl.corollary-1",
    kind=Kind.RULE,
    title="abandon an inactive client",
    citation=Citation("efl", "Corollary 1, (8) and (9) (both versions)"),
    forms=(
        Form(
            variant="published@own",
            statement=Le(left, kept),
            premises=rule,
            note="each distance to the minimiser of its own objective",
        ),
        Form(variant="published@loss", statement=Le(left_loss, kept_loss), premises=rule, note="loss of all clients"),
        Form(
            variant="published@limit",
            statement=Le(stays, BigO(y_a * J)),
            check=_limit(),
            note="that the bound of the kept run tends to y J",
        ),
        Form(
            variant="published@limit-event",
            statement=Le(y_a * J, BigO(stays)),
            check=_limit(event=True),
            note="the same if only rounds were counted in which the client is inactive",
        ),
        Form(
            variant="published@9",
            statement=Le(f_1 / J, BigO(C_rate / (J * deadline * E))),
            check=_condition,
            note="(9) suffices for (8), abandoned half way",
        ),
        Form(
            variant="published@9-converse",
            statement=Le(C_rate / (J * deadline * E), BigO(f_1 / J)),
            check=_condition,
            note="(8) suffices for (9)",
        ),
        Form(
            variant="published@epochs",
            statement=Le(least_more, least),
            check=_epochs(fixed=False),
            note="more steps, more sensitive; constants of Theorem 1",
        ),
        Form(
            variant="published@epochs-fixed",
            statement=Le(least_more, least),
            check=_epochs(fixed=True),
            note="more steps, more sensitive; C, J and gamma the same for all numbers of steps",
        ),
        Form(
            variant="corrected",
            statement=Le(left, kept),
            premises=(Gt(Pos(shift - sqrt(f_y)) ** 2, f_1),),
            check=Instances(space=late, realise=careful, method=Method.EXACT, rational=False),
            note="the shift of the minimiser and the bound around it, in place of the bound on the bias",
        ),
        Form(
            variant="corrected@limit",
            statement=Le(stays, BigO(J / E)),
            check=_limit(),
            note="J/E, whatever the chance of inactivity",
        ),
        Form(
            variant="sharp@limit",
            statement=Le(J / E, BigO(stays)),
            check=_limit(),
            note="the term is no smaller",
        ),
        Form(
            variant="corrected@9",
            statement=Le(f_1 / J, BigO(C_rate / (J * deadline * E**2))),
            check=_condition,
            note="the square of E",
        ),
        Form(
            variant="sharp@9",
            statement=Le(C_rate / (J * deadline * E**2), BigO(f_1 / J)),
            check=_condition,
            note="the same condition as (8) up to constants",
        ),
    ),
    uses=("efl.theorem-1",),
    check=_rule,
)
