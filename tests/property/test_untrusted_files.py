"""Files that anybody may have edited: whatever is in them, the answer is a result or one line, never a traceback.

Valid files are mutated: keys removed, values replaced by others of any type, texts cut, bytes changed. The readers may
accept what is still valid; everything else has to end in :class:`~fltheory.errors.FltheoryError`.
"""

import contextlib
import copy
import json
import sqlite3
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fltheory.bounds import catalogue
from fltheory.cli.showing import _leaf, _verdicts
from fltheory.errors import FltheoryError
from fltheory.figures.bound_curves import curves_of
from fltheory.figures.graph_layout import across_of, rows_of
from fltheory.figures.theory import proof_graphs
from fltheory.sweep.report import best, quantity, write_csv
from fltheory.sweep.store import Run, Store
from fltheory.validation import counterexamples, ledger, ledger_text
from fltheory.validation.decide import QUICK
from fltheory.validation.replay import replay
from fltheory.validation.runner import check_all
from fltheory.validation.summary import findings, summary

CLAIMS = catalogue.index()
IDS = ["ruan.eq-2", "ruan.eq-71", "ruan.eq-9", "ruan.lemma-a.1", "cfl.lemma-3.4", "efl.theorem-1", "efl.eq-6"]
MANY = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**30, -(10**400), 2**63, 1e308, -1e-320, 0.5]),
    st.sampled_from(
        ["", "1/0", "1/3", "-7", "0x10", "9" * 5000, "published", "HOLDS", "../../etc/passwd", "\x00", "é"]
    ),
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))


def places(document, path=()):
    """Yield the path of every value in a document."""
    if path:
        yield path
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


def mutated(document, data):
    """Return a copy with one to three values removed, replaced, or moved elsewhere."""
    found = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        paths = list(places(found))
        if not paths:
            break
        *parents, last = data.draw(st.sampled_from(paths))
        owner = found
        for key in parents:
            owner = owner[key]
        how = data.draw(st.sampled_from(["remove", "replace", "replace", "borrow"]))
        if how == "remove":
            del owner[last]
        elif how == "replace":
            owner[last] = data.draw(values)
        else:
            donor = found
            for key in data.draw(st.sampled_from(paths)):
                donor = donor[key] if not isinstance(donor, dict) or key in donor else {}
            owner[last] = copy.deepcopy(donor)
    return found


def garbled(text, data):
    """Return bytes of a text that was cut, or of which some were changed."""
    return garbled_bytes(text.encode("utf-8"), data)


def garbled_bytes(content, data):
    raw = bytearray(content)
    if data.draw(st.booleans()):
        return bytes(raw[: data.draw(st.integers(0, len(raw)))])
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    return bytes(raw)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with the ledger and the counterexamples of a check."""
    folder = tmp_path_factory.mktemp("written")
    done, _ = check_all(catalogue.select(IDS), effort=QUICK)
    with ledger.LedgerFolder(folder) as opened:
        opened.keep(done, seed=0, effort="quick")
    return folder


def quietly(function, *arguments):
    """Call a function that may refuse what it is given, in one line."""
    try:
        return function(*arguments)
    except FltheoryError:
        return None


def saved(written):
    return sorted((written / "counterexamples").iterdir())


@MANY
@given(data=st.data())
def test_mutated_counterexamples(written, tmp_path, data):
    original = json.loads(data.draw(st.sampled_from(saved(written))).read_text())
    if data.draw(st.booleans()):
        document = {**original, "parameters": mutated(original["parameters"], data)}
    else:
        document = mutated(original, data)
    place = tmp_path / "edited.json"
    place.write_text(json.dumps(document))
    stored = quietly(counterexamples.load, place)
    if stored is not None:
        quietly(lambda: replay(stored, CLAIMS, where=str(place)))


@MANY
@given(data=st.data())
def test_garbled_counterexamples(written, tmp_path, data):
    place = tmp_path / "edited.json"
    place.write_bytes(garbled(data.draw(st.sampled_from(saved(written))).read_text(), data))
    stored = quietly(counterexamples.load, place)
    if stored is not None:
        quietly(lambda: replay(stored, CLAIMS, where=str(place)))


def use(path):
    """Do with a ledger what `diff`, `show`, `figure --ledger` and the table do."""
    document = ledger.load(path)
    ledger_text.table(document)
    ledger_text.differences(document, document)
    ledger.merged(document, document)
    summary(document)
    findings(document)
    verdicts = _verdicts(path)
    for id_ in IDS:
        _leaf(id_, verdicts)
    for paper in ("ruan", "efl"):
        found = quietly(lambda: proof_graphs.compute(quick=True, seed=0, ledger=document, paper=paper))  # noqa: B023
        if found is not None:
            edges = [(one, other) for one, other in found["edges"]]
            across_of(rows_of({node["id"]: node["layer"] for node in found["nodes"]}, edges), edges)
            proof_graphs.caption(found)


@settings(MANY, max_examples=30)
@given(data=st.data())
def test_mutated_instances_of_figures(written, tmp_path, data):
    """What `figure bound-against-trajectory --ledger` reads: counterexamples and worst instances of bounds."""
    document = json.loads((written / "ledger.json").read_text())
    (entry,) = (entry for entry in document["claims"] if entry["id"] == "efl.theorem-1")
    form = data.draw(st.sampled_from(entry["forms"]))
    for name in ("counterexample", "worst"):
        if form[name]:
            form[name] = mutated(form[name], data)
    place = tmp_path / "ledger.json"
    place.write_text(json.dumps(document))
    read = quietly(ledger.load, place)
    if read is not None:
        (entry,) = (entry for entry in read["claims"] if entry["id"] == "efl.theorem-1")
        claim = CLAIMS["efl.theorem-1"].load()
        quietly(lambda: curves_of(claim, entry, budget=1, replicates=2, seed=0))


def kept_run(number):
    return Run(
        key=f"key-{number}",
        point={"seed": number},
        label="a",
        algorithm="FedAvg",
        engine="exact",
        seed=number,
        replicates=1,
        status="done",
        final={"gap": {"mean": 1.0, "half_width": None}},
        versions={"numpy": "2"},
    )


COLUMNS = ["point", "label", "seed", "replicates", "status", "error", "final", "seconds", "versions", "commit", "time"]


@MANY
@given(data=st.data())
def test_mutated_databases(tmp_path, data):
    """Valid SQLite with JSON of the wrong shape, or other types than the columns have."""
    place = tmp_path / "sweep.sqlite"
    place.unlink(missing_ok=True)
    with Store(place) as store:
        store.keep(kept_run(number) for number in range(3))
    column = data.draw(st.sampled_from(COLUMNS))
    value = data.draw(values)
    stored = json.dumps(value) if column in ("point", "final", "versions") else value
    if isinstance(stored, list | dict):
        stored = json.dumps(stored)
    try:
        with contextlib.closing(sqlite3.connect(place)) as connection, connection:
            connection.execute(f"UPDATE runs SET '{column}' = ? WHERE key = 'key-1'", [stored])
    except (sqlite3.IntegrityError, OverflowError):
        return  # SQLite itself refuses it
    with Store(place) as store:
        found = quietly(store.recall, ["key-0", "key-1", "key-2"])
    if found is not None:
        runs = list(found.values())
        best(runs)
        quantity(runs)
        write_csv(SimpleNamespace(axes=[]), runs, tmp_path / "sweep.csv")


@MANY
@given(data=st.data())
def test_garbled_databases(tmp_path, data):
    place = tmp_path / "sweep.sqlite"
    place.unlink(missing_ok=True)
    with Store(place) as store:
        store.keep(kept_run(number) for number in range(3))
    place.write_bytes(garbled_bytes(place.read_bytes(), data))

    def read():
        with Store(place) as store:
            store.recall(["key-0", "key-1", "key-2"])

    quietly(read)


@MANY
@given(data=st.data())
def test_mutated_ledgers(written, tmp_path, data):
    document = json.loads((written / "ledger.json").read_text())
    # Most values are deep inside; the upper ones are to be hit as well.
    if data.draw(st.booleans()):
        document["claims"] = [
            mutated(entry, data) if data.draw(st.booleans()) else entry for entry in document["claims"]
        ]
    else:
        document = mutated(document, data)
    place = tmp_path / "ledger.json"
    place.write_text(json.dumps(document))
    quietly(use, place)


@MANY
@given(data=st.data())
def test_garbled_ledgers(written, tmp_path, data):
    place = tmp_path / "ledger.json"
    place.write_bytes(garbled((written / "ledger.json").read_text(), data))
    quietly(use, place)


def test_statements_that_use_each_other_are_drawn(written, tmp_path):
    document = json.loads((written / "ledger.json").read_text())
    for entry in document["claims"]:
        entry["uses"] = IDS
    place = tmp_path / "ledger.json"
    place.write_text(json.dumps(document))
    use(place)
