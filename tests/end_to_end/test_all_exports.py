"""The LaTeX of every statement compiles, and no line leaves the page by more than a few letters."""

import inspect
import re
import shutil
import subprocess

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.papers import PAPERS
from fltheory.report.tex import _PREAMBLE, document
from fltheory.validation.counterexamples import file_of, replay_command

INDEX = catalogue.index()
TEX = shutil.which("pdflatex")

TOO_WIDE = 40.0
"""Points; a long symbol may stand out of a line of text, a formula or a command may not leave the page."""


def whole(paper, tmp_path):
    """Return all documents of a paper as one, each on pages of its own."""
    preambles, bodies = {}, []
    for id_, entry in INDEX.items():
        if entry.paper != paper:
            continue
        claim = entry.load()
        replay = {form.variant: replay_command(tmp_path / file_of(id_, form.variant), ()) for form in claim.forms}
        text = document(claim, inspect.getdoc(entry.module()) or "", None, replay=replay, version="1", commit="0" * 40)
        preamble, _, rest = text.partition("\\begin{document}")
        body, end, _ = rest.rpartition("\\end{document}")
        assert end
        assert preamble.startswith(_PREAMBLE)
        needed = preamble.removeprefix(_PREAMBLE)
        preambles |= dict.fromkeys(block for block in needed.split("\n\n") if block.strip())
        bodies.append(f"\\message{{CLAIM {id_}}}\n{body}")
    return "\n\n".join(
        [_PREAMBLE, *preambles, "\\begin{document}", "\n\\clearpage\n".join(bodies), "\\end{document}", ""]
    )


@pytest.mark.skipif(TEX is None, reason="needs pdflatex")
@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_every_export_compiles(paper, tmp_path):
    (tmp_path / "all.tex").write_text(whole(paper, tmp_path))
    done = subprocess.run(
        [TEX, "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-600:]
    assert done.stdout.count("CLAIM ") == sum(entry.paper == paper for entry in INDEX.values())
    assert "Missing character" not in done.stdout
    wide = [float(found) for found in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0.0) < TOO_WIDE
