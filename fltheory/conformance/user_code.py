"""Call a user's own code, and blame the right line when it fails."""

from __future__ import annotations

import functools
import inspect
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fltheory
from fltheory._internal.arguments import Floats
from fltheory.conformance.federation import Federation
from fltheory.errors import FltheoryError

Run = Callable[[Federation], Any]
"""A user's implementation: a federation to the server models after every round."""


class UserCodeError(FltheoryError):
    """The code under examination failed, or returned something that is no sequence of models."""


class Returned(NamedTuple):
    """What a user's code returned, in canonical shapes."""

    models: Floats
    """Server models before round 0 and after every round, shape ``(rounds + 1, dim)``."""
    others: dict[str, Floats]
    """Client models (``local``) and state fields after every round, as far as they were returned."""


def call(run: Run, federation: Federation, where: str) -> Returned:
    """Run a user's code on a federation.

    Parameters
    ----------
    run
        Returns the models after every round, shape ``(rounds, dim)``, or with the first one before them,
        ``(rounds + 1, dim)``; or a mapping with these as ``models`` and further arrays by name.
    federation
        What it is run on.
    where
        Name of the instance, for messages.
    """
    try:
        returned = run(federation)
    except (Exception, SystemExit) as error:  # an exit code of 0 would say that the code is right
        line = blamed(error)
        raise UserCodeError(
            f"{name_of(run)} failed on the instance '{where}': {type(error).__name__}: {error}"
            + (f" ({line})" if line else "")
        ) from error
    if not isinstance(returned, Mapping):
        returned = {"models": returned}
    if "models" not in returned:
        raise UserCodeError(
            f"{name_of(run)} must return the models, or a mapping with the key 'models', got the keys "
            f"{', '.join(map(repr, returned)) or 'none'} ({home(run)})"
        )
    arrays = {str(key): _array(run, str(key), value, where) for key, value in returned.items()}
    return Returned(_models(run, arrays.pop("models"), federation, where), arrays)


def _array(run: Run, key: str, value: Any, where: str) -> Floats:
    try:
        array = np.array([np.asarray(row) for row in value] if not isinstance(value, np.ndarray) else value)
        if array.dtype.kind not in "iuf":
            raise ValueError("not numbers")
    except (ValueError, TypeError, RuntimeError):
        raise UserCodeError(
            f"{name_of(run)} must return {key} as an array of numbers with one row per round, got "
            f"{type(value).__name__} on the instance '{where}' ({home(run)})"
        ) from None
    if not np.all(np.isfinite(array)):
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise UserCodeError(
            f"{name_of(run)} returned {key} with {array[~np.isfinite(array)][0]} in row {row} on the instance "
            f"'{where}' ({home(run)})"
        )
    return array.astype(np.float64)


def _models(run: Run, models: Floats, federation: Federation, where: str) -> Floats:
    rounds, dim = federation.rounds, federation.dim
    if models.ndim == 3 and 1 in models.shape[1:] and models.shape[1] * models.shape[2] == dim:
        models = models.reshape(len(models), dim)  # a linear layer's weight is a row
    if models.shape not in ((rounds, dim), (rounds + 1, dim)):
        raise UserCodeError(
            f"{name_of(run)} must return models of shape ({rounds}, {dim}), one after each of {rounds} rounds, or "
            f"({rounds + 1}, {dim}) with the first one before them, got shape {models.shape} on the instance '{where}' "
            f"({home(run)})"
        )
    if len(models) == rounds:
        return np.concatenate([federation.start[None], models])
    # The last row of a list that always holds the same array is the first one too.
    if not np.allclose(models[0], federation.initial, rtol=1e-6, atol=1e-6) and not is_one_array(models):
        raise UserCodeError(
            f"{name_of(run)} returned {rounds + 1} models, so the first must be federation.start, got "
            f"{models[0].tolist()} instead of {federation.initial.tolist()} on the instance '{where}' ({home(run)})"
        )
    return models


def is_one_array(models: Floats) -> bool:
    """Return whether all rows are equal, as when one array that changes in place is appended in every round."""
    return len(models) > 1 and bool(np.all(models == models[-1]))


def blamed(error: BaseException) -> str:
    """Return file and line of the innermost frame of the user's own code; empty if there is none.

    Frames of this package are never blamed, those of installed packages and of the standard library only if there are
    no others.
    """
    own = Path(fltheory.__file__).parent
    installed = [Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib")]
    outside = []
    for frame in traceback.extract_tb(error.__traceback__):
        folders = Path(frame.filename).resolve().parents
        if own.resolve() not in folders:
            outside.append((any(folder in folders for folder in installed), frame))
    chosen = [frame for library, frame in outside if not library] or [frame for _, frame in outside]
    return f"{chosen[-1].filename}, line {chosen[-1].lineno}" if chosen else ""


def name_of(run: Run) -> str:
    """Return how messages call the user's code."""
    function = _function(run)
    return str(getattr(function, "__qualname__", None) or type(function).__name__)


def home(run: Run) -> str:
    """Return file and line where the user's code is defined."""
    function = _function(run)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return f"an object of {type(function).__name__}"
    return f"{code.co_filename}, line {code.co_firstlineno}"


def _function(run: Run) -> Any:
    """Return what is behind partial applications and wrappers."""
    while isinstance(run, functools.partial):
        run = run.func
    return inspect.unwrap(run)
