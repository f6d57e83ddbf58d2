"""Verdicts that are kept: taken over only where the same code would find the same."""

import json
import os
import pickle
import shutil
from pathlib import Path

import pytest

from fltheory.bounds import catalogue
from fltheory.validation import cache
from fltheory.validation.decide import QUICK, Effort
from fltheory.validation.runner import check_all

OWN = Path(__file__).parents[3] / "examples" / "own-claims"
EFFORT = Effort(4, 2)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of claims, and an empty cache."""
    monkeypatch.setenv("FLTHEORY_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(OWN, tmp_path / "claims")
    return tmp_path / "claims"


def checked(folder, **more):
    entries = catalogue.select(["own.local-drift"], [folder])
    done, interrupted = check_all(entries, **{"effort": EFFORT, **more})
    assert not interrupted
    return done[0]


def test_the_second_run_takes_over_what_the_first_has_found(folder):
    first, second = checked(folder), checked(folder)
    assert (first.reused, second.reused) == (False, True)
    assert first.verdicts == second.verdicts
    assert first.latex == second.latex


@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"effort": QUICK}, {"variant": "published"}, {"fresh": True}], ids=lambda m: next(iter(m))
)
def test_another_question_is_answered_anew(folder, other):
    checked(folder)
    assert not checked(folder, **other).reused


def test_an_edited_claim_is_checked_again(folder):
    checked(folder)
    file = next(folder.glob("*.py"))
    file.write_text(file.read_text() + "\n# edited\n")
    assert not checked(folder).reused


def test_other_code_finds_nothing(folder, monkeypatch):
    checked(folder)
    monkeypatch.setattr(cache, "_code", lambda: "other")
    assert not checked(folder).reused


def test_a_damaged_file_is_no_obstacle(folder, tmp_path):
    first = checked(folder)
    for file in (tmp_path / "cache" / "verdicts").rglob("*.json"):
        file.write_bytes(b"no JSON")
    again = checked(folder)
    assert not again.reused
    assert [v.decision for v in again.verdicts] == [v.decision for v in first.verdicts]


def test_a_folder_that_cannot_be_written_is_no_obstacle(folder, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert not checked(folder).reused
    assert not checked(folder).reused


def test_verdicts_of_old_code_are_forgotten(folder, tmp_path, monkeypatch):
    for state in range(cache.GENERATIONS + 2):
        monkeypatch.setattr(cache, "_code", lambda state=state: f"state-{state}")
        checked(folder)
    kept = {path.name for path in (tmp_path / "cache" / "verdicts").iterdir()}
    assert len(kept) == cache.GENERATIONS
    assert f"state-{cache.GENERATIONS + 1}" in kept


def test_verdicts_of_this_code_stay_when_the_clock_goes_back(folder, tmp_path, monkeypatch):
    verdicts = tmp_path / "cache" / "verdicts"
    for state in range(cache.GENERATIONS + 2):
        monkeypatch.setattr(cache, "_code", lambda state=state: f"state-{state}")
        checked(folder)
        os.utime(verdicts / f"state-{state}", (4e9, 4e9))
        assert list((verdicts / f"state-{state}").iterdir())
    assert len(list(verdicts.iterdir())) == cache.GENERATIONS


def stored(tmp_path):
    (file,) = (tmp_path / "cache" / "verdicts").rglob("*.json")
    return file


def test_a_planted_pickle_is_not_executed(folder, tmp_path):
    class Harm:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    checked(folder)
    planted = pickle.dumps(Harm())
    file = stored(tmp_path)
    file.write_bytes(planted)
    file.with_suffix(".pickle").write_bytes(planted)
    assert not checked(folder).reused
    assert not (tmp_path / "executed").exists()
    pickle.loads(planted)
    assert (tmp_path / "executed").exists(), "the plant was harmless"


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("verdicts"),
        lambda d: d.update(verdicts=[{}]),
        lambda d: d["verdicts"][0].update(verdict="MAYBE"),
        lambda d: d["verdicts"][0].update(margin="1"),
        lambda d: d["verdicts"][0].update(id="another.claim"),
        lambda d: d["verdicts"].pop(),
        lambda d: d["claim"].update(title="another"),
        lambda d: d.update(latex="no list"),
    ],
)
def test_an_edited_entry_is_checked_again(folder, tmp_path, change):
    checked(folder)
    document = json.loads(stored(tmp_path).read_text())
    change(document)
    stored(tmp_path).write_text(json.dumps(document))
    assert not checked(folder).reused
    assert checked(folder).reused
