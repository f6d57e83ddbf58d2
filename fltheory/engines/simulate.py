"""The entrance to all engines, and the two that simulate.

``reference`` runs plain NumPy in one thread. ``monte_carlo`` runs the compiled loop on blocks of replicates in
threads; the blocks do not depend on the number of threads, and every random number is addressed by seed,
replicate, round and client, so neither do the results.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fltheory import checks
from fltheory.checks import Floats
from fltheory.engines import collapsed
from fltheory.engines.terms import Terms
from fltheory.errors import NotApplicable
from fltheory.experiment import Experiment
from fltheory.problem import EngineOracle
from fltheory.provenance import provenance
from fltheory.recording import Record, Recorder
from fltheory.trajectories import Trajectories

ENGINES = ("reference", "monte_carlo", "exact")

BLOCK = 128
"""Most replicates that are run together: enough to amortise NumPy's calls."""

BLOCK_ENTRIES = 2**18
"""Numbers that the local models of a block may have: few enough to stay in cache, and to share the work."""


def simulate(
    experiment: Experiment,
    *,
    engine: str = "monte_carlo",
    seed: int = 0,
    replicates: int = 64,
    threads: int | None = None,
    record: Record | None = None,
    collapse: bool = True,
) -> Trajectories:
    """Run an experiment and return its trajectories.

    Parameters
    ----------
    experiment
        What to run.
    engine
        ``monte_carlo`` (compiled), ``reference`` (NumPy) or ``exact`` (expectations without sampling; quadratics
        and algorithms whose round is affine).
    seed
        Seed of noise, drifts, minibatches and participation; not of the problem instance.
    replicates
        Independent repetitions; the exact engine uses them only where participation must be sampled.
    threads
        Threads of the compiled engine; all cores if ``None``. Results do not depend on it.
    record
        What to record.
    collapse
        Let ``monte_carlo`` draw whole rounds at once where that has the same law as running every step (affine
        algorithms on quadratics with Gaussian noise). Curves that look inside rounds are then not recorded, and
        algorithms no longer share the noise of single steps; the provenance says which way was taken.

    Examples
    --------
    >>> from fltheory import Experiment, Participation, noisy_quadratic
    >>> from fltheory.algorithms.fedavg import FedAvg
    >>> problem = noisy_quadratic(dim=4, num_clients=3)
    >>> experiment = Experiment(problem=problem, algorithm=FedAvg(), rounds=5, rate=0.05,
    ...                         participation=Participation(num_clients=3, local_steps=2))
    >>> simulate(experiment, engine="exact").gap.shape
    (1, 6)
    """
    engine = checks.choice("simulate", "engine", engine, ENGINES)
    replicates = checks.integer("simulate", "replicates", replicates, low=1)
    seed = checks.integer("simulate", "seed", seed, low=0)
    threads = checks.integer("simulate", "threads", threads, low=1) if threads is not None else os.cpu_count() or 1
    record = Record() if record is None else record
    if engine == "exact":
        from fltheory.engines.exact import exact_trajectories

        return exact_trajectories(experiment, seed=seed, replicates=replicates, record=record)
    if record.moments:
        raise NotApplicable("moments of the model are recorded by the exact engine only; keep models, or use exact")
    if engine == "reference":
        every_step = "the reference engine always does"
    else:
        every_step = "asked for" if not collapse else collapsed.why_not(experiment, record)
    plan = None if every_step else collapsed.plan(experiment)
    if plan is None:
        every_step = every_step or "the law of a round overflows"
        run = _every_step(experiment, engine, seed, record)
    else:
        run = _collapsed(experiment, plan, seed, record)
    size = _block_size(experiment, every_step=plan is None)
    curves = _in_blocks(run, replicates, 1 if engine == "reference" else threads, size)
    return Trajectories(
        algorithm=experiment.algorithm.title,
        provenance=provenance(
            experiment,
            engine=engine,
            seed=seed,
            replicates=replicates,
            record=record,
            steps=f"every step run: {every_step}" if every_step else "rounds drawn at once, equal in law",
        ),
        **curves,
    )


def _in_blocks(run: Callable[[range], dict[str, Floats]], replicates: int, threads: int, size: int) -> dict[str, Any]:
    blocks = [range(first, min(first + size, replicates)) for first in range(0, replicates, size)]
    if threads == 1 or len(blocks) == 1:
        parts = [run(block) for block in blocks]
    else:
        with ThreadPoolExecutor(max_workers=threads) as pool:
            parts = list(pool.map(run, blocks))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _block_size(experiment: Experiment, *, every_step: bool) -> int:
    """Return the replicates of a block, a power of two that depends on the problem only."""
    problem = experiment.problem
    if every_step:
        most, fits = BLOCK, BLOCK_ENTRIES // (problem.num_clients * problem.dim)
    else:
        most, fits = collapsed.BLOCK, collapsed.BLOCK_ENTRIES // problem.dim
    return int(min(most, 2 ** (max(fits, 1).bit_length() - 1)))


def _every_step(experiment: Experiment, engine: str, seed: int, record: Record) -> Callable[[range], dict[str, Floats]]:
    make = _oracle_maker(experiment, engine, seed, record)
    return lambda block: _run_block(experiment, make(block), seed, block, record)


def _collapsed(
    experiment: Experiment, plan: collapsed.Plan, seed: int, record: Record
) -> Callable[[range], dict[str, Floats]]:
    return lambda block: collapsed.run_block(experiment, plan, seed, block, record)


def _oracle_maker(experiment: Experiment, engine: str, seed: int, record: Record) -> Callable[[range], EngineOracle]:
    problem = experiment.problem
    if engine == "reference":
        return lambda block: problem.reference_oracle(seed=seed, replicates=block)
    # Entries of messages are counted, so they have to be those of the model and not of a rotated one.
    entries = record.nonzeros or record.entropy_bin is not None
    equivariant = experiment.algorithm.rotation_equivariant and not entries
    return lambda block: problem.compiled_oracle(seed=seed, replicates=block, rotation_equivariant=equivariant)


def _run_block(
    experiment: Experiment, oracle: EngineOracle, seed: int, block: range, record: Record
) -> dict[str, Floats]:
    problem, algorithm, participation = experiment.problem, experiment.algorithm, experiment.participation
    assert experiment.start is not None  # Experiment fills it in
    start = np.tile(oracle.enter(experiment.start), (len(block), 1))
    recorder = Recorder(experiment, oracle, block, seed, record, inside=True)
    terms = Terms(experiment)
    with np.errstate(over="ignore", invalid="ignore"):
        oracle.begin_round(0)
        p = participation.objective_weights(0, problem.weights, problem.sample_counts)
        state = algorithm.init(start, oracle, p)
        recorder.start(state, p)
        for index in range(experiment.rounds):
            if index > 0:
                oracle.begin_round(index)
            work = terms.sample(index, seed=seed, replicates=block)
            try:
                outcome = algorithm.round(state, oracle, work)
            except NotApplicable:
                recorder.finish()  # a round that cannot be run may be the consequence of one that diverged
                raise
            recorder.after(outcome, work)
            state = outcome.state
    return recorder.finish()
