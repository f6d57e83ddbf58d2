"""Mistakes on the command line and in files: each gives one clear line, the right exit code, and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from fltheory.cli import app
from fltheory.configuration.toml_text import TomlText

GOOD = """\
rounds = 3
replicates = 2
seed = 1
engine = "reference"

[problem]
name = "noisy-quadratic"
dim = 4
num_clients = 3
mu = 1.0
L = 2.0
seed = 1

[participation]
local_steps = 2

[[algorithm]]
name = "fedavg"
rate = 0.1
"""
CLIENTS = 'name = "client-quadratics"\n'
SECOND = '\n[[algorithm]]\nname = "fedprox"\nrate = 0.1\n'


class Mistake(NamedTuple):
    """A change to the good file, what the message has to say, and the exit code."""

    name: str
    old: str
    new: str
    says: tuple[str, ...]
    code: int = 2


def in_problem(name: str, line: str, *says: str) -> Mistake:
    return Mistake(name, "mu = 1.0\n", f"{line}\n", ("bad.toml:", "problem", *says))


def in_clients(name: str, line: str, *says: str) -> Mistake:
    new = f'name = "client-quadratics"\n{line}\n'
    return Mistake(name, 'name = "noisy-quadratic"\n', new, ("bad.toml:", "problem", "client_quadratics", *says))


def in_logistic(name: str, lines: str, *says: str) -> Mistake:
    old = GOOD[GOOD.index("[problem]") : GOOD.index("[participation]")]
    return Mistake(name, old, f"[problem]\n{lines}\nseed = 1\n", ("bad.toml:", "problem", *says))


def in_participation(name: str, lines: str, *says: str) -> Mistake:
    return Mistake(name, "local_steps = 2\n", f"local_steps = 2\n{lines}\n", ("bad.toml:", "participation", *says))


def in_algorithm(name: str, line: str, *says: str) -> Mistake:
    return Mistake(name, "rate = 0.1\n", f"{line}\n", ("bad.toml:", "algorithm[1]", *says))


def at_top(name: str, old: str, new: str, *says: str) -> Mistake:
    return Mistake(name, old, new, ("bad.toml", *says))


def when_run(name: str, old: str, new: str, *says: str) -> Mistake:
    return Mistake(name, old, new, says, code=1)


MISTAKES = [
    in_problem("negative mu", "mu = -1.0", "problem.mu", "[0, inf)", "mu=-1.0", "toml:10"),
    in_problem("mu above L", "mu = 3.0", "mu must be in [0, L]", "mu=3 with L=2"),
    in_problem("mu is nan", "mu = nan", "a number in [0, inf)", "mu=nan"),
    in_problem("mu is infinite", "mu = inf", "mu=inf"),
    in_problem("mu is a string", 'mu = "1.0"', "a number in [0, inf)", "mu='1.0'"),
    in_problem("mu is a boolean", "mu = true", "a number", "mu=True"),
    in_problem("mu is a date", "mu = 2020-01-01", "a number", "problem.mu"),
    in_problem("mu is a list", "mu = [1.0]", "a number", "mu=[1.0]"),
    in_problem(
        "unknown parameter", "nu = 1.0", "problem.nu is not a parameter of noisy_quadratic", "did you mean 'mu'"
    ),
    in_problem("unknown spectrum", 'spectrum = "logg"', "'linear', 'log'", "did you mean 'log'"),
    in_problem("unknown scenario", 'scenario = "S3"', "one of 'S1', 'S2'", "scenario='S3'"),
    in_problem("negative noise", "noise_sq = -1e-5", "noise_sq", "[0, inf)", "-1e-05"),
    in_problem("number for a boolean", "rotated = 1", "rotated must be true or false", "rotated=1"),
    in_problem("growth above one", "client_growth = 2", "client_growth", "[0, 1]", "client_growth=2"),
    in_problem("unknown noise law", 'noise_law = "gausian"', "noise_law", "did you mean 'gaussian'"),
    in_problem("negative Hessian noise", "hessian_noise = -1", "hessian_noise", "-1"),
    in_problem("negative radius", "radius = -2", "radius", "[0, inf)", "radius=-2"),
    at_top("dimension zero", "dim = 4", "dim = 0", "problem.dim", "an integer >= 1", "dim=0"),
    at_top("dimension is a fraction", "dim = 4", "dim = 2.5", "problem.dim", "an integer >= 1", "dim=2.5"),
    at_top("dimension one with two eigenvalues", "dim = 4", "dim = 1", "mu must equal L", "mu=1 with L=2"),
    at_top("no clients", "num_clients = 3", "num_clients = 0", "problem.num_clients", "an integer >= 1"),
    at_top("negative instance seed", "seed = 1\n\n[part", "seed = -1\n\n[part", "problem.seed", "an integer >= 0"),
    at_top("unknown problem", "noisy-quadratic", "noisy-quadratik", "problem.name", "did you mean 'noisy-quadratic'"),
    at_top("problem without a name", 'name = "noisy-quadratic"\n', "", "problem.name is missing", "'synthetic'"),
    at_top("name is a number", '"noisy-quadratic"', "3", "problem.name must be one of", "name=3"),
    in_clients("too dissimilar", "dissimilarity = 1.5", "problem.dissimilarity", "at most L - mu = 1", "1.5"),
    in_clients("too few sample counts", "sample_counts = [1, 2]", "sample_counts must have shape (3)", "(2,)"),
    in_clients("negative sample count", "sample_counts = [1, 2, -3]", "must be >= 0", "-3 at index (2,)"),
    in_clients("sample counts are text", 'sample_counts = ["a", "b", "c"]', "an array of numbers", "'a'"),
    in_clients("ragged sample counts", "sample_counts = [[1, 2], [3]]", "an array of numbers", "[[1, 2], [3]]"),
    in_clients("no samples at all", "sample_counts = [0, 0, 0]", "a positive sum"),
    in_clients("noise for other clients", "noise_sq = [0.1, 0.1]", "noise_sq must have shape (3)", "(2,)"),
    in_clients("noise is nan", "noise_sq = [0.1, nan, 0.1]", "noise_sq must be finite", "index (1,)"),
    in_clients("noise is text", 'noise_sq = "low"', "noise_sq", "'low'"),
    in_logistic("SYNTHETIC without alpha", 'name = "synthetic"\nbeta = 1.0', "problem.alpha is missing"),
    in_logistic("no cap", 'name = "synthetic"\nalpha = 1\nbeta = 1\nsizes = "pareto"', "max_size", "Pareto"),
    in_logistic(
        "samples of other clients",
        'name = "logistic-clients"\nnum_clients = 3\nnum_features = 2\nsamples = [5, 5]',
        "problem.samples",
        "one entry per client (3), got 2",
    ),
    in_logistic(
        "negative l2",
        'name = "logistic-clients"\nnum_clients = 2\nnum_features = 2\nsamples = 5\nl2 = -1.0',
        "l2",
        "-1",
    ),
    at_top("no local steps", "local_steps = 2", "local_steps = 0", "participation.local_steps", "an integer >= 1"),
    at_top("local steps missing", "local_steps = 2", "", "participation.local_steps is missing"),
    in_participation("too many selected", 'selection = { name = "by-size", size = 4 }', "size", "3 at the fewest", "4"),
    in_participation("misspelt selection", 'selection = "everyon"', "selection.name", "did you mean 'everyone'"),
    in_participation("selection without size", 'selection = "by-size"', "participation.selection.size is missing"),
    in_participation("selection is a number", "selection = 5", "participation.selection must be a table", "got 5"),
    in_participation(
        "coin above one", 'selection = { name = "bernoulli", probability = 1.5 }', "(0, 1]", "probability=1.5"
    ),
    in_participation(
        "parameter of another selection",
        'selection = { name = "bernoulli", size = 1 }',
        "participation.selection.size is not a parameter of bernoulli",
        "'probability'",
    ),
    in_participation("fewest steps above E", 'steps = { name = "uniform", low = 3 }', "low", "[0, 2]", "low=3"),
    in_participation("pmf off one", 'steps = { name = "counts", pmf = [0.5, 0.5, 0.5] }', "pmf must sum to 1", "1.5"),
    in_participation("pmf too short", 'steps = { name = "counts", pmf = [0.5, 0.5] }', "shape (3, 3)", "(1, 2)"),
    in_participation("negative chance", 'steps = { name = "counts", pmf = [-1, 1, 1] }', "pmf must be >= 0", "-1"),
    in_participation("trace above E", 'steps = { name = "trace", steps = [[1, 2, 3]] }', "[0, 2]", "3 at index (0, 2)"),
    in_participation("trace in fractions", 'steps = { name = "trace", steps = [[1, 2, 0.5]] }', "integers", "0.5"),
    in_participation("trace of others", 'steps = { name = "trace", steps = [[1, 2]] }', "shape (any, 3)", "(1, 2)"),
    in_participation(
        "laws that start late",
        'steps = { name = "time-varying", laws = ["full"], starts = [2] }',
        "starts",
        "increasing from 0",
        "(2,)",
    ),
    in_participation(
        "law in a law misspelt",
        'steps = { name = "time-varying", laws = ["ful"], starts = [0] }',
        "participation.steps.laws[1].name",
        "did you mean 'full'",
    ),
    in_participation(
        "arrival in round 0", "arrivals = [{ client = 0, round = 0 }]", "Arrival.round", ">= 1", "round=0"
    ),
    in_participation("arrival of a stranger", "arrivals = [{ client = 3, round = 1 }]", "client", "[0, 2]", "client=3"),
    in_participation(
        "arriving twice", "arrivals = [{ client = 0, round = 1 }, { client = 0, round = 2 }]", "client 0 2 times"
    ),
    in_participation("arrivals are no list", "arrivals = 3", "participation.arrivals must be a list", "3"),
    in_participation(
        "departure undecided", "departures = [{ client = 0, round = 1 }]", "participation.departures[1].exclude"
    ),
    in_participation(
        "departure before arrival",
        "arrivals = [{ client = 0, round = 5 }]\ndepartures = [{ client = 0, round = 2, exclude = true }]",
        "departing in round 2 and arriving in round 5",
    ),
    in_participation(
        "nobody stays",
        "departures = [" + ", ".join(f"{{ client = {i}, round = 1, exclude = true }}" for i in range(3)) + "]",
        "at least one client",
    ),
    in_participation("clients counted twice", "num_clients = 3", "participation.num_clients is not a parameter"),
    at_top("unknown algorithm", "fedavg", "fedavgg", "algorithm[1].name", "toml:18", "did you mean 'fedavg'"),
    in_algorithm("misspelt parameter", "rate = 0.1\nserver_rte = 1", "server_rte", "did you mean 'server_rate'"),
    in_algorithm("server rate zero", "rate = 0.1\nserver_rate = 0", "server_rate", "(0, inf)", "server_rate=0"),
    in_algorithm("rate missing", "", "algorithm[1].rate is missing"),
    in_algorithm("negative rate", "rate = -0.1", "toml:19", "rate must be a number in (0, inf)", "rate=-0.1"),
    in_algorithm("rate zero", "rate = 0", "(0, inf)", "rate=0"),
    in_algorithm("rate is a boolean", "rate = true", "(0, inf)", "rate=True"),
    in_algorithm("rate of one's own", 'rate = "schedules:Mine"', "algorithm[1].rate", "name must be one of"),
    in_algorithm("rate is a word", 'rate = "fast"', "algorithm[1].rate.name", "'inverse', 'per-step'", "fast"),
    in_algorithm("rate is a list", "rate = [0.1]", "algorithm[1].rate must be a table", "[0.1]"),
    in_algorithm("schedule without scale", 'rate = "inverse"', "algorithm[1].rate.scale is missing"),
    in_algorithm("empty schedule", 'rate = { name = "table", values = [] }', "values", "non-empty"),
    in_algorithm("label is a number", "rate = 0.1\nlabel = 3", "algorithm[1].label must be one line", "got 3"),
    in_algorithm("label without letters", 'rate = 0.1\nlabel = "+++"', "algorithm[1].label", "a letter or digit"),
    in_algorithm("label is taken", 'rate = 0.1\nlabel = "Summary"', "algorithm[1].label must not be 'Summary'"),
    at_top(
        "same label twice",
        'name = "fedavg"\nrate = 0.1\n',
        'name = "fedavg"\nrate = 0.1\n' + SECOND.replace("fedprox", "fedavg"),
        "toml:21",
        "algorithm[2].label",
        "'FedAvg' again",
    ),
    at_top(
        "sums of geometric weights",
        'name = "fedavg"',
        'name = "cfl-r"\nform = "sum"\nweighting = "geometric"',
        "CFLR.form must be 'weighted'",
        "algorithm[1].form",
    ),
    at_top("unknown scheme", 'name = "fedavg"', 'name = "ruan"\nscheme = "D"', "'A', 'B', 'C'", "scheme='D'"),
    at_top("single brackets", "[[algorithm]]", "[algorithm]", "begin each with [[algorithm]]"),
    at_top("no algorithm", GOOD[GOOD.index("[[") :], "", "algorithm is missing"),
    at_top("no problem", GOOD[GOOD.index("[problem") : GOOD.index("[part")], "", "problem is missing"),
    at_top("problem is a number", GOOD[GOOD.index("\n[problem") : GOOD.index("[part")], "problem = 3\n", "got 3"),
    at_top("no participation", "[participation]\nlocal_steps = 2\n", "", "participation is missing"),
    at_top("no rounds at all", "rounds = 3\n", "", "rounds is missing"),
    at_top("zero rounds", "rounds = 3", "rounds = 0", "toml:1: rounds", "an integer >= 1", "rounds=0"),
    at_top("rounds in fractions", "rounds = 3", "rounds = 2.5", "an integer >= 1", "rounds=2.5"),
    at_top("zero replicates", "replicates = 2", "replicates = 0", "toml:2: replicates", ">= 1", "replicates=0"),
    at_top(
        "more than memory holds", "rounds = 3", "rounds = 1000000000", "Configuration.rounds must be at most", "lower"
    ),
    at_top("negative seed", "seed = 1\nengine", "seed = -1\nengine", "toml:3: seed", "an integer >= 0", "seed=-1"),
    at_top("seed is a boolean", "seed = 1\nengine", "seed = true\nengine", "an integer >= 0", "seed=True"),
    at_top("unknown engine", '"reference"', '"exat"', "toml:4: engine", "'monte_carlo'", "did you mean 'exact'"),
    at_top("unknown key", "rounds = 3", "rounds = 3\nreplicas = 2", "toml:2", "did you mean 'replicates'"),
    at_top("title is a number", "rounds = 3", "rounds = 3\ntitle = 3", "title must be a string", "title=3"),
    at_top("record of a word", "[problem]", '[record]\nconsensus = "yes"\n[problem]', "record.consensus", "'yes'"),
    at_top("empty bins", "[problem]", "[record]\nentropy_bin = 0\n[problem]", "entropy_bin", "(0, inf)"),
    at_top("unknown record", "[problem]", "[record]\nbits = true\n[problem]", "record.bits is not a parameter"),
    at_top("value missing", "rounds = 3", "rounds =", "toml:1: not valid TOML", "column"),
    at_top("string not closed", '"fedavg"', '"fedavg', "toml:18: not valid TOML"),
    at_top("bracket not closed", "rate = 0.1\n", "rate = [0.1", "toml:19: not valid TOML"),
    at_top("key twice", "rounds = 3", "rounds = 3\nrounds = 4", "toml:2: not valid TOML", "overwrite"),
    at_top("nested without end", "rounds = 3", "rounds = " + "[" * 5000, "not valid TOML"),
    at_top("endless whole number", "rounds = 3", f"rounds = {'9' * 5000}", "must have at most 4300 digits"),
    at_top("huge whole number", "rounds = 3", f"rounds = 0x{'f' * 999}", "toml: cannot be built from these values"),
    at_top("empty file", GOOD, "", "rounds is missing"),
    when_run("rate that diverges", "rate = 0.1", "rate = 1e150", "FedAvg diverged in round", "learning rate 1e+150"),
    when_run("exact signs", 'name = "fedavg"\nrate = 0.1', 'name = "signsgd"\nrate = 0.1', "signSGD", "signs"),
    when_run("one learner, three clients", '"fedavg"', '"continual"', "num_clients=1", "num_clients=3"),
]


def errors(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if line.startswith("error:")]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def expect(arguments: list[str], says: tuple[str, ...], code: int) -> None:
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit), outcome.exception
    assert outcome.exit_code == code, outcome.output
    assert len(errors(outcome.stderr)) == 1, outcome.stderr
    (line,) = errors(outcome.stderr)
    assert "Traceback" not in outcome.output
    for fragment in says:
        assert fragment in line


def test_the_good_file_is_good(here: Path) -> None:
    Path("good.toml").write_text(GOOD + SECOND, encoding="utf-8")
    assert CliRunner().invoke(app, ["run", "good.toml", "--quiet"]).exit_code == 0


def test_files_of_other_editors_are_good(here: Path) -> None:
    """A mark in front, as Notepad writes it, and line ends of Windows change nothing."""
    Path("good.toml").write_text(GOOD, encoding="utf-8")
    Path("other.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode("utf-8"))
    assert TomlText.read(Path("other.toml")).text == TomlText.read(Path("good.toml")).text == GOOD
    assert CliRunner().invoke(app, ["run", "other.toml", "--quiet"]).exit_code == 0


def test_there_are_enough_distinct_mistakes() -> None:
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 45
    assert len({(mistake.old, mistake.new) for mistake in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistake_in_a_file(mistake: Mistake, here: Path) -> None:
    assert mistake.old in GOOD
    text = GOOD.replace(mistake.old, mistake.new, 1)
    if mistake.name == "exact signs":
        text = text.replace('"reference"', '"exact"')
    Path("bad.toml").write_text(text, encoding="utf-8")
    expect(["run", "bad.toml"], mistake.says, mistake.code)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "nowhere.toml"], ("nowhere.toml: cannot be read: no such file",)),
        (["run", "folder"], ("folder: cannot be read: is a directory",)),
        (["run", "latin.toml"], ("latin.toml: must be a TOML file in UTF-8",)),
        (["run", "large.toml"], ("large.toml: must have at most 16777216 bytes",)),
        (["run", "good.toml", "--output", "good.toml"], ("--output must be a directory", "good.toml")),
        (["run", "good.toml", "--output", "good.toml/inside"], ("--output must be a directory", "not a directory")),
        (["run", "good.toml", "--output", "/proc/fltheory"], ("--output must be a directory", "/proc/fltheory")),
        (["run", "good.toml", "--output", "blocked"], ("--output must be a directory", "is a directory")),
        (["run", "good.toml", "--engine", "montecarlo"], ("engine must be one of", "did you mean 'monte_carlo'")),
        (["run", "good.toml", "--seed", "-1"], ("seed must be an integer >= 0", "seed=-1")),
        (["run", "good.toml", "--seed", "one"], ("--seed", "one", "int")),
        (["run", "good.toml", "--replicates", "0"], ("replicates must be an integer >= 1", "replicates=0")),
        (["run", "good.toml", "--threads", "0"], ("threads must be an integer >= 1", "threads=0")),
        (["run", "good.toml", "--rounds", "5"], ("--rounds",)),
        (["run"], ("argument", "FILE")),
        (["rum", "good.toml"], ("'rum'",)),
        (["list", "--algorithm"], ("--algorithm",)),
        (["list", "everything"], ("everything",)),
    ],
    ids=" ".join,
)
def test_mistake_on_the_command_line(arguments: list[str], says: tuple[str, ...], here: Path) -> None:
    Path("good.toml").write_text(GOOD, encoding="utf-8")
    Path("folder").mkdir()
    Path("latin.toml").write_bytes('title = "é"'.encode("latin-1"))
    Path("large.toml").write_bytes(b"#" * (2**24 + 1))
    Path("blocked/summary.json").mkdir(parents=True)
    expect(arguments, says, 2)


@pytest.mark.parametrize("name", ["negative mu", "string not closed", "rate that diverges"])
def test_mistake_in_a_real_process(name: str, here: Path) -> None:
    (mistake,) = (mistake for mistake in MISTAKES if mistake.name == name)
    Path("bad.toml").write_text(GOOD.replace(mistake.old, mistake.new, 1), encoding="utf-8")
    command = [sys.executable, "-c", "from fltheory.cli import main; main()", "run", "bad.toml"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == mistake.code
    assert "Traceback" not in outcome.stderr + outcome.stdout
    (line,) = errors(outcome.stderr)
    for fragment in mistake.says:
        assert fragment in line
