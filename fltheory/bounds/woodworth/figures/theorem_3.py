r"""Theorems 2 and 3 in one picture: local SGD on the hard problem, between its upper and its lower bound.

The problem is :func:`fltheory.bent_valley` with four axes, whose flat and whose fourth curvature follow the number of
rounds as the corrected Theorem 3 has it; :math:`H = B = \sigma = 1` and a vanishing :math:`\lambda`. For every number
of rounds the step size is the best one of a grid. Points are the error of the last model: along the first, second and
fourth axis in closed form, along the bent axis as a mean over replicates, and, white, with infinitely many machines
from all coins of a round, which is a lower estimate for any number of them. Sizes are chosen here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory.bounds.woodworth._drift import rounds as drifted
from fltheory.bounds.woodworth._drift import slope, value
from fltheory.bounds.woodworth.theorem_3 import flat, statistical
from fltheory.figures import between
from fltheory.figures.study import Data, Study, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS, RATES = (2, 8), np.geomspace(3e-3, 1.0, 16)
BENT = {"left": 0.25, "right": 0.5}
B = SIGMA = 1.0


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run local SGD with every step size, and take the best one for every number of rounds."""
    machines, replicates = 8, 40 if quick else 400
    numbers = [4, 8, 16, 32, 64] if quick else [4, 8, 16, 32, 64, 128, 256, 512]
    return {"panels": [_panel(length, machines, numbers, replicates, seed) for length in STEPS]}


def _panel(length: int, machines: int, numbers: list[int], replicates: int, seed: int) -> dict[str, Any]:
    sampled = _along_bent_axis(length, machines, max(numbers), replicates, seed)
    found: dict[str, list[float]] = {name: [] for name in ("printed", "sharp", "lower", "run", "many")}
    for number in numbers:
        total, noise = length * number, SIGMA * B / np.sqrt(machines * length * number)
        drift = (SIGMA**2 * B**4) ** (1 / 3) / (length ** (1 / 3) * number ** (2 / 3))
        found["printed"].append(8 * B**2 / total + 4 * noise + 10 * drift)
        found["sharp"].append(B**2 / (2 * total) + (1 + 1 / (2 * total)) * noise + 3 * drift / 4)
        first = min(SIGMA ** (2 / 3) * B ** (4 / 3) / (533 * total ** (2 / 3)), B**2 / 512)
        found["lower"].append(first + min(noise, B**2) / 32)
        env = {"M": machines, "K": length, "R": number, "H": 1.0, "B": B, "sigma": SIGMA, "lam": 1e-12}
        others = _other_axes({name: float(entry) for name, entry in env.items()})
        many = [
            float(
                value(
                    drifted(-B / 2, length=length, number=number, eta=eta, sigma=SIGMA / np.sqrt(2), **BENT)[0], **BENT
                )
            )
            for eta in RATES
        ]
        found["run"].append(float((others + sampled[number]).min()))
        found["many"].append(float((others + many).min()))
    return {
        "title": f"K = {length}",
        "xlabel": "rounds  R",
        "x": numbers,
        "upper": {"Theorem 2, printed": found["printed"], "Theorem 2, sharp": found["sharp"]},
        "lower": {"Theorem 3, corrected": found["lower"]},
        "run": {f"{machines} machines": found["run"], "infinitely many": found["many"]},
    }


def _other_axes(env: dict[str, float]) -> Any:
    """Return the gaps along the first, the second and the fourth axis, for every step size."""
    total, nu = int(env["K"] * env["R"]), statistical(env)
    gaps = sum(h / 2 * (B / 2) ** 2 * (1 - RATES * h) ** (2 * total) for h in (flat(env, 4608.0), 1.0, nu))
    left = (1 - RATES * nu) ** (2 * total)
    return gaps + nu / 2 * RATES * SIGMA**2 / (2 * env["M"]) * (1 - left) / (nu * (2 - RATES * nu))


def _along_bent_axis(length: int, machines: int, most: int, replicates: int, seed: int) -> dict[int, Any]:
    """Return the mean gap along the bent axis after every number of rounds, for every step size."""
    rng = np.random.default_rng(seed)
    x = np.full((len(RATES), replicates), -B / 2)
    found = {}
    for number in range(1, most + 1):
        models = np.repeat(x[..., None], machines, axis=2)
        for _ in range(length):
            noise = SIGMA / np.sqrt(2) * (2.0 * rng.integers(0, 2, (replicates, machines)) - 1.0)
            models = models - RATES[:, None, None] * (slope(models, **BENT) + noise)
        x = models.mean(axis=2)
        found[number] = value(x, **BENT).mean(axis=1)
    return found


def draw(data: Data) -> Figure:
    """Draw one panel per number of local steps."""
    return between.draw(data["panels"], ylabel=r"$\mathbb{E}F(\hat x) - F^*$")


def table(data: Data) -> TextTable:
    """Return all numbers."""
    return between.table(data["panels"], heading="R")


def caption(data: Data) -> str:
    """Say how far the runs stay from both bounds."""
    return (
        "The best step size leaves local SGD on the hard problem below the upper and above the lower bound, "
        f"{between.between(data['panels'])}."
    )


study = Study(
    name="woodworth-theorem-3",
    title="Woodworth et al., Theorems 2 and 3: local SGD between its upper and its lower bound",
    paper="woodworth",
    compute=compute,
    caption=caption,
    draw=draw,
    table=table,
)
