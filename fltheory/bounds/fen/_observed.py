r"""FedElasticNet for FedDyn on a user's own experiment.

Theorem 3.1 is about solutions of sub-problems, of subgradients and of what clients store, which no run records. So the
algorithm is taken through the rounds of the experiment once more, with exact sub-problems, and its quantities are noted
on the way. The statement is about one horizon, the number of rounds of the experiment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.errors import NotApplicable
from fltheory.problems.problem import Objective, Origin


def about(facts: Facts) -> str:
    """Return which setting it is; raise for other algorithms, and for participation that is random."""
    algorithm = facts.algorithm
    if not isinstance(algorithm, FedElasticNet3) or algorithm.l1 <= 0:
        raise NotApplicable(
            f"the statement is about FedElasticNet 3 with l1 > 0, got {algorithm.title}"
            + (f" with l1={algorithm.l1:g}" if isinstance(algorithm, FedElasticNet3) else "")
        )
    if not facts.everybody_completes():
        raise NotApplicable("the statement is read on experiments in which all clients take part in all rounds")
    return f"FedElasticNet 3, {facts.num_clients} clients, {algorithm.memory_rule} stored"


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return what the theorem assumes of the algorithm and of the clients."""
    algorithm = facts.algorithm
    assert isinstance(algorithm, FedElasticNet3)
    spread = float(np.ptp(facts.problem.weights))
    return (
        Requirement("sub-problems are solved", algorithm.exact, f"exact = {algorithm.exact}"),
        Requirement("updates are sent whole", algorithm.epsilon == 0, f"epsilon = {algorithm.epsilon:g}"),
        Requirement("all clients weigh alike", spread < 1e-12, f"weights differ by {spread:g}"),
    )


def quantities(facts: Facts) -> Mapping[str, Any]:
    """Return the quantities of the theorem after all rounds."""
    algorithm, problem = facts.algorithm, facts.problem
    assert isinstance(algorithm, FedElasticNet3)
    known = facts.require("L", "w_star")
    clients = facts.num_clients
    own = [problem.objective(np.eye(clients)[client]) for client in range(clients)]
    whole = problem.objective()
    walk = _walk(facts)
    return {
        "m": clients,
        "P": clients,
        "d": problem.dim,
        "beta": known["L"],
        "lambda_1": algorithm.l1,
        "lambda_2": algorithm.l2,
        "theta_star": known["w_star"],
        "grad": lambda k, x: _gradient(own[int(k) - 1], x),
        "risk": lambda x: float(whole.gap(np.asarray(x, dtype=float))) + whole.f_star,
        "local_0": np.stack([one.w_star for one in own]),
        "T": facts.rounds,
        "chance": [1.0],
        "gamma_0": walk["gamma_at"][0],
        "remembers_signs": int(algorithm.memory_rule == "sign"),
        **{name: [values] for name, values in walk.items()},
    }


def _gradient(objective: Objective, x: Any) -> Floats:
    return np.asarray(objective.gradient(np.asarray(x, dtype=float)))


def _walk(facts: Facts) -> dict[str, Floats]:
    """Return what happens in every round: mean models, server models, solutions and subgradients."""
    algorithm, problem = facts.algorithm, facts.problem
    assert isinstance(algorithm, FedElasticNet3)
    l1, l2 = algorithm.l1, algorithm.l2
    oracle = problem.reference_oracle(seed=0, replicates=range(1))
    oracle.begin_round(0)
    server = np.asarray(facts.experiment.start)[None, None]
    h, stored = np.zeros_like(server), np.zeros((1, facts.num_clients, problem.dim))
    local = np.stack([problem.objective(row).w_star for row in np.eye(facts.num_clients)])[None]
    noted: dict[str, list[Floats]] = {
        name: [] for name in ("gamma_at", "server_at", "tilde_at", "tilde_own_at", "kick_at")
    }
    for _ in range(facts.rounds):
        solved = oracle.prox(server, pull=l2, l1=l1, linear=-stored)
        moved = solved - server
        kick = (stored - oracle.gradient(solved) - l2 * moved) / l1
        centred = oracle.prox(local, pull=l2, l1=l1, linear=-stored)
        for name, value in (
            ("gamma_at", server[0, 0] + h[0, 0] / l2),
            ("server_at", server[0, 0]),
            ("tilde_at", solved[0]),
            ("tilde_own_at", centred[0]),
            ("kick_at", kick[0]),
        ):
            noted[name].append(np.array(value))
        force = np.sign(moved) if algorithm.memory_rule == "sign" else kick
        change = l2 * moved + l1 * force
        stored = stored - change
        h = h - change.mean(axis=1, keepdims=True)
        server = server + moved.mean(axis=1, keepdims=True) - h / l2
        local = solved
    return {name: np.stack(values) for name, values in noted.items()}


def main_bound(memory: str = "") -> Observation:
    """Return how Theorem 3.1 is read on an experiment; ``memory`` is what has to be stored, if that matters."""

    def required(facts: Facts) -> Sequence[Requirement]:
        assert isinstance(facts.algorithm, FedElasticNet3)
        rule = facts.algorithm.memory_rule
        stored = (Requirement(f"clients store each {memory}", rule == memory, f"memory_rule = {rule}"),)
        return (*conditions(facts), *(stored if memory else ()))

    def read(facts: Facts) -> Mapping[str, Any]:
        env = quantities(facts)
        facts.keep("lambda_1", env["lambda_1"], Origin.DECLARED, "of the algorithm")
        facts.keep("lambda_2", env["lambda_2"], Origin.DECLARED, "of the algorithm")
        return env

    return Observation(
        quantities=read, about=about, axis="T", conditions=required, algorithm=lambda: FedElasticNet3(exact=True)
    )
