r"""FedAvg on two clients with quadratics in a common basis, in closed form: the instances of Theorem V.

Client :math:`i` has the gradient :math:`h_{ij}x_j + b_{ij}` on axis :math:`j`, with pulls :math:`b_{1j} = -b_{2j}`; the
minimiser of the mean is the origin. A round with full participation is :math:`x_j \leftarrow \rho_jx_j - s_j` plus
noise of variance :math:`q_j`, so that mean and variance of all rounds are geometric. On the steep axis the first client
has curvature :math:`\beta = 1` and the second one :math:`\mu`, and they pull apart; on the flat axis both have
:math:`\mu`, or in the general convex case the curvature that is worst for the number of rounds. The start is on both
axes. Dissimilarity is (14) with :math:`B^2 = 2` and :math:`G^2 = \frac2N\sum_i\|\nabla f_i(x^*)\|^2`, which convex
clients always satisfy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fltheory.bounds.claim import Instances, Method
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space

GROWTH = 2.0
"""Squared B."""

error = scalar("error", r"\mathbb E[f(\bar x^R)] - f(x^*)", "expected gap of the output", domain="nonnegative")
D = scalar("D", "D", "distance of the start", domain="nonnegative")
ell = scalar("ell", r"\ell", "logarithm of what the start shrinks by", domain="positive")
M_sq = scalar("M_sq", "M^2", "variance of a round", domain="nonnegative")

SPACE = Space(
    {
        "R": Integer(1, 2**16),
        "K": Integer(2, 256),
        "condition": Real(1, 1e6, log=True),
        "pull": Real(0, 1e3),
        "sigma": Real(0, 1e6),
        "start": Real(0.01, 1e3, log=True),
        "eta_g": Real(1, 100, log=True),
    }
)
_BASE: dict[str, Any] = {"R": 8192, "K": 32, "condition": 8.0, "start": 3.0, "eta_g": 1.0}
NOISY = {**_BASE, "pull": 0.0, "sigma": 30.0}
QUIET = {**_BASE, "pull": 4.0, "sigma": 0.0}
STILL = {**_BASE, "pull": 0.0, "sigma": 0.0}
"""Where the first, the second, the last term of a rate is the largest."""


def gaps(point: Params, low: float, size: float) -> Any:
    """Return the expected gaps of all rounds, shape ``(rounds + 1,)``, with an effective step."""
    steps, server, rounds = int(point["K"]), float(point["eta_g"]), int(point["R"])
    eta = size / (steps * server)
    curvature = np.array([[1.0, low], [min(low, 1.0), low]])
    pull = np.array([[1.0, 0.0], [-1.0, 0.0]]) * float(point["pull"])
    shrink = 1 - eta * curvature
    powers = shrink[None] ** np.arange(steps)[:, None, None]
    keep = 1 + server * (shrink**steps - 1).mean(axis=0)
    shift = server * (eta * powers.sum(axis=0) * pull).mean(axis=0)
    # Half of the variance of the noise on each of the two axes, a quarter of the sum over both clients.
    spread = server**2 * eta**2 * float(point["sigma"]) ** 2 / 2 * (powers**2).sum(axis=(0, 1)) / 4
    number = np.arange(rounds + 1)[:, None]
    rest = 1 - keep
    mean = keep**number * (float(point["start"]) / np.sqrt(2) + shift / rest) - shift / rest
    variance = spread * (1 - keep ** (2 * number)) / (1 - keep**2)
    return ((mean**2 + variance) * curvature.mean(axis=0) / 2).sum(axis=1)


def known(point: Params, low: float, gap: float) -> dict[str, Any]:
    """Return the quantities of the rates."""
    return {
        "R": float(point["R"]),
        "K": float(point["K"]),
        "N": 2.0,
        "S": 2.0,
        "mu": low,
        "beta": 1.0,
        "B_sq": GROWTH,
        "G_sq": 2 * float(point["pull"]) ** 2,
        "sigma_sq": float(point["sigma"]) ** 2,
        "eta_g": float(point["eta_g"]),
        "D": float(point["start"]),
        "error": gap,
        "dependence": 0.0,
    }


def _terms(point: Params) -> tuple[float, float]:
    """Return the constants in front of the step and its square in the printed proof."""
    noise = float(point["sigma"]) ** 2 / (2 * float(point["K"])) * (1 + 2 / float(point["eta_g"]) ** 2)
    return 2 * noise, 36 * 2 * float(point["pull"]) ** 2


def tuned(low: float, far: float, terms: tuple[float, float], largest: float, rounds: int) -> float:
    """Return an effective step for strongly convex functions: the smaller one of what both terms ask for."""
    size = largest
    for cost, power in zip(terms, (1, 2), strict=True):
        if cost > 0:
            size = min(size, 2 * np.log(max(2.0, low ** (power + 1) * rounds**power * far / cost)) / (low * rounds))
    return float(size)


def tuned_general(far: float, terms: tuple[float, float], largest: float, rounds: int) -> float:
    """Return the effective step of Lemma 2."""
    size = largest
    for cost, power in zip(terms, (1, 2), strict=True):
        if cost > 0:
            size = min(size, float((far / (cost * (rounds + 1))) ** (1 / (power + 1))))
    return size


def strongly_convex(point: Params) -> dict[str, Any]:
    """Run with the step and the weights of the printed proof."""
    low, rounds = 1.0 / float(point["condition"]), int(point["R"])
    size = tuned(low, 3 * float(point["start"]) ** 2, _terms(point), 1 / (8 * (1 + GROWTH)), rounds)
    values = gaps(point, low, size)
    weights = (1 - low * size / 2) ** (rounds - np.arange(rounds + 1.0))
    return known(point, low, float(weights @ values / weights.sum()))


def general(point: Params) -> dict[str, Any]:
    """Run with the step of Lemma 2 and equal weights, on the flat axis with the worst curvature."""
    rounds, far = int(point["R"]), float(point["start"]) ** 2
    size = tuned_general(far, _terms(point), 1 / (8 * (1 + GROWTH)), rounds)
    low = min(1.0, 1 / (size * rounds))
    return known(point, 0.0, float(gaps(point, low, size).mean()))


def instances(realise: Any) -> Instances:
    """Return instances of one of both cases."""
    return Instances(space=SPACE, realise=realise, method=Method.EXACT, rational=False)
