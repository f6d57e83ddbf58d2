r"""FedPAQ: federated averaging with periodic averaging and quantised updates.

.. math:: w_{i,k+1} = w_{i,k} - \eta\,g_i(w_{i,k}), \qquad
          w^{t+1} = w^t + \sum_i\omega_i\,Q(w_{i,s_i} - w^t),

with an unbiased random quantiser :math:`Q` (:mod:`fltheory.communication.quantisation`): clients upload the quantised
difference between their model and the one that they have received. Given the local models, the server model is that
of FedAvg in expectation, with :math:`\sum_i\omega_i^2\,\mathbb E\|Q(x_i) - x_i\|^2` more variance.

Reading taken.

* :math:`\omega_i` are the weights of the sampling design, :math:`\frac1r` for the :math:`r` nodes of the paper.
* :math:`Q` is the low-precision quantiser, the example of the paper, whose cost is counted without a further code.
* The model is downloaded without quantisation, as in the paper.

Quantisers round at random, with chances that depend on what is rounded, so that a round is not an affine map of the
state and the exact engine refuses it. The draws are the algorithm's own
(:class:`~fltheory.algorithms.base.Uniform`): noise and participation are those of other algorithms.

Source: Reisizadeh, Mokhtari, Hassani, Jadbabaie and Pedarsani, *FedPAQ: a communication-efficient federated learning
method with periodic averaging and quantization*, AISTATS 2020, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fltheory._internal.arguments import Floats
from fltheory.algorithms.base import Algorithm, RoundResult, Uniform, aggregate
from fltheory.communication.messages import Coding, Message
from fltheory.communication.quantisation import Quantiser
from fltheory.problems.oracle import Oracle, Round


class State(NamedTuple):
    """The server model."""

    w: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class FedPAQ(Algorithm):
    """FedPAQ: federated averaging with quantised updates.

    Parameters
    ----------
    levels
        Levels of the quantiser.
    """

    name: ClassVar[str] = "fedpaq"
    title: ClassVar[str] = "FedPAQ"

    levels: int = 4

    def __post_init__(self) -> None:
        Quantiser(levels=self.levels)

    @property
    def rotation_equivariant(self) -> bool:
        return False

    @property
    def not_affine(self) -> str:
        return "random rounding of the updates"

    def chances(self, local_steps: int) -> Mapping[str, Uniform]:
        return {"round": Uniform()}

    def init(self, start: Floats, oracle: Oracle, p: Floats) -> State:
        return State(w=start)

    def round(self, state: State, oracle: Oracle, work: Round) -> RoundResult:
        sent = state.w[:, None]
        local = oracle.local_steps(sent, work)
        update = Quantiser(levels=self.levels)(local - sent, work.draws["round"])
        w = state.w + aggregate(work.weights, update)
        return RoundResult(
            State(w=w),
            local,
            uplink=(Message(update, Coding.LEVELS, levels=self.levels),),
            downlink=(Message(sent),),
        )
