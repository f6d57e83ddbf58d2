"""The generated part of the documentation has a place for every public name and every algorithm."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sphinx")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Import the extension, as Sphinx does, and forget it afterwards."""
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    yield importlib.import_module("generated_pages")
    for name in ("generated_pages", "verdicts", "linked_names"):
        sys.modules.pop(name, None)


def test_every_public_name_is_described_once(generated: ModuleType) -> None:
    pages = generated.module_pages() | generated.algorithm_pages()
    directives = [line.split(":: ")[1] for page in pages.values() for line in page.splitlines() if ".. auto" in line]
    assert len(directives) == len(set(directives))
    for module in ("fltheory", "fltheory.claims", "fltheory.algorithms", "fltheory.problems", "fltheory.strategies"):
        page = pages[f"api/{module}"]
        names = generated.public_names(importlib.import_module(module))
        assert len(names) >= 8
        missing = [name for name in names if f"`{name} <" not in page and f"``{name}``" not in page]
        assert not missing
    assert "fltheory.algorithms.Scaffold" in directives
    assert "fltheory.theorem" in directives


def test_a_page_of_a_claim_has_its_forms_and_what_its_proof_uses(generated: ModuleType) -> None:
    from fltheory.bounds import catalogue

    known = catalogue.index()
    page = generated.claim_page(known["ruan.theorem-3.1"], set(known), generated.verdicts()["ruan.theorem-3.1"])
    for text in (
        "Ruan et al. (2021), Theorem 3.1, (3).",
        "Violated: false as stated; refuted",
        r"   * - bounded gradients",
        "**Derivation of the corrected form.**",
        "**Sharp: limit** (``sharp@limit``)",
        "`ruan.eq-62 <ruan-eq-62>`",
        "bounded gradients",
    ):
        assert text in page


def test_the_verdicts_of_the_ledger_are_read_back(generated: ModuleType) -> None:
    from fltheory.bounds import catalogue

    found = generated.verdicts()
    known = catalogue.index()
    assert set(found) == set(known)
    for id_, verdicts in found.items():
        assert set(verdicts) == {form.variant for form in known[id_].load().forms}, id_
    misprint = found["ruan.eq-71"]["published"]
    assert (misprint.decision, misprint.severity, misprint.strength) == ("VIOLATED", "misprint", "refuted")
    assert misprint.reason.endswith("1/2 ≠ 1/4")
    assert "Counterexample: N = K_τ = 2" in misprint.in_words()
    assert generated.as_printed(found["ruan.eq-71"]) == "violated (misprint)"
    assert generated.as_printed(found["ruan.eq-31"]) == "holds"
    assert generated.as_printed(found["ruan.theorem-3.1"]) == "violated in part (false)"


def test_lists_of_statements_have_verdicts_and_numbers_of_equations(generated: ModuleType) -> None:
    page = generated.claim_pages()["claims/index-ruan"]
    assert page.startswith("Statements of Ruan et al. (2021)\n")
    assert "     - \\(31)\n     - holds\n" in page  # a plain (31) would be read as a list


def test_ids_and_public_names_in_pages_become_links(generated: ModuleType) -> None:
    linked = importlib.import_module("linked_names")
    assert linked._reference("ruan.theorem-3.1")["reftarget"] == "/reference/generated/claims/ruan-theorem-3-1"
    assert linked._reference("fl.Scaffold")["reftarget"] == "fltheory.algorithms.Scaffold"
    assert linked._reference("fl.no_such_name") is None
    assert linked._reference("ruan.theorem") is None
