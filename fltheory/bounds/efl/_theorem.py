r"""Theorem 1: its constants as printed, and the runs on which it is checked.

Clients and step laws are those of :mod:`fltheory.bounds.ruan._theorem` with scheme C, which is EFL without
compression and elastic term. The law of participation changes once during a run, so that sums, maxima and minima over
rounds are taken over different ones; :math:`\theta` and :math:`G^2` are the smallest that fit the whole run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Max

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds._algebra import EE, Env, compiled, scalar
from fltheory.bounds._space import Integer, Integers, Parameter, Params, Real
from fltheory.bounds._symbols import E, L, mu
from fltheory.bounds.efl._round import B_PRINTED, B_PROVED, gaps_drawn
from fltheory.bounds.ruan import _theorem
from fltheory.bounds.ruan._symbols import theta
from fltheory.experiment import Experiment
from fltheory.participation import Participation, Scheme, TimeVarying
from fltheory.quadratic.problem import Quadratic
from fltheory.rates import Table
from fltheory.trajectories import Trajectories

ROUNDS = 24

least = scalar("efl_least", r"\min_\tau\mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]", "smallest expected sum of a run")
B_sum = scalar(
    "efl_B_sum",
    r"\sum_{t=0}^{\tau-1}\frac{\mathbb{E}[B_t]}{(\mathbb{E}[\sum_k p_t^k s_t^k])^2}",
    "second-order terms so far, each over the square of its own expected sum, as printed",
)
B_sum_tau = scalar(
    "efl_B_sum_tau",
    r"\sum_{t=0}^{\tau-1}\frac{\mathbb{E}[B_t]}{(\mathbb{E}[\sum_k p_\tau^k s_\tau^k])^2}",
    "second-order terms so far, over the square of the expected sum of the current round, as printed",
)
B_sum_proved = scalar(
    "efl_B_sum_proved",
    r"\sum_{t=0}^{\tau-1}\frac{\mathbb{E}[\hat B_t]}{(\mathbb{E}[\sum_k p_t^k s_t^k])^2}",
    "corrected second-order terms so far",
)
H_same = scalar("efl_H_same", r"H_\tau^{=}", "number of rounds so far whose participation was homogeneous")
gaps = scalar(
    "efl_gaps",
    r"\max_\tau\frac{\sum_k\mathbb{E}[p_\tau^k s_\tau^k]\Gamma_k}{\mathbb{E}[\sum_k p_\tau^k s_\tau^k]}",
    "largest mean metric of a round",
)

GAMMA = Max(4 * E**2 * theta / least, 32 * E * (1 + theta) * L / (mu * least))


def clients() -> dict[str, Parameter]:
    """Return the parameters of a run."""
    return {
        **_theorem.clients(schemes=("C",)),
        "mu": Real(0.01, 10, log=True),
        "low_later": Integers(0, "E", shape=("N",)),
        "high_later": Integers(0, "E", shape=("N",)),
        "q_later": Real(0, 1, shape=("N",)),
        "change": Integer(1, ROUNDS - 1),
        "near": Real(0.001, 1, log=True),
    }


def _parts(point: Params) -> tuple[Quadratic, Participation]:
    centred = _theorem.quadratics(point)
    away = np.asarray(centred.constants()["w_star"].value) + point["near"] * point["start"]
    problem = _theorem.quadratics({**point, "start": away})
    later = _theorem.two_values(point, low="low_later", high="high_later", q="q_later")
    laws = TimeVarying(laws=(_theorem.two_values(point), later), starts=(0, point["change"]))
    return problem, Participation(num_clients=point["N"], local_steps=point["E"], steps=laws)


def _setting(point: Params) -> tuple[Quadratic, Participation, dict[str, Any], list[dict[str, Any]]]:
    problem, participation = _parts(point)
    laws = [_theorem.law(problem, participation, Scheme.C, index) for index in (0, point["change"])]
    env = {
        "E": point["E"],
        **_theorem.constants(problem),
        "theta": max(law["theta"] for law in laws),
        "efl_least": min(law["mean_ps"] for law in laws),
    }
    return problem, participation, env, laws


def experiment(point: Params) -> Experiment:
    """Return the run of a point with the theorem's learning rate."""
    problem, participation, env, laws = _setting(point)
    times = np.arange(ROUNDS)
    sums = np.where(times < point["change"], laws[0]["mean_ps"], laws[1]["mean_ps"])
    rates = 16 * point["E"] / (env["mu"] * ((times + 1) * point["E"] + compiled(GAMMA)(env)) * sums)
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme="C"),
        participation=participation,
        rounds=ROUNDS,
        rate=Table(values=rates),
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters of the theorem, curves from round 1 on."""
    _, _, env, laws = _setting(point)
    found = _theorem.along(run, trajectories)
    env |= {
        "tau": found["tau"],
        "G_sq": found["G_sq"],
        "efl_distance": found["ruan_distance"],
        "efl_start": found["ruan_distance_start"],
    }
    of_law = [env | {name: law[name] for name in ("p_drawn", "s_drawn", "chance")} for law in laws]
    which = (np.arange(ROUNDS + 1) >= point["change"]).astype(int)
    sums = np.array([law["mean_ps"] for law in laws])[which]
    mixed = np.array([law["z"] for law in laws])[which[:-1]]

    def total(term: Any, over: Any) -> Any:
        values = np.array([float(compiled(EE(term))(one)) for one in of_law])[which[:-1]]
        return np.cumsum(values / over)

    return env | {
        "efl_B_sum": total(B_PRINTED, sums[:-1] ** 2),
        "efl_B_sum_tau": total(B_PRINTED, 1.0) / sums[1:] ** 2,
        "efl_B_sum_proved": total(B_PROVED, sums[:-1] ** 2),
        "efl_H": np.cumsum(mixed),
        "efl_H_same": np.cumsum(1 - mixed),
        "efl_gaps": max(
            float(compiled(gaps_drawn)(one)) / law["mean_ps"] for one, law in zip(of_law, laws, strict=True)
        ),
    }
