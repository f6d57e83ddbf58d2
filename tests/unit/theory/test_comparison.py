"""A theorem beside an experiment: sides, constants, assumptions, on every class of problems."""

from __future__ import annotations

import dataclasses
import doctest
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fltheory as fl
from fltheory.bounds.fen import _observed
from fltheory.bounds.observation import Facts
from fltheory.participation import (
    Arrival,
    BernoulliSteps,
    Departure,
    FullSteps,
    StepCounts,
    Timeline,
    TimeVarying,
    WithoutReplacement,
)
from fltheory.problems import Origin

MAIN = "ruan.theorem-3.1"
ROUNDS = 12


def quadratics(**more: Any) -> fl.Quadratic:
    given = {"dim": 3, "num_clients": 3, "mu": 1.0, "L": 6.0, "dissimilarity": 2.0, "noise_sq": 0.1, **more}
    return fl.client_quadratics(**given)


def everyone(steps: int = 2) -> fl.Participation:
    return fl.Participation(num_clients=3, local_steps=steps)


def prescribed(id_: str = MAIN, *, problem: Any = None, participation: Any = None, **more: Any) -> fl.Experiment:
    """Return an experiment with the learning rate of a theorem."""
    problem, participation = problem or quadratics(), participation or everyone()
    algorithm = more.pop("algorithm", fl.Ruan(scheme="C"))
    rate = fl.theorem(id_).rate_for(problem, participation, algorithm=algorithm, rounds=ROUNDS, **more)
    return fl.Experiment(problem=problem, algorithm=algorithm, participation=participation, rounds=ROUNDS, rate=rate)


def test_both_sides_are_those_of_the_run_and_of_the_function() -> None:
    theorem, experiment = fl.theorem(MAIN), prescribed()
    run = fl.simulate(experiment, engine="exact", record=theorem.record())
    compared = theorem.compare(experiment, run)
    np.testing.assert_array_equal(compared.left, run.distance_sq[0, 1:])
    known = {name: constant.value for name, constant in compared.constants.items()}
    weights = experiment.problem.weights
    by_hand = theorem.bound().function()(
        **{name: known[name] for name in ("mu", "L", "Gamma", "sigma_sq", "theta", "G_sq")},
        E=2, N=3, p=weights, p_drawn=[weights], s_drawn=[[2, 2, 2]], chance=[1.0],
        start_sq=run.distance_sq[0, 0], tau=np.arange(1, ROUNDS + 1),
    )  # fmt: skip
    np.testing.assert_allclose(compared.right, by_hand, rtol=1e-12)
    assert compared.decision is fl.Decision.HOLDS
    np.testing.assert_allclose(compared.slack, compared.right / compared.left)
    assert compared.rounds.tolist() == list(range(1, ROUNDS + 1))


def test_constants_say_where_they_come_from() -> None:
    compared = fl.theorem(MAIN).compare(prescribed())
    origins = {name: constant.origin for name, constant in compared.constants.items()}
    assert origins["mu"] is Origin.COMPUTED
    assert origins["sigma_sq"] is Origin.DECLARED
    assert origins["G_sq"] is Origin.MEASURED
    mine = fl.theorem(MAIN).compare(prescribed(), G_sq=1e4)
    assert mine.constants["G_sq"].origin is Origin.DECLARED
    assert mine.constants["G_sq"].value == 1e4
    assert np.all(mine.right > compared.right)


def test_a_gradient_bound_that_is_too_small_is_an_unmet_assumption() -> None:
    compared = fl.theorem(MAIN).compare(prescribed(), G_sq=1e-3)
    assert compared.decision is fl.Decision.NOT_APPLICABLE
    assert [one.name for one in compared.unmet] == ["bounded gradients (3.4)"]
    assert "against 0.001" in compared.unmet[0].value


def test_the_gradient_bound_is_that_of_steps_that_are_taken() -> None:
    """A client that works with probability 0.1 has no smaller gradients for that."""
    seldom = prescribed(participation=fl.Participation(
        num_clients=3, local_steps=2, steps=BernoulliSteps(probability=0.1)))  # fmt: skip
    always = prescribed()
    start = max(
        fl.theorem(MAIN).compare(dataclasses.replace(one, rounds=1)).constants["G_sq"].value for one in (seldom,)
    )
    at_start = fl.theorem(MAIN).compare(dataclasses.replace(always, rounds=1, rate=seldom.rate)).constants["G_sq"].value
    assert start == pytest.approx(at_start, rel=1e-9)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"rate": 0.01}, "learning rate of the theorem"),
        ({"problem": fl.noisy_quadratic(dim=3, num_clients=3, round_drift_sq=0.2)}, "no drift that is shared by all"),
    ],
)
def test_an_unmet_assumption_is_named_with_its_value(changed: dict[str, Any], name: str) -> None:
    experiment = dataclasses.replace(prescribed(), **changed)
    compared = fl.theorem(MAIN).compare(experiment)
    assert compared.decision is fl.Decision.NOT_APPLICABLE
    assert any(one.name.startswith(name) for one in compared.unmet), [str(one) for one in compared.unmet]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"algorithm": fl.Scaffold()}, "got SCAFFOLD"),
        (
            {"participation": fl.Participation(num_clients=3, local_steps=2, steps=TimeVarying(
                laws=(BernoulliSteps(probability=0.5), FullSteps()), starts=(0, 3)))},
            "see ruan.eq-66",
        ),
    ],
)  # fmt: skip
def test_what_the_statement_is_not_about_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(fl.NotApplicable, match=message):
        fl.theorem(MAIN).compare(dataclasses.replace(prescribed(), **changed))


def test_fedavg_under_sampling_has_the_weights_of_its_design() -> None:
    participation = fl.Participation(
        num_clients=3, local_steps=2, selection=WithoutReplacement(size=2, renormalise=False)
    )
    experiment = prescribed(participation=participation, algorithm=fl.FedAvg())
    compared = fl.theorem(MAIN).compare(experiment)
    assert compared.decision is fl.Decision.HOLDS
    assert compared.constants["theta"].value == pytest.approx(1.5)  # 3/2 of the weight for each of two


@pytest.mark.parametrize("id_", ["ruan.eq-66", "efl.theorem-1"])
def test_participation_may_change(id_: str) -> None:
    law = TimeVarying(laws=(BernoulliSteps(probability=0.7), FullSteps()), starts=(0, 5))
    participation = fl.Participation(num_clients=3, local_steps=2, steps=law)
    compared = fl.theorem(id_).compare(prescribed(id_, participation=participation))
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    assert len(compared.left) == ROUNDS


def test_the_limit_of_a_run() -> None:
    compared = fl.theorem(MAIN).compare(
        prescribed(participation=fl.Participation(num_clients=3, local_steps=2, steps=BernoulliSteps(probability=0.5))),
        variant="sharp@limit",
    )
    assert compared.decision is fl.Decision.HOLDS


def logistic() -> Any:
    rng = np.random.default_rng(1)
    features = [rng.standard_normal((30, 2)) for _ in range(3)]
    return fl.logistic_from_arrays(features, [(x[:, 0] > 0).astype(int) for x in features], l2=0.2, batch_size=5)


def softmax() -> Any:
    rng = np.random.default_rng(2)
    features = [rng.standard_normal((30, 2)) for _ in range(3)]
    labels = [rng.integers(0, 3, size=30) for _ in features]
    return fl.softmax_from_arrays(features, labels, l2=0.2)


@pytest.mark.parametrize("problem", [logistic(), softmax()], ids=["logistic", "softmax"])
def test_own_arrays(problem: Any) -> None:
    compared = fl.theorem(MAIN).compare(prescribed(problem=problem), replicates=20, seed=3)
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    assert np.all(compared.left_low <= compared.left)
    assert np.all(compared.left <= compared.left_high)


def test_constants_on_a_ball() -> None:
    problem = logistic()
    experiment = prescribed(problem=problem, radius=3.0)
    compared = fl.theorem(MAIN).compare(experiment, replicates=20, radius=3.0)
    assert compared.constants["sigma_sq"].origin is Origin.COMPUTED
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    small = fl.theorem(MAIN).compare(experiment, replicates=20, radius=1e-3)
    assert any(one.name.startswith("models stay within 0.001") for one in small.unmet)


class Silent:
    """A problem that keeps its constants to itself."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)

    def constants(self) -> dict[str, Any]:
        return {}


def test_what_nobody_knows_is_asked_for_by_name() -> None:
    experiment = dataclasses.replace(prescribed(), problem=Silent(quadratics()))
    with pytest.raises(fl.MissingConstants, match=r"Gamma \(gap of each client") as caught:
        fl.theorem(MAIN).compare(experiment)
    assert list(caught.value.names) == ["Gamma"]
    compared = fl.theorem(MAIN).compare(experiment, Gamma=quadratics().constants()["gamma"].value)
    assert compared.constants["L"].origin is Origin.MEASURED
    assert compared.constants["L"].value == pytest.approx(6.0, rel=1e-6)
    assert compared.decision is fl.Decision.HOLDS, str(compared)


def test_a_constant_that_is_not_used_is_refused() -> None:
    with pytest.raises(fl.InvalidParameter, match="makes no use of kappa"):
        fl.theorem(MAIN).compare(prescribed(), kappa=3.0)


@pytest.mark.parametrize("id_", ["cfl.eq-62-fedavg", "cfl.theorem-4.3-sc", "cfl.theorem-4.5-gc"])
def test_statements_about_fedavg_with_drifts(id_: str) -> None:
    drift = 0.0 if "4.5" in id_ else 0.1
    problem = fl.noisy_quadratic(dim=3, num_clients=4, mu=0.5, L=1.0, client_drift_sq=0.3, round_drift_sq=drift)
    experiment = fl.Experiment(
        problem=problem, algorithm=fl.FedAvg(), participation=fl.Participation(num_clients=4, local_steps=3),
        rounds=20, rate=0.01, averaging=np.ones(21),
    )  # fmt: skip
    compared = fl.theorem(id_).compare(experiment)
    assert not compared.unmet, str(compared)
    rate = fl.theorem(id_).kind == "rate"
    assert compared.decision is (fl.Decision.INCONCLUSIVE if rate else fl.Decision.HOLDS)
    assert ("constant inside O()" in str(compared)) == rate


def test_a_drift_over_rounds_is_named_where_there_must_be_none() -> None:
    problem = fl.noisy_quadratic(dim=3, num_clients=4, mu=0.5, L=1.0, round_drift_sq=0.1)
    experiment = fl.Experiment(
        problem=problem, algorithm=fl.FedAvg(), participation=fl.Participation(num_clients=4, local_steps=3),
        rounds=5, rate=0.01, averaging=np.ones(6),
    )  # fmt: skip
    assert [one.name for one in fl.theorem("cfl.theorem-4.5-sc").compare(experiment).unmet] == ["D = 0"]


@pytest.mark.parametrize(("inactive", "finite"), [(0.0, True), (0.2, False)])
def test_a_bound_that_is_infinite_decides_nothing(inactive: float, finite: bool) -> None:
    """The rate of scheme C has the mean of 1/s, which is infinite where a client may be inactive."""
    law = StepCounts(pmf=np.array([[inactive, 0.5 - inactive, 0.5]] * 3))
    participation = fl.Participation(num_clients=3, local_steps=2, steps=law)
    compared = fl.theorem("ruan.table-1-C-homogeneous").compare(prescribed(participation=participation))
    assert compared.decision is (fl.Decision.INCONCLUSIVE if finite else fl.Decision.NOT_APPLICABLE)
    assert ("the right-hand side is finite" in [one.name for one in compared.unmet]) == (not finite)


def test_a_rate_for_another_scheme_is_not_applicable() -> None:
    compared = fl.theorem("ruan.table-1-B-homogeneous").compare(prescribed())
    assert [one.name for one in compared.unmet] == ["scheme B"]


def test_efl_with_compression() -> None:
    """What residuals hold back is followed by the recursion of the page, from the contraction of the compressor."""
    algorithm = fl.EFL(compression=0.5, elasticity=0.0)
    experiment = prescribed("efl.theorem-1-compressed", algorithm=algorithm)
    compared = fl.theorem("efl.theorem-1-compressed").compare(experiment, replicates=20)
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    assert compared.constants["contraction"].value == pytest.approx(1 - 1 / 2)  # 2 of 3 entries
    plain = fl.theorem("efl.theorem-1").compare(experiment_without_compression(experiment), replicates=20)
    assert np.all(compared.right > plain.right)
    looser = fl.theorem("efl.theorem-1-compressed").compare(experiment, compared.run, contraction=0.9)
    assert np.all(looser.right > compared.right)
    books = dataclasses.replace(experiment, algorithm=dataclasses.replace(algorithm, bookkeeping="printed"))
    assert [one.name for one in fl.theorem("efl.theorem-1-compressed").compare(books, replicates=5).unmet] == [
        "consistent bookkeeping"
    ]
    published = fl.theorem("efl.theorem-1-compressed").compare(experiment, variant="published@box", replicates=20)
    assert not published.unmet, str(published)


def experiment_without_compression(experiment: fl.Experiment) -> fl.Experiment:
    return dataclasses.replace(experiment, algorithm=fl.EFL(elasticity=0.0))


def test_efl_with_elastic_term() -> None:
    id_, theorem = "efl.theorem-1-elastic", fl.theorem("efl.theorem-1-elastic")
    experiment = prescribed(id_, algorithm=fl.EFL(elasticity=0.3))
    compared = theorem.compare(experiment)
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    assert np.all(compared.constants["fisher_max"].value <= 6.0)
    weaker = theorem.compare(experiment, compared.run, fisher_max=np.full(3, 20.0))
    assert np.all(weaker.right > compared.right)
    assert weaker.constants["fisher_max"].origin is Origin.DECLARED
    arrays = prescribed(id_, problem=logistic(), algorithm=fl.EFL(elasticity=0.3))
    with pytest.raises(fl.MissingConstants, match="fisher_max"):
        theorem.compare(arrays, replicates=2)


@pytest.mark.parametrize("rule", ["sign", "subgradient"])
def test_fedelasticnet(rule: str) -> None:
    """The quantities come from a walk of their own, whose server models are those of the run."""
    experiment = fl.Experiment(
        problem=fl.client_quadratics(dim=3, num_clients=3, mu=0.5, L=1.0, dissimilarity=0.3, noise_sq=0.0),
        algorithm=fl.FedElasticNet3(l1=0.01, l2=30.0, epsilon=0.0, exact=True, memory_rule=rule),
        participation=everyone(1), rounds=8, rate=0.1,
    )  # fmt: skip
    run = fl.simulate(experiment, engine="reference", replicates=1, record=fl.Record(models=True))
    walk = _observed._walk(Facts.of(experiment, run))
    np.testing.assert_allclose(walk["server_at"], run.models[0, :-1], atol=1e-12)
    theorem = fl.theorem("fen.theorem-3.1")
    decisions = {variant: theorem.compare(experiment, run, variant=variant).decision for variant in theorem.forms}
    held, other = fl.Decision.HOLDS, fl.Decision.NOT_APPLICABLE
    assert decisions["corrected@both-sides"] is held
    assert decisions["corrected@subgradient"] is (held if rule == "subgradient" else other)
    assert decisions["corrected"] is (held if rule == "sign" else other)
    small = dataclasses.replace(experiment, algorithm=fl.FedElasticNet3(l1=0.01, l2=3.0, epsilon=0.0, exact=True))
    assert any("large quadratic penalty" in one.name for one in theorem.compare(small, replicates=1).unmet)


def test_a_lemma_cannot_be_read_off_a_run() -> None:
    with pytest.raises(fl.NotApplicable, match=r"bound\(\)\.function\(\)"):
        fl.theorem("ruan.lemma-a.2").compare(prescribed())
    with pytest.raises(fl.NotApplicable, match="prescribes no learning rate"):
        fl.theorem("cfl.eq-62-fedavg").rate_for(quadratics(), everyone())


def test_how_it_is_shown() -> None:
    pytest.importorskip("pandas")
    compared = fl.theorem(MAIN).compare(prescribed())
    assert len(repr(compared)) < 120
    assert "NOT MET" not in str(compared)
    assert compared._repr_html_().count("<table>") == 2
    frame = compared.to_dataframe()
    assert list(frame.columns) == ["round", "left", "left_low", "left_high", "right", "slack"]
    figure = compared.plot()
    assert [line.get_label() for line in figure.axes[0].lines] == ["run (exact)", "corrected bound"]
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_title() == "Ruan et al., Theorem 3.1, (3): holds"


def test_a_problem_class_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least squares of the how-to, with the exact engine through its closed form."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "add-a-problem.md"
    module = types.ModuleType("least_squares_of_the_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look it up
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        exec(compile(example.source, str(page), "exec"), module.__dict__)
        if hasattr(module, "problem"):
            break
    problem = module.problem
    participation = fl.Participation(num_clients=problem.num_clients, local_steps=2)
    gaps = np.full(problem.num_clients, 0.5)
    rate = fl.theorem(MAIN).rate_for(problem, participation, algorithm=fl.FedAvg(), Gamma=gaps)
    experiment = fl.Experiment(
        problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=5, rate=rate
    )  # fmt: skip
    with pytest.raises(fl.MissingConstants, match="LeastSquares does not know Gamma"):
        fl.theorem(MAIN).compare(experiment)
    compared = fl.theorem(MAIN).compare(experiment, Gamma=gaps)
    assert compared.run.exact
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    assert compared.constants["mu"].origin is Origin.COMPUTED


UNEQUAL = StepCounts(pmf=np.array([[0.0, 0.0, 1.0], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5]]))


@pytest.mark.parametrize("scheme", ["A", "B"])
def test_what_remains_under_unequal_participation(scheme: str) -> None:
    """The limit is that of a long run with the theorem's rate; published 64, sharp 2."""
    participation = fl.Participation(num_clients=3, local_steps=2, steps=UNEQUAL)
    algorithm, id_ = fl.Ruan(scheme=scheme), f"ruan.table-1-{scheme}-heterogeneous"
    still = quadratics(noise_sq=0.0)
    experiment = prescribed(id_, problem=still, participation=participation, algorithm=algorithm)
    published, sharp = (fl.theorem(id_).compare(experiment, variant=name) for name in ("published", "sharp"))
    assert published.decision is sharp.decision is fl.Decision.HOLDS, str(sharp)
    np.testing.assert_allclose(published.right, 32 * sharp.right)
    assert published.left > 0
    long = fl.simulate(dataclasses.replace(experiment, rounds=4000), engine="exact").distance_sq[0]
    early, late = long[[1000, 4000]] - published.left[0]  # falls like the learning rate
    assert 3 < early / late < 4.5
    tends = fl.theorem(id_).compare(experiment, variant="sharp@limit")
    assert tends.decision is fl.Decision.INCONCLUSIVE
    assert len(tends.left) == ROUNDS
    assert tends.left[-1] < tends.left[0]


def test_equal_participation_leaves_nothing_to_bound() -> None:
    id_ = "ruan.table-1-B-heterogeneous"
    compared = fl.theorem(id_).compare(prescribed(id_, algorithm=fl.Ruan(scheme="B")))
    assert [one.name for one in compared.unmet] == ["heterogeneous participation"]
    assert compared.left == pytest.approx(0.0, abs=1e-20)


def test_inactive_clients_of_efl() -> None:
    """Rounds are counted in which some client may be inactive; here the first five."""
    idle = StepCounts(pmf=np.array([[0.5, 0.0, 0.5]] + [[0.0, 0.0, 1.0]] * 2))
    law = TimeVarying(laws=(idle, FullSteps()), starts=(0, 5))
    participation = fl.Participation(num_clients=3, local_steps=2, steps=law)
    theorem = fl.theorem("efl.section-4.1")
    experiment = prescribed("efl.section-4.1", participation=participation, algorithm=fl.EFL(elasticity=0.0))
    compared = theorem.compare(experiment, variant="published")
    assert compared.decision is fl.Decision.INCONCLUSIVE, str(compared)
    assert compared.constants["y_t"].value.tolist() == [1.0] * 5 + [0.0] * 7
    problem, tau = experiment.problem, np.arange(1, ROUNDS + 1)
    metric = problem.weights @ compared.constants["Gamma"].value
    np.testing.assert_allclose(compared.right, np.minimum(tau, 5) * 32 * 2 * metric / (2 * tau + 4))
    for variant in ("corrected", "sharp", "corrected@vanishing"):
        assert not theorem.compare(experiment, variant=variant).unmet
    other = prescribed("efl.section-4.1", participation=participation, algorithm=fl.Ruan(scheme="B"))
    assert [one.name.split(",")[0] for one in theorem.compare(other).unmet] == ["coefficients E p / s"]


@pytest.mark.parametrize("fewest", [1, 0])
def test_incomplete_clients_of_efl(fewest: int) -> None:
    pmf = np.zeros((3, 3))
    pmf[:, fewest] = pmf[:, 2] = 0.5
    participation = fl.Participation(num_clients=3, local_steps=2, steps=StepCounts(pmf=pmf))
    experiment = prescribed("efl.section-4.2", participation=participation, algorithm=fl.EFL(elasticity=0.0))
    compared = fl.theorem("efl.section-4.2").compare(experiment)
    names = [one.name for one in compared.unmet]
    assert names == ([] if fewest else ["every client completes at least one step", "the right-hand side is finite"])
    if fewest:
        tau, noise = np.arange(1, ROUNDS + 1), compared.constants["sigma_sq"].value
        inverse = 0.75 * tau * (2**5 + 2**2 * np.sum(experiment.problem.weights**2 * noise))
        np.testing.assert_allclose(compared.right, inverse / (2 * tau + 4) ** 2)


def after_shift(**event: Any) -> fl.Participation:
    law = TimeVarying(laws=(FullSteps(), BernoulliSteps(probability=0.7)), starts=(0, 4))
    return fl.Participation(num_clients=3, local_steps=2, steps=law, timeline=Timeline(**event))


COROLLARY = "ruan.corollary-3.2.1"


@pytest.mark.parametrize(
    ("variant", "event"),
    [
        ("published", {"arrivals": (Arrival(client=2, round=4),)}),
        ("corrected", {"arrivals": (Arrival(client=2, round=4),)}),
        ("corrected", {"departures": (Departure(client=1, round=4, exclude=True),)}),
        ("corrected@fast-reboot", {"arrivals": (Arrival(client=2, round=4, fast_reboot=True),)}),
    ],
)
def test_the_bound_after_a_shift(variant: str, event: dict[str, Any]) -> None:
    experiment = prescribed(COROLLARY, participation=after_shift(**event), variant=variant)
    theorem = fl.theorem(COROLLARY)
    run = fl.simulate(experiment, engine="exact", record=theorem.record(variant))
    compared = theorem.compare(experiment, run, variant=variant)
    assert compared.decision is fl.Decision.HOLDS, str(compared)
    np.testing.assert_array_equal(compared.left, run.distance_sq[0, 5:])
    assert compared.rounds.tolist() == list(range(1, 9))
    other = "corrected" if variant == "corrected@fast-reboot" else "corrected@fast-reboot"
    assert any("reboot" in one.name for one in theorem.compare(experiment, run, variant=other).unmet)


@pytest.mark.parametrize(
    ("participation", "message"),
    [
        (everyone(), "has neither"),
        (after_shift(departures=(Departure(client=1, round=4, exclude=False),)), "exclude=True"),
        (
            fl.Participation(
                num_clients=3, local_steps=2, selection=WithoutReplacement(size=2, renormalise=False),
                timeline=Timeline(departures=(Departure(client=1, round=4, exclude=True),)),
            ),
            "all members are asked",
        ),
    ],
)  # fmt: skip
def test_what_the_corollary_is_not_about(participation: fl.Participation, message: str) -> None:
    with pytest.raises(fl.NotApplicable, match=message):
        prescribed(COROLLARY, participation=participation)


def test_what_counts_no_rounds_is_named() -> None:
    """The theorem counts local steps, three in a round."""
    pytest.importorskip("pandas")
    experiment = fl.Experiment(
        problem=quadratics(), algorithm=fl.Scaffnew(), participation=everyone(3), rounds=4, rate=0.05
    )
    compared = fl.theorem("proxskip.theorem-3.6").compare(experiment)
    assert (compared.axis, compared.rounds.tolist()) == ("T", [3.0, 6.0, 9.0, 12.0])
    assert "closest at T = " in str(compared)
    assert next(iter(compared.to_dataframe().columns)) == "T"
    assert compared.plot().axes[0].get_xlabel().startswith("T, ")
    single = fl.theorem(MAIN).compare(prescribed())
    assert single.axis == "round"
    assert "closest in round " in str(single)


def test_rates_that_nearly_agree_are_told_apart() -> None:
    experiment = prescribed()
    almost = dataclasses.replace(experiment, rate=float(experiment.rate_at(0)) * (1 + 1e-8), rounds=1)
    (unmet,) = [one for one in fl.theorem(MAIN).compare(almost).unmet if one.name == "learning rate of the theorem"]
    numbers = [word.rstrip(",") for word in unmet.value.split() if word[0] == "0" and "." in word]
    assert len(set(numbers)) == 2
