"""How far the instances of theorems reach: many local steps, ill-conditioned objectives, clients of no weight."""

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Kind, Sweeps
from fltheory.bounds.space import Choice, Integer, Real

KINDS = {Kind.BOUND, Kind.LOWER, Kind.RULE}
STEPS, ENOUGH_STEPS = ("E", "K", "tau"), 200
CONDITIONS, BAD_CONDITION = ("condition", "kappa"), 1e5
WEIGHTS, SMALL_WEIGHT = ("n",), 0.01
CHANCES, SMALL_CHANCE = ("q", "q_later"), 0.01

EXCEPTIONS = {
    ("li.theorem-2", "K"): "clients that are asked in a round, not steps",
    ("li.theorem-3", "K"): "clients that are asked in a round, not steps",
    ("ruan.theorem-3.1", "q"): "the frozen coin of published@any-dependence, which fails for every q",
    ("woodworth.theorem-3", "K"): "all outcomes of the noise of a round are followed",
}
"""Parameters of claims that reach less far, with the reason."""


def loaded():
    """Yield claims, and the spaces of their checks; sweeps fix all parameters but one."""
    for id_, entry in sorted(catalogue.index().items()):
        claim = entry.load()
        if claim.kind in KINDS:
            checks = {id(source): source for source in map(claim.check_of, claim.forms)}
            yield id_, [source.space for source in checks.values() if not isinstance(source, Sweeps)]


def short(name, parameter):
    """Return whether a parameter does not reach as far as it should; its name says how far that is."""
    if name in STEPS and isinstance(parameter, Integer):
        return parameter.last < ENOUGH_STEPS
    if not isinstance(parameter, Real):
        return False
    low, high = parameter.extremes
    if name in CONDITIONS:
        return high < BAD_CONDITION
    if name in WEIGHTS and parameter.shape:
        return low > SMALL_WEIGHT * min(high, 1)
    return name in CHANCES and (low if parameter.far else parameter.low or SMALL_CHANCE) > SMALL_CHANCE


def test_theorems_are_tried_at_extremes():
    found = {(id_, name) for id_, spaces in loaded() for space in spaces for name, p in space.items() if short(name, p)}
    assert found == EXCEPTIONS.keys()


@pytest.mark.parametrize("id_", ["ruan.theorem-3.1", "ruan.eq-66", "ruan.corollary-3.2.1", "efl.theorem-1"])
def test_clients_may_exclude_each_other(id_):
    space = catalogue.index()[id_].load().check.space
    participation = space.parameters["participation"]
    assert isinstance(participation, Choice)
    assert "exclusive" in participation.options
