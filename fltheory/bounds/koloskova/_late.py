r"""Two iterations of local SGD whose first step is the smaller one: instances that refute Lemma 9.

All clients have one function :math:`F(x, \xi)` on a line: with a chance :math:`q` it is :math:`\frac L2(x + c)^2`,
otherwise the linear function that moves the minimiser of the mean to 0. Its gradient has the mean :math:`qLx` and the
standard deviation :math:`v(x) = L\sqrt{q(1-q)}\bigl(x + \frac c{1-q}\bigr)`. All clients start at one model. A block
has two iterations; after the first one everybody takes the mean, with a chance :math:`\varrho` if matrices are drawn,
after the second one nobody does, so that Assumption 4 holds with :math:`\tau = 2` and :math:`p = \varrho`. Models after
the first step are independent, and everything needed of them is their mean and their variance, as :math:`v^2` and
the objective are quadratic.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fltheory.bounds.claim import Instances, Method
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space, ratio

SPACE: dict[str, Parameter] = {
    "n": Integer(2, 1000),
    "L": Real(0.1, 10, log=True),
    "q": Real(0.001, 0.5, log=True),
    "c": Real(0.1, 3),
    "x": Real(0.001, 1, log=True),
    "step": Real(0.1, 1),
    "early": Real(0.001, 1, log=True),
}


def realise(point: Params, *, divisor: int) -> dict[str, Any]:
    """Return consensus distances and gaps before every iteration, with a step of at most p over ``divisor`` tau L."""
    one = ratio(point, 1)
    number, high, share = point["n"], point["L"], point["q"]
    met = one * point.get("chance", 1)
    largest = point["step"] * met / (2 * divisor * high)
    steps = [point["early"] * largest, largest]
    curved = share * high

    def variance(mean: Any, spread: Any) -> Any:
        """Return the mean over models of the variance of a gradient."""
        return high**2 * share * (1 - share) * ((mean + point["c"] / (1 - share)) ** 2 + spread)

    apart = one - one / number
    first = variance(point["x"], 0 * one)
    centre, spread = (1 - steps[0] * curved) * point["x"], steps[0] ** 2 * first
    # After the first step: all at the mean, whose variance is spread / n, or each client at a model of its own.
    together = steps[1] ** 2 * variance(centre, spread / number)
    alone = (1 - steps[1] * curved) ** 2 * spread + steps[1] ** 2 * variance(centre, spread)
    return {
        "n_clients": number,
        "L": high,
        "block": 2,
        "m": 0,
        "now": 2,
        "p_mix": met,
        "steps": steps,
        "Xi": [0 * one, (1 - met) * apart * spread, apart * (met * together + (1 - met) * alone)],
        "gap": [curved * point["x"] ** 2 / 2, curved * (centre**2 + spread / number) / 2],
        "sigma_bar_sq": variance(0 * one, 0 * one),
        "zeta_bar_sq": 0 * one,
    }


def late(divisor: int, *, drawn: bool = False) -> Instances:
    """Return such iterations; matrices may be ``drawn``."""
    chance: dict[str, Parameter] = {"chance": Real(0.05, 0.95)} if drawn else {}
    return Instances(space=Space({**SPACE, **chance}), realise=partial(realise, divisor=divisor), method=Method.EXACT)
