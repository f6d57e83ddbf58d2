"""Functions by their answers: in the plane, and where something else is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from fltheory.bounds.functions import Kinked
from fltheory.validation.proof.function_classes import Answers, any_functions
from fltheory.validation.proof.translate import Untranslatable

x, y, x_2, y_2 = sp.symbols("x y x' y'")
TWINS = {x: x_2, y: y_2}


def _row(*entries: Any) -> Any:
    return np.array([sp.sympify(entry) for entry in entries], dtype=object)


def test_in_the_plane_the_second_coordinate_is_the_twin_of_the_first() -> None:
    plane = Answers(twins=dict(TWINS))
    assert plane.along(_row(x - 2 * y, x_2 - 2 * y_2)) == x - 2 * y
    assert plane.along(_row(x * (1 + y), x_2 + x_2 * y_2)) == x * (1 + y)  # as far as both are the same
    assert plane.along(_row(3, 3)) == 3
    for other in (_row(x, y), _row(x, y_2), _row(x, x), _row(x, 2 * x_2), _row(x, 0), _row(1, 2)):
        with pytest.raises(Untranslatable, match="coordinates are not treated alike"):
            plane.along(other)
    for row, answers in ((_row(x), plane), (_row(x, x_2), Answers()), (_row(), Answers())):
        with pytest.raises(Untranslatable, match="one coordinate"):
            answers.along(row)
    assert Answers().along(_row(x)) == x


def test_answers_in_the_plane_have_twins() -> None:
    zero, one, two = (_row(n, n)[None] for n in range(3))
    f = Kinked(centre=zero, knot=one, left=one, right=two)
    with any_functions(dict(TWINS)) as answers:
        slope = f.gradient(0, _row(x, x_2))
        assert slope.shape == (2,)
        assert slope[1] == answers.twins[slope[0]] != slope[0]
        assert f.gradient(0, _row(x, x_2)).tolist() == slope.tolist()
        assert f.gradients(_row(x, x_2)).tolist() == [slope.tolist()]
        assert f.minimiser([1]).tolist() == [0, 0]
        with pytest.raises(Untranslatable, match="not treated alike"):
            f.gradient(0, _row(x, y))
    assert answers.vectors == [slope[0]]
    assert len(answers.numbers) == 1


def test_weights_that_are_zero_choose_nothing() -> None:
    one = np.array([[sp.Integer(1)]] * 3, dtype=object)
    f = Kinked(centre=np.array([[sp.Integer(n)] for n in range(3)], dtype=object), knot=one, left=one, right=2 * one)
    with any_functions() as answers:
        assert answers.optimum(f, [0, 1, 0]) == 1
        assert answers.optimum(f, [0, 5, 0], 0) == 1
        tilted = answers.optimum(f, [0, 1, 0], x)
        assert answers.at(f, 1, tilted)[0] == x
        both = answers.optimum(f, [1, 0, 3], x)
        assert sp.expand(answers.at(f, 0, both)[0] + 3 * answers.at(f, 2, both)[0]) == x
        assert answers.optimum(f, [2, 0, 6], 2 * x) == both
        for weights in ([1, -1, 0], [1, sp.sqrt(2), 0]):
            with pytest.raises(Untranslatable, match="not positive numbers"):
                answers.optimum(f, weights)


def test_what_is_known_of_values_and_gradients_by_hand() -> None:
    r"""With slopes 1 and 2, at the centre 0 and at x: :math:`f - gx + 0 \ge \frac12((g)^2/2 + x^2 - gx)\cdot2`.

    :math:`1 / (2(1 - \mu / L)) = 1`, so both inequalities are less :math:`g^2 / 2 + x^2 - gx`.
    """
    one = np.array([[sp.Integer(1)]], dtype=object)
    f = Kinked(centre=0 * one, knot=one, left=one, right=2 * one)
    with any_functions() as answers:
        g, value = f.gradient(0, _row(x))[0], f.value(0, _row(x))
    bent = g**2 / 2 + x**2 - g * x
    found = {sp.expand(one) for one in answers.inequalities()}
    assert found == {sp.expand(value - bent), sp.expand(-value + g * x - bent)}
    assert list(answers.equations()) == []
