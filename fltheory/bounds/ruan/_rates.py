r"""Table 1: two clients on the line, for rates; and the point that a run tends to, for heterogeneous participation.

Rates: :math:`F_k(w) = \frac12(w - c_k)^2` with :math:`c = (-a, a)`, so that :math:`\mu = L = 1` and
:math:`\Gamma = a^2/2`, with noise of equal variance :math:`\sigma^2` and :math:`E = 128` assigned steps; the run uses
the learning rate of Theorem 3.1 and starts at distance 1 from :math:`w^* = 0`. Everything else is hidden in the
constant of a rate. A rate is one for :math:`\tau \gg \gamma/E`, when the start is forgotten; here :math:`\gamma/E =
4\theta E/\mathbb E[\sum_k p_\tau^k s_\tau^k]`, so sweeps along which that grows take as many times more rounds.

Limits: a run tends to the minimiser :math:`w_\infty` of :math:`\sum_k a_k F_k` with
:math:`a_k = \mathbb E[p_\tau^k s_\tau^k]/\mathbb E[\sum_j p_\tau^j s_\tau^j]`, see
:mod:`~fltheory.bounds.ruan._limit`. Bounds on the limit are
searched over many laws of participation, with :math:`w_\infty` from exact moments. That runs tend there is a rate of
its own, :math:`\mathbb E\|w_{\tau E}^{\mathcal G} - w_\infty\|^2 = O(1/(\tau E + \gamma))`, measured on runs
whose length doubles: were the limit another point, the left-hand side would stop falling. Those runs have one client
that completes all steps, and one that completes all or half of them, and is never, at times or always absent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import Le, Sum

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import EE, BigO, Env
from fltheory.bounds.claim import Experiments, Form, Instances, Method, Sweep, Sweeps
from fltheory.bounds.flexible_participation import experiments
from fltheory.bounds.flexible_participation.observed import table_row
from fltheory.bounds.flexible_participation.symbols import D, gamma, mean_ps, p_drawn, s_drawn
from fltheory.bounds.observation import Observation
from fltheory.bounds.quantities import scalar
from fltheory.bounds.ruan import _limit, theorem_3_1
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, Gamma, N, k, mu, p, sigma_sq, tau
from fltheory.participation import Participation, StepCounts
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories

STEPS = 128

Gamma_all = scalar(
    "Gamma_all", r"\Gamma", "non-IID metric of all clients, the weighted mean of theirs", domain="nonnegative"
)
sigma_bar_sq = scalar("sigma_bar_sq", r"\bar\sigma_N^2", "sum of squared weights times variances", domain="nonnegative")
limit = scalar(
    "limit",
    r"\lim_\tau \|w_{\tau E}^{\mathcal{G}} - w^*\|^2",
    "squared distance of the limit of a run",
    domain="nonnegative",
)

MEANS = ((Gamma_all, Sum(p[k] * Gamma[k], (k, 1, N))), (sigma_bar_sq, Sum(p[k] ** 2 * sigma_sq[k], (k, 1, N))))
"""Definitions of the table."""

BIAS = Sum(EE(p_drawn[k] * s_drawn[k]) * Gamma[k], (k, 1, N)) / mean_ps
"""Weighted mean of the clients' gaps, with the weights that they get in a run."""

BASE: dict[str, Any] = {"tau": 24, "sigma_sq": 1.0, "spread": 1.0, "N": 2}
RELIABLE: dict[str, Any] = {"slow": 2, "seldom": 0.0, "idle": 1.0}


def rounds_of(point: Params) -> int:
    """Return the number of rounds, in sweeps along which the offset grows a multiple of what is swept."""
    return int(point["tau"] * (point[point["times"]] if "times" in point else 1))


def line(point: Params) -> Quadratic:
    """Return clients on the line, half of them to either side."""
    count = int(point["N"])
    centre = point["spread"] * np.where(np.arange(count) % 2 == 0, -1.0, 1.0)[:, None]
    centre = centre - centre.mean()
    return Quadratic(
        hessian=np.ones((count, 1)),
        linear=-centre,
        constant=0.5 * (centre**2).sum(axis=1),
        sample_counts=np.ones(count),
        noise_sq=np.full(count, float(point["sigma_sq"])),
        start=np.ones(1),
    )


def rates(
    scheme: str, participation: Callable[[Params], Participation], sweeps: tuple[Sweep, ...], **more: Any
) -> Sweeps:
    """Return sweeps of runs with the learning rate of Theorem 3.1; ``more`` are further quantities."""

    def experiment(point: Params) -> Experiment:
        problem, work = line(point), participation(point)
        return Experiment(
            problem=problem,
            algorithm=Ruan(scheme=scheme),
            participation=work,
            rounds=rounds_of(point),
            rate=theorem_3_1.staircase(experiments.setting(problem, work, scheme)),
        )

    def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
        assert isinstance(run.problem, Quadratic)
        env = experiments.setting(run.problem, run.participation, scheme)
        limit = _limit.of(run.problem, env)
        extra = {name: value(point, env) for name, value in more.items()}
        return (
            env
            | extra
            | {
                "tau": rounds_of(point),
                "distance_sq": trajectories.curve("distance_sq")[0, -1],
                "distance_sq_limit": _limit.distances(limit, trajectories)[-1],
            }
        )

    # Sweeps fix all parameters; the space is what a single instance may be.
    space = Space({"N": Integer(1, 8), "tau": Integer(1, 1000), "sigma_sq": Real(0, 1e6), "spread": Real(0, 1e3)})
    source = Experiments(space=space, experiment=experiment, quantities=quantities, moments=True, horizon="tau")
    return Sweeps(instances=source, sweeps=sweeps)


def unequal(point: Params) -> Participation:
    """Return one reliable client, and one that is slow or absent at times; or both mostly idle."""
    # Swept is the inverse of how often a client is absent; 0 stands for never.
    absent = 1 / point["seldom"] if point["seldom"] else 0.0
    pmf = np.zeros((2, STEPS + 1))
    pmf[0, STEPS] = 1.0
    pmf[1, STEPS] += 0.5 * (1 - absent)
    pmf[1, STEPS // int(point["slow"])] += 0.5 * (1 - absent)
    pmf[1, 0] += absent
    pmf /= point["idle"]
    pmf[:, 0] += 1 - 1 / point["idle"]
    return Participation(num_clients=2, local_steps=STEPS, steps=StepCounts(pmf=pmf))


def heterogeneous(scheme: str) -> Observation:
    """Return how a row of the table for heterogeneous participation is read on an experiment."""
    return table_row(theorem_3_1.GAMMA, scheme, heterogeneous=True)


def limit_of_runs(scheme: str) -> Form:
    """Return the rate at which runs approach their limit: never absent, absent at times, and always."""
    sweeps = tuple(growing("tau", 32, 4, {**BASE, **RELIABLE, "seldom": s}, factor=2) for s in (0.0, 4.0, 1.0))
    return Form(
        variant="sharp@limit",
        statement=Le(_limit.from_limit, BigO(1 / (tau * E + gamma))),
        where=((mean_ps, theorem_3_1.MEAN_PS), (gamma, theorem_3_1.GAMMA)),
        check=rates(scheme, unequal, sweeps),
        observation=_limit.approach(heterogeneous(scheme)),
        note="runs tend to the minimiser for the weights that clients get on average",
    )


def growing(name: str, first: float, count: int, base: dict[str, Any], *, factor: int = 4) -> Sweep:
    """Return a geometric sweep."""
    values = tuple(first * factor**i for i in range(count))
    return Sweep(name, values, {key: value for key, value in base.items() if key != name})


def limits(scheme: str) -> Instances:
    """Return limits of runs with heterogeneous participation."""

    def realise(point: Params) -> Env:
        problem = experiments.quadratics(
            {**point, "noise": np.zeros(point["N"]), "loud": 1.0, "start": np.zeros(point["d"])}
        )
        count, steps = point["N"], point["E"]
        law = experiments.two_values({**point, "participation": "heterogeneous"})
        work = Participation(num_clients=count, local_steps=steps, steps=law)
        env = experiments.setting(problem, work, scheme)
        return env | {"limit": ((_limit.of(problem, env) - env["w_star"]) ** 2).sum()}

    parameters = experiments.clients(most=3, schemes=(scheme,))
    for unused in ("participation", "noise", "loud", "start"):
        del parameters[unused]
    return Instances(space=Space(parameters), realise=realise, method=Method.EXACT, rational=False)


def limit_forms(scheme: str) -> tuple[Form, ...]:
    """Return the published bound on the limit, the sharp one, and that runs have this limit."""
    return (
        Form(
            statement=limit <= D / E,
            where=((mean_ps, theorem_3_1.MEAN_PS), (D, theorem_3_1.D_PRINTED)),
        ),
        Form(
            variant="sharp",
            statement=limit <= 2 * BIAS / mu,
            where=((mean_ps, theorem_3_1.MEAN_PS),),
            note="2 in place of 64; approached when one client gets all the weight",
        ),
        limit_of_runs(scheme),
    )
