"""What is recorded of every round, for every engine that simulates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory import checks
from fltheory.algorithms._algorithm import Algorithm, Outcome
from fltheory.checks import Floats
from fltheory.communication import entropy_bits, message_nonzeros, total_bits
from fltheory.errors import Diverged
from fltheory.experiment import Experiment
from fltheory.oracle import Round
from fltheory.problem import EngineOracle, Objective, norm_sq

_JUDGED_AT_ONCE = 2**14
"""Numbers in the models that are kept until they are judged together: few enough to stay in cache."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What to record besides bits and what the problem measures: distance, gap and gradient norm, or loss and accuracy.

    Parameters
    ----------
    consensus
        Spread of the participants' local models: ``None`` records it where local models are seen, ``True`` insists
        (the compiled engine then runs every step), ``False`` leaves it out.
    nonzeros
        Non-zero entries sent to the server.
    entropy_bin
        Entropy of what is sent to the server, with this bin size; ``None`` for none.
    models
        The models themselves (memory grows with the number of rounds).
    moments
        Mean and covariance of the model; the exact engine only.
    """

    consensus: bool | None = None
    nonzeros: bool = False
    entropy_bin: float | None = None
    models: bool = False
    moments: bool = False

    def __post_init__(self) -> None:
        for name in ("nonzeros", "models", "moments"):
            checks.boolean("Record", name, getattr(self, name))
        if self.consensus is not None:
            checks.boolean("Record", "consensus", self.consensus)
        if self.entropy_bin is not None:
            checks.real("Record", "entropy_bin", self.entropy_bin, low=0, open_low=True)


class Recorder:
    """Curves of one block of replicates, filled round by round.

    A model is judged by the objective in force during the round that produced it; the start by that of round 0.
    ``inside`` says whether local models and messages are seen, or only models.
    """

    def __init__(
        self,
        experiment: Experiment,
        oracle: EngineOracle,
        replicates: range,
        seed: int,
        record: Record,
        *,
        inside: bool,
    ) -> None:
        self._experiment = experiment
        self._oracle = oracle
        self._replicates = replicates
        self._seed = seed
        self._record = record
        self._objectives: dict[bytes, Objective] = {}
        self._waiting: list[Floats] = []
        self._averages: list[Floats] = []
        self._average = np.zeros(0)
        self._mass = 0.0
        self._next = 0
        self._p = np.zeros(0)
        names = ["uplink_bits", "downlink_bits"]
        names += ["consensus_sq"] * (inside and record.consensus is not False) + ["nonzeros"] * record.nonzeros
        names += ["entropy"] * (record.entropy_bin is not None)
        names += ["average_gap", "average_distance_sq"] * (experiment.averaging is not None)
        self._shape = (len(replicates), experiment.rounds + 1)
        self.curves = {name: np.zeros(self._shape) for name in names}
        if record.models:
            self.curves["models"] = np.zeros((*self._shape, experiment.problem.dim))

    def start(self, state: Any, p: Floats) -> None:
        """Record the state before round 0."""
        self.start_model(self._experiment.algorithm.model(state), p)
        self._judge_personal(0, state, p)

    def start_model(self, w: Floats, p: Floats) -> None:
        """Record the model before round 0, shape ``(replicates, dim)``."""
        self._judge(0, w, p)

    def after_model(self, w: Floats, work: Round, uplink_bits: float, downlink_bits: float) -> None:
        """Record the model after a round whose messages are known by their size only."""
        column = work.index + 1
        self._judge(column, w, work.p)
        for name, bits in (("uplink_bits", uplink_bits), ("downlink_bits", downlink_bits)):
            self.curves[name][:, column] = self.curves[name][:, column - 1] + bits

    def after(self, outcome: Outcome, work: Round) -> None:
        """Record the state after a round, and what was sent in it."""
        column = work.index + 1
        self._judge(column, self._experiment.algorithm.model(outcome.state), work.p)
        self._judge_personal(column, outcome.state, work.p)
        curves, active = self.curves, work.active
        for name, messages in (("uplink_bits", outcome.uplink), ("downlink_bits", outcome.downlink)):
            curves[name][:, column] = curves[name][:, column - 1] + total_bits(messages, active)
        if "consensus_sq" in curves:
            curves["consensus_sq"][:, column] = _consensus_sq(outcome.local, work.uniform)
        if "nonzeros" in curves:
            sent = sum((message_nonzeros(message) * active).sum(axis=1) for message in outcome.uplink)
            curves["nonzeros"][:, column] = curves["nonzeros"][:, column - 1] + sent
        if self._record.entropy_bin is not None:
            ends = (len(self._replicates), active.shape[1])
            spread = [np.broadcast_to(m.values, (*ends, m.values.shape[-1])) for m in outcome.uplink]
            for r in range(len(self._replicates)):
                sent = [values[r][active[r % len(active)]].ravel() for values in spread]
                entries = np.concatenate([*sent, np.zeros(0)])
                curves["entropy"][r, column] = entropy_bits(entries, self._record.entropy_bin) if entries.size else 0.0

    def finish(self) -> dict[str, Floats]:
        """Judge what is left and return the curves."""
        self._flush()
        return self.curves

    def _judge(self, column: int, w: Floats, p: Floats) -> None:
        """Take in the model of a column; models are judged some rounds at a time, which costs fewer calls."""
        if self._waiting and (len(self._waiting) * w.size >= _JUDGED_AT_ONCE or not np.array_equal(p, self._p)):
            self._flush()
        self._p = p
        self._waiting.append(w)
        self._next = column + 1
        if self._experiment.averaging is not None:
            weight = float(self._experiment.averaging[column])
            self._mass += weight
            old = self._averages[-1] if self._averages else self._average
            self._averages.append(w if column == 0 else old + weight / self._mass * (w - old))

    def _flush(self) -> None:
        if not self._waiting:
            return
        columns = slice(self._next - len(self._waiting), self._next)
        objective = self._objectives.get(self._p.tobytes())
        if objective is None:
            objective = self._objectives.setdefault(self._p.tobytes(), self._oracle.objective(self._p))
        w = np.stack(self._waiting, axis=1)
        self._waiting.clear()
        curves = self.curves
        with np.errstate(over="ignore", invalid="ignore"):
            measures = objective.measure(w)
        self._require_finite(columns, measures[0])
        for name, values in measures._asdict().items():
            self._filled(name)[:, columns] = values
        if self._averages:
            averages = np.stack(self._averages, axis=1)
            self._average = self._averages[-1]
            self._averages.clear()
            curves["average_gap"][:, columns] = objective.gap(averages)
            curves["average_distance_sq"][:, columns] = norm_sq(averages - objective.w_star)
        if "models" in curves:
            curves["models"][:, columns] = self._oracle.leave(w)

    def _judge_personal(self, column: int, state: Any, p: Floats) -> None:
        personal = self._experiment.algorithm.personal(state)
        if personal is not None:
            for name, values in self._oracle.client_measures(personal).items():
                self._filled(name)[:, column] = values @ p

    def _filled(self, name: str) -> Floats:
        """Return a curve that the problem has given its name."""
        return self.curves.setdefault(name, np.zeros(self._shape))

    def _require_finite(self, columns: slice, first: Floats) -> None:
        """Raise if the first measure, which grows with the model, has left the range of floating-point numbers."""
        finite = first < 1e200
        if not np.all(finite):
            column = columns.start + int(np.argmin(finite.all(axis=0)))
            raise Diverged(
                algorithm=self._experiment.algorithm.title,
                round_index=column,
                replicate=self._replicates[int(np.argmin(finite[:, column - columns.start]))],
                seed=self._seed,
                rate=self._experiment.rate_at(max(column - 1, 0)),
            )


def _consensus_sq(local: Floats, uniform: Floats) -> Floats:
    mean = np.matmul(np.broadcast_to(uniform, local.shape[:2])[:, None], local)
    away = local - mean
    spread = np.einsum("rnd,rnd->rn", away, away)
    return np.asarray((spread * uniform).sum(axis=1), dtype=np.float64)


def has_personal_models(algorithm: Algorithm) -> bool:
    """Return whether the algorithm's clients have models of their own."""
    return type(algorithm).personal is not Algorithm.personal
