"""Values cannot be changed, have no room for misspelt fields, and are made with names."""

import ast
from pathlib import Path

import fltheory

PACKAGE = Path(fltheory.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

BOOKS = {"Trials", "Answers", "_Writer", "LongRun"}
"""Kept while something runs, and changed by it."""

WITH_CACHES = {"_Batch"}
"""Cached properties need a dictionary, which slots take away."""

NAMED = ("algorithms", "quadratic", "logistic", "participation", "simulation", "deep", "sweep", "theory")
"""Folders whose values have fields that nobody could tell apart by their places."""

FEW = 4
"""Fields that may be given by their places elsewhere."""


def options(path):
    """Yield name, options and number of fields of every class in a file that is a dataclass."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ClassDef):
            continue
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
            if ast.unparse(call.func).split(".")[-1] == "dataclass":
                count = sum(isinstance(one, ast.AnnAssign) for one in node.body)
                yield node.name, {one.arg: ast.literal_eval(one.value) for one in call.keywords}, count


FOUND = [(path, *one) for path in FILES for one in options(path)]


def test_there_are_values_to_look_at():
    assert len(FOUND) > 200
    assert {name for _, name, _, _ in FOUND} >= BOOKS | WITH_CACHES


def test_values_stay_as_they_were_made():
    assert {name for _, name, given, _ in FOUND if not given.get("frozen")} == BOOKS


def test_a_misspelt_field_is_an_error():
    assert {name for _, name, given, _ in FOUND if not given.get("slots")} == WITH_CACHES


def test_parameters_are_given_by_name():
    many = [one for one in FOUND if one[0].relative_to(PACKAGE).parts[0] in NAMED and one[3] > FEW]
    assert len(many) > 30
    assert [name for _, name, given, _ in many if not given.get("kw_only")] == []


def test_every_algorithm_is_a_value_made_with_names():
    made = {name: given for path, name, given, _ in FOUND if path.parent.name == "algorithms"}
    public = {name for name in fltheory.__all__ if name in made}
    assert len(public) > 25
    for name in public:
        assert made[name] == {"frozen": True, "kw_only": True, "slots": True}, name
