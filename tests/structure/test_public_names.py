"""The public door: names, types, and that nothing with an underscore is needed."""

from __future__ import annotations

import ast
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


def test_type_checkers_see_the_public_names(tmp_path: Path) -> None:
    """A user's file is checked strictly: what is right passes, and every mistake is found in its line."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "--no-error-summary"]
    settings = tmp_path / "mypy.ini"
    skipped = "".join(
        f"[mypy-{name}.*]\nignore_missing_imports = True\n"
        for name in ("numba", "sympy", "cvxpy", "PEPit", "docutils", "torch", "scipy")
    )
    settings.write_text(f"[mypy]\nfollow_imports = silent\n{skipped}")
    done = subprocess.run(
        [*command, "--config-file", str(settings), "good.py", "bad.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)},
    )
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
