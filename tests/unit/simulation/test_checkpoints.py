"""A run that is ended in the middle goes on after the last round that was kept, with equal bits."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fltheory import Experiment, FedAvg, Participation, Record, client_quadratics, simulate
from fltheory._internal import files
from fltheory.configuration.registry import algorithms
from fltheory.participation.selection import Bernoulli
from fltheory.problems.problem import Problem
from fltheory.simulation import checkpoints
from fltheory.simulation.checkpoints import BlockCheckpoint, Checkpoint
from fltheory.simulation.trajectories import Trajectories

ROUNDS = 7
QUADRATIC = client_quadratics(dim=3, num_clients=4, noise_sq=0.1, round_drift_sq=0.01)


class Ended(BaseException):
    """Ends a run, as a signal does."""


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "LEAST", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", np.inf)


def run(
    problem: Problem,
    algorithm: Any,
    record: Record,
    checkpoint: Checkpoint | None,
    replicates: int = 3,
    averaging: Any = None,
) -> Trajectories:
    experiment = Experiment(
        problem=problem,
        algorithm=algorithm,
        rounds=ROUNDS,
        rate=0.05,
        averaging=averaging,
        participation=Participation(
            num_clients=problem.num_clients, local_steps=2, selection=Bernoulli(probability=0.7)
        ),
    )
    return simulate(experiment, replicates=replicates, threads=1, record=record, collapse=False, checkpoint=checkpoint)


def ended(monkeypatch: pytest.MonkeyPatch, kept: int, *arguments: Any) -> None:
    """Run until so many checkpoints are written."""
    original, written = BlockCheckpoint.keep, []

    def keep(self: BlockCheckpoint, *given: Any) -> None:
        original(self, *given)
        written.append(given)
        if len(written) == kept:
            raise Ended

    with monkeypatch.context() as patched:
        patched.setattr(BlockCheckpoint, "keep", keep)
        with pytest.raises(Ended):
            run(*arguments)


def same(one: Trajectories, other: Trajectories) -> None:
    assert one.curves() == other.curves()
    for name in one.curves():
        np.testing.assert_array_equal(one.curve(name), other.curve(name), err_msg=name)


def rounds_run(monkeypatch: pytest.MonkeyPatch, algorithm: Any, *arguments: Any) -> tuple[Trajectories, int]:
    kind, original, begun = type(algorithm), type(algorithm).round, []

    def counted(self: Any, *given: Any) -> Any:
        begun.append(given)
        return original(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(kind, "round", counted)
        return run(*arguments), len(begun)


def cases() -> list[Any]:
    """Return every algorithm on a quadratic, and some with all kinds of states on a network."""
    torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
    networks = [pytest.param(name, "network", marks=torch) for name in ("apfl", "efl", "fedavg", "scaffold")]
    return [pytest.param(name, "quadratic") for name in sorted(algorithms())] + networks


@pytest.fixture(scope="module")
def network() -> Problem:
    from fltheory.deep import DeepProblem, Examples
    from fltheory.deep.networks import MLP

    rng = np.random.default_rng(0)
    inputs, labels = rng.standard_normal((26, 4)), rng.integers(0, 3, 26)
    return DeepProblem(
        network=MLP(hidden=(3,)),
        train=Examples(inputs=inputs[:18], labels=labels[:18], offsets=np.array([0, 5, 14, 18])),
        test=Examples(inputs=inputs[18:], labels=labels[18:], offsets=np.array([0, 8])),
        num_classes=3,
        batch_size=2,
    )


@pytest.mark.parametrize(("name", "where"), cases())
def test_every_algorithm_goes_on_with_equal_bits(
    name: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    problem = QUADRATIC if where == "quadratic" else request.getfixturevalue("network")
    if name == "continual":
        problem = client_quadratics(dim=3, num_clients=1, dissimilarity=0, spread=0, noise_sq=0.1)
    algorithm, record = algorithms()[name](), Record(models=True)
    whole = run(problem, algorithm, record, None)
    kept = Checkpoint(path=tmp_path / "it", key="a")
    ended(monkeypatch, 4, problem, algorithm, record, kept)
    assert [path.name for path in tmp_path.iterdir()] == [".it.0.checkpoint"]
    found, rounds = rounds_run(monkeypatch, algorithm, problem, algorithm, record, kept)
    same(found, whole)
    assert rounds == ROUNDS - 4, "those after the last one kept"
    kept.remove()
    assert not list(tmp_path.iterdir())


def test_curves_inside_rounds_and_every_block_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["fltheory.simulation.engines.simulate"], "BLOCK", 2)
    record = Record(gradient_sq=True, mean_iterate=True, local_models=True, nonzeros=True, entropy_bin=0.1)
    kept = Checkpoint(path=tmp_path / "it", key="a")
    ended(monkeypatch, ROUNDS + 2, QUADRATIC, FedAvg(), record, kept, 5)
    assert len(list(tmp_path.iterdir())) == 2
    found, rounds = rounds_run(monkeypatch, FedAvg(), QUADRATIC, FedAvg(), record, kept, 5)
    same(found, run(QUADRATIC, FedAvg(), record, None, 5))
    assert rounds == 0 + (ROUNDS - 2) + ROUNDS


def test_files_of_others_and_damaged_ones_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, place = Record(), tmp_path / ".it.0.checkpoint"
    kept = Checkpoint(path=tmp_path / "it", key="a")
    whole = run(QUADRATIC, FedAvg(), record, None)
    ended(monkeypatch, 3, QUADRATIC, FedAvg(), record, kept)
    content = place.read_bytes()
    monkeypatch.setattr(checkpoints, "LEAST", np.inf)
    rng = np.random.default_rng(0)
    flipped = []
    for _ in range(40):
        data = bytearray(content)
        data[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        flipped.append(bytes(data))
    cut = [content[: int(size)] for size in rng.integers(0, len(content), 10)]
    for data in (b"", b"PK", content[::-1], *cut, *flipped):
        place.write_bytes(data)
        same(run(QUADRATIC, FedAvg(), record, kept), whole)
    place.write_bytes(content)
    _, rounds = rounds_run(
        monkeypatch, FedAvg(), QUADRATIC, FedAvg(), record, Checkpoint(path=kept.path, key="another")
    )
    assert rounds == ROUNDS
    place.write_bytes(content)
    same(run(QUADRATIC, FedAvg(), Record(models=True), kept), run(QUADRATIC, FedAvg(), Record(models=True), None))


ODD = (
    np.zeros(0), np.array("x"), np.zeros((3, 0, 2)), np.array(1 + 2j), np.array(-1), np.array(np.inf), np.array(10**9),
    np.array(2**63, dtype=np.uint64), np.zeros(3, dtype=[("a", "f8")]), np.zeros((1,) * 20), np.array(b"\x00\xff"),
)  # fmt: skip


@pytest.mark.parametrize("averaging", [False, True])
def test_files_with_the_right_key_and_odd_content_are_passed_over(
    averaging: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, place = Record(models=True), tmp_path / ".it.0.checkpoint"
    kept = Checkpoint(path=tmp_path / "it", key="a")
    weights = np.ones(ROUNDS + 1) if averaging else None
    whole = run(QUADRATIC, FedAvg(), record, None, 3, weights)
    ended(monkeypatch, 3, QUADRATIC, FedAvg(), record, kept, 3, weights)
    monkeypatch.setattr(checkpoints, "LEAST", np.inf)
    with np.load(place) as stored:
        content = dict(stored)
    changes = [(name, value) for name in content if name != "key" for value in ODD]
    changes = [(name, value) for name, value in changes if value.shape != content[name].shape or name == "rounds"]
    empty = ("note own waiting", "note own averages", "note own average")  # these are, as long as nothing waits
    changes = [(name, value) for name, value in changes if name not in empty or value.shape != (0,)]
    assert len(changes) > 90
    for name, value in changes:
        with place.open("wb") as file:
            np.savez(file, **{**content, name: value})
        same(run(QUADRATIC, FedAvg(), record, kept, 3, weights), whole)


def test_a_full_disk_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def full(path: Path) -> Any:
        tried.append(path)
        raise OSError(28, "No space left on device")

    whole = run(QUADRATIC, FedAvg(), Record(), None)
    monkeypatch.setattr(checkpoints, "opened", full)
    same(run(QUADRATIC, FedAvg(), Record(), Checkpoint(path=tmp_path / "it", key="a")), whole)
    assert len(tried) == 1, "it is not tried again"
    assert not list(tmp_path.iterdir())


def test_writing_takes_a_small_part_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "LEAST", 1.0)
    monkeypatch.setattr(checkpoints, "SHARE", 0.05)
    now = [0.0]
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now[0])
    original = files.opened

    def slow(path: Path) -> Any:
        now[0] += 0.5
        return original(path)

    monkeypatch.setattr(checkpoints, "opened", slow)
    block = Checkpoint(path=tmp_path / "it", key="a").block(range(3))
    state = FedAvg().init(np.zeros((3, 2)), None, np.ones(1))  # type: ignore[arg-type]
    assert not block.due
    now[0] += 1.0
    assert block.due
    block.keep(1, state, {})
    now[0] += 9.9
    assert not block.due, "half a second of writing is a twentieth of ten"
    now[0] += 0.2
    assert block.due
    assert block.recall(state) is not None
    block.keep(2, ("a state", "of another kind"), {})
    now[0] += 1e9
    assert not block.due
