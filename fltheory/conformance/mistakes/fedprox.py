"""Known mistakes in FedProx: the local loop and mean of FedAvg, and the gradient of the proximal term."""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult
from fltheory.conformance.mistakes.averaging import AVERAGING, LocalState, along, averaged
from fltheory.conformance.variants import Variant, mistake, unit
from fltheory.problems.oracle import LocalSteps, Oracle, Round


def _data_overwritten(algorithm: Any, gradient: Floats, local: Floats, sent: Floats) -> Floats:
    return np.where(local == sent, gradient, algorithm.prox * (local - sent))


def _with_start(algorithm: Any, start: Floats, oracle: Oracle, p: Floats) -> LocalState:
    return LocalState(w=start, local=start[:, None])


def _anchor_of_round_0(algorithm: Any, state: LocalState, oracle: Oracle, work: Round) -> RoundResult:
    local = oracle.local_steps(state.w[:, None], work, LocalSteps(pull=algorithm.prox, anchor=state.local))
    return averaged(algorithm, state, local, work)


VARIANTS: tuple[Variant, ...] = (
    mistake(
        "norm-without-square",
        "the proximal term (prox / 2) ||w - w_t|| without the square",
        "flower PR #2210",
        round=along(lambda a, g, local, sent: g + a.prox / 2 * unit(local - sent)),
    ),
    mistake(
        "no-proximal-term",
        "the proximal term without effect, which is FedAvg",
        "FedLab issue #280 and flower PR #1654",
        round=along(lambda a, g, local, sent: g),
    ),
    mistake(
        "quadratic-part-overwritten",
        "only the part -prox <w, w_t> of the proximal term, its quadratic part overwritten",
        "FedDyn issue #1",
        round=along(lambda a, g, local, sent: g - a.prox * sent),
    ),
    mistake(
        "data-gradient-lost",
        "the gradient of the data overwritten by that of the proximal term after the first step",
        round=along(_data_overwritten),
    ),
    mistake(
        "no-half",
        "the proximal term prox ||w - w_t||^2 without the factor 1/2",
        round=along(lambda a, g, local, sent: g + 2 * a.prox * (local - sent)),
    ),
    mistake(
        "half-twice",
        "the factor 1/2 kept in the gradient, (prox / 2) (w - w_t)",
        round=along(lambda a, g, local, sent: g + a.prox / 2 * (local - sent)),
    ),
    mistake(
        "pull-to-zero",
        "the pull towards zero (weight decay) instead of the server model",
        round=along(lambda a, g, local, sent: g + a.prox * local),
    ),
    mistake(
        "push-away",
        "the sign of the proximal term reversed",
        round=along(lambda a, g, local, sent: g - a.prox * (local - sent)),
    ),
    mistake(
        "anchor-of-round-0",
        "the pull towards the model of round 0 instead of the current one",
        init=_with_start,
        round=_anchor_of_round_0,
    ),
    *AVERAGING,
)
