"""Machine code is kept on disk, found again by other processes, and not used once anything has changed."""

import os
import subprocess
import sys
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest

from fltheory._internal import compiler, kernels, seeding
from fltheory._internal.kernels import Kernel, ObjectCode

DRAW = """
import sys
import numpy as np
from fltheory.quadratic.compiled import compiled_unit_vectors
print(compiled_unit_vectors("gaussian", np.arange(3, dtype=np.uint64), 5, 0).tolist(), "numba" in sys.modules)
"""


def drawn_in_a_new_process(folder):
    """Return the vectors and whether numba was loaded."""
    environment = {**os.environ, "FLTHEORY_CACHE_DIR": str(folder)}
    command = [sys.executable, "-W", "error", "-c", DRAW]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    vectors, _, loaded = done.stdout.strip().rpartition(" ")
    assert vectors == str(seeding.normals(np.arange(3, dtype=np.uint64), 5).tolist())
    return loaded == "True"


@pytest.mark.skipif(sys.platform != "linux", reason="object files are linked on Linux only")
def test_only_the_first_process_loads_numba(tmp_path):
    folder = tmp_path / "new" / "folder"
    assert drawn_in_a_new_process(folder)
    assert not drawn_in_a_new_process(folder)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert drawn_in_a_new_process(folder), "a damaged file was used"
    assert not drawn_in_a_new_process(folder)


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path):
    (tmp_path / "file").write_text("")
    assert drawn_in_a_new_process(tmp_path / "file")


def test_sources_are_those_that_the_code_is_made_of():
    names = {name for name, _ in kernels._sources("fltheory.quadratic.kernel")}
    assert {
        f"fltheory.{name}"
        for name in (
            "quadratic.kernel",
            "quadratic.tiles",
            "quadratic.normals",
            "_internal.vectors",
            "_internal.seeding",
        )
    } <= names
    assert "fltheory._internal.compiler" in names
    names = {name for name, _ in kernels._sources("fltheory.logistic.kernel")}
    assert {
        f"fltheory.{name}"
        for name in ("logistic.tiles", "logistic.exponentials", "_internal.vectors", "_internal.seeding")
    } <= names


def test_what_decides_the_code_decides_the_file(monkeypatch):
    place = kernels._place("fltheory.quadratic.kernel", "unit_vectors", ("real",))
    assert place == kernels._place("fltheory.quadratic.kernel", "unit_vectors", ("real",))
    assert place != kernels._place("fltheory.quadratic.kernel", "unit_vectors", ("integer",))
    monkeypatch.setattr(kernels, "_platform", lambda: "another processor")
    assert place != kernels._place("fltheory.quadratic.kernel", "unit_vectors", ("real",))
    monkeypatch.undo()
    monkeypatch.setattr(kernels, "_sources", lambda module: [("fltheory._internal.vectors", "edited")])
    assert place != kernels._place("fltheory.quadratic.kernel", "unit_vectors", ("real",))


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Use an empty cache."""
    monkeypatch.setenv("FLTHEORY_CACHE_DIR", str(tmp_path))
    return tmp_path


def draw_by_a_new_kernel():
    """Check what a kernel draws, from arrays that are read-only and not."""
    keys = np.arange(3, dtype=np.uint64)
    kernel = Kernel("fltheory.quadratic.kernel", "unit_vectors")
    for writable in (False, True):
        keys.setflags(write=writable)
        out, numbers = np.empty((3, 5)), np.zeros((2, 70), np.float32)
        kernel(np.int64(0), keys, False, out, numbers)
        assert np.array_equal(out, seeding.normals(keys, 5))


def test_numba_runs_the_function_where_there_is_no_object_code(monkeypatch, elsewhere):
    from fltheory.quadratic import kernel

    monkeypatch.setattr(kernels, "_compiled", lambda function, kinds: None)
    draw_by_a_new_kernel()
    assert not list(elsewhere.iterdir())
    assert len(kernel.unit_vectors.signatures) == 1, "compiled for more types than there are"


def unknown_option(monkeypatch):
    def refuse(**options):
        raise KeyError(f"unrecognized options {sorted(options)}")

    monkeypatch.setattr(compiler, "_njit", refuse)


def other_results(monkeypatch):
    compiled = SimpleNamespace(compile=lambda signature: None, overloads=defaultdict(SimpleNamespace))
    monkeypatch.setattr(compiler, "_njit", lambda **options: lambda function: compiled)


def other_modules(monkeypatch):
    monkeypatch.setitem(sys.modules, "fltheory._internal.compiler", None)


@pytest.mark.parametrize("change", [unknown_option, other_results, other_modules])
@pytest.mark.skipif(sys.platform != "linux", reason="object files are linked on Linux only")
def test_a_numba_that_is_different_inside_runs_the_function_itself(monkeypatch, elsewhere, change):
    change(monkeypatch)
    draw_by_a_new_kernel()
    assert not list(elsewhere.iterdir())


def test_object_code_survives_packing():
    code = ObjectCode("name", ["memset"], b"one\ntwo")
    assert ObjectCode.unpacked(code.packed()) == code
    with pytest.raises(ValueError, match="damaged"):
        ObjectCode.unpacked(code.packed()[:-1])


def test_arrays_have_to_be_c_ordered():
    with pytest.raises(ValueError, match="unit_vectors needs C-ordered arrays"):
        Kernel("fltheory.quadratic.kernel", "unit_vectors")(np.zeros((4, 4))[:, ::2])


def test_a_flipped_byte_anywhere_is_noticed():
    packed = ObjectCode("name", ["memset", "sqrt"], b"one\ntwo").packed()
    for place in range(len(packed)):
        for bit in (1, 128):
            damaged = bytearray(packed)
            damaged[place] ^= bit
            with pytest.raises(ValueError, match="damaged"):
                ObjectCode.unpacked(bytes(damaged))


@pytest.mark.skipif(sys.platform != "linux", reason="object files are linked on Linux only")
def test_a_damaged_object_file_is_compiled_again(elsewhere):
    draw_by_a_new_kernel()
    (place,) = elsewhere.iterdir()
    good = place.read_bytes()
    header = good.index(b"memset")
    place.write_bytes(good[:header] + b"memxet" + good[header + 6 :])
    draw_by_a_new_kernel()
    assert "memset" in ObjectCode.unpacked(place.read_bytes()).calls
