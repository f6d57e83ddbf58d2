"""The commands about claims, as a user calls them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fltheory.cli import app

OWN = Path(__file__).parents[2] / "examples" / "own-claims"
FIELDS = [
    "id",
    "variant",
    "verdict",
    "strength",
    "margin",
    "method",
    "instances",
    "seconds",
    "assumptions",
    "counterexample",
]


def invoke(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_list_gives_the_agreed_fields():
    entries = json.loads(invoke("list", "--json").stdout)
    assert all(list(entry) == ["id", "paper", "reference", "kind", "title"] for entry in entries)
    ids = [entry["id"] for entry in entries]
    assert "ruan.theorem-3.2-arrival" in ids
    assert len(set(ids)) == len(ids)
    assert [entry["id"] for entry in json.loads(invoke("list", "ruan.lemma-a.*", "--json").stdout)] == [
        f"ruan.lemma-a.{number}" for number in (1, 2, 3, 4)
    ]


def test_check_gives_one_object_per_form_and_writes_the_ledger():
    outcome = invoke("check", "own.local-drift", "--claims", OWN, "--quick", "--json")
    assert outcome.exit_code == 0
    verdicts = json.loads(outcome.stdout)
    assert [(v["id"], v["variant"]) for v in verdicts] == [
        ("own.local-drift", "published"),
        ("own.local-drift", "corrected"),
    ]
    assert all(list(verdict)[: len(FIELDS)] == FIELDS for verdict in verdicts)
    ledger = json.loads(Path("results/ledger/ledger.json").read_text())
    assert [form["verdict"] for form in ledger["claims"][0]["forms"]] == [v["verdict"] for v in verdicts]
    assert "own.local-drift" in Path("results/ledger/ledger.md").read_text()


@pytest.mark.parametrize("width", [80, 120])
def test_verdicts_fit_the_width_and_break_no_word(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = invoke("check", "cfl.lemma-a.4", "own.local-drift", "--claims", OWN, "--quick").stdout.splitlines()
    told = [line for line in lines if line.startswith((" ", "VIOLATED", "HOLDS"))]
    assert max(map(len, told)) <= width
    ledger = json.loads(Path("results/ledger/ledger.json").read_text())
    forms = [form for claim in ledger["claims"] for form in claim["forms"]]
    words = " ".join(" ".join(told).split())
    for form in forms:
        assert f"{form['id']} {form['variant']} " in words
        assert f": {form['reason']}" in words
    # A verdict stands on the line of its claim, for programs that read line by line.
    found = [line.split() for line in told if not line.startswith(" ")]
    assert {(line[-2], line[-1], line[0]) for line in found} == {(f["id"], f["variant"], f["verdict"]) for f in forms}


def test_counterexamples_are_told_without_parameters_of_the_generator():
    text = invoke("check", "cfl.lemma-a.4", "ruan.eq-46", "--quick").stdout
    ledger = json.loads(Path("results/ledger/ledger.json").read_text())
    refuted = [form for claim in ledger["claims"] for form in claim["forms"] if form["counterexample"]]
    assert {form["id"] for form in refuted} == {"cfl.lemma-a.4", "ruan.eq-46"}
    table = Path("results/ledger/ledger.md").read_text()
    for shown in (text, table):
        assert "Ξ₁" in shown
        internal = {name for form in refuted for name in form["counterexample"]["parameters"] if len(name) > 2}
        assert internal >= {"shape", "turn", "multiple"}
        assert not [name for name in internal if re.search(rf"\b{name} ?=", shown)]


def test_several_searches_share_one_verdict_and_the_ledger_says_so():
    outcome = invoke("check", "own.local-drift", "--claims", OWN, "--quick", "--searches", "3", "--seed", "5", "--json")
    assert outcome.exit_code == 0
    several = json.loads(outcome.stdout)
    assert [list(verdict["evidence"]["searches"]) for verdict in several] == [["5", "6", "7"]] * 2
    single = [
        json.loads(invoke("check", "own.local-drift", "--claims", OWN, "--quick", "--seed", seed, "--json").stdout)
        for seed in (5, 6, 7)
    ]
    for verdict, *alone in zip(several, *single, strict=True):
        assert verdict["instances"] == sum(v["instances"] for v in alone)
        assert verdict["evidence"]["searches"] == {str(v["seed"]): v["verdict"] for v in alone}
    text = invoke("check", "own.local-drift", "--claims", OWN, "--quick", "--searches", "3").stdout
    assert "searched with the seeds 0 to 2" in text
    assert "searched with the seeds 0 to 2" in Path("results/ledger/ledger.md").read_text()


def test_a_counterexample_is_replayed_from_its_file_alone():
    assert invoke("check", "own.local-drift", "--claims", OWN, "--quick", "-q").exit_code == 0
    saved = Path("results/ledger/counterexamples/own.local-drift@published.json")
    outcome = invoke("replay", saved, "--claims", OWN, "--json")
    assert outcome.exit_code == 0
    found = json.loads(outcome.stdout)
    assert found["violated"]
    assert found["arithmetic"] == "rational"
    stored = json.loads(saved.read_text())
    assert (found["lhs"], found["rhs"]) == (stored["lhs"], stored["rhs"])
    stored["variant"] = "corrected"
    saved.write_text(json.dumps(stored))
    assert invoke("replay", saved, "--claims", OWN).exit_code == 1


def test_falsify_saves_what_it_finds_and_says_how_hard_it_looked():
    outcome = invoke("falsify", "own.local-drift", "--claims", OWN, "--budget", "5", "--output", "found.json")
    assert outcome.exit_code == 0
    assert Path("found.json").is_file()
    outcome = invoke("falsify", "own.local-drift", "--claims", OWN, "--variant", "corrected", "--budget", "0.1")
    assert "no counterexample in" in outcome.stdout


def test_show_has_page_forms_symbols_and_the_last_verdict():
    outcome = invoke("show", "own.local-drift", "--claims", OWN)
    assert "not checked yet" in outcome.stdout
    invoke("check", "own.local-drift", "--claims", OWN, "--quick", "-q")
    text = invoke("show", "own.local-drift", "--claims", OWN).stdout
    for part in ("Dropping the factor 2", "the model both clients start from", "VIOLATED", "HOLDS"):
        assert part in text
    found = json.loads(Path("results/ledger/ledger.json").read_text())["claims"][0]["forms"]
    assert any(form["reason"].startswith("fails at ") for form in found)
    assert all(" ".join(form["reason"].split()) in " ".join(text.split()) for form in found)
    latex = invoke("show", "own.local-drift", "--claims", OWN, "--latex").stdout
    assert latex.count("% ") == 2
    document = json.loads(invoke("show", "ruan.theorem-3.1", "--json").stdout)
    assert document["uses"]
    assert all("latex" in form for form in document["forms"])


@pytest.mark.parametrize("id_", ["ruan.eq-46", "cfl.theorem-4.1-sc", "fen.theorem-3.1"])
def test_show_is_text_without_markup(id_):
    text = invoke("show", id_).stdout
    for mark in (":math:", ".. math::", "``", "\\frac", "\\left", "<0>", "**"):
        assert mark not in text, mark
    assert "symbols" in text


def test_show_names_other_statements_and_notes_as_papers_do():
    text = " ".join(invoke("show", "ruan.theorem-3.1").stdout.split())
    assert "whether it works (notes “dependence”) leaves" in text
    assert "squared distance from w^* (Corollary 4.0.1, Table 1)" in text.replace("w*", "w^*")
    assert "_dependence" not in text


def test_symbols_are_shown_with_the_indices_of_the_paper():
    text = invoke("show", "ruan.eq-46").stdout
    assert "F_k(w)  " in text
    assert "w̄_{τ E+i}  " in text
    assert "w̄_{τ E+k}" not in text


TEX = shutil.which("pdflatex")


@pytest.mark.parametrize("id_", ["ruan.eq-78", "fen.negligible", "cfl.theorem-4.1-sc"])
def test_export_is_a_latex_file_that_compiles(id_, tmp_path):
    invoke("check", id_, "--quick", "-q")
    path = tmp_path / "claim.tex"
    invoke("export", id_, "--tex", "-o", path)
    text = path.read_text()
    for part in ("Statement", "Symbols", "Verdict", "Discussion and derivation", "Source"):
        assert f"\\subsection*{{{part}}}" in text
    assert f"id of the claim: {id_}" in text
    assert "@misc{" in text
    assert "@software{fltheory," in text
    if id_ == "ruan.eq-78":
        assert "On the instance below the left-hand side is 5/2, the right-hand side 9/4." in text
        assert "fltheory replay results/ledger/counterexamples/ruan.eq-78@published.json" in text
        assert r"$E = 2$, $N = 1$" in text
    assert invoke("export", id_, "--tex").stdout == text
    if TEX is None:
        pytest.skip("the rest needs pdflatex")
    done = subprocess.run(
        [TEX, "-interaction=nonstopmode", "-halt-on-error", path.name], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-600:]
    assert path.with_suffix(".pdf").stat().st_size > 20_000


def test_export_works_before_a_check_and_asks_for_a_format():
    assert "not checked yet" in invoke("export", "ruan.eq-78", "--tex").stdout
    outcome = invoke("export", "ruan.eq-78")
    assert outcome.exit_code == 2
    assert "add --tex" in outcome.stderr


def test_show_draws_what_a_proof_rests_on():
    text = invoke("show", "ruan.theorem-3.1").stdout
    assert "its proof uses" in text
    assert "ruan.eq-63" in text


def test_ledgers_are_compared():
    invoke("check", "own.local-drift", "--claims", OWN, "--quick", "-q", "--output", "old")
    document = json.loads(Path("old/ledger.json").read_text())
    same = invoke("diff", "old/ledger.json", "old/ledger.json")
    assert (same.stdout, same.exit_code) == ("no difference\n", 0)
    document["claims"][0]["forms"][0]["verdict"] = "HOLDS"
    del document["claims"][0]["forms"][1]
    Path("edited.json").write_text(json.dumps(document))
    changed = invoke("diff", "edited.json", "old/ledger.json")
    assert changed.exit_code == 1
    lines = changed.stdout.splitlines()
    assert lines == ["+ own.local-drift corrected: HOLDS", "! own.local-drift published: HOLDS -> VIOLATED"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check",), "needs ids or --all"),
        (("check", "ruan.lemma-a.22"), "did you mean 'ruan.lemma-a.2'"),
        (("check", "ruan"), "did you mean 'ruan.*'?"),
        (("check", "raun"), "did you mean 'ruan.*'?"),
        (("check", "ruan.lemma"), "did you mean 'ruan.lemma*'?"),
        (("figure", "ruan-figure4"), "did you mean 'ruan-figure-4'?"),
        (("check", "ruan.lemma-a.2", "--variant", "published@x", "-q"), "none of the claims has a form 'published@x'"),
        (("check", "ruan.lemma-a.2", "--jobs", "0"), "jobs must be an integer >= 1"),
        (("check", "ruan.lemma-a.2", "--searches", "0"), "searches must be an integer >= 1"),
        (("show", "ruan.*"), "name one of them"),
        (("falsify", "ruan.lemma-a.2", "--budget", "0"), "budget must be a number"),
        (("replay", "nothing.json"), "cannot be read"),
        (("list", "--claims", "nowhere"), "must name a folder"),
        (("diff", "a.json", "b.json"), "cannot be read"),
        (("figure", "cfl-figure-11"), "did you mean 'cfl-figure-1'"),
        (("figure", "cfl-figure-1", "--claims", OWN), "figure.claims must be left out with cfl-figure-1"),
    ],
)
def test_bad_input_is_one_line_that_names_the_remedy(arguments, message):
    outcome = invoke(*arguments)
    assert outcome.exit_code == 2
    assert outcome.stderr.count("\n") == 1
    assert message in outcome.stderr


def test_files_that_were_edited_are_refused(tmp_path):
    broken = tmp_path / "broken.json"
    for text, message in [
        ("{", "not valid JSON"),
        ("[]", "not a counterexample"),
        ('{"format": "fltheory-counterexample-1"}', "lacks"),
    ]:
        broken.write_text(text)
        outcome = invoke("replay", broken)
        assert outcome.exit_code == 2
        assert message in outcome.stderr


def test_a_claim_that_cannot_run_does_not_stop_the_others(tmp_path):
    folder = tmp_path / "claims"
    folder.mkdir()
    text = (OWN / "local_drift.py").read_text()
    (folder / "good.py").write_text(text)
    broken = text.replace("own.local-drift", "own.broken").replace('start = point["w"]', 'start = point["nothing"]')
    (folder / "broken.py").write_text(broken)
    outcome = invoke("check", "own.*", "--claims", folder, "--quick", "--jobs", "1")
    assert outcome.exit_code == 1
    assert f"own.broken could not be evaluated: {folder}/broken.py:49: KeyError: 'nothing'" in outcome.stderr
    assert "own.local-drift" in outcome.stdout


def test_a_form_of_ours_that_fails_is_an_error(tmp_path):
    folder = tmp_path / "claims"
    folder.mkdir()
    text = (OWN / "local_drift.py").read_text()
    (folder / "wrong.py").write_text(text.replace("2 * eta**2 * gradients", "eta**2 * gradients"))
    outcome = invoke("check", "own.*", "--claims", folder, "--quick", "--jobs", "1")
    assert outcome.exit_code == 1
    assert "a form that must hold does not: own.local-drift" in outcome.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_keeps_what_was_checked(tmp_path):
    command = [
        sys.executable,
        "-m",
        "fltheory",
        "check",
        "ruan.*",
        "--fresh",
        "--jobs",
        "1",
        "--output",
        str(tmp_path / "kept"),
    ]
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    # Tests that were started in the background may have been told to ignore the signal.
    with subprocess.Popen(command, **pipes, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("[2/"):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert "interrupted" in rest
    assert len(json.loads((tmp_path / "kept" / "ledger.json").read_text())["claims"]) >= 2
