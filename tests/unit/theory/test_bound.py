"""Bounds as functions: for every form of every claim, and as a user calls them."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import fltheory as fl
from fltheory.bounds import catalogue
from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Instances, Rejected
from fltheory.validation.evaluate import sides
from fltheory.validation.search import random_points

IDS = list(catalogue.index())


@pytest.mark.parametrize("id_", IDS)
def test_every_form_of_every_claim_has_a_bound(id_: str) -> None:
    theorem = fl.theorem(id_)
    for variant, form in theorem.forms.items():
        for part in range(len(form.relations)):
            bound = theorem.bound(variant, part=part)
            assert bound.direction in ("upper", "lower", "equal")
            assert bound.latex()
            function = bound.function()
            defined = {str(getattr(target, "name", target)) for target, _ in form.where}
            assert not defined & {symbol.name for symbol in function.symbols}, "definitions are put in"


@pytest.mark.parametrize("id_", IDS)
def test_the_function_gives_what_the_check_compares(id_: str) -> None:
    """The right-hand side at instances of the check, from primitive quantities alone."""
    theorem = fl.theorem(id_)
    for variant, form in theorem.forms.items():
        source = theorem.claim.check_of(form)
        if not isinstance(source, Instances) or form.over or isinstance(form.relations[0], sp.Ne):
            continue
        function = theorem.bound(variant).function()
        if function.random:
            continue
        tried = 0
        for point in random_points(source.space, np.random.default_rng(3), 40):
            try:
                env = form.named(source.realise(point))
            except Rejected:
                continue
            given = {name: env[name] for name in (symbol.name for symbol in function.symbols)}
            smaller, larger = sides(form, env)
            wanted = smaller if theorem.bound(variant).direction == "lower" else larger
            np.testing.assert_allclose(np.asarray(function(**given), dtype=float), wanted, rtol=1e-7, atol=1e-12)
            tried += 1
            if tried == 2:
                break
        assert tried, f"{variant}: no instance among 40 points"


KNOWN = {
    "mu": 1.0,
    "L": 6.0,
    "E": 3,
    "N": 2,
    "theta": 1.0,
    "p": [0.5, 0.5],
    "p_drawn": [[0.5, 0.5]],
    "s_drawn": [[3, 3]],
    "chance": [1.0],
    "Gamma": [0.1, 0.2],
    "sigma_sq": [1.0, 2.0],
    "G_sq": 4.0,
    "start_sq": 1.0,
}


def by_hand(tau: float) -> float:
    """Return the corrected bound of Theorem 3.1 for two clients that always take all of three steps.

    The expected sum of coefficients times steps is 3, so gamma = max(32*3*(1+1)*6/3, 4*9/3) = 384, nothing is
    heterogeneous, and V is the larger one of gamma and (16*3/3)^2 E[B] / 9. In B the third term has 3(E-1) for 2E.
    """
    gamma = 384.0
    gaps, steps = 3 * (0.5 * 0.1 + 0.5 * 0.2), 3.0
    squares = 2 * 0.25 / 0.5 * 3
    second = 2 * 3 * 6 * gaps + (2 + 1 / 24) * 3 * 2 * 4 * steps + 3 * (3 - 1) * 4 * squares + 0.25 * 3 * (1 + 2)
    return max(gamma * 1.0, (16 * 3 / 3) ** 2 * second / (3 * 3)) / (tau * 3 + gamma)


def test_theorem_3_1_by_hand() -> None:
    function = fl.theorem("ruan.theorem-3.1").bound("corrected").function()
    assert function(**KNOWN, tau=5) == pytest.approx(by_hand(5), rel=1e-12)


def test_numbers_may_be_arrays_that_broadcast() -> None:
    function = fl.theorem("ruan.theorem-3.1").bound("corrected").function()
    tau = np.arange(1, 201)
    curve = function(**KNOWN, tau=tau)
    assert curve.shape == (200,)
    assert curve[4] == pytest.approx(by_hand(5), rel=1e-12)
    grid = function(**{**KNOWN, "L": np.array([[1.0], [6.0]])}, tau=tau)
    assert grid.shape == (2, 200)
    np.testing.assert_allclose(grid[1], curve)


def test_ends_of_sums_may_be_arrays() -> None:
    """A symbol that counts, such as the number of terms of a sum."""
    function = fl.theorem("cfl.eq-67").bound("published").function()
    names = [symbol.name for symbol in function.symbols]
    known = dict.fromkeys(names, 2.0)
    swept = function(**{**known, "T": np.array([3, 10])})
    assert swept.tolist() == [function(**{**known, "T": 3}), function(**{**known, "T": 10})]
    assert swept[0] != swept[1]


def test_a_missing_symbol_is_described() -> None:
    function = fl.theorem("ruan.theorem-3.1").bound("corrected").function()
    with pytest.raises(fl.InvalidParameter) as caught:
        function(**{name: value for name, value in KNOWN.items() if name != "theta"})
    assert r"theta (\theta): bound on the ratio of aggregation coefficient and objective weight" in str(caught.value)
    assert "tau" in str(caught.value)


def test_an_unknown_symbol_gets_the_nearest_name() -> None:
    function = fl.theorem("ruan.theorem-3.1").bound("corrected").function()
    with pytest.raises(fl.InvalidParameter, match="has no symbol 'sigma'; did you mean 'sigma_sq'"):
        function(**KNOWN, tau=1, sigma=1.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mu": 0.0}, "not finite"),
        ({"N": 3}, "2 entries along clients, fewer than are asked for"),
        ({"Gamma": [0.1]}, "all arrays over clients must be equally long, got 2 in p and 1 in Gamma"),
        ({"p": [0.2, 0.3, 0.5]}, "all arrays over clients must be equally long, got 3 in p and 2 in p_drawn"),
        ({"chance": [0.5, 0.5]}, "all arrays over outcomes must be equally long"),
        ({"mu": -1.0}, r"a number, nonnegative, got -1.0"),
        ({"mu": np.nan}, r"mu \(.*got nan; it must not be NaN"),
        ({"mu": "one"}, r"mu \(.*a number, nonnegative, got 'one'"),
        ({"mu": 1j}, r"mu \(.*got 1j"),
        ({"mu": {}}, r"mu \(.*got {}"),
        ({"E": 2.5}, r"E \(.*a number, integer>=1, got 2.5"),
        ({"p": [-1, 2]}, r"an array \(clients,\), probability, got \[-1, 2\]"),
        ({"p": [0.5, np.nan]}, r"p \(.*must not be NaN"),
        ({"p": 0.5}, "got 0.5 without the axis of clients"),
        ({"p": [0.5, 0.6]}, r"p \(.*must sum to 1, got a sum of 1.1; divide them by their sum"),
        ({"chance": [0.4]}, r"chance \(.*must sum to 1, got a sum of 0.4"),
        ({"Gamma": [[1.0], [2.0, 3.0]]}, r"Gamma \(.*got \[\[1.0\], \[2.0, 3.0\]\]"),
        ({"tau": [1.0, np.nan]}, r"tau \(.*must not be NaN"),
        ({"L": [1.0, 2.0], "tau": [1, 2, 3]}, r"shapes that broadcast against each other, got .*\(2,\).*\(3,\)"),
    ],
)
def test_what_cannot_be_evaluated_is_no_number(wrong: dict[str, object], message: str) -> None:
    function = fl.theorem("ruan.theorem-3.1").bound("corrected").function()
    with pytest.raises(fl.InvalidParameter, match=message):
        function(**{**KNOWN, "tau": 1, **wrong})


def test_arguments_of_another_type_are_refused_with_words() -> None:
    with pytest.raises(fl.InvalidParameter, match=r"named by its id, such as .*, got 3"):
        fl.theorem(3)  # type: ignore[arg-type]
    with pytest.raises(fl.InvalidParameter, match=r"bound.part must be an integer in \[0, 0\], got part='x'"):
        fl.theorem("ruan.theorem-3.1").bound(part="x")  # type: ignore[arg-type]


def test_a_rate_is_evaluated_with_constant_one_and_says_so() -> None:
    bound = fl.theorem("cfl.theorem-4.1-sc").bound("published")
    assert bound.variant == "published@expectation"
    assert bound.is_rate
    assert "constant inside O() is not stated" in bound.note
    assert not bound.expr.has(BigO)


def test_forms_are_found_by_the_beginning_of_their_name() -> None:
    theorem = fl.theorem("efl.theorem-1")
    assert theorem.form().variant == "corrected"
    assert theorem.form("published").variant == "published@003"
    with pytest.raises(fl.InvalidParameter, match="corrected"):
        theorem.form("corected")


def test_how_it_is_shown() -> None:
    theorem = fl.theorem("ruan.theorem-3.1")
    assert len(repr(theorem)) < 150
    assert len(repr(theorem.bound())) < 400
    assert repr(theorem.forms["corrected"]) == "Form('corrected', 1 relation, 7 definitions)"
    assert theorem.bound()._repr_latex_().startswith(r"$\displaystyle")
    assert theorem.forms["published"]._repr_latex_().startswith(r"$\displaystyle")
    assert "<table>" in theorem._repr_html_()
    table = theorem.symbols._repr_html_()
    assert table.count("<tr>") == len(theorem.symbols) + 1
    assert "strong convexity" in str(theorem.symbols)
    assert theorem.page.startswith("Theorem 3.1")
    assert theorem.reference == "Ruan et al., Theorem 3.1, (3)"


def test_tables_of_symbols_and_counterexamples_show_formulas() -> None:
    theorem = fl.theorem("cfl.lemma-a.4")
    assert r"$\Xi_{k}$" in theorem.symbols._repr_html_()
    found = fl.falsify("cfl.lemma-a.4", budget=5).counterexample
    assert found is not None
    assert r"<td>$\sigma^2$</td><td>1</td>" in found._repr_html_()
