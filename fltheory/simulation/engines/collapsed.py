r"""Monte Carlo without local steps: one Gaussian per round, with the law that all of its steps have together.

Where a round is an affine map with Gaussian noise, :math:`z' = M z + b + B\epsilon`, the state after the round is
Gaussian given the state before it, so it can be drawn at once: :math:`z' = M z + b + R\,\epsilon'` with
:math:`R R^\top = B B^\top` and as few normals as :math:`B` has rows (FedAvg: one vector per round, instead of one
per client and step). The map is read off the algorithm's own code (:mod:`fltheory.simulation.engines.affine`).
Trajectories
have exactly the law of the full simulation; what happens inside a round is not seen.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from fltheory._internal import seeding
from fltheory._internal.arguments import Floats
from fltheory._internal.seeding import Purpose
from fltheory.problems.closed_form import HasClosedForm, closed_form_of
from fltheory.problems.oracle import Round
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.quadratic.oracle import UnitVectors, numpy_unit_vectors
from fltheory.simulation.engines.affine import Prober, RoundMap
from fltheory.simulation.engines.exchangeable import Asymmetric, ExchangeableProber, SymmetricMap, is_exchangeable
from fltheory.simulation.engines.stretches import stretches
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record, Recorder, has_personal_models
from fltheory.simulation.under_way import Count

BLOCK = 512
"""Most replicates that are drawn together; rounds are cheap here, so blocks are large."""

BLOCK_ENTRIES = 2**14
"""Numbers that the models of a block may have: larger arrays come fresh from the operating system every time."""


_WORTH_LOADING = 2**20
"""Normals above which loading the compiled generator takes less time than drawing with NumPy."""


class NextState(NamedTuple):
    """The law of the state after a round, given the state before it; all shapes end with ``dim``."""

    matrix: Floats
    shift: Floats
    root: Floats
    """``R``, shape ``(rank, rows, dim)``."""
    couplings: list[tuple[int, int]]
    """Entries of the matrix that are not zero for all coordinates."""
    uplink_bits: float
    downlink_bits: float


def why_not(experiment: Experiment, record: Record) -> str:
    """Return why rounds cannot be drawn at once, or an empty string if they can."""
    problem, participation = experiment.problem, experiment.participation
    form = problem.closed_form() if isinstance(problem, HasClosedForm) else None
    if form is None or form.is_dense:
        return "the problem is not a quadratic with a common eigenbasis"
    if not form.gaussian:
        return "the noise is not Gaussian"
    if form.multiplies:
        return "noise multiplies the state"
    if form.basis is not None and not experiment.algorithm.rotation_equivariant:
        return "the algorithm singles out coordinates of a rotated problem"
    if record.looks_inside or record.consensus or record.nonzeros or record.entropy_bin is not None:
        return "the record looks inside rounds"
    if has_personal_models(experiment.algorithm):
        return "the personal models are not seen"
    if not all(participation.is_deterministic(index) for index in _distinct_rounds(experiment)):
        return "participation is random"
    if experiment.algorithm.chances(participation.local_steps):
        return f"{experiment.algorithm.title} draws random numbers of its own"
    return experiment.algorithm.not_affine


class Plan(NamedTuple):
    """The laws of all rounds, and how the recorded model combines the rows of the state."""

    draws: list[NextState]
    weights: Floats
    works: list[Round]
    oracle: ClosedFormOracle


def plan(experiment: Experiment) -> Plan | None:
    """Return the law of every round, or ``None`` if one overflows; equal rounds share one object.

    If clients are exchangeable, the model depends on server rows and client means only, so only these are drawn.
    """
    oracle = ClosedFormOracle(closed_form_of(experiment.problem), inside=True)
    prober = Prober(experiment.algorithm, oracle, spread=False)
    terms = Terms(experiment)
    works = [terms.sample(index, seed=0, replicates=range(1)) for index in range(experiment.rounds)]
    start = oracle.enter(np.asarray(experiment.start))
    with np.errstate(over="ignore", invalid="ignore"):
        if is_exchangeable(oracle, works):
            try:
                return _planned(ExchangeableProber(prober, spread=False), start, works)
            except Asymmetric:
                pass
        return _planned(prober, start, works)


def _planned(prober: Prober | ExchangeableProber, start: Floats, works: list[Round]) -> Plan | None:
    laws: list[NextState] = []
    for stretch in stretches(prober, start, works):
        drawn = [_draw(step) for step in stretch.maps()]
        fresh = [law for law in drawn if law is not None]
        if len(fresh) < len(drawn):
            return None
        laws += fresh * (stretch.length // len(fresh))
    return Plan(laws, prober.model_weights(), works, prober.oracle)


def run_block(
    experiment: Experiment, plan: Plan, seed: int, block: range, record: Record, count: Count
) -> dict[str, Floats]:
    """Draw a block of replicates and return its curves."""
    dim = experiment.problem.dim
    normals = _generator(sum(law.root.shape[0] for law in plan.draws) * len(block) * dim)
    oracle = plan.oracle
    recorder = Recorder(experiment, oracle, block, seed, record, inside=False)
    keys = seeding.replicate_keys(seed, Purpose.COLLAPSED, block)
    rows: Floats | None = None
    start = np.tile(oracle.enter(np.asarray(experiment.start)), (len(block), 1))
    recorder.start_model(start, plan.works[0].p)
    only_first = bool(plan.weights[0] == 1.0 and not np.any(plan.weights[1:]))
    with np.errstate(over="ignore", invalid="ignore"):
        for law, work in zip(plan.draws, plan.works, strict=True):
            rank = law.root.shape[0]
            unit = normals("gaussian", seeding.split(keys, work.index), rank * dim, 0)
            # Rows are (rows, replicates, dim), so that every product runs along contiguous models.
            drawn = unit.reshape(len(block), rank, dim)
            moved = np.repeat(law.shift[:, None], len(block), axis=1)
            for source in range(rank):
                for row in range(len(moved)):
                    moved[row] += law.root[source, row] * drawn[:, source]
            if rows is not None:
                for row, column in law.couplings:
                    moved[row] += law.matrix[row, column] * rows[column]
            rows = moved
            model = rows[0] if only_first else np.tensordot(plan.weights, rows, axes=1)
            recorder.after_model(model, work, law.uplink_bits, law.downlink_bits)
            count()
    return recorder.finish()


def _generator(count: int) -> UnitVectors:
    """Return the compiled generator if so many numbers repay loading it; both give the same bits."""
    if count < _WORTH_LOADING and "numba" not in sys.modules:
        return numpy_unit_vectors
    from fltheory.quadratic.compiled import compiled_unit_vectors

    return compiled_unit_vectors


def _draw(step: RoundMap | SymmetricMap) -> NextState | None:
    if isinstance(step, RoundMap):
        matrix, shift, noise = step.matrix, step.shift, step.noise
    else:
        matrix, shift, noise = step.common, step.common_shift, step.common_noise
    covariance = np.matmul(noise, noise.swapaxes(1, 2))
    if not (np.all(np.isfinite(covariance)) and np.all(np.isfinite(matrix)) and np.all(np.isfinite(shift))):
        return None
    values, vectors = np.linalg.eigh(covariance)
    keep = (values > 1e-14 * np.maximum(values.max(axis=-1, keepdims=True), 1e-300)).any(axis=0)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])[:, :, keep]
    couplings = [(int(a), int(b)) for a, b in np.argwhere(np.abs(matrix).max(axis=0) > 0)]
    return NextState(
        matrix=np.ascontiguousarray(matrix.transpose(1, 2, 0)),
        shift=np.ascontiguousarray(shift.T),
        root=np.ascontiguousarray(root.transpose(2, 1, 0)),
        couplings=couplings,
        uplink_bits=step.uplink_bits,
        downlink_bits=step.downlink_bits,
    )


def _distinct_rounds(experiment: Experiment) -> range:
    return range(1) if experiment.participation.is_stationary else range(experiment.rounds)
