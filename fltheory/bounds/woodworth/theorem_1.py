r"""Theorem 1: on quadratics, local steps keep the guarantee of a linear update algorithm.

A *linear update algorithm* (Definition 1) makes

.. math:: x_{t+1} = \mathcal L_2^{(t)}\bigl(x_1, \dots, x_t, \nabla f(\mathcal L_1^{(t)}(x_1, \dots, x_t); z_t)\bigr)

with fixed linear functions. As published: if it guarantees :math:`\mathbb EF(x_T) - F^* \le \epsilon(T, \sigma^2)` on
any quadratic of the class, then for local-:math:`\mathcal A`, which averages over the machines after every :math:`K`
iterations,

.. math:: \mathbb EF(\bar x_{KR}) - F^* \le \epsilon\bigl(KR, \tfrac{\sigma^2}M\bigr) .

**Reading.** :math:`\epsilon(T, s^2)` is the guarantee on the objective at hand, which is less than one for the whole
class: the error without noise, plus the most that noise of variance :math:`s^2` in every step can do, along the worst
axis. The algorithm may use all of its iterates, and goes on from one round to the next (form ``published``). The text
says that machines "independently execute :math:`K` iterations of :math:`\mathcal A`" in each round; if that begins
anew at :math:`t = 1` with the averaged iterate (form ``published@restart``), the statement fails: step sizes that
decay never become small, and momentum is lost.

**Derivation of the sharp form.** Averages are linear: with :math:`\nabla F` affine,
:math:`\bar x_{t+1} = \mathcal L_2^{(t)}(\bar x_1, \dots, \bar x_t, \nabla F(\mathcal L_1^{(t)}(\bar x_1, \dots,
\bar x_t)) + \bar\nu_t)` with the mean :math:`\bar\nu_t` of the noise of all machines. If the law of the noise does not
depend on the model, this is algorithm :math:`\mathcal A` with noise of variance :math:`\frac{\sigma^2}M`, and the
inequality is an equality, for every :math:`K` and :math:`R` of one product: on quadratics local steps cost nothing and
gain nothing.

Instances: algorithms with random coefficients on quadratics in one or two dimensions; up to two rounds of two
iterations on up to three machines; noise along an axis, by a coin, smaller on one side of a knot; all coins. For the
reading ``restart`` all curvatures are :math:`H`, so that the guarantee on one objective is that for the whole class.

Source: Woodworth et al., 2020, Theorem 1, page 4, and page 2 of the supplement.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
from sympy import Eq, Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space
from fltheory.bounds.woodworth._machines import mean
from fltheory.bounds.woodworth._symbols import K, M, R, sigma_sq
from fltheory.problems.problem import Origin

COINS = 8
"""Most coins of a run; where there would be more, there is no noise."""

error = scalar(
    "error", r"\mathbb EF(\bar x_{KR}) - F^*", "expected gap of the averaged final iterate", domain="nonnegative"
)
guarantee = scalar(
    "guarantee",
    r"\epsilon(KR, \tfrac{\sigma^2}M)",
    "guarantee of the algorithm on the objective, for the worst noise of that variance",
    domain="nonnegative",
)
serial = scalar(
    "serial",
    r"\mathbb EF(x_{KR}) - F^*",
    "expected gap of the algorithm on one machine, with noise of variance sigma^2 / M along the same axes",
    domain="nonnegative",
)
largest_sq = scalar(
    "largest_sq", r"\max_x\mathbb E\|\nabla f(x;z) - \nabla F(x)\|^2", "largest variance met", domain="nonnegative"
)


def _next(point: Params, history: list[Any], slope: Any) -> Any:
    """Return the next iterate; ``slope`` is that of the stochastic gradient at the query."""
    time = len(history) - 1
    query = sum(point["ask"][time, s] * x for s, x in enumerate(history))
    moved = sum(point["keep"][time, s] * x for s, x in enumerate(history))
    return moved - point["rate"][time] * slope(query, time)


def _response(point: Params, curvature: Any, impulse: int, length: int) -> Any:
    """Return what noise of size one at a time adds to the last iterate, on an axis of a curvature."""
    history = [0 * curvature]
    for _ in range(length):
        history.append(
            _next(point, history, lambda query, time: curvature * query + (1 if time == impulse else 0 * curvature))
        )
    return history[-1]


def _local(point: Params, hessian: Any, sigma: Any, *, restart: bool) -> Any:
    """Return the averaged final models, one per outcome."""
    machines, length, rounds = point["M"], point["K"], point["R"]
    coins = machines * length * rounds if sigma > 0 else 0
    signs = np.array(list(itertools.product((-1, 1), repeat=coins)) if coins else [(0,) * (machines * length * rounds)])
    signs = signs.reshape(len(signs), length * rounds, machines)
    dim, done = len(hessian), 0

    def slope(query: Any, time: int) -> Any:
        axis = done % dim
        small = query[..., axis] < point["knot"]
        size = sigma * np.where(small, point["quiet"], 1)
        along = (np.arange(dim) == axis).astype(int)
        return hessian * (query - point["centre"]) + (signs[:, done] * size)[..., None] * along

    zero = 0 * point["centre"]
    models = np.repeat(np.repeat(zero[None, None], len(signs), axis=0), machines, axis=1)
    history = [models]
    for _ in range(rounds):
        if restart:
            history = history[-1:]
        for _ in range(length):
            history.append(_next(point, history, slope))
            done += 1
        average = history[-1].sum(axis=1) / machines
        history[-1] = np.repeat(average[:, None], machines, axis=1)
    return history[-1][:, 0]


def realise(point: Params, *, restart: bool) -> dict[Any, Any]:
    """Run local-A on all coins, and A on one machine by its response to noise."""
    machines, length = point["M"], point["K"] * point["R"]
    high = point["H"]
    low = high / point["condition"]
    hessian = low + (high - low) * point["curvature"]
    sigma = point["sigma"] if machines * length <= COINS else 0 * point["sigma"]
    best = point["centre"]
    gaps = ((_local(point, hessian, sigma, restart=restart) - best) ** 2 * hessian).sum(axis=1) / 2
    clean = [0 * best]
    for _ in range(length):
        clean.append(_next(point, clean, lambda query, time: hessian * (query - best)))
    bias = (hessian * (clean[-1] - best) ** 2).sum() / 2
    costs = [[h * _response(point, h, impulse, length) ** 2 / 2 for h in hessian] for impulse in range(length)]
    variance = sigma * sigma / machines
    return {
        M: machines,
        K: point["K"],
        R: point["R"],
        sigma_sq: sigma * sigma,
        largest_sq: sigma * sigma,
        error: mean(gaps),
        guarantee: bias + variance * sum(max(row) for row in costs),
        serial: bias + variance * sum(row[time % len(hessian)] for time, row in enumerate(costs)),
    }


SPACE: dict[str, Parameter] = {
    "M": Integer(1, 3),
    "K": Integer(1, 2),
    "R": Integer(1, 2),
    "d": Integer(1, 2),
    "H": Real(0.1, 10, log=True),
    "curvature": Real(0, 1, shape=("d",)),
    "centre": Real(-3, 3, shape=("d",)),
    "sigma": Real(0, 3),
    "knot": Real(-1, 1),
    "keep": Real(-1, 1, shape=(4, 4)),
    "ask": Real(-1, 1, shape=(4, 4)),
    "rate": Real(0, 1, shape=(4,)),
}


def instances(*, restart: bool = False, same_noise: bool = False) -> Instances:
    """Return runs; with equal curvatures for the restart, with noise that is the same everywhere if wanted."""
    return Instances(
        space=Space(
            {
                **SPACE,
                "condition": Real(1, 1) if restart else Real(1, 1e4, log=True, far=1e6),
                "quiet": Real(1, 1) if same_noise else Real(0, 1),
            }
        ),
        realise=partial(realise, restart=restart),
    )


claim = Claim(
    id="woodworth.theorem-1",
    kind=Kind.LEMMA,
    title="guarantee of linear update algorithms with local steps on quadratics",
    citation=Citation("woodworth", "Theorem 1"),
    forms=(
        Form(
            statement=Le(error, guarantee), note="the algorithm goes on from round to round, with all of its iterates"
        ),
        Form(
            variant="published@restart",
            statement=Le(error, guarantee),
            check=instances(restart=True),
            note="the algorithm begins anew in every round",
        ),
        Form(
            variant="sharp",
            statement=Eq(error, serial),
            check=instances(same_noise=True),
            note="an equality where the noise does not depend on the model",
        ),
    ),
    assumptions=(Assumption("variance", Le(largest_sq, sigma_sq), Origin.DECLARED),),
    check=instances(),
)
