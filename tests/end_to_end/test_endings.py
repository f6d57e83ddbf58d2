"""Commands that are ended, or whose surroundings are poor: what was finished is kept, and nothing is left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fltheory.cli import app

OWN = Path(__file__).parents[2] / "examples" / "own-claims"
FLTHEORY = [sys.executable, "-m", "fltheory"]


def fltheory(*arguments, **more):
    command = [*FLTHEORY, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)


def own_claims(folder, **edited):
    """Write claims of a user into a folder: the example under several names, some of them edited."""
    folder.mkdir()
    text = (OWN / "local_drift.py").read_text()
    for name, (old, new) in edited.items():
        assert old in text
        (folder / f"{name}.py").write_text(text.replace("own.local-drift", f"own.{name}").replace(old, new))
    return folder


GOOD = ("", "")
KILLS = ('start = point["w"]', 'import os, signal; os.kill(os.getpid(), signal.SIGKILL); start = point["w"]')
KILLS_ONCE = (
    'start = point["w"]',
    "import os, pathlib, signal\n"
    "    if not pathlib.Path('killed').exists():\n"
    "        pathlib.Path('killed').touch()\n"
    "        os.kill(os.getpid(), signal.SIGKILL)\n"
    '    start = point["w"]',
)
RAISES = ('start = point["w"]', 'start = point["nothing"]')
LEAVES = ('start = point["w"]', "raise SystemExit(3)\n    start = None")
UNLOADABLE = ("import", "import nothing_like_this, ")
GONE = ("def realise", "raise SystemExit('no')\n\n\ndef realise")


def test_a_process_that_dies_costs_one_claim_and_one_line(tmp_path):
    folder = own_claims(tmp_path / "claims", a=GOOD, b=KILLS, c=GOOD, d=KILLS_ONCE, e=GOOD)
    done = fltheory("check", "own.*", "--claims", folder, "--quick", "--jobs", "2", "--fresh", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert errors[0].startswith("error: own.b could not be evaluated: a process was ended from outside")
    document = json.loads((tmp_path / "results/ledger/ledger.json").read_text())
    assert {entry["id"] for entry in document["claims"] if entry["forms"]} == {"own.a", "own.c", "own.d", "own.e"}


def test_one_broken_claim_does_not_cost_the_report(tmp_path, monkeypatch):
    from fltheory.bounds import catalogue

    monkeypatch.chdir(tmp_path)
    folder = own_claims(tmp_path / "claims", good=GOOD, raises=RAISES, leaves=LEAVES, unloadable=UNLOADABLE, gone=GONE)
    chosen = catalogue.select(["own.*", "ruan.eq-71"], [folder])
    monkeypatch.setattr(catalogue, "select", lambda *_: chosen)
    arguments = ["validate", "--quick", "--no-figures", "--jobs", "1", "--claims", "claims"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1, done.output
    assert re.search(r"own\.raises could not be evaluated: \S*raises\.py:\d+: KeyError: 'nothing'", done.stderr), (
        done.stderr
    )
    assert re.search(r"own\.leaves could not be evaluated: \S*leaves\.py:\d+: SystemExit: 3", done.stderr), done.stderr
    assert "own.unloadable could not be evaluated" in done.stderr
    assert re.search(r"own\.gone could not be evaluated: \S*gone\.py:\d+: SystemExit: no", done.stderr), done.stderr
    names = ("own.good", "own.raises", "own.leaves", "own.unloadable", "ruan.eq-71")
    page = Path("results/report.html").read_text()
    assert all(f'id="{id_}"' in page for id_ in names)
    assert "This page cannot be shown" in page


def listen(process, beginning):
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(beginning):
            return
    pytest.fail("ended before")


def start(*arguments, ignored=(), **more):
    def prepare():
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    command = [*FLTHEORY, *map(str, arguments)]
    streams = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command, **streams, preexec_fn=prepare, **more)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end_keeps_what_is_finished(tmp_path, number):
    with start("check", "ruan.*", "--quick", "--fresh", "--jobs", "2", "--output", tmp_path) as process:
        listen(process, "[2/")
        process.send_signal(number)
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 128 + number
    assert "Traceback" not in rest
    assert "error: interrupted; " in rest
    assert len(json.loads((tmp_path / "ledger.json").read_text())["claims"]) >= 2
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_signals_that_the_caller_ignores_stay_ignored(tmp_path):
    """As under nohup, and in the background of a shell."""
    ignored = (signal.SIGHUP, signal.SIGINT)
    arguments = ("check", "ruan.eq-7[1-4]", "--quick", "--fresh", "--jobs", "2", "--output", tmp_path)
    with start(*arguments, ignored=ignored) as process:
        listen(process, "[1/")
        for number in ignored:
            process.send_signal(number)
        process.stderr.read()
        assert process.wait(timeout=60) == 0


def test_a_killed_command_leaves_no_process_and_no_broken_file(tmp_path):
    mark = f"FLTHEORY_TEST_MARK={os.getpid()}-{time.monotonic_ns()}"
    name, _, value = mark.partition("=")
    arguments = ("check", "ruan.*", "--quick", "--fresh", "--jobs", "2", "--output", tmp_path)
    with start(*arguments, env={**os.environ, name: value}) as process:
        listen(process, "[2/")
        assert len(marked(mark)) > 2
        process.kill()
        process.wait(timeout=20)
    until = time.monotonic() + 20
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.02)
    assert not marked(mark)
    again = fltheory("check", "ruan.eq-71", "--quick", "-q", "--output", tmp_path)
    assert again.returncode == 0, again.stderr


def marked(mark):
    """Return the processes with a mark in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in place.read_bytes().split(b"\0"):
                found.append(place.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"])
@pytest.mark.parametrize("command", ["list ruan.lemma-a.2", "list nothing", "check ruan.eq-71 --quick --output out"])
def test_closed_and_full_streams(tmp_path, command, closed):
    line = f"{sys.executable} -m fltheory {command} {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert "Traceback" not in done.stderr + done.stdout
    assert "Exception ignored" not in done.stderr
    assert done.returncode in (0, 1, 2)
    if command.startswith("check"):
        json.loads((tmp_path / "out" / "ledger.json").read_text())
        assert "HOLDS" in (tmp_path / "out" / "ledger.md").read_text()


TOML = """
rounds = 2
[problem]
name = "noisy-quadratic"
dim = 2
[participation]
local_steps = 1
[[algorithm]]
name = "fedavg"
label = "μ = ½, λ"
rate = 0.1
"""


@pytest.mark.parametrize(
    "surroundings",
    [
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["latin-1 terminal", "C", "ascii file names"],
)
def test_greek_labels_anywhere(tmp_path, surroundings):
    (tmp_path / "x.toml").write_text(TOML, encoding="utf-8")
    done = fltheory(
        "run", "x.toml", "--replicates", "2", cwd=tmp_path, env={**os.environ, **surroundings}, errors="replace"
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    summary = json.loads((tmp_path / "results" / "x" / "summary.json").read_text(encoding="utf-8"))
    (result,) = summary["results"]
    assert result["label"] == "μ = ½, λ"
    assert all((tmp_path / "results" / "x" / name).exists() for name in result["files"])


INTERRUPTED = """
import importlib, json, os, pathlib, signal, sys
from fltheory.cli import main

folder, moments = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
for module in ("fltheory.claims", "fltheory.jobs.checking", "fltheory.strategies", "fltheory.bounds.ruan.eq_71"):
    importlib.import_module(module)  # once, for all that are interrupted
sys.argv = ["fltheory", *sys.argv[3:]]
replace, count = os.replace, []

def interrupted(*paths):
    count.append(paths)
    if len(count) == moment:
        os.kill(os.getpid(), signal.SIGINT)
    return replace(*paths)

os.replace = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)
for moment in moments:
    child = os.fork()
    if child == 0:
        main()
        os._exit(99)  # nothing has interrupted it, or it did not end by itself
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    whole = [json.loads(path.read_text()) != "" for path in folder.rglob("*.json")]
    print(json.dumps([code, sorted(path.name for path in folder.rglob("*")), len(whole)]), flush=True)
"""


def test_an_interrupt_while_files_are_written_leaves_whole_files(tmp_path):
    """Ctrl-C between counterexamples, before the ledger, and before its table."""
    arguments = ["check", "ruan.eq-7[12]", "--quick", "-q", "--jobs", "1", "--output", str(tmp_path)]
    assert fltheory(*arguments).returncode == 0
    names = sorted(path.name for path in tmp_path.rglob("*"))
    count = len(list((tmp_path / "counterexamples").iterdir()))
    assert count == 2
    moments = [1, count, count + 1, count + 2]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path), json.dumps(moments), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "FLTHEORY_CACHE_DIR": os.devnull},  # so that results alone are renamed
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [[130, names, count + 1]] * len(moments), done.stderr
    assert "Traceback" not in done.stderr


def test_a_clock_that_goes_back_changes_nothing(tmp_path, monkeypatch):
    """Files from the future, and times before those in them: the later call counts, not the later time."""
    from fltheory._internal import provenance
    from fltheory.validation import runner

    monkeypatch.chdir(tmp_path)
    Path("x.toml").write_text(TOML + "[sweep]\nseed = [1, 2]\n", encoding="utf-8")
    check = ["check", "ruan.eq-71", "--quick", "-q", "--jobs", "1", "--output", "ledger"]
    sweep = ["sweep", "x.toml", "--jobs", "1", "--output", "grid"]
    for command in (check, sweep):
        assert CliRunner().invoke(app, command).exit_code == 0
    before = json.loads(Path("ledger/ledger.json").read_text())
    for path in tmp_path.rglob("*"):
        os.utime(path, (4e9, 4e9))
    for module in (provenance, runner):
        monkeypatch.setattr(module, "now", lambda: "2001-01-01T00:00:00+00:00")
    assert CliRunner().invoke(app, [*check, "--fresh"]).exit_code == 0
    after = json.loads(Path("ledger/ledger.json").read_text())
    (was,), (now,) = before["claims"], after["claims"]
    assert now["time"].startswith("2001")
    assert not was["time"].startswith("2001")
    assert [form["verdict"] for form in now["forms"]] == [form["verdict"] for form in was["forms"]]
    assert "2 of 2 runs were there before" in CliRunner().invoke(app, sweep).stdout
    assert "were there before" not in CliRunner().invoke(app, [*sweep, "--fresh"]).stdout
