"""Choosing step sizes: the largest stable rate, the best ones, those of the theorems, and what each of them costs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fltheory._internal import arguments
from fltheory.algorithms.base import Algorithm
from fltheory.bounds.catalogue import Folders, folders, index
from fltheory.errors import Diverged, FltheoryError, NotApplicable
from fltheory.jobs.progress import Progress, Silent
from fltheory.jobs.step_sizes import StepSize, StepSizes, ends, first_below
from fltheory.participation import Participation
from fltheory.problems.problem import LossMeasures, Problem
from fltheory.quadratic.local_model import LocalModel, local_model
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment, require_parts
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Constant, Schedule, as_rate
from fltheory.simulation.stability import StabilityLimit, largest_stable_rate
from fltheory.simulation.trajectories import Trajectories
from fltheory.simulation.tuning import Tuned, tune_rate
from fltheory.theory.prescribed import PrescribedRate, prescribed_rates
from fltheory.theory.theorem import theorem

SERVER_FACTORS = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
"""Server rates that are tried, as multiples of the algorithm's own."""

ACCURACY = 0.01
"""Accuracy if none is given, as a share of the gap at the start."""

PATIENCE = 10
"""How many horizons an exact run may take to reach the accuracy."""

_BELOW, _ABOVE = 1e-4, 2.0
"""Interval of rates in which the best one is looked for, as multiples of the largest stable rate: a horizon may end
before an unstable rate shows."""

_WITHOUT_LIMIT = (1e-4, 10.0)
"""The same interval where no rate is unstable, or no limit is known."""

FEWEST_PER_DECADE = 10
"""Rates per decade of which the one that reaches the accuracy first is chosen."""

PARTS = 4
"""Parts of the work that progress is told of."""


def step_sizes(
    problem: Problem,
    algorithm: Algorithm,
    participation: Participation,
    *,
    rounds: int,
    rate: Schedule | float | None = None,
    accuracy: float | None = None,
    longest: int | None = None,
    server_rates: Sequence[float] | None = None,
    label: str | None = None,
    radius: float | None = None,
    claims: Folders = (),
    seed: int = 0,
    replicates: int = 64,
    progress: Progress | None = None,
    stand_in: LocalModel | None = None,
    **constants: Any,
) -> StepSizes:
    """Return candidate step sizes of an algorithm on a problem, and what each of them costs.

    Candidates are the largest stable rate and half of it, the constant rate with the smallest expected gap after
    ``rounds`` rounds, the one that reaches the accuracy first, the best one together with the server rate, and every
    rate that a theorem of the catalogue prescribes, with the assumptions of the theorem that
    are not met. Expected gaps are exact wherever the exact engine applies,
    otherwise they are simulated. A problem without a known minimum, such as a network, is replaced by a local quadratic
    model (:func:`~fltheory.quadratic.local_model.local_model`), and the result says so.

    Parameters
    ----------
    problem, algorithm, participation
        What is run.
    rounds
        The horizon.
    rate
        A rate of your own, to compare.
    accuracy
        Gap that is to be reached; a hundredth of the gap at the start if not given.
    longest
        Rounds after which the accuracy counts as not reached; ten horizons where runs are exact, otherwise one.
    server_rates
        Server rates to try, for algorithms that have one; multiples of the algorithm's own if not given.
    label
        Name in table and figure; the algorithm's own if not given.
    radius, claims, constants
        For the theorems, see :meth:`~fltheory.theory.theorem.Theorem.rate_for`.
    seed, replicates
        Of runs that are simulated, and of what is measured.
    progress
        Is called with the progress.
    stand_in
        The local model of a problem without a known minimum, if it is known already, such as that of an earlier
        result; measured at the problem's start if not given.

    Examples
    --------
    >>> import fltheory as fl
    >>> problem = fl.noisy_quadratic(dim=3, num_clients=2, mu=1.0, L=4.0)
    >>> found = step_sizes(problem, fl.FedAvg(), fl.Participation(num_clients=2, local_steps=2), rounds=20)
    >>> round(found.limit.rate, 4), found.method
    (0.5, 'exact')
    """
    owner = "step_sizes"
    require_parts(owner, problem, algorithm, participation)
    rounds = arguments.integer(owner, "rounds", rounds, low=1)
    if longest is not None:
        longest = arguments.integer(owner, "longest", longest, low=rounds)
    if accuracy is not None:
        accuracy = arguments.real(owner, "accuracy", accuracy, low=0, open_low=True)
    own_rate = None if rate is None else as_rate(rate)
    servers = _servers(algorithm, server_rates)
    arguments.integer("simulate", "replicates", replicates, low=1)
    arguments.integer("simulate", "seed", seed, low=0)
    index(folders(claims))
    told = progress or Silent()
    told.expect(PARTS)
    title = label or algorithm.title
    told.begin(f"{title}: measuring")
    model = _stand_in(problem, seed) if stand_in is None else stand_in
    base = Experiment(
        problem=problem if model is None else model.problem,
        algorithm=algorithm,
        participation=participation,
        rounds=rounds,
        rate=1.0 if own_rate is None else own_rate,
    )
    bench = _Bench(base, accuracy=accuracy, longest=longest, seed=seed, replicates=replicates)
    told.end(bench.engine)
    told.begin(f"{title}: largest stable rate")
    notes: list[str] = []
    limit = _limit(base, seed, notes)
    found: list[StepSize] = []
    if limit is not None and math.isfinite(limit.rate):
        found.append(bench.measured("stability limit", "limit", base, Constant(value=limit.rate), limit))
        found.append(bench.measured("half the stability limit", "limit", base, Constant(value=limit.rate / 2), limit))
    elif limit is not None:
        notes.append("no rate that was tried makes it diverge")
    told.end("none" if limit is None else f"{limit.rate:.4g}")
    told.begin(f"{title}: best rates")
    best = bench.best(base, limit)
    found.append(bench.measured("best constant rate", "constant", base, Constant(value=best.rate), limit))
    found += bench.fewest_rounds(base, limit)
    found += bench.best_with_server(base, limit, best, servers)
    if own_rate is not None:
        found.append(bench.measured("given rate", "given", base, own_rate, limit))
    told.end(f"{best.rate:.4g}")
    told.begin(f"{title}: theorems")
    stated = prescribed_rates(
        base.problem,
        participation,
        algorithm=algorithm,
        rounds=rounds,
        longest=bench.longest,
        radius=radius,
        claims=claims,
        **constants,
    )
    refused = dict(stated.refused)
    alike: dict[tuple[float, ...], StepSize] = {}  # several theorems may ask for the same rate
    for one in stated.found:
        try:
            if one.values not in alike:
                alike[one.values] = bench.measured(one.name, "theorem", base, one.rate, limit)
            unmet, unchecked = bench.assumptions(one, base, radius=radius, claims=claims, constants=constants)
            found.append(
                dataclasses.replace(
                    alike[one.values], name=one.name, forms=one.variants, unmet=unmet, unchecked=unchecked
                )
            )
        except NotApplicable as error:
            refused[one.id] = str(error)
    told.end(f"{len(stated.found)} rates")
    return StepSizes(
        label=title,
        rounds=rounds,
        accuracy=bench.accuracy,
        longest=bench.longest,
        limit=limit,
        candidates=tuple(found),
        refused=refused,
        free=stated.free,
        method=bench.method,
        local_model=model,
        notes=tuple(notes),
    )


def _servers(algorithm: Algorithm, given: Sequence[float] | None) -> tuple[float, ...]:
    """Return the server rates to try besides the algorithm's own."""
    own = getattr(algorithm, "server_rate", None)
    if given is not None:
        checked = arguments.array("step_sizes", "server_rates", np.asarray(given, dtype=float), shape=(None,))
        if np.any(checked <= 0):
            raise arguments.fail("step_sizes", "server_rates", "positive numbers", list(given))
        if own is None and checked.size:
            raise arguments.fail(
                "step_sizes", "server_rates", f"empty, since {algorithm.title} has no server rate", list(given)
            )
        return tuple(float(value) for value in checked)
    return () if own is None else tuple(factor * float(own) for factor in SERVER_FACTORS)


def _stand_in(problem: Problem, seed: int) -> LocalModel | None:
    """Return a local model of a problem whose minimum nobody knows."""
    start = np.asarray(problem.start)[None]
    known = not isinstance(problem.objective().measure(start), LossMeasures)
    return None if known else local_model(problem, seed=seed)


def _limit(experiment: Experiment, seed: int, notes: list[str]) -> StabilityLimit | None:
    try:
        limit = largest_stable_rate(experiment, seed=seed)
    except NotApplicable as error:
        notes.append(str(error))
        return None
    if limit.reason:
        notes.append(f"the largest stable rate is where runs begin to diverge, to a hundredth: {limit.reason}")
    return limit


def _interval(limit: StabilityLimit | None) -> tuple[float, float]:
    """Return the rates between which the best ones are looked for."""
    if limit is not None and math.isfinite(limit.rate):
        return _BELOW * limit.rate, _ABOVE * limit.rate
    return _WITHOUT_LIMIT


class _Bench:
    """Runs candidates with the engine that fits, and reads off what they cost."""

    def __init__(
        self,
        experiment: Experiment,
        *,
        accuracy: float | None,
        longest: int | None,
        seed: int,
        replicates: int,
    ) -> None:
        self._options: dict[str, Any] = {"seed": seed, "replicates": replicates}
        self._recorded: dict[tuple[tuple[float, ...], str], tuple[Experiment, Trajectories]] = {}
        self.engine, run = self._choose(experiment)
        self.method = run.method
        self.longest = longest or experiment.rounds * (PATIENCE if self.engine == "exact" else 1)
        start = float(run.curve("gap")[:, 0].mean())
        self.accuracy = accuracy or ACCURACY * start
        if self.accuracy <= 0:
            raise NotApplicable("the start is a minimiser, so that there is nothing to reach; choose another start")

    def _choose(self, experiment: Experiment) -> tuple[str, Trajectories]:
        """Return the engine and a first round, with a rate that harms nobody.

        Exact moments given sampled participation would take far longer than so many simulated runs.
        """
        trial = dataclasses.replace(experiment, rounds=1, rate=Constant(value=1e-6))
        options: dict[str, Any] = {"record": Record(consensus=False), **self._options}
        try:
            return "exact", simulate(trial, engine="exact", sampled="error", **options)
        except NotApplicable:
            return "monte_carlo", simulate(trial, **options)

    def run(self, experiment: Experiment) -> Trajectories | None:
        """Return a run of as many rounds as may be needed, or of the horizon if that is all that stays finite."""
        for rounds in dict.fromkeys((self.longest, experiment.rounds)):
            try:
                return self._simulated(dataclasses.replace(experiment, rounds=rounds))
            except Diverged:
                continue
        return None

    def _simulated(self, experiment: Experiment) -> Trajectories:
        return simulate(experiment, engine=self.engine, record=Record(consensus=False), **self._options)

    def measured(
        self,
        name: str,
        kind: str,
        experiment: Experiment,
        rate: Schedule,
        limit: StabilityLimit | None,
    ) -> StepSize:
        """Return a candidate with what it costs."""
        run = self.run(dataclasses.replace(experiment, rate=rate))
        curve = None if run is None else run.curve("gap").mean(axis=0)
        first, last = ends(rate, experiment.rounds, experiment.participation.local_steps)
        known = limit is not None and math.isfinite(limit.rate)
        return StepSize(
            name=name,
            kind=kind,
            rate=rate,
            first=first,
            last=last,
            server_rate=getattr(experiment.algorithm, "server_rate", None),
            share=first / limit.rate if limit is not None and known else None,
            gap=None if curve is None else float(curve[experiment.rounds]),
            rounds_to_accuracy=None if curve is None else first_below(curve, self.accuracy),
            run=run,
        )

    def assumptions(
        self,
        prescribed: PrescribedRate,
        experiment: Experiment,
        *,
        radius: float | None,
        claims: Folders,
        constants: Mapping[str, Any],
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the assumptions of a theorem that a run with its rate does not meet, and forms not checked.

        Both say why: the value that is there instead, and what is missing for a check.
        """
        statement = theorem(prescribed.id, claims=claims)
        chosen = dataclasses.replace(experiment, rate=prescribed.rate)
        failed: dict[tuple[str, str], list[str]] = {}
        unchecked: dict[str, str] = {}
        known = {quantity.name for quantity in statement.symbols}
        for variant in prescribed.variants:
            record = statement.record(variant)
            key = (prescribed.values, repr(record))
            try:
                if key not in self._recorded:
                    run = simulate(chosen, engine=self.engine, record=record, **self._options)
                    self._recorded[key] = chosen, run
                used = {name: value for name, value in constants.items() if name in known}
                compared = statement.compare(*self._recorded[key], variant=variant, radius=radius, **used)
            except FltheoryError as error:
                unchecked[variant] = str(error)
                continue
            for one in compared.unmet:
                failed.setdefault((one.name, one.value), []).append(variant)
        checked = len(prescribed.variants) - len(unchecked)
        return {
            name if len(variants) == checked else f"{name} [{', '.join(variants)}]": value
            for (name, value), variants in failed.items()
        }, unchecked

    def best(self, experiment: Experiment, limit: StabilityLimit | None) -> Tuned:
        """Return the constant rate with the smallest gap at the end of the horizon."""
        low, high = _interval(limit)
        return tune_rate(experiment, low=low, high=high, engine=self.engine, **self._options)

    def fewest_rounds(self, base: Experiment, limit: StabilityLimit | None) -> list[StepSize]:
        """Return the constant rate of a grid that reaches the accuracy first, the smallest of several."""
        low, high = _interval(limit)
        rates = np.geomspace(high, low, round(FEWEST_PER_DECADE * math.log10(high / low)) + 1).tolist()
        least, chosen = self.longest, None
        for rate in rates:
            try:
                run = self._simulated(dataclasses.replace(base, rate=Constant(value=rate), rounds=least))
            except Diverged:
                continue
            reached = first_below(run.curve("gap").mean(axis=0), self.accuracy)
            if reached is not None:
                least, chosen = max(reached, 1), rate
        if chosen is None:
            return []
        return [self.measured("fewest rounds", "constant", base, Constant(value=chosen), limit)]

    def best_with_server(
        self, base: Experiment, limit: StabilityLimit | None, best: Tuned, servers: Sequence[float]
    ) -> list[StepSize]:
        """Return the best pair of local and server rate; nothing for algorithms without a server rate."""
        pairs = [(best, base, limit)] if servers else []
        for value in servers:
            if value == getattr(base.algorithm, "server_rate", None):
                continue
            try:
                changed: Any = base.algorithm
                other = dataclasses.replace(base, algorithm=dataclasses.replace(changed, server_rate=value))
                own = _limit(other, self._options["seed"], [])
                pairs.append((self.best(other, own), other, own))
            except FltheoryError:
                continue  # a server rate that the algorithm does not allow, or with which everything diverges
        if not pairs:
            return []
        tuned, experiment, own = min(pairs, key=lambda pair: pair[0].loss)
        return [self.measured("best with server rate", "server", experiment, Constant(value=tuned.rate), own)]
