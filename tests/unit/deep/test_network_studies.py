"""Figures with networks, drawn from a small set of made-up images instead of MNIST."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fltheory.bounds.efl.network_figures import table_3_mnist
from fltheory.bounds.fen.network_figures import mnist
from fltheory.bounds.ruan.network_figures import table_3a
from fltheory.datasets import DataSet
from fltheory.errors import NotApplicable
from fltheory.figures import mnist_runs
from fltheory.figures.study import produce, studies

NAMES = sorted(set(studies(networks=True)) - set(studies()))


def images() -> DataSet:
    """Return 5,000 images of 6 x 6 in ten classes, each brighter at a place of its own."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(5600) % 10)
    pixels = rng.integers(0, 100, (5600, 36), dtype=np.uint8)
    pixels[np.arange(5600), 3 * labels] = 255
    pixels = pixels.reshape(-1, 6, 6)
    return DataSet(
        name="made-up",
        title="Made up",
        train_inputs=pixels[:5000],
        train_labels=labels[:5000],
        test_inputs=pixels[5000:],
        test_labels=labels[5000:],
        num_classes=10,
    )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    data = images()
    monkeypatch.setattr(mnist_runs, "data", lambda: data)
    monkeypatch.setattr(mnist_runs, "CLIENTS", 12)
    mnist.compute.cache_clear()
    yield
    mnist.compute.cache_clear()


def test_they_are_named_apart_and_say_what_they_need() -> None:
    assert NAMES == ["efl-table-3-mnist", "fen-figure-1", "fen-tables-2-3-mnist", "ruan-table-3a"]
    assert all(studies(networks=True)[name].needs == ("PyTorch", "mnist") for name in NAMES)
    assert not any(study.needs for study in studies().values())


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", NAMES)
def test_every_one_is_computed_and_written(tmp_path: Path, name: str) -> None:
    saved = produce(studies(networks=True)[name], tmp_path, quick=True, seed=1)
    record = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert record["caption"] == saved.caption
    assert record["versions"]["torch"] == importlib.metadata.version("torch")
    assert saved.caption.endswith(".")
    study = saved.study
    if study.table is not None:
        rows = study.table(record["data"]).rows
        assert len({len(row) for row in rows} | {len(study.table(record["data"]).columns)}) == 1
    if study.draw is not None:
        (axes,) = study.draw(record["data"]).axes
        assert len(axes.lines) == 6


@pytest.mark.usefixtures("small")
def test_sums_of_what_is_sent() -> None:
    """FedProx sends all entries of every client that is asked, but for those behind a rectifier that is never on."""
    data = mnist.compute(quick=True, seed=0)
    size = data["settings"]["parameters"]
    rows = {(row["split"], row["algorithm"]): row for row in data["rows"]}
    assert len(rows) == len(data["rows"]) == 18
    full = np.array(rows["IID", "FedProx"]["nonzeros"]) * 1e7 / size
    assert np.all(full > 0.95 * np.ceil(full))
    assert full.min() > 1
    for split in mnist.SPLITS:
        asked = np.ceil(np.array(rows[split, "FedProx"]["nonzeros"]) * 1e7 / size)
        np.testing.assert_array_equal(asked, np.ceil(full))
        for base, net in (("FedProx", "FedElasticNet 1"), ("FedDyn", "FedElasticNet 3")):
            assert np.all(np.array(rows[split, net]["nonzeros"]) < rows[split, base]["nonzeros"])


def test_published_numbers_stand_in_the_order_of_the_algorithms() -> None:
    """What sends less in the paper is the elastic net, in every pair."""
    for pairs in mnist.PUBLISHED.values():
        assert len(pairs) == len(mnist.ALGORITHMS)
        for place in (0, 2, 4):
            assert pairs[place + 1][0] < pairs[place][0]
            assert pairs[place + 1][1] < pairs[place][1]
    assert set(table_3_mnist.PUBLISHED) == {algorithm.title for algorithm in table_3_mnist.ALGORITHMS}


@pytest.mark.usefixtures("small")
def test_schemes_agree_when_everybody_completes_all_steps() -> None:
    """The study runs scheme A only; B and C must give the same."""
    task = mnist_runs.problem(mnist.MLP(hidden=(5,)), table_3a.SPLITS["IID"], seed=0)
    found = {scheme: table_3a.accuracy(task, scheme, 1, 4, 0) for scheme in "ABC"}
    assert found["A"] == found["B"] == found["C"] > 0.1


def row(shared: list[list[float]], personal: list[list[float] | None]) -> dict[str, Any]:
    runs = [{"rate": i, "shared": s, "personal": p} for i, (s, p) in enumerate(zip(shared, personal, strict=True))]
    return {"algorithm": "A", "runs": runs, "published": 1.0}


def test_the_best_rate_is_that_of_the_largest_mean() -> None:
    found = table_3_mnist.best(row([[1.0, 2.0], [4.0, 2.0], [0.0, 5.0]], [None] * 3), "shared")
    assert found == (3.0, pytest.approx(1.0), 1.0)
    assert table_3_mnist.best(row([[1.0, 2.0]], [None]), "personal") is None
    assert table_3_mnist.best(row([[1.0, 2.0]], [[5.0, 5.0]]), "personal") == (5.0, 0.0, 0.0)


def test_without_the_data_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLTHEORY_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    mnist_runs.data.cache_clear()
    with pytest.raises(NotApplicable, match="fltheory data mnist --fetch"):
        produce(studies(networks=True)["ruan-table-3a"], tmp_path)
