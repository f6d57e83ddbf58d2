r"""What every algorithm of the package sends, in bits, derived by hand.

Three clients of four coordinates; the second one is absent, the third does one of its two steps. A vector of numbers
takes ``4 * 32 = 128`` bits, and a symmetric matrix, of ten numbers, 320.
"""

from dataclasses import replace

import numpy as np
import pytest

from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.continual import Continual
from fltheory.algorithms.diana import DIANA
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedamp import FedAMP
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fedavgm import FedAvgM
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fedgate import FedGATE
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedopt import FedOpt
from fltheory.algorithms.fedpaq import FedPAQ
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.algorithms.fen_scaffold import FedElasticNet2
from fltheory.algorithms.gossip_sgd import GossipSGD
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.mimelite import MimeLite
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.ruan import Ruan
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.signsgd import SignSGD
from fltheory.algorithms.vrl_sgd import VRLSGD
from fltheory.communication.messages import total_bits
from fltheory.configuration import registry
from tests.federations import federation, run, with_draws

VECTOR, MATRIX = 4 * 32, 10 * 32

FULL = 4 * (32 + 1)
"""A sparse vector without zeros: the gaps are certain, and a position takes one bit."""

LEVELS = 4 * (1 + 2) + 32
"""A sign and one of four levels for each entry, and one magnitude."""

TERNARY = 2 * (1 + 5 / 3) + 32
"""Two of four entries: ``q = 3/5``, ``b* = 1 + floor(log2(0.53)) = 0``, and so ``1 / (1 - 2/5)`` bits a position."""

PARTICIPANTS = 2

COSTS = [
    (APFL(), VECTOR, VECTOR),
    (CFLR(), 2 * VECTOR + MATRIX, 2 * VECTOR + MATRIX),
    (CFLR(form="sum"), 2 * VECTOR + MATRIX, 2 * VECTOR + MATRIX),
    (CFLR(curvature="diagonal"), 3 * VECTOR, 3 * VECTOR),
    (CFLR(curvature="empirical-fisher", gradient="stochastic"), 3 * VECTOR, 3 * VECTOR),
    (CFLR(weighting="current"), VECTOR, VECTOR),
    (Continual(), 0, 0),
    (Continual(variant="ewc"), 0, 0),
    (DIANA(levels=3), LEVELS, VECTOR),
    (EFL(), 3 * VECTOR, 3 * VECTOR),
    (EFL(compression=0.5), TERNARY + 2 * VECTOR, TERNARY + 2 * VECTOR),
    (FedAMP(), VECTOR, VECTOR),
    (FedAvg(), VECTOR, VECTOR),
    (FedAvgM(), VECTOR, VECTOR),
    (FedDyn(), VECTOR, VECTOR),
    (FedGATE(), VECTOR, 2 * VECTOR),
    (FedNova(), VECTOR, VECTOR),
    (FedOpt(), VECTOR, VECTOR),
    (FedPAQ(levels=3), LEVELS, VECTOR),
    (FedProx(), VECTOR, VECTOR),
    (FedElasticNet1(epsilon=0.0), FULL, VECTOR),
    (FedElasticNet1(epsilon=1e3), 0, VECTOR),
    (FedElasticNet2(epsilon=0.0), FULL + VECTOR, 2 * VECTOR),
    (FedElasticNet2(epsilon=1e3), VECTOR, 2 * VECTOR),
    (FedElasticNet3(epsilon=0.0), FULL, VECTOR),
    (FedElasticNet3(epsilon=1e3), 0, VECTOR),
    # What the server cannot work out itself is sent as well: the force where the displacement is cut.
    (FedElasticNet3(epsilon=0.0, memory_rule="subgradient"), FULL, VECTOR),
    (FedElasticNet3(epsilon=1e3, memory_rule="subgradient"), FULL, VECTOR),
    # The two that are present are neighbours on the ring.
    (GossipSGD(mixing="ring"), VECTOR, 0),
    (GossipSGD(mixing="identity"), 0, 0),
    (Mime(), 2 * VECTOR, 3 * VECTOR),
    (Mime(momentum=0.0), 2 * VECTOR, 2 * VECTOR),
    (MimeLite(), 2 * VECTOR, 2 * VECTOR),
    (MimeLite(momentum=0.0), VECTOR, VECTOR),
    (MinibatchSGD(), VECTOR, VECTOR),
    (PFedMe(), VECTOR, VECTOR),
    (Ruan(), VECTOR, VECTOR),
    # They meet after each of their steps, of which there are two and one.
    (Scaffnew(probability=1.0), 1.5 * VECTOR, 1.5 * VECTOR),
    (Scaffnew(probability=1e-12), 0, 0),
    (Scaffold(), 2 * VECTOR, 2 * VECTOR),
    (Scaffold(option="I"), 2 * VECTOR, 2 * VECTOR),
    (SignSGD(), 4, 4),
    (VRLSGD(), VECTOR, VECTOR),
]


@pytest.mark.parametrize(("algorithm", "up", "down"), COSTS, ids=lambda value: getattr(value, "title", None))
def test_what_a_round_costs(algorithm, up, down):
    """In the second round, so that memories are no longer zero; one client in continual learning sends nothing."""
    clients = 1 if isinstance(algorithm, Continual) else 3
    table = np.array([[2, 0, 2], [2, 0, 1]])[:, :clients]
    on = replace(federation(3, clients=clients, dim=4, local_steps=2), steps=table)
    state, oracle = run(algorithm, replace(on, steps=table[:1]))[-1], on.oracle()
    oracle.begin_round(1)
    work = with_draws(algorithm, on.work(1), 4)
    outcome = algorithm.round(state, oracle, work)
    for messages, each in ((outcome.uplink, up), (outcome.downlink, down)):
        assert total_bits(messages, work.active).tolist() == pytest.approx([PARTICIPANTS * each], rel=1e-9)


def test_every_algorithm_has_its_costs():
    assert {type(algorithm) for algorithm, _, _ in COSTS} == set(registry.algorithms().values())
