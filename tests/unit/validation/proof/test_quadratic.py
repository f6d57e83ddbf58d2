"""Weighted sums of hypotheses and squares: how weights are found, made rational, and checked without rounding.

In most problems here one weight is the only one that leaves a sum of squares, and can be read off.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy
import numpy as np
import pytest
import sympy as sp

from fltheory.validation.proof import quadratic
from fltheory.validation.proof.sequent import Fact, Sequent, Sign, ring_of

RING = ring_of(["u", "v", "w", "f", "g"])
u, v, w, f, g = RING.gens

LONG, OTHER = sp.QQ(54321, 98765), sp.QQ(12345, 67891)
"""Weights that nobody finds by rounding floats to short fractions."""


def _problem(goal: Any, *nonnegative: Any, zero: tuple[Any, ...] = (), sign: Sign = Sign.NONNEGATIVE) -> Sequent:
    facts = [*(Fact(p, Sign.NONNEGATIVE) for p in nonnegative), *(Fact(p, Sign.ZERO) for p in zero)]
    return Sequent(RING, tuple(facts), Fact(RING(goal), sign))


def _program(*problem: Any, **more: Any) -> Any:
    return quadratic._Program(_problem(*problem, **more))


def _solved(program: Any, *, interior: bool, used: list[bool] | None = None) -> Any:
    chosen = np.ones(len(program.facts), dtype=bool) if used is None else np.array(used)
    return program.solved(chosen, interior=interior)


def _weights(problem: Sequent) -> dict[int, str] | None:
    """Return the weights of a certificate, which is checked."""
    part = quadratic.attempt(problem)
    if part is None:
        return None
    assert quadratic.verified(problem, part) is True
    return dict(part["weights"])


def singular(share: Any = 1) -> Sequent:
    r"""Return :math:`c(u^2 - t^2v^2) + (u - tv)^2 \ge 0` from :math:`u^2 \ge t^2v^2`, with an odd number c.

    With the weight :math:`c + \delta` the determinant of what is left is :math:`-t^2\delta^2`, so c is the only one,
    and the vector (t, 1) is mapped to zero.
    """
    known = u**2 - share**2 * v**2
    return _problem(LONG * known + (u - share * v) ** 2, known)


def twice_singular() -> Sequent:
    r"""Return a problem with two weights whose rest is :math:`(u - 2v + w)^2`.

    Where this vanishes, with :math:`w = s` and :math:`v = s + t`, the hypotheses are :math:`st` and :math:`s^2 - t^2`.
    No combination of these two but zero has one sign, so both weights can be read off.
    """
    one, other = v * w - w**2, 2 * v * w - v**2
    return _problem(LONG * one + OTHER * other + (u - 2 * v + w) ** 2, one, other)


@pytest.mark.parametrize("share", [sp.QQ(1), sp.QQ(3, 7), sp.QQ(301, 997)])
def test_vectors_that_are_mapped_to_zero_fix_the_weights(share: Any) -> None:
    assert _weights(singular(share)) == {0: "54321/98765"}


def test_several_vectors_are_mapped_to_zero() -> None:
    assert _weights(twice_singular()) == {0: "54321/98765", 1: "12345/67891"}


def test_eigenvalues_are_small_beside_the_largest() -> None:
    """Of three eigenvalues two are a ten-millionth, so all vectors with a - 2b + c = 0 seem to be mapped to zero."""
    program = _program((u - 2 * v + w) ** 2 + (u**2 + v**2 + w**2) * sp.QQ(1, 10**7))
    nothing, *sets = program._kernels(np.array([]))
    assert nothing == []
    assert sets
    for kernel in sets:
        assert [a - 2 * b + c for a, b, c in kernel] == [0, 0]


def test_numbers_cancel_exactly() -> None:
    """With numbers alone the weights solve a linear system; an equation has a weight of either sign."""
    assert _weights(_problem(LONG * f + OTHER * g, f, g)) == {0: "54321/98765", 1: "12345/67891"}
    assert _weights(_problem(-LONG * f, zero=(f,))) == {0: "-54321/98765"}
    assert _weights(_problem(-LONG * f, f)) is None
    assert _weights(_problem(f, zero=(2 * f - g, g))) == {0: "1/2", 1: "1/2"}


def test_nothing_is_proved_that_a_vector_which_is_mapped_to_zero_refutes() -> None:
    """At u = v = 1 everything in the problem vanishes but what is taken away."""
    for less in (sp.QQ(1, 10**6), sp.QQ(1, 100)):
        known = u**2 - v**2
        assert _weights(_problem(LONG * known + (u - v) ** 2 - less * v**2, known)) is None


def test_a_constant_is_left_over_only_if_it_is_not_negative() -> None:
    assert _weights(_problem(f - 1, f - 1)) == {0: "1"}
    assert _weights(_problem(f, f - 1)) == {0: "1"}
    assert _weights(_problem(f - 1, f)) is None
    # The cheapest weights with f + w_1 + 10 w_0 = f and 2 w_1 >= 1.
    assert _solved(_program(f - 1, 10 * f, f - 2), interior=False) == pytest.approx([0.05, 0.5], abs=1e-6)


def test_matrices_are_as_far_from_singular_as_possible_or_weights_small() -> None:
    r"""Of :math:`\frac34 - \lambda` and :math:`2\lambda - \frac14` the smaller one is largest at one third."""
    program = _program((3 * u**2 - v**2) / 4, u**2 - 2 * v**2)
    assert _solved(program, interior=True) == pytest.approx([1 / 3], abs=1e-6)
    assert _solved(program, interior=False) == pytest.approx([1 / 8], abs=1e-6)
    assert [program.satisfied(np.array([x])) for x in (0.12, 0.13, 0.5, 0.74, 0.76)] == [False, True, True, True, False]


def test_off_diagonal_entries_are_halved() -> None:
    r"""The matrix of :math:`u^2 + v^2 - 4uv + \lambda uv` is not negative from 2 to 6."""
    program = _program(u**2 + v**2 - 4 * u * v, u * v * -1)
    assert _solved(program, interior=False) == pytest.approx([2], abs=1e-6)
    assert [program.satisfied(np.array([x])) for x in (1.99, 2.01, 5.99, 6.01)] == [False, True, True, False]


def test_floats_with_numbers_left_over_are_no_solution() -> None:
    program = _program(f, f - g, g)
    assert program.satisfied(np.array([1.0, 1.0]))
    assert not program.satisfied(np.array([1.0, 1.1]))
    assert not program.satisfied(np.array([1.1, 1.0]))


def test_hypotheses_that_are_not_in_use_have_no_weight() -> None:
    equation = _program(-f, zero=(f,))
    assert _solved(equation, interior=False) == pytest.approx([-1], abs=1e-6)
    assert _solved(equation, interior=False, used=[False]) is None
    two = _program(f, 2 * f, f)
    assert _solved(two, interior=False) == pytest.approx([0.5, 0], abs=1e-6)
    assert _solved(two, interior=False, used=[False, True]) == pytest.approx([0, 1], abs=1e-6)


def test_solutions_are_those_inside_then_light_ones_then_those_without_light_weights() -> None:
    r"""The second hypothesis counts twice, but its square allows a weight of one thousandth only."""
    program = _program(f + u**2 * sp.QQ(1, 1000), f, 2 * f + u**2)
    first = np.array([0.5, 0.25])
    found = list(program.solutions(first))
    assert found[0] is first
    assert [one == pytest.approx(expected, abs=1e-6) for one, expected in zip(
        found[1:], ([0.998, 0.001], [1, 0]), strict=True
    )] == [True, True]  # fmt: skip
    assert len(list(program.solutions(None))) == 2
    assert list(_program(-f, f).solutions(None)) == []


def test_light_weights_are_left_out_first_and_used_at_last() -> None:
    third = 1 / 3 + 1e-9
    found = [[Fraction(int(x.numerator), int(x.denominator)) for x in one]
             for one in _program(RING(0), RING(1), RING(1)).rounded(np.array([third, 1e-7]))]  # fmt: skip
    close = Fraction(third).limit_denominator(10**10)
    assert close.denominator > 10**4
    assert found[0] == [Fraction(1, 3), 0]
    assert [close, Fraction(0)] in found
    assert [close, Fraction(1e-7).limit_denominator(10**10)] in found


def test_problems_of_another_kind_or_too_large_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _problem(u**2 + f + 1, f)
    assert quadratic.attempt(whole) is not None
    assert quadratic.attempt(_problem(u**2 + f + 1, f, sign=Sign.POSITIVE)) is None
    assert quadratic.attempt(_problem(0, zero=(f,), sign=Sign.ZERO)) is None
    # One hypothesis, and one vector: numbers are none.
    for name, enough in (("MOST", 1), ("LARGEST_MATRIX", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(quadratic, name, enough)
            assert quadratic.attempt(whole) is not None
            patch.setattr(quadratic, name, enough - 1)
            assert quadratic.attempt(whole) is None


@pytest.mark.parametrize("way", ["near", "few", "rounded"])
@pytest.mark.parametrize("make", [singular, lambda: _problem(LONG * f + u**2, f, g)])
def test_each_way_to_rational_weights_is_enough(way: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that only a vector fixes are not found near those inside; all else is found by each way alone."""
    if way != "near":
        monkeypatch.setattr(quadratic._Program, "near", lambda *_: None)
    if way != "few":
        monkeypatch.setattr(quadratic, "_of_few", lambda *_: None)
    if way != "rounded":
        monkeypatch.setattr(quadratic._Program, "solutions", lambda *_: iter(()))
    expected = None if way == "near" and make is singular else "54321/98765"
    assert (_weights(make()) or {}).get(0) == expected


def test_solvers_may_give_up_but_are_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """What a solver in Rust raises."""

    def solve_with(error: BaseException) -> Any:
        def solve(*_: Any, **__: Any) -> Any:
            raise error

        monkeypatch.setattr(cvxpy.Problem, "solve", solve)
        return quadratic.attempt(_problem(u**2 + f, f))

    for error in (cvxpy.error.SolverError("no progress"), ValueError("not finite"), PanicException()):
        assert solve_with(error) is None
    for serious in (KeyboardInterrupt, RuntimeError):
        with pytest.raises(serious):
            solve_with(serious())


@pytest.mark.parametrize(
    ("weights", "proves"),
    [
        ([[0, "1"]], True), ([[0, "1"], [1, "0"]], True), ([[0, "2"]], False), ([], False), ([[1, "1"]], False),
        ([[0, "2"], [0, "-1"]], False), ([[2, "1"]], False), ([[-2, "1"]], False), ([["0", "1"]], False),
        ([[0.0, "1"]], False), ([[0, "1"], [1, "1"]], False),
    ],
)  # fmt: skip
def test_stored_weights_are_checked(weights: list[Any], proves: bool) -> None:
    """From f >= 0 and g >= 0 follows f >= 0, with the weights 1 and 0, and no others."""
    sequent = _problem(f, f, g)
    assert quadratic.verified(sequent, {"weights": weights}) is proves


def test_what_is_not_about_inner_products_and_signs_is_not_verified() -> None:
    for goal in (u * v * w, u**3, u, f**4, u * v):
        assert quadratic.verified(_problem(goal), {"weights": []}) is False
    assert quadratic.verified(_problem(RING(0)), {"weights": []}) is True
    assert quadratic.verified(_problem(sp.QQ(-1, 10**30)), {"weights": []}) is False
    assert quadratic.verified(_problem(sp.QQ(1), sign=Sign.POSITIVE), {"weights": []}) is False
    assert quadratic.verified(_problem(u**2 + v**2 + 2 * u * v), {"weights": []}) is True
    assert quadratic.verified(_problem(u**2 + v**2 + (2 + sp.QQ(1, 10**30)) * u * v), {"weights": []}) is False
