"""Problems on the user's own arrays: what is accepted, what is refused and how, in Python and from files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fltheory.configuration.experiments import load
from fltheory.configuration.toml_text import TomlText
from fltheory.errors import InvalidParameter
from fltheory.logistic import LogisticProblem, Samples, logistic_from_arrays, softmax_from_arrays
from fltheory.logistic.arrays import logistic_from_file, softmax_from_file
from fltheory.sweep.grid import Grid
from fltheory.sweep.run import plan

X = [np.array([[0.0, 1.0], [2.0, -1.0], [1.0, 0.5]]), np.array([[1.0, 1.0], [-1.0, 3.0]])]
Y = [np.array([0, 1, 1]), np.array([1, 0])]


def test_arrays_become_the_samples_of_the_clients() -> None:
    problem = logistic_from_arrays(X, Y, l2=0.1, batch_size=2, label_drift=0.25)
    same = LogisticProblem(
        train=Samples.from_clients(X, Y), num_classes=2, binary=True, l2=0.1, batch_size=2, label_drift=0.25
    )
    np.testing.assert_array_equal(problem.objective().w_star, same.objective().w_star)
    np.testing.assert_array_equal(problem.constants()["sigma_sq"].value, same.constants()["sigma_sq"].value)
    np.testing.assert_array_equal(problem.weights, [0.6, 0.4])


def test_softmax_counts_classes_in_train_and_test() -> None:
    assert softmax_from_arrays(X, Y, l2=0.1).num_classes == 2
    assert softmax_from_arrays(X, Y, l2=0.1, num_classes=5).dim == 10
    problem = softmax_from_arrays(X, Y, l2=0.1, intercept=True, test_features=X[0], test_labels=np.array([0, 1, 3]))
    assert (problem.num_classes, problem.dim) == (4, 12)
    assert problem.accuracy(np.zeros(12)) == pytest.approx(1 / 3)


def test_lists_and_stacked_arrays_are_arrays_too() -> None:
    nested = [[[0, 1], [2, -1], [1, 0.5]], [[1, 1], [-1, 3]]]
    problem = logistic_from_arrays(nested, [[False, True, True], [True, False]], l2=0.1)
    np.testing.assert_array_equal(problem.train.features, np.concatenate(X))
    assert logistic_from_arrays(np.ones((4, 3, 2)), np.ones((4, 3), dtype=int), l2=1.0).num_clients == 4


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        ([], [], "features and labels must have one array per client, got 0 and 0"),
        (X, Y[:1], "got 2 and 1"),
        ([X[0], X[1][:, :1]], Y, r"features\[1\] must have 2 features like features\[0\], got 1"),
        ([X[0], X[1][0]], Y, r"features\[1\] must have shape \(any, any\), got shape \(2,\)"),
        (np.ones((3, 2)), np.ones(3, dtype=int), r"features\[0\] must have shape \(any, any\)"),
        ([X[0], np.empty((0, 2))], [Y[0], np.empty(0, dtype=int)], r"features\[1\] must have at least one sample"),
        ([X[0], np.empty((2, 0))], Y, r"features\[1\] must have at least one sample and one feature"),
        ([X[0], np.array([[1.0, np.nan], [0.0, 0.0]])], Y, r"features\[1\] must be finite, got nan at index \(0, 1\)"),
        ([X[0], np.array([["a", "b"], ["c", "d"]])], Y, r"features\[1\] must be an array of numbers"),
        ([X[0], [[1.0], [1.0, 2.0]]], Y, r"features\[1\] must be an array of numbers"),
        (X, [Y[0], np.array([0, 1, 1])], r"labels\[1\] must have shape \(2,\), got shape \(3,\)"),
        (X, [Y[0], np.array([0.0, 1.0])], r"labels\[1\] must be an array of integers, .* use labels.astype\(int\)"),
        (X, [Y[0], np.array([-1, 1])], r"labels\[1\] must be 0 or 1, .*=-1; \(labels \+ 1\) // 2"),
        (X, [Y[0], np.array([0, 2])], r"labels\[1\] must be 0 or 1"),
        (X, [Y[0], np.array(["0", "1"])], r"labels\[1\] must be an array of integers"),
    ],
)
def test_what_is_wrong_with_which_client_is_named(features: Any, labels: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=f"logistic_from_arrays.{message}" if message[0] in "fl" else message):
        logistic_from_arrays(features, labels, l2=0.1)


def test_softmax_refuses_negative_classes_and_half_a_test_set() -> None:
    with pytest.raises(InvalidParameter, match=r"labels\[0\] must be classes counted from 0"):
        softmax_from_arrays(X, [np.array([-1, 0, 1]), Y[1]], l2=0.1)
    with pytest.raises(InvalidParameter, match=r"must have labels in 0 .. 1, got 2; raise num_classes"):
        softmax_from_arrays(X, [np.array([0, 0, 2]), Y[1]], l2=0.1, num_classes=2)
    with pytest.raises(InvalidParameter, match="must come together"):
        softmax_from_arrays(X, Y, l2=0.1, test_features=X[0])
    with pytest.raises(InvalidParameter, match="must have 2 features like train, got 3"):
        softmax_from_arrays(X, Y, l2=0.1, test_features=np.ones((1, 3)), test_labels=np.array([0]))


def saved(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def test_both_layouts_of_a_file_give_the_same_problem(tmp_path: Path) -> None:
    by_client = saved(tmp_path / "a.npz", X_0=X[0], y_0=Y[0], X_1=X[1], y_1=Y[1])
    order = np.array([3, 0, 4, 1, 2])
    mixed = {"X": np.concatenate(X)[order], "y": np.concatenate(Y)[order], "client": np.array([1, 0, 1, 0, 0])}
    stacked = saved(tmp_path / "b.npz", **mixed, X_test=X[0], y_test=Y[0])
    first, second = (softmax_from_file(data=path, l2=0.1, num_classes=3) for path in (by_client, stacked))
    np.testing.assert_array_equal(first.train.features, np.concatenate(X))
    np.testing.assert_array_equal(first.train.features, second.train.features)
    np.testing.assert_array_equal(first.train.labels, second.train.labels)
    np.testing.assert_array_equal(first.train.offsets, second.train.offsets)
    assert first.test is None
    assert second.accuracy(np.zeros(6)) == pytest.approx(1 / 3)
    assert first.origin.startswith("a.npz (sha256 ")
    assert logistic_from_file(data=by_client, l2=0.1, intercept=True).dim == 3


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "must hold X_0, y_0, .* got nothing"),
        ({"X_0": X[0], "y_1": Y[0]}, "without gaps, .* got X_0, y_1"),
        ({"X_0": X[0], "y_0": Y[0], "X_2": X[1], "y_2": Y[1]}, "without gaps"),
        ({"X": X[0], "y": Y[0]}, "got X, y"),
        (
            {"X": X[0], "y": Y[0], "client": np.array([0, 1, 0]), "z": Y[0]},
            "must hold X, y and client .* got X, client",
        ),
        ({"X": X[0], "y": Y[0], "client": np.array([0, 2, 0])}, r"number the clients 0, 1, ... .* got \[0, 2\]"),
        ({"X": X[0], "y": Y[0], "client": np.array([0.0, 1.0, 0.0])}, "with client numbers in client"),
        ({"X": X[0], "y": Y[0], "client": np.array([0, 1])}, r"got shapes \(3, 2\), \(3,\) and \(2,\)"),
        ({"X": X[0], "y": Y[0][:2], "client": np.array([0, 1])}, r"got shapes \(3, 2\), \(2,\) and \(2,\)"),
        ({"X_0": X[0], "y_0": Y[0], "X_test": X[0]}, "test_features and test_labels must come together"),
        ({"X_0": np.array([{}], dtype=object), "y_0": Y[0]}, "must be an .npz file of numbers"),
    ],
)
def test_files_of_the_wrong_shape_are_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        logistic_from_file(data=saved(tmp_path / "clients.npz", **arrays), l2=0.1)


def test_files_that_are_none_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidParameter, match="cannot be read: no such file"):
        logistic_from_file(data=tmp_path / "none.npz", l2=0.1)
    with pytest.raises(InvalidParameter, match="cannot be read: is a directory"):
        logistic_from_file(data=tmp_path, l2=0.1)
    good = saved(tmp_path / "good.npz", X_0=X[0], y_0=Y[0])
    for name, content in (("text", b"1,2,3"), ("cut", good.read_bytes()[:-30]), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidParameter, match=r"must be an .npz file of numbers"):
            logistic_from_file(data=tmp_path / name, l2=0.1)
    monkeypatch.setattr("fltheory.logistic.arrays.MAX_BYTES", 100)
    with pytest.raises(InvalidParameter, match="at most 100 bytes of arrays, got"):
        logistic_from_file(data=good, l2=0.1)
    monkeypatch.setattr("fltheory.logistic.arrays.HEADERS", 0)
    with pytest.raises(InvalidParameter, match="at most 100 bytes, got more"):
        logistic_from_file(data=good, l2=0.1)


def test_bytes_of_a_file_may_be_anything(tmp_path: Path) -> None:
    """Every byte of a small file is damaged in turn; whatever comes of it is a problem or a clear refusal."""
    content = saved(tmp_path / "good.npz", X_0=X[0], y_0=Y[0]).read_bytes()
    refused = 0
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0x55
        (tmp_path / "bad.npz").write_bytes(bytes(damaged))
        try:
            logistic_from_file(data=tmp_path / "bad.npz", l2=0.1)
        except InvalidParameter:
            refused += 1
    assert refused > len(content) / 2


STUDY = """
rounds = 2
[problem]
name = "logistic-arrays"
data = "data/clients.npz"
l2 = 0.1
[participation]
local_steps = 2
[[algorithm]]
name = "fedavg"
rate = 0.1
"""


def test_a_configuration_names_its_data_relative_to_itself(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    saved(tmp_path / "data" / "clients.npz", X_0=X[0], y_0=Y[0], X_1=X[1], y_1=Y[1])
    study = tmp_path / "study.toml"
    study.write_text(STUDY, encoding="utf-8")
    problem = load(study).experiments[0][1].problem
    assert (problem.num_clients, problem.dim) == (2, 2)
    for value, message in (("3", "must be the name of a file, got 3"), ('"no.npz"', "no.npz cannot be read")):
        study.write_text(STUDY.replace('"data/clients.npz"', value), encoding="utf-8")
        with pytest.raises(InvalidParameter, match=rf"study.toml:\d+: problem.*{message}"):
            load(study)


def test_a_sweep_runs_again_when_its_data_change(tmp_path: Path) -> None:
    path = saved(tmp_path / "clients.npz", X_0=X[0], y_0=Y[0])
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace("data/", "") + "[sweep]\nproblem.l2 = [0.1, 1.0]\n", encoding="utf-8")

    def keys() -> list[str]:
        return [run.key for run in plan(Grid.read(TomlText.read(study)))]

    before = keys()
    assert keys() == before
    saved(path, X_0=2 * X[0], y_0=Y[0])
    assert not set(before) & set(keys())
