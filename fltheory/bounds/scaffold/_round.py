r"""Rounds of FedAvg and SCAFFOLD on all outcomes of noise and of the sampling of clients.

Clients have separable functions with one kink of the derivative per coordinate, with slopes in :math:`[\mu, \beta]`;
the minimiser of their mean is exact. The noise of client :math:`i` in step :math:`k` is :math:`\pm\sigma` along an
axis, by a coin of its own, or there is none where outcomes would be too many. Certificates are about instances in which
it is :math:`\pm` any vector (:data:`NOISY`), so that they are about any dimension. A state is a list of outcomes:
probabilities ``(outcomes,)``, server models ``(outcomes, dim)``, control variates ``(outcomes, clients, dim)``, and
the same without the noise of the gradients that they are means of: where a client has last been sampled, that noise is
all that separates :math:`c_i` from :math:`\frac1K\sum_k\nabla f_i(y_{i,k-1})`. The drift

.. math:: \mathcal E_r = \frac1{KN}\sum_{k=1}^K\sum_{i=1}^N\mathbb E\|y_{i,k}^r - x^{r-1}\|^2

is that of all clients, sampled or not, as the paper defines it. Everything works on floats and on rationals.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, ratio

MOST_PATTERNS = 4
"""Most patterns of the noise of all sampled clients in one round; beyond that there is no noise."""

gap = scalar("gap", r"(\mathbb E[f(x^{r-1})] - f(x^*))", "expected gap before the round", domain="nonnegative")
drift = scalar("drift", r"\mathcal E_r", "drift of the clients in the round", domain="nonnegative")
x_next = scalar("x_next", "x^r", "server model after the round", random=True, shape=("dim",))
moved_sq = scalar(
    "moved_sq", r"\mathbb E\|x^r - x^{r-1}\|^2", "expected squared move of the server's model", domain="nonnegative"
)
x_star = scalar("x_star", r"x^*", "minimiser of the objective", shape=("dim",))
lag = scalar(
    "lag",
    r"\mathcal C_{r-1}",
    "control-lag before the round, of the expected control variates",
    domain="nonnegative",
)
lag_next = scalar("lag_next", r"\mathcal C_r", "control-lag after the round", domain="nonnegative")
calm_lag = scalar(
    "calm_lag",
    r"\hat{\mathcal C}_{r-1}",
    "control-lag before the round, of the control variates without their noise, in every outcome",
    domain="nonnegative",
)
calm_lag_next = scalar(
    "calm_lag_next",
    r"\hat{\mathcal C}_r",
    "control-lag after the round, of the control variates without their noise, in every outcome",
    domain="nonnegative",
)
restless_sq = scalar(
    "restless_sq",
    r"\tfrac1N\sum_i\mathbb E\|c_i^{r-1} - \hat c_i^{r-1}\|^2",
    "mean over clients of the variance of the noise in their control variates",
    domain="nonnegative",
)

CLIENTS: dict[str, Parameter] = {
    "d": Integer(1, 2),
    "N": Integer(1, 3),
    "beta": Real(0.1, 10, log=True),
    "condition": Real(1, 1e4, log=True),
    "centre": Real(-3, 3, shape=("N", "d")),
    "knot": Real(-3, 3, shape=("N", "d")),
    "left": Real(0, 1, shape=("N", "d")),
    "right": Real(0, 1, shape=("N", "d")),
    "start": Real(-3, 3, shape=("d",)),
}
ROUND: dict[str, Parameter] = {
    **CLIENTS,
    "K": Integer(1, 3),
    "S": Integer(1, 3),
    "noisy": Choice(("no", "yes")),
    "sigma": Real(0, 3),
    "step": Real(0.01, 1, log=True),
    "eta_g": Real(1, 10, log=True),
}


NOISY: dict[str, Parameter] = {
    **{name: parameter for name, parameter in ROUND.items() if name != "sigma"},
    "condition": Real(2, 100, log=True),
    "S": Integer(1, 1),
    "noisy": Choice(("yes",)),
    "step": Real(0.2, 0.5),
    "eta_g": Real(2, 4),
    "noise": Real(-3, 3, shape=("d",)),
}


@dataclass(frozen=True, slots=True)
class State:
    """Outcomes: their probabilities, models, control variates with and without noise."""

    chance: Any
    x: Any
    c: Any
    calm: Any

    def mean(self, values: Any) -> Any:
        """Return the expectation of values, one per outcome on the first axis."""
        weights = np.asarray(self.chance)
        return (weights.reshape(-1, *[1] * (np.asarray(values).ndim - 1)) * values).sum(axis=0)


@dataclass(frozen=True, slots=True)
class PointClients:
    """The clients of a point, with the minimiser of their mean."""

    functions: Kinked
    number: int
    mu: Any
    beta: Any
    share: Any
    x_star: Any

    def gap(self, x: Any) -> Any:
        """Return the gap of models, shape ``(outcomes,)``."""
        at = [self.value(w) - self.value(self.x_star) for w in x]
        return np.array(at, dtype=np.asarray(x).dtype)

    def value(self, w: Any) -> Any:
        """Return the objective at one model."""
        return sum(self.functions.value(i, w) for i in range(self.number)) * self.share

    def gradients(self, x: Any) -> Any:
        """Return all clients' gradients at models, shape ``(outcomes, clients, dim)``."""
        return np.stack([self.functions.gradient(i, x) for i in range(self.number)], axis=1)

    def squares(self, vectors: Any) -> Any:
        """Return the mean over clients of squared norms, shape ``(outcomes,)``."""
        return (vectors * vectors).sum(axis=(1, 2)) * self.share


def federation(point: Params) -> PointClients:
    """Return the clients of a point."""
    number, high = point["N"], point["beta"]
    low = high / point["condition"]
    slopes = {side: low + (high - low) * point[side] for side in ("left", "right")}
    functions = Kinked(centre=point["centre"], knot=point["knot"], **slopes)
    share = ratio(point, 1, number)
    return PointClients(functions, number, low, high, share, functions.minimiser([share] * number))


def sampled(point: Params) -> int:
    """Return how many clients are sampled."""
    return int(min(point["S"], point["N"]))


def variance(point: Params) -> Any:
    """Return the variance of the noise: none if there would be too many outcomes."""
    few = 2 ** (point["K"] * sampled(point)) <= MOST_PATTERNS and point["noisy"] == "yes"
    if "noise" in point:
        return (point["noise"] * point["noise"]).sum() * int(few)
    return point["sigma"] ** 2 if few and point["sigma"] > 0 else 0 * point["sigma"]


def _push(point: Params, client: int, step: int) -> Any:
    """Return the noise of a step but for its sign: a vector if the point has one, else along an axis."""
    if "noise" in point:
        return point["noise"]
    axes = point["start"].shape[-1]
    return point["sigma"] * (np.arange(axes) == (client + step) % axes).astype(int)


def advance(
    point: Params, made: PointClients, state: State, eta_l: Any, *, controlled: bool, common: bool = False
) -> tuple[State, Any]:
    """Return the state after a round with the drift of the round, per outcome of the state before.

    ``controlled`` is SCAFFOLD with option II, else FedAvg. If ``common``, all clients have the same noise.
    """
    steps, size = point["K"], sampled(point)
    patterns = np.array(list(itertools.product((-1, 1), repeat=steps)) if variance(point) != 0 else [(0,) * steps])
    centre = state.c.sum(axis=1) * made.share
    ends, means, calm_means, drift = [], [], [], 0
    for i in range(made.number):
        y = np.repeat(state.x[:, None], len(patterns), axis=1)
        total, calm_total = 0 * y, 0 * y
        for k in range(steps):
            g = made.functions.gradient(i, y)
            calm_total = calm_total + g
            g = g + patterns[None, :, k, None] * _push(point, 0 if common else i, k)
            total = total + g
            y = y - eta_l * (g + (centre - state.c[:, i])[:, None] if controlled else g)
            away = y - state.x[:, None]
            drift = drift + (away * away).sum(axis=2).sum(axis=1) / len(patterns)
        ends.append(y)
        means.append(total / steps)
        calm_means.append(calm_total / steps)
    subsets = list(itertools.combinations(range(made.number), size))
    chances, models, controls, calm = [], [], [], []
    drawn = [(p,) * size for p in range(len(patterns))] if common else []
    drawn = drawn or list(itertools.product(range(len(patterns)), repeat=size))
    for subset in subsets:
        for pattern in drawn:
            moved = sum(ends[i][:, p] - state.x for i, p in zip(subset, pattern, strict=True))
            c, quiet = state.c.copy(), state.calm.copy()
            for i, p in zip(subset, pattern, strict=True):
                c[:, i], quiet[:, i] = means[i][:, p], calm_means[i][:, p]
            chances.append(state.chance / (len(subsets) * len(drawn)))
            models.append(state.x + point["eta_g"] * moved / size)
            controls.append(c)
            calm.append(quiet)
    after = State(*(np.concatenate(parts) for parts in (chances, models, controls, calm)))
    return after, drift / steps * made.share


def begin(point: Params, controls: Any) -> State:
    """Return the one outcome at the start, where control variates have no noise."""
    return State(np.array([ratio(point, 1, 1)]), point["start"][None], controls[None], controls[None])
