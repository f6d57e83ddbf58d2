"""Figures and tables of the papers: how they are found, grouped and saved, and where their verdicts come from."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from fltheory._internal.processes import in_processes
from fltheory.bounds import catalogue
from fltheory.bounds.claim import Rejected
from fltheory.bounds.papers import PAPERS
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.figures.bound_curves import at, curves_of
from fltheory.figures.parallel import groups, produce_all
from fltheory.figures.study import Study, command, produce, save, studies
from fltheory.figures.style import DPI, settle
from fltheory.validation.decide import Effort
from fltheory.validation.evaluate import read, sides
from fltheory.validation.ledger import ledger
from fltheory.validation.ledger import write as write_ledger
from fltheory.validation.runner import check_all
from fltheory.validation.search import random_points
from fltheory.validation.summary import printed
from fltheory.validation.trials import environment

IDS = ["cfl.eq-62-fedavg", "cfl.eq-59", "cfl.eq-61", "cfl.lemma-3.4", "cfl.lemma-3.5.1"]


@pytest.fixture(scope="module")
def document():
    done, _ = check_all(catalogue.select(IDS), effort=Effort(instances=60, experiments=12))
    return ledger(done, seed=0, effort="quick")


@pytest.fixture(scope="module")
def stored(document, tmp_path_factory) -> Path:
    return write_ledger(document, tmp_path_factory.mktemp("ledger"))[0]


def test_every_study_says_what_it_is() -> None:
    known = studies()
    assert {"proof-graph-ruan", "proof-graph-efl", "proof-graph-cfl", "proof-graph-fen", "efl-table-1"} <= known.keys()
    for name, study in known.items():
        assert name == study.name
        assert study.title
        assert study.paper in {*PAPERS, "fltheory"}


def test_studies_that_share_work_share_a_process() -> None:
    found = groups(list(studies().values()))
    assert sorted(name for group in found for name in group) == sorted(studies())
    together = [set(group) for group in found if len(group) > 1]
    assert {"cfl-figure-1", "cfl-table-2"} in together
    assert {"fen-table-2", "fen-table-3"} in together


def test_a_figure_is_laid_out_once_and_loses_minor_ticks_where_decades_are_labelled() -> None:
    figure = Figure(figsize=(2, 2), layout="constrained")
    wide, narrow = figure.subplots(1, 2)
    wide.semilogy([1, 10, 1000])
    narrow.semilogy([2, 3, 4])
    settle(figure)
    assert isinstance(wide.yaxis.get_minor_locator(), NullLocator)
    assert not isinstance(narrow.yaxis.get_minor_locator(), NullLocator)
    assert type(figure.get_layout_engine()).__name__ == "PlaceHolderLayoutEngine"


@pytest.mark.parametrize("formats", [("png",), ("svg", "pdf", "png"), ("png", "svg")])
def test_pictures_have_their_resolution_in_any_order_of_formats(formats, tmp_path: Path) -> None:
    figure = Figure(figsize=(2, 1), layout="constrained")
    figure.add_subplot().plot([1, 2])
    paths = save(figure, tmp_path / "a.b", formats=formats)
    assert [path.name for path in paths] == [f"a.b.{suffix}" for suffix in formats]
    png = (tmp_path / "a.b.png").read_bytes()
    assert struct.unpack(">II", png[16:24]) == (2 * DPI, DPI)


def test_the_command_says_where_verdicts_come_from() -> None:
    plain, drawn_from = studies()["ruan-figure-1"], studies()["proof-graph-fen"]
    path = Path("results/ledger/ledger.json")
    assert command(plain, quick=False, seed=3, ledger=path) == "fltheory figure ruan-figure-1 --seed 3"
    assert command(drawn_from, quick=True, seed=0) == "fltheory figure proof-graph-fen --seed 0 --quick"
    assert command(drawn_from, quick=False, seed=0, ledger=path).endswith(
        "--seed 0 --ledger results/ledger/ledger.json"
    )


def test_a_proof_graph_has_the_verdicts_of_the_ledger(document, stored: Path, tmp_path: Path) -> None:
    saved = produce(studies()["proof-graph-cfl"], tmp_path, ledger=stored)
    verdicts = {entry["id"]: printed(entry) for entry in document["claims"]}
    nodes = {node["id"]: node["verdict"] for node in saved.data["nodes"]}
    assert nodes
    assert nodes.items() <= verdicts.items()
    assert saved.data["ledger"]["effort"] == "quick"
    assert f"Of {len(nodes)} connected statements {list(nodes.values()).count('VIOLATED')} fail" in saved.caption
    record = json.loads((tmp_path / "proof-graph-cfl.json").read_text())
    assert record["command"] == saved.command
    assert str(stored) in saved.command


def test_a_bad_ledger_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "ledger.json"
    bad.write_text("{}")
    with pytest.raises(InvalidParameter, match="is not a ledger"):
        produce(studies()["proof-graph-cfl"], tmp_path, ledger=bad)
    done, failed, interrupted = produce_all(
        [studies()["proof-graph-cfl"]], tmp_path, quick=True, seed=0, jobs=1, ledger=bad
    )
    assert (done, interrupted) == ([], False)
    assert "is not a ledger" in failed[0][1]


def test_a_violated_bound_is_drawn_on_its_counterexample(document) -> None:
    entry = next(entry for entry in document["claims"] if entry["id"] == "cfl.eq-62-fedavg")
    refuted = next(form for form in entry["forms"] if form["verdict"] == "VIOLATED")
    claim = catalogue.index()["cfl.eq-62-fedavg"].load()
    published, corrected = curves_of(claim, entry, budget=2, replicates=40, seed=0)
    assert published["variant"] == refuted["variant"]
    assert published["instance"]["step"] == pytest.approx(
        float(Fraction(refuted["counterexample"]["parameters"]["step"]))
    )
    slack = np.array(published["right"]) / np.array(published["left"])
    worst = float(refuted["counterexample"]["rhs"]) / float(refuted["counterexample"]["lhs"])
    assert slack.min() <= worst * (1 + 1e-9)
    assert len(slack) == 60  # the run goes on to the longest of the space
    assert np.all(np.array(corrected["right"]) >= np.array(corrected["left"]))
    left, low, high = (np.array(x) for x in (published["left"], published["band"]["low"], published["band"]["high"]))
    assert published["band"]["curve"] == "distance_sq"
    assert np.mean((low <= left) & (left <= high)) > 0.9


@pytest.mark.parametrize("id_", ["cfl.eq-62-cflr-s1", "ruan.theorem-3.1", "ruan.eq-66"])
def test_sides_are_those_that_are_compared(id_: str) -> None:
    claim = catalogue.index()[id_].load()
    form = claim.forms[0]
    source = claim.check_of(form)
    compared = 0
    for point in random_points(source.space, np.random.default_rng(0), 12):
        try:
            env = environment(source, point, seed=0)
            reading = read(form, env)
        except Rejected:
            continue
        left, right = sides(form, env)
        if reading.margin is not None and left.min() > 0:
            assert (right / left).min() == pytest.approx(reading.margin, rel=1e-9)
            compared += 1
    assert compared


def test_processes_do_linear_algebra_with_one_thread(monkeypatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    names = [("OPENBLAS_NUM_THREADS",), ("OMP_NUM_THREADS",)]
    assert sorted(in_processes(names, os.getenv, 2)) == ["1", "3"]
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_tasks_see_the_environment_of_the_moment(monkeypatch) -> None:
    for value in ("one", "two"):  # the process that is copied was started before
        monkeypatch.setenv("FLTHEORY_TEST", value)
        assert list(in_processes([("FLTHEORY_TEST",)] * 2, os.getenv, 2)) == [value] * 2


def test_modules_that_are_expected_are_imported_once(tmp_path) -> None:
    (tmp_path / "slow.py").write_text("import os\nopen('imported', 'a').write('x')\n\ndef task(n):\n    return n\n")
    code = (
        "from fltheory._internal.processes import expect, in_processes\n"
        "import slow\n"
        "if __name__ == '__main__':\n"
        "    expect(['slow'])\n"
        "    print(sorted(in_processes([(n,) for n in range(8)], slow.task, 4)))\n"
    )
    (tmp_path / "main.py").write_text(code)
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == str(list(range(8))), done.stderr
    if sys.platform == "linux":
        assert (tmp_path / "imported").read_text() == "xx"  # here, and in the process that is copied


def test_the_heaviest_studies_are_begun_first() -> None:
    known = studies()
    weights = [sum(known[name].weight for name in group) for group in groups(list(known.values()))]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > weights[-1]


def test_a_graph_without_edges_is_refused_with_a_remedy(document) -> None:
    with pytest.raises(NotApplicable, match="fltheory check --all"):
        studies()["proof-graph-ruan"].compute(quick=True, seed=0, ledger=document)


def test_a_bound_is_drawn_at_what_its_check_has_found(document) -> None:
    (entry,) = [claim for claim in document["claims"] if claim["id"] == "cfl.eq-62-fedavg"]
    printed_forms = [form for form in entry["forms"] if form["variant"].startswith("published")]
    alone = {**entry, "forms": [{**form, "counterexample": None} for form in printed_forms]}
    worst = min(printed_forms, key=lambda form: form["margin"])["worst"]["parameters"]
    curve = curves_of(catalogue.index()[entry["id"]].load(), alone, budget=1, replicates=4, seed=0)[0]
    longer = {"T": max(curve["rounds"])}
    stored = {name: value for name, value in worst.items() if re.fullmatch(r"-?\d+(/\d+)?", str(value))}
    numbers = {**worst, **{name: float(Fraction(value)) for name, value in stored.items()}}
    assert curve["instance"] == {**numbers, **longer}


def test_a_study_has_something_to_show() -> None:
    with pytest.raises(InvalidParameter, match="draw must be given, or table"):
        Study(name="x", title="x", paper="x", compute=dict, caption=str)


def test_claims_of_ones_own_are_drawn_with_the_others(monkeypatch, tmp_path) -> None:
    """The folder reaches the catalogue, and the command to repeat the figure names it."""
    from fltheory.figures.theory import bound_against_trajectory

    asked: list[tuple[Path, ...]] = []
    monkeypatch.setattr(bound_against_trajectory, "index", lambda folders: asked.append(tuple(folders)) or {})
    data = bound_against_trajectory.compute(quick=True, seed=0, ledger=None, claims=(tmp_path,))
    assert asked == [(tmp_path,)]
    assert data["claims"] == []
    study, other = studies()["bound-against-trajectory"], studies()["ruan-figure-1"]
    assert command(study, quick=False, seed=0, claims=(tmp_path,)).endswith(f"--claims {tmp_path}")
    assert "--claims" not in command(other, quick=False, seed=0, claims=(tmp_path,))


def test_panels_have_names_of_papers_and_words_and_none_stands_alone():
    from fltheory.figures.theory.bound_against_trajectory import draw

    def claim(number, last):
        curves = [
            {"variant": "published", "rounds": [1, 2, last], "left": [3, 2, 1], "right": [4, 3, 0.5], "band": None},
            {"variant": "corrected", "rounds": [1, 2, 9], "left": [3, 2, 1], "right": [4, 3, 2], "band": None},
        ]
        names = {"id": f"efl.eq-{number}", "paper": "efl", "reference": f"({number})", "title": "a bound"}
        return {**names, "curves": curves, "ends": "the check ends here" if last < 9 else ""}

    for count in range(2, 12):
        claims = [claim(number, 4 if number == 1 else 9) for number in range(count)]
        shown = [axes for axes in draw({"claims": claims}).axes if axes.get_visible()]
        above = [axes for axes in shown if axes.get_title()]
        assert [axes.get_title() for axes in above] == [f"EFL, ({number})\na bound" for number in range(count)]
        rows = [axes.get_subplotspec().rowspan.start for axes in above]
        assert all(rows.count(row) > 1 for row in rows)
        assert {axes.get_xlabel() for axes in shown} == {"", "communication round"}
        assert [axes.texts[0].get_text() for axes in above if axes.texts] == ["the check ends here"]


def test_one_number_of_a_run_without_an_axis_is_no_curve() -> None:
    claim = catalogue.index()["ruan.theorem-3.1"].load()
    form = claim.form("published@any-dependence")
    assert at(claim, form, {"rounds": 5, "q": 0.5}, seed=0, replicates=2) is None
