r"""Expectations without sampling: mean and covariance of the state, round by round.

With the affine map of a round (:mod:`fltheory.engines.affine`),

.. math:: m' = M m + b, \qquad C' = M C M^\top + B B^\top ,

and every recorded curve is a quadratic functional of :math:`(m, C)`. If participation is random, the map is
random too: where all outcomes of a round can be listed, both moments are averaged over them exactly; otherwise
participation is sampled, moments are exact given the sample, and curves are averaged over samples with the
half-width of a simultaneous confidence band.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fltheory.checks import Floats
from fltheory.engines.affine import Prober, RoundMap
from fltheory.engines.exchangeable import Asymmetric, SymmetricProber, is_exchangeable
from fltheory.engines.expected import in_problem, judge, shares_of
from fltheory.engines.symmetric import symmetric_curves
from fltheory.engines.terms import Terms
from fltheory.errors import Diverged, NotAffine, NotApplicable
from fltheory.experiment import Experiment
from fltheory.oracle import Round
from fltheory.provenance import provenance
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.quadratic.problem import Quadratic
from fltheory.recording import Record
from fltheory.trajectories import LEVEL, Trajectories, simultaneous_half_width

OUTCOMES = 256
"""Outcomes of one round that are still enumerated."""


def exact_trajectories(experiment: Experiment, *, seed: int, replicates: int, record: Record) -> Trajectories:
    """Return expected curves; see :func:`fltheory.engines.simulate.simulate`."""
    problem = experiment.problem
    if not isinstance(problem, Quadratic):
        raise NotApplicable(
            f"the exact engine needs a quadratic problem, got {type(problem).__name__}; use the monte_carlo engine"
        )
    if record.nonzeros or record.entropy_bin is not None or record.models:
        raise NotApplicable(
            "the exact engine has no samples to count non-zeros or entropy of, or to keep models of; "
            "drop these from the record, or use the monte_carlo engine"
        )
    if reason := experiment.algorithm.not_affine:
        # Declared parts are refused before probing: a kink may lie where no probe looks.
        raise NotAffine(f"{experiment.algorithm.title} has no exact moments: {reason}; use the monte_carlo engine")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            oracle = ClosedFormOracle(problem, inside=experiment.algorithm.rotation_equivariant)
            paths, enumerated = _paths(experiment, oracle, seed, replicates, record)
    except NotAffine as error:
        raise NotAffine(_named(experiment, error)) from None
    stacked = {name: np.stack([path[name] for path in paths]) for name in paths[0]}
    _require_finite(experiment, stacked["distance_sq"], seed)
    mean, spread = stacked.pop("model_mean"), stacked.pop("model_covariance")
    if record.moments:
        if not enumerated:
            raise NotApplicable(
                "moments of the model are recorded only where participation can be enumerated; "
                "use fewer clients or steps, or drop moments from the record"
            )
        stacked["model_mean"], stacked["model_covariance"] = in_problem(oracle, mean, spread)
    half = {}
    if not enumerated:
        half = {name: simultaneous_half_width(values, LEVEL) for name, values in stacked.items()}
    if record.consensus is False:
        stacked.pop("consensus_sq")
    return Trajectories(
        algorithm=experiment.algorithm.title,
        exact=True,
        half_width=half,
        provenance=provenance(
            experiment,
            engine="exact",
            seed=seed,
            replicates=0 if enumerated else replicates,
            record=record,
            participation="enumerated" if enumerated else "sampled",
        ),
        **{name: values.mean(axis=0, keepdims=True) for name, values in stacked.items()},
    )


def _paths(
    experiment: Experiment, oracle: ClosedFormOracle, seed: int, replicates: int, record: Record
) -> tuple[list[dict[str, Floats]], bool]:
    """Return curves, and whether participation was enumerated (one path) or sampled (one per replicate)."""
    propagation = Propagation(experiment, Prober(experiment.algorithm, oracle, spread=record.consensus is not False))
    try:
        laws = propagation.enumerated()
        works = [law[0][1] for law in laws]
        if all(len(law) == 1 for law in laws) and is_exchangeable(oracle, works):
            try:
                return [
                    symmetric_curves(
                        experiment, SymmetricProber(propagation.prober, spread=record.consensus is not False), works
                    )
                ], True
            except Asymmetric:
                pass
        return [propagation.run(laws)], True
    except NotEnumerable:
        return [propagation.run(propagation.sampled(seed, r)) for r in range(replicates)], False


class NotEnumerable(Exception):
    """The law of participation cannot be listed; it has to be sampled."""


Law = list[tuple[float, Round]]
"""The possible rounds at one index, with their probabilities."""


@dataclass
class _Moments:
    mean: Floats
    covariance: Floats
    memory: dict[str, Floats]


class Propagation:
    """Moments of one experiment."""

    def __init__(self, experiment: Experiment, prober: Prober) -> None:
        self._experiment = experiment
        self.prober = prober
        self._terms = Terms(experiment)
        self._maps: dict[bytes, _Prepared] = {}
        self._ahead: dict[bytes, RoundMap] = {}
        self._shares = shares_of(experiment)
        self._separable = prober.oracle.separable

    @functools.cached_property
    def _weights(self) -> Floats:
        return self.prober.model_weights()

    def enumerated(self) -> list[Law]:
        """Return all outcomes of every round; raises if they are too many."""
        try:
            return [self._terms.outcomes(index, limit=OUTCOMES) for index in range(self._experiment.rounds)]
        except NotApplicable:
            raise NotEnumerable from None

    def sampled(self, seed: int, replicate: int) -> list[Law]:
        """Return one sampled outcome per round."""
        block = range(replicate, replicate + 1)
        rounds = range(self._experiment.rounds)
        return [[(1.0, self._terms.sample(index, seed=seed, replicates=block))] for index in rounds]

    def run(self, laws: list[Law]) -> dict[str, Floats]:
        """Propagate the moments through the given rounds and return the curves."""
        experiment, oracle = self._experiment, self.prober.oracle
        assert experiment.start is not None  # Experiment fills it in
        start = oracle.enter(experiment.start)
        rounds, dim = experiment.rounds, oracle.dim
        means = np.zeros((2, rounds + 1, dim))
        spreads = np.zeros((2, rounds + 1, dim) if self._separable else (2, rounds + 1, dim, dim))
        means[:, 0] = start
        scalars = np.zeros((3, rounds + 1))
        moments: _Moments | None = None
        for index in range(rounds):
            moments, scalars[:, index + 1] = self._advance(laws, index, moments, start)
            self._look(moments, means, spreads, index + 1)
        scalars[1:] = np.cumsum(scalars[1:], axis=1)
        weights = [laws[0][0][1].p] + [law[0][1].p for law in laws]
        curves = judge(experiment, oracle, means, spreads, weights)
        curves |= {"consensus_sq": scalars[0], "uplink_bits": scalars[1], "downlink_bits": scalars[2]}
        return curves

    def _advance(self, laws: list[Law], index: int, moments: _Moments | None, start: Floats) -> tuple[_Moments, Floats]:
        law = laws[index]
        means, covariances, probabilities = [], [], []
        scalars = np.zeros(3)
        memory: dict[str, Floats] = {}
        for (probability, _), step in zip(law, self._prepared(laws, index, moments, start), strict=True):
            mean = (
                step.shift if moments is None else step.shift + np.matmul(step.matrix, moments.mean[..., None])[..., 0]
            )
            means.append(mean)
            covariances.append(step.moved(moments))
            probabilities.append(probability)
            scalars += probability * np.array([step.consensus(moments), step.uplink_bits, step.downlink_bits])
            if memory and any(not np.array_equal(memory[name], step.memory[name]) for name in memory):
                raise NotEnumerable  # later rounds would depend on who took part in this one
            memory = step.memory
        if len(law) == 1:
            return _Moments(means[0], covariances[0], memory), scalars
        chance, every = np.array(probabilities), np.stack(means)
        mean = np.einsum("o,ogn->gn", chance, every)
        away = every - mean
        covariance = np.einsum("o,ognm->gnm", chance, np.stack(covariances))
        covariance += np.einsum("o,ogn,ogm->gnm", chance, away, away)
        return _Moments(mean, covariance, memory), scalars

    def _prepared(self, laws: list[Law], index: int, moments: _Moments | None, start: Floats) -> list[_Prepared]:
        """Return the maps of all outcomes of a round; those not met before are probed together."""
        works, share = [work for _, work in laws[index]], self._shares[index]
        if moments is None:
            average = self._average_of(start, share)
            return [_Prepared.of(self.prober.first(start, work), average) for work in works]
        keys = [self._key(work, moments.memory, share) for work in works]
        new = {key: work for key, work in zip(keys, works, strict=True) if key not in self._maps}
        if new:
            if len(self._maps) + len(new) > 4 * OUTCOMES:
                self._maps.clear()
                new = dict(zip(keys, works, strict=True))
            if not new.keys() <= self._ahead.keys():
                wanted = self._foreseen(laws, index, new) if self.prober.foresees else new
                found = self.prober.later_outcomes(moments.memory, list(wanted.values()))
                self._ahead = dict(zip(wanted, found, strict=True))
            average = self._average_of(None, share)
            self._maps |= {key: _Prepared.of(self._ahead[key], average) for key in new}
        return [self._maps[key] for key in keys]

    def _key(self, work: Round, memory: dict[str, Floats], share: float) -> bytes:
        return np.float64(share).tobytes() + self.prober.key(work, memory)

    def _foreseen(self, laws: list[Law], index: int, new: dict[bytes, Round]) -> dict[bytes, Round]:
        """Return the rounds to read now: those of an index, and such as follow with the same weights."""
        wanted, first = dict(new), laws[index][0][1]
        for law, share in zip(laws[index + 1 :], self._shares[index + 1 :], strict=True):
            alike = all(np.array_equal(work.p, first.p) and np.array_equal(work.boost, first.boost) for _, work in law)
            if not alike or len(wanted) + len(law) > OUTCOMES:
                break
            later = {self._key(work, {}, share): work for _, work in law}
            wanted |= {key: work for key, work in later.items() if key not in self._maps}
        return wanted

    def _average_of(self, start: Floats | None, share: float) -> _Average | None:
        if self._experiment.averaging is None:
            return None
        size = self.prober.oracle.dim
        combine = self._weights[None] if self._separable else np.kron(self._weights, np.eye(size))
        return _Average(np.asarray(combine, dtype=np.float64), share, start)

    def _look(self, moments: _Moments, means: Floats, spreads: Floats, column: int) -> None:
        """Store mean and (co)variance of the model, and of the averaged iterate, after a round."""
        rows, dim = self.prober.layout.total, self.prober.oracle.dim
        if self._separable:
            c = self._weights
            means[0, column] = moments.mean[:, :rows] @ c
            spreads[0, column] = np.einsum("a,gab,b->g", c, moments.covariance[:, :rows, :rows], c)
            if self._experiment.averaging is not None:
                means[1, column] = moments.mean[:, rows]
                spreads[1, column] = moments.covariance[:, rows, rows]
            return
        size = rows * dim
        combine = np.kron(self._weights, np.eye(dim))
        means[0, column] = combine @ moments.mean[0, :size]
        spreads[0, column] = combine @ moments.covariance[0, :size, :size] @ combine.T
        if self._experiment.averaging is not None:
            means[1, column] = moments.mean[0, size:]
            spreads[1, column] = moments.covariance[0, size:, size:]


class _Average(NamedTuple):
    """How the averaged iterate takes in a new model: by ``share``."""

    combine: Floats
    share: float
    start: Floats | None


class _Prepared(NamedTuple):
    """A round map with what every step needs computed once, averaged iterate included."""

    matrix: Floats
    shift: Floats
    noise_covariance: Floats
    spread_matrix: Floats
    spread_shift: Floats
    spread_form: Floats
    spread_noise: float
    memory: dict[str, Floats]
    uplink_bits: float
    downlink_bits: float

    @classmethod
    def of(cls, step: RoundMap, average: _Average | None) -> _Prepared:
        matrix, shift, noise, spread = step.matrix, step.shift, step.noise, step.spread_matrix
        if average is not None:
            matrix, shift, noise, spread = _with_average(step, average)
        return cls(
            matrix=matrix,
            shift=shift,
            noise_covariance=np.matmul(noise, noise.swapaxes(1, 2)),
            spread_matrix=spread,
            spread_shift=step.spread_shift,
            spread_form=np.matmul(spread.swapaxes(1, 2), spread),
            spread_noise=float(np.sum(step.spread_noise**2)),
            memory=step.memory,
            uplink_bits=step.uplink_bits,
            downlink_bits=step.downlink_bits,
        )

    def moved(self, moments: _Moments | None) -> Floats:
        """Return the covariance after the round."""
        if moments is None:
            return self.noise_covariance
        carried = np.matmul(np.matmul(self.matrix, moments.covariance), self.matrix.swapaxes(1, 2))
        return np.asarray(carried + self.noise_covariance)

    def consensus(self, moments: _Moments | None) -> float:
        """Return the expected spread of the local models; 0 if it was not asked for."""
        if not self.spread_shift.size:
            return 0.0
        if moments is None:
            return float(np.sum(self.spread_shift**2)) + self.spread_noise
        mean = self.spread_shift + np.matmul(self.spread_matrix, moments.mean[..., None])[..., 0]
        return float(np.sum(mean**2) + np.sum(self.spread_form * moments.covariance)) + self.spread_noise


def _with_average(step: RoundMap, average: _Average) -> tuple[Floats, Floats, Floats, Floats]:
    """Append the averaged iterate to the state: ``a' = a + share (model(z') - a)``."""
    groups, size, _ = step.matrix.shape
    pick, share = average.combine, average.share
    extra = len(pick)
    matrix = np.zeros((groups, size + extra, size + extra))
    matrix[:, :size, :size] = step.matrix
    matrix[:, size:, :size] = share * np.matmul(pick, step.matrix)
    matrix[:, size:, size:] = (1.0 - share) * np.eye(extra)
    extra_shift = share * step.shift @ pick.T
    if average.start is not None:
        extra_shift = extra_shift + (1.0 - share) * average.start.reshape(groups, extra)
    shift = np.concatenate([step.shift, extra_shift], axis=1)
    noise = np.concatenate([step.noise, share * np.matmul(pick, step.noise)], axis=1)
    spread = np.concatenate([step.spread_matrix, np.zeros((*step.spread_matrix.shape[:2], extra))], axis=2)
    return matrix, shift, noise, spread


def _named(experiment: Experiment, error: NotAffine) -> str:
    title = experiment.algorithm.title
    text = str(error)
    return text if text.startswith(title) else f"{title} has no exact moments: {text}"


def _require_finite(experiment: Experiment, distance_sq: Floats, seed: int) -> None:
    finite = np.all(distance_sq < 1e200, axis=0)
    if not np.all(finite):
        column = int(np.argmin(finite))
        raise Diverged(
            algorithm=experiment.algorithm.title,
            round_index=column,
            replicate=None,
            seed=seed,
            rate=experiment.rate_at(max(column - 1, 0)),
        )
