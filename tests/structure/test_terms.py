"""The snapshot of terms that matter: every term of every form that holds, and instances that are still instances."""

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Sweeps
from fltheory.validation import known_terms
from fltheory.validation.sensitivity import NECESSARY
from fltheory.validation.terms import terms
from tests import verdicts

HELD: dict[str, list[str]] = {}
for line in verdicts.FILE.read_text(encoding="utf-8").splitlines():
    id_, variant, decision = line.split("  ")[:3]
    if decision == "HOLDS":
        HELD.setdefault(id_, []).append(variant)


@pytest.mark.parametrize("id_", sorted(HELD))
def test_every_term_of_a_form_that_holds_is_in_the_snapshot(id_):
    """Renew it with: fltheory check ID --sensitivity --fresh, and python -m fltheory.validation.known_terms LEDGER."""
    claim = catalogue.index()[id_].load()
    stored = known_terms.stored(id_)
    assert set(stored) <= set(HELD[id_])
    for variant in HELD[id_]:
        form = claim.form(variant)
        known = [(one["place"], one["term"]) for one in stored.get(variant, ())]
        assert known == [term.key for term in terms(form)], f"{id_} {variant}: renew {known_terms.SHIPPED.name}"
        needed = [one for one in stored.get(variant, ()) if one["status"] == NECESSARY]
        assert all(one["parameters"] for one in needed)
        if needed and not isinstance(claim.check_of(form), Sweeps):
            points = known_terms.points(claim, form)
            distinct = {repr(one["parameters"]) for one in needed}
            assert len(points) == len(distinct), f"{id_} {variant}: instances are not of the space any more"


def test_there_is_nothing_about_claims_that_do_not_hold():
    assert {path.stem for path in known_terms.SHIPPED.glob("*.json")} <= set(HELD)


def test_most_terms_are_necessary():
    found = [one for id_ in HELD for variant in HELD[id_] for one in known_terms.of(id_, variant)]
    necessary = sum(one["status"] == NECESSARY for one in found)
    assert len(found) > 2000
    assert necessary > len(found) / 2.2
