r"""Monte Carlo without local steps: one Gaussian per round, with the law that all of its steps have together.

Where a round is an affine map with Gaussian noise, :math:`z' = M z + b + B\epsilon`, the state after the round is
Gaussian given the state before it, so it can be drawn at once: :math:`z' = M z + b + R\,\epsilon'` with
:math:`R R^\top = B B^\top` and as few normals as :math:`B` has rows (FedAvg: one vector per round, instead of one
per client and step). The map is read off the algorithm's own code (:mod:`fltheory.engines.affine`). Trajectories
have exactly the law of the full simulation; what happens inside a round is not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fltheory import seeding
from fltheory.checks import Floats
from fltheory.engines.affine import Prober, RoundMap
from fltheory.engines.terms import Terms
from fltheory.errors import NotApplicable
from fltheory.experiment import Experiment
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.quadratic.problem import Quadratic
from fltheory.recording import Record, Recorder, has_personal_models
from fltheory.seeding import Purpose


class Draw(NamedTuple):
    """The law of the state after a round, given the state before it; all shapes start with ``dim``."""

    matrix: Floats
    shift: Floats
    root: Floats
    """``R``, shape ``(dim, rows, rank)``."""
    uplink_bits: float
    downlink_bits: float


def why_not(experiment: Experiment, record: Record) -> str:
    """Return why rounds cannot be drawn at once, or an empty string if they can."""
    problem, participation = experiment.problem, experiment.participation
    if not isinstance(problem, Quadratic) or problem.is_dense:
        return "the problem is not a quadratic with a common eigenbasis"
    if problem.noise_law != "gaussian":
        return "the noise is not Gaussian"
    if problem.hessian_noise > 0 or problem.round_growth > 0:
        return "noise multiplies the state"
    if problem.basis is not None and not experiment.algorithm.rotation_equivariant:
        return "the algorithm singles out coordinates of a rotated problem"
    if record.consensus or record.nonzeros or record.entropy_bin is not None:
        return "the record looks inside rounds"
    if has_personal_models(experiment.algorithm):
        return "the personal models are not seen"
    if not all(participation.is_deterministic(index) for index in _distinct_rounds(experiment)):
        return "participation is random"
    return experiment.algorithm.not_affine


def draws(experiment: Experiment) -> list[Draw]:
    """Return the law of every round; equal rounds share one object."""
    problem, algorithm = experiment.problem, experiment.algorithm
    if not isinstance(problem, Quadratic):
        raise NotApplicable("rounds can be drawn at once on quadratics only")
    oracle = ClosedFormOracle(problem, inside=True)
    prober = Prober(algorithm, oracle, spread=False)
    terms = Terms(experiment)
    start = oracle.enter(np.asarray(experiment.start))
    laws: list[Draw] = []
    known: dict[bytes, tuple[Draw, dict[str, Floats]]] = {}
    memory: dict[str, Floats] = {}
    for index in range(experiment.rounds):
        work = terms.sample(index, seed=0, replicates=range(1))
        if index == 0:
            step = prober.first(start, work)
            laws.append(_draw(step))
            memory = step.memory
            continue
        key = prober.key(work, memory)
        if key not in known:
            step = prober.later(memory, work)
            known[key] = (_draw(step), step.memory)
        law, memory = known[key]
        laws.append(law)
    return laws


def run_block(experiment: Experiment, laws: list[Draw], seed: int, block: range, record: Record) -> dict[str, Floats]:
    """Draw a block of replicates and return its curves."""
    from fltheory.quadratic.compiled import compiled_unit_vectors

    problem, algorithm = experiment.problem, experiment.algorithm
    assert isinstance(problem, Quadratic)  # draws() was made from it
    oracle = ClosedFormOracle(problem, inside=True)
    oracle.arm(1, None, {})
    recorder = Recorder(experiment, oracle, block, seed, record, inside=False)
    terms = Terms(experiment)
    keys = seeding.replicate_keys(seed, Purpose.COLLAPSED, block)
    dim = problem.dim
    rows: Floats | None = None
    start = np.tile(oracle.enter(np.asarray(experiment.start)), (len(block), 1))
    recorder.start_model(start, terms.sample(0, seed=seed, replicates=block).p)
    weights = Prober(algorithm, oracle, spread=False).model_weights()
    with np.errstate(over="ignore", invalid="ignore"):
        for index, law in enumerate(laws):
            rank = law.root.shape[2]
            unit = compiled_unit_vectors("gaussian", seeding.split(keys, index), rank * dim, 0)
            noise = np.matmul(law.root, unit.reshape(len(block), rank, dim).transpose(2, 1, 0))
            moved = law.shift[:, :, None] + noise
            if rows is not None:
                moved += np.matmul(law.matrix, rows)
            rows = moved
            work = terms.sample(index, seed=seed, replicates=block)
            model = np.ascontiguousarray(np.einsum("a,gar->rg", weights, rows))
            recorder.after_model(model, work, law.uplink_bits, law.downlink_bits)
    return recorder.curves


def _draw(step: RoundMap) -> Draw:
    covariance = np.matmul(step.noise, step.noise.swapaxes(1, 2))
    values, vectors = np.linalg.eigh(covariance)
    scale = values.max(axis=-1, keepdims=True)
    keep = (values > 1e-14 * np.maximum(scale, 1e-300)).any(axis=0)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return Draw(step.matrix, step.shift, np.ascontiguousarray(root[:, :, keep]), step.uplink_bits, step.downlink_bits)


def _distinct_rounds(experiment: Experiment) -> range:
    return range(1) if experiment.participation.is_stationary else range(experiment.rounds)
