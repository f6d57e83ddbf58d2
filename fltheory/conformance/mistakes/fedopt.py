"""Readings of FedOpt and known mistakes in its moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate
from fltheory.algorithms.fedopt import FedOpt, State
from fltheory.conformance.variants import Perform, Variant, changed, mistake, reading
from fltheory.problems.oracle import Oracle, Round


def fedopt_round(
    *,
    displacement: Callable[[FedOpt, Floats], Floats] = lambda a, mean: mean,
    first: Callable[[FedOpt, Floats, Floats], Floats] = lambda a, m, mean: a.beta_1 * m + (1.0 - a.beta_1) * mean,
    squares: Callable[[Round, Floats, Floats], Floats] = lambda work, mean, moved: mean**2,
    divisor: Callable[[FedOpt, Floats], Floats] = lambda a, v: np.sqrt(v) + a.tau,
    factor: Callable[[FedOpt, Floats], Floats | float] = lambda a, count: a.correction(count),
) -> Perform:
    """Return FedOpt's round with some of its rules replaced.

    Parameters
    ----------
    displacement
        What drives the optimiser, from the mean displacement.
    first
        The new first moment, from the old one and the mean displacement.
    squares
        What feeds the second moment, from the mean and the single displacements.
    divisor
        What the first moment is divided by, from the second one.
    factor
        Bias correction, from the number of the round (from 1).
    """

    def perform(algorithm: FedOpt, state: State, oracle: Oracle, work: Round) -> RoundResult:
        local = oracle.local_steps(state.w[:, None], work)
        moved = local - state.w[:, None]
        mean = displacement(algorithm, aggregate(work.weights, moved))
        m = first(algorithm, state.m, mean)
        v = algorithm.second_moment(state.v, squares(work, mean, moved))
        count = state.rounds + 1.0
        w = state.w + algorithm.server_rate * factor(algorithm, count) * m / divisor(algorithm, v)
        return RoundResult(State(w=w, m=m, v=v, rounds=count), local, uplink=(), downlink=())

    return perform


def _corrected(algorithm: FedOpt, count: Floats) -> Floats | float:
    return replace(algorithm, bias_correction=True).correction(count)


def _uncorrected(algorithm: Any) -> bool:
    return not algorithm.bias_correction


VARIANTS: tuple[Variant, ...] = (
    reading(
        "second-moment-starts-at-zero",
        "second moments that start at zero instead of tau^2",
        parameters={"second_start": 0.0},
        applies=lambda algorithm: algorithm.second_start is None,
    ),
    reading(
        "bias-corrected",
        "Adam's bias correction, which the paper leaves out",
        parameters={"bias_correction": True},
        applies=_uncorrected,
    ),
    mistake(
        "bias-correction-one-round-late",
        "a bias correction that counts rounds from 2 instead of 1",
        "Flower 1.41's FedAdam",
        **changed(fedopt_round, factor=lambda a, count: _corrected(a, count + 1.0)),
    ),
    mistake(
        "bias-correction-one-round-early",
        "a bias correction that counts rounds from 0 and leaves the first one alone",
        **changed(
            fedopt_round, factor=lambda a, count: np.where(count > 1, _corrected(a, np.maximum(count - 1, 1)), 1.0)
        ),
    ),
    mistake(
        "server-rate-twice",
        "the server rate multiplying the mean displacement too",
        "fluke 0.8",
        **changed(fedopt_round, displacement=lambda a, mean: a.server_rate * mean),
    ),
    mistake(
        "no-root",
        "the root of the second moment forgotten",
        **changed(fedopt_round, divisor=lambda a, v: v + a.tau),
    ),
    mistake(
        "tau-inside-the-root",
        "tau^2 added inside the root instead of tau outside",
        **changed(fedopt_round, divisor=lambda a, v: np.sqrt(v + a.tau**2)),
    ),
    mistake(
        "mean-of-squares",
        "the second moment fed with the mean of the clients' squared displacements",
        **changed(fedopt_round, squares=lambda work, mean, moved: aggregate(work.weights, moved**2)),
    ),
    mistake(
        "first-moment-undamped",
        "the first moment without the factor 1 - beta_1",
        **changed(fedopt_round, first=lambda a, m, mean: a.beta_1 * m + mean),
        applies=lambda algorithm: algorithm.beta_1 > 0,
    ),
)
