"""Bugs that users found in public federated-learning code, put back on purpose: some law must notice each.

A mutant differs from the algorithm of the package in one place. The laws are the functions of ``tests/laws.py`` that
the property tests run on the real algorithms, so what kills a mutant here would have caught the bug there. The table
states for every mutant exactly which laws of its family break; the others must go on holding.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from fltheory.algorithms.base import Algorithm, aggregate, keep_absent
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.mimelite import MimeLite
from fltheory.algorithms.scaffold import Scaffold
from tests import laws
from tests.federations import federation

SCAFFOLD = (
    laws.first_round_is_fedavg,
    laws.mean_variate_is_kept,
    laws.variates_are_path_means,
    laws.full_participation_is_fedgate,
    laws.minimiser_is_reached,
    laws.shifts_carry_over,
    laws.absent_clients_keep_their_memory,
)
SCAFFOLD_FROM_GRADIENTS = (laws.mean_variate_is_kept, laws.minimiser_is_reached, laws.clients_can_be_split)
FEDPROX = (
    laws.zero_pull_is_fedavg,
    laws.fedprox_steps_have_closed_form,
    laws.models_are_affine_in_the_start,
    laws.shifts_carry_over,
)
FEDDYN = (
    laws.mean_memory_is_kept,
    laws.feddyn_steps_have_closed_form,
    laws.absent_clients_keep_their_memory,
    laws.absent_clients_are_not_consulted,
    laws.models_are_affine_in_the_start,
    laws.minimiser_is_reached,
)
FEDNOVA = (laws.work_does_not_tilt_the_direction, laws.models_are_affine_in_the_start, laws.clients_can_be_split)
MOMENTUM = (laws.momentum_sees_the_server_model, laws.models_are_affine_in_the_start, laws.shifts_carry_over)
BOOKKEEPING = (laws.server_and_clients_share_one_model, laws.shifts_carry_over)


class VariatesStartAtTheModel(Scaffold):
    """Control variates of the clients start as copies of the model instead of zero."""

    def init(self, start, oracle, p):
        state = super().init(start, oracle, p)
        return state._replace(c_i=np.repeat(start[:, None], oracle.num_clients, axis=1))


class ServerVariateStartsAtZero(Scaffold):
    """Clients start at their gradients, but the server does not start at the mean of them."""

    def init(self, start, oracle, p):
        return super().init(start, oracle, p)._replace(c=np.zeros_like(start))


class ServerVariateOverParticipants(Scaffold):
    """The increment of the server variate is a mean over participants instead of over all clients."""

    def round(self, state, oracle, work):
        outcome = super().round(state, oracle, work)
        c = state.c + aggregate(work.weights, outcome.state.c_i - state.c_i)
        return outcome._replace(state=outcome.state._replace(c=c))


def renewed_variates(state, outcome, work, divisor):
    """Return the outcome with option II's control variates divided by another number of steps."""
    fresh = state.c_i - state.c[:, None] - (outcome.local - state.w[:, None]) / (divisor * work.rate)
    c_i = keep_absent(work.active, fresh, state.c_i)
    return outcome._replace(state=outcome.state._replace(c_i=c_i, c=aggregate(work.p, c_i)))


class VariatesDividedByEpochs(Scaffold):
    """One epoch is taken for one step."""

    def round(self, state, oracle, work):
        return renewed_variates(state, super().round(state, oracle, work), work, 1)


class VariatesDividedByAssignedSteps(Scaffold):
    """Stragglers are divided by the steps they were asked for, not by those they completed."""

    def round(self, state, oracle, work):
        return renewed_variates(state, super().round(state, oracle, work), work, work.local_steps)


class VariatesFromTheNewMean(Scaffold):
    """Option II subtracts the server variate of the round to come."""

    def round(self, state, oracle, work):
        outcome = super().round(state, oracle, work)
        c_i = keep_absent(work.active, outcome.state.c_i + (state.c - outcome.state.c)[:, None], state.c_i)
        return outcome._replace(state=outcome.state._replace(c_i=c_i, c=aggregate(work.p, c_i)))


def stepped(oracle, work, sent, direction):
    """Run local steps along ``direction(gradient, displacement)``."""
    local = np.repeat(sent, oracle.num_clients, axis=1)
    for k in range(int(work.steps.max())):
        change = direction(oracle.gradient(local, oracle.minibatch(k)), local - sent)
        local = local - work.rate * (work.steps > k)[:, :, None] * change
    return local


def unit(vectors):
    """Return the gradient of the norm, 0 at 0."""
    length = np.linalg.norm(vectors, axis=2, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def proximal_round(algorithm, state, oracle, work, direction):
    outcome = FedProx(prox=algorithm.prox).round(state, oracle, work)
    local = stepped(oracle, work, state.w[:, None], direction)
    w = state.w + aggregate(work.weights, local - state.w[:, None])
    return outcome._replace(state=outcome.state._replace(w=w), local=local)


class NormWithoutSquare(FedProx):
    """The penalty is half the norm instead of half its square."""

    def round(self, state, oracle, work):
        return proximal_round(self, state, oracle, work, lambda g, moved: g + self.prox / 2 * unit(moved))


class PullOverwritten(FedProx):
    """The gradient of the data replaces that of the penalty."""

    def round(self, state, oracle, work):
        return proximal_round(self, state, oracle, work, lambda g, moved: g)


class DataOverwritten(FedProx):
    """The gradient of the penalty replaces that of the data after the first step."""

    def round(self, state, oracle, work):
        def direction(gradient, moved):
            return np.where(moved == 0.0, gradient, self.prox * moved)

        return proximal_round(self, state, oracle, work, direction)


def dynamic_round(algorithm, state, outcome, work, *, local, h_i, h):
    w = state.w + aggregate(work.weights, local - state.w[:, None]) - h / algorithm.alpha
    return outcome._replace(state=outcome.state._replace(w=w, h=h, h_i=h_i), local=local)


class MemoryNormWithoutSquare(FedDyn):
    """The dynamic penalty is half the norm instead of half its square."""

    def round(self, state, oracle, work):
        outcome = super().round(state, oracle, work)
        sent = state.w[:, None]
        local = stepped(oracle, work, sent, lambda g, moved: g - state.h_i + self.alpha / 2 * unit(moved))
        h_i = state.h_i - self.alpha * (local - sent)
        return dynamic_round(self, state, outcome, work, local=local, h_i=h_i, h=aggregate(work.p, h_i))


class MemoryOverParticipants(FedDyn):
    """The increment of the server memory is a mean over participants instead of over all clients."""

    def round(self, state, oracle, work):
        outcome = super().round(state, oracle, work)
        h = state.h - self.alpha * aggregate(work.weights, outcome.local - state.w[:, None])
        return dynamic_round(self, state, outcome, work, local=outcome.local, h_i=outcome.state.h_i, h=h)


class MemoryOfTheAbsent(FedDyn):
    """Clients that do not take part renew their memories all the same."""

    def round(self, state, oracle, work):
        outcome = super().round(state, oracle, work)
        everybody = replace(work, steps=np.full_like(work.steps, work.local_steps))
        all_h_i = super().round(state, oracle, everybody).state.h_i
        h_i = np.where(work.active[:, :, None], outcome.state.h_i, all_h_i)
        return dynamic_round(self, state, outcome, work, local=outcome.local, h_i=h_i, h=aggregate(work.p, h_i))


class ResidualCountedTwice(EFL):
    """The server adds the residual that it also keeps for the next round."""

    def round(self, state, oracle, work):
        outcome = super().round(state, oracle, work)
        after = outcome.state
        return outcome._replace(state=after._replace(w=after.w + after.residual))


class WorkCountedInSteps(FedNova):
    """Displacements are normalised by the number of steps although the pull has damped the early ones."""

    def _norms(self, work):
        return work.steps.astype(float)


def path_statistics(algorithm, state, outcome, oracle, work):
    mean = aggregate(work.weights, oracle.gradient(outcome.local))
    m = (1.0 - algorithm.momentum) * mean + algorithm.momentum * state.m
    return outcome._replace(state=outcome.state._replace(m=m))


class MimeStatisticsFromThePath(Mime):
    """The momentum sees gradients at the clients' final models."""

    def round(self, state, oracle, work):
        return path_statistics(self, state, super().round(state, oracle, work), oracle, work)


class MimeLiteStatisticsFromThePath(MimeLite):
    """The momentum sees gradients at the clients' final models."""

    def round(self, state, oracle, work):
        return path_statistics(self, state, super().round(state, oracle, work), oracle, work)


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A bug, the algorithm it was put into, and the laws that notice it."""

    bug: Algorithm
    original: Algorithm
    family: tuple
    killers: set

    @property
    def name(self):
        return type(self.bug).__name__


def mutant(kind, family, killers, **parameters):
    return Mutant(bug=kind(**parameters), original=kind.__base__(**parameters), family=family, killers=set(killers))


MUTANTS = [
    mutant(
        VariatesStartAtTheModel,
        SCAFFOLD,
        [
            laws.first_round_is_fedavg,
            laws.mean_variate_is_kept,
            laws.full_participation_is_fedgate,
            laws.shifts_carry_over,
        ],
    ),
    mutant(ServerVariateStartsAtZero, SCAFFOLD_FROM_GRADIENTS, [laws.mean_variate_is_kept], initial="gradient"),
    mutant(ServerVariateOverParticipants, SCAFFOLD, [laws.mean_variate_is_kept]),
    mutant(
        VariatesDividedByEpochs,
        SCAFFOLD,
        [laws.variates_are_path_means, laws.full_participation_is_fedgate, laws.minimiser_is_reached],
    ),
    mutant(VariatesDividedByAssignedSteps, SCAFFOLD, [laws.variates_are_path_means]),
    # A common shift of all variates cancels in c - c_i, so only partial participation, or looking at them, shows it.
    mutant(VariatesFromTheNewMean, SCAFFOLD, [laws.variates_are_path_means]),
    mutant(
        NormWithoutSquare,
        FEDPROX,
        [laws.fedprox_steps_have_closed_form, laws.models_are_affine_in_the_start],
        prox=1.0,
    ),
    mutant(PullOverwritten, FEDPROX, [laws.fedprox_steps_have_closed_form], prox=1.0),
    mutant(DataOverwritten, FEDPROX, [laws.zero_pull_is_fedavg, laws.fedprox_steps_have_closed_form], prox=1.0),
    mutant(
        MemoryNormWithoutSquare,
        FEDDYN,
        [laws.feddyn_steps_have_closed_form, laws.models_are_affine_in_the_start, laws.minimiser_is_reached],
        alpha=1.0,
    ),
    mutant(MemoryOverParticipants, FEDDYN, [laws.mean_memory_is_kept], alpha=1.0),
    mutant(
        MemoryOfTheAbsent,
        FEDDYN,
        [laws.absent_clients_keep_their_memory, laws.absent_clients_are_not_consulted],
        alpha=1.0,
    ),
    mutant(ResidualCountedTwice, BOOKKEEPING, [laws.server_and_clients_share_one_model], compression=0.3),
    mutant(WorkCountedInSteps, FEDNOVA, [laws.work_does_not_tilt_the_direction], prox=2.0),
    mutant(MimeStatisticsFromThePath, MOMENTUM, [laws.momentum_sees_the_server_model]),
    mutant(MimeLiteStatisticsFromThePath, MOMENTUM, [laws.momentum_sees_the_server_model]),
]

FEDERATIONS = [replace(federation(seed, local_steps=3), rate=0.1) for seed in range(3)]


def survives(algorithm, law):
    """Return whether the law holds on all the federations."""
    for on in FEDERATIONS:
        try:
            with np.errstate(all="ignore"):
                law(algorithm, on)
        except AssertionError:
            return False
    return True


PAIRS = [pytest.param(m, law, id=f"{m.name}-{law.__name__}") for m in MUTANTS for law in m.family]


@pytest.mark.parametrize(("mutant", "law"), PAIRS)
def test_the_law_holds_for_the_original_and_notices_what_the_table_says(mutant, law):
    assert survives(mutant.original, law)
    assert survives(mutant.bug, law) == (law not in mutant.killers)


def test_every_mutant_is_killed_by_a_law_of_its_family():
    for entry in MUTANTS:
        assert entry.killers, f"{entry.name} survives"
        assert entry.killers <= set(entry.family)
