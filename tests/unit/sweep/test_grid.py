"""Grids: every combination once, each equal to a file with the values typed in, mistakes at their line and point."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.configuration.experiments import parse
from fltheory.configuration.toml_text import TomlText
from fltheory.errors import InvalidParameter
from fltheory.simulation.experiment import describe
from fltheory.sweep import Grid, plan
from fltheory.sweep.grid import MAX_RUNS

HEAD = """\
rounds = {rounds}
replicates = {replicates}
seed = {seed}
engine = "reference"
{sweep}
[problem]
name = "client-quadratics"
dim = 4
num_clients = 3
mu = {mu}
noise_sq = {noise_sq}

[participation]
local_steps = {local_steps}
selection = {selection}

[[algorithm]]
name = "fedavg"
rate = {rate}

[[algorithm]]
name = "fedprox"
label = "strong"
prox = 2.0
rate = {rate}
"""
TYPED = {
    "rounds": "3",
    "replicates": "2",
    "seed": "1",
    "mu": "1.0",
    "noise_sq": "0.1",
    "local_steps": "2",
    "selection": '"everyone"',
    "rate": "0.1",
}
LISTS = {
    "rounds": ("rounds", ["2", "5"]),
    "replicates": ("replicates", ["1", "3", "4"]),
    "seed": ("seed", ["0", "1", "7"]),
    "mu": ("problem.mu", ["0.0", "0.5", "1"]),
    "noise_sq": ("problem.noise_sq", ["0.5", "[0.1, 0.2, 0.3]"]),
    "local_steps": ("participation.local_steps", ["1", "4", "16"]),
    "selection": ("participation.selection", ['"everyone"', '{ name = "with-replacement", size = 2 }']),
    "rate": ("algorithm.rate", ["0.01", '{ name = "inverse", scale = 1.0 }']),
}


def grid(text: str) -> Grid:
    return Grid.read(TomlText(path="f.toml", text=text))


def swept(lines: str, **typed: str) -> str:
    return HEAD.format(sweep=f"\n[sweep]\n{lines}\n", **(TYPED | typed))


def same(value: Any) -> str:
    return json.dumps(describe(value), sort_keys=True)


@st.composite
def choices(draw: st.DrawFn) -> dict[str, list[str]]:
    names = draw(st.lists(st.sampled_from(sorted(LISTS)), min_size=1, max_size=3, unique=True))
    lists = {name: st.lists(st.sampled_from(LISTS[name][1]), min_size=1, unique=True) for name in names}
    return {name: draw(values) for name, values in lists.items()}


@settings(deadline=None, max_examples=40)
@given(choices(), st.data())
def test_a_point_is_the_file_with_its_values_typed_in(lists: dict[str, list[str]], data: st.DataObject) -> None:
    text = swept("\n".join(f"{LISTS[name][0]} = [{', '.join(values)}]" for name, values in lists.items()))
    made = grid(text)
    assert len(made) == math.prod(len(values) for values in lists.values())
    index = data.draw(st.integers(0, len(made) - 1))
    rest, typed = index, {}
    for name, values in reversed(lists.items()):  # the last list is the fastest
        rest, at = divmod(rest, len(values))
        typed[name] = values[at]
    expected = parse(HEAD.format(sweep="", **(TYPED | typed)))
    found = made.at(index)[1]
    assert [label for label, _ in found.experiments] == [label for label, _ in expected.experiments]
    for (_, one), (_, other) in zip(found.experiments, expected.experiments, strict=True):
        assert same(one) == same(other)
    for name in ("engine", "seed", "replicates", "record", "title"):
        assert getattr(found, name) == getattr(expected, name)


@settings(deadline=None, max_examples=10)
@given(choices())
def test_all_points_differ_and_are_planned_once_per_algorithm(lists: dict[str, list[str]]) -> None:
    made = grid(swept("\n".join(f"{LISTS[name][0]} = [{', '.join(values)}]" for name, values in lists.items())))
    runs = plan(made)
    assert len(runs) == 2 * len(made)
    assert len({run.key for run in runs}) == len(runs)
    assert [run.label for run in runs] == ["FedAvg", "strong"] * len(made)


def test_all_ways_to_write_a_path_are_the_same() -> None:
    ways = [
        "participation.local_steps = [1, 4]",
        "[sweep.participation]\nlocal_steps = [1, 4]",
        "participation = { local_steps = [1, 4] }",
    ]
    grids = [grid(swept(way)) for way in ways]
    assert all(made.axes == grids[0].axes for made in grids)
    assert grids[0].axes[0].name == "participation.local_steps"


def test_the_order_is_that_of_the_file_and_the_last_list_is_the_fastest() -> None:
    made = grid(swept("seed = [3, 4]\nproblem.mu = [0.5, 1.0]"))
    points = [made.point(index) for index in range(4)]
    assert [tuple(point.values()) for point in points] == [(3, 0.5), (3, 1.0), (4, 0.5), (4, 1.0)]
    assert list(points[0]) == ["seed", "problem.mu"]


def test_a_name_alone_becomes_a_table_where_a_parameter_is_swept() -> None:
    made = grid(swept("participation.selection.size = [1, 2]", selection='"with-replacement"'))
    selections = [made.at(index)[1].experiments[0][1].participation.selection for index in range(2)]
    assert [selection.size for selection in selections] == [1, 2]  # type: ignore[attr-defined]


def test_titles_and_labels_decide_nothing_but_everything_else_does() -> None:
    text = swept("problem.mu = [0.5, 1.0]")
    keys = {run.key for run in plan(grid(text))}
    shown = text.replace('"strong"', '"very strong"').replace("rounds = 3", 'rounds = 3\ntitle = "T"')
    assert {run.key for run in plan(grid(shown))} == keys
    for old, new in (
        ("rounds = 3", "rounds = 4"), ("seed = 1", "seed = 2"), ("replicates = 2", "replicates = 3"),
        ('"reference"', '"exact"'), ("dim = 4", "dim = 5"), ("local_steps = 2", "local_steps = 3"),
        ("rate = 0.1", "rate = 0.2"), ("\n[problem]", "\n[record]\nconsensus = true\n[problem]"),
    ):  # fmt: skip
        assert not keys & {run.key for run in plan(grid(text.replace(old, new)))}, new


def test_a_value_that_is_typed_in_later_is_recognised() -> None:
    wide = {run.key for run in plan(grid(swept("problem.mu = [0.5, 1.0]\nseed = [1, 2]")))}
    assert {run.key for run in plan(grid(swept("problem.mu = [0.5, 1.0]", seed="2")))} < wide


def test_tables_are_not_shared_between_points() -> None:
    made = grid(swept("participation.selection.size = [1, 2]", selection='"with-replacement"'))
    before = json.dumps(made.tables)
    first = made.at(0)[0]
    made.at(1)
    assert first["participation"]["selection"]["size"] == 1
    assert json.dumps(made.tables) == before


MISTAKES = {
    "no list": ("seed = 3", "f.toml:7: sweep.seed must be a list of one value or more, got 3; write"),
    "empty list": ("problem.mu = []", "f.toml:7: sweep.problem.mu must be a list of one value or more, got []"),
    "no table": (None, "f.toml:5: sweep must be a table of lists, got [1]"),
    "nothing swept": ("", "f.toml:6: sweep must hold at least one list"),
    "empty table": ("[sweep.problem]", "f.toml:7: sweep.problem must hold at least one list"),
    "the same twice": ("seed = [1, 2, 1]", "f.toml:7: sweep.seed must hold different values, got 1 twice"),
    "the same number": ("problem.mu = [1, 1.0]", "sweep.problem.mu must hold different values, got 1.0 twice"),
    "the same table": (
        'algorithm.rate = [{ name = "inverse", scale = 1 }, { scale = 1.0, name = "inverse" }]',
        "sweep.algorithm.rate must hold different values",
    ),
    "infinite": ("problem.mu = [inf]", "f.toml:7: sweep.problem.mu must hold finite numbers"),
    "a date": ("seed = [2020-01-01]", "f.toml:7: sweep.seed must hold finite numbers, strings"),
    "unknown key": ("replicas = [1]", "f.toml:7: sweep.replicas leads nowhere"),
    "near miss": ("problm.mu = [1]", "f.toml:7: sweep.problm.mu leads nowhere", "did you mean 'problem'"),
    "sweep of sweeps": ("sweep.seed = [1]", "f.toml:7: sweep.sweep.seed leads nowhere"),
    "unknown parameter": (
        "problem.nu = [0.5]",
        "f.toml:7: problem.nu is not a parameter of client_quadratics",
        "did you mean 'mu'?; at point 1 of 1: problem.nu = 0.5",
    ),
    "refused value": (
        "seed = [1, 2]\nproblem.mu = [1.0, -1.0]",
        "f.toml:8: problem.mu: client_quadratics.mu must be a number in [0, inf), got mu=-1.0",
        "; at point 2 of 4: seed = 1, problem.mu = -1.0",
    ),
    "refused seed": ("seed = [1, -2]", "f.toml:7: seed", "an integer >= 0, got seed=-2; at point 2 of 2: seed = -2"),
    "refused together": (
        "problem.L = [0.5, 2.0]",
        "f.toml:13: problem.mu: client_quadratics.mu must be in [0, L], got mu=1 with L=0.5; at point 1 of 2",
    ),
    "refused for one algorithm": (
        "algorithm.prox = [0.1]",
        "f.toml:7: algorithm[1].prox is not a parameter of fedavg",
        "at point 1 of 1: algorithm.prox = 0.1",
    ),
    "refused rate": ("algorithm.rate = [0.1, 0]", "f.toml:7: algorithm[1].rate", "at point 2 of 2: algorithm.rate = 0"),
    "into a number": (
        "algorithm.rate.scale = [1.0]",
        "f.toml:7: sweep.algorithm.rate.scale must lead into a table, got algorithm[1].rate = 0.1",
    ),
    "title": ('title = ["a", "b"]', "f.toml:7: sweep.title cannot be swept"),
    "label": ('algorithm.label = ["a", "b"]', "f.toml:7: sweep.algorithm.label cannot be swept"),
    "algorithms": ("[[sweep.algorithm]]\nname = 'fedavg'", "f.toml:7: sweep.algorithm must be a table of lists"),
    "too many": (
        f"seed = {list(range(400))}\nparticipation.local_steps = {list(range(1, 201))}",
        f"f.toml:6: sweep must give at most {MAX_RUNS} runs, got 160000: 400 x 200 points",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_name_their_line_and_point(name: str) -> None:
    lines, *says = MISTAKES[name]
    text = HEAD.format(sweep="sweep = [1]", **TYPED) if lines is None else swept(lines)
    with pytest.raises(InvalidParameter) as caught:
        plan(grid(text))
    for fragment in says:
        assert fragment in str(caught.value)


def test_algorithms_must_be_in_the_file() -> None:
    text = swept("algorithm.rate = [0.1]")
    with pytest.raises(InvalidParameter, match=r"algorithm must be one table or more, got \[\]; begin each with"):
        plan(grid(text[: text.index("[[algorithm]]")]))


def test_each_command_names_the_other() -> None:
    with pytest.raises(InvalidParameter, match=r"f.toml: sweep is missing.* use: fltheory run f.toml"):
        grid(HEAD.format(sweep="", **TYPED))
    with pytest.raises(InvalidParameter, match=r"f.toml:6: sweep makes a grid.*: fltheory sweep f.toml"):
        parse(swept("seed = [1]"), path="f.toml")


def test_points_with_the_same_problem_share_it_and_others_do_not() -> None:
    text = """
rounds = 2
[problem]
name = "noisy-quadratic"
[participation]
local_steps = 1
[[algorithm]]
name = "fedavg"
rate = 0.1
[sweep]
problem.L = [2.0, 3.0]
seed = [1, 2]
"""
    grid = Grid.read(TomlText(path="f.toml", text=text))
    problems = [grid.at(index)[1].experiments[0][1].problem for index in range(4)]
    assert problems[0] is problems[1]
    assert problems[2] is problems[3]
    assert problems[0] is not problems[2]
    assert len(grid._problems) == 1, "memory stays flat"
    assert [problem.constants()["L"].value for problem in problems] == [2.0, 2.0, 3.0, 3.0]
    assert Grid.read(grid.source).at(0)[1].experiments[0][1].problem is not problems[0]
