r"""Corollary 4.0.3: when to exclude a departing client from the objective.

A client departs at :math:`\tau_0`. If it is kept in the objective, the bound is
:math:`f_0(\tau) = \frac{(\tau-\tau_0)D + V}{\tau E+\gamma}`; if it is excluded, with the learning rate restarted, it is
:math:`f_1(\tau) = \frac{\tilde V}{(\tau-\tau_0)E+\tilde\gamma}`. As published, excluding leads to a smaller training
loss at the deadline :math:`T` if

.. math:: \min_{\tau \ge \tau_0} f_0(\tau) \ge f_1(T) .

Losses are squared distances: to :math:`w^*` if the client is kept, to :math:`\tilde w^*` if it is excluded.

**What is checked.** Both runs are propagated exactly, with the client kept and with the client excluded, and their
losses at the deadline compared wherever the rule says to exclude. :math:`f_0` is monotone, so its infimum over all
:math:`\tau \ge \tau_0`, the range that is printed, is the smaller one of :math:`f_0(\tau_0)` and the limit :math:`D/E`.
Appendix A.6 compares up to the deadline (``published@deadline``): the minimum is the smaller one of
:math:`f_0(\tau_0)` and :math:`f_0(T)`. It is larger, so where the printed rule says to exclude, this one does too. All
clients complete their work, so :math:`\tilde\gamma = \gamma`, as the corollary assumes. :math:`G` bounds the gradients
of both runs.

**Where it fails.** The rule compares two upper bounds, and :math:`f_0` is far from what it bounds. If the departing
client's minimiser is near :math:`w^*`, keeping it costs next to nothing (:math:`w^* \approx \tilde w^*`), while
:math:`D` is large as soon as the *other* clients disagree, and :math:`V` remembers the start. Excluding it restarts
the learning rate, and with it the noise.

**Derivation of the corrected form.** After the departure both runs tend to :math:`\tilde w^*`. Let :math:`u` bound
the loss of the run that excludes the client, and :math:`v` the squared distance of the other run from
:math:`\tilde w^*`. By the triangle inequality in :math:`L^2`

.. math:: \sqrt{\mathbb E\|w_{TE}^{\mathcal G} - w^*\|^2} \ge \|w^* - \tilde w^*\| - \sqrt v ,

so excluding is better if :math:`\|w^* - \tilde w^*\| \ge \sqrt u + \sqrt v`: the bias that is avoided has to exceed
what noise and start have left of either run. For given :math:`w^* \ne \tilde w^*` this is the case for every late
enough deadline, with :math:`u = f_1(T)`. The rule is tight: a kept model that is fixed on the line through both
minimisers attains it.

Instances: two clients that stay, with opposite minimisers, and one that departs, whose minimiser is anywhere from close
to that of the others to far away; all complete their one step; up to 50 rounds. Corrected form: any random kept model
with up to three values in up to two dimensions, any loss of the other run.

Source: Ruan et al., AISTATS 2021, section 4.3, (8), and appendix A.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Ge, Le, Min, sqrt

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import EE, Env, Norm, NormSq, compiled
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Instances, Kind
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.symbols import D, V, gamma
from fltheory.bounds.objective_shift.clients import w_new
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan import _limit, theorem_3_1
from fltheory.bounds.ruan.corollary_3_2_1 import V_new, gamma_new
from fltheory.bounds.ruan.eq_9 import tau_0
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, w_star
from fltheory.participation import Participation
from fltheory.participation.schemes import Scheme
from fltheory.participation.timeline import Departure, Timeline
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories

deadline = scalar("deadline", "T", "last round", domain="integer>=0")
loss_kept = scalar(
    "loss_kept",
    r"\ell_0(T)",
    "expected squared distance to the old minimiser if the client is kept",
    domain="nonnegative",
)
loss_out = scalar(
    "loss_out",
    r"\ell_1(T)",
    "expected squared distance to the new minimiser if the client is excluded",
    domain="nonnegative",
)
kept_from_new = scalar(
    "kept_from_new",
    r"\mathbb{E}\|w_{TE}^{\mathcal{G}} - \tilde w^*\|^2",
    "expected squared distance to the new minimiser if the client is kept",
    domain="nonnegative",
)
loss_excluded = scalar("u", "u", "bound on the loss if the client is excluded", domain="nonnegative")
w_kept = scalar(
    "w_kept", r"w_{TE}^{\mathcal{G}}", "model at the deadline if the client is kept", random=True, shape=("dim",)
)


def clients(point: Params) -> Quadratic:
    """Return two clients that disagree and, as a third, the one that departs."""
    centre = np.array([[-point["apart"]], [point["apart"]], [point["own"]]])
    return Quadratic(
        hessian=np.ones((3, 1)),
        linear=-centre,
        constant=0.5 * (centre**2).sum(axis=1),
        sample_counts=np.array([1.0, 1.0, point["n_l"]]),
        noise_sq=np.full(3, point["noise"]),
        start=np.array([point["start"]]),
    )


def experiment(point: Params) -> tuple[Experiment, ...]:
    """Return the runs with the departed client kept in the objective, and excluded from it."""
    problem, first = clients(point), int(point["tau_0"])
    everyone = Participation(num_clients=3, local_steps=1)
    rate = theorem_3_1.staircase(experiments.setting(problem, everyone, "B"))
    departures = [Departure(client=2, round=first, exclude=exclude) for exclude in (False, True)]
    return tuple(
        Experiment(
            problem=problem,
            algorithm=Ruan(scheme="B"),
            participation=Participation(num_clients=3, local_steps=1, timeline=Timeline(departures=(departure,))),
            rounds=first + int(point["left"]),
            rate=rate,
        )
        for departure in departures
    )


def quantities(point: Params, made: tuple[Experiment, ...], runs: tuple[Trajectories, ...]) -> Env:
    """Return both bounds and both losses."""
    (run, excluding), (trajectories, excluded) = made, runs
    problem, first = clients(point), int(point["tau_0"])
    before = experiments.setting(*experiments.members(problem, excluding.participation, 0), "B")
    after = experiments.setting(*experiments.members(problem, excluding.participation, first), "B")
    departed = experiments.setting(problem, run.participation, "B") | experiments.law(
        problem, run.participation, Scheme.B, run.rounds
    )
    found, shifted = experiments.along(run, trajectories), experiments.along(excluding, excluded, first)
    # One G for both runs, since one rule compares bounds on both.
    norms = np.concatenate([one["gradient_sq"] for one in (found, shifted)])
    for env in (before, after, departed):
        env |= {"G_sq": norms.max(), "start_sq": found["start_sq"]}
    offset, offset_new = (float(compiled(theorem_3_1.GAMMA)(env)) for env in (before, after))
    mean_b = compiled(EE(theorem_3_1.B_PRINTED))
    shift = abs(float(before["w_star"][0] - after["w_star"][0]))
    reached = float(np.sqrt(trajectories.curve("distance_sq")[0, first]))
    return {
        "E": 1,
        "G_sq": norms.max(),
        "gradient_sq": norms,
        "gamma": offset,
        "gamma_new": offset_new,
        "D": compiled(theorem_3_1.D_PRINTED)(departed),
        "V": max(offset**2 * found["start_sq"], 256 * mean_b(before)),
        "V_new": max(offset_new**2 * (reached + shift) ** 2, 256 * mean_b(after)),
        "tau_0": first,
        "deadline": run.rounds,
        "loss_kept": trajectories.curve("distance_sq")[0, -1],
        "loss_out": excluded.curve("distance_sq")[0, -1],
        "kept_from_new": _limit.distances(after["w_star"], trajectories)[-1],
        "w_star": before["w_star"],
        "w_new": after["w_star"],
    }


def realise(point: Params) -> dict[str, Any]:
    """Return a random kept model around the new minimiser."""
    chance = point["chance"] / point["chance"].sum()
    return {
        "w_star": point["old"],
        "w_new": 0 * point["old"],
        "w_kept": list(point["kept"]),
        "u": point["loss"],
        "chance": list(chance),
    }


at_departure, at_deadline = V / (tau_0 * E + gamma), ((deadline - tau_0) * D + V) / (deadline * E + gamma)
f_1 = V_new / ((deadline - tau_0) * E + gamma_new)

claim = Claim(
    id="ruan.corollary-4.0.3",
    kind=Kind.RULE,
    title="when to exclude a departing client",
    citation=Citation("ruan", "Corollary 4.0.3, (8)"),
    forms=(
        Form(
            statement=Le(loss_out, loss_kept),
            premises=(Ge(Min(at_departure, D / E), f_1),),
            note="the infimum over all rounds from the departure on, as printed",
        ),
        Form(
            variant="published@deadline",
            statement=Le(loss_out, loss_kept),
            premises=(Ge(Min(at_departure, at_deadline), f_1),),
            note="the minimum up to the deadline, as in appendix A.6",
        ),
        Form(
            variant="corrected",
            statement=Le(loss_excluded, EE(NormSq(w_kept - w_star))),
            premises=(Ge(Norm(w_star - w_new), sqrt(loss_excluded) + sqrt(EE(NormSq(w_kept - w_new)))),),
            check=Instances(
                space=Space(
                    {
                        "M": Integer(1, 3),
                        "d": Integer(1, 2),
                        "chance": Real(0.05, 1, shape=("M",)),
                        "kept": Real(-1, 1, shape=("M", "d")),
                        "old": Real(-3, 3, shape=("d",)),
                        "loss": Real(0, 3),
                    }
                ),
                realise=realise,
            ),
            assumptions=(),
            note="the bias avoided must exceed what is left of both runs",
        ),
        Form(
            variant="corrected@runs",
            statement=Le(loss_out, loss_kept),
            premises=(Ge(Norm(w_star - w_new), sqrt(loss_out) + sqrt(kept_from_new)),),
            note="the same on simulated departures, with what is left of both runs as measured",
        ),
    ),
    assumptions=(experiments.BOUNDED_GRADIENTS,),
    uses=("ruan.theorem-3.1", "ruan.corollary-3.2.1"),
    check=Experiments(
        space=Space(
            {
                "tau_0": Real(1, 10),
                "left": Real(1, 40),
                "n_l": Real(0.01, 10, log=True, whole=True),
                "apart": Real(0.1, 10, log=True),
                "own": Real(1e-4, 10, log=True),
                "start": Real(-3, 3),
                "noise": Real(0, 1),
            }
        ),
        experiment=experiment,
        quantities=quantities,
        moments=True,
    ),
)
