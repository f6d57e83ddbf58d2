"""What is recorded of every round, for every engine that simulates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.communication.messages import entropy_bits, message_nonzeros, sent, total_bits
from fltheory.errors import Diverged
from fltheory.problems.oracle import Oracle, Round
from fltheory.problems.problem import EngineOracle, Objective, norm_sq
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.watching import WatchedOracle

_MEASURED_AT_ONCE = 2**14
"""Numbers in the models that are kept until they are measured together: few enough to stay in cache."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    r"""What to record besides bits and what the problem measures.

    Those are distance, gap and gradient norm of the model, or loss and accuracy where no minimiser is known.

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
    gradient_sq
        Squared norms of the stochastic gradients of every client in every local step, as the curve ``gradient_sq``. The
        largest of their means over replicates is the :math:`G^2` of theorems that assume
        :math:`\mathbb E\|g_{t,k}^i\|^2 \le G^2`.
    local_models
        The clients' models at the end of every round, as the curve ``local_models``.
    mean_iterate
        The mean iterate after every local step, and how good it is: the curves ``mean_iterate``, ``mean_iterate_gap``
        and ``mean_iterate_distance_sq``, or ``mean_iterate_loss`` where no minimiser is known.

    Notes
    -----
    The last three look inside rounds: the compiled engine then runs every step, one at a time. The models are the same
    as without them. The exact engine records expectations. Shapes are those in
    :class:`~fltheory.simulation.trajectories.Trajectories`; memory grows with rounds, clients and steps.
    """

    consensus: bool | None = None
    nonzeros: bool = False
    entropy_bin: float | None = None
    models: bool = False
    moments: bool = False
    gradient_sq: bool = False
    local_models: bool = False
    mean_iterate: bool = False

    def __post_init__(self) -> None:
        for name in ("nonzeros", "models", "moments", "gradient_sq", "local_models", "mean_iterate"):
            arguments.boolean("Record", name, getattr(self, name))
        if self.consensus is not None:
            arguments.boolean("Record", "consensus", self.consensus)
        if self.entropy_bin is not None:
            arguments.real("Record", "entropy_bin", self.entropy_bin, low=0, open_low=True)

    @property
    def looks_inside(self) -> bool:
        """Whether something that happens inside rounds is recorded."""
        return self.watches or self.local_models

    @property
    def watches(self) -> bool:
        """Whether single local steps have to be seen."""
        return self.gradient_sq or self.mean_iterate

    def numbers(self, *, clients: int, dim: int, local_steps: int) -> int:
        """Return how many numbers the largest curve has per replicate and round."""
        sizes = [1, dim * (self.models or self.mean_iterate), clients * local_steps * self.gradient_sq]
        sizes += [clients * dim * self.local_models, local_steps * dim * self.mean_iterate]
        return max(sizes)


class Recorder:
    """Curves of one block of replicates, filled round by round.

    A model is measured by the objective in force during the round that produced it; the start by that of round 0.
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
        dim, clients = experiment.problem.dim, experiment.problem.num_clients
        local_steps = experiment.participation.local_steps
        if record.models:
            self.curves["models"] = np.zeros((*self._shape, dim))
        if record.gradient_sq:
            self.curves["gradient_sq"] = np.zeros((*self._shape, clients, local_steps))
        if record.local_models:
            self.curves["local_models"] = np.zeros((*self._shape, clients, dim))
        if record.mean_iterate:
            self.curves["mean_iterate"] = np.zeros((*self._shape, local_steps, dim))
        self._watched = None
        if record.watches:
            self._watched = WatchedOracle(
                oracle, experiment.algorithm.title, gradients=norm_sq if record.gradient_sq else None
            )

    def start(self, state: Any, p: Floats) -> None:
        """Record the state before round 0."""
        w = self._experiment.algorithm.model(state)
        self.start_model(w, p)
        self._measure_personal(0, state, p)
        if self._record.local_models:
            self.curves["local_models"][:, 0] = self._oracle.leave(w)[:, None]
        if self._record.mean_iterate:
            self._measure_means(0, np.repeat(w[:, None], self._experiment.participation.local_steps, axis=1), p)

    def oracle_for(self, work: Round) -> Oracle:
        """Return what the algorithm is to work with in a round: the oracle itself, or one that takes notes."""
        if self._watched is None:
            return self._oracle
        self._watched.begin(work)
        return self._watched

    def start_model(self, w: Floats, p: Floats) -> None:
        """Record the model before round 0, shape ``(replicates, dim)``."""
        self._measure(0, w, p)

    def after_model(self, w: Floats, work: Round, uplink_bits: float, downlink_bits: float) -> None:
        """Record the model after a round whose messages are known by their size only."""
        column = work.index + 1
        self._measure(column, w, work.p)
        for name, bits in (("uplink_bits", uplink_bits), ("downlink_bits", downlink_bits)):
            self.curves[name][:, column] = self.curves[name][:, column - 1] + bits

    def after(self, before: Any, result: RoundResult, work: Round) -> None:
        """Record the state after a round, and what was sent in it."""
        column = work.index + 1
        self._look_inside(column, before, result, work)
        self._measure(column, self._experiment.algorithm.model(result.state), work.p)
        self._measure_personal(column, result.state, work.p)
        curves, active = self.curves, work.active
        for name, messages in (("uplink_bits", result.uplink), ("downlink_bits", result.downlink)):
            curves[name][:, column] = curves[name][:, column - 1] + total_bits(messages, active)
        if "consensus_sq" in curves:
            curves["consensus_sq"][:, column] = _consensus_sq(result.local, work.uniform)
        if "nonzeros" in curves:
            total = sum((message_nonzeros(message) * sent(message, active)).sum(axis=1) for message in result.uplink)
            curves["nonzeros"][:, column] = curves["nonzeros"][:, column - 1] + total
        if self._record.entropy_bin is not None:
            ends = (len(self._replicates), active.shape[1])
            spread = [
                (np.broadcast_to(m.values, (*ends, m.values.shape[-1])), np.broadcast_to(sent(m, active) > 0, ends))
                for m in result.uplink
            ]
            for r in range(len(self._replicates)):
                entries = np.concatenate([*(values[r][here[r]].ravel() for values, here in spread), np.zeros(0)])
                curves["entropy"][r, column] = entropy_bits(entries, self._record.entropy_bin) if entries.size else 0.0

    def _look_inside(self, column: int, before: Any, result: RoundResult, work: Round) -> None:
        """Record what local steps did in a round that began with the state ``before``."""
        if self._record.local_models:
            self.curves["local_models"][:, column] = self._oracle.leave(result.local)
        if self._watched is None:
            return
        if self._record.gradient_sq:
            self._watched.require_gradients()
            largest = self.curves["gradient_sq"][:, column]
            for step, norms in self._watched.gradients:
                np.maximum(largest[:, :, step], norms, out=largest[:, :, step])
        if self._record.mean_iterate:
            means = self._watched.mean_iterates(self._experiment.algorithm.model(before))
            self._measure_means(column, means, work.p)

    def _measure_means(self, column: int, means: Floats, p: Floats) -> None:
        """Record mean iterates, shape ``(replicates, local_steps, dim)``."""
        self.curves["mean_iterate"][:, column] = self._oracle.leave(means)
        with np.errstate(over="ignore", invalid="ignore"):
            measures = self._objective(p).measure(means)._asdict()
        for name in ("gap", "distance_sq", "loss"):
            if name in measures:
                curve = self.curves.setdefault(f"mean_iterate_{name}", np.zeros((*self._shape, means.shape[1])))
                curve[:, column] = measures[name]

    def _objective(self, p: Floats) -> Objective:
        key = p.tobytes()
        if key not in self._objectives:
            self._objectives[key] = self._oracle.objective(p)
        return self._objectives[key]

    def finish(self) -> dict[str, Floats]:
        """Measure what is left and return the curves."""
        self._flush()
        return self.curves

    def notes(self) -> dict[str, Floats]:
        """Return everything that was recorded so far, as arrays that :meth:`resume` takes."""
        own = {"average": self._average, "mass": np.array(self._mass), "next": np.array(self._next), "p": self._p}
        own |= {"waiting": np.array(self._waiting), "averages": np.array(self._averages)}
        return {f"own {name}": value for name, value in own.items()} | self.curves

    def resume(self, notes: Mapping[str, Floats]) -> bool:
        """Go on where another recorder of the same run was; return whether its notes are whole."""
        own = {name[4:]: value for name, value in notes.items() if name.startswith("own ")}
        curves = {name: value for name, value in notes.items() if not name.startswith("own ")}
        if not self._fit(own) or not curves.keys() >= self.curves.keys():
            return False
        if any(curve.shape[:2] != self._shape for curve in curves.values()):
            return False
        if any(curves[name].shape != curve.shape for name, curve in self.curves.items()):
            return False
        self.curves = curves
        self._waiting, self._averages = list(own["waiting"]), list(own["averages"])
        self._average, self._p = own["average"], own["p"]
        self._mass, self._next = float(own["mass"]), int(own["next"])
        return True

    def _fit(self, own: Mapping[str, Floats]) -> bool:
        """Return whether notes that may come from anywhere have the shapes of those of this recorder."""
        if not own.keys() >= {"average", "mass", "next", "p", "waiting", "averages"}:
            return False
        replicates, columns = self._shape
        problem = self._experiment.problem
        model = (replicates, problem.dim)
        waiting, averages = own["waiting"], own["averages"]
        averaged = (0,) if self._experiment.averaging is None else model
        return bool(
            own["mass"].shape == own["next"].shape == ()
            and all(
                several.ndim and (len(several) == 0 or several.shape[1:] == model) for several in (waiting, averages)
            )
            and len(averages) == (0 if self._experiment.averaging is None else len(waiting))
            and (own["average"].shape == averaged or (own["average"].shape == (0,) and len(waiting) == own["next"]))
            and own["p"].shape == (problem.num_clients,)
            and len(waiting) <= own["next"] <= columns
        )

    def _measure(self, column: int, w: Floats, p: Floats) -> None:
        """Take in the model of a column; models are measured some rounds at a time, which costs fewer calls."""
        if self._waiting and (len(self._waiting) * w.size >= _MEASURED_AT_ONCE or not np.array_equal(p, self._p)):
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
        objective = self._objective(self._p)
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

    def _measure_personal(self, column: int, state: Any, p: Floats) -> None:
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
