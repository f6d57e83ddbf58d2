"""Fetching a data set with the clients of registries, which are played by scripts here: nothing leaves the machine."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fltheory import datasets
from fltheory.datasets import DataSet, DatasetSource, Package, _fetching
from fltheory.errors import FltheoryError, InvalidParameter, NotApplicable

GOOD = {"package/data/a.bin": b"aa", "package/data/b.bin": b"bb", "package/readme": b"not wanted"}


def toy(package: Package | None) -> type[DatasetSource]:
    class Toy(DatasetSource):
        name = "toy"
        title = "Toy"
        samples = (2, 2)
        files = {"a.bin": hashlib.sha256(b"aa").hexdigest(), "b.bin": None}  # noqa: RUF012
        remedy = "ask around"

        def read(self, folder: Path) -> DataSet:
            zeros = np.zeros((2, 1, 1), dtype=np.uint8)
            labels = np.array([len(self.content(folder, name)) - 2 for name in self.files])
            return DataSet(
                name="toy",
                title="Toy",
                train_inputs=zeros,
                train_labels=labels,
                test_inputs=zeros,
                test_labels=labels,
                num_classes=2,
            )

    Toy.package = package
    return Toy


def archive(path: Path, members: dict[str, bytes | str]) -> str:
    """Write an archive, in which a string is the target of a symbolic link, and return its digest."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                tar.addfile(member)
            else:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return hashlib.sha256(path.read_bytes()).hexdigest()


Offer = Callable[..., None]


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Return a function that makes a registry offer an archive through a client."""
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")

    def make(
        members: dict[str, Any], *, client: str = "npm", digest: str | None = None, script: str = 'cp "$HERE"/*.tgz .'
    ) -> None:
        found = archive(tools / "toy-1.0.tgz", members)
        program = tools / client
        program.write_text(f'#!/bin/sh\nHERE="{tools}"\necho "$@" > "$HERE/asked"\n{script}\n', encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        if client == "pip":
            monkeypatch.setattr(sys, "executable", str(program))
        kind = toy(Package(client=client, name="toy", version="1.0", folder="package/data", sha256=digest or found))
        monkeypatch.setattr(_fetching, "source", lambda name: kind)

    return make


def left_over(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []


@pytest.mark.parametrize(
    ("client", "asked"),
    [
        ("npm", "pack --ignore-scripts toy@1.0"),
        (
            "pip",
            "-m pip download --disable-pip-version-check --no-deps --no-binary :all: --require-hashes "
            "--requirement requirements.txt",
        ),
    ],
)
def test_wanted_files_are_fetched_and_nothing_else(tmp_path: Path, offer: Offer, client: str, asked: str) -> None:
    script = 'cp "$HERE"/*.tgz .; cat requirements.txt > "$HERE/requirements"'
    offer(GOOD, client=client, script=script)
    target = tmp_path / "data" / "somewhere"
    assert datasets.fetch("toy", target) == target / "toy"
    assert left_over(target) == ["toy", "toy/a.bin", "toy/b.bin"]
    assert (target / "toy" / "a.bin").read_bytes() == b"aa"
    assert (tmp_path / "tools" / "asked").read_text().strip() == asked
    digest = hashlib.sha256((tmp_path / "tools" / "toy-1.0.tgz").read_bytes()).hexdigest()
    assert (tmp_path / "tools" / "requirements").read_text() == f"toy==1.0 --hash=sha256:{digest}\n"


def test_the_data_directory_of_the_environment_is_the_default(
    tmp_path: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(GOOD)
    monkeypatch.setenv("FLTHEORY_DATA", str(tmp_path / "environment"))
    assert datasets.fetch("toy") == tmp_path / "environment" / "toy"


def test_what_is_there_is_verified_and_not_fetched_again(tmp_path: Path, offer: Offer) -> None:
    offer(GOOD)
    folder = datasets.fetch("toy", tmp_path / "data")
    (tmp_path / "tools" / "asked").unlink()
    assert datasets.fetch("toy", tmp_path / "data") == folder
    assert not (tmp_path / "tools" / "asked").exists()
    (folder / "a.bin").write_bytes(b"ab")
    with pytest.raises(InvalidParameter, match=r"a\.bin must be the published file"):
        datasets.fetch("toy", tmp_path / "data")


def test_a_folder_with_some_of_the_files_is_left_alone(tmp_path: Path, offer: Offer) -> None:
    offer(GOOD)
    (tmp_path / "data" / "toy").mkdir(parents=True)
    (tmp_path / "data" / "toy" / "a.bin").write_bytes(b"aa")
    with pytest.raises(InvalidParameter, match=r"got a folder without b\.bin; move it away"):
        datasets.fetch("toy", tmp_path / "data")
    assert left_over(tmp_path / "data") == ["toy", "toy/a.bin"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"package/data/a.bin": b"aa"}, r"toy-1\.0\.tgz must have all files of 'toy', got none called b\.bin"),
        ({**GOOD, "package/data/a.bin": b"xx"}, r"a\.bin must be the published file"),
        ({**GOOD, "package/data/b.bin": "/etc/hostname"}, r"got none called b\.bin"),
        ({"package/data/../data/a.bin": b"aa", "package/data/b.bin": b"bb"}, r"got none called a\.bin"),
    ],
)
def test_an_archive_with_other_content_leaves_nothing(
    tmp_path: Path, offer: Offer, members: dict[str, Any], message: str
) -> None:
    offer(members)
    with pytest.raises(FltheoryError, match=message):
        datasets.fetch("toy", tmp_path / "data")
    assert left_over(tmp_path / "data") == []


def test_names_in_an_archive_never_become_paths(tmp_path: Path, offer: Offer) -> None:
    offer({**GOOD, "../../escaped": b"!", str(tmp_path / "absolute"): b"!", "package/data/../../up": b"!"})
    datasets.fetch("toy", tmp_path / "data")
    assert left_over(tmp_path / "data") == ["toy", "toy/a.bin", "toy/b.bin"]
    assert not (tmp_path / "escaped").exists()
    assert not (tmp_path / "absolute").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"digest": "0" * 64}, r"the archive of toy 1\.0 must have SHA-256 0{64}, got"),
        ({"script": "echo no network >&2; exit 7"}, r"npm could not download toy 1\.0 \(exit code 7\): no network"),
        ({"script": "exit 1"}, "it gave no reason"),
        ({"script": "true"}, "npm must leave one archive of toy, got 0"),
    ],
)
def test_a_failed_download_leaves_nothing(tmp_path: Path, offer: Offer, options: dict[str, Any], message: str) -> None:
    offer(GOOD, **options)
    with pytest.raises(FltheoryError, match=message):
        datasets.fetch("toy", tmp_path / "data")
    assert left_over(tmp_path / "data") == []


def test_a_cut_archive_is_refused(tmp_path: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(GOOD)
    path = tmp_path / "tools" / "toy-1.0.tgz"
    path.write_bytes(path.read_bytes()[:60])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    cut = toy(Package(client="npm", name="toy", version="1.0", folder="package/data", sha256=digest))
    monkeypatch.setattr(_fetching, "source", lambda name: cut)
    with pytest.raises(FltheoryError, match=r"toy-1\.0\.tgz cannot be unpacked"):
        datasets.fetch("toy", tmp_path / "data")
    assert left_over(tmp_path / "data") == []


def test_a_missing_client_is_named(tmp_path: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(GOOD)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotApplicable, match=r"fetching toy needs npm, which is not installed; install Node\.js"):
        datasets.fetch("toy", tmp_path / "data")
    offer(GOOD, client="pip")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotApplicable, match=r"fetching toy needs pip, which .* does not have"):
        datasets.fetch("toy", tmp_path / "data")
    assert left_over(tmp_path / "data") == []


def test_what_no_registry_has_is_told_how_to_get(tmp_path: Path) -> None:
    with pytest.raises(NotApplicable) as caught:
        datasets.fetch("cifar-100", tmp_path)
    assert str(caught.value) == (
        "the data set 'cifar-100' is in no package that could be fetched; to get it: unpack cifar-100-binary.tar.gz, "
        f"the binary version on the CIFAR site; its files (train.bin, test.bin) belong in {tmp_path}/cifar-100"
    )


def test_a_download_that_takes_too_long_is_given_up(
    tmp_path: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client, and what it has started, are gone; so is everything that they have written."""
    offer(GOOD, script='echo $$ > "$HERE/pid"; mktemp > /dev/null; sleep 60 & echo $! > "$HERE/child"; wait')
    monkeypatch.setattr(_fetching, "TIMEOUT", 0.5)
    begin = time.monotonic()
    with pytest.raises(FltheoryError, match=r"npm could not download toy 1\.0: it did not end within 0\.5 s"):
        datasets.fetch("toy", tmp_path / "data")
    assert time.monotonic() - begin < 20
    assert left_over(tmp_path / "data") == []
    for name in ("pid", "child"):
        number = int((tmp_path / "tools" / name).read_text())
        until = time.monotonic() + 10
        while running(number) and time.monotonic() < until:
            time.sleep(0.02)
        assert not running(number), name


def running(number: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


KILLED = """
import sys
from pathlib import Path
from fltheory.datasets import _fetching
with _fetching._scratch(Path(sys.argv[1]), "toy") as folder:
    (folder / "half").write_text("half")
    print("here", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_download_has_left_is_removed_by_the_next(tmp_path: Path, offer: Offer) -> None:
    offer(GOOD)
    command = [sys.executable, "-c", KILLED, tmp_path / "data"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        with pytest.raises(FltheoryError, match="is in use"):
            datasets.fetch("toy", tmp_path / "data")
        process.kill()
    assert "half" in " ".join(left_over(tmp_path / "data"))
    datasets.fetch("toy", tmp_path / "data")
    assert left_over(tmp_path / "data") == ["toy", "toy/a.bin", "toy/b.bin"]
