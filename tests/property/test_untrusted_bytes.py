"""Every reader is given its files with bytes changed, cut or inserted: a result or one line, never a traceback."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fltheory.errors import FltheoryError
from tests.readers import READERS, Reader, quietly

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=READERS, ids=lambda reader: reader.name)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Reader, Path]:
    """A reader and a folder with what it reads."""
    folder = tmp_path_factory.mktemp("made")
    request.param.write(folder)
    return request.param, folder


def test_what_was_written_is_read(made: tuple[Reader, Path]) -> None:
    reader, folder = made
    assert reader.read(folder)


def garbled(raw: bytes, chance: random.Random) -> bytes:
    """Return bytes of which some were replaced, removed or inserted, or of which only the first are left."""
    found = bytearray(raw)
    if chance.random() < 0.3:
        del found[chance.randint(0, len(found)) :]
    for _ in range(chance.randint(0, 6)):
        place = chance.randint(0, len(found))
        found[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    return bytes(found)


def test_garbled_bytes(made: tuple[Reader, Path], tmp_path: Path) -> None:
    reader, folder = made
    chance = random.Random(1)
    for trial in range(reader.trials):
        copy = tmp_path / str(trial)
        shutil.copytree(folder, copy)
        file = chance.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
        file.write_bytes(garbled(file.read_bytes(), chance))
        quietly(reader.read, copy)
        shutil.rmtree(copy)


ODD = (
    None,
    True,
    -1,
    10**30,
    2**63,
    1e308,
    0.5,
    "",
    "1/0",
    "\x00",
    "9" * 5000,
    "../../etc/passwd",
    [],
    [[]],
    {},
    {"é": 1},
)


def mutated(document: Any, chance: random.Random) -> Any:
    """Return a document of which one to three values were removed or replaced by something odd."""
    found = json.loads(json.dumps(document))
    for _ in range(chance.randint(1, 3)):
        places = list(_places(found))
        if places:
            owner, key = chance.choice(places)
            if chance.random() < 0.3:
                del owner[key]
            else:
                owner[key] = chance.choice(ODD)
    return found


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every value in a document as its owner and its key there."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        yield document, key
        if isinstance(value, dict | list):
            yield from _places(value)


def test_mutated_documents(made: tuple[Reader, Path], tmp_path: Path) -> None:
    """JSON of another shape; a change of bytes mostly leaves none."""
    reader, folder = made
    names = sorted(path.relative_to(folder) for path in folder.rglob("*.json"))
    if not names:
        pytest.skip("reads no JSON")
    chance = random.Random(2)
    for trial in range(reader.trials // 2):
        copy = tmp_path / str(trial)
        shutil.copytree(folder, copy)
        file = copy / chance.choice(names)
        file.write_text(json.dumps(mutated(json.loads(file.read_text()), chance)))
        quietly(reader.read, copy)
        shutil.rmtree(copy)


@pytest.mark.parametrize("raised", [KeyError("x"), IndexError("x"), RecursionError("x")], ids=lambda error: str(error))
def test_the_search_for_tracebacks_would_see_one(tmp_path: Path, raised: Exception) -> None:
    def read(folder: Path) -> None:
        raise raised

    with pytest.raises(type(raised)):
        quietly(read, tmp_path)
    quietly(lambda folder: (_ for _ in ()).throw(FltheoryError("one line")), tmp_path)


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")
@pytest.mark.parametrize("name", ["configuration", "ledger", "curves", "database"])
def test_bytes_that_follow_the_coverage(tmp_path: Path, name: str) -> None:
    """A few seconds per reader; ``python tests/fuzzing.py NAME`` goes on for as long as wanted."""
    command = [
        sys.executable,
        ROOT / "tests" / "fuzzing.py",
        name,
        "-runs=300",
        "-seed=1",
        f"-artifact_prefix={tmp_path}/",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Done 300 runs" in done.stderr
