"""Laws of federated algorithms, as functions of an algorithm and a small random federation.

A law raises ``AssertionError`` when the algorithm breaks it. The property tests run the laws on the algorithms of
the package, and the mutants of ``tests/structure/test_mutants.py`` are run against the very same functions, so a
mutant that survives shows a law that cannot fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats, Ints
from fltheory.algorithms.base import Algorithm, RoundResult
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fedgate import FedGATE
from tests.federations import (
    Federation,
    begin,
    client_fields,
    close,
    models,
    one_round,
    outputs,
    run,
    same_models,
    same_states,
    with_draws,
)

# Laws of every algorithm.


def absent_clients_keep_their_memory(algorithm: Algorithm, on: Federation) -> None:
    """Require what a client stores not to change in a round without it."""
    states = run(algorithm, on)
    for index in range(on.rounds):
        before = client_fields(states[index], on.problem.num_clients)
        after = client_fields(states[index + 1], on.problem.num_clients)
        absent = on.steps[index] == 0
        for name, value in before.items():
            np.testing.assert_array_equal(after[name][:, absent], value[:, absent], err_msg=name)


def absent_clients_are_not_consulted(algorithm: Algorithm, on: Federation) -> None:
    """Require the round to be the same if the absent clients had other data."""
    states = run(algorithm, on)
    for index in range(on.rounds):
        absent = on.steps[index] == 0
        other = on.altered(
            hessian=np.where(absent[:, None, None], 3.0 * on.problem.hessian, on.problem.hessian),
            linear=np.where(absent[:, None], 1.0 - on.problem.linear, on.problem.linear),
        )
        same_states(one_round(algorithm, other, states[index], index).state, states[index + 1])


def empty_rounds_change_nothing(algorithm: Algorithm, on: Federation) -> None:
    """Require a round without participants to leave the state alone."""
    state = run(algorithm, on)[-1]
    nobody = np.zeros(on.problem.num_clients, dtype=np.int64)
    same_states(one_round(algorithm, on, state, on.rounds, nobody).state, state)


def clients_have_no_order(algorithm: Algorithm, on: Federation) -> None:
    """Require renumbered clients to have renumbered memories and the same model."""
    on, order = on.still(), np.roll(np.arange(on.problem.num_clients), 1)
    problem = on.problem
    other = replace(
        on.altered(
            hessian=problem.hessian[order], linear=problem.linear[order], sample_counts=problem.sample_counts[order]
        ),
        steps=on.steps[:, order],
    )
    close(models(algorithm, other), models(algorithm, on))
    moved, kept = run(algorithm, other)[-1], run(algorithm, on)[-1]
    for name, value in client_fields(kept, problem.num_clients).items():
        close(client_fields(moved, problem.num_clients)[name], value[:, order])


def clients_can_be_split(algorithm: Algorithm, on: Federation) -> None:
    """Require two copies of a client with half its weight each to do the work of the one."""
    on = on.still()
    problem, last = on.problem, on.problem.num_clients - 1
    copies = [*range(last + 1), last]
    counts = problem.sample_counts[copies]
    counts[last:] /= 2
    split = replace(
        on,
        problem=replace(
            problem,
            hessian=problem.hessian[copies],
            linear=problem.linear[copies],
            constant=problem.constant[copies],
            sample_counts=counts,
            noise_sq=problem.noise_sq[copies],
            client_drift=None,
            client_growth=None,
        ),
        steps=on.steps[:, copies],
    )
    close(models(algorithm, split), models(algorithm, on))


def shifts_carry_over(algorithm: Algorithm, on: Federation) -> None:
    """Require a shift of start and minimisers to shift every model."""
    v = np.linspace(-1.0, 2.0, on.problem.dim)
    pushed = np.einsum("nab,b->na", on.problem.hessian, v)
    shifted = on.altered(linear=on.problem.linear - pushed, start=on.problem.start + v)
    close(outputs(algorithm, shifted), outputs(algorithm, on) + v)


def rotations_carry_over(algorithm: Algorithm, on: Federation) -> None:
    """Require a rotation of a noiseless problem to rotate every model."""
    on = on.still()
    turn = np.linalg.qr(np.random.default_rng(5).standard_normal((on.problem.dim, on.problem.dim)))[0]
    hessian = turn @ on.problem.hessian @ turn.T
    rotated = on.altered(
        hessian=(hessian + hessian.swapaxes(1, 2)) / 2,
        linear=on.problem.linear @ turn.T,
        start=turn @ on.problem.start,
    )
    close(outputs(algorithm, rotated), outputs(algorithm, on) @ turn.T)


def models_are_affine_in_the_start(algorithm: Algorithm, on: Federation) -> None:
    """Require models from a point on the line through two starts to lie on the lines through theirs."""
    away = np.linspace(1.0, 3.0, on.problem.dim)
    share = -1.5
    one, other, between = (
        outputs(algorithm, on.altered(start=on.problem.start + factor * away)) for factor in (0.0, 1.0, share)
    )
    close(between, (1.0 - share) * one + share * other)


def round_number_is_not_read(algorithm: Algorithm, on: Federation) -> None:
    """Require the same work under another round number to have the same outcome."""
    for index, state in enumerate(run(algorithm, on)[:-1]):
        oracle = on.oracle()
        oracle.begin_round(index)
        work = with_draws(algorithm, on.work(index), on.problem.dim)
        same_states(
            algorithm.round(state, oracle, replace(work, index=index + 3)).state,
            algorithm.round(state, oracle, work).state,
        )


def replicates_may_differ_in_who_works(algorithm: Algorithm, on: Federation) -> None:
    """Require every replicate of a round to be as it would be alone, where each has participants of its own."""
    states = run(algorithm, on, replicates=range(3))
    nobody = np.zeros_like(on.steps[0])
    tables = [nobody, on.steps[0], np.full_like(nobody, on.local_steps)]

    def outcome(rows: Sequence[int]) -> RoundResult:
        oracle = on.oracle(replicates=range(rows[0], rows[-1] + 1))
        oracle.begin_round(1)
        works = [
            with_draws(algorithm, on.work(1, tables[row]), on.problem.dim, replicates=range(row, row + 1))
            for row in rows
        ]
        draws = {name: np.concatenate([work.draws[name] for work in works]) for name in works[0].draws}
        steps, weights = (np.concatenate([getattr(work, name) for work in works]) for name in ("steps", "weights"))
        state = type(states[1])(*(value[rows] if len(value) == 3 else value for value in states[1]))
        return algorithm.round(state, oracle, replace(works[0], steps=steps, weights=weights, draws=draws))

    together = outcome([0, 1, 2])
    for row in range(3):
        alone = outcome([row])
        for name, value in alone.state._asdict().items():
            joint = getattr(together.state, name)
            close(joint[[row]] if len(joint) == 3 else joint, value)  # one row if it is the same for all
        close(together.local[[row]], alone.local)


def messages_are_vectors_of_clients(algorithm: Algorithm, on: Federation) -> None:
    """Require messages to have one row per client, or one for all, with the entries of a model or of a matrix."""
    matrix = on.problem.dim * (on.problem.dim + 1) // 2
    for index, state in enumerate(run(algorithm, on, replicates=range(2))[:-1]):
        oracle = on.oracle(replicates=range(2))
        oracle.begin_round(index)
        work = with_draws(algorithm, on.work(index), on.problem.dim, replicates=range(2))
        outcome = algorithm.round(state, oracle, work)
        for message in (*outcome.uplink, *outcome.downlink):
            replicates, rows, dim = message.values.shape
            assert replicates in (1, 2)
            assert rows in (1, on.problem.num_clients)
            assert dim in (on.problem.dim, matrix)


# Laws of particular algorithms.


def closed_form(on: Federation, start: Floats, steps: Ints, *, correction: Floats, pull: float) -> Floats:
    r"""Return noiseless local models from matrices: :math:`M^s w - \eta\sum_{k<s} M^k (b + c - \rho w)`."""
    rows = []
    for i, count in enumerate(steps):
        h = on.problem.hessian[i]
        m = np.eye(on.problem.dim) - on.rate * (h + pull * np.eye(on.problem.dim))
        gain = sum((np.linalg.matrix_power(m, k) for k in range(count)), np.zeros_like(m))
        force = on.problem.linear[i] + correction[i] - pull * start
        rows.append(np.linalg.matrix_power(m, count) @ start - on.rate * gain @ force)
    return np.stack(rows)


def fedprox_steps_have_closed_form(algorithm: Any, on: Federation) -> None:
    """Require gradient steps on the objective plus ``prox / 2`` times the squared distance to the start."""
    on = on.still()
    local = one_round(algorithm, on, run(algorithm, on)[0], 0).local[0]
    none = np.zeros_like(on.problem.linear)
    close(local, closed_form(on, on.problem.start, on.steps[0], correction=none, pull=algorithm.prox))


def feddyn_steps_have_closed_form(algorithm: Any, on: Federation) -> None:
    """Require gradient steps with the linear term ``-h_i`` and the pull ``alpha`` of a squared distance."""
    on = on.still()
    for index, state in enumerate(run(algorithm, on)[:-1]):
        local = one_round(algorithm, on, state, index).local[0]
        close(local, closed_form(on, state.w[0], on.steps[index], correction=-state.h_i[0], pull=algorithm.alpha))


def zero_pull_is_fedavg(algorithm: Any, on: Federation) -> None:
    """Require FedAvg where the pull is switched off."""
    same_models(replace(algorithm, prox=0.0), FedAvg(), on)


def first_round_is_fedavg(algorithm: Algorithm, on: Federation) -> None:
    """Require memories that start at zero not to act in the first round."""
    close(models(algorithm, on)[1], models(FedAvg(), on)[1])


def mean_variate_is_kept(algorithm: Algorithm, on: Federation) -> None:
    """Require ``c`` to be the weighted mean of all the ``c_i``, whoever took part."""
    for state in run(algorithm, on):
        close(state.c, on.problem.weights @ state.c_i)


def mean_memory_is_kept(algorithm: Algorithm, on: Federation) -> None:
    """Require ``h`` to be the weighted mean of all the ``h_i``, whoever took part."""
    for state in run(algorithm, on):
        close(state.h, on.problem.weights @ state.h_i)


def variates_are_path_means(algorithm: Algorithm, on: Federation) -> None:
    """Require option II to store the mean of the stochastic gradients along the local path."""
    oracle = on.oracle()
    states = run(algorithm, on)
    for index, (before, after) in enumerate(pairwise(states)):
        oracle.begin_round(index)
        w = np.repeat(before.w[:, None], on.problem.num_clients, axis=1)
        total = np.zeros_like(w)
        for k in range(int(on.steps[index].max())):
            working = (on.steps[index] > k)[:, None]
            gradient = oracle.gradient(w, oracle.minibatch(k)) * working
            total = total + gradient
            w = w - on.rate * (gradient + (before.c[:, None] - before.c_i) * working)
        present = on.steps[index] > 0
        close(after.c_i[:, present], (total / np.maximum(on.steps[index], 1)[:, None])[:, present])


def full_participation_is_fedgate(algorithm: Any, on: Federation) -> None:
    """Require option II to track the corrections of FedGATE when everybody takes part."""
    same_models(algorithm, FedGATE(server_rate=algorithm.server_rate), on.complete())


def minimiser_is_reached(algorithm: Algorithm, on: Federation, *, rounds: int = 400) -> None:
    """Require the minimiser of the weighted objective without noise, although the Hessians differ."""
    on = on.still().complete(rounds)
    close(models(algorithm, on)[-1, 0], on.problem.objective().w_star, tolerance=1e-7)


def exact_memory_is_the_gradient(algorithm: Any, on: Federation) -> None:
    """Require ``h_i`` to be the gradient at the client's own solution if that is exact."""
    on = on.still()
    algorithm = replace(algorithm, exact=True)
    state = begin(algorithm, on, on.oracle())
    for index in range(on.rounds):
        outcome = one_round(algorithm, on, state, index)
        present, state = on.steps[index] > 0, outcome.state
        close(state.h_i[:, present], on.oracle().gradient(outcome.local)[:, present])


def work_does_not_tilt_the_direction(algorithm: Algorithm, on: Federation) -> None:
    """Require constant gradients to move FedNova along their weighted mean, whatever the step counts.

    Only for ``rate * prox <= 1``: beyond it the coefficients of the gradients alternate in sign, and their l1 norm, by
    which FedNova divides, is no longer their sum.
    """
    on = on.still().altered(hessian=np.zeros_like(on.problem.hessian))
    work = on.work(0, np.arange(on.problem.num_clients) % on.local_steps + 1)
    moved = algorithm.round(run(algorithm, on)[0], on.oracle(), work).state.w[0] - on.problem.start
    mean = on.problem.weights @ on.problem.linear
    along = (moved @ mean) / (mean @ mean)
    close(moved, along * mean)


def momentum_sees_the_server_model(algorithm: Any, on: Federation) -> None:
    """Require the statistics to be a running mean of full gradients at the server model."""
    states = run(algorithm, on)
    for index, (before, after) in enumerate(pairwise(states)):
        oracle = on.oracle()
        oracle.begin_round(index)
        mean = np.einsum("rn,rnd->rd", on.work(index).weights, oracle.gradient(before.w[:, None]))
        close(after.m, (1.0 - algorithm.momentum) * mean + algorithm.momentum * before.m)


def server_and_clients_share_one_model(algorithm: Algorithm, on: Federation) -> None:
    """Require the clients' copy to be the server's model after every broadcast."""
    for state in run(algorithm, on):
        close(state.w_client, state.w)
