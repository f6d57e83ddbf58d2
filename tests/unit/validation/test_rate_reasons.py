"""What a verdict on a rate says: one entry per parameter, all of them in the evidence, and the sweep that grows."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Le

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Instances, Kind, Sweep, Sweeps
from fltheory.bounds.space import Real, Space
from fltheory.validation.decide import check
from fltheory.validation.rates import Decision, in_words, trend
from tests.planted import a, b, claim

ORDER = BigO(b)
POINTS = tuple(float(2**k) for k in range(7))


def powers(*exponents, claimed=ORDER):
    """Sweeps of x and y in turn, along which measured over claimed is a power, all with the same values."""
    source = Instances(
        space=Space({name: Real(0, 100) for name in ("x", "y", "power")}),
        realise=lambda p: {"planted_a": (p["x"] * p["y"]) ** p["power"], "planted_b": 1.0},
        rational=False,
    )
    sweeps = tuple(
        Sweep("xy"[n % 2], POINTS, {"x": 1.0, "y": 1.0, "power": power}) for n, power in enumerate(exponents)
    )
    return claim("powers", Kind.RATE, Le(a, claimed), Sweeps(instances=source, sweeps=sweeps))


@given(st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=9))
def test_every_parameter_is_named_once(exponents):
    verdict = check(powers(*exponents))[0]
    growing = [n for n, power in enumerate(exponents) if power > 0]
    assert verdict.decision is (Decision.VIOLATED if growing else Decision.HOLDS)
    said = growing or range(len(exponents))
    for parameter, number in (("x", sum(n % 2 == 0 for n in said)), ("y", sum(n % 2 == 1 for n in said))):
        named = len(re.findall(rf"(?:like|along|,) {parameter}\b", verdict.reason))
        assert named == (1 if number else 0)
        if number > 1:
            assert f"{number} sweeps" in verdict.reason
    assert len(verdict.evidence["sweeps"]) == len(exponents)


def test_the_steepest_comes_first_and_the_least_is_said():
    verdict = check(powers(0.25, 1.0, 0.5))[0]
    assert verdict.reason == "measured over claimed grows like y^1, x^0.5 (2 sweeps, at least x^0.25)"


def test_what_is_bounded_has_its_constant():
    assert check(powers(-1.0, 0.0, -2.0))[0].reason == (
        "bounded along y (slope 0), x (2 sweeps, slope -1); largest measured over claimed 1"
    )


def test_a_constant_is_held_against_the_largest_ratio():
    assert check(powers(-1.0, 0.0, claimed=2 * b))[0].reason == (
        "measured over claimed is below 1 along x (up to 0.5), y (up to 0.5)"
    )
    assert check(powers(-1.0, 0.5, -1.0, 0.25, claimed=2 * b))[0].reason == (
        "measured over claimed is above 1 along y (2 sweeps, up to 4)"
    )


def test_what_scatters_is_uncertain_between_two_slopes():
    scattered = trend("T", POINTS, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.5], np.ones(7))
    assert scattered.decision is Decision.INCONCLUSIVE
    (said,) = in_words([scattered] * 2)
    assert re.fullmatch(r"slope uncertain in T \(2 sweeps, between -[\d.]+ and [\d.]+\)", said)


def test_a_ratio_that_falls_and_settles_is_called_falling():
    """The exponents of 1 + 3/x, where they still change fast, are extrapolated beyond zero."""
    values = (1.0, 3.0, 9.0, 27.0, 81.0)
    settling = trend("kappa", values, [1 + 3 / v for v in values], np.ones(5))
    assert settling.slope > 0.005
    assert settling.decision is Decision.HOLDS
    assert in_words([settling])[0] == "bounded along kappa (falling)"


@pytest.mark.parametrize("growing", [2, 4])
def test_the_counterexample_is_the_sweep_that_grows(growing):
    """Other sweeps of the same parameter have the same values."""
    exponents = [-1.0] * 5
    exponents[growing] = 0.5
    found = check(powers(*exponents))[0].counterexample
    assert found.parameters["power"] == 0.5
