"""Results in a notebook and at the prompt: short names, tables that can be gone through."""

from __future__ import annotations

import pytest

import fltheory as fl

SHORT = 180
"""Characters that fit into two lines."""

PROBLEM = fl.client_quadratics(dim=2, num_clients=2, mu=1.0, L=3.0, dissimilarity=1.0)
EVERYONE = fl.Participation(num_clients=2, local_steps=2)
EXPERIMENT = fl.Experiment(problem=PROBLEM, algorithm=fl.FedAvg(), participation=EVERYONE, rounds=3, rate=0.05)


def test_a_counterexample_and_the_search_for_it() -> None:
    found = fl.falsify("ruan.eq-60", budget=5.0)
    text = repr(found.counterexample)
    assert text.startswith("Counterexample('ruan.eq-60', ")
    assert found.counterexample.sign in text
    assert len(text) < SHORT
    assert found.counterexample._repr_html_() in found._repr_html_()
    held = fl.falsify("ruan.eq-68", budget=1e-3)
    assert held.verdict._repr_html_() in held._repr_html_()
    assert f"{held.searches} searches" in held._repr_html_()


def test_implementations_that_do_not_conform() -> None:
    found = fl.conform(lambda federation: [federation.start for _ in federation.participants], "fedavg")
    assert repr(found).startswith("Conformance(FedAvg: ")
    assert len(repr(found)) < SHORT


def test_symbols() -> None:
    symbols = fl.theorem("ruan.theorem-3.1").symbols
    assert repr(symbols).startswith("Symbols(B_tau, D, ")
    assert "theta" in repr(symbols)


def test_rows_of_tables_can_be_gone_through() -> None:
    bounds = fl.compare_theorems(EXPERIMENT, pattern="li.theorem-1")
    assert [one.name for one in bounds] == [one.name for one in bounds.guarantees]
    assert len(bounds) == len(bounds.guarantees) > 0
    sizes = fl.step_sizes(PROBLEM, fl.FedAvg(), EVERYONE, rounds=2, server_rates=())
    assert [one.name for one in sizes] == [one.name for one in sizes.candidates]
    assert len(sizes) == len(sizes.candidates) > 0
    with pytest.raises(KeyError, match="there are stability limit"):
        sizes["nothing"]


@pytest.mark.parametrize(
    "shown",
    [
        PROBLEM,
        fl.noisy_quadratic(dim=300, num_clients=40),
        fl.bent_valley(H=1.0, mu=0.1, distance=1.0, sigma=1.0, num_clients=30),
        fl.controlled_logistic(mu=0.1, L=1.0),
        fl.simulate(EXPERIMENT, engine="exact"),
        fl.theorem("ruan.theorem-3.1"),
        fl.theorem("ruan.theorem-3.1").form(),
        fl.theorem("ruan.theorem-3.1").bound(),
        fl.theorem("ruan.theorem-3.1").compare(EXPERIMENT),
        fl.check("ruan.eq-68", quick=True),
        fl.check("ruan.eq-68", quick=True)[0],
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_what_a_notebook_shows(shown: object) -> None:
    assert len(repr(shown)) < SHORT
    rich = [name for name in ("_repr_html_", "_repr_latex_") if hasattr(shown, name)]
    assert rich
    assert all(len(getattr(shown, name)()) < 10_000 for name in rich)
