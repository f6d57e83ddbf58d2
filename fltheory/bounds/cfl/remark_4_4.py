r"""Remark 4.4: CFL-R beats FedAvg, and which drift it averages out.

Claimed in words: the rates of CFL-R are better than that of FedAvg in both scenarios; in S1 CFL-R reduces the variance
of the round drift, in S2 that of both drifts.

``published@plain`` takes the first part as it is said: the gap of CFL-R is at most that of FedAvg, each with its own
best step. ``published@s1`` and ``published@s2`` take it at the printed rates: where drifts dominate, (76) has
:math:`1/T^2`, and so has (74) in :math:`D`, while (78) has :math:`1/T`, so that the gap of CFL-R over that of FedAvg is
:math:`\tilde O(1/T)`. ``published@drift-s1`` and ``published@drift-s2`` take the second part: the round drift that
enters a local step, :math:`\sum_\tau p_\tau\xi_{\tau,i}` with :math:`p_\tau = 1/T` after :math:`T` rounds, has variance
:math:`O(D^2/T)`, and in S2 the client drift :math:`\sum_\tau p_\tau\delta_{\tau,i}` has :math:`O(G^2/T)` too.

The first part fails in every reading. Since the drifts of all rounds so far stay in the model, CFL-R has :math:`1/T`
like FedAvg, and since the first of them enter every later round, it may have more. Of the second part, what is said of
the round drift is true for independent rounds; but the scenarios are swapped: by Lemma 3.5 the client drift is averaged
out in S1, where it is new in every round, and stays as it is in S2.

**Derivation of the corrected form.** Rates: let :math:`c_t \ge 0` be the weight with which the input of round
:math:`t` enters the weighted mean of the models of FedAvg with a given step; on quadratics whose Hessians commute
:math:`c_t` is the same for CFL-R, whose input is the mean of the drifts so far. So the drift of round :math:`s` enters
with :math:`C_s = \sum_{t\ge s} c_t/t`. Summing by parts, :math:`\sum_s C_s^2 = \sum_s c_s(2C_s - c_s/s) \le 2\sum_s
c_sC_s \le 2(\sum c_s^2)^{1/2}(\sum C_s^2)^{1/2}`, hence :math:`\sum_s C_s^2 \le 4\sum_s c_s^2` (Copson's inequality).
Start and lasting drifts act alike in both methods, noise acts less in CFL-R. So at every step, and at the best steps,
the gap of CFL-R is at most four times that of FedAvg. Conversely, drifts alone cost FedAvg only a logarithm more than
CFL-R (``corrected@converse``): its step has to be of the order of :math:`\frac1{\mu T}\ln(LF^2/\varepsilon)` to forget
the start, which costs :math:`\eta\frac{D^2}N`, while CFL-R is at :math:`\frac{D^2}{\mu NT}`, below which no algorithm
gets, see ``cfl.theorem-4.2-sc``. The logarithm is that of :math:`LF^2/\varepsilon`, not of :math:`T`: it grows with
:math:`F`. Drift: variances of means of :math:`T` independent draws, ``corrected@drift``.

Instances: see :mod:`fltheory.bounds.cfl._rate_sweeps`; FedAvg at its own best step by the closed form.

Source: Guo, Lin, Tang, 2021, Remark 4.4, Lemma 3.5.
"""

from __future__ import annotations

from sympy import Le, log

from fltheory.bounds.algebra import BigO, Env
from fltheory.bounds.cfl._rate_sweeps import alone, sweep
from fltheory.bounds.cfl._rate_symbols import D, F, G, T, eps, rival
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Instances, Kind, Sweeps
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import L

client_s1 = scalar(
    "client_variance_s1",
    r"v_{\delta,S1}",
    "variance of the client drift in a step of CFL-R, scenario S1",
    domain="nonnegative",
)
client_s2 = scalar(
    "client_variance_s2",
    r"v_{\delta,S2}",
    "variance of the client drift in a step of CFL-R, scenario S2",
    domain="nonnegative",
)
round_both = scalar(
    "round_variance",
    r"v_\xi",
    "variance of the round drift in a local step of CFL-R, either scenario",
    domain="nonnegative",
)

CASES = tuple(f"{case}-{convex}" for case in ("S1-drawn", "S2-centred", "S2-drawn") for convex in ("sc", "gc"))

fresh = RateSetting(remembers=True, scenario="S1", centred=False)
same = RateSetting(remembers=True)


def drifts(point: Params) -> Env:
    """Return the variances of the drifts in a local step with weights 1/T: independent over rounds, or all the same."""
    rounds, client_sq, round_sq = point["T"], point["G"] ** 2, point["D"] ** 2
    alike = sum(1 for _ in range(rounds) for _ in range(rounds))
    return {
        "T": rounds,
        "G": point["G"],
        "D": point["D"],
        "client_variance_s1": client_sq * rounds / rounds**2,
        "client_variance_s2": client_sq * alike / rounds**2,
        "round_variance": round_sq * rounds / rounds**2,
    }


def compared(point: Params) -> RateSetting:
    """Return the setting at a point of the space of comparisons."""
    scenario, centred, strongly = str(point["case"]).split("-")
    return RateSetting(remembers=True, scenario=scenario, centred=centred == "centred", strongly=strongly == "sc")


averaged_out = Instances(space=Space({"T": Integer(1, 64), "G": Real(0, 3), "D": Real(0, 3)}), realise=drifts)
over_time = Sweeps(instances=averaged_out, sweeps=(sweep("T", 16, 256, {"G": 1.0, "D": 1.0}),))

at_random = Experiments(
    space=Space(
        {
            "case": Choice(CASES),
            "T": Integer(8, 64),
            "N": Integer(2, 8),
            "K": Integer(1, 8, far=300),
            "by": Choice(("engine",)),
            "D": Real(0, 10),
            "G": Real(0, 10),
            "sigma": Real(0, 10),
            "B": Real(0, 0.5),
            "kappa": Real(1, 100, log=True, far=1e6),
            "steep": Real(1, 1),
            "F": Real(0.1, 100, log=True),
        }
    ),
    experiment=lambda point: compared(point).experiments(point),
    quantities=lambda point, run, curves: compared(point).against_fedavg(point, run, curves),
)

claim = Claim(
    id="cfl.remark-4.4",
    kind=Kind.RATE,
    title="CFL-R against FedAvg",
    citation=Citation("cfl", "Remark 4.4"),
    forms=(
        Form(
            variant="published@plain",
            statement=Le(eps, rival),
            check=at_random,
            note="the gap is at most that of FedAvg",
        ),
        Form(
            variant="published@s1",
            statement=Le(eps, BigO(log(T) * rival / T)),
            note="at the printed rates, new clients in every round",
        ),
        Form(
            variant="published@s2",
            statement=Le(eps, BigO(log(T) * rival / T)),
            check=same.check(*alone(same, "D"), kind="against-fedavg"),
            note="at the printed rates in D, the same clients in all rounds",
        ),
        Form(
            variant="published@drift-s1",
            statement=Le(round_both, BigO(D**2 / T)),
            check=over_time,
            note="S1 averages the round drift out",
        ),
        Form(
            variant="published@drift-s2",
            statement=(Le(round_both, BigO(D**2 / T)), Le(client_s2, BigO(G**2 / T))),
            check=over_time,
            note="S2 averages both drifts out",
        ),
        Form(
            variant="corrected",
            statement=Le(eps, 4 * rival),
            check=at_random,
            note="at most four times the gap of FedAvg",
        ),
        Form(
            variant="corrected@converse",
            statement=Le(rival, BigO(log(1 + L * F**2 / eps) * eps)),
            check=fresh.check(*alone(fresh, "D"), *alone(fresh, "G"), kind="against-fedavg"),
            note="and FedAvg is worse by a logarithm at most, where drifts dominate",
        ),
        Form(
            variant="corrected@drift",
            statement=Le(client_s1 + round_both, BigO((G**2 + D**2) / T)),
            check=over_time,
            note="S1 averages both drifts out, S2 the round drift only",
        ),
    ),
    uses=("cfl.theorem-4.1-sc", "cfl.theorem-4.2-sc", "cfl.theorem-4.3-sc", "cfl.lemma-3.5.2", "cfl.lemma-3.5.3"),
    check=fresh.check(*alone(fresh, "D"), *alone(fresh, "G"), kind="against-fedavg"),
)
