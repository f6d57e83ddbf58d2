"""Problems print as one line, and as a small table in a notebook."""

import numpy as np
import pytest

from fltheory.logistic import LogisticProblem, Samples, controlled_logistic, synthetic
from fltheory.problems import display
from fltheory.problems.problem import Constant, Origin
from fltheory.quadratic import client_quadratics, noisy_quadratic


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (
            noisy_quadratic(),
            "Quadratic(num_clients=10, dim=20, mu=1, L=5, client_drift_sq=0.01, round_drift_sq=0.01, noise_sq=1e-05)",
        ),
        (
            noisy_quadratic(scenario="S1", dim=2, noise_sq=0, round_drift_sq=0),
            "Quadratic(num_clients=10, dim=2, mu=1, L=5, fresh_drift_sq=0.01)",
        ),
        (client_quadratics(), "Quadratic(num_clients=5, dim=10, mu=1, L=5)"),
        (
            controlled_logistic(num_classes=3, L=2.5, batch_size=4, round_drift_by="tilt", noise_sq=0.5),
            "LogisticProblem(num_clients=10, dim=30, samples=500, classes=3, mu=0.1, L=2.5, batch_size=4, "
            "round_drift_sq=0.01, noise_sq=0.5)",
        ),
    ],
)
def test_a_problem_prints_as_one_line(problem: object, text: str) -> None:
    assert repr(problem) == text


def test_large_problems_print_at_once_and_leave_their_constants_alone() -> None:
    problem = synthetic(alpha=1.0, beta=1.0, seed=0, max_size=200)
    assert len(repr(problem)) < 150
    assert "constants() computes the constants" in problem._repr_html_()
    assert "constants" not in problem._solved
    dense = client_quadratics(dim=120, num_clients=60)
    assert repr(dense) == "Quadratic(num_clients=60, dim=120)"
    assert "constants() computes" in dense._repr_html_()


def test_the_table_shows_every_constant_with_its_origin() -> None:
    problem = noisy_quadratic(noise_sq=0.25)
    shown = problem._repr_html_()
    assert len(shown) < 3000
    for name, constant in problem.constants().items():
        assert f"<code>{name}</code>" in shown
        assert constant.origin.value in shown
    assert "<td>0.25</td><td>declared</td>" in shown


def test_the_table_says_why_there_are_no_constants() -> None:
    rng = np.random.default_rng(0)
    train = Samples.from_clients([1e9 * rng.standard_normal((40, 3))], [rng.integers(0, 2, 40)])
    problem = LogisticProblem(train=train, num_classes=2, binary=True, l2=1e-6)
    assert "scale the features" in problem._repr_html_()


def test_text_is_escaped_and_arrays_are_ranges() -> None:
    shown = display.table("<b>", lambda: {"a<b": Constant(np.array([1.0, 3.0]), Origin.MEASURED, "x & y")})
    assert "<b>" not in shown
    assert "<code>a&lt;b</code></td><td>1 … 3</td><td>measured</td><td>x &amp; y</td>" in shown
