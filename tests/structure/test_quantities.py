"""Instances of every claim against the declarations of its quantities."""

import numpy as np
import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.algebra import compiled, needed_by
from fltheory.bounds.claim import Instances, Sweeps
from fltheory.bounds.definitions import definitions
from fltheory.bounds.quantities import Role
from fltheory.errors import FltheoryError
from fltheory.theory.bound import Bound
from fltheory.validation.evaluate import defined
from fltheory.validation.search import random_points
from fltheory.validation.trials import environment

ENTRIES = catalogue.index()


def instances(claim, form, most):
    """Yield environments of a few instances that can be made quickly."""
    check = claim.check_of(form)
    if isinstance(check, Sweeps):
        source, points = check.instances, [{**s.base, s.name: s.values[0]} for s in check.sweeps[:2]]
    else:
        source, points = check, random_points(check.space, np.random.default_rng(5), 30)
    made = 0
    for point in points:
        try:
            with np.errstate(all="ignore"):
                env = claim.named(environment(source, point, seed=0))
        except FltheoryError:
            continue
        yield {name: getattr(value, "mean", value) if hasattr(value, "high") else value for name, value in env.items()}
        made += 1
        if made == (most if isinstance(source, Instances) else 1):
            return


def leaves(value):
    """Return how deeply a value is nested, and all its numbers; rows of a list may differ in length."""
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value[0] if len(value) else 0) == 0:
        return np.ndim(value), np.asarray(value, dtype=float)
    if not isinstance(value, list | tuple | np.ndarray):
        return 0, np.asarray(value, dtype=float)
    found = [leaves(part) for part in value]
    assert len({depth for depth, _ in found}) == 1
    return 1 + found[0][0], np.concatenate([numbers.ravel() for _, numbers in found])


@pytest.mark.parametrize("id_", ENTRIES)
def test_values_are_what_their_declarations_say(id_):
    claim = ENTRIES[id_].load()
    for form in claim.forms:
        meant = {quantity.name: quantity for quantity in form.quantities()}
        for assumption in claim.assumptions_of(form):
            meant |= {q.name: q for q in needed_by(assumption.relation).values() if q.role is not Role.INDEX}
        for env in instances(claim, form, 3):
            for name in meant.keys() & env.keys():
                quantity, value = meant[name], env[name]
                if quantity.role is Role.FUNCTION:
                    assert callable(value), name
                    continue
                # A number may be a curve: one value per round.
                depth, numbers = leaves(value)
                assert depth == len(quantity.axes) or (not quantity.axes and depth == 1), (name, depth)
                assert quantity.domain.contains(numbers), (name, quantity.domain, numbers.min(), numbers.max())


def like(computed, given):
    """Return a computed value with as many members as the given one; families are computed member by member."""
    if not isinstance(given, list | tuple | np.ndarray) or isinstance(computed, np.ndarray):
        return np.asarray(computed, dtype=float)
    if not hasattr(computed, "__getitem__"):  # a curve that is constant
        return np.full(len(given), float(computed))
    return np.array([like(computed[i], part) for i, part in enumerate(given)])


@pytest.mark.parametrize("id_", ENTRIES)
def test_given_values_of_defined_symbols_are_those_of_their_definitions(id_):
    claim = ENTRIES[id_].load()
    for form in claim.forms:
        names = [made.name for made in definitions(form.where)]
        for env in instances(claim, form, 2):
            given = [name for name in names if name in env]
            if not given:
                break
            with np.errstate(all="ignore"):
                computed = defined(form, {name: value for name, value in env.items() if name not in given})
            for name in given:
                found, expected = like(computed[name], env[name]).ravel(), leaves(env[name])[1].ravel()
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


CONSTANTS = {"E", "G_sq", "Gamma", "L", "N", "mu", "p", "sigma_sq", "start_sq", "tau", "theta"}
LAW = {"chance", "p_drawn", "s_drawn"}
LAWS = {"T", "chance_at", "outcomes_at", "p_at", "planned", "s_at"}


@pytest.mark.parametrize(
    ("id_", "variant", "known"),
    [
        ("ruan.theorem-3.1", "published", CONSTANTS | LAW),
        ("ruan.theorem-3.1", "corrected", CONSTANTS | LAW),
        ("efl.theorem-1", "published@003", CONSTANTS | LAWS),
        ("efl.theorem-1", "published@000", CONSTANTS | LAWS),
        ("efl.theorem-1", "corrected", CONSTANTS | LAWS),
        ("efl.theorem-1-elastic", "corrected", CONSTANTS | LAWS | {"elasticity", "fisher_max"}),
        ("efl.theorem-1-compressed", "corrected", CONSTANTS | LAWS | {"contraction"}),
        (
            "fen.theorem-3.1",
            "corrected",
            {"T", "beta", "chance", "d", "gamma_0", "gamma_at", "grad", "kick_at", "lambda_1", "lambda_2", "local_0"}
            | {"P", "m", "theta_star"},
        ),
    ],
)
def test_a_bound_needs_primitive_quantities_only(id_, variant, known):
    """What the function of a bound asks for is what a user knows; without recursions it is all that is substituted."""
    form = ENTRIES[id_].load().form(variant)
    assert {symbol.name for symbol in Bound.of(id_, form).symbols} == known
    if not any(one.start for one in definitions(form.where)):
        assert set(needed_by(form.unfolded(form.relations[0].rhs))) == known


def test_what_is_substituted_has_the_value_of_what_is_defined():
    """The bound of a theorem, substituted into one expression, against the same with its definitions."""
    for id_ in ("ruan.theorem-3.1", "fen.theorem-3.1", "ruan.table-1-C-heterogeneous", "efl.section-4.2"):
        claim = ENTRIES[id_].load()
        for form in claim.forms:
            whole = compiled(form.unfolded(form.relations[0].rhs))
            for env in instances(claim, form, 2):
                with np.errstate(all="ignore"):
                    values = defined(form, env)
                    expected = compiled(form.relations[0].rhs)(values)
                    names = {made.name for made in definitions(form.where)}
                    found = whole({name: value for name, value in env.items() if name not in names})
                np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=1e-8)
