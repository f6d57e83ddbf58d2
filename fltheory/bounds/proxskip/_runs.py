"""Runs of ProxSkip and of Scaffnew from the start, with the expected Lyapunov function after every step."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fltheory.algorithms.scaffnew import Scaffnew
from fltheory.bounds.claim import Instances, Method
from fltheory.bounds.functions import Numbers
from fltheory.bounds.observation import Observation
from fltheory.bounds.proxskip._prox import REGULARISER, SIZES, SMOOTH, STEP, ProxProblem, setting
from fltheory.bounds.proxskip._scaffnew import ErrorMoments, about, conditions, quantities
from fltheory.bounds.proxskip._symbols import T
from fltheory.bounds.space import Integer, Parameter, Params, Real, Space
from fltheory.quadratic.problem import Quadratic

Law = list[tuple[Any, Numbers, Numbers]]
"""Chances, models and control variates."""


def walk(made: ProxProblem, x: Numbers, h: Numbers, steps: int, noise: Numbers, growth: Any = 0) -> list[Any]:
    """Return the expected Lyapunov function at the start and after every step.

    Noise comes with either sign; with another sign of its own comes ``growth`` times the way from the minimiser.
    """
    law: Law = [(1, x, h)]
    found = [made.distance(x, h)]
    signs = [
        (own, far) for own in ((1, -1) if np.any(noise != 0) else (0,)) for far in ((1, -1) if growth != 0 else (0,))
    ]
    for _ in range(steps):
        law = [
            (chance * own / len(signs), after, control)
            for chance, here, carried in law
            for sign, far in signs
            for own, after, control in made.step(
                here, carried, made.gradient(here) + sign * noise + far * growth * (here - made.x_star)
            )
            if own != 0
        ]
        found.append(sum(chance * made.distance(here, carried) for chance, here, carried in law))
    return found


def _entries(
    made: ProxProblem, point: Params, values: list[Any], offset: Any, slope: Any | None = None
) -> dict[str, Any]:
    high = point["mu"] * point["condition"]
    return {
        "mu": point["mu"],
        "L": high,
        "A": high if slope is None else slope,
        "C": offset,
        "spread_sq": offset,
        "gamma": made.gamma,
        "q": made.q,
        "T": np.arange(1, len(values)),
        "psi_T": np.array(values[1:]),
        "psi_0": values[0],
    }


def realise(point: Params, *, noisy: bool) -> dict[str, Any]:
    """Return a run of ProxSkip with all coins, in exact arithmetic."""
    made = setting(point)
    noise = point["noise"] if noisy else 0 * point["x"]
    values = walk(made, point["x"], point["h"], point["T"], noise)
    return _entries(made, point, values, (noise * noise).sum())


def realise_growing(point: Params) -> dict[str, Any]:
    r"""Return a run whose noise grows with the distance from the minimiser.

    Its variance is that of the noise and ``growth``, squared, times :math:`\|x - x_\star\|^2 \le \frac2\mu D_f(x,
    x_\star)`, so that expected smoothness has :math:`A` larger than :math:`L`.
    """
    high = point["mu"] * point["condition"]
    growth, noise = point["growth"] * high, point["noise"]
    slope = high + growth**2 / point["mu"]
    made = setting(point, farthest=high / slope)
    values = walk(made, point["x"], point["h"], point["T"], noise, growth)
    known = _entries(made, point, values, (noise * noise).sum(), slope)
    del known["spread_sq"]  # there is none
    return known


def realise_scaffnew(point: Params, *, noisy: bool) -> dict[str, Any]:
    """Return a run of Scaffnew on quadratics by second moments."""
    problem, high = clients(point, noisy=noisy), point["mu"] * point["condition"]
    gamma, q = point["step"] / high, point["q"]
    values = list(ErrorMoments.of(problem).psi([gamma] * point["T"], q))
    return {
        "mu": point["mu"],
        "L": high,
        "A": high,
        "C": float(np.sum(problem.noise_sq)),
        "spread_sq": float(np.sum(problem.noise_sq)),
        "gamma": gamma,
        "q": q,
        "T": np.arange(1, len(values)),
        "psi_T": np.array(values[1:]),
        "psi_0": values[0],
    }


def clients(point: Params, *, noisy: bool) -> Quadratic:
    """Return the clients of a point."""
    low, high = point["mu"], point["mu"] * point["condition"]
    hessian = low + (high - low) * point["curvature"]
    return Quadratic(
        hessian=hessian,
        linear=-hessian * point["centre"],
        constant=0.5 * (hessian * point["centre"] ** 2).sum(axis=1),
        noise_sq=point["noise"] if noisy else np.zeros(len(hessian)),
        start=point["start"],
        sample_counts=np.ones(len(hessian)),
    )


def proxskip(*, noisy: bool = False) -> Instances:
    """Return runs of ProxSkip with regularisers of all sorts, few steps."""
    own: dict[str, Parameter] = {"noise": Real(-2, 2, shape=("d",))} if noisy else {}
    return Instances(
        space=Space(
            {**SIZES, "T": Integer(1, 3), **REGULARISER, **SMOOTH, **STEP, **own},
        ),
        realise=partial(realise, noisy=noisy),
    )


def growing() -> Instances:
    """Return runs of ProxSkip whose noise grows with the distance from the minimiser."""
    own: dict[str, Parameter] = {"noise": Real(-2, 2, shape=("d",)), "growth": Real(0.1, 10, log=True)}
    return Instances(
        space=Space({**SIZES, "T": Integer(1, 2), **REGULARISER, **SMOOTH, **STEP, **own}), realise=realise_growing
    )


def scaffnew(*, noisy: bool = False) -> Instances:
    """Return runs of Scaffnew with up to three clients, many steps."""
    own: dict[str, Parameter] = {"noise": Real(0, 10, shape=("N",))} if noisy else {}
    return Instances(
        space=Space(
            {
                "N": Integer(1, 3, far=5),
                "d": Integer(1, 2, far=5),
                "T": Integer(1, 60, far=600),
                "mu": Real(0.01, 10, log=True),
                "condition": Real(1, 100, log=True, far=1e6),
                "curvature": Real(0, 1, shape=("N", "d")),
                "centre": Real(-3, 3, shape=("N", "d")),
                "start": Real(-3, 3, shape=("d",)),
                "step": Real(0.01, 1, log=True),
                "q": Real(0.05, 1, log=True, far=0.001),
                **own,
            }
        ),
        realise=partial(realise_scaffnew, noisy=noisy),
        method=Method.EXACT,
        rational=False,
    )


def observed(*, noise: bool) -> Observation:
    """Return how a theorem is read on an experiment with Scaffnew; it allows any step size up to its largest."""
    return Observation(
        quantities=quantities,
        about=about,
        axis=T,
        algorithm=Scaffnew,
        conditions=partial(conditions, noise=noise),
        exceeds="distance_sq",
    )
