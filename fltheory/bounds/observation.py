"""How a statement about runs is read on an experiment of the user's own.

A claim whose check makes its own instances knows every constant of them. Here the direction is the other way round: the
experiment is given, and its constants have to be found. :class:`Facts` looks for each of them, in this order, and keeps
where it came from:

1. what the user has declared (``given``);
2. what the problem computes (:meth:`~fltheory.problems.problem.Problem.constants`);
3. what follows from participation and algorithm;
4. what can be measured along the run, or at its models where the problem offers gradients only.

What is not found is asked for by name, everything at once. An :class:`Observation` says, for a claim, which quantities
its symbols are on an experiment, which learning rate it prescribes, and what has to be recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm
from fltheory.errors import InvalidParameter, MissingConstants, NotApplicable
from fltheory.participation import Participation
from fltheory.problems.measuring import measure
from fltheory.problems.problem import Constant, Origin, Problem, constants_on_ball, norm_sq
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.schedules import Schedule
from fltheory.simulation.trajectories import Band, Trajectories, simultaneous_half_width

FROM_PROBLEM = {
    "mu": ("mu", "strong convexity of every client's objective"),
    "L": ("L", "smoothness of every client's objective"),
    "sigma_sq": ("sigma_sq", "variance of each client's stochastic gradient"),
    "Gamma": ("gamma", "gap of each client at the global minimiser, F_k(w*) - F_k*"),
    "w_star": ("w_star", "minimiser of the global objective"),
    "f_star": ("f_star", "minimum of the global objective"),
    "client_drift_sq": ("client_drift_sq", "weighted mean of the clients' squared drifts, ||grad f_i(w*)||^2"),
    "fresh_drift_sq": ("fresh_drift_sq", "mean square of the drift of clients that are new in every round"),
    "round_drift_sq": ("round_drift_sq", "mean square of the drift from round to round"),
    "client_growth_sq": ("client_growth_sq", "growth of the client drift with the gradient, squared"),
    "round_growth_sq": ("round_growth_sq", "growth of the round drift with the gradient, squared"),
}
"""Constants that a problem may know: by name, their key in its constants and what they are."""

LEVEL = 0.99
"""Simultaneous level of bands."""

MEASURABLE = ("mu", "L", "sigma_sq")


class NoRun(NotApplicable):
    """Something was asked for that is known only after the run."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition of a statement on an experiment.

    Parameters
    ----------
    name, met
        A few words, and whether it is met.
    value
        Its sides, or what is asked for against what there is.
    origin
        Whether what it rests on is computed, declared or measured along the run.
    """

    name: str
    met: bool
    value: str
    origin: Origin = Origin.COMPUTED

    def __str__(self) -> str:
        return f"{'met' if self.met else 'NOT MET'}: {self.name} ({self.value}; {self.origin.value})"


class Facts:
    """What is known about an experiment and its run, each constant with its origin.

    Parameters
    ----------
    problem, algorithm, participation
        What is run.
    experiment, run
        The experiment with its learning rate, and what came out; ``None`` while a learning rate is looked for.
    rounds
        Number of rounds, where there is no experiment yet.
    radius
        Take constants that hold for all models at most this far from the minimiser, where the problem knows them.
    given
        Constants that the user declares, by name.
    """

    def __init__(
        self,
        *,
        problem: Problem,
        algorithm: Algorithm,
        participation: Participation,
        experiment: Experiment | None = None,
        run: Trajectories | None = None,
        rounds: int | None = None,
        radius: float | None = None,
        given: Mapping[str, Any] | None = None,
    ) -> None:
        self.problem = problem
        self.algorithm = algorithm
        self.participation = participation
        self._experiment = experiment
        self._run = run
        self._rounds = rounds if experiment is None else experiment.rounds
        self.given = dict(given or {})
        self.radius = radius
        self._ball = {} if radius is None else constants_on_ball(problem, radius)
        self.found: dict[str, Constant] = {}
        self.used: set[str] = set()
        self._measured: Mapping[str, Constant] | None = None
        self._known: Mapping[str, Constant] | None = None

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        run: Trajectories,
        *,
        given: Mapping[str, Any] | None = None,
        radius: float | None = None,
    ) -> Facts:
        """Return the facts of an experiment that has been run."""
        return cls(
            problem=experiment.problem,
            algorithm=experiment.algorithm,
            participation=experiment.participation,
            experiment=experiment,
            run=run,
            radius=radius,
            given=given,
        )

    @property
    def experiment(self) -> Experiment:
        """The experiment; only where there is one."""
        if self._experiment is None:
            raise NotApplicable("this quantity belongs to a run, and none was given")
        return self._experiment

    @property
    def run(self) -> Trajectories:
        """The run; only where there is one."""
        if self._run is None:
            raise NoRun("this quantity belongs to a run, and none was given")
        return self._run

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        if self._rounds is None:
            raise InvalidParameter("this learning rate has one value per round; pass rounds=...")
        return self._rounds

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        return self.problem.num_clients

    @property
    def local_steps(self) -> int:
        """Local steps that are assigned per round."""
        return self.participation.local_steps

    def completes_all_steps(self) -> bool:
        """Return whether every client that takes part completes all local steps, in every round."""
        rounds = 1 if self.participation.is_stationary else self.rounds
        return all(float(self.participation.step_pmf(index)[:, -1].min()) == 1.0 for index in range(rounds))

    def everybody_completes(self) -> bool:
        """Return whether all clients take part in every round, and complete all local steps."""
        same = self.participation.is_stationary and self.participation.is_deterministic(0)
        return same and self.completes_all_steps()

    def keep(self, name: str, value: Any, origin: Origin, note: str = "") -> Any:
        """Remember a constant that a statement derives itself, and return it.

        A value that the user has declared takes its place.

        Parameters
        ----------
        name
            Name of the constant, as in the comparison and for declarations.
        value
            Its value.
        origin
            Whether it was computed, declared or measured.
        note
            What it is, in a few words.
        """
        if name in self.given:
            value, origin, note = self._declared(name), Origin.DECLARED, "declared by the user"
        self.found[name] = Constant(value, origin, note)
        return value

    def require(self, *names: str) -> dict[str, Any]:
        """Return constants by name, or raise an error that names all those that are missing.

        Parameters
        ----------
        *names
            Names of :data:`FROM_PROBLEM`, such as ``mu`` and ``L``.
        """
        missing: dict[str, str] = {}
        values: dict[str, Any] = {}
        for name in names:
            try:
                values[name] = self._look_up(name)
            except NotApplicable:
                missing[name] = FROM_PROBLEM[name][1]
        if missing:
            raise MissingConstants(missing, where=type(self.problem).__name__)
        return values

    def _of_problem(self) -> Mapping[str, Constant]:
        if self._known is None:
            self._known = self.problem.constants()
        return self._known

    def _declared(self, name: str) -> Any:
        self.used.add(name)
        return self.given[name]

    def _look_up(self, name: str) -> Any:
        if name in self.found:
            return self.found[name].value
        key = FROM_PROBLEM[name][0]
        if name in self.given:
            self.found[name] = Constant(self._declared(name), Origin.DECLARED, "declared by the user")
        elif name in self._ball:
            self.found[name] = self._ball[name]
        elif key in (known := self._of_problem()):
            self.found[name] = known[key]
        elif name in MEASURABLE:
            self.found[name] = self._measure()[name]
        else:
            raise NotApplicable(f"{name} is not known")
        return self.found[name].value

    def _measure(self) -> Mapping[str, Constant]:
        if self._measured is None:
            start = self.problem.start if self._experiment is None else self._experiment.start
            models = [np.asarray(start)[None]]
            if self._run is not None and self._run.models is not None:
                models.append(self._run.models[0, [self._run.rounds // 2, -1]])
            self._measured = measure(self.problem, np.concatenate(models))
        return self._measured

    def curve(self, name: str, first: int = 0, last: int | None = None) -> Floats | Band:
        """Return the expected curve of the run, with its band where it was sampled.

        Parameters
        ----------
        name
            Name of the curve, such as ``gap``.
        first, last
            First round, and the one after the last round; all rounds by default.
        """
        cut = slice(first, last)
        if getattr(self.run, name) is not None:
            band = self.run.band(name, level=LEVEL)
        else:
            values = self._from_declared(name)
            half = simultaneous_half_width(values, LEVEL) if len(values) > 1 else np.zeros(values.shape[1])
            mean = values.mean(axis=0)
            band = Band(mean, mean - half, mean + half, LEVEL)
        if np.array_equal(band.low, band.high):
            return band.mean[cut]
        return Band(band.mean[cut], band.low[cut], band.high[cut], band.level)

    def _from_declared(self, name: str) -> Floats:
        """Return a curve that needs a minimiser or a minimum, where only the user knows it: networks.

        Shape ``(replicates, rounds + 1)``.
        """
        key = {"distance_sq": "w_star", "gap": "f_star"}.get(name)
        if key is None:
            return self.run.curve(name)  # raises, and says why it is not there
        if key not in self.given:
            meaning = f"{FROM_PROBLEM[key][1]}, or the best one that is known"
            raise MissingConstants({key: meaning}, where=type(self.problem).__name__)
        known = np.asarray(self._look_up(key), dtype=float)
        if name == "gap":
            return np.asarray(self.run.curve("loss") - known)
        return norm_sq(self.run.curve("models") - known)

    def at_start(self, name: str) -> float:
        """Return the first value of a curve; the start is not random.

        Parameters
        ----------
        name
            Name of the curve, such as ``distance_sq``.
        """
        values = self.run.curve(name) if getattr(self.run, name) is not None else self._from_declared(name)
        return float(values[:, 0].mean())

    def gradient_sq(self) -> Floats:
        """Return the largest expected squared norm of a stochastic gradient in every round, shape ``(rounds,)``.

        The run records 0 for a client that does not take a step; the expectation that theorems bound is that of a
        gradient that is taken, so what is recorded is divided by the chance that the step is taken.
        """
        recorded = self.run.curve("gradient_sq").mean(axis=0)[1:]
        largest = np.zeros(len(recorded))
        known: dict[bytes, Floats] = {}
        for index, values in enumerate(recorded):
            key = self.participation.law_key(index)
            if key not in known:
                known[key] = self._chance_of_steps(index)
            chance = known[key]
            largest[index] = np.where(chance > 0, values / np.where(chance > 0, chance, 1.0), 0.0).max()
        return largest

    def gradient_bound(self) -> float | None:
        """Return a bound on the expected squared gradients of all models in the ball, if there is one."""
        return float(self._ball["G_sq"].value) if "G_sq" in self._ball else None

    def inside_ball(self) -> Sequence[Requirement]:
        """Return whether the run stayed in the ball in which its constants hold; models that were recorded only."""
        if self.radius is None:
            return ()
        largest = float(np.sqrt(self.run.curve("distance_sq").max()))
        words = f"models stay within {self.radius:g} of the minimiser"
        return (Requirement(words, largest <= self.radius, f"largest distance recorded {largest:g}", Origin.MEASURED),)

    def _chance_of_steps(self, index: int) -> Floats:
        """Return every client's chance to take each local step of a round, shape ``(clients, local_steps)``."""
        members = self.participation.members(index)
        p = self.participation.objective_weights(index, self.problem.weights, self.problem.sample_counts)
        asked = self.participation.selection.inclusion(p, members)
        more = 1.0 - np.cumsum(self.participation.step_pmf(index), axis=1)[:, :-1]
        if asked is not None:
            return np.asarray(asked[:, None] * np.maximum(more, 0.0), dtype=np.float64)
        law = self.participation.outcomes(index, p)
        taken = law.steps[:, :, None] > np.arange(self.local_steps)
        return np.asarray(np.einsum("o,oks->ks", law.probability, taken), dtype=np.float64)


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """How the symbols of a statement are found on an experiment of the user's own.

    Parameters
    ----------
    quantities
        Values of all symbols that the statement and its assumptions need, by symbol or by name; curves have one entry
        per round, those of a sampled run a :class:`~fltheory.simulation.trajectories.Band`.
    about
        Which algorithms and settings the statement is about, in words; raises
        :class:`~fltheory.errors.NotApplicable` for others.
    rate
        The learning rate that the statement prescribes; ``None`` if it holds for any that meets its assumptions.
    axis
        Symbol that counts the rounds.
    record
        What has to be recorded: options of :class:`~fltheory.simulation.recording.Record`.
    algorithm
        The algorithm to take where none is given and a learning rate is asked for.
    conditions
        Conditions that are no relation between symbols: what the algorithm, the noise or the participation has to be.
    exceeds
        ``gap`` or ``distance_sq`` if the left side is at least that of a model which the run yields, such as an average
        of its iterates, so that the bound is one on the gap of that model as well. Not needed where the left side is
        one of these curves of the run itself.
    """

    quantities: Callable[[Facts], Mapping[Any, Any]]
    about: Callable[[Facts], str]
    rate: Callable[[Facts], Schedule] | None = None
    axis: Any = None
    record: Mapping[str, bool] = field(default_factory=dict)
    algorithm: Callable[[], Algorithm] | None = None
    conditions: Callable[[Facts], Sequence[Requirement]] = lambda facts: ()
    exceeds: str = ""

    def __post_init__(self) -> None:
        arguments.choice("Observation", "exceeds", self.exceeds, ("", "gap", "distance_sq"))
