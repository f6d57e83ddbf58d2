r"""Flexible participation on SYNTHETIC data: traces of completed work, runs that may branch, and test measures.

**Traces.** Ruan et al. draw the number of completed steps from eight recorded traces, which are not public. Table 2 has
their means, 100, 75.3, 67.2, 57.2 and 56.3 % of the assigned steps for the five levels of CPU load, which never miss a
round, and 82.5, 74.1 and 51.2 % for the three bandwidths, which may; and their standard deviations, 0, 14.8, 11.3,
11.7, 14.8, 23.3, 22.3 and 18.3 %. Given both moments the law is the one of largest entropy on :math:`\{1, \dots, E\}`
(traces 1 to 5) or :math:`\{0, \dots, E\}` (traces 6 to 8), :math:`P(s) \propto e^{as + bs^2}`.

**Runs.** Only models are kept, so no minimiser has to be computed. A run may begin in a later round with given models:
every random number is addressed by seed, replicate, round and client, so branches at an arrival or a departure
continue the common past exactly.

**Federation.** For arrivals and departures, as published: 30 clients with SYNTHETIC data and equally many samples, the
first five traces, scheme C, minibatches of 20 and the rate :math:`1/\tau`, restarted when the objective changes. Not
published and chosen here: 5 assigned steps, 60 samples to train on and 30 to test on per client, 20 features and 5
classes (usually 60 and 10, which takes much longer), and the last client as the one that comes or goes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import numpy as np

from fltheory._internal import seeding
from fltheory._internal.arguments import Floats
from fltheory._internal.seeding import Purpose
from fltheory.algorithms.ruan import Ruan, State
from fltheory.errors import InvalidParameter
from fltheory.logistic.model import scores
from fltheory.logistic.problem import LogisticProblem
from fltheory.logistic.synthetic import synthetic
from fltheory.participation import Arrival, Departure, Participation, StepCounts, Timeline
from fltheory.participation.selection import Mask
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Inverse

MEANS = (1.0, 0.753, 0.672, 0.572, 0.563, 0.825, 0.741, 0.512)
"""Mean fractions of completed steps of the eight traces, Table 2."""

DEVIATIONS = (0.0, 0.148, 0.113, 0.117, 0.148, 0.233, 0.223, 0.183)
"""Their standard deviations, Table 2."""

NEVER_INACTIVE = 5
"""Number of traces, from the first, that have no inactive rounds."""

LOCAL_STEPS, BATCH, RATE, L2 = 5, 20, 1.0, 1e-4
"""Assigned steps (chosen here), minibatches and first learning rate (published), regularisation (chosen here)."""

CLIENTS, SAMPLES, TEST_SHARE, FEATURES, CLASSES = 30, 90, 1 / 3, 20, 5
"""Federation of arrivals and departures: clients (published); samples, share of the test, sizes (chosen here)."""


BLOCK = 10
"""Rounds after an event that are run at a time."""


def trace(number: int, local_steps: int) -> Floats:
    """Return the law of trace ``number`` (from 0) on 0 to ``local_steps`` steps, shape ``(local_steps + 1,)``."""
    share = np.arange(local_steps + 1) / local_steps
    mean, deviation = MEANS[number], DEVIATIONS[number]
    if deviation == 0.0:
        return np.asarray(share == mean, dtype=np.float64)
    possible = np.arange(local_steps + 1) >= (1 if number < NEVER_INACTIVE else 0)
    wanted = np.array([mean, mean**2 + deviation**2])
    powers = np.stack([share, share**2])
    ab = np.array([mean, -0.5]) / deviation**2
    pmf = np.zeros(local_steps + 1)
    # Newton on the convex dual, damped: its gradient is the error of the two moments.
    for _ in range(200):
        exponent = np.where(possible, ab @ powers, -np.inf)
        pmf = np.exp(exponent - exponent.max())
        pmf /= pmf.sum()
        error = powers @ pmf - wanted
        if np.abs(error).max() < 1e-13:
            break
        centred = powers - (powers @ pmf)[:, None]
        step = np.linalg.solve((centred * pmf) @ centred.T, error)
        ab = ab - step * min(1.0, 20.0 / float(np.abs(step).max()))
    return pmf


def traced_steps(traces: int, *, num_clients: int, local_steps: int, seed: int) -> StepCounts:
    """Return step counts of clients that get the first ``traces`` traces at random, as equally as possible.

    A client keeps its place in the shuffled order for every number of traces.
    """
    order = seeding.generator(seed, Purpose.INSTANCE, 2).permutation(num_clients)
    laws = [trace(number, local_steps) for number in range(traces)]
    return StepCounts(pmf=np.stack([laws[place % traces] for place in order]))


def run_models(
    experiment: Experiment, *, seed: int, replicates: int, first: int = 0, begin: Floats | None = None
) -> Floats:
    """Return the models before round ``first`` and after every round from it on.

    Parameters
    ----------
    experiment
        A problem with the algorithm of Ruan et al.
    seed, replicates
        As for :func:`~fltheory.simulation.engines.simulate`.
    first
        Round to begin with.
    begin
        Models before that round, shape ``(replicates, dim)``; the start of the experiment if ``None``.

    Returns
    -------
    models
        Shape ``(replicates, rounds - first + 1, dim)``.
    """
    problem, algorithm = experiment.problem, experiment.algorithm
    assert isinstance(algorithm, Ruan)
    assert experiment.start is not None
    block = range(replicates)
    oracle = problem.compiled_oracle(seed=seed, replicates=block, rotation_equivariant=False)
    terms = Terms(experiment)
    w = np.tile(experiment.start, (replicates, 1)) if begin is None else begin
    kept = [w]
    for index in range(first, experiment.rounds):
        oracle.begin_round(index)
        outcome = algorithm.round(State(w=kept[-1]), oracle, terms.sample(index, seed=seed, replicates=block))
        kept.append(algorithm.model(outcome.state))
    return np.stack(kept, axis=1)


def held_out(problem: LogisticProblem, models: Floats, members: Mask) -> tuple[Floats, Floats]:
    """Return accuracy and mean cross entropy on the test samples of the members.

    Parameters
    ----------
    problem
        With test samples.
    models
        Shape ``(..., dim)``.
    members
        Clients whose samples count, shape ``(clients,)`` of booleans.
    """
    test = problem.test
    assert test is not None
    rows = np.repeat(members, test.counts)
    labels = test.labels[rows]
    z = scores(test.features[rows], models)
    true = np.take_along_axis(z, np.broadcast_to(labels[:, None], (*z.shape[:-1], 1)), axis=-1)[..., 0]
    top = z.max(axis=-1, keepdims=True)
    right = z.argmax(axis=-1) == labels
    loss = top[..., 0] + np.log(np.exp(z - top).sum(axis=-1)) - true
    return np.asarray(right.mean(axis=-1)), np.asarray(loss.mean(axis=-1))


def federation(
    *, spread: float, seed: int, num_features: int = FEATURES, num_classes: int = CLASSES
) -> LogisticProblem:
    """Return the clients for arrivals and departures: SYNTHETIC(spread, spread)."""
    return synthetic(
        alpha=spread,
        beta=spread,
        num_clients=CLIENTS,
        num_features=num_features,
        num_classes=num_classes,
        sizes="equal",
        min_size=SAMPLES,
        test_share=TEST_SHARE,
        l2=L2,
        batch_size=BATCH,
        seed=seed,
    )


def scheme_c(problem: LogisticProblem, timeline: Timeline, *, rounds: int, seed: int) -> Experiment:
    """Return a run of scheme C on the federation."""
    steps = traced_steps(NEVER_INACTIVE, num_clients=CLIENTS, local_steps=LOCAL_STEPS, seed=seed)
    return Experiment(
        problem=problem,
        algorithm=Ruan(scheme="C"),
        participation=Participation(num_clients=CLIENTS, local_steps=LOCAL_STEPS, steps=steps, timeline=timeline),
        rounds=rounds,
        rate=Inverse(scale=RATE),
    )


def everyone_but(client: int | None) -> Mask:
    """Return all clients, or all but one."""
    mask = np.ones(CLIENTS, dtype=np.bool_)
    if client is not None:
        mask[client] = False
    return mask


def after_arrival(
    problem: LogisticProblem, past: Floats, *, at: int, horizon: int, fast: bool, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield accuracy and loss on the test samples of all clients, after each of ``horizon`` rounds with the newcomer.

    ``past`` are the models of the run without it, shape ``(replicates, rounds, dim)``; it arrives in round ``at``. What
    is yielded is a block of rounds at a time, so that a caller who has seen enough need not run the rest.
    """
    timeline = Timeline(arrivals=(Arrival(client=CLIENTS - 1, round=at, fast_reboot=fast),))
    run = scheme_c(problem, timeline, rounds=at + horizon, seed=seed)
    return _measured(problem, run, past[:, at], everyone_but(None), first=at, seed=seed)


def after_departure(
    problem: LogisticProblem, past: Floats, *, at: int, horizon: int, exclude: bool, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield accuracy and loss on the test samples of the objective's clients, after each round without the leaver.

    ``past`` are the models of the run with it, shape ``(replicates, rounds, dim)``; it leaves in round ``at``. What is
    yielded is a block of rounds at a time, as in :func:`after_arrival`.
    """
    timeline = Timeline(departures=(Departure(client=CLIENTS - 1, round=at, exclude=exclude),))
    run = scheme_c(problem, timeline, rounds=at + horizon, seed=seed)
    return _measured(problem, run, past[:, at], everyone_but(CLIENTS - 1 if exclude else None), first=at, seed=seed)


def _measured(
    problem: LogisticProblem, run: Experiment, models: Floats, members: Mask, *, first: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    for begin in range(first, run.rounds, BLOCK):
        part = dataclasses.replace(run, rounds=min(begin + BLOCK, run.rounds))
        later = run_models(part, seed=seed, replicates=len(models), first=begin, begin=models)
        models = later[:, -1]
        yield held_out(problem, later[:, 1:], members)


def before_arrival(problem: LogisticProblem, *, rounds: int, replicates: int, seed: int) -> Floats:
    """Return the models of a run without the last client, shape ``(replicates, rounds + 1, dim)``."""
    absent = Timeline(arrivals=(Arrival(client=CLIENTS - 1, round=rounds + 1),))
    return run_models(scheme_c(problem, absent, rounds=rounds, seed=seed), seed=seed, replicates=replicates)


def before_departure(problem: LogisticProblem, *, rounds: int, replicates: int, seed: int) -> Floats:
    """Return the models of a run with all clients, shape ``(replicates, rounds + 1, dim)``."""
    return run_models(scheme_c(problem, Timeline(), rounds=rounds, seed=seed), seed=seed, replicates=replicates)


def rounds_until(blocks: Iterable[Mask]) -> Floats:
    """Return the number of rounds until a mask is true, infinity where it never is.

    ``blocks`` continue each other along the last axis, which is that of the rounds; no more of them are asked for than
    are needed.

    >>> rounds_until(iter([np.array([[False, True], [False, False]]), np.array([[False, False], [False, True]])]))
    array([2., 4.])
    """
    found: Floats | None = None
    seen = 0
    for block in blocks:
        first = np.where(block.any(axis=-1), seen + block.argmax(axis=-1) + 1.0, np.inf)
        found = first if found is None else np.minimum(found, first)
        seen += block.shape[-1]
        if np.isfinite(found).all():
            break
    if found is None:
        raise InvalidParameter("rounds_until.blocks must hold at least one block, got none")
    return found


def federation_settings() -> dict[str, object]:
    """Return what a reader needs to know about the federation."""
    return {
        "clients": CLIENTS,
        "features": FEATURES,
        "classes": CLASSES,
        "train_samples": round(SAMPLES * (1 - TEST_SHARE)),
        "test_samples": round(SAMPLES * TEST_SHARE),
        "local_steps": LOCAL_STEPS,
        "batch_size": BATCH,
        "first_rate": RATE,
        "l2": L2,
        "trace_means_published": MEANS[:NEVER_INACTIVE],
        "trace_deviations_published": DEVIATIONS[:NEVER_INACTIVE],
    }
