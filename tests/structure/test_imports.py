"""Importing stays cheap, and imports point downwards."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import fltheory
from fltheory import algorithms, participation

HEAVY = ["numba", "scipy", "sympy", "matplotlib", "cvxpy", "torch", "hypothesis"]

ALGORITHMS = [f"fltheory.algorithms.{module.name}" for module in pkgutil.iter_modules(algorithms.__path__)]
PARTICIPATION = [f"fltheory.participation.{module.name}" for module in pkgutil.iter_modules(participation.__path__)]


def python(code):
    """Run a fresh interpreter with warnings as errors and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "modules",
    [
        ["fltheory"],
        [
            "fltheory",
            "fltheory.quadratic",
            "fltheory.simulation.experiment",
            "fltheory.simulation.engines",
            "fltheory.simulation.trajectories",
        ],
        [*ALGORITHMS, *PARTICIPATION, "fltheory.configuration.registry"],
        ["fltheory.cli"],
    ],
    ids=["package", "quadratics and engines", "algorithms and participation", "command line"],
)
def test_heavy_packages_load_only_where_used(modules):
    code = f"import sys, {', '.join(modules)}; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert python(code).strip() == "[]"


def test_building_an_experiment_compiles_nothing():
    code = (
        "import sys, fltheory; from fltheory.algorithms.fedavg import FedAvg;"
        "e = fltheory.Experiment(problem=fltheory.noisy_quadratic(), algorithm=FedAvg(), rounds=2, rate=0.1,"
        " participation=fltheory.Participation(num_clients=10, local_steps=2));"
        "fltheory.simulate(e, engine='exact');"
        f"print(sorted(set({HEAVY}) & set(sys.modules)))"
    )
    assert python(code).strip() == "[]"


def test_public_names_resolve_and_are_listed():
    for name in fltheory.__all__:
        assert getattr(fltheory, name) is not None
    assert dir(fltheory) == sorted(fltheory.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        fltheory.Nothing  # noqa: B018


def test_imports_point_downwards():
    root = Path(__file__).parents[2]
    program = Path(sys.executable).parent / "lint-imports"
    if not program.exists():
        pytest.fail("import-linter is missing: install the test extra")
    done = subprocess.run([program, "--no-cache"], capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
