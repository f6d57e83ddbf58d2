"""The layout of a proof graph: what is used stands below, layers are folded, and edges cross as little as can be."""

import pytest

from fltheory.validation.proof_graph import _centre, layout, resting_on_failures


def test_a_statement_stands_above_all_that_its_proof_uses():
    plan = layout({"theorem": ["lemma", "step"], "step": ["lemma"], "lemma": [], "alone": [], "own": ["own", "away"]})
    assert dict(plan.layer) == {"lemma": 0, "step": 1, "theorem": 2}
    assert plan.edges == (("theorem", "lemma"), ("theorem", "step"), ("step", "lemma"))
    assert (plan.layers, plan.widest) == (3, 1)
    assert set(plan.position.values()) == {0.0}


def test_nothing_has_no_layers():
    assert (layout({}).layers, layout({}).widest) == (0, 0)


def test_a_circle_is_broken():
    plan = layout({"a": ["b"], "b": ["c"], "c": ["a"]})
    assert set(plan.layer) == set("abc")
    assert plan.layers == 3


def test_a_layer_is_folded_and_centred():
    uses = {"top": [f"x{n}" for n in range(5)], **{f"x{n}": [] for n in range(5)}}
    plan = layout(uses, widest=2)
    assert (plan.layers, plan.widest) == (4, 2)
    assert [plan.layer[f"x{n}"] for n in range(5)] == [0, 0, 1, 1, 2]
    assert plan.layer["top"] == 3
    assert [plan.position[f"x{n}"] for n in range(5)] == [-0.5, 0.5, -0.5, 0.5, 0.0]
    assert layout(uses).widest == 5
    assert layout(uses, widest=5).layers == 2


def test_statements_stand_above_the_mean_of_what_they_use():
    plan = layout({"p": ["c"], "q": ["a"], "r": ["a", "b", "c"], "a": [], "b": [], "c": []})
    assert [plan.position[name] for name in "abc"] == [-1.0, 0.0, 1.0]
    assert sorted("pqr", key=lambda name: plan.position[name]) == ["q", "r", "p"]
    assert plan.position["r"] == pytest.approx(0.0)


def test_a_statement_with_many_uses_is_drawn_no_farther_out_than_they_are():
    """Two uses at 1 have their centre at 1, left of one use at 2; their sum would be as far out."""
    edges = [("b.two", "a.one"), ("b.two", "a.other"), ("b.far", "a.far")]
    position = {"a.one": 1.0, "a.other": 1.0, "a.far": 2.0}
    assert [_centre(node, edges, position) for node in ("b.two", "b.far", "b.none")] == [1.0, 2.0, 0.0]


def test_what_uses_nothing_stands_at_the_bottom_and_a_circle_above_it():
    """A circle closes where it is entered again; whatever is in it uses something."""
    plan = layout({"a": ["b"], "b": ["a"], "x": ["y"], "y": []})
    assert dict(plan.layer) == {"y": 0, "b": 1, "x": 1, "a": 2}


def test_what_holds_although_a_step_fails_is_told_with_all_steps_that_do():
    uses = {"top": ["middle", "fine"], "middle": ["deep", "mixed", "top"], "deep": [], "fine": [], "alone": ["fine"]}
    verdicts = {"top": "HOLDS", "middle": "HOLDS", "deep": "VIOLATED", "mixed": "MIXED", "alone": "HOLDS"}
    found = resting_on_failures(uses, {**verdicts, "fine": "INCONCLUSIVE"})
    assert found == {"top": ["deep", "mixed"], "middle": ["deep", "mixed"]}
    assert resting_on_failures(uses, {**verdicts, "middle": "VIOLATED"}) == {"top": ["middle", "deep", "mixed"]}
