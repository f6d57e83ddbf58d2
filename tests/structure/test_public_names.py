"""The public door: names, types, and that nothing with an underscore is needed."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fltheory as fl
from fltheory._internal.lazy import exports
from fltheory.configuration import registry

ROOT = Path(__file__).parents[2]
PACKAGES = [fl, fl.algorithms, fl.problems]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_name_of_a_stub_resolves_to_what_it_says(package) -> None:
    named = exports(Path(package.__file__).with_suffix(".pyi"))
    assert set(named) <= set(package.__all__)
    for name, home in named.items():
        found = getattr(package, name)
        assert found is not None
        own = getattr(found, "__module__", None)
        if own is not None and own.startswith("fltheory"):
            assert own.startswith(home), (name, own, home)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_stubs_say_nothing_else(package) -> None:
    stub = Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = [line for line in stub.splitlines() if line and line != "__version__: str"]
    assert len(lines) == len(exports(Path(package.__file__).with_suffix(".pyi")))


def test_every_algorithm_is_public() -> None:
    kinds = {kind.__name__ for kind in registry.algorithms().values()}
    assert kinds <= set(fl.__all__)
    assert kinds <= set(fl.algorithms.__all__)


def test_a_typo_gets_the_nearest_name() -> None:
    with pytest.raises(AttributeError, match="did you mean 'Scaffold'"):
        fl.Scafold  # noqa: B018


GOOD = """
import fltheory as fl

problem = fl.noisy_quadratic(dim=3, num_clients=2)
participation = fl.Participation(num_clients=2, local_steps=2)
theorem = fl.theorem("ruan.theorem-3.1")
rate = theorem.rate_for(problem, participation)
experiment = fl.Experiment(
    problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=5, rate=rate
)
run: fl.Trajectories = fl.simulate(experiment, engine="exact")
compared: fl.Comparison = theorem.compare(experiment, run)
decision: fl.Decision = compared.decision
verdicts: list[fl.Verdict] = list(fl.check("ruan.*", quick=True))
"""

BAD = """
import fltheory as fl

fl.Experiment(algoritm=fl.FedAvg(), rounds="five")
fl.theorem(3)
fl.theorem("ruan.theorem-3.1").bound(corrected=True)
fl.FedAvg(server_rate="fast")
fl.nothing
fl.simulate("experiment")
"""


OTHERS = ("numba", "sympy", "cvxpy", "PEPit", "docutils", "torch", "scipy", "flwr", "pandas", "xarray", "matplotlib")
"""Packages whose types are not in question, and that need not be there."""


def checked(folder: Path, *files: str, **settings: bool) -> subprocess.CompletedProcess[str]:
    """Return what a strict type checker says about files of a folder."""
    lines = [
        "[mypy]",
        "strict = True",
        "follow_imports = silent",
        *(f"{name} = {value}" for name, value in settings.items()),
    ]
    for name in OTHERS:
        lines += [f"[mypy-{name}.*]", "ignore_missing_imports = True", "follow_imports = skip"]
        lines += ["follow_imports_for_stubs = True"]
    (folder / "mypy.ini").write_text("\n".join(lines))
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(folder / "cache"), "--no-error-summary"]
    return subprocess.run(
        [*command, "--config-file", str(folder / "mypy.ini"), *files],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)},
    )


def test_type_checkers_see_the_public_names(tmp_path: Path) -> None:
    """A user's file is checked strictly: what is right passes, and every mistake is found in its line."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    done = checked(tmp_path, "good.py", "bad.py")
    wrong = {int(line) for file, line in re.findall(r"^(\w+)\.py:(\d+): error", done.stdout, re.M) if file == "bad"}
    assert "good.py" not in done.stdout, done.stdout + done.stderr
    assert wrong == {4, 5, 6, 7, 8, 9}, done.stdout + done.stderr


def _imports(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return [name for name in found if name.startswith("fltheory")]


def _examples() -> dict[str, str]:
    """Return all Python that users are shown: example files, and the code blocks of the documentation."""
    found = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in ROOT.glob("examples/**/*.py")}
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        lines = re.findall(r"^(?:>>>|\.\.\.).*", text, re.M)
        prompted = "\n".join(re.sub(r"^(>>>|\.\.\.) ?", "", line) for line in lines)
        plain = "\n".join(block for block in re.findall(r"```python\n(.*?)```", text, re.S) if ">>>" not in block)
        found[str(page.relative_to(ROOT))] = f"{prompted}\n{plain}"
    return found


@pytest.mark.parametrize(("place", "code"), _examples().items(), ids=_examples())
def test_examples_import_nothing_with_an_underscore(place: str, code: str) -> None:
    for name in _imports(code):
        assert not any(part.startswith("_") for part in name.split(".")), f"{place}: {name}"


def test_examples_of_the_documentation_pass_a_type_checker(tmp_path: Path) -> None:
    """What users are shown, as notebooks would have it: functions without types, names that are used again.

    Examples that end in an error are left out; several of them are wrong arguments.
    """
    places = {}
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        examples = doctest.DocTestParser().get_examples(text)
        code = "".join(one.source for one in examples if one.exc_msg is None)
        if page.name == "README.md":
            code += "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
        if code:
            name = f"page_{len(places)}.py"
            (tmp_path / name).write_text(code)
            places[name] = page.relative_to(ROOT)
    assert len(places) > 15
    relaxed = dict.fromkeys(("disallow_untyped_defs", "disallow_untyped_calls", "disallow_any_generics"), False)
    done = checked(tmp_path, *places, **relaxed, allow_redefinition=True)
    found = re.sub(r"page_\d+\.py", lambda match: str(places[match[0]]), done.stdout)
    assert not re.search(r": error: ", found), found + done.stderr
