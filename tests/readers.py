"""Every reader of files that anybody may have edited, with valid files to begin from.

A reader is given a folder in which one file was changed. It may return something or raise
:class:`~fltheory.errors.FltheoryError`; whatever else it raises is a defect. Used with examples of Hypothesis by
``tests/property/test_untrusted_bytes.py``, and with bytes that atheris chooses by ``tests/fuzzing.py``.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fltheory as fl
from fltheory._internal.provenance import HOME
from fltheory.bounds import catalogue
from fltheory.bounds.claim import Claim
from fltheory.configuration import experiments
from fltheory.datasets._files import read_idx
from fltheory.errors import FltheoryError
from fltheory.figures import kept
from fltheory.jobs.unfinished import Unfinished
from fltheory.logistic.arrays import read_clients
from fltheory.report import gallery
from fltheory.simulation.checkpoints import Checkpoint
from fltheory.simulation.trajectories import Trajectories
from fltheory.sweep import Grid, Run, Store, plan
from fltheory.sweep.shards import configuration_of
from fltheory.validation import cache, counterexamples, known, known_terms, ledger, ledger_text
from fltheory.validation.decide import QUICK
from fltheory.validation.runner import check_all
from fltheory.validation.verdict import Checked

TEXT = """
rounds = 2
replicates = 2
[problem]
name = "client-quadratics"
dim = 3
num_clients = 2
[participation]
local_steps = 2
[[algorithm]]
name = "fedavg"
rate = 0.1
label = "μ"
"""


class State(NamedTuple):
    """Where an algorithm stands."""

    w: np.ndarray


class Reader(NamedTuple):
    """A reader: what it reads, who writes a valid one, how it is read, and how often that is tried."""

    name: str
    write: Callable[[Path], None]
    read: Callable[[Path], object]
    trials: int = 100


def quietly(read: Callable[[Path], object], folder: Path) -> None:
    """Read, and let refusals pass."""
    with contextlib.suppress(FltheoryError):
        read(folder)


def _toml(folder: Path) -> None:
    (folder / "x.toml").write_text(TEXT, encoding="utf-8")


def _grid(folder: Path) -> None:
    (folder / "x.toml").write_text(f"{TEXT}[sweep]\nseed = [1, 2]\n", encoding="utf-8")


def _certificate(folder: Path) -> None:
    shutil.copy(HOME / "validation/proof/certificates/ruan.eq-72@corrected.json", folder / "x.json")


def _counterexample(folder: Path) -> None:
    violated = next(verdict for verdict in _checked("ruan.eq-9").verdicts if verdict.counterexample)
    counterexamples.save(violated.counterexample, folder / "x.json")


def _clients(folder: Path) -> None:
    rows = {"X_0": np.eye(2), "y_0": np.array([0, 1]), "X_1": np.ones((3, 2)), "y_1": np.array([0, 1, 1])}
    np.savez(folder / "x.npz", allow_pickle=False, **rows)


def _run() -> Trajectories:
    problem = fl.noisy_quadratic(dim=2, num_clients=2)
    participation = fl.Participation(num_clients=2, local_steps=1)
    experiment = fl.Experiment(problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=2, rate=0.1)
    return fl.simulate(experiment, replicates=2)


def _trajectories(folder: Path) -> None:
    _run().save(folder / "x")


def _unfinished(folder: Path) -> None:
    checked = Unfinished(folder, ["key"])
    checked.keep(0, fl.simulation.run_result.RunResult("x", 1.0, _run()))


def _checkpoint(folder: Path) -> None:
    _block(folder).keep(1, State(np.zeros(3)), {"gap": np.zeros(2)})


def _block(folder: Path):
    return Checkpoint(path=folder / "x", key="key").block(range(2))


def _database(folder: Path) -> None:
    with Store(folder / "x.sqlite") as store:
        store.keep([Run(key="k", point={"seed": 1}, label="a", algorithm="A", engine="exact", seed=1, replicates=1)])


def _recall_rows(folder: Path) -> object:
    with Store(folder / "x.sqlite") as store:
        return store.recall(["k"]), store.everything()


def _summary(folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / "sweep.sqlite")):
        pass
    (folder / "sweep.sqlite").touch()
    (folder / "summary.json").write_text(json.dumps({"configuration": "x.toml", "points": 4}), encoding="utf-8")


def _checked(id_: str) -> Checked:
    (done,), _ = check_all(catalogue.select([id_]), effort=QUICK)
    return done


def _ledger(folder: Path) -> None:
    with ledger.LedgerFolder(folder) as opened:
        opened.keep([_checked("ruan.eq-9")], seed=0, effort="quick")
    shutil.rmtree(folder / "counterexamples", ignore_errors=True)
    (folder / "ledger.md").unlink()


def _use_ledger(folder: Path) -> object:
    document = ledger.load(folder / "ledger.json")
    return ledger_text.table(document), ledger_text.differences(document, document)


def _verdict(folder: Path) -> None:
    (entry,) = catalogue.select(["ruan.eq-71"])
    cache.keep(_checked("ruan.eq-71"), None, QUICK, 0)
    shutil.copy(cache._place(entry, None, QUICK, 0), folder / "verdict.json")


def _recall_verdict(folder: Path) -> object:
    (entry,) = catalogue.select(["ruan.eq-71"])
    place = cache._place
    cache._place = lambda *_: folder / "verdict.json"
    try:
        return cache.recall(entry, None, QUICK, 0)
    finally:
        cache._place = place


def _figure(folder: Path) -> None:
    data = {"rows": [["FedAvg", 1.0]]}
    record = {"key": "k", "caption": "c", "files": {}, "numbers": kept.numbers(data), "data": data}
    record |= {"name": "ruan-figure-1", "title": "t", "paper": "ruan", "command": "fltheory figure ruan-figure-1"}
    (folder / "ruan-figure-1.json").write_text(json.dumps(record), encoding="utf-8")


def _use_figure(folder: Path) -> object:
    return kept.recall(folder, "ruan-figure-1", "k"), gallery.entries(folder)


KNOWN = ("ruan.eq-9", "cfl.eq-33")
"""Claims with a stored sweep and with a stored point."""


def _known(folder: Path) -> None:
    for id_ in KNOWN:
        shutil.copy(known.SHIPPED / f"{id_}.json", folder)


def _use_known(folder: Path) -> object:
    """Read what searches begin with, as if it had come with the package."""
    shipped, found = known.shipped, []
    known.shipped = lambda id_: tuple(known.stored(id_, folder))
    try:
        for claim in _claims(KNOWN):
            for form in claim.forms:
                found += [*known.points(claim, form), *known.sweeps(claim, form, firm=True)]
    finally:
        known.shipped = shipped
    return found


def _known_terms(folder: Path) -> None:
    shutil.copy(known_terms.SHIPPED / "cfl.eq-33.json", folder)


def _use_known_terms(folder: Path) -> object:
    shipped, found = known_terms._shipped, []
    known_terms._shipped = lambda id_: known_terms.stored(id_, folder)
    try:
        for claim in _claims(("cfl.eq-33",)):
            for form in claim.forms:
                found += [known_terms.of(claim.id, form.variant), *known_terms.points(claim, form)]
    finally:
        known_terms._shipped = shipped
    return found


def _images(folder: Path) -> None:
    content = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, *range(24)])
    (folder / "x").write_bytes(content)
    (folder / "y.gz").write_bytes(gzip.compress(content))


def _use_images(folder: Path) -> object:
    with contextlib.suppress(FltheoryError):
        read_idx(folder / "x")
    return read_idx(folder / "y.gz").shape


@functools.cache
def _claims(ids: tuple[str, ...]) -> list[Claim]:
    return [entry.load() for entry in catalogue.select(ids)]


READERS = (
    Reader("configuration", _toml, lambda folder: experiments.load(folder / "x.toml")),
    Reader("grid", _grid, lambda folder: plan(Grid.load(folder / "x.toml"))),
    Reader("certificate", _certificate, lambda folder: fl.replay(folder / "x.json"), 12),
    Reader("counterexample", _counterexample, lambda folder: fl.replay(folder / "x.json"), 40),
    Reader("known counterexamples", _known, _use_known),
    Reader("known terms", _known_terms, _use_known_terms),
    Reader("ledger", _ledger, _use_ledger),
    Reader("verdict", _verdict, _recall_verdict, 50),
    Reader("figure", _figure, _use_figure),
    Reader("clients", _clients, lambda folder: read_clients(folder / "x.npz")),
    Reader("curves", _trajectories, lambda folder: Trajectories.load(folder / "x")),
    Reader("unfinished run", _unfinished, lambda folder: Unfinished(folder, ["key"]).recall(0, "x")),
    Reader("checkpoint", _checkpoint, lambda folder: _block(folder).recall(State(np.zeros(3)))),
    Reader("database", _database, _recall_rows),
    Reader("images", _images, _use_images, 400),
    Reader("share", _summary, lambda folder: configuration_of([folder])),
)
