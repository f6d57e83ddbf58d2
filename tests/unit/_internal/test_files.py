"""Files are old or new, never half; a folder has one writer; what is read is refused in one line."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from fltheory._internal import files
from fltheory.errors import FltheoryError, InvalidParameter


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_takes_the_place_of_the_old_one(tmp_path):
    place = tmp_path / "a.txt"
    for text in ("first", "second \N{GREEK SMALL LETTER MU}"):
        files.write_text(place, text)
        assert place.read_text(encoding="utf-8") == text
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space left"), KeyboardInterrupt(), ValueError("x")])
def test_an_error_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path, error):
    place = tmp_path / "a.txt"
    files.write_text(place, "old")

    def write():
        with files.opened(place) as file:
            file.write(b"half of the new")
            raise error

    with pytest.raises(type(error)):
        write()
    assert (place.read_text(), names(tmp_path)) == ("old", ["a.txt"])


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_step_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    place = tmp_path / "a.txt"
    files.write_text(place, "old")

    def full(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="no space") as raised:
        files.write_text(place, "new")
    assert raised.value.filename == str(place)
    assert (place.read_text(), names(tmp_path)) == ("old", ["a.txt"])


def test_links_and_devices_are_written_to_not_replaced(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    files.write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    files.write_text(tmp_path / "device", "")
    (tmp_path / "device").unlink()
    (tmp_path / "device").symlink_to(os.devnull)
    files.write_text(tmp_path / "device", "nothing")
    assert not os.path.isfile(os.devnull)


def test_new_files_have_the_usual_mode(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_text(tmp_path / "a.txt", "")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


WRITER = """
import sys, time
from pathlib import Path
from fltheory._internal import files

with files.sole_writer(Path(sys.argv[1])), files.opened(Path(sys.argv[1]) / "a.txt") as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def test_one_writer_at_a_time_and_none_after_a_kill(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "writing\n"
        message = rf"is in use: process {other.pid} is writing.*--output"
        with pytest.raises(FltheoryError, match=message), files.sole_writer(tmp_path):
            pytest.fail("two writers")
        other.send_signal(signal.SIGKILL)
        other.wait(timeout=20)
    assert (tmp_path / "a.txt").read_text() == "old"
    assert len(names(tmp_path)) == 3  # with the lock and half a file, both dead
    with files.sole_writer(tmp_path):
        assert names(tmp_path) == [files.LOCK, "a.txt"]
    assert names(tmp_path) == ["a.txt"]


def test_many_processes_take_turns(tmp_path):
    code = (
        "import sys; from pathlib import Path; from fltheory._internal import files\n"
        "from fltheory.errors import FltheoryError\n"
        "place = Path(sys.argv[1])\n"
        "done = 0\n"
        "while done < 20:\n"
        "    try:\n"
        "        with files.sole_writer(place):\n"
        "            count = int((place / 'count').read_text())\n"
        "            files.write_text(place / 'count', str(count + 1))\n"
        "            done += 1\n"
        "    except FltheoryError: pass\n"
    )
    (tmp_path / "count").write_text("0")
    begin = time.perf_counter()
    several = [subprocess.Popen([sys.executable, "-c", code, tmp_path]) for _ in range(3)]
    assert [one.wait(timeout=60) for one in several] == [0] * 3
    assert (tmp_path / "count").read_text() == "60", f"{time.perf_counter() - begin:.1f} s"


@pytest.mark.parametrize("kind", ["file", "read-only"])
def test_a_folder_that_cannot_be_written_is_refused(tmp_path, kind, monkeypatch):
    folder = tmp_path / "out"
    if kind == "file":
        folder.write_text("a file")
    elif os.geteuid() == 0:  # nothing is read-only for root
        monkeypatch.setattr(files.Path, "write_bytes", lambda *_: (_ for _ in ()).throw(PermissionError(13, "denied")))
    else:
        folder.mkdir(mode=0o500)
    with pytest.raises(InvalidParameter, match="--output must be a directory that can be written to"):
        files.usable(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"[NaN]", "NaN is not a number"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5000, "not valid JSON"),
    ],
    ids=["empty", "cut", "bytes", "nan", "deep", "long"],
)
def test_what_is_no_json_is_refused_with_the_name_of_the_file(tmp_path, content, message):
    place = tmp_path / "a.json"
    place.write_bytes(content)
    with pytest.raises(InvalidParameter, match=rf"a\.json: .*{message}"):
        files.read_json(place)


def test_large_files_are_not_read_as_a_whole(tmp_path):
    place = tmp_path / "a.json"
    place.write_bytes(b" " * 1001)
    with pytest.raises(InvalidParameter, match="at most 1000 bytes"):
        files.read_json(place, largest=1000)
    with pytest.raises(InvalidParameter, match="cannot be read: no such file"):
        files.read_json(tmp_path / "b.json")
