"""How much memory there is, so that what cannot fit is refused before anything is allocated."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Mapping
from pathlib import Path

from fltheory._internal import arguments

try:
    import resource
except ImportError:  # pragma: no cover - Windows
    resource = None  # type: ignore[assignment]

SHARE = 0.75
"""Part of the memory that one problem or one run may take."""

DENSE = 2**32
"""Most bytes of dense matrices; beyond, factorising them takes minutes as well."""

_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_UNKNOWN = 2**36


def allowed() -> int:
    """Return the bytes that one problem or one run may take: a share of what this computer, or this job, has."""
    limits = [_installed()]
    if resource is not None:
        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        limits += [soft] if soft != resource.RLIM_INFINITY else []
    return int(SHARE * min(limits))


@functools.cache
def _installed() -> int:
    """Return the bytes that this computer, container or job of a cluster has; asked for once per process."""
    limits = [_UNKNOWN]
    with contextlib.suppress(ValueError, OSError, AttributeError):
        limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for place in _GROUPS:
        with contextlib.suppress(ValueError, OSError):
            limits.append(int(Path(place).read_text(encoding="ascii")))
    return min(limits)


def shown(size: float) -> str:
    """Return a number of bytes in words.

    >>> shown(12.8e9), shown(1.6e5)
    ('12.8 GB', '160 kB')
    """
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} bytes"


def round_down(number: float) -> int:
    """Return a number with two digits that is not larger, and at least 1.

    >>> round_down(11585.2), round_down(0.2)
    (11000, 1)
    """
    whole = max(int(number), 1)
    unit: int = 10 ** max(len(str(whole)) - 2, 0)
    return whole // unit * unit


def require(
    owner: str, field: str, value: int, needed: int, what: str, *, power: int = 1, limit: int | None = None, remedy: str
) -> None:
    """Raise if something needs more memory than it may take.

    Parameters
    ----------
    owner, field, value
        The number that is to be lowered.
    needed, what
        Bytes, and of what.
    power
        How the bytes grow with the number.
    limit
        Most bytes, if less than what the computer allows.
    remedy
        What else can be done.
    """
    most = allowed() if limit is None else min(allowed(), limit)
    if needed > most:
        largest = round_down(value * (most / needed) ** (1 / power))
        raise arguments.fail(
            owner, field, f"at most about {largest}, since {what} would take {shown(needed)} of memory", value, remedy
        )


def require_product(owner: str, numbers: Mapping[str, int], needed: int, what: str) -> None:
    """Raise if something that grows with the product of several numbers needs too much memory, naming the largest.

    >>> require_product("problem", {"dim": 10**9, "num_clients": 10**9}, 8 * 10**18, "models")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    fltheory.errors.InvalidParameter: problem.dim must be at most about ..., since models would take 8e+03 PB of ...
    """
    field = max(numbers, key=lambda name: numbers[name])
    names = list(numbers)
    lower = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    require(owner, field, numbers[field], needed, what, remedy=f"lower {lower}")
