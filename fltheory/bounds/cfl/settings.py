r"""The noisy-quadratic experiment of the CFL paper (section C.1): eight settings, three algorithms, tuned rates.

The settings cross small and large smoothness (``L = 5, 20``), strong and general convexity (``mu = 1, 0``) and
small and big round drift (:math:`\mathbb E\|\xi\|^2 = 0.01, 100`), with :math:`\mathbb E\|\delta\|^2 = 0.01` and
:math:`\mathbb E\|\nu\|^2 = 10^{-5}`. The loss is the norm of :math:`Aw + B`; here its root mean square, which the
exact engine computes without sampling. For every setting and algorithm the constant learning rate is the one
that minimises the loss after the last round.

The paper leaves open: dimension, number of clients, local steps, rounds, the start and FedProx's coefficient.
The defaults below are choices of this package.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fltheory.algorithms.base import Algorithm
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fedprox import FedProx
from fltheory.participation import Participation
from fltheory.quadratic import Quadratic, noisy_quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories
from fltheory.simulation.tuning import tune_rate


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One of the eight settings, and the sizes that the paper leaves open."""

    name: str
    L: float
    mu: float
    round_drift_sq: float
    dim: int = 20
    num_clients: int = 10
    local_steps: int = 10
    rounds: int = 100
    radius: float = 10.0
    centred: bool = True

    def problem(self, seed: int = 0) -> Quadratic:
        """Return the instance."""
        return noisy_quadratic(
            dim=self.dim,
            num_clients=self.num_clients,
            mu=self.mu,
            L=self.L,
            radius=self.radius,
            client_drift_sq=0.01,
            client_drift_centred=self.centred,
            round_drift_sq=self.round_drift_sq,
            noise_sq=1e-5,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The tuned run of one algorithm in one setting."""

    setting: Setting
    algorithm: str
    rate: float
    loss: float
    """Root mean square of ``||A w + B||`` after the last round."""
    trajectories: Trajectories


def settings() -> tuple[Setting, ...]:
    """Return the eight settings in the order of the paper's table of best rates.

    >>> [setting.name for setting in settings()][:3]
    ['SRD-SL-SC', 'SRD-LL-SC', 'SRD-SL-GC']
    """
    return tuple(
        Setting(name=f"{drift}-{smooth}-{convex}", L=big, mu=mu, round_drift_sq=drift_sq)
        for drift, drift_sq in (("SRD", 0.01), ("BRD", 100.0))
        for convex, mu in (("SC", 1.0), ("GC", 0.0))
        for smooth, big in (("SL", 5.0), ("LL", 20.0))
    )


def algorithms() -> tuple[Algorithm, ...]:
    """Return the algorithms that the paper compares."""
    return (FedAvg(), FedProx(prox=1.0), CFLR())


def tuned(setting: Setting, algorithm: Algorithm, *, seed: int = 0) -> Result:
    """Tune the learning rate of an algorithm in a setting and return the best run."""
    experiment = Experiment(
        problem=setting.problem(seed),
        algorithm=algorithm,
        participation=Participation(num_clients=setting.num_clients, local_steps=setting.local_steps),
        rounds=setting.rounds,
        rate=1.0,
    )
    best = tune_rate(experiment, quantity="gradient_norm_sq", low=1e-3, high=1.0)
    return Result(
        setting=setting,
        algorithm=algorithm.title,
        rate=best.rate,
        loss=math.sqrt(best.loss),
        trajectories=best.trajectories,
    )
