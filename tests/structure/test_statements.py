"""Nothing that is claimed changes without a diff that somebody approves."""

import difflib

import pytest

from tests.statements import FOLDER, papers, text


@pytest.mark.parametrize("paper", papers())
def test_statements_are_those_of_the_snapshot(paper: str) -> None:
    known = (FOLDER / f"{paper}.txt").read_text(encoding="utf-8")
    found = text(paper)
    if found != known:
        changes = difflib.unified_diff(known.splitlines(), found.splitlines(), "approved", "now", lineterm="", n=1)
        pytest.fail(
            "statements have changed; if that is meant, renew the snapshot with: python -m tests.statements\n"
            + "\n".join(list(changes)[:60])
        )


def test_the_snapshot_has_no_paper_too_many() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == papers()
