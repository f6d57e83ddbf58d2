r"""Corollary 3.2.1: the bound after the set of clients has changed.

At round :math:`\tau_0` the objective shifts from :math:`F` to :math:`\tilde F`, with
:math:`\mathbb E\|w_{\tau_0E}^{\mathcal G} - w^*\|^2 \le \Delta_{\tau_0}`. With the learning rate raised to
:math:`\eta_\tau = \frac{16E}{\mu\,\mathbb E[\sum_k p_\tau^k s_\tau^k]}\,\frac{1}{(\tau-\tau_0)E + \gamma}`, as
published

.. math:: \mathbb E\|w_{\tau E}^{\mathcal G} - \tilde w^*\|^2 \le \frac{\tilde M_\tau\tilde D + \tilde
   V}{(\tau-\tau_0)E + \tilde\gamma} ,

where letters with a tilde are those of Theorem 3.1 for the new set of clients, except that the first term of
:math:`\tilde V` is :math:`\tilde\gamma^2\bigl(\sqrt{\Delta_{\tau_0}} + \|w^* - \tilde w^*\|\bigr)^2`.

**Where it fails.** The printed learning rate has :math:`\gamma`, the bound :math:`\tilde\gamma`. If the new clients
complete far fewer steps, :math:`\mathbb E[\sum_k p_\tau^k s_\tau^k]` drops, :math:`\tilde\gamma` is much larger than
:math:`\gamma`, and the printed rate breaks both conditions (64) and (65) on which the proof rests: a rare round of
the new client overshoots, and the second moment grows for a while. The largest gradient norm grows along with it, and
with it :math:`\tilde V`, but one round later.

**Derivation of the corrected form.** With :math:`\tilde\gamma` in the learning rate the rounds from :math:`\tau_0` on
are a run of Theorem 3.1 for :math:`\tilde F`, started at :math:`w_{\tau_0E}^{\mathcal G}`; by the triangle inequality
:math:`\mathbb E\|w_{\tau_0E}^{\mathcal G} - \tilde w^*\|^2 \le (\sqrt{\Delta_{\tau_0}} + \|w^* - \tilde w^*\|)^2`.

Instances: a client that completes its one step in every round, and one with another sample count that completes it
with a probability down to :math:`10^{-6}`; the second one arrives, or the first one departs and is excluded. In the
plane: along the first axis the clients have different minimisers, along the second, steeper one they agree. The run
starts at the shift, since what came before enters through :math:`\Delta_{\tau_0}` only. Scheme B, 40 rounds, in exact
expectation.

Source: Ruan et al., AISTATS 2021, section 3.3, (6).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Le, Max, sqrt

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds._algebra import EE, Env, Norm, compiled, scalar
from fltheory.bounds._claim import Claim, Experiments, Form, Kind, Source
from fltheory.bounds._space import Choice, Params, Real, Space
from fltheory.bounds._symbols import E, mu, w_star
from fltheory.bounds.ruan import _theorem
from fltheory.bounds.ruan._shift import w_new
from fltheory.bounds.ruan._symbols import B_tau, mean_ps
from fltheory.experiment import Experiment
from fltheory.participation import BernoulliSteps, Participation
from fltheory.quadratic.problem import Quadratic
from fltheory.trajectories import Trajectories

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


def members(point: Params, who: list[int]) -> tuple[Quadratic, Participation]:
    """Return some of the two clients: objectives and participation."""
    stiff = point["mu"] * point["condition"]
    hessian = np.array([[point["mu"], stiff], [point["mu"], stiff]])[who]
    centre = np.array([[0.0, 0.0], [point["apart"], 0.0]])[who]
    problem = Quadratic(
        hessian=hessian,
        linear=-hessian * centre,
        constant=0.5 * (hessian * centre**2).sum(axis=1),
        sample_counts=np.array([1.0, point["n_l"]])[who],
        noise_sq=np.full(len(who), point["noise"]),
        start=np.array([point["start"], 0.0]),
    )
    steps = BernoulliSteps(probability=np.array([1.0, point["q"]])[who])
    return problem, Participation(num_clients=len(who), local_steps=1, steps=steps)


def sets(point: Params) -> tuple[list[int], list[int]]:
    """Return the clients before and after the shift."""
    return ([0], [0, 1]) if point["event"] == "arrival" else ([0, 1], [1])


def experiment(point: Params, *, printed: bool) -> Experiment:
    """Return the run from the shift on, with the printed learning rate or the one that the proof needs."""
    before, after = sets(point)
    old, (problem, participation) = members(point, before), members(point, after)
    offset = compiled(_theorem.GAMMA)(_theorem.setting(*(old if printed else (problem, participation)), "B"))
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme="B"),
        participation=participation,
        rounds=40,
        rate=_theorem.staircase(_theorem.setting(problem, participation, "B"), offset),
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters after the shift."""
    old, _ = members(point, sets(point)[0])
    before = _theorem.constants(old)["w_star"]
    assert isinstance(run.problem, Quadratic)
    env: dict[str, Any] = _theorem.setting(run.problem, run.participation, "B") | _theorem.along(run, trajectories)
    return env | {
        "ruan_since": env["tau"],
        "ruan_distance_new": env["ruan_distance"],
        "ruan_M_new": env["z"] * env["tau"],
        "ruan_Delta_shift": ((old.start - before) ** 2).sum(),
        "w_new": env["w_star"],
        "w_star": before,
    }


def after(*, printed: bool) -> Experiments:
    """Return runs from the shift on."""
    return Experiments(
        space=Space(
            {
                "event": Choice(("arrival", "departure")),
                "mu": Real(0.1, 10, log=True),
                "condition": Real(1, 1000, log=True),
                "n_l": Real(0.01, 1e9, log=True),
                "q": Real(1e-6, 1, log=True),
                "apart": Real(-3, 3),
                "start": Real(-3, 3),
                "noise": Real(0, 1),
            }
        ),
        experiment=functools.partial(experiment, printed=printed),
        quantities=quantities,
        moments=True,
    )


bound = Le(distance_new, (M_new * D_new + V_new) / (since * E + gamma_new))
definitions = (
    (gamma_new, _theorem.GAMMA),
    (D_new, _theorem.D_PRINTED),
    (B_tau, _theorem.B_PRINTED),
    (
        V_new,
        Max(
            gamma_new**2 * (sqrt(Delta_shift) + Norm(w_star - w_new)) ** 2,
            (16 * E / (mu * mean_ps)) ** 2 * EE(B_tau) / E,
        ),
    ),
)

claim = Claim(
    id="ruan.corollary-3.2.1",
    kind=Kind.BOUND,
    title="bound after an objective shift",
    source=Source("ruan", "Corollary 3.2.1, (6)"),
    forms=(
        Form(
            statement=bound, where=definitions, note="the learning rate has the offset of the old clients, as printed"
        ),
        Form(
            variant="corrected",
            statement=bound,
            where=definitions,
            check=after(printed=False),
            note="the learning rate has the offset of the new clients",
        ),
    ),
    assumptions=_theorem.ASSUMPTIONS,
    uses=("ruan.theorem-3.1", "ruan.theorem-3.2-arrival", "ruan.theorem-3.2-departure"),
    check=after(printed=True),
)
