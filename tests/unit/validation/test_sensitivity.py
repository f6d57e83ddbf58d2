"""Terms that matter: planted forms whose terms are needed, superfluous or out of reach; those that are shipped."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from sympy import Eq, Le, Max, Ne, Sum

from fltheory.bounds import catalogue
from fltheory.bounds.algebra import EE, BigO, Pos
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind, Rejected, Sweep, Sweeps
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Real, Space
from fltheory.bounds.symbols import k
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.validation import known_terms
from fltheory.validation import sensitivity as module
from fltheory.validation.decide import Effort, check
from fltheory.validation.sensitivity import NECESSARY, UNNECESSARY, UNTESTED, _decided, examine, explained, summarised
from fltheory.validation.terms import Change, terms
from fltheory.validation.verdict import Decision

a, b, c = (scalar(f"sensitive_{name}", name, "any number") for name in "abc")
x = scalar("sensitive_x", "x", "what is bounded")
n = scalar("sensitive_n", "n", "size", domain="integer>=1")
v = family("sensitive_v", "v_{<0>}", "numbers")
NUMBERS = Space({name: Real(0.1, 3) for name in "abc"})
SENSITIVE = Effort(200, 50, sensitivity=True)


def claim(statement, check, **more):
    return Claim(
        id="planted.sensitive",
        kind=Kind.LEMMA,
        title="planted",
        citation=Citation("planted", "here"),
        forms=(Form(statement=statement, **more),),
        check=check,
    )


def instances(values, space=NUMBERS, **more):
    return Instances(space=space, realise=values, **more)


def numbers(point):
    return {a: point["a"], b: point["b"], c: point["c"]}


def numbers_without_c(point):
    return {a: point["a"], b: point["b"]}


def found(made, *, prove=False, budget=60):
    form = made.forms[0]
    known = examine(made, form, memory={}, seen=(), given=(), budget=budget, seed=0, prove=prove)
    return {one.term: one for one in known}


def test_terms_that_are_needed_come_with_an_instance_that_fails_without_them():
    terms_of = found(claim(Le(2 * a * b, a**2 + b**2), instances(numbers)))
    assert {one.status for one in terms_of.values()} == {NECESSARY}
    for one in terms_of.values():
        assert one.change == "deleted"
        assert one.ratio > 1
        assert set(one.parameters) == set("abc")


def test_a_superfluous_term_is_unnecessary_if_that_is_proved_and_untested_if_not():
    made = claim(Le(2 * a * b, a**2 + b**2 + 3 * c**2), instances(numbers))
    assert found(made)["3 c^{2}"].status == UNTESTED
    proved = found(made, prove=True)
    assert proved["3 c^{2}"].status == UNNECESSARY
    assert "products of hypotheses" in proved["3 c^{2}"].words
    assert proved["a^{2}"].status == NECESSARY


def test_a_term_without_which_a_form_means_nothing_is_halved():
    made = claim(Le(a / c + b / c, 2), instances(numbers_without_c), where=((c, Max(a, b)),))
    whole = found(made)[r"\max(a, b)"]
    assert (whole.status, whole.change, whole.half) == (NECESSARY, "halved", False)
    assert "fails with half of it" in explained(whole.as_json())


def test_a_part_may_be_needed_although_twice_of_the_whole_is_not_too_much():
    space = Space({"a": Real(0.1, 3), "b": Real(0.1, 2)})
    made = claim(Le(a, 20 / c + 20 / c**3), instances(numbers_without_c, space), where=((c, 3 - b),))
    (verdict,) = check(made, effort=SENSITIVE)
    of = {one["term"]: one for one in verdict.evidence["terms"]}
    assert of["3 - b"]["status"] == UNTESTED
    assert (of["- b"]["status"], of["- b"]["change"]) == (NECESSARY, "doubled")


def test_no_proof_is_taken_for_one_of_the_form_without_the_term_if_instances_give_the_defined_value():
    """The instance gives c = a + b; without b in its definition the form is false, whatever the instance says."""
    made = claim(
        Le(a + b, c),
        instances(lambda point: {a: point["a"], b: point["b"], c: point["a"] + point["b"]}),
        where=((c, a + b),),
    )
    of = found(made, prove=True)
    assert {key: one.status for key, one in of.items() if key != "c"} == {"a": NECESSARY, "b": NECESSARY}


def test_what_depends_on_a_changed_definition_is_not_taken_from_the_instance_either():
    """The instance gives c = d + b, and d = a + 2 b; without a or b in d, c is another number."""
    d = scalar("sensitive_d", "d", "part")
    made = claim(
        Le(a + 3 * b, c),
        instances(lambda point: {a: point["a"], b: point["b"], c: point["a"] + 3 * point["b"]}),
        where=((d, a + 2 * b), (c, d + b)),
    )
    of = found(made)
    assert {one.status for one in of.values()} == {NECESSARY}
    assert {"a", "2 b", "d", "b"} <= set(of)


def test_that_sides_differ_has_no_terms():
    assert terms(Form(statement=Ne(a + c, b, evaluate=False))) == []


def test_places_tell_relations_and_definitions_apart():
    form = Form(statement=(Le(a, b + c), Le(x, b + c + c * (c + a))), where=((x, a + b),))
    shown = [(term.place, term.shown) for term in terms(form)]
    first, second = r"\text{statement 1}", r"\text{statement 2}"
    assert [place for place, _ in shown].count(first) == 2
    assert {text for place, text in shown if place == first} == {"b", "c"}
    assert {text for place, text in shown if place == second} >= {"b", "c", "a", r"c\ \text{(2)}"}
    assert {text for place, text in shown if place == "x"} == {"a", "b"}
    assert len(set(shown)) == len(shown)


def test_the_changes_of_a_term():
    form = Form(statement=Le(x, Max(a, b + c)), variant="corrected")
    by_shown = {term.shown: term for term in terms(form)}
    (whole,) = (term for term in terms(form) if term.path == ())
    member, summand = by_shown["a"], by_shown["c"]

    def sides(term):
        return [term.changed(change).relations[0].rhs for change in (Change.DELETED, Change.HALVED, Change.DOUBLED)]

    assert sides(whole) == [0, Max(a, b + c) / 2, 2 * Max(a, b + c)]
    assert sides(member) == [b + c, Max(a / 2, b + c), Max(2 * a, b + c)]
    assert sides(summand) == [Max(a, b), Max(a, b + c / 2), Max(a, b + 2 * c)]
    assert member.changed(Change.HALVED).variant == "corrected"
    assert summand.is_part_of(by_shown["b + c"])
    assert summand.is_part_of(whole)
    assert not whole.is_part_of(summand)
    assert not member.is_part_of(by_shown["b + c"])


def test_terms_stand_in_numerators_only():
    form = Form(statement=Le(x, (a + b) ** 2 / (1 + c) + (2 + b) ** -1))
    shown = {term.shown for term in terms(form)}
    assert {"a", "b"} <= shown
    assert not shown & {"1", "c", "2"}


def test_an_instance_that_fails_with_half_of_a_term_is_preferred_and_its_ratio_told():
    space = Space({name: Real(0.01, 20) for name in "abx"})
    made = claim(Le(x, a + b), instances(lambda p: {x: p["x"], a: p["a"], b: p["b"]}, space))
    only_without, with_half = {"a": 0.125, "b": 1.0, "x": 0.5}, {"a": 10.0, "b": 1.0, "x": 11.0}
    known = examine(
        made, made.forms[0], memory={}, seen=(), given=[only_without, with_half], budget=0, seed=0, prove=False
    )
    (of_b,) = (one for one in known if one.term == "b")
    assert (of_b.status, of_b.change, of_b.half) == (NECESSARY, "deleted", True)
    assert of_b.ratio == pytest.approx(1.1)
    assert {name: float(sp.Rational(value)) for name, value in of_b.parameters.items()} == with_half
    known = examine(made, made.forms[0], memory={}, seen=(), given=[only_without], budget=0, seed=0, prove=False)
    (of_b,) = (one for one in known if one.term == "b")
    assert (of_b.half, of_b.ratio) == (False, pytest.approx(4.0))


def test_a_change_that_fails_where_half_does_too_says_so():
    at = found(claim(Le(x, a + b), instances(lambda p: {x: p["a"] + p["b"], a: p["a"], b: p["b"]})))
    assert all(one.half and one.ratio > 1 for one in at.values())
    assert explained(at["a"].as_json()).startswith("fails without it, and with half of it; left-hand side ")


def test_of_a_curve_that_is_given_the_last_entry_is_held_against_its_definition():
    made = claim(
        Le(x, c),
        instances(
            lambda point: {
                "sensitive_x": np.arange(1.0, 6.0),
                "sensitive_c": np.arange(1.0, 6.0),
                "sensitive_n": np.arange(1, 6),
                "sensitive_v": np.ones(5),
            },
            rational=False,
        ),
        where=((c, Sum(v[k], (k, 1, n)) + 0 * a),),
    )
    assert all(one.status == NECESSARY for one in found(made).values())


def test_what_is_subtracted_is_doubled():
    def difference(point):
        return {x: point["a"] - point["b"], a: point["a"], b: point["b"]}

    of = found(claim(Le(x, a - b), instances(difference)))
    assert (of["a"].change, of["- b"].change) == ("deleted", "doubled")
    assert {one.status for one in of.values()} == {NECESSARY}


def test_half_of_a_term_is_tried_too():
    of = found(claim(Le(a * b, a * b + 5 * (a - a) + c * 0 + b), instances(numbers)))
    assert of["b"].status == UNTESTED
    assert found(claim(Le(a, a), instances(numbers)))["a"].half
    loose = found(claim(Le(a, 3 * a), instances(numbers)))["3 a"]
    assert (loose.status, loose.half) == (NECESSARY, False)


def test_a_member_of_a_maximum_goes_if_it_is_deleted():
    made = claim(Le(x, Max(a, b)), instances(lambda p: {x: max(p["a"], p["b"]), a: p["a"], b: p["b"]}, rational=False))
    assert {one.status for one in found(made).values()} == {NECESSARY}


def test_parts_of_a_term_that_is_not_needed_are_not_searched_one_by_one():
    of = found(claim(Le(a, a + Pos(b - 10) * (c + 2)), instances(numbers)))
    (whole,) = (one for key, one in of.items() if r"_{+}" in key)
    assert whole.status == UNTESTED
    parts = [one for one in of.values() if one.words.startswith("part of")]
    assert len(parts) == 4


def test_both_sides_of_an_equality_count():
    of = found(claim(Eq(a + b, x, evaluate=False), instances(lambda p: {**numbers(p), x: p["a"] + p["b"]})))
    assert {key: one.status for key, one in of.items()} == {"a": NECESSARY, "b": NECESSARY}


def test_terms_inside_of_expectations_and_sums_are_found():
    y = family("sensitive_y", "y_{<0>}", "random numbers", random=True)
    form = Form(statement=Le(a, Sum(EE(y[k] ** 2 + b), (k, 1, n))))
    assert {term.shown for term in terms(form)} >= {"b", "y_{k}^{2}"}


def test_a_definition_that_is_used_twice_is_deleted_as_a_whole():
    form = Form(statement=Le(x, c + c**2), where=((c, a * b),))
    (whole,) = (term for term in terms(form) if term.defined)
    assert whole.changed(Change.DELETED).where == ((c, 0),)
    assert not any(term.defined for term in terms(Form(statement=Le(x, c), where=((c, a * b),))))


def rates(measured, claimed):
    space = Space({"a": Integer(1, 1000), "b": Integer(1, 1000)})
    base = {"a": 1, "b": 1}
    sweeps = tuple(
        Sweep(name, (2, 8, 32, 128, 512), {key: one for key, one in base.items() if key != name}) for name in "ab"
    )
    source = instances(lambda p: {x: float(measured(p)), a: p["a"], b: p["b"]}, space, rational=False)
    return claim(Le(x, BigO(claimed)), Sweeps(instances=source, sweeps=sweeps))


def test_a_rate_needs_the_terms_along_which_it_grows():
    of = found(rates(lambda p: p["a"] + p["b"], a + b))
    assert {one.status for one in of.values()} == {NECESSARY}
    of = found(rates(lambda p: p["a"], a + b))
    assert {key: one.status for key, one in of.items()} == {"a": NECESSARY, "b": UNTESTED}
    assert isinstance(of["a"].parameters["a"], list)


def test_a_check_says_it_only_if_asked_and_only_of_forms_that_hold():
    made = claim(Le(2 * a * b, a**2 + b**2), instances(numbers))
    assert "terms" not in check(made, effort=Effort(50, 5))[0].evidence
    begin = time.perf_counter()
    (verdict,) = check(made, effort=SENSITIVE)
    assert 0 < verdict.seconds <= time.perf_counter() - begin
    assert [one["status"] for one in verdict.evidence["terms"]] == [NECESSARY, NECESSARY]
    assert summarised(verdict.evidence["terms"]) == "2 necessary"
    (false,) = check(claim(Le(2 * a * b, a**2), instances(numbers)), effort=SENSITIVE)
    assert false.decision is Decision.VIOLATED
    assert "terms" not in false.evidence


def test_a_search_looks_at_the_points_that_it_is_given_however_far_they_are():
    far = Space({"n": Integer(1, 3, furthest=5000)})
    values = lambda point: {a: point["n"], b: 100 * point["n"] ** 0}  # noqa: E731
    assert check(claim(Le(a, b), instances(values, far)))[0].decision is Decision.HOLDS
    (verdict,) = check(claim(Le(a, b), instances(values, far, begin=({"n": 5000},))))
    assert verdict.decision is Decision.VIOLATED
    quick = Effort(36, 5, whole_sweeps=False)
    assert check(claim(Le(a, b), instances(values, far, begin=({"n": 5000},))), effort=quick)[0].instances == 36


def test_stored_terms_come_back_and_damaged_files_are_refused(tmp_path):
    made = claim(Le(2 * a * b, a**2 + b**2 + c), instances(numbers))
    (verdict,) = check(made, effort=SENSITIVE)
    forms = [{**verdict.as_json(), "id": made.id}]
    ledger = {"claims": [{"id": made.id, "forms": forms}]}
    assert known_terms.renew(ledger, tmp_path) == ["planted.sensitive published: 2 necessary, 1 untested"]
    assert known_terms.renew(ledger, tmp_path) == []
    assert known_terms.stored(made.id, tmp_path)["published"] == verdict.evidence["terms"]
    path = tmp_path / f"{made.id}.json"
    text = path.read_text()
    path.write_text(text.replace('"at": 0', '"at": 7'))
    with pytest.raises(InvalidParameter, match="place of a point"):
        known_terms.stored(made.id, tmp_path)
    path.write_text(text.replace("necessary", "perhaps"))
    with pytest.raises(FltheoryError):
        known_terms.stored(made.id, tmp_path)
    path.write_text(text)
    # A form that does not hold any more loses what was known about it.
    gone = {"claims": [{"id": made.id, "forms": [{**forms[0], "verdict": "VIOLATED", "evidence": {}}]}]}
    assert known_terms.renew(gone, tmp_path) == ["planted.sensitive published: "]
    assert not path.exists()


def test_where_there_are_no_instances_nothing_is_known_of_a_term():
    def rejected(point):
        raise Rejected("none")

    made = claim(Le(a, c), instances(rejected), where=((c, a + b),))
    assert {one.status for one in found(made, budget=5).values()} == {UNTESTED}


def test_files_of_another_format_are_refused_and_main_renews(tmp_path, monkeypatch, capsys):
    path = tmp_path / "p.x.json"
    for wrong in ({"format": "other", "id": "p.x"}, {"format": known_terms.FORMAT, "id": "p.y"}):
        path.write_text(json.dumps({**wrong, "forms": []}))
        with pytest.raises(InvalidParameter, match=r"must be of the format .* and about p\.x"):
            known_terms.stored("p.x", tmp_path)
    assert known_terms.main([]) == 2
    assert "LEDGER" in capsys.readouterr().err
    monkeypatch.setattr("fltheory.validation.ledger.load", lambda path: {"claims": []})
    assert known_terms.main(["ledger.json"]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_words():
    one = {"status": UNTESTED, "words": "none of 5 instances fails with it deleted"}
    assert explained(one) == one["words"]
    assert explained({"status": UNNECESSARY, "change": "deleted", "words": "proved"}) == "can be deleted: proved"


IDS = sorted(path.stem for path in known_terms.SHIPPED.glob("*.json"))


@pytest.mark.parametrize("id_", IDS)
def test_what_is_shipped_fails_without_the_term_today(id_):
    """On instances that are made without rounding; runs, sweeps and hundreds of steps as fractions take too long."""
    made = catalogue.index()[id_].load()
    for form in made.forms:
        source = made.check_of(form)
        if not (isinstance(source, Instances) and source.rational):
            continue
        points = known_terms.points(made, form)
        if any(
            np.ndim(value) == 0 and isinstance(value, int) and value > 50 for one in points for value in one.values()
        ):
            continue
        stored = {(one["place"], one["term"]): one for one in known_terms.of(id_, form.variant)}
        again = examine(made, form, memory={}, seen=(), given=points, budget=0, seed=0, prove=False) if points else ()
        found = {(one.place, one.term): one.status for one in again}
        needed = {key: NECESSARY for key, one in stored.items() if one["status"] == NECESSARY}
        assert {key: found.get(key) for key in needed} == needed, form.variant


@pytest.mark.parametrize("id_", ["ruan.lemma-a.2", "cfl.lemma-a.2"])
def test_a_missing_term_is_noticed_by_a_check_that_has_next_to_no_budget(id_):
    made = catalogue.index()[id_].load()
    form = made.forms[0]
    needed = {(one["place"], one["term"]) for one in known_terms.of(id_, form.variant) if one["status"] == NECESSARY}
    changed = [term.changed(Change.DELETED) for term in terms(form) if term.key in needed]
    assert changed
    for without in changed:
        (verdict,) = check(replace(made, forms=(without,)), effort=Effort(1, 1))
        assert verdict.decision is Decision.VIOLATED


def test_definitions_that_a_changed_one_decides():
    """Of three definitions the second is made of the first, and the third of neither."""
    y, z = (scalar(f"sensitive_{name}", name, "something defined") for name in "yz")
    form = Form(statement=Le(a, y + z), where=((x, a + b), (y, 2 * x), (z, b + c)))
    assert _decided(form, "sensitive_x") == {"sensitive_x", "sensitive_y"}
    assert _decided(form, "sensitive_y") == {"sensitive_y"}
    assert _decided(form, "sensitive_z") == {"sensitive_z"}


def test_definitions_that_a_form_does_not_use_have_no_terms():
    form = Form(statement=Le(a, b + c), where=((x, a + b + 3),))
    assert [term.shown for term in terms(form)] == ["b", "c"]


def test_nothing_is_said_of_half_a_term_that_is_not_necessary():
    """A hundredth is below either of two numbers above one."""
    made = claim(Le(a, b + c), instances(lambda point: {a: 0.01, b: point["b"] + 1, c: point["c"] + 1}))
    several = found(made)
    assert {one.status for one in several.values()} == {UNTESTED}
    assert not any(one.half for one in several.values())


def test_what_is_known_of_a_term_is_told_from_a_file_as_from_a_check():
    """Words read from a file are other objects than those of the package."""
    for one in (
        {"status": UNNECESSARY, "change": "deleted", "words": "proved"},
        {"status": UNTESTED, "change": "", "words": "none of 5 instances fails with it deleted"},
        {"status": NECESSARY, "change": "halved", "half": False, "ratio": 2.0, "words": ""},
        {"status": NECESSARY, "change": "doubled", "half": True, "ratio": None, "words": ""},
    ):
        assert explained(json.loads(json.dumps(one))) == explained(one)
    assert explained(one) == "fails with twice of it, and with half of it"


def test_terms_are_counted_by_status_and_none_is_left_out():
    some = [{"status": status} for status in (UNTESTED, NECESSARY, UNTESTED)]
    assert summarised(some) == "1 necessary, 2 untested"
    assert summarised([{"status": UNNECESSARY}]) == "1 unnecessary"
    assert summarised([]) == ""


def test_a_term_may_be_proved_unnecessary_although_instances_give_what_it_defines():
    """With c = a + b given by the instance, a <= c needs a and not b: a <= a has a certificate."""
    made = claim(
        Le(a, c),
        instances(lambda point: {a: point["a"], b: point["b"], c: point["a"] + point["b"]}),
        where=((c, a + b),),
    )
    of = found(made, prove=True)
    assert {key: one.status for key, one in of.items() if key != "c"} == {"a": NECESSARY, "b": UNNECESSARY}
    assert of["b"].change == "deleted"
    assert found(made)["b"].status == UNTESTED


@pytest.mark.parametrize("error", [FltheoryError, ZeroDivisionError, KeyError, TypeError, ValueError])
def test_a_term_whose_change_cannot_be_evaluated_is_untested_and_says_why(monkeypatch, error):
    """Of a rate and of a statement about instances; what goes wrong for one term does not stop the others."""

    def broken(*_, **__):
        raise error("no way")

    monkeypatch.setattr(module, "check_rate", broken)
    of = found(rates(lambda p: p["a"] + p["b"], a + b))
    assert {(one.status, one.words.strip("'")) for one in of.values()} == {(UNTESTED, "no way")}
    assert len(of) == 2
    monkeypatch.setattr(module.Attempt, "_changes", broken)
    of = found(claim(Le(2 * a * b, a**2 + b**2), instances(numbers)))
    assert {(one.status, one.words.strip("'")) for one in of.values()} == {(UNTESTED, "no way")}
    assert len(of) == 2


def test_an_error_in_one_change_of_a_rate_is_forgotten_if_another_change_fails(monkeypatch):
    """A bound with a constant: deleting raises, halving is refuted."""
    space = Space({"a": Integer(1, 1000)})
    source = instances(lambda p: {x: float(p["a"]), a: p["a"]}, space, rational=False)
    made = claim(Le(x, a), Sweeps(instances=source, sweeps=(Sweep("a", (2, 8, 32, 128, 512), {}),)))
    whole = module.check_rate

    def deleted_is_broken(claim_, form, *more, **rest):
        if form.relations[0].rhs == 0:
            raise ValueError("deleted")
        return whole(claim_, form, *more, **rest)

    monkeypatch.setattr(module, "check_rate", deleted_is_broken)
    (of_a,) = found(made).values()
    assert (of_a.status, of_a.change, of_a.ratio) == (NECESSARY, "halved", pytest.approx(2.0))


def test_a_number_in_an_array_without_axes_is_a_number():
    made = claim(
        Le(a + b, c),
        instances(lambda p: {a: np.array(p["a"]), b: p["b"], c: p["a"] + p["b"]}, rational=False),
        where=((c, a + b),),
    )
    assert {one.status for one in found(made).values()} == {NECESSARY}


def test_instances_that_are_given_come_before_those_that_were_seen_and_the_tightest_of_these_first():
    """Every point needs a: the first one that is tried is the witness."""
    made = claim(Le(x, a), instances(lambda p: {x: p["a"], a: p["a"]}, Space({"a": Real(0.1, 9)})))
    seen = [(-0.3, {"a": 3.0}), (-0.1, {"a": 1.0}), (-0.2, {"a": 2.0})]

    def witness(given, seen):
        known = examine(made, made.forms[0], memory={}, seen=seen, given=given, budget=0, seed=0, prove=False)
        return float(sp.Rational(known[0].parameters["a"]))

    assert witness([{"a": 5.0}], seen) == 5.0
    assert witness([], seen) == 1.0
    assert witness([], seen[:1]) == 3.0


def test_a_term_that_no_instance_seen_needs_is_searched_for_if_there_is_a_budget():
    """Half of the range needs b, and the only instance seen is in the other half."""
    made = claim(Le(x, a + b), instances(lambda p: {x: p["x"], a: 1, b: 1}, Space({"x": Real(0, 2)})))
    seen = [(-1.0, {"x": 0.5})]

    def status(budget):
        known = examine(made, made.forms[0], memory={}, seen=seen, given=(), budget=budget, seed=0, prove=False)
        return {one.term: one.status for one in known}

    assert status(0) == {"a": UNTESTED, "b": UNTESTED}
    assert status(40) == {"a": NECESSARY, "b": NECESSARY}


def test_claims_without_points_give_none_and_points_of_another_space_are_left_out(monkeypatch):
    swept = rates(lambda p: p["a"], a)
    assert known_terms.points(swept, swept.forms[0]) == []
    made = claim(Le(2 * a * b, a**2 + b**2), instances(numbers))
    one, other = {"a": "1", "b": "1", "c": "1"}, {"a": "2", "b": "1", "c": "1"}
    rows = [{"parameters": at} for at in (None, {"old": "1"}, one, one, other)]
    monkeypatch.setattr(known_terms, "of", lambda id_, variant: rows)
    assert [point["a"] for point in known_terms.points(made, made.forms[0])] == [1, 2]


def test_what_is_stored_is_written_again_as_it_was(tmp_path):
    """To the byte, so that a renewal shows what has changed and nothing else."""
    id_ = "cfl.lemma-a.6"  # with points that several terms share
    forms = [
        {"variant": variant, "verdict": "HOLDS", "evidence": {"terms": terms_of}}
        for variant, terms_of in known_terms.stored(id_).items()
    ]
    assert known_terms.renew({"claims": [{"id": id_, "forms": forms}]}, tmp_path)
    name = f"{id_}.json"
    assert (tmp_path / name).read_bytes() == (known_terms.SHIPPED / name).read_bytes()


def test_forms_without_new_terms_keep_theirs_if_they_hold(tmp_path):
    term = {
        "place": "s", "term": "a", "change": "deleted", "words": "", "status": NECESSARY, "half": False, "ratio": 2.0,
        "parameters": {"a": "1"},
    }  # fmt: skip

    def document(**verdicts):
        forms = [
            {"variant": variant, "verdict": verdict, "evidence": {"terms": [term]} if told else {}}
            for variant, (verdict, told) in verdicts.items()
        ]
        return {"claims": [{"id": "p.x", "forms": forms}]}

    known_terms.renew(document(published=("HOLDS", True), sharp=("HOLDS", True)), tmp_path)
    assert known_terms.renew(document(published=("HOLDS", False), sharp=("HOLDS", False)), tmp_path) == []
    assert known_terms.renew(document(published=("HOLDS", False), sharp=("INCONCLUSIVE", True)), tmp_path) == [
        "p.x sharp: "
    ]
    assert known_terms.stored("p.x", tmp_path) == {"published": [term]}


def test_a_proof_is_not_about_what_an_instance_gives_but_about_the_changed_definition(monkeypatch):
    """Without b the definition is 2 a - 1, below a where a < 1; the one instance that was seen has a = 2.

    What the instance gives itself, 2 a - 1 + b with b >= 1, is above a everywhere.
    """
    made = claim(
        Le(a, c),
        instances(lambda p: {a: p["a"], b: 1 + p["b"], c: 2 * p["a"] + p["b"]}),
        where=((c, 2 * a - 1 + b),),
    )
    asked = []
    monkeypatch.setattr(module, "attempt", lambda id_, form, *_, **__: asked.append(form))
    seen = [(-1.0, {"a": 2.0, "b": 1.0, "c": 1.0})]
    known = examine(made, made.forms[0], memory={}, seen=seen, given=(), budget=0, seed=0, prove=True)
    assert {one.term: one.status for one in known}["b"] == UNTESTED
    (without_b,) = (form for form in asked if form.where == ((c, 2 * a - 1),))
    assert without_b.check.realise(seen[0][1]) == {"sensitive_a": 2.0, "sensitive_b": 2.0}
