"""How numbers and errors are shown."""

from __future__ import annotations


def shown(mean: float | None, half_width: float | None) -> str:
    """Return a value as it stands in a table.

    >>> shown(0.12345, 0.001)
    '1.235e-01 ± 1e-03'
    """
    return f"{mean:.3e} ± {half_width:.0e}" if half_width else f"{mean:.3e}"


def labelled(label: str, error: str) -> str:
    r"""Return the first line of an error with the label of the run that has failed.

    >>> labelled("FedAvg", "FedAvg diverged in round 3")
    'FedAvg diverged in round 3'
    >>> labelled("mine", "ValueError: no\nTraceback ...")
    'mine: ValueError: no'
    """
    line = (error.splitlines() or [""])[0]
    return line if line.startswith(label) else f"{label}: {line}"


def traced(error: str) -> str:
    r"""Return what follows the first line of an error: the traceback of one that nobody has thought of.

    >>> traced("ValueError: no\nTraceback ...")
    'Traceback ...'
    """
    return "\n".join(error.splitlines()[1:])
