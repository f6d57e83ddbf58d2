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

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory._internal.linear_algebra import one_thread
from fltheory.errors import NotApplicable, RateChanges
from fltheory.problems.problem import EngineOracle
from fltheory.simulation.checkpoints import BlockCheckpoint, Checkpoint
from fltheory.simulation.cost import require_memory, require_time
from fltheory.simulation.engines import collapsed
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.experiment import Experiment, require_experiment
from fltheory.simulation.provenance import provenance
from fltheory.simulation.recording import Record, Recorder
from fltheory.simulation.trajectories import Trajectories
from fltheory.simulation.under_way import Count

ENGINES = ("reference", "monte_carlo", "exact")

BLOCK = 128
"""Most replicates that are run together: enough to amortise NumPy's calls."""

BLOCK_ENTRIES = 2**18
"""Numbers that the local models of a block may have: few enough to stay in cache, and to share the work."""


@one_thread()
def simulate(
    experiment: Experiment,
    *,
    engine: str = "monte_carlo",
    seed: int = 0,
    replicates: int = 64,
    threads: int | None = None,
    record: Record | None = None,
    collapse: bool = True,
    sampled: str = "allow",
    checkpoint: Checkpoint | None = None,
) -> Trajectories:
    """Run an experiment and return its trajectories.

    Parameters
    ----------
    experiment
        What to run.
    engine
        ``monte_carlo`` (compiled), ``reference`` (NumPy) or ``exact`` (expectations without sampling; problems with a
        closed form and algorithms whose round is affine).
    seed
        Seed of noise, drifts, minibatches and participation; not of the problem instance.
    replicates
        Independent repetitions; the exact engine uses them only where participation must be sampled.
    threads
        Threads of the compiled engine; all cores if ``None``. Results do not depend on it, nor on the number of threads
        that NumPy would use: meanwhile its linear algebra has one.
    record
        What to record.
    collapse
        Let ``monte_carlo`` draw whole rounds at once where that has the same law as running every step (affine
        algorithms on quadratics with Gaussian noise). Curves that look inside rounds are then not recorded, and
        algorithms no longer share the noise of single steps; the provenance says which way was taken.
    sampled
        What the exact engine does where participation has too many outcomes to be enumerated: ``allow`` samples it and
        returns one row per replicate, exact given the sample, in a result whose ``exact`` is ``False``; ``error``
        refuses and says why.
    checkpoint
        Where to keep how far the run is; one that was ended in the middle goes on from there, with equal bits. Whole
        rounds drawn at once, and exact expectations, are begun again.

    Returns
    -------
    Trajectories
        The recorded curves, with their provenance.

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
    require_experiment("simulate", experiment)
    if not isinstance(record, Record | None):
        raise arguments.fail("simulate", "record", "an fl.Record, such as fl.Record(models=True)", record)
    if not isinstance(checkpoint, Checkpoint | None):
        raise arguments.fail("simulate", "checkpoint", "a Checkpoint of fltheory.simulation.checkpoints", checkpoint)
    engine = arguments.choice("simulate", "engine", engine, ENGINES)
    replicates = arguments.integer("simulate", "replicates", replicates, low=1)
    seed = arguments.integer("simulate", "seed", seed, low=0)
    threads = arguments.integer("simulate", "threads", threads, low=1) if threads is not None else os.cpu_count() or 1
    sampled = arguments.choice("simulate", "sampled", sampled, ("allow", "error"))
    record = Record() if record is None else record
    exact = engine == "exact"
    require_memory("simulate", experiment, replicates=1 if exact else replicates, record=record, exact=exact)
    try:
        if exact:
            from fltheory.simulation.engines.exact import exact_trajectories

            return exact_trajectories(experiment, seed=seed, replicates=replicates, record=record, sampled=sampled)
        return _simulated(experiment, engine, seed, replicates, threads, record, collapse, checkpoint)
    except RateChanges:
        raise RateChanges(experiment.algorithm.title) from None


def _simulated(
    experiment: Experiment,
    engine: str,
    seed: int,
    replicates: int,
    threads: int,
    record: Record,
    collapse: bool,
    checkpoint: Checkpoint | None,
) -> Trajectories:
    """Return sampled trajectories."""
    if record.moments:
        raise NotApplicable("moments of the model are recorded by the exact engine only; keep models, or use exact")
    every_step = _why_every_step(experiment, engine, record, collapse)
    require_time("simulate", experiment, replicates=replicates, record=record, every_step=bool(every_step))
    plan = None if every_step else collapsed.plan(experiment)
    size = _block_size(experiment, every_step=plan is None)
    count = Count(experiment.rounds * -(-replicates // size))
    if plan is None:
        every_step = every_step or "the law of a round overflows"
        run = _every_step(experiment, engine, seed, record, checkpoint, count)
    else:
        run = _collapsed(experiment, plan, seed, record, count)
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


def runs_every_step(experiment: Experiment, engine: str, record: Record, collapse: bool = True) -> bool:
    """Return whether an engine would run local steps one by one."""
    return engine != "exact" and bool(_why_every_step(experiment, engine, record, collapse))


def _why_every_step(experiment: Experiment, engine: str, record: Record, collapse: bool) -> str:
    """Return why local steps are run one by one, or an empty string if whole rounds are drawn."""
    if engine == "reference":
        return "the reference engine always does"
    return "asked for" if not collapse else collapsed.why_not(experiment, record)


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


def _every_step(
    experiment: Experiment, engine: str, seed: int, record: Record, checkpoint: Checkpoint | None, count: Count
) -> Callable[[range], dict[str, Floats]]:
    make = _oracle_maker(experiment, engine, seed, record)

    def run(block: range) -> dict[str, Floats]:
        kept = None if checkpoint is None else checkpoint.block(block)
        return _run_block(experiment, make(block), seed, block, record, kept, count)

    return run


def _collapsed(
    experiment: Experiment, plan: collapsed.Plan, seed: int, record: Record, count: Count
) -> Callable[[range], dict[str, Floats]]:
    return lambda block: collapsed.run_block(experiment, plan, seed, block, record, count)


def _oracle_maker(experiment: Experiment, engine: str, seed: int, record: Record) -> Callable[[range], EngineOracle]:
    problem = experiment.problem
    if engine == "reference":
        return lambda block: problem.reference_oracle(seed=seed, replicates=block)
    # Entries of messages are counted, so they have to be those of the model and not of a rotated one.
    entries = record.nonzeros or record.entropy_bin is not None
    equivariant = experiment.algorithm.rotation_equivariant and not entries
    return lambda block: problem.compiled_oracle(seed=seed, replicates=block, rotation_equivariant=equivariant)


def _run_block(
    experiment: Experiment,
    oracle: EngineOracle,
    seed: int,
    block: range,
    record: Record,
    checkpoint: BlockCheckpoint | None,
    count: Count,
) -> dict[str, Floats]:
    problem, algorithm, participation = experiment.problem, experiment.algorithm, experiment.participation
    assert experiment.start is not None  # Experiment fills it in
    start = np.tile(oracle.enter(experiment.start), (len(block), 1))
    recorder = Recorder(experiment, oracle, block, seed, record, inside=True)
    terms = Terms(experiment)
    with np.errstate(over="ignore", invalid="ignore"):
        oracle.begin_round(0)
        p = participation.objective_weights(0, problem.weights, problem.sample_counts)
        state, first = algorithm.init(start, oracle, p), 0
        before = None if checkpoint is None else checkpoint.recall(state)
        if before is not None and before[0] <= experiment.rounds and recorder.resume(before[2]):
            first, state, _ = before
        else:
            recorder.start(state, p)
        count(first)
        for index in range(first, experiment.rounds):
            if index > 0:
                oracle.begin_round(index)
            work = terms.sample(index, seed=seed, replicates=block)
            try:
                result = algorithm.round(state, recorder.oracle_for(work), work)
                recorder.after(state, result, work)
            except NotApplicable:
                recorder.finish()  # a round that cannot be run may be the consequence of one that diverged
                raise
            state = result.state
            if checkpoint is not None and checkpoint.due:
                checkpoint.keep(index + 1, state, recorder.notes())
            count()
    return recorder.finish()
