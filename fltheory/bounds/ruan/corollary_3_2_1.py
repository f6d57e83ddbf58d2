r"""Corollary 3.2.1: the bound after the set of clients has changed.

At round :math:`\tau_0` the objective shifts from :math:`F` to :math:`\tilde F`, with
:math:`\mathbb E\|w_{\tau_0E}^{\mathcal G} - w^*\|^2 \le \Delta_{\tau_0}`. With the learning rate raised to
:math:`\eta_\tau = \frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\,\frac{1}{(\tau-\tau_0)E + \gamma}`, as
published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - \tilde w^*\|^2 \le \frac{\tilde M_\tau\tilde D + \tilde
   V}{(\tau-\tau_0)E + \tilde\gamma} ,

where symbols with a tilde are those of Theorem 3.1 for the new set of clients, except that the first term of
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

The first term cannot be smaller: all clients take part with one step, there is no noise, and the model moves in a
direction of curvature :math:`\mu` only. Then :math:`\tilde\gamma = 32(1+\theta)\frac L\mu`, a round makes the distance
smaller by :math:`1 - \frac{16}{(\tau-\tau_0) + \tilde\gamma}`, and both sides agree in the limit of a large
:math:`\frac L\mu` if the minimiser moves away from the model. Such runs are among those of every full search.

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
:math:`10^{-6}`. :math:`\mu` and :math:`L` are those of all clients, as in Assumptions 3.1 and 3.2, present or not.
The run goes through the shift, and on for 16 rounds, or for 1500 with a single active
client, in exact expectation; :math:`\Delta_{\tau_0}` is the expected
squared distance there, and :math:`G` is taken from the shift on. The text has the raised rate for :math:`\tau >
\tau_0`; it is read as from round :math:`\tau_0` on, the first one with the new clients, without which (6) would be
about a round with another rate. A learning rate restarts, so before the shift it is the same function of the round as
after it; where the printed one is too large after the shift, it may be too large before. The failure does not come from
there: it is the same for a run without noise that starts at :math:`w^*` and stays there until the shift.

For the order: clients with a kink in the derivative per coordinate, free constants of Theorem 3.1, see
:mod:`~fltheory.bounds.ruan._shift_order`.

Source: Ruan et al., AISTATS 2021, section 3.3, (6), and sections 4.2, 5.3 for fast reboot.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from sympy import Le, Max, Sum, sqrt

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import EE, BigO, Env, Norm, compiled
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Kind
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.observed import independent_noise
from fltheory.bounds.flexible_participation.symbols import B_tau, D, V, gamma, mean_ps, mean_ps_Gamma, s_drawn, z_tau
from fltheory.bounds.objective_shift.clients import Gamma_l, n_l, w_new
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.ruan import _shift_order, theorem_3_1
from fltheory.bounds.ruan._shift_bounds import tau_0
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import E, Gamma, L, N, i, k, mu, w_star
from fltheory.errors import NotApplicable
from fltheory.participation import Arrival, Departure, Participation, Timeline, TimeVarying
from fltheory.participation.selection import Everyone
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Rate
from fltheory.simulation.trajectories import Trajectories

since = scalar("since", r"(\tau - \tau_0)", "rounds since the shift", domain="integer>=0")
distance_new = scalar(
    "distance_sq_new",
    r"\mathbb{E}\|w_{\tau E}^{\mathcal{G}} - \tilde w^*\|^2",
    "expected squared distance to the new minimiser",
    domain="nonnegative",
)
Delta_shift = scalar(
    "Delta_shift",
    r"\Delta_{\tau_0}",
    "expected squared distance to the old minimiser at the shift",
    domain="nonnegative",
)
gamma_new = scalar("gamma_new", r"\tilde\gamma", "offset of the bound after the shift", domain="positive")
D_new = scalar("D_new", r"\tilde D", "constant of heterogeneous participation after the shift", domain="nonnegative")
V_new = scalar("V_new", r"\tilde V", "constant of the part that vanishes, after the shift", domain="nonnegative")
M_new = scalar(
    "M_new", r"\tilde M_\tau", "rounds since the shift whose participation was heterogeneous", domain="integer>=0"
)
M_shift = scalar(
    "M_shift", r"M_{\tau_0}", "rounds before the shift whose participation was heterogeneous", domain="integer>=0"
)
n_new = scalar("n_new", r"\tilde n", "number of samples of all clients after the shift", domain="positive")
M_boosted = scalar(
    "M_boosted",
    r"\hat M_\tau",
    "rounds since the shift whose participation was heterogeneous, and what raised coefficients of fast reboot add",
    domain="nonnegative",
)

p_usual = family(
    "p_usual",
    r"\bar p_\tau^{<0>}",
    "aggregation coefficient of a client, as drawn, without what fast reboot adds",
    random=True,
    shape=("clients",),
    domain="nonnegative",
)


def participation_of(point: Params, *, fast_reboot: bool) -> Participation:
    """Return step counts before and after the shift, and the event that makes it."""
    count, shift = point["N"], point["tau_0"]
    before = experiments.two_values(point)
    after = experiments.two_values(
        {**point, "participation": point["participation_later"]}, low="low_later", high="high_later", q="q_later"
    )
    if point["event"] == "arrival":
        timeline = Timeline(arrivals=(Arrival(client=count - 1, round=shift, fast_reboot=fast_reboot),))
    else:
        timeline = Timeline(departures=(Departure(client=count - 1, round=shift, exclude=True),))
    steps = TimeVarying(laws=(before, after), starts=(0, shift))
    return Participation(
        num_clients=count,
        local_steps=point["E"],
        selection=experiments.selection(point),
        steps=steps,
        timeline=timeline,
    )


def setting_at(problem: Quadratic, participation: Participation, scheme: str, index: int) -> dict[str, Any]:
    """Return the constants of the objective in a round, with the bound on the coefficients raised by fast reboot."""
    env = experiments.setting(*experiments.members(problem, participation, index), scheme)
    # Assumptions 3.1 and 3.2 have one L and one mu for all clients, those that have left or are to come included.
    whole = experiments.constants(problem)
    raised = participation.boost(index)[participation.members(index)]
    coefficients = [p * raised for p in env["p_drawn"]]
    return env | {
        "mu": whole["mu"],
        "L": whole["L"],
        "mean_ps_Gamma": float(env["mean_ps_of"] @ env["Gamma"]),
        "p_usual": env["p_drawn"],
        "p_drawn": coefficients,
        "theta": max(float((p / env["p"]).max()) for p in coefficients),
    }


def experiment(point: Params, *, printed: bool, fast_reboot: bool) -> Experiment:
    """Return a run through the shift, with the printed learning rate or the one that the proof needs."""
    problem, participation = experiments.quadratics(point), participation_of(point, fast_reboot=fast_reboot)
    old, new = (setting_at(problem, participation, point["scheme"], index) for index in (0, point["tau_0"]))
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme=point["scheme"]),
        participation=participation,
        rounds=point["tau_0"] + point["after"],
        rate=theorem_3_1.staircase(new, compiled(theorem_3_1.GAMMA)(old if printed else new)),
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the quantities after the shift."""
    assert isinstance(run.problem, Quadratic)
    first = point["tau_0"]
    old, _ = experiments.members(run.problem, run.participation, 0)
    env = setting_at(run.problem, run.participation, point["scheme"], first)
    found = experiments.along(run, trajectories, first)
    return env | {
        "G_sq": found["G_sq"],
        "gradient_sq": found["gradient_sq"],
        "since": found["tau"],
        "distance_sq_new": found["distance_sq"],
        "M_new": env["z"] * found["tau"],
        "M_boosted": env["z"] * found["tau"] + np.cumsum(2 / found["tau"] ** 2),
        "Delta_shift": found["start_sq"],
        "w_new": env["w_star"],
        "w_star": experiments.constants(old)["w_star"],
    }


def observed(*, printed: bool, fast_reboot: bool = False) -> Observation:
    """Return how the corollary is read on an experiment with one arrival or departure."""

    def about(facts: Facts) -> str:
        if not isinstance(facts.algorithm, Ruan):
            raise NotApplicable(f"the corollary is about schemes A, B and C, got {facts.algorithm.title}")
        if not isinstance(facts.problem, Quadratic):
            raise NotApplicable(f"the corollary is read off runs of quadratics, got {type(facts.problem).__name__}")
        if np.any(facts.problem.client_drift) or np.any(facts.problem.client_growth):
            raise NotApplicable("the corollary is read for clients without drift beside their objectives")
        if not isinstance(facts.participation.selection, Everyone):
            raise NotApplicable("the corollary is read where all members are asked; their step counts may be random")
        events = facts.participation.timeline.events
        if len(events) != 1 or (isinstance(events[0], Departure) and not events[0].exclude):
            raise NotApplicable(
                "the corollary is about one arrival, or one departure with exclude=True, which shifts the objective; "
                f"the experiment has {', '.join(map(repr, events)) or 'neither'}"
            )
        first = events[0].round
        if not 0 < first < facts.rounds:
            raise NotApplicable(f"the shift must come after round 0 and before round {facts.rounds}, got round {first}")
        kind = "arrival" if isinstance(events[0], Arrival) else "departure"
        return f"scheme {facts.algorithm.scheme}, {kind} of client {events[0].client} in round {first}"

    def at(facts: Facts) -> dict[str, Any]:
        assert isinstance(facts.algorithm, Ruan)
        return {"tau_0": facts.participation.timeline.events[0].round, "scheme": facts.algorithm.scheme}

    def rate(facts: Facts) -> Rate:
        assert isinstance(facts.problem, Quadratic)
        point = at(facts)
        old, new = (
            setting_at(facts.problem, facts.participation, point["scheme"], index) for index in (0, point["tau_0"])
        )
        return theorem_3_1.staircase(new, compiled(theorem_3_1.GAMMA)(old if printed else new))

    def read(facts: Facts) -> Env:
        env = quantities(at(facts), facts.experiment, facts.run)
        for name in ("mu", "L", "theta", "mean_ps", "Gamma", "sigma_sq", "Delta_shift"):
            facts.keep(name, env[name], Origin.COMPUTED, "for the clients after the shift")
        facts.keep("G_sq", env["G_sq"], Origin.MEASURED, "largest expected squared gradient since the shift")
        return {**env, **{name: known.value for name, known in facts.found.items()}}

    def conditions(facts: Facts) -> Sequence[Requirement]:
        first = at(facts)["tau_0"]
        laws = facts.participation.step_pmf
        same = all(np.array_equal(laws(index), laws(first)) for index in range(first, facts.rounds))
        raised = bool(np.any(facts.participation.boost(first) != 1.0))
        return (
            *independent_noise(facts),
            Requirement("one law of participation since the shift", same, f"rounds {first} to {facts.rounds - 1}"),
            Requirement(
                "with fast reboot" if fast_reboot else "no raised coefficients (fast reboot)",
                raised == fast_reboot,
                f"coefficients in round {first} are raised" if raised else "no coefficient is raised",
            ),
        )

    return Observation(
        quantities=read,
        about=about,
        rate=rate,
        axis=since,
        record={"moments": True},
        algorithm=Ruan,
        conditions=conditions,
    )


LONG: tuple[Params, ...] = tuple(
    {
        **experiments.one_works(N=3, tau_0=1, after=1500, event=event, participation_later="heterogeneous"),
        "low": np.array(before),
        "high": np.array(before),
        "low_later": np.array([0, 1, 0]),
        "high_later": np.array([0, 1, 0]),
        **{name: np.ones(3) for name in ("q", "q_later", "n")},
        "curvature": np.zeros((3, 1)),
        "centre": np.array([[-1.0], [1.0], [0.0]]),
        "noise": np.zeros(3),
    }
    for event, before in (("arrival", [1, 1, 0]), ("departure", [0, 0, 1]))
)
"""Runs on which the bias of heterogeneous participation is more than the rest of the bound; the minimiser stays."""


STILL: tuple[Params, ...] = tuple(
    {
        "N": 2,
        "d": 2,
        "E": 1,
        "scheme": "C",
        "participation": "full",
        **{name: np.ones(2, dtype=int) for name in ("low", "high", "low_later", "high_later")},
        **{name: np.ones(2) for name in ("q", "n", "q_later")},
        "mu": 1.0,
        "condition": 1000.0,
        "curvature": np.array([[0.0, 1.0]] * 2),
        "centre": np.array([[0.0, 0.0], [0.03, 0.0]]),
        "noise": np.zeros(2),
        "loud": 1.0,
        "start": np.array([-3.0, 0.0]),
        "tau_0": 1,
        "after": 16,
        "event": event,
        "participation_later": "full",
    }
    for event in ("arrival", "departure")
)
"""Runs along a flat direction, away from the way that the minimiser takes, which nearly attain the corrected form."""


def runs(
    events: tuple[str, ...] = ("arrival", "departure"), *, printed: bool = False, fast_reboot: bool = False
) -> Experiments:
    """Return runs through a shift."""
    usual = experiments.clients()
    return Experiments(
        space=Space(
            {
                **usual,
                "N": Integer(2, 3, far=5),
                "event": Choice(events),
                "tau_0": Integer(1, 3),
                "after": Integer(16, 16, furthest=4000),
                "participation_later": Choice(("homogeneous", "heterogeneous", "full")),
                "low_later": usual["low"],
                "high_later": usual["high"],
                "q_later": Real(1e-6, 1, log=True, shape=("N",)),
            }
        ),
        experiment=functools.partial(experiment, printed=printed, fast_reboot=fast_reboot),
        quantities=quantities,
        moments=True,
        begin=tuple(one for one in (*LONG, *STILL) if one["event"] in events),
    )


def bound(biased: Any) -> Any:
    """Return (6) with the number of rounds that are biased."""
    return Le(distance_new, (biased * D_new + V_new) / (since * E + gamma_new))


reached = tau_0 * E + gamma
by_theorem = ((Delta_shift, (M_shift * D + V) / reached),)
at_shift = (sqrt(Delta_shift) + Norm(w_star - w_new)) ** 2
as_proved = (
    (gamma_new, theorem_3_1.GAMMA),
    (B_tau, theorem_3_1.B_PROVED),
    (V_new, Max(gamma_new * at_shift, theorem_3_1.NOISE_PROVED)),
)

claim = Claim(
    id="ruan.corollary-3.2.1",
    kind=Kind.BOUND,
    title="bound after an objective shift",
    citation=Citation("ruan", "Corollary 3.2.1, (6)"),
    forms=(
        Form(
            statement=bound(M_new),
            where=(
                (mean_ps, theorem_3_1.MEAN_PS),
                (gamma_new, theorem_3_1.GAMMA),
                (D_new, theorem_3_1.D_PRINTED),
                (B_tau, theorem_3_1.B_PRINTED),
                (V_new, Max(gamma_new**2 * at_shift, (16 * E / (mu * mean_ps)) ** 2 * EE(B_tau) / E)),
                theorem_3_1.heterogeneous(),
                (M_new, z_tau * since),
            ),
            observation=observed(printed=True),
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
            where=(
                (mean_ps, theorem_3_1.MEAN_PS),
                *as_proved,
                (D_new, theorem_3_1.D_PROVED),
                theorem_3_1.heterogeneous(),
                (M_new, z_tau * since),
            ),
            check=runs(),
            observation=observed(printed=False),
            note="the learning rate has the offset of the new clients; smaller constants, as for Theorem 3.1",
        ),
        Form(
            variant="corrected@fast-reboot",
            statement=bound(M_boosted),
            where=(
                (mean_ps, Sum(EE(p_usual[k] * s_drawn[k]), (k, 1, N))),
                (mean_ps_Gamma, Sum(EE(p_usual[k] * s_drawn[k]) * Gamma[k], (k, 1, N))),
                theorem_3_1.heterogeneous(p_usual),
                (M_new, z_tau * since),
                (M_boosted, M_new + Sum(2 / i**2, (i, 1, since))),
                *as_proved,
                (D_new, 40 * E * mean_ps_Gamma / (mu * mean_ps)),
            ),
            check=runs(("arrival",), fast_reboot=True),
            observation=observed(printed=False, fast_reboot=True),
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
    assumptions=theorem_3_1.ASSUMPTIONS,
    uses=("ruan.theorem-3.1", "ruan.theorem-3.2-arrival", "ruan.theorem-3.2-departure"),
    check=runs(printed=True),
)
