"""Who may import whom among the papers: names with an underscore stay in their folder."""

import ast
import re
from pathlib import Path

import pytest

import fltheory
from fltheory.bounds.papers import PAPERS

BOUNDS = Path(fltheory.__file__).parent / "bounds"
SHARED = {"flexible_participation", "objective_shift", "technical_lemmas"}
FILES = sorted(path for path in BOUNDS.rglob("*.py") if path.parent != BOUNDS)


def imported(path: Path) -> list[tuple[str, ...]]:
    """Return what a file imports, as the parts of full names."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [tuple(name.name.split(".")) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            found += [(*str(node.module).split("."), name.name) for name in node.names]
    return found


def rooms(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Return the folders of statements from which a file imports, with what it takes."""
    names = [parts for parts in imported(path) if parts[:2] == ("fltheory", "bounds") and len(parts) > 3]
    return [(parts[2], parts[3:]) for parts in names if parts[2] in {*PAPERS, *SHARED}]


def test_there_are_imports_to_look_at():
    assert sum(len(rooms(path)) for path in FILES) > 300


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(BOUNDS)))
def test_private_names_stay_in_their_folder(path):
    own = path.relative_to(BOUNDS).parts[0]
    for room, names in rooms(path):
        assert room == own or not any(name.startswith("_") for name in names), (room, names)
        assert own not in SHARED or room in SHARED, f"what papers share does not know {room}"
        assert room == own or room in SHARED, f"what {own} shares with {room} has a room of its own"


OWN = sorted((Path(__file__).parents[2] / "examples" / "own-claims").glob("*.py"))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_claim_of_ones_own_needs_the_facade_only(path):
    ours = [parts for parts in imported(path) if parts[0] == "fltheory"]
    assert ours
    # ``import fltheory as fl`` for experiments, the vocabulary of claims, and nothing else.
    assert {("fltheory", "claims")} <= {parts[:2] for parts in ours} <= {("fltheory",), ("fltheory", "claims")}


def test_the_facade_has_what_it_says():
    from fltheory import claims

    assert sorted(claims.__all__) == sorted(set(claims.__all__))
    public = {name for name in vars(claims) if not name.startswith("_")} - {"annotations"}
    assert public == set(claims.__all__)
    assert not [name for name in claims.__all__ if name not in claims.__doc__]


OF_MANY = {
    "State": "one per algorithm",
    "Constant": "a number that theorems refer to; the schedule of that name is reached as ``schedules.Constant``",
}
"""Names of several classes, and why."""


def test_a_public_class_name_has_one_meaning():
    """The glossary says what it is."""
    places: dict[str, set[str]] = {}
    for path in Path(fltheory.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, set()).add(str(path))
    assert len(places) > 300
    assert {name for name, found in places.items() if len(found) > 1} == set(OF_MANY)


def test_every_paper_has_its_folder_and_every_folder_its_paper():
    folders = {path.parent.name for path in BOUNDS.glob("*/__init__.py")}
    assert folders - SHARED == set(PAPERS)


def identifiers(path: Path) -> set[str]:
    """Return the names of classes and functions, of their parameters, and of variables."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return found


ENGINES = Path(fltheory.__file__).parent / "simulation"


def test_words_that_meant_several_things_mean_one():
    """The glossary says which; classes that are named after them are few enough to be listed."""
    root = Path(fltheory.__file__).parent
    names = {path: identifiers(path) for path in root.rglob("*.py")}
    everything = set().union(*names.values())
    assert len(everything) > 5000
    classes = {name for name in everything if name[:1].isupper()}
    for word, meant in {
        "Source": {"DatasetSource"},
        "Outcome": {"Outcomes"},  # of a random draw
        "Judge": set(),
        "Reading": set(),  # a variant of a form, in words
        "Study": {"Study"},  # a figure or table
    }.items():
        assert {name for name in classes if word in name} == meant
    assert not {name for name in everything if "judg" in name.lower()}
    # What a round leaves is a result; an outcome is one of a draw.
    lines = [line for path in ENGINES.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum(".round(" in line for line in lines) > 3
    assert not [line for line in lines if re.search(r"\boutcome\b.*(\.round\(|RoundResult)", line)]
