"""The README's example runs, its numbers are those of the ledger, and continuous integration finds its commands."""

import re
import subprocess
from pathlib import Path
from typing import Any

import fltheory as fl
from fltheory.bounds.catalogue import index
from fltheory.bounds.papers import PAPERS
from fltheory.validation.summary import summary

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
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def ledger() -> dict[str, Any]:
    """Return the verdicts of ``docs/ledger.md``, as far as totals need them."""
    claims = []
    for line in (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8").splitlines():
        cells = line.split(" | ")
        if len(cells) > 3 and "**" in cells[2] and (found := re.match(r"\| `(?P<id>[^`]+)` \|", line)):
            forms = [
                *((f"published{reading}", word) for reading, word in re.findall(r"(@\S+ )?\*\*(\w+)\*\*", cells[2])),
                *re.findall(r"((?:corrected|sharp)\S*) \*\*(\w+)\*\*", cells[-1]),
            ]
            named = [{"variant": variant, "verdict": word} for variant, word in forms]
            claims.append({"paper": found["id"].split(".")[0], "error": "", "forms": named})
    return {"claims": claims}


def test_totals_are_those_of_the_ledger() -> None:
    rows = summary(ledger())
    assert [row["paper"] for row in rows] == list(PAPERS)
    columns = ("statements", "hold", "violated", "mixed", "corrected")
    totals = [sum(row[column] for row in rows) for column in columns]
    assert totals[0] == len(index())
    head = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8").split("\n## ")[0]
    for page in ("README.md", "docs/papers/index.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for numbers in ([row[column] for column in columns] for row in rows):
            assert f" | {' | '.join(map(str, numbers))} |" in text, page
        assert f"| all | {' | '.join(map(str, totals))} |" in text, page
    for row in rows:
        numbers = " | ".join(str(row[column]) for column in columns)
        assert f"| {numbers} |" in (ROOT / "docs" / "papers" / f"{row['paper']}.md").read_text(encoding="utf-8")
        counted = " | ".join(
            str(row[column]) for column in ("statements", "hold", "violated", "mixed", "open", "corrected")
        )
        assert f"| {PAPERS[row['paper']].short} | {counted} |" in head
