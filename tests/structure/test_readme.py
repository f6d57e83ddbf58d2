"""The README's example runs, and the commands that continuous integration reads from it are there."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_python_examples_of_the_readme_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        names: dict[str, object] = {}
        exec(compile(block, "README.md", "exec"), names)
        assert names["band"].low.shape == names["exact"].gap[0].shape  # type: ignore[attr-defined]


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
