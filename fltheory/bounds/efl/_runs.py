r"""Runs of EFL along all outcomes of participation, with the gradients that the clients see.

Compression is not affine, so that moments do not follow from those of the round before. But without noise a run is a
function of who took how many steps. If participation is random in a few rounds only, all courses that it can take are
run side by side, as replicates of one run of the algorithm's own code, and expectations are finite sums over them;
random participation in all rounds is sampled. The law changes once: random step counts in the first ``change`` rounds,
fixed ones of each client's own (0 for a client that has gone) from then on. With an elastic term, all clients report
before the first round their statistics at the common start, as if :math:`\omega_{-1}^i = \omega_0`; else the elastic
term would be missing in the first round, and :math:`\widetilde F_{\tau,k}` less convex there than later.

:math:`G^2` is the largest expected squared norm of a local gradient of :math:`\widetilde F_{\tau,k}`, elastic term
included, over all clients and all :math:`E` steps, whether they are completed or not: what a local step moves, over
the learning rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.efl import EFL, State
from fltheory.bounds.claim import Rejected
from fltheory.bounds.efl import _schedule, theorem_1
from fltheory.bounds.flexible_participation.experiments import two_values
from fltheory.bounds.space import Choice, Integer, Integers, Parameter, Params, Real, plain
from fltheory.participation import FullSteps, StepCounts, TimeVarying
from fltheory.problems.oracle import PLAIN, LocalSteps, Oracle, Round
from fltheory.problems.problem import norm_sq
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Table

HUGE = 1e100
"""Models beyond this are taken for divergence."""

STILL = 1e-12
"""Learning rate of the round before the first one."""

MOST = 1024
"""Courses that are still run side by side."""


def clients(*, most: int, dim: int) -> dict[str, Parameter]:
    """Return the parameters of a run with at most ``most`` clients in at most ``dim`` dimensions.

    With the form ``flat`` all coordinates of a client are alike, as in layers that start equal; with the work
    ``all`` clients complete all steps or none.
    """
    return {
        "N": Integer(1, most, far=5),
        "d": Integer(1, dim, furthest=1000),
        "E": Integer(1, 3, far=300),
        "T": Integer(1, 20, furthest=10_000),
        "change": Integer(1, 5),
        "form": Choice(("any", "flat")),
        "work": Choice(("all", "some")),
        "participation": Choice(("full", "homogeneous", "heterogeneous")),
        "low": Integers(0, "E", shape=("N",)),
        "high": Integers(0, "E", shape=("N",)),
        "later": Integers(0, "E", shape=("N",)),
        "q": Real(0.05, 1, shape=("N",), far=0.001),
        "n": Real(0.1, 10, log=True, shape=("N",), far=0.001, whole=True),
        "mu": Real(0.1, 10, log=True),
        "condition": Real(1, 10, log=True, far=1e6),
        "curvature": Real(0, 1, shape=("N", "d")),
        "centre": Real(-1, 1, shape=("N", "d")),
        "start": Real(-3, 3, shape=("d",)),
    }


def base(**other: Any) -> Params:
    """Return a point for a sweep: equal weights, one step or all of them with equal chances; ``other`` as it is."""
    count, dim = other["centre"].shape
    return {
        "N": count,
        "d": dim,
        "change": 1,
        "form": "any",
        "work": "some",
        "participation": "homogeneous",
        "low": np.full(count, 1),
        "high": np.full(count, other["E"]),
        "later": np.full(count, other["E"]),
        "q": np.full(count, 0.5),
        "q_later": np.full(count, 0.5),
        "n": np.ones(count),
        "mu": 1.0,
        **other,
    }


def quadratics(point: Params) -> tuple[Quadratic, Floats]:
    """Return the clients' quadratics without noise, and a start."""
    spread = {name: point[name] for name in ("curvature", "centre", "start")}
    if point["form"] == "flat":
        spread = {name: np.broadcast_to(values[..., :1], values.shape) for name, values in spread.items()}
    return _schedule.from_optimum({**point, **spread, "near": 1.0, "loud": 0.0, "noise": np.zeros(point["N"])})


def plan(point: Params, problem: Quadratic, rounds: int) -> _schedule.Schedule:
    """Return the participation of a point; with ``q_later`` it stays random."""
    steps = point["E"]
    counts = {name: np.asarray(point[name]) for name in ("low", "high", "later")}
    if point["work"] == "all":
        counts = {name: steps * (done > 0) for name, done in counts.items()}
    drawn = {**point, **counts}
    if "q_later" in point:
        return _schedule.schedule(point, problem, two_values(drawn), two_values(drawn, q="q_later"), rounds)
    alike = point["participation"] != "heterogeneous"
    fixed = np.broadcast_to(counts["later"][:1] if alike else counts["later"], (point["N"],))
    if point["participation"] == "full" or not fixed.any():
        fixed = np.full(point["N"], steps)
    later = StepCounts(pmf=np.eye(steps + 1)[fixed])
    return _schedule.schedule(point, problem, two_values(drawn), later, rounds)


class Course(NamedTuple):
    """Courses of a run: their chances, squared distances and gradients.

    ``distance_sq`` has shape ``(courses, rounds + 1)``, as has ``moving_sq``, which is about the minimiser with the
    elastic term of the round; ``gradient_sq`` is per round, the largest of all clients and steps, ``elastic`` the
    largest expected elastic term at the minimiser.
    """

    chance: Floats
    distance_sq: Floats
    moving_sq: Floats
    gradient_sq: Floats
    elastic: float

    @property
    def mean(self) -> Floats:
        """The expected squared distance, shape ``(rounds + 1,)``."""
        return self.chance @ self.distance_sq

    def without(self, rounds: int) -> Course:
        """Return the courses without their first rounds."""
        return self._replace(
            distance_sq=self.distance_sq[:, rounds:],
            moving_sq=self.moving_sq[:, rounds:],
            gradient_sq=self.gradient_sq[rounds:],
        )


class _Watched:
    """An oracle that notes the squared norms of the gradients along all assigned steps; there must be no noise."""

    def __init__(self, oracle: Any) -> None:
        self._oracle: Oracle = oracle
        self.norms: list[Floats] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._oracle, name)

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        """Take all assigned steps one by one, and return the models after those that are completed."""
        model = np.broadcast_to(start, (len(start), work.steps.shape[1], start.shape[-1]))
        one, found = replace(work, steps=np.ones_like(work.steps)), model
        for count in range(1, work.local_steps + 1):
            after = self._oracle.local_steps(model, one, how)
            self.norms.append(norm_sq((model - after) / work.rate))
            found = np.where((work.steps >= count)[..., None], after, found)
            model = after
        return found


class _Seen(NamedTuple):
    """What is noted after a round, or before the first one: see :class:`Course`."""

    distance_sq: Floats
    moving_sq: Floats
    gradient_sq: float = 0.0
    elastic: float = 0.0


class ContinuedCourses:
    """Courses that go on: those of a longer run begin where those of a shorter one have ended."""

    def __init__(self, run: Experiment, chance: Floats) -> None:
        assert isinstance(run.algorithm, EFL)
        assert run.start is not None
        self._problem, self._algorithm, self._chance = run.problem, run.algorithm, chance
        self._oracle = run.problem.reference_oracle(seed=0, replicates=range(len(chance)))
        self._optimum = run.problem.objective().w_star
        start = np.tile(run.start, (len(chance), 1))
        self._state: State = self._algorithm.init(start, self._oracle, run.problem.weights)
        self._seen = [_Seen(norm_sq(self._state.w - self._optimum), self._moving_sq(self._state))]

    def until(self, rounds: int, work: Callable[[int], Round]) -> Course:
        """Return the courses up to a round; ``work`` gives the terms of those that have not been run yet."""
        for index in range(len(self._seen) - 1, rounds):
            self._step(index, work(index))
        seen = self._seen[: rounds + 1]
        return Course(
            self._chance,
            np.stack([one.distance_sq for one in seen], axis=1),
            np.stack([one.moving_sq for one in seen], axis=1),
            np.array([one.gradient_sq for one in seen[1:]]),
            max(one.elastic for one in seen),
        )

    def _step(self, index: int, work: Round) -> None:
        chance, algorithm = self._chance, self._algorithm
        self._oracle.begin_round(index)
        watched = _Watched(self._oracle)
        state = algorithm.round(self._state, watched, work).state
        if not np.abs(state.w).max() < HUGE:
            raise Rejected("the run diverges")
        elastic = 0.0
        if algorithm.elasticity:
            anchors = np.divide(state.v, state.u, out=np.zeros_like(state.v), where=state.u > 0)
            pulls = algorithm.elasticity / 2 * (state.u * (self._optimum - anchors) ** 2).sum(axis=(1, 2))
            elastic = float(chance @ pulls)
        self._state = state
        self._seen.append(
            _Seen(
                norm_sq(state.w - self._optimum),
                self._moving_sq(state),
                max(float((chance @ norms).max()) for norms in watched.norms),
                elastic,
            )
        )

    def _moving_sq(self, state: State) -> Floats:
        minimiser = with_pull(self._problem, self._optimum, self._algorithm.elasticity, state)
        return norm_sq(state.w - minimiser)


Walks = dict[tuple[str, bytes], ContinuedCourses]
"""Runs that a longer one may go on from, by all that they depend on but their length, and the chances of courses."""


def enumerated(run: Experiment, laws: _schedule.Schedule, *, known: str = "", walks: Walks | None = None) -> Course:
    """Return all courses that participation can take, with their chances; ``known`` is the name of the run."""
    weights = run.problem.weights
    drawn = [(law["chance"], np.asarray(law["s_drawn"], dtype=np.int64)) for law in laws.laws]
    total = math.prod(len(drawn[law][0]) for law in laws.which[: run.rounds])
    if total > MOST:
        raise Rejected(f"participation can take {total} courses")
    chance = np.ones(total)
    picks, stride = [], total
    for index in range(run.rounds):
        chances, _ = drawn[laws.which[index]]
        stride //= len(chances)
        picks.append(np.arange(total) // stride % len(chances))
        chance *= chances[picks[-1]]

    def work(index: int) -> Round:
        steps = drawn[laws.which[index]][1][picks[index]]
        return Round(
            index=index,
            rates=run.rates_at(index),
            local_steps=run.participation.local_steps,
            p=weights,
            steps=steps,
            weights=np.where(steps > 0, weights, 0.0),
            boost=np.ones(len(weights)),
        )

    return _follow(run, chance, work, known, walks)


def sampled(run: Experiment, *, replicates: int, known: str = "", walks: Walks | None = None) -> Course:
    """Return courses of which every one is as likely as the others."""
    problem, block = run.problem, range(replicates)

    def work(index: int) -> Round:
        return run.participation.round(
            index, run.rates_at(index), problem.weights, problem.sample_counts, seed=0, replicates=block
        )

    return _follow(run, np.full(replicates, 1 / replicates), work, known, walks)


def _follow(run: Experiment, chance: Floats, work: Callable[[int], Round], known: str, walks: Walks | None) -> Course:
    key = known, chance.tobytes()
    walk = None if walks is None else walks.get(key)
    if walk is None:
        walk = ContinuedCourses(run, chance)
    if walks is not None:
        walks[key] = walk
    return walk.until(run.rounds, work)


def warmed_up(laws: _schedule.Schedule) -> _schedule.Schedule:
    """Return the participation with a round before the first one in which all clients report."""
    participation = laws.participation
    clients, steps = participation.num_clients, participation.local_steps
    everyone = {"chance": np.ones(1), "s_drawn": np.full((1, clients), steps)}
    return _schedule.Schedule(
        replace(participation, steps=TimeVarying(laws=(FullSteps(), participation.steps), starts=(0, 1))),
        [*laws.laws, everyone],
        np.append(len(laws.laws), laws.which),
    )


class Observed(NamedTuple):
    """A run with the learning rate of Theorem 1: symbols of the theorem, participation, rates, courses."""

    env: dict[str, Any]
    plan: _schedule.Schedule
    rates: Floats
    course: Course


def observe(
    point: Params,
    algorithm: EFL,
    *,
    replicates: int = 0,
    last: bool = False,
    walks: Walks | None = None,
    **other: Any,
) -> Observed:
    """Run a point; curves begin with round 1, or have the last round only.

    ``replicates`` asks for samples in place of all courses, ``other`` replaces constants of the problem. Runs go on
    from those in ``walks``, which are of the same algorithm, samples and constants.
    """
    (problem, start), rounds = quadratics(point), int(point["T"])
    planned = plan(point, problem, rounds)
    env = theorem_1.setting(problem, planned, **other)
    rates = theorem_1.rates(planned, env)
    # Where clients have to report first, nothing moves to speak of while they do.
    laws = warmed_up(planned) if algorithm.elasticity else planned
    extra = len(laws.which) - len(planned.which)
    run = Experiment(
        problem=problem,
        algorithm=algorithm,
        participation=laws.participation,
        rounds=rounds + extra,
        rate=Table(values=np.append([STILL] * extra, rates.values)),
        start=start,
    )
    known = repr(plain({name: value for name, value in point.items() if name != "T"}))
    if replicates:
        course = sampled(run, replicates=replicates, known=known, walks=walks).without(extra)
    else:
        course = enumerated(run, laws, known=known, walks=walks).without(extra)
    mean = course.mean
    env |= {
        "G_sq": float(course.gradient_sq.max()),
        "gradient_sq": course.gradient_sq,
        "start_sq": mean[0],
    }
    curves: dict[str, Any] = theorem_1.constants(planned, env) | {"distance_sq": mean[1:]}
    if last:
        curves = {name: np.ravel(value)[-1] for name, value in curves.items()}
    return Observed(env | curves, planned, rates.values, course)


def with_pull(problem: Any, optimum: Floats, elasticity: float, state: State) -> Floats:
    """Return the minimiser of the objective with the elastic term of the coming round."""
    if not elasticity:
        return optimum
    bend = problem.weights @ problem.hessian
    pulled = bend * optimum + elasticity * state.v.sum(axis=1)
    return np.asarray(pulled / (bend + elasticity * state.u.sum(axis=1)))
