r"""Corollary 3.2.1: the bound after the set of clients has changed.

At round :math:`\tau_0` the objective shifts from :math:`F` to :math:`\tilde F`, with
:math:`\mathbb E\|w_{\tau_0E}^{\mathcal G} - w^*\|^2 \le \Delta_{\tau_0}`. With the learning rate raised to
:math:`\eta_\tau = \frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\,\frac{1}{(\tau-\tau_0)E + \gamma}`, as
published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - \tilde w^*\|^2 \le \frac{\tilde M_\tau\tilde D + \tilde
   V}{(\tau-\tau_0)E + \tilde\gamma} ,

where letters with a tilde are those of Theorem 3.1 for the new set of clients, except that the first term of
:math:`\tilde V` is :math:`\tilde\gamma^2\bigl(\sqrt{\Delta_{\tau_0}} + \|w^* - \tilde w^*\|\bigr)^2`.

**Where it fails.** The printed learning rate has :math:`\gamma`, the bound :math:`\tilde\gamma`. If the clients
complete far fewer steps after the shift, :math:`m = \mathbb E[\sum_k p_\tau^k s_\tau^k]` drops to :math:`\tilde m`,
:math:`\tilde\gamma` is much larger than :math:`\gamma`, and the printed rate breaks both conditions (64) and (65) on
which the proof rests: it is :math:`m/\tilde m` times the largest allowed one. For one step per round that is
completed with probability :math:`q \approx \tilde m` only, the second moment grows by a factor of the order
:math:`q(m/\tilde m)^2 \approx 1/q` per round. :math:`\tilde V` has room for a factor :math:`\tilde\gamma`, and, since
the largest gradient norm grows along, for about :math:`8L/\mu` times the distance of one round before. So the
statement fails for :math:`q` small enough, and a condition number that is not too large.

**The order.** The text goes on: the first term of :math:`\tilde V` is
:math:`O\bigl(\frac{V}{\tau_0E+\gamma} + \Gamma_l\bigr)`. That takes :math:`\Delta_{\tau_0}` from Theorem 3.1 and drops
:math:`M_{\tau_0}D` there. If participation was heterogeneous before the shift, :math:`M_{\tau_0} = \tau_0`, and if the
client agrees with the others, :math:`\Gamma_l = 0`, the left-hand side stays near :math:`\tilde\gamma^2D/E` for late
shifts, and the right-hand side vanishes (``published@order``). If it was homogeneous, the order is right
(``published@order-homogeneous``); constants may depend on :math:`\gamma, \tilde\gamma, L, \mu` and sample counts.

**Derivation of the corrected order.** Let :math:`\tilde n` be the number of samples after the shift. Both for an
arrival and for a departure :math:`\nabla\tilde F(w^*) = \pm\frac{n_l}{\tilde n}\nabla F_l(w^*)`, since :math:`\nabla
F(w^*) = 0`. Strong convexity of :math:`\tilde F` and smoothness of :math:`F_l` give :math:`\|w^* - \tilde w^*\| \le
\frac{1}{\mu}\frac{n_l}{\tilde n}\sqrt{2L\Gamma_l}`, with :math:`\Gamma_l = F_l(w^*) - F_l^*` at the old minimiser in
both cases. With :math:`(a+b)^2 \le 2a^2 + 2b^2`, and with constants,

.. math:: \tilde\gamma^2\bigl(\sqrt{\Delta_{\tau_0}} + \|w^* - \tilde w^*\|\bigr)^2 \le 2\tilde\gamma^2\Bigl(
   \frac{M_{\tau_0}D + V}{\tau_0E+\gamma} + \frac{2L}{\mu^2}\Bigl(\frac{n_l}{\tilde n}\Bigr)^2\Gamma_l\Bigr) .

**Derivation of the corrected form.** With :math:`\tilde\gamma` in the learning rate the rounds from :math:`\tau_0` on
are a run of Theorem 3.1 for :math:`\tilde F`, started at :math:`w_{\tau_0E}^{\mathcal G}`; by the triangle inequality
:math:`\mathbb E\|w_{\tau_0E}^{\mathcal G} - \tilde w^*\|^2 \le (\sqrt{\Delta_{\tau_0}} + \|w^* - \tilde w^*\|)^2`.
The constants are those of the proof on the page of :mod:`~fltheory.bounds.ruan.theorem_3_1`: :math:`\tilde\gamma` in
place of its square, 40 in place of 64, a third of the noise term with :math:`3(E-1)G^2` for :math:`2EG^2` in it; the
published ones are larger.

**Derivation of the form with fast reboot.** The corollary is silent on the raised coefficients of section 4.2. In the
:math:`j`-th round with the arrived client let them be :math:`b_jp_\tau^l` with :math:`b_j = 1 + 2j^{-2}`. Let
:math:`\theta` bound the raised ratios, which gives a larger :math:`\hat\gamma`, keep :math:`\tilde m`,
:math:`\tilde D`, :math:`\tilde M_\tau` of the coefficients as they are, and take :math:`\hat B` with the raised
coefficients of round :math:`\tau_0`, the largest ones. The contraction only gets stronger, since
:math:`\mathbb E\sum_kb_jp_\tau^ks_\tau^k \ge \tilde m`, and :math:`\hat B` is increasing in every coefficient. The
term with :math:`F_k(w^*) - F_k(\bar w)` splits into that of the coefficients as they are, treated as before, and
:math:`(b_j - 1)\,\mathbb E[p_\tau^ls_\tau^l]` times at most :math:`\tilde\Gamma_l`. Together a round costs at most
:math:`2\eta_\tau(\tilde z + 2j^{-2})\sum_k\mathbb E[p_\tau^ks_\tau^k]\tilde\Gamma_k`, in which the induction is
linear. So (6) holds with :math:`\hat\gamma` and

.. math:: \hat M_\tau = \tilde M_\tau + \sum_{j=1}^{\tau-\tau_0}\frac{2}{j^2} \le \tilde M_\tau + \frac{\pi^2}{3} :

fast reboot costs a bounded number of biased rounds, and runs with and without it have the same limit, as section 4.2
says.

Instances: two or three clients with quadratics, as on the page of Theorem 3.1, of which the last one arrives, or
departs and is excluded, in round 1, 2 or 3; schemes A, B, C; before and after the shift step counts with two values
each, the same law for all clients or not, or full participation; after the shift the larger count may be as rare as
:math:`10^{-6}`. :math:`\mu` and :math:`L` are those of all clients, as in Assumptions 3.1 and 3.2, whoever takes part.
The run goes through the shift, and on for 16 rounds, in exact expectation; :math:`\Delta_{\tau_0}` is the expected
squared distance there, and :math:`G` is taken from the shift on. The text has the raised rate for :math:`\tau >
\tau_0`; it is read as from round :math:`\tau_0` on, the first one with the new clients, without which (6) would be
about a round with another rate. A learning rate restarts, so before the shift it is the same function of the round as
after it; where the printed one is too large after the shift, it may be too large before. The failure does not come from
there: it is the same for a run without noise that starts at :math:`w^*` and stays there until the shift.

For the order: clients with a kink in the derivative per coordinate, free constants of Theorem 3.1, see
``_shift_order``.

Source: Ruan et al., AISTATS 2021, section 3.3, (6), and sections 4.2, 5.3 for fast reboot.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Le, Max, sqrt

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds._algebra import EE, BigO, Env, Norm, compiled, scalar
from fltheory.bounds._claim import Claim, Experiments, Form, Kind, Source
from fltheory.bounds._space import Choice, Integer, Params, Real, Space
from fltheory.bounds._symbols import E, L, mu, w_star
from fltheory.bounds.ruan import _shift_order, _theorem
from fltheory.bounds.ruan._shift import Gamma_l, n_l, w_new
from fltheory.bounds.ruan._shift_bounds import reached
from fltheory.bounds.ruan._symbols import B_tau, D, V, mean_ps, mean_ps_Gamma
from fltheory.experiment import Experiment
from fltheory.participation import Arrival, Departure, Participation, Timeline, TimeVarying
from fltheory.quadratic.problem import Quadratic
from fltheory.trajectories import Trajectories

AFTER = 16

since = scalar("ruan_since", r"(\tau - \tau_0)", "rounds since the shift")
distance_new = scalar(
    "ruan_distance_new",
    r"\mathbb{E}\|w_{\tau E}^{\mathcal{G}} - \tilde w^*\|^2",
    "expected squared distance to the new minimiser",
)
Delta_shift = scalar(
    "ruan_Delta_shift", r"\Delta_{\tau_0}", "expected squared distance to the old minimiser at the shift"
)
gamma_new = scalar("ruan_gamma_new", r"\tilde\gamma", "offset of the bound after the shift")
D_new = scalar("ruan_D_new", r"\tilde D", "constant of heterogeneous participation after the shift")
V_new = scalar("ruan_V_new", r"\tilde V", "constant of the part that vanishes, after the shift")
M_new = scalar("ruan_M_new", r"\tilde M_\tau", "rounds since the shift whose participation was heterogeneous")
M_shift = scalar("ruan_M_shift", r"M_{\tau_0}", "rounds before the shift whose participation was heterogeneous")
n_new = scalar("ruan_n_new", r"\tilde n", "number of samples of all clients after the shift")
M_boosted = scalar("ruan_M_boosted", r"\hat M_\tau", "the same, and what raised coefficients of fast reboot add")


def participation_of(point: Params, *, fast_reboot: bool) -> Participation:
    """Return step counts before and after the shift, and the event that makes it."""
    count, shift = point["N"], point["tau_0"]
    before = _theorem.two_values(point)
    after = _theorem.two_values(
        {**point, "participation": point["participation_later"]}, low="low_later", high="high_later", q="q_later"
    )
    if point["event"] == "arrival":
        timeline = Timeline(arrivals=(Arrival(client=count - 1, round=shift, fast_reboot=fast_reboot),))
    else:
        timeline = Timeline(departures=(Departure(client=count - 1, round=shift, exclude=True),))
    steps = TimeVarying(laws=(before, after), starts=(0, shift))
    return Participation(num_clients=count, local_steps=point["E"], steps=steps, timeline=timeline)


def setting_at(problem: Quadratic, participation: Participation, scheme: str, index: int) -> dict[str, Any]:
    """Return the constants of the objective in a round, with the bound on the coefficients raised by fast reboot."""
    env = _theorem.setting(*_theorem.members(problem, participation, index), scheme)
    # Assumptions 3.1 and 3.2 have one L and one mu for all clients, those that have left or are to come included.
    whole = _theorem.constants(problem)
    raised = participation.boost(index)[participation.members(index)]
    coefficients = [p * raised for p in env["p_drawn"]]
    return env | {
        "mu": whole["mu"],
        "L": whole["L"],
        "mean_ps_Gamma": float(env["mean_ps_of"] @ env["Gamma"]),
        "p_drawn": coefficients,
        "theta": max(float((p / env["p"]).max()) for p in coefficients),
    }


def experiment(point: Params, *, printed: bool, fast_reboot: bool) -> Experiment:
    """Return a run through the shift, with the printed learning rate or the one that the proof needs."""
    problem, participation = _theorem.quadratics(point), participation_of(point, fast_reboot=fast_reboot)
    old, new = (setting_at(problem, participation, point["scheme"], index) for index in (0, point["tau_0"]))
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme=point["scheme"]),
        participation=participation,
        rounds=point["tau_0"] + AFTER,
        rate=_theorem.staircase(new, compiled(_theorem.GAMMA)(old if printed else new)),
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters after the shift."""
    assert isinstance(run.problem, Quadratic)
    first = point["tau_0"]
    old, _ = _theorem.members(run.problem, run.participation, 0)
    env = setting_at(run.problem, run.participation, point["scheme"], first)
    found = _theorem.along(run, trajectories, first)
    return env | {
        "G_sq": found["G_sq"],
        "ruan_gradient_sq": found["ruan_gradient_sq"],
        "ruan_since": found["tau"],
        "ruan_distance_new": found["ruan_distance"],
        "ruan_M_new": env["z"] * found["tau"],
        "ruan_M_boosted": env["z"] * found["tau"] + np.cumsum(2 / found["tau"] ** 2),
        "ruan_Delta_shift": found["ruan_distance_start"],
        "w_new": env["w_star"],
        "w_star": _theorem.constants(old)["w_star"],
    }


def runs(
    events: tuple[str, ...] = ("arrival", "departure"), *, printed: bool = False, fast_reboot: bool = False
) -> Experiments:
    """Return runs through a shift."""
    usual = _theorem.clients()
    return Experiments(
        space=Space(
            {
                **usual,
                "N": Integer(2, 3),
                "event": Choice(events),
                "tau_0": Integer(1, 3),
                "participation_later": usual["participation"],
                "low_later": usual["low"],
                "high_later": usual["high"],
                "q_later": Real(1e-6, 1, log=True, shape=("N",)),
            }
        ),
        experiment=functools.partial(experiment, printed=printed, fast_reboot=fast_reboot),
        quantities=quantities,
        moments=True,
    )


def bound(biased: Any) -> Any:
    """Return (6) with the number of rounds that are biased."""
    return Le(distance_new, (biased * D_new + V_new) / (since * E + gamma_new))


by_theorem = ((Delta_shift, (M_shift * D + V) / reached),)
at_shift = (sqrt(Delta_shift) + Norm(w_star - w_new)) ** 2
as_proved = (
    (gamma_new, _theorem.GAMMA),
    (B_tau, _theorem.B_PROVED),
    (V_new, Max(gamma_new * at_shift, _theorem.NOISE_PROVED)),
)

claim = Claim(
    id="ruan.corollary-3.2.1",
    kind=Kind.BOUND,
    title="bound after an objective shift",
    source=Source("ruan", "Corollary 3.2.1, (6)"),
    forms=(
        Form(
            statement=bound(M_new),
            where=(
                (gamma_new, _theorem.GAMMA),
                (D_new, _theorem.D_PRINTED),
                (B_tau, _theorem.B_PRINTED),
                (V_new, Max(gamma_new**2 * at_shift, (16 * E / (mu * mean_ps)) ** 2 * EE(B_tau) / E)),
            ),
            note="the learning rate has the offset of the old clients, as printed",
        ),
        *(
            Form(
                variant=variant,
                statement=Le(gamma_new**2 * at_shift, BigO(V / reached + Gamma_l)),
                where=by_theorem,
                assumptions=(),
                check=_shift_order.sweeps(before),
                note=note,
            )
            for variant, before, note in (
                ("published@order", "heterogeneous", "the order of the first term of V, with the bound of Theorem 3.1"),
                (
                    "published@order-homogeneous",
                    "homogeneous",
                    "the same if participation was homogeneous before the shift",
                ),
            )
        ),
        Form(
            variant="corrected",
            statement=bound(M_new),
            where=(*as_proved, (D_new, _theorem.D_PROVED)),
            check=runs(),
            note="the learning rate has the offset of the new clients; smaller constants, as for Theorem 3.1",
        ),
        Form(
            variant="corrected@fast-reboot",
            statement=bound(M_boosted),
            where=(*as_proved, (D_new, 40 * E * mean_ps_Gamma / (mu * mean_ps))),
            check=runs(("arrival",), fast_reboot=True),
            note="with the raised coefficients of fast reboot, which bias a bounded number of rounds",
        ),
        Form(
            variant="corrected@order",
            statement=Le(
                gamma_new**2 * at_shift,
                2 * gamma_new**2 * (by_theorem[0][1] + 2 * L / mu**2 * (n_l / n_new) ** 2 * Gamma_l),
            ),
            where=by_theorem,
            assumptions=(),
            check=_shift_order.SHIFTS,
            note="with what heterogeneous participation has left before the shift, and with constants",
        ),
    ),
    assumptions=_theorem.ASSUMPTIONS,
    uses=("ruan.theorem-3.1", "ruan.theorem-3.2-arrival", "ruan.theorem-3.2-departure"),
    check=runs(printed=True),
)
