"""Figures that are kept: taken over only where the same code would draw the same."""

import json

import pytest

from fltheory.figures import kept
from fltheory.figures.study import Study, TextTable, produce

CALLS = []


def compute(*, quick, seed, ledger=None):
    CALLS.append(seed)
    return {"seed": seed, "claims": 0 if ledger is None else len(ledger["claims"])}


def a_study(**more):
    return Study(
        name="tried",
        title="A table",
        paper="fltheory",
        compute=compute,
        caption=lambda data: f"Seed {data['seed']}.",
        table=lambda data: TextTable(("seed",), ((str(data["seed"]),),)),
        **more,
    )


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


def test_the_second_time_nothing_is_computed_and_nothing_written(tmp_path):
    first = produce(a_study(), tmp_path, fresh=False)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    second = produce(a_study(), tmp_path, fresh=False)
    assert (first.reused, second.reused, CALLS) == (False, True, [0])
    assert (second.data, second.caption, second.command) == (first.data, first.caption, first.command)
    assert second.files == first.files
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("other", [{"seed": 1}, {"quick": True}, {"fresh": True}], ids=lambda m: next(iter(m)))
def test_another_question_is_answered_anew(tmp_path, other):
    produce(a_study(), tmp_path, fresh=False)
    assert not produce(a_study(), tmp_path, **{"fresh": False, **other}).reused


@pytest.mark.parametrize("ending", ["md", "json"])
def test_a_file_that_was_edited_or_lost_is_written_again(tmp_path, ending):
    produce(a_study(), tmp_path, fresh=False)
    file = tmp_path / f"tried.{ending}"
    right = file.read_text()
    file.write_text(right.replace("0", "7"))
    assert not produce(a_study(), tmp_path, fresh=False).reused
    assert "7" not in (tmp_path / "tried.md").read_text()
    file.unlink()
    assert not produce(a_study(), tmp_path, fresh=False).reused


def test_edited_numbers_are_not_taken_over(tmp_path):
    produce(a_study(), tmp_path, fresh=False)
    file = tmp_path / "tried.json"
    record = json.loads(file.read_text())
    record["data"]["seed"] = 12
    file.write_text(json.dumps(record))
    assert produce(a_study(), tmp_path, fresh=False).data["seed"] == 0


def test_a_record_names_no_file_elsewhere(tmp_path):
    produce(a_study(), tmp_path / "figures", fresh=False)
    (tmp_path / "secret").write_text("x")
    file = tmp_path / "figures" / "tried.json"
    record = json.loads(file.read_text())
    record["files"]["../secret"] = kept.fingerprint(tmp_path / "secret")
    file.write_text(json.dumps(record))
    assert not produce(a_study(), tmp_path / "figures", fresh=False).reused


def test_other_code_draws_again(tmp_path, monkeypatch):
    produce(a_study(), tmp_path, fresh=False)
    monkeypatch.setattr(kept, "_code", lambda: b"other")
    assert not produce(a_study(), tmp_path, fresh=False).reused


def test_other_versions_draw_again(tmp_path, monkeypatch):
    produce(a_study(), tmp_path, fresh=False)
    monkeypatch.setattr(kept, "versions", lambda *names: {"matplotlib": "0.1"})
    assert not produce(a_study(), tmp_path, fresh=False).reused


def test_verdicts_count_and_the_time_of_the_last_check_does_not(tmp_path):
    ledger = {"fltheory": {}, "time": "now", "commit": "", "seed": 0, "effort": "quick", "claims": []}
    path = tmp_path / "ledger.json"

    def made():
        path.write_text(json.dumps(ledger))
        return produce(a_study(needs_ledger=True), tmp_path, ledger=path, fresh=False)

    assert [made().reused, made().reused] == [False, True]
    ledger["time"] = "later"
    assert made().reused
    ledger["effort"] = "full"
    assert not made().reused
