r"""Logistic problems on the user's own arrays, handed over in Python or read from an ``.npz`` file.

A file holds either one pair of arrays per client, ``X_0, y_0, X_1, y_1, ...``, or all samples stacked, ``X`` and ``y``,
with ``client`` naming the owner of every row (0, 1, ...). Held-out samples may follow as ``X_test`` and ``y_test``.
``X`` has a row per sample, ``y`` the class of each, counted from 0. Files are read without pickle, so reading one runs
no code. They are written by, for example, ``np.savez("clients.npz", X=X, y=y, client=client)``.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.array_files import UNREADABLE
from fltheory.errors import InvalidParameter
from fltheory.logistic.problem import LogisticProblem
from fltheory.logistic.samples import Samples

MAX_BYTES = 2**33
"""Largest size of the arrays of a file, unpacked."""

HEADERS = 2**20
"""Bytes of a file beside its arrays."""


def logistic_from_arrays(
    features: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    *,
    l2: float,
    intercept: bool = False,
    batch_size: int | None = None,
    label_drift: float = 0.0,
    test_features: ArrayLike | None = None,
    test_labels: ArrayLike | None = None,
) -> LogisticProblem:
    """Return a binary problem, with one row of weights, on the samples of each client.

    Parameters
    ----------
    features
        One matrix ``(samples, features)`` per client; the samples may differ in number, the features not.
    labels
        One vector ``(samples,)`` of zeros and ones per client.
    l2, batch_size, label_drift
        See :class:`~fltheory.logistic.problem.LogisticProblem`.
    intercept
        Append a feature that is always 1.
    test_features, test_labels
        Held-out samples for the accuracy, ``(samples, features)`` and ``(samples,)``.

    Examples
    --------
    >>> X = [np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([[1.0, 1.0]])]
    >>> logistic_from_arrays(X, [np.array([0, 1]), np.array([1])], l2=0.1)
    LogisticProblem(num_clients=2, dim=2, samples=3, mu=0.1, L=0.754508)
    """
    owner = "logistic_from_arrays"
    data = _Data(features, labels, test_features, test_labels)
    return _problem(owner, data, 2, binary=True, l2=l2, intercept=intercept, batch_size=batch_size, drift=label_drift)


def softmax_from_arrays(
    features: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    *,
    l2: float,
    num_classes: int | None = None,
    intercept: bool = False,
    batch_size: int | None = None,
    label_drift: float = 0.0,
    test_features: ArrayLike | None = None,
    test_labels: ArrayLike | None = None,
) -> LogisticProblem:
    """Return a softmax problem, with one row of weights per class, on the samples of each client.

    Parameters
    ----------
    num_classes
        Number of classes; one more than the largest label if not given.
    features, labels, l2, intercept, batch_size, label_drift, test_features, test_labels
        As in :func:`logistic_from_arrays`, with labels counted from 0.

    Examples
    --------
    >>> X = [np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([[1.0, 1.0]])]
    >>> softmax_from_arrays(X, [np.array([0, 2]), np.array([1])], l2=0.1)
    LogisticProblem(num_clients=2, dim=6, samples=3, classes=3, mu=0.1, L=1.40902)
    """
    owner = "softmax_from_arrays"
    data = _Data(features, labels, test_features, test_labels)
    return _problem(
        owner, data, num_classes, binary=False, l2=l2, intercept=intercept, batch_size=batch_size, drift=label_drift
    )


def logistic_from_file(
    *, data: Path, l2: float, intercept: bool = False, batch_size: int | None = None, label_drift: float = 0.0
) -> LogisticProblem:
    """Return a binary problem on the arrays of an ``.npz`` file; see :func:`logistic_from_arrays` for the rest.

    Parameters
    ----------
    data
        The file; in a configuration, relative to the configuration.
    l2, intercept, batch_size, label_drift
        As in :func:`logistic_from_arrays`.
    """
    owner = "logistic_from_file"
    arrays, origin = read_clients(data)
    return _problem(
        owner,
        arrays,
        2,
        binary=True,
        l2=l2,
        intercept=intercept,
        batch_size=batch_size,
        drift=label_drift,
        origin=origin,
    )


def softmax_from_file(
    *,
    data: Path,
    l2: float,
    num_classes: int | None = None,
    intercept: bool = False,
    batch_size: int | None = None,
    label_drift: float = 0.0,
) -> LogisticProblem:
    """Return a softmax problem on the arrays of an ``.npz`` file; see :func:`softmax_from_arrays` for the rest.

    Parameters
    ----------
    data
        The file; in a configuration, relative to the configuration.
    l2, num_classes, intercept, batch_size, label_drift
        As in :func:`softmax_from_arrays`.
    """
    owner = "softmax_from_file"
    arrays, origin = read_clients(data)
    return _problem(
        owner,
        arrays,
        num_classes,
        binary=False,
        l2=l2,
        intercept=intercept,
        batch_size=batch_size,
        drift=label_drift,
        origin=origin,
    )


class _Data(NamedTuple):
    features: Sequence[ArrayLike]
    labels: Sequence[ArrayLike]
    test_features: ArrayLike | None
    test_labels: ArrayLike | None


def read_clients(path: Path) -> tuple[_Data, str]:
    """Return the arrays of a file, client by client, and a line that names the file and its content."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + HEADERS + 1)
        if len(content) > MAX_BYTES + HEADERS:
            raise InvalidParameter(f"{path} must have at most {MAX_BYTES + HEADERS} bytes, got more; split the file")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise InvalidParameter(f"{path} must hold at most {MAX_BYTES} bytes of arrays, got {size}; split the file")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UNREADABLE as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(
            f"{path} must be an .npz file of numbers, as numpy.savez writes it, got: {error}"
        ) from None
    test = found.pop("X_test", None), found.pop("y_test", None)
    features, labels = _stacked(path, found) if "client" in found else _numbered(path, found)
    return _Data(features, labels, *test), f"{Path(path).name} (sha256 {hashlib.sha256(content).hexdigest()})"


Arrays = list[NDArray[Any]]


def _numbered(path: Path, found: dict[str, NDArray[Any]]) -> tuple[Arrays, Arrays]:
    clients = len(found) // 2
    wanted = [f"{letter}_{i}" for i in range(max(clients, 1)) for letter in "Xy"]
    if sorted(found) != sorted(wanted):
        raise InvalidParameter(
            f"{path} must hold X_0, y_0, X_1, y_1, ... without gaps, or X, y and client (and X_test, y_test if "
            f"wanted), got {', '.join(sorted(found)) or 'nothing'}"
        )
    return [found[f"X_{i}"] for i in range(clients)], [found[f"y_{i}"] for i in range(clients)]


def _stacked(path: Path, found: dict[str, NDArray[Any]]) -> tuple[Arrays, Arrays]:
    if sorted(found) != ["X", "client", "y"]:
        raise InvalidParameter(
            f"{path} must hold X, y and client (and X_test, y_test if wanted), got {', '.join(sorted(found))}"
        )
    X, y, client = found["X"], found["y"], found["client"]
    if client.ndim != 1 or client.dtype.kind not in "iu" or X.ndim != 2 or not y.shape == client.shape == X.shape[:1]:
        raise InvalidParameter(
            f"{path} must hold X of shape (samples, features), y and client of shape (samples,) with client numbers in "
            f"client, got shapes {X.shape}, {y.shape} and {client.shape} of {client.dtype}"
        )
    if client.size == 0 or client.min() != 0 or len(np.unique(client)) != int(client.max()) + 1:
        raise InvalidParameter(
            f"{path} must number the clients 0, 1, ... without gaps in client, got {np.unique(client)[:10].tolist()}"
        )
    rows = [np.flatnonzero(client == i) for i in range(int(client.max()) + 1)]
    return [X[own] for own in rows], [y[own] for own in rows]


def _problem(
    owner: str,
    data: _Data,
    num_classes: int | None,
    *,
    binary: bool,
    l2: float,
    intercept: bool,
    batch_size: int | None,
    drift: float,
    origin: str = "",
) -> LogisticProblem:
    train = _samples(owner, "features", "labels", data.features, data.labels, binary)
    test = None
    if (data.test_features is None) != (data.test_labels is None):
        raise InvalidParameter(f"{owner}.test_features and test_labels must come together, got one of them")
    if data.test_features is not None and data.test_labels is not None:
        test = _samples(owner, "test_features", "test_labels", [data.test_features], [data.test_labels], binary)
    if num_classes is None:
        num_classes = max(int(max(part.labels.max() for part in (train, test) if part is not None)) + 1, 2)
    if arguments.boolean(owner, "intercept", intercept):
        train, test = train.with_intercept(), None if test is None else test.with_intercept()
    return LogisticProblem(
        train=train,
        test=test,
        num_classes=num_classes,
        binary=binary,
        l2=l2,
        batch_size=batch_size,
        label_drift=drift,
        origin=origin,
    )


def _samples(
    owner: str, first: str, second: str, features: Sequence[ArrayLike], labels: Sequence[ArrayLike], binary: bool
) -> Samples:
    """Return samples after a look at every array; messages name the client whose array is wrong."""
    for field, value in ((first, features), (second, labels)):
        if isinstance(value, str) or not hasattr(value, "__len__"):
            raise arguments.fail(owner, field, "a list with one array per client", value)
    if len(features) != len(labels) or len(features) == 0:
        raise InvalidParameter(
            f"{owner}.{first} and {second} must have one array per client, got {len(features)} and {len(labels)}"
        )
    matrices: list[Floats] = []
    vectors: list[Ints] = []
    for i, (matrix, vector) in enumerate(zip(features, labels, strict=True)):
        x = arguments.array(owner, f"{first}[{i}]", matrix, shape=(None, None))
        if 0 in x.shape:
            raise InvalidParameter(
                f"{owner}.{first}[{i}] must have at least one sample and one feature, got shape {x.shape}; leave the "
                "client out"
            )
        if matrices and x.shape[1] != matrices[0].shape[1]:
            raise InvalidParameter(
                f"{owner}.{first}[{i}] must have {matrices[0].shape[1]} features like {first}[0], got {x.shape[1]}"
            )
        y = np.asarray(vector)
        if y.shape != x.shape[:1]:
            raise InvalidParameter(f"{owner}.{second}[{i}] must have shape ({len(x)},), got shape {y.shape}")
        if y.dtype.kind not in "iub":
            raise arguments.fail(
                owner, f"{second}[{i}]", "an array of integers", f"dtype {y.dtype}", "use labels.astype(int)"
            )
        y = y.astype(np.int64)
        if y.min() < 0 or (binary and y.max() > 1):
            allowed = "0 or 1" if binary else "classes counted from 0"
            remedy = "(labels + 1) // 2 turns -1 and 1 into 0 and 1" if binary else "renumber the classes"
            raise arguments.fail(owner, f"{second}[{i}]", allowed, int(y.min() if y.min() < 0 else y.max()), remedy)
        matrices.append(x)
        vectors.append(y)
    return Samples.from_clients(matrices, vectors)
