"""Every claim, by laws that hold for all of them; nothing here knows a verdict."""

import inspect
import json
import re
from pathlib import Path

import pytest

import fltheory
from fltheory.bounds import catalogue
from fltheory.bounds.claim import Claim, Kind, Sweeps
from fltheory.bounds.space import plain
from fltheory.report.formulas import mathml
from fltheory.report.markup import page
from fltheory.validation.decide import FULL, QUICK, check
from fltheory.validation.verdict import Decision
from tests import verdicts

ENTRIES = catalogue.index()
LINES = [line.split("  ") for line in verdicts.FILE.read_text(encoding="utf-8").splitlines()]
KEPT = {(id_, variant): rest for id_, variant, *rest in LINES}
BOUNDS = Path(fltheory.__file__).parent / "bounds"


@pytest.fixture(scope="module")
def loaded():
    """All claims in one process, so that a letter with two meanings is noticed."""
    return {id_: entry.load() for id_, entry in ENTRIES.items()}


def test_what_is_listed_is_what_is_loaded(loaded):
    for id_, claim in loaded.items():
        entry = ENTRIES[id_]
        assert isinstance(claim, Claim)
        assert (claim.id, claim.kind, claim.title) == (entry.id, Kind(entry.kind), entry.title)
        assert (claim.citation.paper, claim.citation.reference) == (entry.paper, entry.reference)
        assert entry.path.parent.name == entry.paper
        assert entry.path.stem == re.sub(r"[.-]", "_", entry.id.partition(".")[2]).lower()


def test_proofs_use_statements_that_are_there(loaded):
    for claim in loaded.values():
        assert not set(claim.uses) - ENTRIES.keys(), claim.id
        assert claim.id not in claim.uses


def test_what_is_ours_is_derived_on_its_page(loaded):
    for id_, claim in loaded.items():
        text = inspect.getdoc(ENTRIES[id_].module())
        for word in ("corrected", "sharp"):
            if any(form.variant.startswith(word) for form in claim.forms):
                assert re.search(rf"\*\*Derivation of the {word} form", text), (id_, word)


def test_what_is_ours_says_what_it_changes(loaded):
    ours = [(id_, form) for id_, claim in loaded.items() for form in claim.forms if form.must_hold]
    assert not [(id_, form.variant) for id_, form in ours if not form.note]


def test_what_is_ours_says_in_a_sentence_what_it_says(loaded):
    for claim in loaded.values():
        for form in claim.forms:
            assert form.note or not form.must_hold, (claim.id, form.variant)
            assert len(form.note) <= 120, (claim.id, form.variant)


def test_pages_and_statements_are_readable(loaded):
    for id_, claim in loaded.items():
        html = page(inspect.getdoc(ENTRIES[id_].module()))
        assert "system-message" not in html, id_
        assert "problematic" not in html, id_
        for form in claim.forms:
            assert mathml(form.latex()).startswith("<math"), (id_, form.variant)


def test_sweeps_can_be_written_to_a_ledger(loaded):
    for claim in loaded.values():
        for form in claim.forms:
            made = claim.check_of(form)
            for sweep in made.sweeps if isinstance(made, Sweeps) else ():
                json.dumps({**plain(dict(sweep.base)), sweep.name: list(sweep.values)}, allow_nan=False)


def test_nobody_writes_down_a_verdict():
    for path in BOUNDS.rglob("*.py"):
        assert not re.search(r"\b(HOLDS|VIOLATED|INCONCLUSIVE|NOT_APPLICABLE)\b", path.read_text()), path


@pytest.mark.parametrize("id_", ENTRIES)
def test_what_is_ours_holds_and_everything_can_be_evaluated(id_):
    """Verdicts, and what they rest on, are those of the snapshot: shipped certificates are replayed on the way."""
    claim = ENTRIES[id_].load()
    for form in claim.forms:
        verdict = check(claim, variant=form.variant, effort=QUICK)[0]
        if verdict.decision is Decision.NOT_APPLICABLE:  # premises that few points fulfil
            verdict = check(claim, variant=form.variant, effort=FULL)[0]
        assert KEPT[id_, form.variant][:2] == [verdict.decision.value, verdict.strength.value], verdict.reason
        assert verdict.decision is not Decision.NOT_APPLICABLE, (verdict.variant, verdict.reason)
        if not verdict.variant.startswith("published"):
            assert verdict.decision is Decision.HOLDS, (verdict.variant, verdict.reason)
