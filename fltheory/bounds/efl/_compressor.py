r"""Algorithm 2 and the bookkeeping of Algorithm 1 in exact arithmetic.

``ST`` keeps the largest entries of a vector and gives them one magnitude. ``threshold`` is the box read literally:
all entries not below the :math:`k`-th largest are kept, and their sum is divided by :math:`k`; ``exact`` keeps
exactly :math:`k`, of equal ones those that come first. :class:`fltheory.communication.compression.SparseTernary` is
the same on
floats.

A run of Algorithm 1 has a few rounds in which clients take local steps on
:math:`F_k(w) = \frac12\sum_a h_{ka}(w_a - c_{ka})^2` from their copy of the model. Ways of keeping the books:

* ``000``: clients send :math:`\mathrm{ST}(\Delta^k)`, the server moves by :math:`\Delta^G`, the clients by
  :math:`\mathrm{ST}(\Delta^G)` (the box of the long version);
* ``003``: clients send :math:`\Delta^k` and move by :math:`\Delta^G`, like the server (the box of the short version);
* ``text``: clients send :math:`\mathrm{ST}(\Delta^k)` and move by :math:`\Delta^G`, like the server (the text of both
  versions, which has :math:`\mathrm{ST}(\Delta^G)` broadcast and :math:`\Delta^G` added in the next sentence);
* ``consistent``: clients send :math:`\mathrm{ST}(\Delta^k)`, and everybody moves by :math:`\mathrm{ST}(\Delta^G)`.

Identities between the vectors of a run do not depend on what the compressor does. Certificates are about runs in which
anything is sent in its place.

A client with :math:`s_\tau^k = 0` "cannot respond to the server", as both versions say: its coefficient is 0 whatever
the point says, and its residual stays, as in :class:`fltheory.algorithms.efl.EFL`. (The boxes are silent about it; a
loop over no steps would have such a client send its residual.)
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.bounds.claim import Instances
from fltheory.bounds.space import Choice, Integer, Integers, Parameter, Params, Real, Space
from fltheory.problems.problem import norm_sq


class Sent(NamedTuple):
    """A compressed vector, the magnitude of its entries, and how many of them were kept."""

    values: Any
    level: Any
    kept: int


def asked_for(fraction: Any, length: int) -> int:
    """Return the smallest whole number that is at least 1 and at least ``fraction * length``."""
    count = 1
    while count < fraction * length:
        count += 1
    return count


def compress(values: Any, count: int, *, ties: str, divisor: Any = None) -> Sent:
    """Return ST of a vector; ``divisor`` stands for another number than ``count`` in the mean."""
    size = abs(values)
    order = sorted(range(len(values)), key=lambda j: -size[j])
    mask = [j for j in order if size[j] >= size[order[count - 1]]] if ties == "threshold" else order[:count]
    level = sum((size[j] for j in mask), start=0 * size[0]) / (count if divisor is None else divisor)
    out = 0 * values
    for j in mask:
        out[j] = level if values[j] > 0 else (-level if values[j] < 0 else 0 * level)
    return Sent(out, level, len(mask))


RUNS: Mapping[str, Parameter] = {
    "T": Integer(1, 3),
    "N": Integer(1, 2),
    "E": Integer(1, 2),
    "d": Integer(1, 3),
    "ties": Choice(("exact", "threshold")),
    "q": Real(0.1, 1),
    "eta": Real(0.05, 0.5),
    "s": Integers(0, "E", shape=("T", "N")),
    "p": Real(0.1, 2, shape=("T", "N")),
    "curvature": Real(0.5, 2, shape=("N", "d")),
    "centre": Real(-3, 3, shape=("N", "d")),
    "start": Real(-3, 3, shape=("d",)),
}
"""Runs of Algorithm 1 with compression: rounds, clients, local steps, coefficients and quadratics."""

SPACE = Space(RUNS)

ANY_MESSAGES = Space(
    {
        **{name: kept for name, kept in RUNS.items() if name not in ("ties", "q")},
        "curvature": Real(0.5, 2, shape=("N",)),
        "messages": Real(-3, 3, shape=("T", "N", "d")),
        "broadcasts": Real(-3, 3, shape=("T", "d")),
    }
)
"""Runs in which anything is sent in place of compressed vectors, by quadratics with one curvature.

What holds for all of them, coordinate by coordinate, holds for every compressor and for a curvature per coordinate.
"""


STATE = ("server", "client", "virtual", "residual_k", "residual")
"""What a round leaves to the next one."""


def run(
    point: Params,
    books: str,
    *,
    compressed: bool = True,
    rates: Any = None,
    first: int = 0,
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return models, residuals and messages of a run of Algorithm 1; ``rates`` gives every round its own rate.

    Given what the rounds ``before`` the ``first`` one have left, the run goes on from there.
    """
    clients = point["N"]

    def st(values: Any, *sender: int) -> Any:
        if "messages" in point:
            return point["messages" if len(sender) > 1 else "broadcasts"][sender]
        count = asked_for(point["q"], point["d"])
        return compress(values, count, ties=point["ties"]).values if compressed else values

    copy = point["start"]
    models, copies, averages = [copy], [copy], [copy]
    own, rest = [[0 * copy] * clients], [0 * copy]
    if before is not None:
        models, copies, averages, own, rest = ([before[name][-1]] for name in STATE)
    inputs, gradients, coefficients = [], [], []
    for index in range(first, point["T"]):
        rate = point["eta"] if rates is None else rates[index]
        total, moved, left, seen, used = 0 * copy, 0 * copy, [], [], []
        for k in range(clients):
            local, path = copies[-1], []
            for step in range(point["E"] + 1):
                path.append(point["curvature"][k] * (local - point["centre"][k]))
                if step < point["s"][index][k]:
                    local = local - rate * path[-1]
            seen.append(path)
            if point["s"][index][k] == 0:
                used.append(0 * point["p"][index][k])
                left.append(own[-1][k])
                continue
            change = own[-1][k] + local - copies[-1]
            message = change if books == "003" else st(change, index, k)
            used.append(point["p"][index][k])
            left.append(change - st(change, index, k))
            total = total + used[-1] * message
            moved = moved + used[-1] * (local - copies[-1])
        update = rest[-1] + total
        broadcast = st(update, index)
        models.append(models[-1] + (broadcast if books == "consistent" else update))
        copies.append(copies[-1] + (update if books in ("003", "text") else broadcast))
        averages.append(averages[-1] + moved)
        own.append(left)
        rest.append(update - broadcast)
        inputs.append(total)
        gradients.append(seen)
        coefficients.append(used)
    return {
        "rounds": point["T"],
        "N": clients,
        "E": point["E"],
        "eta": point["eta"] if rates is None else rates,
        "server": models,
        "client": copies,
        "virtual": averages,
        "residual": rest,
        "residual_k": own,
        "received": inputs,
        "coefficient": coefficients,
        "gradient": gradients,
        "steps": np.asarray(point["s"]),
    }


@dataclass(slots=True)
class LongRun:
    """A run as far as it has come, from where a longer one goes on.

    Parameters
    ----------
    state
        What the last round has left.
    rates
        Rates of its rounds.
    distances
        Squared distances of the model before every round, and after the last one.
    gradients
        Squared gradients of all local steps.
    """

    state: dict[str, Any] | None = None
    rates: Any = ()
    distances: list[Any] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)


def followed(course: LongRun, point: Params, books: str, rates: Any, minimiser: Any) -> tuple[Floats, Floats]:
    """Return squared distances and squared gradients of a run, of which the rounds in its course are known."""
    known = len(course.rates)
    if known > len(rates) or not np.array_equal(course.rates, rates[:known]):
        course.state, course.distances, course.gradients, known = None, [], [], 0
    found = run(point, books, rates=rates, first=known, before=course.state)
    distances = norm_sq(np.stack(found["server"]) - minimiser)
    course.distances += [distances[1:] if known else distances]
    if len(rates) > known:
        course.gradients += [norm_sq(np.array(found["gradient"])[:, :, : point["E"]])]
    course.state, course.rates = {name: found[name][-1:] for name in STATE}, np.array(rates)
    return np.concatenate(course.distances), np.concatenate(course.gradients)


def runs_with(books: str, *, compressed: bool = True) -> Instances:
    """Return runs of Algorithm 1 with a way of keeping the books as instances."""
    realise = functools.partial(run, books=books, compressed=compressed)
    within = Instances(space=ANY_MESSAGES, realise=realise) if compressed else None
    return Instances(space=SPACE, realise=realise, within=within)
