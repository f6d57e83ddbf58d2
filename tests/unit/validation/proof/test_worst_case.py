"""Worst cases over all functions of a class: tight truths are certified, falsehoods and other statements never."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.bounds.algebra import EE, Inner, Norm, NormSq
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Rejected
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.validation.proof import inner_products, provers, quadratic
from fltheory.validation.proof.certificate import Certificate, Hypotheses
from fltheory.validation.proof.function_classes import any_functions
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of
from fltheory.validation.proof.translate import Untranslatable
from fltheory.validation.proof.worst_case import WorstCase
from fltheory.validation.verdict import Strength

mu = scalar("mu", r"\mu", "strong convexity", domain="positive")
L = scalar("L", "L", "smoothness", domain="positive")
eta = scalar("eta", r"\eta", "learning rate", domain="positive")
gap = scalar("gap", r"f(x) - f_\star", "function gap", domain="nonnegative")
x = scalar("x", "x", "a point", shape=("dim",))
x_star = scalar("x_star", r"x_\star", "minimiser", shape=("dim",))
gradient = scalar("gradient", r"\nabla f(x)", "gradient", shape=("dim",))
stepped = scalar("stepped", "x_+", "point after a step", shape=("dim",))
noisy = scalar("noisy", "g", "stochastic gradient", random=True, shape=("dim",))

SPACE = {
    "d": Integer(1, 2),
    "shape": Choice(("turned", "kinked")),
    "mu": Real(0.1, 10, log=True),
    "condition": Real(1, 20, log=True),
    "centre": Real(-3, 3, shape=(1, "d")),
    "knot": Real(-3, 3, shape=(1, "d")),
    "left": Real(0, 1, shape=(1, "d")),
    "right": Real(0, 1, shape=(1, "d")),
    "start": Real(-3, 3, shape=("d",)),
    "noise": Real(-3, 3, shape=("d",)),
}


def realise(point: Params) -> dict[str, Any]:
    """Return a gradient step on one function of the class."""
    low, high = point["mu"], point["mu"] * point["condition"]
    left, right = (low + (high - low) * point[side] for side in ("left", "right"))
    f = Kinked(centre=point["centre"], knot=point["knot"], left=left, right=right)
    at, best = point["start"], f.minimiser([1])
    slope = f.gradient(0, at)
    return {
        "mu": low,
        "L": high,
        "eta": 2 / (low + high),
        "x": at,
        "x_star": best,
        "gradient": slope,
        "gap": f.value(0, at) - f.value(0, best),
        "stepped": at - 2 / (low + high) * slope,
        "noisy": [slope + point["noise"], slope - point["noise"]],
        "chance": [sp.Rational(1, 2), sp.Rational(1, 2)],
    }


CHECK = Instances(space=Space(SPACE), realise=realise)


def smooth(factor: Any = 1) -> Form:
    """Return the bound on the gradient by the gap, tight for quadratics."""
    return Form(statement=sp.Le(factor * NormSq(gradient), 2 * L * gap, evaluate=False))


def convex(factor: Any = 1) -> Form:
    """Return the lower bound by strong convexity, tight for quadratics."""
    return Form(statement=sp.Ge(gap, factor * mu / 2 * NormSq(x - x_star), evaluate=False))


def contracting(factor: Any = 1) -> Form:
    """Return the contraction of a step with the best rate, tight for two quadratics."""
    rate = ((L - mu) / (L + mu)) ** 2
    return Form(statement=sp.Le(factor * NormSq(stepped - x_star), rate * NormSq(x - x_star), evaluate=False))


def contracting_norm(factor: Any = 1) -> Form:
    """Return the same with norms."""
    rate = (L - mu) / (L + mu)
    return Form(statement=sp.Le(factor * Norm(stepped - x_star), rate * Norm(x - x_star), evaluate=False))


def cocoercive(factor: Any = 1) -> Form:
    """Return the inequality that the contraction rests on."""
    right = mu * L * NormSq(x - x_star) + NormSq(gradient)
    return Form(statement=sp.Ge((mu + L) * Inner(gradient, x - x_star), factor * right, evaluate=False))


def jensen(factor: Any = 1) -> Form:
    """Return that a mean has no larger square than the mean square, tight without noise."""
    return Form(statement=sp.Le(factor * NormSq(EE(noisy)), EE(NormSq(noisy)), evaluate=False))


FORMS: dict[str, Callable[..., Form]] = {
    one.__name__: one for one in (smooth, convex, contracting, contracting_norm, cocoercive, jensen)
}


def _hypotheses(form: Form, check: Instances = CHECK) -> Hypotheses:
    claim = Claim(
        id="planted.form",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        check=check,
    )
    return Hypotheses.of(claim, form)


def _attempted(form: Form, check: Instances = CHECK, *, alone: bool = False) -> Certificate | None:
    prover = WorstCase(alone=alone)
    return provers.attempt("planted.form", form, _hypotheses(form, check), seconds=300.0, provers=(prover,))


@pytest.mark.parametrize("name", FORMS)
def test_tight_truths_are_certified(name: str) -> None:
    form = FORMS[name]()
    found = _attempted(form)
    assert found is not None
    assert found.strength is Strength.CERTIFIED
    assert found.method == "a semidefinite program"
    assert "any dimension" in found.words
    assert "condition = " in found.words
    assert len(found.scope) == 3
    assert provers.replay(found, form, _hypotheses(form)) == ""


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("excess", [sp.Rational(1, 10**6), sp.Rational(1, 100)])
def test_falsehoods_are_refused(name: str, excess: Any) -> None:
    assert _attempted(FORMS[name](1 + excess)) is None


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    "statement",
    [
        sp.Gt(gap, 0, evaluate=False), sp.Lt(0, NormSq(gradient), evaluate=False),
        sp.Lt(NormSq(gradient), 2 * L * gap, evaluate=False), sp.Ne(gap, 0, evaluate=False),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_an_equality_somewhere_is_no_strict_inequality(statement: Any, alone: bool) -> None:
    """All four fail where the point is the minimiser."""
    assert _attempted(Form(statement=statement), alone=alone) is None


def test_edited_weights_are_refused() -> None:
    form = contracting()
    found = _attempted(form)
    assert found is not None
    for edit in (
        lambda part: {**part, "weights": [[n, str(Fraction(w) * 2)] for n, w in part["weights"]]},
        lambda part: {**part, "weights": [[n, str(-Fraction(w))] for n, w in part["weights"]]},
        lambda part: {**part, "weights": part["weights"][1:]},
        lambda part: {**part, "weights": [[999, "1"]]},
        lambda part: {"digest": part["digest"]},
        lambda part: {"digest": part["digest"], "terms": [], "contradiction": False},
    ):
        parts = [[edit(part) for part in several] for several in found.parts]
        edited = dataclasses.replace(found, parts=parts)
        assert "do not add up" in provers.replay(edited, form, _hypotheses(form))


def test_a_certificate_says_at_which_parameters() -> None:
    form = smooth()
    found = _attempted(form)
    assert found is not None
    scope = [{**one, "mu": "1/7"} for one in found.scope]
    elsewhere = dataclasses.replace(found, scope=scope)
    assert "other sizes" in provers.replay(elsewhere, form, _hypotheses(form))
    louder = dataclasses.replace(found, words="everything")
    assert "something else" in provers.replay(louder, form, _hypotheses(form))


def _with(**changes: Callable[[dict[str, Any], Params], Any]) -> Instances:
    def changed(point: Params) -> dict[str, Any]:
        made = realise(point)
        return {**made, **{name: change(made, point) for name, change in changes.items()}}

    return Instances(space=CHECK.space, realise=changed)


@pytest.mark.parametrize(
    "check",
    [
        _with(x_star=lambda made, point: np.maximum(made["x"], made["x_star"])),
        _with(gap=lambda made, point: made["gap"] if made["x"][0] > 0 else 2 * made["gap"]),
        _with(gap=lambda made, point: (made["x"] * made["x"] * made["x"]).sum()),
        _with(gap=lambda made, point: np.abs(made["x"]).sum() ** 2),
        _with(gradient=lambda made, point: made["gradient"] * made["x"]),
        _with(gap=lambda made, point: made["gap"] * (made["x"] * made["x"]).sum()),
    ],
    ids=["maximum", "comparison", "cube", "sum of absolute values", "entrywise", "fourth"],
)
def test_what_is_done_with_single_coordinates_is_refused(check: Instances) -> None:
    form = smooth()
    scope = WorstCase().scopes(form, _hypotheses(form, check))[0]
    with pytest.raises(Untranslatable):
        WorstCase().problems(form, _hypotheses(form, check), scope)


def test_numbers_that_are_compared_are_hypotheses_on_both_ways() -> None:
    def larger(made: dict[str, Any], point: Params) -> Any:
        one, other = (made["gradient"] * made["gradient"]).sum(), (made["x"] * made["x"]).sum()
        return one if one > other else other

    check = _with(gap=larger)
    form = Form(statement=sp.Le(NormSq(gradient), gap, evaluate=False))
    assert _attempted(form, check) is not None
    assert (
        _attempted(Form(statement=sp.Le(NormSq(gradient), sp.Rational(99, 100) * gap, evaluate=False)), check) is None
    )


def test_spaces_without_vectors_are_left_aside() -> None:
    form = smooth()
    flat = Instances(space=Space({"mu": Real(0.1, 1)}), realise=realise)
    rounded = dataclasses.replace(CHECK, rational=False)
    for check in (flat, rounded):
        assert WorstCase().scopes(form, _hypotheses(form, check)) == []


def test_a_form_about_the_dimension_is_certified_in_one() -> None:
    d = scalar("d", "d", "dimension", domain="integer>=1")
    check = _with(d=lambda made, point: point["d"])
    form = Form(statement=sp.Le(NormSq(gradient), 2 * L * gap * d, evaluate=False))
    assert WorstCase().scopes(form, _hypotheses(form, check)) == []
    found = _attempted(form, check, alone=True)
    assert found is not None
    assert "one dimension" in found.words
    assert "any dimension" not in found.words
    assert provers.replay(found, form, _hypotheses(form, check)) == ""
    elsewhere = dataclasses.replace(found, prover="worst-case")
    assert provers.replay(elsewhere, form, _hypotheses(form, check)) != ""


def test_a_form_about_coordinates_is_certified_in_one_dimension() -> None:
    for factor, certified in ((1, True), (1 + sp.Rational(1, 10**6), False), (sp.Rational(101, 100), False)):
        form = Form(statement=sp.Le(factor * sp.Abs(gradient), L * sp.Abs(x - x_star), evaluate=False))
        assert WorstCase().scopes(form, _hypotheses(form)) == []
        assert (_attempted(form, alone=True) is not None) is certified


def test_constants_beside_coordinates_need_one_dimension() -> None:
    r"""A step with a noise of a given size: E||x - g - e||^2 = ||x - g||^2 + 1/4, tight, for a coin of either face."""
    half = sp.Rational(1, 2)
    check = _with(noisy=lambda made, point: [made["x"] - made["gradient"] + face * half for face in (1, -1)])
    for size, certified in ((sp.Rational(1, 4), True), (sp.Rational(1, 4) - sp.Rational(1, 10**6), False)):
        form = Form(statement=sp.Le(EE(NormSq(noisy)), NormSq(x - gradient) + size, evaluate=False))
        assert _attempted(form, check) is None
        assert _attempted(form, check, alone=True) is None  # false in the plane, where the noise is longer
        assert (_attempted(form, _on_a_line(check), alone=True) is not None) is certified


def test_a_constant_is_no_vector_and_is_not_added_to_one() -> None:
    """In more dimensions nobody knows what it would be; zero is the zero vector, and one dimension has numbers."""
    v, w = sp.symbols("v w")
    made = inner_products.Polynomials([v, w, sp.Symbol("unit")], 3, alone=False)
    assert made.vector(2 * v - w) == 2 * made.vector(v) - made.vector(w)
    assert not made.vector(sp.Integer(0))
    for refused, words in ((sp.Integer(3), "a constant where a vector is"), (v + 1, "a constant is added to a vector")):
        with pytest.raises(Untranslatable, match=words):
            made.vector(refused)
    alone = inner_products.Polynomials([v, w, sp.Symbol("unit")], 3, alone=True)
    assert alone.vector(v + 1) == alone.vector(v) + 1


def test_coordinates_are_compared_in_one_dimension() -> None:
    larger = _with(gap=lambda made, point: made["x"][0] if made["x"][0] > made["x_star"][0] else made["x_star"][0])
    for factor, certified in ((1, True), (1 + sp.Rational(1, 10**6), False)):
        form = Form(statement=sp.Le(factor * Inner(x, noisy), gap, evaluate=False))
        check = _with(
            gap=lambda made, point: larger.realise(point)["gap"], noisy=lambda made, point: [1 + 0 * made["x"]] * 2
        )
        assert _attempted(form, check) is None
        assert (_attempted(form, _on_a_line(check), alone=True) is not None) is certified


def _on_a_line(check: Instances) -> Instances:
    return dataclasses.replace(check, space=Space({**check.space.parameters, "d": Integer(1, 1)}))


def _shaped(use: bool) -> Instances:
    def changed(point: Params) -> dict[str, Any]:
        made = realise(point)
        weight = point["weight"][0] if use else 1
        return {**made, "gap": made["gap"] * weight}

    return Instances(space=Space({**SPACE, "weight": Real(1, 2, shape=("d",))}), realise=changed)


def test_what_only_shapes_a_function_must_not_be_read() -> None:
    form = smooth()
    assert _attempted(form, _shaped(use=False)) is not None
    check = _shaped(use=True)
    scope = WorstCase().scopes(form, _hypotheses(form, check))[0]
    with pytest.raises(Untranslatable):
        WorstCase().problems(form, _hypotheses(form, check), scope)


def test_steeper_slopes_are_stated() -> None:
    space = Space({**SPACE, "right": Real(0, 4, shape=(1, "d"))})
    form = convex()
    found = _attempted(form, Instances(space=space, realise=realise))
    assert found is not None
    assert "right = 4" in found.words


def test_vectors_that_are_equal_are_equal_in_every_product() -> None:
    left, right = Inner(gradient, x), Inner(gradient, x_star)
    premise = sp.Eq(x, x_star, evaluate=False)
    assert _attempted(Form(statement=sp.Eq(left, right, evaluate=False), premises=(premise,))) is not None
    assert _attempted(Form(statement=sp.Eq(left, right, evaluate=False))) is None


def test_norms_that_add_up_to_zero_are_zero() -> None:
    total = sp.Eq(Norm(x - x_star) + 2 * Norm(gradient), 0, evaluate=False)
    assert _attempted(Form(statement=sp.Eq(x, x_star, evaluate=False), premises=(total,))) is not None
    assert _attempted(Form(statement=total, premises=(sp.Eq(x, x_star, evaluate=False),))) is not None
    signed = sp.Eq(Norm(x - x_star) - 2 * Norm(gradient), 0, evaluate=False)
    assert _attempted(Form(statement=sp.Eq(x, x_star, evaluate=False), premises=(signed,))) is None


def test_where_there_are_no_instances_nothing_is_certified() -> None:
    def nowhere(point: Params) -> dict[str, Any]:
        raise Rejected("there are none")

    check = Instances(space=CHECK.space, realise=nowhere)
    assert WorstCase().scopes(smooth(), _hypotheses(smooth(), check)) == []
    scope = WorstCase().scopes(smooth(), _hypotheses(smooth()))[0]
    with pytest.raises(Untranslatable, match="no instance"):
        WorstCase().problems(smooth(), _hypotheses(smooth(), check), scope)


def test_a_class_with_one_slope_is_refused() -> None:
    ones = np.array([[sp.Integer(1)]], dtype=object)
    f = Kinked(centre=ones, knot=ones, left=ones, right=ones)
    with any_functions(), pytest.raises(Untranslatable, match="slopes from 1 to 1"):
        f.gradient(0, np.array([sp.Symbol("x")], dtype=object))


def test_functions_are_themselves_again() -> None:
    one, two = np.array([[1.0]]), np.array([[3.0]])
    f = Kinked(centre=0 * one, knot=0 * one, left=one, right=two)
    with any_functions():
        pass
    assert f.gradient(0, np.array([2.0])).tolist() == [6.0]
    assert f.value(0, np.array([2.0])) == 6.0
    assert f.minimiser(np.array([1.0])).tolist() == [0.0]


def test_every_function_of_the_class_fulfils_the_interpolation_inequalities() -> None:
    r"""Each symbol is replaced by the value that a kinked function has, with slopes at both ends and in between."""
    rational = [sp.Rational(n, 3) for n in (-5, -2, 0, 1, 4)]
    low, high = np.array([[sp.Integer(1)]], dtype=object), np.array([[sp.Integer(4)]], dtype=object)
    centre, knot = (np.array([[sp.Rational(n, 2)]], dtype=object) for n in (1, -1))
    whole = Kinked(centre=centre, knot=knot, left=low, right=high)
    points = [np.array([value], dtype=object) for value in rational]
    with any_functions() as answers:
        asked = [(whole.gradient(0, point)[0], whole.value(0, point)) for point in points]
    for left, right in ((1, 4), (4, 1), (2, 2), (1, 1), (4, 4), (2, 3)):
        slopes = [np.array([[sp.Integer(slope)]], dtype=object) for slope in (left, right)]
        f = Kinked(centre=centre, knot=knot, left=slopes[0], right=slopes[1])
        swap = {}
        for point, (slope, value) in zip(points, asked, strict=True):
            swap[slope], swap[value] = f.gradient(0, point)[0], f.value(0, point)
        found = [expression.subs(swap) for expression in answers.inequalities()]
        assert len(found) == 30
        assert min(found) >= 0
    steep = [np.array([[sp.Integer(slope)]], dtype=object) for slope in (1, 5)]
    f = Kinked(centre=centre, knot=knot, left=steep[0], right=steep[1])
    swap = {}
    for point, (slope, value) in zip(points, asked, strict=True):
        swap[slope], swap[value] = f.gradient(0, point)[0], f.value(0, point)
    assert min(expression.subs(swap) for expression in answers.inequalities()) < 0


def test_weighted_gradients_vanish_at_the_minimiser_of_a_sum() -> None:
    def column(*entries: int) -> Any:
        return np.array([[sp.Integer(entry)] for entry in entries], dtype=object)

    f = Kinked(centre=column(0, 1), knot=column(0, 0), left=column(1, 1), right=column(2, 2))
    weights = [sp.Rational(1, 3), sp.Rational(2, 3)]
    with any_functions():
        best = f.minimiser(weights)
        total = sum(weight * f.gradient(k, best)[0] for k, weight in enumerate(weights))
        assert sp.expand(total) == 0
        assert f.minimiser(weights)[0] == best[0]
        assert f.minimiser([1, 0])[0] == 0
        with pytest.raises(Untranslatable, match="positive"):
            f.minimiser([1, -1])


def test_a_function_that_is_made_twice_is_one_function() -> None:
    def made(knot: int) -> Kinked:
        columns = (np.array([[sp.Integer(entry)]], dtype=object) for entry in (0, knot, 1, 2))
        return Kinked(**dict(zip(("centre", "knot", "left", "right"), columns, strict=True)))

    at = np.array([sp.Integer(1)], dtype=object)
    with any_functions() as answers:
        assert made(0).gradient(0, at)[0] == made(0).gradient(-1, at)[0]
        assert made(0).gradient(0, at)[0] != made(5).gradient(0, at)[0]
        assert len(list(answers.inequalities())) == 4


@pytest.mark.parametrize(
    ("entries", "answer"),
    [
        ([[1, 2], [2, 4]], True),
        ([[1, 2], [2, 3]], False),
        ([[0, 0], [0, 1]], True),
        ([[0, 1], [1, 5]], False),
        ([[-1]], False),
        ([[1, 2, 0], [2, 3, 0], [0, 0, 1]], False),
        ([[1, 1, 0], [1, 1, 1], [0, 1, 9]], False),
        ([[1, 0, 2], [0, 1, 2], [2, 2, 7]], False),
        ([[1, 0, 2], [0, 1, 2], [2, 2, 8]], True),
        ([[2, 1, 1], [1, 2, 1], [1, 1, 2]], True),
        ([], True),
    ],
)
def test_matrices_without_negative_eigenvalues(entries: list[list[int]], answer: bool) -> None:
    for number in (Fraction, sp.QQ):
        matrix = [[number(entry) for entry in row] for row in entries]
        assert quadratic.positive_semidefinite(matrix) is answer


def test_what_is_no_square_is_no_rest() -> None:
    ring = ring_of(["u", "v", "f"])
    u, v, f = ring.gens
    known = (Fact(f, Sign.NONNEGATIVE), Fact(u * v - f, Sign.ZERO))
    for goal, weights, proved in (
        (u**2 + v**2 - 2 * u * v, [], True),
        (u**2 + 1, [], True),
        (u**2 - 1, [], False),
        (u**2 + u, [], False),
        (u**4, [], False),
        (u**2 + f, [[0, "1"]], True),
        (u**2 - f, [[0, "-1"]], False),
        (u**2 + v**2 + u * v - f, [[1, "1"]], True),
        (u**2 + v**2 - u * v + f, [[1, "-1"]], True),
        (u**2 + v**2 - u * v, [[1, "3"]], False),
    ):
        sequent = Sequent(ring, known, Fact(goal, Sign.NONNEGATIVE))
        assert quadratic.verified(sequent, {"weights": weights}) is proved
    assert not quadratic.verified(Sequent(ring, known, Fact(u**2, Sign.POSITIVE)), {"weights": []})
    assert not quadratic.verified(Sequent(ring, known, Fact(ring.zero, Sign.ZERO)), {"weights": []})


def test_a_sharp_constant_agrees_with_pepit() -> None:
    """The contraction factor at which certificates end is the worst case that PEPit computes."""
    pepit = pytest.importorskip("PEPit")
    from PEPit.functions import SmoothStronglyConvexFunction

    form = contracting()
    scope = WorstCase().scopes(form, _hypotheses(form))[0]
    low = Fraction(scope["mu"])
    high = low * Fraction(scope["condition"])
    problem = pepit.PEP()
    f = problem.declare_function(SmoothStronglyConvexFunction, mu=float(low), L=float(high))
    best, at = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((at - best) ** 2 <= 1)
    problem.set_performance_metric((at - 2 / float(low + high) * f.gradient(at) - best) ** 2)
    worst = problem.solve(verbose=0)
    sharp = ((high - low) / (high + low)) ** 2
    assert worst == pytest.approx(float(sharp), rel=1e-4)


def test_definitions_are_not_rounded() -> None:
    """A form with a definition has the problems of the same form written out, to the last digit."""
    part = scalar("part", "r", "a part of a square", domain="nonnegative")
    share = sp.Rational(1, 49)
    whole = Form(statement=sp.Le(share * NormSq(gradient), 2 * L * gap, evaluate=False))
    split = Form(statement=sp.Le(part, 2 * L * gap, evaluate=False), where=((part, share * NormSq(gradient)),))
    scope = WorstCase().scopes(whole, _hypotheses(whole))[0]
    goals = [[one.goal for one in WorstCase().problems(form, _hypotheses(form), scope)] for form in (whole, split)]
    assert goals[0] == goals[1]


def _along_and_in_the_plane(realise: Callable[[Any], dict[str, Any]], statement: Any) -> list[Sequent]:
    form = Form(statement=statement)
    space = Space({"d": Integer(1, 2), "start": Real(-3, 3, shape=("d",)), "noise": Real(-3, 3, shape=("d",))})
    hypotheses = _hypotheses(form, Instances(space=space, realise=lambda point: realise(point["start"])))
    return WorstCase().problems(form, hypotheses, {"d": 1})


def test_code_that_chooses_a_coordinate_is_refused() -> None:
    """On a line there is nothing to choose, and the square of the largest coordinate is the squared norm."""

    def largest(at: Any) -> dict[str, Any]:
        chosen = at[0]
        for entry in at[1:]:
            chosen = entry if entry > chosen else chosen
        return {"x": at, "gap": chosen * chosen}

    with pytest.raises(Untranslatable, match="the code compares coordinates"):
        _along_and_in_the_plane(largest, sp.Le(NormSq(x), gap, evaluate=False))


def test_code_that_asks_for_the_sign_of_a_coordinate_is_refused() -> None:
    def signed(at: Any) -> dict[str, Any]:
        return {"x": at, "gap": (at * at).sum() if at[0] > 0 else 2 * (at * at).sum()}

    with pytest.raises(Untranslatable, match="coordinates are not treated alike"):
        _along_and_in_the_plane(signed, sp.Le(NormSq(x), gap, evaluate=False))


def test_every_goal_has_to_be_proved_also_behind_a_sum_of_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minkowski's inequality comes first; what stands behind it is false, and no random instance says so."""
    monkeypatch.setattr(provers, "refuted", lambda *_: False)
    minkowski = sp.Le(Norm(x - gradient), Norm(x) + Norm(gradient), evaluate=False)
    assert _attempted(Form(statement=minkowski)) is not None
    for false in (sp.Le(NormSq(x), 0, evaluate=False), sp.Le(2 * Norm(x - gradient), Norm(x) + Norm(gradient))):
        assert _attempted(Form(statement=(minkowski, false))) is None
        assert _attempted(Form(statement=(false, minkowski))) is None
    assert _attempted(Form(statement=(minkowski, sp.Ge(NormSq(x), 0, evaluate=False)))) is not None
