"""The claim of the how-to: its page shows the file, the theorem holds, and a bound that is too small is found out."""

import re
from pathlib import Path

import numpy as np

import fltheory as fl

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "own-claims"
FILE = FOLDER / "li_theorem_1.py"


def test_the_page_shows_the_file() -> None:
    page = (ROOT / "docs" / "how-to" / "claim-from-a-paper.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL) if ">>>" not in block]
    assert len(blocks) >= 6
    for block in blocks:
        assert block in FILE.read_text(encoding="utf-8")


def test_it_holds_and_a_hundredth_of_it_does_not(tmp_path: Path) -> None:
    checks = fl.check("own.li-theorem-1", claims=FOLDER, quick=True, fresh=True)
    assert [verdict.decision.value for verdict in checks] == ["HOLDS", "HOLDS"]
    text = FILE.read_text(encoding="utf-8")
    small = text.replace("noise, forgotten = 2 * B / mu, ", "noise, forgotten = B / (100 * mu), 1 / sp.Integer(100) * ")
    small = small.replace("import numpy as np", "import numpy as np\nimport sympy as sp")
    assert small != text
    (tmp_path / "li_theorem_1.py").write_text(small, encoding="utf-8")
    checks = fl.check("own.li-theorem-1", claims=tmp_path, quick=True, fresh=True)
    assert [verdict.decision.value for verdict in checks] == ["VIOLATED", "VIOLATED"]


def _experiment(rate: object, **more: object) -> fl.Experiment:
    problem = fl.client_quadratics(dim=3, num_clients=2, mu=1.0, L=4.0, dissimilarity=2.0, noise_sq=0.1)
    participation = fl.Participation(num_clients=2, local_steps=2, **more)  # type: ignore[arg-type]
    return fl.Experiment(
        problem=problem,
        algorithm=fl.FedAvg(),
        participation=participation,
        rounds=10,
        rate=rate,  # type: ignore[arg-type]
    )


def test_a_rate_per_step_is_compared_step_by_step() -> None:
    theorem = fl.theorem("own.li-theorem-1", claims=FOLDER)
    assert theorem.compare(_experiment(fl.schedules.PerStep(scale=2.0, shift=32.0))).decision.value == "HOLDS"
    rates = 2 / (32 + np.arange(20.0))
    assert not theorem.compare(_experiment(fl.schedules.StepTable(values=rates))).unmet
    rates[7] *= 1.001  # the second step of round 3
    unmet = theorem.compare(_experiment(fl.schedules.StepTable(values=rates))).unmet
    assert [condition.name for condition in unmet] == ["learning rate of the theorem"]
    assert "in round 3" in unmet[0].value


def test_absent_clients_do_not_meet_the_assumptions() -> None:
    theorem = fl.theorem("own.li-theorem-1", claims=FOLDER)
    some = fl.participation.StepCounts(pmf=np.array([[0.5, 0.0, 0.5]] * 2))
    unmet = theorem.compare(_experiment(fl.schedules.PerStep(scale=2.0, shift=32.0), steps=some)).unmet
    assert "all clients complete all steps in every round" in [condition.name for condition in unmet]
