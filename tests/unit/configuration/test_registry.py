"""The catalogue finds what is in the folders, and nothing else."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import fltheory.algorithms
from fltheory.algorithms.base import Algorithm
from fltheory.configuration import registry
from fltheory.configuration.experiments import _OF_EXPERIMENT, slug
from fltheory.errors import InvalidParameter
from fltheory.participation import Selection, StepLaw


def test_every_public_algorithm_file_is_represented() -> None:
    folder = Path(fltheory.algorithms.__path__[0])
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_") and path.stem != "base"}
    homes = {kind.__module__.rsplit(".", 1)[1] for kind in registry.algorithms().values()}
    assert homes == files
    assert len(files) >= 20


def test_algorithms_are_concrete_sorted_and_usable_with_defaults() -> None:
    kinds = registry.algorithms()
    assert list(kinds) == sorted(kinds)
    for name, kind in kinds.items():
        assert kind.name == name
        assert not inspect.isabstract(kind)
        assert kind().title == kind.title


def test_names_and_titles_do_not_collide() -> None:
    kinds = registry.algorithms().values()
    assert len({slug(kind.title) for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert not {"name", *_OF_EXPERIMENT} & set(registry.parameters(kind)), kind


def test_summaries_are_one_paragraph_of_plain_words() -> None:
    for kind in registry.algorithms().values():
        text = registry.summary(kind)
        assert 20 < len(text) < 160
        assert text.endswith(".")
        assert "\n" not in text
        assert "\\" not in text


def test_two_algorithms_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = Path(fltheory.algorithms.__path__[0]) / "fedavg.py"
    (tmp_path / "again.py").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(fltheory.algorithms, "__path__", [*fltheory.algorithms.__path__, str(tmp_path)])
    with pytest.raises(InvalidParameter, match="'fedavg' in both"):
        registry.algorithms.__wrapped__()
    sys.modules.pop("fltheory.algorithms.again", None)


def test_abstract_and_imported_classes_are_not_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = [
        "from fltheory.algorithms.base import Algorithm",
        "from fltheory.algorithms.fedavg import FedAvg",
        "class Half(Algorithm):",
        "    name = 'half'",
    ]
    (tmp_path / "half.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(fltheory.algorithms, "__path__", [str(tmp_path)])
    assert dict(registry.algorithms.__wrapped__()) == {}
    sys.modules.pop("fltheory.algorithms.half", None)


def test_selections_step_laws_and_rates_carry_their_names() -> None:
    assert set(registry.selections()) == {
        "everyone", "with-replacement", "without-replacement", "bernoulli", "by-size"
    }  # fmt: skip
    assert set(registry.step_laws()) == {"full", "counts", "uniform", "bernoulli", "trace", "time-varying"}
    assert set(registry.rate_schedules()) == {"constant", "inverse", "table", "per-step", "step-table"}
    assert isinstance(registry.selections()["by-size"](size=1), Selection)
    assert isinstance(registry.step_laws()["full"](), StepLaw)


@pytest.mark.parametrize("name", registry.PROBLEMS)
def test_problem_generators_exist_and_have_json_defaults(name: str) -> None:
    takes = registry.parameters(registry.problem(name))
    assert {"num_clients", "seed"} <= set(takes) or "data" in takes
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in takes.values())
    json.dumps([parameter.default for parameter in takes.values() if parameter.default is not parameter.empty])


def test_unknown_problem_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidParameter, match="did you mean 'synthetic'"):
        registry.problem("synthetics")


def test_only_dataclasses_of_the_module_itself_are_named() -> None:
    module = types.ModuleType("laws")

    @dataclass
    class Law:
        name: ClassVar[str] = "law"

    Law.__module__ = "laws"
    vars(module).update(Law=Law, Foreign=Algorithm, number=3)
    assert dict(registry._named(module)) == {"law": Law}


def test_names_are_read_without_importing_and_are_those_of_the_classes() -> None:
    folder = Path(fltheory.algorithms.__path__[0])
    for path in folder.glob("[!_]*.py"):
        home = f"fltheory.algorithms.{path.stem}"
        written = registry._NAME.findall(path.read_text(encoding="utf-8"))
        assert written == [kind.name for kind in registry._algorithms_of(home)], path.stem
    code = (
        "import sys; from fltheory.configuration import registry; registry.algorithms()['scaffold'];"
        "print(sorted(name for name in sys.modules if name.startswith('fltheory.algorithms.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['fltheory.algorithms.base', 'fltheory.algorithms.scaffold']"
