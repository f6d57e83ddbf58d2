"""Networks on real data from the outside: ``fltheory run`` and ``fltheory sweep`` on files with ``name = "network"``.

Most tests read the sample in ``tests/data``; those of the full Fashion-MNIST are skipped where it is not installed.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from fltheory import datasets
from fltheory._internal import provenance
from fltheory.cli import app
from fltheory.configuration.toml_text import TomlText
from fltheory.datasets import DataSet
from fltheory.datasets.fashion_mnist import FashionMnist
from fltheory.simulation.trajectories import Trajectories
from fltheory.sweep import Grid, plan
from tests.samples import FASHION

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
needs_data = pytest.mark.skipif(
    datasets.find(FashionMnist) is None, reason=f"Fashion-MNIST is not on this machine: {FashionMnist.remedy}"
)

CLOTHES = """\
title = "Clothes"
rounds = 6
replicates = 1
seed = 1

[problem]
name = "network"
dataset = "fashion-mnist"
network = { name = "mlp", hidden = [20] }
split = { name = "dirichlet", concentration = 0.3 }
num_clients = 10
evaluated = 200
seed = 1

[participation]
local_steps = 5
selection = { name = "without-replacement", size = 5, renormalise = true }

[[algorithm]]
name = "fedavg"
rate = 0.1

[[algorithm]]
name = "apfl"
rate = 0.1
"""
FULL = CLOTHES.replace("evaluated = 200", "samples = 600\nevaluated = 200")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sample(here: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a configuration that reads the sample, which has other digests than the full data set."""
    monkeypatch.setattr(FashionMnist, "files", MappingProxyType(dict.fromkeys(FashionMnist.files)))
    return CLOTHES.replace("num_clients", f"directory = {json.dumps(str(FASHION))}\nnum_clients")


def run(text: str, *arguments: str, command: str = "run") -> Result:
    Path("clothes.toml").write_text(text, encoding="utf-8")
    return CliRunner().invoke(app, [command, "clothes.toml", *arguments])


def finals(path: str = "results/clothes/summary.json") -> dict[str, Any]:
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    return {result["label"]: result["final"] for result in document["results"]}


@needs_torch
@needs_data
def test_a_network_on_the_full_data_set(here: Path) -> None:
    done = run(FULL)
    assert done.exit_code == 0, done.output
    found = finals()
    for label in ("FedAvg", "APFL"):
        assert "gap" not in found[label]
        assert "distance_sq" not in found[label]
        assert 0.3 < found[label]["accuracy"]["mean"] < 0.9
        assert 0.3 < found[label]["loss"]["mean"] < 2.0
    first = Trajectories.load(here / "results" / "clothes" / "fedavg")
    assert first.gap is None
    assert first.curve("loss")[0, 0] == pytest.approx(np.log(10), abs=0.3)  # a guess among ten classes
    assert first.curve("accuracy")[0, 0] < 0.3


@needs_torch
@needs_data
def test_a_sweep_over_the_split_in_two_processes(here: Path) -> None:
    grid = FULL + "\n[sweep]\nproblem.split.concentration = [0.1, 10.0]\n"
    done = run(grid, "--jobs", "2", command="sweep")
    assert done.exit_code == 0, done.output
    assert "last loss" in done.stdout
    assert "* is the smallest last loss of its point" in done.stdout
    assert re.search(r"^\s*0\.1\s+APFL\s", done.stdout, re.MULTILINE)
    document = json.loads(Path("results/clothes/summary.json").read_text(encoding="utf-8"))
    assert document["compared_by"] == "loss"
    assert document["figures"] == ["figure.svg", "figure.png"]
    values = {(one["point"]["problem.split.concentration"], one["label"]): one for one in document["results"]}
    assert len(values) == 4
    for point in (0.1, 10.0):
        losses = {label: values[point, label]["final"]["loss"]["mean"] for label in ("FedAvg", "APFL")}
        best = min(losses, key=lambda label: losses[label])
        assert [values[point, label]["best"] for label in losses] == [label == best for label in losses]
    run(FULL.replace("concentration = 0.3", "concentration = 10.0"))
    for label, final in finals().items():  # the same digits as in one process
        assert values[10.0, label]["final"] == final


@needs_torch
def test_a_sweep_reads_its_data_once_whatever_is_swept(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FASHION, "data")
    sample = sample.replace(json.dumps(str(FASHION)), '"data"').replace("rounds = 6", "rounds = 1")
    original, found = FashionMnist.read, []

    def read(self: FashionMnist, folder: Path) -> DataSet:
        found.append(folder)
        return original(self, folder)

    monkeypatch.setattr(FashionMnist, "read", read)
    text = sample + "\n[sweep]\nseed = [1, 2]\nproblem.split.concentration = [0.1, 10.0]\n"
    done = run(text, "--jobs", "1", command="sweep")
    assert done.exit_code == 0, done.output
    assert len(found) == 1, "split four times for the plan and four times to run"
    document = json.loads(Path("results/clothes/summary.json").read_text())
    losses = {one["final"]["loss"]["mean"] for one in document["results"]}
    assert len(losses) == len(document["results"]) == 8
    os.utime("data/train-labels-idx1-ubyte.gz", (1, 1))
    run(text.replace("seed = [1, 2]", "seed = [3]"), "--jobs", "1", command="sweep")
    assert len(found) == 2, "files that have changed are read again"


@needs_torch
def test_keys_of_networks_contain_the_version_of_pytorch(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def keys(text: str) -> list[str]:
        return [one.key for one in plan(Grid.read(TomlText(path="x.toml", text=text)))]

    grid = "\n[sweep]\nseed = [1]\n"
    plain = "rounds = 1\n[problem]\nname = 'noisy-quadratic'\n[participation]\nlocal_steps = 1\n[[algorithm]]\n"
    texts = (sample + grid, plain + "name = 'fedavg'\nrate = 0.1\n" + grid)
    before = [keys(text) for text in texts]
    original = provenance.versions

    def versions(*packages: str) -> dict[str, str]:
        return {**original(*packages), **({"torch": "0.0"} if "torch" in packages else {})}

    monkeypatch.setattr(provenance, "versions", versions)
    network, quadratic = (keys(text) for text in texts)
    assert not set(network) & set(before[0])
    assert quadratic == before[1]


@needs_torch
def test_a_run_writes_loss_and_accuracy_and_draws_a_figure(sample: str) -> None:
    done = run(sample)
    assert done.exit_code == 0, done.output
    row = next(line.split() for line in done.stdout.splitlines() if line.strip().startswith("APFL"))
    head = next(line for line in done.stdout.splitlines() if line.strip().startswith("algorithm"))
    assert re.split(r"\s{2,}", head.strip()) == [
        "algorithm", "loss", "accuracy", "personal accuracy", "bits", "seconds", "status",
    ]  # fmt: skip
    final = finals()["APFL"]
    shown = [final[name]["mean"] for name in ("loss", "accuracy", "personal_accuracy")]
    assert row[1:4] == [f"{value:.3e}" for value in shown]
    assert "±" not in done.stdout  # one replicate has no band
    document = json.loads(Path("results/clothes/summary.json").read_text(encoding="utf-8"))
    assert document["figures"] == ["figure.svg", "figure.png"]
    assert document["versions"]["torch"] == importlib.metadata.version("torch")
    assert "share of test samples that are right" in Path("results/clothes/figure.svg").read_text(encoding="utf-8")


@needs_torch
def test_the_same_file_gives_the_same_digits_twice_and_another_seed_others(sample: str) -> None:
    runs = []
    for text in (sample, sample, sample.replace("seed = 1\n\n[problem]", "seed = 2\n\n[problem]")):
        assert run(text, "--threads", str(1 + len(runs))).exit_code == 0
        runs.append(Trajectories.load(Path("results/clothes/apfl")))
    for name in runs[0].curves():
        np.testing.assert_array_equal(runs[0].curve(name), runs[1].curve(name))
    assert not np.array_equal(runs[0].curve("loss"), runs[2].curve("loss"))
    assert runs[0].curve("loss")[0, 0] == runs[2].curve("loss")[0, 0]  # problem.seed is another matter


@needs_torch
def test_bands_of_several_replicates(sample: str) -> None:
    done = run(sample, "--replicates", "3")
    assert "± is half the width of a 99% band" in done.stdout
    assert finals()["FedAvg"]["loss"]["half_width"] > 0


@needs_torch
def test_the_reference_engine_agrees(sample: str) -> None:
    assert run(sample.replace("seed = 1\n\n[part", 'precision = "double"\nseed = 1\n\n[part')).exit_code == 0
    quick = finals()
    assert run(sample, "--engine", "reference").exit_code == 0
    obvious = finals()
    for label, final in quick.items():
        for name, value in final.items():
            assert obvious[label][name]["mean"] == pytest.approx(value["mean"], rel=1e-9)


@needs_torch
def test_expectations_of_networks_are_refused(sample: str) -> None:
    done = run(f'engine = "exact"\n{sample}')
    assert done.exit_code == 1
    for label in ("FedAvg", "APFL"):
        assert f"error: {label}: the exact engine needs affine" in done.stderr


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            '"mlp"',
            '"mpl"',
            "clothes.toml:9: problem.network.name must be one of 'cnn', 'lstm', 'mlp', 'softmax', 'vgg11', got "
            "name='mpl'; did you mean 'mlp'?",
        ),
        (
            '"fashion-mnist"',
            '"fashion"',
            "clothes.toml:8: problem.dataset.name must be one of 'cifar-10', 'cifar-100', 'emnist-letters', "
            "'fashion-mnist', 'mnist', 'shakespeare', got name='fashion'; did you mean 'fashion-mnist'?",
        ),
        ("hidden = [20]", "hidden = 20", "clothes.toml:9: problem.network.hidden must be a list, got 20"),
        ("hidden", "width", "clothes.toml:9: problem.network.width is not a parameter of mlp; allowed are 'hidden'"),
    ],
)
def test_words_that_mean_nothing(here: Path, before: str, after: str, message: str) -> None:
    done = run(CLOTHES.replace(before, after))
    assert done.exit_code == 2
    assert f"error: {message}" in done.stderr


@needs_torch
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            '"mlp", hidden = [20]',
            '"lstm"',
            "problem: LSTM needs rows of symbols, got inputs of shape (28, 28); use mlp",
        ),
        ('"mlp", hidden = [20]', '"vgg11"', "problem: VGG11 needs images of at least 32 x 32, got shape (28, 28); use"),
        ("evaluated = 200", "samples = 301", "problem.samples: federate.samples must be an integer in [1, 300], got"),
        (
            "evaluated = 200",
            "batch_size = 0",
            "problem.batch_size: DeepProblem.batch_size must be an integer >= 1, got",
        ),
    ],
)
def test_what_does_not_fit_the_data_is_refused(sample: str, before: str, after: str, message: str) -> None:
    done = run(sample.replace(before, after))
    assert done.exit_code == 2
    assert re.search(rf"^error: clothes\.toml:\d+: {re.escape(message)}", done.stderr, re.MULTILINE), done.stderr


def test_data_that_are_not_there_are_told_with_the_remedy(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLTHEORY_DATA", str(here / "nothing"))
    monkeypatch.setenv("XDG_DATA_HOME", str(here / "nothing"))
    done = run(CLOTHES.replace("fashion-mnist", "cifar-10"))
    assert done.exit_code == 2
    assert "error: clothes.toml:6: problem: the data set 'cifar-10' is not on this machine: looked for" in done.stderr
    assert "; to get it: unpack cifar-10-binary.tar.gz" in done.stderr


def test_without_pytorch_the_remedy_is_told(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    done = run(sample)
    assert done.exit_code == 2
    assert "networks need PyTorch; install it with: pip install --editable '.[torch]'" in done.stderr
