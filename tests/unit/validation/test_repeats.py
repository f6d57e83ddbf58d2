"""Several searches for one claim: a violation counts, whoever found it, and the books are those of all."""

import dataclasses

import pytest
from sympy import Le, Rational

from fltheory.bounds._claim import Instances, Kind
from fltheory.bounds._space import Real, Space
from fltheory.claims import Entry
from fltheory.validation import ledger
from fltheory.validation.decide import Effort, check
from fltheory.validation.repeats import combined, in_words
from fltheory.validation.verdict import Checked, Outcome
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


def test_a_violation_counts_whoever_found_it(entry):
    found = searched(entry, range(30))
    outcomes = [checked.verdicts[0].outcome for checked in found]
    hits = outcomes.count(Outcome.VIOLATED)
    assert 0 < hits < 30, "the statement has to be found by some searches only"
    joint = combined(found).verdicts[0]
    first = found[outcomes.index(Outcome.VIOLATED)].verdicts[0]
    assert joint.outcome is Outcome.VIOLATED
    assert joint.counterexample == first.counterexample
    assert joint.evidence["searches"] == {str(seed): outcome.value for seed, outcome in enumerate(outcomes)}
    assert joint.reason == f"{first.reason}; found by {hits} of 30 searches"
    assert joint.instances == sum(checked.verdicts[0].instances for checked in found)
    assert joint.budget == 30 * SEARCH.instances


def test_where_nothing_fails_the_smallest_margin_is_told(entry):
    (one,) = searched(entry, [0])
    verdict = dataclasses.replace(one.verdicts[0], outcome=Outcome.HOLDS, counterexample=None)
    margins = [3.0, None, 2.0]
    several = [
        dataclasses.replace(one, verdicts=(dataclasses.replace(verdict, margin=m, reason=f"margin {m}", seed=seed),))
        for seed, m in enumerate(margins)
    ]
    joint = combined(several).verdicts[0]
    assert (joint.outcome, joint.margin) == (Outcome.HOLDS, 2.0)


@pytest.mark.parametrize(
    ("answers", "joint"),
    [
        ((Outcome.NOT_APPLICABLE, Outcome.HOLDS), Outcome.HOLDS),
        ((Outcome.HOLDS, Outcome.INCONCLUSIVE), Outcome.INCONCLUSIVE),
        ((Outcome.INCONCLUSIVE, Outcome.VIOLATED), Outcome.VIOLATED),
    ],
)
def test_what_counts_if_searches_disagree(entry, answers, joint):
    (one,) = searched(entry, [0])
    several = [
        dataclasses.replace(one, verdicts=(dataclasses.replace(one.verdicts[0], outcome=answer, seed=seed),))
        for seed, answer in enumerate(answers)
    ]
    assert combined(several).verdicts[0].outcome is joint
    assert combined(several[::-1]).verdicts[0].outcome is joint


def test_a_search_that_could_not_be_made_counts(entry):
    found = searched(entry, [0, 1])
    broken = Checked(entry, (), (), (), (), "ZeroDivisionError: division by zero")
    assert combined([found[0], broken]) == broken
    assert combined(found[:1]) is found[0]


def test_a_ledger_tells_on_which_forms_searches_disagree(entry):
    found = searched(entry, range(30))
    document = ledger.ledger([combined(found)], seed=0, effort="quick")
    head, line = in_words(document)
    hits = sum(checked.verdicts[0].outcome is Outcome.VIOLATED for checked in found)
    assert "seeds 0 to 29" in head
    assert "agree on 0 of 1 forms; they do not on:" in head
    assert line == f"- `planted.rare published`: HOLDS {30 - hits}, VIOLATED {hits}"
    assert line in ledger.table(document)
    assert in_words(ledger.ledger(found[:1], seed=0, effort="quick")) == []
