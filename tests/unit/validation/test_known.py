"""Counterexamples that come with the package: valid, failing today, and the first points of every search."""

import json
from types import SimpleNamespace

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Experiments, Instances, Sweep, Sweeps
from fltheory.bounds.space import Integer, Space
from fltheory.errors import FltheoryError
from fltheory.validation import known
from fltheory.validation.decide import QUICK, Effort, check
from fltheory.validation.trials import Trials
from fltheory.validation.verdict import Decision
from tests import verdicts

IDS = sorted(path.stem for path in known.SHIPPED.glob("*.json"))
MARGINS = {(form["id"], form["variant"]): form["margin"] for form in verdicts.documented()}
SEARCHED = ("ruan.eq-57", "cfl.eq-44", "efl.eq-18", "fen.stationary")


def test_there_are_some():
    assert len(IDS) > 50


@pytest.mark.parametrize("id_", IDS)
def test_every_shipped_counterexample_is_valid_and_fails(id_):
    """Those of instances have the margin that is printed; runs and sweeps, which take seconds each, are only read."""
    claim = catalogue.index()[id_].load()
    variants = {form.variant: form for form in claim.forms}
    for one in known.stored(id_):
        form = variants[one["variant"]]
        source = claim.check_of(form)
        if isinstance(source, Sweeps):
            assert list(known.sweeps(claim, form, firm=False))
            continue
        variant, point = next(known.points(claim, form))
        assert variant == form.variant
        if isinstance(source, Experiments):
            continue
        reading = Trials(claim, form, source, 0).attempt_given(point)
        assert reading is not None, form.variant
        assert reading.violated, form.variant
        assert MARGINS[id_, form.variant] == ("" if reading.margin is None else f"{reading.margin:.4g}"), form.variant


@pytest.mark.parametrize("id_", SEARCHED)
def test_the_least_search_refutes_what_is_known_to_fail(id_):
    claim = catalogue.index()[id_].load()
    shipped = {one["variant"] for one in known.stored(id_)}
    found = {verdict.variant: verdict for verdict in check(claim, effort=Effort(1, 1, whole_sweeps=False))}
    assert shipped <= {variant for variant, one in found.items() if one.decision is Decision.VIOLATED}
    for variant in shipped:
        one = found[variant]
        assert one.evidence["known counterexample"] is True
        (own,) = (s for s in known.stored(id_) if s["variant"] == variant)
        assert dict(one.counterexample.parameters) == own["parameters"]
        ratio = one.counterexample.ratio
        if one.margin is not None and ratio:
            assert one.margin <= 1 / ratio + 1e-12  # never more than the counterexample shows


def test_an_unaided_search_does_not_use_them():
    claim = catalogue.index()["ruan.eq-57"].load()
    for verdict in check(claim, effort=Effort(1, 1, unaided=True)):
        assert "known counterexample" not in verdict.evidence


def test_a_quick_check_of_a_rate_measures_the_sweep_that_fails():
    claim = next(
        claim
        for claim in (catalogue.index()[id_].load() for id_ in IDS)
        if any(isinstance(claim.check_of(claim.form(one["variant"])), Sweeps) for one in known.stored(claim.id))
    )
    variant = next(
        one["variant"]
        for one in known.stored(claim.id)
        if isinstance(claim.check_of(claim.form(one["variant"])), Sweeps)
    )
    form = claim.form(variant)
    swept = tuple(known.sweeps(claim, form, firm=False))
    assert len(swept[0].values) == known.EXPONENT
    assert claim.check_of(form).shortened(also=swept).sweeps[0] is swept[0]
    (verdict,) = check(claim, variant=variant, effort=QUICK)
    assert verdict.decision is Decision.VIOLATED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"format": "fltheory-known-1", "id": "x.y", "counterexamples": 3}',
        '{"format": "other"}',
        '{"format": "other", "id": "x.y", "counterexamples": []}',
        '{"format": "fltheory-known-1", "id": "x.z", "counterexamples": []}',
    ],
)
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / "x.y.json").write_text(text)
    with pytest.raises(FltheoryError, match=r"x\.y\.json"):
        known.stored("x.y", tmp_path)


def test_a_damaged_file_does_not_stop_a_check(tmp_path, monkeypatch):
    (tmp_path / "ruan.eq-68.json").write_text("{")
    monkeypatch.setattr(known, "SHIPPED", tmp_path)
    known.shipped.cache_clear()
    try:
        monkeypatch.setattr(known.stored, "__defaults__", (tmp_path,))
        claim = catalogue.index()["ruan.eq-68"].load()
        assert check(claim, effort=Effort(1, 1))[0].decision is Decision.HOLDS
    finally:
        known.shipped.cache_clear()


def test_what_fails_today_is_told_and_main_keeps_it(tmp_path, monkeypatch, capsys):
    for id_ in ("ruan.eq-71", "p.unknown"):
        text = (known.SHIPPED / "ruan.eq-71.json").read_text().replace('"id": "ruan.eq-71"', f'"id": "{id_}"')
        (tmp_path / f"{id_}.json").write_text(text)
    stored = known.stored("ruan.eq-71", tmp_path)
    harmless = {"variant": "corrected", "parameters": stored[0]["parameters"]}
    damaged = {"variant": "published", "parameters": {}}
    document = {"format": known.FORMAT, "id": "ruan.eq-71", "counterexamples": [*stored, harmless, damaged]}
    (tmp_path / "ruan.eq-71.json").write_text(json.dumps(document))
    monkeypatch.setattr(known, "SHIPPED", tmp_path)
    monkeypatch.setattr(known.stored, "__defaults__", (tmp_path,))
    assert list(known.failing()) == [("ruan.eq-71", one["variant"]) for one in stored]
    monkeypatch.setattr("fltheory.validation.ledger.load", lambda path: {"claims": []})
    assert known.main(["ledger.json"]) == 0
    assert capsys.readouterr().out == "no difference\n"


def ledger(**verdicts):
    forms = [
        {"variant": variant, "counterexample": None if point is None else {"parameters": point}}
        for variant, point in verdicts.items()
    ]
    return {"claims": [{"id": "x.y", "forms": forms}]}


def test_files_are_renewed_from_a_ledger(tmp_path):
    first = ledger(published={"N": 1}, corrected={"N": 5})
    assert known.renew(first, folder=tmp_path) == ["+ x.y published"]
    assert known.stored("x.y", tmp_path) == [{"variant": "published", "parameters": {"N": 1}}]
    assert known.renew(first, folder=tmp_path) == []
    missed = ledger(published=None)
    assert known.renew(missed, [("x.y", "published")], folder=tmp_path) == []
    assert known.renew(missed, folder=tmp_path) == ["- x.y published"]
    assert not list(tmp_path.iterdir())
    known.renew(ledger(published={"N": 1}, **{"published@other": {"N": 2}}), folder=tmp_path)
    one_left = ledger(published={"N": 1}, **{"published@other": None})
    assert known.renew(one_left, folder=tmp_path) == ["- x.y published@other"]
    assert known.stored("x.y", tmp_path) == [{"variant": "published", "parameters": {"N": 1}}]


def test_main_says_how_it_is_called(tmp_path, capsys):
    assert known.main([]) == 2
    assert "LEDGER" in capsys.readouterr().err
    (tmp_path / "ledger.json").write_text(json.dumps({"claims": 1}))
    with pytest.raises(FltheoryError):
        known.main([str(tmp_path / "ledger.json")])


def test_sweeps_that_are_known_to_fail_are_made_lighter_like_their_own(monkeypatch):
    """Sweeps of another parameter, or from another base, have lighter parameters of their own."""
    values = (1, 2, 4, 8)
    sweeps = (
        Sweep("m", values, {"T": 2, "n": 2}, {"n": 9}),
        Sweep("T", values, {"m": 3, "n": 3}, {"n": 7}),
        Sweep("T", values, {"m": 2, "n": 2}, {"n": 1}),
    )
    space = Space({name: Integer(1, 9) for name in ("T", "m", "n")})
    source = Sweeps(instances=Instances(space=space, realise=dict), sweeps=sweeps)
    claim = SimpleNamespace(id="planted.x", check_of=lambda form: source)
    stored = [
        {"T": list(values), "m": 2, "n": 2},
        {"T": list(values), "m": 3, "n": 3},
        {"T": [2, 4, 6, 8, 9], "m": 2, "n": 3},
    ]
    kept = [{"variant": variant, "parameters": one} for one in stored for variant in ("published", "published@other")]
    monkeypatch.setattr(known, "shipped", lambda id_: kept)
    found = list(known.sweeps(claim, SimpleNamespace(variant="published"), firm=True))
    assert [(one.name, one.values) for one in found] == [("T", values)] * 2 + [("T", (2, 4, 6, 8, 9))]
    assert [one.base for one in found] == [{"m": 2, "n": 1}, {"m": 3, "n": 7}, {"m": 2, "n": 3}]
    (*_, short) = known.sweeps(claim, SimpleNamespace(variant="published"), firm=False)
    assert short.values == (4, 6, 8, 9)


def test_points_that_cannot_be_read_are_passed_over_and_the_own_ones_come_first(monkeypatch):
    """Between them one of an earlier space, with another parameter, and one out of range."""
    source = Instances(space=Space({"N": Integer(1, 9)}), realise=dict)
    claim = SimpleNamespace(id="planted.x", check_of=lambda form: source)
    kept = [("other", {"N": 2}), ("other", {"M": 1}), ("own", {"N": 10}), ("own", {"N": 3}), ("more", {"N": 4})]
    monkeypatch.setattr(
        known, "shipped", lambda id_: [{"variant": variant, "parameters": point} for variant, point in kept]
    )
    found = list(known.points(claim, SimpleNamespace(variant="own")))
    assert found == [("own", {"N": 3}), ("other", {"N": 2}), ("more", {"N": 4})]


def test_statements_with_sweeps_have_no_points_and_others_no_sweeps(monkeypatch):
    space = Space({"T": Integer(1, 9)})
    points, sweep = Instances(space=space, realise=dict), Sweep("T", (1, 2, 4, 8), {})
    sweeps = Sweeps(instances=points, sweeps=(sweep,))
    stored = [{"variant": "published", "parameters": at} for at in ({"T": 3}, {"M": 1}, {"T": [1, 2, 4, 8]})]
    monkeypatch.setattr(known, "shipped", lambda id_: stored)
    form = SimpleNamespace(variant="published")
    swept, single = (SimpleNamespace(id="p.x", check_of=lambda form, own=own: own) for own in (sweeps, points))
    assert list(known.points(swept, form)) == []
    assert [found.values for found in known.sweeps(swept, form, firm=True)] == [(1, 2, 4, 8)]
    assert list(known.sweeps(single, form, firm=True)) == []
    assert list(known.points(single, form)) == [("published", {"T": 3})]


def test_what_is_shipped_is_written_again_as_it_was(tmp_path):
    """To the byte, so that a renewal shows what has changed and nothing else."""
    id_ = "ruan.eq-71"
    forms = [{"variant": one["variant"], "counterexample": one} for one in known.stored(id_)]
    assert known.renew({"claims": [{"id": id_, "forms": forms}]}, folder=tmp_path)
    name = f"{id_}.json"
    assert (tmp_path / name).read_bytes() == (known.SHIPPED / name).read_bytes()
