"""Files are believed only after they have been checked."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from fltheory.datasets import _files, read_idx
from fltheory.errors import InvalidParameter
from tests.samples import FASHION, fashion_sample, idx

CUBE = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_array_comes_back_read_only(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cube{suffix}"
    path.write_bytes(gzip.compress(idx(CUBE)) if suffix else idx(CUBE))
    found = read_idx(path)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, CUBE)
    assert not found.flags.writeable


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be an IDX file, which starts with two zero bytes"),
        (b"\x00\x00\x08", "must be an IDX file"),
        (b"PK\x03\x04" + idx(CUBE), "must be an IDX file"),
        (b"\x00\x00\x0d" + idx(CUBE)[3:], r"unsigned bytes \(type 8\), got type 13"),
        (b"\x00\x00\x08\x00", "must have the length of each of its 0 axes"),
        (idx(CUBE)[:12], "must have the length of each of its 3 axes, got 12 bytes"),
        (idx(CUBE)[:-1], r"must have 24 bytes of data for its shape \(2, 3, 4\), got 23"),
        (b"\x00\x00\x08\x64" + 100 * b"\x00\x00\x00\x01" + b"\x00", "got 100 axes"),
        (b"\x00\x00\x08\x04" + 3 * b"\xff\xff\xff\xff" + 4 * b"\x00", "got 4 axes"),
        (idx(CUBE) + b"\x00", r"must have 24 bytes of data for its shape \(2, 3, 4\), got 25"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(InvalidParameter, match=message) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("damage", ["cut", "changed", "other"])
def test_damaged_compression_is_refused(tmp_path: Path, damage: str) -> None:
    content = gzip.compress(idx(np.arange(200).reshape(1, 200)))
    broken = {"cut": content[:-20], "changed": content[:30] + bytes([content[30] ^ 255]) + content[31:], "other": b"no"}
    path = tmp_path / "images.gz"
    path.write_bytes(broken[damage])
    with pytest.raises(InvalidParameter, match=r"images\.gz must be a complete gzip file"):
        read_idx(path)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"nothing cannot be read: no such file"):
        read_idx(tmp_path / "nothing")
    with pytest.raises(InvalidParameter, match=r"must have a file nothing or nothing\.gz"):
        _files.read(tmp_path, "nothing")


def test_digests_are_those_of_the_unpacked_content(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"content"))
    digest = hashlib.sha256(b"content").hexdigest()
    assert _files.read(tmp_path, "a", digest) == b"content"
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"contend"))
    with pytest.raises(InvalidParameter, match=r"a\.gz must be the published file with SHA-256 .* get it again"):
        _files.read(tmp_path, "a", digest)


def test_a_plain_file_comes_before_a_compressed_one(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"packed"))
    (tmp_path / "a").write_bytes(b"plain")
    assert _files.read(tmp_path, "a") == b"plain"


def test_records_have_one_size() -> None:
    assert _files.records(bytes(range(6)), "six", 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    for content in (b"", bytes(7)):
        with pytest.raises(InvalidParameter, match=f"six must be records of 3 bytes, got {len(content)} bytes"):
            _files.records(content, "six", 3)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, 1], "must have 2 samples of class 1, got 1 among 3"),
        ([0, 1, 1, 1, 0], "must have 2 samples of class 1, got 3 among 5"),
        ([0, 0, 1, 1, 2], "must have 0 samples of class 2, got 1 among 5"),
    ],
)
def test_classes_are_counted(labels: list[int], message: str) -> None:
    _files.check_counts("labels", np.array([0, 1, 1, 0]), [2, 2])
    with pytest.raises(InvalidParameter, match=message):
        _files.check_counts("labels", np.array(labels), [2, 2])


def test_the_sample_is_small_and_balanced() -> None:
    sample = fashion_sample()
    assert sample.train_inputs.shape == (300, 28, 28)
    assert sample.test_inputs.shape == (100, 28, 28)
    assert np.bincount(sample.train_labels).tolist() == [30] * 10
    assert np.bincount(sample.test_labels).tolist() == [10] * 10
    # Trousers are dark in the middle and bags are wide: what is read are pictures, not shuffled bytes.
    mean = np.array([sample.train_inputs[sample.train_labels == c].mean(axis=0) for c in range(10)])
    assert mean[1][:, 12:16].mean() > 5 * mean[1][:, :6].mean()
    assert mean[8][:, :6].mean() > 5 * mean[1][:, :6].mean()
    assert sum(path.stat().st_size for path in FASHION.iterdir()) < 250_000


def test_a_gzip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes that would become 64 megabytes are read no further than to the limit."""
    import tracemalloc

    monkeypatch.setattr(_files, "LARGEST", 2**20)
    bomb = tmp_path / "images.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as file:
        for _ in range(64):
            file.write(bytes(2**20))
    assert bomb.stat().st_size < 2**17
    tracemalloc.start()
    with pytest.raises(InvalidParameter, match=r"images\.gz must have at most 1048576 bytes unpacked"):
        _files.read(tmp_path, "images")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**20


def test_every_known_data_set_is_below_the_limit() -> None:
    """The largest file is CIFAR-100's: a label, another one and 3 x 32 x 32 colours for each of 50,000 samples."""
    assert _files.LARGEST > 50_000 * 3074
