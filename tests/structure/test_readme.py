"""The README's example runs, its numbers are those of the ledger, and continuous integration finds its commands."""

import re
import subprocess
from pathlib import Path
from typing import Any

import fltheory as fl
from fltheory.bounds.catalogue import index
from fltheory.bounds.papers import PAPERS
from fltheory.validation.summary import summary
from tests import totals

ROOT = Path(__file__).parents[2]


def test_python_examples_of_the_readme_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        names: dict[str, Any] = {}
        exec(compile(block, "README.md", "exec"), names)
        compared = names["compared"]
        assert compared.decision is fl.Decision.HOLDS
        # The caption of the figure says so.
        assert [f"{compared.slack[place]:.2g}" for place in (0, -1)] == ["2.9e+02", "5.2e+03"]
        assert names["figure"].axes


def test_continuous_integration_finds_both_commands() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = re.search(r"command_of\(\) \{.*?\n\}", script, re.DOTALL)
    assert function
    for marker, word in (("main-job", "fltheory validate"), ("tests", "pytest")):
        done = subprocess.run(
            ["bash", "-c", f"{function.group()}; command_of {marker}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert word in done.stdout
        assert f"command_of {marker}" in script


def test_links_of_the_documentation_resolve() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
            file, _, anchor = target.partition("#")
            place = page.parent / file if file else page
            assert place.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(place), f"{page.name}: {target}"


def test_commands_of_the_documentation_name_no_folder_of_one_machine() -> None:
    """Commands that figures record are printed in the gallery; whoever draws it keeps its ledger somewhere."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    assert len(pages) > 40
    found = {
        page.name: re.findall(r"(?<![\w.])/(?:tmp|home|root|Users|work)/\S*", page.read_text("utf-8")) for page in pages
    }
    assert {name: paths for name, paths in found.items() if paths} == {}


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page in Markdown."""
    found = re.findall(r"(?m)^#+ (.*)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


def ledger() -> dict[str, Any]:
    """Return the verdicts of ``docs/ledger.md``, as far as totals need them."""
    claims = []
    for line in (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8").splitlines():
        cells = line.split(" | ")
        if len(cells) > 3 and "**" in cells[2] and (found := re.match(r"\| `(?P<id>[^`]+)` \|", line)):
            forms = [
                *(
                    (f"published{reading.rstrip()}", word)
                    for reading, word in re.findall(r"(@\S+ )?\*\*(\w+)\*\*", cells[2])
                ),
                *re.findall(r"((?:corrected|sharp)\S*) \*\*(\w+)\*\*", cells[-1]),
            ]
            named = [{"variant": variant, "verdict": word} for variant, word in forms]
            claims.append({"id": found["id"], "paper": found["id"].split(".")[0], "error": "", "forms": named})
    return {"claims": claims}


def test_totals_are_those_of_the_ledger() -> None:
    """Renew them with ``python -m tests.totals``."""
    found = totals.of_ledger((ROOT / "docs" / "ledger.md").read_text(encoding="utf-8"))
    assert list(found) == list(PAPERS)
    assert sum(row.statements for row in found.values()) == len(index())
    for row in summary(ledger()):
        counted = tuple(row[name] for name in ("statements", "hold", "violated", "mixed", "open", "corrected"))
        assert found[row["paper"]][:6] == counted
    for path in totals.pages():
        text = path.read_text(encoding="utf-8")
        assert totals.renewed(path.name, text, found) == text, path.name
    for tag, row in found.items():
        assert f"| {row.graded} |" in (ROOT / "docs" / "papers" / f"{tag}.md").read_text(encoding="utf-8")


def test_all_totals_are_renewed() -> None:
    """Where numbers are others in the ledger, all of the pages change that show them."""
    found = totals.of_ledger((ROOT / "docs" / "ledger.md").read_text(encoding="utf-8"))
    other = {tag: totals.Totals(*(number + 1000 for number in row)) for tag, row in found.items()}
    every = totals.Totals(*map(sum, zip(*other.values(), strict=True)))
    for path in totals.pages():
        text = totals.renewed(path.name, path.read_text(encoding="utf-8"), other)
        for tag, row in other.items():
            assert (
                path.name not in ("README.md", f"{tag}.md") or f" | {row.shown} |" in text or f"| {row.graded}" in text
            )
        if path.name == "README.md":
            assert f"| all | {every.shown} |" in text
            assert f"Of the {every.corrected} that fail, wholly or in part, {every.misprints} are misprints" in text
            assert f"and {every.false} need another constant" in text
        if path == ROOT / "docs" / "index.md":
            assert f"have {every.statements} statements; {every.hold} hold as printed, {every.violated} are" in text


def test_pages_of_papers_name_every_statement_that_fails() -> None:
    """By its id, or by its number in the paper."""
    missing = []
    for claim in ledger()["claims"]:
        if not any(form["verdict"] == "VIOLATED" for form in claim["forms"]):
            continue
        page = (ROOT / "docs" / "papers" / f"{claim['paper']}.md").read_text(encoding="utf-8")
        name = claim["id"].partition(".")[2]
        numbers = re.findall(r"\d+", name) if name.startswith("eq-") else []
        kind, _, number = re.sub(r"^(\w+-[a-z]?[.\d]+).*", r"\1", name).partition("-")
        printed = rf"(?i)\b{kind}s?\b[^\n]*\b{re.escape(number)}(?![\w]|\.\d)"
        counted = numbers and all(f"({one})" in page for one in numbers)
        if not (claim["id"] in page or counted or re.search(printed, page)):
            missing.append(claim["id"])
    assert not missing


def test_forms_that_pages_name_are_in_the_ledger() -> None:
    """An id of a statement, followed by names of forms."""
    known = {claim["id"]: {form["variant"] for form in claim["forms"]} for claim in ledger()["claims"]}
    tags = "|".join(PAPERS)
    for page in [ROOT / "README.md", *ROOT.glob("docs/papers/*.md"), *ROOT.glob("docs/explanation/*.md")]:
        text = page.read_text(encoding="utf-8")
        for id_, named in re.findall(rf"`((?:{tags})\.[a-zA-Z0-9.-]+)`((?:,?\s+(?:and )?`[a-z@.0-9-]+`)*)", text):
            assert id_ in known, f"{page.name}: {id_}"
            for form in re.findall(r"`((?:published|corrected|sharp)[^`]*|@[^`]+)`", named):
                assert form in known[id_], f"{page.name}: {id_} {form}"


def test_files_that_pages_name_exist() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        named = re.findall(r"`((?:fltheory|examples|tests|benchmarks|docs/[a-z-]+)/[\w./-]+)`", page.read_text("utf-8"))
        for path in set(named) - {"docs/_build/index.html"}:
            assert (ROOT / path).exists(), f"{page.name}: {path}"
