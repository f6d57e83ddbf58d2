"""Bytes chosen by atheris, which follows the coverage, for one of the readers of ``tests/readers.py``.

Run as a program: ``python tests/fuzzing.py ledger -max_total_time=600``; options are those of libFuzzer. It begins from
valid files and stops at the first error that is no :class:`~fltheory.errors.FltheoryError`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path


def main() -> None:
    try:
        import atheris
    except ModuleNotFoundError as error:
        raise SystemExit("fuzzing needs atheris, which is not installed: pip install 'fltheory[fuzz]'") from error
    with atheris.instrument_imports(include=["fltheory"]):
        from tests.readers import READERS, quietly

    name, *options = sys.argv[1:]
    (reader,) = (reader for reader in READERS if reader.name == name)
    with tempfile.TemporaryDirectory() as place:
        valid, corpus, copy = (Path(place) / part for part in ("valid", "corpus", "copy"))
        valid.mkdir()
        corpus.mkdir()
        reader.write(valid)
        files = sorted(path.relative_to(valid) for path in valid.rglob("*") if path.is_file())
        for number, file in enumerate(files):
            (corpus / str(number)).write_bytes(bytes([number]) + (valid / file).read_bytes())

        def one(data: bytes) -> None:
            if data:
                shutil.copytree(valid, copy)
                (copy / files[data[0] % len(files)]).write_bytes(data[1:])
                try:
                    quietly(reader.read, copy)
                finally:
                    shutil.rmtree(copy)

        atheris.Setup([sys.argv[0], *options, str(corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
