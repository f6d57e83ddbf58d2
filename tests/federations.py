"""Small random federations, and algorithms run on them round by round.

Everything runs on the reference oracle: few clients, few dimensions, dense Hessians that differ between clients,
unequal objective weights, and a table of completed steps in which any client may be absent from any round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fltheory._internal.arguments import Floats, Ints
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.problems.oracle import Round
from fltheory.problems.problem import EngineOracle
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.engines.terms import own_draws


@dataclass(frozen=True, kw_only=True)
class Federation:
    """A problem and who does how many steps in which round.

    Parameters
    ----------
    problem
        Quadratics without a common basis; ``problem.start`` is the model before round 0.
    rate
        Local learning rate.
    local_steps
        Steps assigned to a client.
    steps
        Completed steps, shape ``(rounds, clients)``.
    """

    problem: Quadratic
    rate: float
    local_steps: int
    steps: Ints

    @property
    def rounds(self) -> int:
        return len(self.steps)

    def work(self, index: int, steps: Ints | None = None) -> Round:
        """Return the terms of a round; participants weigh in proportion to the objective."""
        steps = self.steps[index] if steps is None else np.asarray(steps, dtype=np.int64)
        present = self.problem.weights * (steps > 0)
        return Round(
            index=index,
            rates=(self.rate,),
            local_steps=self.local_steps,
            p=self.problem.weights,
            steps=steps[None],
            weights=(present / present.sum() if present.any() else present)[None],
            boost=np.ones(self.problem.num_clients),
        )

    def oracle(self, *, seed: int = 0, replicates: range = range(1)) -> EngineOracle:
        """Return a reference oracle standing in round 0."""
        oracle = self.problem.reference_oracle(seed=seed, replicates=replicates)
        oracle.begin_round(0)
        return oracle

    def altered(self, **changes: Any) -> Federation:
        """Return the same schedule on a problem with other fields."""
        return replace(self, problem=replace(self.problem, **changes))

    def complete(self, rounds: int | None = None) -> Federation:
        """Return the federation in which everybody completes every step."""
        shape = (self.rounds if rounds is None else rounds, self.problem.num_clients)
        return replace(self, steps=np.full(shape, self.local_steps))

    def still(self) -> Federation:
        """Return the federation without noise and without drift over rounds."""
        return self.altered(noise_sq=np.zeros(self.problem.num_clients), round_drift_sq=0.0)

    def equally_weighted(self) -> Federation:
        return self.altered(sample_counts=np.ones(self.problem.num_clients))


def federation(seed: int, *, clients: int = 3, dim: int = 3, local_steps: int = 2, rounds: int = 4) -> Federation:
    """Return a random federation with noise and round drift; its first round has an absent client if it can."""
    rng = np.random.default_rng(seed)
    turns = np.linalg.qr(rng.standard_normal((clients, dim, dim)))[0]
    hessian = np.einsum("nab,nb,ncb->nac", turns, rng.uniform(0.5, 2.0, (clients, dim)), turns)
    minimisers = rng.uniform(-2.0, 2.0, (clients, dim))
    steps = rng.integers(0, local_steps + 1, (rounds, clients))
    steps[np.arange(rounds), rng.integers(0, clients, rounds)] = local_steps
    if clients > 1:
        steps[0, (np.argmax(steps[0]) + 1) % clients] = 0
    return Federation(
        problem=Quadratic(
            hessian=(hessian + hessian.swapaxes(1, 2)) / 2,
            linear=-np.einsum("nab,nb->na", hessian, minimisers),
            constant=np.zeros(clients),
            sample_counts=rng.integers(1, 6, clients).astype(float),
            noise_sq=rng.uniform(0.1, 1.0, clients),
            round_drift_sq=0.3,
            start=rng.uniform(-2.0, 2.0, dim),
        ),
        rate=float(rng.uniform(0.03, 0.1)),
        local_steps=local_steps,
        steps=steps,
    )


def federations(*, min_clients: int = 2, max_clients: int = 4, max_steps: int = 3) -> st.SearchStrategy[Federation]:
    """Return random federations."""
    return st.builds(
        federation,
        st.integers(0, 2**20),
        clients=st.integers(min_clients, max_clients),
        dim=st.integers(1, 4),
        local_steps=st.integers(1, max_steps),
        rounds=st.integers(2, 4),
    )


def begin(algorithm: Algorithm, on: Federation, oracle: EngineOracle, *, replicates: int = 1) -> Any:
    """Return the state before round 0."""
    return algorithm.init(np.tile(on.problem.start, (replicates, 1)), oracle, on.problem.weights)


def with_draws(algorithm: Algorithm, work: Round, dim: int, *, seed: int = 0, replicates: range = range(1)) -> Round:
    """Return the round with the results of the algorithm's own chances.

    Uniform numbers are those of the first client for all of them: laws renumber clients, and split one into two.
    """
    drawn = own_draws(algorithm, work, seed=seed, replicates=replicates, dim=dim)
    return replace(work, draws={name: one[:, :1] + 0 * one if one.ndim == 3 else one for name, one in drawn.items()})


def run(algorithm: Algorithm, on: Federation, *, seed: int = 0, replicates: range = range(1)) -> list[Any]:
    """Return the states before round 0 and after every round."""
    oracle = on.oracle(seed=seed, replicates=replicates)
    states = [begin(algorithm, on, oracle, replicates=len(replicates))]
    for index in range(on.rounds):
        oracle.begin_round(index)
        work = with_draws(algorithm, on.work(index), on.problem.dim, seed=seed, replicates=replicates)
        states.append(algorithm.round(states[-1], oracle, work).state)
    return states


def models(algorithm: Algorithm, on: Federation, *, seed: int = 0, replicates: range = range(1)) -> Floats:
    """Return the recorded models, shape ``(rounds + 1, replicates, dim)``."""
    return np.stack([algorithm.model(state) for state in run(algorithm, on, seed=seed, replicates=replicates)])


def outputs(algorithm: Algorithm, on: Federation) -> Floats:
    """Return recorded and personal models, shape ``(rounds + 1, 1, 1 | 1 + clients, dim)``."""
    rows = []
    for state in run(algorithm, on):
        personal, model = algorithm.personal(state), algorithm.model(state)[:, None]
        rows.append(model if personal is None else np.concatenate([model, personal], axis=1))
    return np.stack(rows)


def one_round(algorithm: Algorithm, on: Federation, state: Any, index: int, steps: Ints | None = None) -> RoundResult:
    """Return the outcome of a single round from the given state."""
    oracle = on.oracle()
    oracle.begin_round(index)
    return algorithm.round(state, oracle, with_draws(algorithm, on.work(index, steps), on.problem.dim))


def client_fields(state: Any, num_clients: int) -> dict[str, Floats]:
    """Return the arrays of a state that have one row per client."""
    fields = {name: np.asarray(value) for name, value in state._asdict().items()}
    return {name: value for name, value in fields.items() if value.ndim >= 3 and value.shape[1] == num_clients}


def close(actual: Any, expected: Any, *, tolerance: float = 1e-9) -> None:
    """Require equality to rounding, relative to the size of what is expected."""
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * (1.0 + np.abs(expected).max(initial=0.0)))


def same_states(actual: Any, expected: Any) -> None:
    """Require every array of two states to agree."""
    for name, value in expected._asdict().items():
        close(getattr(actual, name), value)


def same_models(one: Algorithm, other: Algorithm, on: Federation) -> None:
    """Require two algorithms to have the same iterates, noise included."""
    close(models(one, on, replicates=range(2)), models(other, on, replicates=range(2)))
