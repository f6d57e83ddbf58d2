"""Bases made of reflections: the same problem as with their matrix, in every engine, and far larger ones."""

import dataclasses
import pickle

import numpy as np
import pytest

import fltheory as fl
from fltheory._internal import memory
from fltheory.problems import Reflections

OF_CLIENTS = {"commuting": True, "round_drift_sq": 0.2, "sample_counts": [1, 2, 3, 4]}


def both(generator=fl.noisy_quadratic, **more):
    """Return a problem with reflections, and the same one with their matrix."""
    more = OF_CLIENTS if generator is fl.client_quadratics else {"client_drift_sq": 0.5, **more}
    problem = generator(dim=6, num_clients=4, reflections=2, noise_sq=0.3, **more)
    counted = {f.name: getattr(problem, f.name) for f in dataclasses.fields(problem) if f.init}
    return problem, fl.problems.Quadratic(**counted | {"basis": problem.basis.matrix()})


def experiment(problem, algorithm):
    participation = fl.Participation(num_clients=4, local_steps=3)
    return fl.Experiment(problem=problem, algorithm=algorithm, participation=participation, rounds=6, rate=0.05)


def close(one, other):
    for name in set(one.curves()):
        mine, its = getattr(one, name), getattr(other, name)
        assert mine == pytest.approx(its, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("engine", ["exact", "monte_carlo", "reference"])
@pytest.mark.parametrize(
    ("algorithm", "more"),
    [
        (fl.FedAvg(), {"hessian_noise": 0.2, "scenario": "S1"}),
        (fl.Scaffold(), {}),
        (fl.EFL(elasticity=0.1), {}),  # looks at single coordinates of the model
    ],
    ids=["FedAvg", "SCAFFOLD", "EFL"],
)
def test_runs_are_those_of_the_matrix(engine, algorithm, more):
    options = {"engine": engine} | ({} if engine == "exact" else {"replicates": 3, "seed": 5})
    close(*(fl.simulate(experiment(problem, algorithm), **options) for problem in both(**more)))


@pytest.mark.parametrize("engine", ["exact", "monte_carlo", "reference"])
@pytest.mark.parametrize("algorithm", [fl.FedAvg(), fl.FedProx(prox=0.3), fl.EFL(elasticity=0.1)], ids=lambda a: a.name)
def test_runs_of_different_clients_are_those_of_the_matrix(engine, algorithm):
    options = {"engine": engine} | ({} if engine == "exact" else {"replicates": 3, "seed": 5})
    problems = both(fl.client_quadratics)
    close(*(fl.simulate(experiment(problem, algorithm), **options) for problem in problems))
    mine, its = (problem.constants() for problem in problems)
    for name in mine:
        if name not in ("gamma", "client_f_star"):
            assert np.asarray(mine[name].value) == pytest.approx(np.asarray(its[name].value), abs=1e-12), name


def test_clients_have_hessians_of_their_own_and_the_constants_asked_for():
    problem = fl.client_quadratics(dim=30, num_clients=3, reflections=2, commuting=True, mu=0.5, L=4, dissimilarity=2.0)
    hessians = problem.unrotated().hessian
    spectra = np.linalg.eigvalsh(hessians)
    assert (spectra.min(), spectra.max()) == pytest.approx((0.5, 4.0))
    assert np.linalg.norm(hessians[0] - hessians[1], 2) == pytest.approx(2.0)
    for matrix, diagonal in zip(hessians, problem.hessian, strict=True):
        assert np.linalg.matrix_rank(matrix - np.diag(diagonal), tol=1e-9) == 4
    assert np.abs(hessians[0] @ hessians[1] - hessians[1] @ hessians[0]).max() < 1e-12
    plain = fl.client_quadratics(dim=30, num_clients=3, commuting=True, mu=0.5, L=4, dissimilarity=2.0)
    assert np.linalg.norm(problem.objective().w_star) == pytest.approx(np.linalg.norm(plain.objective().w_star))


def test_every_step_and_objective_are_those_of_the_matrix():
    one, other = both()
    close(*(fl.simulate(experiment(p, fl.FedAvg()), replicates=3, collapse=False) for p in (one, other)))
    w = np.random.default_rng(1).standard_normal((3, 6))
    for name in ("gap", "gradient"):
        values = [getattr(problem.objective(), name)(w) for problem in (one, other)]
        assert values[0] == pytest.approx(values[1], rel=1e-12)
    for mine, its in zip(one.objective().measure(w), other.objective().measure(w), strict=True):
        assert mine == pytest.approx(its, rel=1e-12)
    mine, its = one.constants(), other.constants()
    assert all(np.asarray(mine[name].value) == pytest.approx(np.asarray(its[name].value), abs=1e-12) for name in mine)


def test_the_hessian_is_diagonal_plus_one_of_low_rank_with_the_eigenvalues_asked_for():
    problem = fl.noisy_quadratic(dim=30, reflections=3, mu=0.5, L=4)
    (hessian,) = problem.unrotated().hessian
    assert np.linalg.eigvalsh(hessian) == pytest.approx(np.linspace(0.5, 4, 30))
    assert np.linalg.matrix_rank(hessian - np.diag(problem.hessian[0]), tol=1e-9) == 6
    assert np.abs(hessian - np.diag(np.diag(hessian))).max() > 0.01


@pytest.mark.parametrize(
    "make", [fl.noisy_quadratic, lambda **more: fl.client_quadratics(commuting=True, noise_sq=1e-5, **more)]
)
def test_very_many_dimensions_take_neither_memory_nor_time(monkeypatch, make):
    monkeypatch.setattr(memory, "allowed", lambda: 2 * 10**9)
    problem = make(dim=100_000, reflections=5, num_clients=4)
    exact = fl.simulate(experiment(problem, fl.FedAvg()), engine="exact")
    drawn = fl.simulate(experiment(problem, fl.FedAvg()), replicates=2)
    assert drawn.gap[..., -1].mean() == pytest.approx(exact.gap[..., -1].mean(), rel=0.02)
    for options in ({"engine": "reference", "replicates": 2}, {"replicates": 2}):
        algorithm = fl.FedAvg() if "engine" in options else fl.EFL(elasticity=0.1)
        with pytest.raises(fl.InvalidParameter, match=r"Reflections\.dim must be .*320 GB.* set rotated to false"):
            fl.simulate(experiment(problem, algorithm), **options)


def test_they_travel_between_processes():
    mirror = Reflections(directions=np.eye(4)[:2])
    again = pickle.loads(pickle.dumps(mirror))
    np.testing.assert_array_equal(again.matrix(), np.diag([-1.0, -1.0, 1.0, 1.0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reflections": 0}, r"noisy_quadratic\.reflections must be an integer in \[1, 20\], got reflections=0"),
        ({"reflections": 21}, r"noisy_quadratic\.reflections must be an integer in \[1, 20\]"),
        ({"reflections": 2, "rotated": False}, "reflections must be left out where nothing is rotated"),
        ({"reflections": 10**4, "dim": 10**5}, r"reflections must be at most about \d+, .*32 GB.*lower reflections"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(fl.InvalidParameter, match=message):
        fl.noisy_quadratic(**options)


def test_refusals_of_different_clients():
    with pytest.raises(fl.InvalidParameter, match=r"client_quadratics\.reflections must be left out .* set commuting"):
        fl.client_quadratics(reflections=2)
    with pytest.raises(fl.InvalidParameter, match=r"client_quadratics\.reflections must be an integer in \[1, 10\]"):
        fl.client_quadratics(commuting=True, reflections=11)
    with pytest.raises(fl.InvalidParameter, match=r"dense Hessians .* set commuting to true.* and reflections to 10"):
        fl.client_quadratics(dim=20_000)


def test_what_is_no_basis_is_refused():
    with pytest.raises(fl.InvalidParameter, match=r"Reflections\.directions must have orthonormal rows"):
        Reflections(directions=[[1.0, 1.0]])
    values = {"hessian": np.ones((1, 3)), "linear": np.ones((2, 3)), "basis": Reflections(directions=[[0.6, 0.8]])}
    with pytest.raises(fl.InvalidParameter, match=r"ClosedForm\.basis must be of dimension 3 like the Hessian"):
        fl.problems.ClosedForm(**values)
