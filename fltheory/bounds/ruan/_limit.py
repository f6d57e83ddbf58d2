r"""Where a run really tends: the minimiser of the objective with the weights that clients get on average.

In a round client :math:`k` moves the model by about :math:`-\eta_\tau p_\tau^k s_\tau^k\nabla F_k`. So a run with
decreasing learning rates tends to the minimiser :math:`w_\infty` of :math:`\sum_k a_k F_k` with
:math:`a_k = \mathbb E[p_\tau^k s_\tau^k]/\mathbb E[\sum_j p_\tau^j s_\tau^j]`. Clients that never count
(:math:`a_k = 0`) are left out; :math:`w_\infty` and the constants are computed from the exact moments, distances from
it are those of a run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fltheory.bounds._algebra import Env, scalar
from fltheory.bounds._space import Params
from fltheory.bounds.ruan import _theorem
from fltheory.experiment import Experiment
from fltheory.participation import Participation
from fltheory.quadratic.problem import Quadratic
from fltheory.trajectories import Trajectories

from_limit = scalar(
    "ruan_from_limit",
    r"\mathbb{E}\|w_{\tau E}^{\mathcal{G}} - w_\infty\|^2",
    "expected squared distance to the minimiser for the weights that clients get in a run",
)


def of(problem: Quadratic, env: Env) -> Any:
    """Return the limit of a run from the moments of its participation."""
    return problem.objective(env["mean_ps_of"] / env["mean_ps"]).w_star


def setting(problem: Quadratic, participation: Participation, scheme: str) -> dict[str, Any]:
    """Return what Theorem 3.1 depends on if :math:`a_k` are the objective weights; ``w_star`` is the limit."""
    env = _theorem.setting(problem, participation, scheme)
    counted = env["mean_ps_of"] > 0
    found = _theorem.constants(replace(_theorem.some(problem, counted), sample_counts=env["mean_ps_of"][counted]))
    drawn = [p[counted] for p in env["p_drawn"]]
    return {
        **env,
        **found,
        "counted": counted,
        "p_drawn": drawn,
        "s_drawn": [s[counted] for s in env["s_drawn"]],
        "theta": max(float((p / found["p"]).max()) for p in drawn),
    }


def distances(limit: Any, trajectories: Trajectories) -> Any:
    """Return the expected squared distance of the model from a point, in every round."""
    mean, covariance = trajectories.curve("model_mean")[0], trajectories.curve("model_covariance")[0]
    return ((mean - limit) ** 2).sum(axis=1) + np.einsum("tii->t", covariance)


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the letters of Theorem 3.1 with the limit in place of the minimiser."""
    assert isinstance(run.problem, Quadratic)
    env = setting(run.problem, run.participation, point["scheme"])
    found, away = _theorem.along(run, trajectories), distances(env["w_star"], trajectories)
    norms = found["ruan_gradient_sq"][:, env["counted"]]
    return env | {
        "tau": found["tau"],
        "ruan_gradient_sq": norms,
        "G_sq": norms.max(),
        "ruan_distance_start": away[0],
        "ruan_from_limit": away[1:],
    }
