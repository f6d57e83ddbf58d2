"""The checker is checked: what is true is never called violated, what is false by one percent is found."""

from dataclasses import replace

import pytest
import sympy as sp
from sympy import Le

from fltheory.bounds.claim import Form, Sweep, Sweeps
from fltheory.bounds.space import exact, read
from fltheory.validation.decide import FULL, Effort, check, outcome_at
from fltheory.validation.verdict import Decision
from tests.planted import FALSE, TRUE, binomial, power_law, smoothness, tau

RUNS = 1000
SMALL, LARGER = Effort(instances=9, experiments=3), Effort(instances=60, experiments=8)


@pytest.mark.parametrize("make", TRUE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("part", range(2))
def test_what_is_true_and_tight_is_never_called_violated(make, part):
    claim = make()
    for seed in range(part, RUNS, 2):
        larger = seed % 50 < 2
        verdict = check(claim, effort=LARGER if larger else SMALL, seed=seed)[0]
        assert verdict.decision is not Decision.VIOLATED, (seed, verdict.reason)
        if larger and claim.id != "planted.sampled":
            assert verdict.decision is Decision.HOLDS, (seed, verdict.reason)


@pytest.mark.parametrize("make", TRUE, ids=lambda make: make.__name__)
def test_what_is_tight_is_seen_to_be_tight(make):
    verdict = check(make(), effort=FULL)[0]
    if verdict.margin is not None and verdict.id not in ("planted.power-law", "planted.sampled"):
        assert 1 - 1e-9 <= verdict.margin < 1.01


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_by_one_percent_is_found_within_the_default_budget(name):
    claim = FALSE[name]()
    verdict = check(claim, effort=FULL)[0]
    assert verdict.decision is Decision.VIOLATED
    assert verdict.counterexample is not None
    assert verdict.instances <= max(verdict.budget, 1)


def test_a_violation_is_shrunk_to_the_smallest_instance_with_round_numbers():
    claim = FALSE["jensen"]()
    found = check(claim)[0].counterexample
    assert found.arithmetic == "rational"
    assert (found.parameters["N"], found.parameters["d"]) == (1, 1)
    assert found.parameters["x"] == [["1"]]
    assert (found.lhs, found.rhs) == ("1", "99/100")


def test_a_counterexample_is_one_without_rounding():
    claim = smoothness(sp.Rational(99, 100))
    found = check(claim)[0].counterexample
    form = claim.forms[0]
    point = exact(read(claim.check.space, found.parameters))
    evaluation = outcome_at(claim, form, point, seed=0)
    assert evaluation.violated
    assert all(isinstance(side, sp.Rational) for side in (evaluation.lhs, evaluation.rhs))


def test_an_identity_between_rational_functions_is_proved():
    verdict = check(binomial())[0]
    assert (verdict.decision, verdict.method, verdict.instances) == (Decision.HOLDS, "symbolic", 0)


def test_a_verdict_follows_from_the_seed():
    first, second = (check(smoothness(), seed=3)[0] for _ in range(2))
    assert (first.margin, first.instances, first.worst) == (second.margin, second.instances, second.worst)


def test_a_shortened_check_has_one_sweep_per_parameter_with_its_last_points():
    sweeps = tuple(
        Sweep(name, tuple(float(2**k) for k in range(7)), {"base": base, "by": "run"}, {"by": name})
        for base, name in enumerate(["T", "N", "T", "K", "N"])
    )
    short = Sweeps(instances=smoothness().check, sweeps=sweeps).shortened()
    assert [(sweep.name, sweep.base["base"]) for sweep in short.sweeps] == [("T", 0), ("N", 1), ("K", 3)]
    assert all(sweep.values == (8.0, 16.0, 32.0, 64.0) for sweep in short.sweeps)
    assert [sweep.base["by"] for sweep in short.sweeps] == ["T", "N", "K"]


@pytest.mark.parametrize(
    ("factor", "outcome"), [(sp.Rational(101, 100), Decision.HOLDS), (sp.Rational(99, 100), Decision.VIOLATED)]
)
def test_a_rate_with_a_constant_is_held_at_every_point(factor, outcome):
    """Without O every point counts, also those that no exponent is read from; the margin is the smallest ratio."""
    law = power_law()
    relation = law.forms[0].relations[0]
    firm = Le(relation.lhs, factor * sp.Rational(33, 2) / tau)
    claim = replace(law, forms=(Form(statement=firm),))
    verdict = check(claim, effort=FULL)[0]
    assert verdict.decision is outcome
    assert verdict.margin == pytest.approx(float(factor))
    if outcome is Decision.VIOLATED:
        found = verdict.counterexample
        assert float(found.rhs) == pytest.approx(0.99 * float(found.lhs), rel=1e-4)
        assert found.ratio == pytest.approx(1 / 0.99)


def test_the_margin_of_a_rate_is_the_smallest_claimed_over_measured_of_all_sweeps():
    verdict = check(power_law(), effort=FULL)[0]
    assert verdict.margin == pytest.approx(1 / 16.5)
