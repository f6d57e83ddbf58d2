"""Files of arrays that may come from anywhere."""

import numpy as np
import pytest

from fltheory._internal import memory
from fltheory._internal.array_files import read_arrays
from fltheory.errors import InvalidParameter


@pytest.mark.parametrize("numbers", [np.arange(3), np.ones((2, 0)), np.array(True), np.array([1.0], dtype=np.float16)])
def test_real_numbers_of_every_kind_are_read(tmp_path, numbers):
    np.savez(tmp_path / "x.npz", a=numbers)
    np.testing.assert_array_equal(read_arrays(tmp_path / "x.npz")["a"], numbers)


@pytest.mark.parametrize(
    "other",
    [np.array(1 + 2j), np.array("x"), np.array(b"\x00"), np.zeros(2, dtype=[("a", "f8")]), np.zeros(2, dtype="M8[D]")],
    ids=lambda other: str(other.dtype),
)
def test_arrays_of_something_else_are_refused(tmp_path, other):
    np.savez(tmp_path / "x.npz", good=np.ones(2), bad=other)
    with pytest.raises(InvalidParameter, match=r"x\.npz: is not an \.npz file of numbers.*'bad' is of type"):
        read_arrays(tmp_path / "x.npz")


def test_a_small_file_with_more_than_memory_holds_is_not_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(10**6))
    assert (tmp_path / "x.npz").stat().st_size < 10**4
    monkeypatch.setattr(memory, "allowed", lambda: 10**6)
    with pytest.raises(InvalidParameter, match="must hold at most 1000000 bytes of arrays, got 8000"):
        read_arrays(tmp_path / "x.npz")
