"""An error in the code of a claim is one line with file and line; the rest of the way is shown on request."""

import re

import pytest
from typer.testing import CliRunner

from fltheory.bounds import catalogue
from fltheory.cli import app
from fltheory.errors import BrokenClaim
from fltheory.validation.decide import QUICK, check
from fltheory.validation.runner import check_all

TEXT = """
from sympy import Le
from fltheory.claims import Citation, Claim, Experiments, Form, Instances, Kind, Real, Rejected, Space, scalar

x = scalar("x", "x", "a number")
{code}
claim = Claim(
    id="own.broken",
    kind=Kind.LEMMA,
    title="broken",
    citation=Citation("own", "r"),
    forms=(Form(statement=Le(x, 1)),),
    check={check},
)
"""
SPACE = 'Space({"a": Real(0, 1)})'
REALISE = f"Instances(space={SPACE}, realise=realise)"


def broken(folder, code, check=REALISE):
    (folder / "a.py").write_text(TEXT.format(code=code, check=check))
    return catalogue.select(["own.broken"], [folder])


CASES = {
    "an exception": ("def realise(point):\n    return {x: point['b']}", REALISE, r"a\.py:7: KeyError: 'b'"),
    "an error of the package": (
        "def realise(point):\n    return {x: Real(2, 1)}",
        REALISE,
        r"a\.py:7: Real\.high must be a number in \[2, inf\)",
    ),
    "deep inside": (
        "def inner(a):\n    return 1 / (a - a)\n\n\ndef realise(point):\n    return {x: inner(point['a'])}",
        REALISE,
        r"a\.py:7: ZeroDivisionError",
    ),
    "the experiment": (
        "def experiment(point):\n    return undefined",
        f"Experiments(space={SPACE}, experiment=experiment, quantities=lambda *_: {{}})",
        r"a\.py:7: NameError: name 'undefined' is not defined",
    ),
    "a library": (
        "def realise(point):\n    import numpy as np\n    return {x: np.reshape([1.0], (2, 2))}",
        REALISE,
        r"a\.py:8: ValueError: cannot reshape",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_error_names_file_and_line_of_the_claim(tmp_path, case):
    code, made, words = CASES[case]
    (entry,) = broken(tmp_path, code, made)
    with pytest.raises(BrokenClaim, match=f"^{re.escape(str(tmp_path))}/{words}"):
        check(entry.load(), effort=QUICK)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_broken_claim_does_not_stop_the_others(tmp_path, jobs):
    entries = [*broken(tmp_path, CASES["an exception"][0]), *catalogue.select(["ruan.lemma-a.3"])]
    found, _ = check_all(entries, effort=QUICK, jobs=jobs, fresh=True)
    first, second = found
    assert first.error.endswith("a.py:7: KeyError: 'b'")
    assert "Traceback" in first.traceback
    assert "realise(point)" in first.traceback or "in realise" in first.traceback
    assert second.verdicts
    assert not second.error


def test_an_instance_that_cannot_be_made_is_no_error(tmp_path):
    (entry,) = broken(tmp_path, "def realise(point):\n    raise Rejected('not this one')")
    (verdict,) = check(entry.load(), effort=QUICK)
    assert verdict.decision.value == "NOT_APPLICABLE"
    assert "not this one" in verdict.reason


def test_a_quantity_that_is_not_given_is_named(tmp_path):
    (entry,) = broken(tmp_path, "def realise(point):\n    return {'y': 1.0}")
    found, _ = check_all([entry], effort=QUICK, fresh=True)
    assert "the value of x is missing: x (x): a number; a number" in found[0].error


@pytest.mark.parametrize("command", [("check", "own.broken"), ("falsify", "own.broken", "--budget", "1")])
def test_the_command_line_shows_one_line_or_everything(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "claims"
    folder.mkdir()
    broken(folder, CASES["an exception"][0])
    short = CliRunner().invoke(app, [*command, "--claims", str(folder)])
    assert short.exit_code in (1, 2)
    assert "a.py:7: KeyError: 'b'" in short.stderr
    assert "Traceback" not in short.stderr
    for words in (["--traceback", *command], [*command, "--traceback"]):
        whole = CliRunner().invoke(app, [*words, "--claims", str(folder)])
        assert whole.exit_code == short.exit_code
        assert "Traceback (most recent call last)" in whole.stderr
        assert "a.py:7: KeyError: 'b'" in whole.stderr
