r"""The error of FedAvg on the hard problem of the paper, with the step size that is best on a grid.

The problem is :func:`fltheory.bent_valley_with_pulls`, whose axes do not meet. Along the bent axis
:func:`underestimated` takes infinitely many clients: the mean of a round is increasing and concave as a function of the
model before it, so that the mean with any number of clients is at most that, and the gap at least the gap there.
:func:`overestimated` takes the contraction :math:`1 - \frac{\eta H}{24}` per step, which all steps have, and the noise
of one client. Everything else is in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds import hard_problems
from fltheory.bounds.claim import Instances, Method, Sweep, Sweeps
from fltheory.bounds.glasgow._bent import after_rounds
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.errors import NotApplicable

FINEST = np.geomspace(1e-14, 1.0, 281)
RATES = np.geomspace(1e-8, 1.0, 25)
"""Step sizes times H among which the best one is taken (and refined, the second time); larger ones diverge."""


def sizes(point: Params) -> dict[str, float]:
    """Return the quantities of the rates."""
    return {name: float(point[name]) for name in ("M", "K", "R", "H", "D", "sigma", "zeta")}


def terms(env: dict[str, float]) -> dict[str, float]:
    """Return the terms of the lower bound."""
    high, far, noise, total = env["H"], env["D"], env["sigma"], env["K"] * env["R"]
    drift = high ** (1 / 3) * noise ** (2 / 3) * far ** (4 / 3) / (env["K"] ** (1 / 3) * env["R"] ** (2 / 3))
    pulls = high ** (1 / 3) * env["zeta"] ** (2 / 3) * far ** (4 / 3) / env["R"] ** (2 / 3)
    return {
        "start": high * far**2 / total,
        "noise": noise * far / np.sqrt(env["M"] * total),
        "drift": min(noise * far / np.sqrt(total), drift),
        "pulls": pulls if env["M"] > 1 else 0.0,
    }


def flat(env: dict[str, float]) -> float:
    """Return the curvature of the flat axis: the largest term but the statistical one, over the squared distance."""
    found = terms(env)
    return float(min(max(found["start"], found["drift"], found["pulls"]) / env["D"] ** 2, env["H"]))


def statistical(env: dict[str, float]) -> float:
    """Return the curvature of the fifth axis."""
    most = env["sigma"] / (env["D"] * np.sqrt(env["M"] * env["K"] * env["R"]))
    return float(np.clip(most, 1e-12 * env["H"], env["H"]))


def _straight(env: dict[str, float], h: float, step: Any) -> Any:
    """Return the gap along an axis without noise, from half of the distance."""
    return h / 2 * (env["D"] / 2) ** 2 * (1 - step * h) ** (2 * env["K"] * env["R"])


def _noisy(env: dict[str, float], h: float, step: Any, sigma: float, far: float) -> Any:
    """Return the gap along an axis with noise of a standard deviation per step."""
    total = 2 * env["K"] * env["R"]
    with np.errstate(divide="ignore"):
        lost = -np.expm1(total * np.log1p(-step * h))
    return h / 2 * ((1 - lost) * far**2 + step * sigma**2 * lost / (h * (2 - step * h)))


def _pulled(env: dict[str, float], step: Any) -> Any:
    """Return the gap along the axis of the pulls: rounds are affine."""
    high, steps, clients = env["H"], env["K"], int(env["M"])
    if clients < 2 or env["zeta"] == 0:
        return 0 * step
    pairs = clients // 2
    share = {high: pairs / clients, high / 2: pairs / clients}
    keep = sum(part * (1 - step * h) ** steps for h, part in share.items())
    if clients % 2 == 1:
        keep = keep + (1 - step * high) ** steps / clients
    signs = {high: 1.0, high / 2: -1.0}
    shift = sum(part * signs[h] * env["zeta"] / h * (1 - (1 - step * h) ** steps) for h, part in share.items())
    x = shift * (1 - keep ** env["R"]) / (1 - keep)
    mean = sum(part * h for h, part in share.items()) + (high / clients if clients % 2 == 1 else 0.0)
    return mean / 2 * x**2


def _common(env: dict[str, float], step: Any) -> Any:
    return _straight(env, flat(env), step) + _straight(env, env["H"], step) + _pulled(env, step)


def overestimated(point: Params) -> dict[Any, Any]:
    """Return at least the error on four axes."""
    env = sizes(point)
    step = FINEST / env["H"]
    gaps = _common(env, step) + 2 * _noisy(env, env["H"] / 24, step, env["sigma"], 0.0)
    return {**env, "eta": float(step[np.argmin(gaps)]), "error": float(gaps.min())}


def underestimated(point: Params) -> dict[Any, Any]:
    """Return at most the error on five axes, the noise shared by the first and the last."""
    env = sizes(point)
    high, shared = env["H"], env["sigma"] / np.sqrt(2)
    nu = statistical(env)

    def straight(step: Any) -> Any:
        return _common(env, step) + _noisy(env, nu, step, shared / np.sqrt(env["M"]), env["D"] / 2)

    def gap(logarithm: float) -> float:
        step = float(np.exp(logarithm)) / high
        bent = after_rounds(int(env["K"]), int(env["R"]), step * high / 12) if shared > 0 else 0.0
        return float(straight(step) + high / 48 * (step * shared * bent) ** 2)

    # The bent axis takes time, and it only adds to the gap.
    grid = np.log(RATES)
    least = straight(RATES / high)
    best, smallest = 0, np.inf
    for place in np.argsort(least):
        if least[place] >= smallest:
            break
        if (found := gap(grid[place])) < smallest:
            best, smallest = int(place), found
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined = minimize_scalar(gap, bounds=ends, method="bounded", options={"xatol": 1e-2})
    return {**env, "eta": float(np.exp(refined.x)) / high, "error": float(refined.fun)}


SPACE = Space(
    {
        "M": Integer(1, 10**6),
        "K": Integer(2, 10**6),
        "R": Integer(1, 10**6),
        "H": Real(0.01, 100, log=True),
        "D": Real(0.01, 1e6, log=True),
        "sigma": Real(0, 1e6),
        "zeta": Real(0, 1e6),
    }
)


def law(realise: Any, *sweeps: Sweep) -> Sweeps:
    """Return how a lower bound is checked along sweeps."""
    return Sweeps(instances=Instances(space=SPACE, realise=realise, method=Method.EXACT, rational=False), sweeps=sweeps)


ALIKE: dict[str, Any] = {"M": 10**6, "K": 8, "R": 128, "H": 1.0, "D": 1.0, "sigma": 1.0, "zeta": 0.0}
SERIAL: dict[str, Any] = {**ALIKE, "M": 1}
STILL: dict[str, Any] = {**ALIKE, "sigma": 0.0}
APART: dict[str, Any] = {**STILL, "M": 2, "zeta": 1.0}
"""Where the drift, the noise, the start, the pulls is the largest term."""


def about(facts: Facts, *, pulls: bool) -> str:
    """Return the setting in words; refuse other problems and algorithms."""
    words = hard_problems.about_fedavg(facts)
    zeta = hard_problems.bent_valley_with_pulls(facts)["zeta"]
    if zeta > 0 and not pulls:
        raise NotApplicable(
            f"the lower bound is about clients without pulls, got zeta={zeta:g}; see glasgow.theorem-3.3"
        )
    return words


def constants(facts: Facts) -> dict[str, Any]:
    """Return the quantities of the rates on an experiment."""
    known = hard_problems.bent_valley_with_pulls(facts)
    sizes = {"M": facts.num_clients, "K": facts.local_steps, "R": facts.rounds}
    return {**sizes, "H": known["H"], "D": known["distance"], "sigma": known["sigma"], "zeta": known["zeta"]}


def observed(facts: Facts, *, pulls: bool) -> dict[str, Any]:
    """Return what a run says at its end; the problem depends on the number of rounds."""
    known = constants(facts)
    if not pulls:
        del known["zeta"]
    return {**known, "error": facts.curve("gap", first=facts.rounds)}


def conditions(facts: Facts, *, fifth: bool) -> Sequence[Requirement]:
    """Return what is assumed besides relations between symbols: the curvatures that the proof chooses."""
    env, known = constants(facts), hard_problems.bent_valley_with_pulls(facts)
    found = [*hard_problems.everybody(facts), hard_problems.one_step_size(facts)]
    found.append(hard_problems.chosen("flat curvature mu", flat(env), known["mu"]))
    if fifth:
        found.append(hard_problems.chosen("fifth curvature nu", statistical(env), known["nu"]))
    elif known["nu"] is not None:
        found.append(Requirement("four axes", False, f"a fifth one, nu = {known['nu']:g}"))
    return found


def read(*, pulls: bool, fifth: bool) -> Observation:
    """Return how a form is read on an experiment."""
    return Observation(
        quantities=partial(observed, pulls=pulls),
        about=partial(about, pulls=pulls),
        conditions=partial(conditions, fifth=fifth),
        algorithm=FedAvg,
    )
