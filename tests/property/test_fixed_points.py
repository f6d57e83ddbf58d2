r"""Where the noiseless algorithms settle, on clients with different Hessians, minimisers and weights.

Displacements of plain and proximal local steps are :math:`-\eta P_i H_i (w - m_i)` with
:math:`P_i = \sum_{k<s_i} (I - \eta(H_i + \rho I))^k`, so every method that only reweighs them settles where
:math:`\sum_i \omega_i P_i H_i (w - m_i) = 0`. Corrected methods settle at the minimiser of
:math:`\sum_i p_i f_i`.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.algorithms import apfl, feddyn, fedgate, fen_feddyn, fen_scaffold, mime, scaffold, vrl_sgd
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.ruan import Ruan
from tests import laws
from tests.federations import close, federation, federations, models, one_round, run, same_states

few = settings(deadline=None, max_examples=4)
more = settings(deadline=None, max_examples=20)

Scaffold, FedDyn, Mime = scaffold.Scaffold, feddyn.FedDyn, mime.Mime

UNBIASED = [
    Scaffold(option="I"),
    Scaffold(option="II"),
    Scaffold(option="II", initial="gradient", server_rate=0.8),
    FedDyn(alpha=1.0),
    FedDyn(alpha=1.0, exact=True),
    FedDyn(alpha=3.0, exact=True),
    fedgate.FedGATE(server_rate=0.8),
    vrl_sgd.VRLSGD(),
    vrl_sgd.VRLSGD(warm_up=True),
    Mime(momentum=0.0),
    Mime(momentum=0.5),
    MinibatchSGD(server_rate=2.0),
    fen_scaffold.FedElasticNet2(l1=0.0, l2=0.5, epsilon=0.0),
    fen_feddyn.FedElasticNet3(l1=0.0, l2=1.0, epsilon=0.0, exact=True),
    fen_feddyn.FedElasticNet3(l1=0.01, l2=2.0, epsilon=0.0, exact=True, memory_rule="subgradient"),
]


def settled(algorithm, on, *, rounds):
    """Return where the algorithm stands after many rounds with the step counts of the first one."""
    on = replace(on.still(), steps=np.tile(on.steps[:1], (rounds, 1)))
    return models(algorithm, on)[-1, 0]


def balance(on, weights, *, pull=0.0):
    """Return the solution of ``sum_i weights_i P_i H_i (w - m_i) = 0`` for the step counts of the first round."""
    dim = on.problem.dim
    matrix, vector = np.zeros((dim, dim)), np.zeros(dim)
    for i, count in enumerate(on.steps[0]):
        decay = np.eye(dim) - on.rate * (on.problem.hessian[i] + pull * np.eye(dim))
        gain = weights[i] * sum(np.linalg.matrix_power(decay, k) for k in range(count))
        matrix += gain @ on.problem.hessian[i]
        vector -= gain @ on.problem.linear[i]
    return np.linalg.solve(matrix, vector)


@st.composite
def uneven_federations(draw):
    """Return federations in which everybody is active, with different numbers of steps."""
    on = draw(federations(max_clients=3))
    counts = draw(st.lists(st.integers(1, 4), min_size=len(on.steps[0]), max_size=len(on.steps[0])))
    return replace(on, steps=np.array([counts]), local_steps=4, rate=0.1)


@pytest.mark.parametrize("algorithm", UNBIASED, ids=str)
@few
@given(on=federations(max_clients=3))
def test_corrected_methods_reach_the_minimiser(algorithm, on):
    laws.minimiser_is_reached(algorithm, replace(on, rate=0.1), rounds=500)


@pytest.mark.parametrize(
    "algorithm",
    [Scaffold(option="I"), Scaffold(option="II"), FedDyn(alpha=2.0, exact=True), FedDyn(alpha=2.0)],
    ids=str,
)
def test_memories_reach_the_minimiser_under_partial_participation(algorithm):
    """Clients work in turns, two of three at a time; the weights of a round are never those of the objective."""
    on = replace(federation(7, local_steps=2), rate=0.05).still()
    rota = np.array([[2, 2, 0], [0, 2, 2], [2, 0, 2]])
    on = replace(on, steps=np.tile(rota, (500, 1)))
    close(models(algorithm, on)[-1, 0], on.problem.objective().w_star, tolerance=1e-7)


@more
@given(on=federations())
def test_the_minimiser_with_gradients_in_memory_is_a_fixed_point(on):
    """One round from there, with anybody absent, changes nothing."""
    on = on.still()
    w = on.problem.objective().w_star[None]
    own = on.oracle().gradient(w[:, None])
    zero = np.zeros_like(w)
    states = [
        (Scaffold(option="I"), scaffold.State(w=w, c=zero, c_i=own)),
        (Scaffold(option="II"), scaffold.State(w=w, c=zero, c_i=own)),
        (FedDyn(), feddyn.State(w=w, h=zero, h_i=own)),
        (FedDyn(exact=True), feddyn.State(w=w, h=zero, h_i=own)),
        (fedgate.FedGATE(), fedgate.State(w=w, delta=own)),
        (vrl_sgd.VRLSGD(), vrl_sgd.State(w=w, delta=own)),
        # The sign of an exact zero is zero, so the l1 pull does not act where nobody moves.
        (fen_feddyn.FedElasticNet3(exact=True), fen_feddyn.State(w=w, h=zero, h_i=own)),
    ]
    for algorithm, state in states:
        for index in range(on.rounds):
            same_states(one_round(algorithm, on, state, index).state, state)


@more
@given(on=federations(), momentum=st.sampled_from([0.0, 0.9]))
def test_the_minimiser_is_a_fixed_point_of_mime(on, momentum):
    """Without memory of the clients this needs everybody, or else the mean gradient is that of the participants."""
    on = on.still().complete()
    w = on.problem.objective().w_star[None]
    state = mime.State(w=w, m=np.zeros_like(w))
    same_states(one_round(Mime(momentum=momentum), on, state, 0).state, state)


@few
@given(on=uneven_federations())
def test_fedavg_settles_at_its_biased_fixed_point(on):
    p = on.problem.weights
    close(settled(FedAvg(), on, rounds=450), balance(on, p), tolerance=1e-8)
    close(settled(FedAvg(server_rate=0.7), on, rounds=650), balance(on, p), tolerance=1e-8)
    close(settled(Ruan(scheme="B"), on, rounds=450), balance(on, p), tolerance=1e-8)
    close(settled(apfl.APFL(), on, rounds=450), balance(on, p), tolerance=1e-8)


@few
@given(on=uneven_federations(), prox=st.sampled_from([0.5, 2.0]))
def test_fedprox_settles_at_its_biased_fixed_point(on, prox):
    close(settled(FedProx(prox=prox), on, rounds=600), balance(on, on.problem.weights, pull=prox), tolerance=1e-8)


@few
@given(on=uneven_federations())
def test_normalised_work_settles_where_every_step_counts_alike(on):
    expected = balance(on, on.problem.weights / on.steps[0])
    close(settled(FedNova(), on, rounds=600), expected, tolerance=1e-8)
    close(settled(FedNova(server_momentum=0.3), on, rounds=600), expected, tolerance=1e-8)
    close(settled(Ruan(scheme="C"), on, rounds=450), expected, tolerance=1e-8)


def test_the_bias_of_fedavg_is_not_rounding():
    """The closed form differs from the minimiser unless there is a single local step or a single Hessian."""
    on = replace(federation(3, local_steps=3), rate=0.1).complete()
    p, w_star = on.problem.weights, on.problem.objective().w_star
    assert np.abs(balance(on, p) - w_star).max() > 1e-3
    single = replace(on, local_steps=1).complete()
    close(settled(FedAvg(), single, rounds=600), w_star, tolerance=1e-8)
    shared = on.altered(hessian=np.tile(on.problem.hessian[:1], (3, 1, 1)))
    close(settled(FedAvg(), shared, rounds=450), shared.problem.objective().w_star, tolerance=1e-8)


def test_cflr_with_a_diagonal_hessian_still_has_the_true_gradient_at_its_memory():
    """On one unchanging client the Taylor models differ, but all are tangent: the minimiser stays put."""
    on = federation(4, clients=1).still().complete(30)
    on = on.altered(start=on.problem.objective().w_star)
    close(models(CFLR(curvature="diagonal"), on)[-1, 0], on.problem.start)


def test_pfedme_settles_at_the_minimiser_of_the_envelopes_for_one_outer_step():
    r"""One outer step per round is gradient descent on :math:`\sum_i p_i F_i`, whose gradient has a closed form."""
    on = replace(federation(6), local_steps=1, rate=0.1).complete()
    pull, p, eye = 4.0, on.problem.weights, np.eye(on.problem.dim)
    # grad F_i(w) = (H_i^-1 + I / lambda)^-1 (w - m_i) = H_i (I + H_i / lambda)^-1 (w - m_i)
    envelopes = [np.linalg.solve(eye + h / pull, h) for h in on.problem.hessian]
    minimisers = [-np.linalg.solve(h, b) for h, b in zip(on.problem.hessian, on.problem.linear, strict=True)]
    matrix = sum(q * e for q, e in zip(p, envelopes, strict=True))
    vector = sum(q * e @ m for q, e, m in zip(p, envelopes, minimisers, strict=True))
    algorithm = PFedMe(attraction=pull, inner_steps=60, inner_rate=0.18)
    close(settled(algorithm, on, rounds=400), np.linalg.solve(matrix, vector), tolerance=1e-6)


def test_apfl_without_mixing_settles_every_client_at_its_own_minimiser():
    on = replace(federation(5, local_steps=2), rate=0.1).still().complete(400)
    own = -np.linalg.solve(on.problem.hessian, on.problem.linear[..., None])[..., 0]
    close(run(apfl.APFL(mixing=1.0), on)[-1].v[0], own, tolerance=1e-8)
