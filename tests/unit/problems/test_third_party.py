"""A problem that is no class of the package, written with public names only, on all three engines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import fltheory as fl
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.feddyn import FedDyn
from fltheory.algorithms.fedprox import FedProx
from fltheory.algorithms.mime import Mime
from fltheory.algorithms.pfedme import PFedMe
from fltheory.algorithms.scaffold import Scaffold
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.participation import BernoulliSteps
from fltheory.problems import ClosedForm, Constant, DifferentiableObjective, GradientOracle, Origin
from fltheory.quadratic import Quadratic


@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquares:
    features: np.ndarray
    targets: np.ndarray
    noise_sq: float = 0.0
    form: dict[str, Any] = field(default_factory=dict)
    with_hessian: bool = True
    packages: ClassVar[tuple[str, ...]] = ()

    @property
    def num_clients(self):
        return len(self.features)

    @property
    def dim(self):
        return self.features.shape[-1]

    @property
    def sample_counts(self):
        return np.arange(1.0, self.num_clients + 1)

    @property
    def weights(self):
        return self.sample_counts / self.sample_counts.sum()

    @property
    def start(self):
        return np.full(self.dim, 0.5)

    @property
    def hessian(self):
        return np.einsum("nsa,nsb->nab", self.features, self.features) / self.features.shape[1]

    @property
    def linear(self):
        return -np.einsum("nsa,ns->na", self.features, self.targets) / self.features.shape[1]

    def constants(self):
        return {"sigma_sq": Constant(np.full(self.num_clients, self.noise_sq), Origin.DECLARED)}

    def objective(self, p=None):
        p = self.weights if p is None else p
        h, b = np.tensordot(p, self.hessian, axes=1), p @ self.linear
        return DifferentiableObjective(
            value=lambda w: 0.5 * np.sum((w @ h) * w, axis=-1) + w @ b,
            slope=lambda w: w @ h + b,
            w_star=np.linalg.solve(h, -b),
        )

    def reference_oracle(self, *, seed, replicates):
        hessian, linear, size = self.hessian, self.linear, np.sqrt(self.noise_sq / self.dim)
        return GradientOracle(
            self,
            gradient=lambda i, w: w @ hessian[i] + linear[i],
            noise=lambda i, w, generator: size * generator.standard_normal(len(w)),
            hessian=(lambda i, w: hessian[i]) if self.with_hessian else None,
            seed=seed,
            replicates=replicates,
        )

    def compiled_oracle(self, *, seed, replicates, rotation_equivariant):
        return self.reference_oracle(seed=seed, replicates=replicates)

    def closed_form(self):
        return ClosedForm(**({"hessian": self.hessian, "linear": self.linear, "noise_sq": self.noise_sq} | self.form))


def least_squares(**more):
    rng = np.random.default_rng(4)
    return LeastSquares(features=rng.standard_normal((3, 8, 2)), targets=rng.standard_normal((3, 8)), **more)


def as_quadratic(problem):
    return Quadratic(
        hessian=problem.hessian,
        linear=problem.linear,
        constant=np.zeros(3),
        sample_counts=problem.sample_counts,
        noise_sq=np.full(3, problem.noise_sq),
        start=problem.start,
    )


def experiment_of(problem, algorithm, **more):
    options = {"participation": fl.Participation(num_clients=3, local_steps=3), "rounds": 4, "rate": 0.1} | more
    return fl.Experiment(problem=problem, algorithm=algorithm, **options)


ALGORITHMS = [
    FedAvg(),
    Scaffold(option="I"),
    FedProx(prox=0.3),
    FedDyn(exact=True),
    CFLR(),
    CFLR(curvature="diagonal", gradient="stochastic"),
    Mime(),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: repr(algorithm)[:40])
def test_without_noise_all_engines_agree_with_the_packages_own_quadratic(algorithm):
    problem = least_squares()
    own = experiment_of(problem, algorithm)
    expected = fl.simulate(replace(own, problem=as_quadratic(problem)), engine="reference", replicates=1)
    for engine in ("reference", "monte_carlo", "exact"):
        run = fl.simulate(own, engine=engine, replicates=1)
        assert run.exact == (engine == "exact")
        for name in run.curves():
            np.testing.assert_allclose(run.curve(name), expected.curve(name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("algorithm", [FedAvg(), Scaffold(), FedProx()], ids=lambda algorithm: algorithm.title)
def test_with_noise_the_mean_of_the_runs_is_the_exact_expectation(algorithm):
    """600 replicates, 3 x 3 bands of level 1 - 1e-5 that cover all rounds: a false alarm in 1e4 choices of the seed."""
    experiment = experiment_of(least_squares(noise_sq=20.0), algorithm)
    exact, run = fl.simulate(experiment, engine="exact"), fl.simulate(experiment, replicates=600, seed=3)
    for name in ("gap", "distance_sq", "consensus_sq"):
        band, truth = run.band(name, level=1 - 1e-5), exact.curve(name)[0]
        assert np.all((band.low <= truth)[1:] & (truth <= band.high)[1:]), name
    wrong = replace(experiment, problem=least_squares(noise_sq=14.0))
    truth, band = fl.simulate(wrong, engine="exact").gap[0], run.band("gap", level=1 - 1e-5)
    assert np.any((truth < band.low)[1:] | (truth > band.high)[1:])


def test_exact_curves_are_those_of_the_packages_own_quadratic():
    problem = least_squares(noise_sq=0.8)
    law = fl.Participation(num_clients=3, local_steps=3, steps=BernoulliSteps(probability=0.6))
    own = experiment_of(problem, Scaffold(), participation=law, averaging=np.ones(5))
    record = fl.Record(moments=True)
    mine, theirs = (
        fl.simulate(replace(own, problem=which), engine="exact", record=record)
        for which in (problem, as_quadratic(problem))
    )
    assert mine.curves() == theirs.curves()
    for name in mine.curves():
        np.testing.assert_allclose(mine.curve(name), theirs.curve(name), rtol=1e-9, err_msg=name)


def test_noise_has_an_address_and_not_a_place_in_a_queue():
    """More replicates extend a run, threads do not matter, and absent clients do not shift the noise of the others."""
    experiment = experiment_of(least_squares(noise_sq=0.8), FedAvg())
    many = fl.simulate(experiment, replicates=300, threads=2)
    few = fl.simulate(experiment, engine="reference", replicates=2)
    assert np.array_equal(many.gap[:2], few.gap)
    assert len(np.unique(many.gap[:, 1])) == 300
    oracle = least_squares(noise_sq=0.8).reference_oracle(seed=0, replicates=range(2))
    w, batch = np.ones((2, 3, 2)), oracle.minibatch(1)
    whole = oracle.gradient(w, batch)
    some = oracle.gradient(w, batch, active=np.array([[False, True, True]]))
    assert np.array_equal(some[:, 1:], whole[:, 1:])
    assert not np.any(some[:, 0])
    assert np.array_equal(whole, oracle.gradient(w, batch))
    assert not np.array_equal(whole, oracle.gradient(w, oracle.minibatch(2)))
    oracle.begin_round(1)
    assert not np.array_equal(whole, oracle.gradient(w, batch))


class TestRefusals:
    def test_no_closed_form(self):
        class Bare:
            def __init__(self, problem):
                self._problem = problem

            def __getattr__(self, name):
                if name == "closed_form":
                    raise AttributeError(name)
                return getattr(self._problem, name)

        with pytest.raises(
            NotApplicable, match=r"Bare has no closed_form\(\); .* returns a fltheory.problems.ClosedForm"
        ):
            fl.simulate(experiment_of(Bare(least_squares()), FedAvg()), engine="exact")

    @pytest.mark.parametrize("part", ["hessian", "linear"])
    def test_a_closed_form_of_another_problem(self, part):
        problem = least_squares()
        wrong = least_squares(form={part: 1.01 * getattr(problem, part)})
        with pytest.raises(
            InvalidParameter, match=r"LeastSquares.closed_form\(\) must describe the problem's objective"
        ):
            fl.simulate(experiment_of(wrong, FedAvg()), engine="exact")

    def test_a_closed_form_of_another_size(self):
        wrong = least_squares(form={"linear": np.ones((3, 3)), "hessian": np.ones((1, 3))})
        with pytest.raises(InvalidParameter, match=r"must have num_clients=3 and dim=2 .* got num_clients=3 and dim=3"):
            fl.simulate(experiment_of(wrong, FedAvg()), engine="exact")

    @pytest.mark.parametrize(
        ("algorithm", "message"),
        [(EFL(), "has no curvature 'fisher'; derive"), (PFedMe(), "how good personal models are")],
    )
    def test_what_the_oracle_does_not_know(self, algorithm, message):
        with pytest.raises(NotApplicable, match=message):
            fl.simulate(experiment_of(least_squares(), algorithm), engine="reference", replicates=1)

    def test_no_hessian(self):
        problem = least_squares(with_hessian=False)
        with pytest.raises(NotApplicable, match="LeastSquares has no Hessian"):
            fl.simulate(experiment_of(problem, CFLR()), engine="reference", replicates=1)

    def test_proximal_points(self):
        problem = least_squares()
        oracle = problem.reference_oracle(seed=0, replicates=range(1))
        with pytest.raises(NotApplicable, match="no sub-problems with an l1 term"):
            oracle.prox(np.zeros((1, 3, 2)), pull=1.0, l1=0.1)
        restless = GradientOracle(
            problem,
            gradient=lambda i, w: np.sign(w) * np.abs(w) ** (1 / 3),
            hessian=lambda i, w: np.diag(np.abs(w) ** (-2 / 3) / 3),
            seed=0,
            replicates=range(1),
        )
        with pytest.raises(NotApplicable, match="not found in 50 Newton steps"):
            restless.prox(np.ones((1, 3, 2)), pull=0.0)


class TestClosedForm:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"hessian": np.ones((2, 2))}, "must have 1 or 3 entries"),
            ({"hessian": np.arange(12.0).reshape(3, 2, 2)}, "must be symmetric"),
            ({"hessian": np.ones((1, 2, 2)), "basis": np.eye(2)}, "basis must be None"),
            ({"noise_sq": -1.0}, "noise_sq must be >= 0"),
            ({"noise_sq": [1.0, 2.0]}, "noise_sq must have shape"),
            ({"round_growth": -0.1}, "round_growth must be"),
            ({"near": [1.0]}, "near must have shape"),
            ({"gaussian": 1}, "gaussian must be"),
            ({"linear": np.ones((1, 2)), "fresh_drift_centred": True}, "needs at least two clients"),
        ],
    )
    def test_arguments(self, wrong, message):
        with pytest.raises(InvalidParameter, match=message):
            ClosedForm(**({"hessian": np.ones((1, 2)), "linear": np.ones((3, 2))} | wrong))

    def test_coordinates(self):
        turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
        form = ClosedForm(
            hessian=[[1.0, 3.0]],
            linear=[[1.0, 2.0], [0.0, 1.0]],
            basis=turn,
            near=[1.0, -1.0],
            client_drift=[[1.0, 0.0], [0.0, 1.0]],
        )
        flat = form.with_matrices()
        w = np.array([0.3, -0.7])
        inside = form.hessian * form.inward(w) + form.linear + form.client_drift
        np.testing.assert_allclose(flat.hessian[0] @ w + flat.linear + flat.client_drift, form.outward(inside))
        np.testing.assert_allclose(form.inward(flat.near), form.near)
        assert flat.with_matrices() is flat
        plain = ClosedForm(hessian=[[1.0, 3.0]], linear=[[1.0, 2.0]])
        assert plain.in_model_coordinates() is plain
        assert np.array_equal(plain.with_matrices().hessian, [np.diag([1.0, 3.0])])


def test_what_a_problem_is_built_from_is_public():
    import fltheory.problems as problems

    parts = "ClosedForm Constant DifferentiableObjective EngineOracle GradientOracle HasClosedForm LocalSteps Measures"
    for name in [*parts.split(), "Objective", "Oracle", "Origin", "Problem", "Round"]:
        assert name in dir(problems)
        assert getattr(problems, name).__module__.startswith("fltheory.problems.")


def test_rounds_of_a_gaussian_closed_form_are_drawn_at_once():
    """With a common eigenbasis and Gaussian noise, the compiled engine need not run every step."""
    features = np.sqrt(np.array([[[2.0, 0.0], [0.0, 4.0]]] * 3))
    diagonal = {"hessian": np.array([[1.0, 2.0]]), "gaussian": True}
    problem = LeastSquares(features=features, targets=np.ones((3, 2)), noise_sq=0.5, form=diagonal)
    record = fl.Record(consensus=False)
    run = fl.simulate(experiment_of(problem, FedAvg()), replicates=400, record=record)
    assert run.provenance["steps"] == "rounds drawn at once, equal in law"
    band, truth = run.band("gap", level=1 - 1e-5), fl.simulate(experiment_of(problem, FedAvg()), engine="exact").gap[0]
    assert np.all((band.low <= truth)[1:] & (truth <= band.high)[1:])
