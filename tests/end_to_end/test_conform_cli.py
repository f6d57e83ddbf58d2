"""``fltheory conform`` as a user calls it."""

import json
import subprocess
import sys

import pytest

CODE = """
import numpy as np


def run(f, over_participants=True):
    w, c, models = f.start, np.zeros(f.dim), []
    c_i = np.zeros((f.num_clients, f.dim))
    for t, participants in enumerate(f.participants):
        total = sum(f.sample_counts[i] for i in participants)
        moved, change = np.zeros(f.dim), np.zeros(f.dim)
        for i in participants:
            y = w.copy()
            for _ in range(f.steps[t, i]):
                y -= f.rates[t] * (f.gradient(i, y, f.rng) + c - c_i[i])
            new = c_i[i] - c + (w - y) / (f.steps[t, i] * f.rates[t])
            moved += f.sample_counts[i] / total * (y - w)
            change += (f.sample_counts[i] / total if over_participants else f.weights[i]) * (new - c_i[i])
            c_i[i] = new
        w, c = w + f.server_rate * moved, c + change
        models.append(w)
    return models


def right(f):
    return run(f, over_participants=False)


def broken(f):
    return [f.start[7]]


def leaves(f):
    raise SystemExit(0)


def prox(f):
    return right(f) if f.parameters["option"] == "I" else None


number = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("code")
    (folder / "mine.py").write_text(CODE, encoding="utf-8")
    (folder / "unimportable.py").write_text("import numpy\nimport no_such_module\n", encoding="utf-8")
    return folder


def conform(folder, *arguments):
    command = [sys.executable, "-m", "fltheory", "conform", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_known_mistake_is_named_and_exits_with_1(folder):
    done = conform(folder, "mine:run", "--algorithm", "scaffold", "--html", "page/mine.html")
    assert done.returncode == 1
    assert done.stdout.splitlines()[:3] == [
        "SCAFFOLD: KNOWN_MISTAKE",
        "equals SCAFFOLD with the server variate averaged over the participants instead of all clients, as in "
        "NIID-Bench issue #12",
        "agrees under full participation; differs as soon as a client is absent",
    ]
    page = (folder / "page" / "mine.html").read_text(encoding="utf-8")
    assert "KNOWN MISTAKE" in page
    assert "NIID-Bench issue #12" in page
    assert page.count("<tr>") == 11
    assert "http" not in page


def test_code_that_ends_the_process_is_not_right(folder):
    done = conform(folder, "mine:leaves", "--algorithm", "fedavg")
    assert done.returncode == 2
    assert "leaves failed on the instance 'one client, one step, one round': SystemExit: 0" in done.stderr


def test_right_code_exits_with_0_and_json_is_one_document(folder):
    done = conform(folder, "mine.py:right", "-a", "scaffold", "--noisy", "--replicates", "100", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["conclusion"] == "CONFORMS"
    assert document["noise"]["agrees"] is True


def test_a_file_may_be_called_like_a_module_of_the_library_and_import_its_neighbours(tmp_path):
    code = tmp_path / "code"
    code.mkdir()
    (code / "mine.py").write_text(CODE, encoding="utf-8")
    (code / "json.py").write_text("def run(f):\n    import mine\n    return mine.right(f)\n", encoding="utf-8")
    done = conform(tmp_path, "code/json.py:run", "-a", "scaffold")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SCAFFOLD: CONFORMS")


def test_parameters_and_skipped_features_are_passed_on(folder):
    done = conform(folder, "mine:right", "-a", "scaffold", "-P", "server_rate=0.5", "--skip", "unequal-steps", "--json")
    document = json.loads(done.stdout)
    assert document["parameters"]["server_rate"] == 0.5
    assert document["skipped"] == ["unequal-steps"]
    reading = conform(folder, "mine:right", "-a", "scaffold", "-P", "option=I")
    assert reading.returncode == 0
    assert "SCAFFOLD: VARIANT" in reading.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "conform needs your code and --algorithm"),
        (("mine:run",), "conform needs your code and --algorithm"),
        (("mine", "-a", "scaffold"), "must be given as MODULE:FUNCTION"),
        (("nothing:run", "-a", "scaffold"), "nothing could not be imported: ModuleNotFoundError"),
        (("nothing.py:run", "-a", "scaffold"), "there is no file nothing.py"),
        (("mine:rum", "-a", "scaffold"), "mine has no 'rum'; it has run, right, broken, leaves, prox"),
        (("mine:number", "-a", "scaffold"), "must be a function of a federation, got int"),
        (("unimportable:run", "-a", "scaffold"), "unimportable.py, line 2"),
        (("mine:broken", "-a", "scaffold"), "mine.py, line 29"),
        (("mine:run", "-a", "scafold"), "did you mean 'scaffold'"),
        (("mine:run", "-a", "scaffold", "-P", "option"), "must be NAME=VALUE"),
        (("mine:run", "-a", "scaffold", "-P", "alpha=1"), "SCAFFOLD has no parameter 'alpha'"),
        (("mine:run", "-a", "scaffold", "--skip", "rounds"), "conform.skip must be one of"),
    ],
)
def test_bad_input_is_one_line_and_exits_with_2(folder, arguments, message):
    done = conform(folder, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert message in done.stderr


def test_the_catalogue_is_listed(folder):
    whole = conform(folder, "--list")
    assert whole.returncode == 0
    assert "server-variate-over-participants" in whole.stdout
    entries = json.loads(conform(folder, "--list", "-a", "feddyn", "--json").stdout)
    assert {entry["algorithm"] for entry in entries} == {"feddyn"}
    assert "FedLab issue #319" in {entry["source"] for entry in entries}
