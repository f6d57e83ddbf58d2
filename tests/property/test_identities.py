"""Reductions of one algorithm to another, identities between algorithms, and invariants of their memories."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.continual import Continual
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedamp import FedAMP
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fedgate import FedGATE
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.algorithms.fen_scaffold import FedElasticNet2
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.mimelite import MimeLite
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.ruan import Ruan
from fltheory.algorithms.scaffold import Scaffold
from fltheory.algorithms.signsgd import SignSGD
from fltheory.algorithms.vrl_sgd import VRLSGD
from tests import laws
from tests.federations import close, federation, federations, models, one_round, outputs, run, same_models

few = settings(deadline=None, max_examples=20)
rates = st.sampled_from([0.5, 1.0, 1.3])
pulls = st.sampled_from([0.1, 1.0, 3.0])


def ids(pairs):
    return [f"{type(one).__name__}-{type(other).__name__}" for one, other in pairs]


# Reductions that hold for any participation, with noise.

ALWAYS = [
    (FedProx(prox=0.0), FedAvg()),
    (MimeLite(momentum=0.0), FedAvg()),
    (CFLR(weighting="current"), FedAvg()),
    (APFL(mixing=0.3), FedAvg()),
    (APFL(adaptive=True), FedAvg()),
    (FedElasticNet1(l1=0.0, l2=0.0, epsilon=0.0), FedAvg()),
    (FedElasticNet1(l1=0.0, l2=0.7, epsilon=0.0), FedProx(prox=0.7)),
    (FedElasticNet2(l1=0.0, l2=0.0, epsilon=0.0, server_rate=1.2), Scaffold(option="II", server_rate=1.2)),
    (FedElasticNet3(l1=0.0, l2=0.8, epsilon=0.0), FedDyn(alpha=0.8)),
    (FedElasticNet3(l1=0.0, l2=0.8, epsilon=0.0, exact=True), FedDyn(alpha=0.8, exact=True)),
    (FedElasticNet3(l1=0.0, l2=0.8, epsilon=0.0, memory_rule="subgradient"), FedDyn(alpha=0.8)),
    (EFL(elasticity=0.0), Ruan(scheme="C")),
    (VRLSGD(), FedGATE(server_rate=1.0)),
    (PFedMe(attraction=4.0, inner_steps=1, inner_rate=0.25), FedAvg()),
    (PFedMe(attraction=4.0, inner_steps=1, inner_rate=0.25, server_mix=1.3), FedAvg(server_rate=1.3)),
]

# Reductions that need everybody to complete every step.

COMPLETE = [
    (FedNova(), FedAvg()),
    (Ruan(scheme="A"), FedAvg()),
    (Ruan(scheme="B"), FedAvg()),
    (Ruan(scheme="C"), FedAvg()),
    (EFL(elasticity=0.0), FedAvg()),
    (FedElasticNet1(l1=0.0, l2=0.7, epsilon=0.0, weights="all"), FedProx(prox=0.7)),
    (FedElasticNet1(l1=0.0, l2=0.7, epsilon=0.0, weights="participants"), FedProx(prox=0.7)),
    (Scaffold(option="II"), FedGATE()),
    (Scaffold(option="II", server_rate=1.4), FedGATE(server_rate=1.4)),
    (Scaffold(option="II"), VRLSGD()),
    (CFLR(form="sum"), CFLR(form="weighted")),
    (CFLR(form="sum", curvature="diagonal"), CFLR(form="weighted", curvature="diagonal")),
    (CFLR(form="sum", gradient="stochastic"), CFLR(form="weighted", gradient="stochastic")),
]

# Reductions that need a single client, who then has nobody to agree with.

ALONE = [
    (Scaffold(option="II"), FedAvg()),
    (Scaffold(option="I"), FedAvg()),
    (Scaffold(option="I", initial="gradient"), FedAvg()),
    (FedGATE(), FedAvg()),
    (VRLSGD(), FedAvg()),
    (FedNova(), FedAvg()),
    (Continual(variant="naive"), FedAvg()),
    (Continual(variant="ewc", strength=0.0), FedAvg()),
    (FedAMP(attraction=0.6, cloud_rate=0.3), FedProx(prox=2.0)),
    (FedAMP(attraction=0.6, cloud_rate=0.3, heuristic=True), FedProx(prox=2.0)),
]


@pytest.mark.parametrize(("one", "other"), ALWAYS, ids=ids(ALWAYS))
@few
@given(on=federations())
def test_reductions_for_any_participation(one, other, on):
    same_models(one, other, on)


@pytest.mark.parametrize(("one", "other"), COMPLETE, ids=ids(COMPLETE))
@few
@given(on=federations())
def test_reductions_under_full_participation(one, other, on):
    same_models(one, other, on.complete())


@pytest.mark.parametrize(("one", "other"), ALONE, ids=ids(ALONE))
@few
@given(on=federations(min_clients=1, max_clients=1))
def test_reductions_for_one_client(one, other, on):
    same_models(one, other, on)


@few
@given(on=federations(min_clients=1, max_clients=1))
def test_one_client_is_sgd(on):
    oracle, w = on.oracle(), on.problem.start[None, None]
    path = [w[0]]
    for index in range(on.rounds):
        oracle.begin_round(index)
        for k in range(int(on.steps[index, 0])):
            w = w - on.rate * oracle.gradient(w, oracle.minibatch(k))
        path.append(w[0])
    close(models(FedAvg(), on), np.stack(path))


@few
@given(on=federations(max_steps=1), server_rate=rates)
def test_one_local_step_is_minibatch_sgd(on, server_rate):
    same_models(MinibatchSGD(server_rate=server_rate), FedAvg(server_rate=server_rate), on)


@few
@given(on=federations(max_steps=1))
def test_one_noiseless_step_of_mime_is_fedavg(on):
    same_models(Mime(momentum=0.0), FedAvg(), on.still())


@few
@given(on=federations(min_clients=1, max_clients=1))
def test_mime_with_one_noiseless_client_is_fedavg(on):
    same_models(Mime(momentum=0.0), FedAvg(), on.still())


@few
@given(on=federations())
def test_memories_that_start_at_zero_do_not_act_in_the_first_round(on):
    for algorithm in (Scaffold(), FedGATE(), VRLSGD(), CFLR(), CFLR(weighting="geometric")):
        laws.first_round_is_fedavg(algorithm, on)
    dynamic, pulled = (one_round(a, on, run(a, on)[0], 0) for a in (FedDyn(alpha=0.4), FedProx(prox=0.4)))
    close(dynamic.local, pulled.local)


@few
@given(on=federations())
def test_apfl_personal_parts_at_the_ends_of_the_mixing_range(on):
    """With mixing 0 they stay; with mixing 1 each client runs SGD on its own and never hears of the others."""
    start = np.tile(on.problem.start, (1, on.problem.num_clients, 1))
    close(run(APFL(mixing=0.0), on)[-1].v, start)
    oracle, v = on.oracle(), start
    for index in range(on.rounds):
        oracle.begin_round(index)
        for k in range(int(on.steps[index].max())):
            v = v - on.rate * (on.steps[index] > k)[:, None] * oracle.gradient(v, oracle.minibatch(k))
    close(run(APFL(mixing=1.0), on)[-1].v, v)


@few
@given(on=federations(max_steps=1))
def test_pfedme_has_nothing_to_carry_over_in_a_single_local_round(on):
    same_models(PFedMe(reset_inner=False), PFedMe(reset_inner=True), on)


@few
@given(on=federations())
def test_pfedme_with_many_inner_steps_descends_the_moreau_envelope(on):
    """After K outer steps of a well solved prox problem: ``w - eta * lambda * (w - prox(w))``, K times."""
    on = on.still().complete()
    algorithm = PFedMe(attraction=5.0, inner_steps=400, inner_rate=0.1)
    state = run(algorithm, on)[-1]
    local = np.repeat(state.w[:, None], on.problem.num_clients, axis=1)
    for _ in range(on.local_steps):
        local = local - on.rate * 5.0 * (local - on.oracle().prox(local, pull=5.0))
    close(one_round(algorithm, on, state, 0).local, local)


@few
@given(on=federations())
def test_heuristic_fedamp_with_self_weight_one_leaves_clients_alone(on):
    """The mixture is the client's own model, so each runs FedProx steps around itself, without averaging."""
    on = on.still()
    algorithm = FedAMP(attraction=1.0, cloud_rate=1.0, heuristic=True, self_weight=1.0)
    states = run(algorithm, on)
    none = np.zeros_like(on.problem.linear)
    for index in range(on.rounds):
        for i in range(on.problem.num_clients):
            own = states[index].w_i[0, i]
            expected = laws.closed_form(on, own, on.steps[index], correction=none, pull=1.0)[i]
            close(states[index + 1].w_i[0, i], expected)


@few
@given(on=federations())
def test_signs_do_not_see_the_scale_of_a_client(on):
    scale = np.linspace(0.5, 4.0, on.problem.num_clients)
    on = on.still()
    other = on.altered(hessian=scale[:, None, None] * on.problem.hessian, linear=scale[:, None] * on.problem.linear)
    close(models(SignSGD(), other), models(SignSGD(), on))


# Identities.


@few
@given(on=federations(), data=st.data())
def test_scheme_c_with_everybody_active_is_fednova_with_all_assigned_steps(on, data):
    shape = on.steps.shape
    counts = data.draw(st.lists(st.integers(1, on.local_steps), min_size=on.steps.size, max_size=on.steps.size))
    on = replace(on, steps=np.array(counts).reshape(shape))
    same_models(Ruan(scheme="C"), FedNova(effective_steps=float(on.local_steps)), on)


@few
@given(on=federations())
def test_cflr_does_not_forget_and_need_not_when_nothing_changes(on):
    """On an objective without drift the remembered past is the present, so CFL-R is FedAvg."""
    on = on.still().complete()
    for algorithm in (CFLR(), CFLR(weighting="geometric", forgetting=0.6), CFLR(form="sum")):
        same_models(algorithm, FedAvg(), on)


@few
@given(on=federations())
def test_cflr_descends_the_mean_of_all_objectives_so_far(on):
    """With drifting objectives the steps of round t are gradient steps on their mean, in every round."""
    on = on.complete().altered(noise_sq=np.zeros(on.problem.num_clients))
    oracle, past = on.oracle(), []
    for index, state in enumerate(run(CFLR(), on)[:-1]):
        oracle.begin_round(index)
        past.append(oracle.gradient(np.zeros((1, 1, on.problem.dim)))[0])
        mean = replace(on, problem=replace(on.problem, linear=np.mean(past, axis=0)))
        none = np.zeros_like(on.problem.linear)
        expected = laws.closed_form(mean, state.w[0], on.steps[index], correction=none, pull=0.0)
        close(one_round(CFLR(), on, state, index).local[0], expected)


@few
@given(on=federations())
def test_scaffold_corrections_are_fedgates(on):
    on = on.complete()
    for controlled, tracked in zip(run(Scaffold(), on), run(FedGATE(), on), strict=True):
        close(controlled.c_i - controlled.c[:, None], tracked.delta)


def test_scaffold_and_fedgate_part_ways_under_partial_participation():
    on = federation(1)
    assert np.abs(models(Scaffold(), on) - models(FedGATE(), on)).max() > 1e-3


# Invariants under partial participation.


@few
@given(on=federations(), option=st.sampled_from(["I", "II"]), initial=st.sampled_from(["zero", "gradient"]))
def test_server_variate_is_the_mean_of_the_clients(on, option, initial):
    laws.mean_variate_is_kept(Scaffold(option=option, initial=initial), on)
    laws.mean_variate_is_kept(FedElasticNet2(l1=0.05, l2=0.2, epsilon=0.01), on)


@few
@given(on=federations())
def test_variates_are_mean_gradients_along_the_path(on):
    laws.variates_are_path_means(Scaffold(option="II"), on)


@few
@given(on=federations())
def test_option_one_stores_gradients_at_the_server_model(on):
    on = on.altered(round_drift_sq=0.0)
    states = run(Scaffold(option="I"), on)
    for index, (before, after) in enumerate(pairwise(states)):
        present = on.steps[index] > 0
        close(after.c_i[:, present], on.oracle().gradient(before.w[:, None])[:, present])


@few
@given(on=federations(), alpha=pulls, exact=st.booleans())
def test_server_memory_is_the_mean_of_the_clients(on, alpha, exact):
    laws.mean_memory_is_kept(FedDyn(alpha=alpha, exact=exact), on)
    # The sign rule needs all of the displacement; the subgradient rule sends what the cut hides.
    laws.mean_memory_is_kept(FedElasticNet3(l1=0.05, l2=alpha, epsilon=0.0, exact=exact), on)
    cut = FedElasticNet3(l1=0.05, l2=alpha, epsilon=0.01, exact=exact, memory_rule="subgradient")
    laws.mean_memory_is_kept(cut, on)


def test_the_cut_separates_the_sign_memories_of_server_and_clients():
    with pytest.raises(AssertionError):
        laws.mean_memory_is_kept(FedElasticNet3(l1=0.05, l2=1.0, epsilon=0.05), federation(2))


@few
@given(on=federations(), alpha=pulls)
def test_exact_memories_are_gradients(on, alpha):
    laws.exact_memory_is_the_gradient(FedDyn(alpha=alpha), on)
    rule = FedElasticNet3(l1=0.2, l2=alpha, epsilon=0.0, memory_rule="subgradient")
    laws.exact_memory_is_the_gradient(rule, on)


@few
@given(on=federations(), alpha=pulls)
def test_local_steps_have_their_closed_form(on, alpha):
    laws.feddyn_steps_have_closed_form(FedDyn(alpha=alpha), on)
    laws.fedprox_steps_have_closed_form(FedProx(prox=alpha), on)


@few
@given(on=federations(), server_rate=rates)
def test_tracking_corrections_sum_to_zero(on, server_rate):
    for algorithm in (FedGATE(server_rate=server_rate), VRLSGD(), VRLSGD(warm_up=True)):
        for state in run(algorithm, on):
            close(on.problem.weights @ state.delta, np.zeros((1, on.problem.dim)))
        for state in run(algorithm, on.equally_weighted()):
            close(state.delta.sum(axis=1), np.zeros((1, on.problem.dim)))


@few
@given(on=federations(), momentum=st.sampled_from([0.0, 0.5, 0.9]))
def test_statistics_are_made_of_gradients_at_the_server_model(on, momentum):
    laws.momentum_sees_the_server_model(Mime(momentum=momentum), on)
    if momentum > 0:
        laws.momentum_sees_the_server_model(MimeLite(momentum=momentum), on)


@few
@given(on=federations(), prox=st.sampled_from([0.0, 0.5, 2.0, 8.0]))
def test_fednova_weighs_by_work_not_by_steps(on, prox):
    laws.work_does_not_tilt_the_direction(FedNova(prox=prox), on)


@few
@given(on=federations(), fraction=st.sampled_from([0.3, 0.5, 1.0]), ties=st.sampled_from(["exact", "threshold"]))
def test_consistent_bookkeeping_keeps_the_copies_equal(on, fraction, ties):
    laws.server_and_clients_share_one_model(EFL(compression=fraction, ties=ties), on)


@few
@given(on=federations())
def test_printed_bookkeeping_counts_residuals_again_in_every_round(on):
    """Server minus client copy is the sum of all residuals so far: each stays in the difference for ever."""
    states = run(EFL(compression=0.3, bookkeeping="printed"), on)
    total = np.cumsum([state.residual for state in states], axis=0)
    for state, residuals in zip(states, total, strict=True):
        close(state.w - state.w_client, residuals)


def test_printed_bookkeeping_lets_the_copies_drift():
    with pytest.raises(AssertionError):
        laws.server_and_clients_share_one_model(EFL(compression=0.3, bookkeeping="printed"), federation(0))


@few
@given(on=federations())
def test_error_feedback_loses_nothing(on):
    """Model plus server residual is the start plus all that was received, and clients keep what they did not send."""
    algorithm = EFL(compression=0.3)
    states = run(algorithm, on)
    received = on.problem.start[None]
    for index in range(on.rounds):
        before, after = states[index], states[index + 1]
        outcome = one_round(algorithm, on, before, index)
        work = on.work(index)
        weights = np.where(work.steps > 0, work.p * on.local_steps / np.maximum(work.steps, 1), 0.0)
        received = received + np.einsum("rn,rnd->rd", weights, outcome.uplink[0].values)
        close(after.w + after.residual, received)
        moved = outcome.local - before.w_client[:, None]
        present = work.active[0]
        kept = (before.client_residual + moved - outcome.uplink[0].values)[:, present]
        close(after.client_residual[:, present], kept)


@few
@given(seed=st.integers(0, 2**20))
def test_compression_that_keeps_everything_of_a_line_changes_nothing(seed):
    """In one dimension the ternary code of a number is the number, so compressed EFL is plain EFL."""
    on = federation(seed, dim=1)
    for bookkeeping in ("printed", "consistent"):
        close(outputs(EFL(compression=0.5, bookkeeping=bookkeeping), on), outputs(EFL(), on))
