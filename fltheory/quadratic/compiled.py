"""The compiled steps behind the interface of :mod:`fltheory.quadratic.oracle`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fltheory._internal.arguments import Floats
from fltheory._internal.kernels import Kernel
from fltheory._internal.seeding import Words
from fltheory.problems.oracle import LocalSteps, Round
from fltheory.quadratic.oracle import RoundData

_LAWS = {"gaussian": 0, "bounded": 1}
_WHOLE = 32
"""The loops fill arrays up to whole vectors of the processor, and there are two such ends at most."""

_unit_vectors = Kernel("fltheory.quadratic.kernel", "unit_vectors")
_steps_diagonal = Kernel("fltheory.quadratic.kernel", "steps_diagonal")
_steps_dense = Kernel("fltheory.quadratic.kernel", "steps_dense")


def compiled_unit_vectors(law: str, keys: Words, dim: int, vector: int) -> Floats:
    """Draw unit noise with the compiled generator."""
    out = np.empty((keys.size, dim))
    _unit_vectors(_LAWS[law], np.ascontiguousarray(keys).ravel(), vector, out, _scratch((dim + 1) // 2))
    return out.reshape(*keys.shape, dim)


def _scratch(words: int) -> NDArray[np.float32]:
    """Return room for the pairs of numbers made of so many words."""
    return np.zeros((2, words + 2 * _WHOLE), np.float32)


def compiled_steps(data: RoundData, start: Floats, work: Round, how: LocalSteps) -> Floats:
    """Run local steps in the compiled loop; a dense Hessian or pull selects the dense one.

    All arrays broadcast over replicates and clients by an axis of length 1. ``sigma`` is the standard deviation
    of a noise coordinate per client, ``rho`` the relative size of the random Hessian, ``fixed`` the index of the
    one minibatch to use or -1, ``basis`` rotates the noise out of the eigenbasis.
    """
    clients, dim = len(data.sigma), start.shape[-1]
    half = (dim + 1) // 2
    steps, terms = how.steps_in(work), how.written_out(dim)
    diagonal = data.hessian.ndim == 2 and terms.pull.ndim == 3
    pull = terms.pull[:, :, None] if terms.pull.ndim == 3 and not diagonal else terms.pull
    fixed = -1 if how.minibatch is None else how.minibatch.index
    out = np.empty((data.replicates, clients, dim))
    arguments: list[Any] = [
        start,
        data.hessian,
        data.scale,
        data.offset,
        terms.correction,
        pull,
        terms.anchor,
        terms.l1_anchor,
        float(how.l1),
        steps,
        np.array(how.rates_in(work)),
        data.drift_keys,
        data.drift_scale,
        data.keys,
        data.sign_keys,
        data.sigma,
        float(data.hessian_noise),
        _LAWS[data.noise_law],
        fixed,
        how.recentre,
    ]
    plain = [np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in arguments]
    if diagonal:
        most = 1 if fixed >= 0 else int(steps.max(initial=1))
        state = np.zeros((5, 2, half + _WHOLE))
        _steps_diagonal(out, *plain, _scratch((most + 1) * half), state)
    else:
        basis = np.empty((0, 0)) if data.rotation is None else np.ascontiguousarray(data.rotation)
        _steps_dense(out, *plain, _scratch(half), np.zeros((7, dim)), basis)
    return out
