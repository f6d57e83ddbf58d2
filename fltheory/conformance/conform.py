"""Is this implementation right? Run it on telling instances, compare it with the reference, and say what it is."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping
from typing import Any

from fltheory._internal import arguments
from fltheory.algorithms.base import Algorithm
from fltheory.configuration import registry
from fltheory.conformance import noise
from fltheory.conformance.compare import Case
from fltheory.conformance.diagnosis import condition, diagnose, hints, other_states
from fltheory.conformance.instances import NOISE, OPTIONAL, Feature, instances
from fltheory.conformance.result import Conclusion, Conformance, conclude
from fltheory.conformance.user_code import Run
from fltheory.conformance.variants import Variant
from fltheory.errors import InvalidParameter, NotApplicable

TOLERANCE = 1e-8


def conform(
    run: Run,
    algorithm: str = "fedavg",
    *,
    skip: Iterable[str] = (),
    noisy: bool = False,
    tolerance: float = TOLERANCE,
    replicates: int = 1000,
    level: float = 1e-3,
    seed: int = 0,
    **parameters: Any,
) -> Conformance:
    """Compare an implementation of your own with the algorithm of the package.

    Parameters
    ----------
    run
        Your code: takes a :class:`~fltheory.conformance.federation.Federation` and returns the server models after
        every round, shape ``(rounds, dim)``, or ``(rounds + 1, dim)`` with the first model before them. It may
        return a mapping instead, with the models as ``models`` and, for a more precise answer, the clients' models
        after every round as ``local`` and state fields of the algorithm by their names.
    algorithm
        Name of the algorithm; see ``fltheory conform --list``.
    skip
        Features that your code does not have and that are not examined: some of ``unequal-weights``,
        ``absent-clients``, ``unequal-steps``, ``server-rate``, ``rate-schedule``.
    noisy
        Examine also mean and covariance under gradient noise; needs an algorithm whose round is affine.
    tolerance
        Relative difference up to which models are equal; for code in single precision use 1e-4.
    replicates, level, seed
        Repetitions under noise, bound on the false-alarm rate, and seed.
    **parameters
        Parameters of the algorithm, such as ``alpha=0.1``; the package's defaults otherwise.

    Returns
    -------
    Conformance
        The conclusion, with the smallest instance and the round in which the code differs, if it does.

    Examples
    --------
    >>> def run(federation):
    ...     w, models = federation.start, []
    ...     for t, participants in enumerate(federation.participants):
    ...         moved = 0.0
    ...         for i in participants:
    ...             local = w.copy()
    ...             for _ in range(federation.steps[t, i]):
    ...                 local -= federation.rates[t] * federation.gradient(i, local)
    ...             moved += federation.sample_counts[i] * (local - w)
    ...         w = w + federation.server_rate * moved / sum(federation.sample_counts[i] for i in participants)
    ...         models.append(w)
    ...     return models
    >>> conform(run, "fedavg").conclusion.value
    'CONFORMS'
    """
    begin = time.perf_counter()
    if not callable(run):
        raise arguments.fail("conform", "run", "a function that takes a federation and returns models", run)
    base = build(algorithm, parameters)
    tolerance = arguments.real("conform", "tolerance", tolerance, low=0, open_low=True)
    level = arguments.real("conform", "level", level, low=0, high=1, open_low=True, open_high=True)
    replicates = arguments.integer("conform", "replicates", replicates, low=10)
    seed = arguments.integer("conform", "seed", seed, low=0)
    asked = features_to_skip(skip)
    fixed_rate = not hasattr(base, "server_rate") or "server_rate" in parameters
    found = instances(full_parameters(base), skip=asked | {Feature.SERVER_RATE} if fixed_rate else asked)
    cases = [Case.of(run, base, instance) for instance in found]
    results = tuple(case.result(tolerance) for case in cases)
    matches: tuple[tuple[Variant, ...], ...] = ()
    if all(result.agrees for result in results):
        conclusion, noticed = Conclusion.CONFORMS, other_states(cases, tolerance)
    else:
        matches = diagnose(base, cases, tolerance)
        conclusion = conclude(matches)
        noticed = hints(run, base, cases, results, tolerance) if not matches else ()
    noise_result = None
    if noisy:
        known = matches[0] if matches else ()
        federation = dataclasses.replace(cases[-1].instance.federation, noise=NOISE)
        noise_result = noise.examine(run, base, known, federation, replicates=replicates, level=level, seed=seed)
    return Conformance(
        algorithm=base.name,
        title=base.title,
        parameters=full_parameters(base),
        conclusion=conclusion,
        matches=matches,
        condition=condition(results),
        hints=noticed,
        instances=results,
        skipped=tuple(feature.value for feature in OPTIONAL if feature in asked),
        noise=noise_result,
        tolerance=tolerance,
        seconds=time.perf_counter() - begin,
    )


def assert_conforms(run: Run, algorithm: str = "fedavg", **options: Any) -> None:
    """Raise ``AssertionError`` with the diagnosis unless an implementation is right; for test suites.

    Legitimate readings of the algorithm are accepted.

    Parameters
    ----------
    run
        Your code, as for :func:`conform`.
    algorithm
        Name of the algorithm.
    **options
        All other arguments of :func:`conform`.
    """
    found = conform(run, algorithm, **options)
    if not found.ok:
        raise AssertionError(str(found))


def build(algorithm: str, parameters: Mapping[str, Any]) -> Algorithm:
    """Return the algorithm of a name with parameters."""
    known = registry.algorithms()
    kind = known[arguments.choice("conform", "algorithm", algorithm, known)]
    names = [field.name for field in dataclasses.fields(kind)]
    for name in parameters:
        if name not in names:
            raise InvalidParameter(
                f"{kind.title} has no parameter {name!r}; it has {', '.join(names) or 'none'}"
                + (f"; {near}" if (near := arguments.nearest(name, names)) else "")
            )
    built = kind(**parameters)
    if own := built.chances(1):
        raise NotApplicable(
            f"{built.title} draws random numbers of its own ({', '.join(own)}), so its models cannot be compared "
            "round by round"
        )
    return built


def full_parameters(algorithm: Algorithm) -> dict[str, Any]:
    """Return the parameters of an algorithm by name, defaults included."""
    return {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}


def features_to_skip(names: Iterable[str]) -> frozenset[Feature]:
    """Return the features of the given names; only optional ones can be skipped."""
    known = {feature.value: feature for feature in OPTIONAL}
    return frozenset(known[arguments.choice("conform", "skip", name, known)] for name in names)
