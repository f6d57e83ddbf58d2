"""Claims of a folder: found by parsing, loaded with their helpers beside them, and errors that name file and line."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from fltheory.bounds import catalogue
from fltheory.errors import InvalidParameter

HEAD = """
from sympy import Le
from fltheory.claims import Citation, Claim, Form, Instances, Kind, Real, Space, scalar
x = scalar("theta", "x", "a number of mine")
check = Instances(space=Space({"x": Real(0, 1)}), realise=lambda point: {x: point["x"]})
"""
BODY = (
    'kind=Kind.LEMMA, title="small", citation=Citation("own", "r"), forms=(Form(statement=Le(x, 1)),), check=check)\n'
)
CLAIM = HEAD + 'claim = Claim(id="own.a", ' + BODY


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def own(folder: Path) -> dict[str, catalogue.Entry]:
    return {id_: entry for id_, entry in catalogue.index([folder]).items() if entry.paper == "own"}


@pytest.mark.parametrize(
    "head",
    [
        "claim = Claim(id='own.a', ",
        "claim = Claim(  # a comment, with id=5 in it\n    # and another\n    id='own.a',\n",
        "claim: Claim = Claim(id=('own' '.a'), ",
    ],
)
def test_a_claim_is_found_however_it_is_written(tmp_path, head):
    entry = own(write(tmp_path, a=HEAD + head + BODY))["own.a"]
    assert (entry.kind, entry.title, entry.reference) == ("lemma", "small", "r")
    assert entry.load().id == "own.a"


def test_a_citation_may_have_keywords(tmp_path):
    text = CLAIM.replace('Citation("own", "r")', 'Citation(reference="Lemma 1", paper="own")')
    assert own(write(tmp_path, a=text))["own.a"].reference == "Lemma 1"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('id="own.a"', "id=NAME", r"a\.py:6: Claim\.id must be a string written out in the file"),
        ('title="small"', 'title="small" + "er"', r"Claim\.title must be a string written out"),
        ('citation=Citation("own", "r")', "citation=where", r"Claim\.citation must be written as Citation"),
        ("kind=Kind.LEMMA", 'kind="lemma"', r"Claim\.kind must be written as a member of Kind"),
        ("claim = Claim(", "claim = make(", r"a\.py:6: claim must be a call of Claim"),
        ("check=check)", "check=check", r"a\.py:6: not valid Python"),
    ],
)
def test_what_cannot_be_listed_is_said_with_file_and_line(tmp_path, old, new, words):
    with pytest.raises(InvalidParameter, match=words):
        own(write(tmp_path, a=CLAIM.replace(old, new)))


def test_a_helper_is_skipped_and_can_be_imported(tmp_path):
    text = "import my_helpers\nfrom my_helpers import LIMIT\n" + CLAIM.replace("Le(x, 1)", "Le(x, LIMIT)")
    folder = write(tmp_path, a=text, my_helpers="LIMIT = 3\n", _private="claim = None\n")
    assert list(own(folder)) == ["own.a"]
    before = list(sys.path)
    assert own(folder)["own.a"].load().forms[0].relations[0].rhs == 3
    assert sys.path == before
    assert "my_helpers" not in sys.modules


def test_helpers_of_two_folders_with_one_name_do_not_meet(tmp_path):
    loaded = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = "from my_helpers import LIMIT\n" + CLAIM.replace("Le(x, 1)", "Le(x, LIMIT)")
        write(folder, a=text, my_helpers=f"LIMIT = {number}\n")
        loaded.append(own(folder)["own.a"].load().forms[0].relations[0].rhs)
    assert loaded == [1, 2]


def test_a_helper_hides_a_module_of_its_name_only_while_it_is_loaded(tmp_path, monkeypatch):
    other = ModuleType("my_helpers")
    monkeypatch.setitem(sys.modules, "my_helpers", other)
    text = "from my_helpers import LIMIT\n" + CLAIM.replace("Le(x, 1)", "Le(x, LIMIT)")
    folder = write(tmp_path, a=text, my_helpers="LIMIT = 7\n")
    assert own(folder)["own.a"].load().forms[0].relations[0].rhs == 7
    assert sys.modules["my_helpers"] is other


def test_an_edited_helper_is_read_again(tmp_path):
    text = "from my_helpers import LIMIT\n" + CLAIM.replace("Le(x, 1)", "Le(x, LIMIT)")
    for limit in (1, 22):
        folder = write(tmp_path, a=text, my_helpers=f"LIMIT = {limit}\n")
        assert own(folder)["own.a"].load().forms[0].relations[0].rhs == limit


def test_a_folder_without_claims_is_refused(tmp_path):
    with pytest.raises(InvalidParameter, match="one file per claim, got none"):
        own(write(tmp_path, helpers="LIMIT = 3\n"))
    with pytest.raises(InvalidParameter, match="must name a folder"):
        own(tmp_path / "missing")


def test_two_claims_with_one_id_are_refused(tmp_path):
    with pytest.raises(InvalidParameter, match=r"'own\.a' is stated twice"):
        own(write(tmp_path, a=CLAIM, b=CLAIM))


def test_an_error_while_loading_names_file_and_line(tmp_path):
    folder = write(tmp_path, a=CLAIM + "\n\nvalue = 1 / 0\n")
    with pytest.raises(InvalidParameter, match=rf"{tmp_path}/a\.py:9: ZeroDivisionError: division by zero"):
        own(folder)["own.a"].load()
    folder = write(tmp_path, a="from my_helpers import LIMIT\n" + CLAIM, my_helpers="\nLIMIT = {}[0]\n")
    with pytest.raises(InvalidParameter, match=rf"{tmp_path}/my_helpers\.py:2: KeyError: 0"):
        own(folder)["own.a"].load()


def test_a_symbol_of_ones_own_meets_none_of_the_package(tmp_path):
    """With the registry of one process this claim's theta broke those of the package, or was broken by them."""
    from fltheory.validation.decide import QUICK, check

    mine = own(write(tmp_path, a=CLAIM))["own.a"].load()
    other = catalogue.index()["ruan.eq-73"].load()
    again = own(tmp_path)["own.a"].load()
    for claim in (mine, other, again):
        assert {verdict.decision.value for verdict in check(claim, effort=QUICK)} == {"HOLDS"}
