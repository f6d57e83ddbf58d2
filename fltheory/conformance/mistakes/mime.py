"""Readings of MIME and known mistakes in its statistics and correction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate
from fltheory.conformance.variants import Perform, Variant, mistake, reading
from fltheory.problems.oracle import LocalSteps, Oracle, Round

Statistics = Callable[[Any, Any, Floats], Floats]
"""Algorithm, state and mean gradient to the new momentum."""


def _share(work: Round) -> Floats:
    total = work.weights.sum(axis=1, keepdims=True)
    return np.asarray(work.weights / np.where(total > 0, total, 1.0))


def _blend(algorithm: Any, state: Any, mean: Floats) -> Floats:
    return np.asarray((1.0 - algorithm.momentum) * mean + algorithm.momentum * state.m)


def momentum_round(
    *,
    corrected: bool,
    share: Callable[[Round], Floats] = _share,
    damping: Callable[[float], float] = lambda beta: 1.0 - beta,
    momentum: Callable[[Any, Any, Floats], Floats] = lambda algorithm, state, mean: state.m,
    statistics: Statistics = _blend,
    seen: Callable[[Floats, Floats], Floats] = lambda sent, local: sent,
) -> Perform:
    """Return the round of MIME (corrected) or MIMELite with some of its rules replaced.

    Parameters
    ----------
    corrected
        Whether local gradients are recentred at the mean gradient.
    share
        Weights of the clients in the mean gradient.
    damping
        Factor on the gradient in a local step, from the momentum parameter.
    momentum
        The momentum used in the local steps.
    statistics
        The momentum after the round.
    seen
        Where the gradients of the statistics are taken, from the server's and the clients' models.
    """

    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        sent, beta = state.w[:, None], algorithm.momentum
        mean = aggregate(share(work), oracle.gradient(sent))
        factor = damping(beta)
        correction = beta / factor * momentum(algorithm, state, mean) + (mean if corrected else 0.0)
        how = LocalSteps(rate_factor=factor, correction=correction[:, None], recentre=corrected)
        local = oracle.local_steps(sent, work, how)
        w = state.w + algorithm.server_rate * aggregate(work.weights, local - sent)
        m = statistics(algorithm, state, aggregate(share(work), oracle.gradient(seen(sent, local))))
        return RoundResult(state._replace(w=w, m=m), local, uplink=(), downlink=())

    return perform


def _heavy_ball(algorithm: Any, state: Any, mean: Floats) -> Floats:
    return np.asarray(mean + algorithm.momentum * state.m)


def _with_momentum(algorithm: Any) -> bool:
    return bool(algorithm.momentum > 0)


def momentum_variants(*, corrected: bool) -> tuple[Variant, ...]:
    """Return what MIME and MIMELite share."""
    return (
        reading(
            "heavy-ball",
            "heavy-ball momentum, with 1 in place of 1 - beta in the step and in the statistics",
            round=momentum_round(corrected=corrected, damping=lambda beta: 1.0, statistics=_heavy_ball),
            applies=_with_momentum,
        ),
        mistake(
            "statistics-from-the-path",
            "the momentum fed with gradients at the clients' final models instead of the server's",
            round=momentum_round(corrected=corrected, seen=lambda sent, local: local),
            applies=_with_momentum,
        ),
        mistake(
            "momentum-updated-first",
            "the momentum updated before the local steps instead of after",
            round=momentum_round(corrected=corrected, momentum=_blend),
            applies=_with_momentum,
        ),
        mistake(
            "momentum-never-updated",
            "the momentum never updated",
            round=momentum_round(corrected=corrected, statistics=lambda algorithm, state, mean: state.m),
            applies=_with_momentum,
        ),
        mistake(
            "statistics-undamped",
            "the statistics accumulated without the factor 1 - beta",
            round=momentum_round(corrected=corrected, statistics=_heavy_ball),
            applies=_with_momentum,
        ),
        mistake(
            "gradients-of-the-absent",
            "the mean gradient over all clients although some are absent",
            round=momentum_round(corrected=corrected, share=lambda work: work.p[None]),
            applies=lambda algorithm: corrected or _with_momentum(algorithm),
        ),
    )


VARIANTS: tuple[Variant, ...] = (
    mistake(
        "no-correction",
        "local gradients not recentred at the mean gradient, which is MIMELite",
        round=momentum_round(corrected=False),
    ),
    *momentum_variants(corrected=True),
)
