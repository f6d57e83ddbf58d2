"""The compiled steps behind the interface of :mod:`fltheory.quadratic.oracle`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fltheory.checks import Floats
from fltheory.quadratic import kernel
from fltheory.quadratic.oracle import RoundData, Step
from fltheory.seeding import Words

_LAWS = {"gaussian": kernel.GAUSSIAN, "bounded": kernel.BOUNDED}


def compiled_unit_vectors(law: str, keys: Words, dim: int, vector: int) -> Floats:
    """Draw unit noise with the compiled generator."""
    return kernel.unit_vectors(_LAWS[law], keys, dim, vector)


def _plain(x: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous writable array: numba compiles anew for every other kind."""
    return x if x.flags.c_contiguous and x.flags.writeable else np.array(x, order="C")


def compiled_steps(data: RoundData, step: Step) -> Floats:
    """Run local steps in the compiled loop."""
    clients, dim = len(data.sigma), step.start.shape[-1]
    out = np.empty((data.replicates, clients, dim))
    kernel.local_steps(
        out,
        basis=None if data.rotation is None else _plain(data.rotation),
        hessian=_plain(data.hessian),
        pull=_plain(step.pull),
        steps=_plain(step.steps),
        start=_plain(step.start),
        scale=_plain(data.scale),
        offset=_plain(data.offset),
        drift_keys=data.drift_keys,
        drift_scale=data.drift_scale,
        correction=_plain(step.correction),
        anchor=_plain(step.anchor),
        l1_anchor=_plain(step.l1_anchor),
        l1=float(step.l1),
        rate=float(step.rate),
        keys=data.keys,
        sign_keys=data.sign_keys,
        sigma=_plain(data.sigma),
        rho=float(data.hessian_noise),
        law=_LAWS[data.noise_law],
        fixed=int(step.fixed),
        recentre=bool(step.recentre),
    )
    return out
