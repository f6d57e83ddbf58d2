"""What the command line does, as functions: objects come back, and nothing is written unless asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

import fltheory as fl

OWN = Path(__file__).parents[3] / "examples" / "own-claims"
DRIFT = "own.local-drift"


def test_check_returns_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = fl.check(DRIFT, claims=OWN, quick=True)
    assert [(v.variant, v.decision) for v in found] == [
        ("published", fl.Decision.VIOLATED),
        ("corrected", fl.Decision.HOLDS),
    ]
    assert found.ok
    assert found[0].counterexample is not None
    assert len(found) == len(found.verdicts) == 2
    assert not found.broken
    assert not found.errors
    assert "VIOLATED" in str(found)
    assert found._repr_html_().count("<tr>") == 3
    assert repr(found) == "Checks(1 claims, 2 verdicts)"
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_check_writes_where_it_is_told(tmp_path: Path) -> None:
    found = fl.check([DRIFT], claims=[OWN], quick=True, variant="published", output=tmp_path / "kept")
    assert found.kept is not None
    assert (tmp_path / "kept" / "ledger.json").is_file()
    (saved,) = (tmp_path / "kept" / "counterexamples").glob("*.json")
    assert fl.replay(saved, claims=OWN).violated


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(fl.InvalidParameter, match=r"did you mean 'ruan\.eq-68'"):
        fl.check("ruan.eq-068")
    with pytest.raises(fl.InvalidParameter, match="none of the claims has a form 'sharper'"):
        fl.check(DRIFT, claims=OWN, quick=True, variant="sharper")
    with pytest.raises(fl.InvalidParameter, match="jobs"):
        fl.check(DRIFT, claims=OWN, jobs=0)


def test_a_broken_form_of_ones_own_is_named(tmp_path: Path) -> None:
    text = (OWN / "local_drift.py").read_text(encoding="utf-8")
    (tmp_path / "worse.py").write_text(text.replace("2 * eta**2 * gradients", "eta**2 * gradients / 2"))
    found = fl.check("own.*", claims=tmp_path, quick=True)
    assert not found.ok
    assert found.broken == (DRIFT,)


def test_falsify_and_replay(tmp_path: Path) -> None:
    found = fl.falsify(DRIFT, claims=OWN, budget=0.1, output=tmp_path)
    assert found.counterexample is not None
    assert found.path is not None
    assert found.path.parent == tmp_path
    assert found.searches == 1
    again = fl.replay(found.path, claims=OWN)
    assert again.violated
    assert again.arithmetic == "rational"
    assert fl.replay(found.counterexample, claims=OWN).lhs == again.lhs
    assert "fails" in found.counterexample._repr_html_()
    assert DRIFT in str(found.counterexample)


def test_a_form_that_holds_is_not_falsified(tmp_path: Path) -> None:
    found = fl.falsify(DRIFT, claims=OWN, variant="corrected", budget=0.1, output=tmp_path)
    assert found.counterexample is None
    assert found.path is None
    assert found.instances > 0
    assert not list(tmp_path.iterdir())


def test_validate_returns_what_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fltheory.bounds import catalogue

    chosen = catalogue.select([DRIFT, "ruan.eq-71"], [OWN])
    monkeypatch.setattr(catalogue, "select", lambda *_: chosen)
    found = fl.validate(output=tmp_path, quick=True, figures=False, claims=OWN)
    assert found.ok
    assert not found.interrupted
    assert found.report.is_file()
    assert {row["paper"]: row["statements"] for row in found.summary} == {"ruan": 1, "own": 1}
    assert {entry["id"] for entry in found.ledger["claims"]} == {DRIFT, "ruan.eq-71"}
