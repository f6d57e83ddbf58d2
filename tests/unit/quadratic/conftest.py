"""Work for one round, and problems that between them use every term of the quadratic model."""

import numpy as np
import pytest

from fltheory.problems.oracle import Round
from fltheory.quadratic import client_quadratics, noisy_quadratic


@pytest.fixture(scope="session")
def make_round():
    def make(steps, rate=0.05):
        counts = np.atleast_2d(np.asarray(steps, dtype=np.int64))
        clients = counts.shape[1]
        p = np.full(clients, 1 / clients)
        return Round(
            index=0,
            rates=(rate,),
            local_steps=max(int(counts.max()), 1),
            p=p,
            steps=counts,
            weights=np.where(counts > 0, p, 0.0),
            boost=np.ones(clients),
        )

    return make


@pytest.fixture(scope="session")
def make_problem():
    def make(kind, **more):
        if kind == "rotated":
            return noisy_quadratic(dim=5, num_clients=3, round_drift_sq=0.3, client_growth=0.2, seed=2, **more)
        if kind == "axes":
            return noisy_quadratic(
                dim=4,
                num_clients=3,
                rotated=False,
                scenario="S1",
                client_drift_sq=0.5,
                round_growth=0.3,
                seed=3,
                **more,
            )
        if kind == "commuting":
            return client_quadratics(dim=3, num_clients=3, commuting=True, sample_counts=[3, 1, 2], seed=4, **more)
        return client_quadratics(dim=4, num_clients=3, dissimilarity=3.0, round_drift_sq=0.2, seed=5, **more)

    return make
