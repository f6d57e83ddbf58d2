r"""Where a run really tends: the minimiser of the objective with the weights that clients get on average.

In a round client :math:`k` moves the model by about :math:`-\eta_\tau p_\tau^k s_\tau^k\nabla F_k`. So a run with
decreasing learning rates tends to the minimiser :math:`w_\infty` of :math:`\sum_k a_k F_k` with
:math:`a_k = \mathbb E[p_\tau^k s_\tau^k]/\mathbb E[\sum_j p_\tau^j s_\tau^j]`. Clients that never count
(:math:`a_k = 0`) are left out; :math:`w_\infty` and the constants are computed from the exact moments, distances from
it are those of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import Env
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.observed import independence, independent_noise, law, named, stationary
from fltheory.bounds.flexible_participation.observed import setting as scheme_setting
from fltheory.bounds.observation import Facts, Observation
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params
from fltheory.bounds.symbols import tau
from fltheory.errors import NotApplicable
from fltheory.participation import Participation
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Rate
from fltheory.simulation.trajectories import Trajectories

from_limit = scalar(
    "distance_sq_limit",
    r"\mathbb{E}\|w_{\tau E}^{\mathcal{G}} - w_\infty\|^2",
    "expected squared distance to the minimiser for the weights that clients get in a run",
    domain="nonnegative",
)


def of(problem: Quadratic, env: Env) -> Any:
    """Return the limit of a run from the moments of its participation."""
    return problem.objective(env["mean_ps_of"] / env["mean_ps"]).w_star


def setting(problem: Quadratic, participation: Participation, scheme: str) -> dict[str, Any]:
    """Return what Theorem 3.1 depends on if :math:`a_k` are the objective weights; ``w_star`` is the limit."""
    env = experiments.setting(problem, participation, scheme)
    counted = env["mean_ps_of"] > 0
    found = experiments.constants(replace(experiments.some(problem, counted), sample_counts=env["mean_ps_of"][counted]))
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


def about(facts: Facts) -> str:
    """Return which setting it is; raise where the limit of a run is not computed."""
    words = stationary(facts)
    if not isinstance(facts.problem, Quadratic) or not isinstance(facts.algorithm, Ruan):
        raise NotApplicable(
            "the limit of a run is computed for quadratics under schemes A, B and C; "
            f"got {type(facts.problem).__name__} with {facts.algorithm.title}"
        )
    if np.any(facts.problem.client_drift) or np.any(facts.problem.client_growth):
        raise NotApplicable("the limit of a run is computed for clients without drift beside their objectives")
    return words


def observed(rate: Callable[[Env], Rate]) -> Observation:
    """Return how the bound on the distance from the limit is read on an experiment; ``rate`` is its learning rate."""

    def within(facts: Facts) -> dict[str, Any]:
        assert isinstance(facts.problem, Quadratic)
        assert isinstance(facts.algorithm, Ruan)
        return setting(facts.problem, facts.participation, facts.algorithm.scheme)

    def read(facts: Facts) -> Env:
        assert isinstance(facts.algorithm, Ruan)
        env = quantities({"scheme": facts.algorithm.scheme}, facts.experiment, facts.run)
        for name in ("mu", "L", "theta", "mean_ps"):
            facts.keep(name, env[name], Origin.COMPUTED)
        facts.keep("G_sq", env["G_sq"], Origin.MEASURED, "largest expected squared gradient along the run")
        return env

    return Observation(
        quantities=read,
        about=about,
        rate=lambda facts: rate(within(facts)),
        axis=tau,
        record={"moments": True},
        algorithm=Ruan,
        conditions=independent_noise,
    )


def remaining(row: Observation) -> Observation:
    """Return how a bound on the limit itself is read: one number, beside the distance after the last round.

    ``row`` has the learning rate and the conditions of the statement.
    """

    def read(facts: Facts) -> Env:
        weights = facts.keep("a", _average_weights(facts), Origin.COMPUTED, "weights that clients get on average")
        off = facts.problem.objective(weights).w_star - facts.require("w_star")["w_star"]
        last = facts.run.curve("distance_sq").mean(axis=0)[-1]
        facts.keep("distance_sq", float(last), Origin.MEASURED, "after the last round of the run, for comparison")
        rounds = {"tau": np.array([facts.rounds]), "dependence": independence(facts)}
        return {**named(scheme_setting(facts)), **rounds, "limit": np.array([off @ off])}

    return replace(row, quantities=read, about=about, record={})


def approach(row: Observation) -> Observation:
    """Return how the rate at which runs approach their limit is read on an experiment; ``row`` as above."""

    def read(facts: Facts) -> Env:
        limit = facts.problem.objective(_average_weights(facts)).w_star
        away = distances(limit, facts.run)
        rounds = {"tau": np.arange(1, len(away)), "dependence": independence(facts)}
        return {**named(scheme_setting(facts)), **rounds, "distance_sq_limit": away[1:]}

    return replace(row, quantities=read, about=about, record={"moments": True})


def _average_weights(facts: Facts) -> Any:
    one = law(facts, 0)
    return one.mean_ps_of / one.mean_ps


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return the quantities of Theorem 3.1 with the limit in place of the minimiser."""
    assert isinstance(run.problem, Quadratic)
    env = setting(run.problem, run.participation, point["scheme"])
    found, away = experiments.along(run, trajectories), distances(env["w_star"], trajectories)
    norms = found["norms_sq"][:, env["counted"]]
    return env | {
        "tau": found["tau"],
        "gradient_sq": norms.ravel(),
        "G_sq": norms.max(),
        "start_sq": away[0],
        "distance_sq_limit": away[1:],
    }
