"""Several searches for one claim: one counterexample is enough, and the books are those of all."""

import dataclasses

import pytest
from sympy import Le, Rational

from fltheory.bounds.catalogue import Entry
from fltheory.bounds.claim import Instances, Kind
from fltheory.bounds.space import Real, Space
from fltheory.validation import ledger, ledger_text
from fltheory.validation.decide import Effort, check
from fltheory.validation.repeats import combined, in_words
from fltheory.validation.verdict import Checked, Decision
from tests.planted import a, claim

SEARCH = Effort(8, 1)


@pytest.fixture
def entry(tmp_path):
    return Entry(id="planted.rare", paper="planted", reference="-", kind="lemma", title="rare", path=tmp_path / "x.py")


def searched(entry, seeds):
    """A statement that is false on a twentieth of its space, checked with few points."""
    space = Space({"x": Real(0, 1)})
    rare = claim(
        "rare",
        Kind.LEMMA,
        Le(a, Rational(1, 2)),
        Instances(space=space, realise=lambda p: {"planted_a": int(bool(0.40 < p["x"] < 0.45))}),
    )
    return [Checked(entry, (), ("",), ("",), tuple(check(rare, effort=SEARCH, seed=seed))) for seed in seeds]


def test_one_counterexample_is_enough(entry):
    found = searched(entry, range(30))
    outcomes = [checked.verdicts[0].decision for checked in found]
    hits = outcomes.count(Decision.VIOLATED)
    assert 0 < hits < 30, "the statement has to be found by some searches only"
    joint = combined(found).verdicts[0]
    first = found[outcomes.index(Decision.VIOLATED)].verdicts[0]
    assert joint.decision is Decision.VIOLATED
    assert joint.counterexample == first.counterexample
    assert joint.evidence["searches"] == {str(seed): outcome.value for seed, outcome in enumerate(outcomes)}
    assert joint.reason == f"{first.reason}; found by {hits} of 30 searches"
    assert joint.instances == sum(checked.verdicts[0].instances for checked in found)
    assert joint.budget == 30 * SEARCH.instances


def test_where_nothing_fails_the_smallest_margin_is_told(entry):
    (one,) = searched(entry, [0])
    verdict = dataclasses.replace(one.verdicts[0], decision=Decision.HOLDS, counterexample=None)
    margins = [3.0, None, 2.0]
    several = [
        dataclasses.replace(one, verdicts=(dataclasses.replace(verdict, margin=m, reason=f"margin {m}", seed=seed),))
        for seed, m in enumerate(margins)
    ]
    joint = combined(several).verdicts[0]
    assert (joint.decision, joint.margin) == (Decision.HOLDS, 2.0)
    assert joint.reason == "margin None"  # all agree, so that nothing is said about searches


@pytest.mark.parametrize(
    ("answers", "joint"),
    [
        ((Decision.NOT_APPLICABLE, Decision.HOLDS), Decision.HOLDS),
        ((Decision.HOLDS, Decision.INCONCLUSIVE), Decision.INCONCLUSIVE),
        ((Decision.INCONCLUSIVE, Decision.VIOLATED), Decision.VIOLATED),
    ],
)
def test_what_counts_if_searches_disagree(entry, answers, joint):
    (one,) = searched(entry, [0])
    several = [
        dataclasses.replace(one, verdicts=(dataclasses.replace(one.verdicts[0], decision=answer, seed=seed),))
        for seed, answer in enumerate(answers)
    ]
    assert combined(several).verdicts[0].decision is joint
    assert combined(several[::-1]).verdicts[0].decision is joint


def test_what_was_searched_again_in_part_is_not_taken_over(entry):
    found = searched(entry, [0, 1])
    kept = [dataclasses.replace(one, reused=True) for one in found]
    assert not combined([kept[0], found[1]]).reused
    assert combined(kept).reused


def test_a_search_that_could_not_be_made_counts(entry):
    found = searched(entry, [0, 1])
    broken = Checked(entry, (), (), (), (), "ZeroDivisionError: division by zero")
    assert combined([found[0], broken]) == broken
    assert combined(found[:1]) is found[0]


def test_a_ledger_tells_on_which_forms_searches_disagree(entry):
    found = searched(entry, range(30))
    document = ledger.ledger([combined(found)], seed=0, effort="quick")
    head, line = in_words(document)
    hits = sum(checked.verdicts[0].decision is Decision.VIOLATED for checked in found)
    assert "seeds 0 to 29" in head
    assert "agree on 0 of 1 forms; they do not on:" in head
    assert line == f"- `planted.rare published`: HOLDS {30 - hits}, VIOLATED {hits}"
    assert line in ledger_text.table(document)
    assert in_words(ledger.ledger(found[:1], seed=0, effort="quick")) == []


def told(*answers):
    """What is said about forms with these answers of two searches each."""
    forms = [
        {"variant": f"published@{n}", "evidence": {"searches": dict(zip("45", both, strict=True))}}
        for n, both in enumerate(answers)
    ]
    return in_words({"claims": [{"id": "p.x", "forms": [*forms, {"variant": "sharp", "evidence": {}}]}]})


def test_forms_on_which_searches_agree_are_counted_and_not_listed():
    head, line = told(("HOLDS", "HOLDS"), ("HOLDS", "VIOLATED"), ("VIOLATED", "VIOLATED"))
    assert "with the seeds 4 to 5, " in head
    assert head.endswith("All searches agree on 2 of 3 forms; they do not on:")
    assert line == "- `p.x published@1`: HOLDS 1, VIOLATED 1"
    (head,) = told(("HOLDS", "HOLDS"))
    assert head.endswith("All searches agree on 1 of 1 forms.")


def test_of_several_counterexamples_the_first_is_kept_and_of_what_holds_the_closest(entry):
    """A violated form has the margin of the counterexample that is told, also where a later search met less."""
    (one,) = searched(entry, [0])

    def joint(decision, *margins):
        verdicts = [
            dataclasses.replace(one.verdicts[0], decision=decision, margin=margin, reason=f"by {seed}", seed=seed)
            for seed, margin in enumerate(margins)
        ]
        return combined([dataclasses.replace(one, verdicts=(verdict,)) for verdict in verdicts]).verdicts[0]

    def told(*case):
        found = joint(*case)
        return found.reason, found.margin

    assert told(Decision.VIOLATED, 0.9, 0.5) == ("by 0", 0.9)
    assert told(Decision.VIOLATED, None, 0.5) == ("by 0", None)
    assert told(Decision.VIOLATED, 0.5, None) == ("by 0", 0.5)
    assert told(Decision.HOLDS, 1.5, 1.25, 2.0) == ("by 1", 1.25)
    assert told(Decision.INCONCLUSIVE, 0.9, 0.5) == ("by 1", 0.5)
    assert told(Decision.HOLDS, None, None) == ("by 0", None)
    assert joint(Decision.HOLDS, 1.5, 1.25, 2.0).evidence["searches"] == {"0": "HOLDS", "1": "HOLDS", "2": "HOLDS"}
