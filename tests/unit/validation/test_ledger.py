"""Ledgers: later checks are merged into earlier ones, and every entry says where it is from."""

import copy
import json
import os
from pathlib import Path

import pytest

from fltheory.bounds import catalogue
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.validation import ledger, ledger_text
from fltheory.validation.decide import Effort
from fltheory.validation.ledger import LedgerFolder
from fltheory.validation.runner import check_all
from fltheory.validation.verdict import Checked

OWN = Path(__file__).parents[3] / "examples" / "own-claims"
EFFORT = Effort(36, 5)
IDS = ["ruan.eq-71", "ruan.lemma-a.2", "own.local-drift"]


def checked(*ids, **more):
    return check_all(catalogue.select(list(ids), [OWN]), effort=EFFORT, **more)[0]


@pytest.fixture(scope="module")
def all_three():
    return checked(*IDS)


@pytest.fixture
def book(tmp_path, all_three):
    with LedgerFolder(tmp_path) as folder:
        folder.keep(all_three, seed=0, effort="full")
    return tmp_path


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def keep(folder, found, **more):
    with LedgerFolder(folder) as opened:
        return opened.keep(found, **{"seed": 0, "effort": "full", **more})


def by_form(document):
    return {(form["id"], form["variant"]): form for entry in document["claims"] for form in entry["forms"]}


def test_a_check_of_one_claim_leaves_all_others_as_they_were(book, monkeypatch):
    before, old = content(book), by_form(ledger.load(book / "ledger.json"))
    assert "counterexamples/ruan.eq-71@published.json" in before
    monkeypatch.setattr(ledger, "commit", lambda: "f" * 40)
    found = keep(book, checked("ruan.eq-71", seed=3), seed=3, effort="quick")
    assert [entry["id"] for entry in found.checked["claims"]] == ["ruan.eq-71"]
    new = ledger.load(book / "ledger.json")
    assert [entry["id"] for entry in new["claims"]] == IDS
    for key, form in by_form(new).items():
        if key[0] != "ruan.eq-71":
            assert form == old[key]
        else:
            assert (form["commit"], form["seed"], form["effort"]) == ("f" * 40, 3, "quick")
    after = content(book)
    assert after.keys() == before.keys()
    assert (
        after["counterexamples/own.local-drift@published.json"]
        == before["counterexamples/own.local-drift@published.json"]
    )


def test_a_check_of_one_form_leaves_the_other_forms(book):
    old = by_form(ledger.load(book / "ledger.json"))
    keep(book, checked("ruan.eq-71", variant="published", seed=5), seed=5, variant="published")
    new = by_form(ledger.load(book / "ledger.json"))
    assert new.keys() == old.keys()
    changed = {key for key in new if new[key]["seed"] != old[key]["seed"]}
    assert changed == {("ruan.eq-71", "published")}


def test_one_form_of_a_claim_that_is_new_is_added(book):
    old = ledger.load(book / "ledger.json")
    gone = {**old, "claims": old["claims"][1:]}
    one = {**old, "claims": [{**old["claims"][0], "forms": old["claims"][0]["forms"][:1]}]}
    found = ledger.merged(gone, one, variant="published")
    assert [entry["id"] for entry in found["claims"]] == IDS
    assert len(found["claims"][0]["forms"]) == 1
    assert ledger.merged(None, one)["claims"] == one["claims"]


def test_a_claim_without_the_form_asked_for_stays(book):
    before = ledger.load(book / "ledger.json")["claims"]
    keep(book, checked("ruan.lemma-a.2", variant="sharp@nothing"), variant="sharp@nothing")
    assert ledger.load(book / "ledger.json")["claims"] == before


def test_a_claim_that_cannot_be_evaluated_keeps_its_verdicts_and_counts_as_open(book, all_three):
    from fltheory.validation.summary import printed

    broken = Checked(all_three[0].entry, (), (), (), (), "MemoryError: too much")
    found = keep(book, [broken]).ledger["claims"][0]
    assert (found["error"], printed(found)) == ("MemoryError: too much", "INCONCLUSIVE")
    assert found["forms"]
    assert (book / "counterexamples" / "ruan.eq-71@published.json").exists()


def test_a_counterexample_goes_only_once_the_form_holds_and_the_new_ledger_is_there(book, all_three, monkeypatch):
    import dataclasses

    from fltheory.validation.verdict import Decision

    good = tuple(dataclasses.replace(v, decision=Decision.HOLDS, counterexample=None) for v in all_three[0].verdicts)
    better = dataclasses.replace(all_three[0], verdicts=good)
    before = content(book)

    def full(*_, **__):
        raise OSError(28, "no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "write_json", full)
        with pytest.raises(OSError, match="no space"):
            keep(book, [better])
    assert content(book) == before
    keep(book, [better])
    assert not (book / "counterexamples" / "ruan.eq-71@published.json").exists()
    assert (book / "counterexamples" / "own.local-drift@published.json").exists()


def test_an_interrupted_check_that_finished_nothing_changes_nothing(book):
    before = content(book)
    keep(book, [])
    assert content(book) == before


def test_a_damaged_ledger_is_told_before_anything_is_checked(book):
    (book / "ledger.json").write_text("{")
    with pytest.raises(InvalidParameter, match=r"ledger\.json: is not valid JSON"), LedgerFolder(book):
        pytest.fail("opened")
    (book / "ledger.json").unlink()
    with LedgerFolder(book):  # the lock of the failed attempt is gone
        pass


def test_two_checks_do_not_share_a_folder(book):
    message = f"in use: process {os.getpid()} is writing"
    with LedgerFolder(book), pytest.raises(FltheoryError, match=message), LedgerFolder(book):
        pytest.fail("opened twice")


def test_a_mixed_ledger_says_so_everywhere(book, monkeypatch):
    assert ledger.origins_in_words(ledger.load(book / "ledger.json")) == ""
    assert "| checked |" not in (book / "ledger.md").read_text()
    monkeypatch.setattr(ledger, "commit", lambda: "f" * 40)
    document = keep(book, checked("ruan.eq-71"), effort="quick").ledger
    words = ledger.origins_in_words(document)
    assert "of commit ffffffffffff, quick effort" in words
    text = (book / "ledger.md").read_text()
    assert words in text
    row = next(line for line in text.splitlines() if line.startswith("| `ruan.eq-71`"))
    assert row.count("ffffffffffff, quick") == 1
    rows = [line for line in text.splitlines() if line.startswith(("| `", "| claim"))]
    assert {line.replace("\\|", "").count("|") for line in rows} == {7}


def test_a_ledger_of_the_first_version_is_read(book):
    document = json.loads((book / "ledger.json").read_text())
    for entry in document["claims"]:
        for name in ledger.ORIGIN:
            del entry[name]
            for form in entry["forms"]:
                form.pop(name) if name != "seed" else None
    (book / "ledger.json").write_text(json.dumps(document))
    form = ledger.load(book / "ledger.json")["claims"][0]["forms"][0]
    assert (form["commit"], form["effort"]) == (document["commit"], "full")


def test_text_of_claims_is_no_markup_in_the_table(book):
    document = ledger.load(book / "ledger.json")
    entry = document["claims"][0]
    entry["title"] = "a | b <script>alert(1)</script> [x](javascript:alert(1)) *bold* `code`\n\n# heading"
    entry["error"] = "cell | cell <b>"
    text = ledger_text.table(document)
    (line,) = [line for line in text.splitlines() if line.startswith("| `ruan.eq-71`")]
    assert "<script>" not in text
    assert "](javascript" not in text.replace("\\](", "")
    assert "\\*bold\\* \\`code\\` # heading" in line
    assert line.replace("\\|", "").count("|") == 6


def test_names_of_claims_are_code_in_the_table(book):
    document = ledger.load(book / "ledger.json")
    document["claims"][0]["id"] = "p.`a`|b"
    (line,) = [line for line in ledger_text.table(document).splitlines() if line.startswith("| `p.")]
    assert line.startswith("| `p.'a'\\|b` | ")


def test_changed_verdicts_and_lost_forms_count_as_changes(book):
    old = ledger.load(book / "ledger.json")
    assert ledger_text.differences(old, old) == ([], False)
    new = copy.deepcopy(old)
    new["claims"][0]["forms"][0]["margin"] = 17.0
    assert not ledger_text.differences(old, new).changed
    fewer = copy.deepcopy(old)
    del fewer["claims"][0]
    assert ledger_text.differences(old, fewer).changed
    assert not ledger_text.differences(fewer, old).changed
    new["claims"][1]["forms"][0]["verdict"] = "INCONCLUSIVE"
    assert ledger_text.differences(old, new).changed


def compared(was, now):
    """What is said of a form of which one entry was this and is that."""
    usual = {"variant": "published", "verdict": "HOLDS", "severity": "", "strength": "searched", "margin": 1.0}
    documents = [{"claims": [{"id": "p.x", "forms": [{**usual, **one}]}]} for one in (was, now)]
    return ledger_text.differences(*documents)


@pytest.mark.parametrize(
    ("was", "now", "line"),
    [
        ({"margin": 2.0}, {"margin": 2.039}, ""),
        ({"margin": 2.0}, {"margin": 1.961}, ""),
        ({"margin": 2.0}, {"margin": 2.05}, "~ p.x published: margin (2) -> (2.05)"),
        ({"margin": 2.0}, {"margin": 1.95}, "~ p.x published: margin (2) -> (1.95)"),
        ({"margin": -2.0}, {"margin": -1.961}, ""),
        ({"margin": None}, {"margin": 2.0}, "~ p.x published: margin  -> (2)"),
        ({"margin": 2.0}, {"margin": None}, "~ p.x published: margin (2) -> "),
        ({"margin": None}, {"margin": None}, ""),
        ({"severity": "gap"}, {}, "~ p.x published: gap -> no severity"),
        ({}, {"severity": "false", "strength": "proved"}, "~ p.x published: no severity -> false"),
        ({"strength": "proved"}, {}, "~ p.x published: proved -> searched"),
        ({"strength": ""}, {"margin": 3.0}, "~ p.x published: of unknown strength -> searched"),
        ({"strength": "proved"}, {"strength": ""}, "~ p.x published: proved -> unknown"),
        ({}, {"verdict": "VIOLATED", "margin": 0.5}, "! p.x published: HOLDS -> VIOLATED"),
        ({}, {"variant": "sharp"}, "- p.x published: HOLDS"),
    ],
)
def test_one_line_tells_how_a_form_has_changed(was, now, line):
    found = compared(was, now)
    assert found.lines[:1] == ([line] if line else [])
    assert found.changed is line.startswith(("!", "-"))


def test_a_line_has_published_forms_on_the_left_and_others_on_the_right():
    usual = {"strength": "searched", "margin": 0.5, "severity": ""}
    forms = [
        {
            "variant": "published",
            "verdict": "VIOLATED",
            **usual,
            "severity": "gap",
            "reason": "fails at 2 > 1",
            "note": "x",
        },
        {"variant": "published@a", "verdict": "HOLDS", **usual, "reason": "smallest rhs/lhs 0.5", "note": "y"},
        {"variant": "corrected", "verdict": "HOLDS", **usual, "reason": "never told", "note": "twice the constant"},
    ]
    entry = {"id": "p.eq-1", "title": "a bound", "reference": "(1)", "error": "", "forms": forms}
    assert ledger_text._line(entry).split(" | ") == [
        "| `p.eq-1`",
        "a bound, (1)",
        "**VIOLATED** gap searched (0.5)<br>@a **HOLDS** searched (0.5)",
        "2 &gt; 1<br>@a smallest rhs/lhs 0.5",
        "corrected **HOLDS** searched (0.5): twice the constant |",
    ]
    assert ledger_text._line({**entry, "error": "too slow", "forms": forms[:1]}).endswith(" | too slow |   |")


def test_a_commit_is_cut_and_one_that_is_not_known_called_so():
    assert ledger.named("0123456789abcdef") == "0123456789ab"
    assert ledger.named("0123") == "0123"
    assert ledger.named("") == "unknown"


def test_a_restricted_ledger_has_the_claims_asked_for_and_no_others(book):
    document = ledger.load(book / "ledger.json")
    some = ledger.restricted(document, {IDS[2], IDS[0], "p.unknown"})
    assert [entry["id"] for entry in some["claims"]] == [IDS[0], IDS[2]]
    assert {name: value for name, value in some.items() if name != "claims"} == {
        name: value for name, value in document.items() if name != "claims"
    }
    assert ledger.restricted(document, set())["claims"] == []


def test_a_form_has_the_seed_and_the_time_of_its_own_search(all_three):
    """What was taken over was found earlier; a search with another seed has that one."""
    import dataclasses

    other = tuple(dataclasses.replace(verdict, seed=7) for verdict in all_three[0].verdicts)
    earlier = dataclasses.replace(all_three[0], verdicts=other, time="2001-02-03T04:05:06Z")
    document = ledger.ledger([earlier, dataclasses.replace(all_three[1], time="")], seed=3, effort="full")
    first, second = document["claims"]
    assert {(form["seed"], form["time"]) for form in first["forms"]} == {(7, "2001-02-03T04:05:06Z")}
    assert first["time"] == "2001-02-03T04:05:06Z"
    assert second["time"] == document["time"]
    assert {form["time"] for form in second["forms"]} == {document["time"]}


def test_a_claim_with_an_error_keeps_what_it_used(book):
    old = ledger.load(book / "ledger.json")
    before = {**old, "claims": [{**old["claims"][0], "uses": ["p.step"]}]}
    broken = {**before, "claims": [{**before["claims"][0], "forms": [], "uses": [], "error": "too much"}]}
    (entry,) = ledger.merged(before, broken)["claims"]
    assert (entry["uses"], entry["error"]) == (["p.step"], "too much")
    assert len(entry["forms"]) == len(before["claims"][0]["forms"])


def test_the_first_check_that_finished_nothing_writes_an_empty_ledger(tmp_path):
    found = keep(tmp_path, [])
    assert found.ledger["claims"] == []
    assert ledger.load(tmp_path / "ledger.json")["claims"] == []


def test_a_form_under_the_name_of_another_claim_is_refused(book):
    document = json.loads((book / "ledger.json").read_text())
    document["claims"][0]["forms"][0]["id"] = "p.other"
    (book / "ledger.json").write_text(json.dumps(document))
    with pytest.raises(InvalidParameter, match=r"must have its id, got 'p\.other'"):
        ledger.load(book / "ledger.json")
