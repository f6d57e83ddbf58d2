"""Expectations without sampling.

The affine map of a round (:mod:`fltheory.simulation.engines.affine`) carries mean and covariance of the state on
(:mod:`fltheory.simulation.engines.propagation`; for clients that are all alike
:mod:`fltheory.simulation.engines.symmetric`), and every recorded curve is a quadratic functional of the two. Where
participation has too many outcomes to be enumerated, it is sampled: the rows of the result are then exact given the
sample (Rao and Blackwell), the result does not call itself exact, and it has a confidence band.
"""

from __future__ import annotations

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm
from fltheory.errors import Diverged, NotAffine, NotApplicable
from fltheory.problems.closed_form import ClosedForm, closed_form_of
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.quadratic.multiplied import MultipliedOracle
from fltheory.simulation.cost import require_memory, require_time
from fltheory.simulation.engines import many
from fltheory.simulation.engines.affine import Prober, RoundMap
from fltheory.simulation.engines.exchangeable import Asymmetric, ExchangeableProber, is_exchangeable
from fltheory.simulation.engines.expected import in_problem
from fltheory.simulation.engines.inside import InsideMoments, watched
from fltheory.simulation.engines.multiplied import MultipliedProber
from fltheory.simulation.engines.propagation import NotEnumerable, Propagation
from fltheory.simulation.engines.symmetric import symmetric_curves
from fltheory.simulation.engines.terms import Terms
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.provenance import provenance
from fltheory.simulation.recording import Record
from fltheory.simulation.trajectories import Trajectories
from fltheory.simulation.under_way import Count


def exact_trajectories(
    experiment: Experiment, *, seed: int, replicates: int, record: Record, sampled: str
) -> Trajectories:
    """Return expected curves; see :func:`fltheory.simulation.engines.simulate.simulate`."""
    form = closed_form_of(experiment.problem)
    if record.nonzeros or record.entropy_bin is not None or record.models:
        raise NotApplicable(
            "the exact engine has no samples to count non-zeros or entropy of, or to keep models of; "
            "drop these from the record, or use the monte_carlo engine"
        )
    if reason := experiment.algorithm.not_affine:
        # Declared parts are refused before probing: a kink may lie where no probe looks.
        raise NotAffine(f"{experiment.algorithm.title} has no exact moments: {reason}; use the monte_carlo engine")
    require_time("simulate", experiment, replicates=1, record=record, every_step=False, exact=True)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            oracle = _oracle(experiment, form, record)
            paths, reason = _paths(experiment, oracle, seed, replicates, record, sampled)
    except NotAffine as error:
        raise NotAffine(_named(experiment, error)) from None
    curves = {name: np.stack([path[name] for path in paths]) for name in paths[0]}
    _require_finite(experiment, curves["distance_sq"], seed)
    mean, spread = curves.pop("model_mean"), curves.pop("model_covariance")
    if record.moments:
        curves["model_mean"], curves["model_covariance"] = in_problem(oracle, mean, spread)
    if record.consensus is False:
        curves.pop("consensus_sq")
    return Trajectories(
        algorithm=experiment.algorithm.title,
        exact=not reason,
        conditional=bool(reason),
        provenance=provenance(
            experiment,
            engine="exact",
            seed=seed,
            replicates=replicates if reason else 0,
            record=record,
            participation=f"sampled: {reason}" if reason else "enumerated",
        ),
        **curves,
    )


def last_round_maps(experiment: Experiment) -> tuple[Floats, list[RoundMap]]:
    """Return the probabilities and the maps of all outcomes of the last round, without the spread of local models.

    :class:`~fltheory.errors.NotApplicable` if the maps follow from earlier rounds or from the number of the round, or
    if there are too many outcomes.
    """
    algorithm, record = experiment.algorithm, Record(consensus=False)
    form = closed_form_of(experiment.problem)
    if reason := algorithm.not_affine:
        raise NotAffine(f"{algorithm.title} has no round map: {reason}")
    with np.errstate(over="ignore", invalid="ignore"):
        propagation = _propagation(experiment, _oracle(experiment, form, record), 0, record)
        if propagation.prober.layout.memory or not algorithm.autonomous:
            raise NotApplicable(f"the round map of {algorithm.title} changes from round to round")
        _require_room(propagation.prober)
        try:
            law = propagation.law(experiment.rounds - 1)
        except NotEnumerable as error:
            raise NotApplicable(str(error)) from None
        return law.chances, propagation.prober.later_outcomes({}, law.works)


def _oracle(experiment: Experiment, form: ClosedForm, record: Record) -> ClosedFormOracle:
    """Return the oracle that is probed.

    Coordinates that do not interact are correlated all the same if participation is random or noise multiplies the
    model, since that is the same for all of them. Variances do not see it; a covariance that is asked for does, so that
    all coordinates are followed together.
    """
    participation = experiment.participation
    rounds = range(1) if participation.is_stationary else range(experiment.rounds)
    random = bool(experiment.algorithm.chances(participation.local_steps))
    shared = random or form.multiplies or not all(participation.is_deterministic(index) for index in rounds)
    form = form.with_matrices() if record.moments and shared else form
    kind = MultipliedOracle if form.multiplies else ClosedFormOracle
    return kind(form, inside=experiment.algorithm.rotation_equivariant)


def _paths(
    experiment: Experiment, oracle: ClosedFormOracle, seed: int, replicates: int, record: Record, sampled: str
) -> tuple[list[dict[str, Floats]], str]:
    """Return the curves and an empty string, or those of every sample of participation and why it was sampled."""
    spread = record.consensus is not False
    propagation = _propagation(experiment, oracle, seed, record)
    try:
        laws = propagation.enumerated()
        works = [law.works[0] for law in laws]
        if not record.looks_inside and all(len(law.works) == 1 for law in laws) and is_exchangeable(oracle, works):
            try:
                return [symmetric_curves(experiment, ExchangeableProber(propagation.prober, spread=spread), works)], ""
            except Asymmetric:
                pass
        _require_room(propagation.prober)
        return [propagation.run(laws)], ""
    except NotEnumerable as error:
        reason = str(error)
    if sampled == "error":
        raise NotApplicable(
            f"the exact engine would have to sample participation: {reason}; use fewer clients or step counts, or pass "
            "sampled='allow' and read the curves with their bands"
        )
    if replicates < 2:
        raise NotApplicable(
            f"participation has to be sampled ({reason}), which needs at least 2 replicates for a confidence band, "
            f"got replicates={replicates}"
        )
    if record.moments:
        raise NotApplicable(
            f"moments of the model are recorded only where participation can be enumerated ({reason}); "
            "use fewer clients or step counts, or drop moments from the record"
        )
    _require_room(propagation.prober)
    require_memory("simulate", experiment, replicates=replicates, record=record, exact=True)
    require_time("simulate", experiment, replicates=replicates, record=record, every_step=False, exact=True)
    propagation.count = Count(experiment.rounds * replicates)
    return [propagation.run(propagation.sampled(seed, r)) for r in range(replicates)], reason


def _propagation(experiment: Experiment, oracle: ClosedFormOracle, seed: int, record: Record) -> Propagation:
    if not record.looks_inside:
        return Propagation(experiment, _prober(experiment, experiment.algorithm, oracle, record))
    if record.watches and isinstance(oracle, MultipliedOracle) and experiment.participation.local_steps > 1:
        raise NotApplicable(
            "single local steps have no exact moments where noise multiplies the model (a random Hessian, or a drift "
            "that grows with the gradient); drop gradient_sq and mean_iterate from the record, or use the monte_carlo "
            "engine"
        )
    work = Terms(experiment).sample(0, seed=seed, replicates=range(1))
    algorithm = watched(experiment, oracle, record, work)
    prober = _prober(experiment, algorithm, oracle, record)
    return Propagation(experiment, prober, lambda: InsideMoments(experiment, algorithm, oracle, prober.layout))


def _prober(experiment: Experiment, algorithm: Algorithm, oracle: ClosedFormOracle, record: Record) -> Prober:
    """Return what reads the maps of this problem."""
    spread = record.consensus is not False
    if isinstance(oracle, MultipliedOracle):
        return MultipliedProber(algorithm, oracle, spread=spread)
    prober = Prober(algorithm, oracle, spread=spread)
    of_the_server = all(len(shape) == 1 for shape in prober.layout.shapes.values())
    draws = experiment.algorithm.chances(experiment.participation.local_steps)
    if oracle.num_clients > many.MANY and oracle.has_independent_clients and of_the_server and not draws:
        return many.ManyProber(algorithm, oracle, spread=spread)
    return prober


def _require_room(prober: Prober) -> None:
    if not isinstance(prober, many.ManyProber):
        many.require_few(prober.algorithm, prober.oracle, prober.layout)


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
