"""The algebra of statements: one object is printed and evaluated, in two arithmetics."""

import numpy as np
import pytest
import sympy as sp
from sympy import Eq, Le, Lt, Sum

from fltheory.bounds.algebra import EE, Differ, Inner, Norm, NormSq, Pos, compiled, is_random
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Rejected
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import family, function, names_in, scalar
from fltheory.bounds.space import Integer, Integers, Real, Space, exact, plain, ratio, read
from fltheory.bounds.symbols import N, i, k
from fltheory.errors import InvalidParameter
from fltheory.validation.evaluate import failing
from fltheory.validation.evaluate import read as read_form

x = scalar("test_x", "x", "a number")
u = family("test_u", "u_{<0>}", "vectors")
v = family("test_v", "v_{<0>,<1>}", "numbers with two indices", first=(1, 0))
noise = family("test_noise", r"\nu_{<0>}", "noise", random=True)
phi = function("test_phi", r"\phi_{<0>}(<1>)", "a function")


def both(expression, env):
    """Return the float and the exact value."""
    precise = {name: exact({"v": value})["v"] if not callable(value) else value for name, value in env.items()}
    return compiled(expression)(env), compiled(expression)(precise, exact=True)


def test_sums_norms_and_functions_are_evaluated_in_both_arithmetics():
    vectors = np.array([[3.0, 4.0], [1.0, -2.0]])
    env = {"N": 2, "test_u": vectors, "test_x": 0.5, "test_phi": lambda index, w: index * w.sum()}
    cases = [
        (NormSq(Sum(u[k], (k, 1, N))), 20),
        (Norm(u[1]), 5),
        (Inner(u[1], u[2]), -5),
        (Pos(x - 1), 0),
        (Differ(x, x + 1), 1),
        (Differ(sp.Rational(1, 3) * x, x / 3), 0),
        (sp.Max(x, sp.Rational(1, 3)), sp.Rational(1, 2)),
        (sp.sqrt(4 * x) / (3 * x), 2 * sp.sqrt(2) / 3),
        (Sum(phi(k, u[k]), (k, 1, N)), 5),
        (x**-2, 4),
        (sp.binomial(5, 2) * x, 5),
    ]
    for expression, value in cases:
        rounded, precise = both(expression, env)
        assert float(rounded) == pytest.approx(float(value), rel=1e-14)
        assert sp.simplify(precise - value) == 0


def test_an_exact_value_is_exact():
    third = compiled(x / 3)({"test_x": sp.Integer(1)}, exact=True)
    assert third == sp.Rational(1, 3)


def test_indices_start_where_the_paper_says():
    table = np.arange(6.0).reshape(2, 3)
    assert compiled(v[1, 0] + 10 * v[2, 2])({"test_v": table}) == 0 + 50


def test_expectations_enumerate_the_outcomes():
    env = {"test_noise": [[1.0], [-3.0]], "chance": [0.75, 0.25]}
    assert compiled(EE(noise[1]))(env) == 0.0
    assert compiled(EE(noise[1] ** 2))(env) == 3.0
    assert not is_random(EE(noise[1]))
    assert is_random(noise[1])


def test_a_bound_evaluates_for_whole_arrays():
    values = compiled(1 / (1 + x))({"test_x": np.array([0.0, 1.0, 3.0])})
    np.testing.assert_allclose(values, [1, 0.5, 0.25])


def test_a_missing_value_is_named():
    with pytest.raises(InvalidParameter, match="value of test_x is missing"):
        compiled(x + 1)({})


def test_code_contains_names_only():
    with pytest.raises(InvalidParameter, match="public Python identifier, got name='exit\\(\\)'"):
        scalar("exit()", "x", "a call")
    with pytest.raises(InvalidParameter, match="'exit\\(\\)', which is not declared"):
        compiled(sp.Symbol("exit()") + 1)


def test_latex_is_what_a_paper_prints():
    assert latex(Le(NormSq(u[k]), x)) == r"\|u_{k}\|^{2} \le x"
    assert latex(Sum(u[k], (k, 1, N), (i, 0, 2))) == r"\sum_{k=1}^{N} \sum_{i=0}^{2} u_{k}"
    assert latex(EE(Pos(noise[1]) ** 2)) == r"\mathbb{E}[(\nu_{1})_{+}^{2}]"
    assert names_in(Sum(u[k], (k, 1, N))) == {"test_u", "N"}
    assert [quantity.name for quantity in Form(statement=Le(u[k], N)).quantities()] == ["N", "test_u"]


def test_relations_that_have_vanished_are_refused():
    positive = sp.Symbol("positive", positive=True)
    with pytest.raises(InvalidParameter, match="must be a SymPy relation"):
        Assumption("positive", positive > 0)
    with pytest.raises(InvalidParameter, match="must be a SymPy relation"):
        Form(statement=Le(1, 2))


def test_claims_are_checked_when_they_are_made():
    check = Instances(space=Space({"a": Real(0, 1)}), realise=lambda point: {"test_x": point["a"]})
    form = Form(statement=Le(x, 1))
    make = {"kind": Kind.LEMMA, "title": "t", "citation": Citation("own", "r"), "check": check}
    with pytest.raises(InvalidParameter, match="tag of its paper"):
        Claim(id="other.name", forms=(form,), **make)
    with pytest.raises(InvalidParameter, match="published one first"):
        Claim(id="own.name", forms=(Form(variant="corrected", statement=Le(x, 1)),), **make)
    with pytest.raises(InvalidParameter, match="published, corrected or sharp"):
        Form(variant="better", statement=Le(x, 1))
    claim = Claim(id="own.name", forms=(form,), **make)
    with pytest.raises(InvalidParameter, match="must be one of 'published'"):
        claim.form("corrected")


def test_the_worst_index_and_outcome_are_read():
    form = Form(statement=Le(u[k], x), over=((k, 1, N),))
    reading = read_form(form, {"test_u": np.array([1.0, 5.0, 2.0]), "test_x": 3.0, "N": 3})
    assert reading.violated
    assert (reading.lhs, reading.where) == (5.0, {"k": 2})
    form = Form(statement=Le(noise[1], x))
    reading = read_form(form, {"test_noise": [[1.0], [4.0]], "test_x": 2.0, "chance": [0.5, 0.5]})
    assert reading.where == {"outcome": 1}


def test_equalities_and_strict_inequalities():
    env = {"test_x": 1.0}
    assert not read_form(Form(statement=Eq(x, 1, evaluate=False)), env).violated
    assert read_form(Form(statement=Eq(x, 1 + sp.Rational(1, 10**6), evaluate=False)), env).violated
    assert read_form(Form(statement=Lt(x, 1)), env).violated
    assert not read_form(Form(statement=Le(x, 1)), env).violated
    assert read_form(Form(statement=Eq(x, 2, evaluate=False)), env).margin == 0.5


def test_definitions_are_carried_out_in_order():
    y, z = scalar("test_y", "y", "twice x"), scalar("test_z", "z", "thrice y")
    form = Form(statement=Eq(z, 6 * x, evaluate=False), where=((y, 2 * x), (z, 3 * y)))
    assert not read_form(form, {"test_x": 0.7}).violated


def test_what_is_not_finite_is_no_instance():
    with pytest.raises(Rejected, match="not finite"):
        read_form(Form(statement=Le(x, 1)), {"test_x": np.nan})


def test_an_assumption_that_fails_says_by_how_much():
    assert failing(Le(x, sp.Rational(1, 2)), (), {"test_x": 2.0}) == "2 against 0.5"
    assert failing(Le(x, 3), (), {"test_x": 2.0}) == ""


def test_points_travel_through_json():
    space = Space({"N": Integer(1, 3), "s": Integers(0, "N", shape=("N",)), "w": Real(-1, 1, shape=("N",))})
    point = exact({"N": 2, "s": np.array([0, 2]), "w": np.array([0.5, -0.25])})
    stored = plain(point)
    assert stored == {"N": 2, "s": [0, 2], "w": ["1/2", "-1/4"]}
    again = read(space, stored)
    assert again["w"].tolist() == [sp.Rational(1, 2), sp.Rational(-1, 4)]
    for name, value in (("N", 4), ("w", ["2", "0"]), ("w", ["1"]), ("s", [0, 3])):
        with pytest.raises(InvalidParameter, match="outside the space"):
            read(space, stored | {name: value})
    with pytest.raises(InvalidParameter, match=r"parameters\.w is missing"):
        read(space, {"N": 1, "s": [0]})
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read(space, stored | {"w": ["one", "0"]})
    assert ratio(point, 1, 3) == sp.Rational(1, 3)


def test_a_space_knows_its_names():
    with pytest.raises(InvalidParameter, match="refers to 'M'"):
        Space({"N": Integer(1, 3), "w": Real(-1, 1, shape=("M",))})
    with pytest.raises(InvalidParameter, match="positive for a logarithmic range"):
        Real(0, 1, log=True)


@pytest.mark.parametrize("bits", [20, 90, 400])
def test_exact_roots_do_not_depend_on_the_size_of_the_numbers(bits):
    """Squares have rational roots; others are right to many digits, however large their prime factors."""
    x = scalar("root_x", "x", "a number")
    root = compiled(sp.sqrt(x))
    number = sp.Rational(2**bits + 1, 3**bits + 2)
    assert root({"root_x": number**2}, exact=True) == number
    other = root({"root_x": number**2 * 3}, exact=True)
    assert abs((other / number - sp.sqrt(3)).evalf(60)) < sp.Float("1e-55")
    assert root({"root_x": sp.Integer(-4)}, exact=True) == 2 * sp.I


def test_numbers_that_rounding_tells_apart_do_not_differ():
    y = scalar("test_y", "y", "another number")
    differ = compiled(Differ(3 * x, y))
    assert differ({"test_x": 0.1, "test_y": 0.3}) == 0.0
    assert differ({"test_x": np.array([0.1, 0.1 + 1e-8]), "test_y": 0.3}).tolist() == [0.0, 1.0]
    assert (
        differ({"test_x": sp.Rational(1, 10), "test_y": sp.Rational(3, 10) + sp.Rational(1, 10**12)}, exact=True) == 1
    )
    assert latex(Differ(x, y)) == r"\mathbf{1}\left[x \ne y\right]"


def test_exact_sums_are_sums():
    a, b = sp.symbols("a b")
    chance = [sp.Rational(1, 4), sp.Rational(3, 4)]
    values = [np.array([a, b], dtype=object), np.array([a + b, 1], dtype=object)]
    env = {"chance": chance, "test_noise": [[value] for value in values]}
    found = compiled(EE(NormSq(noise[1])))(env, exact=True)
    assert sp.expand(found - ((a**2 + b**2) / 4 + ((a + b) ** 2 + 1) * sp.Rational(3, 4))) == 0
    family_values = {"test_u": [a, 2 * a, 5]}
    assert compiled(Sum(u[i], (i, 1, 3)))(family_values, exact=True) == 3 * a + 5
    assert compiled(Sum(u[i], (i, 1, 0)))(family_values, exact=True) == 0
