"""Rates per step, and what is recorded of single local steps, on networks."""

from typing import Any

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, simulate
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.errors import NotApplicable
from fltheory.participation import UniformSteps
from fltheory.simulation.schedules import PerStep

RECORD = Record(gradient_sq=True, local_models=True, mean_iterate=True, models=True)


def experiment_of(problem: Any, algorithm: Any, **more: Any) -> Experiment:
    participation = Participation(num_clients=3, local_steps=2, **more)
    rate = PerStep(scale=0.5, shift=3.0)
    return Experiment(problem=problem, algorithm=algorithm, participation=participation, rounds=2, rate=rate)


@pytest.mark.parametrize("algorithm", [FedAvg(), Scaffold(), Scaffnew()], ids=lambda a: a.name)
@pytest.mark.parametrize("kind", ["softmax", "mlp", "lstm"])
def test_both_engines_take_the_same_steps(make_network_problem: Any, kind: str, algorithm: Any) -> None:
    run = experiment_of(make_network_problem(kind, batch_size=2), algorithm, steps=UniformSteps(low=0))
    reference, quick = (
        simulate(run, engine=engine, replicates=2, record=RECORD) for engine in ("reference", "monte_carlo")
    )
    for name in ("models", "gradient_sq", "local_models", "mean_iterate", "mean_iterate_loss"):
        np.testing.assert_allclose(quick.curve(name), reference.curve(name), rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_looking_keeps_every_bit(make_network_problem: Any, precision: str) -> None:
    run = experiment_of(make_network_problem("mlp", batch_size=2, precision=precision), Scaffold())
    looked, plain = (simulate(run, replicates=2, record=record) for record in (RECORD, Record(models=True)))
    np.testing.assert_array_equal(looked.models, plain.models)


def test_what_is_seen_is_what_the_oracle_says(make_network_problem: Any) -> None:
    """FedAvg on a network: rates 1/6 and 1/8 in the first round."""
    problem = make_network_problem("mlp", batch_size=2)
    seen = simulate(experiment_of(problem, FedAvg()), replicates=1, seed=3, record=RECORD)
    oracle = problem.reference_oracle(seed=3, replicates=range(1))
    w = np.tile(problem.start, (1, 3, 1))
    for k, eta in enumerate((0.5 / 3, 0.5 / 4)):
        g = oracle.gradient(w, oracle.minibatch(k))
        np.testing.assert_allclose(seen.gradient_sq[0, 1, :, k], (g[0] ** 2).sum(axis=1), rtol=1e-9)
        w = w - eta * g
        mean = np.einsum("n,nd->d", problem.weights, w[0])
        np.testing.assert_allclose(seen.mean_iterate[0, 1, k], mean, rtol=1e-9, atol=1e-12)
        loss = problem.objective().measure(mean[None]).loss[0]
        np.testing.assert_allclose(seen.mean_iterate_loss[0, 1, k], loss, rtol=1e-9)
    np.testing.assert_allclose(seen.mean_iterate_loss[0, 2, -1], seen.loss[0, 2], rtol=1e-9)
    with pytest.raises(NotApplicable, match="curve 'mean_iterate_gap' was not recorded"):
        seen.curve("mean_iterate_gap")
