r"""Theorem 2 with constants: its derivation, runs by the exact engine, and how it is read on an experiment.

For a constant step size :math:`\eta \le \frac p{30\tau L}`, clients that start at one model, and weights :math:`w_t =
(1 - \frac{\mu\eta}2)^{-(t+1)}` with sum :math:`W_T`,

.. math:: \sum_{t=0}^T\frac{w_t}{W_T}\bigl(\mathbb E f(\bar x^{(t)}) - f^\star\bigr) \le \frac{2R_0^2}{\eta W_T} +
   \frac{42}{19}\cdot\frac{\eta\bar\sigma^2}n + \frac{144L\tau}p\,\eta^2\Bigl(\bar\sigma^2 +
   \frac{3\tau}p\bar\zeta^2\Bigr) .

**Derivation.** Let :math:`g_t` be the expected gap and :math:`e_j = 36L\frac\tau p\eta^2g_j + \eta^2A` with :math:`A =
6\bar\sigma^2 + \frac{18\tau}p\bar\zeta^2`, as in the corrected form of Lemma 9, which holds for :math:`t < \tau` as
well, with :math:`\Xi_0 = 0` on the right. Weights grow in :math:`\tau` and :math:`2\tau` iterations by at most
:math:`\kappa' = 1 + \frac p{59}` and :math:`\kappa = 1 + \frac p{29}`. Summed over blocks with the weights of their
first iterations, Lemma 9 is

.. math:: \sum_mw_{m\tau}\Xi_{m\tau} \le \frac{\kappa'}{0.483p}\Bigl(\frac p{16\tau}X + Y\Bigr), \qquad X =
   \sum_tw_t\Xi_t, \quad Y = \sum_tw_te_t,

since :math:`1 - (1 - \frac p2)\kappa' \ge 0.483p`. Every block is the last one that is over for :math:`\tau`
iterations, and every :math:`j` appears in at most :math:`2\tau` sums, so that

.. math:: X \le \Bigl(1 - \frac p2\Bigr)\tau\kappa\frac{\kappa'}{0.483p}\Bigl(\frac p{16\tau}X + Y\Bigr) +
   \frac{p\kappa}8X + 2\tau\kappa Y ,

which gives :math:`X \le \frac{4\tau}pY` for all :math:`p \le 1` (the worst one is :math:`p = 1`). With the corrected
form of Lemma 8, times :math:`w_t` and added up, :math:`3LX` takes at most :math:`432L^2\frac{\tau^2}{p^2}\eta^2 \le
0.48` of the gaps, and adds :math:`12L\frac\tau p\eta^2A`; what remains is divided by 0.52.

The number of iterations is that of local steps: :math:`t` counts the mean model before every local step and after the
last. For local SGD (FedAvg) :math:`\tau` is the number of local steps and :math:`p = 1`; for gossip SGD it is that of
one pass through the sequence of matrices, and :math:`1 - p` is the squared norm of their product off the mean. Where
the matrix of a round is drawn, :math:`\tau` is the number of local steps of a round, and :math:`1 - p` the largest
eigenvalue of :math:`\mathbb E W^\top W` off the mean. Nothing else changes: matrices do not depend on the noise, so
that the parts above stay uncorrelated, and no draw expands what is off the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sympy import Le, Rational

from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.gossip_sgd import GossipSGD
from fltheory.bounds.claim import Assumption, Experiments
from fltheory.bounds.fixed_objectives import fixed_objectives
from fltheory.bounds.koloskova._symbols import T, far_sq, n, p, sigma_bar_sq, step, tau, zeta_bar_sq
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.bounds.symbols import L
from fltheory.errors import NotApplicable
from fltheory.participation import Everyone, Participation
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic, client_gradients
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Constant

LARGEST = 30
"""Steps are at most p / (tau L) over this."""


def contraction(facts: Facts) -> tuple[int, float]:
    """Return the number of iterations of a block, and its consensus rate; refuse what never brings clients together."""
    steps, algorithm = facts.local_steps, facts.algorithm
    if not isinstance(algorithm, GossipSGD):
        return steps, 1.0
    number, count = facts.num_clients, len(algorithm.mixing)
    matrices = [algorithm.matrix(index, facts.problem.weights) for index in range(count)]
    mean = np.full((number, number), 1.0 / number)
    if algorithm.probabilities:
        count = 1  # every draw is a block of its own
        square = sum(chance * w.T @ w for chance, w in zip(algorithm.probabilities, matrices, strict=True))
        rate = 1.0 - float(np.linalg.eigvalsh(square - mean)[-1])
    else:
        product = np.eye(number)
        for matrix in matrices:
            product = matrix @ product
        rate = 1.0 - float(np.linalg.norm(product - mean, 2)) ** 2
    if rate <= 1e-12:
        raise NotApplicable(
            "Assumption 4 does not hold: the mixing matrices never bring all clients together (p = 0); use a connected "
            "graph, or matrices that are connected together"
        )
    return steps * count, rate


def heterogeneity(facts: Facts) -> tuple[float, float]:
    """Return the mean variance and the mean squared gradient at the minimiser."""
    problem = facts.problem
    if not isinstance(problem, Quadratic) or problem.hessian_noise > 0:
        raise NotApplicable(
            "the theorem is read on quadratics with additive noise: Assumption 1a asks for the smoothness of every "
            f"stochastic function F_i(x, xi), which is not known for {type(problem).__name__}"
            + (" with hessian_noise > 0" if isinstance(problem, Quadratic) else "")
        )
    known = facts.require("sigma_sq", "w_star")
    noise = float(np.broadcast_to(np.asarray(known["sigma_sq"], dtype=float), (facts.num_clients,)).mean())
    pulls = client_gradients(problem, np.asarray(known["w_star"]))
    return noise, float((pulls**2).sum(axis=1).mean())


def about(facts: Facts) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    if not isinstance(facts.algorithm, FedAvg | GossipSGD):
        raise NotApplicable(
            f"the theorem is about decentralised SGD: gossip SGD, or local SGD (FedAvg); got {facts.algorithm.title}"
        )
    if facts.participation.timeline.events:
        raise NotApplicable("the theorem is about a fixed set of clients, the experiment has arrivals or departures")
    heterogeneity(facts)
    length, rate = contraction(facts)
    return f"{facts.algorithm.title}, {facts.num_clients} clients, tau = {length}, p = {rate:.3g}"


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return what the theorem assumes besides relations between symbols."""
    chosen = facts.participation.selection
    spread = float(np.ptp(facts.problem.weights))
    complete = isinstance(chosen, Everyone) and facts.completes_all_steps()
    server = getattr(facts.algorithm, "server_rate", 1.0)
    rates = {rate for index in range(facts.rounds) for rate in facts.experiment.rates_at(index)}
    return [
        Requirement("all clients complete all steps", complete, str(getattr(chosen, "name", chosen))),
        Requirement("models are averaged", server == 1, f"rate {server:g}"),
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
        Requirement("one step size", len(rates) == 1, f"{len(rates)} different"),
        *fixed_objectives(facts),
    ]


def constants(facts: Facts) -> dict[str, Any]:
    """Return what does not depend on the run."""
    known = facts.require("L", "w_star")
    try:
        start = facts.experiment.start
    except NotApplicable:  # a learning rate is asked for, and there is no experiment yet
        start = facts.problem.start
    (noise, pull), (length, rate) = heterogeneity(facts), contraction(facts)
    return {
        "n_clients": facts.num_clients,
        "L": known["L"],
        "block": length,
        "p_mix": facts.keep("p", rate, Origin.COMPUTED, "consensus rate of a block of mixing matrices"),
        "sigma_bar_sq": facts.keep("sigma_bar_sq", noise, Origin.COMPUTED, "mean variance at the minimiser"),
        "zeta_bar_sq": facts.keep("zeta_bar_sq", pull, Origin.COMPUTED, "mean squared gradient at the minimiser"),
        "dependence": facts.keep("dependence", 0.0, Origin.DECLARED, "clients draw on their own, by the engines"),
        "far_sq": float(((np.asarray(start) - known["w_star"]) ** 2).sum()),
    }


def quantities(facts: Facts, *, strongly: bool) -> dict[str, Any]:
    """Return the quantities after every round; for strongly convex objectives with weights."""
    inside = facts.run.curve("mean_iterate_gap").mean(axis=0)[1:]
    gaps = np.concatenate([[facts.at_start("gap")], inside.ravel()])
    step = float(facts.keep("eta", facts.experiment.rate_at(0), Origin.DECLARED, "step size of the experiment"))
    low = float(facts.require("mu")["mu"]) if strongly else 0.0
    shrink = 1 - low * step / 2
    # Sums relative to the last weight, so that nothing overflows.
    total, weight, error = 0.0, 0.0, np.empty(len(gaps))
    for number, gap in enumerate(gaps):
        total, weight = shrink * total + gap, shrink * weight + 1.0
        error[number] = total / weight
    ends = facts.local_steps * np.arange(1, facts.rounds + 1)
    return {**constants(facts), "mu": low, "step": step, "T": ends, "error": error[ends]}


def at_the_end(facts: Facts) -> dict[str, Any]:
    """Return the quantities after all iterations, for a step size that depends on their number."""
    env = quantities(facts, strongly=False)
    return {**env, "T": int(env["T"][-1]), "error": float(env["error"][-1])}


def tuned_step(facts: Facts) -> Constant:
    """Return the step size that the sharp form of Lemma 15 takes for all iterations."""
    env = constants(facts)
    last, far = facts.local_steps * facts.rounds, 2 * env["far_sq"]
    if far == 0:
        raise NotApplicable("the step size is zero for a start at the minimiser")
    noise, block = env["sigma_bar_sq"], env["block"] / env["p_mix"]
    first = 42 / 19 * noise / env["n_clients"]
    second = 144 * env["L"] * block * (noise + 3 * block * env["zeta_bar_sq"])
    inverse = LARGEST * env["L"] * block
    inverse += float(np.sqrt(first * (last + 1) / far)) + float((2 * second * (last + 1) / far) ** (1 / 3))
    return Constant(value=1 / inverse)


NOISE = Rational(42, 19) * sigma_bar_sq / n
DRIFT = 144 * L * tau / p * (sigma_bar_sq + 3 * tau / p * zeta_bar_sq)
SMALL = Assumption("step", Le(step, p / (LARGEST * tau * L)))


def with_constants(weights: Any) -> Any:
    """Return the bound, given the sum of the weights."""
    return 2 * far_sq / (step * weights) + NOISE * step + DRIFT * step**2


def observed(*, strongly: bool, tuned: bool = False) -> Observation:
    """Return how the bound is read on an experiment; ``tuned`` for the step size that it prescribes."""
    return Observation(
        quantities=at_the_end if tuned else partial(quantities, strongly=strongly),
        about=about,
        rate=tuned_step if tuned else None,
        axis=None if tuned else T,
        record={"mean_iterate": True},
        algorithm=FedAvg,
        conditions=conditions,
        exceeds="gap",
    )


SPACE = Space(
    {
        "n": Integer(1, 3, far=5),
        "K": Integer(1, 2),
        "rounds": Integer(2, 40, far=400),
        "matrices": Choice(("ring", "mean", "identity-mean", "lazy", "coin", "pairs")),
        "weight": Real(0.05, 1, log=True),
        "condition": Real(1, 100, log=True, far=1e6),
        "curvature": Real(0, 1, shape=("n", 2)),
        "pull": Real(-3, 3, shape=("n", 2)),
        "noise": Real(0, 10),
        "start": Real(-3, 3, shape=(2,)),
        "step": Real(0.05, 1, log=True),
    }
)


def problem(point: Params) -> Quadratic:
    """Return clients with different curvatures; each axis has the smallest one and the largest one somewhere."""
    number, low = int(point["n"]), 1.0 / float(point["condition"])
    curvature = low + (1 - low) * np.asarray(point["curvature"], dtype=float)
    curvature[0], curvature[-1] = [1.0, low], [low, 1.0]
    return Quadratic(
        hessian=curvature,
        linear=np.asarray(point["pull"], dtype=float),
        constant=np.zeros(number),
        noise_sq=np.full(number, float(point["noise"])),
        start=np.asarray(point["start"], dtype=float),
        sample_counts=np.ones(number),
    )


def algorithm(point: Params) -> GossipSGD:
    """Return gossip SGD with the matrices of a point."""
    number, weight = int(point["n"]), float(point["weight"])
    if point["matrices"] == "lazy":
        return GossipSGD(mixing=[((1 - weight) * np.eye(number) + weight / number).tolist()])
    if point["matrices"] == "coin":
        return GossipSGD(mixing=["identity", "mean"], probabilities=[1 - weight, weight])
    if point["matrices"] == "pairs":
        return GossipSGD.random_pairs(number) if number > 1 else GossipSGD()
    return GossipSGD(mixing=point["matrices"].split("-"))


def experiment(point: Params, *, largest: bool) -> Experiment:
    """Return a run with a part of the largest step, or with the tuned one."""
    made, rule, number = problem(point), algorithm(point), int(point["n"])
    terms = Participation(num_clients=number, local_steps=int(point["K"]))
    facts = Facts(problem=made, algorithm=rule, participation=terms, rounds=int(point["rounds"]))
    length, rate = contraction(facts)
    smooth = float(facts.require("L")["L"])
    chosen = float(point["step"]) * rate / (LARGEST * length * smooth) if largest else tuned_step(facts)
    return Experiment(problem=made, algorithm=rule, participation=terms, rounds=int(point["rounds"]), rate=chosen)


def runs(*, strongly: bool, largest: bool = True) -> Experiments:
    """Return runs of gossip SGD, with a part of the largest step or with the tuned one."""
    found = partial(quantities, strongly=strongly) if largest else at_the_end
    return Experiments(
        space=SPACE,
        experiment=lambda point: experiment(point, largest=largest),
        quantities=lambda point, made, run: found(Facts.of(made, run)),
        record={"mean_iterate": True},
    )
