"""Gradients, local models and mean iterates of single local steps, on every engine."""

import dataclasses
import re

import numpy as np
import pytest

from fltheory import Experiment, Participation, Record, client_quadratics, noisy_quadratic, simulate
from fltheory.algorithms.apfl import APFL
from fltheory.algorithms.base import LocalWork
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.minibatch_sgd import MinibatchSGD
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.algorithms.scaffold import Scaffold
from fltheory.configuration import registry
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.logistic import logistic_clients, synthetic
from fltheory.participation import StepCounts, UniformSteps
from fltheory.quadratic.gradient_norms import local_gradient_sq
from fltheory.simulation.engines import inside
from fltheory.simulation.schedules import PerStep

EVERYTHING = Record(gradient_sq=True, local_models=True, mean_iterate=True, models=True)
EXPECTED = Record(gradient_sq=True, local_models=True, mean_iterate=True)
INSIDE = ("gradient_sq", "local_models", "mean_iterate", "mean_iterate_gap", "mean_iterate_distance_sq")
PROBLEMS = {
    "rotated": noisy_quadratic(dim=5, num_clients=3, noise_sq=0.1, client_drift_sq=0.3, round_drift_sq=0.1),
    "dense": client_quadratics(dim=4, num_clients=3, noise_sq=0.1, dissimilarity=2.0, sample_counts=[1, 2, 3]),
    "binary": logistic_clients(num_clients=3, num_features=3, samples=12, batch_size=4, seed=1),
    "softmax": synthetic(
        alpha=1, beta=1, num_clients=3, num_features=5, num_classes=3, max_size=60, batch_size=5, seed=0
    ),
}
SEVERAL = [name for name in registry.algorithms() if name != "continual"]
WORK = {name: registry.algorithms()[name].local_work for name in SEVERAL}
WITHOUT_MEAN = [
    (name, engine)
    for name in SEVERAL
    for engine in ("reference", "monte_carlo", "exact")
    if not WORK[name].has_mean_iterates and not (engine == "exact" and registry.algorithms()[name]().not_affine)
]
STEPS = 3


def experiment_of(problem, algorithm=FedAvg(), *, rounds=4, rate=0.05, **more):  # noqa: B008
    participation = Participation(num_clients=problem.num_clients, local_steps=STEPS, **more)
    return Experiment(problem=problem, algorithm=algorithm, participation=participation, rounds=rounds, rate=rate)


@pytest.mark.parametrize("engine", ["reference", "monte_carlo"])
@pytest.mark.parametrize("kind", sorted(PROBLEMS))
def test_shapes_and_what_stands_at_the_start(kind, engine):
    problem = PROBLEMS[kind]
    run = simulate(experiment_of(problem), engine=engine, replicates=2, record=EVERYTHING)
    clients, dim = problem.num_clients, problem.dim
    shapes = [(clients, STEPS), (clients, dim), (STEPS, dim), (STEPS,), (STEPS,)]
    for name, shape in zip(INSIDE, shapes, strict=True):
        assert run.curve(name).shape == (2, 5, *shape), name
    assert not run.gradient_sq[:, 0].any()
    assert np.all(run.gradient_sq[:, 1:] > 0)
    for name in ("local_models", "mean_iterate"):
        np.testing.assert_array_equal(
            run.curve(name)[:, 0], np.broadcast_to(problem.start, run.curve(name)[:, 0].shape)
        )
    np.testing.assert_allclose(run.mean_iterate_gap[:, 0], np.repeat(run.gap[:, :1], STEPS, axis=1), rtol=1e-13)
    assert run.provenance["record"]["mean_iterate"] is True


@pytest.mark.parametrize("engine", ["reference", "monte_carlo"])
@pytest.mark.parametrize("kind", sorted(PROBLEMS))
@pytest.mark.parametrize("name", SEVERAL)
def test_looking_changes_nothing(name, kind, engine):
    run = experiment_of(PROBLEMS[kind], registry.algorithms()[name](), steps=UniformSteps(low=0))
    record = Record(gradient_sq=True, local_models=True, mean_iterate=WORK[name].has_mean_iterates, models=True)
    looked = simulate(run, engine=engine, replicates=3, record=record)
    plain = simulate(run, engine=engine, replicates=3, record=Record(models=True), collapse=False)
    # A round drift is added to the gradients before the first of them is asked for, or by the compiled steps.
    np.testing.assert_allclose(looked.models, plain.models, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(looked.uplink_bits, plain.uplink_bits)


@pytest.mark.parametrize("name", ["fedavg", "scaffold", "fedprox", "vrl-sgd", "scaffnew"])
@pytest.mark.parametrize("kind", ["dense", "softmax"])
def test_mean_iterates_alone_keep_every_bit(name, kind):
    run = experiment_of(PROBLEMS[kind], registry.algorithms()[name](), steps=UniformSteps(low=0))
    both = [simulate(run, replicates=3, record=r, collapse=False).gap for r in (Record(mean_iterate=True), Record())]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("engine", ["reference", "monte_carlo", "exact"])
@pytest.mark.parametrize("kind", ["rotated", "dense"])
def test_the_last_mean_iterate_is_the_next_model(kind, engine):
    """FedAvg adds displacements with the weights of the round; stragglers and absent clients included."""
    record = EVERYTHING if engine != "exact" else dataclasses.replace(EXPECTED, moments=True)
    steps = StepCounts(pmf=np.eye(4)[[3, 1, 0]])
    run = simulate(experiment_of(PROBLEMS[kind], steps=steps), engine=engine, replicates=3, record=record)
    models = run.models if engine != "exact" else run.model_mean
    np.testing.assert_allclose(run.mean_iterate[:, :, -1], models, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.mean_iterate_gap[:, :, -1], run.gap, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.mean_iterate_distance_sq[:, :, -1], run.distance_sq, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", sorted(PROBLEMS))
def test_two_rounds_written_out(kind):
    """SCAFFOLD with a rate per step and unequal counts: every gradient, iterate and mean by one line each."""
    problem, rate = PROBLEMS[kind], PerStep(scale=0.5, shift=8.0)
    run = experiment_of(problem, Scaffold(), rounds=2, rate=rate, steps=StepCounts(pmf=np.eye(4)[[3, 1, 2]]))
    seen = simulate(run, engine="reference", replicates=2, seed=4, record=EVERYTHING)
    oracle = problem.reference_oracle(seed=4, replicates=range(2))
    p, counts = problem.weights, np.array([3, 1, 2])
    c = np.zeros((2, 3, problem.dim))
    start = np.tile(problem.start, (2, 1))
    for index in range(2):
        oracle.begin_round(index)
        mean = np.einsum("n,rnd->rd", p, c)
        w = np.repeat(start[:, None], 3, axis=1)
        for k in range(3):
            working = (counts > k)[None, :, None]
            g = oracle.gradient(w, oracle.minibatch(k)) * working
            np.testing.assert_allclose(seen.gradient_sq[:, index + 1, :, k], (g**2).sum(axis=2), rtol=1e-10)
            w = w - rate.at_step(3 * index + k) * (g + (mean[:, None] - c) * working)
            np.testing.assert_allclose(seen.mean_iterate[:, index + 1, k], np.einsum("n,rnd->rd", p, w), rtol=1e-10)
        np.testing.assert_allclose(seen.local_models[:, index + 1], w, rtol=1e-10)
        total = np.array([sum(rate.at_step(3 * index + k) for k in range(count)) for count in counts])
        c = c - mean[:, None] + (start[:, None] - w) / total[:, None]
        start = np.einsum("n,rnd->rd", p, w)
    objective = problem.objective()
    np.testing.assert_allclose(seen.mean_iterate_gap, objective.gap(seen.mean_iterate), rtol=1e-8, atol=1e-14)


def test_the_exact_gradient_norms_are_those_of_the_formula():
    """:func:`local_gradient_sq` follows them from the moments of the server model, for FedAvg."""
    problem = client_quadratics(dim=4, num_clients=3, noise_sq=[0.1, 0.5, 0.0], sample_counts=[1, 2, 3])
    run = simulate(
        experiment_of(problem), engine="exact", record=Record(gradient_sq=True, moments=True, mean_iterate=True)
    )
    expected = local_gradient_sq(problem, run.model_mean[0, :-1], run.model_covariance[0, :-1], np.full(4, 0.05), STEPS)
    np.testing.assert_allclose(run.gradient_sq[0, 1:], expected, rtol=1e-10)


@pytest.mark.parametrize("kind", ["rotated", "dense"])
@pytest.mark.parametrize(
    "algorithm", [Scaffold(), CFLR(), Mime(), PFedMe(), APFL(), MinibatchSGD()], ids=lambda a: a.name
)
def test_without_noise_expectations_are_the_run(algorithm, kind):
    noiseless = {"noise_sq": np.zeros(3), "round_drift_sq": 0.0}
    run = experiment_of(dataclasses.replace(PROBLEMS[kind], **noiseless), algorithm)
    record = dataclasses.replace(EXPECTED, mean_iterate=algorithm.local_work.has_mean_iterates)
    exact, one = (simulate(run, engine=engine, replicates=1, record=record) for engine in ("exact", "reference"))
    assert exact.exact
    for name in INSIDE[: 5 if record.mean_iterate else 2]:
        np.testing.assert_allclose(exact.curve(name), one.curve(name), rtol=1e-8, atol=1e-10, err_msg=name)
    plain = simulate(run, engine="exact")
    np.testing.assert_allclose(exact.gap, plain.gap, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(exact.consensus_sq, plain.consensus_sq, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("looks", ["gradient_sq", "local_models", "mean_iterate"])
@pytest.mark.parametrize("clients", [1, 3])
def test_each_can_be_looked_at_alone(looks, clients):
    """Also with one local step, where as many gradients, or mean iterates, are seen as there are models of clients."""
    problem = noisy_quadratic(dim=3, num_clients=clients, noise_sq=0.0, client_drift_sq=0.0, round_drift_sq=0.0)
    participation = Participation(num_clients=clients, local_steps=1)
    run = Experiment(problem=problem, algorithm=FedAvg(), participation=participation, rounds=3, rate=0.1)
    record = Record(**{looks: True})
    exact, one = (simulate(run, engine=engine, replicates=1, record=record) for engine in ("exact", "reference"))
    np.testing.assert_allclose(exact.curve(looks), one.curve(looks), rtol=1e-9, atol=1e-12)
    assert {name for name in INSIDE if name in exact.curves()} == {name for name in INSIDE if name.startswith(looks)}


def test_expectations_beside_the_averaged_iterate_and_sampled_participation():
    run = experiment_of(PROBLEMS["rotated"], Scaffold(), steps=UniformSteps(low=0))
    run = dataclasses.replace(run, averaging=[1.0, 2.0, 0.5, 1.0, 3.0])
    looked, plain = (simulate(run, engine="exact", record=record) for record in (EXPECTED, None))
    for name in plain.curves():
        np.testing.assert_allclose(looked.curve(name), plain.curve(name), rtol=1e-9, atol=1e-14, err_msg=name)


def test_a_sampled_course_is_looked_into_like_a_single_one():
    """12 coins are too many to list: each row is exact given its coins."""
    problem = PROBLEMS["dense"]
    participation = Participation(num_clients=3, local_steps=12)
    run = Experiment(problem=problem, algorithm=Scaffnew(), participation=participation, rounds=2, rate=0.05)
    rows = simulate(run, engine="exact", replicates=3, record=Record(gradient_sq=True)).gradient_sq
    assert rows.shape == (3, 3, 3, 12)
    assert np.all(rows[:, 1:] > 0)
    assert not np.array_equal(rows[0], rows[1])


@pytest.mark.parametrize(("name", "engine"), WITHOUT_MEAN)
def test_algorithms_without_a_mean_iterate_refuse(name, engine):
    algorithm = registry.algorithms()[name]()
    message = f"{algorithm.title} has no mean iterate of every local step: .*; drop mean_iterate from the record"
    with pytest.raises(NotApplicable, match=message):
        simulate(
            experiment_of(PROBLEMS["dense"], algorithm), engine=engine, replicates=2, record=Record(mean_iterate=True)
        )


@pytest.mark.parametrize("engine", ["reference", "monte_carlo", "exact"])
def test_algorithms_without_stochastic_gradients_refuse(engine):
    run = experiment_of(PROBLEMS["dense"], FedDyn(exact=True))
    with pytest.raises(NotApplicable, match="FedDyn takes no stochastic gradients in this setting"):
        simulate(run, engine=engine, replicates=2, record=Record(gradient_sq=True))


def test_too_many_rows_are_refused(monkeypatch):
    """Three clients have three gradients and a local model each, and there are three means: 15 rows of 4 numbers."""
    run = experiment_of(PROBLEMS["dense"])
    monkeypatch.setattr(inside, "_NUMBERS", 3599)
    with pytest.raises(
        NotApplicable, match=r"FedAvg has covariances of 3600 numbers, more than 3599; use fewer clients"
    ):
        simulate(run, engine="exact", record=EXPECTED)
    monkeypatch.setattr(inside, "_NUMBERS", 3600)
    assert simulate(run, engine="exact", record=EXPECTED).exact


@pytest.mark.parametrize("noise", [{"hessian_noise": 0.3}, {"round_growth": 0.3}], ids=lambda noise: next(iter(noise)))
def test_noise_that_multiplies_the_model_hides_single_steps_only(noise):
    problem = noisy_quadratic(dim=3, num_clients=3, noise_sq=0.1, **noise)
    local = simulate(experiment_of(problem), engine="exact", record=Record(local_models=True)).local_models
    assert local.shape == (1, 5, 3, 3)
    for record in (Record(gradient_sq=True), Record(mean_iterate=True)):
        with pytest.raises(
            NotApplicable, match=r"single local steps have no exact moments .* or use the monte_carlo engine"
        ):
            simulate(experiment_of(problem), engine="exact", record=record)
    participation = Participation(num_clients=3, local_steps=1)
    run = Experiment(problem=problem, algorithm=FedAvg(), participation=participation, rounds=3, rate=0.05)
    exact = simulate(run, engine="exact", record=EXPECTED)
    np.testing.assert_allclose(exact.mean_iterate_gap[:, :, 0], exact.gap, rtol=1e-10)


@pytest.mark.parametrize("name", SEVERAL)
def test_only_steps_that_were_done_have_gradients(name):
    """Of three assigned steps the clients do three, one and none; some algorithms ask for one gradient a round."""
    steps = StepCounts(pmf=np.eye(4)[[3, 1, 0]])
    run = experiment_of(PROBLEMS["dense"], registry.algorithms()[name](), rounds=2, steps=steps)
    seen = simulate(run, engine="reference", replicates=2, record=Record(gradient_sq=True)).gradient_sq[:, 1:]
    done = np.array([[True, True, True], [True, False, False], [False, False, False]])
    if WORK[name] is LocalWork.ONE_GRADIENT:
        done[:, 1:] = False
    assert np.all((seen > 0) == done)


def test_nobody_at_work_leaves_the_mean_iterate_where_it_is():
    nobody = StepCounts(pmf=np.eye(4)[[0, 0, 0]])
    for algorithm in (FedAvg(), Scaffnew()):
        for engine in ("reference", "exact"):
            run = experiment_of(PROBLEMS["dense"], algorithm, rounds=1, steps=nobody)
            seen = simulate(run, engine=engine, replicates=2, record=EXPECTED)
            np.testing.assert_allclose(seen.mean_iterate[:, 1], seen.mean_iterate[:, 0])
            assert not seen.gradient_sq.any()


def test_records_are_checked():
    for name in ("gradient_sq", "local_models", "mean_iterate"):
        with pytest.raises(InvalidParameter, match=rf"Record\.{name}"):
            Record(**{name: 1})
    assert Record().numbers(clients=7, dim=5, local_steps=3) == 1
    assert EXPECTED.numbers(clients=7, dim=5, local_steps=3) == 35
    assert Record(mean_iterate=True).numbers(clients=7, dim=5, local_steps=3) == 15
    assert Record(gradient_sq=True).numbers(clients=7, dim=5, local_steps=3) == 21


def test_rounds_are_not_drawn_at_once():
    for record in (Record(gradient_sq=True), Record(local_models=True), Record(mean_iterate=True)):
        run = simulate(experiment_of(PROBLEMS["rotated"]), replicates=1, record=record)
        assert run.provenance["steps"] == "every step run: the record looks inside rounds"


def test_curves_with_more_axes_as_frames_and_data_sets(tmp_path):
    run = simulate(experiment_of(PROBLEMS["dense"]), replicates=2, record=EVERYTHING)
    frame = run.to_dataframe("gradient_sq")
    assert list(frame.columns) == ["replicate", "round", "client", "step", "gradient_sq"]
    row = frame.query("replicate == 1 and round == 3 and client == 2 and step == 0")
    assert row["gradient_sq"].tolist() == [run.gradient_sq[1, 3, 2, 0]]
    assert "gradient_sq" not in run.to_dataframe().columns
    data = run.to_xarray()
    assert data["mean_iterate"].sel(replicate=0, round=2, step=1, coordinate=3).item() == run.mean_iterate[0, 2, 1, 3]
    assert data["local_models"].dims == ("replicate", "round", "client", "coordinate")
    run.save(tmp_path / "run")
    np.testing.assert_array_equal(type(run).load(tmp_path / "run").mean_iterate, run.mean_iterate)
    assert run.until(2).gradient_sq.shape == (2, 3, 3, STEPS)


def test_short_and_long_representation():
    run = simulate(experiment_of(PROBLEMS["dense"]), replicates=8, record=EVERYTHING)
    assert re.fullmatch(
        r"<Trajectories of FedAvg: Monte Carlo, 8 replicates, 4 rounds, gap [\d.e+-]+ to [\d.e+-]+, 12 curves>",
        repr(run),
    )
    page = run._repr_html_()
    assert len(page) < 2000
    assert "<td>gap</td>" in page
    assert f"{run.band('gap').low[-1]:.4g} to {run.band('gap').high[-1]:.4g}" in page
    assert "gradient_sq (8, 5, 3, 3)" in page
    exact = simulate(experiment_of(PROBLEMS["dense"], rounds=2), engine="exact")
    assert repr(exact).startswith("<Trajectories of FedAvg: exact, 2 rounds, gap ")
    odd = dataclasses.replace(exact, algorithm="<b>")
    assert "<b>" not in odd._repr_html_()
