"""The parts of a worst case: functions by their answers, relations as facts, weights as rational numbers."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.bounds.functions import Kinked
from fltheory.bounds.space import Integer, Real, Space
from fltheory.validation.proof import class_cases, inner_products, quadratic
from fltheory.validation.proof.function_classes import Answers, any_functions
from fltheory.validation.proof.sequent import Fact, Sign, ring_of
from fltheory.validation.proof.translate import Untranslatable


def test_equations_between_weights_hold_exactly_after_rounding() -> None:
    """Small entries are rounded, the largest ones follow from the equations."""
    half, third = sp.QQ(1, 2), sp.QQ(1, 3)
    near = quadratic._near
    assert near([({0: sp.QQ(1), 1: sp.QQ(1)}, 0)], [0.50001, -0.49999], 100) == [half, -half]
    assert near([({0: sp.QQ(2), 1: sp.QQ(1)}, sp.QQ(3))], [1.2, 0.3333], 10) == [sp.QQ(4, 3), third]
    assert near([({0: sp.QQ(2), 1: sp.QQ(1)}, sp.QQ(3))], [0.3333, 2.1], 10) == [third, sp.QQ(7, 3)]
    assert near([], [0.3333, 0.4999], 10) == [third, half]
    assert near([({}, 0), ({0: sp.QQ(1)}, third)], [0.9], 10) == [third]
    assert near([({}, sp.QQ(1))], [0.9], 10) is None
    assert near([({0: sp.QQ(1)}, sp.QQ(1)), ({0: sp.QQ(1)}, sp.QQ(2))], [0.9], 10) is None


def test_a_basis_has_unit_columns() -> None:
    found = quadratic._echelon([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]])
    assert found.shape == (2, 3)
    columns = {tuple(np.round(column, 12)) for column in found.T}
    assert {(1.0, 0.0), (0.0, 1.0)} <= columns
    assert np.linalg.matrix_rank(np.vstack([found, [[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]])) == 2


def test_what_a_hypothesis_says_of_products() -> None:
    ring = ring_of(["u", "v", "n"])
    u, v, n = ring.gens

    def said(polynomial: Any, sign: Sign) -> list[Fact]:
        return inner_products.consequences(Fact(polynomial, sign), sp.Le(0, 1, evaluate=False), 2)

    assert said(u - v, Sign.ZERO) == [Fact(u**2 - u * v, Sign.ZERO), Fact(u * v - v**2, Sign.ZERO)]
    assert said(u - v, Sign.NONNEGATIVE) == []
    assert said(u * v - n, Sign.NONNEGATIVE) == [Fact(u * v - n, Sign.NONNEGATIVE)]
    assert said(ring(2), Sign.NONNEGATIVE) == said(ring(0), Sign.NONNEGATIVE) == said(ring(0), Sign.ZERO) == []
    for value, sign in ((-1, Sign.NONNEGATIVE), (1, Sign.ZERO), (-1, Sign.ZERO)):
        with pytest.raises(Untranslatable, match="an assumption fails at these parameters"):
            said(ring(value), sign)


def test_goals_about_vectors_become_goals_about_products() -> None:
    u, v = sp.symbols("u v")

    def goals(relation: Any) -> list[Fact]:
        found = inner_products.sequents([], [], [relation], Answers(), [u, v], alone=False)
        return [sequent.goal for sequent in found]

    ring = ring_of(["u", "v"])
    x, y = ring.gens
    assert goals(sp.Eq(u, v, evaluate=False)) == [Fact(-((x - y) ** 2), Sign.NONNEGATIVE)]
    product = x * y - 1
    assert goals(sp.Eq(u * v, 1, evaluate=False)) == [
        Fact(product, Sign.NONNEGATIVE), Fact(-product, Sign.NONNEGATIVE)
    ]  # fmt: skip
    assert goals(sp.Le(1, u * v, evaluate=False)) == [Fact(product, Sign.NONNEGATIVE)]
    with pytest.raises(Untranslatable, match="a relation between coordinates"):
        goals(sp.Le(u, v, evaluate=False))
    with pytest.raises(Untranslatable, match="the code compares coordinates"):
        list(inner_products.sequents([sp.Gt(u, v, evaluate=False)], [], [], Answers(), [u, v], alone=False))
    with pytest.raises(Untranslatable, match="not linear in inner products"):
        goals(sp.Le(u * v * u, 1, evaluate=False))


def test_vectors_have_a_last_axis_without_direction() -> None:
    made = {"d": Integer(1, 2), "x": Real(-3, 3, shape=("d",)), "y": Real(-1, 1, shape=(2, "d"))}
    none = {"left": Real(-1, 1, shape=(1, "d")), "w": Real(0, 3, shape=("d",)), "z": Real(-1, 1, shape=("d", 2))}
    assert class_cases.vector_names(Space({**made, **none})) == ["x", "y"]
    assert class_cases.vector_names(Space({"n": Integer(1, 2), "x": Real(-3, 3, shape=("n",))})) == []


def test_parameters_are_round_numbers_within_their_ranges() -> None:
    def inside(low: float, high: float, share: str, log: bool = False) -> Fraction:
        return class_cases.inside(Real(low, high, log=log), Fraction(share))

    assert [inside(0, 4, share) for share in ("1", "1/2", "1/4")] == [4, 2, 1]
    assert [inside(0, 3, share) for share in ("1/2", "1/4")] == [Fraction(3, 2), Fraction(3, 4)]
    assert inside(0, 0.6, "1/2") == Fraction(1, 3)
    assert inside(1, 16, "1/2", log=True) == 4  # the middle of a wide range
    assert inside(1, 16, "1", log=True) == 8  # three quarters of the way, away from its end
    assert inside(1, 4, "1/2", log=True) == 2
    assert inside(1, 4, "1", log=True) == 4
    assert inside(2, 2, "1/2") == 2
    assert inside(0.001, 0.002, "1/2") == Fraction(3, 2000)


def test_squares_of_roots_and_norms() -> None:
    """A relation between roots is read as one between their squares; what may be negative has none."""
    y, z = sp.symbols("y z")

    def squared(expression: Any, alone: bool = False) -> Any:
        return inner_products.squared(expression, alone=alone)

    assert squared(3 * sp.sqrt(y)) == 9 * y
    assert squared(sp.Pow(y, sp.Rational(3, 2))) == y**3
    assert squared(sp.sqrt(y) * sp.sqrt(z) / 2) == y * z / 4
    assert squared(sp.Integer(0)) == 0
    assert squared(2) == 4
    assert squared(sp.Abs(y), alone=True) == y**2
    for other in (-sp.sqrt(y), y, sp.Abs(y), y * sp.sqrt(z), sp.sqrt(y) + 1, sp.Pow(y, sp.Rational(1, 3)), y**2):
        assert squared(other) is None
    assert inner_products.has_roots(sp.sqrt(y))
    assert inner_products.has_roots(sp.Abs(y))
    assert not inner_products.has_roots(y**2 + 1)


def test_relations_between_roots_and_others_as_facts() -> None:
    y, z = sp.symbols("y z")
    made = inner_products.Polynomials([y, z], 0, alone=False)
    ring, read = made.ring, functools.partial(inner_products.read_fact, made=made)
    assert read(sp.Le(sp.sqrt(y), 3, evaluate=False)) == Fact(ring.from_expr(9 - y), Sign.NONNEGATIVE)
    assert read(sp.Gt(y, 3, evaluate=False)) == Fact(ring.from_expr(y - 3), Sign.NONNEGATIVE)
    assert read(sp.Lt(y, z, evaluate=False)) == Fact(ring.from_expr(z - y), Sign.NONNEGATIVE)
    assert read(sp.Eq(y, 2.0, evaluate=False)) == Fact(ring.from_expr(y - 2), Sign.ZERO)
    for refused in (sp.Ne(y, z), sp.Le(y * z, 1, evaluate=False), sp.Le(sp.sqrt(y), z - 1, evaluate=False)):
        with pytest.raises(Untranslatable):
            read(refused)


def test_means_and_gradients_are_those_of_the_single_functions() -> None:
    def column(*entries: int) -> Any:
        return np.array([[sp.Integer(entry)] for entry in entries], dtype=object)

    f = Kinked(centre=column(0, 1, 2), knot=column(0, 0, 0), left=column(1, 1, 1), right=column(2, 2, 2))
    at, places = np.array([sp.Symbol("at")]), column(4, 5, 6)
    with any_functions() as answers:
        assert sp.expand(3 * f.mean(at)[()] - sum(f.value(k, at) for k in range(3))) == 0
        assert [row[0] for row in f.gradients(at)] == [f.gradient(k, at)[0] for k in range(3)]
        assert [row[0] for row in f.gradients(places)] == [f.gradient(k, places[k])[0] for k in range(3)]
        assert f.value(0, places).tolist() == [f.value(0, place) for place in places]
        assert (f.value(1, column(1)[0]), f.gradient(1, column(1)[0])[0]) == (0, 0)  # at its centre
        assert len(answers.vectors) == len(answers.numbers) == 3 + 3 + 2


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [(-1, 2, "slopes from -1 to 2"), (2, 2, "slopes from 2 to 2"), ("s", 2, "not numbers"), (0, 1, "")],
)
def test_classes_have_two_slopes_that_are_numbers(left: Any, right: Any, message: str) -> None:
    zero = np.array([[sp.Integer(0)]])
    f = Kinked(centre=zero, knot=zero, left=np.array([[sp.sympify(left)]]), right=np.array([[sp.sympify(right)]]))
    with any_functions() as answers:
        if not message:
            f.gradient(0, np.array([sp.Integer(1)]))
            assert [(low, high) for low, high, _ in answers.seen.values()] == [(0, 1)]
            return
        with pytest.raises(Untranslatable, match=message):
            f.gradient(0, np.array([sp.Integer(1)]))


def test_norms_that_are_not_claimed_to_vanish_stay_norms() -> None:
    y, z = sp.symbols("y z")
    norms = sp.sqrt(y**2) + 2 * sp.sqrt(z)
    assert list(inner_products.without_norms(sp.Eq(norms, 0, evaluate=False))) == [
        sp.Eq(y, 0, evaluate=False), sp.Eq(z, 0, evaluate=False)
    ]  # fmt: skip
    for other in (
        sp.Ge(norms, 0, evaluate=False), sp.Le(norms, 0, evaluate=False), sp.Eq(norms, 1, evaluate=False),
        sp.Eq(sp.sqrt(y) - sp.sqrt(z), 0, evaluate=False), sp.Eq(y + sp.sqrt(z), 0, evaluate=False),
    ):  # fmt: skip
        assert list(inner_products.without_norms(other)) == [other]


def test_functions_of_several_coordinates_are_refused() -> None:
    two = np.array([[sp.Integer(0), sp.Integer(1)]])
    with any_functions(), pytest.raises(Untranslatable, match="one coordinate"):
        Kinked(centre=two, knot=two, left=two, right=two + 1).gradient(0, np.array([sp.Integer(1), sp.Integer(1)]))


def test_minimisers_of_tilted_sums_are_one_where_the_problems_are_multiples() -> None:
    """Twice the weights and twice the linear term give the same point, other shares of the two another one."""

    def column(*entries: int) -> Any:
        return np.array([[sp.Integer(entry)] for entry in entries], dtype=object)

    f = Kinked(centre=column(0, 1), knot=column(0, 0), left=column(1, 1), right=column(2, 2))
    s = sp.Symbol("s")
    with any_functions() as answers:
        one = answers.optimum(f, [1, 1], s)
        assert answers.optimum(f, [2, 2], 2 * s) == one
        others = [answers.optimum(f, *problem) for problem in (([2, 2], s), ([1, 1], 2 * s), ([1, 2], s))]
        assert len({one, *others, answers.optimum(f, [1, 1])}) == 5
