r"""Figure 1: CFL-R has the smallest loss in all eight settings of the noisy quadratic.

The settings cross :math:`L = 5, 20`, :math:`\mu = 1, 0` and :math:`\mathbb E\|\xi\|^2 = 0.01, 100` (small and big
round drift), with :math:`\mathbb E\|\delta\|^2 = 0.01` and :math:`\mathbb E\|\nu\|^2 = 10^{-5}`; the loss is
:math:`\|Aw + B\|`, every method has the constant rate that suits it best. Claimed: CFL-R wins everywhere (``final``,
``averaged``), and by more for strongly convex problems and for big round drift (``margin``). And of Table 2: the best
rate of CFL-R is the largest (``rates``), and the difference is larger for strongly convex problems and for big round
drift (``rates-margin``).

Dimension, number of clients, local steps, rounds, distance of the start and FedProx's coefficient are not stated, so
they are free here: 2 to 6 dimensions, 2 to 20 clients, 1 to 10 steps, 10 to 60 rounds, distance 0.1 to 20, a
coefficient of one. ``final`` compares mean squares of the loss after the last round, ``averaged`` the gap of the mean
of all models with equal weights. Rates are those of ``final``, compared up to five percent of the largest one, which is
more than the grid leaves open; the difference is that to the larger one of the two other methods. Client drifts sum to
zero, or are drawn (``drawn``) as in the paper.

CFL-R does not win everywhere. Start and client drift act alike in both methods at equal rates. The round drifts are
averaged out late: the first ones enter every later round, so that in the limit of small steps the last model of CFL-R
has collected twice the variance of FedAvg's, and the mean of all models up to four times. FedAvg wins where drifts
weigh more than the distance from the start, and often on the averaged model, because averaging models already
does for FedAvg what memory does for CFL-R. There CFL-R also wants the smaller rate: close to the minimiser a step does
more harm to it than to FedAvg. Losses may have two minima, so that a small change of the setting moves the best rate
of a method far.

**Derivation of the corrected form.** With :math:`\rho = 1 - \lambda P` as in :mod:`fltheory.bounds.cfl._moments`, drift
:math:`s` enters the last model of FedAvg with weight :math:`a_s = P\rho^{T-s}`, that of CFL-R with :math:`C_s =
\sum_{t\ge s}a_t/t`. Summing by parts, :math:`\sum_sC_s^2 = \sum_sa_s(2C_s - a_s/s)`, and :math:`\sum_s a_sC_s =
\sum_t\frac{a_t}t\sum_{s\le t}a_s \le \sum_ta_t^2`, as :math:`|a_s|` increases with :math:`s`. So :math:`\sum C_s^2 <
2\sum a_s^2`: at equal rates, hence also at the best ones, the mean square loss of CFL-R is less than twice that of
FedAvg; it is approached for small steps and many rounds. For the mean of all models :math:`a_s` does not increase and
Copson's inequality gives four in place of two, see ``cfl.remark-4.4``. FedProx changes the spectrum and has no such
bound. For the margin no ordering survives; what holds is the same factor: no margin is below one half. Of the best
rates no ordering is claimed in place of the printed one.

Source: Guo, Lin, Tang, 2021, section 6, appendix C.1, Figure 1 and Table 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Ge, Le, Max, Min

from fltheory.algorithms.cflr import CFLR
from fltheory.bounds.algebra import Env
from fltheory.bounds.cfl._moments import QuadraticMoments
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Instances, Kind, Method
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.participation import Participation
from fltheory.quadratic.generators import noisy_quadratic
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories

cflr = scalar(
    "cflr", r"\ell_{\mathrm{CFL\text{-}R}}", "expected loss of CFL-R at its best rate, squared", domain="nonnegative"
)
fedavg = scalar(
    "fedavg", r"\ell_{\mathrm{FedAvg}}", "expected loss of FedAvg at its best rate, squared", domain="nonnegative"
)
fedprox = scalar(
    "fedprox", r"\ell_{\mathrm{FedProx}}", "expected loss of FedProx at its best rate, squared", domain="nonnegative"
)
MEANINGS = {
    "sc": "strongly convex",
    "gc": "general convex",
    "big": "big round drift",
    "small": "small round drift",
}
margins = {
    name: scalar(f"margin_{name}", rf"m_{{\mathrm{{{name}}}}}", f"FedAvg's loss over CFL-R's, squared, {meaning}")
    for name, meaning in MEANINGS.items()
}
best_rate = {
    name: scalar(f"rate_{name}", rf"\eta_{{\text{{{shown}}}}}", f"best constant local rate of {shown}")
    for name, shown in (("cflr", "CFL-R"), ("fedavg", "FedAvg"), ("fedprox", "FedProx"))
}
leads = {
    name: scalar(
        f"lead_{name}",
        rf"d_{{\mathrm{{{name}}}}}",
        f"best rate of CFL-R less the larger one of the others, {MEANINGS[name]}",
    )
    for name in MEANINGS
}
resolution = scalar(
    "resolution", r"\epsilon_\eta", "difference of two rates that is below the resolution", domain="nonnegative"
)

DRIFTS = {"SRD": 0.01, "BRD": 100.0}
SMOOTH = {"SL": 5.0, "LL": 20.0}
CONVEX = {"SC": 1.0, "GC": 0.0}
TOLD_APART = 0.05
"""Part of the largest rate by which rates have to differ, several times the last step of their grid."""

SETTINGS = tuple(f"{drift}-{smooth}-{convex}" for drift in DRIFTS for smooth in SMOOTH for convex in CONVEX)


def problem(point: Params, setting: str, centred: bool) -> Quadratic:
    """Return the instance of one of the eight settings."""
    drift, smooth, convex = setting.split("-")
    return noisy_quadratic(
        dim=point["d"],
        num_clients=point["N"],
        mu=CONVEX[convex],
        L=SMOOTH[smooth],
        rotated=False,
        radius=point["radius"],
        client_drift_sq=0.01,
        client_drift_centred=centred,
        round_drift_sq=DRIFTS[drift],
        noise_sq=1e-5,
    )


def tuned(
    point: Params, instance: Quadratic, *, averaged: bool, remembers: bool, prox: float = 0.0
) -> tuple[float, float]:
    """Return the best constant rate and its loss: squared gradient after the last round, or gap of the mean."""
    moments = QuadraticMoments.of(instance, point["K"], remembers=remembers, prox=prox)
    weights = np.ones((1, point["T"] + 1)) if averaged else np.eye(point["T"] + 1)[-1:]
    low, high = 1e-4, 1.95 / (float(instance.hessian.max()) + prox)
    # The loss may have several minima, narrow ones near the largest rate, so the first grid covers everything; later
    # ones close in on its best.
    first = np.union1d(np.geomspace(low, high, 24), np.linspace(low, high, 64))
    for count in (len(first), 9, 9):
        rates = first if count == len(first) else np.geomspace(low, high, count)
        losses = moments.loss(rates * point["K"], weights, power=1 if averaged else 2)
        best = int(np.argmin(losses))
        low, high = rates[max(best - 1, 0)], rates[min(best + 1, count - 1)]
    return float(rates[best]), float(losses[best]) * (0.5 if averaged else 1.0)


SPACE = Space(
    {
        "setting": Choice(SETTINGS),
        "d": Integer(2, 6),
        "N": Integer(2, 20),
        "K": Integer(1, 10),
        "T": Integer(10, 60),
        "radius": Real(0.1, 20, log=True),
    }
)


def related(setting: str) -> dict[str, str]:
    """Return the settings that differ from one in convexity or in round drift alone, itself among them."""
    drift, smooth, convex = setting.split("-")
    return {
        "sc": f"{drift}-{smooth}-SC",
        "gc": f"{drift}-{smooth}-GC",
        "big": f"BRD-{smooth}-{convex}",
        "small": f"SRD-{smooth}-{convex}",
    }


def rates(point: Params) -> Env:
    """Return the best rates of the three methods in a setting, and by how much CFL-R leads in related ones."""

    def best(setting: str) -> dict[str, float]:
        instance = problem(point, setting, True)
        return {
            "cflr": tuned(point, instance, averaged=False, remembers=True)[0],
            "fedavg": tuned(point, instance, averaged=False, remembers=False)[0],
            "fedprox": tuned(point, instance, averaged=False, remembers=False, prox=1.0)[0],
        }

    compared = related(point["setting"])
    found = {setting: best(setting) for setting in set(compared.values())}
    lead = {setting: one["cflr"] - max(one["fedavg"], one["fedprox"]) for setting, one in found.items()}
    return {
        **{f"rate_{name}": value for name, value in found[point["setting"]].items()},
        **{f"lead_{name}": lead[setting] for name, setting in compared.items()},
        "resolution": TOLD_APART * max(value for one in found.values() for value in one.values()),
    }


def runs(*, centred: bool, averaged: bool = False, margin: bool = False) -> Experiments:
    """Return runs of CFL-R at its best rate, with the losses of the others at theirs."""

    def experiment(point: Params) -> Experiment:
        instance = problem(point, point["setting"], centred)
        return Experiment(
            problem=instance,
            algorithm=CFLR(),
            participation=Participation(num_clients=point["N"], local_steps=point["K"]),
            rounds=point["T"],
            rate=tuned(point, instance, averaged=averaged, remembers=True)[0],
            averaging=np.ones(point["T"] + 1),
        )

    def ratio(point: Params, setting: str) -> float:
        instance = problem(point, setting, centred)
        both = [tuned(point, instance, averaged=averaged, remembers=remembers)[1] for remembers in (False, True)]
        return both[0] / both[1]

    def ratios(point: Params, _: Any, __: Any) -> Env:
        compared = related(point["setting"])
        found = {setting: ratio(point, setting) for setting in set(compared.values())}
        return {f"margin_{name}": found[setting] for name, setting in compared.items()}

    def quantities(point: Params, run: Experiment, curves: Trajectories) -> Env:
        instance = run.problem
        assert isinstance(instance, Quadratic)
        curve = "average_gap" if averaged else "gradient_norm_sq"
        return {
            "cflr": float(curves.curve(curve)[0, -1]),
            "fedavg": tuned(point, instance, averaged=averaged, remembers=False)[1],
            "fedprox": tuned(point, instance, averaged=averaged, remembers=False, prox=1.0)[1],
        }

    if margin:
        return Experiments(space=SPACE, experiment=lambda _: (), quantities=ratios)
    return Experiments(space=SPACE, experiment=experiment, quantities=quantities)


wins = Le(cflr, Min(fedavg, fedprox))
tuning = Instances(space=SPACE, realise=rates, method=Method.EXACT, rational=False)
half = tuple(2 * value >= 1 for value in margins.values())

claim = Claim(
    id="cfl.figure-1",
    kind=Kind.RATE,
    title="CFL-R has the smallest loss in all eight settings",
    citation=Citation("cfl", "Figure 1, Table 2"),
    forms=(
        Form(variant="published@final", statement=wins),
        Form(variant="published@final-drawn", statement=wins, check=runs(centred=False)),
        Form(variant="published@averaged", statement=wins, check=runs(centred=True, averaged=True)),
        Form(variant="published@averaged-drawn", statement=wins, check=runs(centred=False, averaged=True)),
        Form(
            variant="published@margin",
            statement=(Ge(margins["sc"], margins["gc"]), Ge(margins["big"], margins["small"])),
            check=runs(centred=True, margin=True),
        ),
        Form(
            variant="published@rates",
            statement=Ge(best_rate["cflr"] + resolution, Max(best_rate["fedavg"], best_rate["fedprox"])),
            check=tuning,
            note="Table 2: the best rate of CFL-R is the largest",
        ),
        Form(
            variant="published@rates-margin",
            statement=(
                Ge(leads["sc"] + resolution, leads["gc"]),
                Ge(leads["big"] + resolution, leads["small"]),
            ),
            check=tuning,
            note="Table 2: by more if strongly convex, or if the round drift is big",
        ),
        Form(variant="corrected@final", statement=Le(cflr, 2 * fedavg), note="less than twice the mean square loss"),
        Form(
            variant="corrected@final-drawn",
            statement=Le(cflr, 2 * fedavg),
            check=runs(centred=False),
            note="the same with drawn client drifts",
        ),
        Form(
            variant="corrected@averaged",
            statement=Le(cflr, 4 * fedavg),
            check=runs(centred=True, averaged=True),
            note="at most four times the gap of the averaged model",
        ),
        Form(
            variant="corrected@averaged-drawn",
            statement=Le(cflr, 4 * fedavg),
            check=runs(centred=False, averaged=True),
            note="the same with drawn client drifts",
        ),
        Form(
            variant="corrected@margin",
            statement=half,
            check=runs(centred=True, margin=True),
            note="no ordering of the settings; every margin is at least one half",
        ),
    ),
    uses=("cfl.remark-4.4",),
    check=runs(centred=True),
)
