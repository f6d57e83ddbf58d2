r"""Section B.3: concentration of the mean sign.

Suppose that the signs :math:`X_k` of one coordinate are independent over the clients, :math:`\pm1` with probability
1/2 each. Then for :math:`\delta > 0`

.. math:: \mathbb P\Bigl[\frac1m\sum_{k\in[m]}X_k > \delta\Bigr] \le e^{-m\delta^2/2} .

This is Hoeffding's inequality, and true. The event is printed with a misplaced bracket, as
:math:`\frac1m\sum_k\operatorname{sign}(\tilde\theta_k^t) - \theta^{t-1} > \delta`, which is another one
(``published@printed``).

What it is used for does not follow. It is about one side of one coordinate, and the last term of (13) has :math:`d`
of them; at the printed :math:`m = 100` and :math:`\delta = 0.1` the bound is 0.61, and the mean sign is of the order
:math:`1/\sqrt m = 0.1`, not negligible. Signs of the algorithm are neither random given the state nor independent:
all clients start from the same server model, and if they agree on a direction, the mean sign is 1, for any :math:`m`.

**Derivation of the corrected form.** Both sides of all coordinates, signs with zeros allowed:
:math:`X_k \in \{-1, 0, 1\}` independent over clients and symmetric has :math:`\mathbb E e^{sX_k} \le e^{s^2/2}`, so
each side of each coordinate has the same bound, and the union bound gives

.. math:: \mathbb P\Bigl[\max_j\Bigl|\frac1m\sum_{k\in[m]}X_k(j)\Bigr| > \delta\Bigr] \le 2d\,e^{-m\delta^2/2} ,

whatever the dependence between coordinates. It needs :math:`\delta \ge \sqrt{2\log(2d)/m}` to say anything: 0.53 for
100 clients and :math:`8\cdot10^5` coordinates.

Instances: exact probabilities, by counting outcomes; coordinates independent of each other.

Source: the paper's appendix B.3.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Le, exp

from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen._symbols import d, m
from fltheory.bounds.functions import signs
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space, ratio

delta = scalar("delta", r"\delta", "size of the mean sign", domain="nonnegative")
tail = scalar(
    "tail",
    r"\mathbb{P}\Big[\frac1m\sum_{k\in[m]}X_k > \delta\Big]",
    "chance that the mean sign is larger",
    domain="probability",
)
tail_printed = scalar(
    "tail_printed",
    r"\mathbb{P}\Big[\frac1m\sum_{k\in[m]}\operatorname{sign}(\tilde\theta_k^t) - \theta^{t-1} > \delta\Big]",
    "chance of the event as it is printed",
    domain="probability",
)
tail_any = scalar(
    "tail_any",
    r"\mathbb{P}\Big[\max_j\Big|\frac1m\sum_{k\in[m]}X_k(j)\Big| > \delta\Big]",
    "chance that some coordinate of the mean sign is larger",
    domain="probability",
)


def sums(clients: int, nothing: Any, one: Any) -> list[Any]:
    """Return the chances of the sums -m, ..., m of signs that are 0 with chance ``nothing``, else fair."""
    side = (one - nothing) / 2
    chances = [one]
    for _ in range(clients):
        grown = [0 * one] * (len(chances) + 2)
        for place, chance in enumerate(chances):
            for step, weight in enumerate((side, nothing, side)):
                grown[place + step] = grown[place + step] + weight * chance
        chances = grown
    return chances


def realise(point: Params) -> dict[str, Any]:
    """Return the chances of the two events."""
    clients, size, one = point["m"], point["delta"], ratio(point, 1)
    fair = dict(zip(range(-clients, clients + 1), sums(clients, 0 * one, one), strict=True))
    up, down = (int(signs(point["server"] + side * point["step"])) for side in (1, -1))

    def printed(total: int) -> Any:
        above = (clients + total) // 2
        return (above * up + (clients - above) * down) * one / clients - point["server"]

    return {
        "m": clients,
        "delta": size,
        "tail": sum((p for total, p in fair.items() if total > size * clients), start=0 * one),
        "tail_printed": sum((p for total, p in fair.items() if p > 0 and printed(total) > size), start=0 * one),
    }


def both_sides(point: Params) -> dict[str, Any]:
    """Return the chance of the event of the corrected form."""
    clients, size, one = point["m"], point["delta"], ratio(point, 1)
    lazy = dict(zip(range(-clients, clients + 1), sums(clients, point["nothing"], one), strict=True))
    two_sided = sum((p for total, p in lazy.items() if abs(total) > size * clients), start=0 * one)
    return {"m": clients, "d": point["d"], "delta": size, "tail_any": one - (one - two_sided) ** point["d"]}


SIGNS: dict[str, Parameter] = {"m": Integer(1, 12), "d": Integer(1, 5), "delta": Real(0.001, 1), "nothing": Real(0, 1)}

claim = Claim(
    id="fen.section-b.3",
    kind=Kind.LEMMA,
    title="concentration of the mean sign",
    citation=Citation("fen", "Appendix B.3"),
    forms=(
        Form(statement=Le(tail, exp(-m * delta**2 / 2)), intended=("published@printed",)),
        Form(
            variant="published@printed",
            statement=Eq(tail_printed, tail, evaluate=False),
            note="the event with its bracket where it is printed",
        ),
        Form(
            variant="corrected",
            statement=Le(tail_any, 2 * d * exp(-m * delta**2 / 2)),
            check=Instances(space=Space(SIGNS), realise=both_sides),
            note="both sides of all coordinates, signs that may be 0",
        ),
    ),
    check=Instances(
        space=Space(
            {
                **SIGNS,
                "server": Real(-2, 2),
                "step": Real(0.01, 3, log=True),
            }
        ),
        realise=realise,
    ),
)
