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
    sys.modules.pop("generated_pages")


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
    page = generated.claim_page(known["ruan.theorem-3.1"], set(known))
    for text in (
        "**Derivation of the corrected form.**",
        "**Sharp: limit** (``sharp@limit``)",
        "`ruan.eq-62 <ruan-eq-62>`",
        "bounded gradients",
    ):
        assert text in page
