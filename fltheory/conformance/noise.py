r"""Gradient noise: mean and covariance of the models against the exact moments, with a stated false-alarm rate.

With additive Gaussian noise and a round that is affine, the model after a round is exactly Gaussian with known mean
:math:`m_t` and covariance :math:`C_t`. Independent repetitions :math:`x_1, \ldots, x_R` are whitened,
:math:`y = C_t^{-1/2}(x - m_t)`, and then, if the implementation is right,

.. math:: R\,\|\bar y\|^2 \sim \chi^2_d, \qquad
          \sum_r \bigl(u^\top (y_r - \bar y)\bigr)^2 \sim \chi^2_{R-1} \quad\text{for every unit } u .

The second is tested first, for the :math:`d(d+1)/2` directions :math:`e_j` and :math:`(e_j + e_k)/\sqrt2`, which
determine the covariance. All tests are exact, and there are finitely many of them, so each is held at the level
divided by their number: the chance that a right implementation is called wrong is at most the level.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.conformance.federation import Federation
from fltheory.conformance.user_code import Run, call
from fltheory.conformance.variants import Variant, altered, mistake, replaced_round
from fltheory.errors import NotAffine
from fltheory.participation import Participation
from fltheory.problems.closed_form import closed_form_of
from fltheory.problems.oracle import PLAIN, LocalSteps, Minibatch, Oracle, Round
from fltheory.quadratic.closed_form import ClosedFormOracle
from fltheory.simulation.engines.affine import Prober
from fltheory.simulation.engines.propagation import PossibleRounds, Propagation
from fltheory.simulation.experiment import Experiment

NEGLIGIBLE = 1e-12
"""Variances below this share of the largest count as zero: there the model must not vary at all."""


class ModelMoments(NamedTuple):
    """Mean ``(rounds, dim)`` and covariance ``(rounds, dim, dim)`` of the models after every round."""

    mean: Floats
    covariance: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class NoiseResult:
    """How the models vary under gradient noise.

    Parameters
    ----------
    agrees
        Whether all tests were passed.
    replicates, tests, level
        Repetitions, number of tests, and the bound on the false-alarm rate of all of them together.
    round
        First round, from 1, with a failed test; ``None`` if there is none.
    what
        ``mean`` or ``covariance``.
    ratio
        Observed over exact variance in the worst direction of that round; for a mean, its distance from the exact one
        in standard errors.
    explanation
        Noise mistake that the samples are consistent with, if one was found.
    """

    agrees: bool
    replicates: int
    tests: int
    level: float
    round: int | None = None
    what: str = ""
    ratio: float = 1.0
    explanation: str = ""

    def __str__(self) -> str:
        rate = f"{self.replicates} repetitions, {self.tests} tests, false-alarm rate at most {self.level:g}"
        if self.agrees:
            return f"under gradient noise mean and covariance agree with the exact moments ({rate})"
        if self.what == "mean":
            text = f"the mean after round {self.round} is {self.ratio:.1f} standard errors from the exact one"
        else:
            text = f"the variance after round {self.round} is {self.ratio:.3g} times the exact one in some direction"
        text = f"under gradient noise {text} ({rate})"
        return f"{text}; {self.explanation}" if self.explanation else text

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "agrees": self.agrees,
            "replicates": self.replicates,
            "tests": self.tests,
            "level": self.level,
            "round": self.round,
            "what": self.what or None,
            "ratio": self.ratio if np.isfinite(self.ratio) else None,
            "explanation": self.explanation or None,
        }


def exact_moments(algorithm: Algorithm, federation: Federation, variants: tuple[Variant, ...] = ()) -> ModelMoments:
    """Return the exact moments; raises :class:`~fltheory.errors.NotAffine` where a round is not affine."""
    runner = altered(algorithm, variants, federation)
    experiment = Experiment(
        problem=federation.problem(),
        algorithm=runner,
        participation=Participation(num_clients=federation.num_clients, local_steps=federation.local_steps),
        rounds=federation.rounds,
        rate=federation.rates[0],
    )
    if reason := runner.not_affine:
        raise NotAffine(f"{algorithm.title} has no exact moments: {reason}; examine it without noise")
    prober = Prober(runner, ClosedFormOracle(closed_form_of(federation.problem()), inside=False), spread=False)
    works = [federation.work(index) for index in range(federation.rounds)]
    laws = [PossibleRounds(np.ones(1), [work], work.steps.tobytes()) for work in works]
    curves = Propagation(experiment, prober).run(laws)
    return ModelMoments(curves["model_mean"][1:], curves["model_covariance"][1:])


def sample(run: Run, federation: Federation, *, replicates: int, seed: int) -> Floats:
    """Return the models of independent repetitions of a user's code, shape ``(replicates, rounds, dim)``."""
    seeds = np.random.SeedSequence(seed).generate_state(replicates, np.uint64)
    return np.stack([call(run, replace(federation, seed=int(each)), "noisy gradients").models[1:] for each in seeds])


def compare_moments(samples: Floats, exact: ModelMoments, *, level: float) -> NoiseResult:
    """Test samples ``(replicates, rounds, dim)`` against exact moments."""
    from scipy import stats

    replicates, rounds, dim = samples.shape
    total = rounds * (1 + dim * (dim + 1) // 2)
    threshold = level / total
    for index in range(rounds):
        values, vectors = np.linalg.eigh(exact.covariance[index])
        varying = values > NEGLIGIBLE * max(values.max(), np.finfo(float).tiny)
        away = (samples[:, index] - exact.mean[index]) @ vectors
        scale = 1e-8 * (1.0 + np.abs(exact.mean[index]).max())
        failed = {"round": index + 1, "replicates": replicates, "tests": total, "level": level, "agrees": False}
        if np.abs(away[:, ~varying]).max(initial=0.0) > scale:
            return NoiseResult(**failed, what="covariance", ratio=float("inf"))
        white = away[:, varying] / np.sqrt(values[varying])
        centred = white - white.mean(axis=0)
        worst, chance = 1.0, 1.0
        for direction in _directions(white.shape[1]):
            power = float(np.sum((centred @ direction) ** 2))
            p = 2.0 * min(stats.chi2.sf(power, replicates - 1), stats.chi2.cdf(power, replicates - 1))
            if p < chance:
                chance, worst = p, power / (replicates - 1)
        if chance < threshold:
            return NoiseResult(**failed, what="covariance", ratio=worst)
        offset = float(replicates * np.sum(white.mean(axis=0) ** 2))
        if stats.chi2.sf(offset, max(white.shape[1], 1)) < threshold:
            return NoiseResult(**failed, what="mean", ratio=float(np.sqrt(offset)))
    return NoiseResult(agrees=True, replicates=replicates, tests=total, level=level)


def _directions(dim: int) -> list[Floats]:
    axes = list(np.eye(dim))
    return axes + [(a + b) / np.sqrt(2.0) for a, b in itertools.combinations(axes, 2)]


class _OneMinibatch:
    """An oracle whose local steps all use the first minibatch of the round."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._oracle, name)

    def local_steps(self, start: Floats, work: Round, how: LocalSteps = PLAIN) -> Floats:
        return self._oracle.local_steps(start, work, replace(how, minibatch=how.minibatch or Minibatch(0)))


def _same_minibatch(algorithm: Any, state: Any, oracle: Any, work: Round) -> RoundResult:
    result: RoundResult = algorithm.round(state, _OneMinibatch(oracle), work)
    return result


SAME_MINIBATCH = mistake("same-minibatch", "the same minibatch in all local steps of a round", round=_same_minibatch)


def examine(
    run: Run,
    algorithm: Algorithm,
    variants: tuple[Variant, ...],
    federation: Federation,
    *,
    replicates: int,
    level: float,
    seed: int,
) -> NoiseResult:
    """Run a user's code many times with noisy gradients and compare its moments with the exact ones.

    Parameters
    ----------
    run
        The user's code.
    algorithm, variants
        What it is known to be without noise.
    federation
        A federation with noise.
    replicates
        Repetitions.
    level
        Bound on the chance that a right implementation fails.
    seed
        Seed of the repetitions.
    """
    exact = exact_moments(algorithm, federation, variants)
    samples = sample(run, federation, replicates=replicates, seed=seed)
    found = compare_moments(samples, exact, level=level)
    return found if found.agrees else replace(found, explanation=_explain(samples, algorithm, variants, federation))


def _explain(samples: Floats, algorithm: Algorithm, variants: tuple[Variant, ...], federation: Federation) -> str:
    if np.ptp(samples, axis=0).max() == 0.0:
        return "the models do not vary at all: ask for gradients with federation.gradient(client, w, federation.rng)"
    if replaced_round(variants) is None:
        reused = exact_moments(algorithm, federation, (*variants, SAME_MINIBATCH))
        if compare_moments(samples, reused, level=1e-3).agrees:
            return f"consistent with {SAME_MINIBATCH.text}"
    exact = exact_moments(algorithm, federation, variants)
    observed = np.array([np.trace(np.cov(samples[:, t].T)) for t in range(samples.shape[1])])
    factor = float(np.median(observed / np.trace(exact.covariance, axis1=1, axis2=2)))
    scaled = exact._replace(covariance=factor * exact.covariance)
    if compare_moments(samples, scaled, level=1e-3).agrees:
        return f"consistent with noise whose standard deviation is multiplied by {np.sqrt(factor):.3g}"
    return ""
