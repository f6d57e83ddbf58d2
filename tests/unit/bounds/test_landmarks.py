"""Landmark theorems: what their instances rest on, held against independent computations, and their guards."""

import dataclasses

import numpy as np
import pytest
import sympy as sp

import fltheory as fl
from fltheory.bounds.catalogue import index
from fltheory.bounds.claim import Form
from fltheory.bounds.proxskip._scaffnew import ErrorMoments
from fltheory.participation import WithoutReplacement, WithReplacement
from fltheory.validation.decide import FULL, check
from fltheory.validation.verdict import Decision


def test_fedavg_settles_where_the_closed_form_says():
    low, high, steps, eta = 1.0, 4.0, 3, 0.1
    problem = fl.two_curvatures(mu=low, L=high, distance=2.0)
    run = fl.simulate(
        fl.Experiment(
            problem=problem,
            algorithm=fl.FedAvg(),
            participation=fl.Participation(num_clients=2, local_steps=steps),
            rounds=400,
            rate=eta,
        ),
        engine="exact",
    )
    pull = {h: 1 - (1 - eta * h) ** steps for h in (low, high)}
    centre = 2.0 * (low + high) / high
    settled = pull[high] / (pull[high] + pull[low]) * centre
    assert run.curve("distance_sq")[0, -1] == pytest.approx((settled - 2.0) ** 2, rel=1e-9)


@pytest.mark.parametrize("bad", [{"mu": 0.0, "L": 1.0}, {"mu": 2.0, "L": 1.0}, {"mu": 1.0, "L": 2.0, "distance": 0.0}])
def test_two_curvatures_refuses(bad):
    with pytest.raises(fl.InvalidParameter, match="two_curvatures"):
        fl.two_curvatures(**bad)


def scaffnew(noise_sq=0.0, **changes):
    made = fl.Experiment(
        problem=fl.client_quadratics(dim=2, num_clients=3, mu=1.0, L=5.0, dissimilarity=2.0, noise_sq=noise_sq),
        algorithm=fl.algorithms.Scaffnew(probability=0.4),
        participation=fl.Participation(num_clients=3, local_steps=2),
        rounds=6,
        rate=0.2,
    )
    return dataclasses.replace(made, **changes)


DRIFTING = fl.noisy_quadratic(
    dim=2, num_clients=3, mu=1.0, L=5.0, rotated=False, round_drift_sq=0.0, client_drift_sq=1.0, noise_sq=0.0
)


@pytest.mark.parametrize("problem", [scaffnew().problem, DRIFTING], ids=["curvatures", "drifts"])
def test_moments_of_scaffnew_are_those_of_all_coins(problem):
    """Written out once more: every sequence of three coins by itself, with the gradients of the problem."""
    gamma, q = 0.15, 0.4
    own = [problem.objective(row) for row in np.eye(3)]
    drift = problem.client_drift
    best = problem.objective().w_star
    target = np.stack([one.gradient(best) for one in own]) + drift
    expected = np.zeros(4)
    for coins in np.ndindex(2, 2, 2):
        chance = np.prod([q if coin else 1 - q for coin in coins])
        x, h = np.tile(problem.start, (3, 1)).astype(float), np.zeros((3, 2))
        for step in range(4):
            expected[step] += chance * (((x - best) ** 2).sum() + (gamma / q) ** 2 * ((h - target) ** 2).sum())
            if step < 3:
                moved = x - gamma * (np.stack([one.gradient(x[k]) for k, one in enumerate(own)]) + drift - h)
                x = np.tile(moved.mean(axis=0), (3, 1)) if coins[step] else moved
                h = h + q / gamma * (x - moved)
    np.testing.assert_allclose(list(ErrorMoments.of(problem).psi([gamma] * 3, q)), expected, rtol=1e-10)


def test_noise_adds_its_variance_to_the_first_step():
    """After one step, heads or tails: models gain gamma^2 sigma^2 per client, or the control variates get the rest."""
    gamma, q = 0.15, 0.4
    values = [list(ErrorMoments.of(scaffnew(noise).problem).psi([gamma], q))[1] for noise in (0.0, 2.0)]
    total = 3 * 2.0 * gamma**2
    # Heads keep a third of it in the models and two thirds, times p^2 gamma^2 / (gamma^2 p^2), in the control variates.
    assert values[1] - values[0] == pytest.approx(total, rel=1e-9)


def test_control_variates_contract_as_the_theorem_says_and_no_faster():
    """At the minimiser a step leaves 1 - p^2 of the Lyapunov function, whatever the clients are."""
    problem = scaffnew().problem
    first, second = ErrorMoments.of(problem, problem.objective().w_star).psi([0.15], 0.4)
    assert second / first == pytest.approx(1 - 0.4**2, rel=1e-9)


@pytest.mark.parametrize("id_", ["proxskip.theorem-3.6", "proxskip.theorem-5.5"])
def test_scaffnew_is_compared(id_):
    compared = fl.theorem(id_).compare(scaffnew())
    assert compared.decision is Decision.HOLDS
    changed = {"problem": scaffnew(1.0).problem}
    noisy = fl.theorem("proxskip.theorem-3.6").compare(scaffnew(**changed))
    assert noisy.decision is Decision.NOT_APPLICABLE
    assert "exact gradients" in str(noisy.unmet[0])
    assert fl.theorem("proxskip.theorem-5.5").compare(scaffnew(**changed)).decision is Decision.HOLDS
    assert fl.theorem(id_).compare(scaffnew(rate=0.3)).decision is Decision.NOT_APPLICABLE
    with pytest.raises(fl.NotApplicable, match="Scaffnew, got FedAvg"):
        fl.theorem(id_).compare(scaffnew(algorithm=fl.FedAvg()))


@pytest.mark.parametrize(
    ("id_", "selection"),
    [("li.theorem-2", WithReplacement(size=2)), ("li.theorem-3", WithoutReplacement(size=2, renormalise=False))],
)
def test_drawn_participants_are_compared_with_the_scheme_that_was_drawn(id_, selection):
    problem = fl.client_quadratics(dim=2, num_clients=3, mu=1.0, L=4.0, dissimilarity=2.0, noise_sq=0.1)
    participation = fl.Participation(num_clients=3, local_steps=2, selection=selection)
    rate = fl.theorem(id_).rate_for(problem, participation)
    assert (rate.scale, rate.shift) == pytest.approx((2.0, 33.0))
    run = fl.Experiment(problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=8, rate=rate)
    assert fl.theorem(id_).compare(run).decision is Decision.HOLDS
    other = fl.theorem("li.theorem-2" if id_ == "li.theorem-3" else "li.theorem-3").compare(run)
    assert other.decision is Decision.NOT_APPLICABLE
    assert "participants" in str(other.unmet[0])


def local_sgd(problem, **changes):
    made = fl.Experiment(
        problem=problem,
        algorithm=fl.FedAvg(),
        participation=fl.Participation(num_clients=problem.num_clients, local_steps=3),
        rounds=5,
        rate=0.02,
    )
    return dataclasses.replace(made, **changes)


def test_uniform_heterogeneity_is_found_where_it_exists_and_refused_where_not():
    alike = fl.noisy_quadratic(
        dim=3, num_clients=4, mu=0.1, L=4.0, scenario="S2", round_drift_sq=0.0, client_drift_sq=2.0, noise_sq=0.5
    )
    compared = fl.theorem("fieldguide.theorem-1").compare(local_sgd(alike))
    assert compared.decision is Decision.HOLDS
    zeta = np.linalg.norm(alike.client_drift, axis=1).max()
    assert zeta > 1
    assert compared.constants["zeta"].value == pytest.approx(zeta, rel=1e-9)
    apart = fl.client_quadratics(dim=2, num_clients=3, mu=1.0, L=4.0, dissimilarity=2.0)
    with pytest.raises(fl.NotApplicable, match="Hessians of clients differ"):
        fl.theorem("fieldguide.theorem-1").compare(local_sgd(apart))
    rate = fl.theorem("fieldguide.eq-17").rate_for(alike, local_sgd(alike).participation, rounds=5)
    assert fl.theorem("fieldguide.eq-17").compare(local_sgd(alike, rate=rate)).decision is Decision.HOLDS


def attacked(id_, variant, old, new):
    """Return the verdict on a form in which a symbol was replaced by a multiple of it."""
    claim = index()[id_].load()
    form = claim.form(variant)
    relation = form.relations[0]
    rhs, lhs = relation.rhs, relation.lhs
    where = tuple((target, sp.sympify(value).subs(old, new)) for target, value in form.where)
    changed = relation.func(lhs.subs(old, new), rhs.subs(old, new), evaluate=False)
    assert changed != relation or where != form.where, "nothing was replaced"
    form = Form(
        variant="published",
        statement=changed,
        where=where,
        over=form.over,
        assumptions=claim.assumptions_of(form),
        check=claim.check_of(form),
    )
    return check(dataclasses.replace(claim, forms=(form,)), effort=FULL)[0]


def test_sharp_forms_fail_if_a_constant_is_smaller_by_a_tenth():
    from fltheory.bounds.fieldguide._symbols import sigma_sq, zeta_sq
    from fltheory.bounds.li.theorem_4 import size
    from fltheory.bounds.symbols import G_sq, mu

    less, more = sp.Rational(9, 10), sp.Rational(11, 10)
    for id_, variant, symbol, factor in (
        ("li.section-3.4", "sharp", G_sq, less),
        ("li.theorem-4", "sharp", size, more),
        ("fieldguide.lemma-2", "sharp", zeta_sq, less),
        ("fieldguide.lemma-2", "sharp", sigma_sq, less),
        ("proxskip.lemma-3.5", "sharp", mu, more),
        ("proxskip.theorem-3.6", "sharp@scaffnew", mu, more),
    ):
        assert attacked(id_, variant, symbol, factor * symbol).decision is Decision.VIOLATED, (id_, symbol)
