r"""One round of CFL-R on all outcomes of drift and noise (Algorithm 1, section B.4).

In one or two dimensions, with a base :math:`\varphi(\omega) = \sum_j h_j(\langle u_j, \omega\rangle)`, as many unit
vectors :math:`u_j` as dimensions, and :math:`h_j` whose derivative has one kink, the local objectives have the
gradients

.. math:: \nabla f_{\tau,i}(\omega) = \nabla\varphi(\omega) - \delta_i(\omega) - \xi_{\tau,i}(\omega), \qquad
   \delta_i(\omega) = s\,y_i + s'\beta\,\nabla\varphi(\omega), \qquad
   \xi_{\tau,i}(\omega) = s_\tau(x_{\tau,i} + \alpha\,\nabla\varphi(\omega)),

with fair coins :math:`s, s', s_1, \dots, s_t`, so that :math:`f = \mathbb E f_{\tau,i} = \varphi`. The directions
:math:`u_j` need not be orthogonal: then Hessians at different places do not commute. :math:`L` and :math:`\mu` are
:math:`1 \pm (\alpha + \beta)` times bounds on the eigenvalues of the largest and the smallest Hessian of the base,
exact in one dimension.

Five kinds of drift: ``none``; ``constant`` (:math:`\alpha = \beta = 0`); ``growth`` (:math:`x = y = 0`), where
:math:`A^2 = \alpha^2`; ``all``, where :math:`A^2 = 2\alpha^2` and :math:`D^2 = 2\max\|x_{\tau,i}\|^2`; ``joined``, the
same with one coin :math:`s = s'` for the client drift, where :math:`B^2 = 2\beta^2` and :math:`G^2 = 2\max_i\|y_i\|^2`.
Else :math:`B^2 = \beta^2` and :math:`G^2 = \max_i\|y_i\|^2`. So the constants of each kind are the smallest ones for
pure drifts, and memory loses information that depends on the drift wherever there is growth and a kink.

The noise of step :math:`k` of client :math:`i` is :math:`\pm\sigma` times a unit vector by a coin of its own, or there
is none. The coins of the drifts are pairwise independent, which is all that Lemma 3.5 needs, and independent of those
of the noise. Client :math:`i` remembers the objectives of earlier rounds by their Taylor models at given points
:math:`\hat\omega_\tau`; Hessians are those there. The global model :math:`\omega_t` is fixed, so drifts do not depend
on it. Steps are made as line 10 of the algorithm says, with the sums of stored gradients and Hessians that the server
sends; the gradient of :math:`\tilde f_{t,i}` is computed apart, from (32). Without a kink, or in the first round,
nothing is lost by the memory.

All arrays have a leading axis over outcomes; code works on floats and on rationals.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Eq, Le, Lt, Sum

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.cfl._drift import coin_table
from fltheory.bounds.cfl._symbols import A_sq, B_sq, D_sq, G_sq, K, c_B, eta_l, now, p, s, sigma_sq
from fltheory.bounds.claim import Assumption, Rejected
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space, ratio
from fltheory.bounds.symbols import L, N
from fltheory.problems.problem import Origin

OUTCOMES = 32
"""Most outcomes of an instance."""

FASTEST = 6.0
"""Local rate, over the smoothness times the number of steps, at which three steps are 2 over the smoothness each."""

TINY = 1e-9
"""Noise below this counts as none."""

NEWTON = 3
"""Steps to a rational bound on a root, from above."""

step = index("step", "k", "a local step, from 1")
client = index("client", "i", "a client, from 1")

w = family(
    "w",
    r"\omega_{t,<0>,<1>}",
    "local model after so many steps",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
nu = family(
    "nu", r"\nu_{t,<0>,<1>}", "noise of a local step", first=(1, 1), random=True, shape=("clients", "steps", "dim")
)
update = scalar("update", r"\Delta\omega_t", "displacement of the global model", random=True, shape=("dim",))
direction = family(
    "direction",
    r"\tilde g_{t,<0>}(\omega_{t,<0>,<1>})",
    "direction of a local step",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
grad_tilde = family(
    "grad_tilde",
    r"\nabla\tilde f_{t,<0>}(\omega_{t,<0>,<1>})",
    "gradient of the approximate objective at a local model",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
lost = family(
    "lost",
    r"\Delta_{t,<0>}(\omega_{t,<0>,<1>})",
    "information loss at a local model",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
grad_at = family(
    "grad_at",
    r"\nabla f_{<0>,<1>}(\omega_{t,<1>,<2>})",
    "gradient of a round's local objective at a local model",
    first=(1, 1, 0),
    random=True,
    shape=("rounds", "clients", "steps", "dim"),
)
past = family(
    "past",
    r"\omega_{<0>,<1>,K}",
    "local model at the end of an earlier round",
    first=(1, 1),
    shape=("rounds", "clients", "dim"),
)
local_gap = family(
    "local_gap",
    r"\left(\bar f_{t,<0>}(\omega_t) - \bar f_{t,<0>}(\omega^*)\right)",
    "remembered objective at the model less that at the minimiser",
    random=True,
    shape=("clients",),
)
grad_t = scalar("grad_t", r"\nabla f(\omega_t)", "gradient of the global objective at the model", shape=("dim",))
gap = scalar("gap", r"\left(f(\omega_t) - f^*\right)", "gap of the model", domain="nonnegative")

squares = Sum(p[s] ** 2, (s, 1, now))
"""Sum of the squared weights."""
grown = 1 + B_sq + A_sq * squares
"""Factor of the squared gradient in Lemma 3.5 (2)."""
floor = G_sq + D_sq * squares
"""Constant in Lemma 3.5 (2)."""

NOISE = Assumption(
    "bounded noise (2)", Le(EE(NormSq(nu[client, step])), sigma_sq), Origin.DECLARED, ((client, 1, N), (step, 1, K))
)
WEIGHTS = Assumption("weights sum to one", Eq(Sum(p[s], (s, 1, now)), 1, evaluate=False), Origin.DECLARED)
drift_dependence = scalar(
    "drift_dependence",
    r"\rho_\xi",
    "largest correlation of round drifts of two rounds, and of drifts with the model or the noise",
    domain="nonnegative",
)
DRIFTS = Assumption(
    "drifts (3 to 6), uncorrelated over rounds and with the model, which no assumption says",
    Eq(drift_dependence, 0, evaluate=False),
    Origin.DECLARED,
)
SMALL = Assumption("positive denominator", Lt(2 * K**2 * eta_l**2 * L**2 * c_B, 1), Origin.DECLARED)


def space(*, rate: float, growing: bool = False, joined: bool = False, server: float | None = None) -> Space:
    """Return the space of rounds.

    Parameters
    ----------
    rate
        Largest local rate, over the smoothness times the number of steps.
    growing
        Only second rounds and drifts that grow with the gradient; half of them without noise.
    joined
        Also client drifts whose two parts share a coin.
    server
        Largest server rate of a wide range. Then terms of the second order in the step decide.
    """
    kinds = ("growth", "all") if growing else ("none", "constant", "growth", "all")
    return Space(
        {
            "d": Integer(1, 2),
            "N": Integer(1, 2),
            "K": Integer(1, 3),
            "t": Integer(2 if growing else 1, 2),
            "drifts": Choice((*kinds, "joined") if joined else kinds),
            "noisy": Choice(("no", "yes") if growing else ("yes",)),
            # Searches go along the first parameters first: where the model and the memory are matters most.
            "start": Real(-3, 3, shape=("d",)),
            "past": Real(-3, 3, shape=("t", "N", "d")),
            "p": Real(0.05, 1, shape=("t",)),
            "growth": Real(0, 0.95),
            "of rounds": Real(0, 1),
            "left": Real(0, 2, shape=("d",)),
            "right": Real(0, 2, shape=("d",)),
            "knot": Real(-2, 2, shape=("d",)),
            "turn": Real(0, 1),
            "client": Real(-2, 2, shape=("N", "d")),
            "round": Real(-2, 2, shape=("t", "N", "d")),
            "sigma": Real(0, 2),
            "towards": Real(-1, 1, shape=("N", "K")),
            "rate": Real(0.001, rate, log=True),
            "eta_g": Real(1, 3) if server is None else Real(1, server, log=True),
        }
    )


@dataclass(frozen=True, slots=True)
class Base:
    """The base: kinked functions of one variable along unit vectors, with its minimiser at the origin."""

    units: Any
    left: Any
    right: Any
    knot: Any

    def across(self, x: Any) -> Any:
        """Return the coordinates of vectors along the unit vectors."""
        return (x[..., None, :] * self.units).sum(axis=-1)

    def along(self, parts: Any) -> Any:
        """Return the vectors that are made of such parts."""
        return (parts[..., None] * self.units).sum(axis=-2)

    def gradient(self, x: Any) -> Any:
        """Return the gradient at vectors."""
        return self.along(self._functions.gradient(0, self.across(x)))

    def value(self, x: Any) -> Any:
        """Return the value at a vector."""
        return self._functions.value(0, self.across(x))

    @property
    def _functions(self) -> Kinked:
        parts = {"centre": 0 * self.knot, "knot": self.knot, "left": self.left, "right": self.right}
        return Kinked(**{name: part[None] for name, part in parts.items()})

    def derivative(self, z: Any) -> Any:
        """Return the derivatives of the functions of one variable."""
        return self._slope(z) - self._slope(0 * z)

    def _slope(self, z: Any) -> Any:
        return self.left * np.minimum(z - self.knot, 0) + self.right * np.maximum(z - self.knot, 0)

    def remembered(self, x: Any, at: Any) -> Any:
        """Return the gradients of the Taylor models at other points."""
        z, there = self.across(x), self.across(at)
        second = np.where(there <= self.knot, self.left, self.right)
        return self.along(self.derivative(there) + second * (z - there))

    def stored(self, at: Any) -> tuple[Any, Any]:
        """Return what Algorithm 1 stores at other points, along the unit vectors: constant parts and Hessians."""
        there = self.across(at)
        second = np.where(there <= self.knot, self.left, self.right)
        return self.derivative(there) - second * there, second

    def eigenvalues(self) -> tuple[Any, Any]:
        """Return a lower bound on the smallest and an upper bound on the largest eigenvalue of all Hessians."""
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        if len(low) == 1:
            return low[0], high[0]
        inner = (self.units[0] * self.units[1]).sum()
        bounds = []
        for slopes, sign in ((low, -1), (high, 1)):
            half = slopes.sum() / 2
            square = half * half - slopes[0] * slopes[1] * (1 - inner * inner)
            root = half
            for _ in range(NEWTON):
                root = (root + square / root) / 2 if root > 0 else root
            bounds.append(half + sign * root)
        return max(bounds[0], 0 * bounds[0]), bounds[1]


def unit(tangent: Any, dim: int) -> Any:
    """Return the unit vector with this tangent of half its angle, in one dimension the number one."""
    one = 1 + 0 * tangent
    if dim == 1:
        return np.stack([one], axis=-1)
    return np.stack([(1 - tangent * tangent) / (1 + tangent * tangent), 2 * tangent / (1 + tangent * tangent)], axis=-1)


def realise(point: Params, *, loss: bool = True, memory_noise: Any = 0) -> dict[str, Any]:
    """Run one round on all outcomes.

    Parameters
    ----------
    point
        A point of :func:`space`.
    loss
        Remember earlier rounds by second-order models, which lose information at kinks; without, what is remembered
        is exact, whatever the base.
    memory_noise
        Noise of the gradients that were stored at the end of earlier rounds, ``(rounds, clients, dim)``, or 0.
    """
    dim, clients, steps, number = point["d"], point["N"], point["K"], point["t"]
    kind, zero = point["drifts"], 0 * point["sigma"]
    growth = point["growth"] if kind in ("growth", "all", "joined") else zero
    alpha, beta = growth * point["of rounds"], growth * (1 - point["of rounds"])
    constant = 1 if kind in ("constant", "all", "joined") else 0
    y, x_round = point["client"] * constant, point["round"] * constant
    # A noise of 1e-300 would make sides with roots differ by less than can be told.
    sigma = point["sigma"] if point["noisy"] == "yes" and point["sigma"] > TINY else zero
    faces = itertools.product((-1, 1), repeat=clients * steps)
    noises = np.array(list(faces) if point["noisy"] == "yes" else [next(faces)])
    drifts = np.zeros((1, 2 + number), dtype=int) if kind == "none" else coin_table(2 + number)
    if len(noises) * len(drifts) > OUTCOMES:
        raise Rejected(f"more than {OUTCOMES} outcomes")
    noises, coins = np.repeat(noises, len(drifts), axis=0), np.tile(drifts, (len(noises), 1))
    noise = noises.reshape(-1, clients, steps, 1) * (unit(point["towards"], dim) * sigma)
    joined = kind == "joined"
    s_client, s_growth, s_rounds = coins[:, 0], coins[:, :1] if joined else coins[:, 1:2], coins[:, 2:]
    shift = s_client[:, None, None, None] * y + s_rounds[:, :, None, None] * x_round
    # Local gradients are a random multiple of the gradient of the base in each round, less the constant drift.
    factor = 1 - s_growth * beta - s_rounds * alpha
    base = Base(
        unit(np.array([zero, point["turn"]])[:dim], dim),
        point["left"],
        point["right"],
        point["knot"],
    )
    lowest, highest = base.eigenvalues()
    if not highest > 0:
        raise Rejected("the base is affine")
    mu, smooth = (1 - alpha - beta) * lowest, (1 + alpha + beta) * highest
    weights = point["p"] / point["p"].sum()
    rate = point["rate"] / (smooth * steps)

    def gradients(x: Any) -> Any:
        """Return the gradients of all rounds at one model per client, ``(outcomes, rounds, clients, dim)``."""
        return factor[:, :, None, None] * base.gradient(x)[:, None] - shift

    def tilde(x: Any, here: Any) -> Any:
        if not loss:
            return (weights[None, :, None, None] * here).sum(axis=1)
        models = [factor[:, n, None, None] * base.remembered(x, point["past"][n]) - shift[:, n] for n in range(number)]
        return sum((weights[n] * models[n] for n in range(number - 1)), start=weights[-1] * here[:, -1])

    def kept() -> tuple[Any, Any]:
        """Return constant parts and Hessians of earlier rounds, added up once, as in lines 3 and 4 of Algorithm 1."""
        constant, second = base.stored(point["past"][:-1])
        noisy = memory_noise + 0 * point["past"][:-1]
        earlier = (weights[:-1] * factor[:, :-1])[:, :, None, None]
        constants = earlier * base.along(constant) + weights[:-1, None, None] * (noisy - shift[:, :-1])
        return constants.sum(axis=1), (earlier * second).sum(axis=1)

    memory = kept() if loss else None

    def stepped(x: Any, here: Any, fresh: Any) -> Any:
        """Return the direction of line 10."""
        if memory is None:
            return tilde(x, here) + weights[-1] * fresh
        constants, hessians = memory
        return weights[-1] * (here[:, -1] + fresh) + constants + base.along(hessians * base.across(x))

    start = point["start"]
    models = [np.array([[start] * clients] * len(coins))]
    alls, tildes, directions = [], [], []
    for n in range(steps + 1):
        alls.append(gradients(models[-1]))
        tildes.append(tilde(models[-1], alls[-1]))
        if n < steps:
            directions.append(stepped(models[-1], alls[-1], noise[:, :, n]))
            models.append(models[-1] - rate * directions[-1])
    every, tilde_all = np.stack(alls, axis=-2), np.stack(tildes, axis=-2)
    gap = base.value(start) - base.value(0 * start)
    local = ((factor[:, :, None] * gap - (shift * start).sum(axis=-1)) * weights[None, :, None]).sum(axis=1)
    return {
        "N": clients,
        "K": steps,
        "t": number,
        "L": smooth,
        "mu": mu,
        "eta_l": rate,
        "eta_g": point["eta_g"],
        "eta": steps * rate * point["eta_g"],
        "p": weights,
        "A_sq": (2 if constant else 1) * alpha * alpha,
        "B_sq": (2 if joined else 1) * beta * beta,
        "D_sq": (x_round * x_round).sum(axis=-1).max() * (2 if alpha > 0 else 1),
        "G_sq": (y * y).sum(axis=-1).max() * (2 if joined and beta > 0 else 1),
        "sigma_sq": sigma**2,
        "epsilon": smooth - mu,
        "drift_dependence": 0,
        "w_t": start,
        "w_star": 0 * start,
        "past": point["past"],
        "grad_t": base.gradient(start),
        "gap": gap,
        "local_gap": local,
        "w": np.stack(models, axis=-2),
        "nu": noise,
        "direction": np.stack(directions, axis=-2),
        "grad_tilde": tilde_all,
        "lost": (weights[None, :, None, None, None] * every).sum(axis=1) - tilde_all,
        "grad_at": every,
        "update": point["eta_g"] * (models[-1] - models[0]).sum(axis=1) / clients,
        "chance": [ratio(point, 1, len(coins))] * len(coins),
    }


def over_steps(body: Any) -> Any:
    """Return the sum over clients and steps of an expression in ``client`` and ``step``."""
    return Sum(body, (step, 1, K), (client, 1, N))
