"""The notebooks run from top to bottom, and the outputs that are shipped with them are those that come out."""

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def texts(notebook: Any) -> list[str]:
    """Return what the cells print or show, without pictures, whose bytes depend on versions."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.get("text") or output.data.get("text/html") or output.data["text/plain"] for output in outputs]
    return [text for text in shown if not text.startswith("<Figure")]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 2


@pytest.mark.filterwarnings("default")  # of the Jupyter packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_shows_what_it_showed(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    shipped = texts(notebook)
    assert len(shipped) >= 4
    done = nbclient.NotebookClient(notebook, timeout=300).execute(cwd=str(tmp_path))
    assert texts(done) == shipped
