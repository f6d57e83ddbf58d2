"""Readings of pFedMe and known mistakes in its server step and inner loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import RoundResult, aggregate, keep_absent
from fltheory.conformance.variants import Perform, Variant, changed, mistake, reading
from fltheory.problems.oracle import LocalSteps, Oracle, Round


def pfedme_round(
    *,
    anchor: Callable[[Floats, Floats], Floats] = lambda local, sent: local,
    factor: Callable[[Any], float] = lambda algorithm: algorithm.attraction,
    sent_back: Callable[[Floats, Floats], Floats] = lambda local, theta: local,
) -> Perform:
    """Return pFedMe's round with another anchor, outer factor or upload."""

    def perform(algorithm: Any, state: Any, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = theta = np.repeat(sent, oracle.num_clients, axis=1)
        for r in range(int(work.steps.max())):
            inner = LocalSteps(
                rate=algorithm.inner_rate,
                steps=algorithm.inner_steps,
                pull=algorithm.attraction,
                anchor=anchor(local, sent),
                minibatch=oracle.minibatch(r),
            )
            solved = oracle.local_steps(local if algorithm.reset_inner else theta, work, inner)
            theta = keep_absent(work.steps > r, solved, theta)
            local = keep_absent(work.steps > r, local - work.rate * factor(algorithm) * (local - theta), local)
        w = state.w + algorithm.server_mix * aggregate(work.weights, sent_back(local, theta) - sent)
        return RoundResult(state._replace(w=w), local, uplink=(), downlink=())

    return perform


VARIANTS: tuple[Variant, ...] = (
    reading(
        "inner-iterate-carried",
        "the inner iterate carried on from local round to local round",
        "the authors' repository",
        parameters={"reset_inner": False},
        applies=lambda algorithm: algorithm.reset_inner,
    ),
    reading(
        "inner-iterate-restarted",
        "the inner iterate restarted in every local round",
        "the paper",
        parameters={"reset_inner": True},
        applies=lambda algorithm: not algorithm.reset_inner,
    ),
    mistake(
        "anchor-at-the-server",
        "the inner pull towards the server model instead of the client's copy",
        **changed(pfedme_round, anchor=lambda local, sent: sent),
    ),
    mistake(
        "outer-factor-missing",
        "the factor lambda missing in the outer step",
        **changed(pfedme_round, factor=lambda algorithm: 1.0),
    ),
    mistake(
        "personal-models-averaged",
        "the server averaging the personal models instead of the clients' copies",
        **changed(pfedme_round, sent_back=lambda local, theta: theta),
    ),
    mistake(
        "server-mix-ignored",
        "the server's mixing parameter beta ignored",
        parameters={"server_mix": 1.0},
        applies=lambda algorithm: algorithm.server_mix != 1.0,
    ),
)
