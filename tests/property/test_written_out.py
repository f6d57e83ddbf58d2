"""Rounds written out client by client, in plain loops over the formulas of the algorithm pages.

Reductions only look at special parameters. Here the rounds with general ones are compared with code that shares
nothing with the package but the gradients: no broadcasting, no masks, one client and one step at a time.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.continual import Continual
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedamp import FedAMP
from fltheory.algorithms.fedavgm import FedAvgM
from fltheory.algorithms.fedgate import FedGATE
from fltheory.algorithms.fednova import FedNova
from fltheory.algorithms.fedopt import FedOpt
from fltheory.algorithms.fen_fedavg import FedElasticNet1
from fltheory.algorithms.fen_feddyn import FedElasticNet3
from fltheory.algorithms.fen_scaffold import FedElasticNet2
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.mimelite import MimeLite
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.ruan import Ruan
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.signsgd import SignSGD
from fltheory.algorithms.vrl_sgd import VRLSGD
from tests.federations import begin, close, federations, one_round, run, with_draws

few = settings(deadline=None, max_examples=15)


class Client:
    """The gradients of one client in one round, as functions of a single vector."""

    def __init__(self, on, index, number):
        self.steps = int(on.steps[index, number])
        self._oracle, self._number = on.oracle(), number
        self._oracle.begin_round(index)

    def full(self, w):
        return self._oracle.gradient(w[None, None])[0, self._number]

    def noisy(self, w, k):
        return self._oracle.gradient(w[None, None], self._oracle.minibatch(k))[0, self._number]


def clients(on, index):
    return [Client(on, index, number) for number in range(on.problem.num_clients)]


def rounds(algorithm, on):
    """Yield index, the round's weights, its clients, and the states before and after."""
    for index, (before, after) in enumerate(pairwise(run(algorithm, on))):
        yield index, on.work(index).weights[0], clients(on, index), before, after


@few
@given(on=federations(), mixing=st.sampled_from([0.2, 0.7]), adaptive=st.booleans())
def test_apfl(on, mixing, adaptive):
    for _, _, everybody, before, after in rounds(APFL(mixing=mixing, adaptive=adaptive), on):
        for i, client in enumerate(everybody):
            w, v = before.w[0], before.v[0, i]
            alpha = before.alpha[0, i, 0] if adaptive else mixing
            for k in range(client.steps):
                mixed = client.noisy(alpha * v + (1 - alpha) * w, k)
                slope = (v - w) @ mixed
                w, v = w - on.rate * client.noisy(w, k), v - on.rate * alpha * mixed
                if adaptive:
                    alpha = min(max(alpha - on.rate * slope, 0.0), 1.0)
            close(after.v[0, i], v)
            if adaptive:
                close(after.alpha[0, i, 0], alpha)


@few
@given(on=federations(), bandwidth=st.sampled_from([0.5, 3.0]))
def test_fedamp(on, bandwidth):
    algorithm = FedAMP(attraction=0.2, cloud_rate=0.1, bandwidth=bandwidth)
    for _, _, everybody, before, after in rounds(algorithm, on):
        w_i = before.w_i[0]
        for i, client in enumerate(everybody):
            mixture = w_i[i].copy()
            for other in w_i:
                distance_sq = np.sum((w_i[i] - other) ** 2)
                mixture += 0.1 / bandwidth * np.exp(-distance_sq / bandwidth) * (other - w_i[i])
            w = w_i[i]
            for k in range(client.steps):
                w = w - on.rate * (client.noisy(w, k) + 2.0 * (w - mixture))
            close(after.w_i[0, i], w)


@few
@given(on=federations())
def test_fedamp_heuristic(on):
    algorithm = FedAMP(attraction=0.2, cloud_rate=0.1, heuristic=True, self_weight=0.4, sharpness=2.0)
    for index, _, _, before, _ in rounds(algorithm, on):
        w_i = before.w_i[0]
        sent = one_round(algorithm, on, before, index).downlink[0].values[0]
        for i in range(len(w_i)):
            others = [j for j in range(len(w_i)) if j != i]
            cosines = np.array([w_i[i] @ w_i[j] / np.linalg.norm(w_i[i]) / np.linalg.norm(w_i[j]) for j in others])
            shares = 0.6 * np.exp(2.0 * cosines) / np.exp(2.0 * cosines).sum()
            close(sent[i], 0.4 * w_i[i] + sum(s * w_i[j] for s, j in zip(shares, others, strict=True)))


@few
@given(on=federations(), momentum=st.sampled_from([0.0, 0.6]))
def test_signsgd(on, momentum):
    for _, _, everybody, before, after in rounds(SignSGD(momentum=momentum, weight_decay=0.1), on):
        votes = np.zeros(on.problem.dim)
        for i, client in enumerate(everybody):
            if client.steps:
                m = momentum * before.m[0, i] + (1 - momentum) * client.noisy(before.w[0], 0)
                close(after.m[0, i], m)
                votes += np.sign(m)
        close(after.w[0], before.w[0] - on.rate * (np.sign(votes) + 0.1 * before.w[0]))


@few
@given(on=federations())
def test_vrl_sgd_warm_up_compares_gradients_at_the_start(on):
    _, weights, everybody, before, after = next(rounds(VRLSGD(warm_up=True), on))
    gradients = [client.noisy(before.w[0], 0) for client in everybody]
    mean = sum(weight * g for weight, g in zip(weights, gradients, strict=True))
    for i, client in enumerate(everybody):
        close(after.delta[0, i], gradients[i] - mean if client.steps else np.zeros(on.problem.dim))
    close(after.w[0], before.w[0] - on.rate * mean)


@few
@given(on=federations(min_clients=1, max_clients=1))
def test_continual_learning_adds_up_fisher_diagonals(on):
    diagonal, total = np.diagonal(on.problem.hessian[0]), np.zeros(on.problem.dim)
    for _, _, (client,), before, after in rounds(Continual(variant="ewc", strength=0.7), on):
        w = start = before.w[0]
        for k in range(client.steps):
            w = w - on.rate * (client.noisy(w, k) + 0.7 * total * (w - start))
        close(before.curvature[0, 0], total)
        close(after.w[0], w)
        total = total + diagonal * (client.steps > 0)


@few
@given(on=federations(), beta=st.sampled_from([0.0, 0.5, 0.9]), server_rate=st.sampled_from([0.7, 1.0]))
def test_mime(on, beta, server_rate):
    for _, weights, everybody, before, after in rounds(Mime(momentum=beta, server_rate=server_rate), on):
        start, m = before.w[0], before.m[0]
        c = sum(weight * client.full(start) for weight, client in zip(weights, everybody, strict=True))
        moved = np.zeros_like(start)
        for weight, client in zip(weights, everybody, strict=True):
            w = start
            for k in range(client.steps):
                d = client.noisy(w, k) - client.noisy(start, k) + c
                w = w - on.rate * ((1 - beta) * d + beta * m)
            moved = moved + weight * (w - start)
        close(after.w[0], start + server_rate * moved)


@few
@given(on=federations(), beta=st.sampled_from([0.0, 0.5, 0.9]))
def test_mimelite(on, beta):
    for _, weights, everybody, before, after in rounds(MimeLite(momentum=beta), on):
        start, m = before.w[0], before.m[0]
        moved = np.zeros_like(start)
        for weight, client in zip(weights, everybody, strict=True):
            w = start
            for k in range(client.steps):
                w = w - on.rate * ((1 - beta) * client.noisy(w, k) + beta * m)
            moved = moved + weight * (w - start)
        close(after.w[0], start + moved)


@few
@given(on=federations())
def test_minibatch_sgd_averages_the_gradients_that_were_completed(on):
    for _, weights, everybody, before, after in rounds(MinibatchSGD(), on):
        moved = np.zeros(on.problem.dim)
        for weight, client in zip(weights, everybody, strict=True):
            for k in range(client.steps):
                moved -= on.rate * weight * client.noisy(before.w[0], k) / client.steps
        close(after.w[0], before.w[0] + moved)


@few
@given(on=federations(), prox=st.sampled_from([0.0, 1.5]), momentum=st.sampled_from([0.0, 0.6]))
def test_fednova(on, prox, momentum):
    for _, weights, everybody, before, after in rounds(FedNova(prox=prox, server_momentum=momentum), on):
        start, direction, effective = before.w[0], np.zeros(on.problem.dim), 0.0
        for weight, client in zip(weights, everybody, strict=True):
            if client.steps:
                w = start
                for k in range(client.steps):
                    w = w - on.rate * (client.noisy(w, k) + prox * (w - start))
                norm = sum((1 - on.rate * prox) ** k for k in range(client.steps))
                direction = direction + weight * (start - w) / (on.rate * norm)
                effective += weight * norm
        b = momentum * before.b[0] + effective * direction
        close(after.b[0], b)
        close(after.w[0], start - on.rate * b)


@few
@given(on=federations(), momentum=st.sampled_from([0.0, 0.6]))
def test_fedavgm(on, momentum):
    for _, weights, everybody, before, after in rounds(FedAvgM(momentum=momentum, server_rate=0.7), on):
        m = momentum * before.m[0] + mean_displacement(before.w[0], weights, everybody, on.rate)
        close(after.m[0], m)
        close(after.w[0], before.w[0] + 0.7 * m)


@few
@given(on=federations(), rule=st.sampled_from(["adagrad", "adam", "yogi"]), corrected=st.booleans())
def test_fedopt(on, rule, corrected):
    algorithm = FedOpt(
        rule=rule, beta_1=0.8, beta_2=0.7, tau=0.05, second_start=0.01, bias_correction=corrected, server_rate=0.3
    )
    for index, weights, everybody, before, after in rounds(algorithm, on):
        moved = mean_displacement(before.w[0], weights, everybody, on.rate)
        m = 0.8 * before.m[0] + 0.2 * moved
        v = before.v[0].copy()
        for j, square in enumerate(moved**2):
            if rule == "adagrad":
                v[j] += square
            elif rule == "adam":
                v[j] = 0.7 * v[j] + 0.3 * square
            else:
                v[j] -= 0.3 * square * (1 if v[j] > square else -1)
        rate = 0.3
        if corrected:
            rate *= (1.0 if rule == "adagrad" else (1 - 0.7 ** (index + 1)) ** 0.5) / (1 - 0.8 ** (index + 1))
        close(after.m[0], m)
        close(after.v[0], v)
        close(after.w[0], before.w[0] + rate * m / (v**0.5 + 0.05))


@few
@given(on=federations(), reset=st.booleans())
def test_pfedme(on, reset):
    algorithm = PFedMe(attraction=4.0, inner_steps=3, inner_rate=0.06, reset_inner=reset, server_mix=0.8)
    for _, weights, everybody, before, after in rounds(algorithm, on):
        start, moved = before.w[0], np.zeros(on.problem.dim)
        for i, (weight, client) in enumerate(zip(weights, everybody, strict=True)):
            local = theta = start
            for k in range(client.steps):
                theta = local if reset else theta
                for _ in range(3):
                    theta = theta - 0.06 * (client.noisy(theta, k) + 4.0 * (theta - local))
                local = local - on.rate * 4.0 * (local - theta)
            moved = moved + weight * (local - start)
            close(after.theta[0, i], theta if client.steps else before.theta[0, i])
        close(after.w[0], start + 0.8 * moved)


@few
@given(on=federations())
def test_fedgate(on):
    for index, weights, everybody, before, after in rounds(FedGATE(server_rate=0.8), on):
        start, moved = before.w[0], np.zeros(on.problem.dim)
        paths, present = {}, on.problem.weights * (on.steps[index] > 0)
        for i, (weight, client) in enumerate(zip(weights, everybody, strict=True)):
            w = start
            for k in range(client.steps):
                w = w - on.rate * (client.noisy(w, k) - before.delta[0, i])
            moved = moved + weight * (w - start)
            if client.steps:
                paths[i] = (start - w) / (on.rate * client.steps)
        mean = sum(present[i] * path for i, path in paths.items()) / present.sum()
        for i, path in paths.items():
            close(after.delta[0, i], before.delta[0, i] + path - mean)
        close(after.w[0], start + 0.8 * moved)


@few
@given(on=federations(), probability=st.sampled_from([0.3, 0.8]))
def test_scaffnew(on, probability):
    algorithm, p = Scaffnew(probability=probability), on.problem.weights
    for index, _, everybody, before, after in rounds(algorithm, on):
        coins = with_draws(algorithm, on.work(index), on.problem.dim).draws["communicate"][0]
        x, h = list(before.x[0]), list(before.h[0])
        for k in range(on.local_steps):
            working = [i for i, client in enumerate(everybody) if client.steps > k]
            for i in working:
                x[i] = x[i] - on.rate * (everybody[i].noisy(x[i], k) - h[i])
            if coins[k] and working:
                mean = sum(p[i] * x[i] for i in working) / sum(p[i] for i in working)
                for i in working:
                    h[i] = h[i] + probability / on.rate * (mean - x[i])
                    x[i] = mean
        close(after.x[0], x)
        close(after.h[0], h)
        close(after.w[0], sum(share * one for share, one in zip(p, x, strict=True)))


def mean_displacement(start, weights, everybody, rate):
    """Return the weighted mean of how far plain local steps take the clients."""
    moved = np.zeros_like(start)
    for weight, client in zip(weights, everybody, strict=True):
        w = start
        for k in range(client.steps):
            w = w - rate * client.noisy(w, k)
        moved = moved + weight * (w - start)
    return moved


def cut(moved, epsilon):
    return np.array([0.0 if abs(x) <= epsilon else x for x in moved])


@few
@given(on=federations(), weights=st.sampled_from(["design", "all", "participants"]))
def test_fedelasticnet_on_fedavg(on, weights):
    l1, l2, epsilon, p = 0.1, 0.5, 0.05, on.problem.weights
    algorithm = FedElasticNet1(l1=l1, l2=l2, epsilon=epsilon, weights=weights)
    for index, design, everybody, before, after in rounds(algorithm, on):
        start, moved = before.w[0], np.zeros(on.problem.dim)
        # Here the design renormalises over the participants too, so only "all" differs from the others.
        share = p * (on.steps[index] > 0) if weights == "all" else design
        for weight, client in zip(share, everybody, strict=True):
            w = start
            for k in range(client.steps):
                w = w - on.rate * (client.noisy(w, k) + l2 * (w - start) + l1 * np.sign(w - start))
            moved = moved + weight * cut(w - start, epsilon)
        close(after.w[0], start + moved)


@few
@given(on=federations(), server_rate=st.sampled_from([0.6, 1.0]))
def test_fedelasticnet_on_scaffold(on, server_rate):
    l1, l2, epsilon = 0.1, 0.5, 0.05
    algorithm = FedElasticNet2(l1=l1, l2=l2, epsilon=epsilon, server_rate=server_rate)
    for _, weights, everybody, before, after in rounds(algorithm, on):
        start, c, moved = before.w[0], before.c[0], np.zeros(on.problem.dim)
        for i, (weight, client) in enumerate(zip(weights, everybody, strict=True)):
            c_i = before.c_i[0, i]
            w = start
            for k in range(client.steps):
                w = w - on.rate * (client.noisy(w, k) + c - c_i + l2 * (w - start) + l1 * np.sign(w - start))
            moved = moved + weight * cut(w - start, epsilon)
            if client.steps:
                close(after.c_i[0, i], c_i - c + (start - w) / (client.steps * on.rate))
        close(after.w[0], start + server_rate * moved)


@few
@given(on=federations())
def test_fedelasticnet_on_feddyn_with_the_printed_memory(on):
    l1, l2, epsilon, p = 0.1, 0.8, 0.05, on.problem.weights
    for _, weights, everybody, before, after in rounds(FedElasticNet3(l1=l1, l2=l2, epsilon=epsilon), on):
        start, h, moved = before.w[0], before.h[0], np.zeros(on.problem.dim)
        for i, client in enumerate(everybody):
            h_i = before.h_i[0, i]
            w = start
            for k in range(client.steps):
                w = w - on.rate * (client.noisy(w, k) - h_i + l2 * (w - start) + l1 * np.sign(w - start))
            change = w - start
            sent = cut(change, epsilon)
            close(after.h_i[0, i], h_i - l2 * change - l1 * np.sign(change))
            h = h - p[i] * (l2 * sent + l1 * np.sign(sent))
            moved = moved + weights[i] * sent
        close(after.h[0], h)
        close(after.w[0], start + moved - h / l2)


@few
@given(on=federations())
def test_efl_pulls_towards_the_last_models_of_all(on):
    """The elastic term is written as it is meant: a sum of weighted squared distances to the clients' models."""
    diagonals = [np.diagonal(h) for h in on.problem.hessian]
    latest = {}
    for _, _, everybody, before, after in rounds(EFL(elasticity=0.05), on):
        start, moved, fresh = before.w[0], np.zeros(on.problem.dim), {}
        for i, client in enumerate(everybody):
            w = start
            for k in range(client.steps):
                pull = sum(diagonals[j] * (w - w_j) for j, w_j in latest.items())
                w = w - on.rate * (client.noisy(w, k) + 0.05 * pull)
            if client.steps:
                fresh[i] = w
                share = on.problem.weights[i] * on.local_steps / client.steps
                moved = moved + share * (fresh[i] - start)
        close(after.w[0], start + moved)
        latest = latest | fresh


@few
@given(on=federations(), scheme=st.sampled_from(["A", "B", "C"]))
def test_fast_reboot_multiplies_the_weights_of_a_scheme(on, scheme):
    boost = np.linspace(1.0, 3.0, on.problem.num_clients)
    for algorithm in (Ruan(scheme=scheme), EFL(elasticity=0.0)):
        oracle, work = on.oracle(), on.work(0)
        state = begin(algorithm, on, oracle)
        outcome = algorithm.round(state, oracle, replace(work, boost=boost))
        steps = work.steps[0]
        factors = {
            "A": np.where(steps == on.local_steps, len(steps) / max(np.sum(steps == on.local_steps), 1), 0.0),
            "B": np.ones(len(steps)),
            "C": np.where(steps > 0, on.local_steps / np.maximum(steps, 1), 0.0),
        }
        factor = factors["C" if isinstance(algorithm, EFL) else scheme]
        expected = on.problem.start + (boost * factor * on.problem.weights) @ (outcome.local[0] - on.problem.start)
        close(outcome.state.w[0], expected)


def test_attention_does_not_see_where_all_models_are_together():
    """Two clients at distance 1 and a third at distance 5 of both, at the origin and a hundred million away from it."""
    w_i = np.array([[[0.0, 0.0], [0.0, 1.0], [np.sqrt(24.75), 0.5]]])
    algorithm = FedAMP(cloud_rate=0.2, bandwidth=2.0)
    near, far = 0.1 * np.exp(-1 / 2), 0.1 * np.exp(-25 / 2)
    expected = np.array([[0, near, far], [near, 0, far], [far, far, 0]])
    np.testing.assert_allclose(algorithm._by_distance(w_i)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(algorithm._by_distance(w_i + 1e8)[0], expected, rtol=1e-6)
