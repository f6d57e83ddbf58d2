"""Local models after all steps of a round, of which some are drawn: the instances of Lemmas 4 and 5."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from fltheory.bounds.claim import Instances, Rejected
from fltheory.bounds.li import _steps
from fltheory.bounds.li._setting import K
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Space, ratio
from fltheory.bounds.symbols import E

w_next = scalar("w_next", r"\bar w_{t+1}", "mean of the drawn local models", random=True, shape=("dim",))


def realise(point: Params, *, scheme: str, any_growth: bool) -> dict[Any, Any]:
    """Return the means of all draws, for both outcomes of the gradients."""
    number, size = point["N"], point["K"]
    made = _steps.walked(point, growth_of=point["growth"] if any_growth else 2)
    one = ratio(point, 1)
    if scheme == "I":
        share = made["p"]
        draws = list(itertools.product(range(number), repeat=size))
        chances = [np.prod([share[k] for k in draw]) for draw in draws]
    else:
        if size > number or number < 2:
            raise Rejected("fewer clients than are drawn")
        share = made["p"] = np.array([one / number] * number)
        draws = list(itertools.combinations(range(number), size))
        chances = [one / len(draws)] * len(draws)
    faces = [face for face in (0, 1) for _ in draws]
    return {
        **made,
        E: point["s"],
        K: size,
        _steps.grads: [made[_steps.grads][face] for face in faces],
        _steps.local: [made[_steps.local][face] for face in faces],
        w_next: [sum(made[_steps.local][face][k] for k in draw) * (one / size) for face in (0, 1) for draw in draws],
        "chance": [chance * ratio(point, 1, 2) for _ in (0, 1) for chance in chances],
    }


def drawn(scheme: str, *, any_growth: bool = False) -> Instances:
    """Return rounds of which local models are drawn by a scheme, ``I`` or ``II``."""
    made = partial(realise, scheme=scheme, any_growth=any_growth)
    sizes = {"N": Integer(2 if scheme == "II" else 1, 3), "K": Integer(1, 2), "s": Integer(1, 2)}
    within = Instances(space=Space({**_steps.ANY, **sizes, "N": Integer(2, 3), "K": Integer(1, 1)}), realise=made)
    return Instances(space=Space({**_steps.WALK, **sizes}), realise=made, within=within)
