"""Instances of the SCAFFOLD paper against other ways to compute them."""

import itertools

import numpy as np
import pytest

import fltheory as fl
from fltheory.bounds.scaffold import _fedavg
from fltheory.bounds.scaffold._controlled import lasting, rounds, second


def test_moments_of_many_rounds_are_those_of_all_samples():
    clients, eta, past, first = 3, 0.3, 4, 0.7
    square, control, moved = [], [], []
    for drawn in itertools.product(range(clients), repeat=past + 1):
        x, c = 1.0, np.full(clients, first)
        for i in drawn[:-1]:
            x, c[i] = x - eta * (x + c.mean() - c[i]), x
        square.append(x**2)
        control.append((c**2).mean())
        moved.append((eta * (x + c.mean() - c[drawn[-1]])) ** 2)
    point = {"N": clients, "laps": (past + 0.5) / clients, "beta": 1.0, "step": eta, "eta_g": 1.0}
    made = lasting(1).realise({**point, "cancelled": "no", "control": first})
    assert made["gap"] == pytest.approx(np.mean(square) / 2, rel=1e-12)
    assert made["calm_lag"] == pytest.approx(np.mean(control), rel=1e-12)
    assert made["moved_sq"] == pytest.approx(np.mean(moved), rel=1e-12)
    right = lasting(1).realise({**point, "cancelled": "yes", "control": first})
    assert right["lag"] < 1e-20 < right["calm_lag"]


@pytest.mark.parametrize(("clients", "size"), [(2, 1), (4, 2), (5, 4)])
@pytest.mark.parametrize("cancelled", ["yes", "no"])
def test_a_second_round_in_closed_form_is_that_of_all_samples(clients, size, cancelled):
    eta, begin, server, beta = 0.4, 1.5, 2.0, 0.5
    first = 0.7 if cancelled == "no" else -size / (clients - size) * beta * begin
    squares, controls, moved, drifts = [], [], [], []
    means = np.zeros(clients)
    samples = list(itertools.combinations(range(clients), size))
    for before in samples:
        x, c = begin - eta * begin, np.full(clients, first)
        c[list(before)] = beta * begin
        means += c / len(samples)
        way = beta * x + c.mean() - c
        squares.append(x**2)
        controls.append((c**2).mean())
        drifts.append(((eta / beta / server * way) ** 2).mean())
        moved += [(eta / beta * way[list(now)].mean()) ** 2 for now in samples]
    point = {"N": clients, "S": size, "beta": beta, "step": eta, "eta_g": server, "start": begin}
    made = second(1).realise({**point, "cancelled": cancelled, "control": 0.7})
    assert made["gap"] == pytest.approx(beta * np.mean(squares) / 2)
    assert made["calm_lag"] == pytest.approx(np.mean(controls))
    assert made["lag"] == pytest.approx((means**2).mean(), abs=1e-15)
    assert made["moved_sq"] == pytest.approx(np.mean(moved))
    assert made["drift"] == pytest.approx(np.mean(drifts))


def test_control_variates_without_their_noise():
    """After a noisy round with two steps the noise in a control variate is half of the variance of a gradient."""
    one, flat = np.ones((2, 1)), np.zeros((2, 1))
    point = {
        "d": 1, "N": 2, "beta": 1.0, "condition": 1.0, "centre": flat, "knot": flat, "left": one, "right": one,
        "start": np.zeros(1), "K": 2, "S": 1, "noisy": "yes", "sigma": 3.0, "step": 1.0, "eta_g": 10.0, "earlier": 1,
        "control": flat,
    }  # fmt: skip
    made = rounds(1).realise(point)
    # One of two clients has been sampled; its second gradient has moved by a tenth of half of the first noise.
    assert made["restless_sq"] == pytest.approx(9.0 / 2 / 2)
    assert made["calm_lag"] == pytest.approx((3.0 * 0.05 / 2) ** 2 / 2)


def test_closed_form_of_fedavg_is_that_of_the_exact_engine():
    point = {"R": 12, "K": 3, "pull": 2.0, "sigma": 1.5, "start": 3.0, "eta_g": 2.0}
    low, size = 0.2, 0.3
    pull = np.array([[2.0, 0.0], [-2.0, 0.0]])
    problem = fl.Quadratic(
        hessian=np.array([[1.0, low], [low, low]]),
        linear=pull,
        constant=np.zeros(2),
        noise_sq=np.full(2, 1.5**2),
        start=np.full(2, 3.0 / np.sqrt(2)),
        sample_counts=np.ones(2),
    )
    run = fl.simulate(
        fl.Experiment(
            problem=problem,
            algorithm=fl.FedAvg(server_rate=2.0),
            participation=fl.Participation(num_clients=2, local_steps=3),
            rounds=12,
            rate=size / (3 * 2.0),
        ),
        engine="exact",
    )
    np.testing.assert_allclose(_fedavg.gaps(point, low, size), run.curve("gap")[0], rtol=1e-9)
