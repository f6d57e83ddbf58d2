"""What results rest on: steps are followed along the proof graph, and nothing counts for more than it is."""

from __future__ import annotations

from typing import Any

import pytest

from fltheory.validation.composition import composed, rests, table, totals


def form(variant: str, verdict: str = "HOLDS", strength: str = "certified") -> dict[str, Any]:
    """Return a form of a ledger."""
    return {"variant": variant, "verdict": verdict, "strength": strength}


def statement(kind: str, *forms: dict[str, Any], uses: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a claim of a ledger."""
    return {"kind": kind, "uses": list(uses), "forms": list(forms)}


def words(steps: dict[str, dict[str, Any]], *uses: str) -> str:
    """Return what a theorem that uses some steps rests on."""
    theorem = statement("bound", form("published", strength="searched"), uses=uses)
    return rests("theorem", {"theorem": theorem, **steps}).words()


PROVED = statement("lemma", form("published", strength="proved"))
CERTIFIED = statement("lemma", form("published"))
REFUTED = form("published", "VIOLATED", "refuted")


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ({"a": PROVED}, "rests on proved steps"),
        ({"a": PROVED, "b": CERTIFIED}, "rests on certified steps, at the sizes that they state"),
        (
            {"a": statement("lemma", form("published", strength="proved"), form("published@b"))},
            "rests on certified steps, at the sizes that they state",
        ),
        (
            {"a": statement("lemma", form("published"), form("published@b", strength="proved"))},
            "rests on certified steps, at the sizes that they state",
        ),
        (
            {"a": statement("lemma", form("published"), form("published@b", "INCONCLUSIVE", "searched"))},
            "rests on its steps modulo a (open)",
        ),
        (
            {"a": CERTIFIED, "b": statement("lemma", REFUTED, form("corrected", strength="proved"))},
            "rests on certified steps, at the sizes that they state; "
            "refuted as printed, counted by what corrects them: b",
        ),
        (
            {"a": statement("lemma", form("published", strength="extrapolated"), form("sharp", strength="proved"))},
            "rests on proved steps; counted by a form with constants: a",
        ),
        (
            {"a": statement("lemma", form("published", strength="searched"))},
            "rests on its steps modulo a (searched)",
        ),
        (
            {"a": CERTIFIED, "b": statement("lemma", form("published"), form("published@other", strength="searched"))},
            "rests on its steps modulo b (searched)",
        ),
        (
            {
                "a": statement(
                    "lemma", REFUTED, form("corrected", strength="searched"), form("sharp", strength="proved")
                )
            },
            "rests on its steps modulo a (refuted as printed, corrected form searched)",
        ),
        (
            {"a": statement("lemma", REFUTED, form("corrected@rate", strength="extrapolated"), form("sharp@rate"))},
            "rests on certified steps, at the sizes that they state; "
            "refuted as printed, counted by what corrects them: a",
        ),
        (
            {
                "a": statement(
                    "lemma",
                    REFUTED,
                    form("corrected@rate", strength="extrapolated"),
                    form("sharp@rate", "INCONCLUSIVE"),
                )
            },
            "rests on its steps modulo a (refuted as printed, corrected form extrapolated)",
        ),
        (
            {
                "a": statement(
                    "lemma",
                    REFUTED,
                    form("corrected@rate", strength="extrapolated"),
                    form("sharp@rate", strength="searched"),
                )
            },
            "rests on its steps modulo a (refuted as printed, corrected form extrapolated)",
        ),
        (
            {"a": statement("lemma", REFUTED, form("corrected@rate", strength="extrapolated"), form("sharp"))},
            "rests on its steps modulo a (refuted as printed, corrected form extrapolated)",
        ),
        (
            {"a": statement("lemma", REFUTED, form("corrected@rate", "INCONCLUSIVE"), form("sharp@rate"))},
            "rests on its steps modulo a (refuted as printed, corrected form open)",
        ),
        ({"a": statement("lemma", REFUTED)}, "rests on its steps modulo a (refuted)"),
        (
            {"a": statement("lemma", REFUTED, form("published@b"))},
            "rests on its steps modulo a (refuted)",
        ),
        (
            {"a": statement("lemma", REFUTED, form("corrected"), form("corrected@more", strength="searched"))},
            "rests on its steps modulo a (refuted as printed, corrected form searched)",
        ),
        (
            {"a": statement("lemma", form("published"), form("published@none", "NOT_APPLICABLE", "searched"))},
            "rests on certified steps, at the sizes that they state",
        ),
        (
            {"a": statement("lemma", form("published", "INCONCLUSIVE", "extrapolated"))},
            "rests on its steps modulo a (open)",
        ),
    ],
)
def test_steps_count_by_their_weakest_form(steps: dict[str, dict[str, Any]], said: str) -> None:
    assert words(steps, *steps) == said


def test_steps_that_were_not_checked_are_named() -> None:
    assert words({"a": PROVED}, "a", "missing") == "rests on its steps modulo missing (not checked)"


def test_a_page_without_steps_says_nothing() -> None:
    assert words({}) == ""
    assert rests("theorem", {}).strength == ""


def test_results_count_by_their_own_steps() -> None:
    searched = form("published", strength="searched")
    middle = statement("bound", searched, uses=("a", "b"))
    weak = statement("lemma", searched)
    assert words({"middle": middle, "a": PROVED, "b": PROVED}, "middle") == "rests on proved steps"
    assert words({"middle": middle, "a": PROVED, "b": weak}, "middle") == "rests on its steps modulo b (searched)"
    assert words({"middle": statement("bound", searched)}, "middle") == "rests on its steps modulo middle (searched)"
    # A lemma that is only searched is named, whatever its own steps are.
    lemma = statement("lemma", searched, uses=("a",))
    assert words({"lemma": lemma, "a": PROVED}, "lemma") == "rests on its steps modulo lemma (searched)"


def test_a_result_that_does_not_hold_is_no_step() -> None:
    open_ = statement("bound", form("published", "INCONCLUSIVE", "extrapolated"), uses=("a",))
    assert words({"middle": open_, "a": PROVED}, "middle") == "rests on its steps modulo middle (open)"
    refuted = statement("bound", REFUTED, uses=("a",))
    assert words({"middle": refuted, "a": PROVED}, "middle") == "rests on its steps modulo middle (refuted)"


def test_circles_end() -> None:
    searched = form("published", strength="searched")
    entries = {
        "one": statement("bound", searched, uses=("two", "a")),
        "two": statement("bound", searched, uses=("one", "b")),
        "a": PROVED,
        "b": CERTIFIED,
    }
    assert {step.id for step in rests("one", entries).certain} == {"a", "b"}


def _document() -> dict[str, Any]:
    theorem = statement("bound", REFUTED, form("corrected", strength="searched"), uses=("p.a",))
    claims = {"p.theorem": theorem, "p.a": CERTIFIED, "p.other": statement("rate", form("published"), uses=("p.b",))}
    return {"claims": [{**entry, "id": id_, "paper": "p"} for id_, entry in claims.items()]}


def test_forms_that_hold_say_what_they_rest_on() -> None:
    document = composed(_document())
    (published, corrected), (lemma,), (other,) = (entry["forms"] for entry in document["claims"])
    assert (published["rests"], published["modulo"]) == ("", [])
    assert corrected["rests"] == "rests on certified steps, at the sizes that they state"
    assert (lemma["rests"], lemma["modulo"]) == ("", [])
    assert other["modulo"] == ["p.b"]
    assert table(document)[2:] == [
        "| `p.theorem` | bound | corrected | rests on certified steps, at the sizes that they state |",
        "| `p.other` | rate | published | rests on its steps modulo p.b (not checked) |",
    ]
    assert totals(document) == {"proved": 0, "certified": 1, "modulo": 1, "none": 0}
    broken = {**statement("bound", REFUTED, uses=("p.a",)), "id": "p.broken", "paper": "p"}
    plain = {**statement("rule", form("published")), "id": "p.plain", "paper": "p"}
    more = {"claims": [*_document()["claims"], broken, plain]}
    assert totals(more) == {"proved": 0, "certified": 1, "modulo": 1, "none": 1}
    assert table({"claims": []}) == []


def test_a_reading_that_holds_beside_one_that_fails_is_no_step_that_holds():
    """What corrects it was only searched; that there is a sharper form that is proved does not count for it."""
    forms = [form("published"), form("published@b", "VIOLATED", "refuted"), form("corrected", strength="searched")]
    mixed = statement("lemma", *forms, form("sharp", strength="proved"))
    said = "rests on its steps modulo a (refuted as printed, corrected form searched)"
    assert words({"a": mixed}, "a") == said
