"""The words of the report: symbols, sides in the order of the formula, what is swept, links to notes."""

import inspect
import re

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Sweeps
from fltheory.report import notes
from fltheory.report.markup import page
from fltheory.report.wording import References, certified, instance, prose, ratio, why
from fltheory.validation.in_symbols import covered, relation
from fltheory.validation.swept import WORDS, named

ENTRIES = catalogue.index()
GREEK = (
    "alpha|beta|gamma|delta|eps|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|psi|omega|Gamma|Delta"
)


def form(latex, found=None, verdict="VIOLATED", reason="", **evidence):
    return {"latex": latex, "counterexample": found, "verdict": verdict, "reason": reason, "evidence": evidence}


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\frac{a}{b} \le c", "le"),
        (r"\min\left(a, \frac{b}{c}\right) \ge d", "ge"),
        (r"|\{j : |T_j| \ge e\}| = k", ""),
        (r"a \ge b \Rightarrow c \le d", "le"),
        (r"a = b,\quad c \ge d", ""),
        (r"x < y", "le"),
    ],
)
def test_the_relation_is_the_one_that_is_claimed(latex, expected):
    assert relation(latex) == expected


def test_sides_stand_in_the_order_of_the_formula():
    found = {"lhs": "1/308", "rhs": "0", "sign": ">", "where": {}}
    assert why(form(r"x \ge 1", found)).startswith("The left-hand side is 0, the right-hand side 1/308,")
    assert why(form(r"1 \le x", found)).startswith("The left-hand side is 1/308, the right-hand side 0,")
    assert ratio(form(r"x \ge 1", found)) == "lhs/rhs"
    assert ratio(form(r"1 \le x", found)) == "rhs/lhs"


def test_settings_of_a_certificate_are_listed_and_not_in_the_sentence():
    covers = "all vectors of any dimension, at N = 1, shape = kinked, turn = (1/4); N = 2, shape = kinked, turn = (1)"
    assert covered(covers) == "all vectors of any dimension, for the 2 settings of its certificate"
    said = form("a \\le b", verdict="HOLDS", reason=f"certified by a proof: {covered(covers)}; margin 2")
    said["evidence"] = {"certificate": {"covers": covers}}
    assert certified(said) == ["N = 1, shape = kinked, turn = (1/4)", "N = 2, shape = kinked, turn = (1)"]
    assert why(said).endswith("settings of its certificate; margin 2.")
    plain = "all instances of the check with N = 1, 2, 3"
    assert covered(plain) == plain
    said["evidence"] = {"certificate": {"covers": plain}}
    assert certified(said) == []


def test_roots_and_logarithms_are_set_as_formulas():
    found = {"lhs": "398981*sqrt(2)*sqrt(log(3191848))/50000", "rhs": "log(10)/100", "sign": ">", "where": {}}
    said = why(form(r"x \le 1", found))
    assert said.count("<msqrt>") == 2
    assert "sqrt(" not in said
    assert "*" not in said


def test_the_place_of_a_failure_is_told_with_symbols():
    found = {"lhs": "2", "rhs": "1", "sign": ">", "where": {"tau": 3, "entry": 7}}
    assert why(form(r"x \le 1", found)).endswith("on the instance below at τ = 3.")


def test_an_instance_keeps_the_values_of_its_outcomes_in_order():
    rows = [{"symbol": "x", "values": ["0", "1", "0"]}, {"symbol": r"\mathbb{P}", "values": ["1/4", "1/2", "1/4"]}]
    assert instance(rows).endswith(" = 0 | 1 | 0, in outcomes of probability 1/4 | 1/2 | 1/4")


def test_indices_and_powers_are_set_and_names_of_files_stay():
    assert prose("E^-1 tau_0^2, f_1(T), H D^2") == (
        "E<sup>-1</sup> τ<sub>0</sub><sup>2</sup>, f<sub>1</sub>(T), H D<sup>2</sup>"
    )
    assert prose("eta_max, bent_valley, max_B") == "η<sub>max</sub>, bent_valley, max_B"


def test_ids_are_named_as_in_their_paper():
    known = {"ruan.eq-44": ("ruan", "(44) & more"), "li.lemma-1": ("li", "Lemma 1")}
    text = References(known, {"ruan.eq-44"}).linked("rests on ruan.eq-44, li.lemma-1 (refuted), ruan.eq-440.", "ruan")
    assert text == ('rests on <a href="#ruan.eq-44">(44) &amp; more</a>, Li et al., Lemma 1 (refuted), ruan.eq-440.')


def test_names_of_symbols_become_symbols_and_words_stay():
    assert prose("-mu eta/2 below lambda_1 & sigma_sq") == "-μ η/2 below λ<sub>1</sub> &amp; σ²"
    assert prose("eta-fold, theory, ruan.mu, published@eta") == "eta-fold, theory, ruan.mu, published@eta"


@pytest.mark.parametrize("id_", sorted(ENTRIES))
def test_what_is_swept_has_a_name_for_readers(id_):
    checks = [form.check for form in ENTRIES[id_].load().forms]
    for sweep in (sweep for check in checks if isinstance(check, Sweeps) for sweep in check.sweeps):
        symbol = re.fullmatch(rf"(?:[A-Za-z]|{GREEK})(?:_(?:sq|\w))?", sweep.name)
        assert symbol or sweep.name in WORDS, f"{sweep.name}: say in fltheory.validation.swept what it is"


def test_powers_of_words_have_brackets():
    assert named("pull", power=True) == "(dissimilarity of the gradients)"
    assert named("T", power=True) == "T"


@pytest.mark.parametrize("id_", sorted(ENTRIES))
def test_pages_name_no_private_module_and_no_variant(id_):
    docstring = inspect.getdoc(ENTRIES[id_].module())
    shown = re.sub(r"<pre.*?</pre>", "", page(docstring), flags=re.DOTALL)
    assert not re.search(r"literal\">_\w+<", shown)
    assert not re.search(r"(?:published|corrected|sharp)@", shown)
    for target in re.findall(r'href="#([^"]+)"', shown):
        assert target in ENTRIES or target in {notes.anchor(name) for name in notes.targets(docstring)}, target


def test_notes_are_found_also_by_way_of_others():
    direct = ":mod:`~fltheory.bounds.scaffold.lemma_9` and :mod:`~fltheory.bounds.li._dominating`"
    assert next(iter(notes.targets(direct))) == "fltheory.bounds.li._dominating"
    assert list(notes.targets("nothing")) == []
