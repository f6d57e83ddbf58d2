"""Symbols carry their declarations: nothing is shared by name, and names are unique within one claim."""

import pickle

import numpy as np
import pytest
import sympy as sp
from sympy import Le, Sum

from fltheory.bounds.algebra import EE, NormSq, compiled, needed_by
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import Domain, Quantity, declaration, family, function, index, named, scalar
from fltheory.bounds.space import Real, Space
from fltheory.bounds.symbols import N, k
from fltheory.errors import InvalidParameter
from fltheory.validation.evaluate import read

theta = scalar("theta", r"\theta", "bound on a ratio", domain="positive")
angle = scalar("theta", r"\vartheta", "an angle")
x = scalar("x", "x", "any number")
p = family("p", "p^{<0>}", "weight of a client", shape=("clients",))
s = family("s", "s^{<0>}", "steps of a client", shape=("clients",), random=True)
F = function("F", "F(<0>)", "a function")


def a_claim(*forms, assumptions=()):
    check = Instances(space=Space({"a": Real(0, 1)}), realise=lambda point: {"theta": point["a"]})
    return Claim(
        id="own.name",
        kind=Kind.LEMMA,
        title="t",
        citation=Citation("own", "r"),
        forms=forms,
        assumptions=assumptions,
        check=check,
    )


@pytest.mark.parametrize("other", [{"latex": "t"}, {"meaning": "m"}, {"domain": "real"}, {"shape": ("dim",)}])
def test_the_declaration_is_part_of_a_symbol(other):
    same = {"latex": r"\theta", "meaning": "bound on a ratio", "domain": "positive"}
    assert scalar("theta", **same) == theta
    assert hash(scalar("theta", **same)) == hash(theta)
    assert scalar("theta", **(same | other)) != theta


def test_two_symbols_of_one_name_do_not_mix():
    assert latex(1 + theta) == r"1 + \theta"
    assert latex(1 + angle) == r"1 + \vartheta"
    assert theta - angle != 0
    assert (theta + angle).free_symbols == {theta, angle}
    assert family("F", "f_{<0>}", "numbers")[1] != F(1)
    assert function("F", "F(<0>)", "another") != F
    assert function("F", "F(<0>)", "another")(x) != F(x)
    assert function("F", "F(<0>)", "a function")(x) == F(x)
    # What has been printed or compiled for one is not taken for the other.
    random = scalar("x", "x", "any number", random=True)
    assert not compiled(x + 1).random
    assert compiled(random + 1).random


def test_domains_decide_no_relation():
    positive = scalar("a", "a", "a number", domain="positive")
    assert positive.is_positive is None
    assert isinstance(positive > 0, sp.StrictGreaterThan)


def test_symbols_travel_to_other_processes():
    expression = Sum(EE(NormSq(p[k] * s[k] - F(theta))), (k, 1, N))
    again = pickle.loads(pickle.dumps(expression))
    assert again == expression
    assert latex(again) == latex(expression)
    assert needed_by(again) == needed_by(expression)
    assert pickle.loads(pickle.dumps(F)) == F


def test_a_name_has_one_meaning_within_a_claim():
    for make in (
        lambda: Form(statement=Le(theta, angle)),
        lambda: Form(statement=Le(theta, 1), where=((angle, 2 * x),)),
        lambda: Form(statement=Le(p[k] * theta, 1), over=((k, 1, angle),)),
        lambda: a_claim(Form(statement=Le(theta, 1)), Form(variant="corrected", statement=Le(angle, 1))),
        lambda: a_claim(Form(statement=Le(theta, 1)), assumptions=(Assumption("a", Le(angle, 1)),)),
        lambda: compiled(theta + angle),
    ):
        with pytest.raises(InvalidParameter, match=r"called 'theta'.*bound on a ratio.*an angle|an angle.*bound on a"):
            make()


def test_an_index_and_a_quantity_are_told_apart():
    number = scalar("k", "k", "how many")
    with pytest.raises(InvalidParameter, match="called 'k'"):
        Form(statement=Le(Sum(p[k], (k, 1, N)), number))


def test_declarations_that_differ_in_one_field_say_which():
    other = scalar("theta", r"\theta", "bound on a ratio; a number, positive")
    alike = scalar("theta", r"\theta", "bound on a ratio", random=False, domain="positive", shape=())
    assert alike == theta
    with pytest.raises(InvalidParameter, match="rename one of them"):
        compiled(theta + other)
    with pytest.raises(InvalidParameter, match="make first of both the same"):
        compiled(p[1] + family("p", "p^{<0>}", "weight of a client", shape=("clients",), first=0)[1])


def test_what_is_not_declared_is_refused():
    with pytest.raises(InvalidParameter, match="'y', which is not declared; declare it with scalar"):
        Form(statement=Le(sp.Symbol("y"), x))
    with pytest.raises(InvalidParameter, match="'g', which is not declared"):
        Form(statement=Le(sp.Function("g")(x), x))


@pytest.mark.parametrize("name", ["lambda", "_x", "exit()", "", "1x"])
def test_names_are_python_names(name):
    with pytest.raises(InvalidParameter, match="public Python identifier"):
        scalar(name, "x", "a number")


def test_domains_and_shapes_are_checked():
    with pytest.raises(InvalidParameter, match="did you mean 'positive'"):
        scalar("a", "a", "a number", domain="positve")
    with pytest.raises(InvalidParameter, match="one word per axis"):
        family("a", "a_{<0>,<1>}", "numbers", first=(1, 0), shape=("clients",))
    assert scalar("a", "a", "a number", domain=Domain.SIZE).quantity.domain is Domain.SIZE


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        ("real", [-1.5, 0], []),
        ("nonnegative", [0, 2.5], [-0.1]),
        ("positive", [1e-12, 3], [0, -1]),
        ("probability", [0, 0.5, 1], [-0.1, 1.1]),
        ("binary", [0, 1], [0.5, 2]),
        ("integer", [-3, 0], [0.5]),
        ("integer>=0", [0, 7], [-1, 0.5]),
        ("integer>=1", [1, 7], [0, 1.5]),
    ],
)
def test_domains_know_their_values(domain, inside, outside):
    known = Domain(domain)
    assert known.contains(inside)
    assert not any(known.contains(value) for value in outside)


def test_environments_may_be_keyed_by_symbols():
    assert compiled(theta * x)({theta: 2.0, "x": 3.0}) == 6.0
    assert compiled(Sum(p[k] * F(theta), (k, 1, N)))({p: [1.0, 2.0], F: lambda a: a, theta: 2.0, N: 2}) == 6.0
    form = Form(statement=Le(theta, x))
    assert read(form, {theta: 2.0, x: 1.0}).violated
    with pytest.raises(InvalidParameter, match="given twice"):
        named({theta: 1.0, "theta": 2.0})
    with pytest.raises(InvalidParameter, match="neither a name nor a declared quantity"):
        named({sp.Symbol("y"): 1.0})


def test_the_wrong_symbol_of_a_name_is_not_taken_for_the_right_one():
    for read_it in (compiled(theta + 1), lambda env: read(Form(statement=Le(theta, 1)), env)):
        with pytest.raises(InvalidParameter, match=r"given for theta \(\\vartheta\): an angle.*is here theta"):
            read_it({angle: 1.0})


def test_probabilities_are_listed_where_an_expectation_is_taken():
    assert "chance" in needed_by(EE(s[1]))
    assert "chance" in needed_by(s[1] + x)
    assert "chance" not in needed_by(EE(x))
    assert [q.name for q in Form(statement=Le(EE(s[1]), x)).quantities()] == ["chance", "s", "x"]
    own = scalar("chance", "c", "something else")
    with pytest.raises(InvalidParameter, match="called 'chance'"):
        compiled(own * EE(s[1]))


def test_what_is_missing_is_named_with_its_meaning_and_shape():
    with pytest.raises(InvalidParameter) as error:
        compiled(theta + EE(s[1]))({})
    text = str(error.value)
    assert "the value of chance, s, theta is missing" in text
    assert r"theta (\theta): bound on a ratio; a number, positive" in text
    assert "s (s^{<0>}): steps of a client; an array (outcomes, clients)" in text


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"p": 0.5, "N": 2}, r"p \(p\^\{<0>\}\): weight of a client; an array \(clients,\), got 0.5"),
        ({"p": [], "N": 2}, r"got shape \(0,\) without the axis of clients"),
        ({"p": [1.0], "N": 2}, "has 1 entry along clients, fewer than are asked for"),
        ({"p": [1.0, 2.0], "N": None}, "N .*number of clients; a number, integer>=1, got None"),
    ],
)
def test_values_of_the_wrong_shape_are_named(env, words):
    with pytest.raises(InvalidParameter, match=words):
        compiled(Sum(p[k], (k, 1, N)))(env)


def test_a_function_has_to_be_one():
    with pytest.raises(InvalidParameter, match=r"F \(F\(<0>\)\): a function; a function, got 3"):
        compiled(F(x))({"F": 3, "x": 1.0})


def test_errors_of_a_users_function_are_not_hidden():
    def broken(_):
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        compiled(F(x))({"F": broken, "x": 1.0})


def test_declarations_are_found():
    assert declaration(p) == declaration(p[k]) == declaration(p.label)
    assert declaration(F(x)) == declaration(F)
    assert declaration(sp.Symbol("y")) is None
    assert isinstance(declaration(index("i_0")), Quantity)


def test_sums_up_to_an_array_give_an_array():
    last = scalar("last", "T", "last index")
    total = compiled(Sum(p[k] * x, (k, 1, last)))
    values = total(
        {"p": np.array([1.0, 2.0, 4.0]), "x": np.array([1.0, 1.0, 2.0, 1.0]), "last": np.array([0, 1, 3, 2])}
    )
    np.testing.assert_array_equal(values, [0, 1, 14, 3])
