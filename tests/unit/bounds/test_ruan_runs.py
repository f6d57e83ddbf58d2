"""Runs behind the claims on flexible participation: shifts, limits, fast reboot."""

import itertools

import numpy as np
import pytest
from sympy import Le

from fltheory.bounds.algebra import BigO, compiled
from fltheory.bounds.claim import Citation, Claim, Form, Kind, Rejected
from fltheory.bounds.flexible_participation import draws, experiments
from fltheory.bounds.flexible_participation.symbols import distance, gamma
from fltheory.bounds.ruan import _limit, _rates, _reboot, corollary_3_2_1, corollary_4_0_3, eq_66, theorem_3_1
from fltheory.bounds.symbols import E, tau
from fltheory.participation import Participation, StepCounts
from fltheory.participation.schemes import Scheme
from fltheory.simulation.engines import simulate
from fltheory.simulation.recording import Record
from fltheory.validation.decide import check
from fltheory.validation.evaluate import read
from fltheory.validation.search import random_points
from fltheory.validation.trials import environment
from fltheory.validation.verdict import Decision

MOMENTS = Record(consensus=False, moments=True)


def drawn(space, count, seed=0):
    return list(random_points(space, np.random.default_rng(seed), count))


def some_problem(count=3):
    rng = np.random.default_rng(5)
    hessian, centre = rng.uniform(1, 3, (count, 2)), rng.uniform(-2, 2, (count, 2))
    point = {
        "curvature": (hessian - hessian.min()) / (hessian.max() - hessian.min()),
        "mu": 1.0,
        "condition": 3.0,
        "centre": centre,
        "n": rng.uniform(0.5, 2, count),
        "noise": np.ones(count),
        "loud": 0.1,
        "start": np.zeros(2),
    }
    return experiments.quadratics(point)


def steps(*rows):
    return Participation(num_clients=len(rows), local_steps=len(rows[0]) - 1, steps=StepCounts(pmf=np.array(rows)))


def limit(problem, participation, scheme):
    return _limit.of(problem, experiments.setting(problem, participation, scheme))


@pytest.mark.parametrize("scheme", "ABC")
def test_homogeneous_participation_has_the_minimiser_for_its_limit(scheme):
    problem = some_problem()
    law = [0.3, 0.2, 0.5]
    assert limit(problem, steps(law, law, law), scheme) == pytest.approx(experiments.constants(problem)["w_star"])


def test_scheme_c_is_unbiased_while_nobody_is_inactive_and_b_is_not():
    problem, work = some_problem(), steps([0, 1, 0], [0, 0.5, 0.5], [0, 0, 1])
    best = experiments.constants(problem)["w_star"]
    assert limit(problem, work, "C") == pytest.approx(best)
    means = problem.weights * [1, 1.5, 2]
    assert limit(problem, work, "B") == pytest.approx(problem.objective(means / means.sum()).w_star)
    assert np.abs(limit(problem, work, "B") - best).max() > 0.01


@pytest.mark.parametrize("scheme", "ABC")
def test_a_client_that_never_works_leaves_no_trace(scheme):
    problem, law = some_problem(), [0.3, 0.2, 0.5]
    rest = experiments.some(problem, np.array([True, True, False]))
    found = limit(problem, steps(law, law, [1, 0, 0]), scheme)
    assert found == pytest.approx(limit(rest, steps(law, law), scheme))


def test_inactive_and_absent_clients_of_all_schemes_are_among_the_instances():
    points = drawn(theorem_3_1.claim.check.space, 400)
    seen = set()
    for point in points:
        pmf = np.asarray(experiments.two_values(point).pmf)
        kinds = {"never" if row[0] == 1 else "at times" if row[0] > 0 else "always" for row in pmf}
        seen |= {(point["scheme"], point["participation"], kind) for kind in kinds}
    random_laws = set(itertools.product("ABC", ("homogeneous", "heterogeneous"), ("never", "at times", "always")))
    assert random_laws <= seen


def test_a_wrong_limit_is_noticed():
    right = _rates.limit_of_runs("B")
    wrong = Form(statement=Le(distance, BigO(1 / (tau * E + gamma))), where=right.where)
    claim = Claim(
        id="ruan.planted", kind=Kind.RATE, title="", citation=Citation("ruan", ""), forms=(wrong,), check=right.check
    )
    assert check(claim)[0].decision is Decision.VIOLATED


@pytest.mark.parametrize("fast_reboot", [False, True])
def test_runs_go_through_the_shift(fast_reboot):
    """Before it the old objective counts, after it the new one; the learning rate restarts at its first value."""
    source = corollary_3_2_1.runs(("arrival", "departure"), fast_reboot=fast_reboot)
    kinds = set()
    for point in drawn(source.space, 24):
        try:
            run = source.experiment(point)
        except Rejected:
            continue
        first, participation = point["tau_0"], run.participation
        trajectories = simulate(run, engine="exact", record=MOMENTS)
        env = source.quantities(point, run, trajectories)
        away = [_limit.distances(env[name], trajectories) for name in ("w_star", "w_new")]
        assert env["Delta_shift"] == pytest.approx(away[0][first])
        assert env["distance_sq_new"] == pytest.approx(away[1][first + 1 :])
        assert len(env["since"]) == 16
        assert run.rate_at(first) == run.rate_at(0)
        everybody = experiments.constants(run.problem)
        assert (env["mu"], env["L"]) == (everybody["mu"], everybody["L"])
        before, after = (participation.members(index).sum() for index in (first - 1, first))
        assert (before, after) == (
            (env["N"] - 1, env["N"]) if point["event"] == "arrival" else (env["N"] + 1, env["N"])
        )
        raised = fast_reboot and point["event"] == "arrival"
        usual = experiments.setting(*experiments.members(run.problem, participation, first), point["scheme"])
        ratios = np.array(env["p_drawn"])[:, -1], np.array(usual["p_drawn"])[:, -1]
        assert ratios[0] == pytest.approx(3 * ratios[1] if raised else ratios[1])
        kinds.add(point["event"])
    assert kinds == {"arrival", "departure"}


@pytest.mark.parametrize("smallest", [False, True])
def test_the_rate_of_laws_that_change_has_the_sum_of_its_round_or_the_smallest_one(smallest):
    source, changes = eq_66.runs(smallest=smallest), 0
    for point in drawn(source.space, 24):
        try:
            run = source.experiment(point)
        except Rejected:
            continue
        env, count = eq_66.setting(run.problem, run.participation, point["scheme"], run.rounds), point["E"]
        found = [
            experiments.law(run.problem, run.participation, Scheme(point["scheme"]), index)["mean_ps"]
            for index in range(run.rounds + 1)
        ]
        assert env["mean_ps_at"] == pytest.approx(found)
        offset, units = compiled(eq_66.GAMMA)(env), np.full(run.rounds, min(found)) if smallest else np.array(found)
        for index in range(run.rounds):
            at = (index + (not smallest)) * count + offset
            assert run.rate_at(index) == pytest.approx(16 * count / (env["mu"] * units[index] * at))
        changes += min(found) < max(found)
    assert changes > 2


def test_one_gradient_bound_holds_for_both_runs_that_the_rule_compares():
    source, decided = corollary_4_0_3.claim.check, set()
    for point in drawn(source.space, 24):
        made = source.experiment(point)
        runs = [simulate(run, engine="exact", record=MOMENTS) for run in made]
        env = source.quantities(point, made, runs)
        norms = [
            experiments.along(*pair, int(point["tau_0"]) * which)["G_sq"]
            for which, pair in enumerate(zip(made, runs, strict=True))
        ]
        assert env["G_sq"] == max(norms) == env["gradient_sq"].max()
        decided.add(norms[0] >= norms[1])
    assert True in decided


@pytest.mark.parametrize("source", [draws.PATHS, draws.GIVEN])
def test_the_gradient_bound_of_a_round_is_attained_by_a_draw(source):
    for point in drawn(source.space, 20):
        try:
            env = source.realise(point)
        except Rejected:
            continue
        assert max(env["gradient_sq_given"]) == env["G_sq"]
        assert len(env["gradient_sq_given"]) == len(env["chance"])


def test_the_printed_rate_fails_after_a_run_that_had_converged():
    """Two clients with minimisers 0 and 1; after the arrival everybody works in one of a thousand rounds."""
    claim, both = corollary_3_2_1.claim, np.ones(2, dtype=int)
    point = {
        "N": 2,
        "d": 1,
        "E": 1,
        "tau_0": 1,
        "after": 16,
        "scheme": "B",
        "event": "arrival",
        "participation": "full",
        "participation_later": "homogeneous",
        "low": 0 * both,
        "high": both,
        "q": np.ones(2),
        "low_later": 0 * both,
        "high_later": both,
        "q_later": np.full(2, 1e-3),
        "n": np.ones(2),
        "mu": 1.0,
        "condition": 1.0,
        "curvature": np.zeros((2, 1)),
        "centre": np.array([[0.0], [1.0]]),
        "noise": np.zeros(2),
        "loud": 1.0,
        "start": np.zeros(1),
    }
    readings = {}
    for form in (claim.form("published"), claim.form("corrected")):
        env = environment(claim.check_of(form), point, seed=0)
        assert env["Delta_shift"] == 0
        readings[form.variant] = read(form, env).violated
    assert readings == {"published": True, "corrected": False}


def test_members_weigh_as_the_objective_does():
    source = corollary_3_2_1.runs()
    for point in drawn(source.space, 20):
        participation = corollary_3_2_1.participation_of(point, fast_reboot=False)
        problem = experiments.quadratics(point)
        for index in (0, point["tau_0"]):
            rest, work = experiments.members(problem, participation, index)
            weights = participation.objective_weights(index, problem.weights, problem.sample_counts)
            assert rest.weights == pytest.approx(weights[participation.members(index)])
            assert work.step_pmf(0) == pytest.approx(participation.step_pmf(index)[participation.members(index)])


def test_fast_reboot_changes_the_distance_as_derived():
    source = _reboot.on_the_fly(0.5)
    compared = 0
    for point in drawn(source.space, 40):
        try:
            env = environment(source, point, seed=0)
        except Rejected:
            continue
        own, eta, share = env["grad_l_now"], env["eta"], env["share"]
        second = eta * env["grad_new_now"] @ own + eta * share * own @ own
        derived = 4 * eta * share * (second - (env["w_now"] - env["w_new"]) @ own)
        scale = max(env["after_fast_sq"], env["after_plain_sq"])
        assert env["after_fast_sq"] - env["after_plain_sq"] == pytest.approx(derived, rel=1e-4, abs=1e-11 * scale)
        compared += 1
    assert compared > 20


def exclusive(source):
    """Points of a check at which clients exclude each other and all of them work when they are asked."""
    found = []
    for point in drawn(source.space, 400, seed=3):
        if point["participation"] == "exclusive" and point["N"] > 1:
            every = np.full(point["N"], point["E"])
            found.append(
                {**point, "scheme": "C", **{name: every for name in point if name.startswith(("low", "high"))}}
            )
    return found[:5]


@pytest.mark.parametrize("claim", [theorem_3_1.claim, eq_66.claim, corollary_3_2_1.claim], ids=lambda one: one.id)
def test_clients_that_exclude_each_other_never_work_together(claim):
    points = exclusive(claim.check)
    assert points
    for point in points:
        run = claim.check.experiment(point)
        weights = run.participation.objective_weights(0, run.problem.weights, run.problem.sample_counts)
        chance, counts, _ = run.participation.outcomes(0, weights)
        members = int(run.participation.members(0).sum())
        assert len(chance) == members
        np.testing.assert_allclose(chance, 1 / members)
        assert ((counts > 0).sum(axis=1) == 1).all()


def test_the_federation_after_a_shift_asks_as_many_clients_as_before():
    (point, *_) = exclusive(corollary_3_2_1.claim.check)
    run = corollary_3_2_1.claim.check.experiment(point)
    for index in (0, point["tau_0"]):
        problem, participation = experiments.members(run.problem, run.participation, index)
        law = experiments.law(problem, participation, Scheme.C, index=0)
        assert all((counts > 0).sum() == 1 for counts in law["s_drawn"])
