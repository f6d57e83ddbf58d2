"""Configuration files: what they mean, where mistakes are found, and that nothing unexpected escapes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from fltheory._internal.arguments import Floats
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.configuration import experiments, registry
from fltheory.configuration.experiments import Configuration, parse, slug
from fltheory.configuration.toml_text import TomlText, dotted
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.participation import (
    Arrival,
    BernoulliSteps,
    Departure,
    Everyone,
    FullSteps,
    StepCounts,
    TimeVarying,
    Trace,
    UniformSteps,
    WithoutReplacement,
)
from fltheory.simulation.recording import Record
from fltheory.simulation.schedules import Constant, Inverse, PerStep, Table

SMALL = """\
rounds = 3
[problem]
name = "noisy-quadratic"
dim = 4
num_clients = 3
[participation]
local_steps = 2
[[algorithm]]
name = "fedavg"
rate = 0.1
"""


def participation(text: str) -> Any:
    return parse(SMALL.replace("local_steps = 2", f"local_steps = 2\n{text}")).experiments[0][1].participation


def rate(text: str) -> Any:
    return parse(SMALL.replace("rate = 0.1", f"rate = {text}")).experiments[0][1].rate


def test_defaults() -> None:
    read = parse(SMALL)
    ((label, experiment),) = read.experiments
    assert (label, read.engine, read.seed, read.replicates, read.title) == ("FedAvg", "monte_carlo", 0, 64, None)
    assert read.record == Record()
    assert read.text == SMALL
    assert experiment.algorithm == FedAvg()
    assert experiment.rounds == 3
    assert experiment.rate == Constant(value=0.1)
    assert (experiment.problem.dim, experiment.problem.num_clients) == (4, 3)
    assert isinstance(experiment.participation.selection, Everyone)
    assert isinstance(experiment.participation.steps, FullSteps)


def test_everything_that_can_be_said_once() -> None:
    text = """
        rounds = 2
        replicates = 5
        seed = 7
        engine = "reference"
        title = "T"
        record = { consensus = false, nonzeros = true, entropy_bin = 0.5, models = true }
        [problem]
        name = "client-quadratics"
        num_clients = 3
        sample_counts = [1, 2, 3]
        noise_sq = [0.1, 0.2, 0.3]
        [participation]
        local_steps = 4
        [[algorithm]]
        name = "cfl-r"
        label = "memory"
        weighting = "geometric"
        forgetting = 0.5
        rate = 1
        [[algorithm]]
        name = "fedavg"
        rate = 0.1
    """
    read = parse(text)
    assert (read.replicates, read.seed, read.engine, read.title) == (5, 7, "reference", "T")
    assert read.record == Record(consensus=False, nonzeros=True, entropy_bin=0.5, models=True)
    assert [label for label, _ in read.experiments] == ["memory", "FedAvg"]
    first, second = (experiment for _, experiment in read.experiments)
    assert first.algorithm == CFLR(weighting="geometric", forgetting=0.5)
    assert first.problem is second.problem
    assert first.participation is second.participation
    np.testing.assert_allclose(first.problem.weights, [1 / 6, 1 / 3, 1 / 2])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", Constant(value=1.0)),
        ('{ name = "constant", value = 0.5 }', Constant(value=0.5)),
        ('{ name = "inverse", scale = 2.0 }', Inverse(scale=2.0)),
        ('{ name = "per-step", scale = 2.0, shift = 3.0 }', PerStep(scale=2.0, shift=3.0)),
        ('{ name = "inverse", scale = 2.0, shift = 3.0 }', Inverse(scale=2.0, shift=3.0)),
    ],
)
def test_rates(text: str, expected: object) -> None:
    assert rate(text) == expected


def test_table_of_rates() -> None:
    table = rate('{ name = "table", values = [0.3, 0.2] }')
    assert isinstance(table, Table)
    assert [table.at(tau) for tau in range(3)] == [0.3, 0.2, 0.2]


@pytest.mark.parametrize(("name", "kind"), registry.selections().items())
def test_every_selection_can_be_named(name: str, kind: type) -> None:
    values = {"size": "2", "renormalise": "true", "probability": "0.5"}
    given_values = ", ".join(f"{field} = {values[field]}" for field in registry.parameters(kind))
    read = participation(f'selection = {{ name = "{name}"{", " if given_values else ""}{given_values} }}')
    assert type(read.selection) is kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"full"', FullSteps()),
        ('{ name = "uniform", low = 1 }', UniformSteps(low=1)),
        ('{ name = "bernoulli", probability = 0.5 }', BernoulliSteps(probability=0.5)),
    ],
)
def test_step_laws(text: str, expected: object) -> None:
    assert participation(f"steps = {text}").steps == expected


def test_step_laws_with_arrays() -> None:
    counts = participation('steps = { name = "counts", pmf = [0.2, 0.3, 0.5] }').steps
    assert isinstance(counts, StepCounts)
    np.testing.assert_allclose(counts.pmf, [[0.2, 0.3, 0.5]])
    trace = participation('steps = { name = "trace", steps = [[0, 1, 2], [2, 2, 2]] }').steps
    assert isinstance(trace, Trace)
    np.testing.assert_array_equal(trace.steps, [[0, 1, 2], [2, 2, 2]])


def test_step_laws_inside_a_step_law() -> None:
    text = 'steps = { name = "time-varying", starts = [0, 5], laws = ["full", { name = "uniform", low = 1 }] }'
    law = participation(text).steps
    assert law == TimeVarying(laws=(FullSteps(), UniformSteps(low=1)), starts=(0, 5))


def test_a_string_stands_for_a_table_with_a_name() -> None:
    assert parse(SMALL).experiments[0][1].participation == participation('selection = "everyone"\nsteps = "full"')


def test_timeline() -> None:
    read = participation(
        "arrivals = [{ client = 2, round = 1, fast_reboot = true }]\n"
        "[[participation.departures]]\nclient = 0\nround = 2\nexclude = true"
    )
    assert read.timeline.arrivals == (Arrival(client=2, round=1, fast_reboot=True),)
    assert read.timeline.departures == (Departure(client=0, round=2, exclude=True),)
    assert isinstance(participation('selection = { name = "without-replacement", size = 2, renormalise = false }')
                      .selection, WithoutReplacement)  # fmt: skip


def test_every_algorithm_can_be_named() -> None:
    tables = "".join(f'[[algorithm]]\nname = "{name}"\nrate = 0.1\n' for name in registry.algorithms())
    read = parse(SMALL[: SMALL.index("[[algorithm]]")] + tables)
    assert [type(experiment.algorithm) for _, experiment in read.experiments] == list(registry.algorithms().values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rounds = 3", "rounds = 0", "f.toml:1: rounds: Configuration.rounds must be an integer >= 1"),
        ("dim = 4", "dmi = 4", r"f.toml:4: problem.dmi is not a parameter of noisy_quadratic; .* did you mean 'dim'"),
        ("dim = 4", "mu = -1", "f.toml:4: problem.mu: noisy_quadratic.mu must be a number in"),
        ("local_steps = 2", "", "f.toml:6: participation.local_steps is missing"),
        ("rate = 0.1", "rate = -1", r"f.toml:10: algorithm\[1\].rate: "),
        ("rate = 0.1", "rate.name = 'inverse'\nrate.scale = 0", r"f.toml:11: algorithm\[1\].rate.scale: Inverse.scale"),
        ("rate = 0.1", "[algorithm.rate]\nname = 'inverse'\nscale = 0", r"f.toml:12: algorithm\[1\].rate.scale: "),
        ("rate = 0.1", "", r"f.toml:8: algorithm\[1\].rate is missing"),
    ],
)
def test_mistakes_are_located(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        parse(SMALL.replace(old, new), path="f.toml")


def test_the_right_table_of_a_list_is_blamed() -> None:
    more = SMALL + '[[algorithm]]\nname = "fedprox"\nlabel = "x"\nrate = 0.1\nprox = -1\n'
    with pytest.raises(InvalidParameter, match=r"f.toml:15: algorithm\[2\].prox: FedProx.prox must be .*got prox=-1"):
        parse(more, path="f.toml")


def test_a_field_deep_in_a_table_is_blamed_only_if_there_is_one() -> None:
    size = 'selection = { name = "by-size", size = 9 }'
    with pytest.raises(InvalidParameter, match=r"f.toml:8: participation.selection.size: BySize.size"):
        parse(SMALL.replace("local_steps = 2", f"local_steps = 2\n{size}"), path="f.toml")
    client = "arrivals = [{ client = 7, round = 1 }]"
    with pytest.raises(InvalidParameter, match=r"f.toml:8: participation.arrivals\[1\].client: Arrival.client must be"):
        parse(SMALL.replace("local_steps = 2", f"local_steps = 2\n{client}"), path="f.toml")
    clients = "arrivals = [{ client = 1, round = 1 }, { client = 7, round = 1 }]"
    with pytest.raises(InvalidParameter, match=r"f.toml:6: participation: Arrival.client must be"):
        parse(SMALL.replace("local_steps = 2", f"local_steps = 2\n{clients}"), path="f.toml")


def test_lines_are_found_in_spite_of_arrays_and_comments() -> None:
    text = "a = 1 # [b]\nc = [\n [1, 2],\n [3]\n]\n[b] # x\na = 2\n[[d.e]]\nf = 1\n[[d.e]]\n[d.e.g]\nh = { i = 1 }\n"
    source = TomlText(path="f", text=text)
    places = {("a",): 1, ("c",): 2, ("b",): 6, ("b", "a"): 7, ("d", "e", 1, "f"): 9, ("d", "e", 2): 10}
    places |= {("d", "e", 2, "g", "h", "i"): 12, ("nowhere",): None, ("b", "missing"): 6}
    assert {key: source.line_of(key) for key in places} == places


def test_dotted() -> None:
    assert dotted(()) == ""
    assert dotted(("participation", "arrivals", 3, "client")) == "participation.arrivals[3].client"


@given(st.text(max_size=40))
def test_slugs_are_stable_file_names(label: str) -> None:
    name = slug(label)
    assert slug(name) == name
    assert not set(name) & set("/\\. \0\n:")


def test_configuration_can_be_changed_but_not_to_nonsense() -> None:
    read = parse(SMALL)
    assert dataclasses.replace(read, seed=9).seed == 9
    with pytest.raises(InvalidParameter, match=r"Configuration.replicates must be an integer >= 1, got replicates=0"):
        dataclasses.replace(read, replicates=0)


def test_load_reads_what_parse_reads(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    assert experiments.load(path).path == str(path)
    assert isinstance(experiments.load(path), Configuration)


LARGE = """\
rounds = 3
replicates = 2
seed = 1
engine = "reference"
title = "T"
[record]
consensus = true
entropy_bin = 0.1
models = false
[problem]
{problem}
[participation]
local_steps = 2
{participation}
[[participation.arrivals]]
client = 1
round = 1
fast_reboot = false
[[participation.departures]]
client = 0
round = 2
exclude = false
[[algorithm]]
name = "{algorithm}"
label = "x"
{rate}
"""
PROBLEMS = (
    'name = "noisy-quadratic"\ndim = 4\nnum_clients = 3\nmu = 0.5\nL = 2.0\nspectrum = "log"\nrotated = false\n'
    'scenario = "S1"\nclient_drift_sq = 0.1\nround_growth = 0.1\nnoise_law = "bounded"\nhessian_noise = 0.1\nseed = 1',
    'name = "client-quadratics"\ndim = 4\nnum_clients = 3\nmu = 0.5\nL = 2.0\ndissimilarity = 1.0\ncommuting = true\n'
    "spread = 1.0\nradius = 1.0\nsample_counts = [1, 2, 3]\nnoise_sq = [0.1, 0.1, 0.1]\nseed = 1",
    'name = "synthetic"\nalpha = 1.0\nbeta = 1.0\nnum_clients = 3\nnum_features = 4\nnum_classes = 3\nsizes = "equal"\n'
    "min_size = 10\nmax_size = 20\niid = false\ntest_share = 0.1\nl2 = 0.1\nbatch_size = 2\nlabel_drift = 0.1\nseed=1",
    'name = "logistic-clients"\nnum_clients = 3\nnum_features = 4\nsamples = [5, 6, 7]\nsignal = 1.0\n'
    "label_shift = 0.5\nintercept = true\nl2 = 0.1\nseed = 1",
)
PARTICIPATIONS = (
    'selection = { name = "without-replacement", size = 2, renormalise = true }\nsteps = { name = "uniform", low = 1 }',
    '[participation.selection]\nname = "by-size"\nsize = 2\n[participation.steps]\nname = "counts"\n'
    "pmf = [0.2, 0.3, 0.5]",
    '[participation.selection]\nname = "bernoulli"\nprobability = 0.5\n[participation.steps]\nname = "time-varying"\n'
    'starts = [0, 1]\nlaws = ["full", "full"]',
    '[participation.selection]\nname = "with-replacement"\nsize = 2\n[participation.steps]\nname = "trace"\n'
    "steps = [[0, 1, 2]]",
    '[participation.steps]\nname = "bernoulli"\nprobability = [0.5, 0.5, 1.0]',
)
RATES = ("rate = 0.1", '[algorithm.rate]\nname = "inverse"\nscale = 1.0\nshift = 2.0',
         '[algorithm.rate]\nname = "table"\nvalues = [0.1, 0.2]')  # fmt: skip
WRONG = (
    "-1", "0", "1", "7", "2.5", "1e300", "nan", "inf", "-inf", "true", '""', '"x"', "[]", "[1]", "[-1, 0, 1]",
    "[[1.0]]", "[[1, 2, 3], [4]]", '["a"]', "[true]", "[nan, 1, 1]", "{}", '{ name = "x" }', '{ name = "full" }',
    "2020-01-01", "12:00:00", "1" + "0" * 30, "1" + "0" * 400,
)  # fmt: skip


@st.composite
def damaged_files(draw: st.DrawFn) -> str:
    """Draw a correct file in which one value was replaced, or one line lost or repeated."""
    text = LARGE.format(
        problem=draw(st.sampled_from(PROBLEMS)),
        participation=draw(st.sampled_from(PARTICIPATIONS)),
        algorithm=draw(st.sampled_from(sorted(registry.algorithms()))),
        rate=draw(st.sampled_from(RATES)),
    )
    lines = text.splitlines()
    where = draw(st.integers(0, len(lines) - 1))
    if draw(st.booleans()) and " = " in lines[where]:
        lines[where] = lines[where].split(" = ")[0] + " = " + draw(st.sampled_from(WRONG))
    else:
        lines[where : where + 1] = draw(st.sampled_from(([], [lines[where]] * 2, ["oops = 1", lines[where]])))
    return "\n".join(lines)


@settings(deadline=None, max_examples=300)
@given(damaged_files())
def test_no_damage_escapes_as_anything_but_our_own_error(text: str) -> None:
    try:
        parse(text, path="f.toml")
    except FltheoryError as error:
        message = str(error)
        assert message.startswith("f.toml")
        # Only a size beyond all memory may be left for NumPy to refuse; the rest is for constructors to name.
        assert "cannot be built" not in message or "0" * 30 in text, message


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (PROBLEMS[3].replace("samples = [5, 6, 7]", "samples = 2.5"), r"problem.samples"),
        (PROBLEMS[3].replace("samples = [5, 6, 7]", "samples = [5, 6, 'x']"), r"problem.samples"),
        (PROBLEMS[1].replace("noise_sq = [0.1, 0.1, 0.1]", "noise_sq = [[1, 2], [3]]"), r"problem.noise_sq"),
        (PROBLEMS[1].replace("noise_sq = [0.1, 0.1, 0.1]", "noise_sq = {}"), r"problem.noise_sq"),
    ],
)
def test_the_value_that_a_constructor_trips_over_is_named(problem: str, message: str) -> None:
    text = LARGE.format(problem=problem, participation=PARTICIPATIONS[0], algorithm="fedavg", rate=RATES[0])
    with pytest.raises(InvalidParameter, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (bool, [True], [1, "x", []]),
        (int, [1], [True, 1.0, "1"]),
        (float, [1, 1.5, math.nan], [False, "1", [1.0]]),
        (float | None, [2.0], ["none"]),
        (str, ["x"], [1, ["x"]]),
        (int | Sequence[int], [1, [1, 2], []], [1.5, [1.5], "12"]),
        (tuple[int, ...], [[0, 1]], [0, ["0"]]),
        (ArrayLike, [1.0, [1, 2], [[1.0]]], [[[1], [1, 2]], "x", ["x"], {}, True]),
        (ArrayLike | None, [1.0, [1, 2]], ["x"]),
        (float | Floats, [1.0, [0.5]], ["x", [None]]),
    ],
    ids=str,
)
def test_kinds_of_values(annotation: Any, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        experiments._check_kinds("problem", {"key": annotation}, {"key": value})
    for value in bad:
        with pytest.raises(InvalidParameter, match=r"problem.key must be .*, got key="):
            experiments._check_kinds("problem", {"key": annotation}, {"key": value})


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("laws", PARTICIPATIONS)
def test_undamaged_files_are_accepted(problem: str, laws: str) -> None:
    for text in RATES:
        read = parse(LARGE.format(problem=problem, participation=laws, algorithm="fedavg", rate=text))
        assert read.experiments[0][1].problem.num_clients == 3
