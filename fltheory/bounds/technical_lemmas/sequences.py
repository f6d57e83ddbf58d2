r"""Sequences with a step: what lemmas that turn one-round recursions into rates are about.

For non-negative :math:`d_0, d_1, \dots` and :math:`c_1, c_2 \ge 0` the smallest of :math:`\eta_{\max}`,
:math:`\sqrt{d_0/(c_1(R+1))}` and :math:`(d_0/(c_2(R+1)))^{1/3}` balances start, variance and drift over :math:`R + 1`
rounds. :math:`c_1` and :math:`c_2` are made from the inverses of the last two, so that roots are rational.
"""

from __future__ import annotations

from typing import Any

from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Params, Real, Space

d = family("d", "d_{<0>}", "a non-negative sequence", first=0, shape=("terms",), domain="nonnegative")
c_1 = scalar("c_1", "c_1", "constant in front of the squared step", domain="nonnegative")
c_2 = scalar("c_2", "c_2", "constant in front of the cubed step", domain="nonnegative")


def balanced_space(rounds: str) -> Space:
    """Return the space of sequences; ``rounds`` is the name of the number of rounds."""
    return Space(
        {
            rounds: Integer(0, 3),
            "d0": Real(0.1, 5),
            "d": Real(0, 3, shape=(4,)),
            "eta_max": Real(0.1, 50, log=True),
            "inverse 1": Real(0, 4),
            "inverse 2": Real(0, 4),
        }
    )


def balanced(point: Params, rounds: str) -> dict[str, Any]:
    """Return the sequence and the smallest of the three steps."""
    first, last = point["d0"], point[rounds]
    slower, slowest = point["inverse 1"], point["inverse 2"]
    return {
        rounds: last,
        "d": [first, *point["d"]],
        "c_1": first * slower**2 / (last + 1),
        "c_2": first * slowest**3 / (last + 1),
        "eta_max": point["eta_max"],
        "eta": 1 / max(1 / point["eta_max"], slower, slowest),
    }
