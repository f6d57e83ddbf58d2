"""Every counterexample that a check saves can be evaluated again from its file."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sympy import Le, Rational

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Instances, Kind, Sweeps
from fltheory.bounds.space import Real, Space, plain
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.validation import decide, known
from fltheory.validation.counterexamples import file_of, load, replay_command, save
from fltheory.validation.decide import QUICK, Effort
from fltheory.validation.replay import read_sweep, replay
from fltheory.validation.runner import check_all
from fltheory.validation.verdict import Counterexample
from tests.planted import a, claim

CLAIMS = catalogue.index()
SWEPT = ["efl.theorem-1", "efl.theorem-1-compressed", "efl.theorem-1-elastic", "ruan.corollary-3.2.1"]
"""Statements with sweeps that have arrays in them."""

SAMPLE = ["ruan.eq-9", "ruan.eq-2", "ruan.eq-71", "efl.table-1", "cfl.theorem-4.1-sc", "cfl.lemma-3.4", "fen.lemma-b.3"]


def replay_all(ids, effort, folder):
    """Check claims, save what is found, and evaluate every file again; return the names of the files."""
    done, _ = check_all(catalogue.select(ids), effort=effort)
    found = [verdict for one in done for verdict in one.verdicts if verdict.counterexample is not None]
    assert not any(one.error for one in done)
    for verdict in found:
        path = folder / file_of(verdict.id, verdict.variant)
        save(verdict.counterexample, path)
        again = replay(load(path), CLAIMS)
        assert again.violated, path.name
        assert (again.id, again.variant) == (verdict.id, verdict.variant)
        assert again.arithmetic == verdict.counterexample.arithmetic
        assert (again.lhs, again.rhs) == (verdict.counterexample.lhs, verdict.counterexample.rhs), path.name
    return {(verdict.id, verdict.variant) for verdict in found}


@pytest.mark.parametrize("id_", SWEPT)
def test_counterexamples_of_sweeps_with_arrays_replay(id_, tmp_path):
    found = replay_all([id_], QUICK, tmp_path)
    claim = CLAIMS[id_].load()
    assert any(isinstance(claim.check_of(claim.form(variant)), Sweeps) for _, variant in found)


def test_a_sample_of_all_kinds_replays(tmp_path):
    found = replay_all(SAMPLE, QUICK, tmp_path)
    assert {id_ for id_, _ in found} == set(SAMPLE)


def test_what_a_short_check_of_everything_saves_replays(tmp_path, monkeypatch):
    monkeypatch.setattr(decide, "recall", lambda claim, form: None)  # certificates have tests of their own
    effort = Effort(instances=1, experiments=1, whole_sweeps=False)
    assert len(replay_all(["*"], effort, tmp_path)) > 80


def own_sweeps():
    for entry in CLAIMS.values():
        claim = entry.load()
        for form in claim.forms:
            check = claim.check_of(form)
            if isinstance(check, Sweeps):
                yield from ((entry.id, form.variant, check, sweep) for sweep in check.sweeps)


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other


def test_every_sweep_of_every_claim_is_read_as_it_was_written():
    count = 0
    for id_, variant, check, sweep in own_sweeps():
        for given in (sweep.base, {**sweep.base, **sweep.lighter}):
            base = {name: value for name, value in given.items() if name != sweep.name}
            stored = json.loads(json.dumps({**plain(base), sweep.name: list(sweep.values)}))
            read = read_sweep(check, stored)
            assert (read.name, read.values) == (sweep.name, sweep.values), (id_, variant)
            assert read.base.keys() == base.keys()
            assert all(same(base[name], read.base[name]) for name in base), (id_, variant, base, read.base)
            count += 1
    assert count > 1000


SWEEP = ("ruan.corollary-3.2.1", "published@order")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau_0": [1, 2, 4]}, "tau_0 must be a list of 4 to 200 numbers"),
        ({"tau_0": [1, 2, 4, 10**12]}, r"tau_0\[3\]"),
        ({"tau_0": [8, 4, 2, 1]}, "increasing"),
        ({"tau_0": [1, 2, 4, "8"]}, r"tau_0\[3\]"),
        ({"tau_0": 3}, "parameters must be those of a sweep"),
        ({"unknown": 3}, "parameters must be those of a sweep"),
    ],
)
def test_an_edited_sweep_is_refused_with_the_field(change, message):
    claim = CLAIMS[SWEEP[0]].load()
    check = claim.check_of(claim.form(SWEEP[1]))
    sweep = next(sweep for sweep in check.sweeps if sweep.name == "tau_0")
    stored = {**plain(sweep.base), "tau_0": list(sweep.values), **change}
    document = {"id": SWEEP[0], "variant": SWEEP[1], "parameters": stored, "seed": 0}
    with pytest.raises(InvalidParameter, match=f"edited.json: .*{message}"):
        replay(document, CLAIMS, where="edited.json")


def test_commands_to_replay_name_further_folders():
    assert replay_command(Path("a b.json")) == "fltheory replay 'a b.json'"
    folders = [Path("one"), Path("two")]
    assert replay_command(Path("x.json"), folders) == "fltheory replay x.json --claims one --claims two"


def test_a_claim_that_is_not_known_is_told():
    with pytest.raises(InvalidParameter, match=r"x\.json: claim 'p\.x' is not known; name the folder .* --claims"):
        replay({"id": "p.x", "variant": "published", "parameters": {}, "seed": 0}, CLAIMS, where="x.json")


def test_what_is_replayed_is_printed_as_json():
    stored = known.stored("ruan.eq-71")[0]
    found = replay({"id": "ruan.eq-71", "seed": 0, **stored}, CLAIMS)
    assert found.as_json() == {
        "id": "ruan.eq-71", "variant": stored["variant"], "violated": True, "lhs": found.lhs, "rhs": found.rhs,
        "arithmetic": "rational",
    }  # fmt: skip


def test_a_counterexample_without_a_field_is_refused(tmp_path):
    (tmp_path / "x.json").write_text('{"format": "fltheory-counterexample-1", "id": "p.x", "seed": 0}')
    with pytest.raises(InvalidParameter, match=r"x\.json: lacks variant"):
        load(tmp_path / "x.json")


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": "other"}'])
def test_a_file_that_is_no_counterexample_is_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InvalidParameter, match=r"x\.json: is not a counterexample"):
        load(tmp_path / "x.json")


def test_a_negative_seed_is_refused(tmp_path):
    found = Counterexample(
        id="p.x", variant="published", parameters={}, lhs="2", rhs="1", ratio=2.0, sign=">", relation=0, where={},
        arithmetic="rational", seed=0,
    )  # fmt: skip
    path = tmp_path / "new" / "folders" / file_of("p.x", "published")
    save(found, path)
    assert load(path)["seed"] == 0
    path.write_text(path.read_text().replace('"seed": 0', '"seed": -1'))
    with pytest.raises(InvalidParameter, match="seed must be at least 0, got -1"):
        load(path)


def test_a_claim_that_raises_on_an_instance_is_one_line(monkeypatch):
    from fltheory.validation import replay as module

    def broken(*_, **__):
        raise IndexError("list index out of range")

    monkeypatch.setattr(module, "outcome_at", broken)
    stored = {"id": "ruan.lemma-a.2", "variant": "published", "seed": 0}
    claim = CLAIMS["ruan.lemma-a.2"].load()
    monkeypatch.setattr(module, "read_point", lambda *_: {})
    with pytest.raises(FltheoryError, match=r"x\.json: ruan\.lemma-a\.2 cannot be evaluated on this instance: Index"):
        replay({**stored, "parameters": {}}, {claim.id: CLAIMS[claim.id]}, where="x.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"N": 10**6}, "parameters.N is outside the space of its claim"),
        ({"N": 2.5}, "parameters.N cannot be read"),
        ({"N": True}, "parameters.N cannot be read"),
        ({"unknown": 1}, "parameters.unknown is not a parameter of the claim"),
        ({"N": None}, "parameters.N cannot be read"),
    ],
)
def test_an_edited_instance_is_refused_with_the_field(change, message):
    claim = CLAIMS["ruan.eq-71"].load()
    done, _ = check_all([CLAIMS[claim.id]], effort=QUICK)
    stored = done[0].verdicts[0].counterexample.as_json()
    assert replay(stored, CLAIMS).violated
    edited = {**stored, "parameters": {**stored["parameters"], **change}}
    with pytest.raises(InvalidParameter, match=rf"edited\.json: {message}"):
        replay(edited, CLAIMS, where="edited.json")
    for name in stored["parameters"]:
        fewer = {key: value for key, value in stored["parameters"].items() if key != name}
        with pytest.raises(InvalidParameter, match=rf"parameters\.{name} is missing"):
            replay({**stored, "parameters": fewer}, CLAIMS)


def test_arithmetic_of_what_is_replayed_is_told():
    """Instances that are made in floating point say so; the others are evaluated without rounding."""
    space = Space({"x": Real(0, 1)})
    for rational, told in ((True, ("rational", "3/4")), (False, ("float64", "0.75"))):
        source = Instances(space=space, realise=lambda point: {"planted_a": point["x"]}, rational=rational)
        made = claim("replayed", Kind.LEMMA, Le(a, Rational(1, 2)), source)
        stored = {"id": made.id, "variant": "published", "seed": 0, "parameters": {"x": "3/4"}}
        found = replay(stored, {made.id: SimpleNamespace(load=lambda made=made: made)})
        assert (found.violated, found.arithmetic, found.lhs) == (True, *told)
