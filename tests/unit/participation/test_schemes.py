"""Aggregation weights of schemes A, B and C on rows worked out by hand."""

import numpy as np
import pytest

from fltheory.participation import Scheme, scheme_weights

P = np.array([0.5, 0.3, 0.2])
STEPS = np.array([[4, 4, 4], [4, 2, 1], [3, 2, 0], [0, 0, 0]])


def test_scheme_a_averages_the_complete():
    """E = 4. K = 3, 1, 0, 0: factors N/K = 1 and 3, then nothing."""
    weights = scheme_weights(Scheme.A, P, STEPS, 4)
    assert weights == pytest.approx(np.array([[0.5, 0.3, 0.2], [1.5, 0, 0], [0, 0, 0], [0, 0, 0]]))


def test_scheme_b_is_constant():
    assert scheme_weights(Scheme.B, P, STEPS, 4).tolist() == [P.tolist()] * 4


def test_scheme_c_evens_out_the_steps():
    """E/s = 1, 2, 4 and 4/3, 2, none: weight times steps is E p_i for whoever works."""
    weights = scheme_weights(Scheme.C, P, STEPS, 4)
    assert weights == pytest.approx(np.array([[0.5, 0.3, 0.2], [0.5, 0.6, 0.8], [2 / 3, 0.6, 0], [0, 0, 0]]))
    assert weights * STEPS == pytest.approx(np.where(STEPS > 0, 4 * P, 0))


def test_clients_outside_the_objective_do_not_count():
    """A client of weight 0 (not arrived, or excluded) raises neither N nor K in scheme A."""
    p = np.array([0.6, 0.4, 0.0])
    steps = np.array([[2, 0, 0], [2, 2, 2]])
    assert scheme_weights(Scheme.A, p, steps, 2) == pytest.approx(np.array([[1.2, 0, 0], [0.6, 0.4, 0]]))


@pytest.mark.parametrize("scheme", list(Scheme))
def test_full_work_is_plain_averaging(scheme):
    assert scheme_weights(scheme, P, np.full((2, 5, 3), 7), 7) == pytest.approx(np.broadcast_to(P, (2, 5, 3)))


@pytest.mark.parametrize("scheme", list(Scheme))
def test_the_result_is_a_new_array(scheme):
    weights = scheme_weights(scheme, P, np.full((2, 3), 7), 7)
    weights *= 2
    assert P.tolist() == [0.5, 0.3, 0.2]
