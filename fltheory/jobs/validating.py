"""The main job: every claim checked, figures drawn, one page written."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fltheory._internal import arguments
from fltheory._internal.executors import running_on
from fltheory._internal.processes import expect, same_processes
from fltheory.bounds import catalogue
from fltheory.bounds.catalogue import Folders, folders
from fltheory.figures import study
from fltheory.figures.parallel import modules, produce_all
from fltheory.figures.study import Saved
from fltheory.jobs.progress import Progress, Silent, tell_checked
from fltheory.report import build
from fltheory.report.gallery import gallery
from fltheory.validation.decide import FULL, QUICK
from fltheory.validation.ledger import LedgerFolder, restricted
from fltheory.validation.runner import check_all
from fltheory.validation.summary import findings, summary
from fltheory.validation.verdict import Checked


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Validation:
    """What the main job has found and written.

    Parameters
    ----------
    claims
        Every claim with its verdicts.
    ledger
        The ledger as a document, claims that are not known here left out.
    others
        How many claims of the ledger in the folder are not known here, and stay as they were.
    folder
        Where the ledger is.
    report
        The page.
    report_is_older
        Whether the page is that of an earlier run, since this one was interrupted.
    figures, failed
        What was drawn, and what could not be drawn, with the reason.
    interrupted
        Whether the user stopped it.
    """

    claims: tuple[Checked, ...]
    ledger: dict[str, Any]
    others: int
    folder: LedgerFolder
    report: Path
    report_is_older: bool
    figures: tuple[Saved, ...]
    failed: tuple[tuple[str, str], ...]
    interrupted: bool

    @property
    def ok(self) -> bool:
        """Whether everything was evaluated and drawn, and every form that must hold does."""
        return not self.failed and not any(checked.broken for checked in self.claims)

    @property
    def summary(self) -> list[dict[str, Any]]:
        """One row per paper: statements that hold as printed, are violated, violated in part, open."""
        return summary(self.ledger)

    @property
    def findings(self) -> list[dict[str, str]]:
        """The most striking counterexamples."""
        return findings(self.ledger)

    def __repr__(self) -> str:
        return f"Validation({len(self.claims)} claims, report in {self.report})"


def validate(
    *,
    output: str | Path = "results",
    quick: bool = False,
    figures: bool = True,
    seed: int = 0,
    jobs: int = 1,
    executor: Executor | None = None,
    fresh: bool = False,
    claims: Folders = (),
    progress: Progress | None = None,
) -> Validation:
    """Check every claim, draw the figures, write the report.

    Parameters
    ----------
    output
        Folder for the report, the ledger and the figures.
    quick
        Check fewer instances, draw fewer points.
    figures
        Whether to draw figures and tables.
    seed, jobs, claims, progress
        As for :func:`~fltheory.check`.
    fresh
        Check, draw and write everything again, also what the same code has found, drawn and written before.
    executor
        As for :func:`~fltheory.check`; its workers must be able to write into ``output``.

    Returns
    -------
    Validation
        The verdicts, and where the report, the ledger and the figures are.
    """
    directory = arguments.path("validate", "output", output, "folder")
    seed = arguments.integer("validate", "seed", seed, low=0)
    jobs = arguments.integer("validate", "jobs", jobs, low=1)
    own = folders(claims)
    entries = catalogue.select(["*"], own)
    chosen = list(study.studies().values()) if figures else []
    expect(("fltheory.report.build", "docutils.writers.html5_polyglot", *modules(chosen)))
    drawn: list[Saved] = []
    failed: list[tuple[str, str]] = []
    path, older = directory / "report.html", False
    told = progress or Silent()
    told.expect(len(entries) + len(chosen))
    with (
        LedgerFolder(directory / "ledger", directory, directory / "figures") as folder,
        running_on(executor),
        same_processes(),
    ):
        told.begin("checking")
        done, interrupted = check_all(
            entries,
            effort=QUICK if quick else FULL,
            seed=seed,
            jobs=jobs,
            fresh=fresh,
            report=lambda checked: tell_checked(told, checked),
        )
        found = folder.keep(done, seed=seed, effort="quick" if quick else "full")
        if not interrupted and chosen:

            def show(name: str, result: str) -> None:
                told.begin(name)
                told.end(result)

            drawn, failed, interrupted = produce_all(
                chosen,
                directory / "figures",
                quick=quick,
                seed=seed,
                jobs=jobs,
                ledger=folder.json,
                claims=own,
                fresh=fresh,
                report=show,
            )
        if drawn:
            gallery(directory / "figures", report="../report.html")
        document = restricted(found.ledger, {entry.id for entry in entries})
        older = interrupted and path.exists()
        if not older:
            build(document, drawn, path, folders=own, jobs=jobs, fresh=fresh)
    return Validation(
        claims=tuple(done),
        ledger=document,
        others=len(found.ledger["claims"]) - len(document["claims"]),
        folder=folder,
        report=path,
        report_is_older=older,
        figures=tuple(drawn),
        failed=tuple(failed),
        interrupted=interrupted,
    )
